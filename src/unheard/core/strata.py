"""Groups of known size put together to one population.

The mean of the whole is the mean of the parts weighted by their sizes, so intervals add. The
distances from each interval to its confidence limit come from independent samples, and add as the
sides of a right angle do [ZD08]. Between the two functions stands a plain sum over the parts, which
every engine can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unheard.core.columns import Column, Operations


class Answer(NamedTuple):
    """An estimate and its intervals, as columns; the confidence limits may be None."""

    estimate: Column
    lower: Column
    upper: Column
    ci_lower: Column
    ci_upper: Column


def terms(size: Column, part: Answer) -> list[Column]:
    """Return the columns that must be added up over the parts of a population."""
    columns = [size, size * part.estimate, size * part.lower, size * part.upper]
    if part.ci_lower is not None:
        below, above = size * (part.lower - part.ci_lower), size * (part.ci_upper - part.upper)
        columns += [below * below, above * above]
    return columns


def combined(sums: Sequence[Column], ops: Operations) -> Answer:
    """Return the answer for the whole from the sums of :func:`terms`."""
    size, *firsts = sums[:4]
    estimate, lower, upper = (ops.divide(first, size) for first in firsts)
    if len(sums) == 4:
        return Answer(estimate, lower, upper, None, None)
    below, above = (ops.divide(ops.sqrt(square), size) for square in sums[4:])
    return Answer(estimate, lower, upper, lower - below, upper + above)
