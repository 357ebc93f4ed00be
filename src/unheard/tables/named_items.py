"""The counts of some items of a table, fetched for questions that no query answers."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unheard.errors import DataError, OptionError
from unheard.formulas.operations import Floats
from unheard.model.question import Question, build_question
from unheard.tables.request import Request
from unheard.tables.sql.reserved_names import N

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from unheard.tables.engines.base import Engine
    from unheard.tables.pipeline import Job

_MOST_COMPARED = 50_000
"""Names that a misspelt one is compared with; more would take too long."""


def check_plain(request: Request, argument: str) -> None:
    """Raise unless every item has one histogram and all have one assumption."""
    given = {
        "{strata}": request.strata,
        "{window}": request.window,
        "more than one column of ratings": request.attributes,
        "{q_column}": request.q_column,
    }
    for what, present in given.items():
        if present:
            raise OptionError(
                argument,
                problem="{argument} cannot be combined with " + what,
                hint="Leave one of them out",
            )


def fetch(job: Job) -> tuple[list[str], Question]:
    """Return the names of all items, and the question about their counts."""
    return fetch_counts(job.opened.engine, job.people, job.request)[1:]


def fetch_named(
    job: Job, names: Sequence[str], argument: str, people: Floats | None = None
) -> Question:
    """Return the question about the counts of some items, in the order of their names.

    Their number of people is that of the table, unless it is given: one for all, or for each. One
    item is one histogram, as if its counts had been typed.
    """
    import pyarrow as pa

    table = job.opened.engine.arrow(job.people).read_all()
    known = names_of(table, job.request.item)
    rows = [find_item(name, known, job.opened.words, argument) for name in names]
    return question_of(table.take(pa.array(rows)), job.request, people, single=len(names) == 1)


def fetch_counts(
    engine: Engine, together: exp.Query, request: Request
) -> tuple[pa.Table, list[str], Question]:
    """Return the counts of the items that are not left out, their names, and the question."""
    import pyarrow as pa

    table = engine.arrow(together).read_all()
    question = question_of(table, request)
    enough = question.counts.n_ratings >= request.min_ratings
    if not enough.all():
        table = table.filter(pa.array(enough))
        question = replace(question, counts=question.counts.take(enough.nonzero()[0]))
    return table, names_of(table, request.item), question


def find_item(who: str, names: Sequence[str], where: str, argument: str) -> int:
    """Return the index of an item by its name; names of several columns are joined by commas."""
    if who in names:
        return names.index(who)
    some = {name.lower(): name for name in names[:_MOST_COMPARED]}
    near = difflib.get_close_matches(who.lower(), list(some), n=1)
    there = ", ".join(map(repr, names[:5])) or "none"
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    raise DataError(
        argument,
        problem="{table} has no item {item}",
        hint="Did you mean {near}? It has {there}" if near else "It has {there}",
        code="unknown_item",
        table=where,
        item=repr(who),
        near=repr(some[near[0]]) if near else "",
        there=there + more,
    )


def names_of(table: pa.Table, item: Sequence[str]) -> list[str]:
    """Return the names of the items of a table; those of several columns are joined by commas."""
    columns = [table[name].to_pylist() for name in item]
    return [",".join(map(str, key)) for key in zip(*columns, strict=True)]


def question_of(
    table: pa.Table, request: Request, people: Floats | None = None, *, single: bool = False
) -> Question:
    """Return the question about the counts of a table, with n beside them if not given."""
    cells = np.column_stack([table[name].to_numpy() for name in request.count_columns])
    n: Any = people
    if n is None:
        n = table[N].to_numpy() if request.n_varies else request.n
    if people is None and request.n_may_be_unknown and np.isnan(n).any():
        # Questions about several items use n of all of them, or of none: it only narrows bounds.
        if request.assumption.kind == "floor" or request.covers == "people":
            raise OptionError(
                "bad_n",
                problem="{bad_n:drop} cannot be combined with {floor} or {covers:people} here, "
                "which require n of every item",
                hint="Use {bad_n:raise}, or state {q}",
                code="requires_n",
            )
        n = None
    return build_question(
        cells[0] if single else cells,
        n=n,
        scale=request.scale,
        assumption=request.assumption,
        level=request.level,
        covers=request.covers,
    )
