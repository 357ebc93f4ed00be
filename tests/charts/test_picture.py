"""Pictures drawn and saved: every kind, both looks, every format."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import unheard as uh
from tests.charts.examples import COUNTS, HOSTILE, pictures, ranked
from unheard.analysis.breakdown import Claim
from unheard.analysis.sweep import GRID, sweep_question
from unheard.charts.draw import (
    draw_estimate,
    draw_ranking,
    draw_regret,
    draw_sweep,
)
from unheard.charts.picture import WIDTH, Picture
from unheard.charts.style import DARK, LIGHT, Theme
from unheard.errors import MissingLibraryError, OptionError
from unheard.model.scale import Scale

KINDS = list(pictures())


@pytest.fixture(scope="module")
def drawn() -> dict[str, Picture]:
    return pictures()


@pytest.mark.parametrize("kind", KINDS)
def test_repr_says_what_is_shown(drawn: dict[str, Picture], kind: str) -> None:
    assert repr(drawn[kind]) == f"Picture: {drawn[kind].words}"


def every(spec: Any, name: str) -> list[Any]:
    """Return every value under a name, however deep."""
    if isinstance(spec, dict):
        own = [spec[name]] if name in spec else []
        return own + [found for value in spec.values() for found in every(value, name)]
    return (
        [found for value in spec for found in every(value, name)] if isinstance(spec, list) else []
    )


def size(svg: str) -> tuple[int, int]:
    found = re.search(r'<svg[^>]* width="(\d+)" height="(\d+)"', svg)
    assert found is not None
    return int(found[1]), int(found[2])


@pytest.mark.parametrize("kind", KINDS)
def test_svg_is_xml_in_both_looks_and_as_wide_as_asked(
    drawn: dict[str, Picture], kind: str
) -> None:
    picture, shown = drawn[kind], {}
    looks: list[tuple[Theme, int | None]] = [("light", None), ("dark", None), ("light", 320)]
    for theme, width in looks:
        svg = picture.svg(theme, width)
        ElementTree.fromstring(svg)  # raises unless it is XML
        assert size(svg)[0] <= (width or WIDTH) + 4
        assert size(svg)[0] >= 0.75 * (width or WIDTH)
        shown[theme, width] = svg
    assert LIGHT.background in shown["light", None]
    assert DARK.background in shown["dark", None]
    assert LIGHT.ink not in shown["dark", None]


@pytest.mark.parametrize("kind", KINDS)
def test_specifications(drawn: dict[str, Picture], kind: str) -> None:
    spec: Any = drawn[kind].spec()
    drawn[kind].chart("dark", 320).to_dict()  # Altair checks it against the schema
    assert spec["description"] == drawn[kind].words
    assert spec["config"]["background"] == LIGHT.background
    fields = {field for field in every(spec, "field") if isinstance(field, str)}
    assert all(re.fullmatch(r"[a-z_0-9]+", field, re.ASCII) for field in fields), fields
    # Nothing is worked out in the page, least of all from names.
    for name in ("expr", "signal", "calculate", "filter", "labelExpr", "href", "url"):
        assert every(spec, name) == []
    titles = [tip["title"] for tips in every(spec, "tooltip") for tip in tips]
    assert titles or kind == "no items"
    assert all(re.fullmatch(r"[A-Za-z0-9%., ]+", title) for title in titles)


def test_names_are_never_read_as_anything_else(drawn: dict[str, Picture]) -> None:
    page = drawn["ranking"].html()
    script = "<script>alert(1)"
    assert script not in page
    assert "\\u003cscript>alert(1)" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<img" not in page.split("<script>")[0]
    written = "".join(texts(drawn["ranking"]))
    assert "datum.estimate" in written
    assert script in written  # cut where it is too long, but not lost


def test_columns_with_awkward_names() -> None:
    column = "a.b['c'] \"d\"\\"
    rows = ranked(["A", "B"], column)
    assert {"A", "B"} <= {*texts(draw_ranking(rows, [column], Scale.points(5)))}


class Page(HTMLParser):
    """Collects what a page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str | None] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links += [found[name] for name in ("src", "href", "action") if name in found]
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""


def test_a_page_needs_nothing_from_outside(drawn: dict[str, Picture]) -> None:
    page = Page(drawn["estimate"].html("dark"))
    assert page.links == []
    assert page.policy.startswith("default-src 'none'")
    assert "http" not in page.policy


def test_saving(drawn: dict[str, Picture], tmp_path: Path) -> None:
    picture = drawn["estimate"]
    for name in ("a.html", "a.svg", "a.PNG", "a.json"):
        picture.save(tmp_path / name, "dark", scale=1)
    picture.save(str(tmp_path / "wide.png"), scale=2)
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture.svg("dark")
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == picture.spec("dark")
    pixels = {}
    for name in ("a.PNG", "wide.png"):
        png = (tmp_path / name).read_bytes()
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        pixels[name] = int.from_bytes(png[16:20])
    assert pixels["wide.png"] == 2 * pixels["a.PNG"]
    assert len(list(tmp_path.iterdir())) == 5


