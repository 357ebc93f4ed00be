"""What other assumptions would do to an order: one q after another, and the q that overturns it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from unheard.analysis.breakdown import Claim, find_breakdown_by_row
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
from unheard.analysis.sweep import GRID, Sweep, sweep_question
from unheard.errors import OptionError
from unheard.model.question import Question
from unheard.present.phrases import claim_text, never_text, q_text, sentence_case
from unheard.present.sentences import sweep_sentences
from unheard.report.order_queries import Numbers, best_of
from unheard.tables.named_items import check_plain, fetch
from unheard.tables.pipeline import Job
from unheard.tables.request import Request

MOST_SWEPT = 50_000
"""Of more items than this the counts are not fetched."""

MOST_SHARED = 5_000
"""Of more items than this one participation is looked at for the assumed q alone."""

_MOST_LIMITS = 1_000
"""Items times weights for which confidence limits are found at every q: some seconds."""

_WITH_NOISE = ("ci_settled", "ci_pairs_settled", "ci_sure")

LEADERS = 5
"""How many of the first items are asked about one by one."""


@dataclass(frozen=True)
class Leading:
    """One of the first items.

    Attributes
    ----------
    key, name
        What counts know it by, and what readers call it.
    best_rank, ci_worst_rank
        Its best rank noise aside, and its worst one with noise, if that is known.
    """

    key: str
    name: str
    best_rank: int
    ci_worst_rank: int | None


@dataclass(frozen=True)
class Step:
    """What is settled at one q.

    Attributes
    ----------
    q
        The voice ratio.
    settled, ci_settled
        Places that are settled, noise aside and with noise; None if nobody asked for noise, or
        it takes too long.
    pairs_settled, ci_pairs_settled
        Pairs of items of which it is settled which comes first.
    sure, ci_sure
        Items that are surely among the k best.
    other_pairs_settled
        Pairs settled, noise aside, if one crowd rated all items instead of one each, or the other
        way round; None if that takes too long.
    refuted
        Items whose response rate refutes this q; 0 if the number of people is unknown.
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


@dataclass(frozen=True)
class Tested:
    """A claim, and the q that overturns it.

    Attributes
    ----------
    claim
        What is claimed.
    breakdown_q, ci_breakdown_q
        It holds at every larger q, noise aside and with noise; 0 if at every q, None if at none.
    words
        The same in a sentence.
    with_noise
        Whether every q was looked at with noise: that may take too long.
    now
        Whether it holds with noise at the q that is assumed.
    """

    claim: str
    breakdown_q: float | None
    ci_breakdown_q: float | None
    words: str
    with_noise: bool
    now: bool = False

    def verdict(self, q: float) -> str:
        """Say whether the claim holds at one q."""
        plain, noisy = (
            one is not None and q > one for one in (self.breakdown_q, self.ci_breakdown_q)
        )
        noisy = noisy if self.with_noise else self.now
        return "holds" if noisy else "holds, noise aside" if plain else "open"


@dataclass(frozen=True, eq=False)
class Leader:
    """The first item, for every q.

    Attributes
    ----------
    name
        What it is called.
    question, sweep
        Its ratings, and the answer for each q.
    broken
        The breakdown q of what is claimed of every item, without and with noise; None if nothing.
    """

    name: str
    question: Question
    sweep: Sweep
    broken: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Overturn:
    """What other assumptions would do.

    Attributes
    ----------
    q
        The q that was assumed; 1 if participation was stated per rating.
    means
        What q means, in a sentence.
    steps
        What is settled at each q, largest first.
    tested
        Claims about the first items.
    leader
        The first item for every q; None if it has no ratings.
    """

    q: float
    means: str
    steps: list[Step]
    tested: list[Tested]
    leader: Leader | None


def objection(request: Request, items: int) -> str | None:
    """Say why other assumptions cannot be looked at; None if they can."""
    what = "What other assumptions would do is left out: "
    most = MOST_SHARED if request.shared else MOST_SWEPT
    if items > most:
        return f"{what}it is worked out for up to {most:,} items."
    try:
        check_plain(request, "q")
    except OptionError as error:
        return f"{what}that cannot be {error.found}."
    return None


def overturn(job: Job, leading: Sequence[Leading], numbers: Numbers) -> Overturn:
    """Look at every q.

    Parameters
    ----------
    job
        A plain job about an order, with its k.
    leading
        The first items, best first.
    numbers
        What is settled at the assumed q.
    """
    order, k = job.request.order, best_of(job.request)
    known, question = fetch(job)
    first = leading[:LEADERS]
    rows, names = [known.index(one.key) for one in first], [one.name for one in first]
    stated = question.assumption
    q = 1.0 if stated.per_rating or stated.q is None else float(stated.q)
    claim = None if order is None else order.claim
    ways = _Ways(question, k, shared=job.request.shared)
    tested = _order_claims(ways, known, leading)
    if claim is not None:
        tested += _mean_claims(question, rows, names, claim)
    return Overturn(
        q=q,
        means=next(sweep_sentences(question, None, None)),
        steps=_steps(ways, q, numbers),
        tested=tested,
        leader=_leader(question, rows[0], names[0], claim, q),
    )


