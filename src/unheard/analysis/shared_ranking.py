"""Rank ranges of many items that share one unknown participation.

Item i is *surely above* j if its mean is larger for every participation that the assumption allows,
the same for both. Rank ranges count pairs: the best rank of an item is one more than the number of
items surely above it, the worst rank is N minus the number of items surely below it. Under one
common participation the true rank range may be narrower.

:mod:`unheard.analysis.shared_pairs` has the proofs for one pair,
:mod:`unheard.analysis.shared_criteria` for all pairs, and :mod:`unheard.analysis.shared_tests` adds
sampling error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from unheard.analysis.dominance import Progress
from unheard.analysis.ranking import Ranking, Whole, check_k
from unheard.analysis.shared_criteria import PairCriteria, build_exact_criteria, settle_pairs
from unheard.analysis.shared_pairs import TIE, SharedItems
from unheard.analysis.shared_tests import (
    PairTests,
    build_separate_question,
    build_tested_criteria,
    choose_levels_for_all_pairs,
)
from unheard.errors import Given, OptionError
from unheard.formulas.operations import Floats
from unheard.model.question import Question, takes_question

MOST_LISTED = 5000
"""Largest number of items whose settled pairs are listed."""


@dataclass(frozen=True, eq=False, repr=False)
class SharedRanking(Ranking):
    """Rank ranges and tiers of items that share one participation; 1 is best.

    The fields of :class:`~unheard.analysis.ranking.Ranking` count pairs here: the best rank is one
    more than the number of items surely above. An item without ratings may have any rank.

    Attributes
    ----------
    settled
        Number of pairs whose order is settled, out of N(N - 1)/2.
    pairs
        The settled pairs, upper item first, shape (settled, 2); None unless requested.
    """

    settled: int
    pairs: Whole | None

    @property
    def settled_share(self) -> float:
        """Share of pairs whose order is settled; 1 if there is only one item."""
        items = len(self.tier)
        return self.settled / (items * (items - 1) / 2) if items > 1 else 1.0


@takes_question
def rank_shared(
    question: Question,
    *,
    k: int | None = None,
    sampling_error: bool = False,
    similarity: float = 1.0,
    pairs: bool = False,
    progress: Progress | None = None,
    effort: float = 1.0,
) -> SharedRanking:
    """Rank items that share one unknown participation.

    Parameters
    ----------
    question
        All items, with one q for all. A known number of people is used only for pairs that it
        settles with separate participation.
    k
        Also find which items are surely, and which possibly, among the k best.
    sampling_error
        Whether to allow for sampling error: all results then hold jointly with a probability of
        at least the question's level.
    similarity
        The smallest ratio of the participations of two items, at any rating: 1 if they are the
        same; q or less if each item has its own.
    pairs
        Whether to list the settled pairs.
    progress
        Called with the share of the work done so far.
    effort
        The most work to do, as a share of some minutes' work; more is refused.

    Examples
    --------
    >>> from unheard import build_question
    >>> hotels = build_question([[1, 2, 6, 18, 14], [3, 1, 6, 7, 5], [4, 3, 3, 9, 9]], 0.3)
    >>> found = rank_shared(hotels, k=1, pairs=True)
    >>> found.best_rank, found.worst_rank, found.pairs.tolist()
    (array([1, 2, 2]), array([1, 3, 3]), [[0, 1], [0, 2]])
    >>> rank_shared(hotels, sampling_error=True).settled
    0
    """
    items = question.counts.rows
    if k is not None:
        check_k(k, items)
    if pairs and items > MOST_LISTED:
        raise OptionError(
            "pairs",
            problem="{argument} cannot be listed for more than {most:,} items",
            value=Given(f"{items:,} items"),
            most=MOST_LISTED,
        )
    similarity = _check_similarity(similarity)
    if not sampling_error:
        shared = SharedItems.of(question)
        ends = _find_settling_bounds(build_separate_question(question, sampling_error=False))
        found = _count_settled(
            build_exact_criteria(shared, similarity, effort), shared, items, pairs, progress, ends
        )
        return build_shared_ranking(*found, k)
    return build_shared_ranking(
        *_rank_with_sampling_error(question, similarity, pairs, progress, effort), k
    )


def _rank_with_sampling_error(
    question: Question, similarity: float, pairs: bool, progress: Progress | None, effort: float
) -> tuple[Whole, Whole, Whole | None]:
    """Claim pairs, then test the others again with the claimed ones excluded."""
    shared = SharedItems.of(question, unobserved=True)
    tests = PairTests.of(shared, similarity)
    levels, ends = (
        choose_levels_for_all_pairs(question, shared),
        _find_settling_bounds(build_separate_question(question, sampling_error=True)),
    )
    for last in (False, True):
        share = None if progress is None else partial(_report_half, progress, last)
        criteria = build_tested_criteria(shared, tests, levels, share, effort)
        # Claims from a known n alone do not reduce the number of tests.
        also = ends if last else None
        found = _count_settled(criteria, shared, question.counts.rows, pairs and last, None, also)
        levels = choose_levels_for_all_pairs(question, shared, claimed=int(found[0].sum()))
    return found


def _report_half(progress: Progress, second: bool, share: float) -> None:
    progress((share + second) / 2)


def _find_settling_bounds(question: Question | None) -> tuple[Floats, Floats] | None:
    """Return bounds that settle pairs with separate participation, with a margin for rounding."""
    if question is None:
        return None
    lower, upper = question.find_bounds().outermost
    return lower - TIE * question.counts.scale.width, upper


def _count_settled(
    criteria: PairCriteria,
    shared: SharedItems,
    items: int,
    pairs: bool,
    progress: Progress | None,
    ends: tuple[Floats, Floats] | None,
) -> tuple[Whole, Whole, Whole | None]:
    """Return how many items are surely above and below each, and the pairs if requested.

    ``ends`` are bounds that settle pairs as well.
    """
    above, below = (np.zeros(items, np.int64) for _ in range(2))
    listed: list[Whole] = [np.zeros((0, 2), np.int64)]
    for rows, columns, sure in settle_pairs(criteria, len(shared.items), progress):
        if ends is not None:
            lower, upper = ends[0][shared.items[rows]], ends[1][shared.items[columns]]
            np.logical_or(sure, lower[:, None] > upper, out=sure)
        # A block has fewer than 2**16 rows and columns, and short integers add up faster.
        below[shared.items[rows]] += sure.sum(axis=1, dtype=np.uint16)
        above[shared.items[columns]] += sure.sum(axis=0, dtype=np.uint16)
        if pairs:
            i, j = np.nonzero(sure)
            listed.append(np.stack([shared.items[rows][i], shared.items[columns][j]], axis=1))
    if not pairs:
        return above, below, None
    found = np.concatenate(listed)
    return above, below, found[np.lexsort(found.T[::-1])]


def build_shared_ranking(
    above: Whole, below: Whole, pairs: Whole | None, k: int | None
) -> SharedRanking:
    """Build the ranking from the numbers of items surely above and surely below each.

    A tier ends after p items if p items have a worst rank of at most p. For each of these has at
    least N - p items below; one of them that has none of the others below therefore has all the
    rest below, and every other one is above such an item.
    """
    items = len(above)
    best, worst = 1 + above, items - below
    firm = np.cumsum(np.bincount(worst, minlength=items + 1))
    ends = firm == np.arange(items + 1)  # also before the first item
    tier = np.cumsum(ends)[worst - 1] if items else worst
    surely, possibly = (None, None) if k is None else (worst <= k, best <= k)
    return SharedRanking(best, worst, tier, surely, possibly, k, int(below.sum()), pairs)


def _check_similarity(similarity: float) -> float:
    if not 0 < similarity <= 1:
        raise OptionError("similarity", problem="{argument} must be in (0, 1]", value=similarity)
    return float(similarity)
