"""What the suites for all engines share: ratings, assumptions, and the comparison with the core."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.engines import TEXT_BENCHES, Bench
from tests.tables.oracle import rows_by, same
from unheard.tables import rank

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)

RESULT = {
    "n_ratings": pa.int64(), "n": pa.int64(), "average": pa.float64(), "estimate": pa.float64(),
    "lower": pa.float64(), "upper": pa.float64(), "ci_lower": pa.float64(),
    "ci_upper": pa.float64(), "best_rank": pa.int64(), "worst_rank": pa.int64(),
    "ci_best_rank": pa.int64(), "ci_worst_rank": pa.int64(), "notes": pa.string(),
}  # fmt: skip

ORDER = {
    "average_rank": pa.int64(), "tier": pa.int64(), "top": pa.string(),
    "ci_top": pa.string(), "breakdown_q": pa.float64(),
}  # fmt: skip

DATABASES = ("duckdb", "sqlite", "postgres")
"""Run every case. Frames are read by DuckDB, and Spark is slow: they run some of them."""

_EVERY = 6
"""The others run one case of so many."""


def ratings(seed: int, size: int = 300, names: Any = None, values: Any = FIVE) -> pa.Table:
    """Lopsided ratings of a few items; one item has a single rating."""
    rng = np.random.default_rng(seed)
    names = names or ["A", "B", "C", "D", "E", "F"]
    weights = np.arange(1, len(names) + 1) ** 2.0
    item = rng.choice(len(names), size, p=weights / weights.sum())
    shape = np.geomspace(1, 6, len(values))[rng.permutation(len(values))]
    rating = rng.choice(np.array(values), size, p=shape / shape.sum())
    whole = all(float(v).is_integer() for v in values)
    return pa.table(
        {
            "item": pa.array([*(names[i] for i in item), "alone"]),
            "rating": pa.array([*rating, values[0]], pa.int64() if whole else pa.float64()),
        }
    )


def cells_of(table: pa.Table, keys: Any) -> Any:
    cells = np.zeros((len(keys), 5), np.int64)
    place = {key[0]: i for i, key in enumerate(keys)}
    for name, value in zip(table["item"].to_pylist(), table["rating"].to_pylist(), strict=True):
        cells[place[name], int(value) - 1] += 1
    return cells


def counted(table: pa.Table) -> tuple[list[tuple[Any, ...]], Any]:
    """The items and their counts, in one order."""
    pairs = list(zip(table["item"].to_pylist(), table["rating"].to_pylist(), strict=True))
    names = sorted({item for item, _ in pairs})
    return [(name,) for name in names], np.array(
        [[pairs.count((name, value)) for value in range(1, 6)] for name in names]
    )


def days(table: pa.Table) -> list[date]:
    rng = np.random.default_rng(14)
    start = date(2024, 2, 20)
    return [start + timedelta(days=int(d)) for d in rng.integers(0, 100, table.num_rows)]


def audited() -> uh.Assumption:
    """What an audit of a dozen items found."""
    rng = np.random.default_rng(8)
    truth = np.array([rng.multinomial(50, p) for p in rng.dirichlet([1, 2, 2, 3, 1], 12)])
    return uh.calibrate(rng.binomial(truth, [0.1, 0.2, 0.3, 0.5, 0.6]), truth).assumption


ASSUMPTIONS: list[dict[str, Any]] = [
    {"q": 0.3},
    {"q": 0.15, "quiet": "low"},
    {"q": 0.2, "quiet": "high", "level": 0.8},
    {"q": 0.1, "quiet": "middle"},
    {"participation": [(0.1, 0.4), (0.2, 0.5), (0.2, 0.9), (0.3, 0.9), (0.5, 1.0)]},
    {"g": [0.2, 0.3, 0.3, 0.4, 0.6]},
    {"assumption": audited()},
    {"q": 0.3, "level": None},
    {"q": 0.4, "method": "spectral"},
]


_ONE_PROCESS = {"spark": "spark", **dict.fromkeys(TEXT_BENCHES, "warehouses")}
"""One Spark is enough, and so is one MariaDB: one process runs all their tests."""


def benches(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=_marks(name)) for name in names]


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xdist_group(_ONE_PROCESS[name])] if name in _ONE_PROCESS else []


def cases(names: Iterable[str], asked: list[Any]) -> list[Any]:
    """Pair benches with cases, all of them for databases, some for the others."""
    found = []
    for name in names:
        marks = _marks(name)
        for i, one in enumerate(asked):
            if name in DATABASES or i % _EVERY == 0:
                values = one if isinstance(one, tuple) else (one,)
                words = "-".join(spelled(v) if isinstance(v, dict) else str(v) for v in values)
                found.append(pytest.param(name, *values, marks=marks, id=f"{name}-{words}"))
    return found


def spelled(asked: dict[str, Any]) -> str:
    return ", ".join(
        name if name == "assumption" else f"{name}={value}" for name, value in asked.items()
    )


def check(engine: Bench, table: pa.Table, wanted: Any, item: Any = ("item",), **asked: Any) -> Any:
    source, where = engine.load(table)
    return compare(engine, engine.rows(uh.rate(source, list(item), **asked, **where)), wanted, item)


def check_order(
    engine: Bench, table: pa.Table, wanted: Any, item: Any = ("item",), **asked: Any
) -> Any:
    source, where = engine.load(table)
    result = engine.rows(rank(source, list(item), **asked, **where))
    columns = {name: kind for name, kind in RESULT.items() if name != "notes"}
    return compare(engine, result, wanted, item, columns | ORDER | {"notes": RESULT["notes"]})


def compare(
    engine: Bench,
    result: pa.Table,
    wanted: Any,
    item: Any,
    columns: dict[str, pa.DataType] = RESULT,
) -> Any:
    extra = [name for name in result.column_names if name not in columns and name not in item]
    assert result.column_names == [*item, *extra, *columns]
    for name, kind in columns.items():
        got = result.schema.field(name).type
        # pandas has floating point for whole numbers that are missing, and before version 3 no type
        # for text of which there is none.
        if engine.name == "pandas" and (result[name].null_count or got == pa.null()):
            continue
        assert got == kind or (kind == pa.string() and pa.types.is_large_string(got)), name
    found = rows_by(result, [*item, *extra])
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        if engine.name == "pandas":
            found[key] = {k: plain(v) for k, v in found[key].items()}
        same(found[key], row, key)
    return found


def plain(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value
