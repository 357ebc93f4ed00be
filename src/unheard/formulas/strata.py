"""Groups of known size put together to one population.

The mean of the whole is the mean of the parts weighted by their sizes, so intervals add. Confidence
limits do not: an end of an interval is biased by chance, always to the same side, and over many
parts noise averages out and bias does not.

So each part is first given one more rating, that it may have missed by chance, at the end of the
scale that the limit is against: Gaffke's limit [G05] does so too, and is the quantile of a
distribution of the mean around the end of the interval that the ratings then have. Around it a
rating counts y = w (v - t) over the mass of the part, which varies as a Gamma variable: the
variance of the part is the sum of y**2, its skewness follows from that of y**3, and both add up
over independent parts. The limit is the quantile of the whole by Cornish and Fisher's expansion
[CF38]. Between the two functions stands a plain sum over the parts, which every engine can do.

Knowing the numbers of people helps beyond that, by a second limit that stands as well; the two
share the miss probability.

- If participation itself is stated, it holds for the population as a whole: all ratings are put
  together, and the limit for one item serves. It keeps its level if parts are alike or not.
- If only ratios are stated, parts may respond at different rates and nothing is known of the whole,
  except for this: the silent are no worse than the end of the scale. That is a limit for ratings
  of everybody, the silent ones at that end, and is sharp if nearly everybody responded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from scipy.special import ndtr, ndtri

from unheard.formulas import bounds
from unheard.formulas.boxes import Box, boxes
from unheard.formulas.evaluate import Items, Setting, one_limit
from unheard.formulas.operations import Column, Operations, peak, total, weighted

MAIN = 0.75
"""Share of the miss probability of the limit that is the sharper one more often than not."""

_MOMENTS = 3


class Answer(NamedTuple):
    """An estimate and its intervals, as columns; the confidence limits may be None."""

    estimate: Column
    lower: Column
    upper: Column
    ci_lower: Column
    ci_upper: Column


def number_of_terms(setting: Setting) -> int:
    """Return how many columns :func:`terms` returns."""
    return 4 if setting.z is None else 4 + len(setting.values) + 2 * _MOMENTS


def terms(items: Items, setting: Setting, part: Answer, ops: Operations) -> list[Column]:
    """Return the columns that must be added up over the parts of a population.

    Parameters
    ----------
    items
        The parts; their sizes are n.
    setting
        What is the same for all.
    part
        Estimates and intervals of the parts; their confidence limits are not used.
    ops
        The arithmetic.
    """
    size = items.n
    columns = [size, size * part.estimate, size * part.lower, size * part.upper]
    if setting.z is not None:
        columns += items.counts
        ends = boxes(setting.kind, items.q, setting.box, len(setting.values))
        for upper, box in enumerate(ends):
            columns += _moments(items.counts, setting.values, box, bool(upper), size, ops)
    return columns


def _moments(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box | None,
    upper: bool,
    size: Column,
    ops: Operations,
) -> list[Column]:
    """Return mean, variance and third cumulant of a part's total distance from an end."""
    box = box or Box.elastic((1.0,) * len(values), (1.0,) * len(values))
    if upper:
        counts, values, box = counts[::-1], [-v for v in values[::-1]], box.reversed()
    counts, places = [1.0, *counts], [0.0, *(v - values[0] for v in values)]
    box = Box.elastic((peak(box.fewest, ops), *box.fewest), (peak(box.most, ops), *box.most))
    center, _ = bounds.free_interval(counts, places, (box, box), ops)
    weights = [
        ops.where(center > place, most, few)
        for place, few, most in zip(places, box.fewest, box.most, strict=True)
    ]
    scale = ops.divide(size, weighted(counts, weights))
    pulls = [w * (place - center) * scale for w, place in zip(weights, places, strict=True)]
    squares = [count * pull * pull for count, pull in zip(counts, pulls, strict=True)]
    cubes = [square * pull for square, pull in zip(squares, pulls, strict=True)]
    return [size * center, total(squares), 2.0 * total(cubes)]


def combined(sums: Sequence[Column], setting: Setting, q: float | None, ops: Operations) -> Answer:
    """Return the answer for the whole from the sums of :func:`terms`.

    Parameters
    ----------
    sums
        In the order of :func:`terms`.
    setting
        What is the same for all.
    q
        Participation ratio or floor of all parts; None if none is stated, or they have their own.
    ops
        The arithmetic.
    """
    size, *firsts = sums[:4]
    estimate, lower, upper = (ops.divide(first, size) for first in firsts)
    if setting.z is None:
        return Answer(estimate, lower, upper, None, None)
    m = len(setting.values)
    counts, low, high = sums[4 : 4 + m], sums[4 + m : 7 + m], sums[7 + m : 10 + m]
    everybody = Items(counts, q, size)
    below = _limit(low, everybody, setting, False, ops)
    above = _limit(high, everybody, setting, True, ops)
    return Answer(estimate, lower, upper, ops.least(below, lower), ops.greatest(above, upper))


def _limit(
    moments: Sequence[Column], everybody: Items, setting: Setting, upper: bool, ops: Operations
) -> Column:
    """Return one confidence limit of the whole."""
    z, values = setting.z, setting.values
    assert z is not None  # the caller looked
    near, sign = (values[-1], -1.0) if upper else (values[0], 1.0)

    def by_parts(score: float) -> Column:
        return near + sign * _quantile(moments, everybody.n, score, ops)

    better = ops.least if upper else ops.greatest
    if not _n_helps(everybody, setting, upper):
        return by_parts(z)
    if not setting.is_ratio:
        whole = one_limit(everybody, replace(setting, z=_at_share(z, MAIN)), upper, ops)
        return better(whole, by_parts(_at_share(z, 1 - MAIN)))
    silent = everybody.n - total(everybody.counts)
    counts = [*everybody.counts]
    end = -1 if upper else 0
    counts[end] = counts[end] + silent
    if setting.people:
        # These people, the silent ones at the end: nothing is left to chance.
        return better(by_parts(z), ops.divide(weighted(values, counts), everybody.n))
    plain = replace(setting, kind="any", box=None, z=_at_share(z, 1 - MAIN))
    worst = one_limit(Items(counts, 1.0), plain, upper, ops)
    return better(by_parts(_at_share(z, MAIN)), worst)


def _n_helps(everybody: Items, setting: Setting, upper: bool) -> bool:
    """Whether the numbers of people say more than how to weigh the parts."""
    if setting.box is not None:
        return setting.people or not setting.box.rigid
    if everybody.q is None:
        # Parts with their own floors are no population with one.
        return setting.is_ratio
    one_sided = setting.kind == ("low" if upper else "high")
    return not one_sided and everybody.q < 1.0


def _at_share(z: float, share: float) -> float:
    """Critical value at a share of the miss probability."""
    return float(-ndtri(share * ndtr(-z)))


def _quantile(moments: Sequence[Column], size: Column, z: float, ops: Operations) -> Column:
    """Return how far from the near end the mean lies at the least."""
    center, variance, third = moments
    skew = ops.where(variance > 0.0, ops.divide(third, variance), 0.0)
    found = center - z * ops.sqrt(variance) + ((z * z - 1.0) / 6.0) * skew
    return ops.greatest(ops.divide(found, size), 0.0)
