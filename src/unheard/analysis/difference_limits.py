"""Confidence limits of a difference of two means, from the limits of each mean at every level.

The lower limits of a mean at all levels form a confidence distribution: the lowest distribution
of the mean that the data allow [XS13]. With y = w (v - t) as large or as small as the assumption
allows, the probability of "the mean is at most t" is Gaffke's [G05],

    F(t) = P(Σ_r y_r Gamma(n_r) + (min_r y_r) Gamma(1) <= 0),

with independent Gamma variables. The lower limit of A - B requires a low A and a high B. Measure
A's mean from the bottom of the scale and B's from its top, as shares of its width: the limit is the
quantile of the *sum of the two*, which are independent as the samples are, less one width. For two
ratings and d = 0 this is Fisher's exact test [A69]; where both are normal it is the usual limit,
and where both tails are exponential, as for items whose ratings all agree, it is Fisher's product
[F32]. Adding the distances of two limits as squares [ZD08] is correct in the normal case only: with
5 ratings at each end of the scale, it then covers 86% of the time instead of 95%.

F is computed from two moments of each of two sums, that of the positive y and that of the negative
y, each approximated by one Gamma variable: the probability that one exceeds the other is an
incomplete beta function. This is exact for two ratings; docs/confidence.md has the results of
enumeration for more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, ndtr, ndtri

from unheard.formulas.operations import Floats

_NODES = 64
_FIRST_NODES = 25
_BEYOND = 2.5
"""How many normal scores beyond the requested one both distributions are evaluated: a sum of two is
low because one of them is very low, or because both are somewhat low."""

_HALVINGS = 42
_FINE_HALVINGS = 12
_CELLS = 600
_FEW_CELLS = 16


@dataclass(frozen=True, eq=False)
class Sample:
    """The ratings of one item, measured from one end of the scale.

    Attributes
    ----------
    mass, square
        For each rating, nearest to that end first: the sum of the survey weights and of their
        squares. Both are the counts if there are no survey weights.
    places
        The distance of each rating from that end, in widths of the scale.
    """

    mass: Floats
    square: Floats
    places: Floats

    @property
    def unit(self) -> float:
        """The weight of one more rating, missed by chance."""
        seen = self.mass > 0
        return float((self.square[seen] / self.mass[seen]).max())

    def reverse(self) -> Sample:
        """Return the same ratings, measured from the other end."""
        return Sample(self.mass[::-1], self.square[::-1], 1 - self.places[::-1])


@dataclass(frozen=True, eq=False)
class Distribution:
    """The lowest distributions that the means may have, one row each.

    Attributes
    ----------
    places
        Quantiles, increasing along each row; there is no probability below the first.
    scores
        The normal scores of their probabilities.
    """

    places: Floats
    scores: Floats


def choose_scores(miss: float, nodes: int = _NODES) -> Floats:
    """Return the normal scores at which to evaluate distributions, given a miss probability."""
    reach = max(_BEYOND, -float(ndtri(miss))) + _BEYOND
    return np.linspace(-reach, reach, nodes)


def build_distribution(sample: Sample, few: Floats, most: Floats, wanted: Floats) -> Distribution:
    """Find the lowest quantiles that a mean may have, at given normal scores.

    Parameters
    ----------
    sample
        The ratings.
    few, most
        The smallest and largest number of people that a rating stands for, one row per
        distribution.
    wanted
        Normal scores, increasing.
    """
    center, spread = _locate_means(sample, few, most)
    # Tails may be as long as those of an exponential variable: go far out, in growing steps.
    steps = np.sinh(np.linspace(-4.0, 4.0, _FIRST_NODES))
    rough = np.clip(center[:, None] + spread[:, None] * steps, 0.0, 1.0)
    probabilities, levels = compute_probabilities(sample, few, most, rough), ndtr(wanted)
    after = (probabilities[:, :, None] < levels).sum(axis=1)
    ends = np.pad(rough, ((0, 0), (1, 1)), constant_values=(0.0, 1.0))
    low, high = (np.take_along_axis(ends, after + k, axis=1) for k in (0, 1))
    for _ in range(_FINE_HALVINGS):
        t = (low + high) / 2
        below = compute_probabilities(sample, few, most, t) < levels
        low, high = np.where(below, t, low), np.where(below, high, t)
    return Distribution(low, np.broadcast_to(wanted, low.shape))


def compute_probabilities(sample: Sample, few: Floats, most: Floats, t: Floats) -> Floats:
    """Return the probability that a mean is at most t, for each row of weights and of t."""
    away = sample.places - t[..., None]
    y = np.where(away < 0, most[:, None, :], few[:, None, :]) * away
    one = -y.min(axis=-1) * sample.unit
    up, down = np.maximum(y, 0.0), np.maximum(-y, 0.0)
    more, more_squared = up @ sample.mass, (up * up) @ sample.square
    less, less_squared = down @ sample.mass + one, (down * down) @ sample.square + one * one
    known = (more > 0) & (less > 0)
    more, more_squared, less, less_squared = (
        np.where(known, x, 1.0) for x in (more, more_squared, less, less_squared)
    )
    scale_up, scale_down = more_squared / more, less_squared / less
    share = scale_down / (scale_up + scale_down)
    found = betainc(more / scale_up, less / scale_down, share)
    # At the near end no rating is below t; at the far end none is above it.
    return np.where(known, found, np.where(t > 0, 1.0, 0.0))


def _locate_means(sample: Sample, few: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Return roughly the center and the standard deviation of each distribution."""
    low, high = np.zeros(len(few)), np.ones(len(few))
    for _ in range(_HALVINGS):
        t = (low + high) / 2
        away = sample.places - t[:, None]
        w = np.where(away < 0, most, few)
        y = w * away
        ahead = y @ sample.mass + y.min(axis=1) * sample.unit > 0
        low, high = np.where(ahead, t, low), np.where(ahead, high, t)
    variance = (y * y) @ sample.square + (y.min(axis=1) * sample.unit) ** 2
    return t, np.sqrt(variance) / (w @ sample.mass)


