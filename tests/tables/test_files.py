"""Which files a name stands for, and files that are not what they seem."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.stays import DATABASES, STAYS, as_csv, as_parquet, in_sqlite, refused
from unheard.tables.audit_table import Layout, read_audit
from unheard.tables.pipeline import read_request
from unheard.tables.sources.files import matching
from unheard.tables.sources.open import Where, open_source

CSV = "hotel,stars\n{name},5\n{name},4\n"


def names_in(source: Any, **asked: Any) -> list[str]:
    found = uh.rate(source, "hotel", "stars", q=0.3, sort="item", **asked)
    return [row["hotel"] for row in found.to_pylist()]


def put(folder: Path, *names: str) -> None:
    """Write tables with one item, each called like its file."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CSV.format(name=name), encoding="utf-8")


# Names that could be patterns.

ODD_NAMES = (
    ("stays[1].csv", "stays1.csv"),
    ("stays*.csv", "stays7.csv"),
    ("stays?.csv", "stays7.csv"),
    ("wing[ab]/stays.csv", "winga/stays.csv"),
    ("w*/stays.csv", "wing/stays.csv"),
    ("[!a][*].csv", "b*.csv"),
    ("~stays.csv", "stays.csv"),
    ("http:/host/stays.csv", "stays.csv"),
)


@pytest.mark.parametrize(("name", "other"), ODD_NAMES)
def test_a_name_means_itself(
    name: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, name, other)
    assert names_in(tmp_path / name) == [name]
    monkeypatch.chdir(tmp_path)
    assert names_in(name) == [name]
    people = (tmp_path / name).with_name("[n]*.csv")
    people.write_text(f"hotel,n\n{name},9\n", encoding="utf-8")
    people.with_name("n1.csv").write_text(f"hotel,n\n{name},5\n", encoding="utf-8")
    found = uh.rate(name, "hotel", "stars", q=0.3, n_table=people).to_pylist()
    assert [row["n"] for row in found] == [9]
    shares = people.with_name("q?.csv")
    shares.write_text(f"hotel,q\n{name},1\n", encoding="utf-8")
    people.with_name("q1.csv").write_text(f"hotel,q\n{name},0.1\n", encoding="utf-8")
    found = uh.rate(name, "hotel", "stars", q_table=shares, n=2).to_pylist()
    assert [(row["lower"], row["upper"]) for row in found] == [(4.5, 4.5)]


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv.gz"])
def test_a_name_of_another_format_means_itself(kind: str, tmp_path: Path) -> None:
    for name in ("a[1]", "a1"):
        table = pa.table({"hotel": [name] * 2, "stars": [5, 4]})
        lines = "\n".join(json.dumps(row) for row in table.to_pylist()).encode()
        content = {
            "parquet": as_parquet(table),
            "jsonl": lines,
            "csv.gz": gzip.compress(as_csv(table)),
        }
        (tmp_path / f"{name}.{kind}").write_bytes(content[kind])
    assert names_in(tmp_path / f"a[1].{kind}") == ["a[1]"]


def test_a_folder_means_itself(tmp_path: Path) -> None:
    put(tmp_path, "wing[1]/a.csv", "wing[1]/b.csv", "wing1/c.csv")
    assert names_in(tmp_path / "wing[1]" / "*.csv") == ["wing[1]/a.csv", "wing[1]/b.csv"]
    told = refused(tmp_path / "wing[1]", "is a folder")
    advised = told.partition("such as '")[2].partition("'")[0]
    assert [Path(one).name for one in matching(advised)] == ["a.csv", "b.csv"]


def test_a_pattern_is_still_one(tmp_path: Path) -> None:
    put(tmp_path, "stays1.csv", "stays2.csv", "stays3.csv", "deep/er/stays1.csv")
    assert names_in(tmp_path / "stays[12].csv") == ["stays1.csv", "stays2.csv"]
    assert names_in(tmp_path / "**" / "stays1.csv") == ["deep/er/stays1.csv", "stays1.csv"]


def test_a_pattern_does_not_count_hidden_files(tmp_path: Path) -> None:
    put(tmp_path, "a.csv", ".b.csv", ".hidden/c.csv", "open/d.csv", "open/.e.csv")
    assert names_in(tmp_path / "*.csv") == ["a.csv"]
    assert names_in(tmp_path / "**" / "*.csv") == ["a.csv", "open/d.csv"]
    assert names_in(tmp_path / ".*.csv") == [".b.csv"]


@pytest.mark.skipif(os.sep == "\\", reason="there it parts folders")
def test_a_name_that_duckdb_cannot_be_told(tmp_path: Path) -> None:
    put(tmp_path, "a\\[1].csv", "a\\b.csv", "a/[1].csv")
    refused(tmp_path / "a\\[1].csv", "backslash.* Rename it")
    assert names_in(tmp_path / "a\\b.csv") == ["a\\b.csv"]


def test_spark_is_not_given_a_name_that_it_would_take_for_a_pattern(tmp_path: Path) -> None:
    put(tmp_path, "stays[1].csv", "stays1.csv")
    refused(
        tmp_path / "stays[1].csv",
        "Spark cannot read .*: it takes such a name as a pattern",
        engine="spark",
    )


def test_an_audit_means_itself(tmp_path: Path) -> None:
    rows = "hotel,stars,answered\nA,1,{first}\nA,2,1\nA,2,1\n"
    (tmp_path / "audit[1].csv").write_text(rows.format(first=0))
    (tmp_path / "audit1.csv").write_text(rows.format(first=1))
    layout = Layout(item=("hotel",), rating=("stars",), answered="answered")
    found, _scale = read_audit(tmp_path / "audit[1].csv", layout, "1:2")
    assert [list(row) for row in found[""].observed] == [[0, 2]]


