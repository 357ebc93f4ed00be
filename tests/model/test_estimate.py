"""The whole answer: symmetry, change of scale, weights, extremes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unheard as uh
from tests.strategies import Histogram, assumptions, histograms, mirrored, voice_ratios
from unheard.options.choices import Method

NUMBERS = ("estimate", "lower", "upper", "ci_lower", "ci_upper")


def answers(histogram: Histogram, assumption: dict[str, Any], n: int | None, **more: Any) -> Any:
    question = uh.build_question(
        histogram.counts, **assumption, n=n, scale=histogram.values, **more
    )
    # minimax solves a game for every n and q; tests/game is about it.
    methods = [method for method in question.methods() if method != "minimax"]
    return {one.method: one for one in question.answer(methods)}


populations = st.none() | st.integers(0, 3000)


@given(st.data(), histograms(), populations, st.sampled_from(["mean", "people"]))
def test_one_histogram_gets_the_numbers_that_it_gets_among_others(
    data: st.DataObject, histogram: Histogram, unseen: int | None, covers: str
) -> None:
    # One row is worked out with Python's numbers, several with NumPy's.
    assumption = data.draw(assumptions(histogram.m, n_known=unseen is not None))
    n = None if unseen is None else int(histogram.counts.sum()) + unseen
    covers = "mean" if n is None else covers
    alone = answers(histogram, assumption, n, covers=covers)
    nobody = np.zeros_like(histogram.counts)
    rows = Histogram(np.stack([histogram.counts, nobody]), histogram.values)
    question = uh.build_question(rows.counts, **assumption, n=n, scale=rows.values, covers=covers)
    for among in question.answer_rows(alone):
        one = alone[among.method]
        for name in NUMBERS:
            expected = getattr(among, name)[0]
            assert getattr(one, name) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert one.notes == among.notes[0]


@pytest.mark.parametrize("values", [[0, 1e200], [0, 1e-200]])
def test_scales_beyond_all_numbers_are_refused(values: list[float]) -> None:
    with pytest.raises(uh.ScaleError, match=r"scale\[1\]"):
        uh.estimate([1, 2], 0.3, scale=values)


@given(st.data(), histograms(), populations)
def test_turning_the_scale_over_mirrors_everything(
    data: st.DataObject, histogram: Histogram, unseen: int | None
) -> None:
    assumption = data.draw(assumptions(histogram.m, n_known=unseen is not None))
    n = None if unseen is None else int(histogram.counts.sum()) + unseen
    turned = Histogram(histogram.counts[::-1], tuple(-v for v in histogram.values[::-1]))
    here, there = answers(histogram, assumption, n), answers(turned, mirrored(assumption), n)
    pairs = [("estimate", "estimate"), ("lower", "upper"), ("ci_lower", "ci_upper")]
    for method in here.keys() - {"spectral"}:
        for one, other in pairs:
            assert getattr(here[method], one) == pytest.approx(
                -getattr(there[method], other), abs=1e-9
            )
        assert here[method].notes == there[method].notes


@given(st.data(), histograms(), populations, st.floats(0.1, 50), st.floats(-20, 20))
def test_a_change_of_scale_carries_through(
    data: st.DataObject, histogram: Histogram, unseen: int | None, factor: float, shift: float
) -> None:
    assumption = data.draw(assumptions(histogram.m, n_known=unseen is not None))
    n = None if unseen is None else int(histogram.counts.sum()) + unseen
    moved = Histogram(histogram.counts, tuple(shift + factor * v for v in histogram.values))
    here, there = answers(histogram, assumption, n), answers(moved, assumption, n)
    for method in here.keys() - {"spectral"}:
        for name in NUMBERS:
            expected = shift + factor * getattr(here[method], name)
            assert getattr(there[method], name) == pytest.approx(expected, abs=1e-8 * factor)


@given(
    st.lists(histograms(m=3), min_size=1, max_size=5),
    voice_ratios,
)
def test_many_rows_give_what_each_row_gives(rows: list[Histogram], q: float) -> None:
    counts = np.array([row.counts for row in rows])
    n = counts.sum(axis=1) + np.arange(len(rows)) * 7
    qs = np.linspace(q, 1, len(rows))
    question = uh.build_question(counts, qs, n=n)
    for together in question.answer_rows(["average", "spectral", "paa", "bea", "midpoint"]):
        for i in range(len(rows)):
            alone = uh.estimate(counts[i].tolist(), qs[i], n=n[i], method=together.method)
            assert together.notes[i] == alone.notes
            for name in NUMBERS:
                assert getattr(together, name)[i] == pytest.approx(getattr(alone, name), abs=1e-12)


def test_more_rows_than_a_block() -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 9, size=(20_001, 4))
    together = uh.estimate(counts, 0.4)
    for i in (0, 8191, 8192, 16_384, 20_000):
        assert together.estimate[i] == uh.estimate(counts[i], 0.4).estimate


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64, np.uint64, np.float32])
def test_any_type_of_number_gives_the_same_answer(dtype: type) -> None:
    counts = np.array([[3, 0, 9], [1, 200, 7]])
    expected = uh.estimate(counts, 0.3, n=300)
    found = uh.estimate(counts.astype(dtype), 0.3, n=300)
    for name in NUMBERS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_the_largest_counts_lose_nothing() -> None:
    top = 2**53
    found = uh.estimate([top, top, top], 0.5)
    assert found.estimate == 2.0
    assert 1 <= found.ci_lower <= found.lower < 2 < found.upper <= found.ci_upper <= 3
    assert found.lower - found.ci_lower < 1e-6
    odd = uh.estimate([1, 2**53 - 1], 1.0, n=2**53)
    assert odd.estimate == 2 - 1 / 2**53


def audited() -> uh.Assumption:
    truth = np.random.default_rng(1).integers(20, 40, (12, 3))
    return uh.calibrate(truth // [4, 3, 2], truth).assumption


@pytest.mark.parametrize(
    ("method", "n"),
    [
        (method, n)
        for method in uh.METHODS
        for n in (None, 0, 7)
        if n is not None or method not in ("bea", "midpoint", "minimax")
    ],
)
def test_nobody_rated(method: Method, n: int | None) -> None:
    assumption: dict[str, Any] = {"g": [0.5, 0.4, 0.3]} if method == "reweight" else {"q": 0.001}
    if method == "pooled":
        assumption = {"assumption": audited()}
    found = uh.estimate([0, 0, 0], **assumption, n=n, scale=[2, 3, 9], method=method)
    assert (found.estimate, found.lower, found.upper) == (5.5, 2, 9)
    assert (found.ci_lower, found.ci_upper) == (2, 9)
    assert found.notes[0] == "no_ratings"


def test_known_participation_reweights() -> None:
    found = uh.estimate([10, 20, 30], g=[0.1, 0.2, 0.6])
    assert found.method == "reweight"
    people = np.array([100, 100, 50])
    assert found.estimate == pytest.approx(people @ [1, 2, 3] / 250)
    assert found.lower == pytest.approx(found.estimate) == found.upper


def test_an_estimate_outside_its_interval_is_flagged() -> None:
    found = uh.estimate([120, 30, 45, 200, 605], floor=0.3, n=2400, method="bea")
    assert found.estimate < found.lower
    assert found.notes == ("outside_bounds",)


def test_without_a_level_there_is_no_confidence_interval() -> None:
    plain, full = (uh.estimate([[1, 2, 3]], 0.3, n=9, level=level) for level in (None, 0.95))
    assert np.isnan([plain.ci_lower, plain.ci_upper]).all()
    np.testing.assert_array_equal(plain.estimate, full.estimate)


@given(histograms(), voice_ratios, st.floats(0.01, 100), populations)
def test_weights_matter_by_their_ratios_and_effective_size(
    histogram: Histogram, q: float, factor: float, unseen: int | None
) -> None:
    size = float(histogram.counts.sum())
    n = None if unseen is None else size + unseen
    plain = uh.estimate(histogram.counts, q, n=n)
    weighted = uh.estimate(
        histogram.counts * factor, q, n=None if n is None else n * factor, effective=size
    )
    for name in NUMBERS:
        assert getattr(weighted, name) == pytest.approx(getattr(plain, name), abs=1e-9)


TINY = 1e-9

WEIGHING = {
    # ratings, their shares, what they weigh; Kish's size covered 0.57 of the first and 0.56 of the
    # second with 100 ratings
    "half of the lowest are heavy": ((1, 1, 5), (0.01, 0.01, 0.98), (1, 10, 1)),
    "half of the highest are heavy": ((1, 5, 5), (0.98, 0.01, 0.01), (1, 1, 10)),
    "the heavy are all alike": ((1, 1, 5), (0.3, 0.1, 0.6), (1, 6, 1)),
}


@pytest.mark.parametrize("size", [10, 100, 400])
@pytest.mark.parametrize("q", [1.0, 0.3])
@pytest.mark.parametrize("name", WEIGHING)
def test_weights_that_go_with_the_rating_keep_the_level(name: str, q: float, size: int) -> None:
    values, shares, weights = (np.array(x, float) for x in WEIGHING[name])
    drawn = np.random.default_rng(size).multinomial(size, shares, size=2000)
    sums, squares = np.zeros((2, len(drawn), 5))
    for value, weight, count in zip(values, weights, drawn.T, strict=True):
        sums[:, int(value) - 1] += weight * count
        squares[:, int(value) - 1] += weight**2 * count
    found = uh.estimate(sums, q, squared_weights=squares, largest_weight=weights.max())
    for low in (1 / q, q):
        people = shares * weights * np.where(values == 1, low, 1.0)
        truth = people @ values / people.sum()
        inside = (found.ci_lower <= truth + TINY) & (found.ci_upper >= truth - TINY)
        # 2000 draws: a level of 0.95 gives less than 0.935 once in a thousand times.
        assert inside.mean() >= 0.935


def test_equal_weights_are_counts() -> None:
    counts = np.array([12, 3, 0, 20, 41])
    plain = uh.estimate(counts, 0.4)
    for weight in (1.0, 2.5):
        squares = counts * weight**2
        found = uh.estimate(counts * weight, 0.4, squared_weights=squares, largest_weight=weight)
        assert found.estimate == pytest.approx(plain.estimate, rel=1e-12)
        assert found.ci_lower == pytest.approx(plain.ci_lower, abs=1e-5)
        assert found.ci_upper == pytest.approx(plain.ci_upper, abs=1e-5)
        assert found.notes == ()
    assert uh.estimate(counts, 0.4, effective=76).notes == ("weights_assumed",)


def test_a_smaller_effective_size_is_less_certain() -> None:
    wide, narrow = (uh.estimate([12.5, 3.25, 40.75], 0.5, effective=size) for size in (20, 50))
    assert wide.estimate == narrow.estimate
    assert wide.ci_lower < narrow.ci_lower
    assert wide.ci_upper > narrow.ci_upper


BAD: list[tuple[type[uh.InputError], str, list[Any] | Any, dict[str, Any]]] = [
    (
        uh.CountsError,
        r"counts\[1\] must be between 0 and 2\*\*53; got -2\. Count",
        [1, -2, 3],
        {"q": 0.3},
    ),
    (
        uh.CountsError,
        r"counts\[2\] must be a whole number; got 3\.5\. For survey weights.* squared_weights",
        [1, 2, 3.5],
        {"q": 0.3},
    ),
    (
        uh.CountsError,
        r"counts\[0\] must be .*; got nan\. Replace a missing count by 0",
        [np.nan, 2, 3],
        {"q": 0.3},
    ),
    (uh.CountsError, r"counts\[0\] must be .*; got inf", [np.inf, 2, 3], {"q": 0.3}),
    (
        uh.CountsError,
        r"counts must be .*; 2 are not, such as counts\[1, 0\] = -1",
        [[1, 2], [-1, -1]],
        {"q": 0.3},
    ),
    (
        uh.CountsError,
        r"counts\[0\] must be .*2\*\*53; got 9007199254740993",
        [2**53 + 1, 1],
        {"q": 0.3},
    ),
    (uh.CountsError, r"counts\[0\] must be .*; got 1e\+30", [10**30, 1], {"q": 0.3}),
    (uh.CountsError, r"counts must be numbers; got something else", [10**400, 1], {"q": 0.3}),
    (uh.CountsError, r"counts must be numbers; got text", ["a", "b"], {"q": 0.3}),
    (uh.CountsError, r"counts must be numbers; got complex numbers", [1j, 2], {"q": 0.3}),
    (uh.CountsError, r"counts must have rows of equal length", [[1, 2], [3]], {"q": 0.3}),
    (uh.CountsError, r"counts is empty", [], {"q": 0.3}),
    (uh.CountsError, r"counts must have at least two counts.*; got 1", [4], {"q": 0.3}),
    (
        uh.CountsError,
        r"one count per value .*5 for the scale 1 to 5; got 3",
        [1, 2, 3],
        {"q": 0.3, "scale": "1:5"},
    ),
    (
        uh.CountsError,
        r"counts\[0\] must be between .*; got -1\.5",
        [-1.5, 2],
        {"q": 0.3, "effective": 2},
    ),
    (uh.ScaleError, r"scale must have at least two values; got 4", [1], {"q": 0.3, "scale": [4]}),
    (
        uh.ScaleError,
        r"scale\[1\] must be above the value before it, which is 3; got 1",
        [1, 2],
        {"q": 0.3, "scale": [3, 1]},
    ),
    (
        uh.ScaleError,
        r"scale\[1\] must be above the value before it, which is 1; got 1",
        [1, 2],
        {"q": 0.3, "scale": [1, 1]},
    ),
    (
        uh.ScaleError,
        r"scale\[0\] must be a finite number; got nan",
        [1, 2],
        {"q": 0.3, "scale": [np.nan, 1]},
    ),
    (
        uh.ScaleError,
        r"scale must reach its last value in whole steps; got '1:2:0\.3'",
        [1, 2],
        {"q": 0.3, "scale": "1:2:0.3"},
    ),
    (uh.ScaleError, r"scale must ascend; got '5:1'", [1, 2], {"q": 0.3, "scale": "5:1"}),
    (
        uh.ScaleError,
        r"scale\[1\] must be a finite number; got 'x'",
        [1, 2],
        {"q": 0.3, "scale": "1,x"},
    ),
    (
        uh.ScaleError,
        r"scale must be first:last or .* commas; got '1-5'\. Use ascending values such as 1:5",
        [1, 2],
        {"q": 0.3, "scale": "1-5"},
    ),
    (
        uh.ScaleError,
        r"scale must be first:last or .*; got '1:2:3:4'",
        [1, 2],
        {"q": 0.3, "scale": "1:2:3:4"},
    ),
    (uh.AssumptionError, r"q must be in \(0, 1\]; got 0\.", [1, 2], {"q": 0}),
    (uh.AssumptionError, r"q must be in \(0, 1\]; got 1\.01", [1, 2], {"q": 1.01}),
    (uh.AssumptionError, r"q must be in \(0, 1\]; got nan", [1, 2], {"q": np.nan}),
    (uh.AssumptionError, r"q\[1\] must be in \(0, 1\]; got -1", [[1, 2], [3, 4]], {"q": [0.5, -1]}),
    (
        uh.AssumptionError,
        r"q must be one number, or one per item \(2\); got 3 numbers",
        [[1, 2], [3, 4]],
        {"q": [0.5, 0.5, 0.5]},
    ),
    (
        uh.AssumptionError,
        r"q must be a number or .* study; got 'much'\. Use a number, survey \(0\.5\)",
        [1, 2],
        {"q": "much"},
    ),
    (uh.AssumptionError, r"An assumption about who responds is required. Give q", [1, 2], {}),
    (
        uh.AssumptionError,
        r"Only one assumption can be stated; got q and g. Give one of q, ",
        [1, 2],
        {"q": 0.3, "g": [0.1, 0.2]},
    ),
    (
        uh.AssumptionError,
        r"quiet must be 'any', 'low', 'high' or 'middle'; got 'lo'",
        [1, 2],
        {"q": 0.3, "quiet": "lo"},
    ),
    (
        uh.AssumptionError,
        r"only together with q; got 'low' ",
        [1, 2],
        {"g": [1, 1], "quiet": "low"},
    ),
    (
        uh.AssumptionError,
        r"participation\[0\] must be lo:hi.*; got 0\.5:0\.3",
        [1, 2],
        {"participation": [(0.5, 0.3), (0.1, 1)]},
    ),
    (
        uh.AssumptionError,
        r"participation\[1\] must be lo:hi.*; got 0:0\.3",
        [1, 2],
        {"participation": [(0.1, 1), (0, 0.3)]},
    ),
    (
        uh.AssumptionError,
        r"participation\[1\] must be a pair \(lo, hi\); got 0.1. Use a pair such as",
        [1, 2],
        {"participation": [(0.1, 1), 0.1]},
    ),
    (
        uh.AssumptionError,
        r"participation must have one entry .* 2 ratings .*; got 1",
        [1, 2],
        {"participation": [(0.1, 1)]},
    ),
    (
        uh.AssumptionError,
        r"g must have one entry .* 2 ratings .*; got 3",
        [1, 2],
        {"g": [0.1, 0.2, 0.3]},
    ),
    (uh.AssumptionError, r"g\[1\] must be in \(0, 1\].*; got 0\.", [1, 2], {"g": [0.1, 0]}),
    (
        uh.PopulationError,
        r"n must be at least the number of ratings, 3; got 2",
        [1, 2],
        {"q": 0.3, "n": 2},
    ),
    (
        uh.PopulationError,
        r"n\[1\] must be at least the number of ratings, 7; got 6",
        [[1, 2], [3, 4]],
        {"q": 0.3, "n": [9, 6]},
    ),
    (
        uh.PopulationError,
        r"n must be a whole number of people.*; got 3\.5",
        [1, 2],
        {"q": 0.3, "n": 3.5},
    ),
    (
        uh.PopulationError,
        r"n must be a whole number of people.*; got nan",
        [1, 2],
        {"q": 0.3, "n": np.nan},
    ),
    (
        uh.PopulationError,
        r"n must be one number, or one per item \(1\); got 3 numbers",
        [1, 2],
        {"q": 0.3, "n": [9, 9, 9]},
    ),
    (
        uh.PopulationError,
        r"effective must be above 0 .*; got 0\.",
        [1.5, 2],
        {"q": 0.3, "effective": 0},
    ),
    (
        uh.CountsError,
        r"squared_weights and largest_weight must be given together",
        [1, 2],
        {"q": 1, "largest_weight": 2},
    ),
    (
        uh.CountsError,
        r"squared_weights\[1\] cannot be .* add up to 2, none of them above 3; got 9",
        [1.5, 2],
        {"q": 1, "squared_weights": [1, 9], "largest_weight": 3},
    ),
    (
        uh.CountsError,
        r"squared_weights must have the shape of counts.*; got shape \(1, 3\)",
        [1.5, 2],
        {"q": 1, "squared_weights": [1, 1, 1], "largest_weight": 3},
    ),
    (
        uh.MethodError,
        r"method must be one of average, .*; got 'mean'",
        [1, 2],
        {"q": 0.3, "method": "mean"},
    ),
    (
        uh.MethodError,
        r"method='bea' requires n. Give n, or use method='paa'",
        [1, 2],
        {"q": 0.3, "method": "bea"},
    ),
    (uh.MethodError, r"method='midpoint' requires n", [1, 2], {"q": 0.3, "method": "midpoint"}),
    (
        uh.MethodError,
        r"'reweight' does not apply to this kind",
        [1, 2],
        {"q": 0.3, "method": "reweight"},
    ),
    (
        uh.MethodError,
        r"does not apply.* State q without a direction or a floor, or",
        [1, 2],
        {"q": 0.3, "quiet": "low", "n": 9, "method": "bea"},
    ),
    (
        uh.MethodError,
        r"method='bea' requires counts of people",
        [1.5, 2],
        {"q": 0.3, "n": 9, "effective": 3, "method": "bea"},
    ),
    (uh.OptionError, r"level must be between 0 and 1; got 1. Use", [1, 2], {"q": 0.3, "level": 1}),
    (
        uh.OptionError,
        r"level must be between 0 and 1; got '0.95'",
        [1, 2],
        {"q": 0.3, "level": "0.95"},
    ),
    (
        uh.OptionError,
        r"weighted counts",
        [1.5, 2],
        {"q": 0.3, "n": 9, "effective": 3, "covers": "people"},
    ),
    (uh.CountsError, r"masked array", np.ma.array([1, 2], mask=[False, True]), {"q": 0.3}),
    (
        uh.CountsError,
        r"counts\[0\] must be .*; got inf",
        np.array([np.inf, 1], np.float16),
        {"q": 0.3},
    ),
    (
        uh.AssumptionError,
        r"g\[0\] must be .* not below 1e-100; got 9\.99",
        [1, 2],
        {"g": [1e-310, 0.5]},
    ),
    (
        uh.PopulationError,
        r"n must be a number, or one number per item; got 1000",
        [1, 2],
        {"q": 0.3, "n": 10**400},
    ),
    (uh.OptionError, r"'mean' or 'people'; got 'all'", [1, 2], {"q": 0.3, "covers": "all"}),
    (uh.OptionError, r"covers='people' requires n. Give n", [1, 2], {"q": 0.3, "covers": "people"}),
]


@pytest.mark.parametrize(("error", "message", "counts", "arguments"), BAD, ids=[b[1] for b in BAD])
def test_bad_input_names_place_finding_and_remedy(
    error: type[uh.InputError], message: str, counts: Any, arguments: dict[str, Any]
) -> None:
    with pytest.raises(error, match=message) as caught:
        uh.estimate(counts, **arguments)
    assert caught.value.hint
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1:5", (1, 2, 3, 4, 5)),
        ("0.5:2:0.5", (0.5, 1, 1.5, 2)),
        ("0:1:0.1", (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)),
        ("-2:2:2", (-2, 0, 2)),
        ("1,2,4", (1, 2, 4)),
    ],
)
def test_scales_are_read_as_meant(text: str, values: tuple[float, ...]) -> None:
    assert uh.Scale.parse(text).values == values


@pytest.mark.parametrize("text", ["0:1:1e-320", "0:1e100:1e-300", "0:1:1e-5", "1:10002"])
def test_scales_of_too_many_values_are_refused(text: str) -> None:
    with pytest.raises(uh.ScaleError, match=r"at most 10,001 values.*Use a larger step"):
        uh.Scale.parse(text)


def test_few_ratings_are_flagged() -> None:
    found = uh.estimate([[0, 0, 0], [0, 0, 1], [3, 3, 3], [3, 3, 4]], 0.5)
    assert [*found.notes] == [("no_ratings",), ("few_ratings",), ("few_ratings",), ()]
    assert "few_ratings" in uh.estimate([10, 10], 0.5, effective=9.5).notes
    assert "few_ratings" not in uh.estimate([10, 10], 0.5, effective=10).notes
