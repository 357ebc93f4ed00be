"""Sweeps against one estimate for each q."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unheard as uh
from tests.strategies import Histogram, assumptions, histograms
from unheard.analysis.breakdown import find_largest_q
from unheard.analysis.sweep import GRID, sweep
from unheard.errors import AssumptionError, CountsError, InputError, OptionError
from unheard.model.assumption import Assumption
from unheard.model.question import build_question

COUNTS = [120, 30, 45, 200, 605]
NUMBERS = ("estimate", "lower", "upper", "ci_lower", "ci_upper")


@pytest.mark.parametrize("quiet", ["any", "low", "high", "middle"])
@pytest.mark.parametrize("n", [None, 2400])
@pytest.mark.parametrize("covers", ["mean", "people"])
def test_rows_are_estimates(quiet: str, n: int | None, covers: str) -> None:
    if n is None and covers == "people":
        covers = "mean"
    asked: dict[str, Any] = {"quiet": quiet, "n": n, "covers": covers, "level": 0.9}
    asked["scale"] = [0.5, 1, 2, 4, 4.5]
    found = sweep(COUNTS, [0.3, 1, 0.07], **asked)
    assert found.q.tolist() == [1, 0.3, 0.07]
    assert found.method == ("paa" if n is None else "midpoint")
    for row, q in enumerate(found.q):
        one = uh.estimate(COUNTS, float(q), method=found.method, **asked)
        for name in NUMBERS:
            assert getattr(found, name)[row] == pytest.approx(getattr(one, name), abs=1e-12)
        assert found.notes[row] == one.notes
        assert one.notes == ()  # no response rate contradicts a ratio


def test_floors_above_the_response_rate_are_refuted_and_narrow_nothing() -> None:
    found = sweep(COUNTS, floor=[1, 0.6, 0.4, 0.2], n=2400, level=0.9)
    assert ["refuted" in notes for notes in found.notes] == [True, True, False, False]
    for row, q in enumerate(found.q):
        one = uh.estimate(COUNTS, floor=q, n=2400, level=0.9)
        ratio = uh.estimate(COUNTS, q, level=0.9)
        for name in NUMBERS:
            expected = getattr(ratio if "refuted" in one.notes else one, name)
            assert getattr(found, name)[row] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(AssumptionError, match="floor and q cannot be combined"):
        sweep(COUNTS, [0.5], floor=[0.5], n=2400)
    with pytest.raises(AssumptionError, match="floor requires n"):
        sweep(COUNTS, floor=[0.5])


@given(histogram=histograms(), data=st.data())
@settings(max_examples=60)
def test_intervals_are_nested(histogram: Histogram, data: st.DataObject) -> None:
    stated = data.draw(assumptions(histogram.m))
    stated.pop("q", None)
    seen = int(histogram.counts.sum())
    n = data.draw(st.one_of(st.none(), st.integers(seen, 9 * seen)))
    qs = data.draw(st.lists(st.floats(0.005, 1), min_size=1, max_size=9))
    found = sweep(histogram.counts, qs, n=n, scale=histogram.values, **stated)
    assert found.q.tolist() == sorted(qs, reverse=True)
    width = histogram.values[-1] - histogram.values[0]
    # Where participation itself is stated, a q that the response rate contradicts stands apart.
    assert found.question is not None
    fits = found.q <= find_largest_q(found.question)[0]
    for low, high in ((found.lower, found.upper), (found.ci_lower, found.ci_upper)):
        assert (np.diff(low[fits]) <= 1e-9 * width).all()
        assert (np.diff(high[fits]) >= -1e-9 * width).all()
    assert (found.ci_lower <= found.lower + 1e-9 * width).all()
    assert (found.upper <= found.ci_upper + 1e-9 * width).all()
    assert (found.lower <= found.estimate).all()
    assert (found.estimate <= found.upper).all()


@pytest.mark.parametrize("upwards", [True, False])
def test_limits_of_unequal_bounds_with_n_move_outwards(upwards: bool) -> None:
    """Once the limit at 0.9 lay within that at 1, and sweeps had to hold it."""
    turn = slice(None, None, 1 if upwards else -1)
    counts = [29, 17, 0, 0][turn]
    box = [(0.71, 0.85), (0.05, 0.07), (0.02, 0.63), (0.13, 0.86)][turn]
    found = sweep(counts, [1, 0.9, 0.5], participation=box, n=368)
    asked = build_question(counts, participation=box, n=368)
    limits = np.array([asked.at(q).find_bounds()[2:] for q in (1.0, 0.9, 0.5)])[:, :, 0]
    assert found.ci_lower.tolist() == pytest.approx(limits[:, 0].tolist())
    assert found.ci_upper.tolist() == pytest.approx(limits[:, 1].tolist())


@pytest.mark.parametrize(
    "stated",
    [
        {"participation": [(0.1, 0.4), (0.2, 0.3), (0.3, 0.3), (0.3, 0.5), (0.4, 0.9)]},
        {"g": [0.1, 0.2, 0.3, 0.35, 0.6]},
    ],
)
@pytest.mark.parametrize("n", [None, 4000])
def test_participation_per_rating_is_loosened(stated: dict[str, Any], n: int | None) -> None:
    found = sweep(COUNTS, [1, 0.6, 0.2], n=n, **stated)
    asked = build_question(COUNTS, n=n, **stated)
    for row, q in enumerate(found.q):
        (one,) = asked.at(float(q)).answer([found.method])
        assert found.lower[row] == pytest.approx(one.lower, abs=1e-12)
        assert found.upper[row] == pytest.approx(one.upper, abs=1e-12)
        assert found.estimate[row] == pytest.approx(one.estimate, abs=1e-12)
    # Loosened by q, participation of at least lo may be as little as q times lo.
    ends = stated.get("participation") or [(g, g) for g in stated["g"]]
    box = Assumption.box([0.2 * lo for lo, _ in ends], [hi for _, hi in ends])
    loose = uh.estimate(COUNTS, assumption=box, n=n)
    assert found.lower[-1] == pytest.approx(loose.lower, abs=1e-9)
    assert found.upper[-1] == pytest.approx(loose.upper, abs=1e-9)
    first = uh.estimate(COUNTS, n=n, **stated)
    assert (found.lower[0], found.upper[0]) == pytest.approx((first.lower, first.upper))


def test_the_grid_of_nobody_in_particular() -> None:
    found = sweep(COUNTS)
    assert found.q.tolist() == list(GRID)
    assert (found.lower[0], found.upper[0]) == pytest.approx((4.14, 4.14))
    assert len(found.notes) == len(GRID)


def test_a_claim_changes_where_it_breaks_down() -> None:
    plain, noisy = (
        uh.find_breakdown(COUNTS, above=3.5, sampling_error=sampling_error)
        for sampling_error in (False, True)
    )
    assert noisy > plain
    assert (sweep(COUNTS, [plain * 1.001, plain * 0.999]).lower > 3.5).tolist() == [True, False]
    assert (sweep(COUNTS, [noisy * 1.001, noisy * 0.999]).ci_lower > 3.5).tolist() == [True, False]
    plain, noisy = (
        uh.find_breakdown(COUNTS, below=4.5, sampling_error=sampling_error)
        for sampling_error in (False, True)
    )
    assert noisy > plain
    assert (sweep(COUNTS, [plain * 1.001, plain * 0.999]).upper < 4.5).tolist() == [True, False]
    assert (sweep(COUNTS, [noisy * 1.001, noisy * 0.999]).ci_upper < 4.5).tolist() == [True, False]


@pytest.mark.parametrize(
    ("q", "error", "message"),
    [
        ([0], AssumptionError, r"q\[0\] must be in \(0, 1\]; got 0"),
        ([0.5, 1.5], AssumptionError, r"q\[1\] must be in \(0, 1\]; got 1\.5"),
        ([0.5, float("nan")], AssumptionError, "got nan"),
        ([0.5, -0.1], AssumptionError, r"got -0\.1"),
        (["some"], AssumptionError, "must be a number or .*; got 'some'"),
        ("some", AssumptionError, "must be a number or .*; got 'some'"),
        ([[0.5], [0.1]], InputError, r"shape \(2, 1\)"),
        ([], OptionError, "q has no values. Give some, or leave q out"),
    ],
)
def test_refused(q: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sweep(COUNTS, q)


def test_one_q_is_a_grid() -> None:
    assert sweep(COUNTS, 0.3).q.tolist() == [0.3]


def test_one_histogram_at_a_time() -> None:
    with pytest.raises(CountsError, match="counts must be one histogram; got 2 histograms"):
        sweep([COUNTS, COUNTS], [0.3])


@pytest.mark.parametrize("q", [1, 0.5, np.int64(1), np.float64(0.5), "reviews"])
def test_one_q_is_a_sweep_of_one(q: float | str) -> None:
    found = sweep(COUNTS, q)
    assert found.q.tolist() == [uh.PRESETS[q] if isinstance(q, str) else q]
    assert found.lower[0] == uh.estimate(COUNTS, q).lower


def test_a_sweep_requires_a_level() -> None:
    with pytest.raises(OptionError, match="requires level"):
        sweep(COUNTS, level=None)
