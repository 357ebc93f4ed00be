"""Identified intervals: everything the mean can still be, whatever the sample size.

[GKL25, section 4 and appendix A] for the box [q, 1] and an unknown number of people; boxes per
rating, directions and the known number of people are this package's. Written over columns, so
that the same lines run on NumPy arrays and as SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unheard.core.columns import Column, Operations, each, total, weighted
from unheard.core.moments import Weighed, moments_so_far
from unheard.core.participation import Box


def average(counts: Sequence[Column], values: Sequence[float], ops: Operations) -> Column:
    """Mean of the ratings seen."""
    return ops.divide(weighted(values, counts), total(counts))


def free_interval(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    ops: Operations,
) -> tuple[Column, Column]:
    """Interval for the mean when the number of people is unknown.

    A ratio of sums with one free weight per rating is smallest when all ratings below some
    threshold get their largest weight and all others their smallest. Scanning the m+1 thresholds
    needs no rule for ties; [GKL25, definition 4.1] gives the same one by its index k_1, k_2.
    """
    low, high = ends
    lower = upper = None
    if low is not None:
        lower = _scan(counts, values, low, ops.least, ops)
    if high is not None:
        upper = _scan(counts[::-1], values[::-1], high.reversed(), ops.greatest, ops)
    return _complete(lower, upper, counts, values, ops)


def known_interval(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    n: Column,
    ops: Operations,
) -> tuple[Column, Column]:
    """Interval for the mean when n is known.

    Those who said nothing are dealt out to the lowest (highest) ratings first, as many to each
    as its box allows: a fractional knapsack. Boxes that cannot hold n are relaxed first, see
    :func:`relaxed`.
    """
    low, high = (None if end is None else relaxed(counts, end, n, ops) for end in ends)
    lower = upper = None
    if low is not None:
        lower = _fill(counts, values, low, n, ops)
    if high is not None:
        upper = _fill(counts[::-1], values[::-1], high.reversed(), n, ops)
    return _complete(lower, upper, counts, values, ops)


def relaxed(counts: Sequence[Column], box: Box, n: Column, ops: Operations) -> Box:
    """Widen a box, if need be, just until it can hold n people.

    A response rate below what the box allows refutes it. The answer then uses the nearest box
    that the data allow: one common factor on all sides that may give way. For [q, 1] that is the
    box with q equal to the response rate, and for ``middle`` the largest q that fits (if nobody
    gave a rating between the ends no q fits, and all sides give way). This is the stated
    convention; whoever uses it must flag it.
    """
    fits = ops.least(ops.divide(n, weighted(box.fewest, counts)), 1.0)
    growth = ops.greatest(ops.divide(n, weighted(box.most, counts)), 1.0)
    fewest = each(lambda f: f * fits, box.fewest)
    if all(box.gives):
        return Box(fewest, each(lambda w: w * growth, box.most), box.gives)
    firm = weighted([w * (not gives) for w, gives in zip(box.most, box.gives, strict=True)], counts)
    loose = weighted([w * gives for w, gives in zip(box.most, box.gives, strict=True)], counts)
    loose_growth = ops.greatest(ops.divide(n - firm, loose), 1.0)

    def widen(w: Column, gives: bool) -> Column:
        return ops.where(loose > 0.0, w * loose_growth if gives else w, w * growth)

    return Box(fewest, each(widen, box.most, box.gives), box.gives)


def _scan(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box,
    pick: Callable[[Column, Column], Column],
    ops: Operations,
) -> Column:
    """Return the extreme mean, with the largest weights on the first so many of the ratings."""
    people = Weighed(moments_so_far, values, counts, 1)
    factor, (masses, firsts) = people.by(box.fewest, 1)
    mass, first = factor * masses[-1], factor * firsts[-1]
    best = ops.divide(first, mass)
    factor, (masses, firsts) = people.by(box.room, 1)
    for more_mass, more_first in zip(masses, firsts, strict=True):
        best = pick(best, ops.divide(first + factor * more_first, mass + factor * more_mass))
    return best


def _fill(
    counts: Sequence[Column], values: Sequence[float], box: Box, n: Column, ops: Operations
) -> Column:
    """Return the mean after dealing n people out, to the first ratings first.

    After each rating there are as many left as the room so far does not hold; they all move on by
    the step to the next one.
    """
    left = n - weighted(box.fewest, counts)
    people = Weighed(moments_so_far, values, counts, 0)
    factor, (room,) = people.by(box.room, 0)
    first = weighted(box.fewest, [v * c for v, c in zip(values, counts, strict=True)])
    first = first + values[0] * left
    for so_far, here, following in zip(room[:-1], values[:-1], values[1:], strict=True):
        remaining = ops.greatest(left - factor * so_far, 0.0)
        first = first + (following - here) * remaining
    return ops.divide(first, n)


def _complete(
    lower: Column | None,
    upper: Column | None,
    counts: Sequence[Column],
    values: Sequence[float],
    ops: Operations,
) -> tuple[Column, Column]:
    """Put the average at an end without a box; keep rounding from crossing ends or the scale's."""
    if lower is None or upper is None:
        mean = average(counts, values, ops)
        lower = mean if lower is None else lower
        upper = mean if upper is None else upper
    lower, upper = (ops.greatest(ops.least(end, values[-1]), values[0]) for end in (lower, upper))
    return ops.least(lower, upper), ops.greatest(lower, upper)
