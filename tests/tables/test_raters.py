"""People who rated an item twice."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta
from pathlib import Path
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


def two_at(*times: str) -> pa.Table:
    """Return ratings of 1, 2, ... by one person at times that are text."""
    many = len(times)
    return pa.table(
        {"item": ["A"] * many, "rating": range(1, many + 1), "who": ["Ann"] * many, "day": times}
    )


def test_times_that_are_text_of_iso_8601(database: Bench) -> None:
    source, where = database.load(two_at("2024-05-01 10:00", "2024-04-30 11:00"))
    with pytest.warns(uh.TableWarning, match="1 earlier or repeated rating was left out"):
        found = uh.rate(source, "item", "rating", q=0.3, **LATEST, **where)
    assert database.rows(found)["average"].to_pylist() == [1.0]


@pytest.mark.parametrize(
    ("times", "problem"),
    [
        (["12/31/2023 9:00 AM", "1/15/2024 10:00 AM"], "not ISO 8601 dates or times, such as"),
        (["31 Dec 2023", "15 Jan 2024"], r"such as '15 Jan 2024', '31 Dec 2023'\. Write them as"),
        (["2024-01-15", "15.01.2024"], "such as '15.01.2024'"),
        (["2024-05-01 11:00", "2024-05-01T10:00"], "are text in several formats, such as"),
        (["2024-05-01T10:00:00Z", "2024-05-01T10:00:00.5Z"], "are text in several formats"),
        (["2024-05-01T10:00:00+02:00", "2024-05-01T09:30:00+01:00"], "in several time zones"),
    ],
)
def test_text_that_does_not_sort_by_time(times: list[str], problem: str) -> None:
    with pytest.raises(uh.DataError, match=rf"The times in 'day' of .*{problem}"):
        uh.count_ratings(two_at(*times), "item", "rating", **LATEST)


@pytest.mark.parametrize("time", ["2024-05-01T10:00:00", "2024-05-01 10:00:00.5+02:00"])
def test_text_that_sorts_by_time(time: str) -> None:
    table = two_at(time, time.replace("2024", "2023"))
    with pytest.warns(uh.TableWarning, match="1 earlier"):
        assert uh.count_ratings(table, "item", "rating", **LATEST)["count_1"].to_pylist() == [1]


@pytest.mark.parametrize("day", ["01/02/2024", "2024-02-30"])
def test_text_that_names_no_day_has_no_window(day: str) -> None:
    with pytest.raises(uh.DataError, match=rf"The times in 'day' .* such as '{day}'"):
        uh.count_ratings(two_at(day), "item", "rating", time="day", window="month")


@pytest.mark.parametrize(("second", "refused"), [("02/05/2024", True), ("02/25/2024", False)])
def test_dates_that_may_be_day_first_or_month_first(
    second: str, refused: bool, tmp_path: Path
) -> None:
    path = tmp_path / "stays.csv"
    path.write_text(f"item,rating,day\nA,1,03/01/2024\nA,2,{second}\n")
    asked: dict[str, Any] = {"time": "day", "window": "month"}
    if refused:
        with pytest.raises(uh.DataError, match="not ISO 8601 dates or times"):
            uh.count_ratings(path, "item", "rating", **asked)
    else:
        found = uh.count_ratings(path, "item", "rating", **asked)
        assert {day.month for day in found["window_start"].to_pylist()} == {2, 3}


@pytest.mark.parametrize(
    "times",
    [
        ("1/31/2024 9:00:00", "2/3/2024 10:00:00"),  # Google Sheets
        ("01/31/2024 09:00:00 AM", "02/03/2024 10:00:00 PM"),  # SurveyMonkey
        ("31/01/2024 09:00:05", "03/02/2024 10:00:00"),
        ("31.01.2024, 09:00", "03.02.2024, 10:00"),
        ("31.01.2024", "3.2.2024"),
        ("31.01.24", "03.02.24"),
        ("1/31/24", "2/3/24"),
        ("31-01-2024", "03-02-2024"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*were read as day, month and year:unheard.ReadingWarning")
def test_times_as_programs_write_them(times: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_text("item;rating;day\n" + "".join(f"A;4;{time}\n" for time in times))
    found = uh.count_ratings(path, "item", "rating", time="day", window="month")
    months = [(day.year, day.month) for day in found["window_start"].to_pylist()]
    assert sorted(months) == [(2024, 1), (2024, 2)]


@pytest.mark.parametrize("times", [("31/01/24", "01/02/24"), ("3/1/2024 9:00", "4/2/2024 9:00")])
def test_times_that_may_be_read_in_several_ways(times: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_text("item,rating,day\n" + "".join(f"A,4,{time}\n" for time in times))
    with pytest.raises(uh.DataError, match="not ISO 8601 dates or times, such as"):
        uh.count_ratings(path, "item", "rating", time="day", window="month")


def test_years_of_two_digits_are_mentioned(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_text("item,rating,day\nA,4,31.01.24\n")
    with pytest.warns(uh.ReadingWarning, match="In column day, dates were read as day, month"):
        uh.count_ratings(path, "item", "rating", time="day", window="month")


@pytest.mark.parametrize(
    ("times", "refused"),
    [
        (["12/31/2023", "1/15/2024"], True),
        (["2023-12-31", "2024-01-15"], False),
        ([1704000000, 1705300000], False),
    ],
)
def test_dates_of_sqlite_hold_anything(times: list[Any], refused: bool, tmp_path: Path) -> None:
    path = tmp_path / "stays.db"
    connection = sqlite3.connect(path)
    connection.execute("create table stays (item text, rating int, who text, day date)")
    rows = [("A", at, "Ann", time) for at, time in enumerate(times, start=1)]
    connection.executemany("insert into stays values (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    if refused:
        with pytest.raises(uh.DataError, match="not ISO 8601 dates or times"):
            uh.count_ratings(path, "item", "rating", **LATEST)
    else:
        with pytest.warns(uh.TableWarning, match="1 earlier"):
            found = uh.count_ratings(path, "item", "rating", **LATEST)
        assert found["count_2"].to_pylist() == [1]
