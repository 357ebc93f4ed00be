"""Claims about two items of a table under one participation, and the q that ends them.

With sampling error, "i is above j" is tested at the corners of the box that q allows, at the level
of all pairs of the table together (:mod:`unheard.analysis.shared_tests`). The claim at q speaks
about every larger q too: what a smaller box allows, a larger one allows. But the q is chosen after
seeing the data, so it must not be one at which the claim happens to hold again: it is the end of
the run of q, from 1 down, along which it holds throughout. The true q lies in that run, or nothing
false was said; and at the true q the test keeps its level.
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
from unheard.errors import OptionError
from unheard.formulas.operations import Floats
from unheard.model.question import Question

_GRID = 40
"""How many q are looked at, from 1 down, for one at which a claim with sampling error fails."""


def find_shared_breakdown(
    question: Question, above: ArrayLike, below: ArrayLike, *, sampling_error: bool = False
) -> Floats:
    """Find how unequally people may respond before an item is no longer surely above another.

    Parameters
    ----------
    question
        All items; what it says about q is not used: one q holds for all items, and is sought.
    above, below
        Pairs of items, from 0: claimed is that the first is above the second, whatever one
        participation distorts both.
    sampling_error
        Whether to allow for sampling error, for all pairs of items together at the question's
        level, whether they are asked about or not. This takes about a second per pair, and more
        for a direction. Whether the claim holds along the whole run of q is looked up at 40 of
        them.

    Returns
    -------
    Floats
        The claim holds at every larger q. 0 if it holds at every q; NaN if it does not even hold
        at q = 1, because the second is ahead, both are equal, or one has no ratings.

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
    first, second = (_read_items(side, question.counts.rows) for side in (above, below))
    if first.shape != second.shape:
        raise OptionError(
            "below", f"{len(second)} items for {len(first)} above them", "Give as many of each"
        )
    crowd = SharedItems.of(question, unseen=sampling_error)
    row = np.full(question.counts.rows, -1, np.intp)
    row[crowd.items] = np.arange(len(crowd.items))
    rated = np.flatnonzero((row[first] >= 0) & (row[second] >= 0))
    i, j = row[first[rated]], row[second[rated]]
    found = np.full(len(first), np.nan)
    found[rated] = np.fmin(
        crowd.breakdowns(i, j), _find_separate_breakdowns(question, crowd.items[i], crowd.items[j])
    )
    if sampling_error:
        claims = _TestedClaims.of(question, crowd)
        pairs = zip(i.tolist(), j.tolist(), found[rated].tolist(), strict=True)
        found[rated] = [claims.find_end(a, np.array([b]), 1, last) for a, b, last in pairs]
    return found


def _find_separate_breakdowns(question: Question, first: Index, second: Index) -> Floats:
    """Return the breakdown q of pairs that a known number of people settles; NaN if it does not."""
    known = build_separate_question(question, sampling_error=False)
    if known is None:
        return np.full(len(first), np.nan)

    def margin(q: Floats, rows: Index) -> Floats:
        lower, _ = known.at(q, first[rows]).intervals()
        _, upper = known.at(q, second[rows]).intervals()
        return lower - upper

    most = find_largest_q(question)
    rows = np.arange(len(first))
    return find_smallest_q(
        margin, rows, np.zeros(len(first)), np.minimum(most[first], most[second])
    )


@dataclass(frozen=True, eq=False)
class _TestedClaims:
    """Claims with sampling error: under one participation, or by a known number of people.

    Attributes
    ----------
    crowd, levels
        The items, and the levels of limits for one participation.
    known
        The items at the level of limits for separate participation; None if n is unknown.
    """

    crowd: SharedItems
    levels: Floats
    known: Question | None

    @classmethod
    def of(cls, question: Question, crowd: SharedItems) -> _TestedClaims:
        return cls(
            crowd,
            choose_levels_for_all_pairs(question, crowd),
            build_separate_question(question, sampling_error=True),
        )

    def margins(self, q: float, above: int, below: Index) -> Floats:
        """Return by how much one row is above others at a q; negative if it is not."""
        then = self.crowd.at(q)
        trials = PairTests.of(then, 1.0)
        check_limits(len(self.crowd.items), len(trials.above))
        found = trials.margins(then, above, below, self.levels)
        if self.known is None:
            return found
        rows = self.crowd.items[np.concatenate([[above], below])]
        at = self.known.at(q, rows)
        lower, upper = at.intervals()[-2:]
        more: Floats = np.maximum(found, (lower[0] - upper[1:]) / at.counts.scale.width)
        return more

    def find_end(self, above: int, below: Index, needed: int, last: float) -> float:
        """Go down from q = 1 while one row is above so many of others, not beyond ``last``."""

        def margin(q: float) -> float:
            return float(-np.sort(-self.margins(q, above, below))[needed - 1])

        return _find_end_of_run(margin, last)


def _find_end_of_run(margin: Callable[[float], float], last: float) -> float:
    """Go down from q = 1 to the breakdown q that ignores sampling error, or until a claim fails."""

    def in_logs(log_q: float) -> float:
        return margin(float(np.exp(log_q)))

    if np.isnan(last) or margin(1.0) <= 0:
        return np.nan
    run = np.linspace(0.0, np.log(max(last, SMALLEST_Q)), _GRID + 1)
    for before, here in pairwise(run.tolist()):
        if in_logs(here) <= 0:
            return float(np.exp(brentq(in_logs, here, before, xtol=1e-9)))
    return last


def find_shared_top_k_breakdown(
    question: Question, item: int, k: int, *, sampling_error: bool = False
) -> float:
    """Find how unequally people may respond before an item is no longer surely among the k best.

    It is as long as N - k of the N items are surely below it.

    Parameters
    ----------
    question
        All items; what it says about q is not used: one q holds for all items, and is sought.
    item
        Which of them, from 0.
    k
        How many are the best.
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
    (row,) = _read_items(item, items)
    if k == items:
        return 0.0
    needed = items - k
    others = np.delete(np.arange(items), row)
    plain = find_shared_breakdown(question, np.full(len(others), row), others)
    least = float(np.sort(plain)[needed - 1])  # what never holds comes last
    return (
        _find_top_k_with_sampling_error(question, int(row), needed, least)
        if sampling_error
        else least
    )


def _find_top_k_with_sampling_error(
    question: Question, item: int, needed: int, least: float
) -> float:
    crowd = SharedItems.of(question, unseen=True)
    claims = _TestedClaims.of(question, crowd)
    if np.isnan(least):
        return least
    above = int(np.flatnonzero(crowd.items == item)[0])
    below = np.delete(np.arange(len(crowd.items)), above)
    return claims.find_end(above, below, needed, least)


def _read_items(side: ArrayLike, items: int) -> Index:
    rows = np.atleast_1d(np.asarray(side))
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or ((rows < 0) | (rows >= items)).any():
        raise OptionError(
            "pairs", f"{side!r} found", f"Give whole numbers from 0 to {items - 1}, one per pair"
        )
    return rows.astype(np.intp)
