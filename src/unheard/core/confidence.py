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

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add, mul
from typing import NamedTuple, TypeAlias

from scipy.special import ndtr, ndtri

from unheard.core.bounds import misfits
from unheard.core.columns import (
    Column,
    Operations,
    alike,
    each,
    peak,
    running_peaks,
    total,
    weighted,
)
from unheard.core.moments import Moments, Weighed, moments_below, moments_so_far
from unheard.core.participation import Box


def critical_value(level: float) -> float:
    """Return z such that a standard normal exceeds it with probability (1 - level)/2."""
    return float(ndtri((1 + level) / 2))


_Found: TypeAlias = tuple[Column, Moments]
"""Moments at every threshold, and the factor before them."""


class _End(NamedTuple):
    """One end of the scale, seen from it.

    Attributes
    ----------
    counts, distances, box
        How often each rating was given, how far it lies from the end, and what it may stand for,
        nearest first.
    nearer, further
        Moments of the people nearer than each rating, and of those further away (these furthest
        first), around it.
    """

    counts: Sequence[Column]
    distances: Sequence[float]
    box: Box
    nearer: Weighed
    further: Weighed


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
    ratio: bool,
    ops: Operations,
) -> tuple[Column, Column]:
    """Confidence limits when n is known: for mu, or (``people``) the mean of those n people.

    ``ratio`` says whether the boxes state only ratios of participation.
    """
    low, high = (
        _limit_with_n(end, box, n, z, people, ratio, ops)
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
    ratio: bool,
    upper: bool,
    ops: Operations,
) -> Column:
    """One of the two limits alone, at half the cost."""
    side = 1 if upper else 0
    end = _both_ends(counts, values, ends)[side]
    if n is None:
        distance = _free_limit(end, z, ops)
    else:
        distance = _limit_with_n(end, ends[side], n, z, people, ratio, ops)
    return values[-1] - distance if upper else values[0] + distance


def _limit_with_n(
    end: _End, box: Box | None, n: Column, z: float, people: bool, ratio: bool, ops: Operations
) -> Column:
    """Distance from the near end to the limit, n known.

    The limit without n is valid here too. Where n makes the bounds narrower it also makes a sharper
    test possible, but there are structures in which both bite (docs/confidence.md): one of the two
    is then taken at a part of the miss probability.
    """
    free = _free_limit(end, z, ops)
    # Everybody who did not respond counts for no less than the end of the scale.
    certain = ops.divide(weighted(end.distances, end.counts), n)
    if box is None:
        return ops.greatest(free, _average_limit(end, n, free, z, ops)) if people else free
    if ratio:
        limit = _ratio_limit(end, n, free, z, ops)
        return ops.greatest(limit, certain) if people else limit
    if end.box.rigid:
        if not people:
            return free
        fitted = end._replace(box=_holding(end, n, ops))
        return _greatest(free, _known_limit(fitted, n, z, _PEOPLE, ops), certain, ops=ops)
    limit = _known_limit(end, n, z, _MEAN, ops)
    # With unequal sides more than two tests can bite at once.
    if alike(end.box.most):
        limit = ops.greatest(limit, _free_limit(end, _guarded(z, 2), ops))
    if people:
        limit = _greatest(limit, _known_limit(end, n, z, _PEOPLE, ops), certain, ops=ops)
    too_low, too_high = misfits(end.counts, end.box, n)
    return ops.where(too_low, free, ops.where(too_high, free, limit))


def _greatest(*columns: Column, ops: Operations) -> Column:
    return reduce(ops.greatest, columns)


def _guarded(z: float, parts: int) -> float:
    """Critical value at one of so many parts of the miss probability."""
    return float(-ndtri(ndtr(-z) / parts))


def _holding(end: _End, n: Column, ops: Operations) -> Box:
    """Scale a box without room so that it holds n people, as it does but for chance."""
    factor = ops.divide(n, weighted(end.box.fewest, end.counts))
    sides = each(lambda w: w * factor, end.box.fewest)
    return Box.elastic(sides, sides)


