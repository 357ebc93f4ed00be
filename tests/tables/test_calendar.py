"""Days that no calendar has, in databases that know them."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

import unheard as uh
from tests.tables.engines import PostgresBench, bench

DAYS = {
    "postgres": ["infinity", "-infinity", "0044-03-15 BC", "10000-01-01", "200000-12-31"],
    "duckdb": ["infinity", "-infinity", "0044-03-15 (BC)", "10000-01-01", "200000-12-31"],
    "sqlite": ["0000-05-01", "-0044-03-15", "10000-01-01", "nonsense"],
}
CREATE = "create table {} (item text, rating int, day {})"
INSERT = "insert into {} values ('a', 5, '{}'), ('a', 4, '2024-05-05')"


def stored(engine: str, kind: str, day: str, folder: Path) -> dict[str, Any]:
    """Store two ratings, one of them on that day; return what says where."""
    name = f"t{uuid.uuid4().hex}"
    statements = [CREATE.format(name, kind), INSERT.format(name, day)]
    if engine == "postgres":
        server = bench("postgres")
        assert isinstance(server, PostgresBench)
        with psycopg.connect(server.url) as postgres:
            for statement in statements:
                postgres.execute(statement.encode())
        return {"source": server.url, "table": name}
    path = folder / f"{name}.db"
    connection: Any = sqlite3.connect(path) if engine == "sqlite" else duckdb.connect(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return {"source": path}


@pytest.mark.parametrize("kind", ["date", "timestamp"])
@pytest.mark.parametrize(
    ("engine", "day"), [(engine, day) for engine, days in DAYS.items() for day in days]
)
def test_no_window_for_a_day_beyond_the_calendar(
    engine: str, day: str, kind: str, tmp_path: Path
) -> None:
    where = stored(engine, kind, day, tmp_path)
    for window in ("month", "week"):
        with pytest.raises(
            uh.DataError, match=r"1 row has .* no date in the years 1 to 9999"
        ) as it:
            uh.rate(item="item", rating="rating", q=0.3, time="day", window=window, **where)
        assert f"item='a', day='{day.split(maxsplit=1)[0]}" in str(it.value)


def test_item_that_python_has_no_date_for(tmp_path: Path) -> None:
    where = stored("postgres", "date", "infinity", tmp_path)
    with pytest.raises(uh.QueryError, match="infinity"):
        uh.rate(item="day", rating="rating", q=0.3, **where)
