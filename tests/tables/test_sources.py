"""Files, databases and frames that hold ratings, and all that can be wrong with them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sqlite3
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from sqlglot import exp

import unheard as uh
from tests.tables.oracle import answers, expected, rows_by, same
from unheard.tables import counting
from unheard.tables.dialects import DIALECTS

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
COLUMNS = [
    *("n_ratings", "n", "average", "estimate", "lower", "upper", "ci_lower", "ci_upper"),
    *("best_rank", "worst_rank", "flags"),
]
ODD = ["007", "7", "1e3", "true", "a, b", "two\nlines", "🏨", 'the "inn"', "it's", "null"]


def stays(names: Any = ("Astoria", "Bellevue", "Central", "Drei Eichen")) -> pa.Table:
    rng = np.random.default_rng(7)
    hotel = [names[i] for i in rng.integers(0, len(names), 40 * len(names))]
    stars = rng.choice(5, len(hotel), p=[0.3, 0.05, 0.1, 0.15, 0.4]) + 1
    return pa.table({"hotel": hotel, "stars": pa.array(stars, pa.int64())})


STAYS = stays()
WANTED = expected(STAYS, ["hotel"], "stars", FIVE, q=0.3)


def check(source: Any, wanted: Any = None, **asked: Any) -> pa.Table:
    wanted = WANTED if wanted is None else wanted
    result = uh.rate(source, "hotel", "stars", **({"q": 0.3} | asked))
    assert isinstance(result, pa.Table)
    assert result.column_names == ["hotel", *COLUMNS]
    found = rows_by(result, ["hotel"])
    assert len(found) == result.num_rows
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row, key)
    return result


# Formats.


def as_csv(table: pa.Table, separator: str = ",", end: str = "\n") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=end)
    writer.writerow(table.column_names)
    writer.writerows(row.values() for row in table.to_pylist())
    return text.getvalue().encode()


def as_json(table: pa.Table) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()


def as_parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


def in_sqlite(path: Path, **tables: pa.Table) -> Path:
    connection = sqlite3.connect(path)
    for name, table in tables.items():
        kinds = [
            f'"{f.name}" {"integer" if pa.types.is_integer(f.type) else "text"}'
            for f in table.schema
        ]
        connection.execute(f'create table "{name}" ({", ".join(kinds)})')
        marks = ", ".join("?" * table.num_columns)
        rows = [tuple(row.values()) for row in table.to_pylist()]
        connection.executemany(f'insert into "{name}" values ({marks})', rows)
    connection.commit()
    connection.close()
    return path


def in_duckdb(path: Path, **tables: pa.Table) -> Path:
    connection = duckdb.connect(str(path))
    for name, table in tables.items():
        connection.register("given", table)
        connection.execute(f'create table "{name}" as select * from given')
        connection.unregister("given")
    connection.close()
    return path


DATABASES = pytest.mark.parametrize("database", [in_sqlite, in_duckdb])
FORMATS: dict[str, Callable[[pa.Table], bytes]] = {
    "stays.csv": as_csv,
    "STAYS.CSV": as_csv,
    "stays.txt": as_csv,
    "stays.tsv": lambda table: as_csv(table, "\t"),
    "semicolons.csv": lambda table: as_csv(table, ";"),
    "windows.csv": lambda table: b"\xef\xbb\xbf" + as_csv(table, end="\r\n"),
    "stays.csv.gz": lambda table: gzip.compress(as_csv(table)),
    "stays.tsv.gz": lambda table: gzip.compress(as_csv(table, "\t")),
    "stays.parquet": as_parquet,
    "stays.jsonl": as_json,
    "stays.json": lambda table: json.dumps(table.to_pylist()).encode(),
    "text": as_csv,
    "parquet": as_parquet,
    "lines": as_json,
    "it's a file.csv": as_csv,
    "stays[1].csv": as_csv,
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("names", [("Astoria", "Bellevue"), ODD], ids=["plain", "odd"])
def test_file_formats(tmp_path: Path, name: str, names: list[str]) -> None:
    table = stays(names)
    path = tmp_path / name
    path.write_bytes(FORMATS[name](table))
    wanted = expected(table, ["hotel"], "stars", FIVE, q=0.3)
    for source in (path, str(path)):
        check(source, wanted)


@pytest.mark.parametrize("names", [("007", "010"), ("2024-01-01", "2024-01-02"), ("true", "false")])
@pytest.mark.parametrize("name", ["stays.csv", "stays.jsonl"])
def test_names_stay_text(tmp_path: Path, name: str, names: tuple[str, str]) -> None:
    table = stays(names)
    path = tmp_path / name
    path.write_bytes(FORMATS[name](table))
    result = check(path, expected(table, ["hotel"], "stars", FIVE, q=0.3))
    assert result["hotel"].to_pylist() == sorted(names)


@pytest.mark.parametrize("name", ["stays.csv", "stays.parquet", "stays.jsonl", "stays.csv.gz"])
def test_several_files(tmp_path: Path, name: str) -> None:
    ending = name.removeprefix("stays")
    for part in range(3):
        rows = STAYS.slice(part * 60, 60)
        (tmp_path / f"part-{part}{ending}").write_bytes(FORMATS[name](rows))
    check(tmp_path / f"part-*{ending}")
    deeper = tmp_path / "deeper"
    deeper.mkdir()
    (tmp_path / f"part-1{ending}").rename(deeper / f"part-1{ending}")
    check(f"{tmp_path}/**/part-?{ending}")


def test_several_files_with_columns_in_another_order(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(as_csv(STAYS.slice(0, 50)))
    (tmp_path / "b.csv").write_bytes(as_csv(STAYS.slice(50).select(["stars", "hotel"])))
    check(tmp_path / "*.csv")


@DATABASES
def test_databases(tmp_path: Path, database: Any) -> None:
    path = database(tmp_path / "a b.db", stays=STAYS)
    scheme = "sqlite" if database is in_sqlite else "duckdb"
    for source in (
        path,
        str(path),
        f"{scheme}:///{path}",
        f"{scheme}:///{path}".replace(" ", "%20"),
    ):
        check(source)
    database(tmp_path / "two.db", stays=STAYS, other=STAYS.slice(0, 3))
    check(tmp_path / "two.db", table="stays")


@DATABASES
def test_relative_url(tmp_path: Path, database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    database(tmp_path / "ratings", stays=STAYS)
    monkeypatch.chdir(tmp_path)
    check(f"{'sqlite' if database is in_sqlite else 'duckdb'}:///ratings")


@DATABASES
def test_query(tmp_path: Path, database: Any) -> None:
    path = database(tmp_path / "ratings.db", stays=STAYS, other=STAYS.slice(0, 3))
    kept = STAYS.filter(pa.compute.not_equal(STAYS["hotel"], "Central"))
    wanted = expected(kept, ["hotel"], "stars", FIVE, q=0.3)
    check(path, wanted, query="select hotel, stars from stays where hotel <> 'Central';\n")
    with pytest.raises(uh.OptionError, match=r"query: .* says: .*\. Give one SELECT"):
        uh.rate(path, "hotel", "stars", q=0.3, query="selec hotel from stays")
    with pytest.raises(uh.ColumnError, match=r"the query on .* has no column 'stars'"):
        uh.rate(path, "hotel", "stars", q=0.3, query="select hotel from stays")


@DATABASES
def test_query_cannot_write(tmp_path: Path, database: Any) -> None:
    path = database(tmp_path / "ratings.db", stays=STAYS)
    with pytest.raises(uh.OptionError, match="query"):
        uh.rate(path, "hotel", "stars", q=0.3, query="select 1; drop table stays")
    check(path)


@DATABASES
def test_which_table(tmp_path: Path, database: Any) -> None:
    path = database(tmp_path / "two.db", stays=STAYS, guests=STAYS)
    with pytest.raises(uh.OptionError, match=r"holds 2 tables: guests, stays\. Name one"):
        uh.rate(path, "hotel", "stars", q=0.3)
    with pytest.raises(uh.OptionError, match=r"no table 'stay'\. Did you mean 'stays'\?"):
        uh.rate(path, "hotel", "stars", q=0.3, table="stay")
    nothing = database(tmp_path / "none.db")
    if nothing.stat().st_size:  # SQLite writes nothing until there is a table
        with pytest.raises(uh.OptionError, match="holds 0 tables"):
            uh.rate(nothing, "hotel", "stars", q=0.3)


# Files that cannot be read.


def refused(source: Any, words: str, error: type[Exception] = uh.SourceError, **asked: Any) -> str:
    with pytest.raises(error, match=words) as told:
        uh.rate(source, "hotel", "stars", **({"q": 0.3} | asked))
    return str(told.value)


@pytest.mark.parametrize("name", FORMATS)
def test_empty_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.touch()
    assert str(path) in refused(path, "empty")


def test_one_of_several_files_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(as_csv(STAYS))
    (tmp_path / "b.csv").touch()
    assert str(tmp_path / "b.csv") in refused(tmp_path / "*.csv", "empty")


@pytest.mark.parametrize("name", ["stays.csv", "stays.tsv", "stays.csv.gz", "stays.parquet"])
def test_only_a_header(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FORMATS[name](STAYS.slice(0, 0)))
    assert check(path, {}).num_rows == 0


def test_missing_file(tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_bytes(as_csv(STAYS))
    told = refused(tmp_path / "stay.csv", "there is no such file")
    assert f"Did you mean {tmp_path / 'stays.csv'}?" in told
    assert "Did you mean" not in refused(tmp_path / "zzz", "there is no such file")
    assert "Did you mean" not in refused(tmp_path / "no" / "stays.csv", "there is no such file")
    refused(tmp_path / "*.parquet", "there is no such file")


def test_folder(tmp_path: Path) -> None:
    folder = tmp_path / "stays"
    folder.mkdir()
    (folder / "part.csv").write_bytes(as_csv(STAYS))
    told = refused(folder, str(folder))
    assert f"Did you mean {folder}?" not in told
    assert "folder" in told


def test_binary_named_csv(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_bytes(bytes(range(256)) * 20)
    refused(path, "it is no text")
    path.write_bytes(as_parquet(STAYS))
    refused(path, "it is no text")


def test_truncated(tmp_path: Path) -> None:
    path = tmp_path / "stays.parquet"
    path.write_bytes(as_parquet(STAYS)[:-20])
    refused(path, r"cannot be read as parquet: .+\. Check the file")
    path = tmp_path / "stays.csv.gz"
    path.write_bytes(gzip.compress(as_csv(STAYS))[:40])
    refused(path, "cannot be read as csv")
    path = tmp_path / "stays.jsonl"
    path.write_bytes(as_json(STAYS)[:-9])
    refused(path, "cannot be read as json")


@pytest.mark.parametrize("source", ["mysql://me:hunter2@host/db", "s3://me:hunter2@bucket/a.csv"])
def test_unknown_scheme(source: str) -> None:
    told = refused(source, r"(mysql|s3) is not among .*postgresql://.*sqlite:///")
    assert "hunter2" not in told


@pytest.mark.parametrize(
    "source",
    [
        "postgresql://me:hunter2@127.0.0.1:1/db",
        "postgres://me:hunter2@127.0.0.1:1/db?connect_timeout=2",
        "postgresql://me@127.0.0.1:1/db?password=hunter2",
        "postgresql://me:hunter2%zz@127.0.0.1:1/db",
        "postgresql://me:hunter2@127.0.0.1:port/db",
        "postgresql://me:hunter2@[::1]x/db",
        "postgresql://me:hunter2@127.0.0.1:1/db?colour=red",
    ],
)
def test_postgres_that_is_not_there(source: str) -> None:
    pytest.importorskip("psycopg")
    assert "hunter2" not in refused(source, "cannot connect|no URL of a PostgreSQL")


def test_database_url_of_no_file(tmp_path: Path) -> None:
    for scheme in ("sqlite", "duckdb"):
        path = tmp_path / "no.db"
        refused(f"{scheme}:///{path}", f"there is no file {re.escape(str(path))}")
        assert not path.exists()


@DATABASES
def test_url_of_something_else(tmp_path: Path, database: Any) -> None:
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(STAYS))
    scheme, name = ("sqlite", "SQLite") if database is in_sqlite else ("duckdb", "DuckDB")
    refused(f"{scheme}:///{path}", f"{name} cannot open it")


def test_table_of_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(STAYS))
    refused(path, "table: .* is no database", uh.OptionError, table="stays")
    refused(path, "query: .* is no database", uh.OptionError, query="select 1")
    refused(path, "engine: 'sparc' found", uh.OptionError, engine="sparc")
    refused(path, "memory: 'lots' found", uh.OptionError, memory="lots")


@pytest.mark.parametrize("source", [7, None, ["stays.csv"], {"hotel": ["A"], "stars": [1]}])
def test_no_table_at_all(source: Any) -> None:
    refused(source, f"table: a {type(source).__name__} found")


def test_engine_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    refused("postgresql://me@127.0.0.1:1/db", r"unheard\[postgres\]", uh.MissingEngineError)
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(STAYS))
    refused(path, r"unheard\[spark\]", uh.MissingEngineError, engine="spark")


# Columns.


@pytest.mark.parametrize(
    ("item", "rating", "words"),
    [
        (
            "hotl",
            "stars",
            r"item: .* no column 'hotl'\. Did you mean 'hotel'\? It has: hotel, stars",
        ),
        ("Hotel", "stars", r"no column 'Hotel'\. Did you mean 'hotel'\?"),
        ("hotel", "rating", r"rating: .* no column 'rating'\. It has"),
        ("n", "stars", "item: 'n' is also the name of a column of the result"),
        ("estimate", "stars", "item: 'estimate' is also the name"),
        ("Flags", "stars", "item: 'Flags' is also the name"),
        ("count_1", "stars", "item: 'count_1' is also the name"),
        (["hotel", "hotel"], "stars", "item: 'hotel' named twice"),
        ([], "stars", "item: no column named"),
        ("hotel", None, "rating: no column named"),
    ],
)
def test_columns(item: Any, rating: Any, words: str) -> None:
    with pytest.raises(uh.ColumnError, match=words):
        uh.rate(STAYS, item, rating, q=0.3)


def test_rating_and_counts() -> None:
    with pytest.raises(uh.ColumnError, match="both rating and counts"):
        uh.rate(STAYS, "hotel", "stars", counts=["a", "b"], q=0.3)
    with pytest.raises(uh.ColumnError, match="counts: 4 columns for a scale of 5 values"):
        uh.rate(STAYS, "hotel", counts=list("abcd"), scale="1:5", q=0.3)
    with pytest.raises(uh.ColumnError, match="counts: 1 column for a scale of 2 values"):
        uh.rate(STAYS, "hotel", counts="stars", q=0.3)


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_column_that_is_there_twice(kind: str) -> None:
    table = pa.table([["A"], [5], [4]], names=["hotel", "stars", "stars"])
    frame = pd.DataFrame([["A", 5, 4]], columns=table.column_names)
    refused(frame if kind == "pandas" else table, "stars", uh.InputError)


def test_mixed_column_of_pandas() -> None:
    frame = pd.DataFrame(
        {"hotel": ["A", "A", "B"], "stars": pd.Series([5, "good", 4.0], dtype=object)}
    )
    words = r"1 rating is not on the scale 1 to 5 \(for example hotel='A', stars='good'\)"
    refused(frame, words, uh.DataError)
    result = uh.rate(frame.drop(index=1), "hotel", "stars", q=0.3)
    assert result["estimate"].tolist() == [5.0, 4.0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([date(2024, 1, 1)], "rating: column 'stars' holds times"),
        ([True], "rating: column 'stars' holds something else"),
        ([[1]], "rating: column 'stars' holds something else"),
    ],
)
def test_rating_of_another_kind(values: list[Any], words: str) -> None:
    refused(pa.table({"hotel": ["A"], "stars": values}), words, uh.ColumnError)


@pytest.mark.parametrize(("column", "asked"), [("n", {"n": "guests"}), ("q", {"q": "guests"})])
def test_number_column_of_text(column: str, asked: dict[str, Any]) -> None:
    table = STAYS.append_column("guests", pa.array(["many"] * STAYS.num_rows))
    refused(table, f"{column}: column 'guests' holds text", uh.ColumnError, **asked)


# Rows.


@pytest.mark.parametrize("lean", [True, False])
def test_item_that_is_null(lean: bool, tmp_path: Path) -> None:
    names = [None if i % 50 == 3 else v for i, v in enumerate(STAYS["hotel"].to_pylist())]
    table = STAYS.set_column(0, "hotel", pa.array(names))
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(table))
    many = names.count(None)
    refused(
        table if lean else path, f"item of .*: {many} rows have nothing in 'hotel'", uh.DataError
    )


COUNTS = [f"c{v}" for v in range(1, 6)]


def totals(third: Any) -> pa.Table:
    cells = {name: pa.array([4, 5, 6], pa.float64()) for name in COUNTS}
    return pa.table({"hotel": ["A", "B", "B"], **cells, "c3": pa.array(third, pa.float64())})


@pytest.mark.parametrize(
    ("third", "many", "example"),
    [
        ([1, None, 2], "1 row holds", "c3=None"),
        ([1, -2, 2], "1 row holds", "c3=-2"),
        ([1.5, 2.25, 2], "2 rows hold", "c3=1.5"),
        ([1, float("nan"), 2], "1 row holds", "c3=nan"),
        ([1, float("inf"), 2], "1 row holds", "c3=inf"),
    ],
)
@pytest.mark.parametrize("call", [uh.rate, uh.counts])
def test_counts_that_are_none(third: list[Any], many: str, example: str, call: Any) -> None:
    asked = {"q": 0.3} if call is uh.rate else {}
    with pytest.raises(uh.DataError, match=rf"{many} something that is no count \(.*{example}"):
        call(totals(third), "hotel", counts=COUNTS, **asked)


def test_counts_of_the_same_item_are_added_up() -> None:
    result = uh.rate(totals([1, 2, 3]), "hotel", counts=COUNTS, q=0.3)
    cells = np.array([[4, 4, 1, 4, 4], [11, 11, 5, 11, 11]])
    wanted = answers([("A",), ("B",)], cells, FIVE, q=0.3)
    for key, row in rows_by(result, ["hotel"]).items():
        same(row, wanted[key], key)


def with_column(name: str, values: dict[str, Any] | list[Any]) -> pa.Table:
    if isinstance(values, dict):
        values = [values[hotel] for hotel in STAYS["hotel"].to_pylist()]
    return STAYS.append_column(name, pa.array(values, pa.float64()))


HOTELS = sorted(set(STAYS["hotel"].to_pylist()))
PLENTY = dict.fromkeys(HOTELS, 400.0)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, r"n is missing \(for example hotel='Central'"),
        (10.0, r"n is less than the number of ratings \(for example hotel='Central', n=10\)"),
        (400.5, r"n is no number of people \(for example hotel='Central', n=400.5\)"),
        (-1.0, "n is no number of people"),
        (float("nan"), "n is (missing|no number of people)"),
        (float("inf"), "n is no number of people"),
    ],
)
def test_n_column(value: float | None, words: str) -> None:
    table = with_column("guests", {**PLENTY, "Central": value})
    refused(table, words, uh.PopulationError, n="guests")
    second = pa.table({"hotel": HOTELS, "n": pa.array([*PLENTY.values()], pa.float64())})
    changed = pa.array([value if h == "Central" else 400.0 for h in HOTELS], pa.float64())
    second = second.set_column(1, "n", changed)
    words = "nothing is said about an item" if value is None else words
    refused(STAYS, words, uh.PopulationError, n_table=second)


def test_numbers_that_vary_within_an_item() -> None:
    values = [400.0 + (i == 9) for i in range(STAYS.num_rows)]
    name = STAYS["hotel"][9].as_py()
    words = rf"n of .*: column 'guests' varies within an item \(for example hotel='{name}'"
    refused(with_column("guests", values), words, uh.PopulationError, n="guests")
    voices = [0.3 + (i == 9) / 8 for i in range(STAYS.num_rows)]
    words = "q of .*: column 'voice' varies within an item"
    refused(with_column("voice", voices), words, uh.ParticipationError, q="voice")


def test_one_n_below_the_ratings() -> None:
    refused(STAYS, "an item has more than n = 10 ratings", uh.PopulationError, n=10)
    for n in (-1, 2.5, float("nan"), float("inf")):
        refused(STAYS, "n: .* found. Give a whole number", uh.PopulationError, n=n)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.01, 30.0, float("nan"), None])
def test_q_column(value: float | None) -> None:
    voices: dict[str, Any] = {**dict.fromkeys(HOTELS, 0.3), "Central": value}
    words = r"q is missing or not in \(0, 1\] \(for example hotel='Central'"
    refused(with_column("voice", voices), words, uh.ParticipationError, q="voice")


def test_n_table(tmp_path: Path) -> None:
    people = {"Astoria": 300, "Bellevue": 200, "Central": 900, "Drei Eichen": 70, "Empty": 12}
    second = pa.table({"hotel": [*people], "n": pa.array([*people.values()], pa.int64())})
    keys = [(name,) for name in people]
    cells = np.array(
        [
            [
                sum(r["hotel"] == name and r["stars"] == v for r in STAYS.to_pylist())
                for v in range(1, 6)
            ]
            for name in people
        ]
    )
    n = {(name,): many for name, many in people.items()}
    wanted = answers(keys, cells, FIVE, q=0.3, n=n)
    (tmp_path / "n.csv").write_bytes(as_csv(second))
    (tmp_path / "n.parquet").write_bytes(as_parquet(second))
    for given in (second, tmp_path / "n.csv", tmp_path / "n.parquet", second.to_pandas()):
        check(STAYS, wanted, n_table=given)
    path = in_sqlite(tmp_path / "both.db", stays=STAYS, guests=second)
    check(path, wanted, table="stays", n_table="guests")
    check(path, wanted, table="stays", n_table=tmp_path / "n.csv")
    twice = pa.concat_tables([second, second.slice(1, 1)])
    words = r"an item occurs twice \(for example hotel='Bellevue'\)"
    refused(STAYS, words, uh.PopulationError, n_table=twice)
    words = "nothing is said about an item that has ratings .*hotel='Astoria'"
    refused(STAYS, words, uh.PopulationError, n_table=second.slice(1))
    renamed = second.rename_columns(["house", "n"])
    refused(STAYS, "shares no column with the item: hotel", uh.ColumnError, n_table=renamed)
    renamed = second.rename_columns(["hotel", "guests"])
    refused(STAYS, r"n_table: .* has no column 'n'", uh.ColumnError, n_table=renamed)
    check(STAYS, wanted, n_table=renamed, n="guests")


@DATABASES
@pytest.mark.parametrize("name", ["people", "counts", "rated", "ranks", "Order", "a b"])
def test_tables_named_like_steps_of_ours(tmp_path: Path, database: Any, name: str) -> None:
    second = pa.table({"hotel": HOTELS, "n": [400] * len(HOTELS)})
    wanted = expected(STAYS, ["hotel"], "stars", FIVE, q=0.3, n=400)
    check(database(tmp_path / "one.db", **{name: STAYS}), table=name)
    path = database(tmp_path / "two.db", stays=STAYS, **{name: second})
    check(path, wanted, table="stays", n_table=name)


def test_n_table_with_an_item_that_is_null() -> None:
    second = pa.table({"hotel": [*HOTELS, None], "n": [400] * 5})
    refused(STAYS, "hotel", uh.InputError, n_table=second)


def test_n_table_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"hotel,n\n")
    words = "no such file. Did you mean .*people.csv"
    refused(STAYS, words, uh.SourceError, n_table=tmp_path / "peple.csv")


def test_numbers_as_names_in_one_table_only(tmp_path: Path) -> None:
    table = stays(("1", "2"))
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(table))
    second = pa.table({"hotel": pa.array([1, 2], pa.int64()), "n": [300, 200]})
    result = uh.rate(path, "hotel", "stars", q=0.3, n_table=second)
    wanted = expected(table, ["hotel"], "stars", FIVE, q=0.3, n={("1",): 300, ("2",): 200})
    found = {(str(row["hotel"]),): row for row in result.to_pylist()}
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row, key)


def test_q_by_segment() -> None:
    trip = ["work" if i % 3 else "leisure" for i in range(STAYS.num_rows)]
    table = STAYS.append_column("trip", pa.array(trip))
    voices = {"work": 0.2, "leisure": 0.6}
    second = pa.table({"trip": [*voices], "q": [*voices.values()]})
    q = {(h, t): voices[t] for h, t in zip(STAYS["hotel"].to_pylist(), trip, strict=True)}
    wanted = expected(table, ["hotel", "trip"], "stars", FIVE, q=q)
    result = uh.rate(table, ["hotel", "trip"], "stars", q_table=second)
    found = rows_by(result, ["hotel", "trip"])
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row, key)
    with pytest.raises(uh.ParticipationError, match=r"nothing is said .*trip='leisure'"):
        uh.rate(table, ["hotel", "trip"], "stars", q_table=second.slice(0, 1))
    with pytest.raises(uh.OptionError, match="a number and a table given together"):
        uh.rate(table, ["hotel", "trip"], "stars", q=0.3, q_table=second)


# Counting.


@pytest.mark.parametrize("most", [3, 10**6])
def test_packed_counting_gives_way(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    original = counting.counting

    def watched(*given: Any, packed: bool, **more: Any) -> Any:
        asked.append(packed)
        return original(*given, packed=packed, **more)

    monkeypatch.setattr("unheard.tables.jobs.counting", watched)
    monkeypatch.setattr("unheard.tables.packing.Packing.most", property(lambda _: most))
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(STAYS))
    for source in (STAYS, path):
        asked.clear()
        check(source)
        assert asked == ([True, False] if most == 3 else [True])
    asked.clear()
    dirty = pa.concat_tables([STAYS, pa.table({"hotel": ["Central"], "stars": [9]})])
    wanted = {key: dict(row) for key, row in WANTED.items()}
    wanted["Central",]["flags"] = "rows_dropped"
    with pytest.warns(uh.RowsLeftOutWarning, match="1 rating was left out, not on the scale"):
        check(dirty, wanted, off_scale="drop")
    refused(dirty, "1 rating is not on the scale", uh.DataError)
    assert asked[-1] is (most != 3)


@pytest.mark.parametrize("kind", ["relation", "parquet"])
@pytest.mark.parametrize("scale", ["1:5", "1:10"])
@pytest.mark.parametrize("rating", [1, 2, 3, 5])
def test_more_than_a_field_holds(kind: str, scale: str, rating: int, tmp_path: Path) -> None:
    many = 2**20 + 5
    connection = duckdb.connect()
    relation = connection.sql(
        f"select case when range < {many} then 'x' else 'y' end as hotel, "
        f"case when range < {many} then {rating} else 4 end as stars from range({many} + 2)"
    )
    source: Any = relation
    if kind == "parquet":
        source = tmp_path / "stays.parquet"
        relation.write_parquet(str(source))
    counted = uh.counts(source, "hotel", "stars", scale=scale)
    table = counted if kind == "parquet" else counted.to_arrow_table()
    top = int(scale.partition(":")[2])
    wanted = [
        {"hotel": name, **{f"count_{v}": size * (v == at) for v in range(1, top + 1)}}
        | {"n_rows": size, "n_null": 0}
        for name, at, size in (("x", rating, many), ("y", 4, 2))
    ]
    assert table.to_pylist() == wanted
    connection.close()


def test_a_million_items() -> None:
    size = 10**6
    rng = np.random.default_rng(1)
    stars = rng.integers(1, 6, size)
    table = pa.table({"hotel": rng.permutation(size), "stars": stars})
    result = uh.rate(table, "hotel", "stars", q=0.3)
    assert result.num_rows == size
    ordered = np.empty(size)
    ordered[table["hotel"].to_numpy()] = stars
    assert (result["hotel"].to_numpy() == np.arange(size)).all()
    assert (result["n_ratings"].to_numpy() == 1).all()
    for name in ("average", "estimate", "lower", "upper"):
        np.testing.assert_allclose(result[name].to_numpy(), ordered, rtol=1e-12)
    better = np.array([(stars > v).sum() for v in range(6)])
    worse = np.array([(stars < v).sum() for v in range(6)])
    at = ordered.astype(int)
    assert (result["best_rank"].to_numpy() == 1 + better[at]).all()
    assert (result["worst_rank"].to_numpy() == size - worse[at]).all()


def test_without_ranks() -> None:
    wanted = {k: {**row, "best_rank": None, "worst_rank": None} for k, row in WANTED.items()}
    check(STAYS, wanted, ranks=False)


def test_ranks_of_ties() -> None:
    table = pa.table({"hotel": list("abcdde"), "stars": [5, 5, 3, 1, 5, 1]})
    found = rows_by(uh.rate(table, "hotel", "stars", q=0.3), ["hotel"])
    ranks = {key[0]: (row["best_rank"], row["worst_rank"]) for key, row in found.items()}
    # d holds a 1 and a 5: anything from 1 + 4 * 0.3 / 1.3 to 1 + 4 / 1.3, around c's 3.
    assert ranks == {"a": (1, 2), "b": (1, 2), "c": (3, 4), "d": (3, 4), "e": (5, 5)}


def test_unsorted_has_the_same_rows() -> None:
    sorted_rows = uh.rate(STAYS, "hotel", "stars", q=0.3)
    assert sorted_rows["hotel"].to_pylist() == HOTELS
    other = uh.rate(STAYS, "hotel", "stars", q=0.3, sort=False)
    assert rows_by(other, ["hotel"]) == rows_by(sorted_rows, ["hotel"])


# Text for other engines.

ASKED: list[dict[str, Any]] = [
    {"q": 0.3},
    {"q": 0.3, "n": "guests", "create_view": "best.rated"},
    {"q": 0.3, "n": 900, "method": "bea"},
    {"q": 0.2, "quiet": "low", "n_table": "people", "strata": ["wing"]},
    {"q_table": "voices", "time": "day", "window": "month", "text_ratings": True},
    {"q": 0.3, "scale": "1:20", "level": None, "ranks": False, "nulls": "nonresponse"},
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_text_can_be_parsed(dialect: str, asked: dict[str, Any]) -> None:
    text = uh.sql("hotel", "stars", dialect=dialect, table="stays", **asked)
    assert text.startswith("-- ")
    assert text.endswith(";\n")
    tree = sqlglot.parse_one(text, dialect=dialect)
    assert isinstance(tree, exp.Create) is ("create_view" in asked)
    query = tree.expression if isinstance(tree, exp.Create) else tree
    assert isinstance(query, exp.Select)
    window = ["window_start", "window_end"] if "window" in asked else []
    assert query.named_selects == ["hotel", *window, *COLUMNS]
    assert any(table.name == "stays" for table in tree.find_all(exp.Table))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("postgress", "Did you mean postgres\\?"),
        ("big-query", "Did you mean bigquery\\?"),
        ("oracle", "Choose one of bigquery"),
    ],
)
def test_unknown_dialect(given: str, words: str) -> None:
    with pytest.raises(uh.OptionError, match=f"dialect: '{given}' found.*{words}"):
        uh.sql("hotel", "stars", dialect=given, q=0.3)


def test_text_refuses_what_rate_refuses() -> None:
    with pytest.raises(uh.ParticipationError):
        uh.sql("hotel", "stars", dialect="duckdb", q=1.5)
    with pytest.raises(uh.ColumnError, match="both rating and counts"):
        uh.sql("hotel", "stars", counts=["a", "b"], dialect="duckdb", q=0.3)
    with pytest.raises(uh.OptionError, match=r"table: 'a\.b\.c\.d' has 4 parts"):
        uh.sql("hotel", "stars", dialect="duckdb", q=0.3, table="a.b.c.d")


def run_view(dialect: str, text: str, table: pa.Table) -> list[dict[str, Any]]:
    if dialect == "duckdb":
        with duckdb.connect() as connection:
            connection.register("stays", table)
            connection.execute(text)
            rows: list[dict[str, Any]] = connection.sql("from rated").to_arrow_table().to_pylist()
            return rows
    connection_ = sqlite3.connect(":memory:")
    connection_.execute("create table stays (hotel text, stars integer, guests integer)")
    given = [tuple(row.values()) for row in table.to_pylist()]
    connection_.executemany("insert into stays values (?, ?, ?)", given)
    connection_.executescript(text)
    cursor = connection_.execute("select * from rated")
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    connection_.close()
    return rows


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("name", ["counts", "people", "rated"])
def test_text_for_tables_named_like_steps_of_ours(dialect: str, name: str) -> None:
    text = uh.sql("hotel", "stars", dialect=dialect, table=name, q=0.3)
    columns = ", ".join(["hotel", *COLUMNS])
    if dialect == "duckdb":
        with duckdb.connect() as connection:
            connection.execute(f'create table "{name}" as from STAYS')
            rows: list[Any] = connection.execute(text).fetchall()
    else:
        connection_ = sqlite3.connect(":memory:")
        connection_.execute(f'create table "{name}" (hotel text, stars integer)')
        given = [tuple(row.values()) for row in STAYS.to_pylist()]
        connection_.executemany(f'insert into "{name}" values (?, ?)', given)
        rows = connection_.execute(text).fetchall()
        connection_.close()
    found = rows_by([dict(zip(columns.split(", "), row, strict=True)) for row in rows], ["hotel"])
    assert found.keys() == WANTED.keys()
    for key, row in WANTED.items():
        same(found[key], row, key)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_view(dialect: str) -> None:
    people = {"Astoria": 300, "Bellevue": 10, "Central": 900, "Drei Eichen": 70}
    guests = pa.array([people[hotel] for hotel in STAYS["hotel"].to_pylist()], pa.int64())
    table = STAYS.append_column("guests", guests)
    stars = STAYS["stars"].to_pylist()
    at = [i for i, hotel in enumerate(STAYS["hotel"].to_pylist()) if hotel == "Central"]
    stars[at[0]], stars[at[1]] = 9, None
    table = table.set_column(1, "stars", pa.array(stars, pa.int64()))
    text = uh.sql("hotel", "stars", dialect=dialect, table="stays", create_view="rated", q=0.3)
    found = rows_by(run_view(dialect, text, table), ["hotel"])
    wanted = expected(table, ["hotel"], "stars", FIVE, q=0.3)
    wanted["Central",]["flags"] = "rows_dropped"
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row, key)
    text = uh.sql(
        *("hotel", "stars"), dialect=dialect, table="stays", create_view="rated", q=0.3, n="guests"
    )
    found = rows_by(run_view(dialect, text, table), ["hotel"])
    flags = {key[0]: row["flags"].split() for key, row in found.items()}
    assert [name for name in HOTELS if "n_below_ratings" in flags[name]] == ["Bellevue"]
    assert [name for name in HOTELS if "rows_dropped" in flags[name]] == ["Central"]
    n = {(name,): many for name, many in people.items() if name != "Bellevue"}
    rest = table.filter(pa.compute.not_equal(table["hotel"], "Bellevue"))
    for key, row in expected(rest, ["hotel"], "stars", FIVE, q=0.3, n=n).items():
        for name in ("n", "estimate", "lower", "upper", "ci_lower", "ci_upper"):
            assert found[key][name] == pytest.approx(row[name], rel=1e-12)


def test_counts_tell_their_scale() -> None:
    films = pa.table({"film": ["A", "A", "B"], "stars": [0.5, 4.5, 5.0]})
    made = uh.counts(films, "film", "stars", scale="0.5:5:0.5")
    names = [name for name in made.column_names if name.startswith("count_")]
    (first, _) = uh.rate(made, "film", counts=names, q=0.3).to_pylist()
    assert first["average"] == 2.5
    with pytest.raises(uh.ColumnError, match=r"named after the ratings 0\.5 to 5 by 0\.5"):
        uh.rate(made, "film", counts=names, scale="1:10", q=0.3)


def test_a_number_and_a_table_of_people() -> None:
    table = pa.table({"hotel": ["A"], "stars": [4]})
    people = pa.table({"hotel": ["A"], "guests": [9], "words": ["30%"]})
    with pytest.raises(uh.OptionError, match="a number and a table"):
        uh.rate(table, "hotel", "stars", q=0.3, n=5, n_table=people)
    with pytest.raises(
        uh.ColumnError, match=r"no column 'n'\. Name its column of numbers, such as n='guests'"
    ):
        uh.rate(table, "hotel", "stars", q=0.3, n_table=people)
    with pytest.raises(uh.ColumnError, match="something else than numbers"):
        uh.rate(table, "hotel", "stars", q="words", q_table=people)


@pytest.mark.parametrize(
    ("encoding", "words"), [("latin-1", "it is not in UTF-8"), ("utf-16", "it is in UTF-16")]
)
def test_text_that_is_not_utf8(encoding: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "stays.csv"
    file.write_bytes("hotel,stars\nMüller,5\nMüller,4\n".encode(encoding))
    with pytest.raises(uh.SourceError, match=f"{words}. Save it again as UTF-8"):
        uh.rate(file, "hotel", "stars", q=0.3)
