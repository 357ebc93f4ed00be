"""Numbers about the order of the items, counted where the result is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from unheard.model.notes import FEW
from unheard.tables.engines.base import Engine
from unheard.tables.engines.duckdb import DuckDB
from unheard.tables.pipeline import Job
from unheard.tables.request import ORDER_COLUMNS, RESULT_COLUMNS, Request
from unheard.tables.sql.dialects import column
from unheard.tables.sql.expressions import number
from unheard.tables.sql.rank_query import order_columns
from unheard.tables.sql.reserved_names import MANY, plain, reserve

MOST_BEST = 10
"""How many the best are unless somebody says; of a few items, at most half."""


@dataclass(frozen=True)
class Numbers:
    """What is settled about an order, and how wide the intervals are.

    Attributes
    ----------
    items
        Rows of the result: items, or items within an attribute or a window.
    different
        Different items; fewer than rows if they are ranked in several attributes or windows.
    rated
        Rows with ratings, which the plain average gives a place.
    settled, ci_settled
        Places that are settled, noise aside and with noise.
    pairs, pairs_settled, ci_pairs_settled
        Pairs of items that are compared, and those of which it is settled which comes first.
    first, ci_first
        Items that may be first.
    sure, ci_sure, possible, ci_possible
        Items that surely are, and that may be, among the k best.
    leading, leading_sure, ci_leading_sure
        Items among the k best by plain average, and how many of them surely are.
    claimed, claim_holds, ci_claim_holds
        Items whose plain average is as claimed, and whose intervals, and confidence intervals, are.
    width
        How wide an interval is, on average; None if there are no items.
    fewest, most, few
        Fewest and most ratings of an item, and those with fewer than 10.
    people
        People there are, all items together; None if that is not known.
    """

    items: int
    different: int
    rated: int
    settled: int
    ci_settled: int
    pairs: int
    pairs_settled: int
    ci_pairs_settled: int
    first: int
    ci_first: int
    sure: int
    ci_sure: int
    possible: int
    ci_possible: int
    leading: int
    leading_sure: int
    ci_leading_sure: int
    claimed: int
    claim_holds: int
    ci_claim_holds: int
    width: float | None
    fewest: int
    most: int
    few: int
    people: int | None


@contextmanager
def kept(job: Job) -> Iterator[tuple[Job, exp.Expr]]:
    """Keep the result of a job, so that it can be looked at again and again.

    An engine that keeps nothing would work it out each time; its result is kept in one that does.
    """
    engine = job.opened.engine
    if engine.keeps:
        yield job, engine.keep("result", job.query)
        return
    own = DuckDB()
    try:
        result = own.register(engine.arrow(job.query).read_all())
        yield replace(job, opened=replace(job.opened, engine=own)), result
    finally:
        own.close()


def best_of(request: Request) -> int:
    """Return how many the best are, once that is settled."""
    assert request.order is not None
    assert request.order.k is not None  # see with_best
    return request.order.k


def with_best(job: Job, result: exp.Expr) -> tuple[Job, exp.Expr]:
    """Choose how many the best are if the job does not say, and say of each item if it is there."""
    request = job.request
    assert request.order is not None  # a report is about an order
    if request.order.k is not None:
        return job, result
    compared = max(_compared(job, result), default=0)
    k = max(1, min(MOST_BEST, compared // 2))
    asked = replace(request, order=replace(request.order, k=k))
    verdicts = {one.alias: one for one in order_columns(asked)}
    names = [*request.result_keys, *RESULT_COLUMNS[:-1], *ORDER_COLUMNS, RESULT_COLUMNS[-1]]
    told = exp.select(
        *(verdicts[name] if name in ("top", "ci_top") else column(name) for name in names)
    ).from_(result.copy())
    return replace(job, request=asked), told.subquery(reserve("told"))


def _compared(job: Job, result: exp.Expr) -> list[int]:
    """Count the items that are compared with each other, in each attribute and window."""
    within = job.request.compared_within
    groups = exp.select(exp.alias_(exp.Count(this=exp.Star()), MANY)).from_(result.copy())
    if within:
        groups = groups.group_by(*map(column, within))
    return [int(row[MANY]) for row in job.opened.engine.rows(groups)]


def _different(job: Job, result: exp.Expr) -> int:
    """Count the items, each once."""
    items = exp.select(*map(column, job.request.item)).distinct().from_(result.copy())
    many = exp.alias_(exp.Count(this=exp.Star()), MANY)
    (row,) = job.opened.engine.rows(exp.select(many).from_(items.subquery(reserve("items"))))
    return int(row[MANY])


def numbers(job: Job, result: exp.Expr) -> Numbers:
    """Count all of it in one query."""
    request = job.request
    assert request.order is not None  # a report is about an order
    k, claim = number(best_of(request)), request.order.claim
    leading = column("average_rank") <= k
    conditions: dict[str, Any] = {
        "settled": column("best_rank").eq(column("worst_rank")),
        "ci_settled": column("ci_best_rank").eq(column("ci_worst_rank")),
        "first": column("best_rank").eq(1),
        "ci_first": column("ci_best_rank").eq(1),
        "sure": _surely("top"),
        "ci_sure": _surely("ci_top"),
        "leading": leading,
        "leading_sure": exp.and_(leading.copy(), _surely("top")),
        "ci_leading_sure": exp.and_(leading.copy(), _surely("ci_top")),
        "possible": column("best_rank") <= k,
        "ci_possible": column("ci_best_rank") <= k,
        "few": column("n_ratings") < FEW,
        "rated": column("n_ratings") > 0,
    }
    if claim is not None:
        ends = ("lower", "ci_lower") if claim.above else ("upper", "ci_upper")
        for name, end in zip(
            ("claimed", "claim_holds", "ci_claim_holds"), ("average", *ends), strict=True
        ):
            beyond = exp.GT if claim.above else exp.LT
            conditions[name] = beyond(this=column(end), expression=number(claim.threshold))
    rated, one, zero = column("n_ratings"), exp.Literal.number(1), exp.Literal.number(0)
    asked: dict[str, exp.Expr] = {
        "items": exp.Count(this=exp.Star()),
        "width": exp.Avg(this=column("upper") - column("lower")),
        "fewest": exp.Min(this=rated),
        "most": exp.Max(this=rated.copy()),
        "people": exp.Sum(this=column("n")),
        # An item is behind, for sure, so many as its best rank is away from the first.
        "pairs_settled": exp.Sum(this=column("best_rank") - 1),
        "ci_pairs_settled": exp.Sum(this=column("ci_best_rank") - 1),
    }
    asked |= {
        name: exp.Sum(this=exp.case().when(holds, one).else_(zero))
        for name, holds in conditions.items()
    }
    query = exp.select(*(exp.alias_(what, reserve(name)) for name, what in asked.items()))
    (found,) = job.opened.engine.rows(query.from_(result.copy()))
    row = {plain(name): value for name, value in found.items()}
    width, people = row.pop("width"), row.pop("people")
    unasked = dict.fromkeys(("claimed", "claim_holds", "ci_claim_holds"), 0)
    return Numbers(
        **unasked | {name: int(value or 0) for name, value in row.items()},
        different=_different(job, result),
        pairs=sum(many * (many - 1) // 2 for many in _compared(job, result)),
        width=None if width is None else float(width),
        people=None if people is None else int(people),
    )


def _surely(name: str) -> exp.Condition:
    return column(name).eq(exp.Literal.string("surely"))


def raised_notes(engine: Engine, result: exp.Expr) -> dict[str, int]:
    """Count the items that each flag is raised for."""
    many = exp.alias_(exp.Count(this=exp.Star()), MANY)
    query = exp.select(column("notes"), many).from_(result.copy()).group_by(column("notes"))
    found: dict[str, int] = {}
    for row in engine.rows(query):
        for flag in (row["notes"] or "").split():
            found[flag] = found.get(flag, 0) + int(row[MANY])
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))
