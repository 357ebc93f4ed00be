"""Confidence limits of a difference when one shared participation distorts both items.

At the true weights w the difference has a limit like that of any two weighted means
(:mod:`unheard.analysis.difference_limits`). Because w is unknown, the limit is the minimum over all
weights that the assumption allows: it is no higher than the one at the true weights, and misses no
more often. (The limit at the weights that minimize the *sample's* difference misses half the time:
where a rating has a count of zero, these weights are arbitrary.)

**Which weights to evaluate.** Suppose that the true difference is at most d at some weights. Then
this is so at some weights on an *edge* of the box, or on a segment between thresholds
(:mod:`unheard.analysis.shared_difference`), which does not depend on the sample. If d is not
negative, it is so at a *corner*: Σ w a v Σ w b - Σ w b v Σ w a - d Σ w a Σ w b is at most zero, and
is concave along each weight. So corners suffice for a positive limit.

Otherwise points on each segment are evaluated, at which weights grow by a factor R from one to the
next. In between, a mean deviates from its chord by at most κ² widths of the scale,
κ = (√R - 1)/(√R + 1) (:mod:`unheard.analysis.shared_tests`): at one of the two neighbouring points
the difference is at most d + 2κ². Along an edge of a box it is also at most d + (R - 1)²|d|/4, by
concavity. The limit allows for the smaller of the two.

**Only the minimum counts.** A point is skipped if the probability that its difference is below the
smallest limit so far is proved to be at most the miss probability.
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
    build_distribution,
    choose_scores,
    find_sum_limits,
)
from unheard.formulas.operations import Floats

MOST_FREE = 11
"""Number of free weights up to which all corners and edges of the box are evaluated."""

_MOST_POINTS = 20_000
_WASTE = 0.004
"""How much the steps along a segment may cost, as a share of the sampling error of one rating."""

_BATCH = 4
_PORTION = 4096

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class WeightBox:
    """The numbers of people that one observed rating may stand for, in both items.

    Attributes
    ----------
    low, high
        Smallest and largest number, lowest rating first.
    falling
        1 if weights decrease with the rating, -1 if they increase, 0 if they are unrestricted.
    """

    low: Floats
    high: Floats
    falling: int

    def fix_unobserved(self, counts: Floats) -> WeightBox:
        """Fix the weights of ratings with a count of zero where they reduce the limit most."""
        if self.falling:
            return self
        return WeightBox(np.where(counts > 0, self.low, self.high), self.high, 0)

    @property
    def free(self) -> int:
        """Number of weights that are not fixed."""
        return int(np.count_nonzero(self.high > self.low))

    @property
    def many(self) -> bool:
        """Whether there are too many corners to evaluate."""
        return not self.falling and self.free > MOST_FREE

    def list_corners(self) -> Floats:
        """Return all corners of the box."""
        sides = [sorted({a, b}) for a, b in zip(self.low, self.high, strict=True)]
        return np.array(list(product(*sides)))

    def list_segments(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield the two ends of every edge, or of every segment between thresholds."""
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
            for start in rest.list_corners():
                stop = start.copy()
                stop[r] = self.high[r]
                yield start, stop

    def list_points(self, stretch: float) -> tuple[Floats, float]:
        """Return points on all segments, and the factor by which weights grow between two."""
        ends = [np.array(end) for end in zip(*self.list_segments(), strict=True)]
        if not ends:
            return self.low[None], 1.0
        ratio = float((ends[1] / ends[0]).max())
        most = max(2, _MOST_POINTS // len(ends[0]))
        steps = int(min(np.ceil(np.log(ratio) / np.log(stretch)), most)) if ratio > 1 else 1
        share = np.linspace(0.0, 1.0, steps + 1)[:, None, None]
        points = ends[0] * (ends[1] / ends[0]) ** share
        return np.unique(points.reshape(-1, len(self.low)), axis=0), ratio ** (1 / steps)


def find_least_difference(a: Sample, b: Sample, weights: WeightBox, miss: float) -> float | None:
    """Return a lower limit of the first mean minus the second, in widths of the scale.

    Parameters
    ----------
    a, b
        Both samples, measured from the bottom of the scale.
    weights
        The numbers of people that an observed rating may stand for.
    miss
        The miss probability: that of lying above the difference.

    Returns
    -------
    float or None
        None if there are too many weights to evaluate.
    """
    if weights.many:
        return None
    weights, second = weights.fix_unobserved(a.mass + b.mass), b.reverse()
    if not weights.falling:
        least = _find_least_limit(a, second, weights.list_corners(), miss)
        if least > 0 or not weights.free:
            return least
    points, growth = weights.list_points(_choose_stretch(a, b))
    least = _find_least_limit(a, second, points, miss)
    slack, bend = _compute_slack(growth), (growth - 1) ** 2 / 4
    if not weights.falling and bend < 1:
        slack = min(slack, -least / (1 - bend) + least)
    return float(least - slack)


def is_ahead(a: Sample, b: Sample, weights: WeightBox, miss: float) -> bool | None:
    """Tell whether :func:`find_least_difference` is positive, which is faster than finding it."""
    if weights.many:
        return None
    weights, second = weights.fix_unobserved(a.mass + b.mass), b.reverse()
    points, growth = weights.list_corners(), 1.0
    if weights.falling:
        points, growth = weights.list_points(_choose_stretch(a, b))
    ahead = _compute_slack(growth)
    return _find_least_limit(a, second, points, miss, enough=ahead) > ahead


def _choose_stretch(a: Sample, b: Sample) -> float:
    """Return the factor by which weights may grow from one point to the next."""
    waste = _WASTE * sum(np.sqrt(x.square.sum()) / x.mass.sum() for x in (a, b))
    root = np.sqrt(waste / 2)
    return float(((1 + root) / (1 - root)) ** 2)


def _compute_slack(growth: float) -> float:
    kappa = (np.sqrt(growth) - 1) / (np.sqrt(growth) + 1)
    return float(2 * kappa**2)


def _find_least_limit(
    first: Sample, second: Sample, weights: Floats, miss: float, enough: float | None = None
) -> float:
    """Return the smallest limit of the difference over rows of weights.

    With ``enough``, stop as soon as it is known whether the smallest limit exceeds it.
    """
    wanted = choose_scores(miss)
    left, best = np.argsort(_approximate_limits(first, second, weights)), 1.0
    while len(left):
        if enough is not None:
            left = _keep_not_above(first, second, weights, left, enough, miss)
        some, left = left[:_BATCH], left[_BATCH:]
        w, back = weights[some], weights[some, ::-1]
        sums = find_sum_limits(
            build_distribution(first, w, w, wanted),
            build_distribution(second, back, back, wanted),
            miss,
        )
        best = min(best, float(sums.min(initial=2.0)) - 1)
        if enough is not None and best <= enough:
            break
        left = _keep_not_above(first, second, weights, left, best, miss)
    return best


def _keep_not_above(
    first: Sample, second: Sample, weights: Floats, rows: Rows, limit: float, miss: float
) -> Rows:
    """Return the rows of weights whose limit is not proved to be above a given one."""
    if not len(rows):
        return rows
    portions = (rows[start : start + _PORTION] for start in range(0, len(rows), _PORTION))
    probabilities = [
        bound_probabilities(first, second, weights[some], weights[some, ::-1], 1 + limit)
        for some in portions
    ]
    return rows[np.concatenate(probabilities) > miss]


def _approximate_limits(first: Sample, second: Sample, weights: Floats) -> Floats:
    """Return approximate limits, so that the smallest are evaluated first."""
    means, variances = [], []
    for sample, w in ((first, weights), (second, weights[:, ::-1])):
        nearest = sample.unit * (sample.places == 0)
        mass, square = sample.mass + nearest, sample.square + nearest
        total = w @ mass
        mean = w @ (mass * sample.places) / total
        means.append(mean)
        variances.append((w * (sample.places - mean[:, None])) ** 2 @ square / total**2)
    return np.asarray(sum(means) - 2 * np.sqrt(sum(variances)))
