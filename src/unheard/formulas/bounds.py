"""Bounds (the identified set): every mean that the assumption allows, ignoring sampling error.

[GKL25, section 4 and appendix A] derive them for the box [q, 1] and an unknown number of people;
boxes per rating, directions and a known number of people are additions of this package. The same
lines run on NumPy arrays and as SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mul, neg, sub

from unheard.formulas.boxes import Box
from unheard.formulas.moments import WeightedMoments, accumulate_moments
from unheard.formulas.operations import (
    Column,
    Operations,
    along,
    last_total,
    name,
    row_minimum,
    shifted,
    total,
    weighted_sum,
)


def average(counts: Sequence[Column], values: Sequence[float], ops: Operations) -> Column:
    """Return the mean of the ratings seen."""
    return ops.divide(weighted_sum(values, counts), total(counts))


def find_bounds_without_n(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    ops: Operations,
) -> tuple[Column, Column]:
    """Return the bounds of the mean when the number of people is unknown.

    A ratio of sums with one free weight per rating is smallest when all ratings below some
    threshold get their largest weight and all others their smallest. A scan over the m+1 thresholds
    needs no rule for ties; [GKL25, definition 4.1] gives the same bound by its index k_1, k_2.
    """

    def find_bound(counts: Sequence[Column], places: Sequence[float], box: Box) -> Column:
        return name("bound", find_extreme_mean(counts, places, box, ops))

    return _find_both(find_bound, counts, values, ends, ops)


def find_bounds_with_n(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    n: Column,
    free: tuple[Column, Column],
    ratio: bool,
    ops: Operations,
) -> tuple[Column, Column]:
    """Return the bounds of the mean when n is known, never wider than the bounds without n.

    If the boxes state participation itself, non-respondents are assigned to the lowest (highest)
    ratings first, as many to each as its box allows: a fractional knapsack. If n does not fit into
    a box, the assumption is wrong and n must not narrow anything: the box is then read as a
    statement about ratios alone, which gives the bounds without n.

    If the boxes state ratios, they may hold fewer than n people: the greatest participation is
    some s <= 1, and the ratings stand for s n people in the boxes. So n matters only where the
    weights that attain the bounds without n stand for more than n people; then s is 1.

    Parameters
    ----------
    counts, values, ends, ops
        As in :func:`find_bounds_without_n`.
    n
        Number of people.
    free
        The bounds without n.
    ratio
        Whether the boxes state only ratios of participation.
    """

    def find_bound(
        counts: Sequence[Column], places: Sequence[float], box: Box, free: Column
    ) -> Column:
        used = None
        if ratio:
            used = count_people_at(counts, along(lambda v: free > v, places), box, ops)
        return name("bound_with_n", _with_n(counts, places, box, n, free, used, ops))

    return _find_both(find_bound, counts, values, ends, ops, (free[0],), (-free[1],))


def count_people_at(
    counts: Sequence[Column], beyond: Sequence[Column], box: Box, ops: Operations
) -> Column:
    """Return how many people the ratings stand for if those beyond an end have their top weight."""
    moved = along(lambda out, count: ops.where(out, count, 0.0), beyond, counts)
    return weighted_sum(box.fewest, counts) + weighted_sum(box.room, moved)


def _with_n(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box,
    n: Column,
    free: Column,
    used: Column | None,
    ops: Operations,
) -> Column:
    """Return one bound; ``used`` is how many people the bound without n takes, None for n."""
    filled = _fill(counts, values, box, n, ops)
    if used is not None:
        return ops.where(used > n, filled, free)
    too_low, too_high = find_misfits(counts, box, n)
    return ops.where(too_low, free, ops.where(too_high, free, filled))


def find_misfits(counts: Sequence[Column], box: Box, n: Column) -> tuple[Column, Column]:
    """Return whether n people are more, and whether they are fewer, than a box allows."""
    slack = 1e-12 * n
    return n > weighted_sum(box.most, counts) + slack, weighted_sum(box.fewest, counts) - slack > n


def find_extreme_mean(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box,
    ops: Operations,
) -> Column:
    """Return the smallest mean: the largest weights on a first part of the ratings, whichever."""
    people = WeightedMoments(accumulate_moments, values, counts, 1)
    factor, (masses, firsts) = people.by(box.fewest, 1)
    mass, first = factor * last_total(masses), factor * last_total(firsts)
    factor, (masses, firsts) = people.by(box.room, 1)
    means = along(
        lambda more_mass, more_first: ops.divide(
            first + factor * more_first, mass + factor * more_mass
        ),
        masses,
        firsts,
    )
    return ops.least(ops.divide(first, mass), row_minimum(means, ops))


def _fill(
    counts: Sequence[Column], values: Sequence[float], box: Box, n: Column, ops: Operations
) -> Column:
    """Return the mean after assigning n people, to the first ratings first.

    After each rating, the people that the room so far does not hold all move on by the step to the
    next rating.
    """
    left = n - weighted_sum(box.fewest, counts)
    people = WeightedMoments(accumulate_moments, values, counts, 0)
    factor, (room,) = people.by(box.room, 0)
    first = weighted_sum(box.fewest, along(mul, values, counts)) + values[0] * left
    # Of the last rating there is enough for everybody.
    gaps = along(sub, shifted(values[::-1], values[-1])[::-1], values)
    remaining = along(lambda so_far: ops.greatest(left - factor * so_far, 0.0), room)
    return ops.divide(first + weighted_sum(gaps, remaining), n)


def _find_both(
    find_bound: Callable[..., Column],
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    ops: Operations,
    low: tuple[Column, ...] = (),
    high: tuple[Column, ...] = (),
) -> tuple[Column, Column]:
    """Find a lower bound from either end, with the signs of the values changed at the high one.

    Where an end has no box, it is the average. Crossings that rounding causes are undone.
    """
    from_low = (counts, values, ends[0], *low)
    above = None if ends[1] is None else ends[1].reversed()
    from_high = (counts[::-1], along(neg, values)[::-1], above, *high)
    if None not in ends:
        lower, upper = ops.both_ends(find_bound, from_low, from_high)
        upper = -upper
    else:
        lower = upper = average(counts, values, ops)
        if ends[0] is not None:
            lower = find_bound(*from_low)
        if ends[1] is not None:
            upper = -find_bound(*from_high)
    lower, upper = (ops.greatest(ops.least(end, values[-1]), values[0]) for end in (lower, upper))
    return ops.least(lower, upper), ops.greatest(lower, upper)
