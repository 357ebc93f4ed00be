"""Limits of a difference: against exact tests, the normal limit, and every outcome enumerated."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from tests.formulas.outcomes import binomial, list_outcomes, multinomial
from tests.strategies import Floats
from unheard.analysis.difference_limits import (
    Sample,
    build_distribution,
    choose_scores,
    find_sum_limits,
)
from unheard.analysis.differences import SEPARATE, SHARED, DifferenceSolver
from unheard.analysis.shared_difference_limits import WeightBox, find_least_difference
from unheard.model.question import build_question

MISS = 0.025
LEVEL = 0.949
TINY = 1e-9


def limits(a: Any, b: Any, way: DifferenceSolver, q: float, **stated: Any) -> tuple[float, float]:
    question = build_question([a, b], q, **stated)
    return way.find_limit(question, False), way.find_limit(question, True)


@settings(max_examples=40)
@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_two_ratings_are_told_apart_by_fishers_exact_test(
    n: int, k: int, data: st.DataObject
) -> None:
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, k))
    lower, _ = limits([n - a, a], [k - b, b], SEPARATE, 1.0)
    p = float(hypergeom.sf(a - 1, n + k, a + b, n))
    if abs(p - MISS) > 0.001:
        assert (lower > 0) == (p < MISS)


def test_many_ratings_have_the_normal_limit() -> None:
    a, b = np.array([500, 900, 2500, 4100, 2000]), np.array([700, 800, 900, 700, 900])
    values = np.arange(1.0, 6.0)

    def moments(c: Any) -> tuple[float, float]:
        mean = float(c @ values / c.sum())
        return mean, float(c @ (values - mean) ** 2 / c.sum() ** 2)

    (mean_a, var_a), (mean_b, var_b) = moments(a), moments(b)
    wanted = mean_a - mean_b + 1.96 * np.sqrt(var_a + var_b) * np.array([-1, 1])
    # Half a rating is allowed for, at either end of the scale.
    np.testing.assert_allclose(limits(a, b, SEPARATE, 1.0), wanted, atol=2e-3)


def two_ratings(n: int) -> Floats:
    high = np.arange(n + 1.0)
    return np.column_stack([n - high, high])


@pytest.mark.parametrize(("n", "k", "q"), [(5, 5, 0.1), (5, 5, 1.0), (3, 20, 0.3), (3, 3, 0.5)])
def test_separate_limits_miss_rarely_for_every_p(n: int, k: int, q: float) -> None:
    """Adding distances as squares missed 14 times in a hundred with 5 and 5 ratings."""
    one, other = two_ratings(n), two_ratings(k)
    found = np.array([[limits(a, b, SEPARATE, q)[0] for b in other] for a in one])
    share = np.unique(np.concatenate([np.linspace(0, 1, 101), np.geomspace(1e-4, 0.1, 20)]))
    share = np.unique(np.concatenate([share, 1 - share]))
    chance_a, chance_b = (binomial(c[:, [1]], c[0].sum(), share) for c in (one, other))
    least, most = (
        share * w[1] / (share * w[1] + (1 - share) * w[0]) for w in ((1 / q, 1), (1, 1 / q))
    )
    for truth, chance in zip(least, chance_a.T, strict=True):
        wrong = found[:, :, None] > truth - most + TINY
        miss = np.einsum("a,abp,bp->p", chance, wrong, chance_b)
        assert miss.max() <= 1.02 * MISS


SHARED_CASES = {
    # shares seen, ratings, q, who is quiet; what the limits at the sample's weights covered
    "3 and 30 (0.455)": ((0.9983, 0.0017), (0.9788, 0.0212), (3, 30), 0.1, "any"),
    "30 and 30 (0.473)": ((0.9983, 0.0017), (0.9788, 0.0212), (30, 30), 0.1, "any"),
    "low (0.814)": ((0.0545, 0.9455), (0.0009, 0.9991), (30, 30), 0.3, "low"),
}


@pytest.mark.parametrize("name", SHARED_CASES)
def test_shared_limits_hold_where_a_rating_is_rare(name: str) -> None:
    a, b, sizes, q, quiet = SHARED_CASES[name]
    shares = np.array([a, b])
    values = np.array([1.0, 2.0])
    one = np.geomspace(1, 1 / q, 101)
    weights = np.column_stack([one, np.ones_like(one)])
    if quiet == "any":
        weights = np.concatenate([weights, weights[:, ::-1]])
    means = [weights @ (s * values) / (weights @ s) for s in shares]
    truths = (means[0] - means[1]).min(), (means[0] - means[1]).max()
    rows = [two_ratings(n) for n in sizes]
    chances = [multinomial(c, s[None])[:, 0] for c, s in zip(rows, shares, strict=True)]
    covered, seen = np.zeros(2), 0.0
    for (x, px), (y, py) in product(
        *(zip(*pair, strict=True) for pair in zip(rows, chances, strict=True))
    ):
        if px * py < 1e-5:
            continue
        seen += px * py
        lower, upper = limits(x, y, SHARED, q, quiet=quiet)
        covered += [px * py * (lower - TINY <= t <= upper + TINY) for t in truths]
    assert seen > 0.999
    assert covered.min() >= LEVEL


def test_shared_limits_hold_with_n_known() -> None:
    """Limits at the sample's weights covered 0.768 here."""
    rng = np.random.default_rng(4)
    n, q, g = (10_000, 20), 0.2, 0.2
    p = np.array([(0.748, 0.252), (0.856, 0.144)])
    held = 0
    for _ in range(60):
        rows = [rng.binomial(rng.multinomial(k, s), g) for k, s in zip(n, p, strict=True)]
        if not rows[1].sum():
            rows[1] = np.array([0, 1])  # nothing to compare: taken as a miss where it matters
        lower, upper = limits(rows[0], rows[1], SHARED, q, n=n)
        held += lower - TINY <= p[0, 1] - p[1, 1] <= upper + TINY
    # A level of 0.95 gives fewer than 52 once in a thousand times, 0.768 more once in fifty.
    assert held >= 52


