"""The page: well formed, closed to the outside, and never taken in by a name."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest

from tests.report.examples import COUNTS, NAMES, RATED, WINGS, random_counts, report_about, table_of
from tests.report.parse_page import Parsed, parsed
from unheard.charts.style import DARK, LIGHT
from unheard.report.page import MAX_BYTES, render_page
from unheard.report.ranking_table import find_ends, place_marks, place_value
from unheard.report.report_data import MAX_ROWS

HOSTILE = [
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "</script><b>bold</b>",
    '"double\' quote" & &amp;',
    "-->",
    "{{ 7 * 7 }}{% raw %}",
    "http://outside.example/a.png",
    "//outside.example",
    "\u202eturned",
    "line\nbreak\x00\x1b[31m",
    "x" * 5000,
    "",
    "القرآن",
    " onmouseover=alert(1) ",
]


def page_about(source: Any, **settings: Any) -> tuple[str, Parsed]:
    page = render_page(report_about(source, **settings))
    return page, parsed(page)


def harmless(page: Parsed) -> None:
    """Nothing runs but the script of the page, and nothing is fetched from anywhere."""
    assert len(page.all("script")) == 1
    assert len(page.all("style")) == 1
    assert page.all("iframe", "object", "embed", "link", "a", "base", "form", "b", "i") == []
    for tag, name, value in page.values():
        assert not name.startswith("on"), (tag, name)
        assert name != "style", tag
        if name in ("src", "srcset", "href", "data", "action"):
            assert value.startswith("data:image/svg+xml;base64,"), (tag, name, value[:60])


def well_built(page: Parsed) -> None:
    """What a reader who cannot see the page relies on."""
    ids = [value for _, name, value in page.values() if name == "id"]
    assert len(ids) == len(set(ids))
    labels = [value for _, name, value in page.values() if name in ("aria-labelledby", "for")]
    assert set(labels) <= set(ids)
    levels = [int(one.tag[1]) for one in page.all("h1", "h2", "h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    for image in page.all("img"):
        assert image.attributes["alt"]
    for head in page.all("th"):
        assert head.attributes["scope"] in ("row", "col", "colgroup")


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "plain": (table_of(COUNTS), {"q": 0.6, "above": 3.5}),
    "people": (table_of(COUNTS, n=[400, 500, 500, 60, 90]), {"q": 0.3, "n_column": "n"}),
    "refuted": (table_of(COUNTS, n=[400, 500, 500, 60, 90]), {"q": 0.99, "n_column": "n"}),
    "windows": (RATED, {"q": 0.3, "rating": "stars", "time": "day", "window": "month"}),
    "attributes": (RATED, {"q": 0.3, "rating": ["stars", "clean"]}),
    "strata": (RATED, {"q": 0.3, "rating": "stars", "strata": "wing", "n_table": WINGS}),
    "a q for each": (RATED, {"q_column": "doubt", "rating": "stars"}),
    "stated": (table_of(COUNTS), {"participation": [(0.2, 0.5)] * 4 + [(0.3, 0.9)]}),
    "known": (table_of(COUNTS), {"g": [0.2, 0.3, 0.3, 0.5, 0.9]}),
    "no level": (table_of(COUNTS), {"q": 0.6, "level": None}),
    "no sampling error": (table_of(COUNTS), {"q": 0.6, "sampling_error": False}),
    "one item": (table_of({"A": [1, 2, 3, 4, 5]}), {"q": 0.6}),
    "no ratings": (table_of({"A": [0] * 5, "B": [0] * 5}), {"q": 0.6}),
    "many": (table_of(random_counts(300)), {"q": 0.8}),
    "two columns": (RATED, {"q": 0.5, "rating": "stars", "item": ["hotel", "wing"]}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("undrawn")
def test_every_kind_of_request(case: str) -> None:
    source, settings = CASES[case]
    data = report_about(source, **settings)
    text = render_page(data)
    page = parsed(text)
    harmless(page)
    well_built(page)
    assert "None" not in page.text.replace("None of the", "")
    for sentence in data.headline:
        assert sentence in page.text
    assert data.assumption in page.text
    assert rows_in(text) == len(data.rows)
    for row in data.rows[:20]:
        assert str(row["hotel"]) in page.text


def rows_in(text: str) -> int:
    """Count the rows of the ranking."""
    _, _, table = text.partition('id="items"')
    body, _, _ = table.partition("</tbody>")
    return body.count("<tr><th scope=row")


@pytest.mark.usefixtures("undrawn")
def test_numbers_in_the_table() -> None:
    data = report_about(table_of(COUNTS), q=0.6, above=3.5)
    page = parsed(render_page(data))
    first = data.rows[0]
    assert [first["hotel"], first["n_ratings"]] == ["Alder", 323]
    for words in ("Alder", "323", f"{first['average']:.2f}", f"{first['estimate']:.2f}"):
        assert words in page.text
    assert f"{first['lower']:.2f} to {first['upper']:.2f}" in page.text
    assert f"{first['ci_lower']:.2f} to {first['ci_upper']:.2f}" in page.text
    # Two tiers or more, so that they are listed, and no notes, so that these are not.
    heads = [one.text.strip() for one in page.all("th") if one.attributes["scope"] == "col"]
    assert "tier" in heads
    assert "notes" not in heads
    assert "above 3.5 if q\xa0>" in heads


def test_marks_lie_where_they_should() -> None:
    data = report_about(table_of(random_counts(30)), q=0.6)
    low, high = find_ends(data)
    assert {low, high} <= set(data.scale.values)
    for row in data.rows:
        at = place_marks(row, (low, high))
        assert at.low is not None
        assert at.high is not None
        assert at.estimate is not None
        assert at.ci_low is not None
        assert at.ci_high is not None
        assert 5 <= at.ci_low <= at.low <= at.estimate <= at.high <= at.ci_high <= 135
        share = (row["estimate"] - low) / (high - low)
        assert at.estimate == pytest.approx(5 + 130 * share, abs=0.051)
    assert (place_value(1, (1, 5)), place_value(3, (1, 5)), place_value(5, (1, 5))) == (5, 70, 135)


def test_confidence_intervals_have_room_in_the_drawing() -> None:
    data = report_about(table_of({"A": [0, 0, 1, 2, 3], "B": [0, 0, 1, 3, 2]}), q=0.9)
    assert min(row["lower"] for row in data.rows) > 3
    low, high = find_ends(data)
    assert low <= min(row["ci_lower"] for row in data.rows) < 3
    assert high >= max(row["ci_upper"] for row in data.rows)


def test_drawing_without_confidence_interval_and_average() -> None:
    row = {"lower": 1.0, "upper": 3.0, "ci_lower": None, "ci_upper": None}
    at = place_marks(row | {"average": None, "estimate": 2.0}, (1.0, 5.0))
    assert (at.low, at.high, at.estimate) == (5, 70, 37.5)
    assert (at.average, at.ci_low, at.ci_high) == (None, None, None)


@pytest.mark.usefixtures("undrawn")
def test_hostile_names() -> None:
    counts = {name: [i + 1, 2, 3, 4, 20 - i] for i, name in enumerate(HOSTILE)}
    table = table_of(counts).rename_columns(['<i>what</i> & "so"', *NAMES])
    data = report_about(table, item='<i>what</i> & "so"', q=0.6)
    text = render_page(data)
    page = parsed(text)
    harmless(page)
    well_built(page)
    assert '<i>what</i> & "so"' in page.text
    for name in HOSTILE[:7]:
        assert name in page.text
    assert "\u202e" not in text
    assert "\x00" not in text
    assert "\x1b" not in text
    assert "(empty)" in page.text
    assert "x" * 301 not in text
    titles = [value for _, name, value in page.values() if name == "title"]
    assert "x" * 300 in titles


@pytest.mark.usefixtures("undrawn")
def test_hostile_title_command_and_source() -> None:
    data = report_about(table_of(COUNTS), q=0.6)
    evil = "</title></code></script><script>alert(1)</script>"
    page = parsed(render_page(replace(data, title=evil, command=evil, source=evil)))
    harmless(page)
    assert page.all("title")[0].text == evil
    assert page.all("h1")[0].text == evil
    assert page.all("code")[0].text == evil


def test_drawings() -> None:
    """Real ones: four of each, which parse, with words, and hostile names inside."""
    counts = {name: [i + 1, 2, 3, 4, 20 - i] for i, name in enumerate(HOSTILE)}
    text, page = page_about(table_of(counts), q=0.6)
    harmless(page)
    drawn = [
        value.removeprefix("data:image/svg+xml;base64,")
        for _, name, value in page.values()
        if name in ("src", "srcset")
    ]
    assert len(drawn) == 4 * 3
    for picture in drawn:
        svg = ElementTree.fromstring(base64.b64decode(picture))
        tags = {element.tag.rpartition("}")[2] for element in svg.iter()}
        assert not tags & {"script", "foreignObject", "image", "a", "use"}
    light, dark = (base64.b64decode(picture).decode() for picture in (drawn[3], drawn[1]))
    assert LIGHT.background in light
    assert DARK.background in dark
    assert "Estimate, with bounds in brackets: " in (page.all("img")[2].attributes["alt"] or "")
    assert len(text.encode()) < 1_500_000


@pytest.mark.usefixtures("undrawn")
def test_policy_lets_in_what_is_there_and_nothing_else() -> None:
    text, page = page_about(table_of(COUNTS), q=0.6)
    (policy,) = [
        element.attributes["content"] or ""
        for element in page.all("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    for tag in ("style", "script"):
        inside = text.split(f"<{tag}>")[1].split(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert text.index("Content-Security-Policy") < text.index("<style>")


# Size.


def long_names(items: int) -> pa.Table:
    counts = random_counts(items)
    whole = (f"{name} <&\"'> {'über die Maßen ' * 12}" for name in counts)
    return table_of(dict(zip(whole, counts.values(), strict=True)))


@pytest.mark.usefixtures("undrawn")
def test_five_thousand_items_with_short_names_all_fit() -> None:
    text = render_page(report_about(table_of(random_counts(5_000)), q=0.8))
    assert rows_in(text) == 5_000
    assert len(text.encode()) < 5_000_000
    assert "not fit here" not in text


@pytest.mark.parametrize("items", [5_000, 50_000])
@pytest.mark.usefixtures("undrawn")
def test_long_names_do_not_burst_the_page(items: int) -> None:
    data = report_about(long_names(items), q=0.8)
    assert len(data.rows) == min(items, MAX_ROWS)
    text = render_page(data)
    assert len(text.encode()) <= MAX_BYTES
    shown = rows_in(text)
    assert 2_500 < shown <= len(data.rows)
    if shown < items:
        assert f"{items - shown:,} more rows do not fit here." in parsed(text).text
