"""Sums over the ratings below every threshold of a scale, all at once.

A bound is found by trying every rating as a threshold, and each threshold needs sums over the
ratings on either side. Computed separately they would cost m**2 steps; here the sums of one
threshold build on those of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import add, mul, sub
from typing import TypeAlias

from unheard.formulas.operations import (
    Column,
    along,
    are_identical,
    running_total,
    shifted,
)

Moments: TypeAlias = list[Sequence[Column]]
"""Numbers of people, sums of their distances from a point, and of the squares, up to a degree; each
a list with one column per threshold."""


@dataclass
class WeightedMoments:
    """Moments of weighted counts, as a function of the weights.

    Often the weights are the same column for every rating. Then the moments are those of the
    counts, computed once for all weights, and the weight is a factor.

    Attributes
    ----------
    moments
        One of the functions below.
    places
        The positions of the counts on the scale.
    counts
        One column per place.
    degree
        The highest power of distances needed.
    """

    moments: Callable[[Sequence[float], Sequence[Column], int], Moments]
    places: Sequence[float]
    counts: Sequence[Column]
    degree: int
    _plain: Moments | None = field(default=None, init=False)

    def by(self, weights: Sequence[Column], degree: int) -> tuple[Column, Moments]:
        """Return a factor, and the moments up to a degree that it multiplies."""
        if not are_identical(weights):
            people = along(mul, weights, self.counts)
            return 1.0, self.moments(self.places, people, degree)
        if self._plain is None:
            self._plain = self.moments(self.places, self.counts, self.degree)
        return weights[0], self._plain


def accumulate_moments(places: Sequence[float], counts: Sequence[Column], degree: int) -> Moments:
    """Return moments around zero of people at the first place, the first two, ... and at all."""
    found = [running_total(counts)]
    for _ in range(degree):
        counts = along(mul, places, counts)
        found.append(running_total(counts))
    return found


def accumulate_moments_below(
    places: Sequence[float], counts: Sequence[Column], degree: int
) -> Moments:
    """Return moments of the people below each place around that place; places ascend.

    They are running totals of running totals: from one place to the next, everybody below moves
    away by the gap g between them. The sum of distances d grows by g for each, and the sum of
    squares by g (d + (d + g)). Only positive terms are added, so nothing cancels, however many
    people there are and however long the scale is.
    """
    gaps = along(sub, places, shifted(places, places[0]))
    grown = shifted(running_total(counts), 0.0)
    found = [grown]
    for _ in range(degree):
        found.append(running_total(along(mul, gaps, grown)))
        grown = along(add, shifted(found[-1], 0.0), found[-1])
    return found
