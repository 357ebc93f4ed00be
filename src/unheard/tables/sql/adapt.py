"""Adaptations of a query to what an engine cannot express, and to what its planner does badly."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from unheard.tables.sql.reserved_names import reserve

Nodes = Mapping[type[exp.Expr], Sequence[exp.Expr]]
"""The parts of a query by what they are."""

_NUMBERED = re.compile(r"_\d+\Z")
"""How the names of steps end that only compute columns."""

_ALL_ROWS = 2**64 - 1
"""As many rows as MySQL can have."""


_MOST_STEPS = 50
"""MariaDB takes 64 of them before one query."""


_APART = "It keeps the planner from computing a step again for each step that reads it."

FENCES = {
    "clickhouse": f"NOT ignore(*) is always true. {_APART}",
    "mysql": f"LIMIT {_ALL_ROWS} leaves no row out. {_APART}",
    "postgres": f"OFFSET 0 leaves no row out. {_APART}",
}
"""Why the steps of a query end as they do, for a comment above it; see :func:`separate`."""


def adapt(nodes: Nodes, dialect: str) -> bool:
    """Rewrite what an engine cannot express; return whether there was anything to rewrite."""
    found = False
    for kind, put in _OTHERWISE.get(dialect, {}).items():
        for node in nodes.get(kind, ()):
            node.replace(put(node))
            found = True
    return found


def is_numbered(step: exp.Expr) -> bool:
    """Whether a step does nothing but work columns out."""
    return _NUMBERED.search(step.alias) is not None


def separate(nodes: Nodes, dialect: str) -> None:
    """Keep an engine from repeating the expressions of a step in all that follow.

    Expressions that use one another twice, step after step, would grow without end.
    """
    steps = nodes.get(exp.CTE, ())
    if dialect == "sqlite":
        for step in steps:
            step.set("materialized", True)
    elif dialect == "postgres":
        # Rows pass one by one; to materialise each step takes eight times as long.
        for step in steps:
            if is_numbered(step):
                step.this.set("offset", exp.Offset(expression=exp.Literal.number(0)))
    elif dialect == "mysql":
        # What has a limit is not merged with what reads it.
        for step in steps:
            if is_numbered(step):
                step.this.set("limit", exp.Limit(expression=exp.Literal.number(_ALL_ROWS)))
        for chain in nodes.get(exp.With, ()):
            while len(chain.expressions) > _MOST_STEPS and _nest(chain):
                pass
    elif dialect == "clickhouse":
        # The branches of a case are put off, and computed as often as they are used, unless
        # what they are made of is needed anyway. A setting could say so, but views ignore it.
        needed = exp.Not(this=_call("ignore", exp.Star()))
        for step in steps:
            if _is_plain(step.this) and step.find(exp.Case):
                step.this.set("where", exp.Where(this=needed.copy()))


def _nest(chain: exp.Expr) -> bool:
    """Nest the first steps of a chain in the only step that reads them, if there is one."""
    steps, owner = chain.expressions, chain.parent
    assert owner is not None  # a chain stands before a query
    rest = [part for key, part in owner.args.items() if key != "with_"]
    # The first step that anything behind the place looked at reads.
    first, inner = len(steps), 0
    for part in rest:
        for one in part if isinstance(part, list) else [part]:
            first = min(first, _first_read(one, steps))
    for place in reversed(range(len(steps))):
        if first >= place and place < _MOST_STEPS:
            inner = place
            break
        first = min(first, _first_read(steps[place].this, steps))
    if not inner:
        return False
    steps[inner].this.set("with_", exp.With(expressions=steps[:inner]))
    chain.set("expressions", steps[inner:])
    return True


def _first_read(query: object, steps: Sequence[exp.Expr]) -> int:
    """Return the place of the first of the steps that a query reads."""
    if not isinstance(query, exp.Expr):
        return len(steps)
    read = {table.name for table in query.find_all(exp.Table)}
    return next((place for place, step in enumerate(steps) if step.alias in read), len(steps))


def _is_plain(query: exp.Expr) -> bool:
    return isinstance(query, exp.Select) and not any(
        map(query.args.get, ("group", "joins", "where"))
    )


def _call(function: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=function, expressions=list(arguments))


def _format_part(node: exp.Expr) -> exp.Expr:
    """Take a part of a date, in SQLite."""
    sign = exp.Literal.string({"YEAR": "%Y", "MONTH": "%m"}[node.name.upper()])
    return exp.cast(_call("STRFTIME", sign, node.expression), "int")


def _name_columns(node: exp.Expr) -> exp.Expr:
    """Name the columns of listed rows, which SQLite numbers."""
    names = [
        exp.alias_(exp.column(f"column{index}"), name.copy())
        for index, name in enumerate(_alias(node).columns, start=1)
    ]
    rows = exp.Values(expressions=node.expressions)
    return exp.select(*names).from_(rows).subquery(_alias(node).this.copy())


def _join_array(node: exp.Expr) -> exp.Expr:
    """List rows as an array, in ClickHouse; it has too many SELECTs otherwise."""
    row = reserve("row")
    listed = _call("arrayJoin", exp.Array(expressions=node.expressions))
    names = [
        exp.alias_(_call("tupleElement", exp.column(row), exp.Literal.number(index)), name.copy())
        for index, name in enumerate(_alias(node).columns, start=1)
    ]
    rows = exp.select(exp.alias_(listed, row)).subquery(reserve("rows"))
    return exp.select(*names).from_(rows).subquery(_alias(node).this.copy())


def _alias(node: exp.Expr) -> exp.TableAlias:
    alias = node.args["alias"]
    assert isinstance(alias, exp.TableAlias)  # all listed rows of ours have names
    return alias


def _widen_date(node: exp.Expr) -> exp.Expr:
    """Take ClickHouse's wide type for dates: the plain one begins in 1970."""
    if node.this is exp.DataType.Type.DATE:
        return exp.DataType(this=exp.DataType.Type.DATE32)
    return node


