"""How much of the order is settled at each q, under shared and under separate participation."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from unheard.analysis.ranking import (
    Ranking,
    adjust_level_for_items,
    find_top_k_breakdown,
    rank_intervals,
)
from unheard.analysis.shared_breakdown import find_shared_top_k_breakdown
from unheard.analysis.shared_pairs import SharedItems
from unheard.analysis.shared_ranking import rank_shared
from unheard.analysis.shared_tests import PairTests
from unheard.analysis.sweep import GRID
from unheard.model.question import Question
from unheard.report.order_queries import OrderNumbers

MAX_SHARED = 5_000
"""With more items than this, shared participation is examined at the assumed q alone."""

_MAX_LIMITS = 1_000
"""Items times weights for which confidence limits are computed at every q: some seconds."""

_WITH_SAMPLING_ERROR = ("ci_settled", "ci_pairs_settled", "ci_sure")


@dataclass(frozen=True)
class SettledAtQ:
    """What is settled at one q.

    Names that start with ``ci_`` allow for sampling error; they are None if that was not asked
    for, or takes too long.

    Attributes
    ----------
    q
        The participation ratio.
    refuted
        Items whose response rate contradicts this q; 0 if n is unknown.
    settled, ci_settled
        Items whose rank is settled.
    pairs_settled, ci_pairs_settled
        Pairs of items whose order is settled.
    sure, ci_sure
        Items that are certain to be in the top k.
    other_pairs_settled
        Pairs settled, ignoring sampling error, under separate participation if the report assumes
        shared participation, and the other way round; None if that takes too long.
    """

    q: float
    refuted: int
    settled: int
    pairs_settled: int
    sure: int
    other_pairs_settled: int | None
    ci_settled: int | None = None
    ci_pairs_settled: int | None = None
    ci_sure: int | None = None


@dataclass(frozen=True, eq=False)
class Ranker:
    """Ranks all items, with a k, under shared and under separate participation.

    ``shared`` is what the report assumes.
    """

    question: Question
    k: int
    shared: bool

    @property
    def has_sampling_error(self) -> bool:
        """Whether every q is examined allowing for sampling error."""
        if self.question.level is None:
            return False
        return not self.shared or self._count_limits() <= _MAX_LIMITS

    def _count_limits(self) -> int:
        items = SharedItems.of(self.question, unobserved=True).at(min(GRID))
        return len(items.items) * len(PairTests.of(items, 1.0).above)

    def find_breakdown(self, item: int, k: int, *, sampling_error: bool) -> float:
        """Find the q above which an item is certain to be in the top k."""
        find = find_shared_top_k_breakdown if self.shared else find_top_k_breakdown
        return find(self.question, item, k, sampling_error=sampling_error)

    def rank_separate(self, q: float) -> list[Ranking]:
        """Rank under separate participation: ignoring sampling error, then allowing for it."""
        level, items = self.question.level, self.question.counts.rows
        joint = self.question
        if level is not None:
            joint = replace(joint, level=adjust_level_for_items(level, items))
        bounds = joint.at(q).find_bounds()
        ends = [(bounds.lower, bounds.upper)]
        if level is not None:
            ends.append((bounds.ci_lower, bounds.ci_upper))
        return [rank_intervals(lower, upper, k=self.k) for lower, upper in ends]

    def rank_shared(self, q: float, *, sampling_error: bool) -> list[Ranking]:
        """Rank under shared participation: ignoring sampling error, then allowing for it."""
        question = self.question.at(q)
        ways = (False, True) if sampling_error else (False,)
        return [rank_shared(question, k=self.k, sampling_error=way) for way in ways]


def count_settled_by_q(ranker: Ranker, assumed: float, numbers: OrderNumbers) -> list[SettledAtQ]:
    """Count what is settled at each q, largest first; ``numbers`` are those at the assumed q."""
    steps: list[SettledAtQ] = []
    question = ranker.question
    for q in sorted({*GRID, assumed}, reverse=True):
        separate, shared = ranker.rank_separate(q), None
        if ranker.shared or question.counts.rows <= MAX_SHARED:
            sampling_error = ranker.shared and ranker.has_sampling_error
            shared = ranker.rank_shared(q, sampling_error=sampling_error)
        led, other = (shared, separate) if ranker.shared and shared else (separate, shared)
        settled = _count(led[0], "")
        if len(led) > 1:
            settled |= _at_most(_count(led[1], "ci_"), steps)
        elif q == assumed and question.level is not None:
            settled |= {name: getattr(numbers, name) for name in _WITH_SAMPLING_ERROR}
        response = question.at(q).assess_response()
        refuted = 0 if response is None else int(np.sum(response.refuted))
        others = _count(other[0], "")["pairs_settled"] if other else None
        steps.append(SettledAtQ(q=q, refuted=refuted, other_pairs_settled=others, **settled))
    return steps


def _count(ranking: Ranking, prefix: str) -> dict[str, int]:
    assert ranking.surely is not None  # ranked with a k
    return {
        f"{prefix}settled": int(np.sum(ranking.best_rank == ranking.worst_rank)),
        f"{prefix}pairs_settled": int(np.sum(ranking.best_rank - 1)),
        f"{prefix}sure": int(np.sum(ranking.surely)),
    }


def _at_most(settled: dict[str, int], steps: list[SettledAtQ]) -> dict[str, int]:
    """Limit numbers to those at the last, larger q: what that leaves open, a smaller q does too."""
    if not steps:
        return settled
    last = asdict(steps[-1])
    return {name: min(value, last[name]) for name, value in settled.items()}
