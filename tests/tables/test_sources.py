"""Files, databases and frames that hold ratings, and files that cannot be read."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unheard as uh
from tests.tables.oracle import expected
from tests.tables.stays import (
    DATABASES,
    FIVE,
    STAYS,
    as_csv,
    as_json,
    as_parquet,
    check,
    in_duckdb,
    in_sqlite,
    refused,
    stays,
)
from unheard.model.results import Backend
from unheard.tables.sources.databases import connect
from unheard.tables.sources.encodings import Survey

ODD = ["007", "7", "1e3", "true", "a, b", "two\nlines", "🏨", 'the "inn"', "it's", "null"]
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
    assert sorted(result["hotel"].to_pylist()) == sorted(names)


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
def test_a_table_is_named_with_its_schema_or_with_its_database(
    tmp_path: Path, database: Any
) -> None:
    path = database(tmp_path / "two.db", stays=STAYS, **{"a.b": STAYS, "other": STAYS.slice(0, 3)})
    for name in ("main.stays", '"main"."stays"', "a.b", 'main."a.b"'):
        check(path, table=name)
        check(f"{path}#{name}")
    check(f"{'sqlite' if database is in_sqlite else 'duckdb'}:///{path}#stays")
    refused(f"{path}#stays", "table cannot be combined", uh.OptionError, table="stays")
    refused(f"{path}#stays", "query cannot be combined", uh.OptionError, query="select 1")
    missing = r"no table 'main.stay'\. Did you mean 'main.stays'"
    refused(path, missing, uh.OptionError, table="main.stay")


def test_schemas_of_duckdb(tmp_path: Path) -> None:
    path = in_duckdb(tmp_path / "stays.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("create schema raw; create table raw.stays as from STAYS")
    check(f"{path}#raw.stays")
    refused(path, r"no table 'stays'\. Did you mean 'raw.stays'\?", uh.OptionError, table="stays")
    refused(path, r"1 table: raw.stays", uh.OptionError)
    uh.add_counts(STAYS, f"{path}#raw.kept", "hotel", "stars", batch="first")
    assert uh.count_ratings(f"{path}#raw.kept").num_rows == 4


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
    with pytest.raises(
        uh.OptionError, match=r"query cannot be run; .* reports: .*\. Use one SELECT"
    ):
        uh.rate(path, "hotel", "stars", q=0.3, query="selec hotel from stays")
    with pytest.raises(uh.ColumnError, match=r"The query on .* has no column 'stars'"):
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
    with pytest.raises(uh.OptionError, match=r"has 2 tables: guests, stays\. Name one"):
        uh.rate(path, "hotel", "stars", q=0.3)
    with pytest.raises(uh.OptionError, match=r"no table 'stay'\. Did you mean 'stays'\?"):
        uh.rate(path, "hotel", "stars", q=0.3, table="stay")
    nothing = database(tmp_path / "none.db")
    if nothing.stat().st_size:  # SQLite writes nothing until there is a table
        with pytest.raises(uh.OptionError, match="has 0 tables"):
            uh.rate(nothing, "hotel", "stars", q=0.3)


# Habits of spreadsheets.


def written(tmp_path: Path, text: str, name: str = "stays.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def averages(source: Path) -> dict[Any, float]:
    found = uh.rate(source, "hotel", "stars", q=0.3, scale="0.5:5:0.5")
    return {row["hotel"]: row["average"] for row in found.to_pylist()}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("stays.csv", "hotel;stars\nA;4,5\nA;3\nB;3,5\n"),
        ("stays.csv", "\ufeffsep=;\r\nhotel;stars\r\nA;4,5\r\nA;3\r\nB;3,5\r\n"),
        ("stays.csv", 'sep=,\nhotel,stars\nA,"4,5"\nA,3\nB,"3,5"\n'),
        ("stays.tsv", "hotel\tstars\nA\t4,5\nA\t3\nB\t3,5\n"),
        ("stays.csv", "sep=;\nhotel;stars\nA;4.5\nA;3\nB;3.5\n"),
    ],
)
def test_decimal_commas_and_a_stated_separator(tmp_path: Path, name: str, text: str) -> None:
    assert averages(written(tmp_path, text, name)) == {"A": 3.75, "B": 3.5}


def test_commas_are_decimal_in_ratings_only(tmp_path: Path) -> None:
    thousands = written(tmp_path, "hotel;stars;guests\nA;4,5;1,000\nB;3;2,000\n")
    with pytest.warns(uh.ReadingWarning, match="In column guests, 1,000 was read as 1000"):
        found = uh.rate(thousands, "hotel", "stars", q=1, scale="1:5:0.5", n_column="guests")
    assert sorted(row["n"] for row in found.to_pylist()) == [1000, 2000]
    uneven = written(tmp_path, "hotel;stars;guests\nA;4,5;1,00\nB;3;2,000\n", "uneven.csv")
    refused(uneven, "'guests' .* contains text.*without commas", uh.ColumnError, n_column="guests")
    assert averages(thousands) == {"A": 4.5, "B": 3.0}
    names = written(tmp_path, "hotel;stars\n1,5;4,5\n1,50;3\n")
    assert averages(names) == {"1,5": 4.5, "1,50": 3.0}


def test_points_and_commas_in_one_table_are_left_to_people(tmp_path: Path) -> None:
    mixed = written(tmp_path, "hotel;stars;price\nA;4,5;99.5\nB;3;80.5\n")
    refused(mixed, "stars='4,5'", uh.DataError, scale="0.5:5:0.5")


@pytest.mark.parametrize("second", ["stars", "Stars"])
def test_columns_of_one_name_are_told_apart(tmp_path: Path, second: str) -> None:
    path = written(tmp_path, f"hotel,stars,{second}\nA,4,5\nB,3,2\n")
    refused(
        path,
        r"no column 'stars'.*(It has|Its columns are) hotel, stars \(1\), stars \(2\)",
        uh.ColumnError,
    )
    found = uh.rate(path, "hotel", "stars (2)", q=0.3).to_pylist()
    assert [row["average"] for row in found] == [5.0, 2.0]
    path = written(tmp_path, "hotel,stars,stars_1,note,note\nA,4,5,x,y\nB,3,2,x,y\n")
    assert averages(path) == {"A": 4.0, "B": 3.0}


# Files that cannot be read.


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
    with pytest.raises(uh.DataError, match=r"has no rows\. Use a table with ratings\."):
        uh.rate(path, "hotel", "stars", q=0.3)


def test_missing_file(tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_bytes(as_csv(STAYS))
    told = refused(tmp_path / "stay.csv", "does not exist")
    assert f"Did you mean {tmp_path / 'stays.csv'}?" in told
    for name in ("zzz", "no.csv", "days.csv", "yes.csv"):
        assert "Did you mean" not in refused(tmp_path / name, "does not exist")
    assert "Did you mean" not in refused(tmp_path / "no" / "stays.csv", "does not exist")
    refused(tmp_path / "*.parquet", "does not exist")


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
    refused(path, "is a binary file")
    path.write_bytes(as_parquet(STAYS))  # what a file is called is not what it is
    check(path)


def test_truncated(tmp_path: Path) -> None:
    path = tmp_path / "stays.parquet"
    path.write_bytes(as_parquet(STAYS)[:-20])
    refused(path, r"cannot be read as parquet: .+\. Check the file")
    path = tmp_path / "stays.csv.gz"
    path.write_bytes(gzip.compress(as_csv(STAYS))[:40])
    refused(path, "is a damaged gzip file: Truncated")
    path = tmp_path / "stays.jsonl"
    path.write_bytes(as_json(STAYS)[:-9])
    refused(path, "cannot be read as json")


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        ("s3://me:hunter2@bucket/a.csv", "Download the file first"),
        ("odd://me:hunter2@host/db", "Use postgresql://.*clickhouse://.*sqlite:///"),
        ("trino://me:hunter2@host/db", "Run the SQL that `unheard sql --dialect trino`"),
    ],
)
def test_unknown_scheme(source: str, remedy: str) -> None:
    told = refused(source, rf"(trino|s3|odd) is not supported\. {remedy}")
    assert "hunter2" not in told


@pytest.mark.parametrize("scheme", ["postgresql", "mysql", "clickhouse"])
def test_no_part_of_a_password_is_shown(scheme: str) -> None:
    for user, signs in product(
        ("me", "me@corp", "corp/me", "me too"), product("@#/?:%& [='", repeat=2)
    ):
        password = f"hunter{signs[0]}secret{signs[1]}ecret"
        for place in ("127.0.0.1:1/db", "127.0.0.1:x/db", "127.0.0.1:1"):
            with pytest.raises(uh.SourceError) as told:
                connect(f"{scheme}://{user}:{password}@{place}")
            assert not re.search("hunter|ecret", str(told.value)), password


@pytest.mark.parametrize(
    "source",
    [
        "mysql://me:hunter2@127.0.0.1:1/db",
        "mariadb://me:hunter2@127.0.0.1:port/db",
        "mysql://me:hunter2@127.0.0.1/",
        "mysql://me:hunter2@127.0.0.1:1/db?colour=red",
    ],
)
def test_mysql_that_is_not_there(source: str) -> None:
    pytest.importorskip("pymysql")
    told = refused(source, "Cannot connect to .* refused|is not the URL of a MySQL database")
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
    assert "hunter2" not in refused(source, "Cannot connect to|is not the URL of a PostgreSQL")


def test_database_url_of_no_file(tmp_path: Path) -> None:
    for scheme in ("sqlite", "duckdb"):
        path = tmp_path / "no.db"
        refused(f"{scheme}:///{path}", f"{re.escape(str(path))} does not exist")
        assert not path.exists()


@DATABASES
def test_url_of_something_else(tmp_path: Path, database: Any) -> None:
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(STAYS))
    scheme, name = ("sqlite", "SQLite") if database is in_sqlite else ("duckdb", "DuckDB")
    refused(f"{scheme}:///{path}", f"{name} cannot open")


def test_table_of_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(STAYS))
    refused(path, "table requires a database, and .* is not one", uh.OptionError, table="stays")
    refused(path, "query requires a database, and .* is not one", uh.OptionError, query="select 1")
    refused(
        path, "query cannot be used with Spark", uh.OptionError, query="select 1", engine="spark"
    )
    refused(path, "engine must be duckdb or spark; got 'sparc'", uh.OptionError, engine="sparc")
    refused(path, "memory must be an amount of memory; got 'lots'", uh.OptionError, memory="lots")


@pytest.mark.parametrize("source", [7, None, ["stays.csv"], {"hotel": ["A"], "stars": [1]}])
def test_no_table_at_all(source: Any) -> None:
    refused(source, f"source must be .*; got a {type(source).__name__}")


def test_engine_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    refused("postgresql://me@127.0.0.1:1/db", r"unheard\[postgres\]", uh.MissingLibraryError)
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(STAYS))
    refused(path, r"unheard\[spark\]", uh.MissingLibraryError, engine="spark")


def test_files_give_the_frame_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(STAYS))
    kinds: list[tuple[Backend | None, type]] = [
        (None, pd.DataFrame),
        ("pandas", pd.DataFrame),
        ("polars", pl.DataFrame),
        ("pyarrow", pa.Table),
    ]
    first = uh.rate(path, "hotel", "stars", q=0.3)["hotel"][0]
    for backend, kind in kinds:
        rated = uh.rate(path, "hotel", "stars", q=0.3, backend=backend)
        ranked = uh.rank(path, "hotel", "stars", q=0.3, backend=backend)
        counted = uh.count_ratings(path, "hotel", "stars", backend=backend)
        assert [type(one) for one in (rated, ranked, counted)] == [kind] * 3
        assert str(rated["hotel"][0]) == first
    monkeypatch.setattr("unheard.model.results.find_spec", lambda name: None)
    assert isinstance(uh.count_ratings(path, "hotel", "stars"), pa.Table)
    refused(path, "not installed; got 'polars'", uh.OptionError, backend="polars")
    refused(path, "backend must be one of", uh.OptionError, backend="dask")
    words = "backend does not apply to a frame, whose own kind comes back"
    refused(STAYS, words, uh.OptionError, backend="pyarrow")


def test_a_stated_encoding_must_fit(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_bytes("hotel,stars\nMüller,5\nMüller,4\n".encode("latin-1"))
    assert names(path, encoding="cp1252") == ["Müller"]
    assert names(path, encoding="cp850") == ["M³ller"]  # it fits, too: whoever states it knows
    for encoding in ("utf-8", "ascii"):
        refused(path, f"is not in {encoding.upper()}. Leave encoding out", encoding=encoding)
    for unknown in ("utf9", "zip", "rot13", "utf-8\0"):
        refused(path, "encoding is not known", uh.OptionError, encoding=unknown)


def names(source: Any, **asked: Any) -> list[str]:
    found = uh.rate(source, "hotel", "stars", q=0.3, sort="item", **asked)
    return [row["hotel"] for row in found.to_pylist()]


def test_a_letter_far_from_the_beginning_tells_the_encoding(tmp_path: Path) -> None:
    rows = b"hotel,stars\n" + b"Alder,5\n" * 150_000
    path = tmp_path / "stays.csv"
    path.write_bytes(rows + "Ülm,4\n".encode())
    assert names(path) == ["Alder", "Ülm"]
    path.write_bytes(rows + "Ülm,4\n".encode("cp1252"))
    with pytest.warns(uh.ReadingWarning, match="Windows-1252"):
        assert names(path) == ["Alder", "Ülm"]


@given(st.text(), st.lists(st.integers(0, 60)), st.sampled_from(["utf-8", "cp1252"]))
def test_text_is_surveyed_piece_by_piece(text: str, cuts: list[int], encoding: str) -> None:
    content = text.encode(encoding, "ignore")
    survey = Survey()
    for first, last in pairwise([0, *sorted(cuts), len(content)]):
        survey.see(content[first:last])
    survey.see(b"", final=True)
    try:
        content.decode()
    except UnicodeDecodeError:
        assert not survey.is_utf8
    else:
        assert survey.is_utf8


def test_where_reading_does_not_apply(tmp_path: Path) -> None:
    (tmp_path / "stays.parquet").write_bytes(as_parquet(STAYS))
    in_sqlite(tmp_path / "stays.db", stays=STAYS)
    for source in (STAYS, tmp_path / "stays.db", f"sqlite:///{tmp_path}/stays.db"):
        refused(source, "sheet does not apply to a (database|frame)", uh.OptionError, sheet="1")
    refused(tmp_path / "stays.parquet", "header does not apply", uh.OptionError, header=1)
    for header in ("second", 0, -1):
        refused(
            tmp_path / "stays.parquet",
            "header must be the number of a row",
            uh.OptionError,
            header=header,
        )


@pytest.mark.parametrize(
    ("text", "mixed"),
    [
        (b"a\r\nb\r\n", False),
        (b"a\nb\n", False),
        (b"a\r\nb\n", True),
        (b"a\nb\r\n", True),
        (b"a\rb\r", False),
    ],
)
def test_lines_that_end_in_two_ways_are_seen_in_any_pieces(text: bytes, mixed: bool) -> None:
    for first, second in product(range(len(text) + 1), repeat=2):
        survey = Survey()
        for piece in (text[:first], text[first:second], text[max(first, second) :]):
            survey.see(piece)
        assert survey.has_mixed_ends == mixed


def test_the_index_of_pandas_names_items_as_columns_do() -> None:
    frame = STAYS.to_pandas()
    wanted = uh.rate(frame, "hotel", "stars", q=0.3)
    found = uh.rate(frame.set_index("hotel"), "hotel", "stars", q=0.3)
    assert found.equals(wanted)
    counts = pd.crosstab(frame["hotel"], frame["stars"]).reindex(columns=range(1, 6), fill_value=0)
    found = uh.rate(counts, "hotel", counts=[1, 2, 3, 4, 5], q=0.3)
    assert found.equals(wanted)
    with pytest.raises(uh.ColumnError, match="no column 'wing'"):
        uh.rate(counts, "wing", counts=[1, 2, 3, 4, 5], q=0.3)
