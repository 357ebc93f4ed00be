"""Every engine ranks as the definitions over all pairs of items do."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.cases import (
    ASSUMPTIONS,
    FIVE,
    cases,
    cells_of,
    check,
    check_order,
    counted,
    plain,
    ratings,
)
from tests.tables.engines import SQL_BENCHES, Bench
from tests.tables.oracle import answers, expected, rows_by, same, with_order
from unheard.analysis.breakdown import find_breakdown
from unheard.analysis.ranking import adjust_level_for_items
from unheard.analysis.shared_ranking import rank_shared
from unheard.tables import rank
from unheard.tables.pipeline import prepare, read_request
from unheard.tables.progress import Watched
from unheard.tables.sources.open import Where

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
        joint = answers(
            keys, cells, FIVE, level=adjust_level_for_items(level, len(keys)), **settings
        )
    found = None
    threshold = {name: claim[name] for name in ("above", "below") if name in claim}
    if threshold:
        stated = {name: v for name, v in assumption.items() if name not in ("q", "method")}
        found = find_breakdown(cells, n=people, **threshold, **stated)
        assert np.isnan(found).any()
        assert not np.isnan(found).all()
    with_order(wanted, claim.get("k"), joint, found)
    counts = [f"c{v}" for v in range(1, 6)]
    check_order(engine, table, wanted, counts=counts, **{"level": level} | claim | settings)


@pytest.mark.parametrize(
    ("sort", "by"),
    [(True, ("ci_lower", "estimate")), ("average", ("average",)), ("item", ())],
    ids=str,
)
def test_rows_come_as_the_command_lists_them(
    engine: Bench, sort: str | bool, by: tuple[str, ...]
) -> None:
    source, where = engine.load(ratings(40))
    found = engine.rows(uh.rate(source, "item", "rating", q=0.3, sort=sort, **where)).to_pylist()
    assert found == sorted(found, key=lambda row: (*(-row[name] for name in by), row["item"]))
    assert len(found) == 7


def test_order_of_attributes_and_months(database: Bench) -> None:
    table = ratings(31, size=900)
    when = [date(2024, 1 + i % 3, 1 + i % 28) for i in range(table.num_rows)]
    table = table.append_column("clean", pa.array(table["rating"].to_pylist()[::-1]))
    level = adjust_level_for_items(0.95, 7)
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
    check_order(database, table, wanted, rating=["rating", "clean"], **asked)


def test_order_of_items_that_nobody_rated(database: Bench) -> None:
    table = ratings(32)
    people = {"A": 40, "B": 60, "C": 90, "D": 5000, "E": 600, "F": 900, "alone": 3, "nobody": 12}
    hotels = pa.table({"item": list(people), "n": pa.array(list(people.values()), pa.int64())})
    keys = [(name,) for name in people]
    n = {(k,): v for k, v in people.items()}
    cells = cells_of(table, keys)
    levels = (0.95, adjust_level_for_items(0.95, len(people)))
    rows, joint = (answers(keys, cells, FIVE, q=0.5, n=n, level=x) for x in levels)
    found = find_breakdown(cells, n=list(people.values()), above=3.0)
    wanted = with_order(rows, 4, joint, found)
    check_order(database, table, wanted, rating="rating", n_table=hotels, q=0.5, k=4, above=3.0)


def test_order_with_strata(database: Bench) -> None:
    table = ratings(33)
    table = table.append_column("wing", pa.array(["ew"[i % 2] for i in range(table.num_rows)]))
    source, where = database.load(table)
    asked: dict[str, Any] = {"q": 0.5, "n": 1000, "strata": "wing"}
    with pytest.raises(uh.OptionError, match="above and strata cannot be combined"):
        rank(source, "item", "rating", **asked, above=3.0, **where)
    rated = database.rows(uh.rate(source, "item", "rating", **asked, **where))
    level = adjust_level_for_items(0.95, rated.num_rows)
    joint = database.rows(uh.rate(source, "item", "rating", **asked, level=level, **where))
    found = database.rows(rank(source, "item", "rating", **asked, k=2, **where))
    wanted = with_order(rows_by(rated, ["item"]), 2, rows_by(joint, ["item"]))
    for key, row in rows_by(found, ["item"]).items():
        got = {name: plain(value) for name, value in row.items()}
        same(got, {name: plain(value) for name, value in wanted[key].items()}, key)


def test_order_refused(database: Bench) -> None:
    source, where = database.load(ratings(34))
    with pytest.raises(uh.OptionError, match="k must be at most the number of items, 7; got 8"):
        rank(source, "item", "rating", q=0.3, k=8, **where)
    with pytest.raises(uh.OptionError, match="above must be on the scale, from 1 to 5; got 6"):
        rank(source, "item", "rating", q=0.3, above=6, **where)


def test_shared_participation(database: Bench) -> None:
    table = ratings(21, size=900)
    keys, cells = counted(table)
    question = uh.build_question(cells, 0.4, level=0.9)
    exact, noisy = (rank_shared(question, sampling_error=noise) for noise in (False, True))
    wanted = expected(table, ["item"], "rating", FIVE, q=0.4, level=0.9)
    for i, key in enumerate(keys):
        wanted[key] |= {
            "best_rank": exact.best_rank[i],
            "worst_rank": exact.worst_rank[i],
            "ci_best_rank": noisy.best_rank[i],
            "ci_worst_rank": noisy.worst_rank[i],
        }
    assert any(row["best_rank"] > 1 for row in wanted.values())
    check(database, table, wanted, rating="rating", q=0.4, level=0.9, shared=True)


@pytest.mark.parametrize("shared", [False, True])
def test_items_with_few_ratings_are_left_out(database: Bench, shared: bool) -> None:
    table = ratings(22)
    keys, cells = counted(table)
    least = int(np.sort(cells.sum(axis=1))[3])
    enough = {name for (name,), row in zip(keys, cells, strict=True) if row.sum() >= least}
    rows = table.filter(pa.array([name in enough for name in table["item"].to_pylist()]))
    asked: dict[str, Any] = {"rating": "rating", "q": 0.4, "shared": shared}
    wanted = rows_by(uh.rate(rows, "item", **asked), ["item"])
    with pytest.warns(uh.TableWarning, match="3 items with fewer than .* were left out"):
        check(database, table, wanted, min_ratings=least, **asked)


@pytest.mark.parametrize("shared", [False, True])
def test_ranking_in_memory_tells_how_far_it_is(shared: bool) -> None:
    watched: dict[str, Watched] = {}

    def watch(words: str, work: Watched) -> AbstractContextManager[None]:
        watched[words] = work
        return nullcontext()

    request = read_request(item="item", rating="rating", q=0.4, shared=shared)
    job = prepare(ratings(21), request, Where(), watch)
    # The engine knows nothing of its own about work that is over.
    assert job.opened.engine.fraction() is None
    assert watched["ranking"].fraction() == (1 if shared else None)
    job.close()
