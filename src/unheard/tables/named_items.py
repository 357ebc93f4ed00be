"""The counts of some items of a table, fetched for questions that no query answers."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unheard.errors import DataError, OptionError
from unheard.model.question import Question, build_question
from unheard.tables.request import Request
from unheard.tables.sql.reserved_names import N

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from unheard.tables.engines.base import Engine
    from unheard.tables.pipeline import Job

_MOST_COMPARED = 50_000
"""Names that a misspelt one is compared with; more would take longer than anybody waits."""


def check_plain(request: Request, place: str) -> None:
    """Raise unless every item has one histogram, so that it can be asked about by name."""
    for name, given in (("strata", request.strata), ("window", request.window)):
        if given:
            raise OptionError(place, f"asked for together with {name}", "Leave one of them out")
    if request.attributes:
        raise OptionError(place, "asked for with several ratings", "Name one rating column")
    if request.q_column is not None:
        raise OptionError(place, "asked for with a q for each item", "State one assumption for all")


def fetch(job: Job) -> tuple[list[str], Question]:
    """Return the names of all items, and the question about their counts."""
    return counts_of(job.opened.engine, job.people, job.request)[1:]


def counts_of(
    engine: Engine, together: exp.Query, request: Request
) -> tuple[pa.Table, list[str], Question]:
    """Return the counts of the items that are not left out, their names, and the question."""
    import pyarrow as pa

    table = engine.arrow(together).read_all()
    if not len(table):
        raise DataError("source", "the table has no rows", "Give one with ratings")
    question = question_of(table, request)
    enough = question.counts.n_ratings >= request.min_ratings
    if not enough.all():
        table = table.filter(pa.array(enough))
        question = replace(question, counts=question.counts.take(enough.nonzero()[0]))
    return table, names_of(table, request.item), question


def find(who: str, names: Sequence[str], where: str, place: str) -> int:
    """Return the number of the item of this name; of several columns with commas between."""
    if who in names:
        return names.index(who)
    some = {name.lower(): name for name in names[:_MOST_COMPARED]}
    near = difflib.get_close_matches(who.lower(), list(some), n=1)
    guess = f"Did you mean {some[near[0]]!r}? " if near else ""
    there = ", ".join(map(repr, names[:5])) or "none"
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    raise DataError(place, f"{where} has no item {who!r}", f"{guess}It has {there}{more}")


def names_of(table: pa.Table, item: Sequence[str]) -> list[str]:
    """Return the names of the items of a table; of several columns with commas between."""
    columns = [table[name].to_pylist() for name in item]
    return [",".join(map(str, key)) for key in zip(*columns, strict=True)]


def question_of(table: pa.Table, request: Request) -> Question:
    """Return the question about the counts of a table, with n beside them."""
    cells = np.column_stack([table[name].to_numpy() for name in request.count_columns])
    n = request.n
    if request.n_known and n is None:
        n = table[N].to_numpy()
    return build_question(
        cells,
        n=n,
        scale=request.scale,
        assumption=request.assumption,
        level=request.level,
        covers=request.covers,
    )
