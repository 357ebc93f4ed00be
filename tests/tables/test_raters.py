"""People who rated an item twice."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.cases import FIVE, check, ratings
from tests.tables.engines import Bench
from tests.tables.oracle import expected

FIRST, LAST = date(2024, 1, 1), date(2024, 1, 2)

Rated = list[tuple[int, date | None]]

LATEST: dict[str, Any] = {"rater": "who", "time": "day", "duplicates": "latest"}


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


def test_somebody_rated_twice(database: Bench) -> None:
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
    source, where = database.load(table)
    with pytest.raises(uh.DataError, match=r"1 pair of rater and item.*who='p4'"):
        uh.rate(source, "item", "rating", q=0.3, rater="who", **where)
    kept = table.filter(pa.array([i != 4 for i in range(table.num_rows)]))
    wanted = expected(kept, ["item"], "rating", FIVE, q=0.3)
    with pytest.warns(uh.TableWarning, match="1 earlier or repeated rating was left out"):
        check(
            database,
            table,
            wanted,
            rating="rating",
            q=0.3,
            rater="who",
            time="day",
            duplicates="latest",
        )


def test_no_rating_is_the_latest(database: Bench) -> None:
    items: dict[str, Rated] = {
        "two latest": [(5, FIRST), (1, LAST), (2, LAST)],
        "two alike": [(4, LAST), (4, LAST)],
        "no time before a time": [(5, None), (1, LAST)],
        "no time after a time": [(5, FIRST), (1, None)],
        "no time at all": [(5, None), (1, None)],
    }
    source, where = database.load(by_one_person(items))
    words = (
        r"more than one rating for 4 pairs of rater and item \(for example .*who='Ann', times=2.*\)"
    )
    with pytest.raises(
        uh.DataError, match=rf"{words}\. They differ and have the same time or none"
    ) as told:
        uh.rate(source, "item", "rating", q=0.3, **LATEST, **where)
    # To leave out most of the ratings would be refused in turn, so that is not advised.
    assert str(told.value).endswith("known to be the latest: remove all but one.")


def test_one_rating_is_the_latest(database: Bench) -> None:
    items: dict[str, Rated] = {
        "earlier ones alike": [(5, FIRST), (4, FIRST), (1, LAST)],
        "one without a time": [(5, None)],
        "unknown people": [(5, LAST), (1, LAST), (2, FIRST), (4, None)],
    }
    kept = items | {"earlier ones alike": [(1, LAST)]}
    wanted = expected(by_one_person(kept), ["item"], "rating", FIVE, q=0.3)
    with pytest.warns(uh.TableWarning, match="2 earlier or repeated ratings were left out"):
        check(database, by_one_person(items), wanted, rating="rating", q=0.3, **LATEST)
