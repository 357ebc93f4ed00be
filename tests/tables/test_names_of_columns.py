"""Columns named by whole numbers, and scales whose values agree in six digits."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

import unheard as uh
from unheard.model.scale import Scale
from unheard.tables.audit_table import Layout, read_audit

WIDE = pd.DataFrame({"hotel": ["x", "y"], 1: [1, 2], 2: [0, 3], 3: [4, 4], 4: [5, 5], 5: [6, 7]})
RATINGS = [1, 2, 3, 4, 5]


def rated(frame: Any, **options: Any) -> pd.DataFrame:
    return uh.rate(frame, q=0.3, **options).sort_values("estimate", ignore_index=True)


def test_pandas_columns_may_be_named_by_whole_numbers() -> None:
    text = WIDE.rename(columns=str)
    expected = rated(text, item="hotel", counts=[str(rating) for rating in RATINGS])
    pd.testing.assert_frame_equal(rated(WIDE, item="hotel", counts=RATINGS), expected)
    numbered = WIDE.rename(columns={"hotel": 0})
    found = rated(numbered, item=0, counts=RATINGS)
    assert found.columns[0] == 0
    pd.testing.assert_frame_equal(found.rename(columns={0: "hotel"}), expected)


def test_columns_named_by_numbers_are_named_by_their_ratings() -> None:
    low = WIDE.rename(columns={rating: rating - 1 for rating in RATINGS})
    found = rated(low, item="hotel", counts=[0, 1, 2, 3, 4])
    expected = rated(WIDE, item="hotel", counts=RATINGS)
    assert found.average.tolist() == pytest.approx((expected.average - 1).tolist())
    with pytest.raises(uh.ColumnError, match="ratings 1, 2, 4, 5, which do not determine"):
        rated(WIDE, item="hotel", counts=[1, 2, 4, 5])
    with pytest.raises(uh.ColumnError, match="1 to 5"):
        rated(WIDE, item="hotel", counts=RATINGS, scale="0:4")


LIKERT = ["Strongly agree", "Agree", "Neutral", "Disagree", "Strongly disagree"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([f"{stars} star" for stars in (2, 3, 4, 5)], "ratings 2, 3, 4, 5, which.*scale='2:5'"),
        (["n1", "n2", "n4", "n5"], "do not determine the scale.*use scale='1,2,4,5'"),
        (["n0", "n1", "n2"], "use scale='0:2'"),
        (["n1", "n3", "n2"], r"neither rise nor fall.*counts=\['n1', 'n2', 'n3'\]"),
        (["★★★", "★★", "★"], r"falling ratings.*counts=\['★', '★★', '★★★'\]"),
        (["⭐⭐", "⭐⭐⭐"], "ratings 2, 3, which do not determine the scale"),
        ([name.replace(" ", "_") for name in LIKERT], "falling ratings"),
        (["n_good", "n_fair", "n_poor"], r"falling ratings.*\['n_poor', 'n_fair', 'n_good'\]"),
        (["thumbs_up", "thumbs_down"], "falling ratings"),
        (list("ABCDF"), r"falling ratings.*\['F', 'D', 'C', 'B', 'A'\]"),
        (LIKERT, r"falling ratings, highest first.*counts=\['Strongly disagree', 'Disagree'"),
    ],
)
def test_names_that_contradict_the_scale(names: list[str], words: str) -> None:
    frame = pd.DataFrame({"hotel": ["x"], **{name: [1] for name in names}})
    with pytest.raises(uh.ColumnError, match=words):
        uh.count_ratings(frame, "hotel", counts=names)


@pytest.mark.parametrize(
    ("names", "scale"),
    [
        (["n1", "n2", "n3"], None),
        (["n0", "n1", "n2"], "1:3"),
        (["2 star", "3 star"], "2:3"),
        (["Disagree", "Agree"], None),
        (["c", "b", "a"], None),
        (["★", "★★", "★★★"], None),
        (["F", "D", "C", "B", "A"], None),
        (["x", "y", "z"], None),
    ],
)
def test_names_that_fit_the_scale(names: list[str], scale: str | None) -> None:
    frame = pd.DataFrame({"hotel": ["x"], **{name: [1] for name in names}})
    assert uh.count_ratings(frame, "hotel", counts=names, scale=scale)["n_rows"].tolist() == [1]


def test_numbers_of_columns_are_no_ratings(tmp_path: Path) -> None:
    path = tmp_path / "totals.csv"
    path.write_text("Alder,2,1,3,5,7\nBirch,9,1,4,4,4\n")
    asked: dict[str, Any] = {"item": "1", "q": 0.3}
    for names in (list("23456"), list("65432")):
        with pytest.raises(uh.ColumnError, match=r"no header, so counts .*, as in scale='1:5'"):
            uh.rate(path, counts=names, **asked)
    with pytest.warns(uh.ReadingWarning, match="no header"):
        found = uh.rate(path, counts=list("23456"), scale="1:5", sort="item", **asked)
    assert found["average"].to_pylist() == [pytest.approx(68 / 18), pytest.approx(59 / 22)]
    path.write_text("2,1,3,5,7,Alder\n9,1,4,4,4,Birch\n")
    with pytest.warns(uh.ReadingWarning, match="no header"):
        same = uh.rate(path, "6", counts=list("12345"), q=0.3, sort="item")
    assert same["average"] == found["average"]


def test_names_of_two_sides_of_an_audit() -> None:
    frame = pd.DataFrame({"hotel": ["x"], **{f"{s}{r}": [r] for s in "ot" for r in RATINGS}})
    falling = Layout(item=("hotel",), observed=("o2", "o1"), truth=("t2", "t1"))
    with pytest.raises(uh.ColumnError, match=r"observed names .*falling.*observed=\['o1', 'o2'\]"):
        read_audit(frame, falling)
    higher = Layout(item=("hotel",), observed=("o2", "o3"), truth=("t2", "t3"))
    with pytest.raises(uh.ColumnError, match="observed names columns for the ratings 2, 3"):
        read_audit(frame, higher)
    assert read_audit(frame, higher, "2:3")[1] == Scale([2, 3])


CLOSE = [(1000000, 1000001), (0.1234567, 0.1234568)]


@pytest.mark.parametrize("scale", CLOSE, ids=str)
def test_values_that_agree_in_six_digits_stay_apart(
    scale: tuple[float, float], tmp_path: Path
) -> None:
    low, high = scale
    rows = pd.DataFrame({"item": ["a"] * 5, "r": [low] * 2 + [high] * 3})
    asked: dict[str, Any] = {"item": "item", "rating": "r", "scale": scale}
    mean = (2 * low + 3 * high) / 5
    near = pytest.approx(mean, abs=(high - low) / 1000)

    for frame in (rows, rows.assign(r=rows.r.map(repr)), pl.from_pandas(rows)):
        assert list(uh.rate(frame, q=0.3, **asked)["average"]) == [near]
    counted = uh.count_ratings(rows, **asked)
    names = [f"count_{value!r}" for value in scale]
    assert counted[names].to_numpy().tolist() == [[2, 3]]
    again = uh.rate(counted, item="item", counts=names, q=0.3)
    assert (again.n_ratings.tolist(), again.average.tolist()) == ([5], [near])

    query = {d: uh.write_sql(**asked, table="t", dialect=d, q=0.3) for d in ("duckdb", "sqlite")}
    memory = duckdb.connect()
    memory.register("t", rows)
    assert memory.sql(query["duckdb"]).fetchall()[0][3] == near
    stored = sqlite3.connect(tmp_path / "t.db")
    stored.execute("create table t (item text, r real)")
    stored.executemany("insert into t values (?, ?)", rows.values.tolist())
    stored.commit()
    assert stored.execute(query["sqlite"]).fetchall()[0][3] == near
    stored.close()
    by_file = uh.rate(tmp_path / "t.db", q=0.3, **asked)
    assert by_file["average"].to_pylist() == [near]

    found = uh.estimate({high: 3, low: 2}, q=0.3, scale=scale, method="average")
    assert found.estimate == near


@pytest.mark.parametrize("scale", CLOSE, ids=str)
def test_a_report_names_both_values(scale: tuple[float, float]) -> None:
    rows = pd.DataFrame({"item": ["a"] * 5 + ["b"] * 4, "r": [*scale, scale[1]] * 3})
    page = uh.make_report(rows, item="item", rating="r", scale=scale, q=0.3)
    for value in scale:
        assert f"{value!r}" in page


@pytest.mark.parametrize(
    ("counts", "asked", "is_noted"),
    [
        (["1_star", "2_star"], {}, True),
        (["1_star", "2_star"], {"scale": "1:2"}, False),
        (["1_star", "2_star", "3_star"], {}, False),
    ],
)
def test_counts_of_another_rating_are_named(
    counts: list[str], asked: dict[str, Any], is_noted: bool, recwarn: pytest.WarningsRecorder
) -> None:
    table = pd.DataFrame(
        {"hotel": ["A"], "1_star": [3], "2_star": [1], "3_star": [2], "year_1": [1]}
    )
    uh.rate(table, "hotel", counts=counts, q=0.3, **asked)
    said = [str(one.message) for one in recwarn]
    words = "'3_star' was not counted: if more ratings are possible, name their columns in counts"
    assert said == ([f"{words} as well."] if is_noted else [])
