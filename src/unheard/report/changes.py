"""The items whose story changes most once the silent are allowed for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from sqlglot import exp

from unheard.model.notes import FEW
from unheard.present.table_json import documents
from unheard.report.order_queries import best_of
from unheard.tables.pipeline import Job
from unheard.tables.request import Request
from unheard.tables.sql.dialects import column
from unheard.tables.sql.expressions import number
from unheard.tables.sql.reserved_names import reserve
from unheard.text import name_of, rating_text

MOST_STORIES = 10
_ESTIMATE_RANK = reserve("estimate_rank")


@dataclass(frozen=True)
class Story:
    """What changes about one item.

    Attributes
    ----------
    name, within
        The item, and the attribute and window that it is ranked in, if any.
    average, estimate
        Its plain average and its estimate.
    average_rank, estimate_rank, best_rank, worst_rank
        Its place by plain average, by estimate, and the best and worst possible.
    words
        What changes, in a few words.
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


_TURNS_TEXT = re.compile("[\u202a-\u202e\u2066-\u2069]")


def straight(text: str) -> str:
    """Take out the characters that would turn the text after them round."""
    return _TURNS_TEXT.sub("", text)


def item_name(row: Mapping[str, Any], item: Sequence[str]) -> str:
    """Write the name of an item; of several columns with commas between."""
    return ", ".join(straight(name_of(row[key])).strip() or "(empty)" for key in item)


def within_name(row: Mapping[str, Any], request: Request) -> str | None:
    """Write the attribute and window that an item is ranked in, if any."""
    keys = [key for key in request.compared_within if key != "window_end"]
    return ", ".join(name_of(row[key]) for key in keys) or None


def stories(job: Job, result: exp.Expr) -> list[Story]:
    """Find the items whose place or rating changes most: some of each kind, each item once."""
    kinds = [list(_of_kind(job, result, *kind)) for kind in _kinds(job.request)]
    chosen: dict[tuple[Any, ...], int] = {}
    for pairs in zip_longest(*kinds):
        for kind, pair in enumerate(pairs):
            if pair is not None and len(chosen) < MOST_STORIES:
                chosen.setdefault(pair[0], kind)
    return [
        story for kind, pairs in enumerate(kinds) for key, story in pairs if chosen.get(key) == kind
    ]


def _kinds(request: Request) -> Iterator[tuple[str, exp.Condition, exp.Expr]]:
    """Name each kind of change, which items have it, and how large it is."""
    k = number(best_of(request))
    by_average, by_estimate = column("average_rank"), column(_ESTIMATE_RANK)
    best, worst = column("best_rank"), column("worst_rank")
    yield "leaves", exp.and_(by_average <= k, worst > k), worst
    yield "joins", exp.and_(by_average > k, best <= k), by_average
    yield "moves", exp.NEQ(this=by_average, expression=by_estimate), _apart(by_estimate, by_average)
    # Less than this is nothing on the page.
    shown = number(request.scale.width / 200)
    shift = _apart(column("estimate"), column("average"))
    yield "shifts", shift.copy() > shown, shift


def _apart(one: exp.Column, other: exp.Column) -> exp.Abs:
    return exp.Abs(this=exp.paren(one.copy() - other.copy()))


def _of_kind(
    job: Job, result: exp.Expr, kind: str, condition: exp.Condition, size: exp.Expr
) -> Iterator[tuple[tuple[Any, ...], Story]]:
    """Yield the largest changes of one kind."""
    request = job.request
    downwards = exp.Order(expressions=[exp.Ordered(this=column("estimate"), desc=True)])
    place = exp.Window(
        this=exp.Anonymous(this="RANK"),
        partition_by=[column(name) for name in request.compared_within],
        order=downwards,
    )
    # What nobody rated has no place by average, so it is given none by estimate.
    rated = exp.select("*", exp.alias_(place, _ESTIMATE_RANK)).from_(result.copy())
    placed = rated.where(column("n_ratings") > 0)
    keys = [exp.Ordered(this=column(key)) for key in request.result_keys]
    query = (
        exp.select("*")
        .from_(placed.subquery(reserve("placed")))
        # A place that rests on next to nothing is no story.
        .where(condition, column("n_ratings") >= FEW)
        .order_by(exp.Ordered(this=size.copy(), desc=True), *keys)
        .limit(MOST_STORIES)
    )
    for row in documents(job.opened.engine, query):
        yield tuple(row[key] for key in request.result_keys), _story(row, request, kind)


def _story(row: Mapping[str, Any], request: Request, kind: str) -> Story:
    return Story(
        name=item_name(row, request.item),
        within=within_name(row, request),
        average=float(row["average"]),
        estimate=float(row["estimate"]),
        average_rank=int(row["average_rank"]),
        estimate_rank=int(row[_ESTIMATE_RANK]),
        best_rank=int(row["best_rank"]),
        worst_rank=int(row["worst_rank"]),
        words=_words(row, request, kind),
    )


def _words(row: Mapping[str, Any], request: Request, kind: str) -> str:
    k, was = best_of(request), row["average_rank"]
    top = "first" if k == 1 else f"in the top {k:,}"
    if kind == "leaves":
        low = f"but may be as low as place {row['worst_rank']:,}"
        return f"{top[0].upper()}{top[1:]} by average, {low}."
    if kind == "joins":
        best = row["best_rank"]
        high = "may be first" if best == 1 else f"may be as high as place {best:,}"
        return f"Place {was:,} by average, not {top}, but {high}."
    if kind == "moves":
        now = row[_ESTIMATE_RANK]
        moves = "Falls" if now > was else "Rises"
        return f"{moves} from place {was:,} by average to place {now:,} by estimate."
    apart = row["estimate"] - row["average"]
    size = rating_text(abs(apart), request.scale.width)
    return f"Its estimate is {size} {'above' if apart > 0 else 'below'} its average."
