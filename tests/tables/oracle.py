"""What every engine must answer: counting in plain Python, then the NumPy core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh


def expected(
    table: pa.Table,
    item: Sequence[str],
    rating: str,
    values: Sequence[float],
    **settings: Any,
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Rows by item, from counts made one rating at a time; n may be a dict by item."""
    found: dict[tuple[Any, ...], Counter[float]] = {}
    for row in table.to_pylist():
        counter = found.setdefault(tuple(row[name] for name in item), Counter())
        if row[rating] is not None and float(row[rating]) in values:
            counter[float(row[rating])] += 1
    keys = list(found)
    cells = np.array([[found[key][v] for v in values] for key in keys], dtype=np.int64)
    return answers(keys, cells, values, **settings)


def answers(
    keys: Sequence[tuple[Any, ...]], cells: Any, values: Sequence[float], **settings: Any
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The NumPy core on counts, with ranks by their O(N^2) definition."""
    n = settings.pop("n", None)
    if isinstance(n, dict):
        n = np.array([n[key] for key in keys], float)
    q = settings.pop("q", None)
    if isinstance(q, dict):
        q = np.array([q[key] for key in keys], float)
    got = uh.estimate(cells, q, n=n, scale=list(values), **settings)
    seen = cells.sum(axis=1)
    people = None if n is None else np.broadcast_to(n, len(keys))
    rows = {}
    for i, key in enumerate(keys):
        rows[key] = {
            "n_ratings": int(seen[i]),
            "n": None if people is None else int(people[i]),
            "average": float(cells[i] @ np.array(values) / seen[i]) if seen[i] else None,
            "estimate": got.estimate[i],
            "lower": got.lower[i],
            "upper": got.upper[i],
            "ci_lower": None if got.ci_lower is None else got.ci_lower[i],
            "ci_upper": None if got.ci_upper is None else got.ci_upper[i],
            "best_rank": 1 + int((got.lower > got.upper[i]).sum()),
            "worst_rank": len(keys) - int((got.upper < got.lower[i]).sum()),
            "flags": " ".join(got.flags[i]),
        }
    return rows


def same(found: dict[str, Any], wanted: dict[str, Any], key: object) -> None:
    """Assert that two rows are equal, numbers to 1e-12 relative."""
    for name, value in wanted.items():
        got = found[name]
        if isinstance(value, float | np.floating):
            assert got is not None, (key, name)
            assert got == pytest.approx(float(value), rel=1e-12, abs=1e-12), (key, name, got, value)
        else:
            assert got == value, (key, name, got, value)


def rows_by(table: pa.Table | list[dict[str, Any]], item: Sequence[str]) -> dict[Any, Any]:
    rows = table.to_pylist() if isinstance(table, pa.Table) else table
    return {tuple(row[name] for name in item): row for row in rows}