@settings(max_examples=25)
@given(st.integers(2, 3), st.floats(0.1, 1), st.sampled_from(["any", "low", "high"]), st.data())
def test_no_weights_have_a_lower_limit(m: int, q: float, quiet: str, data: st.DataObject) -> None:
    """The least limit is no higher than that at any weights allowed, if it is not positive."""
    count = st.one_of(st.just(0), st.integers(0, 60))
    rows = [data.draw(st.lists(count, min_size=m, max_size=m).filter(any)) for _ in range(2)]
    places = np.linspace(0, 1, m)
    a, b = (Sample(np.array(r, float), np.array(r, float), places) for r in rows)
    falling = {"any": 0, "low": 1, "high": -1}[quiet]
    least = find_least_difference(a, b, WeightBox(np.ones(m), np.full(m, 1 / q), falling), MISS)
    assert least is not None
    w = np.array([data.draw(st.floats(1, 1 / q)) for _ in range(m)])
    w = {0: w, 1: np.sort(w)[::-1], -1: np.sort(w)}[falling][None]
    wanted = choose_scores(MISS)
    found = find_sum_limits(
        build_distribution(a, w, w, wanted),
        build_distribution(b.reverse(), w[:, ::-1], w[:, ::-1], wanted),
        MISS,
    )
    assert min(least, 0.0) <= float(found[0]) - 1 + 1e-6


def test_three_ratings_that_tie_hold_on_every_edge() -> None:
    """Every outcome of two items with two ratings each, at the weights that make things worst."""
    q, n = 0.3, 2
    cells = list_outcomes(n, 3)
    cases = np.array([[0.05, 0.05, 0.9], [0.9, 0.05, 0.05], [0.3, 0.4, 0.3], [0.02, 0.96, 0.02]])
    grid = np.array(list(product(np.geomspace(1, 1 / q, 7), repeat=3)))
    values = np.arange(1.0, 4.0)
    found = {
        (i, j): limits(cells[i], cells[j], SHARED, q)[0]
        for i, j in product(range(len(cells)), repeat=2)
    }
    lower = np.array([[found[i, j] for j in range(len(cells))] for i in range(len(cells))])
    chances = multinomial(cells, cases)
    means = grid @ (cases * values).T / (grid @ cases.T)
    for i, j in product(range(len(cases)), repeat=2):
        truth = (means[:, i] - means[:, j]).min()
        miss = chances[:, i] @ (lower > truth + TINY) @ chances[:, j]
        assert miss <= MISS