# Damaged files.


def test_no_flipped_bit_of_a_gzip_file_goes_unnoticed(tmp_path: Path) -> None:
    rows = as_csv(STAYS)
    packed = gzip.compress(rows[:400], mtime=0) + gzip.compress(rows[400:], mtime=0)
    path = tmp_path / "stays.csv.gz"
    path.write_bytes(packed)
    right = uh.count_ratings(path, "hotel", "stars")
    refusals = 0
    for bit in range(0, 8 * len(packed), 37):
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            assert uh.count_ratings(path, "hotel", "stars").equals(right), f"bit {bit}"
        except uh.SourceError:
            refusals += 1
    assert refusals > 50


@pytest.mark.parametrize("place", [-8, -4], ids=["checksum", "length"])
def test_a_gzip_file_with_a_wrong_checksum(place: int, tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(as_csv(STAYS)))
    packed[place] ^= 1
    path = tmp_path / "a.csv.gz"
    path.write_bytes(packed)
    told = refused(path, r"is a damaged gzip file: .+\. Create or download it again")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(as_csv(STAYS)))
    assert refused(tmp_path / "?.csv.gz", "is a damaged gzip file") == told
    people = tmp_path / "people.csv"
    people.write_bytes(as_csv(STAYS))
    refused(people, "is a damaged gzip file", n_table=path)


def zstd(content: bytes, checksum: bytes | None) -> bytes:
    """Write a frame of one block that is not packed [RFC 8878]."""
    descriptor = 0x60 if checksum is None else 0x64
    size = (len(content) - 256).to_bytes(2, "little")
    block = (len(content) << 3 | 1).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd" + bytes([descriptor]) + size + block + content + (checksum or b"")


def test_a_zstd_file_with_a_wrong_checksum(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv.zst"
    path.write_bytes(zstd(as_csv(STAYS), None))
    assert uh.count_ratings(path, "hotel", "stars").num_rows
    path.write_bytes(zstd(as_csv(STAYS), b"none"))
    refused(path, "checksum")


# Databases are opened by name only.


@pytest.fixture
def spying(tmp_path: Path) -> bytes:
    """A DuckDB database whose only table is a view of another file."""
    secret = tmp_path / "secret.csv"
    secret.write_text("hotel,stars\nTOPSECRET,5\n")
    with duckdb.connect(str(tmp_path / "watch.db")) as connection:
        connection.execute(f"create view stays as select * from read_csv('{secret}')")
    return (tmp_path / "watch.db").read_bytes()


@pytest.mark.parametrize("name", ["survey.csv", "survey.tsv", "survey.txt", "survey", "a.xyz"])
def test_a_database_under_another_name_is_not_opened(
    name: str, spying: bytes, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(spying)
    told = refused(path, rf"is a DuckDB database\. .* duckdb:///{path}")
    assert "TOPSECRET" not in told
    put(tmp_path, "0.csv")
    refused(tmp_path / f"[0{name[0]}]*", rf"^{path} is a DuckDB database")
    in_sqlite(tmp_path / "some.db", stays=STAYS)
    path.write_bytes((tmp_path / "some.db").read_bytes())
    refused(path, rf"is a SQLite database\. .* sqlite:///{path}")


@DATABASES
@pytest.mark.parametrize("ending", ["db", "ddb", "duckdb", "sqlite", "sqlite3", "DB"])
def test_a_database_by_its_ending(ending: str, database: Any, tmp_path: Path) -> None:
    path = database(tmp_path / f"it's [1].{ending}", stays=STAYS)
    assert names_in(path) == sorted({*STAYS["hotel"].to_pylist()})


def test_an_ending_that_promises_a_database(tmp_path: Path) -> None:
    path = tmp_path / "stays.db"
    for content in (as_csv(STAYS), b""):
        path.write_bytes(content)
        refused(path, r"neither a DuckDB nor a SQLite database\. .* an ending such as \.csv")


def test_text_that_begins_like_a_database(tmp_path: Path) -> None:
    for heading in ("roasted DUCK", "SQLite format 3"):
        path = tmp_path / "dishes.csv"
        path.write_text(f"{heading},stars\nA,5\nA,4\n")
        found = uh.rate(path, heading, "stars", q=0.3).to_pylist()
        assert [row["average"] for row in found] == [4.5]


# Many columns.


def test_columns_that_nobody_asks_for_are_not_handed_on(tmp_path: Path) -> None:
    many = {f"c{i}": [1, 2] for i in range(50)}
    table = pa.table({"hotel": ["A", "B"], "stars": [4, 5], **many})
    (tmp_path / "wide.csv").write_bytes(as_csv(table))
    (tmp_path / "wide.parquet").write_bytes(as_parquet(table))
    request = read_request(item="hotel", rating="stars", q=0.3)
    missing = read_request(item="hotel", rating="star", q=0.3)
    for source in (tmp_path / "wide.csv", tmp_path / "wide.parquet", table, table.to_pandas()):
        opened = open_source(source, request, Where())
        opened.engine.close()
        assert {*opened.kinds} == {"hotel", "stars"}
        for asked in (missing, None):
            opened = open_source(source, asked, Where())
            opened.engine.close()
            assert list(opened.kinds) == table.column_names
