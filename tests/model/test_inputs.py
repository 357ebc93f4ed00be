"""Counts and ratings as people have them: labels are used, and what is unclear is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unheard as uh

COUNTS = [120, 30, 45, 200, 605]
RATINGS = [rating for rating, times in zip(range(1, 6), COUNTS, strict=True) for _ in range(times)]
MIXED = np.random.default_rng(3).permutation(RATINGS)
BY_RATING = {5: 605, 4: 200, 3: 45, 2: 30, 1: 120}


def read(counts: Any, **options: Any) -> uh.Histograms:
    return uh.build_question(counts, 0.3, **options).counts


LABELLED: dict[str, Callable[[], Any]] = {
    "a dict": lambda: BY_RATING,
    "a dict with text for keys": lambda: {str(key): count for key, count in BY_RATING.items()},
    "a Counter": lambda: Counter(MIXED.tolist()),
    "value_counts of pandas": lambda: pd.Series(MIXED, name="stars").value_counts(),
    "sorted value_counts": lambda: pd.Series(MIXED).value_counts(ascending=True),
    "value_counts of categories": lambda: pd.Series(MIXED).astype("category").value_counts(),
    "value_counts of nullable numbers": lambda: pd.Series(MIXED, dtype="Int64").value_counts(),
    "value_counts as a pandas frame": lambda: (
        pd.Series(MIXED, name="s").value_counts().reset_index()
    ),
    "value_counts of Polars": lambda: pl.Series("stars", MIXED).value_counts(),
    "groups of Polars": lambda: pl.DataFrame({"stars": MIXED}).group_by("stars").len(),
    "value_counts of Arrow": lambda: pa.array(MIXED).value_counts(),
    "tallied ratings": lambda: uh.tally(MIXED),
}


@pytest.mark.parametrize("name", LABELLED)
def test_labels_say_which_count_is_which(name: str) -> None:
    expected = uh.estimate(COUNTS, q=0.3)
    for scale in (None, "1:5"):
        found = uh.estimate(LABELLED[name](), q=0.3, scale=scale)
        assert (found.estimate, found.lower, found.upper) == (
            expected.estimate,
            expected.lower,
            expected.upper,
        )
        assert read(LABELLED[name](), scale=scale).scale.values == (1, 2, 3, 4, 5)


PLAIN: dict[str, Callable[[], Any]] = {
    "a tuple": lambda: tuple(COUNTS),
    "an array": lambda: np.array(COUNTS),
    "a Polars Series": lambda: pl.Series(COUNTS),
    "an Arrow array": lambda: pa.array(COUNTS),
    "an Arrow chunked array": lambda: pa.chunked_array([COUNTS]),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_counts_go_lowest_first(name: str) -> None:
    assert uh.estimate(PLAIN[name](), q=0.3).estimate == uh.estimate(COUNTS, q=0.3).estimate


def test_a_series_whose_index_numbers_the_rows_needs_a_scale() -> None:
    plain = pd.Series(COUNTS)
    with pytest.raises(uh.CountsError, match=r"index that numbers the rows.*scale='1:5'") as caught:
        uh.estimate(plain, q=0.3)
    assert caught.value.code == "unclear_scale"
    assert uh.estimate(plain, q=0.3, scale="1:5").estimate == uh.estimate(COUNTS, q=0.3).estimate
    with pytest.raises(uh.CountsError, match="numbered columns"):
        uh.estimate(pd.DataFrame([COUNTS]), q=0.3)
    assert uh.estimate(pd.DataFrame([COUNTS]), q=0.3, scale="1:5").estimate.shape == (1,)


def test_absent_ratings_are_zeros_on_a_scale_and_unclear_without() -> None:
    stars = pd.Series([5, 5, 4, 1, 5])
    assert read(stars.value_counts(), scale="1:5").cells.tolist() == [[1, 0, 0, 1, 3]]
    with pytest.raises(uh.CountsError, match=r"the ratings 1, 4, 5, which do not determine") as no:
        uh.estimate(stars.value_counts(), q=0.3)
    assert no.value.code == "unclear_scale"
    for keys in (range(1, 5), range(2, 6), range(5), range(1, 8)):
        with pytest.raises(uh.CountsError, match="do not determine the scale"):
            uh.estimate(dict.fromkeys(keys, 7), q=0.3)


def wide() -> pd.DataFrame:
    rows = {"A": COUNTS, "B": [3, 0, 7, 9, 1]}
    frame = pd.DataFrame(rows, index=range(1, 6)).T
    return frame[[5, 3, 1, 2, 4]]


def test_frames_with_a_column_per_rating() -> None:
    expected = uh.estimate([COUNTS, [3, 0, 7, 9, 1]], q=0.3)
    text = wide().rename(columns=str)
    stars = pd.DataFrame({"hotel": ["A"] * 1000 + ["B"] * 20})
    stars["stars"] = [*RATINGS, *([1] * 3 + [3] * 7 + [4] * 9 + [5])]
    counted = stars.groupby("hotel").stars.value_counts().unstack(fill_value=0)
    ours = uh.count_ratings(pl.DataFrame(stars), item="hotel", rating="stars").sort("hotel")
    for frame in (
        wide(),
        pl.from_pandas(text),
        pa.Table.from_pandas(text, preserve_index=False),
        counted,
        ours.select([f"count_{r}" for r in (4, 2, 5, 1, 3)]),
    ):
        found = uh.estimate(frame, q=0.3)
        np.testing.assert_array_equal(found.estimate, expected.estimate)
    with pytest.raises(uh.CountsError, match=r"ratings as its column names; got 'hotel'.*rate"):
        uh.estimate(wide().reset_index(names="hotel"), q=0.3)
    with pytest.raises(uh.CountsError, match="lazy frame"):
        read(pl.from_pandas(text).lazy())


UNCLEAR: list[tuple[str, Callable[[], Any], dict[str, Any], str]] = [
    ("raw ratings as a Series", lambda: pd.Series(MIXED), {}, r"1,000 values look like .*tally"),
    ("and with a scale", lambda: pd.Series(MIXED), {"scale": "1:5"}, r"look like .*tally"),
    ("as a list", MIXED.tolist, {}, r"look like ratings.*tally"),
    ("in Polars", lambda: pl.Series(MIXED), {}, r"look like ratings.*tally"),
    ("in Arrow", lambda: pa.array(MIXED), {"scale": "1:5"}, r"look like ratings.*tally"),
    (
        "twenty of them",
        lambda: RATINGS[::50],
        {},
        r"20 values look like ratings.*tally.*scale='1:20'",
    ),
    ("six on a scale of five", lambda: [5, 4, 5, 5, 1, 2], {"scale": "1:5"}, r"look like.*tally"),
    ("some rows of a frame", lambda: pd.Series(MIXED)[[7, 31, 80]], {}, r"7, 31, 80, which.*tally"),
    ("a rating twice", lambda: pd.Series([3, 4], index=[1, 1]), {"scale": "1:5"}, "more than one"),
    ("a key off the scale", lambda: {1: 3, 6: 2}, {"scale": "1:5"}, "ratings 6, which are not on"),
    ("names for labels", lambda: {"good": 3, "bad": 2}, {}, "ratings as its keys; got 'good'"),
    (
        "missing ratings",
        lambda: pd.Series([5, 4, None, None]).value_counts(dropna=False),
        {"scale": "1:5"},
        "missing ratings: 2 of them",
    ),
    (
        "shares",
        lambda: pd.Series(MIXED).value_counts(normalize=True),
        {},
        r"counts must be whole numbers; 5 are not, such as counts\[0\] = 0\.\d+\. Shares are not",
    ),
    ("another scale", lambda: uh.tally(MIXED), {"scale": "0:5"}, "counted on the scale 1 to 5"),
]


@pytest.mark.parametrize(
    ("counts", "options", "message"), [row[1:] for row in UNCLEAR], ids=[row[0] for row in UNCLEAR]
)
def test_what_is_unclear_is_refused(
    counts: Callable[[], Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(uh.CountsError, match=message):
        uh.estimate(counts(), q=0.3, **options)


@pytest.mark.parametrize("counts", [[], {}, np.zeros((0, 5)), pd.Series([]), pl.Series([])])
def test_empty_counts(counts: Any) -> None:
    with pytest.raises(uh.CountsError, match=r"^counts is empty\. Use one"):
        uh.estimate(counts, q=0.3)


@pytest.mark.parametrize("counts", [None, 5, "12", {1, 2}])
def test_what_holds_no_counts(counts: Any) -> None:
    with pytest.raises(uh.CountsError) as caught:
        uh.estimate(counts, q=0.3)
    words = f"counts must be a list, dict or array of counts; got {counts!r}. "
    assert str(caught.value).startswith(words)


def test_counts_of_a_long_scale_are_counts() -> None:
    counts = np.arange(1, 201) % 7
    assert read(counts, scale=range(200)).scale.m == 200
    assert read([0] * 6 + [3] * 10).scale.m == 16


RAW: dict[str, Callable[[], Any]] = {
    "a list": MIXED.tolist,
    "text": lambda: [str(rating) for rating in MIXED],
    "an array": lambda: MIXED,
    "a generator": lambda: (rating for rating in MIXED.tolist()),
    "single precision": lambda: MIXED.astype(np.float32),
    "a pandas Series": lambda: pd.Series(MIXED),
    "a Polars Series": lambda: pl.Series(MIXED),
    "an Arrow array": lambda: pa.array(MIXED),
    "an Arrow chunked array": lambda: pa.chunked_array([MIXED]),
}


@pytest.mark.parametrize("name", RAW)
def test_tally_counts_ratings(name: str) -> None:
    for scale in (None, "1:5"):
        assert uh.tally(RAW[name](), scale).cells.tolist() == [COUNTS]


def test_tally_knows_ratings_in_single_precision() -> None:
    tenths = np.array([0.1, 0.3, 0.3], np.float32)
    assert uh.tally(tenths, "0.1:0.5:0.1").cells.tolist() == [[1, 0, 2, 0, 0]]


@pytest.mark.parametrize(
    "ratings",
    [
        [5, None, 4, float("nan")],
        np.array([5, np.nan, 4, np.nan]),
        pd.Series([5, None, 4, None]),
        pd.Series([5, None, 4, pd.NA], dtype="Int64"),
        pl.Series([5, None, 4, None]),
        pa.array([5, None, 4, None]),
    ],
    ids=["list", "array", "pandas", "nullable", "polars", "arrow"],
)
def test_tally_refuses_missing_ratings(ratings: Any) -> None:
    with pytest.raises(
        uh.DataError, match=r"^2 of the 4 ratings are missing\..*nulls='drop'"
    ) as caught:
        uh.tally(ratings, "1:5")
    assert (caught.value.argument, caught.value.code) == ("ratings", "missing_ratings")
    assert uh.tally(ratings, "1:5", nulls="drop").cells.tolist() == [[0, 0, 0, 1, 1]]


def test_tally_refuses_what_it_cannot_place() -> None:
    mixed: list[float | str] = [5, 9, 4, "n/a", 9]
    for scale in ("1:5", None):
        with pytest.raises(uh.DataError, match=r"^1 of the 5 ratings is not a number: 'n/a'\. Wri"):
            uh.tally(mixed, scale)
    words = r"^2 of the 4 ratings are not on the scale 1 to 5: 9 \(2 times\)\. .*scale='1:10';"
    with pytest.raises(uh.DataError, match=words):
        uh.tally([5, 9, 4, 9], "1:5")
    with pytest.raises(uh.DataError, match=r"^1 of the 3 ratings is not on the scale 1 to 5: 7\."):
        uh.tally([5, 7, 4], "1:5")
    with pytest.raises(uh.DataError, match=r"^The only rating is missing\."):
        uh.tally([None], "1:5")
    for neither in (5, "12345", None):
        with pytest.raises(uh.DataError, match="must be a list or a column of ratings"):
            uh.tally(neither, "1:5")  # type: ignore[arg-type]
    with pytest.raises(uh.DataError, match="values 1, 4, 5, which do not determine the scale"):
        uh.tally([5, 4, 1])
    with pytest.raises(uh.DataError, match="one column, and this is a table"):
        uh.tally(pl.DataFrame({"stars": [1]}))
    with pytest.raises(uh.DataError, match="one-dimensional"):
        uh.tally([[1, 2], [3, 4]])
    with pytest.raises(uh.OptionError, match="nulls must be 'refuse' or 'drop'; got 'no'"):
        uh.tally([1], "1:5", nulls="no")  # type: ignore[arg-type]


def test_tallied_counts_keep_their_scale() -> None:
    counts = uh.tally([0, 10, 7, 7], "0:10")
    assert repr(counts) == (
        "Histograms({0: 1, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 2, 8: 0, 9: 0, 10: 1})"
    )
    found = uh.estimate(counts, q=0.3, n=9)
    assert read(counts).scale.highest == 10
    assert found.estimate == uh.estimate(counts.cells[0], q=0.3, n=9, scale="0:10").estimate


def test_both_sides_of_a_comparison_go_by_their_labels() -> None:
    other = [30, 25, 45, 80, 20]
    labelled = dict(zip((1, 2, 3, 4, 5), other, strict=True))
    expected = uh.compare(COUNTS, other, q=0.5)
    found = uh.compare(pd.Series(MIXED).value_counts(), dict(reversed(labelled.items())), q=0.5)
    assert (found.separate.lower, found.shared.lower) == (
        expected.separate.lower,
        expected.shared.lower,
    )
    with pytest.raises(uh.CountsError, match=r"b has the ratings 1, 2, which do not determine"):
        uh.compare(COUNTS, {1: 3, 2: 4}, q=0.5)
    with pytest.raises(uh.CountsError, match=r"b must be on the scale of a, 1 to 5; got 1, 2"):
        uh.compare(COUNTS, [3, 4], q=0.5)


ratings = st.lists(st.sampled_from([0.5, 1, 2, 4.5, 7]), min_size=1)


@given(ratings, st.randoms())
def test_the_order_of_a_mapping_never_matters(given_ratings: list[float], random: Any) -> None:
    scale = [0.5, 1, 2, 4.5, 7]
    by_hand = [given_ratings.count(value) for value in scale]
    pairs = list(Counter(given_ratings).items())
    random.shuffle(pairs)
    for counts in (dict(pairs), pd.Series(dict(pairs)), uh.tally(given_ratings, scale)):
        found = uh.estimate(counts, q=0.4, scale=scale)
        assert read(counts, scale=scale).cells.tolist() == [by_hand]
        assert found.ci_lower == uh.estimate(by_hand, q=0.4, scale=scale).ci_lower
