"""A against B: the difference of two means, and what would overturn who is ahead.

Two ways. *Separate*: each item has its own unknown participation, so the smallest difference is
A's lowest mean less B's highest. *Shared*: the same habits of the same sort of crowd distort both,
which is much sharper; see :mod:`unheard.decide.shared`.

Noise: the limits of a difference follow from those of its two terms; their distances add as squares
[ZD08]. In the shared case they are the limits at the participation that makes the difference
smallest (largest).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.core.columns import NUMPY, Floats
from unheard.core.confidence import critical_value, free_limits
from unheard.core.estimate import Estimate, Inquiry, inquire
from unheard.core.participation import Box, Participation, fixed_box
from unheard.core.scale import Scale
from unheard.core.showing import Shows
from unheard.decide.breakdown import first_failure, largest_q, smallest_q
from unheard.decide.shared import Extreme, shared_range
from unheard.errors import CountsError, OptionError, PopulationError


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
        item that is ahead at q = 1 is ahead at every larger q. 0: at every q; None: not even at
        q = 1.
    """

    estimate: float
    lower: float
    upper: float
    ci_lower: float
    ci_upper: float
    breakdown_q: float | None
    ci_breakdown_q: float | None


@dataclass(frozen=True, eq=False)
class Comparison(Shows):
    """A against B; it shows itself in notebooks.

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
    """

    question: Inquiry
    a: Estimate
    b: Estimate
    separate: Difference
    shared: Difference
    leader: str | None