@dataclass(frozen=True, eq=False)
class _Ways:
    """All items, ranked with one participation or with one each.

    Attributes
    ----------
    question
        The items.
    k
        How many are the best.
    shared
        Whether one participation is what the report leads with.
    """

    question: Question
    k: int
    shared: bool

    @property
    def noisy(self) -> bool:
        """Whether sampling error is looked at for every q."""
        if self.question.level is None:
            return False
        return not self.shared or self._limits() <= _MOST_LIMITS

    def _limits(self) -> int:
        crowd = SharedItems.of(self.question, unseen=True).at(min(GRID))
        return len(crowd.items) * len(PairTests.of(crowd, 1.0).above)

    def breakdown(self, item: int, k: int, *, noise: bool) -> float:
        """Find the q above which an item is surely among the k best."""
        find = find_shared_top_k_breakdown if self.shared else find_top_k_breakdown
        return find(self.question, item, k, sampling_error=noise)

    def separate(self, q: float) -> list[Ranking]:
        """Rank items with a participation each: noise aside, then with noise."""
        level, items = self.question.level, self.question.counts.rows
        joint = (
            self.question
            if level is None
            else replace(self.question, level=adjust_level_for_items(level, items))
        )
        ends = joint.at(q).intervals()
        return [
            rank_intervals(lower, upper, k=self.k)
            for lower, upper in zip(ends[::2], ends[1::2], strict=True)
        ]

    def one_crowd(self, q: float, *, noise: bool) -> list[Ranking]:
        """Rank items with one participation: noise aside, then with noise if that is wanted."""
        question = self.question.at(q)
        ways = (False, True) if noise else (False,)
        return [rank_shared(question, k=self.k, sampling_error=way) for way in ways]


def _steps(ways: _Ways, q: float, numbers: Numbers) -> list[Step]:
    steps: list[Step] = []
    for one in sorted({*GRID, q}, reverse=True):
        separate, crowd = ways.separate(one), None
        if ways.shared or ways.question.counts.rows <= MOST_SHARED:
            crowd = ways.one_crowd(one, noise=ways.shared and ways.noisy)
        led, other = (crowd, separate) if ways.shared and crowd else (separate, crowd)
        settled = _settled(led[0], "")
        if len(led) > 1:
            settled |= _settled(led[1], "ci_")
            if steps:
                # What a larger q leaves open, a smaller one does too; see decide.sweep.
                last = asdict(steps[-1])
                settled |= {
                    name: min(value, last[name])
                    for name, value in settled.items()
                    if name.startswith("ci_")
                }
        elif one == q and ways.question.level is not None:
            settled |= {name: getattr(numbers, name) for name in _WITH_NOISE}
        response = ways.question.at(one).response()
        refuted = 0 if response is None else int(np.sum(response.refuted))
        others = _settled(other[0], "")["pairs_settled"] if other else None
        steps.append(Step(q=one, refuted=refuted, other_pairs_settled=others, **settled))
    return steps


def _settled(found: Ranking, prefix: str) -> dict[str, int]:
    assert found.surely is not None  # a k was asked for
    return {
        f"{prefix}settled": int(np.sum(found.best_rank == found.worst_rank)),
        f"{prefix}pairs_settled": int(np.sum(found.best_rank - 1)),
        f"{prefix}sure": int(np.sum(found.surely)),
    }


def _order_claims(ways: _Ways, known: Sequence[str], leading: Sequence[Leading]) -> list[Tested]:
    """Ask how firmly an item is first, and the first few are among the k best, if they may be."""
    items, k = ways.question.counts.rows, ways.k
    asked = [(one, "is first", 1) for one in leading if items > 1 and one.best_rank == 1][:1]
    if 1 < k < items:
        top = f"is in the top {k:,}"
        asked += [(one, top, k) for one in leading if one.best_rank <= k][: min(k, LEADERS)]
    never = never_text(ways.question.assumption)
    return [
        replace(
            _tested(
                f"{one.name} {claim}",
                ways.breakdown(known.index(one.key), best, noise=False),
                ways.breakdown(known.index(one.key), best, noise=True) if ways.noisy else None,
                never,
            ),
            now=one.ci_worst_rank is not None and one.ci_worst_rank <= best,
        )
        for one, claim, best in asked
    ]


def _mean_claims(
    question: Question, rows: Sequence[int], names: Sequence[str], claim: Claim
) -> list[Tested]:
    """Ask while which q the means of the first few are as claimed."""
    some = replace(question, counts=question.counts.take(np.array(rows)))
    plain = find_breakdown_by_row(some, claim, sampling_error=False)
    noisy = (
        None if question.level is None else find_breakdown_by_row(some, claim, sampling_error=True)
    )
    never = never_text(question.assumption)
    return [
        _tested(
            f"the mean of {name} is {claim.side}",
            float(plain[i]),
            None if noisy is None else float(noisy[i]),
            never,
        )
        for i, name in enumerate(names)
    ]


def _tested(claim: str, plain: float, noisy: float | None, never: str) -> Tested:
    if noisy is None and not math.isnan(plain):
        words = f"{sentence_case(claim)} {q_text(plain, never)}."
    else:
        words = claim_text(claim, plain, noisy, never)
    noise = None if noisy is None else _or_none(noisy)
    return Tested(claim, _or_none(plain), noise, words, with_noise=noisy is not None)


def _or_none(q: float) -> float | None:
    return None if math.isnan(q) else q


def _leader(
    question: Question, row: int, name: str, claim: Claim | None, q: float
) -> Leader | None:
    counts = replace(question.counts.take(np.array([row])), single=True)
    if question.level is None or not counts.n_ratings[0]:
        return None
    one = replace(question, counts=counts)
    broken = None
    if claim is not None:
        plain, noisy = (
            float(find_breakdown_by_row(one, claim, noise)[0]) for noise in (False, True)
        )
        broken = (plain, noisy)
    return Leader(name, one, sweep_question(one, sorted({*GRID, q}, reverse=True)), broken)
