"""The sensitivity analysis of a report: what other q would settle, and at which q claims fail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unheard.analysis.breakdown import Claim, find_breakdown_by_row
from unheard.analysis.sweep import GRID, Sweep, sweep_question
from unheard.model.question import Question
from unheard.present.phrases import claim_text, never_text, q_text, sentence_case
from unheard.report.order_queries import OrderNumbers, get_k
from unheard.report.settled_by_q import MAX_SHARED, Ranker, SettledAtQ, count_settled_by_q
from unheard.tables.named_items import fetch
from unheard.tables.pipeline import Job
from unheard.tables.request import Request

MAX_SWEPT = 50_000
"""The counts of more items than this are not fetched."""

MAX_CLAIMS = 5
"""About how many of the first items claims are tested."""

_CONFLICTS = {
    "window": "windows",
    "strata": "strata",
    "attributes": "several rating columns",
    "q_column": "a q for each item",
}
"""Parts of a request that leave an item without a single histogram and q."""


@dataclass(frozen=True)
class LeadingItem:
    """One of the first items: its key among the counts, and its name.

    Its best rank ignores sampling error; its worst rank allows for it, and is None if unknown.
    """

    key: str
    name: str
    best_rank: int
    ci_worst_rank: int | None


@dataclass(frozen=True)
class ClaimResult:
    """A claim, and its breakdown q.

    Attributes
    ----------
    claim
        What is claimed.
    breakdown_q, ci_breakdown_q
        The claim holds at every larger q, ignoring and allowing for sampling error; 0 if it holds
        at every q, None if it holds at none.
    words
        The same in a sentence.
    with_sampling_error
        Whether every q was examined allowing for sampling error, which may take too long.
    holds_now
        Whether the claim holds at the assumed q, allowing for sampling error.
    """

    claim: str
    breakdown_q: float | None
    ci_breakdown_q: float | None
    words: str
    with_sampling_error: bool
    holds_now: bool = False

    def verdict(self, q: float) -> str:
        """Say whether the claim holds at the assumed q."""
        plain, firm = (
            one is not None and q > one for one in (self.breakdown_q, self.ci_breakdown_q)
        )
        if firm if self.with_sampling_error else self.holds_now:
            return "holds"
        return "holds, ignoring sampling error" if plain else "not shown"


@dataclass(frozen=True, eq=False)
class LeaderSweep:
    """The first item: its name, the bounds on its mean at every q, and where the claim fails."""

    name: str
    sweep: Sweep


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """A sensitivity analysis.

    Attributes
    ----------
    q
        The assumed q; 1 if participation was given per rating.
    assumption
        The assumption at any q, in a sentence.
    steps
        What is settled at each q, largest first.
    claims
        Claims about the first items.
    leader
        The first item at every q; None if it has no ratings.
    """

    q: float
    assumption: str
    steps: list[SettledAtQ]
    claims: list[ClaimResult]
    leader: LeaderSweep | None

    @property
    def assumed(self) -> SettledAtQ:
        """What is settled at the assumed q."""
        return next(step for step in self.steps if step.q == self.q)


def explain_no_sensitivity(request: Request, items: int) -> str | None:
    """Say why there is no sensitivity analysis; None if there is one."""
    most = MAX_SHARED if request.shared else MAX_SWEPT
    if items > most:
        return f"A sensitivity analysis is available for up to {most:,} items."
    for name, conflict in _CONFLICTS.items():
        if getattr(request, name):
            return f"A sensitivity analysis is not available with {conflict}."
    return None


def analyse_sensitivity(
    job: Job, leading: Sequence[LeadingItem], numbers: OrderNumbers
) -> Sensitivity:
    """Examine every q.

    The job is about an order, with its k, and :func:`explain_no_sensitivity` returns None for it.
    ``leading`` are the first items, best first; ``numbers`` are those at the assumed q.
    """
    order, k = job.request.order, get_k(job.request)
    known, question = fetch(job)
    first = leading[:MAX_CLAIMS]
    rows, names = [known.index(one.key) for one in first], [one.name for one in first]
    assumption = question.assumption
    q = 1.0 if assumption.per_rating or assumption.q is None else float(assumption.q)
    claim = None if order is None else order.claim
    ranker = Ranker(question, k, shared=job.request.shared)
    claims = _test_order_claims(ranker, known, leading)
    if claim is not None:
        claims += _test_mean_claims(question, rows, names, claim)
    return Sensitivity(
        q=q,
        assumption=assumption.words("q"),
        steps=count_settled_by_q(ranker, q, numbers),
        claims=claims,
        leader=_sweep_leader(question, rows[0], names[0], claim, q),
    )


def _test_order_claims(
    ranker: Ranker, known: Sequence[str], leading: Sequence[LeadingItem]
) -> list[ClaimResult]:
    """Test that an item is first, and that the first few are in the top k, where possible."""
    items, k = ranker.question.counts.rows, ranker.k
    asked = [(one, "is first", 1) for one in leading if items > 1 and one.best_rank == 1][:1]
    if 1 < k < items:
        top = f"is in the top {k:,}"
        asked += [(one, top, k) for one in leading if one.best_rank <= k][: min(k, MAX_CLAIMS)]
    never, with_error = never_text(ranker.question.assumption), ranker.has_sampling_error
    claims = []
    for one, claim, best in asked:
        item = known.index(one.key)
        plain = ranker.find_breakdown(item, best, sampling_error=False)
        firm = ranker.find_breakdown(item, best, sampling_error=True) if with_error else None
        holds_now = one.ci_worst_rank is not None and one.ci_worst_rank <= best
        made = _build_claim(f"{one.name} {claim}", plain, firm, never)
        claims.append(replace(made, holds_now=holds_now))
    return claims


def _test_mean_claims(
    question: Question, rows: Sequence[int], names: Sequence[str], claim: Claim
) -> list[ClaimResult]:
    """Test that the means of the first few items are as claimed."""
    some = replace(question, counts=question.counts.take(np.array(rows)))
    plain = find_breakdown_by_row(some, claim, sampling_error=False)
    firm = (
        None if question.level is None else find_breakdown_by_row(some, claim, sampling_error=True)
    )
    never = never_text(question.assumption)
    return [
        _build_claim(
            f"the mean of {name} is {claim.side}",
            float(plain[i]),
            None if firm is None else float(firm[i]),
            never,
        )
        for i, name in enumerate(names)
    ]


def _build_claim(claim: str, plain: float, firm: float | None, never: str) -> ClaimResult:
    if firm is None and not math.isnan(plain):
        words = f"{sentence_case(claim)} {q_text(plain, never)}."
    else:
        words = claim_text(claim, plain, firm, never)
    ci = None if firm is None else _nan_to_none(firm)
    return ClaimResult(claim, _nan_to_none(plain), ci, words, with_sampling_error=firm is not None)


def _nan_to_none(q: float) -> float | None:
    return None if math.isnan(q) else q


def _sweep_leader(
    question: Question, row: int, name: str, claim: Claim | None, q: float
) -> LeaderSweep | None:
    counts = replace(question.counts.take(np.array([row])), single=True)
    if question.level is None or not counts.n_ratings[0]:
        return None
    one = replace(question, counts=counts)
    return LeaderSweep(name, sweep_question(one, sorted({*GRID, q}, reverse=True), claim))
