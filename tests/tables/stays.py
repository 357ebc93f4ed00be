"""Stays in four hotels, written down in every way."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unheard as uh
from tests.tables.oracle import expected, rows_by, same

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
COLUMNS = [
    *("n_ratings", "n", "average", "estimate", "lower", "upper", "ci_lower", "ci_upper"),
    *("best_rank", "worst_rank", "ci_best_rank", "ci_worst_rank", "notes"),
]


def with_q(asked: dict[str, Any]) -> dict[str, Any]:
    """State q, unless a column or a table does."""
    return asked if {"q_column", "q_table"} & set(asked) else {"q": 0.3} | asked


def stays(names: Any = ("Astoria", "Bellevue", "Central", "Drei Eichen")) -> pa.Table:
    rng = np.random.default_rng(7)
    hotel = [names[i] for i in rng.integers(0, len(names), 40 * len(names))]
    stars = rng.choice(5, len(hotel), p=[0.3, 0.05, 0.1, 0.15, 0.4]) + 1
    return pa.table({"hotel": hotel, "stars": pa.array(stars, pa.int64())})


STAYS = stays()
HOTELS = sorted(set(STAYS["hotel"].to_pylist()))
WANTED = expected(STAYS, ["hotel"], "stars", FIVE, q=0.3)


def check(source: Any, wanted: Any = None, **asked: Any) -> pa.Table:
    wanted = WANTED if wanted is None else wanted
    result = uh.rate(source, "hotel", "stars", **with_q(asked))
    assert isinstance(result, pa.Table)
    assert result.column_names == ["hotel", *COLUMNS]
    found = rows_by(result, ["hotel"])
    assert len(found) == result.num_rows
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row, key)
    return result


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


def refused(source: Any, words: str, error: type[Exception] = uh.SourceError, **asked: Any) -> str:
    with pytest.raises(error, match=words) as told:
        uh.rate(source, "hotel", "stars", **with_q(asked))
    return str(told.value)
