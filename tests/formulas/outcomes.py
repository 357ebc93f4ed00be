"""Everything that can come out, how likely it is, and how often a limit is then wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy
from scipy.stats import binom

from tests.strategies import Floats

TINY = 1e-9


def list_outcomes(n: int, m: int) -> Floats:
    """Every way in which n people divide into m kinds."""
    kinds = np.stack(np.meshgrid(*[np.arange(n + 1.0)] * (m - 1), indexing="ij"), axis=-1)
    first = kinds.reshape(-1, m - 1)
    first = first[first.sum(axis=1) <= n]
    return np.column_stack([first, n - first.sum(axis=1)])


def binomial(seen: ArrayLike, of: ArrayLike, p: ArrayLike) -> Floats:
    """Probability that so many of these people answer."""
    return np.asarray(binom.pmf(np.asarray(seen), np.asarray(of), np.asarray(p)))


def multinomial(cells: Floats, p: Floats) -> Floats:
    """Probability of every row of cells, for every row of p."""
    ways = gammaln(cells[0].sum() + 1) - gammaln(cells + 1).sum(axis=1)
    logs = sum(xlogy(cell[:, None], share) for cell, share in zip(cells.T, p.T, strict=True))
    return np.asarray(np.exp(ways[:, None] + logs))


def misses(found: Any, probability: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """How often the lower and the upper limit lie on the wrong side of each truth."""
    too_high = found.ci_lower[:, None] > truth + TINY
    too_low = found.ci_upper[:, None] < truth - TINY
    return (probability * too_high).sum(axis=0), (probability * too_low).sum(axis=0)
