"""The confidence limit of a weighted mean by Gaffke's test [G05], in closed form.

Let y = w (d - t), where d is the distance of a rating from the near end of the scale and w the
weight least favourable to t: the most people that a rating below t can stand for, the fewest above.
If the mean is t or less, the expectation of y is at most 0. Gaffke's test adds one extra y at its
smallest possible value, gives every y an independent exponential weight, and rejects t if

    P( sum of the weighted y <= 0 ) <= miss.

The sum is A - B, the part above t minus the part below, each a sum of gamma variables. Each is
approximated by one gamma variable with the same two moments [W47], so A/B has an F distribution up
to scale, and t is rejected if the mean of A is more than exp(h) times that of B, where -h is the
quantile of the logarithm of F (:class:`LogQuantile`). For two ratings the test is exact, and is
that of Clopper and Pearson [CP34]; for more, docs/confidence.md says how close it comes.

The limit is the t at which  A exp(-h) = B.  Bisection finds the two ratings that it lies between,
and a fixed number of secant steps from above finds it there; every engine can run both.

As q falls, only the scale of B grows, so a t that is not rejected stays so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtr

from unheard.formulas.bounds import count_people_at, find_extreme_mean
from unheard.formulas.boxes import Box
from unheard.formulas.operations import (
    Column,
    Floats,
    Operations,
    along,
    are_identical,
    find_neighbours,
    leave_out,
    name,
    row_maximum,
    total,
    weighted_sum,
)

_STEPS = 5
"""Secant steps: at 95% the worst of 100,000 is within 0.001 of the way from limit to bound."""

_SHORTEST = 0.02
"""Each step leaves at least this part of the way to the rating below."""

_FLATTEST = 0.05
"""The smallest slope per person seen that is not taken for rounding."""

_LEAST = 1e-280
"""The smallest divisor: some engines order NaN above every number."""

_WIDEST = 2**0.5
"""The spread of one person on either side; fractional counts below one are treated as one."""

_HIGH = 3.2
"""From this critical value on, the tail of the extra y is also tested by itself."""

_DEGREE = 4
"""Degree of the expansion of the quantile: its relative error at 95% is at most 0.0003."""

_POINTS = 8
"""Number of shapes on either side to which the expansion is fitted."""


@dataclass(frozen=True)
class LogQuantile:
    """Minus the quantile of log F, as a function of the shapes of the two gamma variables.

    It has the form of a Cornish-Fisher expansion [CF38]: with r**2 = u + v the variance, where u
    and v are one over the shapes, and s = (u - v)/(u + v) the skewness up to a factor,

        h = r (z + r p1(s) + r**2 p2(s) + ...),

    where pk is a polynomial of degree k + 1. The coefficients are fitted to the exact quantile for
    shapes of 1 and more; smaller shapes do not occur, because one person has shape 1.

    Attributes
    ----------
    z
        Critical value of the normal distribution.
    series
        Coefficients of p1, p2, ..., constants first.
    """

    z: float
    series: tuple[tuple[float, ...], ...]

    def at(self, spread: Column, lean: Column) -> Column:
        """Return h, from r and s."""
        correction: Column = 0.0
        for coefficients in reversed(self.series):
            correction = (_evaluate_polynomial(coefficients, lean) + correction) * spread
        return (self.z + correction) * spread


def _evaluate_polynomial(coefficients: Sequence[float], x: Column) -> Column:
    value: Column = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = coefficient + value * x
    return value


@lru_cache(maxsize=256)
def fit_log_quantile(z: float) -> LogQuantile:
    """Fit the quantile at the tail probability of a standard normal beyond z."""
    nodes = np.cos(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
    roots = np.maximum((1 + nodes / nodes[0]) / 2, 1e-4)
    u, v = (one.ravel() for one in np.meshgrid(roots**2, roots**2))
    r, s = np.sqrt(u + v), (u - v) / (u + v)
    degrees = [(k, j) for k in range(1, _DEGREE + 1) for j in range(k + 2)]
    terms = np.stack([r**k * s**j for k, j in degrees], axis=1)
    found = np.linalg.lstsq(terms, _exact_quantile(u, v, z) / r - z, rcond=None)[0]
    series = [found[[k == order for k, _ in degrees]] for order in range(1, _DEGREE + 1)]
    return LogQuantile(z, tuple(tuple(map(float, one)) for one in series))


def _exact_quantile(u: Floats, v: Floats, z: float) -> Floats:
    """Return minus the quantile of log F, from one over the shapes."""
    share, rest = betaincinv(1 / u, 1 / v, ndtr(-z)), betaincinv(1 / v, 1 / u, ndtr(z))
    found: Floats = np.log(rest * v) - np.log(share * u)
    return found


class _Side(NamedTuple):
    """The part above t, or below: the sums of y and of y**2."""

    first: Column
    second: Column


@dataclass(frozen=True)
class _Test:
    """Gaffke's test, in closed form."""

    distances: Sequence[float]
    counts: Sequence[Column]
    box: Box
    quantile: LogQuantile
    ops: Operations

    def excess(self, t: Column) -> Column:
        """Return by how much A exp(-h) exceeds B; where it does, t is rejected."""
        above, below, more = self._above(t), *self._below(t)
        all_below = _Side(below.first + more, below.second + more * more)
        found = name("excess", self._compare(above, all_below))
        if self.quantile.z < _HIGH:
            return found
        # Far out in the tail the extra y decides if the others are many and near t, and two
        # moments hide it among them. So t must also be rejected with the extra y on its own.
        ops, gap, second = self.ops, above.first - below.first, above.second + below.second
        error = name("error", ops.sqrt(second))
        alone = self._compare(_Side(ops.greatest(gap, error), second), _Side(more, more * more))
        return ops.least(found, ops.where(gap > error, alone, -more))

    def _compare(self, above: _Side, below: _Side) -> Column:
        ops = self.ops
        # One over the shapes, each times the squares of both means.
        u = name("u", above.second * (below.first * below.first))
        v = name("v", below.second * (above.first * above.first))
        # Above the last rating given there is nothing, and t is not rejected.
        both = ops.greatest(u + v, _LEAST)
        spread = ops.sqrt(both) / ops.greatest(above.first * below.first, _LEAST)
        spread = name("spread", ops.least(spread, _WIDEST))
        lean = name("lean", (u - v) / both)
        return above.first * ops.exp(-self.quantile.at(spread, lean)) - below.first

    def _above(self, t: Column) -> _Side:
        weights, counts, distances = leave_out(0, self.box.fewest, self.counts, self.distances)
        apart = along(lambda d: self.ops.greatest(d - t, 0.0), distances)
        return self._side("above", weights, counts, apart)

    def _below(self, t: Column) -> tuple[_Side, Column]:
        """Return the part of those seen, and the extra y."""
        ops = self.ops
        weights, counts, distances = leave_out(-1, self.box.most, self.counts, self.distances)
        apart = along(lambda d: ops.greatest(t - d, 0.0), distances)
        # The smallest y is at the near end, unless a rating above it has a larger weight.
        if are_identical(weights):
            more = _times(weights[0], t)
        else:
            more = name("extra", row_maximum(along(mul, weights, apart), ops))
        return self._side("below", weights, counts, apart), more

    def _side(
        self,
        side: str,
        weights: Sequence[Column],
        counts: Sequence[Column],
        apart: Sequence[Column],
    ) -> _Side:
        if are_identical(weights):
            weight, reach = weights[0], apart
        else:
            weight, reach = 1.0, along(mul, weights, apart)
        sums = along(mul, counts, reach)
        first, second = name(side, total(sums)), name(f"{side}_2", weighted_sum(reach, sums))
        return _Side(_times(weight, first), _times(weight * weight, second))


