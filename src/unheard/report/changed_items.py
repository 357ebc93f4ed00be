"""The items whose rank or rating changes most once non-respondents are considered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from sqlglot import exp

from unheard.model.notes import FEW
from unheard.present.table_json import documents
from unheard.report.names import name_group, name_item
from unheard.report.order_queries import get_k
from unheard.report.sentences import describe_change
from unheard.tables.pipeline import Job
from unheard.tables.request import Request
from unheard.tables.sql.dialects import column
from unheard.tables.sql.expressions import number
from unheard.tables.sql.reserved_names import reserve

MAX_CHANGED = 10
_ESTIMATE_RANK = reserve("estimate_rank")


@dataclass(frozen=True)
class ChangedItem:
    """What changes about one item.

    Attributes
    ----------
    name, within
        The item, and the rating column and window that it is ranked in, if any.
    average, estimate
        Its plain average and its estimate.
    average_rank, estimate_rank, best_rank, worst_rank
        Its rank by plain average, its rank by estimate, and its rank range.
    words
        What changes, in a sentence.
    """

    name: str
    within: str | None
    average: float
    estimate: float
    average_rank: int
    estimate_rank: int
    best_rank: int
    worst_rank: int
    words: str


def find_changed_items(job: Job, result: exp.Expr) -> list[ChangedItem]:
    """Find the items whose rank or rating changes most: some of each kind, each item once."""
    kinds = [list(_largest_changes(job, result, *kind)) for kind in _list_kinds(job.request)]
    chosen: dict[tuple[Any, ...], int] = {}
    for pairs in zip_longest(*kinds):
        for kind, pair in enumerate(pairs):
            if pair is not None and len(chosen) < MAX_CHANGED:
                chosen.setdefault(pair[0], kind)
    return [
        item for kind, pairs in enumerate(kinds) for key, item in pairs if chosen.get(key) == kind
    ]


def _list_kinds(request: Request) -> Iterator[tuple[str, exp.Condition, exp.Expr]]:
    """Yield each kind of change, the condition for it, and its size."""
    k = number(get_k(request))
    by_average, by_estimate = column("average_rank"), column(_ESTIMATE_RANK)
    best, worst = column("best_rank"), column("worst_rank")
    yield "leaves", exp.and_(by_average <= k, worst > k), worst
    yield "joins", exp.and_(by_average > k, best <= k), by_average
    moved = exp.NEQ(this=by_average, expression=by_estimate)
    yield "moves", moved, _distance(by_estimate, by_average)
    # A smaller shift does not show in two decimals.
    visible = number(request.scale.width / 200)
    shift = _distance(column("estimate"), column("average"))
    yield "shifts", shift.copy() > visible, shift


def _distance(one: exp.Column, other: exp.Column) -> exp.Abs:
    return exp.Abs(this=exp.paren(one.copy() - other.copy()))


def _largest_changes(
    job: Job, result: exp.Expr, kind: str, condition: exp.Condition, size: exp.Expr
) -> Iterator[tuple[tuple[Any, ...], ChangedItem]]:
    """Yield the largest changes of one kind."""
    request = job.request
    downwards = exp.Order(expressions=[exp.Ordered(this=column("estimate"), desc=True)])
    rank = exp.Window(
        this=exp.Anonymous(this="RANK"),
        partition_by=[column(name) for name in request.compared_within],
        order=downwards,
    )
    # An item without ratings has no rank by average, so it is given none by estimate.
    rated = exp.select("*", exp.alias_(rank, _ESTIMATE_RANK)).from_(result.copy())
    ranked = rated.where(column("n_ratings") > 0)
    keys = [exp.Ordered(this=column(key)) for key in request.result_keys]
    query = (
        exp.select("*")
        .from_(ranked.subquery(reserve("ranked")))
        # A rank that rests on a handful of ratings is not worth reporting.
        .where(condition, column("n_ratings") >= FEW)
        .order_by(exp.Ordered(this=size.copy(), desc=True), *keys)
        .limit(MAX_CHANGED)
    )
    for row in documents(job.opened.engine, query):
        yield tuple(row[key] for key in request.result_keys), _read_item(row, request, kind)


def _read_item(row: Mapping[str, Any], request: Request, kind: str) -> ChangedItem:
    ranks = {name: int(row[name]) for name in ("average_rank", "best_rank", "worst_rank")}
    ranks["estimate_rank"] = int(row[_ESTIMATE_RANK])
    average, estimate = float(row["average"]), float(row["estimate"])
    numbers = {"average": average, "estimate": estimate} | ranks
    return ChangedItem(
        name=name_item(row, request.item),
        within=name_group(row, request),
        average=average,
        estimate=estimate,
        **ranks,
        words=describe_change(kind, numbers, get_k(request), request.scale.width),
    )
