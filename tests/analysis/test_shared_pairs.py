"""Pairs under one participation against brute-force weights and the extremes of differences."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unheard as uh
from tests.strategies import Floats, assumptions, box_of, scales
from unheard.analysis.shared_breakdown import find_shared_breakdown
from unheard.analysis.shared_difference import find_shared_range
from unheard.analysis.shared_pairs import SharedItems
from unheard.model.assumption import fixed_box
from unheard.model.question import Question, build_question


@st.composite
def pairs(draw: st.DrawFn, most: int = 5) -> tuple[dict[str, Any], Question]:
    """Two items and an assumption; many counts are zero, small or proportional."""
    m = draw(st.integers(2, most))
    count = st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 400))
    row = st.lists(count, min_size=m, max_size=m).filter(any)
    cells = np.array([draw(row), draw(row)])
    if draw(st.integers(0, 9)) == 0:
        cells[1] = 3 * cells[0]
    stated = draw(assumptions(m))
    return stated, build_question(cells, **stated, scale=draw(scales(m)))


def allowed_weights(stated: dict[str, Any], m: int, rng: np.random.Generator) -> Floats:
    """Corners, a grid and random points of the weights that an assumption allows."""
    lo, hi = box_of(stated, m)
    low, high = 1 / hi, 1 / lo
    direction = stated.get("quiet")
    if direction in ("low", "high"):
        levels = np.geomspace(1, high[0], 9)
        grid = np.array(list(combinations_with_replacement(levels, m)))
        wild = np.sort(rng.uniform(1, high[0], (500, m)), axis=1)
        rising = np.concatenate([grid, wild])
        return rising[:, ::-1] if direction == "low" else rising
    sides = [np.unique(np.linspace(f, h, 4)) for f, h in zip(low, high, strict=True)]
    grid = np.array(list(product(*sides)))
    return np.concatenate([grid, rng.uniform(low, high, (500, m))])


def differences(question: Question, weights: Floats) -> Floats:
    values = np.array(question.counts.scale.values)
    a, b = np.asarray(question.counts.cells, float)
    means = [(weights @ (c * values)) / (weights @ c) for c in (a, b)]
    found: Floats = (means[0] - means[1]) / (values[-1] - values[0])
    return found


def find_least_difference(question: Question) -> float:
    """Smallest difference by edges and segments, in widths of the scale."""
    values, assumption = question.counts.scale.values, question.assumption
    a, b = question.counts.cells
    q = None if assumption.q is None else float(assumption.q)
    least, _ = find_shared_range(a, b, values, assumption.kind, q, fixed_box(assumption))
    return least.bound / (values[-1] - values[0])


def is_sure(question: Question) -> bool:
    crowd = SharedItems.of(question)
    row = np.argsort(crowd.items)
    return bool(crowd.are_surely_above(row[:1], row[1:])[0])


@given(pair=pairs(), seed=st.integers(0, 99))
@settings(max_examples=150)
def test_surely_above_against_brute_force(pair: tuple[dict[str, Any], Question], seed: int) -> None:
    stated, question = pair
    weights = allowed_weights(stated, question.counts.scale.m, np.random.default_rng(seed))
    least = differences(question, weights).min()
    if is_sure(question):
        assert least > 0
    else:
        # Corners are among the weights; along a segment the worst point may lie between them.
        segment = stated.get("quiet") in ("low", "high")
        assert (find_least_difference(question) if segment else least) < 1e-9


@given(pair=pairs(8))
@settings(max_examples=150)
def test_surely_above_is_the_sign_of_the_smallest_difference(
    pair: tuple[dict[str, Any], Question],
) -> None:
    _, question = pair
    least = find_least_difference(question)
    if abs(least) > 1e-9:
        assert is_sure(question) == (least > 0)


@given(pair=pairs(7))
@settings(max_examples=150)
def test_breakdown_is_where_the_smallest_difference_is_zero(
    pair: tuple[dict[str, Any], Question],
) -> None:
    _, question = pair
    (q,) = find_shared_breakdown(question, 0, 1)
    if np.isnan(q):
        assert find_least_difference(question.at(1.0)) < 1e-9
        return
    assert 0 <= q < 1
    for factor in (1.001, 1.1, 2, 10):
        assert find_least_difference(question.at(min(1.0, max(q * factor, 1e-6)))) > 0
    if q > 1e-6:
        assert find_least_difference(question.at(q)) == pytest.approx(0, abs=1e-9)
        assert find_least_difference(question.at(q * 0.999)) <= 0


def test_breakdown_by_hand() -> None:
    # With weights (1, w, w) the means are 8/3 and 3 - 2/(1 + 2w): equal at w = 5/2.
    question = build_question([[0, 1, 2], [1, 0, 2]], 0.5)
    assert find_shared_breakdown(question, 0, 1)[0] == pytest.approx(2 / 5, rel=1e-12)
    # Equal averages: neither is above the other even at q = 1.
    equal = build_question([[0, 2, 1], [1, 0, 2]], 0.5)
    assert np.isnan(find_shared_breakdown(equal, [0, 1], [1, 0])).all()


@pytest.mark.parametrize("quiet", ["any", "low", "high", "middle"])
def test_one_that_shifts_every_rating_up_is_above_at_every_q(quiet: str) -> None:
    # Likelihood ratios that rise with the rating survive every reweighting.
    question = build_question([[1, 2, 4, 8], [8, 4, 2, 1]], 0.5, quiet=quiet)
    np.testing.assert_array_equal(find_shared_breakdown(question, [0, 1], [1, 0]), [0, np.nan])


def test_a_scale_from_0_to_100_is_exact() -> None:
    rng = np.random.default_rng(8)
    chances = rng.dirichlet(np.ones(101), 6)
    cells = np.array([rng.multinomial(3000, chance) for chance in chances])
    question = build_question(cells, 0.5, scale="0:100")
    order = np.argsort(-(cells @ np.arange(101)))
    for i, j in pairwise(order):
        (q,) = find_shared_breakdown(question, i, j)
        assert 0 < q < 1
        for at, sure in ((q * 1.0001, True), (q * 0.9999, False)):
            least, _ = find_shared_range(cells[i], cells[j], range(101), "any", min(at, 1.0), None)
            assert (least.bound > 0) == sure


def test_ratings_that_neither_uses_do_not_matter() -> None:
    plain = build_question([[3, 4, 9], [5, 4, 6]], 0.3, scale=(1, 2, 5))
    longer = build_question([[3, 4, 0, 0, 9], [5, 4, 0, 0, 6], [0, 1, 1, 9, 0]], 0.3)
    assert find_shared_breakdown(longer, 0, 1) == pytest.approx(
        find_shared_breakdown(plain, 0, 1), rel=1e-12
    )


def test_items_of_which_nothing_can_be_said() -> None:
    question = build_question([[3, 4, 9], [0, 0, 0], [6, 8, 18], [0, 0, 5]], 0.3)
    found = find_shared_breakdown(question, [0, 1, 0, 2, 3, 3], [1, 0, 2, 0, 3, 0])
    np.testing.assert_array_equal(found, [np.nan] * 5 + [0.0])


def test_one_rating_used_by_all() -> None:
    question = build_question([[0, 4, 0], [0, 9, 0]], 0.3)
    assert np.isnan(find_shared_breakdown(question, [0, 1], [1, 0])).all()


def test_many_pairs_at_once_are_the_pairs_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    cells = rng.integers(0, 30, (12, 5))
    i, j = (x.ravel() for x in np.indices((12, 12)))
    for quiet in ("any", "low"):
        question = build_question(cells, 0.3, quiet=quiet)
        together = find_shared_breakdown(question, i, j)
        monkeypatch.setattr("unheard.analysis.shared_pairs._CELLS", 200)
        np.testing.assert_allclose(find_shared_breakdown(question, i, j), together, rtol=1e-11)
        monkeypatch.undo()


@pytest.mark.parametrize(
    ("above", "below", "words"),
    [
        ([0, 1], [1], "below must have as many items as above: 2; got 1 items"),
        ([2], [0], r"above must be a whole number from 0 to 1.*; got \[2\]"),
        ([0.5], [0], r"above must be a whole number.*; got \[0\.5\]"),
    ],
)
def test_refused(above: list[int], below: list[int], words: str) -> None:
    with pytest.raises(uh.OptionError, match=words):
        find_shared_breakdown(build_question([[1, 5], [5, 1]], 0.3), above, below)


def test_one_q_for_all() -> None:
    cells = [[1, 5], [5, 1]]
    with pytest.raises(uh.AssumptionError, match="must have the same q; got one for each item"):
        find_shared_breakdown(build_question(cells, [0.3, 0.4]), 0, 1)
    assert find_shared_breakdown(build_question(cells, [0.3, 0.3]), 0, 1) == 0
