"""Names that queries make up never meet a name of the user's, whatever the user's names are."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

import unheard as uh
from tests.tables.engines import Bench, bench
from tests.tables.oracle import same
from tests.tables.stays import DATABASES, with_q
from unheard.report.report_data import gather_report_data
from unheard.tables import public_functions, rank
from unheard.tables.audit_table import Layout, read_audit
from unheard.tables.engines import base
from unheard.tables.pipeline import prepare, read_request
from unheard.tables.request import ORDER_COLUMNS, RESULT_COLUMNS, WITHIN_COLUMNS, add_order
from unheard.tables.sources import inspection
from unheard.tables.sources.open import Where, open_source
from unheard.tables.sql import dialects
from unheard.tables.sql.reserved_names import PREFIX, is_reserved, plain
from unheard.tables.top_k import find_item_breakdown

ONCE_WRONG = [
    *("place", "passed", "lowers", "is_lower", "opened", "p_0_0", "p_0_n", "c_0_1", "sum_0"),
    *("x_place", "x_last", "x1", "n_rows", "n_null", "bucket", "count_1", "n_low", "counts"),
    *("people", "grouped", "balance", "note_refuted", "estimate_rank", "q", "many"),
]
"""Names that queries once gave to columns and tables of their own."""

ITEMS = 5


def stays(size: int = 160) -> pa.Table:
    """Ratings of a few hotels, bad to good, with everything that can be asked about."""
    rng = np.random.default_rng(40)
    hotel = np.arange(size) % ITEMS
    stars, clean = (
        np.clip(np.round(rng.normal(1.6 + 0.7 * hotel, 0.8)), 1, 5).astype(np.int64)
        for _ in range(2)
    )
    return pa.table(
        {
            "hotel": pa.array(hotel, pa.int64()),
            "stars": stars,
            "clean": clean,
            "wing": ["ew"[i // ITEMS % 2] for i in range(size)],
            "who": [f"p{i // ITEMS // 2}" for i in range(size)],
            "day": [date(2024, 1 + i % 3, 1 + i // ITEMS % 28) for i in range(size)],
            "guests": pa.array(900 + hotel, pa.int64()),
            "voice": 0.2 + hotel / 20,
        }
    )


STAYS = stays()
EACH = STAYS.slice(0, ITEMS)
PEOPLE, VOICES = EACH.select(["hotel", "guests"]), EACH.select(["hotel", "voice"])

LATEST: dict[str, Any] = {"rater": "who", "time": "day", "duplicates": "latest"}
MONTHS: dict[str, Any] = {"time": "day", "window": "2 months", "every": "month"}
BEA: dict[str, Any] = {"n_column": "guests", "q_column": "voice", "method": "bea", "strata": "wing"}
TABLES: dict[str, Any] = {
    "n_column": "guests",
    "n_table": PEOPLE,
    "q_column": "voice",
    "q_table": VOICES,
}

ASKED: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (rank, {"rating": "stars", "q": 0.3, "k": 2, "above": 3.0, **LATEST}),
    (uh.rate, {"rating": ["stars", "clean"], **BEA, **MONTHS}),
    (uh.rate, {"rating": "stars", "scale": "1:13", "level": None, **TABLES}),
]
"""Together these take every way through the queries that rate."""


def ask(call: Callable[..., Any], source: Any, item: Any, **asked: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uh.TableWarning)
        return call(source, item, **asked)


# What queries are made of.


def names_in(query: exp.Expr) -> Iterator[str]:
    """Yield every name that a query gives to a column, a step or a table."""
    for node in query.walk():
        if isinstance(node, exp.Alias):
            yield node.alias
        elif isinstance(node, exp.TableAlias):
            yield from (node.name, *(one.name for one in node.columns))


def written(run: Callable[[], Any]) -> set[str]:
    """Return the names in all queries that are written while something runs."""
    names: set[str] = set()

    def watch(query: exp.Expr, *given: Any, **more: Any) -> str:
        names.update(names_in(query))
        return dialects.render(query, *given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "render", watch)
        patch.setattr(public_functions, "render", watch)
        run()
    return names


def look_at_it() -> None:
    opened = open_source(STAYS, None, Where())
    inspection.inspect(opened)
    opened.engine.close()


def look_at_the_order() -> None:
    request = add_order(read_request(item="hotel", rating="stars", q=0.3), k=2)
    job = prepare(STAYS, request, Where())
    find_item_breakdown(job, "4")
    gather_report_data(job, source="stays", command=None, title=None)
    job.close()


def audit() -> None:
    layout = Layout(item=("hotel",), rating=("stars",), answered="wing")
    yes_and_no = pa.array([int(wing == "e") for wing in STAYS["wing"].to_pylist()])
    read_audit(STAYS.set_column(3, "wing", yes_and_no), layout)


def write_text() -> None:
    uh.write_sql("hotel", "stars", dialect="duckdb", q=0.3, n_column="guests", level=None, **MONTHS)
    uh.write_sql("hotel", "stars", dialect="duckdb", q_table="q", n_table="n", level=None)
    uh.write_sql(
        "hotel",
        "stars",
        dialect="duckdb",
        floor=0.3,
        n_column="n",
        method="bea",
        level=None,
        ranks=False,
    )


RUNS: dict[str, Callable[[], Any]] = {
    **{
        f"asked {i}": partial(ask, call, STAYS, "hotel", **asked)
        for i, (call, asked) in enumerate(ASKED)
    },
    "counted": lambda: uh.rate(STAYS, "hotel", counts=["stars", "clean"], q=0.3, **MONTHS),
    "silent": lambda: ask(uh.rate, STAYS, "hotel", rating="stars", q=0.3, nulls="nonresponse"),
    "inspected": look_at_it,
    "order": look_at_the_order,
    "audited": audit,
    "text": write_text,
    "counts": lambda: uh.count_ratings(STAYS, "hotel", "stars"),
}


@cache
def names_of(run: str) -> set[str]:
    return written(RUNS[run])


def reserved_names(*runs: str) -> list[str]:
    """Return the names made up in some runs; of those with numbers, t_2 to t_99, none."""
    names = set().union(*map(names_of, runs or RUNS))
    return sorted(x for x in names if is_reserved(x) and not re.search(r"[2-9]$|\d\d$", x))


@pytest.mark.parametrize("run", RUNS)
def test_every_name_is_reserved_or_promised_or_the_users(run: str) -> None:
    promised = {*RESULT_COLUMNS, *ORDER_COLUMNS, *WITHIN_COLUMNS}
    if run == "counts":
        promised = {*(f"count_{v}" for v in range(1, 6)), "n_rows", "n_null"}
    names = names_of(run)
    assert any(map(is_reserved, names))
    assert {name for name in names if not is_reserved(name)} <= promised | {"hotel", "wing"}


def test_the_names_are_those_that_were_once_in_the_way() -> None:
    # Meant to fail if the runs above no longer reach these parts of a query.
    reached = {plain(name) for name in reserved_names()}
    assert reached > {
        *("place", "passed", "lowers", "is_lower", "opened", "packed_0_0", "bound"),
        *(
            "recency",
            "last_bucket",
            "seen_1",
            "n_rows",
            "n_null",
            "bucket",
            "count_1",
            "n_low",
            "sum_lower",
        ),
        *("counts", "people", "grouped", "balance", "note_refuted", "estimate_rank", "q", "many"),
    }


# What users may call their columns.


def named_by(table: pa.Table, names: list[str], turn: int, unnamed: list[str]) -> pa.Table:
    """Name each hotel by many columns, every other one text, and add columns nobody asks for."""
    numbers = table["hotel"].to_pylist()
    texts = pa.array([f"h{number}" for number in numbers])
    keys = {name: texts if (at + turn) % 2 else numbers for at, name in enumerate(names)}
    others = {name: table[name] for name in table.column_names if name != "hotel"}
    strangers = {name: [7] * table.num_rows if turn else ["x"] * table.num_rows for name in unnamed}
    return pa.table(keys | others | strangers)


@cache
def with_neutral_names(index: int) -> dict[Any, dict[str, Any]]:
    call, asked = ASKED[index]
    return {_key(row, "hotel"): row for row in ask(call, STAYS, "hotel", **asked).to_pylist()}


def _key(row: dict[str, Any], name: str) -> tuple[Any, ...]:
    return (int(str(row[name]).lstrip("h")), *(row.get(within) for within in WITHIN_COLUMNS))


WAYS = [(0, 0), (0, 1), (1, 0), (2, 1)]


@pytest.mark.parametrize(
    ("name", "index", "turn"),
    [
        *((name, *way) for name in ("duckdb", "sqlite", "postgres") for way in WAYS),
        ("duckdb-relation", 0, 0),
        pytest.param("spark", 0, 0, marks=pytest.mark.xdist_group("spark")),
    ],
)
def test_items_may_have_any_other_name(name: str, index: int, turn: int) -> None:
    engine: Bench = bench(name)
    reserved = reserved_names(f"asked {index}", "text")
    promised = {*RESULT_COLUMNS, *ORDER_COLUMNS, *WITHIN_COLUMNS}
    names = sorted({*map(plain, reserved), *ONCE_WRONG} - promised)
    if turn:
        names = [one.upper() for one in names]
    call, asked = ASKED[index]
    asked = asked | {
        key: named_by(table, names, turn, reserved)
        for key, table in asked.items()
        if isinstance(table, pa.Table)
    }
    source, where = engine.load(named_by(STAYS, names, turn, reserved))
    found = engine.rows(ask(call, source, names, **asked, **where))
    wanted = with_neutral_names(index)
    rows = {_key(row, names[0]): row for row in found.to_pylist()}
    assert rows.keys() == wanted.keys()
    for key, row in wanted.items():
        same(rows[key], {one: value for one, value in row.items() if one != "hotel"}, key)
        assert all(int(str(rows[key][one]).lstrip("h")) == key[0] for one in names)


@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_one_by_one(name: str) -> None:
    engine = bench(name)
    call, asked = ASKED[0]
    for turn, one in enumerate(["place", "Place", *ONCE_WRONG[1:9]]):
        source, where = engine.load(named_by(STAYS, [one], turn, []))
        found = engine.rows(ask(call, source, one, **asked, **where))
        rows = {_key(row, one): row for row in found.to_pylist()}
        for key, row in with_neutral_names(0).items():
            same(rows[key], {x: value for x, value in row.items() if x != "hotel"}, (one, key))


# What is refused.


def test_reserved_names_are_refused_as_items() -> None:
    for name in reserved_names():
        for spelled in (name, name.upper(), name.capitalize()):
            words = rf"begins with {PREFIX}, which is reserved for the query; got '{spelled}'"
            with pytest.raises(uh.ColumnError, match=words) as raised:
                uh.rate(STAYS, spelled, "stars", q=0.3)
            assert raised.value.argument == "item"


@pytest.mark.parametrize(
    ("place", "asked"),
    [
        ("item", {"item": ["hotel", "UH_x"]}),
        ("rating", {"rating": "UH_x"}),
        ("rating", {"rating": ["stars", "UH_x"]}),
        ("counts", {"rating": None, "counts": ["a", "UH_x"]}),
        ("strata", {"strata": "UH_x", "n": 900}),
        ("rater", {"rater": "UH_x"}),
        ("time", {"time": "UH_x", "window": "month"}),
        ("n_column", {"n_column": "UH_x"}),
        ("n_column", {"n_column": "UH_x", "n_table": PEOPLE}),
        ("q_column", {"q_column": "UH_x"}),
        ("q_column", {"q_column": "UH_x", "q_table": VOICES}),
    ],
    ids=str,
)
def test_reserved_names_are_refused_everywhere(place: str, asked: dict[str, Any]) -> None:
    given: dict[str, Any] = {"item": "hotel", "rating": "stars"} | with_q(asked)
    words = r"begins with uh_, which is reserved for the query; got 'UH_x'\. Rename the column"
    with pytest.raises(uh.ColumnError, match=words) as raised:
        uh.rate(STAYS, **given)
    assert raised.value.argument == place
    if place == "rater":
        return  # text for a warehouse counts no raters
    tables: dict[str, Any] = {x: "people" for x in ("n_table", "q_table") if x in given}
    with pytest.raises(uh.ColumnError, match=words):
        uh.write_sql(**given | tables, dialect="postgres")


@DATABASES
def test_reserved_names_are_refused_for_tables(tmp_path: Path, database: Any) -> None:
    given = STAYS.select(["hotel", "stars"])
    path = database(tmp_path / "one.db", uh_counts=given, ours=given)
    words = "begins with uh_, which is reserved for the query; got 'uh_counts'"
    with pytest.raises(uh.OptionError, match=words):
        uh.rate(path, "hotel", "stars", q=0.3, table="uh_counts")
    with pytest.raises(uh.OptionError, match=words) as raised:
        uh.rate(path, "hotel", "stars", q=0.3, table="ours", n_table="uh_counts")
    assert raised.value.argument == "n_table"
    for place in ("table", "n_table", "q_table"):
        asked: dict[str, Any] = {"q": 0.3, place: "uh_counts"}
        with pytest.raises(uh.OptionError, match=words) as raised:
            uh.write_sql("hotel", "stars", dialect="duckdb", **asked)
        assert raised.value.argument == place
    text = uh.write_sql("hotel", "stars", dialect="duckdb", q=0.3, table="main.uh_counts")
    assert "FROM main.uh_counts" in text


@pytest.mark.parametrize("spell", [str, str.upper, str.capitalize])
def test_promised_names_are_refused_as_items(spell: Callable[[str], str]) -> None:
    calls: list[tuple[Callable[..., Any], dict[str, Any], tuple[str, ...]]] = [
        (uh.rate, {"q": 0.3}, (*RESULT_COLUMNS, *WITHIN_COLUMNS)),
        (rank, {"q": 0.3}, (*RESULT_COLUMNS, *WITHIN_COLUMNS, *ORDER_COLUMNS)),
        (uh.count_ratings, {}, ("count_1", "count_5", "n_rows", "n_null", "estimate")),
    ]
    for call, asked, names in calls:
        for name in map(spell, names):
            with pytest.raises(uh.ColumnError, match=f"has the name of this column; got '{name}'"):
                call(STAYS, name, "stars", **asked)


def test_what_is_not_in_a_result_may_name_items() -> None:
    engine = bench("sqlite")
    wanted = uh.rate(STAYS, "hotel", "stars", q=0.3).to_pylist()
    names = ["tier", "top", "count_6"]
    for turn in (0, 1):
        source, where = engine.load(named_by(STAYS, names, turn, []))
        found = uh.rate(source, names, "stars", q=0.3, **where)
        for row, given in zip(found.to_pylist(), wanted, strict=True):
            same(row, {one: value for one, value in given.items() if one != "hotel"}, row)
