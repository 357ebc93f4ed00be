"""Strata of known size combined into one population.

The mean of the population is the mean of its strata weighted by their sizes, so bounds add.
Confidence limits do not: sampling error biases a bound, always to the same side, and over many
strata the error averages out while the bias does not.

So each stratum first gets one more rating, which it may have missed by chance, at the end of the
scale that the limit is against. Gaffke's limit [G05] does the same, and is the quantile of a
distribution of the mean around the bound that the ratings then have. Around it a rating counts
y = w (v - t) over the mass of the stratum, which varies as a Gamma variable: the variance of the
stratum is the sum of y**2, its skewness follows from that of y**3, and both add up over independent
strata. The limit is the quantile of the whole by the Cornish-Fisher expansion [CF38]. Between the
two functions stands a plain sum over the strata, which every engine can compute.

Knowing the numbers of people helps beyond that: it gives a second valid limit. The two limits
share the miss probability.

- If participation itself is stated, it holds for the population as a whole: all ratings are put
  together, and the limit for one item applies. It keeps its level whether strata are alike or not.
- If only ratios are stated, strata may respond at different rates, and the ratios say nothing about
  the whole, except that non-respondents are no worse than the end of the scale. That gives a limit
  for the ratings of everybody with all non-respondents at that end, which is sharp if nearly
  everybody responds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import mul
from typing import NamedTuple

from unheard.formulas import bounds
from unheard.formulas.boxes import Box, build_boxes, plain_box
from unheard.formulas.confidence import critical_value
from unheard.formulas.evaluate import Answer, Items, Setting, evaluate_limits
from unheard.formulas.gaffke import find_lower_limit
from unheard.formulas.operations import (
    Column,
    Operations,
    add_to_first,
    along,
    name,
    row_maximum,
    total,
    weighted_sum,
)

MAIN = 0.75
"""Share of the miss probability given to the limit that is usually the sharper one."""


class _Cumulants(NamedTuple):
    """Mean, variance and third cumulant of the total distance from an end of the scale."""

    center: Column
    variance: Column
    third: Column


def stratum_term_names(setting: Setting) -> list[str]:
    """List the names of the columns that :func:`stratum_terms` returns."""
    names = ["size", "estimate", "lower", "upper"]
    if setting.level is None:
        return names
    return names + [f"{end}_{moment}" for end in _ENDS for moment in _Cumulants._fields]


_ENDS = ("low", "high")


def stratum_terms(
    items: Items, setting: Setting, answer: Answer, ops: Operations
) -> dict[str, Column]:
    """Return, by name, the columns to be added up over the strata of a population.

    Parameters
    ----------
    items
        The strata; their sizes are n.
    setting
        What all strata have in common.
    answer
        Estimates and bounds of the strata; their confidence limits are not used.
    ops
        The engine's operations.
    """
    size = items.n
    terms = {
        "size": size,
        "estimate": size * answer.estimate,
        "lower": size * answer.lower,
        "upper": size * answer.upper,
    }
    if setting.level is None:
        return terms

    def find_cumulants(
        counts: Sequence[Column], distances: Sequence[float], box: Box
    ) -> _Cumulants:
        return _find_cumulants(counts, distances, box, size, ops)

    flat = plain_box(len(setting.values))
    sides = build_boxes(setting.kind, items.q, setting.box, len(setting.values))
    low, high = (flat if side is None else side for side in sides)
    up, down = bounds.measure_distances(setting.values)
    found = ops.both_ends(
        find_cumulants, (items.counts, up, low), (items.counts[::-1], down, high.reversed())
    )
    for end, cumulants in zip(_ENDS, found, strict=True):
        terms |= {f"{end}_{moment}": column for moment, column in cumulants._asdict().items()}
    return terms


def _find_cumulants(
    counts: Sequence[Column],
    distances: Sequence[float],
    box: Box,
    size: Column,
    ops: Operations,
) -> _Cumulants:
    """Return the cumulants of a stratum's total distance from the end that comes first."""
    # The rating that the stratum may have missed is at this end, and has the largest weight.
    missed = name("missed", row_maximum(box.most, ops))
    center = bounds.find_extreme_mean(counts, distances, box, ops, missed)

    def find_weight(distance: Column, most: Column, few: Column) -> Column:
        return name("weight", ops.where(center > distance, most, few))

    weights = along(find_weight, distances, box.most, box.fewest)
    scale = name("scale", ops.divide(size, weighted_sum(weights, counts) + missed))

    def find_pull(weight: Column, distance: Column) -> Column:
        return name("pull", weight * (distance - center) * scale)

    pulls = along(find_pull, weights, distances)
    squares = along(lambda count, pull: count * pull * pull, counts, pulls)
    cubes = along(mul, squares, pulls)
    alone = name("missed_pull", find_pull(missed, 0.0))
    square = alone * alone
    variance = name("variance", total(squares) + square)
    third = name("third", 2.0 * (total(cubes) + square * alone))
    return _Cumulants(name("center", size * center), variance, third)


