"""``unheard rate`` and ``unheard sql`` as users type them."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import sqlglot

import unheard as uh
from tests.cli.typed import typing
from tests.tables.everyday import workbook
from tests.tables.oracle import answers, expected, rows_by, same

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
COLUMNS = [
    *("hotel", "n_ratings", "n", "average", "estimate", "lower", "upper", "ci_lower", "ci_upper"),
    *("best_rank", "worst_rank", "ci_best_rank", "ci_worst_rank", "notes"),
]
STARS = {
    "Astoria": [5, 5, 5, 1, 5],
    "Bellevue": [4, 4, 3, 4],
    "Central": [1, 1, 2, 5, 1, 1],
    "Dune": [5, 5],
    "Eden": [3, 3, 3, 2],
}
STAYS = pa.table(
    {
        "hotel": [name for name, stars in STARS.items() for _ in stars],
        "stars": [star for stars in STARS.values() for star in stars],
    }
)
WANTED = expected(STAYS, ["hotel"], "stars", FIVE, q=0.3)
ORDER = sorted(
    STARS, key=lambda name: (-WANTED[name,]["ci_lower"], -WANTED[name,]["estimate"], name)
)
SETTINGS = ["method", "q", "level", "assumption"]
RATE = ["--item", "hotel", "--rating", "stars", "--q", "0.3"]
# Whoever runs the tests in the background has Ctrl-C ignored, and so would the command.
MAIN = """import signal
from unheard.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("COLUMNS", "150")

    return typing(monkeypatch, capsys)


