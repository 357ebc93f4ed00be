"""Sums over the ratings below every threshold of a scale, all at once.

What rules an end of an interval is found by trying every rating as a threshold, and each needs sums
over the ratings on either side. Made anew for every threshold they would cost m**2 steps; here
those of one threshold are made from those of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from unheard.core.columns import Column, alike, running


Made = TypeVar("Made")


class Moments(NamedTuple):
    """Of some people: their number, the sum of their distances from a point, and of the squares."""

    mass: Column
    first: Column
    second: Column


class Weighed(Generic[Made]):
    """Sums over weighted counts, as a function of the weights.

    Most weights are the same column for every rating. Then the sums are those of the counts, made
    once whatever the weight, and the weight is a factor before them.
    """

    def __init__(
        self, sums: Callable[[Sequence[Column]], Made], counts: Sequence[Column]
    ) -> None:
        self._sums, self._counts = sums, counts
        self._plain: Made | None = None

    def by(self, weights: Sequence[Column]) -> tuple[Column, Made]:
        """Return a factor, and the sums that it is to be multiplied with."""
        if not alike(weights):
            return 1.0, self._sums([w * c for w, c in zip(weights, self._counts, strict=True)])
        if self._plain is None:
            self._plain = self._sums(self._counts)
        return weights[0], self._plain


def moments_so_far(places: Sequence[float], counts: Sequence[Column]) -> list[Moments]:
    """Moments around zero of the first count, of the first two, ... and of all."""
    firsts = [place * count for place, count in zip(places, counts, strict=True)]
    seconds = [place * first for place, first in zip(places, firsts, strict=True)]
    return list(map(Moments, running(counts), running(firsts), running(seconds)))


class _Stretch(NamedTuple):
    """A part of the scale: the moments of the people on it, around its end, and its length."""

    people: Moments
    length: float


def moments_below(places: Sequence[float], counts: Sequence[Column]) -> list[Moments]:
    """Moments of the people below each place, around that place; places rise.

    Stretches of the scale are put together, and moving the point that distances are from is a sum
    of positive terms: nothing cancels, however many people there are and however long the scale is.
    """
    stretches = []
    for count, start, end in zip(counts[:-1], places[:-1], places[1:], strict=True):
        length = end - start
        stretches.append(_Stretch(Moments(count, length * count, length**2 * count), length))
    nobody = Moments(0.0, 0.0, 0.0)
    return [nobody, *(stretch.people for stretch in running(stretches, _joined))]


def _joined(low: _Stretch, high: _Stretch) -> _Stretch:
    (mass, first, second), (further, length) = low.people, high
    moved = first + length * mass
    people = Moments(
        mass + further.mass,
        moved + further.first,
        second + length * (first + moved) + further.second,
    )
    return _Stretch(people, low.length + length)
