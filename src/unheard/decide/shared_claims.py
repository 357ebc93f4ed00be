"""Claims about two items of a table under one participation, and the q that ends them.

With sampling error, "i is above j" is tested at the corners of the box that q allows, at the level
of all pairs of the table together (:mod:`unheard.decide.shared_noise`). The claim at q speaks about
every larger q too: what a smaller box allows, a larger one allows. But the q is chosen after seeing
the data, so it must not be one at which the claim happens to hold again: it is the end of the run
of q, from 1 down, along which it holds throughout. The true q lies in that run, or nothing false
was said; and at the true q the test keeps its level.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from unheard.core.columns import Floats
from unheard.core.estimate import Inquiry
from unheard.decide.breakdown import SMALLEST_Q
from unheard.decide.shared_noise import Trials, levels_for_all_pairs
from unheard.decide.shared_pairs import Crowd, Index
from unheard.errors import OptionError

_GRID = 40
"""How many q are looked at, from 1 down, for one at which a claim with sampling error fails."""


def shared_breakdown(
    question: Inquiry, above: ArrayLike, below: ArrayLike, *, noise: bool = False
) -> Floats:
    """Find how unequally people may respond before an item is no longer surely above another.

    Parameters
    ----------
    question
        All items; what it says about q is not used: one q holds for all items, and is sought.
    above, below
        Pairs of items, from 0: claimed is that the first is above the second, whatever one
        participation distorts both.
    noise
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
    >>> from unheard import inquire
    >>> hotels = inquire([[10, 20, 60, 80, 400], [30, 30, 20, 70, 50], [9, 30, 50, 50, 60]], 0.3)
    >>> shared_breakdown(hotels, [0, 2, 1], [1, 1, 2]).round(3)
    array([0.052, 0.376,   nan])
    >>> shared_breakdown(hotels, 0, 1, noise=True).round(2)
    array([0.11])
    """
    first, second = (_pair_side(side, question.counts.rows) for side in (above, below))
    if first.shape != second.shape:
        raise OptionError(
            "below", f"{len(second)} items for {len(first)} above them", "Give as many of each"
        )
    crowd = Crowd.of(question, unseen=noise)
    row = np.full(question.counts.rows, -1, np.intp)
    row[crowd.items] = np.arange(len(crowd.items))
    rated = np.flatnonzero((row[first] >= 0) & (row[second] >= 0))
    i, j = row[first[rated]], row[second[rated]]
    found = np.full(len(first), np.nan)
    found[rated] = crowd.breakdowns(i, j)
    if noise:
        found[rated] = _with_noise(question, crowd, i, j, found[rated])
    return found


def _with_noise(question: Inquiry, crowd: Crowd, i: Index, j: Index, least: Floats) -> Floats:
    """Go down from q = 1 to the breakdown q that ignores sampling error, or until a claim fails."""
    levels = levels_for_all_pairs(question, crowd)

    def end_of_run(above: int, below: int, last: float) -> float:
        def margin(log_q: float) -> float:
            then = crowd.at(float(np.exp(log_q)))
            return Trials.of(then, 1.0).margin(then, above, below, levels)

        if np.isnan(last) or margin(0.0) <= 0:
            return np.nan
        run = np.linspace(0.0, np.log(max(last, SMALLEST_Q)), _GRID + 1)
        for before, here in pairwise(run.tolist()):
            if margin(here) <= 0:
                return float(np.exp(brentq(margin, here, before, xtol=1e-9)))
        return last

    pairs = zip(i.tolist(), j.tolist(), least.tolist(), strict=True)
    return np.array([end_of_run(*pair) for pair in pairs])


def _pair_side(side: ArrayLike, items: int) -> Index:
    rows = np.atleast_1d(np.asarray(side))
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or ((rows < 0) | (rows >= items)).any():
        raise OptionError(
            "pairs", f"{side!r} found", f"Give whole numbers from 0 to {items - 1}, one per pair"
        )
    return rows.astype(np.intp)
