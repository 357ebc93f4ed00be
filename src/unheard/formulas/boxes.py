"""Boxes: the fewest and the most people that one seen rating may stand for.

Every assumption comes down to one or two of them: from 1/hi to 1/lo people, if people with that
rating respond with a probability between lo and hi.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from unheard.formulas.operations import Column, map_distinct, name
from unheard.options.choices import Quiet

QUIET: tuple[Quiet, ...] = get_args(Quiet)


@dataclass(frozen=True)
class Box:
    """How many people one seen rating may stand for.

    Attributes
    ----------
    fewest, most
        One column per rating: 1/hi and 1/lo.
    gives
        Which upper sides grow as q falls.
    """

    fewest: Sequence[Column]
    most: Sequence[Column]
    gives: tuple[bool, ...]

    @classmethod
    def elastic(cls, fewest: Sequence[Column], most: Sequence[Column]) -> Box:
        """Build a box whose upper sides all grow as q falls."""
        return cls(fewest, most, (True,) * len(most))

    @property
    def rigid(self) -> bool:
        """Whether the number of people that each rating stands for is known."""
        return all(
            few is many or (isinstance(few, float) and isinstance(many, float) and few == many)
            for few, many in zip(self.fewest, self.most, strict=True)
        )

    @property
    def room(self) -> Sequence[Column]:
        """How many more people than the fewest each rating may stand for."""
        return map_distinct(lambda many, few: name("room", many - few), self.most, self.fewest)

    def reversed(self) -> Box:
        """Return the same box seen from the other end of the scale."""
        return Box(self.fewest[::-1], self.most[::-1], self.gives[::-1])


def plain_box(m: int) -> Box:
    """Return the box that lets every rating stand for one person."""
    ones = (1.0,) * m
    return Box.elastic(ones, ones)


def build_boxes(kind: str, q: Column, fixed: Box | None, m: int) -> tuple[Box | None, Box | None]:
    """Return the boxes that determine the lower and the upper bound.

    Parameters
    ----------
    kind
        Kind of assumption.
    q
        Participation ratio or floor, a number or a column; where ``fixed`` is given, the factor
        that loosens it, or None.
    fixed
        The box of the kinds that state one per rating.
    m
        Number of ratings.

    Returns
    -------
    tuple
        None for a bound means that it is the plain average: with g rising in the rating, the mean
        is largest when g does not vary, and the greedy choice at the other end is itself monotone.
    """
    if fixed is not None:
        if q is not None:
            fixed = Box.elastic(fixed.fewest, map_distinct(lambda w: w / q, fixed.most))
        return fixed, fixed
    ones, inverse = (1.0,) * m, name("most", 1.0 / q)
    if kind == "middle":
        inner = Box(ones, (1.0, *((inverse,) * (m - 2)), 1.0), (False, *((True,) * (m - 2)), False))
        return inner, inner
    whole = Box.elastic(ones, (inverse,) * m)
    return None if kind == "high" else whole, None if kind == "low" else whole