def _both_ends(
    counts: Sequence[Column], values: Sequence[float], ends: tuple[Box | None, Box | None]
) -> tuple[_End, _End]:
    """Look at the scale from its bottom and from its top, so that one formula serves both."""
    flat = Box.elastic((1.0,) * len(values), (1.0,) * len(values))
    low, high = (flat if end is None else end for end in ends)
    up, down = [v - values[0] for v in values], [values[-1] - v for v in values[::-1]]
    back = counts[::-1]
    below = Weighed(moments_below, up, counts, 2)
    above = Weighed(moments_below, down, back, 2)
    return (
        _End(counts, up, low, below, above),
        _End(back, down, high.reversed(), above, below),
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
    distances, (fewest, most) = end.distances, (end.box.fewest, end.box.most)
    far, pseudo = distances[-1], z * z / 2
    people = Weighed(moments_so_far, distances, end.counts, 2)
    few = people.by(fewest, 1)
    few_squared = people.by(each(lambda f: f * f, fewest), 2)
    more = people.by(end.box.room, 1)
    more_squared = people.by(each(lambda w, f: w * w - f * f, most, fewest), 2)
    seen = _sums_at(few, few_squared, -1)

    def with_pseudo(near: Column, top: Column) -> _Sums:
        return _Sums(
            seen.mass + ((pseudo + 0.5) * near + (pseudo - 0.5) * top),
            seen.first + (pseudo - 0.5) * far * top,
            seen.square_0 + pseudo * (near * near + top * top),
            seen.square_1 + pseudo * far * (top * top),
            seen.square_2 + pseudo * far * far * (top * top),
        )

    nears = (peak(fewest, ops), *running_peaks(most, ops))
    tops = (*running_peaks(fewest[::-1], ops)[::-1], peak(most, ops))
    start, *starts = each(with_pseudo, nears, tops)
    limit = _smallest_not_rejected(start, 0.0, z, ops)
    for k, start in enumerate(starts):
        sums = _Sums(*map(add, start, _sums_at(more, more_squared, k)))
        limit = ops.least(limit, _smallest_not_rejected(sums, 0.0, z, ops))
    return ops.greatest(limit, 0.0)


def _sums_at(once: _Found, twice: _Found, place: int) -> _Sums:
    """Return the sums for weights and for their squares, over the ratings up to a place."""
    (factor, moments), (square, squares) = once, twice
    return _Sums(
        *(factor * sums[place] for sums in moments[:2]), *(square * sums[place] for sums in squares)
    )


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


class _Threshold(NamedTuple):
    """What a test needs to know at one threshold.

    Attributes
    ----------
    place, far
        How far the threshold and the far end of the scale lie from the near end.
    near, top
        The largest weights nearer than the threshold, and from it on.
    first
        Sum over those seen of w d, with d by how much the rating exceeds the threshold.
    second
        Sum of w u d**2, with u what goes with w in the test.
    """

    place: float
    far: float
    near: Column
    top: Column
    first: Column
    second: Column


class _Test(NamedTuple):
    """A limit for every threshold, and what goes with the weights in its variance."""

    beside: Callable[[Column, Operations], Column]
    limit: Callable[[_Threshold, Column, float, Operations], Column]


def _known_limit(end: _End, n: Column, z: float, test: _Test, ops: Operations) -> Column:
    """Distance from the near end to the confidence limit, for a box that holds n people.

    By duality the end of the identified interval is the largest, over thresholds t on the scale,
    of the mean over all n people of  y = t + w (rating - t)  for those seen and  y = t  for those
    unseen, with w the largest weight below t and the smallest above. The threshold where the
    greedy filling stops attains it, and there y is a plain mean of n independent numbers.

    The threshold falls as the box widens. For the limit never to move inwards then, every
    threshold above the present one takes part too, with the box in which it last ruled.
    """
    *others, highest = _rulings(end, n, z, test, ops)
    limit = highest.limit
    for one in others:
        limit = ops.least(limit, ops.where(one.has_ruled, one.limit, highest.limit))
    return limit


def _ratio_limit(end: _End, n: Column, free: Column, z: float, ops: Operations) -> Column:
    """Distance from the near end to the limit if boxes state ratios: g = s/w with any s <= 1.

    For a threshold t the mean of  y - t  over all n people is at most s (mu - t), hence at most
    mu - t if t is not above mu. So a threshold may speak if its limit is not below itself, and if
    the one that rules may, n makes the bounds narrower, chance included. It then speaks at a
    quarter of the miss probability: together with the limit without n, which stands, it has to
    keep the level (docs/confidence.md).

    Parameters
    ----------
    end, n, z, ops
        As in :func:`_known_limit`.
    free
        The limit without n.
    """
    far, spoken = end.distances[-1], []
    known, before = far, None
    for one in _rulings(end, n, _guarded(z, 4), _MEAN, ops)[:-1]:
        speaks = one.limit >= one.place
        known = ops.least(known, ops.where(one.has_ruled, ops.where(speaks, one.limit, far), far))
        says = ops.where(one.has_ruled, ops.where(speaks, 1.0, 0.0), 0.0)
        # The nearest threshold that has ruled is the one that rules.
        spoken.append(says if before is None else ops.where(before, 0.0, says))
        before = one.has_ruled
    return ops.where(total(spoken) > 0.0, ops.greatest(free, known), free)


class _Ruling(NamedTuple):
    """The limit that one threshold gives, and whether it rules, or did so for a narrower box."""

    place: float
    limit: Column
    has_ruled: Column


def _rulings(end: _End, n: Column, z: float, test: _Test, ops: Operations) -> list[_Ruling]:
    """Return the limit at every threshold; the furthest rules if the room below it is too small."""
    box = end.box
    spare = ops.greatest(n - weighted(box.fewest, end.counts), 0.0)
    factor, (masses, *_) = end.nearer.by(box.room, 0)
    room = [factor * mass for mass in masses[1:]]
    # Shrunk to this share of its room, the box is just filled by the ratings below a threshold.
    shares = [ops.where(one > spare, ops.divide(spare, one), 1.0) for one in room]
    limits = [
        (one.place, test.limit(one, n, z, ops))
        for one in _thresholds(end, box, (1.0, *shares), test, ops)
    ]
    # A threshold whose ratings do not fill the box, with those below, has not ruled yet.
    filled = [one >= spare for one in room] + [True]
    return [_Ruling(*limit, ruled) for limit, ruled in zip(limits, filled, strict=True)]


def _thresholds(
    end: _End, box: Box, shares: Sequence[Column], test: _Test, ops: Operations
) -> Iterator[_Threshold]:
    """Give every rating below a threshold this share of its room, and all others none.

    With f the fewest that a rating stands for and v its room, a weight is f + s v; what goes with
    it in the variance has the same room. Then all sums are polynomials in s without a minus sign.
    """
    fewest, room = box.fewest, box.room
    beside = each(lambda f: test.beside(f, ops), fewest)
    constant = each(mul, fewest, beside)
    linear = each(lambda f, u, v: (f + u) * v, fewest, beside, room)
    quadratic = each(lambda v: v * v, room)
    few, more = (end.nearer.by(one, 1) for one in (fewest, room))
    base, slope, curve = (end.nearer.by(one, 2) for one in (constant, linear, quadratic))
    few_beyond, base_beyond = end.further.by(fewest[::-1], 1), end.further.by(constant[::-1], 2)
    rivals, tops = _rivals(end.box), running_peaks(fewest[::-1], ops)[::-1]
    for k, (place, share) in enumerate(zip(end.distances, shares, strict=True)):
        yield _Threshold(
            place,
            end.distances[-1],
            peak([fewest[j] + share * room[j] for j in rivals[k]], ops),
            tops[k],
            _moment(few_beyond, 1, -1 - k) - (_moment(few, 1, k) + share * _moment(more, 1, k)),
            _moment(base_beyond, 2, -1 - k)
            + (_moment(base, 2, k) + share * (_moment(slope, 2, k) + share * _moment(curve, 2, k))),
        )


def _moment(found: _Found, power: int, k: int) -> Column:
    factor, moments = found
    return factor * moments[power][k]


def _rivals(box: Box) -> list[list[int]]:
    """Which ratings below each threshold may have the largest weight; all for the first.

    One that another outdoes in the fewest and the most that it stands for never has, however much
    of its room is used, and however the box is widened if it outdoes it in giving way, too.
    """
    sides = list(zip(box.fewest, box.most, box.gives, strict=True))
    if all(map(alike, (box.fewest, box.most, box.gives))):
        return [[0]] * len(sides)
    found, kept = [], [0]
    for k in range(1, len(sides)):
        found.append(kept)
        if not any(_outdoes(sides[j], sides[k]) for j in kept):
            kept = [*(j for j in kept if not _outdoes(sides[k], sides[j])), k]
    return [kept, *found]


def _outdoes(one: Sequence[Column], other: Sequence[Column]) -> bool:
    """Whether a rating's sides are known to be no smaller than those of another."""
    return all(
        a is b or (isinstance(a, float | bool) and isinstance(b, float | bool) and a >= b)
        for a, b in zip(one, other, strict=True)
    )


def _mean_limit_at(at: _Threshold, n: Column, z: float, ops: Operations) -> Column:
    """Limit for the mean of y over the population, at one threshold."""
    pseudo = z * z / 2
    near, top = at.near * -at.place, at.top * (at.far - at.place)
    mass = n + 2 * pseudo
    sums = _Sums(
        mass,
        at.first + ((pseudo + 0.5) * near + (pseudo - 0.5) * top),
        mass,
        at.first + pseudo * (near + top),
        at.second + pseudo * (near * near + top * top),
    )
    return ops.greatest(at.place + _smallest_not_rejected(sums, 0.0, z, ops), 0.0)


def _people_limit_at(at: _Threshold, n: Column, z: float, ops: Operations) -> Column:
    """Limit for the mean of these n people, at one threshold.

    The n people are fixed and only who answers is random: of N people with a rating, each seen
    with probability 1/w, the number seen times w has variance N (w - 1), estimated by
    (number seen) w (w - 1).
    """
    pseudo, rest = z * z / 2, at.far - at.place
    unseen = [_unseen(w, ops) for w in (at.near, at.top)]
    variance = at.second + pseudo * (
        at.near * unseen[0] * at.place**2 + at.top * unseen[1] * rest**2
    )
    # However close to 1 a weight is, the unseen are whole people.
    whole = [ops.greatest(one, 1.0) for one in unseen]
    caution = (pseudo + 0.5) * whole[0] * at.place + 0.5 * whole[1] * rest
    return ops.divide(at.place * n + at.first - caution - z * ops.sqrt(variance), n)


def _unseen(weight: Column, ops: Operations) -> Column:
    """How many people besides the one seen a rating stands for."""
    return ops.greatest(weight - 1.0, 0.0)


_MEAN = _Test(lambda weight, ops: weight, _mean_limit_at)
_PEOPLE = _Test(_unseen, _people_limit_at)