def write_rows(path: Path, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def stays(tmp_path: Path) -> Path:
    rows = [list(row.values()) for row in STAYS.to_pylist()]
    return write_rows(tmp_path / "stays.csv", [["hotel", "stars"], *rows])


def same_rows(rows: list[dict[str, Any]], wanted: Any = None) -> None:
    wanted = WANTED if wanted is None else wanted
    found = rows_by(rows, ["hotel"])
    assert len(found) == len(rows)
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        notes = found[key]["notes"]
        text = " ".join(notes) if isinstance(notes, list) else notes or ""
        same({**found[key], "notes": text}, row, key)


def names_on(screen: str) -> list[str]:
    words = [line.split()[0] for line in screen.splitlines() if line.strip()]
    return [word for word in words if word in STARS]


# What is shown.


def test_screen(run: Any, stays: Path) -> None:
    done = run("rate", stays, *RATE)
    assert (done.code, done.err) == (0, "")
    assert names_on(done.out) == ORDER
    assert "21 ratings, 5 items, scale 1 to 5" in done.out
    line = next(line for line in done.out.splitlines() if line.startswith("Astoria"))
    row = WANTED["Astoria",]
    numbers = [f"{row[name]:.2f}" for name in ("average", "estimate", "lower", "upper")]
    assert re.findall(r"\d\.\d\d", line)[:4] == numbers
    assert "0.3 times as often" in done.text
    assert "more rows" not in done.out


def test_rank_ranges_say_whether_they_allow_for_sampling_error(run: Any, stays: Path) -> None:
    done = run("rate", stays, *RATE)
    assert re.search(r"  rank range\b.*\n.*  with error\b", done.out)
    assert (
        "Rank range with error: every rank that the assumption and sampling error allow, with 95% "
        "confidence for all items together." in done.text
    )
    done = run("rate", stays, *RATE, "--level", "none")
    assert re.search(r"  rank\b.*\n.*  range\b", done.out)
    assert "with error" not in done.text


def test_top(run: Any, stays: Path) -> None:
    done = run("rate", stays, *RATE, "--top", "2")
    assert names_on(done.out) == ORDER[:2]
    assert "\n3 more rows; " in done.out
    assert "\n1 more row; " in run("rate", stays, *RATE, "--top", "4").out
    for top in ("0", "1.5", "-1", "many"):
        refused = run("rate", stays, *RATE, "--top", top)
        assert refused.code == 2
        assert "--top" in refused.err


@pytest.mark.parametrize("by", ["lower", "upper", "average", "n_ratings", "ci_upper"])
def test_sort(run: Any, stays: Path, by: str) -> None:
    rows = json.loads(run("rate", stays, *RATE, "--sort", by, "--json").out)
    wanted = sorted(STARS, key=lambda name: (-WANTED[name,][by], name))
    assert [row["hotel"] for row in rows] == wanted
    ranked = json.loads(run("rate", stays, *RATE, "--sort", "worst_rank", "--json").out)
    wanted = sorted(STARS, key=lambda name: (WANTED[name,]["worst_rank"], name))
    assert [row["hotel"] for row in ranked] == wanted
    by_item = json.loads(run("rate", stays, *RATE, "--sort", "item", "--json").out)
    assert [row["hotel"] for row in by_item] == sorted(STARS)
    refused = run("rate", stays, *RATE, "--sort", "best")
    assert (refused.code, "--sort must be one of item, " in refused.err) == (2, True)
    assert "got 'best'. Did you mean best_rank?" in refused.err


def test_json(run: Any, stays: Path) -> None:
    done = run("rate", stays, *RATE, "--json")
    assert (done.code, done.err) == (0, "")
    rows = json.loads(done.out)
    assert all(list(row) == COLUMNS for row in rows)
    few = {row["hotel"] for row in rows if row["n_ratings"] < 10}
    assert {row["hotel"] for row in rows if row["notes"] == ["few_ratings"]} == few
    assert all(row["notes"] == [] for row in rows if row["hotel"] not in few)
    assert [row["hotel"] for row in rows] == ORDER
    same_rows(rows)


def test_no_rows_do_not_replace_earlier_ratings(run: Any, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "stays.csv", [["hotel", "stars"]])
    target = tmp_path / "rated.csv"
    target.write_text("those of yesterday")
    for words in ([], ["--json"], ["-o", target]):
        done = run("rate", path, *RATE, *words)
        assert (done.code, done.out) == (2, "")
        assert done.err == f"Error: {path} has no rows. Use a table with ratings.\n"
    assert target.read_text() == "those of yesterday"


def test_a_batch_to_be_counted_may_have_no_rows(run: Any, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "stays.csv", [["hotel", "stars"]])
    asked = ["counts", path, "--item", "hotel", "--rating", "stars"]
    done = run(*asked, "--json")
    assert (done.code, json.loads(done.out)) == (0, [])
    assert done.err == f"There are no rows in {path}.\n"
    assert "Nothing was counted." in run(*asked).out


def test_dropped_rows_are_told(run: Any, tmp_path: Path) -> None:
    rows: list[list[Any]] = [["A", 5], ["A", 9], ["A", ""], ["B", 4]]
    path = write_rows(tmp_path / "stays.csv", [["hotel", "stars"], *rows])
    words = ["rate", path, *RATE, "--nulls", "drop", "--off-scale", "drop"]
    done = run(*words, "--json")
    assert done.code == 0
    notes = {row["hotel"]: row["notes"] for row in json.loads(done.out)}
    assert notes == {"A": ["few_ratings", "rows_dropped"], "B": ["few_ratings"]}
    assert "1 rating that is not on the scale 1 to 5 was left out (note rows_dropped)." in done.err
    assert "1 row without a rating was left out (note rows_dropped)." in done.err
    shown = run(*words)
    assert "rows_dropped" in shown.out
    assert "not on the scale" in shown.out
    output = tmp_path / "rated.jsonl"
    written = run(*words, "-o", output)
    assert written.out == ""
    assert "2 rows written" in written.err
    assert "not on the scale" in written.err
    assert [json.loads(line)["notes"] for line in output.read_text().splitlines()] == [
        ["few_ratings", "rows_dropped"],
        ["few_ratings"],
    ]


# Where it goes.


def read(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]]
    if path.suffix == ".json":
        rows = json.loads(path.read_text())
    elif path.suffix in (".jsonl", ".ndjson"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    elif path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    else:
        separator = "\t" if path.suffix == ".tsv" else ","
        options = pa.csv.ParseOptions(delimiter=separator)
        rows = pa.csv.read_csv(path, parse_options=options).to_pylist()
    return rows


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "json", "jsonl", "ndjson", "CSV"])
def test_output(run: Any, stays: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"it's rated.{ending}"
    for _ in range(2):
        done = run("rate", stays, *RATE, "-o", path)
        assert (done.code, done.out) == (0, "")
        assert f"5 rows written to {path}" in done.err
        rows = read(path)
        assert [row["hotel"] for row in rows] == ORDER
        assert list(rows[0]) == [*COLUMNS, *SETTINGS]
        same_rows(rows)
    assert sorted(one.name for one in tmp_path.iterdir()) == [path.name, "stays.csv"]


def test_output_and_json(run: Any, stays: Path, tmp_path: Path) -> None:
    done = run("rate", stays, *RATE, "-o", tmp_path / "rated.csv", "--json")
    same_rows(json.loads(done.out))
    same_rows(read(tmp_path / "rated.csv"))


@pytest.mark.parametrize("kind", ["parquet", "sqlite"])
def test_long_output_is_in_order(run: Any, tmp_path: Path, kind: str) -> None:
    size = 150_000
    rng = np.random.default_rng(5)
    table = pa.table({"hotel": rng.permutation(size), "stars": rng.integers(1, 6, size)})
    if kind == "parquet":
        source = tmp_path / "stays.parquet"
        pq.write_table(table, source)
    else:
        source = tmp_path / "stays.db"
        connection = sqlite3.connect(source)
        connection.execute("create table stays (hotel integer, stars integer)")
        rows = zip(table["hotel"].to_pylist(), table["stars"].to_pylist(), strict=True)
        connection.executemany("insert into stays values (?, ?)", rows)
        connection.commit()
        connection.close()
    output = tmp_path / "rated.csv"
    done = run("rate", source, *RATE, "-o", output, "--no-ranks")
    assert done.code == 0, done.err
    found = pa.csv.read_csv(output)
    stars = np.empty(size)
    stars[table["hotel"].to_numpy()] = table["stars"].to_numpy()
    order = np.lexsort((np.arange(size), -stars, -found_limits(stars)))
    assert (found["hotel"].to_numpy() == order).all()


def found_limits(stars: Any) -> Any:
    """The lower confidence limit of items with one rating each."""
    limits = uh.estimate(np.eye(5, dtype=int), 0.3).ci_lower
    return limits[stars.astype(int) - 1]


def databases(folder: Path) -> dict[str, Path]:
    rows = [tuple(row.values()) for row in STAYS.to_pylist()]
    paths = {"duckdb": folder / "stays.duckdb", "sqlite": folder / "stays.sqlite"}
    for name, connect in (("duckdb", duckdb.connect), ("sqlite", sqlite3.connect)):
        connection: Any = connect(str(paths[name]))
        connection.execute("create table stays (hotel text, stars integer)")
        connection.executemany("insert into stays values (?, ?)", rows)
        connection.commit()
        connection.close()
    return paths


def table_of(path: Path, name: str) -> list[dict[str, Any]]:
    connection: Any
    connection = (duckdb if path.suffix == ".duckdb" else sqlite3).connect(str(path))
    cursor = connection.execute(f'select * from "{name}"')
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    connection.close()
    return rows


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
@pytest.mark.parametrize("url", [True, False])
def test_to_table(run: Any, tmp_path: Path, kind: str, url: bool) -> None:
    path = databases(tmp_path)[kind]
    source = f"{kind}:///{path}" if url else path
    done = run("rate", source, "--table", "stays", *RATE, "--to-table", "Rated now")
    assert (done.code, done.out) == (0, "")
    assert "5 rows written to Rated now" in done.err
    rows = table_of(path, "Rated now")
    assert list(rows[0]) == [*COLUMNS, "method", "q", "level", "assumption"]
    assert [rows[0][name] for name in ("method", "q", "level")] == ["paa", 0.3, 0.95]
    assert rows[0]["assumption"].startswith("Whatever their rating, people respond")
    same_rows(rows)
    again = run("rate", source, "--table", "stays", *RATE, "--to-table", "Rated now")
    assert again.code == 2
    assert "already has a table" in again.err
    assert table_of(path, "Rated now") == rows


def test_to_table_needs_a_database(run: Any, stays: Path) -> None:
    done = run("rate", stays, *RATE, "--to-table", "rated")
    assert done.code == 2
    assert done.err.startswith("Error: --to-table")


def test_counts_first(run: Any, stays: Path, tmp_path: Path) -> None:
    output = tmp_path / "counts.csv"
    words = ["--item", "hotel", "--rating", "stars"]
    assert run("counts", stays, *words, "-o", output).code == 0
    rows = read(output)
    counts = [f"count_{v}" for v in range(1, 6)]
    assert {row["hotel"]: [row[name] for name in counts] for row in rows} == {
        name: [stars.count(v) for v in range(1, 6)] for name, stars in STARS.items()
    }
    rated = ["--item", "hotel", "--counts", ",".join(counts), "--q", "0.3", "--json"]
    same_rows(json.loads(run("rate", output, *rated).out))
    listed = run("counts", stays, *words, "--json")
    assert (json.loads(listed.out), listed.err) == (rows, "")
    shown = run("counts", stays, *words)
    assert names_on(shown.out) == sorted(STARS)
    assert run("counts", stays, *words, "--batch", "x").code == 2


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_standard_input(stays: Path, form: str) -> None:
    given = stays.read_bytes()
    if form == "json":
        given = "".join(json.dumps(row) + "\n" for row in STAYS.to_pylist()).encode()
    if form == "parquet":
        sink = pa.BufferOutputStream()
        pq.write_table(STAYS, sink)
        given = bytes(sink.getvalue())
    words = [sys.executable, "-m", "unheard", "rate", "-", *RATE, "--json"]
    done = subprocess.run(words, input=given, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    same_rows(json.loads(done.stdout))


def test_nothing_on_standard_input() -> None:
    words = [sys.executable, "-m", "unheard", "rate", "-", *RATE]
    done = subprocess.run(words, input=b"", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"Error: ")
    assert b"empty" in done.stderr
    assert done.stderr.count(b"\n") == 1


# What is refused.


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--item", "hotl", "--rating", "stars", "--q", "0.3"],
            r"no column 'hotl'.*Did you mean 'hotel'",
        ),
        (["--item", "hotel", "--rating", "stars"], r"q"),
        (
            ["--item", "hotel", "--rating", "stars", "--q", "30%"],
            r"--q is not a number; got '30%'. Write 30% as 0.3",
        ),
        (["--rating", "stars", "--q", "0.3"], "--item is missing"),
        (["--item", "hotel", "--q", "0.3"], "--rating is missing, and so is --counts"),
        ([*RATE, "--scale", "1:4"], "--off-scale drop"),
        ([*RATE, "--scale", "five"], "--scale"),
        (
            [*RATE, "--n", "3"],
            "more ratings than 3, the value of --n, .* --bad-n raise",
        ),
        ([*RATE, "--n-column", "guests"], "no column 'guests'"),
        ([*RATE, "--q-column", "voice"], "--q"),
        ([*RATE, "--level", "95"], "--level"),
        (
            [*RATE, "--nulls", "ignore"],
            "--nulls must be one of refuse, drop, nonresponse; got 'ignore'",
        ),
        ([*RATE, "--off-scale", "clip"], "--off-scale must be one of refuse, drop; got 'clip'"),
        ([*RATE, "--window", "month"], "--window"),
        ([*RATE, "--rater", "hotel"], "--rater names the same column as --item; got 'hotel'"),
        ([*RATE, "--method", "minimax"], "--method"),
        ([*RATE, "--engine", "sparc"], "--engine"),
        ([*RATE, "--n-table", "peple.csv"], "peple.csv does not exist"),
        (
            [*RATE, "--n-table", "stays.csv", "--n-column", "guests"],
            "no column 'guests'.*--n-column",
        ),
    ],
)
def test_bad_input(
    run: Any, stays: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    monkeypatch.chdir(stays.parent)
    done = run("rate", "stays.csv", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1
    assert re.search(told, done.err), done.err
    assert not re.search(r"\b(off_scale|nulls|duplicates)=", done.err)


def test_empty_ratings_are_refused_in_the_words_of_the_command(run: Any, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "stays.csv", [["hotel", "stars"], ["A", ""], ["B", "x"], ["B", 4]])
    done = run("rate", path, *RATE)
    assert done.code == 2
    for words in (
        "--nulls drop",
        "--nulls nonresponse",
        "--off-scale drop",
        "Write ratings as numbers",
        "'x' (once)",
    ):
        assert words in done.err
    assert done.err.startswith(f"Error: In {path}, 1 row has no rating")


def test_advice_about_ratings_off_the_scale_works(run: Any, tmp_path: Path) -> None:
    for ratings, scale in (((7, 0), "0:10"), ((9, 3.5), "1:10:0.5"), ((-1,), "-1:5")):
        rows: list[list[Any]] = [
            ["hotel", "stars"],
            ["A", 5],
            *(["A", rating] for rating in ratings),
        ]
        path = write_rows(tmp_path / "stays.csv", rows)
        refused = run("rate", path, *RATE)
        are = "this is a valid rating" if len(ratings) == 1 else "these are valid ratings"
        assert f"If {are}, pass the whole scale with --scale {scale}; otherwise " in refused.err
        # Advice never leads to losing most of a table.
        assert ("--off-scale drop" in refused.err) == (len(ratings) == 1)
        assert run("rate", path, *RATE, "--scale", scale).code == 0


def test_missing_file(run: Any, stays: Path) -> None:
    done = run("rate", stays.with_name("stay.csv"), *RATE)
    assert (done.code, done.out) == (2, "")
    assert f"Did you mean {stays}?" in done.err


def test_ragged_file(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    lines = "".join(f"A,{i % 5 + 1}\n" for i in range(200_000))
    path.write_text(f"hotel,stars\n{lines}B,1,2,3\n")
    done = run("rate", path, *RATE)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "200002" in done.err.replace(",", "")


@pytest.mark.parametrize("words", [["--off-scale", "refuse"], ["--n", "1"]])
def test_nothing_is_half_written(run: Any, tmp_path: Path, words: list[str]) -> None:
    path = write_rows(tmp_path / "stays.csv", [["hotel", "stars"], ["A", 5], ["A", 9], ["A", 4]])
    output = tmp_path / "rated.csv"
    output.write_text("old")
    done = run("rate", path, *RATE, "-o", output, *words)
    assert done.code == 2
    assert output.read_text() == "old"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["rated.csv", "stays.csv"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_a_file_says_how_it_was_computed(
    run: Any, stays: Path, tmp_path: Path, ending: str
) -> None:
    target = tmp_path / f"rated.{ending}"
    assert run("rate", stays, *RATE, "-o", target).code == 0
    with duckdb.connect() as opened:
        rows = opened.execute(f"select distinct {', '.join(SETTINGS)} from '{target}'").fetchall()
    ((method, q, level, assumption),) = rows
    assert (method, q, level) == ("paa", 0.3, 0.95)
    assert assumption.startswith("Whatever their rating, people respond at least 0.3 times")
    if ending == "parquet":
        metadata = pq.read_metadata(target).metadata
        assert json.loads(metadata[b"unheard"])["q"] == 0.3


def test_settings_leave_the_columns_of_items_alone(run: Any, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "stays.csv", [["method", "stars"], ["paper", "4"], ["web", "5"]])
    target = tmp_path / "rated.csv"
    words = ["--item", "method", "--rating", "stars", "--floor", "0.3", "--n", "9"]
    assert run("rate", path, *words, "-o", target).code == 0
    with duckdb.connect() as opened:
        query = f"select method, q, assumption from '{target}' order by method"
        rows = opened.execute(query).fetchall()
    assert [row[:2] for row in rows] == [("paper", None), ("web", None)]
    assert "with a probability of at least 0.3" in rows[0][2]


def test_output_refused(run: Any, stays: Path, tmp_path: Path) -> None:
    before = stays.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(stays)
    for target, told in (
        (stays, "is also read as a table"),
        (link, "is also read as a table"),
        (tmp_path / "." / "stays.csv", "is also read as a table"),
        (tmp_path / "no" / "rated.csv", "does not exist. Create it first"),
        (tmp_path / "rated.xlsx", "--output must end in .csv"),
        (tmp_path / "rated", "--output must end in .csv"),
    ):
        done = run("rate", stays, *RATE, "-o", target)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("Error: ")
        assert told in done.err
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert "is a folder" in run("rate", stays, *RATE, "-o", folder).err
    assert stays.read_bytes() == before
    kept = tmp_path / "kept.csv"
    kept.write_text("old")
    kept.chmod(0o444)
    done = run("rate", stays, *RATE, "-o", kept)
    assert (done.code, kept.read_text()) == (2, "old")
    assert done.err == (
        f"Error: {kept} is read-only. Make it writable, or write to another file.\n"
    )


def test_output_without_formulas(run: Any, tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["=hotel", "stars"],
        ["=1+1", 5],
        ["=1+1", 4],
        ["-1.5", 3],
        ["plain", 2],
    ]
    path = write_rows(tmp_path / "stays.csv", rows)
    words = ["--item", "=hotel", "--rating", "stars", "--q", "0.3", "--sort", "item"]
    assert run("rate", path, *words, "-o", tmp_path / "rated.csv").code == 0
    with (tmp_path / "rated.csv").open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert [row["'=hotel"] for row in found] == ["-1.5", "'=1+1", "plain"]
    assert [row["average"] for row in found] == ["3.0", "4.5", "2.0"]
    assert run("rate", path, *words, "-o", tmp_path / "rated.parquet").code == 0
    names = pq.read_table(tmp_path / "rated.parquet")["=hotel"].to_pylist()
    assert names == ["-1.5", "=1+1", "plain"]


def test_output_onto_another_table_that_is_read(run: Any, stays: Path, tmp_path: Path) -> None:
    people = write_rows(tmp_path / "people.csv", [["hotel", "n"], *([h, 50] for h in STARS)])
    before = people.read_bytes()
    done = run("rate", stays, *RATE, "--n-table", people, "-o", people)
    assert people.read_bytes() == before
    assert done.code == 2


def test_output_onto_one_of_several_files(run: Any, stays: Path, tmp_path: Path) -> None:
    before = stays.read_bytes()
    done = run("rate", tmp_path / "s*.csv", *RATE, "-o", stays)
    assert stays.read_bytes() == before
    assert done.code == 2


# Stopping.


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("many") / "stays.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "copy (select 'hotel ' || (range * 7919 % 1000003) as hotel, "
            f"cast(1 + range % 5 as tinyint) as stars from range(8000000)) to '{path}'"
        )
    yield path
    path.unlink()  # some 60 MB


@pytest.mark.xdist_group("interrupted")
@pytest.mark.parametrize(
    ("stage", "sent", "code"),
    [
        ("counting", signal.SIGINT, 130),
        ("writing", signal.SIGINT, 130),
        ("writing", signal.SIGTERM, -signal.SIGTERM),
    ],
)
def test_interrupted(
    many: Path, tmp_path: Path, stage: str, sent: signal.Signals, code: int
) -> None:
    scratch, results = tmp_path / "scratch", tmp_path / "results"
    scratch.mkdir()
    results.mkdir()
    output = results / "rated.csv"
    if stage == "writing":
        output.write_text("old")
    script = tmp_path / "script.py"
    script.write_text(MAIN)
    words = [sys.executable, str(script), "rate", str(many), *RATE, "-o", str(output)]
    words += ["--no-ranks", "--level", "none"]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    sign = scratch.glob if stage == "counting" else results.glob
    pattern = "unheard-*" if stage == "counting" else ".*.part"
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        try:
            end = time.monotonic() + 120
            while not list(sign(pattern)):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < end
                time.sleep(0.01)
            time.sleep(0.3 if stage == "counting" else 0.05)
            assert process.poll() is None, "too fast to be interrupted"
            process.send_signal(sent)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert [one.name for one in results.iterdir()] == (["rated.csv"] if stage == "writing" else [])
    assert stage != "writing" or output.read_text() == "old"
    assert list(scratch.iterdir()) == []
    assert (process.returncode, out, err.strip()) == (code, b"", b"Interrupted.")


# Names.


def test_names_do_not_speak_to_the_terminal(run: Any, tmp_path: Path) -> None:
    names = [
        "red\x1b[31m",
        "two\nlines",
        "bell\x07",
        "csi\x9b31m",
        "back\rward",
        "[bold]x[/]",
        "🏨",
    ]
    path = write_rows(tmp_path / "stays.csv", [["hotel", "stars"], *([n, 4] for n in names)])
    done = run("rate", path, *RATE)
    assert done.code == 0
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.out)
    for shown in (r"red\x1b[31m", r"two\nlines", r"bell\x07", "[bold]x[/]", "🏨"):
        assert shown in done.out
    rows = json.loads(run("rate", path, *RATE, "--json").out)
    assert {row["hotel"] for row in rows} == set(names)
    off = write_rows(tmp_path / "off.csv", [["hotel", "stars"], ["A", "red\x1b]0;ha\x07"]])
    refused = run("rate", off, *RATE)
    assert refused.code == 2
    assert r"red\x1b]0;ha\x07" in refused.err
    assert "\x1b" not in refused.err


def test_column_names_do_not_speak_to_the_terminal(run: Any, tmp_path: Path) -> None:
    # Click takes colours out of what is no terminal; a new title for the window it leaves in.
    path = write_rows(tmp_path / "stays.csv", [["hotel", "stars\x1b]0;ha\x07"], ["A", 4]])
    done = run("rate", path, *RATE)
    assert done.code == 2
    assert "no column 'stars'" in done.err
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.err)


@pytest.mark.parametrize("name", ["[bold]", "hotel[/]", "the 'hotel'"])
def test_odd_column_names(run: Any, tmp_path: Path, name: str) -> None:
    path = write_rows(tmp_path / "stays.csv", [[name, "stars"], ["A", 4]])
    done = run("rate", path, "--item", name, "--rating", "stars", "--q", "0.3")
    assert (done.code, done.err) == (0, "")
    assert name in done.out


# SQL.

SQL = shlex.split("sql --dialect postgres --table stays --item hotel --rating stars --q 0.3")


def test_sql(run: Any) -> None:
    done = run(*SQL)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("-- ")
    assert done.out.endswith(";\n")
    tree = sqlglot.parse_one(done.out, dialect="postgres")
    assert isinstance(tree, sqlglot.exp.Select)
    assert tree.named_selects == COLUMNS
    view = run(*SQL, "--view", "best.rated")
    assert "\nCREATE VIEW best.rated AS\n" in view.out
    assert view.out.startswith("-- ")
    assert isinstance(sqlglot.parse_one(view.out, dialect="postgres"), sqlglot.exp.Create)


def test_sql_refused(run: Any) -> None:
    done = run(*SQL[:1], "--dialect", "postgress", *SQL[3:])
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "Error: --dialect is not supported; got 'postgress'. Did you mean postgres?"
    )
    done = run("sql", *SQL[3:])
    assert done.code == 2
    assert "--dialect" in done.err


def test_sql_runs_where_it_is_for(run: Any, tmp_path: Path) -> None:
    for name, path in databases(tmp_path).items():
        words = ["--table", "stays", "--item", "hotel", "--rating", "stars", "--q", "0.3"]
        text = run("sql", "--dialect", name, *words, "--view", "rated").out
        connection: Any = (duckdb if name == "duckdb" else sqlite3).connect(str(path))
        connection.execute(text)
        connection.commit()
        connection.close()
        rows = table_of(path, "rated")
        # A level for all items needs their number, which a view does not know.
        assert {row["ci_best_rank"] for row in rows} == {None}
        same_rows([row | _ranks_of(row["hotel"]) for row in rows])


def _ranks_of(hotel: str) -> dict[str, Any]:
    return {name: WANTED[hotel,][name] for name in ("ci_best_rank", "ci_worst_rank")}


# Help.


def examples(run: Any, command: str) -> list[str]:
    shown = run(command, "--help").out
    lines = re.findall(r"^ *unheard (.*)$", shown, re.MULTILINE)
    return [line for line in lines if "postgresql://" not in line]


def test_examples_of_rate(run: Any, stays: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(stays.parent)
    counts: list[list[Any]] = [
        [name, *(s.count(v) for v in range(1, 6))] for name, s in STARS.items()
    ]
    totals: list[list[Any]] = [["hotel", *(f"n{v}" for v in range(1, 6))], *counts]
    write_rows(stays.with_name("totals.csv"), totals)
    with stays.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    workbook(**{"2023": rows[:9], "2024": rows})(stays.with_name("stays.xlsx"))
    found = examples(run, "rate")
    assert len(found) == 4
    for line in found:
        done = run(*shlex.split(line))
        assert done.code == 0, done.err
        assert names_on(done.out) == ([] if "-o" in line else ORDER)
    same_rows(pq.read_table(stays.with_name("rated.parquet")).to_pylist())
    (line,) = [line for line in found if "--counts" in line]
    keys = [(row[0],) for row in counts]
    wanted = answers(keys, np.array([row[1:] for row in counts]), FIVE, q=0.3)
    same_rows(json.loads(run(*shlex.split(line), "--json").out), wanted)


def test_examples_of_sql(run: Any) -> None:
    found = examples(run, "sql")
    assert len(found) == 3
    for line in found:
        words = shlex.split(line)
        done = run(*words)
        assert (done.code, done.err) == (0, "")
        if "--dbt" in words:
            assert "FROM {{ source('raw', 'stays') }}" in done.out
            continue
        assert done.out.endswith(";\n")
        sqlglot.parse_one(done.out, dialect=words[words.index("--dialect") + 1])
