"""``unheard plan TABLE`` as users type it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import unheard as uh
from tests.cli.typed import Typed, refused, typing

COURSES = """course,enrolled,bad,fair,good
Algebra,60,6,4,11
=Logic(),12,1,1,4
Sets,14,0,1,12
Topology,400,30,2,9
"""
COLUMNS = ["--item", "course", "--counts", "bad,fair,good", "--q", "0.5"]


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Typed:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    Path("courses.csv").write_text(COURSES)
    return typing(monkeypatch, capsys, "plan", "courses.csv", *COLUMNS)


PEOPLE = ["--n-column", "enrolled"]


def plans(**options: Any) -> uh.Plans:
    return uh.plan_table(
        "courses.csv",
        "course",
        counts=["bad", "fair", "good"],
        n_column="enrolled",
        q=0.5,
        **options,
    )


def test_the_screen_says_whom_to_call_first(run: Typed) -> None:
    done = run(*PEOPLE, "--width", "0.5", "--budget", "20")
    found = plans(width=0.5, budget=20)
    assert done.out.rstrip("\n") == found.summary().rstrip("\n")
    assert all(len(line) <= 80 for line in done.out.splitlines())
    assert "4 items: 81 ratings from 486 people; 405 did not respond" in done.text
    assert "Interval: for the mean of exactly these people." in done.text
    names = [words[1] for words in map(str.split, done.out.splitlines()) if words[:1] == ["1"]]
    assert names == [str(found.labels["course"][found.order[0]])]
    used = int(found.calls.sum()) if found.calls is not None else 0
    assert f"{20 - used} calls are left, too few for the next item" in done.text


def test_long_names_fit_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    heading = "name_of_the_course_that_was_taken"
    text = COURSES.replace("Algebra", "an introduction to " * 4).replace("course", heading)
    (tmp_path / "long.csv").write_text(text)
    typed = typing(monkeypatch, capsys, "plan", str(tmp_path / "long.csv"), *COLUMNS[2:])
    for width in (80, 44):
        monkeypatch.setenv("COLUMNS", str(width))
        done = typed(*PEOPLE, "--width", "0.5", "--item", heading)
        assert "an i" in done.out
        assert all(len(line) <= width for line in done.out.splitlines())


def test_json_is_the_document(run: Typed) -> None:
    done = run(*PEOPLE, "--above", "2", "--json")
    assert json.loads(done.out) == json.loads(json.dumps(plans(above=2).to_dict()))
    assert json.loads(done.out)["covers"] == "people"
    mean = json.loads(run(*PEOPLE, "--above", "2", "--covers", "mean", "--json").out)
    assert mean["covers"] == "mean"


HISTOGRAM = ["5", "3", "9", "--n", "60", "--q", "0.5", "--width", "1"]


def test_counts_keep_their_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = typing(monkeypatch, capsys, "plan")(*HISTOGRAM, "--json")
    assert json.loads(done.out)["covers"] == "mean"


def test_files_have_all_rows_and_settings(run: Typed) -> None:
    done = run(*PEOPLE, "--width", "0.5", "--top", "1", "-o", "plan.parquet")
    assert (done.code, done.out) == (0, "")
    assert "4 rows written to plan.parquet." in done.err
    rows = pq.read_table("plan.parquet").to_pylist()
    expected: Any = plans(width=0.5).to_dict()["rows"]
    assert [row["course"] for row in rows] == [row["course"] for row in expected]
    assert [row["ask"] for row in rows] == [row["ask"] for row in expected]
    assert {(row["goal"], row["target"], row["covers"]) for row in rows} == {
        ("width", 0.5, "people")
    }
    assert run(*PEOPLE, "--width", "0.5", "-o", "plan.csv").code == 0
    text = Path("plan.csv").read_text()
    assert "'=Logic()" in text  # no formula in a spreadsheet
    assert text.count("\n") == 5
    assert run(*PEOPLE, "--width", "0.5", "-o", "plan.json").code == 0
    assert len(json.loads(Path("plan.json").read_text())) == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--width", "1"], "Give --n or --n-column, or count empty ratings with --nulls"),
        (PEOPLE, "A goal is missing. Give one of --width 0.3, --above 4"),
        ([*PEOPLE, "--width", "1", "--above", "2"], "Two goals are given"),
        (["--n", "30", "--width", "1"], "more ratings than 30, the value of --n"),
        (["--n-column", "people", "--width", "1"], "courses.csv has no column 'people'"),
        ([*PEOPLE, "--width", "1", "--budget", "-1"], "--budget must be a whole number, 0 or more"),
        ([*PEOPLE, "--follow-up", "1,2,3"], "--follow-up does not apply to a table"),
        ([*PEOPLE, "--width", "1", "-o", "plan.xls"], "--output must end in"),
        ([*PEOPLE, "--width", "1", "-o", "courses.csv"], "is also read as a table"),
    ],
)
def test_bad_input(run: Typed, words: list[str], message: str) -> None:
    refused(run(*words), message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--budget 9", "--budget requires a table"),
        ("--item course", "--item requires a table"),
        ("-o plan.csv", "--output requires a table"),
        ("--nulls drop", "--nulls requires a table"),
    ],
)
def test_counts_take_no_options_of_tables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    typed = typing(monkeypatch, capsys, "plan")
    refused(typed(*HISTOGRAM, *words.split()), message)


def test_three_hundred_courses_take_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(2)
    n = rng.integers(8, 400, 300)
    people = rng.multinomial(n, rng.dirichlet([0.5, 0.5, 1, 2, 3], 300))
    seen = rng.binomial(people, rng.uniform(0.2, 0.9, (300, 5)))
    lines = [f"c{at},{n[at]},{','.join(map(str, seen[at]))}" for at in range(300)]
    path = tmp_path / "many.csv"
    path.write_text("\n".join(["course,n,a,b,c,d,e", *lines]) + "\n")
    columns = ["--item", "course", "--counts", "a,b,c,d,e", "--n-column", "n", "--q", "0.3"]
    typed = typing(monkeypatch, capsys, "plan", str(path), *columns)
    start = time.process_time()
    done = typed("--width", "0.5", "--json")
    # One course at a time takes eight times as long as all at once.
    assert time.process_time() - start < 5
    assert len(json.loads(done.out)["rows"]) == 300
