"""Numbers of people that cannot be right, ties in time, and what is left out or doubtful."""

from __future__ import annotations

import warnings
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.cases import FIVE, check, ratings
from tests.tables.engines import Bench
from tests.tables.oracle import expected

TABLE = ratings(43)
NAMES = sorted(set(TABLE["item"].to_pylist()))
SEEN = {name: TABLE["item"].to_pylist().count(name) for name in NAMES}
SMALL, VARYING, MISSING, *RIGHT = NAMES


def with_n(missing: bool) -> pa.Table:
    """Give one item too small an n, one that varies and, if so asked, one without."""
    n: list[float | None] = []
    for index, name in enumerate(TABLE["item"].to_pylist()):
        value: float | None = 4.0 * SEEN[name]
        if name == SMALL:
            value = SEEN[name] - 1.0
        elif name == VARYING and index % 2:
            value = 4.0 * SEEN[name] + 3
        elif name == MISSING and missing:
            value = None
        n.append(value)
    return TABLE.append_column("people", pa.array(n, pa.float64()))


ASKED: list[dict[str, Any]] = [
    {"q": 0.3},
    {"floor": 0.2, "method": "bea"},
    {"q": 0.4, "quiet": "low", "covers": "people", "method": "average"},
]


@pytest.mark.parametrize("asked", ASKED, ids=["ratio", "bea", "people"])
def test_n_that_cannot_be_right_is_not_used(database: Bench, asked: dict[str, Any]) -> None:
    bad = {SMALL, VARYING, MISSING}
    people = {(name,): 4.0 * SEEN[name] for name in NAMES}
    settings = {name: value for name, value in asked.items() if name != "floor"}
    q = {"q": asked.get("q"), "floor": asked.get("floor")}
    wanted = expected(TABLE, ["item"], "rating", FIVE, **settings | q, n=people)
    # Without n, a floor says what the ratio of the same number says, and BEA does not apply.
    without = settings | {"q": asked.get("floor", asked.get("q")), "covers": "mean"}
    without["method"] = {"bea": "paa"}.get(asked.get("method", "paa"), asked.get("method", "paa"))
    unknown = expected(TABLE, ["item"], "rating", FIVE, **without)
    for name in bad:
        row = unknown[(name,)]
        wanted[(name,)] = row | {"notes": f"{row['notes']} n_dropped".strip()}
    for row in wanted.values():
        row.update(dict.fromkeys(("best_rank", "worst_rank", "ci_best_rank", "ci_worst_rank")))
    with pytest.warns(uh.TableWarning, match="n was not used for 3 of"):
        check(
            database, with_n(True), wanted, rating="rating", n_column="people", bad_n="drop",
            ranks=False, **asked,
        )  # fmt: skip


def test_n_that_cannot_be_right_is_raised(database: Bench) -> None:
    people = {(name,): 4.0 * SEEN[name] for name in NAMES}
    people |= {(SMALL,): float(SEEN[SMALL]), (VARYING,): 4.0 * SEEN[VARYING] + 3}
    wanted = expected(TABLE, ["item"], "rating", FIVE, q=0.3, n=people)
    for name in (SMALL, VARYING):
        row = wanted[(name,)]
        row["notes"] = f"{row['notes']} n_raised".strip()
    with pytest.warns(uh.TableWarning, match="n was raised for 2 of"):
        check(
            database, with_n(False), wanted, rating="rating", q=0.3, n_column="people",
            bad_n="raise",
        )  # fmt: skip
    source, where = database.load(with_n(True))
    with pytest.raises(uh.PopulationError, match=r"n is missing for 1 item.*bad_n='drop'"):
        uh.rate(source, "item", "rating", q=0.3, n_column="people", bad_n="raise", **where)


