"""A computation written as SQL, as one nested query over a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from unheard.tables.sql.layout import Chain, lay_out


def nest(outputs: dict[str, Any], start: exp.Expr, keys: Sequence[str] = ()) -> exp.Select:
    """Write the steps of a computation as subqueries of each other."""
    chain = lay_out(outputs, keys)
    query = start
    tables = []
    if chain.constants:
        tables.append(exp.select(*_named(chain.constants)).subquery("constants"))
    if chain.listed is not None:
        tables.append(chain.listed.subquery("listed"))
    if tables:
        spread = exp.select(*_named(chain.spread)).from_(query)
        for table in tables:
            spread = spread.select(f"{table.alias}.*").join(table, join_type="cross")
        query = spread.subquery("spread")
    for place, step in enumerate(chain.steps):
        query = exp.select("*", *_named(step)).from_(query).subquery(f"s{place}")
    last = exp.select(*keys, *_named(chain.results)).from_(query)
    return last if chain.condition is None else last.where(chain.condition)


def _named(step: list[tuple[str, exp.Expr]]) -> list[exp.Expr]:
    return [exp.alias_(e, name) for name, e in step]


def expressions(chain: Chain) -> list[exp.Expr]:
    """List everything that a chain works out."""
    return [e for step in (chain.spread, *chain.steps, chain.results) for _, e in step]
