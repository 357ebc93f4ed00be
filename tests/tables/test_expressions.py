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

from tests.tables.chains import expressions, nest
from unheard.formulas.evaluate import Items, Setting, evaluate
from unheard.formulas.operations import name
from unheard.tables.sql.dialects import render
from unheard.tables.sql.expressions import Sheet, number
from unheard.tables.sql.layout import lay_out

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
    return nest(outputs, start.subquery("start"))


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
    chain = lay_out({"out": name("long", long) * long}, ["key"])
    (first,) = chain.steps
    assert [made for made, _ in first] == ["uh_long"]
    ((_, last),) = chain.results
    assert last.sql() == "uh_long * uh_long"


def test_a_part_without_a_name_is_called_after_what_it_is_part_of() -> None:
    sheet = Sheet()
    root: Any = sheet.sqrt(sheet.column("a"))
    other: Any = sheet.sqrt(sheet.column("b"))
    (step,) = lay_out({"out": root * root + other * other}, []).steps
    assert [made for made, _ in step] == ["uh_out_part", "uh_out_part_2"]


def test_what_is_short_is_repeated_unless_it_is_dear() -> None:
    sheet = Sheet()
    short: Any = sheet.column("a") + sheet.column("b")
    chain = lay_out({"out": short * short}, [])
    assert not chain.steps
    assert chain.results[0][1].sql() == "(a + b) * (a + b)"
    root: Any = sheet.sqrt(sheet.column("a"))
    assert len(lay_out({"out": root * root}, []).steps) == 1


def test_a_column_is_made_when_it_is_needed() -> None:
    sheet = Sheet()
    a = sheet.column("a")
    late: Any = sheet.sqrt(a)
    early: Any = sheet.log(a)
    for _ in range(3):
        early = sheet.log(early * early)
    steps = lay_out({"out": early * late * late, "kept": a}, []).steps
    # The root is not handed on through all the steps that the logarithms take.
    assert [len(step) for step in steps] == [1, 1, 2]


@pytest.mark.parametrize("n", [None, 5000.0])
@pytest.mark.parametrize("kind", ["any", "middle"])
def test_the_text_does_not_grow_with_a_long_scale(n: float | None, kind: str) -> None:
    def size(m: int) -> tuple[int, int]:
        sheet = Sheet()
        counts = sheet.ratings([sheet.column(f"count_{r}") for r in range(m)])
        values: Any = sheet.ratings([float(r) for r in range(m)])
        setting = Setting(values, kind, None, None, None, 0.95, n is not None)
        found = evaluate(Items(counts, 0.3, n), setting, ["paa"], sheet).of("paa")
        chain = lay_out(found._asdict(), [])
        made = [e for step in (*chain.steps, chain.results) for _, e in step]
        return sum(len(list(e.find_all(exp.Column))) for e in made), len(chain.steps)

    (small, few), (large, more) = size(20), size(80)
    # Two more bisections of the scale.
    assert large < 1.3 * small
    assert more <= few + 14


def test_a_deep_expression_is_cut() -> None:
    sheet = Sheet()
    deep: Any = sheet.column("a")
    for place in range(40):
        deep = sheet.where(sheet.column("b") > float(place), 1.0 - deep, deep * 2.0)
    chain = lay_out({"out": deep}, [])
    assert len(chain.steps) > 1
    assert max(len(e.sql()) for e in expressions(chain)) < 2000


@pytest.mark.parametrize("value", [0.1, -2.5, 1e-300, 1 / 3, 12345678.9, 2.0**70, 5.0, -3.0])
def test_numbers_arrive_as_they_are(value: float) -> None:
    query = exp.select(exp.alias_(exp.cast(number(value), "double"), "v"))
    with duckdb.connect() as connection:
        assert connection.sql(query.sql("duckdb")).fetchall() == [(value,)]
