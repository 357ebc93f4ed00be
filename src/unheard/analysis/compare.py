"""A against B: the difference of two means, and what would overturn who is ahead.

Two ways. *Separate*: each item has its own unknown participation, so the smallest difference is
A's lowest mean less B's highest. *Shared*: the same habits of the same sort of crowd distort both,
which is much sharper; see :mod:`unheard.analysis.shared_difference`.

Noise: the limits of a difference follow from those of its two terms at every level
(:mod:`unheard.analysis.difference_limits`). In the shared case the limit is the least of those for
each participation that is allowed (:mod:`unheard.analysis.shared_difference_limits`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unheard.analysis.breakdown import find_largest_q, find_smallest_q
from unheard.analysis.differences import SEPARATE, SHARED, DifferenceSolver
from unheard.errors import CountsError, Given, OptionError, PopulationError
from unheard.formulas.operations import Floats
from unheard.model.assumption import Assumption
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.question import Question, build_question
from unheard.model.results import Estimate, Result
from unheard.model.scale import Scale


@dataclass(frozen=True)
class Difference:
    """The mean of A less the mean of B.

    Attributes
    ----------
    estimate
        Middle of the interval.
    lower, upper
        Interval: everything the difference can be under the assumption, noise aside.
    ci_lower, ci_upper
        Confidence interval.
    breakdown_q, ci_breakdown_q
        How quiet people may be before it is open who is ahead, noise aside and with noise: the
        item that is ahead at q = 1 is ahead at every larger q. 0: at every q (with noise no q below
        :data:`LEAST_Q` is looked at, and that is the least); None: not even at q = 1.
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
    """A against B.

    Attributes
    ----------
    question
        Both histograms, A first, with the assumption.
    a, b
        Their estimates, each on its own.
    separate
        The difference if each has its own participation.
    shared
        The difference if one participation distorts both.
    leader
        The one that is ahead at q = 1, ``a`` or ``b``: by their averages, unless the assumption
        states participation per rating. None if they are equal.
    names
        What the two are called.
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
            Show one way alone: with one participation shared by both items, or with separate
            ones; by default both.
        """
        return self._summarize(shared=shared)


def compare(
    a: CountsLike,
    b: CountsLike,
    q: float | str | None = None,
    *,
    floor: float | None = None,
    n: tuple[float, float] | None = None,
    scale: Scale | Sequence[float] | str | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Assumption | None = None,
    level: float = 0.95,
    covers: str = "mean",
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """Compare two items.

    Parameters
    ----------
    a, b
        Counts of the two, as in :func:`unheard.estimate`.
    n
        How many people there are for each, if known. The shared case makes use of it only as far
        as the separate one does.
    q, floor, scale, quiet, participation, g, assumption, level, covers
        As in :func:`unheard.estimate`.
    names
        What to call the two items.

    Examples
    --------
    >>> found = compare([5, 10, 35, 120, 30], [30, 25, 45, 80, 20], q=0.5)
    >>> round(found.separate.lower, 2), round(found.shared.lower, 2)
    (0.04, 0.43)
    >>> round(found.separate.breakdown_q, 2), round(found.shared.breakdown_q, 2)
    (0.47, 0.0)
    """
    rows = _stack_counts(a, b, None if scale is None else Scale.read(scale))
    if n is not None and np.size(n) != 2:
        raise PopulationError("n", f"{n!r} found", "Give two numbers, A's and B's")
    question = build_question(
        rows,
        q,
        floor=floor,
        n=n,
        scale=scale,
        quiet=quiet,
        participation=participation,
        g=g,
        assumption=assumption,
        level=level,
        covers=covers,
    )
    check_has_ratings(question, ("a", "b"))
    return compare_rows(question, names)


def check_has_ratings(question: Question, names: tuple[str, str]) -> None:
    """Raise if one of two items has no ratings."""
    for name, seen in zip(names, question.counts.n_ratings, strict=True):
        if not seen:
            raise CountsError(name, "no ratings", "Nothing can be said of an item nobody rated")


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
        raise CountsError(
            name,
            problem="{argument} must be one histogram",
            value=Given(f"an array of shape {one.cells.shape}"),
            hint="Select one row",
        )
    return one


def compare_rows(question: Question, names: tuple[str, str] = ("A", "B")) -> Comparison:
    """Compare the two rows of a question."""
    if question.level is None:
        raise OptionError("level", "none given", "A comparison shows noise; give a level")
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
"""No smaller q is looked at, sampling error allowed for: nobody assumes one."""

_GRID = 24
"""How many q are looked at, from the largest down, for one at which it is open who is ahead."""

_FINE = 1e-7


def _describe_difference(
    question: Question, way: DifferenceSolver, leader: str | None
) -> Difference:
    lower, upper, ci_lower, ci_upper = way.find_bounds_and_limits(question)
    noiseless = with_noise = None
    if leader is not None:
        noiseless = _find_breakdown_q(question, way, leader)
        if noiseless is not None:
            with_noise = _find_breakdown_q_with_sampling_error(question, way, leader, noiseless)
    middle = (lower + upper) / 2
    return Difference(middle, lower, upper, ci_lower, ci_upper, noiseless, with_noise)


def _find_breakdown_q(question: Question, way: DifferenceSolver, leader: str) -> float | None:
    end, sign = (0, 1.0) if leader == "a" else (1, -1.0)

    def margin(q: Floats, _rows: NDArray[np.intp]) -> Floats:
        return np.array([sign * way.find_bounds(question.at(float(one)))[end] for one in q])

    most = find_largest_q(question).min(keepdims=True)
    found = float(find_smallest_q(margin, np.zeros(1, np.intp), np.zeros(1), most)[0])
    return None if np.isnan(found) else found


def _find_breakdown_q_with_sampling_error(
    question: Question, way: DifferenceSolver, leader: str, noiseless: float
) -> float | None:
    """Go down from the largest q until who is ahead is open; the claim holds all along the run."""

    def settled(log_q: float) -> bool:
        return way.is_ahead(question.at(float(np.exp(log_q))), leader == "b")

    start = float(np.log(find_largest_q(question).min()))
    last = min(float(np.log(max(noiseless, LEAST_Q))), start)
    if not settled(start):
        return None
    holds, fails = start, None
    for here in np.linspace(start, last, _GRID + 1)[1:].tolist():
        if not settled(here):
            fails = here
            break
        holds = here
    while fails is not None and holds - fails > _FINE:
        middle = (holds + fails) / 2
        holds, fails = (middle, fails) if settled(middle) else (holds, middle)
    return max(float(np.exp(holds)), noiseless)
