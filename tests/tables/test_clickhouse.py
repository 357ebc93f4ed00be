"""ClickHouse's own engine: nothing written, names, types, and who may keep nothing."""

from __future__ import annotations

import uuid
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.engines import ClickHouseBench, bench
from unheard.tables.engines import clickhouse
from unheard.tables.engines.clickhouse import ClickHouse

pytestmark = pytest.mark.xdist_group("warehouses")


@pytest.fixture(scope="module")
def server() -> ClickHouseBench:
    found = bench("clickhouse")
    assert isinstance(found, ClickHouseBench)
    return found


def make(server: ClickHouseBench, columns: str, *rows: str) -> str:
    """Make a table with these rows; return its name."""
    name = f"t{uuid.uuid4().hex}"
    server.client.command(f"create table {name} ({columns}) engine = MergeTree order by tuple()")
    for row in rows:
        server.client.command(f"insert into {name} values ({row})")
    return name


def test_reads_and_nothing_else(server: ClickHouseBench) -> None:
    name = make(server, "hotel String, stars Int8", "'A', 5", "'A', 2")
    engine = ClickHouse(server.url)
    with pytest.raises(uh.QueryError, match="Cannot execute query in readonly mode") as told:
        engine.execute(f"insert into {name} values ('A', 5)")
    assert told.value.sql == f"insert into {name} values ('A', 5)"
    engine.close()
    for query in (f"select * from {name}; drop table {name}", f"insert into {name} values (1, 5)"):
        with pytest.raises(uh.OptionError, match=r"ClickHouse reports: .*\. Use one SELECT"):
            uh.rate(server.url, "hotel", "stars", q=0.3, query=query)
    query = f"select * from {name}; -- all of them"
    result = uh.rate(server.url, "hotel", "stars", q=0.3, query=query, scale="1:5")
    assert result.select(["n_ratings", "average"]).to_pylist() == [{"n_ratings": 2, "average": 3.5}]


def test_types_of_its_own(server: ClickHouseBench) -> None:
    """Keys that would be numbers or bytes in Arrow, decimal ratings, and a column named oddly."""
    name = make(
        server,
        "kind Enum8('inn' = 7, 'hotel' = 9), day Date, id UUID, code FixedString(4), "
        "town LowCardinality(Nullable(String)), `a\\`b` Decimal(3, 1), seen DateTime",
        "'inn', '2024-05-06', '61f0c404-5cb3-11e7-907b-a6006ad3dba0', 'ab', 'Bern', 0.5, "
        "'2024-05-06 10:00:00'",
        "'inn', '2024-05-06', '61f0c404-5cb3-11e7-907b-a6006ad3dba0', 'ab', 'Bern', 2.5, "
        "'2024-06-06 10:00:00'",
    )
    items = ["kind", "day", "id", "code", "town"]
    asked: dict[str, Any] = {"scale": "0.5:2.5:0.5", "level": None, "q": 0.3, "table": name}
    result = uh.rate(server.url, items, "a`b", **asked)
    assert result.schema.types[:2] == [pa.string(), pa.date32()]
    (row,) = result.to_pylist()
    key = ["inn", date(2024, 5, 6), "61f0c404-5cb3-11e7-907b-a6006ad3dba0", "ab", "Bern"]
    assert [row[item] for item in items] == key
    assert row["average"] == 1.5
    result = uh.rate(server.url, "kind", "a`b", time="seen", window="month", **asked)
    starts = [(row["kind"], row["window_start"], row["average"]) for row in result.to_pylist()]
    assert sorted(starts) == [("inn", date(2024, 5, 1), 0.5), ("inn", date(2024, 6, 1), 2.5)]
    server.client.command(f"truncate table {name}")
    with pytest.raises(uh.DataError, match="has no rows"):
        uh.rate(server.url, items, "a`b", **asked)


def test_who_may_keep_nothing_gets_the_same(
    server: ClickHouseBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        f"'{hotel}', {stars}" for hotel, all_ in (("A", "12455"), ("B", "3455")) for stars in all_
    ]
    name = make(server, "hotel String, stars Int8", *rows)
    asked: dict[str, Any] = {"q": 0.3, "table": name, "scale": "1:5", "level": None, "sort": "item"}
    kept = uh.rate(server.url, "hotel", "stars", **asked).to_pylist()
    monkeypatch.setitem(clickhouse._READ_ONLY, "readonly", 1)
    assert not ClickHouse(server.url).keeps
    alone = uh.rate(server.url, "hotel", "stars", **asked).to_pylist()
    numbers = [[v for v in row.values() if isinstance(v, float)] for row in (*kept, *alone)]
    assert numbers[2:] == [pytest.approx(row, rel=1e-12) for row in numbers[:2]]
    assert [row["best_rank"] for row in alone] == [row["best_rank"] for row in kept]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("clickhouse://me:hunter2@127.0.0.1:1/db", "Cannot connect to .* Connection refused"),
        ("clickhouse://me:hunter2@127.0.0.1:port/db", "is not the URL of a ClickHouse database"),
        ("clickhouse://me:hunter2@127.0.0.1/db?secure=maybe", "is not the URL of a ClickHouse"),
        ("clickhouse://me:hunter2@127.0.0.1/db/more", "is not the URL of a ClickHouse database"),
        ("chdb:///not/there", "not/there does not exist"),
    ],
)
def test_what_is_not_there(source: str, problem: str) -> None:
    with pytest.raises(uh.SourceError, match=problem) as told:
        uh.rate(source, "hotel", "stars", q=0.3)
    assert "hunter2" not in str(told.value)


def test_no_table_is_written(server: ClickHouseBench) -> None:
    with pytest.raises(uh.OptionError, match="to_table is not supported for ClickHouse"):
        ClickHouse(server.url, writable=True)