def compare(
    a: ArrayLike,
    b: ArrayLike,
    q: float | str | None = None,
    *,
    floor: float | None = None,
    n: tuple[float, float] | None = None,
    scale: Scale | Sequence[float] | str | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Participation | None = None,
    level: float = 0.95,
    covers: str = "mean",
) -> Comparison:
    """Compare two items.

    Parameters
    ----------
    a, b
        Counts of the two: how often each rating was given, lowest first.
    n
        How many people there are for each, if known. The shared case makes use of it only as far
        as the separate one does.
    q, floor, scale, quiet, participation, g, assumption, level, covers
        As in :func:`unheard.estimate`.

    Examples
    --------
    >>> found = compare([5, 10, 35, 120, 30], [30, 25, 45, 80, 20], q=0.5)
    >>> round(found.separate.lower, 2), round(found.shared.lower, 2)
    (0.04, 0.43)
    >>> round(found.separate.breakdown_q, 2), round(found.shared.breakdown_q, 2)
    (0.47, 0.0)
    """
    rows = _two_rows(a, b)
    if n is not None and np.size(n) != 2:
        raise PopulationError("n", f"{n!r} found", "Give two numbers, A's and B's")
    question = inquire(
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
    check_rated(question, ("a", "b"))
    return compare_rows(question)


def check_rated(question: Inquiry, names: tuple[str, str]) -> None:
    """Raise if one of two items has no ratings."""
    for name, seen in zip(names, question.counts.n_ratings, strict=True):
        if not seen:
            raise CountsError(name, "no ratings", "Nothing can be said of an item nobody rated")


def _two_rows(a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    first, second = np.asarray(a), np.asarray(b)
    for name, row in (("a", first), ("b", second)):
        if row.ndim != 1:
            raise CountsError(name, f"an array of shape {row.shape} found", "Give one histogram")
    if len(first) != len(second):
        raise CountsError(
            "b", f"{len(second)} counts, and a has {len(first)}", "Give both on the same scale"
        )
    return np.stack([first, second])


def compare_rows(question: Inquiry) -> Comparison:
    """Compare the two rows of a question."""
    if question.level is None:
        raise OptionError("level", "none given", "A comparison shows noise; give a level")
    both = question.answer([question.middle_method()])[0]
    a, b = (_one_of(both, row) for row in (0, 1))
    lower, upper, *_ = question.at(1.0).intervals()
    ahead = float(lower[0] + upper[0] - lower[1] - upper[1])
    leader = None if ahead == 0 else ("a" if ahead > 0 else "b")
    return Comparison(
        question,
        a,
        b,
        _difference(question, _separate, leader),
        _difference(question, _shared, leader),
        leader,
    )


def _one_of(many: Estimate, row: int) -> Estimate:
    names = ("estimate", "lower", "upper", "ci_lower", "ci_upper")
    numbers = {name: float(getattr(many, name)[row]) for name in names}
    question = many.question
    assert question is not None  # it has just been answered
    own = replace(question, counts=question.counts.take(np.array([row])))
    return Estimate(many.method, **numbers, flags=many.flags[row], question=own)


_GRID = 40
"""How many q are looked at: the shared case costs more than a look at an interval."""

Range = tuple[float, float, float, float]
"""Lower and upper end, then the confidence limits."""


def _difference(
    question: Inquiry, found_at: Callable[[Inquiry], Range], leader: str | None
) -> Difference:
    lower, upper, ci_lower, ci_upper = found_at(question)
    noiseless = with_noise = None
    if leader is not None:
        noiseless = _breakdown(question, found_at, leader, noise=False, least=0.0)
        if noiseless is not None:
            with_noise = _breakdown(question, found_at, leader, noise=True, least=noiseless)
    middle = (lower + upper) / 2
    return Difference(middle, lower, upper, ci_lower, ci_upper, noiseless, with_noise)


def _breakdown(
    question: Inquiry,
    found_at: Callable[[Inquiry], Range],
    leader: str,
    *,
    noise: bool,
    least: float,
) -> float | None:
    end = (0 if leader == "a" else 1) + (2 if noise else 0)
    sign = 1.0 if leader == "a" else -1.0

    def margin(q: Floats, _rows: NDArray[np.intp]) -> Floats:
        return np.array([sign * found_at(question.at(float(one)))[end] for one in q])

    row, start = np.zeros(1, np.intp), np.array([least])
    if noise:
        start = first_failure(margin, row, start, _GRID)
    most = largest_q(question).min(keepdims=True)
    found = float(smallest_q(margin, row, start, most)[0])
    return None if np.isnan(found) else found


def _separate(question: Inquiry) -> Range:
    lower, upper, ci_lower, ci_upper = question.intervals()
    low, high = float(lower[0] - upper[1]), float(upper[0] - lower[1])
    return (
        low,
        high,
        low - float(np.hypot(lower[0] - ci_lower[0], ci_upper[1] - upper[1])),
        high + float(np.hypot(ci_upper[0] - upper[0], lower[1] - ci_lower[1])),
    )


def _shared(question: Inquiry) -> Range:
    assumption = question.assumption
    q = 1.0 if assumption.q is None else float(assumption.q)
    cells = np.asarray(question.counts.cells, np.float64)
    values = np.array(question.counts.scale.values)
    fixed = fixed_box(assumption)
    least, most = shared_range(cells[0], cells[1], values, assumption.kind, q, fixed)
    # Whatever holds with separate participation holds with a shared one too.
    low, high, ci_low, ci_high = _separate(question)
    lower, upper = max(least.bound, low), min(most.bound, high)
    if lower > upper:
        # No shared participation fits the numbers of people; the flags of both items tell.
        lower, upper = low, high
    level = question.level
    assert level is not None  # checked where the comparison starts
    return (
        lower,
        upper,
        max(min(least.bound - _noise(question, least, 0, level), lower), ci_low),
        min(max(most.bound + _noise(question, most, 1, level), upper), ci_high),
    )


def _noise(question: Inquiry, extreme: Extreme, first: int, level: float) -> float:
    """How far sampling may move a difference, at the participation that makes it extreme.

    ``first`` is the item whose lower limit counts: A for the smallest, B for the largest.
    """
    counts = question.counts
    cells = np.asarray(counts.cells, np.float64)
    if counts.effective is not None:
        cells = cells * (counts.effective / counts.n_ratings)[:, None]
    values = counts.scale.values
    weights = tuple((extreme.weights / extreme.weights.max()).tolist())
    box = Box.elastic(weights, weights)
    low, high = free_limits(list(cells.T), values, (box, box), critical_value(level), NUMPY)
    means = cells @ (np.array(weights) * values) / (cells @ np.array(weights))
    second = 1 - first
    return float(np.hypot(means[first] - low[first], high[second] - means[second]))
