"""The difference of two means: what it can be, and its limits with sampling error.

Two ways, see :mod:`unheard.analysis.compare`: each item has its own participation, or one
participation distorts both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import ndtr

from unheard.analysis.difference_limits import (
    Distribution,
    Sample,
    choose_scores,
    distributions,
    find_sum_limits,
)
from unheard.analysis.shared_difference import find_shared_range
from unheard.analysis.shared_difference_limits import WeightBox, find_least_difference, is_ahead
from unheard.formulas.boxes import boxes
from unheard.formulas.operations import Floats
from unheard.model.assumption import fixed_box
from unheard.model.question import Question

T = TypeVar("T")

_EVERY = 3
"""Of the scores below the median, every so many get the limit that knows n."""


class DifferenceSolver(NamedTuple):
    """How a difference is found.

    Attributes
    ----------
    bounds
        The ends of its interval.
    limit
        One confidence limit, the upper one if so asked.
    settles
        Whether A is ahead of B, sampling error allowed for; or B of A, if so asked.
    """

    bounds: Callable[[Question], tuple[float, float]]
    limit: Callable[[Question, bool], float]
    settles: Callable[[Question, bool], bool]

    def find_bounds_and_limits(self, question: Question) -> tuple[float, float, float, float]:
        """Return lower and upper end, then the confidence limits, which lie no further in."""
        lower, upper = self.bounds(question)
        ci_lower, ci_upper = (self.limit(question, end) for end in (False, True))
        return lower, upper, min(ci_lower, lower), max(ci_upper, upper)


def _separate_bounds(question: Question) -> tuple[float, float]:
    lower, upper = replace(question, level=None).intervals()
    return float(lower[0] - upper[1]), float(upper[0] - lower[1])


def _separate_limit(question: Question, upper: bool) -> float:
    return _signed(question, upper, _separate_least(question, upper, _miss(question)))


def _separate_settles(question: Question, second: bool) -> bool:
    return _separate_least(question, second, _miss(question)) > 0


def _separate_least(question: Question, upper: bool, miss: float) -> float:
    """Return the lower limit of the difference, or of B - A, in widths of the scale."""
    first, second = _in_turn(_samples(question), upper)
    wanted = choose_scores(miss)
    low, high = (np.array(_sides(question, end))[:, None] for end in (0, 1))
    below = distributions(first, low[0], low[1], wanted)
    above = distributions(second.reverse(), high[0, :, ::-1], high[1, :, ::-1], wanted)
    if question.counts.n is not None:
        rows = _in_turn((0, 1), upper)
        below, above = (
            _narrowed(one, question, row, end)
            for one, row, end in zip((below, above), rows, (False, True), strict=True)
        )
    return float(find_sum_limits(below, above, miss)[0]) - 1


def _narrowed(found: Distribution, question: Question, row: int, upper: bool) -> Distribution:
    """Replace quantiles by limits that know n, where there are any: below the median."""
    places, scale = found.places[0].copy(), question.counts.scale
    scores = found.scores[0]
    one = replace(question, counts=question.counts.take(np.array([row])))
    for k in np.flatnonzero(scores < 0)[::_EVERY]:
        limit = float(replace(one, level=1 - 2 * float(ndtr(scores[k]))).one_limit(upper=upper)[0])
        away = scale.highest - limit if upper else limit - scale.lowest
        known = away / scale.width
        # A limit stands at every weaker level too.
        places[k:] = np.maximum(places[k:], known)
    return Distribution(places[None], found.scores)


def _shared_bounds(question: Question) -> tuple[float, float]:
    assumption = question.assumption
    q = 1.0 if assumption.q is None else float(assumption.q)
    cells = np.asarray(question.counts.cells, np.float64)
    values = np.array(question.counts.scale.values)
    least, most = find_shared_range(
        cells[0], cells[1], values, assumption.kind, q, fixed_box(assumption)
    )
    # Whatever holds with separate participation holds with a shared one too.
    low, high = _separate_bounds(question)
    lower, upper = max(least.bound, low), min(most.bound, high)
    # No shared participation may fit the numbers of people; the notes of both items tell.
    return (lower, upper) if lower <= upper else (low, high)


def _shared_limit(question: Question, upper: bool) -> float:
    weights, miss = _weights(question), _shared_miss(question)
    alone = _separate_least(question, upper, miss)
    if weights.free:
        first, second = _in_turn(_samples(question), upper)
        found = find_least_difference(first, second, weights, miss)
        alone = alone if found is None else max(alone, found)
    return _signed(question, upper, alone)


def _shared_settles(question: Question, second: bool) -> bool:
    weights, miss = _weights(question), _shared_miss(question)
    one, other = _in_turn(_samples(question), second)
    if weights.free and is_ahead(one, other, weights, miss):
        return True
    return _separate_least(question, second, miss) > 0


def _shared_miss(question: Question) -> float:
    """Return the miss probability of the two limits that stand: one shares, and one knows n."""
    counts, weights, miss = question.counts, _weights(question), _miss(question)
    if counts.n is None or not weights.free:
        return miss
    # Where n excludes nothing that the assumption allows, both are the same but for sharing.
    stands = float(weights.high.max())
    if question.assumption.is_ratio and (counts.n_ratings * stands <= counts.n).all():
        return miss
    return miss / 2


def _weights(question: Question) -> WeightBox:
    kind = question.assumption.kind
    few, most = _sides(question, 1 if kind == "high" else 0)
    return WeightBox(few, most, {"low": 1, "high": -1}.get(kind, 0))


def _miss(question: Question) -> float:
    assert question.level is not None  # checked where the comparison starts
    return (1 - question.level) / 2


def _signed(question: Question, upper: bool, least: float) -> float:
    return (-least if upper else least) * question.counts.scale.width


def _in_turn(pair: Sequence[T], swap: bool) -> Sequence[T]:
    """Return A and B for the lower limit of A - B; the upper one is the lower one of B - A."""
    return pair[::-1] if swap else pair


def _samples(question: Question) -> list[Sample]:
    counts, scale = question.counts, question.counts.scale
    cells = np.asarray(counts.cells, np.float64)
    if counts.effective is not None:
        cells = cells * (counts.effective / counts.n_ratings)[:, None]
    squares = cells if counts.weights is None else counts.weights.squares
    places = (np.array(scale.values) - scale.lowest) / scale.width
    return [Sample(row, square, places) for row, square in zip(cells, squares, strict=True)]


def _sides(question: Question, end: int) -> tuple[Floats, Floats]:
    """Return how few and how many people a rating may stand for at one end of the interval."""
    assumption, m = question.assumption, question.counts.scale.m
    q = None if assumption.q is None else float(assumption.q)
    box = boxes(assumption.kind, q, fixed_box(assumption), m)[end]
    if box is None:
        return np.ones(m), np.ones(m)
    return np.array(box.fewest, np.float64), np.array(box.most, np.float64)


SEPARATE = DifferenceSolver(_separate_bounds, _separate_limit, _separate_settles)
SHARED = DifferenceSolver(_shared_bounds, _shared_limit, _shared_settles)
