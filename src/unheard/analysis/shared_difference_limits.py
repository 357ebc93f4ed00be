"""Confidence limits of a difference when one participation distorts both items.

At the true weights w the difference has a limit as any two weighted means have one
(:mod:`unheard.analysis.difference_limits`). Nobody knows w; so the limit is the least over all that
are allowed, which is no higher than the one at the true weights and misses no more often. (The
limit at the weights that make the *sample's* difference smallest misses half the time: where a
rating was not seen these weights are arbitrary.)

**Which weights need a look.** Suppose that a difference is really d or less at some weights. Then
it is so at some weights on an *edge* of the box, or on a segment between thresholds
(:mod:`unheard.analysis.shared_difference`), which does not depend on the sample. If d is not
negative it is so at a *corner*: Σ w a v Σ w b - Σ w b v Σ w a - d Σ w a Σ w b is at most zero, and
bends downwards along each weight. So corners alone make a positive limit.

Otherwise points on each segment are looked at, at which weights grow by a factor R from one to the
next. In between a mean leaves its chord by at most κ² widths of the scale, κ = (√R - 1)/(√R + 1)
(:mod:`unheard.analysis.shared_tests`): at one of the two points next to it the difference is at
most d + 2κ². Along an edge of a box it is also at most d + (R - 1)²|d|/4, as the bend shows. The
limit allows for the smaller of the two.

**Only the least counts.** A point is left out if the chance that its difference lies below the
least limit so far is proved to be no more than the miss probability.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from unheard.analysis.difference_limits import (
    Sample,
    bound_probabilities,
    choose_scores,
    distributions,
    find_sum_limits,
)
from unheard.formulas.operations import Floats

MOST_FREE = 11
"""Free weights up to which a limit is looked for at all corners and edges of the box."""

_MOST_POINTS = 20_000
_WASTE = 0.004
"""Share of the sampling error of one rating that the steps along a segment may cost."""

_BATCH = 4
_PORTION = 4096

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class WeightBox:
    """What one seen rating may stand for, in both items.

    Attributes
    ----------
    low, high
        Fewest and most people, lowest rating first.
    falling
        1 if weights must fall as the rating rises, -1 if they must rise, 0 if they may do both.
    """

    low: Floats
    high: Floats
    falling: int

    def for_ratings(self, seen: Floats) -> WeightBox:
        """Put the weights of unseen ratings where they harm most: nothing was seen of them."""
        if self.falling:
            return self
        return WeightBox(np.where(seen > 0, self.low, self.high), self.high, 0)

    @property
    def free(self) -> int:
        """Number of weights to be chosen."""
        return int(np.count_nonzero(self.high > self.low))

    @property
    def many(self) -> bool:
        """Whether there are too many corners to look at."""
        return not self.falling and self.free > MOST_FREE

    def corners(self) -> Floats:
        """Return all corners of the box."""
        sides = [sorted({a, b}) for a, b in zip(self.low, self.high, strict=True)]
        return np.array(list(product(*sides)))

    def segments(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield the two ends of every segment."""
        m = len(self.low)
        if self.falling:
            place = np.arange(m)[:: self.falling]
            for i in range(m):
                for j in range(i + 1, m + 1):
                    ends = (np.where(place < k, self.high, self.low) for k in (i, j))
                    yield next(ends), next(ends)
            return
        for r in np.flatnonzero(self.high > self.low):
            rest = WeightBox(self.low, np.where(np.arange(m) == r, self.low, self.high), 0)
            for start in rest.corners():
                stop = start.copy()
                stop[r] = self.high[r]
                yield start, stop

    def points(self, stretch: float) -> tuple[Floats, float]:
        """Return points on all segments, and the factor by which weights grow between two."""
        ends = [np.array(end) for end in zip(*self.segments(), strict=True)]
        if not ends:
            return self.low[None], 1.0
        ratio = float((ends[1] / ends[0]).max())
        most = max(2, _MOST_POINTS // len(ends[0]))
        steps = int(min(np.ceil(np.log(ratio) / np.log(stretch)), most)) if ratio > 1 else 1
        share = np.linspace(0.0, 1.0, steps + 1)[:, None, None]
        points = ends[0] * (ends[1] / ends[0]) ** share
        return np.unique(points.reshape(-1, len(self.low)), axis=0), ratio ** (1 / steps)


def find_least_difference(a: Sample, b: Sample, weights: WeightBox, miss: float) -> float | None:
    """Return a lower limit of the first mean less the second, in widths of the scale.

    Parameters
    ----------
    a, b
        Both samples, seen from the bottom of the scale.
    weights
        What a seen rating may stand for.
    miss
        Probability to lie above the difference.

    Returns
    -------
    float or None
        None if there are too many weights to look at.
    """
    if weights.many:
        return None
    weights, second = weights.for_ratings(a.mass + b.mass), b.reverse()
    if not weights.falling:
        least = _least(a, second, weights.corners(), miss)
        if least > 0 or not weights.free:
            return least
    points, growth = weights.points(_stretch(a, b))
    least = _least(a, second, points, miss)
    slack, bend = _slack(growth), (growth - 1) ** 2 / 4
    if not weights.falling and bend < 1:
        slack = min(slack, -least / (1 - bend) + least)
    return float(least - slack)


def is_ahead(a: Sample, b: Sample, weights: WeightBox, miss: float) -> bool | None:
    """Tell whether :func:`find_least_difference` is positive, which is told sooner."""
    if weights.many:
        return None
    weights, second = weights.for_ratings(a.mass + b.mass), b.reverse()
    points, growth = weights.points(_stretch(a, b)) if weights.falling else (weights.corners(), 1.0)
    ahead = _slack(growth)
    return _least(a, second, points, miss, enough=ahead) > ahead


def _stretch(a: Sample, b: Sample) -> float:
    """Return by how much weights may grow from one point to the next."""
    waste = _WASTE * sum(np.sqrt(x.square.sum()) / x.mass.sum() for x in (a, b))
    root = np.sqrt(waste / 2)
    return float(((1 + root) / (1 - root)) ** 2)


def _slack(growth: float) -> float:
    kappa = (np.sqrt(growth) - 1) / (np.sqrt(growth) + 1)
    return float(2 * kappa**2)


def _least(
    first: Sample, second: Sample, weights: Floats, miss: float, enough: float | None = None
) -> float:
    """Return the least limit of the difference over rows of weights.

    If it is known to be larger than ``enough``, or not to be, any number that tells will do.
    """
    wanted = choose_scores(miss)
    left, best = np.argsort(_rough_limits(first, second, weights)), 1.0
    while len(left):
        if enough is not None:
            left = _not_above(first, second, weights, left, enough, miss)
        some, left = left[:_BATCH], left[_BATCH:]
        w, back = weights[some], weights[some, ::-1]
        sums = find_sum_limits(
            distributions(first, w, w, wanted), distributions(second, back, back, wanted), miss
        )
        best = min(best, float(sums.min(initial=2.0)) - 1)
        if enough is not None and best <= enough:
            break
        left = _not_above(first, second, weights, left, best, miss)
    return best


def _not_above(
    first: Sample, second: Sample, weights: Floats, rows: Rows, limit: float, miss: float
) -> Rows:
    """Return the rows of weights whose limit is not proved to lie above some limit."""
    if not len(rows):
        return rows
    portions = (rows[start : start + _PORTION] for start in range(0, len(rows), _PORTION))
    chances = [
        bound_probabilities(first, second, weights[some], weights[some, ::-1], 1 + limit)
        for some in portions
    ]
    return rows[np.concatenate(chances) > miss]


def _rough_limits(first: Sample, second: Sample, weights: Floats) -> Floats:
    """Return about where limits lie, to look at the least first."""
    means, variances = [], []
    for sample, w in ((first, weights), (second, weights[:, ::-1])):
        nearest = sample.unit * (sample.places == 0)
        mass, square = sample.mass + nearest, sample.square + nearest
        total = w @ mass
        mean = w @ (mass * sample.places) / total
        means.append(mean)
        variances.append((w * (sample.places - mean[:, None])) ** 2 @ square / total**2)
    return np.asarray(sum(means) - 2 * np.sqrt(sum(variances)))
