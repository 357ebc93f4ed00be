"""Bounds (the identified set): every mean that the assumption allows, ignoring sampling error.

[GKL25, section 4 and appendix A] derive them for the box [q, 1] and an unknown number of people;
boxes per rating, directions and a known number of people are additions of this package. The same
lines run on NumPy arrays and as SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mul, sub
from typing import TypeAlias

from unheard.formulas.boxes import Box
from unheard.formulas.moments import WeightedMoments, accumulate_moments
from unheard.formulas.operations import (
    Column,
    Operations,
    along,
    extreme_along,
    last_total,
    name,
    shifted,
    total,
    weighted_sum,
)


def average(counts: Sequence[Column], values: Sequence[float], ops: Operations) -> Column:
    """Return the mean of the ratings seen."""
    return ops.divide(weighted_sum(values, counts), total(counts))


Distances: TypeAlias = tuple[Column | None, Column | None]
"""How far the lower bound is from the lowest rating and the upper one from the highest; None for a
bound that is the plain average."""


def find_bounds_without_n(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    ops: Operations,
) -> tuple[Column, Column]:
    """Return the bounds of the mean when the number of people is unknown."""
    return place_bounds(find_distances(counts, values, ends, ops), counts, values, ops)


def measure_distances(values: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    """Return the distances of the ratings from the lowest, and from the highest, nearest first."""
    up = along(lambda v: v - values[0], values)
    down = along(lambda v: values[-1] - v, values[::-1])
    return name("distance", up), name("distance", down)


def find_distances(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    ops: Operations,
) -> Distances:
    """Return the bounds when the number of people is unknown, as distances from the ends.

    A ratio of sums with one free weight per rating is smallest when all ratings below some
    threshold get their largest weight and all others their smallest. A scan over the m+1 thresholds
    needs no rule for ties; [GKL25, definition 4.1] gives the same bound by its index k_1, k_2.
    """

    def find_distance(box: Box, counts: Sequence[Column], distances: Sequence[float]) -> Column:
        return find_extreme_mean(counts, distances, box, ops)

    return _find_both(find_distance, counts, values, ends, ops)


def find_bounds_with_n(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    n: Column,
    free: Distances,
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
        As in :func:`find_distances`.
    n
        Number of people.
    free
        The distances of the bounds without n.
    ratio
        Whether the boxes state only ratios of participation.
    """

    def find_distance(
        box: Box, counts: Sequence[Column], distances: Sequence[float], free: Column
    ) -> Column:
        used = None
        if ratio:
            used = count_people_at(counts, along(lambda d: free > d, distances), box, ops)
        return name("bound_with_n", _with_n(counts, distances, box, n, free, used, ops))

    low, high = ((one,) for one in free)
    distances = _find_both(find_distance, counts, values, ends, ops, low, high)
    return place_bounds(distances, counts, values, ops)


def place_bounds(
    distances: Distances, counts: Sequence[Column], values: Sequence[float], ops: Operations
) -> tuple[Column, Column]:
    """Return bounds on the scale from their distances, and undo crossings that rounding causes."""
    low, high = distances
    mean = average(counts, values, ops) if low is None or high is None else None
    lower = mean if low is None else values[0] + low
    upper = mean if high is None else values[-1] - high
    lower, upper = (ops.greatest(ops.least(end, values[-1]), values[0]) for end in (lower, upper))
    return ops.least(lower, upper), ops.greatest(lower, upper)


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
    at_zero: Column = 0.0,
) -> Column:
    """Return the smallest mean: the largest weights on a first part of the ratings, whichever.

    ``at_zero`` is a number of people at zero besides those that ratings stand for.
    """
    people = WeightedMoments(accumulate_moments, values, counts, 1)
    factor, (masses, firsts) = people.by(box.fewest, 1)
    mass = name("people", factor * last_total(masses) + at_zero)
    first = name("sum", factor * last_total(firsts))
    factor, (masses, firsts) = people.by(box.room, 1)

    def find_mean(more_mass: Column, more_first: Column) -> Column:
        return ops.divide(first + factor * more_first, mass + factor * more_mass)

    smallest = extreme_along(find_mean, (masses, firsts), ops, largest=False)
    return name("bound", ops.least(ops.divide(first, mass), smallest))


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
    find_distance: Callable[..., Column],
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    ops: Operations,
    low: tuple[Column, ...] = (),
    high: tuple[Column, ...] = (),
) -> Distances:
    """Find the distance of a bound from either end that has a box."""
    up, down = measure_distances(values)
    from_low = (ends[0], counts, up, *low)
    from_high = (ends[1] and ends[1].reversed(), counts[::-1], down, *high)
    if ends[0] is not None and ends[1] is not None:
        return ops.both_ends(find_distance, from_low, from_high)
    return tuple(  # type: ignore[return-value]
        None if end[0] is None else find_distance(*end) for end in (from_low, from_high)
    )
