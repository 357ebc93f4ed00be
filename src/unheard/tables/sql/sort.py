"""The order of the rows: best first, by a confidence limit that few ratings keep low."""

from __future__ import annotations

from sqlglot import exp

from unheard.errors import OptionError
from unheard.options.unknown import check_choice
from unheard.tables.request import ORDER_COLUMNS, RESULT_COLUMNS, Request
from unheard.tables.sql.dialects import column

_RISING = ("best_rank", "worst_rank", "ci_best_rank", "ci_worst_rank", "average_rank", "tier")
"""Columns in which less is better."""


def sort_column(request: Request, sort: str | None) -> str:
    """Read by which column rows are sorted; None for a limit that few ratings keep low."""
    if sort is None:
        return "lower" if request.level is None else "ci_lower"
    more = ORDER_COLUMNS if request.order is not None else ()
    columns = ("item", *(name for name in (*RESULT_COLUMNS, *more) if name != "notes"))
    check_choice("sort", sort, columns, OptionError)
    return sort


def sort_rows(result: exp.Expr, request: Request, sort: str) -> exp.Select:
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
