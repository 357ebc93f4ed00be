"""Columns listed one by one where an engine takes long to find out what `*` stands for.

Spark goes over a query again and again until every name has a meaning, at most a hundred times.
A step that begins with `*` takes two rounds, and one that lists its columns takes one. Rounds cost
time, and lists lines: what is to be read keeps every `*` that there are rounds for.
"""

from __future__ import annotations

from sqlglot import exp

_ROUNDS = 90
"""How many rounds the steps may take together by our count; what stands around them takes more."""


def list_columns(tree: exp.Expr, *, briefly: bool) -> None:
    """Replace `*` in the steps of a query by the columns that the rest of it needs.

    Parameters
    ----------
    tree
        The query, which is changed.
    briefly
        Whether to leave as many as there are rounds for: lists are shortest in the last steps,
        which need the fewest columns, and are written there first.
    """
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
    rounds = sum(map(_count_rounds, steps))
    for step in reversed(steps):
        if isinstance(step.this, exp.Select) and not (briefly and rounds <= _ROUNDS):
            rounds -= _count_rounds(step)
            _list_in(step.this, made, needed)
            rounds += _count_rounds(step)
        needed |= {column.name for column in step.find_all(exp.Column)}


def _count_rounds(step: exp.Expr) -> int:
    """Count the rounds that a step takes: one, and one for each thing that is put in its place."""
    replaced = [any(map(_is_star, step.this.selects))]
    replaced += [step.find(kind) is not None for kind in (exp.Window, exp.Nullif)]
    # Its type is settled before that of what it is chosen for.
    replaced.append(any(map(_is_mixed, step.find_all(exp.Least, exp.Greatest))))
    return 1 + sum(replaced)


def _is_mixed(choice: exp.Expr) -> bool:
    """Whether this is a choice within another that works with whole numbers and fractions."""
    inside = choice.find_ancestor(exp.Least, exp.Greatest, exp.Select)
    if isinstance(inside, exp.Select):
        return False
    wholes = (one for one in choice.find_all(exp.Literal) if one.is_int)
    return any(isinstance(one.parent, exp.Add | exp.Sub | exp.Mul) for one in wholes)


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
