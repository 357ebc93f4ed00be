"""``unheard rank`` as users type it."""

from __future__ import annotations

import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tests.cli.typed import typing
from tests.tables.oracle import expected, rows_by, same, with_order
from unheard.analysis.breakdown import find_breakdown
from unheard.analysis.ranking import adjust_level_for_items, find_top_k_breakdown
from unheard.analysis.shared_breakdown import find_shared_top_k_breakdown
from unheard.analysis.shared_ranking import rank_shared
from unheard.model.estimate import estimate
from unheard.model.question import build_question

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
COUNTS = {  # one surely best, one surely worst, three between that noise mixes up
    "Alder": [1, 0, 2, 20, 300],
    "Birch": [10, 20, 40, 100, 60],
    "Cedar": [12, 15, 45, 95, 70],
    "Dune": [2, 3, 4, 5, 6],
    "Elm, old": [30, 10, 8, 3, 1],
}
CELLS = np.array(list(COUNTS.values()))
STAYS = pa.table(
    {
        "hotel": [name for name, counts in COUNTS.items() for _ in range(sum(counts))],
        "stars": [
            star
            for counts in COUNTS.values()
            for star in range(1, 6)
            for _ in range(counts[star - 1])
        ],
    }
)
LEVELS = (0.95, adjust_level_for_items(0.95, 5))
WANTED = with_order(
    expected(STAYS, ["hotel"], "stars", FIVE, q=0.6),
    2,
    expected(STAYS, ["hotel"], "stars", FIVE, q=0.6, level=LEVELS[1]),
    find_breakdown(CELLS, above=3.5),
)
RANK = ["--item", "hotel", "--rating", "stars", "--q", "0.6", "--k", "2", "--above", "3.5"]
COLUMNS = [
    *("hotel", "n_ratings", "n", "average", "estimate", "lower", "upper", "ci_lower", "ci_upper"),
    *("best_rank", "worst_rank", "ci_best_rank", "ci_worst_rank", "average_rank", "tier"),
    *("top", "ci_top", "breakdown_q", "notes"),
]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("COLUMNS", "150")

    return typing(monkeypatch, capsys, "rank")


@pytest.fixture
def stays(tmp_path: Path) -> Path:
    path = tmp_path / "stays.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["hotel", "stars"], *(r.values() for r in STAYS.to_pylist())])
    return path


def standing(item: str, noise: bool) -> float:
    return find_top_k_breakdown(
        build_question(CELLS, 0.6), list(COUNTS).index(item), 2, sampling_error=noise
    )


# What is shown.


def test_screen(run: Any, stays: Path) -> None:
    done = run(stays, *RANK)
    assert (done.code, done.err) == (0, "")
    above, heading, *lines = done.out.splitlines()[2:9]
    assert re.split(r"\s{2,}", above.strip()) == ["average", "rank", "with", "above 3.5"]
    words = [word.strip() for word in re.split(r"\s{2,}", heading)]
    assert words[1:] == [
        *("ratings", "average", "rank", "estimate", "bounds", "range"),
        *("error", "tier", "top 2", "if q >"),
    ]
    order = sorted(COUNTS, key=lambda name: -WANTED[name,]["ci_lower"])
    assert [re.split(r"\s{2,}", line)[0] for line in lines] == order
    first, last = (re.split(r"\s{2,}", lines[i].strip()) for i in (0, -1))
    assert first[3] == "1"
    assert first[6:] == ["1", "1", "1", "surely", "0.01"]
    assert last[6:] == ["5", "4 to 5", "3", "no", "never"]


def test_sentences(run: Any, stays: Path) -> None:
    done = run(stays, *RANK)
    assert "2 of 5 ranks are settled, ignoring sampling error; allowing for it, 1." in done.text
    assert "Surely in the top 2, ignoring sampling error: Alder. Possibly: Cedar," in done.text
    assert "Allowing for it, surely: Alder. Possibly: Cedar, Birch, Dune." in done.text
    assert "In the top 2 by average, but undecided: Cedar." in done.text
    assert "With error: every rank that the assumption and sampling error allow, with" in done.text
    assert (
        "with 95% confidence for all items together; * marks what it leaves undecided." in done.text
    )
    assert "0.6 times as often" in done.text


def test_ratings_of_items_left_out_are_not_counted(run: Any, stays: Path) -> None:
    done = run(stays, *RANK, "--min-ratings", "100")
    assert done.out.startswith("790 ratings, 3 items, ")
    assert "Note: 2 items with fewer than 100 ratings were left out." in done.out
    assert run(stays, *RANK).out.startswith("862 ratings, 5 items, ")


def test_settled_top(run: Any, stays: Path) -> None:
    done = run(stays, *RANK[:6], "--k", "1", "--level", "none")
    assert "The first place by average is settled, ignoring sampling error." in done.text
    assert "allowing for it" not in done.text.lower()


def test_names_with_commas_are_told_apart(run: Any, stays: Path) -> None:
    done = run(stays, *RANK[:6], "--k", "5")
    assert "sampling error: Alder; Cedar; Birch; Dune; Elm, old." in done.text


