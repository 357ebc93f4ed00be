"""Ratings that are words, in tables."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.cases import FIVE, check, ratings
from tests.tables.engines import Bench, bench
from tests.tables.oracle import expected

WORDS = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "agree", " Strongly agree"]
TABLE = ratings(41)
NUMBERS = TABLE["rating"].to_pylist()
WORDED = TABLE.set_column(1, "rating", pa.array([WORDS[value - 1] for value in NUMBERS]))


def test_words_count_as_the_ratings_that_they_stand_for(database: Bench) -> None:
    wanted = expected(TABLE, ["item"], "rating", FIVE, q=0.3)
    source, where = database.load(WORDED)
    with pytest.raises(uh.DataError, match="are words, which may be read as") as refused:
        uh.rate(source, "item", "rating", q=0.3, **where)
    for value, word in enumerate(WORDS, start=1):
        assert f"{word} = {value} ({NUMBERS.count(value):,}×)" in str(refused.value)
    with pytest.warns(uh.TableWarning, match="Words were read as ratings: Strongly disagree = 1"):
        check(database, WORDED, wanted, rating="rating", q=0.3, labels="auto")


def test_true_and_false_are_words(database: Bench) -> None:
    binary = TABLE.set_column(1, "rating", pa.array([int(value > 3) for value in NUMBERS]))
    flags = TABLE.set_column(1, "rating", pa.array([value > 3 for value in NUMBERS]))
    wanted = expected(binary, ["item"], "rating", [0, 1], q=0.3)
    check(database, flags, wanted, rating="rating", q=0.3, labels="False=0,True=1")


@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_stated_words(name: str) -> None:
    database = bench(name)
    stated = [word.strip().upper() for word in WORDS]
    text = uh.write_sql(
        "item", "rating", dialect=database.dialect, table="words", q=0.3, labels=stated
    )
    rows = pa.Table.from_pylist(database.run(text, {"words": WORDED}))
    wanted = expected(TABLE, ["item"], "rating", FIVE, q=0.3)
    found = {row["item"]: row for row in rows.to_pylist()}
    for (item,), row in wanted.items():
        assert found[item]["lower"] == pytest.approx(row["lower"], abs=1e-9)
    check(database, WORDED, wanted, rating="rating", q=0.3, labels=stated)
    with pytest.raises(uh.OptionError, match="requires the data"):
        uh.write_sql("item", "rating", dialect="postgres", q=0.3, labels="auto")


FEW: dict[str, Any] = {"hotel": list("AAABB")}


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_ordered_categories_have_an_order_of_their_own(kind: str) -> None:
    import polars as pl

    order, given = ["meh", "fine", "wow"], ["wow", "meh", "wow", "fine", "fine"]
    frame: Any = pd.DataFrame(FEW | {"stars": pd.Categorical(given, order, ordered=True)})
    if kind == "polars":
        frame = pl.DataFrame(FEW | {"stars": pl.Series(given, dtype=pl.Enum(order))})
    with pytest.warns(uh.TableWarning, match=r"meh = 1 \(1×\), fine = 2 \(2×\), wow = 3 \(2×\)"):
        found = uh.rate(frame, "hotel", "stars", q=0.3, labels="auto", sort="item")
    assert list(found["average"]) == [pytest.approx(7 / 3), 2.0]


def test_words_and_values_without_rating() -> None:
    frame = pd.DataFrame(FEW | {"stars": ["Yes", "no", "Not sure", "yes", "4"]})
    labels: dict[str, float | None] = {"No": 0, "Yes": 1, "not sure": None}
    with pytest.raises(uh.DataError, match=r"1 row has no rating.*not on the scale 0, 1: '4'"):
        uh.rate(frame, "hotel", "stars", q=0.3, labels=labels)
    with pytest.warns(uh.TableWarning):
        found = uh.rate(
            frame, "hotel", "stars", q=0.3, labels=labels, nulls="nonresponse", off_scale="drop",
            sort="item",
        )  # fmt: skip
    assert found[["n_ratings", "n", "average"]].to_numpy().tolist() == [[2, 3, 0.5], [1, 2, 1.0]]


def test_numbers_may_be_labels_too() -> None:
    marks = pd.DataFrame(FEW | {"stars": [1, 2, 6, 3, 1]})
    found = uh.rate(marks, "hotel", "stars", q=0.3, labels=list("654321"), sort="item")
    assert list(found["average"]) == [pytest.approx((6 + 5 + 1) / 3), 5.0]


def test_a_stated_scale_settles_which_words_are_meant() -> None:
    words = ["Agree", "Disagree", "Strongly agree", "Strongly disagree", "Agree"]
    frame = pd.DataFrame(FEW | {"stars": words})
    for labels in (None, "auto"):
        with pytest.raises(uh.DataError, match=r"fit more than one scale.*Say which with") as told:
            uh.rate(frame, "hotel", "stars", q=0.3, labels=labels)
        assert "labels='Strongly disagree,Disagree,Agree,Strongly agree'" in str(told.value)
    for scale, average in (("1:4", 9 / 3), ("1:5", 11 / 3), ("0:3", 6 / 3)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", uh.TableWarning)
            found = uh.rate(frame, "hotel", "stars", q=0.3, labels="auto", scale=scale, sort="item")
        assert found["average"][0] == pytest.approx(average)


def test_words_that_are_not_known() -> None:
    frame = pd.DataFrame(FEW | {"stars": ["so", "la", "so", "so", "la"]})
    known = r"are not recognised words: 'so' \(3 times\), 'la' \(2 times\)"
    with pytest.raises(uh.DataError, match=known):
        uh.rate(frame, "hotel", "stars", q=0.3, labels="auto")
    with pytest.raises(uh.ColumnError, match=r"contains no numbers: 'so' \(3 times\), 'la'"):
        uh.rate(frame, "hotel", "stars", q=0.3)
    assert uh.rate(frame, "hotel", "stars", q=0.3, labels=["la", "so"])["n_ratings"].sum() == 5


@pytest.mark.parametrize(
    ("words", "labels", "problem"),
    [
        (["Yes", "Yes", "No", "Yes", "Maybe"], "auto", r"not recognised: Maybe \(1×\)\. Say what"),
        (
            ["4/10", "8.5/10"] * 2 + ["10/10"],
            None,
            "labels='4/10=4,8.5/10=8.5,10/10=10' with scale=",
        ),
        (["4", "N/A", "5", "5", "4"], None, "are numbers and words, which may .* labels='N/A='"),
        (list("opqrstuv"), None, "'o' .once.*'u' .once., 'v' .once."),
        (
            ["½", "★★★½", "★★", "★★", "★"],
            None,
            "½ = 0.5 .* and the scale is 1 to 5. Use scale='0.5:5",
        ),
    ],
)
def test_what_is_asked_about_words(words: list[str], labels: str | None, problem: str) -> None:
    frame = pd.DataFrame({"hotel": "A", "stars": words})
    scale = "1:5" if "½" in words else None
    with pytest.raises(uh.InputError, match=problem):
        uh.rate(frame, "hotel", "stars", q=0.3, labels=labels, scale=scale)


LIKERT = ["Agree", "Disagree", "Strongly agree", "Strongly disagree", "Neutral"]
NOT_ONE = "are not on one scale: .* Rate each by itself, as in rating='a', or say"


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ([5, 4, 1, 2, 2], r"ratings in 'b' of .* are words, which .* Disagree = 2 \(1×\)"),
        (
            ["Satisfied", "Neutral", "Very satisfied", "Neutral", "Dissatisfied"],
            r"'a' and 'b' .* very dissatisfied = 1 \(0×\), .* Neutral = 3 \(3×\)",
        ),
        ([10, 4, 1, 2, 9], f"{NOT_ONE}.*"),
        (["yes", "no", "yes", "yes", "no"], f"'a' may be read as no = 0 .*|{NOT_ONE}"),
    ],
)
def test_columns_are_read_each_by_itself(other: list[Any], problem: str) -> None:
    frame = pd.DataFrame(FEW | {"a": other, "b": LIKERT})
    with pytest.raises(uh.DataError, match=problem) as refused:
        uh.rate(frame, "hotel", ["a", "b"], q=0.3)
    if refused.value.code == "several_scales":
        with pytest.raises(uh.DataError, match=NOT_ONE):
            uh.rate(frame, "hotel", ["a", "b"], q=0.3, labels="auto")
        return
    with pytest.warns(uh.TableWarning, match="Words were read as ratings: "):
        found = uh.rate(frame, "hotel", ["a", "b"], q=0.3, labels="auto", sort="item")
    worded = found[found["attribute"] == "b"]
    assert list(worded["average"]) == [pytest.approx(11 / 3), 2.0]
    numbers = {"Satisfied": 4, "Neutral": 3, "Very satisfied": 5, "Dissatisfied": 2}
    first = [numbers.get(one, one) for one in other]
    beside = found[found["attribute"] == "a"]
    assert list(beside["average"]) == [pytest.approx(sum(first[:3]) / 3), sum(first[3:]) / 2]


@pytest.mark.parametrize(
    ("words", "labels", "hint"),
    [
        (LIKERT, "Bad,Good", "Use labels='auto', which reads them as Strongly disagree = 1"),
        (list("lmnop"), "Bad,Good", "Say what each stands for, .* labels='l=.,m=.,n=.,o=.,p=.'"),
        (list("54321"), "Bad,Good", "Leave labels out"),
    ],
)
def test_labels_that_fit_no_value(words: list[str], labels: str, hint: str) -> None:
    frame = pd.DataFrame(FEW | {"stars": words})
    problem = rf"labels names none of the values of 'stars' in .* \(once\)\. {hint}"
    with pytest.raises(uh.DataError, match=problem) as refused:
        uh.rate(frame, "hotel", "stars", q=0.3, labels=labels)
    assert refused.value.code == "unused_labels"


def test_labels_that_numbers_do_not_need() -> None:
    frame = pd.DataFrame(FEW | {"stars": [5, 4, 3, 2, 1]})
    wanted = uh.rate(frame, "hotel", "stars", q=0.3)
    for labels in ("auto", "N/A=", "a,b,c,d,e"):
        pd.testing.assert_frame_equal(
            uh.rate(frame, "hotel", "stars", q=0.3, labels=labels), wanted
        )


def test_what_is_asked_keeps_what_is_stated() -> None:
    frame = pd.DataFrame(FEW | {"stars": LIKERT})
    asked = "labels='Agree=4,Disagree=2,Neutral=.,Strongly agree=.,Strongly disagree=.'"
    with pytest.raises(uh.DataError, match=asked):
        uh.rate(frame, "hotel", "stars", q=0.3, labels="Agree=4,Disagree=2")


def test_words_without_rating_beside_numbers() -> None:
    frame = pd.DataFrame(FEW | {"stars": ["4", "N/A", "5", "5", "4"]})
    for labels in ("auto", "N/A=", {"N/A": None}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", uh.TableWarning)
            found = uh.count_ratings(frame, "hotel", "stars", labels=labels, nulls="drop")
        assert found[["count_4", "count_5"]].to_numpy().tolist() == [[1, 1], [1, 1]]
