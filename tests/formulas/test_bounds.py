"""Intervals against independent oracles: linear programs, expectiles, the paper's index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, reject
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import expectile

import unheard as uh
from tests.strategies import (
    DIRECTIONS,
    Floats,
    Histogram,
    assumptions,
    box_of,
    histograms,
    voice_ratios,
)
from unheard.options.choices import Quiet


def interval(histogram: Histogram, assumption: dict[str, Any], n: float | None = None) -> Floats:
    found = uh.estimate(
        histogram.counts, **assumption, n=n, scale=histogram.values, level=None, method="average"
    )
    return np.array([found.lower, found.upper])


def program(histogram: Histogram, assumption: dict[str, Any], n: float | None) -> Floats | None:
    """Smallest and largest mean by a linear program, None if no participation fits.

    The unknowns are s/g_r, where s makes the people add up to one (Charnes and Cooper): free if n
    is unknown; 1/n if n is known and participation itself is stated; at least 1/n if its ratios
    are, since the ratings then stand for no more than n people.
    """
    m, counts, values = histogram.m, histogram.counts.astype(float), np.array(histogram.values)
    lo, hi = box_of(assumption, m)
    # Columns: w_1 .. w_m, s. Rows: w_r <= s/lo_r, -w_r <= -s/hi_r, order.
    rows = [np.append(row, -1 / lo[r]) for r, row in enumerate(np.eye(m))]
    rows += [np.append(-row, 1 / hi[r]) for r, row in enumerate(np.eye(m))]
    sign = {"low": 1, "high": -1}.get(assumption.get("quiet", "any"), 0)
    if sign:
        for r in range(m - 1):
            row = np.zeros(m + 1)
            row[r], row[r + 1] = -sign, sign
            rows.append(row)
    # In shares of those seen, so that all numbers are of one size.
    share = 0.0 if n is None else counts.sum() / n
    most = None if n is None or "q" in assumption else share
    ends = []
    for direction in (1, -1):
        objective = np.append(direction * values * counts / counts.sum(), 0.0)
        found = linprog(
            objective,
            A_ub=np.array(rows),
            b_ub=np.zeros(len(rows)),
            A_eq=np.array([np.append(counts / counts.sum(), 0.0)]),
            b_eq=[1.0],
            bounds=[*[(0, None)] * m, (share, most)],
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if found.fun is None:
            return None
        ends.append(direction * float(found.fun))
    return np.array(ends)


@given(st.data(), histograms(most=50))
def test_interval_without_n_is_the_linear_program(
    data: st.DataObject, histogram: Histogram
) -> None:
    assumption = data.draw(assumptions(histogram.m))
    expected = program(histogram, assumption, None)
    assert expected is not None
    np.testing.assert_allclose(interval(histogram, assumption), expected, atol=1e-9, rtol=0)


@given(st.data(), histograms(most=50))
def test_interval_with_n_is_the_linear_program(data: st.DataObject, histogram: Histogram) -> None:
    assumption = data.draw(assumptions(histogram.m, n_known=True).filter(lambda a: "g" not in a))
    lo, hi = box_of(assumption, histogram.m)
    fewest, most = histogram.counts @ (1 / hi), histogram.counts @ (1 / lo)
    if "q" in assumption:
        most = 2 * most + 1  # a ratio holds at any response rate
    assume(np.ceil(fewest) <= np.floor(most))
    n = data.draw(st.integers(int(np.ceil(fewest)), int(np.floor(most))))
    expected = program(histogram, assumption, n)
    if expected is None:
        # Exactly at the edge of what fits, rounding decides whether the program finds a point.
        reject()
    np.testing.assert_allclose(interval(histogram, assumption, n), expected, atol=1e-9, rtol=0)


@given(histograms(), voice_ratios)
@example(Histogram(np.array([1, 94, 101]), (0.0, 0.5, 1.0)), 0.01)
def test_ends_are_expectiles(histogram: Histogram, q: float) -> None:
    # SciPy's answer goes astray where a value carries no weight.
    seen = histogram.counts > 0
    weights, values = histogram.counts[seen].astype(float), np.array(histogram.values)[seen]
    levels = (q / (1 + q), 1 / (1 + q))

    def polished(found: float, level: float) -> float:
        # At extreme levels SciPy can be a hundredth of the scale off. With the right values on
        # either side the expectile is a weighted mean: taking it again and again finds them.
        exact = found
        for _ in range(values.size + 1):
            w = weights * np.where(values > exact, level, 1 - level)
            exact = float(w @ values / w.sum())
        assert q < 0.05 or exact == pytest.approx(found, abs=1e-9 * width)
        return exact

    width = histogram.values[-1] - histogram.values[0]
    expected = [polished(expectile(values, level, weights=weights), level) for level in levels]
    np.testing.assert_allclose(
        interval(histogram, {"q": q}), expected, atol=1e-12 * width, rtol=1e-12
    )


@given(histograms(), voice_ratios)
def test_the_papers_closed_index_gives_the_same_ends(histogram: Histogram, q: float) -> None:
    """[GKL25, appendix A, proof of theorem 4.2], for ratings 1..m."""
    p = histogram.counts / histogram.counts.sum()
    m = histogram.m
    ratings = np.arange(1, m + 1)

    def index(below: float, above: float) -> int:
        return max(
            k
            for k in range(1, m + 1)
            if (below * ((ratings - k) * p)[: k - 1].sum() + above * ((ratings - k) * p)[k:].sum())
            >= -1e-12
        )

    k_1, k_2 = index(1 / q, 1.0), index(1.0, 1 / q)
    low, high = np.where(ratings <= k_1, 1.0, q), np.where(ratings <= k_2, q, 1.0)
    expected = [(ratings * p * w).sum() / (p * w).sum() for w in (low, high)]
    found = uh.estimate(histogram.counts, q, level=None)
    np.testing.assert_allclose([found.lower, found.upper], expected, atol=1e-11, rtol=0)


@given(st.data(), histograms())
def test_every_participation_in_the_set_gives_a_mean_inside(
    data: st.DataObject, histogram: Histogram
) -> None:
    assumption = data.draw(assumptions(histogram.m))
    lo, hi = box_of(assumption, histogram.m)
    share = np.array(
        data.draw(st.lists(st.floats(0, 1), min_size=histogram.m, max_size=histogram.m))
    )
    g = lo + share * (hi - lo)
    if assumption.get("quiet") in ("low", "high"):
        g = np.sort(g)[:: 1 if assumption["quiet"] == "low" else -1]
    people = histogram.counts / g
    mean = people @ np.array(histogram.values) / people.sum()
    lower, upper = interval(histogram, assumption)
    assert lower - 1e-9 <= mean <= upper + 1e-9


@given(st.data(), histograms(), st.integers(0, 2000))
def test_knowing_n_never_widens_the_interval(
    data: st.DataObject, histogram: Histogram, unseen: int
) -> None:
    assumption = data.draw(assumptions(histogram.m))
    free = interval(histogram, assumption)
    known = interval(histogram, assumption, n=float(histogram.counts.sum() + unseen))
    assert free[0] - 1e-9 <= known[0] <= known[1] <= free[1] + 1e-9


@given(
    histograms(),
    voice_ratios,
    st.sampled_from(DIRECTIONS),
    st.tuples(st.integers(0, 2000), st.integers(0, 2000)),
)
def test_a_ratio_never_narrows_as_n_grows(
    histogram: Histogram, q: float, quiet: str, unseen: tuple[int, int]
) -> None:
    few, many = (float(histogram.counts.sum() + u) for u in sorted(unseen))
    inner, outer = (interval(histogram, {"q": q, "quiet": quiet}, n) for n in (few, many))
    assert outer[0] <= inner[0] + 1e-9
    assert inner[1] <= outer[1] + 1e-9


@given(histograms(), voice_ratios, st.sampled_from(DIRECTIONS))
def test_with_endless_people_n_says_nothing(histogram: Histogram, q: float, quiet: str) -> None:
    stated = {"q": q, "quiet": quiet}
    known = interval(histogram, stated, n=float(histogram.counts.sum() * 1000))
    np.testing.assert_array_equal(known, interval(histogram, stated))


@given(histograms(), st.sampled_from(["any", "low", "high", "middle"]), st.data())
def test_intervals_nest_as_q_falls(histogram: Histogram, quiet: str, data: st.DataObject) -> None:
    q, smaller = sorted(data.draw(st.tuples(voice_ratios, voice_ratios)), reverse=True)
    n = data.draw(st.none() | st.integers(0, 2000).map(lambda u: float(histogram.counts.sum() + u)))
    inner = interval(histogram, {"q": q, "quiet": quiet}, n)
    outer = interval(histogram, {"q": smaller, "quiet": quiet}, n)
    assert outer[0] <= inner[0] + 1e-9
    assert inner[1] <= outer[1] + 1e-9


@given(histograms(), st.sampled_from(["any", "low", "high", "middle"]))
def test_q_of_one_is_the_average(histogram: Histogram, quiet: Quiet) -> None:
    mean = uh.estimate(histogram.counts, 1.0, method="average", scale=histogram.values).estimate
    for n in (None, int(histogram.counts.sum())):
        found = uh.estimate(histogram.counts, 1.0, quiet=quiet, n=n, scale=histogram.values)
        rounding = 2e-15 * max(map(abs, histogram.values))
        wanted = pytest.approx([mean] * 3, rel=1e-15, abs=rounding)
        assert [found.lower, found.estimate, found.upper] == wanted


def test_at_a_floor_equal_to_the_response_rate_the_interval_is_the_average() -> None:
    found = uh.estimate([120, 30, 45, 200, 605], floor=0.4, n=2500)
    np.testing.assert_allclose([found.lower, found.upper], 4.14, rtol=1e-14)
    assert found.notes == ()


@pytest.mark.parametrize(
    ("assumption", "ratio"),
    [({"floor": 0.6}, {"q": 0.6}), ({"participation": [(0.4, 0.8)] * 3}, {"q": 0.5})],
)
def test_a_contradicted_assumption_is_read_as_a_ratio_and_says_so(
    assumption: dict[str, Any], ratio: dict[str, Any]
) -> None:
    found = uh.estimate([10, 20, 30], **assumption, n=1000)
    expected = uh.estimate([10, 20, 30], **ratio)
    for name in ("lower", "upper", "estimate", "ci_lower", "ci_upper"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12)
    assert found.notes == ("low_response", "refuted")
    assert uh.estimate([10, 20, 30], **ratio, n=1000).notes == ()


def test_too_high_a_response_rate_is_no_reason_to_narrow_either() -> None:
    box = [(0.2, 0.5), (0.2, 0.4), (0.2, 0.25)]
    found = uh.estimate([10, 20, 30], participation=box, n=61)
    expected = uh.estimate([10, 20, 30], participation=box)
    assert (found.lower, found.upper) == (expected.lower, expected.upper)
    assert found.notes == ("high_response", "refuted")


def test_how_n_narrows_in_numbers() -> None:
    """Of 12 people, 8 responded; at most 4 more can rate low (or high)."""
    counts, values = np.array([2, 2, 4]), np.array([1, 2, 3])
    found = uh.estimate(counts, 0.25, n=12, level=None)
    assert found.lower == pytest.approx((counts @ values + 4 * 1) / 12)
    assert found.upper == pytest.approx((counts @ values + 4 * 3) / 12)
    # With 8 more the lowest mean does not need them all: 2 * 4 + 2 + 4 ratings are enough.
    free = uh.estimate(counts, 0.25, level=None)
    assert free.lower == pytest.approx((2 * 4 * 1 + 2 * 2 + 4 * 3) / (2 * 4 + 2 + 4))
    assert uh.estimate(counts, 0.25, n=14, level=None).lower == pytest.approx(free.lower)
    assert uh.estimate(counts, 0.25, n=13, level=None).lower > free.lower + 0.01


def test_spec_reference_values() -> None:
    found = uh.estimate([120, 30, 45, 200, 605], q=0.3)
    assert round(found.lower, 8) == 3.35051546
    assert round(found.upper, 8) == 4.64340014
    assert round(found.estimate, 7) == 3.9969578
    assert uh.estimate([120, 30, 45, 200, 605], 0.3, method="average").estimate == 4.14
    spectral = uh.estimate([120, 30, 45, 200, 605], 0.3, method="spectral").estimate
    assert round(spectral, 8) == 4.35545635
