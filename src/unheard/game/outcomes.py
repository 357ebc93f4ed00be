"""All outcomes of n people: histograms of the ratings seen, and the number of people unseen."""

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
"""The most that fit into memory: some 10 columns of this length take 240 megabytes."""

_MOST_CELLS = 10 * MOST_OUTCOMES


class GameError(InputError):
    """A game that cannot be played with these arguments."""


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
        Shape (K,): logarithm of the number of ways to arrive at the outcome.
    """

    n: int
    m: int
    seen: Floats
    unseen: Floats
    log_ways: Floats


def count_outcomes(n: int, m: int) -> int:
    """Return the number of outcomes of n people with m ratings."""
    return comb(n + m, m)


def _fits(n: int, m: int) -> bool:
    return count_outcomes(n, m) * max(m, _MOST_CELLS // MOST_OUTCOMES) <= _MOST_CELLS


@lru_cache(maxsize=4)
def list_outcomes(n: int, m: int) -> Outcomes:
    """Return every outcome of n people; raise if there are too many."""
    if not _fits(n, m):
        size = count_outcomes(n, m)
        most = bisect_left(range(min(n, MOST_OUTCOMES)), True, key=lambda k: not _fits(k, m)) - 1
        shown = f"{size:,}" if size < 10**18 else "over 10**18"
        raise GameError(
            "n",
            problem="{people} people and {m} ratings have {size} histograms; {fit} fit into memory",
            hint="Use {argument} up to {most}, or simulate with {draws} (simulate_regret)",
            people=n,
            m=m,
            size=shown,
            fit=f"{min(MOST_OUTCOMES, _MOST_CELLS // m):,}",
            most=most,
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
    """Return the probability of s successes in j trials as entry (j, s) of an (n+1, n+1) table."""
    tries, successes = np.mgrid[: n + 1, : n + 1].astype(np.float64)
    failures = np.maximum(tries - successes, 0.0)
    log_ways = gammaln(tries + 1) - gammaln(successes + 1) - gammaln(failures + 1)
    chance = np.exp(log_ways + xlogy(successes, q) + xlog1py(failures, -q))
    return np.where(successes <= tries, chance, 0.0)
