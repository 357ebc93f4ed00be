"""Confidence intervals: sampling noise on top of what the assumption leaves open.

What is covered: with probability ``level`` or more, whatever participation in the stated set is
the real one, the mean rating mu of the population that the people are drawn from; with n known,
if so asked, the mean of exactly those n people.

How: a lower limit is every value t that a one-sided test does not rule out, the test that gives
seen ratings the weights least favourable to t. Its ingredients, each needed:

- the test compares the weighted sum of (rating - t) with z times its root mean square *around t*,
  so that it never trusts a spread that came out small by luck (inverting it is the
  idea of [W27] and [F54], and gives a quadratic equation, so the limit is closed-form);
- z**2/2 pseudo-ratings at each end of the scale [AC98] stand for rare ratings
  that the sample happened to miss, so that equal ratings do not give an interval of no width;
- half a rating moved to the pessimistic end corrects for counts being whole numbers.

For two ratings and q = 1 the level is kept for every n and every p, by enumeration in the tests;
docs/confidence.md shows measured coverage for the rest.

As q falls the limits only move outwards. The statistic is a linear function of the weights minus
a norm, so it is concave in them; it is not negative at equal weights (q = 1) left of the limit,
so once it reaches zero along the ray of falling q it stays below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scipy.special import ndtr, ndtri

from unheard.core.bounds import relaxed
from unheard.core.columns import Column, Operations, each, peak, total, weighted
from unheard.core.participation import Box


def critical_value(level: float) -> float:
    """Return z such that a standard normal exceeds it with probability (1 - level)/2."""
    return float(ndtri((1 + level) / 2))


class _End(NamedTuple):
    """One end of the scale, seen from it: how far each rating lies from it, nearest first."""

    counts: Sequence[Column]
    distances: Sequence[float]
    box: Box


class _Sums(NamedTuple):
    """What the test needs of the weighted ratings: sums of w, w d, w**2, w**2 d, w**2 d**2."""

    mass: Column
    first: Column
    square_0: Column
    square_1: Column
    square_2: Column


def free_limits(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    z: float,
    ops: Operations,
) -> tuple[Column, Column]:
    """Confidence limits for the mean mu when the number of people is unknown."""
    low, high = _both_ends(counts, values, ends)
    return values[0] + _free_limit(low, z, ops), values[-1] - _free_limit(high, z, ops)


def known_limits(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    n: Column,
    z: float,
    people: bool,
    ops: Operations,
) -> tuple[Column, Column]:
    """Confidence limits when n is known: for mu, or (``people``) the mean of those n people."""
    low, high = (
        _sharpest_limit(end, box, n, z, people, ops)
        for end, box in zip(_both_ends(counts, values, ends), ends, strict=True)
    )
    return values[0] + low, values[-1] - high


def one_limit(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    n: Column | None,
    z: float,
    people: bool,
    upper: bool,
    ops: Operations,
) -> Column:
    """One of the two limits alone, at half the cost."""
    side = 1 if upper else 0
    end = _both_ends(counts, values, ends)[side]
    if n is None:
        distance = _free_limit(end, z, ops)
    else:
        distance = _sharpest_limit(end, ends[side], n, z, people, ops)
    return values[-1] - distance if upper else values[0] + distance


def _sharpest_limit(
    end: _End, box: Box | None, n: Column, z: float, people: bool, ops: Operations
) -> Column:
    """Distance from the near end to the sharpest of several limits that are valid.

    They are: the one that n gives; the one without n, which helps when ratings are few, at half the
    miss probability, since there are structures in which both bite (docs/confidence.md); and, for
    the people, one in which only who answers is random.
    """
    if box is None:
        limit = _free_limit(end, z, ops)
        if people:
            limit = ops.greatest(limit, _average_limit(end, n, limit, z, ops))
        return limit
    limit = _known_limit(end, n, z, _mean_limit_at, ops)
    # With unequal sides more than two tests can bite at once.
    if all(w is end.box.most[0] for w in end.box.most):
        guarded = float(-ndtri(ndtr(-z) / 2))
        limit = ops.greatest(limit, _free_limit(end, guarded, ops))
    if people:
        limit = ops.greatest(limit, _known_limit(end, n, z, _people_limit_at, ops))
    return limit


def _both_ends(
    counts: Sequence[Column], values: Sequence[float], ends: tuple[Box | None, Box | None]
) -> tuple[_End, _End]:
    """Look at the scale from its bottom and from its top, so that one formula serves both."""
    flat = Box.elastic((1.0,) * len(values), (1.0,) * len(values))
    low, high = (flat if end is None else end for end in ends)
    return (
        _End(counts, [v - values[0] for v in values], low),
        _End(counts[::-1], [values[-1] - v for v in values[::-1]], high.reversed()),
    )


def _smallest_not_rejected(sums: _Sums, otherwise: Column, z: float, ops: Operations) -> Column:
    """Solve (first - mass t)**2 = z**2 (square_2 - 2 square_1 t + square_0 t**2) for the smaller t.

    Written around the weighted mean so that nothing cancels. Where the effective sample size
    mass**2/square_0 is at most z**2 no t is rejected and the answer is ``otherwise``.
    """
    center = ops.divide(sums.first, sums.mass)
    tilt = sums.square_1 - sums.square_0 * center
    spread = sums.square_2 - (sums.square_1 + tilt) * center
    leading = sums.mass * sums.mass - z * z * sums.square_0
    inner = ops.greatest(z * z * tilt * tilt + leading * spread, 0.0)
    root = center - ops.divide(z * (z * tilt + ops.sqrt(inner)), leading)
    return ops.where(leading > 0.0, root, otherwise)


def _free_limit(end: _End, z: float, ops: Operations) -> Column:
    """Distance from the near end to the confidence limit: the least over all thresholds."""
    counts, distances, box = end
    far, pseudo = distances[-1], z * z / 2
    seen = _Sums(
        weighted(box.fewest, counts),
        *(
            weighted([f**a * d**b for f, d in zip(box.fewest, distances, strict=True)], counts)
            for a, b in ((1, 1), (2, 0), (2, 1), (2, 2))
        ),
    )
    limit: Column = None
    for k in range(len(counts) + 1):
        if k:
            f, w, d, count = box.fewest[k - 1], box.most[k - 1], distances[k - 1], counts[k - 1]
            once, twice = (w - f) * count, (w * w - f * f) * count
            more = _Sums(once, d * once, twice, d * twice, d * d * twice)
            seen = _Sums(*(a + b for a, b in zip(seen, more, strict=True)))
        near = peak(box.most[:k] or box.fewest, ops)
        top = peak(box.fewest[k:] or box.most, ops)
        sums = _Sums(
            seen.mass + ((pseudo + 0.5) * near + (pseudo - 0.5) * top),
            seen.first + (pseudo - 0.5) * far * top,
            seen.square_0 + pseudo * (near * near + top * top),
            seen.square_1 + pseudo * far * (top * top),
            seen.square_2 + pseudo * far * far * (top * top),
        )
        root = _smallest_not_rejected(sums, 0.0, z, ops)
        limit = root if limit is None else ops.least(limit, root)
    return ops.greatest(limit, 0.0)


def _average_limit(end: _End, n: Column, limit: Column, z: float, ops: Operations) -> Column:
    """Sharpen the limit of the plain average for these people: those seen are a sample of n."""
    seen, sum_seen = total(end.counts), weighted(end.distances, end.counts)
    mean = ops.divide(sum_seen, seen)
    unseen_share = ops.greatest(1.0 - ops.divide(seen, n), 0.0)
    # The unseen are whole people: a few of them may sit at the very end.
    caution = ops.divide((z * z / 2 + 0.5) * mean, n)
    return ops.greatest(
        mean - ops.sqrt(unseen_share) * (mean - limit) - caution, ops.divide(sum_seen, n)
    )


def _known_limit(
    end: _End,
    n: Column,
    z: float,
    limit_at: Callable[[_End, int, Sequence[Column], Column, float, Operations], Column],
    ops: Operations,
) -> Column:
    """Distance from the near end to the confidence limit, given n.

    By duality the end of the identified interval is the largest, over thresholds t on the scale,
    of the mean over all n people of  y = t + w (rating - t)  for those seen and  y = t  for those
    unseen, with w the largest weight below t and the smallest above. The threshold where the
    greedy filling stops attains it, and there y is a plain mean of n independent numbers.

    The threshold falls as the box widens. For the limit never to move inwards then, every
    threshold above the present one takes part too, with the box in which it last ruled.
    """
    counts, box = end.counts, relaxed(end.counts, end.box, n, ops)
    spare = ops.greatest(n - weighted(box.fewest, counts), 0.0)
    room = [(w - f) * c for w, f, c in zip(box.most, box.fewest, counts, strict=True)]
    limit: Column = None
    for k in reversed(range(len(counts))):
        # Shrunk to this share of its room, the box is just filled by the ratings below k.
        below = total(room[:k]) if k else 0.0
        share = ops.where(below > spare, ops.divide(spare, below), 1.0) if k else 1.0
        below_k = each(lambda f, w, s=share: f + s * (w - f), box.fewest[:k], box.most[:k])
        weights = (*below_k, *box.fewest[k:])
        root = limit_at(end, k, weights, n, z, ops)
        if limit is None:
            limit = root
        else:
            ruled = below + room[k] >= spare
            limit = ops.where(ruled, ops.least(limit, root), limit)
    return limit


def _mean_limit_at(
    end: _End, k: int, weights: Sequence[Column], n: Column, z: float, ops: Operations
) -> Column:
    """Limit for the mean of y over the population, with the threshold at rating k."""
    pseudo, threshold = z * z / 2, end.distances[k]
    shifts = [w * (d - threshold) for w, d in zip(weights, end.distances, strict=True)]
    near = peak(weights[:k] or weights, ops) * -threshold
    top = peak(weights[k:], ops) * (end.distances[-1] - threshold)
    first = weighted(shifts, end.counts)
    sums = _Sums(
        n + 2 * pseudo,
        first + ((pseudo + 0.5) * near + (pseudo - 0.5) * top),
        n + 2 * pseudo,
        first + pseudo * (near + top),
        weighted([s * s for s in shifts], end.counts) + pseudo * (near * near + top * top),
    )
    return ops.greatest(threshold + _smallest_not_rejected(sums, 0.0, z, ops), 0.0)


def _people_limit_at(
    end: _End, k: int, weights: Sequence[Column], n: Column, z: float, ops: Operations
) -> Column:
    """Limit for the mean of these n people, with the threshold at rating k.

    The n people are fixed and only who answers is random: of N people with a rating, each seen
    with probability 1/w, the number seen times w has variance N (w - 1), estimated by
    (number seen) w (w - 1). Everybody else counts for no more than the end of the scale.
    """
    pseudo, threshold, far = z * z / 2, end.distances[k], end.distances[-1]
    near = peak(weights[:k] or weights, ops)
    top = peak(weights[k:], ops)
    unseen = [ops.greatest(w - 1.0, 0.0) for w in (near, top)]
    shifts = [w * (d - threshold) for w, d in zip(weights, end.distances, strict=True)]
    variance = weighted(
        [
            w * ops.greatest(w - 1.0, 0.0) * (d - threshold) ** 2
            for w, d in zip(weights, end.distances, strict=True)
        ],
        end.counts,
    ) + pseudo * (near * unseen[0] * threshold**2 + top * unseen[1] * (far - threshold) ** 2)
    # However close to 1 a weight is, the unseen are whole people.
    whole = [ops.greatest(one, 1.0) for one in unseen]
    caution = (pseudo + 0.5) * whole[0] * threshold + 0.5 * whole[1] * (far - threshold)
    sum_of_y = threshold * n + weighted(shifts, end.counts) - caution
    certain = weighted(end.distances, end.counts)
    return ops.divide(ops.greatest(sum_of_y - z * ops.sqrt(variance), certain), n)
