"""What a result says about the order of its items, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlglot import exp

from unheard.analysis.shared_breakdown import find_shared_breakdown
from unheard.present.phrases import (
    LOOSENED,
    ONE_CROWD,
    OWN_CROWDS,
    error_ranks_text,
    never_text,
    q_text,
)
from unheard.tables.pipeline import Job
from unheard.tables.request import Order
from unheard.tables.shared_ranks import MOST_LISTED, CrowdRanks
from unheard.tables.sql.dialects import column
from unheard.tables.sql.reserved_names import MANY
from unheard.tables.sql.sort import sort_column, sort_rows
from unheard.tables.top_k import TopKBreakdown
from unheard.text import name_of, plural, rating_text

_NAMED = 5
"""How many items a sentence names."""


class OrderFindings:
    """Sentences about the order of the items.

    Parameters
    ----------
    job
        A job whose request is about the order.
    result
        Its result, as the engine keeps it.
    who
        How firmly one item stands, if that was asked.
    """

    def __init__(self, job: Job, result: exp.Expr, who: TopKBreakdown | None = None) -> None:
        self.job, self.request, self.engine = job, job.request, job.opened.engine
        self.result, self.who = result, who
        self.total = self.count(exp.true())

    @property
    def order(self) -> Order:
        """What was asked about the order."""
        assert self.request.order is not None  # nobody else makes findings
        return self.request.order

    def pairs(self) -> dict[str, float | None]:
        """Return the share of pairs of items whose order is settled."""
        shares: dict[str, float | None] = {"settled": None, "settled_with_error": None}
        if self.request.compared_within or self.total < 2:
            return shares
        for name, prefix in zip(shares, ("", "ci_"), strict=True):
            above = exp.Sum(this=column(f"{prefix}best_rank") - 1)
            query = exp.select(exp.alias_(above, MANY)).from_(self.result.copy())
            many = self.engine.rows(query)[0][MANY]
            if many is not None:
                shares[name] = float(many) / (self.total * (self.total - 1) / 2)
        return shares

    def _pairs(self) -> str:
        settled, with_error = self.pairs().values()
        assert settled is not None  # asked only of several items that are compared
        crowd = "one participation" if self.request.shared else "separate participation"
        words = f"{settled:.1%} of the pairs of items are in a settled order, under {crowd} and "
        words += "ignoring sampling error"
        return (
            f"{words}; {with_error:.1%} allowing for it." if with_error is not None else f"{words}."
        )

    def sentences(self) -> list[str]:
        """Return what is settled."""
        found = [self._count_settled_ranks()]
        if self.total > 1 and not self.request.compared_within:
            found.append(self._pairs())
            if self.request.shared:
                assert self.job.crowd is not None  # made together with the ranks
                found += pair_sentences(self.job.crowd)
        if self.request.compared_within:
            within = "attribute" if self.request.attributes else "window"
            found.append(f"The items of each {within} are ranked among themselves.")
        elif self.order.k is not None and self.total > 1:
            found += self._top(self.order.k)
        if self.who is not None:
            found.append(self.standing(self.who))
        return found

    def _count_settled_ranks(self) -> str:
        if not self.total:
            return "No items are left."
        if self.total == 1:
            return "There is only one item, so there is no order to settle."
        many = self.count(column("best_rank").eq(column("worst_rank")))
        if not many:
            own = "" if self.request.shared else ": non-respondents could change each of them"
            return f"No rank is settled{own}."
        words = f"{many:,} of {plural(self.total, 'rank')} {'is' if many == 1 else 'are'} settled"
        if self.request.ranks_allow_for_error:
            still = self.count(column("ci_best_rank").eq(column("ci_worst_rank")))
            words += f", ignoring sampling error; allowing for it, {still or 'none'}"
        return f"{words}."

    def _top(self, k: int) -> list[str]:
        top, best = ("first", "first place") if k == 1 else (f"in the top {k:,}", f"top {k:,}")

        def verdict(name: str, prefix: str = "") -> exp.Condition:
            return column(f"{prefix}top").eq(exp.Literal.string(name))

        sentences = [
            f"Surely {top}, ignoring sampling error: {self._list_items(verdict('surely'))}. "
            f"Possibly: {self._list_items(verdict('possibly'))}."
        ]
        if self.request.ranks_allow_for_error:
            sentences.append(
                f"Allowing for it, surely: {self._list_items(verdict('surely', 'ci_'))}. "
                f"Possibly: {self._list_items(verdict('possibly', 'ci_'))}."
            )
        open_ = exp.and_(column("average_rank") <= k, exp.not_(verdict("surely")))
        if self.count(open_):
            sentences.append(
                f"{top[0].upper()}{top[1:]} by average, but undecided: {self._list_items(open_)}."
            )
        else:
            sentences.append(f"The {best} by average is settled, ignoring sampling error.")
        return sentences

    def standing(self, who: TopKBreakdown) -> str:
        """Say at which q one item is certain to be in the top k."""
        name, never = name_of(who.item), self.never()
        top = "first" if who.k == 1 else f"in the top {who.k:,}"
        if who.breakdown_q is None:
            return f"That {name} is {top} holds {never}."
        words = f"{name} is surely {top} {q_text(who.breakdown_q, never)}"
        if who.allows_for_error:
            words += f"; allowing for sampling error, {q_text(who.ci_breakdown_q, never)}"
        return f"{words}."

    def never(self) -> str:
        """Say that something holds at no q."""
        return never_text(self.request.assumption)

    def meanings(
        self,
        *,
        tiers: bool = True,
        error_heading: str = "Rank range with sampling error",
        mark: str = "",
    ) -> list[str]:
        """Return what the columns mean.

        Parameters
        ----------
        tiers
            Whether tiers are shown.
        error_heading
            The heading of the rank range that allows for sampling error.
        mark
            What marks the verdicts that sampling error leaves undecided, if anything does.
        """
        ranks = "Rank range: every rank that the assumption allows."
        meanings = [f"{ranks} Items of different tiers cannot change places." if tiers else ranks]
        if self.total > 1 and not self.request.compared_within:
            meanings.append(ONE_CROWD if self.request.shared else OWN_CROWDS)
        if self.request.ranks_allow_for_error and self.request.level is not None:
            meaning = error_ranks_text(error_heading, self.request.level)
            marked = bool(mark) and self.order.k is not None
            meanings.append(
                f"{meaning}; {mark} marks what it leaves undecided." if marked else f"{meaning}."
            )
        claim = self.order.claim
        if claim is not None:
            meanings.append(
                f"The mean is {claim.side} as long as q is above the number shown, ignoring "
                f"sampling error; never: {self.never()}."
            )
        if self.request.assumption.per_rating and (self.who or claim or self.request.shared):
            meanings.append(LOOSENED)
        return meanings

    def count(self, condition: exp.Condition) -> int:
        """Count the rows for which a condition holds."""
        many = exp.alias_(exp.Count(this=exp.Star()), MANY)
        query = exp.select(many).from_(self.result.copy()).where(condition)
        return int(self.engine.rows(query)[0][MANY])

    def _list_items(self, condition: exp.Condition) -> str:
        """Name the first few items for which a condition holds, best first."""
        many = self.count(condition)
        by = sort_column(self.request, None)
        query = sort_rows(self.result, self.request, by).where(condition)
        rows: list[dict[str, Any]] = self.engine.rows(query.limit(_NAMED))
        names = [",".join(name_of(row[key]) for key in self.request.item) for row in rows]
        mark = "; " if any("," in name for name in names) else ", "
        more = f" and {many - len(names):,} more" if many > len(names) else ""
        return f"{mark.join(names)}{more}" or "none"


def assumption_words(job: Job) -> str:
    """Say the assumption of a request in one sentence."""
    request = job.request
    if request.q_column is not None:
        return f"q as in column {request.q_column}, item by item."
    return request.assumption.words()


def pair_sentences(ranks: CrowdRanks) -> list[str]:
    """Name the pairs that surprise: settled though close or against averages, open though far.

    If everybody may respond equally often, no settled order contradicts the averages; stated
    bounds or a known participation can do that.
    """
    pairs = ranks.plain.pairs
    if pairs is None:
        return [f"Pairs are named and drawn for up to {MOST_LISTED:,} items."]
    average, said = ranks.averages(), []
    # What sampling error may undo surprises nobody, unless there is nothing else.
    firm = None if ranks.with_error is None else ranks.with_error.pairs
    named = firm if firm is not None and len(firm) else pairs
    if len(named):
        lead = average[named[:, 0]] - average[named[:, 1]]
        how = "with sampling error" if named is firm else "ignoring sampling error"
        closest = _claim_of_pair(ranks, *named[np.argmin(np.abs(lead))])
        said.append(f"Closest pair settled {how}: {closest}.")
        if lead.min() < 0:
            said.append(
                f"Against their averages: {_claim_of_pair(ranks, *named[np.argmin(lead)])}."
            )
    apart = np.abs(average[:, None] - average)
    apart[pairs[:, 0], pairs[:, 1]] = apart[pairs[:, 1], pairs[:, 0]] = 0.0
    i, j = divmod(int(np.argmax(np.nan_to_num(apart))), len(average))
    if apart[i, j] > 0:
        first, second = (i, j) if average[i] > average[j] else (j, i)
        said.append(
            f"Widest open pair: {_name_with_average(ranks, first)} and "
            f"{_name_with_average(ranks, second)}; either may be "
            "above the other."
        )
    return said


def _name_with_average(ranks: CrowdRanks, item: int) -> str:
    average = rating_text(ranks.averages()[item], ranks.question.counts.scale.width)
    return f"{name_of(ranks.names[item])} ({average})"


def _claim_of_pair(ranks: CrowdRanks, above: int, below: int) -> str:
    plain = float(find_shared_breakdown(ranks.question, [above], [below])[0])
    names = (_name_with_average(ranks, item) for item in (above, below))
    words = f"{' is above '.join(names)} {q_text(plain, '')}"
    if ranks.with_error is None:
        return words
    firm = float(find_shared_breakdown(ranks.question, [above], [below], sampling_error=True)[0])
    if np.isnan(firm):
        return f"{words}; with sampling error this is open at every q"
    return f"{words}; with sampling error, {q_text(firm, '')}"