def test_one_n_and_a_table_of_n() -> None:
    n = max(SEEN.values()) - 1
    largest = max(SEEN, key=SEEN.__getitem__)
    listed = pa.table({"item": NAMES[1:], "n": [2 * n] * len(NAMES[1:])})
    for given, bad in (({"n": n}, largest), ({"n_table": listed}, NAMES[0])):
        with pytest.warns(uh.TableWarning, match="n was not used for 1 of"):
            found = uh.rate(TABLE, "item", "rating", q=0.3, bad_n="drop", **given)
        rows = {row["item"]: row for row in found.to_pylist()}
        assert [name for name in rows if "n_dropped" in rows[name]["notes"]] == [bad]
        assert rows[bad]["n"] is None
        assert sorted(rows) == NAMES
    # One n has one lambda of BEA, which is not looked up item by item.
    asked: dict[str, Any] = {"n": n, "method": "bea", "level": None}
    assert len(uh.write_sql("item", "rating", dialect="duckdb", floor=0.2, **asked)) < 20_000
    for name in ("floor", "q"):
        asked[name] = 0.2
        with pytest.warns(uh.TableWarning, match="n was not used for 1 of"):
            found = uh.rate(TABLE, "item", "rating", bad_n="drop", sort="item", **asked)
        fewer = TABLE.filter(pa.compute.not_equal(TABLE["item"], largest))
        wanted = uh.rate(fewer, "item", "rating", sort="item", **asked)
        rest = found.filter(pa.compute.not_equal(found["item"], largest))
        assert rest["estimate"].equals(wanted["estimate"])
        del asked[name]
    with pytest.raises(uh.OptionError, match="bad_n requires the number of people"):
        uh.rate(TABLE, "item", "rating", q=0.3, bad_n="drop")


def test_one_participation_uses_n_of_all_items_or_of_none() -> None:
    asked: dict[str, Any] = {"q": 0.6, "shared": True, "sort": "item"}
    with pytest.warns(uh.TableWarning) as told:
        found = uh.rate(with_n(True), "item", "rating", n_column="people", bad_n="drop", **asked)
    assert any("Ranks under one participation ignore n" in str(one.message) for one in told)
    plain = uh.rate(TABLE, "item", "rating", **asked)
    for name in ("best_rank", "worst_rank", "ci_best_rank", "ci_worst_rank"):
        assert found[name].to_pylist() == plain[name].to_pylist()


# Ratings of the same time.

TIES: dict[str, list[tuple[int | None, int | None]]] = {
    "same": [(5, 1), (4, 2), (4, 2)],
    "differ": [(5, 2), (1, 2), (3, 1)],
    "no time": [(2, None), (3, 1)],
    "later": [(2, 1), (5, 2)],
}


def test_of_ratings_that_tie_none_counts(database: Bench) -> None:
    rows = [(item, *one) for item, rated in TIES.items() for one in rated]
    others = [(item, 3, 1) for item in TIES for _ in range(4)]
    who = ["Ann"] * len(rows) + [f"p{index}" for index in range(len(others))]
    both = rows + others
    days = [None if day is None else date(2024, 1, day) for _, _, day in both]
    table = pa.table(
        {
            "item": [item for item, _, _ in both],
            "rating": [stars for _, stars, _ in both],
            "who": who,
            "day": pa.array(days, pa.date32()),
        }
    )
    kept = {"same": [4], "differ": [], "no time": [], "later": [5]}
    left = [(item, stars) for item, given in kept.items() for stars in [*given, 3, 3, 3, 3]]
    fair = pa.table({"item": [item for item, _ in left], "rating": [stars for _, stars in left]})
    asked: dict[str, Any] = {"rater": "who", "time": "day"}
    wanted = expected(fair, ["item"], "rating", FIVE, q=0.3)
    with pytest.warns(uh.TableWarning) as told:
        check(database, table, wanted, rating="rating", q=0.3, duplicates="latest_or_none", **asked)
    assert {str(one.message).split(" were ")[0] for one in told} >= {
        "8 earlier or repeated ratings", "2 pairs of rater and item",
    }  # fmt: skip
    source, where = database.load(table)
    with pytest.raises(uh.DataError, match=r"2 pairs .* duplicates='latest_or_none'"):
        uh.rate(source, "item", "rating", q=0.3, duplicates="latest", **asked, **where)
    with pytest.warns(uh.TableWarning):
        people = uh.rate(
            table, "item", "rating", q=0.3, duplicates="latest_or_none", nulls="nonresponse",
            sort="item", **asked,
        )  # fmt: skip
    # Where rows are people, somebody without a rating is still one of them.
    assert people["n"].to_pylist() == [5, 5, 5, 5]
    assert people["n_ratings"].to_pylist() == [4, 5, 4, 5]