def bound_probabilities(
    first: Sample, second: Sample, weights: Floats, back: Floats, sums: float
) -> Floats:
    """Return an upper bound of the probability that two means sum to at most ``sums``.

    There is one for each row of weights. The distribution of the second mean is cut into a few
    cells, each of which is placed at its lower end.
    """
    mass = second.mass + second.unit * (np.arange(len(second.mass)) == 0)
    total = back @ mass
    center = back @ (mass * second.places) / total
    away = second.places - center[:, None]
    spread = np.sqrt((back * away) ** 2 @ (second.square + second.unit * (second.places == 0)))
    steps = center[:, None] + (spread / total)[:, None] * np.linspace(-4.0, 4.0, _FEW_CELLS)
    starts = np.clip(steps, 0.0, 1.0)
    below = compute_probabilities(second, back, back, starts)
    rest = np.clip(sums - np.pad(starts, ((0, 0), (1, 0))), 0.0, 1.0)
    low_enough = np.where(rest < 1.0, compute_probabilities(first, weights, weights, rest), 1.0)
    return np.asarray((np.diff(below, prepend=0.0, append=1.0) * low_enough).sum(axis=1))


def find_sum_limits(first: Distribution, second: Distribution, miss: float) -> Floats:
    """Return the ``miss`` quantile of the sum of two independent means, row by row."""
    return np.array(
        [
            _find_sum_limit(*rows, miss)
            for rows in zip(first.places, first.scores, second.places, second.scores, strict=True)
        ]
    )


def _find_sum_limit(x: Floats, x_scores: Floats, y: Floats, y_scores: Floats, miss: float) -> float:
    cells, masses = _cut_into_cells(y, y_scores)

    def probability(total: float) -> float:
        score = np.interp(total - cells, x, x_scores, left=-np.inf)
        return float(masses @ ndtr(score))

    low, high = float(x[0] + y[0]), float(x[-1] + y[-1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if probability(middle) > miss else (middle, high)
    return low


def _cut_into_cells(places: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Cut a distribution into small cells: return where they start, and their probabilities."""
    fine = np.linspace(scores[0], scores[-1], _CELLS)
    starts = np.interp(fine, scores, places)
    return np.append(places[0], starts), np.diff(ndtr(fine), prepend=0.0, append=1.0)
