"""Rank ranges and tiers of items whose means are known only within bounds.

Bounds that do not overlap settle the order of two items; those that overlap leave it open. So an
item has a best and a worst rank, and the items form tiers: groups joined by overlaps, whose order
is settled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.analysis.breakdown import find_largest_failing_q, find_largest_q, find_smallest_q
from unheard.errors import Given, OptionError
from unheard.formulas.operations import Floats
from unheard.model.question import Question, require_level, takes_question
from unheard.model.results import Result

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Result):
    """Rank ranges and tiers of items; 1 is best.

    Attributes
    ----------
    best_rank, worst_rank
        The rank range of each item: all ranks from best to worst are possible, and no others.
    tier
        The tier of each item. Overlapping bounds join the items of a tier, directly or through
        other items; every item of a tier ranks above every item of the next.
    surely, possibly
        Whether the item is among the k best in every order that the bounds allow, and in some
        order; None without k.
    k
        The number of best items, if requested.
    """

    best_rank: Whole
    worst_rank: Whole
    tier: Whole
    surely: NDArray[np.bool_] | None
    possibly: NDArray[np.bool_] | None
    k: int | None


def rank_intervals(lower: ArrayLike, upper: ArrayLike, *, k: int | None = None) -> Ranking:
    """Rank items whose means are known only within bounds, in O(N log N).

    Parameters
    ----------
    lower, upper
        Bounds of each item.
    k
        Also find which items are surely, and which possibly, among the k best.

    Examples
    --------
    >>> found = rank_intervals([3.9, 3.1, 1.5], [4.6, 4.2, 2.0], k=1)
    >>> found.best_rank, found.worst_rank, found.tier
    (array([1, 1, 3]), array([2, 2, 3]), array([1, 1, 2]))
    >>> found.surely, found.possibly
    (array([False, False, False]), array([ True,  True, False]))
    """
    low, high = _check_bounds(lower, upper)
    items = len(low)
    by_lower, by_upper = np.argsort(low), np.argsort(high)
    lows, highs = low[by_lower], high[by_upper]
    # Sorted lookups stay in the cache.
    best = _undo_sort(1 + items - np.searchsorted(lows, highs, side="right"), by_upper)
    worst = _undo_sort(items - np.searchsorted(highs, lows, side="left"), by_lower)
    tier = _assign_tiers(low, high, by_upper)
    if k is None:
        return Ranking(best, worst, tier, None, None, None)
    check_k(k, items)
    return Ranking(best, worst, tier, worst <= k, best <= k, k)


def _check_bounds(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    if low.ndim != 1 or low.shape != high.shape:
        raise OptionError(
            "upper",
            problem="{lower} and {argument} must have one bound for each item",
            value=Given(f"shapes {low.shape} and {high.shape}"),
        )
    good = low <= high  # false for NaN
    if not good.all():
        i = int(np.argmin(good))
        raise OptionError(
            "lower",
            problem="{argument} must be a number, and at most the upper bound",
            value=Given(f"bounds {low[i]:g} and {high[i]:g}"),
            index=i,
        )
    return low, high


def _assign_tiers(low: Floats, high: Floats, by_upper: NDArray[np.intp]) -> Whole:
    """Go down by upper bound: a tier starts where all bounds so far are above the next ones."""
    down = by_upper[::-1]
    so_far = np.minimum.accumulate(low[down])
    opens = np.ones(len(low), np.int64)
    opens[1:] = high[down][1:] < so_far[:-1]
    return _undo_sort(np.cumsum(opens), down)


def _undo_sort(values: Whole, order: NDArray[np.intp]) -> Whole:
    """Return values in the order before sorting."""
    placed = np.empty_like(values)
    placed[order] = values
    return placed


def check_k(k: object, items: int | None = None) -> None:
    """Raise unless k is a whole number from 1 to the number of items, if that is known."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise OptionError("k", problem="{argument} must be a whole number, at least 1", value=k)
    if items is not None and k > items:
        raise OptionError(
            "k",
            problem="{argument} must be at most the number of items, {items:,}",
            value=k,
            items=items,
        )


def adjust_level_for_items(level: float, items: int) -> float:
    """Return the level of each confidence interval so that all hold jointly at ``level``.

    By Bonferroni's inequality, which needs no assumption about how the items depend on each other.

    Examples
    --------
    >>> round(adjust_level_for_items(0.95, 100), 10)
    0.9995
    """
    return 1.0 - (1.0 - level) / max(items, 1)


@takes_question
def find_top_k_breakdown(
    question: Question, item: int, k: int, *, sampling_error: bool = False
) -> float:
    """Find the breakdown q of an item's place among the k best, with separate participation.

    Parameters
    ----------
    question
        All items. Its own q is ignored: the same q applies to all items, and is to be found.
    item
        The item, numbered from 0.
    k
        The number of best items.
    sampling_error
        Whether to allow for sampling error: confidence intervals that hold jointly at the
        question's level, and not only bounds, must settle the claim.

    Returns
    -------
    float
        The claim holds at every larger q that the response rates of all items allow; 0 if it holds
        at every q, NaN if at none.

    Examples
    --------
    >>> from unheard import build_question
    >>> hotels = build_question([[1, 0, 2, 10, 40], [9, 5, 5, 9, 12], [2, 6, 9, 20, 10]], 0.3)
    >>> round(find_top_k_breakdown(hotels, 0, 1), 3)
    0.235
    >>> round(find_top_k_breakdown(hotels, 0, 1, sampling_error=True), 3)
    0.762
    """
    items = question.counts.rows
    check_k(k, items)
    if not 0 <= item < items:
        raise OptionError(
            "item",
            problem="{argument} must be a whole number from 0 to {last}",
            value=item,
            last=items - 1,
        )
    level = None
    if sampling_error:
        level = adjust_level_for_items(require_level(question.level), items)
    if k == items:
        return 0.0
    least = 0.0
    if sampling_error and question.assumption.per_rating:
        # These limits may move outward a little as q rises, but they enclose the bounds.
        least = find_top_k_breakdown(question, item, k)
        if np.isnan(least):
            return least
    return _search_breakdown_q(replace(question, level=level), item, k, np.array([least]))


def _search_breakdown_q(question: Question, item: int, k: int, least: Floats) -> float:
    def margin(q: Floats, _rows: NDArray[np.intp]) -> Floats:
        """Return the item's lower bound minus the k-th highest upper bound of the others."""
        lower, upper = question.at(q[0]).find_bounds().outermost
        others = np.delete(upper, item)
        place = len(others) - k
        return np.array([lower[item] - np.partition(others, place)[place]])

    one, most = np.zeros(1, np.intp), find_largest_q(question).min(keepdims=True)
    if question.level is not None and question.assumption.per_rating:
        least = find_largest_failing_q(margin, one, least, most)
    return float(find_smallest_q(margin, one, least, most)[0])
