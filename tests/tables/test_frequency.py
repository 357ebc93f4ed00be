"""A row for each item and rating, with the number of ratings: the same as a row for each rating."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.cases import FIVE, ratings
from tests.tables.engines import Bench


def group(table: pa.Table) -> pa.Table:
    """Count equal rows; some other rows stand for nothing."""
    keys = table.column_names
    grouped = table.group_by(keys).aggregate([([], "count_all")])
    nothing = grouped.slice(0, 3).set_column(len(keys), "count_all", pa.array([0, 0, 0]))
    return pa.concat_tables([grouped, nothing]).rename_columns([*keys, "many"])


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        (FIVE, {"nulls": "nonresponse", "time": "day", "window": "month"}),
        (
            tuple(map(float, range(16))),
            {"nulls": "drop", "off_scale": "drop", "n_column": "people"},
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::unheard.TableWarning")
def test_rows_that_stand_for_several(
    database: Bench, values: tuple[float, ...], asked: dict[str, Any]
) -> None:
    table = ratings(3, values=values)
    ends = {"off_scale": 99.0} if "off_scale" in asked else {}
    given = [*table["rating"].to_pylist()[:-4], None, None, *[ends.get("off_scale")] * 2]
    days = [f"2024-0{1 + at % 2}-11" for at in range(len(table))]
    table = table.set_column(1, "rating", pa.array(given, pa.float64()))
    table = table.append_column("day", pa.array(days).cast(pa.date32()))
    table = table.append_column("people", pa.array([900] * len(table)))
    found = []
    for rows, frequency in ((table, None), (group(table), "many")):
        source, where = database.load(rows)
        options = {"q": 0.3, "scale": list(values), "level": None, "ranks": False, **asked, **where}
        options["frequency"] = frequency
        found.append(database.rows(uh.rate(source, "item", "rating", **options)).to_pylist())
    assert len(found[0]) > 2
    assert found[1] == [pytest.approx(row, rel=1e-12) for row in found[0]]


LONG = pa.table(
    {"hotel": ["A", "A", "B", "B"], "stars": [1, 5, 4, 5], "n": [3, 10, 7, 2], "word": ["a"] * 4}
)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"rating": None, "counts": ["stars", "word"]}, "frequency cannot be combined with counts"),
        ({"weight": "word"}, "frequency cannot be combined with survey weights"),
        ({"rater": "word"}, "frequency cannot be combined with raters"),
        ({"frequency": "hotel"}, "frequency names the same column as item; got 'hotel'"),
        ({"frequency": "word"}, "Column 'word' of .* cannot be used for frequency: it contains te"),
        ({"frequency": "m"}, "no column 'm'"),
        ({"scale": "1:4"}, r"12 ratings are not on the scale 1 to 4: 5 \(12 times\), for example"),
    ],
)
def test_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(uh.InputError, match=message):
        uh.rate(LONG, "hotel", **{"rating": "stars", "q": 0.3, "frequency": "n", **asked})


@pytest.mark.parametrize("many", [2.5, -1.0, None, float("nan"), 2.0**54])
def test_what_cannot_be_a_count_is_refused(many: float | None) -> None:
    table = LONG.set_column(2, "n", pa.array([3.0, 10.0, many, 2.0]))
    message = (
        r"1 row has a count that is not a whole number .* \(for example hotel='B', stars=4, n="
    )
    with pytest.raises(uh.InputError, match=message) as caught:
        uh.rate(table, "hotel", "stars", q=0.3, frequency="n")
    assert caught.value.argument == "frequency"


def test_what_is_dropped_is_counted_in_ratings() -> None:
    with pytest.warns(uh.TableWarning, match=r"12 ratings that are not on the scale 1 to 4 were"):
        rows = uh.rate(
            LONG, "hotel", "stars", q=0.3, frequency="n", scale="1:4", off_scale="drop",
            max_dropped=0.6,
        ).to_pylist()  # fmt: skip
    assert {row["hotel"]: row["n_ratings"] for row in rows} == {"A": 3, "B": 7}


@pytest.mark.parametrize(
    ("many", "words"),
    [
        (7, "7 responses without a rating were counted as non-respondents "),
        (1, "1 response without a rating was counted as a non-respondent "),
    ],
)
def test_what_has_no_rating_is_counted_in_responses(many: int, words: str) -> None:
    table = LONG.set_column(1, "stars", pa.array([1, 5, None, 5]))
    table = table.set_column(2, "n", pa.array([3, 10, many, 2]))
    with pytest.warns(uh.TableWarning) as told:
        uh.rate(table, "hotel", "stars", q=0.3, frequency="n", nulls="nonresponse")
    assert any(str(one.message).startswith(words) for one in told)


@pytest.mark.parametrize(
    ("table", "is_noted"),
    [
        (LONG, True),
        (LONG.rename_columns(["hotel", "stars", "size of bed", "word"]), False),
        (pa.concat_tables([LONG, LONG]), False),
    ],
)
def test_a_column_that_may_be_a_frequency_is_named(
    table: pa.Table, is_noted: bool, recwarn: pytest.WarningsRecorder
) -> None:
    uh.rate(table, "hotel", "stars", q=0.3)
    said = [str(one.message) for one in recwarn]
    words = "Each row was counted as one rating. If 'n' says how many ratings a row stands for, "
    assert said == ([f"{words}use frequency='n'."] if is_noted else [])


def test_counts_are_sums() -> None:
    kept = uh.count_ratings(LONG, "hotel", "stars", frequency="n").to_pylist()
    assert [[row[f"count_{value}"] for value in range(1, 6)] for row in kept] == [
        [3, 0, 0, 0, 10],
        [0, 0, 0, 7, 2],
    ]
