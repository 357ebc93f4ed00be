"""Participation from tables: by request, by response rate, by window, by a rater's experience."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.learning import REMINDERS, list_responses, simulate_rates, simulate_waves
from tests.tables.engines import Bench
from unheard.tables.calibration import calibrate_table
from unheard.tables.learning_table import Tool
from unheard.tables.sources.open import Where

COUNTS, PEOPLE = simulate_waves(np.random.default_rng(12), 6, 250)
COLUMNS = ("course", "stars", "request", "day", "enrolled")


def survey(rows: list[list[object]] | None = None) -> pa.Table:
    columns = zip(*(rows or list_responses(COUNTS, PEOPLE)), strict=True)
    return pa.table(dict(zip(COLUMNS, map(list, columns), strict=True)))


def learn(source: Any, where: dict[str, Any] | None = None, **values: Any) -> Any:
    asked = {"item": ("course",), "rating": ("stars",), "level": 0.95} | values
    return calibrate_table(source, asked, Tool(Where(**(where or {}))))


def same(found: Any, wanted: Any) -> None:
    for name in ("g", "g_lower", "g_upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-6)
    assert found.words == wanted.words


def test_waves_of_every_engine(database: Bench) -> None:
    source, where = database.load(survey())
    found = learn(source, where, wave="request", n_column="enrolled")
    same(found.found[0], uh.calibrate_from_waves(COUNTS, n=PEOPLE))


def test_reminders_by_date_are_the_same_as_requests_by_number() -> None:
    wanted = uh.calibrate_from_waves(COUNTS, n=PEOPLE)
    days = tuple(day.isoformat() for day in REMINDERS)
    same(learn(survey(), time="day", reminder=days, n_column="enrolled").found[0], wanted)
    alone = learn(survey(), item=(), time="day", reminder=days, n=int(PEOPLE.sum())).found[0]
    same(alone, uh.calibrate_from_waves(COUNTS.sum(axis=0), n=PEOPLE.sum()))


def test_items_that_nobody_responded_to_count_as_people() -> None:
    enrolled = pa.table(
        {"course": [*(f"c{i}" for i in range(6)), "silent"], "n": [*map(int, PEOPLE), 90]}
    )
    found = learn(survey(), wave="request", n_table=enrolled).found[0]
    silent = np.zeros((1, *COUNTS.shape[1:]))
    same(found, uh.calibrate_from_waves(np.vstack((COUNTS, silent)), n=[*PEOPLE, 90]))


@pytest.mark.parametrize("by", ["request", "day"])
@pytest.mark.parametrize("item", [("course",), ()])
def test_people_who_did_not_respond_have_rows_without_a_request(
    database: Bench, by: str, item: tuple[str, ...]
) -> None:
    rows = list_responses(COUNTS, PEOPLE)
    for i, many in enumerate(PEOPLE - COUNTS.sum(axis=(1, 2))):
        rows += [[f"c{i}", None, None, None, int(PEOPLE[i])]] * int(many)
    source, where = database.load(survey(rows))
    how: dict[str, Any] = {"wave": "request"}
    if by == "day":
        how = {"time": "day", "reminder": tuple(day.isoformat() for day in REMINDERS)}
    found = learn(source, where, item=item, nulls="nonresponse", **how).found[0]
    cells, people = (COUNTS, PEOPLE) if item else (COUNTS.sum(axis=0), PEOPLE.sum())
    same(found, uh.calibrate_from_waves(cells, n=people))
    rows[3] = [rows[3][0], rows[3][1], None, None, rows[3][4]]  # a response to no request
    with pytest.raises(uh.DataError, match=r"1 row has no value in|no date in the years"):
        learn(survey(rows), item=item, nulls="nonresponse", **how)


def test_somebody_who_followed_two_requests_is_refused() -> None:
    table = survey().append_column("who", pa.array([f"p{i}" for i in range(int(COUNTS.sum()))]))
    same(
        learn(table, wave="request", n_column="enrolled", rater="who").found[0],
        uh.calibrate_from_waves(COUNTS, n=PEOPLE),
    )
    again = table.slice(0, 1).set_column(2, "request", pa.array([2]))
    with pytest.raises(uh.DataError, match="more than one rating for 1 pair of rater and item"):
        learn(pa.concat_tables([table, again]), wave="request", rater="who")


@pytest.mark.parametrize("window", [None, "month"])
def test_an_error_names_the_part_of_the_table_that_it_is_about(window: str | None) -> None:
    (large, *_), (small, *_) = rates(60, 1), rates(9, 2)
    parts = [
        table.append_column("day", pa.array([day] * len(table))).append_column(
            "country", pa.array([country] * len(table))
        )
        for table, country, day in (
            (large, "DE", date(2024, 1, 3)), (small, "{FR}", date(2024, 2, 3))
        )
    ]  # fmt: skip
    how: dict[str, Any] = {"segment": ("country",)}
    if window:
        how = {"time": "day", "window": window}
    place = "Window 2024-02-01 to 2024-03-01" if window else "Segment {FR}"
    names = tuple(f"n{r}" for r in range(1, 6))
    with pytest.raises(uh.DataError) as caught:
        learn(
            pa.concat_tables(parts), rating=(), counts=names, n_column="n", across_items=True, **how
        )
    assert str(caught.value).startswith(f"{place}: 9 items with at least two ratings say too lit")


def test_counts_by_request_are_read_as_well() -> None:
    rows = [
        {"course": f"c{i}", "request": k + 1, "enrolled": int(PEOPLE[i])}
        | {f"n{r}": int(COUNTS[i, k, r - 1]) for r in range(1, 6)}
        for i, k in np.ndindex(*COUNTS.shape[:2])
    ]
    names = tuple(f"n{r}" for r in range(1, 6))
    table = pa.Table.from_pylist(rows)
    found = learn(table, rating=(), counts=names, wave="request", n_column="enrolled").found[0]
    same(found, uh.calibrate_from_waves(COUNTS, n=PEOPLE))


def test_segments_are_told_apart() -> None:
    table = survey()
    half = ["a" if course in ("c0", "c1") else "b" for course in table["course"].to_pylist()]
    table = table.append_column("half", pa.array(half))
    found = learn(table, wave="request", n_column="enrolled", segment=("half",))
    assert found.names == (("a",), ("b",))
    same(found.found[0], uh.calibrate_from_waves(COUNTS[:2], n=PEOPLE[:2]))
    assert set(found.build_document()["segments"]) == {"a", "b"}


def rates(items: int, seed: int) -> tuple[pa.Table, Any, Any]:
    seen, people, _ = simulate_rates(np.random.default_rng(seed), items)
    names = [f"c{i:03d}" for i in range(items)]
    counts = {f"n{r}": seen[:, r - 1].astype(int) for r in range(1, 6)}
    return pa.table({"course": names, "n": people.astype(int), **counts}), seen, people


def test_response_rates_of_every_engine(database: Bench) -> None:
    table, seen, people = rates(80, 3)
    source, where = database.load(table)
    names = tuple(f"n{r}" for r in range(1, 6))
    asked: dict[str, Any] = {"rating": (), "counts": names, "n_column": "n"}
    found = learn(source, where, across_items=True, **asked).found[0]
    wanted = uh.suggest_participation(seen, people)
    np.testing.assert_allclose(found.g, wanted.g, rtol=1e-6)
    assert found.words == wanted.words


def windows() -> tuple[pa.Table, list[Any]]:
    """Return people who were asked, in three months, with a change after the first."""
    rng = np.random.default_rng(5)
    shapes = [[0.2, 0.3, 0.6], [0.5, 0.5, 0.4], [0.5, 0.5, 0.4]]
    rows = []
    for month, g in enumerate(shapes, 1):
        for r in rng.integers(0, 3, 900):
            day = date(2024, month, int(rng.integers(1, 28)))
            answered = int(rng.random() < g[r])
            rows.append({"course": "c", "stars": int(r) + 1, "day": day, "answered": answered})
    return pa.Table.from_pylist(rows), shapes


def test_each_window_has_its_own_participation_and_rate_uses_it(tmp_path: Path) -> None:
    table, shapes = windows()
    found = learn(
        table, answered="answered", time="day", window="month", scale="1:3", item=("course",)
    )
    assert [name[0] for name in found.names] == ["2024-01-01", "2024-02-01", "2024-03-01"]
    for one, g in zip(found.found, shapes, strict=True):
        np.testing.assert_allclose(one.g, g, atol=0.08)
    assert found.drift.change.window == 1
    by_window = pa.Table.from_pylist(found.list_rows())
    by_window = by_window.set_column(
        0, "window_start", by_window["window_start"].cast(pa.date32())
    ).set_column(1, "window_end", by_window["window_end"].cast(pa.date32()))
    rated = table.filter(pa.compute.equal(table["answered"], 1))
    result = uh.rate(
        rated, "course", "stars", q_table=by_window, scale="1:3", time="day", window="month"
    ).sort_by("window_start")
    for row, one in zip(result.to_pylist(), found.found, strict=True):
        month = row["window_start"].month
        cells = [0, 0, 0]
        for person in rated.to_pylist():
            cells[person["stars"] - 1] += person["day"].month == month
        wanted = uh.estimate(cells, one.q_lower, scale="1:3")
        assert row["lower"] == pytest.approx(float(wanted.lower))
        assert row["upper"] == pytest.approx(float(wanted.upper))


def test_a_first_rating_is_told_from_later_ones(database: Bench) -> None:
    rows = [
        ("a", 1, "x", date(2024, 1, 1)), ("b", 5, "x", date(2024, 1, 2)),
        ("b", 4, "y", date(2024, 1, 3)), ("a", 2, "z", date(2024, 1, 5)),
        ("b", 2, "z", date(2024, 1, 5)), ("c", 3, "z", date(2024, 2, 1)),
        ("c", 5, None, date(2024, 1, 1)), ("c", 1, "z", date(2024, 1, 9)),
    ]  # fmt: skip
    table = pa.table(
        dict(zip(("item", "stars", "who", "day"), zip(*rows, strict=True), strict=True))
    )
    source, where = database.load(table)
    with pytest.warns(uh.TableWarning, match="1 earlier or repeated rating was"):
        result = uh.rate(
            source,
            ["item", "experience"],
            "stars",
            q=0.5,
            rater="who",
            time="day",
            by_experience=True,
            duplicates="latest",
            level=None,
            ranks=False,
            **where,
        )
    found = database.rows(result).to_pylist()
    seen = {(row["item"], row["experience"]): (row["n_ratings"], row["average"]) for row in found}
    assert seen == {
        ("a", "first"): (2, 1.5),
        ("b", "first"): (2, 3.0),
        ("b", "later"): (1, 5.0),
        ("c", "later"): (1, 3.0),
        ("c", "unknown"): (1, 5.0),
    }


def test_experience_needs_raters_and_times() -> None:
    table = pa.table({"item": ["a"], "stars": [3], "who": ["x"]})
    with pytest.raises(uh.OptionError, match="by_experience requires rater and time"):
        uh.rate(table, "item", "stars", q=0.5, by_experience=True)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"wave": "stars"}, "wave names a column that is used for something else"),
    ({"wave": "course", "item": ()}, "Column 'course' must contain the number of the request"),
    ({"wave": "request", "n": 10}, "n must be at least the number of responses"),
    ({"wave": "request", "n_column": "stars"}, "n_column"),
    ({"rating": ("stars", "request"), "wave": "day"}, "names several .* got 'stars,request'"),
    ({"wave": "request", "n": 9, "nulls": "nonresponse"}, "n and nulls='nonresponse' cannot be"),
    ({"wave": "request", "n": 9, "n_column": "enrolled"}, "n and n_column cannot be combined"),
    (
        {"wave": "request", "rater": "course", "time": "day", "duplicates": "latest"},
        "duplicates does not apply to responses by request",
    ),
    ({"reminder": ("2024-05-13",)}, "reminder requires time"),
    (
        {"reminder": ("2024-05-13",), "time": "stars"},
        "time names a column that is used for something else",
    ),
    ({"reminder": ("13.5.",), "time": "day"}, "reminder must be dates; got '13.5.'"),
    ({"reminder": ("2024-05-20", "2024-05-13"), "time": "day"}, "list dates in order"),
    ({"reminder": ("2024-08-01",), "time": "day"}, "2024-08-01 is after the last response"),
    ({"reminder": ("2023-05-08",), "time": "day"}, "2023-05-08 is not after the first response"),
    ({"reminder": ("2024-05-13",), "time": "day", "wave": "request"}, "cannot be combined"),
    ({"reminder": ("2024-05-13",), "time": "day", "window": "week"}, "cannot be combined"),
    ({"across_items": True}, "across_items requires the number of people of each item"),
    ({"across_items": True, "n_column": "enrolled"}, "6 items .* 30 are required"),
    ({"across_items": True, "wave": "request", "n_column": "enrolled"}, "cannot be combined"),
    ({"wave": "request", "unpaired": True}, "unpaired and wave cannot be combined"),
    ({"wave": "request", "window": "month"}, "window requires time"),
    ({"answered": "request", "n": 9}, "n does not apply to an audit"),
]


@pytest.mark.parametrize(("values", "message"), REFUSED, ids=[words for _, words in REFUSED])
def test_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(uh.InputError, match=message):
        learn(survey(), **values)


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ({1}, "All responses followed one request: nothing can be learned from one wave"),
        ({2, 3}, "No response followed request 1, but some followed request 2"),
        ({1, 3}, "No response followed request 2, but some followed request 3"),
    ],
)
def test_requests_that_are_missing(kept: set[int], message: str) -> None:
    rows = [row for row in list_responses(COUNTS, PEOPLE) if row[2] in kept]
    with pytest.raises(uh.DataError, match=message):
        learn(survey(rows), wave="request", n_column="enrolled")


def test_more_responses_than_people_name_the_item() -> None:
    rows = [[*row[:4], 12 if row[0] == "c3" else row[4]] for row in list_responses(COUNTS, PEOPLE)]
    with pytest.raises(uh.PopulationError, match=r"less than the number of ratings .*'c3'"):
        learn(survey(rows), wave="request", n_column="enrolled")


def test_the_number_of_all_people_cannot_be_divided_among_segments() -> None:
    table = pa.table({"wave": [1, 2], "stars": [1, 2], "country": ["DE", "FR"]})
    with pytest.raises(uh.OptionError, match="the number of people in all, and segment requires"):
        learn(table, item=(), wave="wave", n=100, segment=("country",))
