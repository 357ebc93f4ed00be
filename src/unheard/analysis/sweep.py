"""The answer for every assumption: estimate and intervals as q goes from 1 towards 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unheard.analysis.breakdown import (
    Claim,
    build_question_at_one,
    find_breakdown_by_row,
    find_largest_q,
)
from unheard.errors import AssumptionError, CountsError, OptionError
from unheard.formulas.operations import Floats
from unheard.model.assumption import Assumption, read_preset
from unheard.model.histograms import CountsLike
from unheard.model.question import Question
from unheard.model.results import Chart, Result
from unheard.model.scale import Scale
from unheard.options.declarations import Covers, Method, Quiet

GRID = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
"""The q that are looked at if none are named."""


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result):
    """The answers for one histogram, one for each q, largest q first.

    Attributes
    ----------
    q
        The participation ratios, or floors. For participation stated per rating: what it is
        loosened by.
    method
        Which estimate it is; for participation stated per rating the middle of the interval.
    estimate, lower, upper, ci_lower, ci_upper
        As in :class:`unheard.Estimate`, one entry for each q.
    notes
        A tuple of notes for each q.
    question
        What was asked.
    claim
        A claim about the mean, if one was made.
    breakdown_q, ci_breakdown_q
        The claim holds at every larger q, ignoring sampling error and allowing for it; None if
        there is no claim, or it holds at no q.
    """

    q: Floats
    method: Method
    estimate: Floats
    lower: Floats
    upper: Floats
    ci_lower: Floats
    ci_upper: Floats
    notes: list[tuple[str, ...]]
    question: Question
    claim: Claim | None = None
    breakdown_q: float | None = None
    ci_breakdown_q: float | None = None

    def chart(self, *, q: float | None = None) -> Chart:
        """Draw the sweep, with the claim if there is one.

        Parameters
        ----------
        q
            A participation ratio to mark.
        """
        return self._draw(q=q)


def sweep(
    counts: CountsLike,
    q: Sequence[float | str] | float | str | None = None,
    *,
    floor: Sequence[float] | float | None = None,
    n: int | None = None,
    scale: Scale | Sequence[float] | str | None = None,
    quiet: Quiet = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Assumption | None = None,
    level: float = 0.95,
    covers: Covers = "mean",
    above: float | None = None,
    below: float | None = None,
) -> Sweep:
    """Answer one question for many participation ratios.

    Parameters
    ----------
    counts
        One histogram: how often each rating was given, lowest first.
    q
        The participation ratios to look at, or names of presets; by default some from 1 to 0.01.
    floor
        Instead of q: floors to look at. Requires n.
    n, scale, quiet, level, covers
        As in :func:`unheard.estimate`.
    participation, g, assumption
        Participation stated per rating, which is loosened by q: see
        :meth:`unheard.Assumption.at`.
    above, below
        A threshold: also find the q at which the claim that the mean is above (below) it breaks
        down.

    Examples
    --------
    >>> found = sweep([120, 30, 45, 200, 605], [1, 0.5, 0.3])
    >>> [round(float(x), 2) for x in found.lower]
    [4.14, 3.73, 3.35]
    """
    if floor is not None:
        q, (participation, g, assumption) = read_floors(floor, q, participation, g, assumption)
    question = build_question_at_one(
        counts,
        n,
        participation=participation,
        g=g,
        assumption=assumption,
        scale=scale,
        quiet=quiet,
        level=level,
        covers=covers,
    )
    grid = GRID if q is None else ([q] if isinstance(q, str | int | float) else q)
    claim = None
    if above is not None or below is not None:
        claim = Claim.read(above, below, question.counts.scale)
    values = [read_preset(one) if isinstance(one, str) else one for one in grid]
    return sweep_question(question, values, claim)


def read_floors(floor: Any, *others: Any) -> tuple[Any, tuple[None, None, Assumption]]:
    """Return the floors to look at, and the assumption to start from, at a floor of 1."""
    if any(one is not None for one in others):
        raise AssumptionError("floor", "stated together with another", "State one of them")
    return floor, (None, None, Assumption.floor(1.0))


def sweep_question(question: Question, q: Sequence[float], claim: Claim | None = None) -> Sweep:
    """Answer a question about one histogram for many q, and find where a claim breaks down."""
    if question.counts.rows != 1:
        raise CountsError(
            "counts", f"{question.counts.rows} histograms found", "Sweep one at a time"
        )
    if not np.size(q):
        raise OptionError("q", "no values given", "Give some, or leave them out")
    # Checked as they were given, so that an error names the right one.
    checked = question.assumption.at(q).q
    falling = np.sort(np.atleast_1d(np.asarray(checked)))[::-1]
    method: Method = "paa" if question.counts.n is None else "midpoint"
    asked = question.at(falling, np.zeros(len(falling), np.intp))
    (found,) = asked.answer_rows([method])
    low, high, notes = found.ci_lower.copy(), found.ci_upper.copy(), list(found.notes)
    # What a larger q leaves open, a smaller one does too; see decide.breakdown on unequal limits.
    # A q that the response rate contradicts says nothing about the others.
    holds = falling <= find_largest_q(question)[0]
    low[holds] = np.minimum.accumulate(low[holds])
    high[holds] = np.maximum.accumulate(high[holds])
    broken: list[float | None] = [None, None]
    if claim is not None:
        ends = (float(find_breakdown_by_row(question, claim, error)[0]) for error in (False, True))
        broken = [None if np.isnan(end) else end for end in ends]
    numbers = (found.estimate, found.lower, found.upper, low, high)
    return Sweep(falling, method, *numbers, notes, question, claim, *broken)
