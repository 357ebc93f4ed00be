"""Ranking under one shared participation, against ranking the same items each with its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

import unheard as uh
from benchmarks.timing import report, seconds
from unheard.core.estimate import inquire
from unheard.decide.ranking import ranking, simultaneous_level
from unheard.decide.shared_claims import shared_breakdown
from unheard.decide.shared_ranking import rank_shared

_Q = 0.3
_PEER = "their separate ranking"


def run() -> None:
    rng = np.random.default_rng(14)
    cells = _items(10**5, rng)
    _exact(cells)
    _with_noise(cells)
    _pairs(cells[:300])


def _items(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Counts of items that differ: 20 to 2,000 ratings each, from bad to good."""
    shares = rng.dirichlet([0.6, 0.3, 0.5, 1.2, 2.5], size=size)
    return rng.multinomial(np.exp(rng.uniform(3, 7.6, size)).astype(int), shares)


def _exact(cells: NDArray[np.int64]) -> None:
    for items, quiet, goal in (
        (1_000, "any", "goal: at most 20, plus 2 s"),
        (1_000, "low", "goal: at most 20, plus 2 s"),
        (10_000, "any", "goal: below 120 s"),
        (10_000, "low", "goal: below 120 s"),
        (100_000, "any", "goal: below 120 s"),
    ):
        some = cells[:items]
        theirs = seconds(_separate(some, quiet, None), 3)
        ours = seconds(_shared(some, quiet, noise=False), 3 if items <= 1_000 else 1)
        report(f"{items:,} items ranked exactly, {quiet}", ours, _PEER, theirs, goal)


def _with_noise(cells: NDArray[np.int64]) -> None:
    for items, quiet in ((200, "any"), (1_000, "any"), (200, "low"), (4_000, "any")):
        some = cells[:items]
        theirs = seconds(_separate(some, quiet, simultaneous_level(0.95, items)), 3)
        ours = seconds(_shared(some, quiet, noise=True), 1)
        report(f"{items:,} items ranked with noise, {quiet}", ours, _PEER, theirs, "no goal")


def _pairs(cells: NDArray[np.int64]) -> None:
    """Breakdown q of all pairs of some items."""
    i, j = np.nonzero(~np.eye(len(cells), dtype=bool))
    for quiet in ("any", "low"):
        question = inquire(cells, _Q, quiet=quiet)
        ours = seconds(partial(shared_breakdown, question, i, j), 1)
        theirs = seconds(_shared(cells, quiet, noise=False), 3)
        what = f"breakdown q of {len(i):,} pairs, {quiet}"
        report(what, ours, "ranking the items at one q", theirs, "no goal")


def _separate(cells: NDArray[np.int64], quiet: str, level: float | None) -> Callable[[], object]:
    def work() -> object:
        found = uh.estimate(cells, _Q, quiet=quiet, level=level)
        if level is None:
            return ranking(found.lower, found.upper)
        return ranking(found.ci_lower, found.ci_upper)

    return work


def _shared(cells: NDArray[np.int64], quiet: str, *, noise: bool) -> Callable[[], object]:
    question = inquire(cells, _Q, quiet=quiet)
    return lambda: rank_shared(question, noise=noise)
