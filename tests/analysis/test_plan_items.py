"""Plans for many items: each as if it were alone, and the order in which to call them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unheard as uh
from unheard.analysis.call_order import allocate_calls, order_calls
from unheard.options.choices import Covers

RATINGS = ["r1", "r2", "r3", "r4"]
SCALE = [1, 2, 4, 8]


def draw_items(seed: int, many: int) -> pa.Table:
    """Items unlike each other: some that everybody rated, some that nobody did."""
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 70, many)
    people = rng.multinomial(n, rng.dirichlet([0.3, 0.5, 1.2, 2.5], many))
    rates = rng.uniform(0.05, 0.95, (many, 4)) ** rng.choice([0, 0.3, 1, 50], (many, 1))
    counts = rng.binomial(people, rates)
    columns = {name: counts[:, at] for at, name in enumerate(RATINGS)}
    return pa.table({"item": [f"i{at:03}" for at in range(many)], "n": n, **columns})


def plan(table: pa.Table, **options: Any) -> uh.Plans:
    asked: dict[str, Any] = {"counts": RATINGS, "n_column": "n", "scale": SCALE, "q": 0.4} | options
    return uh.plan_table(table, "item", **asked)


GOALS: list[dict[str, Any]] = [
    {"width": 0.9},
    {"above": 5},
    {"below": 3.3, "power": 0.95},
    {"width": 1.5, "nonrespondents": [4, 3, 2, 1]},
    {"above": 4.1, "nonrespondents": [0.1, 0.2, 0.3, 0.4]},
]


@pytest.mark.parametrize("covers", ["people", "mean"])
@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_every_item_is_planned_as_if_it_were_alone(goal: dict[str, Any], covers: Covers) -> None:
    table = draw_items(8, 25)
    plans = plan(table, covers=covers, **goal)
    for row, item, together in zip(table.to_pylist(), range(25), plans, strict=True):
        seen = [row[name] for name in RATINGS]
        alone = uh.plan_follow_up(seen, row["n"], q=0.4, scale=SCALE, covers=covers, **goal)
        assert together.n_nonrespondents == alone.n_nonrespondents
        assert together.now.notes == alone.now.notes
        assert together.now.ci_lower == pytest.approx(alone.now.ci_lower, rel=1e-12)
        assert together.now.ci_upper == pytest.approx(alone.now.ci_upper, rel=1e-12)
        for one, other in zip(together.scenarios, alone.scenarios, strict=True):
            assert (one.name, one.shows, one.ask) == (other.name, other.shows, other.ask)
            assert one.mean == pytest.approx(other.mean, rel=1e-12)
            assert one.nonrespondents == pytest.approx(other.nonrespondents, abs=1e-12)
        if alone.scenarios:
            name = "given" if "nonrespondents" in goal else "estimate"
            name = "worst" if "width" in goal and name == "estimate" else name
            (main,) = (one for one in alone.scenarios if one.name == name)
            assert plans.ask[item] == main.ask or (np.isnan(plans.ask[item]) and main.ask is None)


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    table = draw_items(4, 40)
    whole = plan(table, width=0.9)
    told: list[float] = []
    monkeypatch.setattr("unheard.analysis.plan.items_per_block", lambda _goal: 7)
    monkeypatch.setattr(
        "unheard.tables.plan_items.WorkProgress.tell", lambda _, at: told.append(at)
    )
    np.testing.assert_array_equal(plan(table, width=0.9).ask, whole.ask)
    assert told == sorted(told)
    assert told[-1] == 1


def test_own_q_for_each_item() -> None:
    table = draw_items(5, 12)
    q = np.linspace(0.2, 0.9, 12)
    plans = plan(table.append_column("q", pa.array(q)), q=None, q_column="q", above=5)
    for row, at, one in zip(table.to_pylist(), q, plans, strict=True):
        seen = [row[name] for name in RATINGS]
        alone = uh.plan_follow_up(
            seen, row["n"], q=float(at), scale=SCALE, covers="people", above=5
        )
        assert [other.ask for other in one.scenarios] == [other.ask for other in alone.scenarios]


def test_the_interval_is_for_the_people_at_hand() -> None:
    table = draw_items(6, 12)
    plans = plan(table, width=1e-9)
    assert plans.question.covers == "people"
    # Their mean is known once all have responded, and not before.
    open_ = plans.n_nonrespondents > 0
    np.testing.assert_array_equal(plans.ask[open_], plans.n_nonrespondents[open_])
    assert np.isnan(plan(table, width=1e-9, covers="mean").ask).all()


def test_status_and_sides() -> None:
    everybody = pa.table(
        {"item": ["every", "none", "some"], "n": [9, 6, 40]}
        | {"low": [4, 0, 3], "middle": [0, 0, 1], "high": [5, 0, 9]}
    )
    plans = uh.plan_table(
        everybody, "item", counts=["low", "middle", "high"], n_column="n", q=0.5, above=2
    )
    assert plans.status.tolist() == ["reached", "unreachable", "reachable"]
    # Without ratings the estimate is the middle of the scale, which is the threshold.
    assert plans.shows.tolist() == ["above", None, "above"]
    rows: Any = plans.to_dict()["rows"]
    assert [row["item"] for row in rows] == ["some", "every", "none"]
    assert [row["priority"] for row in rows] == [1, None, None]
    assert ["unreachable" in row["notes"] for row in rows] == [False, False, True]


@settings(max_examples=60)
@given(
    st.lists(st.one_of(st.integers(0, 9), st.none()), min_size=1, max_size=7),
    st.integers(0, 40),
)
def test_no_other_choice_takes_more_items_to_the_goal(
    needed: list[int | None], budget: int
) -> None:
    ask = np.array([np.nan if one is None else one for one in needed], float)
    order = order_calls(ask, np.arange(len(ask), 0.0, -1))
    calls = allocate_calls(budget, ask, order)
    assert calls.sum() <= budget
    assert set(calls[calls > 0].tolist()) <= set(ask.tolist())
    open_ = [one for one in needed if one]
    best = max(
        size
        for size in range(len(open_) + 1)
        if any(sum(chosen) <= budget for chosen in itertools.combinations(open_, size))
    )
    assert (calls > 0).sum() == best
    assert sorted(order.tolist()) == [at for at, one in enumerate(needed) if one]
    assert ask[order].tolist() == sorted(ask[order].tolist())


def test_of_equals_the_widest_interval_comes_first() -> None:
    assert order_calls(np.array([2.0, 2.0, 1.0]), np.array([0.5, 0.9, 0.1])).tolist() == [2, 1, 0]
