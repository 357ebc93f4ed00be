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
from functools import cached_property, lru_cache
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

TRIED = "t"
"""What a place where the limit is sought is called, with the number of the step behind it."""

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

_DIGITS = 6
"""Decimals of the coefficients, a hundred times as many as the expansion is exact to."""

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

    z: Column
    series: Sequence[Sequence[Column]]

    def named(self, ops: Operations) -> LogQuantile:
        """Give the numbers names where columns have names: each is then stated once."""
        series = [
            [ops.constant(f"c{order}{power}", one) for power, one in enumerate(coefficients)]
            for order, coefficients in enumerate(self.series, start=1)
        ]
        return LogQuantile(ops.constant("z", self.z), series)

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
    fitted: Floats = np.linalg.lstsq(terms, _exact_quantile(u, v, z) / r - z, rcond=None)[0]
    # More digits would say nothing, and only make queries longer.
    found = fitted.round(_DIGITS)
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


class _Moments(NamedTuple):
    """Sums over the ratings from a certain one on, of their distances from it.

    Attributes
    ----------
    weight
        A factor of all weights w.
    mass, first
        Sums of w and of w d.
    square_0, square_1, square_2
        Sums of w**2, of w**2 d, and of w**2 d**2.
    """

    weight: Column
    mass: Column
    first: Column
    square_0: Column
    square_1: Column
    square_2: Column

    def seen_from(self, away: Column) -> _Side:
        """Return the sums of y as seen from t, so far away from the rating."""
        first = self.first + away * self.mass
        second = self.square_2 + away * (2.0 * self.square_1 + away * self.square_0)
        return _Side(
            _times(self.weight, first), _times(name("weight_sq", self.weight * self.weight), second)
        )


@dataclass(frozen=True)
class _Test:
    """Gaffke's test, in closed form."""

    distances: Sequence[float]
    counts: Sequence[Column]
    box: Box
    quantile: LogQuantile
    is_far: bool
    ops: Operations

    def rejects(self, place: Column) -> Column:
        """Whether a rating is rejected."""
        above = _sum_moments("above", *self._parts("above", place), self.ops)
        below = _sum_moments("below", *self._parts("below", place), self.ops)
        below = self._with_extra(below, place)
        return self.compare(above.seen_from(0.0), below.seen_from(0.0), place) > 0.0

    def between(self, low: Column, high: Column) -> tuple[_Moments, _Moments]:
        """Return what all t between two adjacent ratings share: the parts above and below."""
        above = _sum_moments("above", *self._parts("above", high), self.ops, low)
        below = _sum_moments("below", *self._parts("below", low), self.ops, low)
        below = self._with_extra(below, low)
        return tuple(  # type: ignore[return-value]
            part._replace(
                mass=name(f"{side}_count", part.mass),
                first=name(f"{side}_sum", part.first),
                square_2=name(f"{side}_squares", part.square_2),
            )
            for side, part in (("above", above), ("below", below))
        )

    @cached_property
    def _counts_extra(self) -> bool:
        """Whether the extra y is counted with the others: it weighs as much, and is not needed."""
        return are_identical(self.box.most) and not self.is_far

    def _with_extra(self, below: _Moments, place: Column) -> _Moments:
        """Count the extra y, which is at the near end, with the others."""
        if not self._counts_extra:
            return below
        mass, first, square = below.mass + 1.0, below.first + place, below.square_2 + place * place
        return _Moments(below.weight, mass, first, mass, first, square)

    def _parts(
        self, side: str, place: Column
    ) -> tuple[Sequence[Column], Sequence[Column], Sequence[Column], Sequence[Column]]:
        """Return weights, counts, distances, and distances beyond a place, of one side."""
        greatest = self.ops.greatest
        if side == "above":
            weights, counts, distances = leave_out(0, self.box.fewest, self.counts, self.distances)
            apart = name("further", along(lambda d: greatest(d - place, 0.0), distances))
        else:
            weights, counts, distances = leave_out(-1, self.box.most, self.counts, self.distances)
            apart = name("nearer", along(lambda d: greatest(place - d, 0.0), distances))
        return weights, counts, distances, apart

    def extra(self, t: Column) -> Column:
        """Return the size of the extra y, the smallest possible."""
        # It is at the near end, unless a rating above it has a larger weight.
        if are_identical(self.box.most):
            return _times(self.box.most[0], t)
        weights, _, _, apart = self._parts("below", t)
        return name("extra", row_maximum(along(mul, weights, apart), self.ops))

    def compare(self, above: _Side, below: _Side, t: Column) -> Column:
        """Return by how much A exp(-h) exceeds B; where it does, t is rejected."""
        above = _Side(name("above", above.first), name("above_sq", above.second))
        all_below = below
        if not self._counts_extra:
            extra = self.extra(t)
            all_below = _Side(below.first + extra, below.second + extra * extra)
        all_below = _Side(name("below", all_below.first), name("below_sq", all_below.second))
        found = name("excess", self._compare(above, all_below))
        if not self.is_far:
            return found
        extra = self.extra(t)
        # Far out in the tail the extra y decides if the others are many and near t, and two
        # moments hide it among them. So t must also be rejected with the extra y on its own.
        ops, gap, second = self.ops, above.first - below.first, above.second + below.second
        error = name("error", ops.sqrt(second))
        alone = self._compare(_Side(ops.greatest(gap, error), second), _Side(extra, extra * extra))
        return ops.least(found, ops.where(gap > error, alone, -extra))

    def _compare(self, above: _Side, below: _Side) -> Column:
        ops = self.ops
        # One over the shapes, each times the squares of both means.
        u = above.second * (below.first * below.first)
        v = below.second * (above.first * above.first)
        # Above the last rating given there is nothing, and t is not rejected.
        both = ops.greatest(u + v, _LEAST)
        spread = ops.sqrt(both) / ops.greatest(above.first * below.first, _LEAST)
        spread = name("sd", ops.least(spread, ops.constant("widest", _WIDEST)))
        lean = name("lean", 1.0 - 2.0 * v / both)
        return above.first * ops.exp(-self.quantile.at(spread, lean)) - below.first