def combine_strata(
    sums: Mapping[str, Column],
    counts: Sequence[Column],
    setting: Setting,
    q: float | None,
    ops: Operations,
) -> Answer:
    """Return the answer for the whole population.

    Parameters
    ----------
    sums
        The sums over strata of what :func:`stratum_terms` returns.
    counts
        The sums over strata of the counts; not used without a level.
    setting
        What all strata have in common.
    q
        Participation ratio or floor of all strata; None if none is stated, or if each stratum has
        its own.
    ops
        The engine's operations.
    """
    size = sums["size"]
    estimate, lower, upper = (
        ops.divide(sums[name], size) for name in ("estimate", "lower", "upper")
    )
    if setting.level is None:
        return Answer(estimate, lower, upper)
    low, high = (
        _Cumulants(*(sums[f"{end}_{moment}"] for moment in _Cumulants._fields)) for end in _ENDS
    )
    below, above = _find_limits(low, high, Items(counts, q, size), setting, ops)
    return Answer(estimate, lower, upper, ops.least(below, lower), ops.greatest(above, upper))


def _find_limits(
    low: _Cumulants, high: _Cumulants, everybody: Items, setting: Setting, ops: Operations
) -> tuple[Column, Column]:
    """Return the confidence limits of the whole population."""
    level, values = setting.level, setting.values
    assert level is not None  # the caller checks

    def find_by_strata(at: float) -> tuple[Column, Column]:
        below, above = (_quantile(one, everybody.n, critical_value(at), ops) for one in (low, high))
        return values[0] + below, values[-1] - above

    helps = _n_helps(everybody, setting, False), _n_helps(everybody, setting, True)
    plain = find_by_strata(level)
    if not any(helps):
        return plain
    main, rest = _split_miss(level, MAIN), _split_miss(level, 1 - MAIN)
    if not setting.is_ratio:
        by_strata = find_by_strata(rest)
        together = evaluate_limits(everybody, replace(setting, level=main), ops)
    elif setting.people:
        by_strata, together = plain, _find_certain_limits(everybody, values, ops)
    else:
        by_strata = find_by_strata(main)
        together = _find_worst_limits(everybody, values, helps, critical_value(rest), ops)
    return (
        ops.greatest(by_strata[0], together[0]) if helps[0] else plain[0],
        ops.least(by_strata[1], together[1]) if helps[1] else plain[1],
    )


def _find_certain_limits(
    everybody: Items, values: Sequence[float], ops: Operations
) -> tuple[Column, Column]:
    """Return the means of these people with all non-respondents at either end.

    No sampling error is left in them.
    """
    ratings, unseen = weighted_sum(values, everybody.counts), everybody.n - everybody.seen
    low, high = (ops.divide(ratings + end * unseen, everybody.n) for end in (values[0], values[-1]))
    return low, high


def _find_worst_limits(
    everybody: Items,
    values: Sequence[float],
    wanted: tuple[bool, bool],
    z: float,
    ops: Operations,
) -> tuple[Column, Column]:
    """Return the limits that hold if all non-respondents are at the end that a limit is towards.

    A limit that is not wanted is that end.
    """
    unseen = name("unseen", everybody.n - everybody.seen)

    def find_limit(counts: Sequence[Column], distances: Sequence[float]) -> Column:
        people = add_to_first(counts, unseen)
        return find_lower_limit(distances, people, plain_box(len(values)), z, ops)

    up, down = bounds.measure_distances(values)
    from_low, from_high = (everybody.counts, up), (everybody.counts[::-1], down)
    if all(wanted):
        low, high = ops.both_ends(find_limit, from_low, from_high)
    else:
        low = find_limit(*from_low) if wanted[0] else 0.0
        high = find_limit(*from_high) if wanted[1] else 0.0
    return values[0] + low, values[-1] - high


def _n_helps(everybody: Items, setting: Setting, upper: bool) -> bool:
    """Whether the numbers of people say more than how to weight the strata."""
    if setting.box is not None:
        return setting.people or not setting.box.rigid
    if everybody.q is None:
        # Strata with floors of their own do not form a population with one floor.
        return setting.is_ratio
    one_sided = setting.kind == ("low" if upper else "high")
    return not one_sided and everybody.q < 1.0


def _split_miss(level: float, share: float) -> float:
    """Return the level of a limit that has a share of the miss probability."""
    return 1 - share * (1 - level)


def _quantile(moments: _Cumulants, size: Column, z: float, ops: Operations) -> Column:
    """Return the smallest distance of the mean from the near end."""
    center, variance, third = moments
    skew = ops.where(variance > 0.0, ops.divide(third, variance), 0.0)
    least = center - z * ops.sqrt(variance) + ((z * z - 1.0) / 6.0) * skew
    return ops.greatest(ops.divide(least, size), 0.0)