def _add_interval(node: exp.Expr) -> exp.Expr:
    """Add to a date an interval made from text: DataFusion cannot multiply intervals."""
    many = exp.DPipe(
        this=exp.cast(node.expression, "text"),
        expression=exp.Literal.string(f" {node.args['unit'].name}"),
        safe=True,
    )
    return exp.Paren(this=exp.Add(this=node.this, expression=exp.cast(many, "interval")))


def _list_values(node: exp.Expr) -> exp.Expr:
    """List rows as values: DuckDB takes half a second to plan two hundred SELECTs of numbers."""
    if isinstance(node.parent, exp.Union):
        return node  # a part of a longer union
    rows: list[exp.Select] = []
    rest: exp.Expr = node
    while isinstance(rest, exp.Union) and isinstance(rest.expression, exp.Select):
        if rest.args.get("distinct"):
            return node
        rows.insert(0, rest.expression)
        rest = rest.this
    if not isinstance(rest, exp.Select) or any(row.args.get("from_") for row in (rest, *rows)):
        return node
    names = [_name_of(one).copy() for one in rest.selects]
    tuples = [
        exp.Tuple(expressions=[one.unalias() for one in row.selects]) for row in (rest, *rows)
    ]
    listed = exp.Values(
        expressions=tuples,
        alias=exp.TableAlias(this=exp.Identifier(this=reserve("listed")), columns=names),
    )
    made = exp.select("*").from_(listed, copy=False)
    made.comments = rest.comments
    return made


def _name_of(selected: exp.Expr) -> exp.Expr:
    name = selected.args["alias"]
    assert isinstance(name, exp.Identifier)  # all columns of the first of our rows have names
    return name


_OTHERWISE: dict[str, dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]]] = {
    "clickhouse": {exp.DataType: _widen_date, exp.Values: _join_array},
    "duckdb": {exp.Union: _list_values},
    "datafusion": {exp.DateAdd: _add_interval},
    "databricks": {exp.Union: _list_values},
    "spark": {exp.Union: _list_values},
    "sqlite": {exp.Extract: _format_part, exp.Values: _name_columns},
}
