"""``unheard compare`` as users type it."""

from __future__ import annotations

import csv
import json
import re
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import unheard as uh
from tests.cli.typed import typing

A, B = [5, 10, 35, 120, 30], [30, 25, 45, 80, 20]
TYPED = ["5,10,35,120,30", "30,25,45,80,20"]
STAYS = {"Cedar": [1, 0, 2, 4, 7], "Elm": [7, 5, 1, 4, 1], "Fir\x1b[31m": [0, 1, 0, 0, 9]}
TABLE = ["--source", "stays.csv", "--item", "hotel", "--rating", "stars", "--q", "0.3"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    with Path("stays.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["hotel", "stars", "guests"])
        for name, counts in STAYS.items():
            for star, many in enumerate(counts, 1):
                rows.writerows([[name, star, 3 * sum(counts) + 1]] * many)

    return typing(monkeypatch, capsys)


def test_json_is_the_contract(run: Any) -> None:
    done = run("compare", *TYPED, "--q", "0.5", "--n", "900,700", "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert list(document) == [
        *("scale", "a", "b", "assumption", "level", "covers", "leader", "separate", "shared"),
        "words",
    ]
    found = uh.compare(A, B, 0.5, n=(900, 700))
    assert document["leader"] == "a"
    assert document["separate"] == asdict(found.separate)
    assert document["shared"] == asdict(found.shared)
    for key, name, counts, n, one in (
        ("a", "A", A, 900, found.a),
        ("b", "B", B, 700, found.b),
    ):
        row = document[key]
        assert (row["name"], row["counts"], row["n"]) == (name, counts, n)
        assert (row["method"], row["estimate"]) == (one.method, one.estimate)
        assert (row["lower"], row["ci_upper"]) == (one.lower, one.ci_upper)
        assert row["notes"] == list(one.notes) == []
    assert document["assumption"]["q"] == 0.5


def test_a_preset_is_its_number(run: Any) -> None:
    words = ["--quiet", "high", "--json", "--level", "0.8"]
    named = json.loads(run("compare", *TYPED, "--q", "reviews", *words).out)
    assert named == json.loads(run("compare", *TYPED, "--q", "0.3", *words).out)
    assert named["assumption"]["q"] == 0.3


def test_items_of_a_table(run: Any) -> None:
    done = run("compare", "Elm", "Cedar", *TABLE, "--n-column", "guests", "--json")
    document = json.loads(done.out)
    assert (document["a"]["name"], document["a"]["counts"]) == ("Elm", STAYS["Elm"])
    assert (document["b"]["n"], document["leader"]) == (43, "b")
    found = uh.compare(STAYS["Elm"], STAYS["Cedar"], 0.3, n=(55, 43))
    assert document["shared"]["ci_lower"] == pytest.approx(found.shared.ci_lower, abs=1e-12)
    assert document["separate"]["upper"] == pytest.approx(found.separate.upper, abs=1e-12)
    q = found.separate.breakdown_q
    assert document["separate"]["breakdown_q"] == (None if q is None else pytest.approx(q))


def test_screen(run: Any) -> None:
    out = run("compare", *TYPED, "--q", "0.5").out
    assert re.search(r"\nA +200 +3\.80 +3\.7\d +3\.\d\d to ", out)
    assert re.search(r"\neach its own participation +0\.61 +0\.04 to 1\.17 +-0\.20 to 1\.41", out)
    assert re.search(r"\none shared participation +0\.64 +0\.43 to 0\.85 +0\.25 to 1\.16", out)
    said = " ".join(out.split())
    assert (
        "With separate participation, A is ahead of B as long as q is above 0.475, ignoring "
        "sampling error; allowing for it, as long as q is above 0.629." in said
    )
    assert "With shared participation, A is ahead of B at every q, ignoring sampling" in said
    assert "Assumption: Whatever their rating, people respond at least 0.5 times" in said
    assert max(len(line) for line in out.splitlines()) <= 80


def test_screen_of_a_tie_and_of_a_contradiction(run: Any) -> None:
    said = " ".join(run("compare", "1,2,1", "5,0,5", "--q", "0.5").out.split())
    assert "Neither item is ahead" in said
    assert "is ahead of" not in said
    said = " ".join(run("compare", "1,2,9", "5,0,5", "--q", "0.5", "--n", "500,12").out.split())
    assert "refuted: " not in said  # a ratio holds at any response rate
    said = " ".join(run("compare", "1,2,9", "5,0,5", "--floor", "0.5", "--n", "500,12").out.split())
    assert "refuted: " in said


def test_names_cannot_speak_to_the_terminal(run: Any) -> None:
    done = run("compare", "Fir\x1b[31m", "Cedar", *TABLE)
    assert done.code == 0
    assert "\x1b[31m" not in done.out
    assert r"Fir\x1b[31m is ahead of Cedar" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["1,2,3", "4,5", "--q", "0.3"], "A has 3, and B has 2. Type one count for each value"),
        (["1,2,3", "0,0,0", "--q", "0.3"], "B has no ratings"),
        (["1,2,3", "4,-5,6", "--q", "0.3"], "must be between 0 and 2**53; got -5"),
        (["1,2,3", "4,x,6", "--q", "0.3"], "count 2 is not a number; got 'x'."),
        (
            [*TYPED, "--q", "review"],
            "--q must be a number or the name of a preset or study; got 'review'.",
        ),
        ([*TYPED, "--q", "lots"], "--q is not a number; got 'lots'."),
        ([*TYPED], "An assumption about who responds is required"),
        ([*TYPED, "--q", "0.3", "--n", "900,700,3"], "--n has 3 numbers for two items."),
        (
            [*TYPED, "--q", "0.3", "--n", "900,199"],
            "--n[1] must be at least the number of ratings, 200; got 199",
        ),
        ([*TYPED, "--q", "0.3", "--level", "none"], "--level is not a number; got 'none'."),
        (
            [*TYPED, "--q", "0.3", "--g", "1,1,1,1,1"],
            "Only one assumption can be stated; got q and g",
        ),
        ([*TYPED, "--q", "0.3", "--rating", "stars"], "--rating requires a table."),
        (["Cedar", "Elm", *TABLE, "--n", "9,8,7"], "--n has 3 numbers for two items."),
        (
            ["Cedar", "Elm", *TABLE, "--n", "99,17"],
            "--n[1] must be at least the number of ratings, 18; got 17",
        ),
        (["Cedar", "Elm", *TABLE, "--n", "99", "--n-column", "guests"], "cannot be combined"),
        (["Cedar", "Elm", *TABLE, "--n", "99", "--bad-n", "raise"], "--bad-n is about n of a tab"),
        (["Ceder", "Elm", *TABLE], "has no item 'Ceder'. Did you mean 'Cedar'?"),
        (["Cedar", "Ulm", *TABLE], "has no item 'Ulm'. Did you mean 'Elm'?"),
        (["Cedar", "Elm", *TABLE, "--item", "stars"], "--rating names the same column as --item"),
        (
            ["Cedar", "Elm", *TABLE, "--nulls", "x"],
            "--nulls must be one of refuse, drop, nonresponse; got 'x'.",
        ),
    ],
)
def test_refused(run: Any, words: list[str], message: str) -> None:
    done = run("compare", *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("n", ["14,18", "300", "14,400"])
def test_stated_n_of_named_items(run: Any, n: str) -> None:
    typed = [",".join(map(str, STAYS[name])) for name in ("Cedar", "Elm")]
    named = run("compare", "Cedar", "Elm", *TABLE, "--n", n, "--json")
    assert (named.code, named.err) == (0, "")
    document = json.loads(named.out)
    expected = json.loads(run("compare", *typed, "--q", "0.3", "--n", n, "--json").out)
    for participation in ("separate", "shared"):
        assert document[participation] == expected[participation]
    few = run("compare", "Fir\x1b[31m", "Fir\x1b[31m", *TABLE, "--n", "10,11")
    assert (few.code, few.err) == (0, "")  # fewer than the ratings of Cedar and Elm


def test_examples_of_the_help_work(run: Any) -> None:
    examples = re.findall(r"^ +unheard (compare .*)$", run("compare", "--help").out, re.MULTILINE)
    assert len(examples) == 4
    for example in examples:
        done = run(*shlex.split(example))
        assert (done.code, done.err) == (0, "")
        assert "one shared participation" in done.out


def test_a_table_without_rows(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("hotel,stars\n")
    source = ["--source", str(path), "--item", "hotel", "--rating", "stars", "--q", "0.3"]
    done = run("compare", "A", "B", *source)
    assert done.code == 2
    assert f"{path} has no rows. Use a table with ratings." in done.err
