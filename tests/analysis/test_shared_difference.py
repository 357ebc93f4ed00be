"""Shared distortion against brute force: dense grids, refined by SciPy's local optimisers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement, product
from math import sqrt
from typing import TypeAlias
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.optimize import LinearConstraint, minimize

from tests.strategies import Floats, scales
from unheard.analysis import shared_difference
from unheard.analysis.shared_difference import ExtremeDifference, find_shared_range
from unheard.formulas.bounds import find_bounds_without_n
from unheard.formulas.boxes import Box, build_boxes
from unheard.formulas.operations import NUMPY

ratios = st.sampled_from([0.9, 0.5, 0.3, 0.1, 0.02])
kinds = st.sampled_from(["any", "middle", "low", "high"])

Pair: TypeAlias = tuple[Floats, Floats, tuple[float, ...]]


@st.composite
def pairs(draw: st.DrawFn, least: int = 2, most: int = 4) -> Pair:
    """Two items and a scale; many counts are zero or small."""
    m = draw(st.integers(least, most))
    count = st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 400))
    items = st.lists(count, min_size=m, max_size=m).filter(any)
    a, b = (np.array(draw(items), dtype=float) for _ in range(2))
    return a, b, draw(scales(m))


@st.composite
def fixed_boxes(draw: st.DrawFn, m: int) -> Box:
    few = draw(st.lists(st.floats(1, 5), min_size=m, max_size=m))
    growth = draw(st.lists(st.one_of(st.just(1.0), st.floats(1, 8)), min_size=m, max_size=m))
    return Box.elastic(tuple(few), tuple(f * g for f, g in zip(few, growth, strict=True)))


def difference(w: Floats, a: ArrayLike, b: ArrayLike, v: ArrayLike) -> Floats:
    """Difference of the means, for weights along the last axis."""
    means = [(w * c * v).sum(axis=-1) / (w * c).sum(axis=-1) for c in map(np.asarray, (a, b))]
    found: Floats = means[0] - means[1]
    return found


def downhill(a: Floats, b: Floats, v: Floats) -> Callable[[Floats], tuple[float, Floats]]:
    """Minus the difference as a function of the weights, with its slopes."""

    def function(w: Floats) -> tuple[float, Floats]:
        parts = [c * (v - (w * c * v).sum() / (w * c).sum()) / (w * c).sum() for c in (a, b)]
        return -float(difference(w, a, b, v)), parts[1] - parts[0]

    return function


def brute_maximum(
    a: Floats, b: Floats, v: Floats, grid: Floats, refine: Callable[..., Floats]
) -> float:
    """Largest difference over a grid, refined from its best points."""
    values = difference(grid, a, b, v)
    starts = grid[np.argsort(-values)[:4]]
    refined = [refine(w, a, b, v) for w in starts]
    return float(max(values.max(), *(difference(w, a, b, v) for w in refined)))


def box_grid(low: Floats, high: Floats) -> Floats:
    sides = [np.geomspace(f, h, 13) if h > f else [f] for f, h in zip(low, high, strict=True)]
    return np.array(list(product(*sides)))


def refined_in_box(low: Floats, high: Floats) -> Callable[..., Floats]:
    def refine(start: Floats, a: Floats, b: Floats, v: Floats) -> Floats:
        found = minimize(
            downhill(a, b, v),
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low, high, strict=True)),
            options={"ftol": 1e-16, "gtol": 1e-13},
        )
        w: Floats = np.clip(found.x, low, high)
        return w

    return refine


def refined_monotone(falling: bool, q: float) -> Callable[..., Floats]:
    sign = -1.0 if falling else 1.0

    def refine(start: Floats, a: Floats, b: Floats, v: Floats) -> Floats:
        order = sign * np.diff(np.eye(len(start)), axis=0)
        found = minimize(
            downhill(a, b, v),
            start,
            jac=True,
            method="SLSQP",
            bounds=[(1, 1 / q)] * len(start),
            constraints=LinearConstraint(order, 0, np.inf),
            options={"ftol": 1e-15, "maxiter": 300},
        )
        w = np.sort(np.clip(found.x, 1, 1 / q))
        return w[::-1] if falling else w

    return refine


def ends(found: tuple[ExtremeDifference, ExtremeDifference]) -> Floats:
    return np.array([end.value for end in found])


def searched(*question: object) -> tuple[ExtremeDifference, ExtremeDifference]:
    """The algorithm for many ratings, whatever their number."""
    with patch.object(shared_difference, "MOST_FREE", -1):
        return find_shared_range(*question)  # type: ignore[arg-type]


def assert_matches(
    found: tuple[ExtremeDifference, ExtremeDifference], brute: list[float], width: float
) -> None:
    least, most = ends(found) / width
    low, high = np.array(brute) / width
    assert low > least - 1e-9
    assert high < most + 1e-9
    np.testing.assert_allclose([least, most], [low, high], atol=1e-8)


@given(st.data(), pairs(), ratios, st.sampled_from(["any", "middle", "box"]))
@settings(max_examples=50, deadline=None)
def test_box_against_brute_force(data: st.DataObject, pair: Pair, q: float, kind: str) -> None:
    a, b, v = pair[0], pair[1], np.array(pair[2])
    fixed = data.draw(fixed_boxes(len(v))) if kind == "box" else None
    box, _ = build_boxes(kind, None if fixed else q, fixed, len(v))
    assert box is not None
    low, high = np.array(box.fewest), np.array(box.most)
    found = find_shared_range(a, b, v, kind, None if fixed else q, fixed)
    grid, refine = box_grid(low, high), refined_in_box(low, high)
    brute = [-brute_maximum(b, a, v, grid, refine), brute_maximum(a, b, v, grid, refine)]
    assert_matches(found, brute, v[-1] - v[0])
    for end in found:
        assert (low <= end.weights).all()
        assert (end.weights <= high).all()
        assert np.count_nonzero((low < end.weights) & (end.weights < high)) <= 1
        assert end.bound == end.value == pytest.approx(difference(end.weights, a, b, v), abs=1e-12)


@given(pairs(), ratios, st.booleans())
@settings(max_examples=50, deadline=None)
def test_monotone_against_brute_force(pair: Pair, q: float, falling: bool) -> None:
    a, b, v = pair[0], pair[1], np.array(pair[2])
    found = find_shared_range(a, b, v, "low" if falling else "high", q, None)
    levels = np.geomspace(1, 1 / q, 60 if len(v) < 4 else 20)
    grid = np.array(list(combinations_with_replacement(levels, len(v))))
    grid, refine = grid[:, ::-1] if falling else grid, refined_monotone(falling, q)
    brute = [-brute_maximum(b, a, v, grid, refine), brute_maximum(a, b, v, grid, refine)]
    assert_matches(found, brute, v[-1] - v[0])
    for end in found:
        steps = np.diff(end.weights) * (-1 if falling else 1)
        assert (steps >= 0).all()
        assert end.weights.min() >= 1
        assert end.weights.max() <= 1 / q * (1 + 1e-15)
        assert end.bound == end.value == pytest.approx(difference(end.weights, a, b, v), abs=1e-12)


def test_the_maximum_need_not_be_at_a_corner() -> None:
    _, most = find_shared_range([1, 1], [2, 1], [0, 1], "any", 0.5, None)
    assert most.value == pytest.approx(3 - 2 * sqrt(2), abs=1e-15)
    assert most.weights[1] / most.weights[0] == pytest.approx(sqrt(2), abs=1e-14)
    corners = np.array(list(product([1.0, 2.0], repeat=2)))
    assert difference(corners, [1, 1], [2, 1], [0, 1]).max() < most.value - 0.004


def test_a_monotone_maximum_may_mix_thresholds_that_are_not_neighbours() -> None:
    a, b, v = [4, 1, 3, 0, 4], [0, 5, 4, 4, 1], np.arange(5)
    most = find_shared_range(a, b, v, "high", 0.1, None)[1]
    inner = most.weights[1]
    assert 1 < inner < 10
    np.testing.assert_array_equal(most.weights, [1, inner, inner, inner, 10])
    thresholds = 1 + 9.0 * (np.arange(5) >= np.arange(6)[:, None])
    far = np.linspace(0, 1, 1001)[:, None, None]
    neighbours = (1 - far) * thresholds[:-1] + far * thresholds[1:]
    assert difference(neighbours, a, b, v).max() < most.value - 0.2


@given(st.data(), pairs(2, 7), ratios, st.sampled_from(["any", "middle", "box"]))
@settings(max_examples=60, deadline=None)
def test_search_equals_enumeration(data: st.DataObject, pair: Pair, q: float, kind: str) -> None:
    a, b, v = pair
    fixed = data.draw(fixed_boxes(len(v))) if kind == "box" else None
    question = (a, b, v, kind, None if fixed else q, fixed)
    exact, search = find_shared_range(*question), searched(*question)
    width = v[-1] - v[0]
    np.testing.assert_allclose(ends(search), ends(exact), atol=1e-9 * width)
    assert search[0].bound <= exact[0].value + 1e-13 * width
    assert search[1].bound >= exact[1].value - 1e-13 * width
    for end in search:
        assert abs(end.bound - end.value) < 2e-10 * width
        assert end.value == pytest.approx(difference(end.weights, a, b, np.array(v)), abs=1e-12)


@given(pairs(2, 6), ratios, st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_bound_holds_before_anything_is_halved(pair: Pair, q: float, intervals: int) -> None:
    a, b, v = pair
    u = (np.array(v) - v[0]) / (v[-1] - v[0])
    exact = find_shared_range(a, b, u, "any", q, None)[1].value
    seen = a + b > 0
    terms = np.stack([a, a * u, b, b * u])[:, seen]
    low, high = np.ones(len(u))[seen], np.full(len(u), 1 / q)[seen]
    with (
        patch.object(shared_difference, "GAP", 9.0),
        patch.object(shared_difference, "_FIRST_INTERVALS", intervals),
    ):
        _, bound = shared_difference._search_ratios(terms, low, high)
    assert bound >= exact


@given(pairs(2, 6), ratios, st.floats(0.01, 100), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_ceiling_is_the_highest_of_all_corners(
    pair: Pair, q: float, ratio: float, s: float
) -> None:
    a, b, v = pair
    terms = np.stack([a, a * v, b, b * v])
    low, high = np.ones(len(v)), np.full(len(v), 1 / q)
    mass_a, first_a, mass_b, first_b = terms @ np.array(list(product([1, 1 / q], repeat=len(v)))).T
    expected = (s + (ratio * (first_a - s * mass_a) - first_b) / mass_b).max()
    found, _ = shared_difference._maximize_line(terms, low, high, np.array([ratio]), np.array([s]))
    assert found[0] == pytest.approx(expected, rel=1e-10, abs=1e-10)


@given(pairs(2, 8), ratios, kinds)
@settings(max_examples=60, deadline=None)
def test_never_wider_than_separate_intervals(pair: Pair, q: float, kind: str) -> None:
    a, b, v = pair
    sides = build_boxes(kind, q, None, len(v))
    (low_a, high_a), (low_b, high_b) = (
        find_bounds_without_n(list(c), v, sides, NUMPY) for c in (a, b)
    )
    least, most = ends(find_shared_range(a, b, v, kind, q, None))
    assert low_a - high_b - 1e-12 <= least <= most <= high_a - low_b + 1e-12


@given(pairs(2, 8), ratios, kinds)
@settings(max_examples=60, deadline=None)
def test_swapping_items_turns_signs(pair: Pair, q: float, kind: str) -> None:
    a, b, v = pair
    one, other = (
        find_shared_range(a, b, v, kind, q, None),
        find_shared_range(b, a, v, kind, q, None),
    )
    assert (ends(one) == -ends(other)[::-1]).all()


@pytest.mark.parametrize("kind", ["any", "middle", "low", "high"])
@pytest.mark.parametrize("factor", [1, 3, 7])
@pytest.mark.parametrize("m", [5, 30])
def test_proportional_counts_do_not_differ(kind: str, factor: int, m: int) -> None:
    a = np.random.default_rng(m).integers(0, 50, m)
    least, most = find_shared_range(a, factor * a, range(m), kind, 0.1, None)
    assert least.value == most.value == least.bound == most.bound == 0


@given(pairs(2, 8), ratios, ratios, kinds)
@settings(max_examples=60, deadline=None)
def test_a_smaller_q_is_wider(pair: Pair, q: float, other: float, kind: str) -> None:
    a, b, v = pair
    inner = ends(find_shared_range(a, b, v, kind, max(q, other), None))
    outer = ends(find_shared_range(a, b, v, kind, min(q, other), None))
    assert outer[0] <= inner[0] + 1e-12
    assert inner[1] <= outer[1] + 1e-12


@given(pairs(2, 8), ratios, kinds, st.sampled_from([1e-6, 0.5, 3.0, 1e6]), st.floats(-100, 100))
@settings(max_examples=60, deadline=None)
def test_units_do_not_matter(pair: Pair, q: float, kind: str, unit: float, shift: float) -> None:
    a, b, v = pair
    plain = ends(find_shared_range(a, b, v, kind, q, None))
    moved = ends(find_shared_range(9 * a, b / 7, unit * (np.array(v) + shift), kind, q, None))
    np.testing.assert_allclose(moved / unit, plain, atol=1e-10)


@given(pairs(2, 6), ratios, kinds, st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_ratings_that_nobody_gave_do_not_matter(
    pair: Pair, q: float, kind: str, place: int
) -> None:
    a, b, v = pair
    assume(kind != "middle")  # there the ends of the scale matter, given or not
    place = min(place, len(v))
    value = np.interp(place - 0.5, range(len(v)), v)
    if place in {0, len(v)}:
        value += -1 if place == 0 else 1
    longer = (*v[:place], float(value), *v[place:])
    with_gap = find_shared_range(
        np.insert(a, place, 0), np.insert(b, place, 0), longer, kind, q, None
    )
    plain = ends(find_shared_range(a, b, v, kind, q, None))
    np.testing.assert_allclose(ends(with_gap), plain, atol=1e-12)


@pytest.mark.parametrize("kind", ["any", "middle", "low", "high"])
@pytest.mark.parametrize("m", [4, 20])
def test_q_of_one_leaves_the_difference_of_averages(kind: str, m: int) -> None:
    rng = np.random.default_rng(m)
    a, b, v = rng.integers(1, 9, m), rng.integers(1, 9, m), np.arange(m)
    least, most = find_shared_range(a, b, v, kind, 1.0, None)
    plain = difference(np.ones(m), a, b, v)
    assert least.value == most.value == pytest.approx(plain, abs=1e-13)


def test_known_participation_leaves_one_point() -> None:
    w = (1.0, 4.0, 2.0)
    known = Box.elastic(w, w)
    least, most = find_shared_range([3, 1, 2], [1, 5, 1], [1, 2, 3], "known", None, known)
    assert least.value == most.value
    assert most.value == pytest.approx(difference(np.array(w), [3, 1, 2], [1, 5, 1], [1, 2, 3]))


@pytest.mark.parametrize("q", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("alike", [False, True])
def test_a_scale_from_0_to_100(q: float, alike: bool) -> None:
    rng = np.random.default_rng(8)
    chances = rng.dirichlet(np.ones(101), 2)
    a, b = rng.multinomial(3000, chances[0]), rng.multinomial(3000, chances[0 if alike else 1])
    v = np.arange(101)
    search = shared_difference._bound_ratios
    with patch.object(shared_difference, "_bound_ratios", side_effect=search) as counted:
        found = find_shared_range(a, b, v, "any", q, None)
    # Both ends together: 117 to 136 when this was written, of which 66 to begin with.
    assert sum(len(call.args[3]) for call in counted.call_args_list) < 200
    for sign, end in zip((-1, 1), found, strict=True):
        assert 0 <= sign * (end.bound - end.value) < 1e-7
        assert end.value == pytest.approx(difference(end.weights, a, b, v), abs=1e-10)
        # Nobody nearby, and nobody drawn at random, does better.
        nearby = np.clip(end.weights * rng.lognormal(0, 0.3, (2000, 101)), 1, 1 / q)
        corners = rng.choice([1.0, 1 / q], (2000, 101))
        for others in (nearby, corners):
            assert (sign * difference(others, a, b, v)).max() <= sign * end.bound


@pytest.mark.parametrize("q", [1e-6, 1e-12, 1e-100])
def test_extreme_q_stays_finite(q: float) -> None:
    rng = np.random.default_rng(3)
    for m in (4, 10, 14):
        a, b = rng.integers(1, 9, m), rng.integers(1, 9, m)
        for kind in ("any", "middle", "low", "high"):
            least, most = find_shared_range(a, b, np.arange(m), kind, q, None)
            assert -(m - 1) - 1e-9 <= least.bound <= least.value <= most.value <= most.bound
            assert most.bound <= (m - 1) + 1e-9