# What is left out, and what is doubtful.


def test_more_than_a_share_is_left_out_only_if_asked() -> None:
    stars = [1, 2, 3, 4, 5, 0, 9, 9, 9, 9, 9, 9]
    table = pa.table({"hotel": ["A"] * 12, "stars": stars})
    with pytest.raises(uh.DataError, match=r"9 \(6 times\), 0 \(once\), .*If .*'0:10'") as told:
        uh.rate(table, "hotel", "stars", q=0.3)
    assert "drop" not in str(told.value)  # most of the table would go
    words = "off_scale='drop' would leave out 7 of 12 ratings, more than 50%.*max_dropped='0.59'"
    with pytest.raises(uh.DataError, match=words):
        uh.rate(table, "hotel", "stars", q=0.3, off_scale="drop")
    with pytest.warns(uh.TableWarning, match="7 ratings"):
        found = uh.rate(table, "hotel", "stars", q=0.3, off_scale="drop", max_dropped=0.59)
    assert found["n_ratings"].to_pylist() == [5]


OPTIONS = {"off_scale='drop'": ("off_scale", "drop"), "nulls='drop'": ("nulls", "drop")}
OPTIONS |= {"duplicates='latest'": ("duplicates", "latest")}


@pytest.mark.parametrize("seed", range(12))
def test_advice_never_loses_most_of_a_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bad = rng.uniform(0, 0.9)
    stars = [None if rng.random() < bad / 2 else float(rng.choice([5, 7])) for _ in range(40)]
    stars = [4.0 if star is not None and rng.random() > bad else star for star in stars]
    who = [f"p{rng.integers(1, max(2, int(40 * (1 - bad))))}" for _ in stars]
    days = pa.array([date(2024, 1, 1 + index % 28) for index in range(40)], pa.date32())
    table = pa.table({"hotel": list("AB") * 20, "stars": stars, "who": who, "day": days})
    asked: dict[str, Any] = {"rater": "who", "time": "day"}
    for _ in range(6):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", uh.TableWarning)
                found = uh.rate(table, "hotel", "stars", q=0.3, scale="1:5", **asked)
        except uh.DataError as error:
            advice = [OPTIONS[words] for words in OPTIONS if words in str(error)]
            if error.code == "too_many_dropped" or not advice:
                return  # nothing is advised that loses ratings
            asked |= dict(advice)
        else:
            assert found["n_ratings"].to_numpy().sum() >= 0.5 * len(stars)
            return


@pytest.mark.parametrize(
    ("stars", "words"),
    [
        ([1, 2, 3, 4] * 60, "None of the 240 ratings is 5, .* 1 to 4: if it is, use scale='1:4'"),
        ([2, 3, 5] * 70, "None of the 210 ratings is 1, .* use scale='2:5'"),
        ([1, 2, 3, 4] * 10, None),
        ([1, 2, 3, 4, 5] * 60, None),
    ],
)
def test_a_scale_that_the_ratings_contradict(stars: list[int], words: str | None) -> None:
    table = pa.table({"hotel": ["A"] * len(stars), "stars": stars})
    if words is None:
        uh.rate(table, "hotel", "stars", q=0.3)
    else:
        with pytest.warns(uh.TableWarning, match=words):
            uh.rate(table, "hotel", "stars", q=0.3)
    uh.rate(table, "hotel", "stars", q=0.3, scale="1:5")