def test_what_cannot_be_saved(drawn: dict[str, Picture], tmp_path: Path) -> None:
    (tmp_path / "folder.svg").mkdir()
    for name, message in (
        ("a.pdf", r"path must end in \.html, \.svg, \.png or \.json; got 'a\.pdf'"),
        ("a", "path must end in"),
        ("nowhere/a.svg", r"path is in a folder that does not exist: .*nowhere"),
        ("folder.svg", "path must not be a folder"),
    ):
        with pytest.raises(OptionError, match=message):
            drawn["estimate"].save(tmp_path / name)
    with pytest.raises(OptionError, match="theme must be light or dark"):
        drawn["estimate"].save(tmp_path / "a.svg", "blue")  # type: ignore[arg-type]
    assert [file.name for file in tmp_path.iterdir()] == ["folder.svg"]


def test_bars_and_intervals_share_their_axis(drawn: dict[str, Picture]) -> None:
    for kind in ("estimate", "methods", "long scale"):
        spec: Any = drawn[kind].spec()
        bars, strip, _ = spec["vconcat"]
        domains = [
            layer["encoding"]["x"]["scale"]["domain"]
            for part in (bars, strip)
            for layer in part["layer"]
            if "field" in layer["encoding"].get("x", {})
        ]
        assert len(domains) >= 3
        assert all(domain == domains[0] for domain in domains)
        assert bars["width"] == strip["width"]


def test_long_scales_stay_small() -> None:
    question = uh.build_question(np.arange(101) % 5, 0.3, scale="0:100")
    spec: Any = draw_estimate(question, question.answer(["paa"])).spec()
    assert max(map(len, spec["datasets"].values())) == 101
    longer = Scale(np.arange(10_001))
    question = uh.build_question(np.arange(10_001) % 5, 0.3, scale=longer, level=None)
    found = question.answer(["average"])
    spec = draw_estimate(question, found).spec()
    assert max(map(len, spec["datasets"].values())) <= 80


def texts(picture: Picture) -> list[str]:
    """Return everything that is written in a picture."""
    return [text.strip() for text in ElementTree.fromstring(picture.svg()).itertext()]


def test_bar_labels_add_up() -> None:
    question = uh.build_question([126, 437, 0, 437, 0], 0.3)
    written = texts(draw_estimate(question, question.answer(["paa"])))
    assert [text for text in written if text.endswith("%")] == ["12%", "44%", "0%", "44%", "0%"]
    question = uh.build_question([1, 0, 0, 0, 999], 0.3)
    written = texts(draw_estimate(question, question.answer(["paa"])))
    assert [text for text in written if text.endswith("%")] == ["<1%", "0%", "0%", "0%", ">99%"]


def test_axes_write_numbers_as_they_are() -> None:
    question = uh.build_question([9, 3, 8], 0.2, scale="-20000,0,15000")
    written = texts(draw_estimate(question, question.answer(["paa"])))
    assert {"−20,000", "0", "15,000"} <= {*written}
    question = uh.build_question([9, 3], 0.2, scale="0.1,0.125")
    assert {"0.1", "0.125"} <= {*texts(draw_estimate(question, question.answer(["paa"])))}


def test_claims_that_always_or_never_hold() -> None:
    question = uh.build_question([0, 0, 0, 0, 50], 0.2)
    always = texts(draw_sweep(sweep_question(question, GRID, Claim(True, 4.0))))
    assert "holds at every q shown ignoring sampling error" in always
    never = texts(draw_sweep(sweep_question(question, GRID, Claim(False, 4.0))))
    assert "holds at no q ignoring sampling error" in never
    assert "holds at no q allowing for it" in never


def test_no_level_no_confidence_interval() -> None:
    question = uh.build_question(COUNTS, 0.3, level=None)
    picture = draw_estimate(question, question.answer(["paa"]))
    assert "confidence" not in picture.svg() + picture.words


def test_more_items_are_counted() -> None:
    picture = draw_ranking(ranked(list("ABCDEFG")), ["hotel"], Scale.points(5), top=5)
    assert "2 more items are not shown" in picture.svg()
    assert "not shown" not in draw_ranking(ranked(["A"]), ["hotel"], Scale.points(5)).svg()
    with pytest.raises(OptionError, match="top"):
        draw_ranking(ranked(["A"]), ["hotel"], Scale.points(5), top=0)


def test_long_names_are_cut_and_told(drawn: dict[str, Picture]) -> None:
    name = next(name for name in HOSTILE if len(name) > 100)
    written = texts(drawn["ranking"])
    assert name not in written
    assert any(text.startswith("xxx") and text.endswith("…") for text in written)
    assert name in json.dumps(drawn["ranking"].spec())


def test_regrets_without_rows_are_refused() -> None:
    with pytest.raises(OptionError, match="rows"):
        draw_regret([])


def test_pictures_in_notebooks(drawn: dict[str, Picture]) -> None:
    bundle = drawn["ranking"]._repr_mimebundle_()
    assert bundle["text/plain"] == drawn["ranking"].words
    assert "<svg" in bundle["text/html"]
    assert "<script>alert" not in bundle["text/html"]


def test_without_a_converter(drawn: dict[str, Picture], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingLibraryError, match=r"unheard\[charts\]"):
        drawn["estimate"].svg()