def _times(factor: Column, column: Column) -> Column:
    return column if isinstance(factor, float) and factor == 1.0 else factor * column


def find_lower_limit(
    distances: Sequence[float],
    counts: Sequence[Column],
    box: Box,
    z: float,
    ops: Operations,
) -> Column:
    """Return the distance from the near end of the scale to the confidence limit.

    Parameters
    ----------
    distances
        Distance of each rating from the near end, which comes first.
    counts
        Count of each rating.
    box
        How many people it may stand for.
    z
        Critical value of the test.
    ops
        The engine's operations.
    """
    # Without the extra y, both sides balance at the bound; with it, they balance below:
    bound = find_extreme_mean(counts, distances, box, ops)
    bound = name("bound", bound)
    mass = name("mass", count_people_at(counts, along(lambda d: bound > d, distances), box, ops))
    slope = mass + box.most[0]
    top = ops.divide(bound * mass, slope)
    longest = name("longest", ops.divide(1.0 / _FLATTEST, weighted_sum(box.fewest, counts)))
    test = _Test(distances, counts, box, fit_log_quantile(z), ops)
    limit = _secant(test, *_bracket(test, top), slope, longest)
    # If all ratings are at the near end, so is the limit.
    return ops.where(weighted_sum(distances, counts) > 0.0, limit, 0.0)


def _bracket(test: _Test, top: Column) -> tuple[Column, Column]:
    """Find by bisection the two ratings that the limit lies between, or one rating and the top.

    Just above a rating with a large count, the excess can have further zeros: two moments do not
    describe many people just below t and one far below. At the rating itself these people are
    neither above nor below, so the excess there decides on which side the limit is.
    """
    low, high = find_neighbours(test.distances, lambda place: test.excess(place) > 0.0, test.ops)
    return low, name("high", test.ops.least(high, top))


def _secant(test: _Test, low: Column, high: Column, slope: Column, longest: Column) -> Column:
    """Find where the excess crosses zero between two points, starting from the upper one."""
    ops = test.ops
    before, excess_before = high, test.excess(high)
    t = high + ops.divide(excess_before, slope)
    t = name("t", ops.greatest(t, low + _SHORTEST * (high - low)))
    for _ in range(_STEPS):
        excess = test.excess(t)
        run, fall = t - before, excess_before - excess
        pace = ops.where(run * fall > 0.0, ops.least(ops.divide(run, fall), longest), 0.0)
        pace = name("pace", pace)
        before, excess_before = t, excess
        least = low + _SHORTEST * (t - low)
        t = name("t", ops.least(ops.greatest(t + excess * pace, least), high))
    return t