def test_nothing_settled(run: Any, stays: Path) -> None:
    done = run(stays, *RANK[:4], "--q", "0.001")
    assert "No rank is settled" in done.text


def test_who(run: Any, stays: Path) -> None:
    done = run(stays, *RANK, "--who", "Alder")
    plain, noisy = standing("Alder", False), standing("Alder", True)
    assert 0 < plain < noisy < 1
    found = re.search(
        r"Alder is surely in the top 2 as long as q is above ([\d.]+); allowing for sampling "
        r"error, as long as q is above ([\d.]+)\.",
        done.text,
    )
    assert found is not None
    for written, exact in zip(found.groups(), (plain, noisy), strict=True):
        # Rounded up: at a q above what is written the claim holds.
        assert exact <= float(written) < exact * 1.011
    done = run(stays, *RANK, "--who", "Elm, old")
    assert "That Elm, old is in the top 2 holds at no q, not even if" in done.text


def test_who_where_people_are_known(run: Any, stays: Path) -> None:
    done = run(stays, *RANK, "--n", "2000", "--who", "Elm, old")
    assert "not even if everybody responds equally often (q = 1)" in done.text


def test_who_with_participation_per_rating(run: Any, stays: Path) -> None:
    g = "0.3,0.4,0.5,0.5,0.6"
    done = run(stays, *RANK[:4], "--g", g, "--k", "2", "--who", "Cedar")
    assert done.code == 0
    assert "as little as q times the stated probability" in done.text


