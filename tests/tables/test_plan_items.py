"""Plans for tables: wherever the counts and the numbers of people come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.stays import HOTELS, STAYS, in_duckdb, in_sqlite

PEOPLE = dict(zip(HOTELS, (60, 75, 55, 130), strict=True))
N_TABLE = pa.table({"hotel": HOTELS, "n": list(PEOPLE.values())})
COUNTS = {
    hotel: [
        sum(row == {"hotel": hotel, "stars": star} for row in STAYS.to_pylist())
        for star in range(1, 6)
    ]
    for hotel in HOTELS
}
WIDE = pa.table(
    {"hotel": HOTELS, "guests": list(PEOPLE.values())}
    | {f"s{star}": [COUNTS[hotel][star - 1] for hotel in HOTELS] for star in range(1, 6)}
)


def plan(source: Any, **options: Any) -> uh.Plans:
    asked: dict[str, Any] = {"n_table": N_TABLE, "q": 0.3, "width": 0.8} | options
    return uh.plan_table(source, "hotel", "stars", **asked)


def alone(hotel: str, n: int, **options: Any) -> int | None:
    asked: dict[str, Any] = {"q": 0.3, "width": 0.8, "covers": "people"} | options
    return uh.plan_follow_up(COUNTS[hotel], n, **asked).scenarios[0].ask


EXPECTED = [alone(hotel, n) for hotel, n in PEOPLE.items()]


def check(plans: uh.Plans) -> None:
    assert plans.labels == {"hotel": HOTELS}
    assert plans.ask.tolist() == EXPECTED


@pytest.mark.parametrize(
    "source", [STAYS, STAYS.to_pandas(), pl.from_arrow(STAYS)], ids=["pyarrow", "pandas", "polars"]
)
def test_from_frames(source: Any) -> None:
    check(plan(source))


def test_from_counts_with_a_column_of_people() -> None:
    found = uh.plan_table(
        WIDE, "hotel", counts=["s1", "s2", "s3", "s4", "s5"], n_column="guests", q=0.3, width=0.8
    )
    check(found)


@pytest.mark.parametrize("database", [in_sqlite, in_duckdb])
def test_from_databases(database: Any, tmp_path: Path) -> None:
    ending = "sqlite" if database is in_sqlite else "duckdb"
    path = database(tmp_path / f"stays.{ending}", stays=STAYS, people=N_TABLE)
    check(plan(str(path), table="stays"))


def test_one_number_of_people_for_all() -> None:
    expected = [alone(hotel, 130) for hotel in HOTELS]
    assert plan(STAYS, n_table=None, n=130).ask.tolist() == expected


def test_empty_ratings_are_non_respondents() -> None:
    missing = [(hotel, PEOPLE[hotel] - sum(COUNTS[hotel])) for hotel in HOTELS]
    empty = pa.table(
        {
            "hotel": [hotel for hotel, many in missing for _ in range(many)],
            "stars": pa.nulls(sum(many for _, many in missing), pa.int64()),
        }
    )
    with pytest.warns(uh.TableWarning, match="counted as non-respondents") as told:
        plans = plan(pa.concat_tables([STAYS, empty]), n_table=None, nulls="nonresponse")
    assert told[0].filename == __file__
    check(plans)


def test_several_columns_name_an_item() -> None:
    rows = STAYS.append_column("year", pa.array(np.arange(len(STAYS)) % 2 + 2024))
    plans = uh.plan_table(rows, ["hotel", "year"], "stars", n=70, q=0.3, width=0.8)
    assert plans.labels["hotel"] == [hotel for hotel in HOTELS for _ in range(2)]
    assert plans.labels["year"] == [2024, 2025] * 4
    assert len(plans.to_frame(backend="polars")) == 8


def test_items_with_few_ratings_are_left_out() -> None:
    least = max(sum(counts) for counts in COUNTS.values())
    with pytest.warns(uh.TableWarning, match="3 items with fewer than"):
        plans = plan(STAYS, min_ratings=least)
    (hotel,) = plans.labels["hotel"]
    assert sum(COUNTS[str(hotel)]) == least
    with pytest.raises(uh.DataError, match="No item has enough ratings"):
        plan(STAYS, min_ratings=10_000)


def test_frames_have_a_row_per_item() -> None:
    plans = plan(STAYS, width=0.7, budget=40)
    frame = plans.to_frame(backend="pandas")
    assert isinstance(frame, pd.DataFrame)
    assert frame["priority"].tolist() == [1, 2, 3, 4]
    assert frame["ask"].tolist() == sorted(plans.ask.tolist())
    assert frame["calls"].sum() <= 40
    assert frame["hotel"].tolist() == [HOTELS[row] for row in plans.order]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_table": None}, uh.PopulationError, "requires the number of people"),
        ({"width": None}, uh.OptionError, "requires a goal: width, above or below"),
        ({"above": 4}, uh.OptionError, "width, above and below cannot be combined"),
        ({"width": None, "above": 9}, uh.OptionError, "between the ends of the scale, 1 and 5"),
        (
            {"n_table": None, "n": 20},
            uh.PopulationError,
            "more ratings than 20.*non-respondents or raise n",
        ),
        ({"n_table": None, "n_column": "guests"}, uh.ColumnError, "no column 'guests'"),
        ({"budget": -1}, uh.OptionError, "budget must be a whole number of calls, 0 or more"),
        ({"budget": 2.5}, uh.OptionError, "budget must be a whole number of calls, 0 or more"),
        ({"level": None}, uh.OptionError, "level"),
        ({"q": None}, uh.AssumptionError, "assumption about who responds is required"),
        ({"nonrespondents": [1, 2]}, uh.CountsError, "one number for each of the 5 ratings"),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        plan(STAYS, **options)


def test_a_column_of_the_result_names_no_item() -> None:
    rows = STAYS.rename_columns(["Priority", "stars"])
    with pytest.raises(uh.ColumnError, match="A column of the result has the name"):
        uh.plan_table(rows, "Priority", "stars", n=200, q=0.3, width=1)
