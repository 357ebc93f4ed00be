"""Every engine works out what the NumPy core does: all assumptions, scales and sizes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.formulas.test_strata import together
from tests.tables.cases import ASSUMPTIONS, FIVE, benches, cases, check, ratings
from tests.tables.engines import BENCHES, Bench
from tests.tables.oracle import answers, expected, rows_by, same


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


@pytest.mark.parametrize("engine", benches(("spark",)), indirect=True)
def test_sql_does_the_work_where_executors_lack_the_package(
    engine: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unheard.tables.engines import spark

    table = ratings(1)
    with monkeypatch.context() as lacking:
        lacking.setattr(spark, "_INSTALLED", {})
        lacking.setattr(spark, "__version__", "another")
        wanted = expected(table, ["item"], "rating", FIVE, q=0.3)
        check(engine, table, wanted, rating="rating", q=0.3)
        assert set(spark._INSTALLED.values()) == {False}


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
        n_column="guests",
        **assumption,
    )


def test_one_n_for_all_and_bea(database: Bench) -> None:
    table = ratings(3)
    for asked in ({"q": 0.2}, {"q": 0.2, "method": "bea"}, {"floor": 0.2, "method": "bea"}):
        wanted = expected(table, ["item"], "rating", FIVE, n=400, **asked)
        check(database, table, wanted, rating="rating", n=400, **asked)


def test_one_n_and_q_by_column_with_bea(database: Bench) -> None:
    table = ratings(39)
    voices = {"A": 0.1, "B": 0.2, "C": 0.3, "D": 0.5, "E": 0.9, "F": 1.0, "alone": 0.05}
    asked: dict[str, Any] = {"n": 900, "method": "bea", "level": None}
    q = {(k,): v for k, v in voices.items()}
    wanted = expected(table, ["item"], "rating", FIVE, q=q, **asked)
    table = table.append_column("voice", pa.array([voices[i] for i in table["item"].to_pylist()]))
    check(database, table, wanted, rating="rating", q_column="voice", **asked)


def test_q_by_column(database: Bench) -> None:
    table = ratings(4)
    voices = {"A": 0.1, "B": 0.2, "C": 0.3, "D": 0.5, "E": 0.9, "F": 1.0, "alone": 0.05}
    wanted = expected(table, ["item"], "rating", FIVE, q={(k,): v for k, v in voices.items()})
    table = table.append_column("voice", pa.array([voices[i] for i in table["item"].to_pylist()]))
    check(database, table, wanted, rating="rating", q_column="voice")


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
def test_scales(database: Bench, values: Any) -> None:
    values = tuple(float(v) for v in values)
    table = ratings(5, values=values)
    wanted = expected(table, ["item"], "rating", values, q=0.3)
    check(database, table, wanted, rating="rating", q=0.3, scale=list(values))


def test_a_billion_of_one_rating(database: Bench) -> None:
    table = pa.table(
        {
            "item": ["x", "y"],
            **{f"c{v}": pa.array([10**9 if v == 4 else v, 3], pa.int64()) for v in range(1, 6)},
        }
    )
    cells = np.array([[1, 2, 3, 10**9, 5], [3] * 5])
    wanted = answers([("x",), ("y",)], cells, FIVE, q=0.3, n=3 * 10**9)
    check(database, table, wanted, counts=[f"c{v}" for v in range(1, 6)], q=0.3, n=3 * 10**9)


def test_values_that_differ_late(database: Bench) -> None:
    values = (0.1234567, 0.1234568, 1000000.0, 1000001.0)
    table = ratings(36, values=values)
    wanted = expected(table, ["item"], "rating", values, q=0.3)
    source, where = database.load(table)
    counted = database.rows(uh.count_ratings(source, "item", "rating", scale=list(values), **where))
    names = ["count_0.1234567", "count_0.1234568", "count_1000000", "count_1000001"]
    assert counted.column_names == ["item", *names, "n_rows", "n_null"]
    check(database, counted, wanted, counts=names, q=0.3)
    words = pa.array([f"{value!r}".removesuffix(".0") for value in table["rating"].to_pylist()])
    table = table.set_column(1, "rating", words)
    check(database, table, wanted, rating="rating", scale=list(values), q=0.3)


def test_whole_values_that_differ_late(database: Bench) -> None:
    table = ratings(37, values=(1000000, 1000001))
    wanted = expected(table, ["item"], "rating", (1000000.0, 1000001.0), q=0.3)
    check(database, table, wanted, rating="rating", scale=[1000000, 1000001], q=0.3)


MOST = 2**53


def test_counts_above_the_largest(database: Bench) -> None:
    table = pa.table(
        {
            "item": ["full", "full", "over", "over"],
            "bad": pa.array([MOST - 1, 1, MOST, 1], pa.int64()),
            "good": pa.array([MOST, 0, 5, 5], pa.int64()),
        }
    )
    asked: dict[str, Any] = {"counts": ["bad", "good"], "q": 0.3}
    wanted = answers([("full",)], np.array([[MOST, MOST]]), (1.0, 2.0), q=0.3)
    check(database, table.slice(0, 2), wanted, **asked)
    source, where = database.load(table)
    words = r"the counts of an item add up to more than 2\*\*53 for one rating "
    with pytest.raises(
        uh.DataError, match=rf"{words}\(for example item='over'\)\. Keep each count"
    ):
        uh.rate(source, "item", **asked, **where)
    with pytest.raises(uh.DataError, match=words):
        uh.count_ratings(source, "item", counts=["bad", "good"], **where)


def test_more_people_than_the_largest_count(database: Bench) -> None:
    people = {"full": MOST, "over": MOST + 1}
    table = pa.table({"item": [*people], "rating": [1, 5], "guests": [*people.values()]})
    full, hotels = table.slice(0, 1), table.select(["item", "guests"])
    wanted = expected(full, ["item"], "rating", FIVE, q=0.3, n=MOST)
    ways: list[dict[str, Any]] = [
        {"n_column": "guests"},
        {"n_column": "guests", "n_table": hotels.slice(0, 1)},
    ]
    for asked in (*ways, {"n": MOST}):
        check(database, full, wanted, rating="rating", q=0.3, **asked)
    source, where = database.load(table)
    example = rf"\(for example item='over', (n_high|guests)={MOST + 1}\)"
    words = rf"n is not a whole number of people up to 2\*\*53( for 1 item)? {example}"
    for asked in ({"n_column": "guests"}, {"n_column": "guests", "n_table": hotels}):
        with pytest.raises(uh.PopulationError, match=words):
            uh.rate(source, "item", "rating", q=0.3, **asked, **where)


@pytest.mark.parametrize("n", [MOST + 1, MOST + 2, 2.0**54, 10**400])
def test_one_number_of_people_above_the_largest_count(n: float) -> None:
    with pytest.raises(
        uh.PopulationError, match=r"^n must be a whole number of people, at most 2\*\*53; got"
    ):
        uh.rate(ratings(38), "item", "rating", q=0.3, n=n)


def test_strata(database: Bench) -> None:
    table = ratings(16)
    wing = ["east" if i % 4 else "west" for i in range(table.num_rows - 1)] + ["east"]
    table = table.append_column("wing", pa.array(wing))
    parts = expected(table, ["item", "wing"], "rating", FIVE, q=0.2)
    n = {key: 3 * row["n_ratings"] + (40 if key[1] == "west" else 2) for key, row in parts.items()}
    parts = expected(table, ["item", "wing"], "rating", FIVE, q=0.2, n=n)
    source, where = database.load(
        table.append_column(
            "rooms", pa.array([n[k] for k in zip(table["item"].to_pylist(), wing, strict=True)])
        )
    )
    result = database.rows(
        uh.rate(source, "item", "rating", q=0.2, n_column="rooms", strata="wing", **where)
    )
    for row in result.to_pylist():
        mine = [(n[key], part) for key, part in parts.items() if key[0] == row["item"]]
        size = sum(k for k, _ in mine)
        assert row["n"] == size
        assert row["n_ratings"] == sum(part["n_ratings"] for _, part in mine)
        for name in ("estimate", "lower", "upper"):
            assert row[name] == pytest.approx(sum(k * p[name] for k, p in mine) / size, rel=1e-12)
        keys = [key for key in parts if key[0] == row["item"]]
        held = zip(table["item"].to_pylist(), wing, table["rating"].to_pylist(), strict=True)
        given = Counter(((item, w), rating) for item, w, rating in held)
        cells = np.array([[given[key, v] for v in FIVE] for key in keys])
        whole = together(cells[None], np.array([n[key] for key in keys], float), q=0.2)
        assert row["ci_lower"] == pytest.approx(float(whole.ci_lower[0]), rel=1e-12)
        assert row["ci_upper"] == pytest.approx(float(whole.ci_upper[0]), rel=1e-12)
        assert set(row["notes"].split()) == {f for _, p in mine for f in p["notes"].split()}
    sizes = pa.table(
        {
            "item": [item for item, _ in n],
            "wing": [wing for _, wing in n],
            "n": pa.array(list(n.values()), pa.int64()),
        }
    )
    source, where = database.load(table)
    again = database.rows(
        uh.rate(source, "item", "rating", q=0.2, n_table=sizes, strata="wing", **where)
    )
    wanted = rows_by(result, ["item"])
    for key, row in rows_by(again, ["item"]).items():
        same(row, wanted[key], key)
