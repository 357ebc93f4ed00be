"""Results that show themselves, with and without a drawing library."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import unheard as uh
from tests.charts.examples import COUNTS
from unheard.charts import notebook
from unheard.errors import MissingLibraryError, OptionError
from unheard.model.results import Result
from unheard.present.estimates import numbers_document

A, B = (5, 10, 35, 120, 30), (30, 25, 45, 80, 20)


def results() -> dict[str, Result]:
    return {
        "estimate": uh.estimate(COUNTS, q=0.3),
        "one row": uh.estimate([COUNTS], q=0.3, level=None),
        "item": uh.compare(A, B, q=0.5).b,
        "flagged": uh.estimate([0, 0], q=0.3),
        "sweep": uh.sweep(COUNTS, [1, 0.5]),
        "comparison": uh.compare(A, B, q=0.5),
        "audit": uh.calibrate([12, 30, 0, 49], [400, 330, 0, 230]),
        "audit of others": uh.calibrate([12, 30], [40, 33], paired=False),
    }


def parsed(result: Result) -> ElementTree.Element:
    """Return what a notebook shows, which must be well-formed."""
    bundle = result._repr_mimebundle_()
    assert bundle["text/plain"] == repr(result)
    return ElementTree.fromstring(bundle["text/html"])


def table(shown: ElementTree.Element) -> list[list[str]]:
    rows = shown.findall(".//table//tr")
    assert all(cell.get("scope") == "col" for cell in rows[0])
    assert all(row[0].get("scope") == "row" for row in rows[1:])
    return [[cell.text or "" for cell in row] for row in rows]


@pytest.mark.parametrize("name", results())
def test_results_show_themselves(name: str) -> None:
    result = results()[name]
    shown = parsed(result)
    (figure,) = shown.findall("figure")
    assert figure.get("aria-label") == result.chart().words
    assert figure.find("{http://www.w3.org/2000/svg}svg") is not None
    assert len(table(shown)) > 1


def test_tables_hold_the_numbers() -> None:
    found = results()
    assert table(parsed(found["estimate"])) == [
        ["", "estimate", "bounds", "95% confidence interval"],
        ["paa", "4.00", "3.35 to 4.64", "3.21 to 4.69"],
    ]
    assert table(parsed(found["one row"]))[1] == ["0", "4.00", "3.35 to 4.64"]
    assert table(parsed(found["flagged"]))[1][-1] == "no_ratings"
    assert [row[0] for row in table(parsed(found["sweep"]))] == ["q", "1", "0.5"]
    assert [row[0] for row in table(parsed(found["comparison"]))][1:3] == ["A", "B"]
    assert table(parsed(found["audit"]))[3][3] == "unknown"
    assert "no ratings" in (parsed(found["flagged"]).findtext("p") or "")


def test_many_rows_are_a_table_alone() -> None:
    result = uh.estimate(np.ones((25, 5), int), q=0.3)
    assert result._repr_html_() == result._repr_mimebundle_()["text/html"]
    shown = parsed(result)
    assert shown.find("figure") is None
    assert len(table(shown)) == 11
    assert (shown.findtext("p") or "").startswith("15 more rows.")
    with pytest.raises(OptionError, match=r"A chart shows one histogram; got 25\. Draw one"):
        result.chart()


def test_pictures_take_what_is_to_be_marked() -> None:
    marked = uh.sweep(COUNTS, above=3.5).chart(q=0.3).records
    assert [row["part"] for row in marked][-2:] == ["claim", "chosen"]
    assert marked[-2]["breakdown_q"] == uh.find_breakdown(COUNTS, above=3.5)
    names = uh.compare(A, B, q=0.5, names=("Alder", "Birch")).chart().records
    assert [row["name"] for row in names][:2] == ["Alder", "Birch"]


def test_questions_are_kept_but_not_printed() -> None:
    result = uh.estimate(COUNTS, q=0.3)
    assert result.question is not None
    assert result.question.counts.cells.tolist() == [list(COUNTS)]
    assert "question" not in repr(result)
    assert "question" not in numbers_document(result)
    assert "question" not in repr(uh.sweep(COUNTS))


def test_other_things_are_not_shown() -> None:
    with pytest.raises(TypeError, match="Result cannot be drawn"):
        notebook.draw(Result())


WITHOUT = """
import sys
sys.modules[{missing!r}] = None
import unheard as uh
result = uh.estimate([120, 30, 45, 200, 605], q=0.3)
shown = result._repr_mimebundle_()["text/html"]
assert "<table" in shown and ">1,000 ratings" in shown and "<svg" not in shown, shown
try:
    result.chart().svg()
except uh.MissingLibraryError as error:
    print(error)
"""


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_without_a_drawing_library(missing: str) -> None:
    code = WITHOUT.format(missing=missing)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'unheard[charts]'" in done.stdout


def test_without_altair_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("unheard.charts.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "altair", None)
    for name, result in results().items():
        shown = parsed(result)
        assert shown.find("figure") is None, name
        assert len(table(shown)) > 1
    with pytest.raises(MissingLibraryError, match="Altair"):
        uh.estimate(COUNTS, q=0.3).chart()


def test_charts_are_fetched_when_first_used() -> None:
    code = "import sys, unheard as uh; uh.estimate([1, 2], q=0.5); uh.charts; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "unheard.charts" in done.stdout.split()
    assert not {"altair", "unheard.charts.notebook", "unheard.charts.draw"} & {*done.stdout.split()}
    assert callable(uh.charts.draw_ranking)
    with pytest.raises(AttributeError, match="no attribute 'no_picture'"):
        _ = uh.charts.no_picture
