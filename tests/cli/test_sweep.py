"""``unheard sweep`` as users type it."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import unheard as uh
from tests.cli.typed import refused, typing
from unheard.analysis.sweep import GRID

COUNTS = ["120", "30", "45", "200", "605"]
HISTOGRAM = [120, 30, 45, 200, 605]
STAYS = {"Alder": [6, 2, 4, 9, 21], "Birch": [1, 3, 9, 19, 10], "Elm, old": [7, 5, 1, 4, 1]}
TABLE = ["--source", "stays.csv", "--item", "hotel", "--rating", "stars"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    with Path("stays.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["hotel", "stars", "guests"])
        for name, counts in STAYS.items():
            for star, many in enumerate(counts, 1):
                rows.writerows([[name, star, 9 * sum(counts)]] * many)

    return typing(monkeypatch, capsys)


def test_json_is_the_contract(run: Any) -> None:
    done = run("sweep", *COUNTS, "--above", "3.5", "--q", "0.2,0.5", "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert list(document) == [
        *("scale", "counts", "n", "n_ratings", "assumption", "level", "covers", "method"),
        *("rows", "claim", "words"),
    ]
    assert document["counts"] == HISTOGRAM
    assert document["assumption"] == {"kind": "any"}
    assert document["method"] == "paa"
    assert [row["q"] for row in document["rows"]] == [0.5, 0.2]
    for row in document["rows"]:
        one = uh.estimate(HISTOGRAM, row["q"])
        for name in ("estimate", "lower", "upper", "ci_lower", "ci_upper"):
            assert row[name] == pytest.approx(getattr(one, name), abs=1e-12)
        assert row["notes"] == []
    assert document["claim"] == {
        "above": 3.5,
        "breakdown_q": uh.find_breakdown(HISTOGRAM, above=3.5),
        "ci_breakdown_q": uh.find_breakdown(HISTOGRAM, above=3.5, sampling_error=True),
    }
    plain = json.loads(run("sweep", *COUNTS, "--json").out)
    assert plain["claim"] is None
    assert [row["q"] for row in plain["rows"]] == list(GRID)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--quiet", "low", "--n", "2400"], {"quiet": "low", "n": 2400}),
        (["--n", "2400", "--covers", "people"], {"n": 2400, "covers": "people"}),
        (["--level", "0.8", "--scale", "0:4"], {"level": 0.8, "scale": "0:4"}),
        (["--g", "0.1,0.2,0.3,0.4,0.5"], {"g": [0.1, 0.2, 0.3, 0.4, 0.5]}),
        (["--participation", ",".join(["0.1:0.4"] * 5)], {"participation": [(0.1, 0.4)] * 5}),
    ],
)
def test_every_way_to_ask(run: Any, words: list[str], asked: dict[str, Any]) -> None:
    document = json.loads(run("sweep", *COUNTS, "--q", "1,0.3", *words, "--json").out)
    found = uh.sweep(HISTOGRAM, [1, 0.3], **asked)
    for row, one in enumerate(document["rows"]):
        assert one["ci_lower"] == pytest.approx(found.ci_lower[row], abs=1e-12)
        assert one["upper"] == pytest.approx(found.upper[row], abs=1e-12)
        assert one["notes"] == list(found.notes[row])
    shown = run("sweep", *COUNTS, *words)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.count("━") > 20


def test_screen(run: Any) -> None:
    out = run("sweep", *COUNTS, "--above", "3.5").out
    assert "1,000 ratings from an unknown number of people" in out
    assert re.search(r"\n +0\.3 +4\.00  3\.35 to 4\.64  3\.21 to 4\.69\n", out)
    said = " ".join(out.split())
    assert (
        "The mean is above 3.5 as long as q is above 0.365, ignoring sampling error; allowing for "
        "it, as long as q is above 0.434." in said
    )
    assert max(len(line) for line in out.splitlines()) <= 80
    out = run("sweep", "0", "0", "0", "3", "1", "--above", "3.5").out
    assert "The mean is above 3.5 at every q, ignoring sampling error" in " ".join(out.split())
    out = run("sweep", "9", "9", "1", "--above", "2.5").out
    assert (
        "That the mean is above 2.5 holds at no q, not even if everybody "
        "responds equally often (q = 1)." in " ".join(out.split())
    )
    out = run("sweep", *COUNTS, "--n", "2400", "--below", "4.5", "--floor", "0.9,0.3").out
    assert "refuted" in out
    assert "people respond with a probability of at least q." in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "assumption"),
    [
        ([], "Whatever their rating, people respond at least q times as often"),
        (["--quiet", "low"], "The lower their rating, the less often people may respond, but they"),
        (["--quiet", "high"], "The higher their rating, the less often people may respond, but"),
        (["--floor", "0.3", "--n", "2400"], "Whatever their rating, people respond with a prob"),
        (["--g", "0.1,0.2,0.3,0.4,0.5"], "The probability of responding is known for each rating"),
        (["--participation", ",".join(["0.1:0.4"] * 5)], "The probability of responding, lowest"),
    ],
)
def test_the_assumption_is_stated(run: Any, words: list[str], assumption: str) -> None:
    assert f"Assumption: {assumption}" in " ".join(run("sweep", *COUNTS, *words).out.split())
    (said,) = json.loads(run("sweep", *COUNTS, *words, "--json").out)["words"]
    assert said.startswith(f"Assumption: {assumption}")
    assert re.search(r"(at least|as little as) q( times (that|as often.*))?\.$", said)


def test_a_named_item_is_named_in_the_answer(run: Any) -> None:
    words = ["sweep", "Elm,", "old", *TABLE, "--q", "0.3"]
    assert run(*words).out.startswith("Elm, old\n18 ratings from ")
    assert json.loads(run(*words, "--json").out)["name"] == "Elm, old"
    typed = run("sweep", "7", "5", "1", "4", "1", "--q", "0.3", "--json")
    assert "name" not in json.loads(typed.out)


def test_a_table_without_notes_has_no_heading_for_them(run: Any) -> None:
    assert "notes" not in run("sweep", *COUNTS, "--q", "0.3").out
    assert "notes" in run("sweep", *COUNTS, "--n", "2400", "--floor", "0.9").out


def test_an_item_without_its_table_is_refused(run: Any) -> None:
    hint = "count 1 is not a number; got 'Alder'. To use items of a table, add --source FILE."
    refused(run("sweep", "Alder"), hint)
    refused(run("compare", "Alder", "Birch", "--q", "0.3"), hint)
    hint = "got 'stays.csv'. Give the number of ratings of each value; for a file, use unheard rate"
    refused(run("estimate", "stays.csv", "--q", "0.3"), hint)
    refused(run("plan", "3", "stays.csv", "--n", "9", "--q", "0.3", "--above", "4"), hint)
    hint = "--item is missing. Name the column that says what was rated."
    refused(run("plan", "stays.csv", "--n", "9", "--q", "0.3", "--above", "4"), hint)
    refused(run("sweep", "3", "4%"), "Give the number of ratings, not percentages.")


def test_items_of_a_table(run: Any) -> None:
    for name, counts in STAYS.items():
        document = json.loads(run("sweep", name, *TABLE, "--q", "0.3", "--json").out)
        assert document["counts"] == counts
        one = uh.estimate(counts, 0.3)
        assert document["rows"][0]["ci_upper"] == pytest.approx(one.ci_upper, abs=1e-12)
    document = json.loads(
        run("sweep", "Elm,", "old", *TABLE, "--n-column", "guests", "--q", "0.05", "--json").out
    )
    assert document["n"] == 9 * sum(STAYS["Elm, old"])
    one = uh.estimate(STAYS["Elm, old"], 0.05, n=document["n"])
    assert document["rows"][0]["lower"] == pytest.approx(one.lower, abs=1e-12)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*COUNTS, "--q", "0"], "--q[0] must be in (0, 1]; got 0"),
        ([*COUNTS, "--q", "0.5,1.5"], "--q[1] must be in (0, 1]; got 1.5"),
        ([*COUNTS, "--q", "a,b"], "--q[0] is not a number; got 'a'."),
        ([*COUNTS, "--q", ""], "--q[0] is not a number; got ''."),
        ([*COUNTS, "--above", "9"], "--above must be on the scale, from 1 to 5; got 9"),
        ([*COUNTS, "--above", "3", "--below", "4"], "--above and --below cannot be combined"),
        ([*COUNTS, "--above", "high"], "--above is not a number; got 'high'."),
        ([*COUNTS, "--n", "many"], "--n is not a number; got 'many'."),
        ([*COUNTS, "--n", "999"], "--n must be at least the number of ratings, 1000; got 999"),
        ([*COUNTS, "--level", "2"], "--level must be between 0 and 1; got 2"),
        ([*COUNTS, "--quiet", "low", "--g", "1,1,1,1,1"], "together with --q; got 'low'"),
        ([*COUNTS, "--assumption", "none.json"], "none.json cannot be read: "),
        ([*COUNTS, "--item", "hotel"], "--item requires a table."),
        ([], "COUNTS is missing."),
        (["Aldr", *TABLE], "has no item 'Aldr'. Did you mean 'Alder'?"),
        (["Alder", *TABLE, "--n", "41"], "--n must be at least the number of ratings, 42; got 41"),
        ([*TABLE], "has no item ''"),
        (["Alder", "--source", "no.csv", "--item", "hotel", "--rating", "stars"], "no.csv"),
        (["Alder", "--source", "stays.csv", "--item", "hotl", "--rating", "stars"], "'hotel'?"),
        (["Alder", *TABLE, "--scale", "1:4"], "not on the scale"),
    ],
)
def test_refused(run: Any, words: list[str], message: str) -> None:
    refused(run("sweep", *words), message)


def test_misspelt_options(run: Any) -> None:
    for words in (COUNTS, ["Alder", *TABLE]):
        done = run("sweep", *words, "--abov", "3")
        assert (done.code, done.out) == (2, "")
        assert "--above" in done.err


def test_examples_of_the_help_work(run: Any) -> None:
    examples = re.findall(r"^ +unheard (sweep .*)$", run("sweep", "--help").out, re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        done = run(*shlex.split(example))
        assert (done.code, done.err) == (0, "")
        assert "━" in done.out
