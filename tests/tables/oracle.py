"""What every engine must answer: counting in plain Python, then the NumPy core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from unheard.analysis.ranking import adjust_level_for_items
from unheard.options.choices import Method


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
    level = settings.get("level", 0.95)
    joint = None
    if level is not None:
        joint_level = adjust_level_for_items(level, len(keys))
        # Ranks go by the bounds and limits that the assumption gives, whatever the method.
        asked = {k: v for k, v in settings.items() if k not in ("level", "method")}
        method: Method = "paa" if n is None else "midpoint"
        joint = uh.estimate(
            cells, q, n=n, scale=list(values), **asked, level=joint_level, method=method
        )
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
            "ci_lower": None if np.isnan(got.ci_lower[i]) else got.ci_lower[i],
            "ci_upper": None if np.isnan(got.ci_upper[i]) else got.ci_upper[i],
            "best_rank": 1 + int((got.lower > got.upper[i]).sum()),
            "worst_rank": len(keys) - int((got.upper < got.lower[i]).sum()),
            "ci_best_rank": None
            if joint is None
            else 1 + int((joint.ci_lower > joint.ci_upper[i]).sum()),
            "ci_worst_rank": None
            if joint is None
            else len(keys) - int((joint.ci_upper < joint.ci_lower[i]).sum()),
            "notes": " ".join(got.notes[i]),
        }
    return rows


def with_order(
    rows: dict[tuple[Any, ...], dict[str, Any]],
    k: int | None = None,
    joint: dict[tuple[Any, ...], dict[str, Any]] | None = None,
    breakdown: Sequence[float] | None = None,
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Add what is asked about the order, by definition; ``joint``: the rows at the joint level."""
    tiers = _tiers([(row["lower"], row["upper"]) for row in rows.values()])
    averages = [row["average"] for row in rows.values() if row["average"] is not None]
    for i, (key, row) in enumerate(rows.items()):
        own = row["average"]
        row["average_rank"] = None if own is None else 1 + sum(other > own for other in averages)
        row["tier"] = tiers[i]
        row["top"] = _top(k, row["best_rank"], row["worst_rank"])
        limits = [(one["ci_lower"], one["ci_upper"]) for one in joint.values()] if joint else []
        best = worst = None
        if joint is not None:
            low, high = joint[key]["ci_lower"], joint[key]["ci_upper"]
            best = 1 + sum(other > high for other, _ in limits)
            worst = len(limits) - sum(other < low for _, other in limits)
        row["ci_best_rank"], row["ci_worst_rank"] = best, worst
        row["ci_top"] = None if best is None else _top(k, best, worst)
        q = None if breakdown is None else float(breakdown[i])
        row["breakdown_q"] = None if q is None or np.isnan(q) else q
    return rows


def _top(k: int | None, best: int, worst: int | None) -> str | None:
    if k is None or worst is None:
        return None
    return "surely" if worst <= k else "possibly" if best <= k else "no"


def _tiers(intervals: list[tuple[float, float]]) -> list[int]:
    """Join intervals that overlap, again and again, and number the groups from above."""
    group = list(range(len(intervals)))
    for i, (low, high) in enumerate(intervals):
        for j, (other_low, other_high) in enumerate(intervals):
            if low <= other_high and other_low <= high:
                group = [group[i] if g == group[j] else g for g in group]
    tops = {g: max(u for h, (_, u) in zip(group, intervals, strict=True) if h == g) for g in group}
    order = sorted(tops, key=lambda g: -tops[g])
    return [1 + order.index(g) for g in group]


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
