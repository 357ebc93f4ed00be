"""``unheard report`` as users type it."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.typed import Typed, refused, typing
from tests.report.parse_page import parsed

pytestmark = pytest.mark.usefixtures("undrawn")

ASKED = ["--item", "hotel", "--rating", "stars", "--q", "0.3"]
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    return typing(monkeypatch, capsys, "report")


def test_page_is_written(run: Typed, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    done = run(DOCS / "stays.csv", *ASKED, "-o", target)
    assert (done.code, done.out) == (0, "")
    size = target.stat().st_size / 1e6
    assert done.err == f"{target}: 5 items, {size:.1f} MB\n"
    page = parsed(target.read_text(encoding="utf-8"))
    assert "First place is undecided" in page.text
    command = f"unheard report {DOCS / 'stays.csv'} {' '.join(ASKED)} -o {target}"
    assert page.all("code")[0].text == command
    assert list(tmp_path.iterdir()) == [target]


def test_options(run: Typed, tmp_path: Path) -> None:
    target = tmp_path / "page.htm"
    options = ["--k", "3", "--below", "4", "--title", "Our hotels", "--level", "0.9"]
    done = run(DOCS / "stays.csv", *ASKED, *options, "-o", target)
    assert done.code == 0
    page = parsed(target.read_text(encoding="utf-8"))
    assert page.all("h1")[0].text == "Our hotels"
    for words in ("top 3", "below 4", "90% confidence"):
        assert words in page.text
    assert "--title 'Our hotels'" in page.all("code")[0].text


def test_json(run: Typed, tmp_path: Path) -> None:
    alone = run(DOCS / "stays.csv", *ASKED, "--json")
    assert (alone.code, alone.err) == (0, "")
    document = json.loads(alone.out)
    assert document["headline"][0].startswith("First place is undecided")
    assert document["rows"][0]["hotel"] == "Birch"  # not Dune, with its four reviews
    assert document["k"] == 2
    target = tmp_path / "page.html"
    both = run(DOCS / "stays.csv", *ASKED, "--json", "-o", target)
    assert json.loads(both.out)["rows"] == document["rows"]
    assert both.err == ""
    assert target.exists()


def test_windows(run: Typed, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    done = run(DOCS / "stays.csv", *ASKED, "--time", "day", "--window", "quarter", "-o", target)
    assert done.code == 0
    assert " rows, " in done.err
    assert "one for each item and window)" in parsed(target.read_text(encoding="utf-8")).text


def test_header_only_is_refused(run: Typed, tmp_path: Path) -> None:
    empty, target = tmp_path / "empty.csv", tmp_path / "page.html"
    empty.write_text("hotel,stars\n")
    done = run(empty, *ASKED, "-o", target)
    assert done.code != 0
    assert "empty.csv has no rows. Use a table with ratings." in done.err
    assert not target.exists()


def test_second_table(run: Typed, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    people = ["--n-table", DOCS / "guests.csv", "--n-column", "guests"]
    assert run(DOCS / "stays.csv", *ASKED, *people, "-o", target).code == 0
    assert "no_ratings" in parsed(target.read_text(encoding="utf-8")).text


def test_commands_of_the_docs_run(
    run: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (DOCS / "howto" / "report.md").read_text(encoding="utf-8").replace("\\\n", "")
    commands = [
        shlex.split(line)[2:] for line in text.splitlines() if line.startswith("unheard report")
    ]
    assert len(commands) == 2
    for table in DOCS.glob("*.csv"):
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in commands:
        assert run(*words).code == 0
        assert Path("page.html").stat().st_size > 10_000
        Path("page.html").unlink()


def test_passwords_stay_out_of_the_page(run: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    from unheard.cli import report

    words = ["unheard", "report", "postgresql://me:sesame@host/db", "--table", "stays"]
    monkeypatch.setattr("sys.argv", words)
    assert "sesame" not in report.write_typed_command()
    assert (
        report.write_typed_command() == "unheard report 'postgresql://me:***@host/db' --table stays"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--output is missing. Name the file to write with -o"),
        (["-o", "page.pdf"], "--output must end in .html or .htm"),
        (["-o", "nowhere/page.html"], "The folder nowhere does not exist"),
        (["-o", "folder.html"], "folder.html is a folder"),
        (["-o", "page.html", "--k", "6"], "--k must be at most the number of items, 5; got 6"),
        (["-o", "page.html", "--k", "none"], "--k is not a number; got 'none'"),
        (["-o", "page.html", "--above", "9"], "--above must be on the scale, from 1 to 5; got 9"),
        (
            ["-o", "page.html", "--above", "2", "--below", "3"],
            "--above and --below cannot be combined",
        ),
        (["-o", "page.html", "--q", "1.5"], "--q must be in (0, 1]; got 1.5"),
        (["-o", "page.html", "--rating", "hotel"], "--rating names the same column as --item"),
    ],
)
def test_errors(
    run: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.html").mkdir()
    # An option that is given twice counts as it was given last; columns add up.
    asked = ASKED if "--rating" not in words else ["--item", "hotel", "--q", "0.3"]
    refused(run(DOCS / "stays.csv", *asked, *words), message)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]


def test_an_input_is_not_overwritten(run: Typed, tmp_path: Path) -> None:
    path = tmp_path / "stays.html"
    path.write_bytes((DOCS / "stays.csv").read_bytes())
    refused(run(path, *ASKED, "-o", path), "is also read as a table")
    assert path.read_bytes() == (DOCS / "stays.csv").read_bytes()


@pytest.mark.parametrize("option", ["--sort", "--top", "--to-table", "--no-ranks", "--who"])
def test_options_that_would_do_nothing_are_not_there(run: Typed, option: str) -> None:
    done = run(DOCS / "stays.csv", *ASKED, "-o", "page.html", option, "2")
    assert done.code == 2
    assert "No such option" in done.err


def test_one_crowd_unless_separate(run: Typed) -> None:
    led, shared, separate = (
        json.loads(run(DOCS / "stays.csv", *ASKED, *more, "--json").out)
        for more in ([], ["--shared"], ["--separate"])
    )
    assert led["shared"] is shared["shared"] is True
    assert led["numbers"] == shared["numbers"]
    assert separate["shared"] is False
    assert led["numbers"]["pairs_settled"] > separate["numbers"]["pairs_settled"]
    assert led["participation"][0].startswith("One crowd: ")
    assert led["participation"][1].startswith("With separate participation, 50% of the ")
    assert separate["participation"][0].startswith("Separate crowds: ")
    assert separate["participation"][1] == (
        "With shared participation, 80% of the pairs would be in a settled order, ignoring "
        "sampling error."
    )


def test_one_crowd_where_it_can_be(run: Typed) -> None:
    windows = [*ASKED, "--time", "day", "--window", "quarter"]
    assert json.loads(run(DOCS / "stays.csv", *windows, "--json").out)["shared"] is False
    done = run(DOCS / "stays.csv", *windows, "--shared", "--json")
    refused(done, "--shared cannot be combined with --window. Leave one of them out")
