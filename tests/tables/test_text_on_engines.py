"""The text of `unheard sql` on every engine that runs here, through the engine's own client."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.cases import DATABASES, FIVE, benches, days, ratings
from tests.tables.engines import TEXT_BENCHES, Runner, start
from tests.tables.oracle import expected, rows_by, same

PEOPLE = {"A": 40, "B": 60, "C": 90, "D": 5000, "E": 600, "F": 900, "alone": 3}
Q = {"A": 0.1, "B": 0.2, "C": 0.3, "D": 0.5, "E": 0.9, "F": 1.0, "alone": 0.05}
Rows = dict[tuple[Any, ...], dict[str, Any]]


def stays() -> pa.Table:
    """Ratings with everything beside them that a question may be about."""
    table = ratings(20)
    rng = np.random.default_rng(20)
    size = table.num_rows
    items, given = table["item"].to_pylist(), table["rating"].to_pylist()
    whole = np.where(rng.random(size) < 0.1, np.nan, rng.integers(0, 5, size) / 2)
    return pa.table(
        {
            "item": items,
            "rating": given,
            "guests": pa.array([PEOPLE[item] for item in items], pa.int64()),
            "clean": pa.array(rng.choice(5, size, p=[0.5, 0.1, 0.1, 0.1, 0.2]) + 1),
            "half": pa.array(whole, from_pandas=True),
            "many": pa.array(rng.integers(1, 21, size)),
            # In quotes, because it means something to every engine.
            "order": pa.array([i % 3 for i in range(size)]),
            "words": [
                None if i % 7 == 0 else f"{v}.0" if i % 2 else f" {v}" for i, v in enumerate(given)
            ],
            "day": pa.array(days(table)),
        }
    )


STAYS = stays()
WEEK = timedelta(weeks=1)


def _plain(asked: dict[str, Any]) -> Rows:
    """Answer what is asked of the ratings alone, or with the guests of each item."""
    core = {name: value for name, value in asked.items() if name not in ("n_column", "ranks")}
    if "n_column" in asked:
        core["n"] = {(item,): n for item, n in PEOPLE.items()}
    wanted = expected(STAYS, ["item"], "rating", FIVE, **core)
    for row in wanted.values():
        if not asked.get("ranks", True):
            row |= {"best_rank": None, "worst_rank": None}
    return wanted


def _several_keys() -> Rows:
    return expected(STAYS, ["item", "order"], "rating", FIVE, q=0.3, level=None)


def _of_attributes() -> Rows:
    return {
        (*key, name): row
        for name in ("rating", "clean")
        for key, row in expected(STAYS, ["item"], name, FIVE, q=0.3, level=None).items()
    }


def _of_months() -> Rows:
    firsts = [date(2024, month, 1) for month in range(2, 7)]
    return _windows(list(pairwise(firsts)))


def _of_weeks() -> Rows:
    """Four weeks at a time; the last window is that in which the last rating falls."""
    monday, last = date(2024, 2, 19), max(STAYS["day"].to_pylist())
    firsts = [monday + k * WEEK for k in range(-3, 20)]
    return _windows([(first, first + 4 * WEEK) for first in firsts if first + 3 * WEEK <= last])


def _windows(windows: list[tuple[date, date]]) -> Rows:
    wanted = {}
    for first, after in windows:
        kept = STAYS.filter(pa.array([first <= day < after for day in STAYS["day"].to_pylist()]))
        for key, row in expected(kept, ["item"], "rating", FIVE, q=0.3, level=None).items():
            wanted[(*key, first, after)] = row
    return wanted


def _as_words() -> Rows:
    """What is missing counts as people who did not respond."""
    items = STAYS["item"].to_pylist()
    n = {(item,): items.count(item) for item in items}
    wanted = expected(STAYS, ["item"], "words", FIVE, q=0.3, n=n, level=None)
    for key, row in wanted.items():
        if row["n_ratings"] < n[key]:
            row["notes"] = f"{row['notes']} nulls_counted".strip()
    return wanted


def _on_halves() -> Rows:
    """What is missing is left out."""
    wanted = expected(STAYS, ["item"], "half", (0.0, 0.5, 1.0, 1.5, 2.0), q=0.3, level=None)
    pairs = zip(STAYS["item"].to_pylist(), STAYS["half"].to_pylist(), strict=True)
    for item in {item for item, value in pairs if value is None}:
        wanted[item,]["notes"] = f"{wanted[item,]['notes']} rows_dropped".strip()
    return wanted


def _on_a_long_scale() -> Rows:
    return expected(STAYS, ["item"], "many", [float(v) for v in range(1, 21)], q=0.3, level=None)


def _with_second_tables() -> Rows:
    n, q = ({(item,): value for item, value in one.items()} for one in (PEOPLE, Q))
    return expected(STAYS, ["item"], "rating", FIVE, n=n, q=q, level=None)


PLAIN: list[dict[str, Any]] = [
    {"q": 0.3},
    {"q": 0.2, "n_column": "guests", "ranks": False},
    {"g": [0.2, 0.3, 0.3, 0.4, 0.6], "n": 5000, "ranks": False},
    {"floor": 0.2, "n_column": "guests", "method": "bea", "level": None},
    {"q": 0.4, "quiet": "low", "level": None},
]

SHAPES: dict[str, tuple[dict[str, Any], Callable[[], Rows]]] = {
    "several keys": ({"item": ["item", "order"]}, _several_keys),
    "attributes": ({"rating": ["rating", "clean"]}, _of_attributes),
    "months": ({"time": "day", "window": "month"}, _of_months),
    "weeks": ({"time": "day", "window": "4 weeks", "every": "week"}, _of_weeks),
    "words": ({"rating": "words", "text_ratings": True, "nulls": "nonresponse"}, _as_words),
    "halves": ({"rating": "half", "scale": "0:2:0.5"}, _on_halves),
    "a long scale": ({"rating": "many", "scale": "1:20"}, _on_a_long_scale),
    "second tables": (
        {"n_table": "hotels", "n_column": "guests", "q_table": "voices", "q": None},
        _with_second_tables,
    ),
}
KEYS = ("item", "order", "attribute", "window_start", "window_end")
HOTELS = pa.table({"item": [*PEOPLE], "guests": pa.array([*PEOPLE.values()], pa.int64())})
VOICES = pa.table({"item": [*Q], "q": [*Q.values()]})
TABLES = {"stays": STAYS, "hotels": HOTELS, "voices": VOICES}
WAREHOUSES, SPARK = benches(TEXT_BENCHES), benches(["spark"])


def compare(found: list[dict[str, Any]], wanted: Rows) -> None:
    by_key = rows_by(found, [name for name in KEYS if name in found[0]])
    assert len(by_key) == len(found)
    assert by_key.keys() == wanted.keys()
    for key, row in wanted.items():
        # A level for all items needs their number, which nobody has counted.
        same(by_key[key], row | {"ci_best_rank": None, "ci_worst_rank": None}, key)


@pytest.fixture
def runner(request: pytest.FixtureRequest) -> Runner:
    return start(request.param)


@pytest.mark.parametrize("asked", PLAIN, ids=str)
@pytest.mark.parametrize("runner", [*DATABASES, *SPARK, *WAREHOUSES], indirect=True)
def test_closed_forms(runner: Runner, asked: dict[str, Any]) -> None:
    text = uh.write_sql("item", "rating", dialect=runner.dialect, table="stays", **asked)
    compare(runner.run(text, {"stays": STAYS}), _plain(asked))


@pytest.mark.parametrize("runner", SPARK, indirect=True)
def test_a_long_scale_on_spark(runner: Runner) -> None:
    """Rows of ratings, at a length from which columns would keep its optimizer busy for hours."""
    asked: dict[str, Any] = {"scale": "1:20", "q": 0.3, "ranks": False}
    text = uh.write_sql("item", "many", dialect="spark", table="stays", **asked)
    wanted = expected(STAYS, ["item"], "many", [float(v) for v in range(1, 21)], q=0.3)
    for row in wanted.values():
        row |= {"best_rank": None, "worst_rank": None}
    compare(runner.run(text, {"stays": STAYS}), wanted)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("runner", WAREHOUSES, indirect=True)
def test_shapes(runner: Runner, shape: str) -> None:
    """Counts in every way; other engines are asked the same by `rate`, with the same queries."""
    asked, answer = SHAPES[shape]
    asked = {"item": "item", "rating": "rating", "q": 0.3, "level": None, **asked}
    text = uh.write_sql(dialect=runner.dialect, table="stays", **asked)
    compare(runner.run(text, TABLES), answer())


@pytest.mark.parametrize("runner", WAREHOUSES, indirect=True)
def test_days_before_1970(runner: Runner) -> None:
    day = date(1931, 5, 28)
    table = pa.table({"item": ["A", "A"], "rating": [5, 2], "day": [day, day + 3 * WEEK]})
    asked: dict[str, Any] = {"time": "day", "window": "week", "q": 0.3, "level": None}
    text = uh.write_sql("item", "rating", dialect=runner.dialect, table="old", **asked)
    firsts = [row["window_start"] for row in runner.run(text, {"old": table})]
    assert sorted(firsts) == [date(1931, 5, 25), date(1931, 6, 15)]


IN_WINGS: dict[str, dict[str, Any]] = {
    "by_wing": {"rating": "rating", "q": 0.2},
    "long_by_wing": {"rating": "many", "scale": "1:20", "q": 0.2},
    "people_by_wing": {"rating": "many", "scale": "1:20", "floor": 0.2, "covers": "people"},
}
"""What is asked of strata, by the name of a view."""


def _with_wings() -> tuple[pa.Table, pa.Table]:
    """Ratings in two wings of each item, and the number of people in each wing."""
    wing = pa.array(["east" if i % 4 else "west" for i in range(STAYS.num_rows)])
    table = STAYS.append_column("wing", wing)
    pairs = list(zip(STAYS["item"].to_pylist(), wing.to_pylist(), strict=True))
    sizes = {pair: 3 * pairs.count(pair) + 5 for pair in pairs}
    wings = pa.table(
        {
            "item": [item for item, _ in sizes],
            "wing": [wing for _, wing in sizes],
            "n": pa.array([*sizes.values()], pa.int64()),
        }
    )
    return table, wings


@pytest.mark.parametrize("runner", ["postgres", *WAREHOUSES], indirect=True)
@pytest.mark.parametrize("view", IN_WINGS)
def test_strata_in_a_view(runner: Runner, view: str) -> None:
    """The longest chain of steps there is."""
    table, wings = _with_wings()
    asked: dict[str, Any] = {"item": "item", "strata": "wing", "n_column": "n", "ranks": False}
    asked |= IN_WINGS[view]
    wanted = uh.rate(table, n_table=wings, **asked)
    text = uh.write_sql(dialect=runner.dialect, table="stays", view=view, n_table="wings", **asked)
    found = rows_by(runner.run(text, {"stays": table, "wings": wings}, view), ["item"])
    for row in wanted.to_pylist():
        same(found.pop((row["item"],)), row, row["item"])
    assert not found


@pytest.mark.parametrize("runner", [*DATABASES, *WAREHOUSES], indirect=True)
@pytest.mark.parametrize("second", [False, True])
def test_q_that_cannot_be_used_assumes_nothing(runner: Runner, second: bool) -> None:
    """Nothing can be refused here, and an allowance must not be lost."""
    q: dict[str, float | None] = {"A": None, "B": 0.0, "C": -0.5, "D": 1.5, "E": 0.4}
    table = STAYS.filter(pa.array([item in q for item in STAYS["item"].to_pylist()]))
    given = [q[item] for item in table["item"].to_pylist()]
    table = table.append_column("q", pa.array(given, pa.float64()))
    ratios = pa.table({"item": [*q], "q": pa.array([*q.values()], pa.float64())})
    where: dict[str, Any] = {"q_table": "ratios"} if second else {"q_column": "q"}
    text = uh.write_sql("item", "rating", dialect=runner.dialect, table="stays", **where)
    used = {(item,): value if item == "E" else 1e-9 for item, value in q.items()}
    tables = {"stays": table.drop_columns(["q"]) if second else table, "ratios": ratios}
    compare(runner.run(text, tables), expected(table, ["item"], "rating", FIVE, q=used))


@pytest.mark.parametrize("runner", ["postgres", *WAREHOUSES], indirect=True)
@pytest.mark.parametrize("quiet", ["low", "high"])
def test_n_sharpens_one_end_of_a_long_scale(runner: Runner, quiet: str) -> None:
    asked: dict[str, Any] = {"item": "item", "rating": "many", "scale": "1:20", "ranks": False}
    asked |= {"q": 0.2, "quiet": quiet, "n_column": "guests"}
    text = uh.write_sql(dialect=runner.dialect, table="stays", **asked)
    wanted = rows_by(uh.rate(STAYS, **asked).to_pylist(), ["item"])
    found = rows_by(runner.run(text, {"stays": STAYS}), ["item"])
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row, key)
