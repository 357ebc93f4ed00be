"""The difference of two means: its bounds and its confidence limits.

Participation is either separate (each item has its own) or shared (one participation distorts
both); see :mod:`unheard.analysis.compare`.
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
    build_distribution,
    choose_scores,
    find_sum_limits,
)
from unheard.analysis.shared_difference import find_shared_range
from unheard.analysis.shared_difference_limits import WeightBox, find_least_difference, is_ahead
from unheard.formulas.boxes import build_boxes
from unheard.formulas.operations import Floats
from unheard.model.assumption import fixed_box
from unheard.model.question import Question

T = TypeVar("T")

_SCORE_STEP = 3
"""Every third score below the median gets the limit that uses n."""


class DifferenceSolver(NamedTuple):
    """How to find the difference of two items, with separate or with shared participation.

    Attributes
    ----------
    find_bounds
        Returns the bounds of the difference.
    find_limit
        Returns a confidence limit: the lower one, or the upper one if the flag is set.
    is_ahead
        Tells whether A is ahead of B with sampling error, or B of A if the flag is set.
    """

    find_bounds: Callable[[Question], tuple[float, float]]
    find_limit: Callable[[Question, bool], float]
    is_ahead: Callable[[Question, bool], bool]

    def find_bounds_and_limits(self, question: Question) -> tuple[float, float, float, float]:
        """Return the bounds, then the confidence limits, which enclose them."""
        lower, upper = self.find_bounds(question)
        ci_lower, ci_upper = (self.find_limit(question, end) for end in (False, True))
        return lower, upper, min(ci_lower, lower), max(ci_upper, upper)


def _find_separate_bounds(question: Question) -> tuple[float, float]:
    bounds = replace(question, level=None).find_bounds()
    lower, upper = bounds.lower, bounds.upper
    return float(lower[0] - upper[1]), float(upper[0] - lower[1])


def _find_separate_limit(question: Question, upper: bool) -> float:
    least = _find_separate_least(question, upper, _miss_probability(question))
    return _to_scale(question, upper, least)


def _is_ahead_separately(question: Question, second: bool) -> bool:
    return _find_separate_least(question, second, _miss_probability(question)) > 0


def _find_separate_least(question: Question, upper: bool, miss: float) -> float:
    """Return the lower limit of A - B, or of B - A, in widths of the scale."""
    first, second = _put_in_order(_build_samples(question), upper)
    wanted = choose_scores(miss)
    low, high = (np.array(_find_weight_range(question, end))[:, None] for end in (0, 1))
    below = build_distribution(first, low[0], low[1], wanted)
    above = build_distribution(second.reverse(), high[0, :, ::-1], high[1, :, ::-1], wanted)
    if question.counts.n is not None:
        rows = _put_in_order((0, 1), upper)
        below, above = (
            _tighten_with_n(one, question, row, end)
            for one, row, end in zip((below, above), rows, (False, True), strict=True)
        )
    return float(find_sum_limits(below, above, miss)[0]) - 1


def _tighten_with_n(
    distribution: Distribution, question: Question, row: int, upper: bool
) -> Distribution:
    """Replace the quantiles below the median by limits that use n, where these are tighter."""
    places, scale = distribution.places[0].copy(), question.counts.scale
    scores = distribution.scores[0]
    one = replace(question, counts=question.counts.take(np.array([row])))
    for k in np.flatnonzero(scores < 0)[::_SCORE_STEP]:
        limit = float(replace(one, level=1 - 2 * float(ndtr(scores[k]))).find_limit(upper=upper)[0])
        away = scale.highest - limit if upper else limit - scale.lowest
        known = away / scale.width
        # A limit holds at every weaker level too.
        places[k:] = np.maximum(places[k:], known)
    return Distribution(places[None], distribution.scores)


def _find_shared_bounds(question: Question) -> tuple[float, float]:
    assumption = question.assumption
    q = 1.0 if assumption.q is None else float(assumption.q)
    cells = np.asarray(question.counts.cells, np.float64)
    values = np.array(question.counts.scale.values)
    least, most = find_shared_range(
        cells[0], cells[1], values, assumption.kind, q, fixed_box(assumption)
    )
    # The bounds with separate participation hold with a shared one too.
    low, high = _find_separate_bounds(question)
    lower, upper = max(least.bound, low), min(most.bound, high)
    # If no shared participation fits the numbers of people, the notes of both items say so.
    return (lower, upper) if lower <= upper else (low, high)


def _find_shared_limit(question: Question, upper: bool) -> float:
    weights, miss = _build_weight_box(question), _miss_probability_of_each(question)
    least = _find_separate_least(question, upper, miss)
    if weights.free:
        first, second = _put_in_order(_build_samples(question), upper)
        shared = find_least_difference(first, second, weights, miss)
        least = least if shared is None else max(least, shared)
    return _to_scale(question, upper, least)


def _is_ahead_shared(question: Question, second: bool) -> bool:
    weights, miss = _build_weight_box(question), _miss_probability_of_each(question)
    one, other = _put_in_order(_build_samples(question), second)
    if weights.free and is_ahead(one, other, weights, miss):
        return True
    return _find_separate_least(question, second, miss) > 0


def _miss_probability_of_each(question: Question) -> float:
    """Return the miss probability of each of two limits, one of which shares and one uses n."""
    counts, weights, miss = (
        question.counts,
        _build_weight_box(question),
        _miss_probability(question),
    )
    if counts.n is None or not weights.free:
        return miss
    # Where n excludes nothing that the assumption allows, only the limit that shares counts.
    stands = float(weights.high.max())
    if question.assumption.is_ratio and (counts.n_ratings * stands <= counts.n).all():
        return miss
    return miss / 2


def _build_weight_box(question: Question) -> WeightBox:
    kind = question.assumption.kind
    few, most = _find_weight_range(question, 1 if kind == "high" else 0)
    return WeightBox(few, most, {"low": 1, "high": -1}.get(kind, 0))


def _miss_probability(question: Question) -> float:
    assert question.level is not None  # compare_rows checks it
    return (1 - question.level) / 2


def _to_scale(question: Question, upper: bool, least: float) -> float:
    return (-least if upper else least) * question.counts.scale.width


def _put_in_order(pair: Sequence[T], swap: bool) -> Sequence[T]:
    """Return A and B, or B and A: the upper limit of A - B is the lower limit of B - A, negated."""
    return pair[::-1] if swap else pair


def _build_samples(question: Question) -> list[Sample]:
    counts, scale = question.counts, question.counts.scale
    cells = np.asarray(counts.cells, np.float64)
    if counts.effective is not None:
        cells = cells * (counts.effective / counts.n_ratings)[:, None]
    squares = cells if counts.weights is None else counts.weights.squares
    places = (np.array(scale.values) - scale.lowest) / scale.width
    return [Sample(row, square, places) for row, square in zip(cells, squares, strict=True)]


def _find_weight_range(question: Question, end: int) -> tuple[Floats, Floats]:
    """Return the smallest and largest number of people a rating may stand for, at one bound."""
    assumption, m = question.assumption, question.counts.scale.m
    q = None if assumption.q is None else float(assumption.q)
    box = build_boxes(assumption.kind, q, fixed_box(assumption), m)[end]
    if box is None:
        return np.ones(m), np.ones(m)
    return np.array(box.fewest, np.float64), np.array(box.most, np.float64)


SEPARATE = DifferenceSolver(_find_separate_bounds, _find_separate_limit, _is_ahead_separately)
SHARED = DifferenceSolver(_find_shared_bounds, _find_shared_limit, _is_ahead_shared)
