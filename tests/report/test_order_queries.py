"""What a report counts about the order, against counting by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unheard as uh
from tests.report.by_hand import count_by_hand
from tests.report.examples import COUNTS, NAMES, RATED, random_counts, report_about, table_of
from unheard.report.sentences import describe_data, describe_table, name_best


@pytest.mark.parametrize(
    ("counts", "settings", "k"),
    [
        (COUNTS, {"q": 0.6}, 2),
        (COUNTS, {"q": 0.95}, 2),
        (COUNTS, {"q": 0.3, "quiet": "low"}, 2),
        (random_counts(40), {"q": 0.5}, 10),
        (random_counts(40, seed=2), {"q": 0.9, "quiet": "high"}, 10),
    ],
)
def test_numbers(counts: dict[str, list[int]], settings: dict[str, Any], k: int) -> None:
    found = report_about(table_of(counts), **settings)
    assert found.k == k
    wanted = count_by_hand(counts, k=k, **settings)
    got = {name: getattr(found.numbers, name) for name in wanted}
    assert got == wanted
    cells = np.array(list(counts.values()))
    own = uh.estimate(cells, level=None, **settings)
    assert found.numbers.width == pytest.approx(float(np.mean(own.upper - own.lower)))
    assert found.numbers.fewest == cells.sum(axis=1).min()
    assert found.numbers.few == (cells.sum(axis=1) < 10).sum()


def test_people_and_claims() -> None:
    n = [400, 500, 500, 60, 90]
    found = report_about(table_of(COUNTS, n=n), q=0.4, n_column="n", above=3.5, k=3)
    cells = np.array(list(COUNTS.values()))
    own = uh.estimate(cells, 0.4, n=n)
    assert found.numbers.people == sum(n)
    assert found.numbers.claimed == sum(cells @ np.arange(1, 6) / cells.sum(axis=1) > 3.5)
    assert found.numbers.claim_holds == sum(own.lower > 3.5)
    assert found.numbers.ci_claim_holds == sum(own.ci_lower > 3.5)
    wanted = count_by_hand(COUNTS, 0.4, 3, n=n)
    assert {name: getattr(found.numbers, name) for name in wanted} == wanted


def test_below_counts_the_other_side() -> None:
    found = report_about(table_of(COUNTS), q=0.6, below=4)
    own = uh.estimate(list(COUNTS.values()), 0.6)
    assert found.numbers.claim_holds == sum(own.upper < 4)
    assert found.numbers.ci_claim_holds == sum(own.ci_upper < 4)


@pytest.mark.parametrize(("items", "k"), [(1, 1), (2, 1), (5, 2), (19, 9), (20, 10), (41, 10)])
def test_as_many_are_best_as_suit_the_table(items: int, k: int) -> None:
    found = report_about(table_of(random_counts(items)), q=0.5)
    assert found.k == k
    for row in found.rows:
        assert row["top"] == (
            "surely" if row["worst_rank"] <= k else "possibly" if row["best_rank"] <= k else "no"
        )


def test_rows_are_those_of_rank() -> None:
    found = report_about(table_of(COUNTS), q=0.6, k=2)
    ranked = uh.rank(table_of(COUNTS), "hotel", counts=NAMES, q=0.6, k=2).to_pylist()
    ranked.sort(key=lambda row: -row["ci_lower"])
    assert [row["hotel"] for row in found.rows] == [row["hotel"] for row in ranked]
    for row, wanted in zip(found.rows, ranked, strict=True):
        assert row == wanted | {"notes": wanted["notes"].split()}


def test_attributes_are_counted_each_on_its_own() -> None:
    found = report_about(RATED, rating=["stars", "clean"], q=0.5)
    assert (found.numbers.items, found.numbers.pairs, found.k) == (4, 2, 1)
    alone = [report_about(RATED, rating=name, q=0.5).numbers for name in ("stars", "clean")]
    for name in ("settled", "pairs_settled", "sure"):
        assert getattr(found.numbers, name) == sum(getattr(one, name) for one in alone)
    assert found.numbers.different == 2
    assert "Items are ranked within each attribute." in found.headline
    assert {item.within for item in found.changed_items} == {"clean"}
    assert name_best(found) == []


def test_windows_are_counted_in_rows() -> None:
    found = report_about(RATED, rating="stars", q=0.5, time="day", window="month")
    assert (found.numbers.items, found.numbers.different) == (4, 2)
    assert " 4 ranks within windows " in found.headline[0]
    assert any(one.startswith("The rows have") for one in describe_data(found))
    assert max(row["tier"] for row in found.rows) == 2
    assert any("tiers" in one for one in found.meanings)
    assert describe_table(found).startswith(
        "54 ratings of 2 items (4 rows, one for each item and window)"
    )


def test_notes_are_counted() -> None:
    counts = {**COUNTS, "Fir": [0] * 5}
    found = report_about(table_of(counts, n=[400, 500, 500, 60, 90, 12]), q=0.5, n_column="n")
    own = uh.estimate(list(counts.values()), 0.5, n=[400, 500, 500, 60, 90, 12]).notes
    every = [note for notes in own for note in notes]
    assert found.notes == {note: every.count(note) for note in set(every)}
    assert found.notes["no_ratings"] == 1
    assert found.numbers.fewest == 0


def test_the_legend_names_the_columns_of_the_page() -> None:
    found = report_about(RATED, rating="stars", q=0.5, k=1)
    (said,) = (one for one in found.meanings if "95% confidence" in one)
    assert said.startswith("Rank range with sampling error: ")
    assert not any("*" in one for one in found.meanings)
