"""What rows may look like, whatever holds them: names, text, nulls, second tables, counts, days."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.cases import FIVE, cells_of, check, days, ratings
from tests.tables.engines import Bench
from tests.tables.oracle import answers, expected

ODD_NAMES = [
    "o'hare",
    'the "inn"',
    "two\nlines",
    "🏨",
    "'; drop table ratings; --",
    "",
    "a\\b",
    "null",
]


def test_ratings_as_text(engine: Bench) -> None:
    table = ratings(6)
    wanted = expected(table, ["item"], "rating", FIVE, q=0.3)
    words = pa.array(
        [f"{v}.0" if i % 2 else f" {v}" for i, v in enumerate(table["rating"].to_pylist())]
    )
    check(engine, table.set_column(1, "rating", words), wanted, rating="rating", q=0.3)


def test_odd_item_names(engine: Bench) -> None:
    table = ratings(7, names=ODD_NAMES)
    wanted = expected(table, ["item"], "rating", FIVE, q=0.3)
    with pytest.warns(uh.TableWarning, match="^'' was taken for an item, and is blank"):
        check(engine, table, wanted, rating="rating", q=0.3)


def test_odd_column_names_and_several_keys(every_engine: Bench) -> None:
    table = ratings(8).rename_columns(["Item 'x' \"y\"", "order"])
    table = table.append_column("group", pa.array([i % 3 for i in range(table.num_rows)]))
    item = ["Item 'x' \"y\"", "group"]
    wanted = expected(table, item, "order", FIVE, q=0.3)
    check(every_engine, table, wanted, item=item, rating="order", q=0.3)


def test_nulls_and_off_scale_by_choice(every_engine: Bench) -> None:
    table = ratings(9)
    given = table["rating"].to_pylist()
    given = [
        None
        if i % 11 == 0
        else 7
        if i % 13 == 0
        else -3
        if i % 17 == 0
        else 0
        if i % 19 == 0
        else v
        for i, v in enumerate(given)
    ]
    dirty = table.set_column(1, "rating", pa.array(given))
    source, where = every_engine.load(dirty)
    with pytest.raises(
        uh.DataError, match=r"rows have no rating.*for example.*not on the scale 1 to 5"
    ) as refused:
        uh.rate(source, "item", "rating", q=0.3, **where)
    assert f"{given.count(None)} rows" in str(refused.value)
    off = sum(v in (7, -3, 0) for v in given)
    assert f"{off} ratings are" in str(refused.value)
    plain = expected(dirty, ["item"], "rating", FIVE, q=0.3)
    dropped = {
        key
        for key in plain
        if any(
            i == key[0] and v in (None, 7, -3, 0)
            for i, v in zip(dirty["item"].to_pylist(), given, strict=True)
        )
    }
    for key in dropped:
        plain[key]["notes"] = f"{plain[key]['notes']} rows_dropped".strip()
    with pytest.warns(uh.TableWarning) as told:
        check(every_engine, dirty, plain, rating="rating", q=0.3, nulls="drop", off_scale="drop")
    messages = {str(w.message).split()[0] for w in told if w.category is uh.TableWarning}
    assert messages == {str(off), str(given.count(None))}


def test_nulls_as_people_who_said_nothing(engine: Bench) -> None:
    table = ratings(10)
    given = [None if i % 3 == 0 else v for i, v in enumerate(table["rating"].to_pylist())]
    dirty = table.set_column(1, "rating", pa.array(given))
    people: dict[Any, int] = {}
    silent: dict[Any, int] = {}
    for name, value in zip(dirty["item"].to_pylist(), given, strict=True):
        people[(name,)] = people.get((name,), 0) + 1
        silent[(name,)] = silent.get((name,), 0) + (value is None)
    wanted = expected(dirty, ["item"], "rating", FIVE, q=0.5, n=people)
    for key, many in silent.items():
        if many:
            wanted[key]["notes"] = f"{wanted[key]['notes']} nulls_counted".strip()
    with pytest.warns(uh.TableWarning, match="counted as non-respondents"):
        check(engine, dirty, wanted, rating="rating", q=0.5, nulls="nonresponse")


def check_second_tables(engine: Bench, method: str) -> None:
    table = ratings(11)
    people = {"A": 40, "B": 60, "C": 90, "D": 5000, "E": 600, "F": 900, "alone": 3, "nobody": 12}
    hotels = pa.table({"item": list(people), "guests": pa.array(list(people.values()), pa.int64())})
    voices = pa.table({"item": list(people), "q": [0.1, 0.2, 0.3, 0.01, 0.05, 0.2, 0.3, 0.4]})
    keys = [(name,) for name in people]
    q = dict(zip(keys, voices["q"].to_pylist(), strict=True))
    n = dict(zip(keys, people.values(), strict=True))
    wanted = answers(keys, cells_of(table, keys), FIVE, q=q, n=n, method=method)
    asked: dict[str, Any] = {
        "n_column": "guests",
        "n_table": hotels,
        "q_table": voices,
        "method": method,
    }
    found = check(engine, table, wanted, rating="rating", **asked)
    assert found[("nobody",)]["notes"].startswith("no_ratings")


def test_second_tables(every_engine: Bench) -> None:
    check_second_tables(every_engine, "midpoint")


def test_second_tables_with_bea(database: Bench) -> None:
    check_second_tables(database, "bea")


def test_counts_are_mergeable(engine: Bench) -> None:
    table = ratings(12)
    first, second = table.slice(0, 120), table.slice(120)
    days = []
    for day in (first, second):
        source, where = engine.load(day)
        days.append(engine.rows(uh.count_ratings(source, "item", "rating", **where)))
    stored = pa.concat_tables([day.cast(days[0].schema) for day in days])
    wanted = expected(table, ["item"], "rating", FIVE, q=0.3)
    names = [f"count_{v}" for v in range(1, 6)]
    check(engine, stored, wanted, counts=names, q=0.3)


def test_no_rows(engine: Bench) -> None:
    source, where = engine.load(ratings(18).slice(0, 0))
    for ask in (uh.rate, uh.rank):
        with pytest.raises(uh.DataError, match=r" has no rows\. Use a table with") as refused:
            ask(source, "item", "rating", q=0.3, **where)
        assert refused.value.code == "no_rows"
    with pytest.warns(uh.TableWarning, match="There are no rows in "):
        assert not len(engine.rows(uh.count_ratings(source, "item", "rating", **where)))


def test_missing_column(engine: Bench) -> None:
    source, where = engine.load(ratings(19))
    with pytest.raises(uh.ColumnError, match=r"no column 'ratng'\. Did you mean 'rating'"):
        uh.rate(source, "item", "ratng", q=0.3, **where)


def test_months(every_engine: Bench) -> None:
    table = ratings(14)
    when = days(table)
    wanted = {}
    for first, after in (
        (date(2024, 2, 1), date(2024, 3, 1)),
        (date(2024, 3, 1), date(2024, 4, 1)),
        (date(2024, 4, 1), date(2024, 5, 1)),
        (date(2024, 5, 1), date(2024, 6, 1)),
    ):
        kept = table.filter(pa.array([first <= d < after for d in when]))
        for key, row in expected(kept, ["item"], "rating", FIVE, q=0.3).items():
            wanted[(*key, first, after)] = row
    check(
        every_engine,
        table.append_column("day", pa.array(when)),
        wanted,
        rating="rating",
        q=0.3,
        time="day",
        window="month",
    )


def test_months_at_the_ends_of_the_calendar(engine: Bench) -> None:
    first, last = date(1, 1, 1), date(9999, 11, 30)
    table = pa.table({"item": ["a", "a"], "rating": [5, 4], "day": [first, last]})
    wanted = {}
    for row, window in enumerate([(first, date(1, 2, 1)), (date(9999, 11, 1), date(9999, 12, 1))]):
        rated = expected(table.slice(row, 1), ["item"], "rating", FIVE, q=0.3)
        wanted[("a", *window)] = rated[("a",)]
    asked: dict[str, Any] = {"q": 0.3, "time": "day", "window": "month"}
    check(engine, table, wanted, rating="rating", **asked)
    for day, every, words in (
        (date(9999, 12, 31), "month", "the last window of 'day' ends after the year 9999"),
        (first, "quarter", "the first window of 'day' begins before the year 1"),
    ):
        source, where = engine.load(table.set_column(2, "day", pa.array([day, day])))
        asked |= {"window": every, "every": "month"}
        with pytest.raises(uh.DataError, match=words):
            uh.rate(source, "item", "rating", **asked, **where)


def test_rolling_weeks(database: Bench) -> None:
    table = ratings(15)
    when = days(table)
    monday = date(2024, 2, 19)
    last = max(when)
    wanted = {}
    for week in range(-3, 20):
        first = monday + timedelta(weeks=week)
        after = first + timedelta(weeks=4)
        if first + timedelta(weeks=3) > last:
            continue
        kept = table.filter(pa.array([first <= d < after for d in when]))
        if kept.num_rows:
            for key, row in expected(kept, ["item"], "rating", FIVE, q=0.3).items():
                wanted[(*key, first, after)] = row
    check(
        database,
        table.append_column("day", pa.array(when)),
        wanted,
        rating="rating",
        q=0.3,
        time="day",
        window="4 weeks",
        every="week",
    )


def test_several_attributes(database: Bench) -> None:
    table = ratings(13)
    rng = np.random.default_rng(13)
    other = pa.array(rng.choice(5, table.num_rows, p=[0.5, 0.1, 0.1, 0.1, 0.2]) + 1)
    table = table.append_column("clean", other)
    wanted = {}
    for name in ("rating", "clean"):
        for key, row in expected(table, ["item"], name, FIVE, q=0.3).items():
            wanted[(*key, name)] = row
    check(database, table, wanted, rating=["rating", "clean"], q=0.3)
