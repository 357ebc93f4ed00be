"""All histograms of n people over m ratings and silence."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from unheard.errors import InputError
from unheard.formulas.operations import Floats

MOST_OUTCOMES = 3_000_000
"""What fits: some 10 columns of this length, half a gigabyte."""

_MOST_CELLS = 10 * MOST_OUTCOMES


class GameError(InputError):
    """A game that cannot be played as asked."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Every outcome of n people.

    Attributes
    ----------
    n, m
        People and ratings.
    seen
        Shape (K, m): counts of ratings seen.
    unseen
        Shape (K,): number of people unseen.
    log_ways
        Shape (K,): logarithm of the number of ways to deal people out like this.
    """

    n: int
    m: int
    seen: Floats
    unseen: Floats
    log_ways: Floats


def count_outcomes(n: int, m: int) -> int:
    """Number of ways to deal n people out to m ratings and silence."""
    return comb(n + m, m)


def _fits(n: int, m: int) -> bool:
    return count_outcomes(n, m) * max(m, _MOST_CELLS // MOST_OUTCOMES) <= _MOST_CELLS


@lru_cache(maxsize=4)
def list_outcomes(n: int, m: int) -> Outcomes:
    """Return every outcome of n people, refusing politely when there are too many."""
    if not _fits(n, m):
        size = count_outcomes(n, m)
        most = bisect_left(range(min(n, MOST_OUTCOMES)), True, key=lambda k: not _fits(k, m)) - 1
        shown = f"{size:,}" if size < 10**18 else "over 10**18"
        raise GameError(
            "n",
            f"{n} people and {m} ratings make {shown} histograms; "
            f"{min(MOST_OUTCOMES, _MOST_CELLS // m):,} fit",
            f"Use n up to {most} for {m} ratings, or simulate (--draws, simulate_regret)",
        )
    columns: list[Floats] = []
    left = np.array([float(n)])
    for _ in range(m):
        # Split every partial histogram by how many people take the next rating.
        repeats = left.astype(np.int64) + 1
        start = np.repeat(np.cumsum(repeats) - repeats, repeats)
        taken = np.arange(repeats.sum()) - start
        columns = [np.repeat(column, repeats) for column in columns]
        columns.append(taken.astype(np.float64))
        left = np.repeat(left, repeats) - taken
    seen = np.column_stack(columns)
    log_ways = gammaln(n + 1) - gammaln(seen + 1).sum(axis=1) - gammaln(left + 1)
    return Outcomes(n, m, seen, left, log_ways)


def tabulate_binomial(n: int, q: float) -> Floats:
    """Return the chance of s successes in j tries, as entry (j, s) of an (n+1, n+1) table."""
    tries, successes = np.mgrid[: n + 1, : n + 1].astype(np.float64)
    failures = np.maximum(tries - successes, 0.0)
    log_ways = gammaln(tries + 1) - gammaln(successes + 1) - gammaln(failures + 1)
    chance = np.exp(log_ways + xlogy(successes, q) + xlog1py(failures, -q))
    return np.where(successes <= tries, chance, 0.0)
