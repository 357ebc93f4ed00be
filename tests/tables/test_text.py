"""Queries as text, for people to run elsewhere."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import unheard as uh
from tests.tables.oracle import expected, rows_by, same
from tests.tables.stays import COLUMNS, FIVE, HOTELS, STAYS, WANTED
from unheard.tables.sql.dialects import DIALECTS
from unheard.tables.sql.explicit_columns import count_rounds

ASKED: list[dict[str, Any]] = [
    {"q": 0.3},
    {"q": 0.3, "n_column": "guests", "view": "best.rated"},
    {"floor": 0.3, "n": 900, "method": "bea", "level": None},
    {"q": 0.2, "quiet": "low", "n_table": "people", "strata": ["wing"]},
    {"q_table": "voices", "time": "day", "window": "month", "text_ratings": True, "level": None},
    {"q": 0.3, "scale": "1:20", "level": None, "ranks": False, "nulls": "nonresponse"},
]

NO_ERROR = {"ci_best_rank": None, "ci_worst_rank": None}
"""Ranks that allow for sampling error need the number of items, which a view does not know."""


# DataFusion itself reads its own in test_text_on_engines.py.
@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "datafusion"])
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_text_can_be_parsed(dialect: str, asked: dict[str, Any]) -> None:
    text = uh.write_sql("hotel", "stars", dialect=dialect, table="stays", **asked)
    assert text.startswith("-- ")
    assert text.endswith(";\n")
    assert text.count(";") == 1, "tools split statements at any semicolon"
    tree = sqlglot.parse_one(text, dialect=dialect)
    assert isinstance(tree, exp.Create) is ("view" in asked)
    query = tree.expression if isinstance(tree, exp.Create) else tree
    assert isinstance(query, exp.Select)
    window = ["window_start", "window_end"] if "window" in asked else []
    assert query.named_selects == ["hotel", *window, *COLUMNS]
    assert any(table.name == "stays" for table in tree.find_all(exp.Table))


LINES: list[tuple[dict[str, Any], tuple[int, int]]] = [
    ({}, (340, 340)),
    ({"n_column": "guests"}, (440, 450)),
    ({"n_column": "guests", "quiet": "low"}, (460, 460)),
    ({"n_column": "guests", "strata": "wing"}, (500, 550)),
]
"""How many lines a text may have, and how many for Spark, which must be told some columns."""

LONG: list[tuple[dict[str, Any], tuple[int, int]]] = [
    ({}, (800, 950)),
    ({"n_column": "guests", "quiet": "high"}, (1050, 1200)),
    ({"n_column": "guests", "quiet": "middle"}, (1150, 1400)),
    ({"n_column": "guests", "strata": "wing", "quiet": "low"}, (1150, 1650)),
    ({"n_column": "guests", "strata": "wing", "q": None, "floor": 0.3}, (1350, 1900)),
]
"""What a scale of 0 to 100 may take: steps along the scale are written once, not once a rating."""


LONGEST = ("mysql", "postgres", "spark", "tsql")
"""Dialects whose texts are the longest, beside which the others need not be counted."""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_text_is_short_enough_to_be_reviewed(dialect: str) -> None:
    long = [({"scale": "0:100", **asked}, most) for asked, most in LONG]
    for asked, most in [*LINES, *(long if dialect in LONGEST else [])]:
        text = uh.write_sql("hotel", "stars", dialect=dialect, table="stays", **{"q": 0.3, **asked})
        lines = text.splitlines()
        assert len(lines) <= most[dialect in ("spark", "databricks")], asked
        assert max(map(len, lines)) <= 105, asked


@pytest.mark.parametrize("quiet", ["any", "low", "middle"])
def test_long_texts_leave_spark_enough_rounds(quiet: str) -> None:
    """Its analyzer gives up after a hundred; 96 by our count were 98, in a view as well."""
    asked: dict[str, Any] = {"q": 0.3, "quiet": quiet, "n_column": "guests", "scale": "0:100"}
    text = uh.write_sql("hotel", "stars", dialect="spark", table="stays", **asked)
    steps = sqlglot.parse_one(text, dialect="spark").find_all(exp.CTE)
    assert sum(map(count_rounds, steps)) <= 96
    assert "maxIterations" not in text


def test_a_text_with_too_many_rounds_says_what_to_set() -> None:
    asked: dict[str, Any] = {"q": 0.3, "strata": "wing", "n_column": "guests", "scale": "0:100"}
    text = uh.write_sql("hotel", "stars", dialect="databricks", table="stays", **asked)
    head, _, _ = text.partition("WITH ")
    assert "SET spark.sql.analyzer.maxIterations = 200" in head.replace("\n-- ", " ")


def test_calls_and_cases_stay_on_a_line() -> None:
    text = uh.write_sql("hotel", "stars", dialect="postgres", table="stays", q=0.3)
    assert not re.search(r"GREATEST\(\w+ - \w+,$", text, re.MULTILINE)
    assert not re.search(r"\bCASE$", text, re.MULTILINE)


def test_rows_that_items_are_combined_with_are_named() -> None:
    def steps(**asked: Any) -> dict[str, str]:
        text = uh.write_sql("hotel", "stars", dialect="duckdb", table="stays", q=0.3, **asked)
        return dict(re.findall(r"(\w+) AS (?:MATERIALIZED )?\(\s*/\* (.*?) \*/", text))

    assert steps()["uh_rated_ends"] == "Both ends of the scale, a row for each."
    assert "as seen from both ends" in steps(scale="0:10")["uh_rated_scale"]
    strata = steps(scale="0:10", n_column="guests", strata="wing", quiet="low")
    assert strata["uh_combined_scale"] == "The scale, a row for each rating."


def test_ends_of_a_long_scale_are_no_union() -> None:
    """DuckDB plans two hundred SELECTs of numbers in half a second."""
    text = uh.write_sql("hotel", "stars", dialect="duckdb", table="stays", q=0.3, scale="0:100")
    assert text.count("UNION ALL") == 1
    assert "FROM (VALUES ('lower', 1, 1, " in text


@pytest.mark.parametrize("asked", [{}, {"n_column": "guests"}, {"scale": "0:10"}], ids=str)
def test_columns_have_names_that_say_what_they_are(asked: dict[str, Any]) -> None:
    text = uh.write_sql("hotel", "stars", dialect="duckdb", table="stays", q=0.3, **asked)
    names = {re.sub(r"_\d+$", "", name) for name in re.findall(r"\bAS (uh_\w+)", text)}
    assert names >= {"uh_bound", "uh_above", "uh_below", "uh_sd", "uh_excess", "uh_t1"}
    assert not [name for name in names if re.fullmatch(r"uh_(x|part|column)", name)]
    steps = re.findall(r"/\* Search for the confidence limit: step (\d) of 5\. \*/", text)
    assert steps == ["1", "2", "3", "4", "5"]
    assert "95% confidence interval" in text
    said = re.findall(r"^\), uh_rated_[1-9]\d* AS \( ?(/\*.+\*/)?$", text, re.MULTILINE)
    assert said.count("") <= len(said) / 10, "steps say what they work out"
    # What has no name of its own is called after what it is part of; that should be the exception.
    parts = {name for name in names if name.endswith("_part")}
    assert len(parts) <= (len(names) - len(parts)) / 4


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    "asked", [{"q": 0.3}, {"q": 0.1, "quiet": "middle", "level": 0.9}, {"floor": 0.1, "n": 400}]
)
def test_text_for_a_long_scale(dialect: str, asked: dict[str, Any]) -> None:
    """Sums over a long scale are sums over rows; on a short one they are written out."""
    values = tuple(map(float, range(12)))
    rng = np.random.default_rng(3)
    stars = rng.choice(12, STAYS.num_rows, p=np.arange(12) / 66)
    table = STAYS.set_column(1, "stars", pa.array(stars, pa.int64()))
    table = table.append_column("guests", pa.array([0] * table.num_rows))
    text = uh.write_sql(
        "hotel", "stars", dialect=dialect, table="stays", view="rated", scale="0:11", **asked
    )
    found = rows_by(run_view(dialect, text, table), ["hotel"])
    n = dict.fromkeys(found, asked["n"]) if "n" in asked else None
    stated = {name: value for name, value in asked.items() if name != "n"}
    wanted = expected(table, ["hotel"], "stars", values, n=n, **stated)
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row | NO_ERROR, key)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("postgress", "Did you mean postgres\\?"),
        ("big-query", "Did you mean bigquery\\?"),
        ("oracle", "Choose one of bigquery"),
    ],
)
def test_unknown_dialect(given: str, words: str) -> None:
    with pytest.raises(uh.OptionError, match=f"dialect is not supported; got '{given}'.*{words}"):
        uh.write_sql("hotel", "stars", dialect=given, q=0.3)


def test_text_refuses_what_rate_refuses() -> None:
    with pytest.raises(uh.AssumptionError):
        uh.write_sql("hotel", "stars", dialect="duckdb", q=1.5)
    with pytest.raises(uh.ColumnError, match="rating and counts cannot be combined"):
        uh.write_sql("hotel", "stars", counts=["a", "b"], dialect="duckdb", q=0.3)
    with pytest.raises(uh.OptionError, match=r"^table has more than three parts; got 'a\.b\.c\.d'"):
        uh.write_sql("hotel", "stars", dialect="duckdb", q=0.3, table="a.b.c.d")


def test_rows_without_an_item_are_left_out() -> None:
    """Neither they nor the same rows of a second table take a place in anybody's rank."""
    hotels, days = ["A", None, "B", "A"], ["2024-01-01", "2024-01-01", "2024-01-02", None]
    table = pa.table({"hotel": hotels, "stars": [5, 4, 2, 4], "day": days})
    people = pa.table({"hotel": ["A", "B", None], "n": [9, 9, 9]})
    with duckdb.connect() as connection:
        connection.register("stays", table)
        connection.register("people", people)

        def find(*names: str, **asked: Any) -> list[Any]:
            text = uh.write_sql("hotel", "stars", dialect="duckdb", table="stays", q=0.3, **asked)
            return sorted(connection.sql(text).select(*names).fetchall())

        assert find("hotel", "worst_rank") == [("A", 1), ("B", 2)]
        assert find("hotel", "worst_rank", n_table="people") == [("A", 1), ("B", 2)]
        assert find("hotel", "n_ratings", time="day", window="week") == [("A", 1), ("B", 1)]


