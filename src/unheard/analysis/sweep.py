"""Sensitivity analysis: the estimate, its bounds and its confidence interval for many q."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from unheard.analysis.breakdown import (
    Claim,
    build_question_at_one,
    find_breakdown_by_row,
    find_largest_q,
)
from unheard.errors import AssumptionError, OptionError
from unheard.formulas.operations import Floats
from unheard.model.arguments import SensitivityOptions
from unheard.model.histograms import CountsLike
from unheard.model.question import Question, build_question, require_level
from unheard.model.results import Chart, Result
from unheard.model.studies import read_named_q
from unheard.options.choices import Method
from unheard.options.unknown import check_options

GRID = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
"""The participation ratios of a sweep, by default."""


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result):
    """The estimates for one histogram, one for each q, largest q first.

    Attributes
    ----------
    q
        The participation ratios, or floors. For participation stated per rating, the factors that
        loosen it.
    method
        The estimator; for participation stated per rating, the middle of the bounds.
    estimate, lower, upper, ci_lower, ci_upper
        As in :class:`unheard.Estimate`, one entry for each q.
    notes
        A tuple of notes for each q.
    question
        The counts, the assumption at q = 1 and the settings.
    claim
        A claim about the mean, if there is one.
    breakdown_q, ci_breakdown_q
        The claim holds at every larger q, ignoring sampling error and allowing for it; None if
        there is no claim, or it holds at no q.
    name
        The item of a table that the histogram belongs to; None if its counts were given.
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
    name: str | None = None

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
    above: float | None = None,
    below: float | None = None,
    **options: Unpack[SensitivityOptions],
) -> Sweep:
    """Estimate the mean for many participation ratios.

    Parameters
    ----------
    counts, n
        One histogram, and its number of people, as in :func:`unheard.estimate`.
    q
        Participation ratios, or names of presets and studies; by default some from 1 to 0.01.
    floor
        Instead of q: least probabilities of responding. Requires n.
    above, below
        A claim: the mean is above, or below, this threshold. Its breakdown q is then found as well.
    **options
        ``scale``, ``quiet``, ``participation``, ``g``, ``assumption``, ``level`` and ``covers``, as
        in :func:`unheard.estimate`. Participation stated per rating is loosened by q; see
        :meth:`unheard.Assumption.at`.

    Examples
    --------
    >>> found = sweep([120, 30, 45, 200, 605], [1, 0.5, 0.3])
    >>> [round(float(x), 2) for x in found.lower]
    [4.14, 3.73, 3.35]
    """
    check_options(sweep, options, SensitivityOptions)
    check_one_grid(q, floor)
    if floor is None:
        question = build_question_at_one(counts, n, **options)
    else:
        question = build_question(counts, floor=1.0, n=n, **options)
    claim = None
    if above is not None or below is not None:
        claim = Claim.read(above, below, question.counts.scale)
    return sweep_question(question, _read_grid(q if floor is None else floor), claim)


def check_one_grid(q: object, floor: object) -> None:
    """Raise if both q and floor are to be varied."""
    if q is not None and floor is not None:
        raise AssumptionError(
            "floor", problem="{argument} and {q} cannot be combined", hint="State one of them"
        )


def _read_grid(q: Sequence[float | str] | float | str | None) -> Sequence[float]:
    if q is None:
        return GRID
    several = [q] if isinstance(q, str | int | float | np.integer) else q
    return [read_named_q(one) if isinstance(one, str) else one for one in several]


def sweep_question(question: Question, q: Sequence[float], claim: Claim | None = None) -> Sweep:
    """Answer a question about one histogram for many q, and find the breakdown q of a claim."""
    if question.counts.rows != 1:
        raise question.counts.refuse_several("counts", "Sweep one at a time")
    if not np.size(q):
        raise OptionError(
            "q", problem="{argument} has no values", hint="Give some, or leave {argument} out"
        )
    require_level(question.level)
    # Checked in the order given, so that an error names the right index.
    checked = question.assumption.at(q).q
    falling = np.sort(np.atleast_1d(np.asarray(checked)))[::-1]
    method: Method = "paa" if question.counts.n is None else "midpoint"
    asked = question.at(falling, np.zeros(len(falling), np.intp))
    (found,) = asked.answer_rows([method])
    low, high, notes = found.ci_lower.copy(), found.ci_upper.copy(), list(found.notes)
    # A smaller q allows whatever a larger one does, but the limits for participation stated per
    # rating may move inward a little. A q that the response rate contradicts does not count.
    holds = falling <= find_largest_q(question)[0]
    low[holds] = np.minimum.accumulate(low[holds])
    high[holds] = np.maximum.accumulate(high[holds])
    broken: list[float | None] = [None, None]
    if claim is not None:
        ends = (float(find_breakdown_by_row(question, claim, error)[0]) for error in (False, True))
        broken = [None if np.isnan(end) else end for end in ends]
    numbers = (found.estimate, found.lower, found.upper, low, high)
    return Sweep(falling, method, *numbers, notes, question, claim, broken[0], broken[1])
