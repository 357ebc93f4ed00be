"""Ranking a million items and finding the breakdown q of each, compared with estimating them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import unheard as uh
from benchmarks.timing import report, seconds
from unheard.analysis.breakdown import find_breakdown
from unheard.analysis.ranking import adjust_level_for_items, rank_intervals

_Q, _THRESHOLD, _K = 0.3, 3.5, 100


def run() -> None:
    rng = np.random.default_rng(5)
    cells = _items(10**6, rng)
    for sampling_error in (False, True):
        level = adjust_level_for_items(0.95, len(cells)) if sampling_error else None
        what = "with sampling error" if sampling_error else "ignoring sampling error"
        peer = "estimating them"
        theirs = seconds(_intervals(cells, level), 3)
        ranked = seconds(_ranked(cells, level), 3)
        report(f"10^6 items estimated and ranked, {what}", ranked, peer, theirs, "no goal")
        broken = seconds(_broken(cells, sampling_error), 2)
        report(f"breakdown q of 10^6 items, {what}", broken, peer, theirs, "no goal")
        both = ranked + broken
        report(f"both, {what}", both, peer, theirs, "goal: at most 10")
        _growth(cells, level, both)


def _items(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return counts of items from bad to good, with 20 to 200 ratings each."""
    shares = rng.dirichlet([0.6, 0.3, 0.5, 1.2, 2.5], size=size)
    return rng.multinomial(rng.integers(20, 201, size), shares)


def _intervals(cells: NDArray[np.int64], level: float | None) -> Callable[[], object]:
    return lambda: uh.estimate(cells, _Q, level=level)


def _ranked(cells: NDArray[np.int64], level: float | None) -> Callable[[], object]:
    """Estimate the items, and rank them."""

    def work() -> object:
        found = uh.estimate(cells, _Q, level=level)
        if level is not None:
            rank_intervals(found.ci_lower, found.ci_upper, k=_K)
        return rank_intervals(found.lower, found.upper, k=_K)

    return work


def _broken(cells: NDArray[np.int64], sampling_error: bool) -> Callable[[], object]:
    return lambda: find_breakdown(cells, above=_THRESHOLD, sampling_error=sampling_error)


def _growth(cells: NDArray[np.int64], level: float | None, whole: float) -> None:
    """Cost per item must not grow with the number of items."""
    few = cells[: len(cells) // 10]
    sampling_error = level is not None
    part = seconds(_ranked(few, level), 3) + seconds(_broken(few, sampling_error), 3)
    error = "with sampling error" if sampling_error else "ignoring sampling error"
    report(
        f"both, {error}, per item of 10^6",
        whole / len(cells),
        "per item of 10^5",
        part / len(few),
        "goal: about 1",
    )