def _sum_moments(
    side: str,
    weights: Sequence[Column],
    counts: Sequence[Column],
    distances: Sequence[Column],
    apart: Sequence[Column],
    ops: Operations,
    last_below: Column | None = None,
) -> _Moments:
    """Sum over the ratings on one side; their numbers only if it is known where the side ends."""
    weight: Column = 1.0
    if are_identical(weights):
        weight, squares, sums = weights[0], counts, along(mul, counts, apart)
        square_sums = sums
    else:
        counts = along(mul, counts, weights)
        squares, sums = along(mul, counts, weights), along(mul, counts, apart)
        square_sums = along(mul, squares, apart)
    first, square_2 = total(sums), weighted_sum(apart, square_sums)
    if last_below is None:
        return _Moments(weight, 0.0, first, 0.0, 0.0, square_2)

    def count_here(d: Column, count: Column) -> Column:
        here = (count, 0.0) if side == "above" else (0.0, count)
        return ops.where(d > last_below, *here)

    mass = total(along(count_here, distances, counts))
    if squares is counts:
        return _Moments(weight, mass, first, mass, first, square_2)
    square_0 = name(f"{side}_sq_weights", total(along(count_here, distances, squares)))
    square_1 = name(f"{side}_sq_sum", total(square_sums))
    return _Moments(weight, mass, first, square_0, square_1, square_2)


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
    mass = name("mass", count_people_at(counts, along(lambda d: bound > d, distances), box, ops))
    slope = mass + box.most[0]
    top = ops.divide(bound * mass, slope)
    longest = name("longest", ops.divide(1.0 / _FLATTEST, weighted_sum(box.fewest, counts)))
    quantile = fit_log_quantile(z).named(ops)
    test = _Test(distances, counts, box, quantile, z >= _HIGH, ops)
    limit = _find_crossing(test, top, slope, longest)
    # If all ratings are at the near end, so is the limit.
    return name("limit", ops.where(weighted_sum(distances, counts) > 0.0, limit, 0.0))


def _find_crossing(test: _Test, top: Column, slope: Column, longest: Column) -> Column:
    """Find where the excess crosses zero: between two ratings, or one rating and the top.

    Bisection finds the two ratings. Just above a rating with a large count, the excess can have
    further zeros: two moments do not describe many people just below t and one far below. At the
    rating itself these people are neither above nor below, so the excess there decides on which
    side the limit is.
    """
    ops = test.ops
    low, following = find_neighbours(test.distances, test.rejects, ops)
    low, following = name("low", low), name("next", following)
    above, below = test.between(low, following)
    high = name("high", ops.greatest(ops.least(following, top), low))

    def excess_at(t: Column) -> Column:
        sides = above.seen_from(following - t), below.seen_from(t - low)
        return test.compare(*sides, t)

    before, excess_before = high, excess_at(high)
    t = high + ops.divide(excess_before, slope)
    t = ops.greatest(t, low + _SHORTEST * (high - low))
    for step in range(1, _STEPS + 1):
        t = name(f"{TRIED}{step}", t)
        excess = excess_at(t)
        run, fall = t - before, excess_before - excess
        pace = ops.where(run * fall > 0.0, ops.least(ops.divide(run, fall), longest), 0.0)
        before, excess_before = t, excess
        least = low + _SHORTEST * (t - low)
        t = ops.least(ops.greatest(t + excess * pace, least), high)
    return t
