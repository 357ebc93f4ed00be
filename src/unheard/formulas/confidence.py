"""Confidence intervals: the bounds of the assumption with sampling error added.

Coverage: with probability ``level`` or more, whichever participation in the stated set is the true
one, the interval contains the mean rating mu of the population that the people are drawn from; or,
with n known and on request, the mean of exactly those n people.

Method: the interval contains every value t that a one-sided test does not reject, where the test
gives seen ratings the weights least favourable to t. Without n that is Gaffke's test
(:mod:`unheard.formulas.gaffke`). With n every rating is a threshold, at which a mean over all n
people is tested; there

- the test compares a sum of (y - t) with z times its root mean square *around t*, so that it never
  relies on a spread that is small by chance (inverting it follows [W27] and [F54] and gives a
  quadratic equation, so the limit has a closed form);
- z**2/2 pseudo-ratings at the near end of the scale [AC98] stand for rare ratings that the sample
  may have missed, so that equal ratings do not give an interval of zero width;
- two thresholds may tie under the worst participation, so each gets half the miss probability.

As q falls the limits only move outwards, because every one of the tests then rejects less.
docs/confidence.md says what is proved about the level and what is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from unheard.formulas.bounds import find_misfits, measure_distances
from unheard.formulas.boxes import Box, plain_box
from unheard.formulas.gaffke import find_lower_limit
from unheard.formulas.moments import WeightedMoments, accumulate_moments_below
from unheard.formulas.operations import (
    Column,
    Operations,
    extreme_along,
    map_distinct,
    name,
    running_maximum,
    shifted,
    total,
    weighted_sum,
)


def critical_value(level: float) -> float:
    """Return z such that a standard normal exceeds it with probability (1 - level)/2."""
    return float(ndtri((1 + level) / 2))


class _End(NamedTuple):
    """The ratings as seen from one end of the scale.

    Attributes
    ----------
    counts, distances, box
        Count of each rating, its distance from the end, and how many people it may stand for,
        nearest rating first.
    nearer, further
        Moments, around each rating, of the people nearer than it, and of those further away
        (furthest rating first).
    """

    counts: Sequence[Column]
    distances: Sequence[float]
    box: Box
    nearer: WeightedMoments
    further: WeightedMoments


class _Sums(NamedTuple):
    """Sums over the weighted ratings that the test uses: w, w d, w**2, w**2 d, w**2 d**2."""

    mass: Column
    first: Column
    square_0: Column
    square_1: Column
    square_2: Column


def find_limits_without_n(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    z: float,
    ops: Operations,
) -> tuple[Column, Column]:
    """Return the confidence limits for the mean mu when the number of people is unknown."""
    low, high = _find_free_limits(_view_from_both_ends(counts, values, ends), z, ops)
    return values[0] + low, values[-1] - high


def _find_free_limits(ends: tuple[_End, _End], z: float, ops: Operations) -> tuple[Column, Column]:
    """Return the distances of the limits without n from the ends of the scale."""
    # Rows that reject no t divide zero by zero; their limit is the end of the scale.
    with np.errstate(divide="ignore", invalid="ignore"):
        return ops.both_ends(lambda *end: _free_limit(_End(*end), z, ops), *ends)


def find_limits_with_n(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    n: Column,
    z: float,
    people: bool,
    ratio: bool,
    ops: Operations,
) -> tuple[Column, Column]:
    """Return the confidence limits when n is known: for mu, or (``people``) the n people's mean.

    ``ratio`` says whether the boxes state only ratios of participation.
    """

    def find_limit(free: Column, box: Box | None, *end: Any) -> Column:
        return name("limit", _limit_with_n(free, _End(*end), box, n, z, people, ratio, ops))

    from_low, from_high = _view_from_both_ends(counts, values, ends)
    # The limits without n have the same form even where n helps at one end only.
    free = _find_free_limits((from_low, from_high), z, ops)
    low, high = ops.both_ends(
        find_limit, (free[0], ends[0], *from_low), (free[1], ends[1], *from_high)
    )
    return values[0] + low, values[-1] - high


def find_one_limit(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    n: Column | None,
    z: float,
    people: bool,
    ratio: bool,
    upper: bool,
    ops: Operations,
) -> Column:
    """Return one of the two limits alone, at half the cost."""
    side = 1 if upper else 0
    end = _view_from_both_ends(counts, values, ends)[side]
    distance = _free_limit(end, z, ops)
    if n is not None:
        distance = _limit_with_n(distance, end, ends[side], n, z, people, ratio, ops)
    return values[-1] - distance if upper else values[0] + distance


def _limit_with_n(
    free: Column,
    end: _End,
    box: Box | None,
    n: Column,
    z: float,
    people: bool,
    ratio: bool,
    ops: Operations,
) -> Column:
    """Return the distance from the near end to the limit when n is known.

    The limit without n, ``free``, is valid too, and n only sharpens it.
    """
    # Every non-respondent counts for at least the end of the scale.
    certain = ops.divide(weighted_sum(end.distances, end.counts), n)
    if box is None:
        return ops.greatest(free, _average_limit(end, n, free, z, ops)) if people else free
    if end.box.rigid and not ratio:
        if not people:
            return free
        fitted = end._replace(box=_scale_box_to_n(end, n, ops))
        return _greatest(free, _known_limit(fitted, n, z, _PEOPLE, ratio, ops), certain, ops=ops)
    limit = ops.greatest(
        free, _known_limit(end, n, _split_critical_value(z, _PARTS), _MEAN, ratio, ops)
    )
    if people and not ratio:
        limit = ops.greatest(
            limit, _known_limit(end, n, _split_critical_value(z, _PARTS), _PEOPLE, ratio, ops)
        )
    if people:
        limit = ops.greatest(limit, certain)
    if ratio:
        return limit
    too_low, too_high = find_misfits(end.counts, end.box, n)
    return ops.where(too_low, free, ops.where(too_high, free, limit))


_PARTS = 2
"""Tests with n that share the miss probability of a limit, because two thresholds may tie."""


def _greatest(*columns: Column, ops: Operations) -> Column:
    return reduce(ops.greatest, columns)


def _split_critical_value(z: float, parts: int) -> float:
    """Return the critical value for an equal part of the miss probability."""
    return float(-ndtri(ndtr(-z) / parts))


def _scale_box_to_n(end: _End, n: Column, ops: Operations) -> Box:
    """Scale a box of known weights so that it holds n people, as it does up to sampling error."""
    factor = ops.divide(n, weighted_sum(end.box.fewest, end.counts))
    sides = map_distinct(lambda w: w * factor, end.box.fewest)
    return Box.elastic(sides, sides)


def _view_from_both_ends(
    counts: Sequence[Column], values: Sequence[float], ends: tuple[Box | None, Box | None]
) -> tuple[_End, _End]:
    """View the scale from either end, so that one formula serves both limits."""
    flat = plain_box(len(values))
    low, high = (flat if end is None else end for end in ends)
    up, down = measure_distances(values)
    back = counts[::-1]
    below = WeightedMoments(accumulate_moments_below, up, counts, 2)
    above = WeightedMoments(accumulate_moments_below, down, back, 2)
    return (
        _End(counts, up, low, below, above),
        _End(back, down, high.reversed(), above, below),
    )


def _smallest_not_rejected(sums: _Sums, otherwise: Column, z: float, ops: Operations) -> Column:
    """Solve (first - mass t)**2 = z**2 (square_2 - 2 square_1 t + square_0 t**2) for the smaller t.

    It is written around the weighted mean so that nothing cancels. Where the effective sample size
    mass**2/square_0 is at most z**2, no t is rejected and the result is ``otherwise``.
    """
    center = ops.divide(sums.first, sums.mass)
    center = name("center", center)
    tilt = name("tilt", sums.square_1 - sums.square_0 * center)
    spread = sums.square_2 - (sums.square_1 + tilt) * center
    leading = name("leading", sums.mass * sums.mass - z * z * sums.square_0)
    inner = ops.greatest(z * z * tilt * tilt + leading * spread, 0.0)
    root = center - ops.divide(z * (z * tilt + ops.sqrt(inner)), leading)
    return ops.where(leading > 0.0, root, otherwise)


def _free_limit(end: _End, z: float, ops: Operations) -> Column:
    """Return the distance from the near end to the confidence limit without n."""
    return find_lower_limit(end.distances, end.counts, end.box, z, ops)


def _average_limit(end: _End, n: Column, limit: Column, z: float, ops: Operations) -> Column:
    """Sharpen the limit of the plain average for the n people, of whom those seen are a sample."""
    seen, sum_seen = total(end.counts), weighted_sum(end.distances, end.counts)
    mean = ops.divide(sum_seen, seen)
    unseen_share = ops.greatest(1.0 - ops.divide(seen, n), 0.0)
    # The unseen are whole people, and a few of them may be at the very end.
    caution = ops.divide((z * z / 2 + 0.5) * mean, n)
    return ops.greatest(
        mean - ops.sqrt(unseen_share) * (mean - limit) - caution, ops.divide(sum_seen, n)
    )


class _Threshold(NamedTuple):
    """The quantities of a test at one threshold.

    Attributes
    ----------
    place, far
        Distances of the threshold and of the far end of the scale from the near end.
    near, top
        The largest weights nearer than the threshold, and from it on.
    first
        Sum over those seen of w d, where d is how far the rating exceeds the threshold.
    second
        Sum of w u d**2, where u is the second factor of the test's variance.
    """

    place: Column
    far: Column
    near: Column
    top: Column
    first: Column
    second: Column


class _Test(NamedTuple):
    """The limit at a threshold, and the second factor of each weight in its variance."""

    second_factor: Callable[[Column, Operations], Column]
    limit: Callable[[_Threshold, Column, float, Operations], Column]


def _known_limit(
    end: _End, n: Column, z: float, test: _Test, ratio: bool, ops: Operations
) -> Column:
    """Return the distance from the near end to the confidence limit that n gives.

    For a threshold t on the scale let  y = t + w (rating - t)  for those seen, with w the largest
    weight below t and the smallest above, and  y = t  for those unseen. The mean of y over all n
    people is at most mu, and the largest of these means over all thresholds is the bound. So each
    threshold gives a limit, and the largest is taken. As the box widens y falls, and every limit
    with it.

    If boxes state ratios, g = s/w with any s <= 1, the mean of  y - t  is at most s (mu - t), hence
    at most mu - t if t is not above mu: a threshold counts only if its limit is not below it.
    """

    def find_limit(at: _Threshold) -> Column:
        limit = test.limit(at, n, z, ops)
        return ops.where(limit >= at.place, limit, 0.0) if ratio else limit

    return ops.greatest(_try_thresholds(find_limit, end, test, ops), 0.0)


def _try_thresholds(
    find_limit: Callable[[_Threshold], Column], end: _End, test: _Test, ops: Operations
) -> Column:
    """Return the largest of the limits that the thresholds give."""
    fewest, most = end.box.fewest, end.box.most
    spread = [
        map_distinct(lambda w: w * test.second_factor(w, ops), one) for one in (most, fewest[::-1])
    ]
    below, squares_below = end.nearer.by(most, 1), end.nearer.by(spread[0], 2)
    above, squares_above = end.further.by(fewest[::-1], 1), end.further.by(spread[1], 2)
    far = end.distances[-1]

    def try_threshold(
        place: Column,
        near: Column,
        top: Column,
        more: Column,
        less: Column,
        more_squares: Column,
        less_squares: Column,
    ) -> Column:
        first = name("first", above[0] * more - below[0] * less)
        second = name("second", squares_above[0] * more_squares + squares_below[0] * less_squares)
        return name("limit_at", find_limit(_Threshold(place, far, near, top, first, second)))

    lists = (
        end.distances,
        shifted(running_maximum(most, ops), most[0]),
        running_maximum(fewest[::-1], ops)[::-1],
        above[1][1][::-1],
        below[1][1],
        squares_above[1][2][::-1],
        squares_below[1][2],
    )
    return extreme_along(try_threshold, lists, ops, largest=True)


def _mean_limit_at(at: _Threshold, n: Column, z: float, ops: Operations) -> Column:
    """Return the limit for the mean of y over the population at one threshold."""
    pseudo, near = z * z / 2, at.near * -at.place
    mass, first = n + pseudo, at.first + pseudo * near
    sums = _Sums(mass, first, mass, first, at.second + pseudo * (near * near))
    return ops.greatest(at.place + _smallest_not_rejected(sums, -at.place, z, ops), 0.0)


def _people_limit_at(at: _Threshold, n: Column, z: float, ops: Operations) -> Column:
    """Return the limit for the mean of the n people at one threshold.

    The n people are fixed and only who responds is random: of N people with a rating, each seen
    with probability 1/w, the number seen times w has variance N (w - 1), estimated by
    (number seen) w (w - 1).
    """
    pseudo, rest = z * z / 2, at.far - at.place
    unseen = [_unseen(w, ops) for w in (at.near, at.top)]
    variance = at.second + pseudo * (
        at.near * unseen[0] * (at.place * at.place) + at.top * unseen[1] * (rest * rest)
    )
    # Even if a weight is close to 1, the unseen are whole people.
    whole = [ops.greatest(one, 1.0) for one in unseen]
    caution = (pseudo + 0.5) * whole[0] * at.place + 0.5 * whole[1] * rest
    return ops.divide(at.place * n + at.first - caution - z * ops.sqrt(variance), n)


def _unseen(weight: Column, ops: Operations) -> Column:
    """Return how many people a rating stands for besides the one seen."""
    return ops.greatest(weight - 1.0, 0.0)


_MEAN = _Test(lambda weight, ops: weight, _mean_limit_at)
_PEOPLE = _Test(_unseen, _people_limit_at)
