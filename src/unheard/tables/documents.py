"""Results as plain documents: the JSON that commands print and the REST interface sends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from typing import Any

from sqlglot import exp

from unheard.core.documents import tidy
from unheard.errors import OptionError
from unheard.tables.dialects import column
from unheard.tables.engines.base import Engine
from unheard.tables.findings import Findings, assumption_words
from unheard.tables.jobs import Job
from unheard.tables.request import ORDER_COLUMNS, RESULT_COLUMNS, Request

_RISING = ("best_rank", "worst_rank", "ci_best_rank", "ci_worst_rank", "average_rank", "tier")
"""Columns in which less is better."""


def sort_column(request: Request, sort: str | None) -> str:
    """Read by which column rows are sorted; None for a limit that few ratings keep low."""
    if sort is None:
        return "lower" if request.level is None else "ci_lower"
    more = ORDER_COLUMNS if request.order is not None else ()
    columns = ("item", *(name for name in (*RESULT_COLUMNS, *more) if name != "flags"))
    if sort not in columns:
        raise OptionError("sort", f"{sort!r} found", f"Choose one of {', '.join(columns)}")
    return sort


def everything(result: exp.Expr, request: Request, sort: str) -> exp.Select:
    """Return the query for all rows of a result, best first; what is missing comes last."""
    keys = [exp.Ordered(this=column(name)) for name in request.result_keys]
    if sort != "item":
        # Items are ranked within an attribute and a window, and are listed so.
        within = [exp.Ordered(this=column(name)) for name in request.compared_within]
        missing = exp.case().when(column(sort).is_(exp.null()), 1).else_(0)
        by = [exp.Ordered(this=missing), exp.Ordered(this=column(sort), desc=sort not in _RISING)]
        if sort == "ci_lower":
            # The limits of items with very few ratings are all at the end of the scale.
            by.append(exp.Ordered(this=column("estimate"), desc=True))
        keys = [*within, *by, *keys]
    return exp.select("*").from_(result.copy()).order_by(*keys)


def documents(engine: Engine, query: exp.Query) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query: flags as a list, dates and other things JSON lacks as text."""
    for batch in engine.arrow(query):
        for row in batch.to_pylist():
            if "flags" in row:
                row["flags"] = row["flags"].split()
            yield {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    plain = value is None or isinstance(value, str | int | float | list)
    return value if plain else (value.isoformat() if isinstance(value, date) else str(value))


def order_document(job: Job, findings: Findings) -> dict[str, Any]:
    """Return the JSON document about the order of the items, but for its rows."""
    who = findings.who
    standing = None
    if who is not None:
        standing = {name: asdict(who)[name] for name in ("item", "breakdown_q", "ci_breakdown_q")}
    return {
        "k": findings.order.k,
        "level": job.request.level,
        "shared": job.request.shared,
        "pairs": findings.pairs(),
        "who": standing,
        "scale": [tidy(value) for value in job.request.scale.values],
        "assumption": {"words": assumption_words(job)},
        "words": findings.sentences(),
        "meanings": findings.meanings(),
        "notes": job.notes,
    }
