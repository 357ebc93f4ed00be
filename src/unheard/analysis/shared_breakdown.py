"""Breakdown q of claims about the order of items under shared participation.

With sampling error, "i is above j" is tested at the corners of the box that q allows, at a level
that is simultaneous over all pairs (:mod:`unheard.analysis.shared_tests`). The claim at q implies
the claim at every larger q, because a larger box contains a smaller one. But q is chosen after
seeing the data, so it must not be one at which the claim happens to hold again: it is the end of
the run of q, from 1 down, along which the claim holds throughout. Either the true q is in that run,
and there the test keeps its level, or nothing was claimed about it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from unheard.analysis.breakdown import SMALLEST_Q, find_largest_q, find_smallest_q
from unheard.analysis.ranking import check_k
from unheard.analysis.shared_pairs import Index, SharedItems
from unheard.analysis.shared_tests import (
    PairTests,
    build_separate_question,
    check_limits,
    choose_levels_for_all_pairs,
)
from unheard.errors import Given, OptionError
from unheard.formulas.operations import Floats
from unheard.model.question import Question, takes_question

_GRID = 40
"""Number of q, from 1 down, at which a claim with sampling error is tested."""


@takes_question
def find_shared_breakdown(
    question: Question, above: ArrayLike, below: ArrayLike, *, sampling_error: bool = False
) -> Floats:
    """Find the breakdown q of the claim that one item is above another, with shared participation.

    Parameters
    ----------
    question
        All items. Its own q is ignored: the same q applies to all items, and is to be found.
    above, below
        Pairs of items, numbered from 0. The claim is that the first is above the second, whatever
        participation distorts both.
    sampling_error
        Whether to allow for sampling error, at the question's level, simultaneously for all pairs
        of items. This takes about a second per pair, and more for a direction. The claim is tested
        at 40 values of q.

    Returns
    -------
    Floats
        The claim holds at every larger q. 0 if it holds at every q; NaN if it fails even at q = 1,
        because the second is ahead, both are equal, or one has no ratings.

    Examples
    --------
    >>> from unheard import build_question
    >>> counts = [[10, 20, 60, 80, 400], [30, 30, 20, 70, 50], [9, 30, 50, 50, 60]]
    >>> hotels = build_question(counts, 0.3)
    >>> find_shared_breakdown(hotels, [0, 2, 1], [1, 1, 2]).round(3)
    array([0.052, 0.376,   nan])
    >>> find_shared_breakdown(hotels, 0, 1, sampling_error=True).round(2)
    array([0.11])
    """
    items = question.counts.rows
    first, second = (
        _read_item_numbers("above", above, items),
        _read_item_numbers("below", below, items),
    )
    if first.shape != second.shape:
        raise OptionError(
            "below",
            problem="{argument} must have as many items as {above}: {first}",
            value=Given(f"{len(second)} items"),
            first=len(first),
        )
    shared = SharedItems.of(question, unobserved=sampling_error)
    row = np.full(question.counts.rows, -1, np.intp)
    row[shared.items] = np.arange(len(shared.items))
    rated = np.flatnonzero((row[first] >= 0) & (row[second] >= 0))
    i, j = row[first[rated]], row[second[rated]]
    found = np.full(len(first), np.nan)
    found[rated] = np.fmin(
        shared.find_breakdowns(i, j),
        _find_separate_breakdowns(question, shared.items[i], shared.items[j]),
    )
    if sampling_error:
        claims = _TestedClaims.of(question, shared)
        pairs = zip(i.tolist(), j.tolist(), found[rated].tolist(), strict=True)
        found[rated] = [claims.find_end(a, np.array([b]), 1, last) for a, b, last in pairs]
    return found


def _find_separate_breakdowns(question: Question, first: Index, second: Index) -> Floats:
    """Return the breakdown q of pairs with separate participation and known n; NaN if n is not."""
    known = build_separate_question(question, sampling_error=False)
    if known is None:
        return np.full(len(first), np.nan)

    def margin(q: Floats, rows: Index) -> Floats:
        lower, upper = known.at(q, first[rows]), known.at(q, second[rows])
        apart: Floats = lower.find_bounds().lower - upper.find_bounds().upper
        return apart

    most = find_largest_q(question)
    rows = np.arange(len(first))
    return find_smallest_q(
        margin, rows, np.zeros(len(first)), np.minimum(most[first], most[second])
    )


@dataclass(frozen=True, eq=False)
class _TestedClaims:
    """Claims with sampling error, under shared participation or from a known number of people.

    Attributes
    ----------
    shared, levels
        The items, and the levels of limits under shared participation.
    known
        The items at the level of limits under separate participation; None if n is unknown.
    """

    shared: SharedItems
    levels: Floats
    known: Question | None

    @classmethod
    def of(cls, question: Question, shared: SharedItems) -> _TestedClaims:
        return cls(
            shared,
            choose_levels_for_all_pairs(question, shared),
            build_separate_question(question, sampling_error=True),
        )

    def find_margins(self, q: float, above: int, below: Index) -> Floats:
        """Return the margins by which one row is claimed to be above others at q."""
        then = self.shared.at(q)
        tests = PairTests.of(then, 1.0)
        check_limits(len(self.shared.items), len(tests.above))
        found = tests.find_margins(then, above, below, self.levels)
        if self.known is None:
            return found
        rows = self.shared.items[np.concatenate([[above], below])]
        at = self.known.at(q, rows)
        lower, upper = at.find_bounds().outermost
        more: Floats = np.maximum(found, (lower[0] - upper[1:]) / at.counts.scale.width)
        return more

    def find_end(self, above: int, below: Index, needed: int, last: float) -> float:
        """Find the end of the run of q along which one row is above a number of others."""

        def margin(q: float) -> float:
            return float(-np.sort(-self.find_margins(q, above, below))[needed - 1])

        return _find_end_of_run(margin, last)


def _find_end_of_run(margin: Callable[[float], float], last: float) -> float:
    """Go down from q = 1 until a claim fails, or to ``last``, where it fails in any case."""

    def margin_at_log(log_q: float) -> float:
        return margin(float(np.exp(log_q)))

    if np.isnan(last) or margin(1.0) <= 0:
        return np.nan
    run = np.linspace(0.0, np.log(max(last, SMALLEST_Q)), _GRID + 1)
    for before, here in pairwise(run.tolist()):
        if margin_at_log(here) <= 0:
            return float(np.exp(brentq(margin_at_log, here, before, xtol=1e-9)))
    return last


@takes_question
def find_shared_top_k_breakdown(
    question: Question, item: int, k: int, *, sampling_error: bool = False
) -> float:
    """Find the breakdown q of an item's place among the k best, with shared participation.

    The item is surely among the k best if N - k of the N items are surely below it.

    Parameters
    ----------
    question
        All items. Its own q is ignored: the same q applies to all items, and is to be found.
    item
        The item, numbered from 0.
    k
        The number of best items.
    sampling_error
        Whether to allow for sampling error, as in :func:`find_shared_breakdown`.

    Returns
    -------
    float
        The claim holds at every larger q; 0 if it holds at every q, NaN if at none.

    Examples
    --------
    >>> from unheard import build_question
    >>> counts = [[10, 20, 60, 80, 400], [30, 30, 20, 70, 50], [9, 30, 50, 50, 60]]
    >>> hotels = build_question(counts, 0.3)
    >>> [round(find_shared_top_k_breakdown(hotels, item, k), 3) for item, k in ((0, 1), (1, 3))]
    [0.052, 0.0]
    """
    items = question.counts.rows
    check_k(k, items)
    (row,) = _read_item_numbers("item", item, items)
    if k == items:
        return 0.0
    needed = items - k
    others = np.delete(np.arange(items), row)
    plain = find_shared_breakdown(question, np.full(len(others), row), others)
    least = float(np.sort(plain)[needed - 1])  # claims that never hold come last
    return (
        _find_top_k_with_sampling_error(question, int(row), needed, least)
        if sampling_error
        else least
    )


def _find_top_k_with_sampling_error(
    question: Question, item: int, needed: int, least: float
) -> float:
    shared = SharedItems.of(question, unobserved=True)
    claims = _TestedClaims.of(question, shared)
    if np.isnan(least):
        return least
    above = int(np.flatnonzero(shared.items == item)[0])
    below = np.delete(np.arange(len(shared.items)), above)
    return claims.find_end(above, below, needed, least)


def _read_item_numbers(argument: str, given: ArrayLike, items: int) -> Index:
    rows = np.atleast_1d(np.asarray(given))
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or ((rows < 0) | (rows >= items)).any():
        raise OptionError(
            argument,
            problem="{argument} must be a whole number from 0 to {last}, or a list of them",
            value=given,
            last=items - 1,
        )
    return rows.astype(np.intp)