def run_view(dialect: str, text: str, table: pa.Table) -> list[dict[str, Any]]:
    if dialect == "duckdb":
        with duckdb.connect() as connection:
            connection.register("stays", table)
            connection.execute(text)
            rows: list[dict[str, Any]] = connection.sql("from rated").to_arrow_table().to_pylist()
            return rows
    connection_ = sqlite3.connect(":memory:")
    connection_.execute("create table stays (hotel text, stars integer, guests integer)")
    given = [tuple(row.values()) for row in table.to_pylist()]
    connection_.executemany("insert into stays values (?, ?, ?)", given)
    connection_.executescript(text)
    cursor = connection_.execute("select * from rated")
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    connection_.close()
    return rows


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("name", ["counts", "people", "rated"])
def test_text_for_tables_named_like_steps_of_ours(dialect: str, name: str) -> None:
    text = uh.write_sql("hotel", "stars", dialect=dialect, table=name, q=0.3)
    columns = ", ".join(["hotel", *COLUMNS])
    if dialect == "duckdb":
        with duckdb.connect() as connection:
            connection.execute(f'create table "{name}" as from STAYS')
            rows: list[Any] = connection.execute(text).fetchall()
    else:
        connection_ = sqlite3.connect(":memory:")
        connection_.execute(f'create table "{name}" (hotel text, stars integer)')
        given = [tuple(row.values()) for row in STAYS.to_pylist()]
        connection_.executemany(f'insert into "{name}" values (?, ?)', given)
        rows = connection_.execute(text).fetchall()
        connection_.close()
    found = rows_by([dict(zip(columns.split(", "), row, strict=True)) for row in rows], ["hotel"])
    assert found.keys() == WANTED.keys()
    for key, row in WANTED.items():
        same(found[key], row | NO_ERROR, key)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_view(dialect: str) -> None:
    people = {"Astoria": 300, "Bellevue": 10, "Central": 900, "Drei Eichen": 70}
    guests: list[int | None] = [people[hotel] for hotel in STAYS["hotel"].to_pylist()]
    guests[STAYS["hotel"].to_pylist().index("Astoria")] = None
    table = STAYS.append_column("guests", pa.array(guests, pa.int64()))
    stars = STAYS["stars"].to_pylist()
    at = [i for i, hotel in enumerate(STAYS["hotel"].to_pylist()) if hotel == "Central"]
    stars[at[0]], stars[at[1]] = 9, None
    table = table.set_column(1, "stars", pa.array(stars, pa.int64()))
    text = uh.write_sql("hotel", "stars", dialect=dialect, table="stays", view="rated", q=0.3)
    found = rows_by(run_view(dialect, text, table), ["hotel"])
    wanted = expected(table, ["hotel"], "stars", FIVE, q=0.3)
    wanted["Central",]["notes"] = "rows_dropped"
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row | NO_ERROR, key)
    text = uh.write_sql(
        *("hotel", "stars"), dialect=dialect, table="stays", view="rated", q=0.3, n_column="guests"
    )
    found = rows_by(run_view(dialect, text, table), ["hotel"])
    notes = {key[0]: row["notes"].split() for key, row in found.items()}
    assert [name for name in HOTELS if "n_dropped" in notes[name]] == ["Astoria", "Bellevue"]
    assert [name for name in HOTELS if "rows_dropped" in notes[name]] == ["Central"]
    n = {(name,): people[name] for name in ("Central", "Drei Eichen")}
    rest = table.filter(pa.compute.greater(table["hotel"], "C"))
    for key, row in expected(rest, ["hotel"], "stars", FIVE, q=0.3, n=n).items():
        for name in ("n", "estimate", "lower", "upper", "ci_lower", "ci_upper"):
            assert found[key][name] == pytest.approx(row[name], rel=1e-12)
