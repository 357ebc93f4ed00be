"""The order of items whose means are only known within intervals.

Intervals that do not overlap settle who comes first; those that do leave it open. So an item has
not one rank but a best and a worst one, and the items fall into tiers: groups joined by overlaps,
between which nothing can change places.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.analysis.breakdown import find_largest_failing_q, find_largest_q, find_smallest_q
from unheard.errors import OptionError
from unheard.formulas.operations import Floats
from unheard.model.question import Question

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """What intervals settle about an order, item by item; 1 is best.

    Attributes
    ----------
    best_rank, worst_rank
        Every rank between the two is possible for the item, and no other.
    tier
        Items of one tier are joined by intervals that overlap, some of them by way of others;
        every item of a tier comes before every item of the next, whatever happens.
    surely, possibly
        Whether the item is among the k best in every order that the intervals allow, and in some;
        None if no k was asked for.
    """

    best_rank: Whole
    worst_rank: Whole
    tier: Whole
    surely: NDArray[np.bool_] | None
    possibly: NDArray[np.bool_] | None


def rank_intervals(lower: ArrayLike, upper: ArrayLike, *, k: int | None = None) -> Ranking:
    """Rank items whose means are only known within intervals, in O(N log N).

    Parameters
    ----------
    lower, upper
        Ends of the interval of each item.
    k
        Also say who is surely, and who possibly, among the k best.

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
    # Looked up in order, the ends are found in the cache.
    best = _undo_sort(1 + items - np.searchsorted(lows, highs, side="right"), by_upper)
    worst = _undo_sort(items - np.searchsorted(highs, lows, side="left"), by_lower)
    tier = _assign_tiers(low, high, by_upper)
    if k is None:
        return Ranking(best, worst, tier, None, None)
    check_k(k, items)
    return Ranking(best, worst, tier, worst <= k, best <= k)


def _check_bounds(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    if low.ndim != 1 or low.shape != high.shape:
        raise OptionError(
            "upper",
            f"ends of shapes {low.shape} and {high.shape}",
            "Give one lower and one upper end for each item",
        )
    good = low <= high  # false for NaN
    if not good.all():
        i = int(np.argmin(good))
        raise OptionError(
            f"lower[{i}]",
            f"an interval from {low[i]:g} to {high[i]:g}",
            "Give numbers, the lower end first",
        )
    return low, high


def _assign_tiers(low: Floats, high: Floats, by_upper: NDArray[np.intp]) -> Whole:
    """Go down by upper end: a tier opens where all intervals so far lie above the next one."""
    down = by_upper[::-1]
    so_far = np.minimum.accumulate(low[down])
    opens = np.ones(len(low), np.int64)
    opens[1:] = high[down][1:] < so_far[:-1]
    return _undo_sort(np.cumsum(opens), down)


def _undo_sort(values: Whole, order: NDArray[np.intp]) -> Whole:
    """Undo a sorting."""
    placed = np.empty_like(values)
    placed[order] = values
    return placed


def check_k(k: object, items: int | None = None) -> None:
    """Raise unless one can ask for the k best, of so many items if that is known."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise OptionError("k", f"{k!r} found", "Give a whole number, 1 or more")
    if items is not None and k > items:
        there = "there is 1 item" if items == 1 else f"there are {items:,} items"
        raise OptionError("k", f"{k} found, and {there}", "Give at most as many as there are items")


def average_rank(average: ArrayLike) -> Floats:
    """Rank items by one number each, ties sharing the best rank; NaN gets no rank.

    Examples
    --------
    >>> average_rank([4.5, 3.0, 4.5, float("nan")])
    array([ 1.,  3.,  1., nan])
    """
    values = np.asarray(average, np.float64)
    rated = np.sort(values[~np.isnan(values)])
    rank = 1.0 + len(rated) - np.searchsorted(rated, values, side="right")
    return np.where(np.isnan(values), np.nan, rank)


def adjust_level_for_items(level: float, items: int) -> float:
    """Return the level at which all of so many confidence intervals hold together with ``level``.

    By Bonferroni's inequality, so whatever the items have to do with each other.

    Examples
    --------
    >>> round(adjust_level_for_items(0.95, 100), 10)
    0.9995
    """
    return 1.0 - (1.0 - level) / max(items, 1)


def find_top_k_breakdown(
    question: Question, item: int, k: int, *, sampling_error: bool = False
) -> float:
    """Find how quiet people may be before an item is no longer surely among the k best.

    Parameters
    ----------
    question
        All items; what it says about q is not used: one q holds for all items, and is sought.
    item
        Which of them, from 0.
    k
        How many are the best.
    sampling_error
        Whether confidence intervals, which hold for all items together with the question's level,
        and not only intervals, must settle it.

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
        raise OptionError("item", f"{item} found", f"Give a number from 0 to {items - 1}")
    if sampling_error and question.level is None:
        raise OptionError("level", "None found, with noise", "Give a level, such as 0.95")
    if k == items:
        return 0.0
    level = (
        adjust_level_for_items(question.level, items) if sampling_error and question.level else None
    )
    least = 0.0
    if sampling_error and question.assumption.per_rating:
        # These limits may move a little the wrong way as q rises, but lie outside the intervals.
        least = find_top_k_breakdown(question, item, k)
        if np.isnan(least):
            return least
    return _search_breakdown_q(replace(question, level=level), item, k, np.array([least]))


def _search_breakdown_q(question: Question, item: int, k: int, least: Floats) -> float:
    def margin(q: Floats, _rows: NDArray[np.intp]) -> Floats:
        """How far the item's lower end lies above the k-th highest upper end of the others."""
        lower, upper = question.at(q[0]).find_bounds().outermost
        others = np.delete(upper, item)
        place = len(others) - k
        return np.array([lower[item] - np.partition(others, place)[place]])

    one, most = np.zeros(1, np.intp), find_largest_q(question).min(keepdims=True)
    if question.level is not None and question.assumption.per_rating:
        least = find_largest_failing_q(margin, one, least, most)
    return float(find_smallest_q(margin, one, least, most)[0])
