"""One suite for every engine: the same cases, equal to the NumPy core."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.engines import BENCHES, SQL_BENCHES, Bench, bench
from tests.tables.oracle import answers, expected, rows_by, same, with_order
from unheard.decide.breakdown import breakdown
from unheard.decide.ranking import simultaneous_level
from unheard.decide.shared_ranking import rank_shared
from unheard.tables import rank

RESULT = {
    "n_ratings": pa.int64(), "n": pa.int64(), "average": pa.float64(), "estimate": pa.float64(),
    "lower": pa.float64(), "upper": pa.float64(), "ci_lower": pa.float64(),
    "ci_upper": pa.float64(), "best_rank": pa.int64(), "worst_rank": pa.int64(),
    "ci_best_rank": pa.int64(), "ci_worst_rank": pa.int64(), "flags": pa.string(),
}  # fmt: skip
ORDER = {
    "average_rank": pa.int64(), "tier": pa.int64(), "top": pa.string(),
    "ci_top": pa.string(), "breakdown_q": pa.float64(),
}  # fmt: skip
FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
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


def ratings(seed: int, size: int = 300, names: Any = None, values: Any = FIVE) -> pa.Table:
    """Lopsided ratings of a few items; one item has a single rating."""
    rng = np.random.default_rng(seed)
    names = names or ["A", "B", "C", "D", "E", "F"]
    weights = np.arange(1, len(names) + 1) ** 2.0
    item = rng.choice(len(names), size, p=weights / weights.sum())
    shape = np.geomspace(1, 6, len(values))[rng.permutation(len(values))]
    rating = rng.choice(np.array(values), size, p=shape / shape.sum())
    whole = all(float(v).is_integer() for v in values)
    return pa.table(
        {
            "item": pa.array([*(names[i] for i in item), "alone"]),
            "rating": pa.array([*rating, values[0]], pa.int64() if whole else pa.float64()),
        }
    )


def benches(names: Iterable[str]) -> list[Any]:
    # One Spark is enough: all its tests are run by one process.
    return [
        pytest.param(name, marks=pytest.mark.xdist_group("spark")) if name == "spark" else name
        for name in names
    ]


@pytest.fixture(params=benches(BENCHES))
def engine(request: pytest.FixtureRequest) -> Bench:
    return bench(request.param)


@pytest.fixture(params=benches(SQL_BENCHES))
def sql_engine(request: pytest.FixtureRequest) -> Bench:
    return bench(request.param)


def check(engine: Bench, table: pa.Table, wanted: Any, item: Any = ("item",), **asked: Any) -> Any:
    source, where = engine.load(table)
    return compare(engine, engine.rows(uh.rate(source, list(item), **asked, **where)), wanted, item)


def check_order(
    engine: Bench, table: pa.Table, wanted: Any, item: Any = ("item",), **asked: Any
) -> Any:
    source, where = engine.load(table)
    result = engine.rows(rank(source, list(item), **asked, **where))
    columns = {name: kind for name, kind in RESULT.items() if name != "flags"}
    return compare(engine, result, wanted, item, columns | ORDER | {"flags": RESULT["flags"]})


def compare(
    engine: Bench,
    result: pa.Table,
    wanted: Any,
    item: Any,
    columns: dict[str, pa.DataType] = RESULT,
) -> Any:
    extra = [name for name in result.column_names if name not in columns and name not in item]
    assert result.column_names == [*item, *extra, *columns]
    for name, kind in columns.items():
        got = result.schema.field(name).type
        # pandas has floating point for whole numbers that are missing, and before version 3 no type
        # for text of which there is none.
        if engine.name == "pandas" and (result[name].null_count or got == pa.null()):
            continue
        assert got == kind or (kind == pa.string() and pa.types.is_large_string(got)), name
    found = rows_by(result, [*item, *extra])
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        if engine.name == "pandas":
            found[key] = {k: _plain(v) for k, v in found[key].items()}
        same(found[key], row, key)
    return found


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value


def audited() -> uh.Participation:
    """What an audit of a dozen items found."""
    rng = np.random.default_rng(8)
    truth = np.array([rng.multinomial(50, p) for p in rng.dirichlet([1, 2, 2, 3, 1], 12)])
    return uh.calibrate(rng.binomial(truth, [0.1, 0.2, 0.3, 0.5, 0.6]), truth).assumption


def spelled(asked: dict[str, Any]) -> str:
    return ", ".join(
        name if name == "assumption" else f"{name}={value}" for name, value in asked.items()
    )


ASSUMPTIONS: list[dict[str, Any]] = [
    {"q": 0.3},
    {"q": 0.15, "quiet": "low"},
    {"q": 0.2, "quiet": "high", "level": 0.8},
    {"q": 0.1, "quiet": "middle"},
    {"participation": [(0.1, 0.4), (0.2, 0.5), (0.2, 0.9), (0.3, 0.9), (0.5, 1.0)]},
    {"g": [0.2, 0.3, 0.3, 0.4, 0.6]},
    {"assumption": audited()},
    {"q": 0.3, "level": None},
    {"q": 0.4, "method": "spectral"},
]


DATABASES = ("duckdb", "sqlite", "postgres")
"""Run every case. Frames are read by DuckDB, and Spark is slow: they run some of them."""

_EVERY = {"spark": 6}
"""Which cases an engine runs that runs some: every third, if nothing is said."""


def cases(names: Iterable[str], asked: list[Any]) -> list[Any]:
    """Pair benches with cases, all of them for databases, some for the others."""
    found = []
    for name in names:
        marks = [pytest.mark.xdist_group("spark")] if name == "spark" else []
        for i, one in enumerate(asked):
            if name in DATABASES or i % _EVERY.get(name, 3) == 0:
                values = one if isinstance(one, tuple) else (one,)
                words = "-".join(spelled(v) if isinstance(v, dict) else str(v) for v in values)
                found.append(pytest.param(name, *values, marks=marks, id=f"{name}-{words}"))
    return found


@pytest.mark.parametrize(("engine", "assumption"), cases(BENCHES, ASSUMPTIONS), indirect=["engine"])
def test_without_n(engine: Bench, assumption: dict[str, Any]) -> None:
    table = ratings(1)
    check(
        engine,
        table,
        expected(table, ["item"], "rating", FIVE, **assumption),
        rating="rating",
        **assumption,
    )


@pytest.mark.parametrize(
    ("engine", "assumption"),
    cases(
        BENCHES,
        [
            *(a for a in ASSUMPTIONS if "method" not in a),
            {"q": 0.3, "method": "bea"},
            {"q": 0.2, "covers": "people"},
            {"q": 0.3, "method": "paa"},
            {"floor": 0.3},
            {"floor": 0.2, "method": "bea"},
            {"floor": 0.1, "covers": "people"},
        ],
    ),
    indirect=["engine"],
)
def test_with_n_of_a_column(engine: Bench, assumption: dict[str, Any]) -> None:
    table = ratings(2)
    people = {"A": 40, "B": 60, "C": 90, "D": 5000, "E": 600, "F": 900, "alone": 3}
    n = [people[name] for name in table["item"].to_pylist()]
    wanted = expected(
        table, ["item"], "rating", FIVE, n={(k,): v for k, v in people.items()}, **assumption
    )
    check(
        engine,
        table.append_column("guests", pa.array(n)),
        wanted,
        rating="rating",
        n="guests",
        **assumption,
    )


def test_one_n_for_all_and_bea(engine: Bench) -> None:
    table = ratings(3)
    for asked in ({"q": 0.2}, {"q": 0.2, "method": "bea"}, {"floor": 0.2, "method": "bea"}):
        wanted = expected(table, ["item"], "rating", FIVE, n=400, **asked)
        check(engine, table, wanted, rating="rating", n=400, **asked)


def test_one_n_and_q_by_column_with_bea(sql_engine: Bench) -> None:
    table = ratings(39)
    voices = {"A": 0.1, "B": 0.2, "C": 0.3, "D": 0.5, "E": 0.9, "F": 1.0, "alone": 0.05}
    asked: dict[str, Any] = {"n": 900, "method": "bea", "level": None}
    q = {(k,): v for k, v in voices.items()}
    wanted = expected(table, ["item"], "rating", FIVE, q=q, **asked)
    table = table.append_column("voice", pa.array([voices[i] for i in table["item"].to_pylist()]))
    check(sql_engine, table, wanted, rating="rating", q="voice", **asked)


def test_q_by_column(engine: Bench) -> None:
    table = ratings(4)
    voices = {"A": 0.1, "B": 0.2, "C": 0.3, "D": 0.5, "E": 0.9, "F": 1.0, "alone": 0.05}
    wanted = expected(table, ["item"], "rating", FIVE, q={(k,): v for k, v in voices.items()})
    table = table.append_column("voice", pa.array([voices[i] for i in table["item"].to_pylist()]))
    check(engine, table, wanted, rating="rating", q="voice")


@pytest.mark.parametrize(
    "values",
    [
        (0.5, 1.0, 1.5, 2.0, 2.5),
        (1.0, 2.0, 4.0),
        tuple(range(0, 11)),
        tuple(range(1, 21)),
        (-2.0, -1.0, 0.0, 1.0),
    ],
    ids=str,
)
def test_scales(engine: Bench, values: Any) -> None:
    values = tuple(float(v) for v in values)
    table = ratings(5, values=values)
    wanted = expected(table, ["item"], "rating", values, q=0.3)
    check(engine, table, wanted, rating="rating", q=0.3, scale=list(values))


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
    check(engine, table, wanted, rating="rating", q=0.3)


def test_odd_column_names_and_several_keys(engine: Bench) -> None:
    table = ratings(8).rename_columns(["Item 'x' \"y\"", "order"])
    table = table.append_column("group", pa.array([i % 3 for i in range(table.num_rows)]))
    item = ["Item 'x' \"y\"", "group"]
    wanted = expected(table, item, "order", FIVE, q=0.3)
    check(engine, table, wanted, item=item, rating="order", q=0.3)


def test_nulls_and_off_scale_by_choice(engine: Bench) -> None:
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
    source, where = engine.load(dirty)
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
        plain[key]["flags"] = "rows_dropped"
    with pytest.warns(uh.RowsLeftOutWarning) as told:
        check(engine, dirty, plain, rating="rating", q=0.3, nulls="drop", off_scale="drop")
    notes = {str(w.message).split()[0] for w in told if w.category is uh.RowsLeftOutWarning}
    assert notes == {str(off), str(given.count(None))}


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
            wanted[key]["flags"] = f"{wanted[key]['flags']} nulls_counted".strip()
    with pytest.warns(uh.RowsLeftOutWarning, match="people who said nothing"):
        check(engine, dirty, wanted, rating="rating", q=0.5, nulls="nonresponse")


def test_second_tables(engine: Bench) -> None:
    table = ratings(11)
    people = {"A": 40, "B": 60, "C": 90, "D": 5000, "E": 600, "F": 900, "alone": 3, "nobody": 12}
    hotels = pa.table({"item": list(people), "guests": pa.array(list(people.values()), pa.int64())})
    voices = pa.table({"item": list(people), "q": [0.1, 0.2, 0.3, 0.01, 0.05, 0.2, 0.3, 0.4]})
    for method in ("midpoint", "bea"):
        keys = [(name,) for name in people]
        cells = _cells(table, keys)
        q = dict(zip(((k,) for k in people), voices["q"].to_pylist(), strict=True))
        wanted = answers(
            keys, cells, FIVE, q=q, n={(k,): v for k, v in people.items()}, method=method
        )
        found = check(
            engine,
            table,
            wanted,
            rating="rating",
            n="guests",
            n_table=hotels,
            q_table=voices,
            method=method,
        )
        assert found[("nobody",)]["flags"].startswith("no_ratings")


def _cells(table: pa.Table, keys: Any) -> Any:
    cells = np.zeros((len(keys), 5), np.int64)
    place = {key[0]: i for i, key in enumerate(keys)}
    for name, value in zip(table["item"].to_pylist(), table["rating"].to_pylist(), strict=True):
        cells[place[name], int(value) - 1] += 1
    return cells


def test_counts_are_mergeable(engine: Bench) -> None:
    table = ratings(12)
    first, second = table.slice(0, 120), table.slice(120)
    days = []
    for day in (first, second):
        source, where = engine.load(day)
        days.append(engine.rows(uh.counts(source, "item", "rating", **where)))
    stored = pa.concat_tables([day.cast(days[0].schema) for day in days])
    wanted = expected(table, ["item"], "rating", FIVE, q=0.3)
    names = [f"count_{v}" for v in range(1, 6)]
    check(engine, stored, wanted, counts=names, q=0.3)


def test_a_billion_of_one_rating(engine: Bench) -> None:
    table = pa.table(
        {
            "item": ["x", "y"],
            **{f"c{v}": pa.array([10**9 if v == 4 else v, 3], pa.int64()) for v in range(1, 6)},
        }
    )
    cells = np.array([[1, 2, 3, 10**9, 5], [3] * 5])
    wanted = answers([("x",), ("y",)], cells, FIVE, q=0.3, n=3 * 10**9)
    check(engine, table, wanted, counts=[f"c{v}" for v in range(1, 6)], q=0.3, n=3 * 10**9)


def test_values_that_differ_late(engine: Bench) -> None:
    values = (0.1234567, 0.1234568, 1000000.0, 1000001.0)
    table = ratings(36, values=values)
    wanted = expected(table, ["item"], "rating", values, q=0.3)
    source, where = engine.load(table)
    counted = engine.rows(uh.counts(source, "item", "rating", scale=list(values), **where))
    names = ["count_0.1234567", "count_0.1234568", "count_1000000", "count_1000001"]
    assert counted.column_names == ["item", *names, "n_rows", "n_null"]
    check(engine, counted, wanted, counts=names, q=0.3)
    words = pa.array([f"{value!r}".removesuffix(".0") for value in table["rating"].to_pylist()])
    table = table.set_column(1, "rating", words)
    check(engine, table, wanted, rating="rating", scale=list(values), q=0.3)


def test_whole_values_that_differ_late(engine: Bench) -> None:
    table = ratings(37, values=(1000000, 1000001))
    wanted = expected(table, ["item"], "rating", (1000000.0, 1000001.0), q=0.3)
    check(engine, table, wanted, rating="rating", scale=[1000000, 1000001], q=0.3)


MOST = 2**53


def test_counts_above_the_largest(sql_engine: Bench) -> None:
    table = pa.table(
        {
            "item": ["full", "full", "over", "over"],
            "bad": pa.array([MOST - 1, 1, MOST, 1], pa.int64()),
            "good": pa.array([MOST, 0, 5, 5], pa.int64()),
        }
    )
    asked: dict[str, Any] = {"counts": ["bad", "good"], "q": 0.3}
    wanted = answers([("full",)], np.array([[MOST, MOST]]), (1.0, 2.0), q=0.3)
    check(sql_engine, table.slice(0, 2), wanted, **asked)
    source, where = sql_engine.load(table)
    words = r"^counts of .*: the counts of an item add up to more than 2\*\*53 of one rating "
    with pytest.raises(uh.DataError, match=rf"{words}\(for example item='over'\)\. A count is at"):
        uh.rate(source, "item", **asked, **where)
    with pytest.raises(uh.DataError, match=words):
        uh.counts(source, "item", counts=["bad", "good"], **where)


def test_more_people_than_the_largest_count(sql_engine: Bench) -> None:
    people = {"full": MOST, "over": MOST + 1}
    table = pa.table({"item": [*people], "rating": [1, 5], "guests": [*people.values()]})
    full, hotels = table.slice(0, 1), table.select(["item", "guests"])
    wanted = expected(full, ["item"], "rating", FIVE, q=0.3, n=MOST)
    ways: list[dict[str, Any]] = [{"n": "guests"}, {"n": "guests", "n_table": hotels.slice(0, 1)}]
    for asked in (*ways, {"n": MOST}):
        check(sql_engine, full, wanted, rating="rating", q=0.3, **asked)
    source, where = sql_engine.load(table)
    words = rf"n is no number of people \(for example item='over', (n_high|guests)={MOST + 1}\)"
    for asked in ({"n": "guests"}, {"n": "guests", "n_table": hotels}):
        with pytest.raises(uh.PopulationError, match=words):
            uh.rate(source, "item", "rating", q=0.3, **asked, **where)


@pytest.mark.parametrize("n", [MOST + 1, MOST + 2, 2.0**54, 10**400])
def test_one_number_of_people_above_the_largest_count(n: float) -> None:
    with pytest.raises(uh.PopulationError, match=r"^n: .* found\. Give a whole .* up to 2\*\*53"):
        uh.rate(ratings(38), "item", "rating", q=0.3, n=n)


def test_several_attributes(engine: Bench) -> None:
    table = ratings(13)
    rng = np.random.default_rng(13)
    other = pa.array(rng.choice(5, table.num_rows, p=[0.5, 0.1, 0.1, 0.1, 0.2]) + 1)
    table = table.append_column("clean", other)
    wanted = {}
    for name in ("rating", "clean"):
        for key, row in expected(table, ["item"], name, FIVE, q=0.3).items():
            wanted[(*key, name)] = row
    check(engine, table, wanted, rating=["rating", "clean"], q=0.3)


def days(table: pa.Table) -> list[date]:
    rng = np.random.default_rng(14)
    start = date(2024, 2, 20)
    return [start + timedelta(days=int(d)) for d in rng.integers(0, 100, table.num_rows)]


def test_months(engine: Bench) -> None:
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
        engine,
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
        (date(9999, 12, 31), "month", "the last window ends after the year 9999"),
        (first, "quarter", "the first window begins before the year 1"),
    ):
        source, where = engine.load(table.set_column(2, "day", pa.array([day, day])))
        asked |= {"window": every, "every": "month"}
        with pytest.raises(uh.DataError, match=f"time 'day' of .*: {words}"):
            uh.rate(source, "item", "rating", **asked, **where)


def test_rolling_weeks(engine: Bench) -> None:
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
        engine,
        table.append_column("day", pa.array(when)),
        wanted,
        rating="rating",
        q=0.3,
        time="day",
        window="4 weeks",
        every="week",
    )


def test_strata(engine: Bench) -> None:
    table = ratings(16)
    wing = ["east" if i % 4 else "west" for i in range(table.num_rows - 1)] + ["east"]
    table = table.append_column("wing", pa.array(wing))
    parts = expected(table, ["item", "wing"], "rating", FIVE, q=0.2)
    n = {key: 3 * row["n_ratings"] + (40 if key[1] == "west" else 2) for key, row in parts.items()}
    parts = expected(table, ["item", "wing"], "rating", FIVE, q=0.2, n=n)
    source, where = engine.load(
        table.append_column(
            "rooms", pa.array([n[k] for k in zip(table["item"].to_pylist(), wing, strict=True)])
        )
    )
    result = engine.rows(
        uh.rate(source, "item", "rating", q=0.2, n="rooms", strata="wing", **where)
    )
    for row in result.to_pylist():
        mine = [(n[key], part) for key, part in parts.items() if key[0] == row["item"]]
        size = sum(k for k, _ in mine)
        assert row["n"] == size
        assert row["n_ratings"] == sum(part["n_ratings"] for _, part in mine)
        for name in ("estimate", "lower", "upper"):
            assert row[name] == pytest.approx(sum(k * p[name] for k, p in mine) / size, rel=1e-12)
        low = np.sqrt(sum((k * (p["lower"] - p["ci_lower"])) ** 2 for k, p in mine)) / size
        assert row["ci_lower"] == pytest.approx(row["lower"] - low, rel=1e-12)
        assert set(row["flags"].split()) == {f for _, p in mine for f in p["flags"].split()}
    sizes = pa.table(
        {
            "item": [item for item, _ in n],
            "wing": [wing for _, wing in n],
            "n": pa.array(list(n.values()), pa.int64()),
        }
    )
    source, where = engine.load(table)
    again = engine.rows(
        uh.rate(source, "item", "rating", q=0.2, n_table=sizes, strata="wing", **where)
    )
    wanted = rows_by(result, ["item"])
    for key, row in rows_by(again, ["item"]).items():
        same(row, wanted[key], key)


CLAIMS: list[dict[str, Any]] = [
    {"above": 3.0},
    {"below": 3.2, "k": 3},
    {"above": 2.5, "k": 1, "noise": False},
    {"k": 2, "level": None},
]


def lopsided(seed: int) -> tuple[pa.Table, list[tuple[str]], Any]:
    """Counts of items from bad to good, two of them alike and one that nobody rated."""
    rng = np.random.default_rng(seed)
    cells = [
        rng.multinomial(size, shape)
        for size in (20, 400, 3000)
        for shape in np.array([[8, 2, 1, 1, 1], [1, 3, 3, 1, 1], [1, 0, 1, 6, 3], [0, 0, 0, 1, 9]])
        / np.array([[13], [9], [11], [10]])
    ]
    cells += [cells[2], np.zeros(5, np.int64)]
    names = [(f"item {i}",) for i in range(len(cells))]
    columns = {f"c{r + 1}": [int(c[r]) for c in cells] for r in range(5)}
    return pa.table({"item": [name for (name,) in names], **columns}), names, np.array(cells)


@pytest.mark.parametrize(
    ("engine", "assumption", "claim", "people"),
    cases(
        SQL_BENCHES,
        [
            (a, CLAIMS[i % len(CLAIMS)], people)
            for i, a in enumerate(ASSUMPTIONS)
            for people in (None, 20_000)
            # An order goes by intervals, so that pooled estimates have no part in it.
            if not {"level", "assumption"} & a.keys() and (people is None or "method" not in a)
        ],
    ),
    indirect=["engine"],
)
def test_order(
    engine: Bench, assumption: dict[str, Any], claim: dict[str, Any], people: int | None
) -> None:
    table, keys, cells = lopsided(30)
    level = claim.get("level", 0.9)
    settings = {**assumption, "n": people}
    wanted = answers(keys, cells, FIVE, level=level, **settings)
    joint = None
    if claim.get("noise", True) and level is not None:
        joint = answers(keys, cells, FIVE, level=simultaneous_level(level, len(keys)), **settings)
    found = None
    threshold = {name: claim[name] for name in ("above", "below") if name in claim}
    if threshold:
        stated = {name: v for name, v in assumption.items() if name not in ("q", "method")}
        found = breakdown(cells, n=people, **threshold, **stated)
        assert np.isnan(found).any()
        assert not np.isnan(found).all()
    with_order(wanted, claim.get("k"), joint, found)
    counts = [f"c{v}" for v in range(1, 6)]
    check_order(engine, table, wanted, counts=counts, **{"level": level} | claim | settings)


def test_order_of_attributes_and_months(engine: Bench) -> None:
    table = ratings(31, size=900)
    when = [date(2024, 1 + i % 3, 1 + i % 28) for i in range(table.num_rows)]
    table = table.append_column("clean", pa.array(table["rating"].to_pylist()[::-1]))
    level = simultaneous_level(0.95, 7)
    wanted = {}
    for name in ("rating", "clean"):
        for month in (1, 2, 3):
            kept = table.filter(pa.array([d.month == month for d in when]))
            rows, joint = (
                expected(kept, ["item"], name, FIVE, q=0.6, level=x) for x in (0.95, level)
            )
            window = (date(2024, month, 1), date(2024, month + 1, 1))
            for key, row in with_order(rows, 2, joint).items():
                wanted[(*key, name, *window)] = row
    assert len({row["tier"] for row in wanted.values()}) > 1
    table = table.append_column("day", pa.array(when))
    asked: dict[str, Any] = {"time": "day", "window": "month", "q": 0.6, "k": 2}
    check_order(engine, table, wanted, rating=["rating", "clean"], **asked)


def test_order_of_items_that_nobody_rated(engine: Bench) -> None:
    table = ratings(32)
    people = {"A": 40, "B": 60, "C": 90, "D": 5000, "E": 600, "F": 900, "alone": 3, "nobody": 12}
    hotels = pa.table({"item": list(people), "n": pa.array(list(people.values()), pa.int64())})
    keys = [(name,) for name in people]
    n = {(k,): v for k, v in people.items()}
    cells = _cells(table, keys)
    levels = (0.95, simultaneous_level(0.95, len(people)))
    rows, joint = (answers(keys, cells, FIVE, q=0.5, n=n, level=x) for x in levels)
    found = breakdown(cells, n=list(people.values()), above=3.0)
    wanted = with_order(rows, 4, joint, found)
    check_order(engine, table, wanted, rating="rating", n_table=hotels, q=0.5, k=4, above=3.0)


def test_order_with_strata(engine: Bench) -> None:
    table = ratings(33)
    table = table.append_column("wing", pa.array(["ew"[i % 2] for i in range(table.num_rows)]))
    source, where = engine.load(table)
    asked: dict[str, Any] = {"q": 0.5, "n": 1000, "strata": "wing"}
    with pytest.raises(uh.OptionError, match="above: a threshold given together with strata"):
        rank(source, "item", "rating", **asked, above=3.0, **where)
    rated = engine.rows(uh.rate(source, "item", "rating", **asked, **where))
    level = simultaneous_level(0.95, rated.num_rows)
    joint = engine.rows(uh.rate(source, "item", "rating", **asked, level=level, **where))
    found = engine.rows(rank(source, "item", "rating", **asked, k=2, **where))
    wanted = with_order(rows_by(rated, ["item"]), 2, rows_by(joint, ["item"]))
    for key, row in rows_by(found, ["item"]).items():
        got = {name: _plain(value) for name, value in row.items()}
        same(got, {name: _plain(value) for name, value in wanted[key].items()}, key)


def test_order_refused(engine: Bench) -> None:
    source, where = engine.load(ratings(34))
    with pytest.raises(uh.OptionError, match="k: 8 found, and there are 7 items"):
        rank(source, "item", "rating", q=0.3, k=8, **where)
    with pytest.raises(uh.OptionError, match="above: 6 is not on the scale from 1 to 5"):
        rank(source, "item", "rating", q=0.3, above=6, **where)


def test_order_of_no_rows(engine: Bench) -> None:
    check_order(engine, ratings(35).slice(0, 0), {}, rating="rating", q=0.3, k=3, above=4)


def test_somebody_rated_twice(engine: Bench) -> None:
    table = ratings(17)
    people = [f"p{i}" for i in range(table.num_rows)]
    people[5] = people[4] = "p4"
    same_item = pa.array(
        ["A" if i in (4, 5) else v for i, v in enumerate(table["item"].to_pylist())]
    )
    table = table.set_column(0, "item", same_item).append_column("who", pa.array(people))
    table = table.append_column(
        "day", pa.array([date(2024, 1, 1) + timedelta(days=i) for i in range(table.num_rows)])
    )
    source, where = engine.load(table)
    with pytest.raises(uh.DataError, match=r"1 pair of rater and item.*who='p4'"):
        uh.rate(source, "item", "rating", q=0.3, rater="who", **where)
    kept = table.filter(pa.array([i != 4 for i in range(table.num_rows)]))
    wanted = expected(kept, ["item"], "rating", FIVE, q=0.3)
    with pytest.warns(uh.RowsLeftOutWarning, match="1 earlier rating was left out"):
        check(
            engine,
            table,
            wanted,
            rating="rating",
            q=0.3,
            rater="who",
            time="day",
            duplicates="latest",
        )


FIRST, LAST = date(2024, 1, 1), date(2024, 1, 2)
Rated = list[tuple[int, date | None]]


def by_one_person(items: dict[str, Rated]) -> pa.Table:
    """Ratings of each item by one person, who is not known if the item says so."""
    rows = [(item, *one) for item, rated in items.items() for one in rated]
    return pa.table(
        {
            "item": [item for item, _, _ in rows],
            "rating": [stars for _, stars, _ in rows],
            "who": pa.array([None if "unknown" in item else "Ann" for item, _, _ in rows]),
            "day": pa.array([day for _, _, day in rows], pa.date32()),
        }
    )


LATEST: dict[str, Any] = {"rater": "who", "time": "day", "duplicates": "latest"}


def test_no_rating_is_the_latest(sql_engine: Bench) -> None:
    items: dict[str, Rated] = {
        "two latest": [(5, FIRST), (1, LAST), (2, LAST)],
        "two alike": [(4, LAST), (4, LAST)],
        "no time before a time": [(5, None), (1, LAST)],
        "no time after a time": [(5, FIRST), (1, None)],
        "no time at all": [(5, None), (1, None)],
    }
    source, where = sql_engine.load(by_one_person(items))
    words = r"5 pairs of rater and item occur more than once \(for example .*who='Ann', times=2.*\)"
    with pytest.raises(uh.DataError, match=rf"{words}\. They have the same time or none, so that"):
        uh.rate(source, "item", "rating", q=0.3, **LATEST, **where)


def test_one_rating_is_the_latest(sql_engine: Bench) -> None:
    items: dict[str, Rated] = {
        "earlier ones alike": [(5, FIRST), (4, FIRST), (1, LAST)],
        "one without a time": [(5, None)],
        "unknown people": [(5, LAST), (1, LAST), (2, FIRST), (4, None)],
    }
    kept = items | {"earlier ones alike": [(1, LAST)]}
    wanted = expected(by_one_person(kept), ["item"], "rating", FIVE, q=0.3)
    with pytest.warns(uh.RowsLeftOutWarning, match="2 earlier ratings were left out"):
        check(sql_engine, by_one_person(items), wanted, rating="rating", q=0.3, **LATEST)


def test_no_rows(engine: Bench) -> None:
    check(engine, ratings(18).slice(0, 0), {}, rating="rating", q=0.3)


def test_missing_column(engine: Bench) -> None:
    source, where = engine.load(ratings(19))
    with pytest.raises(uh.ColumnError, match=r"no column 'ratng'\. Did you mean 'rating'"):
        uh.rate(source, "item", "ratng", q=0.3, **where)


@pytest.mark.parametrize(
    "asked",
    [
        {"q": 0.3},
        {"floor": 0.2, "n": "guests", "method": "bea"},
        {"q": 0.2, "n": "guests"},
        {"q": 0.4, "quiet": "low", "level": None},
        {"g": [0.2, 0.3, 0.3, 0.4, 0.6], "n": 5000},
    ],
    ids=str,
)
def test_text_through_the_engines_own_client(sql_engine: Bench, asked: dict[str, Any]) -> None:
    table = ratings(20)
    people = {"A": 40, "B": 60, "C": 90, "D": 5000, "E": 600, "F": 900, "alone": 3}
    table = table.append_column("guests", pa.array([people[i] for i in table["item"].to_pylist()]))
    text = uh.sql("item", "rating", dialect=sql_engine.dialect, table="stays", **asked)
    core = dict(asked)
    if core.get("n") == "guests":
        core["n"] = {(k,): v for k, v in people.items()}
    wanted = expected(table, ["item"], "rating", FIVE, **core)
    for row in wanted.values():
        # A level for all items needs their number, which nobody has counted.
        row |= {"ci_best_rank": None, "ci_worst_rank": None}
    found = rows_by(sql_engine.run(text, {"stays": table}), ["item"])
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row, key)


# One participation for all items, and items with few ratings.


def test_shared_participation(engine: Bench) -> None:
    table = ratings(21, size=900)
    keys, cells = counted(table)
    question = uh.inquire(cells, 0.4, level=0.9)
    exact, noisy = (rank_shared(question, noise=noise) for noise in (False, True))
    wanted = expected(table, ["item"], "rating", FIVE, q=0.4, level=0.9)
    for i, key in enumerate(keys):
        wanted[key] |= {
            "best_rank": exact.best_rank[i],
            "worst_rank": exact.worst_rank[i],
            "ci_best_rank": noisy.best_rank[i],
            "ci_worst_rank": noisy.worst_rank[i],
        }
    assert any(row["best_rank"] > 1 for row in wanted.values())
    check(engine, table, wanted, rating="rating", q=0.4, level=0.9, shared=True)


def counted(table: pa.Table) -> tuple[list[tuple[Any, ...]], Any]:
    """The items and their counts, in one order."""
    pairs = list(zip(table["item"].to_pylist(), table["rating"].to_pylist(), strict=True))
    names = sorted({item for item, _ in pairs})
    return [(name,) for name in names], np.array(
        [[pairs.count((name, value)) for value in range(1, 6)] for name in names]
    )


@pytest.mark.parametrize("shared", [False, True])
def test_items_with_few_ratings_are_left_out(engine: Bench, shared: bool) -> None:
    table = ratings(22)
    keys, cells = counted(table)
    least = int(np.sort(cells.sum(axis=1))[3])
    enough = {name for (name,), row in zip(keys, cells, strict=True) if row.sum() >= least}
    rows = table.filter(pa.array([name in enough for name in table["item"].to_pylist()]))
    asked: dict[str, Any] = {"rating": "rating", "q": 0.4, "shared": shared}
    wanted = rows_by(uh.rate(rows, "item", **asked), ["item"])
    with pytest.warns(uh.RowsLeftOutWarning, match="3 items were left out, with fewer than"):
        check(engine, table, wanted, min_ratings=least, **asked)
