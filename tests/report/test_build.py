"""Making a report from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import unheard as uh
from tests.report.examples import COUNTS, NAMES, job_of, table_of
from tests.report.parse_page import parsed
from unheard.report import make_report, render_report

pytestmark = pytest.mark.usefixtures("undrawn")

TABLE = table_of(COUNTS)


def command_on(page: str) -> str:
    return parsed(page).all("code")[0].text


def test_text_is_what_is_written(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("an older page")
    text = uh.make_report(TABLE, "hotel", counts=NAMES, q=0.6, output=target)
    assert target.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [target]
    assert text.startswith("<!DOCTYPE html>")


def test_settings_are_those_of_rank() -> None:
    text = make_report(TABLE, "hotel", counts=NAMES, q=0.6, k=3, above=3.5, title="Five hotels")
    page = parsed(text)
    assert page.all("h1")[0].text == "Five hotels"
    assert "top 3" in page.text
    assert "is above 3.5" in page.text


def test_the_call_is_what_repeats_it() -> None:
    text = make_report(TABLE, "hotel", counts=NAMES, q=0.6, k=3)
    assert command_on(text) == (
        "unheard.make_report(..., item='hotel', counts=['n1', 'n2', 'n3', 'n4', 'n5'], q=0.6, k=3)"
    )
    assert command_on(make_report(TABLE, "hotel", counts=NAMES, q=0.6, command="make")) == "make"


def test_files_are_called_by_their_name(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_text("hotel,stars\n" + "A,5\nA,4\nB,1\n" * 5)
    page = parsed(make_report(path, "hotel", "stars", q=0.6))
    assert "15 ratings of 2 items in stays.csv, on the scale 1 to 5." in page.text
    assert page.all("h1")[0].text == "What the ratings in stays.csv show"
    assert f"unheard.make_report({str(path)!r}, " in page.all("code")[0].text


def test_report_of_a_job() -> None:
    with job_of(TABLE, q=0.6) as job:
        page = render_report(job, source="upload.csv", command="unheard report mine.csv")
        without = render_report(job, source="upload.csv")
    assert "in upload.csv" in parsed(page).text
    assert command_on(page) == "unheard report mine.csv"
    assert parsed(without).all("code") == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("page.pdf", r"output must end in \.html or \.htm"),
        ("nowhere/page.html", r"The folder .*nowhere does not exist"),
        ("folder.html", "is a folder"),
    ],
)
def test_targets_that_are_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(uh.OptionError, match=message):
        make_report(TABLE, "hotel", counts=NAMES, q=0.6, output=tmp_path / name)


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "stays.html"
    path.write_text("hotel,stars\nA,5\n")
    with pytest.raises(uh.OptionError, match="is also read as a table"):
        make_report(path, "hotel", "stars", q=0.6, output=path)
    assert path.read_text() == "hotel,stars\nA,5\n"


def test_nothing_is_left_behind_by_a_failure(tmp_path: Path) -> None:
    bad = pa.table({"hotel": ["A"], "stars": [9]})
    with pytest.raises(uh.DataError):
        make_report(bad, "hotel", "stars", q=0.6, output=tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("jinja2", "Making a report requires Jinja2"),
        ("altair", "Drawing a chart requires Altair"),
    ],
)
def test_missing_libraries_are_named(module: str, words: str) -> None:
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "import pyarrow as pa, unheard as uh\n"
        "table = pa.table({'hotel': ['A', 'B'], 'stars': [5, 1]})\n"
        "try:\n    uh.make_report(table, 'hotel', 'stars', q=0.6)\n"
        "except uh.MissingLibraryError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert words in done.stdout
    assert "unheard[charts]" in done.stdout
