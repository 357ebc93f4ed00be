"""Expressions written as SQL mean what they mean in Python."""

from __future__ import annotations

import math
import sqlite3
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from unheard.formulas.evaluate import Items, Setting, evaluate
from unheard.tables.sql.dialects import column, render
from unheard.tables.sql.expressions import Sheet, layers, number

ROW = {"a": 3.0, "b": -0.7, "c": 11.5, "d": 0.0}


class Floats:
    """The operations on plain numbers."""

    least, greatest = staticmethod(min), staticmethod(max)

    @staticmethod
    def where(condition: bool, yes: float, no: float) -> float:
        return yes if condition else no

    @staticmethod
    def sqrt(a: float) -> float:
        return math.sqrt(a)


@st.composite
def trees(draw: st.DrawFn, depth: int = 5) -> Any:
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(st.one_of(st.sampled_from(list(ROW)), st.sampled_from([0.5, 2.0, -1.25, 1.0])))
    sign = draw(st.sampled_from(["+", "-", "*", "least", "greatest", "neg", "where", "sqrt"]))
    many = {"neg": 1, "sqrt": 1, "where": 4}.get(sign, 2)
    return (sign, *(draw(trees(depth=depth - 1)) for _ in range(many)))


def carried_out(tree: Any, columns: Any, ops: Any) -> Any:
    if isinstance(tree, str):
        return columns[tree]
    if isinstance(tree, float):
        return tree
    sign, *parts = tree
    values = [carried_out(part, columns, ops) for part in parts]
    if sign == "where":
        return ops.where(values[0] > values[1], values[2], values[3])
    if sign == "sqrt":
        return ops.sqrt(ops.greatest(values[0], 0.25))
    if sign in ("least", "greatest"):
        return getattr(ops, sign)(*values)
    if sign == "neg":
        return -values[0]
    a, b = values
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b}[sign]()


def as_query(outputs: dict[str, Any]) -> exp.Select:
    start = exp.select(*(exp.alias_(exp.cast(number(v), "double"), k) for k, v in ROW.items()))
    query: exp.Expr = start.subquery("start")
    for place, step in enumerate(layers(outputs, [])):
        made = [column(name) if e is None else exp.alias_(e, name) for name, e in step]
        query = exp.select(*made).from_(query).subquery(f"s{place}")
    return exp.select("*").from_(query)


@given(trees())
def test_every_tree_of_operations(tree: Any) -> None:
    wanted = carried_out(tree, ROW, Floats)
    sheet = Sheet()
    cell = carried_out(tree, {name: sheet.column(name) for name in ROW}, sheet)
    query = as_query({"found": cell, "twice": cell + 0.0 if isinstance(cell, float) else cell})
    with duckdb.connect() as connection:
        (first,) = connection.sql(render(query.copy(), "duckdb")).fetchall()
    (second,) = sqlite3.connect(":memory:").execute(render(query.copy(), "sqlite")).fetchall()
    for got in (*first, *second):
        assert got == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def test_equal_cells_are_one_and_what_is_used_twice_has_a_name() -> None:
    sheet = Sheet()
    a, b = sheet.column("a"), sheet.column("b")
    assert a + b is a + b
    assert a - b is not b - a
    long: Any = a * b + a * b * 2.0 + a * a * 3.0 + b * b * b
    first, last = layers({"out": long * long}, ["key"])
    assert [name for name, _ in first] == ["key", "uh_x1"]
    assert last[-1][1] is not None
    assert last[-1][1].sql() == "uh_x1 * uh_x1"


def test_what_is_short_is_repeated_unless_it_is_dear() -> None:
    sheet = Sheet()
    short: Any = sheet.column("a") + sheet.column("b")
    (only,) = layers({"out": short * short}, [])
    assert only[0][1] is not None
    assert only[0][1].sql() == "(a + b) * (a + b)"
    root: Any = sheet.sqrt(sheet.column("a"))
    assert len(layers({"out": root * root}, [])) == 2


def test_a_column_is_made_when_it_is_needed() -> None:
    sheet = Sheet()
    a = sheet.column("a")
    late: Any = sheet.sqrt(a)
    early: Any = sheet.log(a)
    for _ in range(3):
        early = sheet.log(early * early)
    steps = layers({"out": early * late * late, "kept": a}, [])
    made = [[name for name, e in step if e is not None] for step in steps]
    # The root is not handed on through all the steps that the logarithms take.
    assert len(made) == 4
    assert len(made[-2]) == 2


@pytest.mark.parametrize("n", [None, 5000.0])
@pytest.mark.parametrize("kind", ["any", "middle"])
def test_a_long_scale_costs_little_more_than_its_length(n: float | None, kind: str) -> None:
    def size(m: int) -> tuple[int, int]:
        sheet = Sheet()
        items = Items([sheet.column(f"count_{r}") for r in range(m)], 0.3, n)
        setting = Setting([float(r) for r in range(m)], kind, None, None, None, 0.95, n is not None)
        found = evaluate(items, setting, ["paa"], sheet).of("paa")
        steps = layers(found._asdict(), [])
        written = [e for step in steps for _, e in step if e is not None]
        named = sum(len(step) for step in steps)
        return named + sum(len(list(e.find_all(exp.Column))) for e in written), len(steps)

    (small, few), (middle, more), (large, most) = size(20), size(40), size(80)
    # Twice the ratings are twice the columns, handed on through a few more steps.
    assert middle < 2.6 * small
    assert large < 2.6 * middle
    assert more <= few + 6
    assert most <= more + 6


def test_a_deep_expression_is_cut() -> None:
    sheet = Sheet()
    deep: Any = sheet.column("a")
    for place in range(40):
        deep = sheet.where(sheet.column("b") > float(place), 1.0 - deep, deep * 2.0)
    steps = layers({"out": deep}, [])
    assert len(steps) > 3
    assert max(len(e.sql()) for step in steps for _, e in step if e is not None) < 2000


@pytest.mark.parametrize("value", [0.1, -2.5, 1e-300, 1 / 3, 12345678.9, 2.0**70, 5.0, -3.0])
def test_numbers_arrive_as_they_are(value: float) -> None:
    query = exp.select(exp.alias_(exp.cast(number(value), "double"), "v"))
    with duckdb.connect() as connection:
        assert connection.sql(query.sql("duckdb")).fetchall() == [(value,)]
