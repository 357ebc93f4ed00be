"""What is settled about an order, counted by looking at every pair of items."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

import unheard as uh

Intervals = list[tuple[float, float]]


def intervals(cells: Any, q: float, level: float | None, **more: Any) -> Intervals:
    found = uh.estimate(cells, q, level=level, **more)
    low, high = (found.lower, found.upper) if level is None else (found.ci_lower, found.ci_upper)
    return list(zip(low, high, strict=True))


def rank_ranges(intervals: Intervals) -> list[tuple[int, int]]:
    """Best and worst rank of each, by looking at every other."""
    return [
        (
            1 + sum(other_low > high for other_low, _ in intervals),
            len(intervals) - sum(other_high < low for _, other_high in intervals),
        )
        for low, high in intervals
    ]


def count_settled_pairs(intervals: Intervals) -> int:
    return sum(a[0] > b[1] or b[0] > a[1] for a, b in combinations(intervals, 2))


def count_by_hand(counts: dict[str, list[int]], q: float, k: int, **more: Any) -> dict[str, int]:
    """What is settled, ignoring sampling error and allowing for it for all items together."""
    cells = np.array(list(counts.values()))
    averages = cells @ np.arange(1, 6) / cells.sum(axis=1)
    leading = [sum(other > own for other in averages) < k for own in averages]
    found: dict[str, int] = {}
    for prefix, level in (("", None), ("ci_", 1 - 0.05 / len(cells))):
        known = intervals(cells, q, level, **more)
        ranks = rank_ranges(known)
        sure = [worst <= k for _, worst in ranks]
        found |= {
            f"{prefix}settled": sum(best == worst for best, worst in ranks),
            f"{prefix}pairs_settled": count_settled_pairs(known),
            f"{prefix}first": sum(best == 1 for best, _ in ranks),
            f"{prefix}sure": sum(sure),
            f"{prefix}possible": sum(best <= k for best, _ in ranks),
            f"{prefix}leading_sure": sum(a and b for a, b in zip(sure, leading, strict=True)),
        }
    return found | {"leading": sum(leading), "pairs": len(cells) * (len(cells) - 1) // 2}
