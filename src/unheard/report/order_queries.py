"""Queries that count what is settled about the order of the items."""

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

MAX_K = 10
"""The largest default of k; it is also at most half of the items."""


@dataclass(frozen=True)
class OrderNumbers:
    """What is settled about the order of the items.

    Names that start with ``ci_`` allow for sampling error; the others ignore it.

    Attributes
    ----------
    items
        Rows of the result: items, or items within a rating column or a window.
    different
        Distinct items; fewer than rows if they are ranked in several columns or windows.
    rated
        Rows with ratings, which have a rank by plain average.
    settled, ci_settled
        Items whose rank is settled.
    pairs, pairs_settled, ci_pairs_settled
        Pairs of items that are compared, and pairs whose order is settled.
    first, ci_first
        Items that could be first.
    sure, ci_sure, possible, ci_possible
        Items that are certain to be in the top k, and items that could be.
    leading, leading_sure, ci_leading_sure
        Items in the top k by plain average, and those of them that are certain to be there.
    claimed, claim_holds, ci_claim_holds
        Items whose plain average, bounds and confidence interval are on the claimed side.
    width
        Average width of the bounds; None if there are no items.
    fewest, most, few
        Fewest and most ratings of an item, and the number of items with fewer than 10.
    people
        People in total; None if n is unknown.
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
def keep_result(job: Job) -> Iterator[tuple[Job, exp.Expr]]:
    """Store the result of a job, so that it can be queried repeatedly.

    An engine that cannot store it would compute it for every query; DuckDB stores it instead.
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


def get_k(request: Request) -> int:
    """Return k, once it is chosen."""
    assert request.order is not None
    assert request.order.k is not None  # see choose_k
    return request.order.k


def choose_k(job: Job, result: exp.Expr) -> tuple[Job, exp.Expr]:
    """Choose k unless it is given, and add to each item whether it is in the top k."""
    request = job.request
    assert request.order is not None  # a report is about an order
    if request.order.k is not None:
        return job, result
    largest = max(_count_compared(job, result), default=0)
    k = max(1, min(MAX_K, largest // 2))
    asked = replace(request, order=replace(request.order, k=k))
    verdicts = {one.alias: one for one in order_columns(asked)}
    names = [*request.result_keys, *RESULT_COLUMNS[:-1], *ORDER_COLUMNS, RESULT_COLUMNS[-1]]
    query = exp.select(
        *(verdicts[name] if name in ("top", "ci_top") else column(name) for name in names)
    ).from_(result.copy())
    return replace(job, request=asked), query.subquery(reserve("top_k"))


def _count_compared(job: Job, result: exp.Expr) -> list[int]:
    """Count the items that are compared with each other, in each rating column and window."""
    within = job.request.compared_within
    groups = exp.select(exp.alias_(exp.Count(this=exp.Star()), MANY)).from_(result.copy())
    if within:
        groups = groups.group_by(*map(column, within))
    return [int(row[MANY]) for row in job.opened.engine.rows(groups)]


def _count_different(job: Job, result: exp.Expr) -> int:
    """Count the distinct items."""
    items = exp.select(*map(column, job.request.item)).distinct().from_(result.copy())
    many = exp.alias_(exp.Count(this=exp.Star()), MANY)
    (row,) = job.opened.engine.rows(exp.select(many).from_(items.subquery(reserve("items"))))
    return int(row[MANY])


def count_settled(job: Job, result: exp.Expr) -> OrderNumbers:
    """Count what is settled in one query."""
    request = job.request
    assert request.order is not None  # a report is about an order
    k, claim = number(get_k(request)), request.order.claim
    leading = column("average_rank") <= k
    conditions: dict[str, Any] = {
        "settled": column("best_rank").eq(column("worst_rank")),
        "ci_settled": column("ci_best_rank").eq(column("ci_worst_rank")),
        "first": column("best_rank").eq(1),
        "ci_first": column("ci_best_rank").eq(1),
        "sure": _is_surely("top"),
        "ci_sure": _is_surely("ci_top"),
        "leading": leading,
        "leading_sure": exp.and_(leading.copy(), _is_surely("top")),
        "ci_leading_sure": exp.and_(leading.copy(), _is_surely("ci_top")),
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
        # The best rank of an item is one more than the number of items certain to be ahead of it.
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
    return OrderNumbers(
        **unasked | {name: int(value or 0) for name, value in row.items()},
        different=_count_different(job, result),
        pairs=sum(many * (many - 1) // 2 for many in _count_compared(job, result)),
        width=None if width is None else float(width),
        people=None if people is None else int(people),
    )


def _is_surely(name: str) -> exp.Condition:
    return column(name).eq(exp.Literal.string("surely"))


def count_notes(engine: Engine, result: exp.Expr) -> dict[str, int]:
    """Count the items that have each note."""
    many = exp.alias_(exp.Count(this=exp.Star()), MANY)
    query = exp.select(column("notes"), many).from_(result.copy()).group_by(column("notes"))
    found: dict[str, int] = {}
    for row in engine.rows(query):
        for note in (row["notes"] or "").split():
            found[note] = found.get(note, 0) + int(row[MANY])
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))
