"""How expressions become the text that an engine understands."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from sqlglot import Dialect, exp

from unheard.errors import OptionError
from unheard.tables.sql.adapt import adapt, is_numbered, separate
from unheard.tables.sql.explicit_columns import list_columns
from unheard.tables.sql.expressions import LONG_SCALE
from unheard.tables.sql.pretty import write_lines
from unheard.tables.sql.reserved_names import is_reserved, reserve

DIALECTS = (
    "bigquery",
    "clickhouse",
    "databricks",
    "datafusion",
    "duckdb",
    "mysql",
    "postgres",
    "redshift",
    "snowflake",
    "spark",
    "sqlite",
    "trino",
    "tsql",
)
"""The dialects that text is written in."""

ANALYSED_IN_ROUNDS = ("spark", "databricks")
"""Engines that go over a query a hundred times at most, and over every step at least once."""

_LONG_SCALES = dict.fromkeys(ANALYSED_IN_ROUNDS, 12)
"""Windows over rows of ratings take Spark several times as long as columns, until its optimizer
takes longer than both."""

_EXPONENT_IS_DOUBLE = (
    "bigquery",
    "clickhouse",
    "databricks",
    "duckdb",
    "mysql",
    "spark",
    "sqlite",
    "trino",
    "tsql",
)
"""Where a number with an exponent is in double precision; elsewhere it may be a decimal number."""

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
Tree = TypeVar("Tree", bound=exp.Expr)


_ALSO = {
    "postgresql": "postgres",
    "mariadb": "mysql",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "pyspark": "spark",
}

_SPELLED_AS = {"datafusion": "postgres"}
"""Dialects that are spelled as another is."""


def read_dialect(name: str | None) -> str:
    """Read the name of a dialect or of its engine; raise if SQL cannot be written for it."""
    if name is None:
        raise OptionError(
            "dialect",
            problem="{argument} is missing",
            hint="Choose one of {choices}",
            choices=", ".join(DIALECTS),
        )
    name = _ALSO.get(name.lower(), name.lower())
    if name not in DIALECTS:
        near = difflib.get_close_matches(name, DIALECTS, n=1)
        raise OptionError(
            "dialect",
            problem="{argument} is not supported",
            value=name,
            hint="Did you mean {near}?" if near else "Choose one of {choices}",
            choices=", ".join(DIALECTS),
            near=near[0] if near else "",
        )
    return name


def long_scale(dialect: str) -> int:
    """Return the number of ratings from which on each has a row of its own."""
    return _LONG_SCALES.get(dialect, LONG_SCALE)


def identifier(name: str) -> exp.Identifier:
    """Name a column or table; whether it needs quotes is settled when it is written."""
    return exp.Identifier(this=name, quoted=False)


def column(name: str, table: str | None = None) -> exp.Column:
    """Refer to a column."""
    return exp.Column(this=identifier(name), table=None if table is None else identifier(table))


def render(query: exp.Expr, dialect: str, *, pretty: bool = False) -> str:
    """Write a query in a dialect.

    Every part of the query must be ours: names are quoted as needed, which would change the meaning
    of a query that somebody else wrote. The query is changed in place: to copy a long one
    takes longer than to write it.
    """
    # A long scale has a hundred thousand nodes: they are gone through once, if that is enough.
    nodes = _by_kind(query)
    if adapt(nodes, dialect):
        nodes = _by_kind(query)
    reserved = _reserved_words(dialect)
    for node in nodes.get(exp.Identifier, ()):
        name = node.name
        # A name in plain lower case means the same with and without quotes, or, where engines
        # fold names to upper case, what people mean who never quote. MySQL has more words of its
        # own than are known here, and folds nothing.
        plain = _PLAIN.fullmatch(name) and name.upper() not in reserved
        node.set("quoted", not plain or (dialect == "mysql" and not is_reserved(name)))
    ordering = _spelling(dialect).NULL_ORDERING
    for key in nodes.get(exp.Ordered, ()):
        # Nothing sorted here is null: whatever the engine does of itself is right.
        down = bool(key.args.get("desc"))
        key.set("nulls_first", {"nulls_are_small": not down, "nulls_are_large": down}.get(ordering))
    for choice in (*nodes.get(exp.Least, ()), *nodes.get(exp.Greatest, ())):
        # Nothing compared here is ever null in a row that counts; take the plain function.
        choice.set("ignore_nulls", dialect == "duckdb")
    if dialect in _EXPONENT_IS_DOUBLE:
        for cast in nodes.get(exp.Cast, ()):
            _write_double(cast)
    if dialect in ANALYSED_IN_ROUNDS:
        _compute_with_doubles(nodes.get(exp.CTE, ()))
        list_columns(query, briefly=pretty)
    if dialect == "duckdb":
        # It divides by zero as IEEE 754 says; a guard would cost a tenth of the time.
        for guard in nodes.get(exp.Nullif, ()):
            guarded = guard.this
            guard.replace(exp.paren(guarded) if isinstance(guarded, exp.Binary) else guarded)
        _keep_some_steps(nodes.get(exp.CTE, ()))
    separate(nodes, dialect)
    text = query.sql(_spelling(dialect), copy=False)
    return write_lines(text, _SPELLED_AS.get(dialect, dialect)) if pretty else text


def _by_kind(tree: exp.Expr) -> dict[type[exp.Expr], list[exp.Expr]]:
    nodes: dict[type[exp.Expr], list[exp.Expr]] = {}
    for node in tree.walk():
        nodes.setdefault(type(node), []).append(node)
    return nodes


def _spelling(dialect: str) -> Dialect:
    return Dialect.get_or_raise(_SPELLED_AS.get(dialect, dialect))


def _write_double(cast: exp.Expr) -> None:
    """Write a number that is cast to double precision with an exponent instead."""
    value = cast.this
    literal = value.this if isinstance(value, exp.Neg) else value
    if not (isinstance(literal, exp.Literal) and not literal.is_string and "." in literal.name):
        return
    if "e" not in literal.name:
        literal.set("this", f"{literal.name}e0")
    cast.replace(value)


def _compute_with_doubles(steps: Sequence[exp.Expr]) -> None:
    """Write every number that formulas use in one type: to find one takes Spark a round of its own.

    The first of listed rows settles the types of all.
    """
    for step in steps:
        listed = step.find(exp.Values)
        computes = is_numbered(step) or step.alias in (reserve("rated"), reserve("combined"))
        if listed is None and not computes:
            continue
        for number in (listed.expressions[0] if listed else step).find_all(exp.Literal):
            if not number.is_string and number.name.isdigit():
                number.set("this", f"{number.name}e0")
        for floor in list(step.find_all(exp.Floor)):
            floor.replace(exp.cast(floor.copy(), "double"))


def _keep_some_steps(steps: Sequence[exp.Expr]) -> None:
    """Tell DuckDB which steps to compute once, and which again wherever they are read."""
    combined = any(step.alias == reserve("strata") for step in steps)
    for step in steps:
        if step.alias == reserve("rated"):
            # Ranks need few of the answers' columns: working these out again takes less memory
            # than keeping all. But summing over strata, DuckDB would take the steps apart.
            step.set("materialized", combined)
        elif step.alias == reserve("counts") and step.find(exp.Group) is not None:
            step.set("materialized", True)


@cache
def _reserved_words(dialect: str) -> frozenset[str]:
    """Words that an engine reserves, which are quoted when they are names."""
    keywords = _spelling(dialect).tokenizer_class.KEYWORDS
    return frozenset(word for keyword in keywords for word in keyword.split())
