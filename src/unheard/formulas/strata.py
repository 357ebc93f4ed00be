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
from typing import NamedTuple

from unheard.formulas import bounds
from unheard.formulas.boxes import Box, build_boxes
from unheard.formulas.confidence import critical_value
from unheard.formulas.evaluate import Answer, Items, Setting, evaluate_one_limit
from unheard.formulas.operations import Column, Operations, row_maximum, total, weighted_sum

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
    counts = [_count_name(r) for r in range(len(setting.values))]
    moments = [f"{end}_{name}" for end in _ENDS for name in _Cumulants._fields]
    return names + counts + moments


_ENDS = ("low", "high")


def _count_name(r: int) -> str:
    return f"count_{r}"


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
    terms |= {_count_name(r): count for r, count in enumerate(items.counts)}
    sides = build_boxes(setting.kind, items.q, setting.box, len(setting.values))
    for end, box in zip(_ENDS, sides, strict=True):
        moments = _cumulants(items.counts, setting.values, box, end == "high", size, ops)
        terms |= {f"{end}_{name}": column for name, column in moments._asdict().items()}
    return terms


def _cumulants(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box | None,
    upper: bool,
    size: Column,
    ops: Operations,
) -> _Cumulants:
    """Return the cumulants of a stratum's total distance from an end of the scale."""
    box = box or Box.elastic((1.0,) * len(values), (1.0,) * len(values))
    if upper:
        counts, values, box = counts[::-1], [-v for v in values[::-1]], box.reversed()
    counts, places = [1.0, *counts], [0.0, *(v - values[0] for v in values)]
    box = Box.elastic(
        (row_maximum(box.fewest, ops), *box.fewest), (row_maximum(box.most, ops), *box.most)
    )
    center, _ = bounds.find_bounds_without_n(counts, places, (box, box), ops)
    weights = [
        ops.where(center > place, most, few)
        for place, few, most in zip(places, box.fewest, box.most, strict=True)
    ]
    scale = ops.divide(size, weighted_sum(counts, weights))
    pulls = [w * (place - center) * scale for w, place in zip(weights, places, strict=True)]
    squares = [count * pull * pull for count, pull in zip(counts, pulls, strict=True)]
    cubes = [square * pull for square, pull in zip(squares, pulls, strict=True)]
    return _Cumulants(size * center, total(squares), 2.0 * total(cubes))


def combine_strata(
    sums: Mapping[str, Column], setting: Setting, q: float | None, ops: Operations
) -> Answer:
    """Return the answer for the whole population.

    Parameters
    ----------
    sums
        The sums over strata of what :func:`stratum_terms` returns.
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
    everybody = Items([sums[_count_name(r)] for r in range(len(setting.values))], q, size)
    low, high = (
        _Cumulants(**{name: sums[f"{end}_{name}"] for name in _Cumulants._fields}) for end in _ENDS
    )
    below = _limit(low, everybody, setting, False, ops)
    above = _limit(high, everybody, setting, True, ops)
    return Answer(estimate, lower, upper, ops.least(below, lower), ops.greatest(above, upper))


def _limit(
    moments: _Cumulants, everybody: Items, setting: Setting, upper: bool, ops: Operations
) -> Column:
    """Return one confidence limit of the whole population."""
    level, values = setting.level, setting.values
    assert level is not None  # the caller checks
    near, sign = (values[-1], -1.0) if upper else (values[0], 1.0)

    def by_strata(at: float) -> Column:
        return near + sign * _quantile(moments, everybody.n, critical_value(at), ops)

    sharper = ops.least if upper else ops.greatest
    if not _n_helps(everybody, setting, upper):
        return by_strata(level)
    main, rest = _split_miss(level, MAIN), _split_miss(level, 1 - MAIN)
    if not setting.is_ratio:
        whole = evaluate_one_limit(everybody, replace(setting, level=main), upper, ops)
        return sharper(whole, by_strata(rest))
    unseen = everybody.n - total(everybody.counts)
    counts = [*everybody.counts]
    end = -1 if upper else 0
    counts[end] = counts[end] + unseen
    if setting.people:
        # The mean of these people with all non-respondents at the end: no sampling error is left.
        return sharper(by_strata(level), ops.divide(weighted_sum(values, counts), everybody.n))
    plain = replace(setting, kind="any", box=None, level=rest)
    worst = evaluate_one_limit(Items(counts, 1.0), plain, upper, ops)
    return sharper(by_strata(main), worst)


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
