"""Sums over the ratings below every threshold of a scale, all at once.

A bound is found by trying every rating as a threshold, and each threshold needs sums over the
ratings on either side. Computed separately they would cost m**2 steps; here the sums of one
threshold build on those of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from unheard.formulas.operations import Column, accumulate_columns, are_identical

Moments: TypeAlias = list[list[Column]]
"""Numbers of people, sums of their distances from a point, and of the squares, up to a degree; each
a list with one column per threshold."""


class WeightedMoments:
    """Moments of weighted counts, as a function of the weights.

    Often the weights are the same column for every rating. Then the moments are those of the
    counts, computed once for all weights, and the weight is a factor.

    Parameters
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

    def __init__(
        self,
        moments: Callable[[Sequence[float], Sequence[Column], int], Moments],
        places: Sequence[float],
        counts: Sequence[Column],
        degree: int,
    ) -> None:
        self._moments, self._places, self._counts = moments, places, counts
        self._degree = degree
        self._plain: Moments | None = None

    def by(self, weights: Sequence[Column], degree: int) -> tuple[Column, Moments]:
        """Return a factor, and the moments up to a degree that it multiplies."""
        if not are_identical(weights):
            people = [w * c for w, c in zip(weights, self._counts, strict=True)]
            return 1.0, self._moments(self._places, people, degree)
        if self._plain is None:
            self._plain = self._moments(self._places, self._counts, self._degree)
        return weights[0], self._plain


def accumulate_moments(places: Sequence[float], counts: Sequence[Column], degree: int) -> Moments:
    """Return moments around zero of people at the first place, the first two, ... and at all."""
    found = [accumulate_columns(counts)]
    for _ in range(degree):
        counts = [place * count for place, count in zip(places, counts, strict=True)]
        found.append(accumulate_columns(counts))
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
    gaps = [high - low for low, high in pairwise(places)]
    found = [accumulate_columns(counts[:-1])]
    grown = found[0]
    for _ in range(degree):
        found.append(
            accumulate_columns([gap * each for gap, each in zip(gaps, grown, strict=True)])
        )
        grown = [low + high for low, high in pairwise((0.0, *found[-1]))]
    return [[0.0, *sums] for sums in found]
