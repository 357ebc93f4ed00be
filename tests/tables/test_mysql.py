"""MySQL's own engine on MariaDB: one state of the database, nothing written, names and types."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

import unheard as uh
from tests.tables.engines import MariaDBBench, bench
from tests.tables.test_snapshots import AFTER, BEFORE, CHANGE, FILL, nothing, rated
from unheard.tables.engines.mysql import MySQL
from unheard.tables.sql.dialects import column, render
from unheard.tables.sql.expressions import number
from unheard.tables.sql.reserved_names import reserve
from unheard.tables.sql.steps import Steps

pytestmark = pytest.mark.xdist_group("warehouses")


@pytest.fixture(scope="module")
def server() -> MariaDBBench:
    found = bench("mariadb")
    assert isinstance(found, MariaDBBench)
    return found


def run(server: MariaDBBench, *statements: str) -> list[Any]:
    with server.connect(database="unheard") as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall())


@contextmanager
def reader(server: MariaDBBench) -> Iterator[str]:
    """The URL of a user who may read and nothing else, and whose password needs care."""
    run(
        server,
        "create user reader@localhost identified by 'hunter2@%/:'",
        "grant select on unheard.* to reader@localhost",
    )
    query = server.url.partition("?")[2]
    yield f"mysql://reader:hunter2%40%25%2F%3A@localhost/unheard?{query}"
    run(server, "drop user reader@localhost")


def test_run_of_a_reader_is_one_snapshot(server: MariaDBBench) -> None:
    prefix = f"t{uuid.uuid4().hex}_"
    run(server, *(statement.format(prefix) for statement in FILL))

    def change() -> None:
        run(server, *(statement.format(prefix) for statement in CHANGE))

    with reader(server) as url:
        assert rated(url, change, prefix) == BEFORE
        assert rated(url, nothing, prefix) == AFTER
        with pytest.raises(uh.SourceError, match="Access denied for user 'reader'") as told:
            uh.rate(url.replace("hunter2", "hunter3"), "hotel", "stars", q=0.3)
        assert "hunter3" not in str(told.value)


def test_reads_and_nothing_else(server: MariaDBBench) -> None:
    name = f"t{uuid.uuid4().hex}"
    run(server, f"create table {name} (hotel varchar(9), stars int)")
    engine = MySQL(server.url)
    with pytest.raises(uh.QueryError, match="READ ONLY transaction") as told:
        engine.execute(f"insert into {name} values ('A', 5)")
    assert told.value.sql == f"insert into {name} values ('A', 5)"
    engine.close()
    for query in ("select 1; select 2", f"insert into {name} values ('A', 5)"):
        with pytest.raises(uh.OptionError, match=r"MySQL reports: .*\. Use one SELECT"):
            uh.rate(server.url, "hotel", "stars", q=0.3, query=query)
    assert run(server, f"select * from {name}") == []


def test_types_and_words_of_its_own(server: MariaDBBench) -> None:
    """Columns called like words of MySQL, decimal ratings, and keys of several types."""
    name = f"t{uuid.uuid4().hex}"
    run(
        server,
        f"create table {name} (`rank` int, `groups` date, `a``b` decimal(3, 1))",
        f"insert into {name} values (1, '2024-05-06', 0.5), (1, '2024-05-06', 2.5)",
        f"insert into {name} values (2, '0999-12-31', 1.0)",
    )
    asked: dict[str, Any] = {"scale": "0.5:2.5:0.5", "level": None, "q": 0.3}
    query = f"select * from {name}; -- all of them"
    result = uh.rate(server.url, ["rank", "groups"], "a`b", query=query, sort="item", **asked)
    assert result.schema.types[:2] == [pa.int64(), pa.date32()]
    assert [row["average"] for row in result.to_pylist()] == [1.5, 1.0]
    run(server, f"delete from {name}")
    with pytest.raises(uh.DataError, match="has no rows"):
        uh.rate(server.url, ["rank", "groups"], "a`b", table=name, **asked)


def test_no_table_is_written(server: MariaDBBench) -> None:
    with pytest.raises(uh.OptionError, match="to_table is not supported for MySQL and MariaDB"):
        MySQL(server.url, writable=True)


def test_more_steps_than_mariadb_takes_before_one_query(server: MariaDBBench) -> None:
    """Each step reads the one before, two of them also that before it."""
    steps, wanted = Steps(), [1, 2]
    steps.add("s0", exp.select(exp.alias_(number(1), "a")))
    steps.add("s1", exp.select(exp.alias_(number(2), "a")))
    for place in range(2, 150):
        last, other = (column("a", reserve(f"s{place - back}")) for back in (1, 2))
        step = exp.select(exp.alias_(last + 1, "a")).from_(reserve(f"s{place - 1}"))
        if place in (30, 100):
            step = exp.select(exp.alias_(last + other, "a")).from_(reserve(f"s{place - 1}"))
            step = step.join(reserve(f"s{place - 2}"), join_type="cross")
        wanted.append(wanted[-1] + (wanted[-2] if place in (30, 100) else 1))
        steps.add(f"s{place}", step)
    text = render(steps.closing(exp.select("*").from_(reserve("s149"))), "mysql")
    assert server.run(text, {}) == [{"a": wanted[-1]}]
