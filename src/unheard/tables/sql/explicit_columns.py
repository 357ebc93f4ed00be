"""Columns listed one by one where an engine takes long to find out what `*` stands for.

Spark goes over a query again and again until every name has a meaning, at most a hundred times.
A step that begins with `*` takes two rounds, and one that lists its columns takes one. Spark also
remembers what each column is equal to, for as long as `*` hands it on, and rewrites all of that at
every step: of a long chain in which nothing is ever left out, it makes more than fits into memory.
Rounds and memory cost time, and lists lines: what is to be read keeps the `*` that it can afford.
"""

from __future__ import annotations

from sqlglot import exp

_ROUNDS = 90
"""How many rounds the steps should take together at the most, by our count, which is a bit low."""

_MOST_ROUNDS = 96
"""How many they may take: of 96 by our count Spark took 98, of the 100 that it has."""

_USELESS = 24
"""How many columns that nothing reads any more a `*` may hand on."""


def list_columns(tree: exp.Expr, *, briefly: bool) -> None:
    """Replace `*` in the steps of a query by the columns that the rest of it needs.

    Parameters
    ----------
    tree
        The query, which is changed.
    briefly
        Whether to leave as many as can be afforded: lists are shortest in the last steps, which
        need the fewest columns, and are written there first where there are too many rounds.
    """
    query = tree.expression if isinstance(tree, exp.Create) else tree
    with_ = query.args.get("with_")
    if with_ is None:
        return
    steps: list[exp.Expr] = with_.expressions
    needed = {column.name for column in query.find_all(exp.Column) if _is_outside(column, with_)}
    needs: dict[str, set[str]] = {}
    for step in reversed(steps):
        needs[step.alias] = set(needed)
        needed |= {column.name for column in step.find_all(exp.Column)}
    made: dict[str, list[str]] = {}
    for step in steps:
        first = _first_select(step.this)
        if first is None:
            continue
        useless = {*_names(first, made)} - needs[step.alias]
        if first is step.this and (not briefly or len(useless) >= _USELESS):
            _list_in(first, made, needs[step.alias])
        made[step.alias] = _names(first, made)
    rounds = sum(map(count_rounds, steps))
    for step in reversed(steps):
        if rounds <= _ROUNDS:
            break
        if isinstance(step.this, exp.Select):
            rounds -= count_rounds(step)
            _list_in(step.this, made, needs[step.alias])
            rounds += count_rounds(step)


def needs_more_rounds(query: exp.Expr) -> bool:
    """Whether Spark would give up before it has found out what all names of a query mean."""
    return sum(map(count_rounds, query.find_all(exp.CTE))) > _MOST_ROUNDS


def count_rounds(step: exp.Expr) -> int:
    """Count the rounds that a step takes: one, and one for each thing that is put in its place."""
    ordered = any(window.args.get("order") for window in step.find_all(exp.Window))
    return 1 + any(map(_is_star, step.this.selects)) + ordered


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
    read = query.args.get("from_")
    if read is not None and isinstance(read.this, exp.Values):
        return [str(name.name) for name in read.this.args["alias"].columns]
    for one in query.expressions:
        names += made.get(_source(one, query), []) if _is_star(one) else [one.alias_or_name]
    return names
