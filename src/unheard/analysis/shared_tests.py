"""Tests of the order of items under shared participation, all at one simultaneous level.

Ratings are a sample. "i is above j" is claimed for many pairs, and the probability that any claim
is wrong must be at most the miss probability, whatever the true participation is and however few
the ratings are.

**One pair.** Suppose that the claim is wrong: under the true weights, mean_i <= mean_j. Then by the
argument of :mod:`unheard.analysis.shared_pairs`, applied to the true shares, mean_i <= mean_j at
some corner too, which does not depend on the sample. So a claim that is made only if a test rejects
"mean_i <= mean_j" at *every* corner is wrong with no larger probability than one test: testing many
corners costs nothing, and the weights between them need no test.

**The test at a corner.** Let p_i(t) and p_j(t) be the p-values of "mean_i <= t" and "mean_j >= t",
by :mod:`unheard.analysis.mean_limits`. Both statements are true at any t between the two means, and
the p-values are independent, so the distribution of their product is known [F32]. The hypothesis is
rejected if the product is small at every t. With levels ρ, ρ², ..., ρ^S instead of p-values, that
is

    lower limit of i at ρ^a >= upper limit of j at ρ^b    for all a + b = S + 1,

and its miss probability is ρ^S (1 + S (1 - ρ)). It requires a gap 1.05 to 1.15 times that of a
normal test of the difference; two limits at half the miss probability each require up to 1.48
times.

**All pairs.** Each of the N(N - 1) claims could be wrong: by Bonferroni's inequality, each is
tested at that share of the miss probability. The claims made are then excluded from the number and
the others are tested again [H79]: the first wrong one would be made while all wrong ones still
count. The bootstrap of the largest statistic over all pairs [RW05, MRSW24] is sharper, but does not
keep its level where ratings are few: docs/confidence.md compares the two.

**Directions.** A wrong claim is wrong on a segment between thresholds, at an unknown mixture. Let
weights on the segment grow by a factor R from one point to the next. In between, a mean deviates
from its chord by at most κ² scale widths, κ = (√R - 1)/(√R + 1): it changes by at most κ, and
deviates by at most κ times that. So at one of the two points mean_i <= mean_j + 2κ², and this is
tested at all points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from unheard.analysis.dominance import Progress
from unheard.analysis.mean_limits import find_lower_limits, find_upper_limits
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
from unheard.model.question import Question, require_level

MOST_LEVELS = 8
"""Largest number of levels, S above: more levels are sharper, but cost more."""

_WEAKEST = 0.2
"""Limits at weaker levels are close to the mean, and slow to find."""

_MOST_LIMITS = 2 * 10**7
_PORTION = 5_000
"""Items times weights evaluated together: more cost memory, fewer cost time."""

_STRETCH = 1.1


@dataclass(frozen=True, eq=False)
class PairTests:
    """The tests that a claim "one item is above another" must pass.

    Attributes
    ----------
    above, below
        Weights of the upper and of the lower item, one row of each per test.
    ahead
        By how much the upper item must be ahead, in scale widths.
    """

    above: Floats
    below: Floats
    ahead: float

    @classmethod
    def of(cls, shared: SharedItems, similarity: float) -> PairTests:
        """List the tests for items that share one participation, or have a similar one."""
        if shared.falling and similarity == 1:
            points = np.array(list(list_segment_points(shared, _STRETCH)))
            root = np.sqrt(_STRETCH)
            return cls(points, points, 2 * float((root - 1) / (root + 1)) ** 2)
        return cls(*list_extreme_weights(shared, similarity), ahead=0.0)

    def find_lower_limits(
        self, shared: SharedItems, rows: Index, levels: Floats, some: slice = slice(None)
    ) -> Floats:
        """Return lower limits of rows as upper items, by test, level and row."""
        counts, places = _count_ratings(shared, rows)
        return find_lower_limits(counts, places, self.above[some], levels) - self.ahead

    def find_upper_limits(
        self, shared: SharedItems, rows: Index, levels: Floats, some: slice = slice(None)
    ) -> Floats:
        """Return upper limits of rows as lower items, by test, level and row."""
        counts, places = _count_ratings(shared, rows)
        return find_upper_limits(counts, places, self.below[some], levels)

    def find_margins(self, shared: SharedItems, above: int, below: Index, levels: Floats) -> Floats:
        """Return the margins by which one row is claimed to be above others; negative if not."""
        lower = self.find_lower_limits(shared, np.array([above]), levels)
        upper = self.find_upper_limits(shared, below, levels)
        margins: Floats = (lower - upper[:, ::-1]).min(axis=(0, 1))
        return margins


def _count_ratings(shared: SharedItems, rows: Index) -> tuple[Floats, Floats]:
    """Return the counts of some rows, and the places of the ratings measured from 0."""
    return shared.shares[rows] * shared.n_ratings[rows, None], shared.places - shared.places.min()


def split_level(question: Question, level: float) -> float:
    """Return the level of each of two statements that hold jointly at ``level``.

    If the number of people is known, a pair is settled by separate participation, for which n
    narrows the bounds, or by shared participation, for which n is not used.
    """
    return level if question.counts.n is None else 1 - (1 - level) / 2


def build_separate_question(question: Question, *, sampling_error: bool) -> Question | None:
    """Return the question whose bounds settle pairs with separate participation.

    With sampling error, all its confidence intervals hold jointly at the level of
    :func:`split_level`. Returns None if n is unknown: shared participation then settles every pair
    that separate participation does.
    """
    if question.counts.n is None:
        return None
    if not sampling_error or question.level is None:
        return replace(question, level=None)
    level = split_level(question, question.level)
    return replace(question, level=adjust_level_for_items(level, question.counts.rows))


def choose_levels_for_all_pairs(
    question: Question, shared: SharedItems, claimed: int = 0
) -> Floats:
    """Return the levels of limits at which all claims hold jointly at the question's level.

    ``claimed`` is the number of claims made so far.
    """
    level = require_level(question.level)
    if question.counts.weighted:
        raise OptionError(
            "sampling_error",
            problem="{argument} cannot be combined with weighted counts under shared participation",
            hint="Ignore sampling error",
        )
    rated = len(shared.items)
    all_claims = max(rated * (rated - 1), 1)
    miss = 1 - split_level(question, level)
    many = choose_number_of_levels(miss / all_claims)
    return compute_limit_levels(miss / max(all_claims - claimed, 1), many)


def choose_number_of_levels(miss: float) -> int:
    """Return the number of levels to use, so that none of them is too weak.

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
    """Return the levels of the limits of two items at which the joint test misses with ``miss``.

    With the same number of levels, whatever is claimed at a smaller miss probability is claimed at
    a larger one, because each level rises.

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
    shared: SharedItems,
    tests: PairTests,
    levels: Floats,
    progress: Progress | None = None,
    effort: float = 1.0,
) -> PairCriteria:
    """Build the criteria that claim pairs by limits; see :func:`compute_limit_levels`."""
    items, many = len(shared.items), len(tests.above)
    check_limits(items, many, effort)
    lower, upper = np.empty((2, many, len(levels), items))
    rows = np.arange(items)
    step = max(1, _PORTION // max(items, 1))
    for start in range(0, many, step):
        some = slice(start, min(start + step, many))
        lower[some] = tests.find_lower_limits(shared, rows, levels, some)
        upper[some] = tests.find_upper_limits(shared, rows, levels, some)
        if progress is not None:
            progress(some.stop / many)

    def scores(condition: int) -> tuple[Floats, Floats]:
        c, step = divmod(condition, len(levels))
        return lower[c, step], upper[c, -1 - step]

    return PairCriteria((scores, many * len(levels)))


def check_limits(items: int, many: int, effort: float = 1.0) -> None:
    """Raise if the limits of a number of items at a number of weights take too long."""
    each, most = 2 * many * MOST_LEVELS, int(effort * _MOST_LIMITS)
    if items * each > most:
        raise OptionError(
            "shared",
            problem="{items:,} items on this scale are too many to allow for sampling error under "
            "one participation",
            hint="Rank at most {most:,} items on this scale, ignore sampling error, or use "
            "separate participation",
            code="too_many_items",
            items=items,
            most=most // each,
        )
    check_comparisons(items, many * MOST_LEVELS, effort * MOST_COMPARISONS)
