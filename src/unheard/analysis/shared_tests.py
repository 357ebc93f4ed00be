"""Sampling error of an order under one participation: all claims hold together at one level.

Seen ratings are a sample. Claimed is "i is above j" for many pairs, and the probability that any
claim is wrong must be at most the miss probability, whatever the true participation is, however few
the ratings are.

**One pair.** Suppose the claim is wrong: under the true weights, mean_i <= mean_j. Then by the
argument of :mod:`unheard.analysis.shared_pairs`, applied to the true shares, mean_i <= mean_j at
some corner too, which does not depend on the sample. So a claim that is made only if a test rejects
"mean_i <= mean_j" at *every* corner is wrong with no larger probability than one test: there is no
price for looking at many corners, and the weights between them need no look.

**The test at a corner.** Let p_i(t) and p_j(t) be the p-values of "mean_i <= t" and "mean_j >= t",
by :mod:`unheard.analysis.mean_limits`. Both statements are true at any t between the two means, and
the p-values are independent, so their product is too small by chance with a known probability
[F32]. The pair is rejected if the product is small at every t. With levels ρ, ρ², ..., ρ^S instead
of p-values, that is

    lower limit of i at ρ^a >= upper limit of j at ρ^b    for all a + b = S + 1,

and its miss probability is ρ^S (1 + S (1 - ρ)). This needs a gap 1.05 to 1.15 times the one of a
normal test of the difference; two limits at half the miss probability each need up to 1.48 times.

**All pairs.** Each of the N(N - 1) claims could be wrong: by Bonferroni's inequality it is tested
at that share of the miss probability. Claims made are then taken out of the number and the others
are tested again [H79]: the first wrong one would be made while all that are wrong are counted.
The bootstrap of the largest statistic over all pairs [RW05, MRSW24] is sharper, and breaks the
level where ratings are few: docs/confidence.md has both side by side.

**Directions.** A wrong claim is wrong on a segment between thresholds, at a mixture that is not
known. Let weights on it grow by a factor R from one point to the next. In between a mean leaves its
chord by at most κ² scale widths, κ = (√R - 1)/(√R + 1): it moves by no more than κ, and leaves the
chord by no more than κ times that. So at one of the two points mean_i <= mean_j + 2κ², and this is
tested at all points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from unheard.analysis.dominance import Progress
from unheard.analysis.mean_limits import lower_limits, upper_limits
from unheard.analysis.ranking import adjust_level_for_items
from unheard.analysis.shared_criteria import (
    MOST_COMPARISONS,
    PairCriteria,
    check_comparisons,
    list_extreme_weights,
    list_segment_points,
)
from unheard.analysis.shared_pairs import Index, SharedItems
from unheard.errors import OptionError
from unheard.formulas.operations import Floats
from unheard.model.question import Question

MOST_LEVELS = 8
"""Levels at which limits are found, S above: more are sharper, and cost more."""

_WEAKEST = 0.2
"""Limits at weaker levels are next to the mean, and slow to find."""

_MOST_LIMITS = 2 * 10**7
_PORTION = 5_000
"""Items times weights that are looked at together: more costs memory, fewer cost time."""

_STRETCH = 1.1


@dataclass(frozen=True, eq=False)
class PairTests:
    """What is tested.

    Attributes
    ----------
    above, below
        Weights of the one above and of the one below, as many of each.
    ahead
        By how much the one above must be ahead, as a share of the scale's width.
    """

    above: Floats
    below: Floats
    ahead: float

    @classmethod
    def of(cls, crowd: SharedItems, similarity: float) -> PairTests:
        """List what must be tested to claim that one item is above another."""
        if crowd.falling and similarity == 1:
            points = np.array(list(list_segment_points(crowd, _STRETCH)))
            root = np.sqrt(_STRETCH)
            return cls(points, points, 2 * float((root - 1) / (root + 1)) ** 2)
        return cls(*list_extreme_weights(crowd, similarity), ahead=0.0)

    def lower(
        self, crowd: SharedItems, rows: Index, levels: Floats, some: slice = slice(None)
    ) -> Floats:
        """Return lower limits of rows that are claimed to be above, by trial, level and row."""
        counts, places = _count_ratings(crowd, rows)
        return lower_limits(counts, places, self.above[some], levels) - self.ahead

    def upper(
        self, crowd: SharedItems, rows: Index, levels: Floats, some: slice = slice(None)
    ) -> Floats:
        """Return upper limits of rows that are claimed to be below, by trial, level and row."""
        counts, places = _count_ratings(crowd, rows)
        return upper_limits(counts, places, self.below[some], levels)

    def margins(self, crowd: SharedItems, above: int, below: Index, levels: Floats) -> Floats:
        """Return by how much the claims that one row is above others hold; negative if not."""
        lower, upper = (
            self.lower(crowd, np.array([above]), levels),
            self.upper(crowd, below, levels),
        )
        found: Floats = (lower - upper[:, ::-1]).min(axis=(0, 1))
        return found


def _count_ratings(crowd: SharedItems, rows: Index) -> tuple[Floats, Floats]:
    """Return how often each rating was given to some rows, and places from 0 on."""
    return crowd.shares[rows] * crowd.seen[rows, None], crowd.places - crowd.places.min()


def split_level(question: Question, level: float) -> float:
    """Return the level of each of two statements that are joined.

    Where the number of people is known, what separate participation settles is joined to what one
    participation settles: n narrows the one, and is not used for the other.
    """
    return level if question.counts.n is None else 1 - (1 - level) / 2


def build_separate_question(question: Question, *, sampling_error: bool) -> Question | None:
    """Return the question whose intervals settle pairs whatever the participation of each item.

    With noise, all of these intervals hold together at the level of :func:`split_level`. None if
    nobody knows n: one participation then settles whatever separate ones do.
    """
    if question.counts.n is None:
        return None
    if not sampling_error or question.level is None:
        return replace(question, level=None)
    level = split_level(question, question.level)
    return replace(question, level=adjust_level_for_items(level, question.counts.rows))


def choose_levels_for_all_pairs(question: Question, crowd: SharedItems, claimed: int = 0) -> Floats:
    """Return the levels of limits at which all claims hold together with the question's level.

    ``claimed`` is how many have been made already.
    """
    if question.level is None:
        raise OptionError("level", "None found, with noise", "Give a level, such as 0.95")
    if question.counts.weighted:
        raise OptionError(
            "noise",
            "asked for, with weighted counts",
            "Ignore sampling error: how weights add to it is not known",
        )
    rated = len(crowd.items)
    all_claims = max(rated * (rated - 1), 1)
    miss = 1 - split_level(question, question.level)
    many = choose_number_of_levels(miss / all_claims)
    return compute_limit_levels(miss / max(all_claims - claimed, 1), many)


def choose_number_of_levels(miss: float) -> int:
    """Return how many levels are worth their cost, none of them too weak.

    Examples
    --------
    >>> choose_number_of_levels(1e-6), choose_number_of_levels(0.01)
    (8, 3)
    """
    for many in range(MOST_LEVELS, 1, -1):
        if compute_limit_levels(miss, many)[0] <= _WEAKEST:
            return many
    return 1


def compute_limit_levels(miss: float, many: int) -> Floats:
    """Return levels for the limits of two items, whose product is too small with probability miss.

    With the same number of levels, whatever is claimed with a smaller miss probability is claimed
    with a larger one: each level rises.

    Examples
    --------
    >>> compute_limit_levels(1e-6, 8)[[0, 1, -1]].round(9)
    array([1.37337031e-01, 1.88614600e-02, 1.27000000e-07])
    """

    def excess(ratio: float) -> float:
        return float(ratio**many * (1 + many * (1 - ratio)) / miss - 1)

    ratio = brentq(excess, 0.0, 1.0, xtol=1e-15)
    return np.asarray(ratio ** np.arange(1, many + 1))


def build_tested_criteria(
    crowd: SharedItems,
    trials: PairTests,
    levels: Floats,
    progress: Progress | None = None,
    effort: float = 1.0,
) -> PairCriteria:
    """Build the criteria that claim pairs by limits at some levels; see `compute_limit_levels`."""
    items, many = len(crowd.items), len(trials.above)
    check_limits(items, many, effort)
    lower, upper = np.empty((2, many, len(levels), items))
    rows = np.arange(items)
    step = max(1, _PORTION // max(items, 1))
    for start in range(0, many, step):
        some = slice(start, min(start + step, many))
        lower[some] = trials.lower(crowd, rows, levels, some)
        upper[some] = trials.upper(crowd, rows, levels, some)
        if progress is not None:
            progress(some.stop / many)

    def scores(condition: int) -> tuple[Floats, Floats]:
        c, step = divmod(condition, len(levels))
        return lower[c, step], upper[c, -1 - step]

    return PairCriteria((scores, many * len(levels)))


def check_limits(items: int, many: int, effort: float = 1.0) -> None:
    """Raise if limits of so many items at so many weights take too long."""
    each, most = 2 * many * MOST_LEVELS, int(effort * _MOST_LIMITS)
    if items * each > most:
        raise OptionError(
            "shared",
            f"{items:,} items on this scale are too many to allow for sampling error as one crowd",
            f"Rank at most {most // each:,} items on this scale, ignore sampling error, or "
            "rank with separate participation",
        )
    check_comparisons(items, many * MOST_LEVELS, effort * MOST_COMPARISONS)
