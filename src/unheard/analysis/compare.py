"""Comparison of two items: the difference of their means, and the breakdown q of its sign.

Participation is *separate* or *shared*. Separate: each item has its own unknown participation, so
the smallest difference is A's lowest mean minus B's highest. Shared: one unknown participation
distorts both, which gives much sharper bounds; see :mod:`unheard.analysis.shared_difference`.

The confidence limits of a difference follow from those of the two means at every level
(:mod:`unheard.analysis.difference_limits`). With shared participation, the limit is the smallest
over all participations that the assumption allows
(:mod:`unheard.analysis.shared_difference_limits`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from unheard.analysis.breakdown import find_largest_q, find_smallest_q
from unheard.analysis.differences import SEPARATE, SHARED, DifferenceSolver
from unheard.errors import CountsError, Given, OptionError, PopulationError
from unheard.formulas.operations import Floats
from unheard.model.arguments import SensitivityOptions
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.question import Question, build_question, require_level
from unheard.model.results import Estimate, Result
from unheard.model.scale import Scale
from unheard.options.unknown import check_options


@dataclass(frozen=True)
class Difference:
    """The mean of A minus the mean of B.

    Attributes
    ----------
    estimate
        Middle of the bounds.
    lower, upper
        Bounds: all values that the assumption allows, ignoring sampling error.
    ci_lower, ci_upper
        Confidence interval.
    breakdown_q, ci_breakdown_q
        The item that is ahead at q = 1 is ahead at every larger q, ignoring sampling error and
        allowing for it. 0 if it is ahead at every q (with sampling error, no q below
        :data:`LEAST_Q` is tested, so that this is the smallest); None if not even at q = 1.
    """

    estimate: float
    lower: float
    upper: float
    ci_lower: float
    ci_upper: float
    breakdown_q: float | None
    ci_breakdown_q: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """The comparison of two items, A and B.

    Attributes
    ----------
    question
        Both histograms, A first, with the assumption.
    a, b
        The estimate of each.
    separate
        The difference with separate participation.
    shared
        The difference with shared participation.
    leader
        The item that is ahead at q = 1, ``a`` or ``b``: by their averages, unless the assumption
        is stated per rating. None if they are equal.
    names
        The names of the two items.
    """

    question: Question
    a: Estimate
    b: Estimate
    separate: Difference
    shared: Difference
    leader: Literal["a", "b"] | None
    names: tuple[str, str] = ("A", "B")

    def summary(self, *, shared: bool | None = None) -> str:
        """Return what the terminal shows.

        Parameters
        ----------
        shared
            Whether to show the difference with shared participation only, or with separate
            participation only; by default both.
        """
        return self._summarize(shared=shared)


def compare(
    a: CountsLike,
    b: CountsLike,
    q: float | str | None = None,
    *,
    floor: float | None = None,
    n: tuple[float, float] | None = None,
    names: tuple[str, str] = ("A", "B"),
    **options: Unpack[SensitivityOptions],
) -> Comparison:
    """Compare the means of two items.

    Parameters
    ----------
    a, b
        Counts of the two, as in :func:`unheard.estimate`.
    q, floor
        The assumption, as in :func:`unheard.estimate`.
    n
        Number of people of each, if known. With shared participation, it is used only as far as
        with separate participation.
    names
        The names of the two items.
    **options
        ``scale``, ``quiet``, ``participation``, ``g``, ``assumption``, ``level`` and ``covers``, as
        in :func:`unheard.estimate`.

    Examples
    --------
    >>> found = compare([5, 10, 35, 120, 30], [30, 25, 45, 80, 20], q=0.5)
    >>> round(found.separate.lower, 2), round(found.shared.lower, 2)
    (0.04, 0.43)
    >>> round(found.separate.breakdown_q, 2), round(found.shared.breakdown_q, 2)
    (0.47, 0.0)
    """
    check_options(compare, options, SensitivityOptions)
    if np.shape(names) != (2,):
        raise OptionError(
            "names", problem="{argument} must be two names, one for each item", value=names
        )
    scale = options.get("scale")
    rows = _stack_counts(a, b, None if scale is None else Scale.read(scale))
    if n is not None and np.size(n) != 2:
        raise PopulationError(
            "n", problem="{argument} must be two numbers, one for each item", value=n
        )
    question = build_question(rows, q, floor=floor, n=n, **options)
    check_has_ratings(question, ("a", "b"))
    return compare_rows(question, names)


def check_has_ratings(question: Question, names: tuple[str, str]) -> None:
    """Raise if one of two items has no ratings."""
    for name, n_ratings in zip(names, question.counts.n_ratings, strict=True):
        if not n_ratings:
            raise CountsError(
                name, problem="{argument} has no ratings", hint="Choose an item with ratings"
            )


def _stack_counts(a: CountsLike, b: CountsLike, scale: Scale | None) -> Histograms:
    first, second = _read_one("a", a, scale), _read_one("b", b, scale)
    if first.scale != second.scale:
        raise CountsError(
            "b",
            problem="{argument} must be on the scale of {a}, {values}",
            value=Given(second.scale.describe()),
            hint="Count both on the same scale",
            values=first.scale.describe(),
        )
    cells = np.concatenate([first.cells, second.cells])
    return Histograms(cells, first.scale, None, None, None, single=False)


def _read_one(name: str, counts: CountsLike, scale: Scale | None) -> Histograms:
    try:
        one = Histograms.of(counts, scale=scale)
    except CountsError as error:
        raise error.about(name) from None
    if not one.single:
        raise one.refuse_several(name, "Select one row")
    return one


def compare_rows(question: Question, names: tuple[str, str] = ("A", "B")) -> Comparison:
    """Compare the two rows of a question."""
    require_level(question.level)
    both = question.answer_rows([question.middle_method()])[0]
    at_one = question.at(1.0).find_bounds()
    middles = at_one.lower + at_one.upper
    ahead = float(middles[0] - middles[1])
    leader: Literal["a", "b"] | None = None if ahead == 0 else ("a" if ahead > 0 else "b")
    return Comparison(
        question,
        both[0],
        both[1],
        _describe_difference(question, SEPARATE, leader),
        _describe_difference(question, SHARED, leader),
        leader,
        names,
    )


LEAST_Q = 1e-4
"""No smaller q is tested with sampling error: nobody assumes one."""

_GRID = 24
"""Number of q, from the largest down, at which it is tested which item is ahead."""

_FINE = 1e-7


def _describe_difference(
    question: Question, solver: DifferenceSolver, leader: str | None
) -> Difference:
    lower, upper, ci_lower, ci_upper = solver.find_bounds_and_limits(question)
    plain = with_error = None
    if leader is not None:
        plain = _find_breakdown_q(question, solver, leader)
        if plain is not None:
            with_error = _find_breakdown_q_with_sampling_error(question, solver, leader, plain)
    middle = (lower + upper) / 2
    return Difference(middle, lower, upper, ci_lower, ci_upper, plain, with_error)


def _find_breakdown_q(question: Question, solver: DifferenceSolver, leader: str) -> float | None:
    end, sign = (0, 1.0) if leader == "a" else (1, -1.0)

    def margin(q: Floats, _rows: NDArray[np.intp]) -> Floats:
        return np.array([sign * solver.find_bounds(question.at(float(one)))[end] for one in q])

    most = find_largest_q(question).min(keepdims=True)
    found = float(find_smallest_q(margin, np.zeros(1, np.intp), np.zeros(1), most)[0])
    return None if np.isnan(found) else found


def _find_breakdown_q_with_sampling_error(
    question: Question, solver: DifferenceSolver, leader: str, plain: float
) -> float | None:
    """Go down from the largest q until the leader is no longer surely ahead."""

    def is_ahead(log_q: float) -> bool:
        return solver.is_ahead(question.at(float(np.exp(log_q))), leader == "b")

    start = float(np.log(find_largest_q(question).min()))
    last = min(float(np.log(max(plain, LEAST_Q))), start)
    if not is_ahead(start):
        return None
    holds, fails = start, None
    for here in np.linspace(start, last, _GRID + 1)[1:].tolist():
        if not is_ahead(here):
            fails = here
            break
        holds = here
    while fails is not None and holds - fails > _FINE:
        middle = (holds + fails) / 2
        holds, fails = (middle, fails) if is_ahead(middle) else (holds, middle)
    return max(float(np.exp(holds)), plain)
