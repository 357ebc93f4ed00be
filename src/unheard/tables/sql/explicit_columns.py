"""Columns listed one by one where an engine takes long to find out what `*` stands for.

Spark goes over a query again and again until every name has a meaning, at most a hundred times.
A step that begins with `*` takes two rounds, and one that lists its columns takes one.
"""

from __future__ import annotations

from sqlglot import exp


def list_columns(tree: exp.Expr) -> None:
    """Replace every `*` in the steps of a query by the columns that the rest of it needs."""
    query = tree.expression if isinstance(tree, exp.Create) else tree
    with_ = query.args.get("with_")
    if with_ is None:
        return
    steps: list[exp.Expr] = with_.expressions
    made: dict[str, list[str]] = {}
    for step in steps:
        first = _first_select(step.this)
        if first is not None:
            made[step.alias] = _names(first, made)
    needed = {column.name for column in query.find_all(exp.Column) if _is_outside(column, with_)}
    for step in reversed(steps):
        if isinstance(step.this, exp.Select):
            _list_in(step.this, made, needed)
        needed |= {column.name for column in step.find_all(exp.Column)}


def _is_outside(column: exp.Expr, with_: exp.Expr) -> bool:
    return column.find_ancestor(exp.With) is not with_


def _list_in(query: exp.Select, made: dict[str, list[str]], needed: set[str]) -> None:
    """List the columns of steps that `*` stands for; what the user's tables hold is unknown."""
    listed: list[exp.Expr] = []
    for one in query.expressions:
        # Of tables that are joined to another, the names would have to be told apart.
        names = made.get(_source(one, query)) if isinstance(one, exp.Star) else None
        if not names:
            listed.append(one)
            continue
        listed += [
            exp.Column(this=exp.Identifier(this=name, quoted=False))
            for name in names
            if name in needed
        ]
    query.set("expressions", listed)


def _first_select(query: exp.Expr) -> exp.Select | None:
    while isinstance(query, exp.SetOperation):
        query = query.left
    return query if isinstance(query, exp.Select) else None


def _is_star(one: exp.Expr) -> bool:
    return isinstance(one, exp.Star) or (isinstance(one, exp.Column) and one.is_star)


def _source(star: exp.Expr, query: exp.Select) -> str:
    """Name the table that `*` is about."""
    read = query.args.get("from_")
    if isinstance(star, exp.Column) and star.table:
        return str(star.table)
    return "" if read is None else str(read.this.name)


def _names(query: exp.Select, made: dict[str, list[str]]) -> list[str]:
    """Name the columns of a query, those that `*` stands for included."""
    names: list[str] = []
    for one in query.expressions:
        names += made.get(_source(one, query), []) if _is_star(one) else [one.alias_or_name]
    return names