def test_several_item_columns(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "rooms.csv"
    path.write_text("hotel,room,bad,good\nA,1,2,90\nA,2,50,50\nB,1,90,2\n")
    done = run(path, "--item", "hotel,room", "--counts", "bad,good", "--q", "0.5", "--k", "1",
               "--who", "A,1")  # fmt: skip
    assert done.code == 0
    assert "A,1 is surely first as long as q is above" in done.text


def test_months(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    rows = [f"{name},{star},2024-0{month}-10" for month in (1, 2) for name, stars in
            (("A", "5554"), ("B", "1123")) for star in stars]  # fmt: skip
    path.write_text("\n".join(["hotel,stars,day", *rows]))
    asked = [*RANK, "--time", "day", "--window", "month"]
    done = run(path, *asked)
    assert "The items of each window are ranked among themselves." in done.text
    refused = run(path, *asked, "--who", "A")
    assert refused.code == 2
    assert refused.err == (
        "Error: --who cannot be combined with --window. Leave one of them out.\n"
    )


# What is written.


def same_rows(rows: list[dict[str, Any]]) -> None:
    found = rows_by(rows, ["hotel"])
    assert found.keys() == WANTED.keys()
    for key, row in WANTED.items():
        notes = found[key]["notes"]
        text = " ".join(notes) if isinstance(notes, list) else notes or ""
        same({**found[key], "notes": text}, row, key)


def test_json(run: Any, stays: Path) -> None:
    done = run(stays, *RANK, "--who", "Alder", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert list(found) == [
        "k",
        "level",
        "shared",
        "pairs",
        "who",
        "scale",
        "assumption",
        "words",
        "meanings",
        "messages",
        "rows",
    ]
    assert (found["k"], found["level"]) == (2, 0.95)
    assert found["who"] == {
        "item": "Alder",
        "breakdown_q": pytest.approx(standing("Alder", False), rel=1e-9),
        "ci_breakdown_q": pytest.approx(standing("Alder", True), rel=1e-9),
    }
    assert list(found["rows"][0]) == COLUMNS
    # The page shows these sentences, under its own heading and without asterisks.
    (said,) = (one for one in found["meanings"] if "sampling error allow" in one)
    assert said.startswith("Rank range with sampling error: ")
    assert said.endswith(" with 95% confidence for all items together.")
    same_rows(found["rows"])
    assert json.loads(run(stays, *RANK, "--json").out)["who"] is None


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_output(run: Any, stays: Path, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"ranked.{ending}"
    done = run(stays, *RANK, "--who", "Alder", "-o", target)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"5 rows written to {target}.\nAlder is surely in the top 2")
    with duckdb.connect() as connection:
        rows = connection.sql(f"from '{target}'").to_arrow_table()
    assert rows.column_names == [*COLUMNS, "method", "q", "level", "assumption"]
    same_rows(rows.to_pylist())


def test_to_table(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "stays.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table stays (hotel text, stars integer)")
        rows = [tuple(row.values()) for row in STAYS.to_pylist()]
        connection.executemany("insert into stays values (?, ?)", rows)
    assert run(path, *RANK, "--table", "stays", "--to-table", "ranked").code == 0
    connection.row_factory = sqlite3.Row
    same_rows([dict(row) for row in connection.execute("select * from ranked")])
    connection.close()


def test_no_rows(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_text("hotel,stars\n")
    for words in ([], ["--json"], ["--who", "Alder", "--k", "1"]):
        done = run(path, *RANK, *words)
        assert (done.code, done.out) == (2, "")
        assert done.err == f"Error: {path} has no rows. Use a table with ratings.\n"


def test_one_item_has_no_order(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_text("hotel,stars\nSolo,5\n")
    text = run(path, *RANK[:6]).text
    assert "There is only one item, so there is no order to settle." in text
    assert "Surely" not in text
    assert "rank is settled" not in text


def test_long_lists_end_in_a_number(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_text(
        "hotel,stars\n" + "".join(f"{name},{star}\n" for name in "ABCDEF" for star in (1, 5))
    )
    assert "Possibly: A, B, C, D, E and 1 more." in run(path, *RANK).text


# What is refused.


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--who", "alder"], "{} has no item 'alder'. Did you mean 'Alder'? It has "),
        (["--who", "zzz"], "{} has no item 'zzz'. It has "),
        (["--k", "12"], "--k must be at most the number of items, 5; got 12."),
        (["--k", "0"], "--k must be a whole number, 1 or more; got 0."),
        (["--k", "two"], "--k is not a number; got 'two'."),
        (["--above", "7"], "--above must be on the scale, from 1 to 5; got 7."),
        (["--above", "4,5"], "--above is not a number; got '4,5'. Write a point for decimals"),
        (["--below", "2"], "--above and --below cannot be combined."),
        (["--strata", "floor", "--n", "9999"], "--above and --strata cannot be combined."),
    ],
    ids=str,
)
def test_bad_input(run: Any, stays: Path, tmp_path: Path, words: list[str], told: str) -> None:
    target = tmp_path / "ranked.csv"
    done = run(stays, *RANK, *words, "-o", target)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: " + told.format(stays))
    assert not target.exists()


def test_who_needs_k(run: Any, stays: Path) -> None:
    done = run(stays, *RANK[:6], "--who", "Alder")
    assert done.code == 2
    assert done.err.startswith("Error: --who requires --k")


def test_examples(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    docs = Path(__file__).parents[2] / "docs"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stays.csv").write_bytes((docs / "stays.csv").read_bytes())
    help_text = run("--help").out
    examples = [line.split() for line in help_text.splitlines() if "unheard rank stays" in line]
    assert len(examples) == 3
    for example in examples:
        assert run(*example[2:]).code == 0, example


# One crowd.


def test_pairs_are_drawn(run: Any, stays: Path) -> None:
    done = run(stays, *RANK[:4], "--q", "0.1", "--shared")
    assert "▲ above, ▼ below" in done.text
    lines = done.out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("1  "))
    drawn = [re.split(r"\s{2,}", line.strip()) for line in lines[start : start + 6]]
    limits = dict(zip(COUNTS, estimate(CELLS, 0.1).ci_lower, strict=True))
    order = sorted(COUNTS, key=lambda name: -limits[name])
    assert [row[:2] for row in drawn[:5]] == [[f"{i + 1}", name] for i, name in enumerate(order)]
    assert drawn[5] == ["1", "2", "3", "4"]
    sure = {
        noise: {*map(tuple, ranking.pairs.tolist())}
        for noise, ranking in (
            (noise, rank_shared(build_question(CELLS, 0.1), sampling_error=noise, pairs=True))
            for noise in (False, True)
        )
        if ranking.pairs is not None
    }
    marks = {}
    for row, name in enumerate(order):
        for column, other in enumerate(order[:row]):
            i, j = list(COUNTS).index(name), list(COUNTS).index(other)
            above, below = [(i, j) in sure[n] for n in sure], [(j, i) in sure[n] for n in sure]
            marks[row, column] = "△▲"[above[1]] if above[0] else "▽▼"[below[1]] if below[0] else "·"
    assert {(row, c): drawn[row][c + 2] for row, c in marks} == marks
    assert {"▼", "▽", "·"} <= {*marks.values()}


def test_pairs_are_drawn_in_plain_letters_where_there_are_no_others(
    stays: Path,
) -> None:
    words = [*map(str, (stays, *RANK[:6])), "--shared"]
    done = subprocess.run(
        [sys.executable, "-m", "unheard", "rank", *words],
        env=os.environ | {"PYTHONIOENCODING": "ascii", "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "A above, B below; a and b" in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines()[9:])) <= 80


def test_who_in_one_crowd(run: Any, stays: Path) -> None:
    done = run(stays, *RANK[:6], "--k", "1", "--who", "Alder", "--shared", "--json")
    found = json.loads(done.out)
    question = build_question(CELLS, 0.6)
    for name, noise in (("breakdown_q", False), ("ci_breakdown_q", True)):
        wanted = find_shared_top_k_breakdown(question, 0, 1, sampling_error=noise)
        assert found["who"][name] == pytest.approx(wanted, abs=1e-9)
    assert found["who"]["ci_breakdown_q"] < standing("Alder", True)
    assert found["shared"] is True


def test_separate_ranks_draw_no_pairs(run: Any, stays: Path) -> None:
    done = run(stays, *RANK)
    assert "Pairs in a settled order" not in done.text
    assert "Separate crowds: each item may have its own participation" in done.text
