"""Items spread over machines are ranked exactly, and never brought together to be sorted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unheard as uh
from tests.tables.cases import FIVE, benches, check_order, counted
from tests.tables.engines import Bench, SparkBench
from tests.tables.oracle import answers, expected, with_order
from unheard.analysis.breakdown import find_breakdown
from unheard.analysis.ranking import adjust_level_for_items, rank_intervals
from unheard.tables import spread_ranks
from unheard.tables.engines.spark import Spark
from unheard.tables.spread_ranks import Ends

LEVEL = 0.95
SPARK = pytest.mark.parametrize("engine", benches(("spark",)), indirect=True)


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 4)).map(lambda t: (t[0] / 8, sum(t) / 8)),
        min_size=1,
        max_size=30,
    )
)
def test_ranks_looked_up_are_those_of_all_pairs(bounds: list[tuple[float, float]]) -> None:
    lower, upper = np.array(bounds).T
    ends = Ends.sort(lower, upper)
    wanted = rank_intervals(lower, upper)
    for i, (low, high) in enumerate(bounds):
        assert wanted.best_rank[i] == 1 + np.count_nonzero(lower > high)
        assert wanted.worst_rank[i] == len(bounds) - np.count_nonzero(upper < low)
    np.testing.assert_array_equal(ends.best_rank(upper), wanted.best_rank)
    np.testing.assert_array_equal(ends.worst_rank(lower), wanted.worst_rank)
    np.testing.assert_array_equal(ends.tier(upper), wanted.tier)


def test_what_is_missing_has_no_rank() -> None:
    ends = Ends.sort(np.array([1.0, 2.0]), np.array([1.5, 3.0]))
    np.testing.assert_array_equal(ends.best_rank(np.array([np.nan, 1.5])), [np.nan, 2])
    np.testing.assert_array_equal(ends.worst_rank(np.array([2.0, np.nan])), [1, np.nan])


@pytest.fixture
def plans(engine: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Physical plans of all queries, on an engine that has reason to spread its rows."""
    assert isinstance(engine, SparkBench)
    made: list[str] = []
    original = Spark.sql

    def watched(self: Spark, query: Any) -> Any:
        frame = original(self, query)
        made.append(frame._jdf.queryExecution().executedPlan().toString())
        return frame

    monkeypatch.setattr(Spark, "sql", watched)
    before = engine.spark.conf.get("spark.sql.shuffle.partitions")
    assert before is not None
    engine.spark.conf.set("spark.sql.shuffle.partitions", "3")
    yield made
    engine.spark.conf.set("spark.sql.shuffle.partitions", before)


def check_spread(plans: list[str]) -> None:
    """Only totals come together in one place: one row for each partition of the rows."""
    single = 0
    for plan in plans:
        lines = plan.splitlines()
        for line, below in zip(lines, [*lines[1:], ""], strict=True):
            if "SinglePartition" in line:
                single += 1
                assert "HashAggregate(keys=[], functions=[partial_" in below, plan
            window = re.search(r"Window \[.*\], \[(.*?)\], \[", line)
            assert ("Window [" in line) == (window is not None), line
            assert window is None or "," in window[1] or "#" in window[1], line
    assert single, "no total was taken"


def long_tail() -> pa.Table:
    """Items with few ratings, so that many have the same bounds, and two with many."""
    rng = np.random.default_rng(71)
    rows = [(f"tail {i}", int(r)) for i in range(24) for r in rng.choice([2, 4, 5], 1 + i % 2)]
    rows += [("worst", int(r)) for r in rng.choice(5, 300, p=[0.8, 0.1, 0.05, 0.03, 0.02]) + 1]
    rows += [("best", int(r)) for r in rng.choice(5, 400, p=[0, 0, 0.02, 0.1, 0.88]) + 1]
    return pa.table({"item": [name for name, _ in rows], "rating": [r for _, r in rows]})


@SPARK
@pytest.mark.parametrize("most", [spread_ranks.MOST_LOOKED_UP, 0], ids=["looked up", "in ranges"])
def test_ranks_with_ties(
    engine: Bench, plans: list[str], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread_ranks, "MOST_LOOKED_UP", most)
    table = long_tail()
    keys, cells = counted(table)
    levels = (LEVEL, adjust_level_for_items(LEVEL, len(keys)))
    rows, joint = (answers(keys, cells, FIVE, q=0.7, level=x) for x in levels)
    wanted = with_order(rows, 3, joint, find_breakdown(cells, above=3.0))
    assert len({row["average_rank"] for row in wanted.values()}) < len(keys) / 2
    assert len({row["tier"] for row in wanted.values()}) > 1
    check_order(engine, table, wanted, rating="rating", q=0.7, k=3, above=3.0)
    check_spread(plans)
    assert any("Window [" in plan for plan in plans) == (not most)


@SPARK
def test_ranks_within_groups(engine: Bench, plans: list[str]) -> None:
    table = long_tail()
    rows = table.to_pylist()
    clean = [None if row["item"] == "tail 3" else 6 - row["rating"] for row in rows]
    table = table.append_column("clean", pa.array(clean))
    wanted = {}
    for name in ("rating", "clean"):
        rated = expected(table, ["item"], name, FIVE, q=0.6, level=None)
        assert rated["tail 3",]["n_ratings"] == (0 if name == "clean" else 2)
        for key, row in with_order(rated, 2, None).items():
            wanted[(*key, name)] = row
    wanted["tail 3", "clean"]["notes"] = "no_ratings rows_dropped"
    asked: dict[str, Any] = {"q": 0.6, "k": 2, "level": None, "nulls": "drop"}
    with pytest.warns(uh.TableWarning, match="rows without a rating were left out"):
        check_order(engine, table, wanted, rating=["rating", "clean"], **asked)
    check_spread(plans)
