"""Exact regret against enumeration of people, simulation and finite differences."""

from __future__ import annotations

import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unheard as uh
from tests.strategies import Floats
from unheard.game.outcomes import GameError, count_outcomes, list_outcomes, tabulate_binomial
from unheard.game.regret import ExactRegret, compute_regret, simulate_regret
from unheard.game.rules import Rule, evaluate_rule
from unheard.game.structures import (
    Structure,
    StructureError,
    build_asymptotic_pair,
    build_lemma_pair,
)
from unheard.model.scale import Scale
from unheard.options.choices import RegretKind

KINDS: tuple[RegretKind, ...] = ("gap", "excess")


@st.composite
def structures(draw: st.DrawFn, m: int, loudest: float = 1.0) -> Structure:
    weights = draw(st.lists(st.floats(0.02, 1), min_size=m, max_size=m))
    g = draw(st.lists(st.floats(0.05, loudest), min_size=m, max_size=m))
    return Structure([w / sum(weights) for w in weights], g)


def by_enumerating_people(
    rule: Rule, structure: Structure, n: int, q: float, scale: Scale, kind: str
) -> float:
    """Go through what every single person thinks and whether each is seen."""
    m, values = structure.m, np.array(scale.values)
    mu = structure.mean(scale)
    total = 0.0
    for held in product(range(m), repeat=n):
        for seen in product((False, True), repeat=n):
            chance = 1.0
            counts = np.zeros((1, m))
            for r, s in zip(held, seen, strict=True):
                chance *= structure.p[r] * (structure.g[r] if s else 1 - structure.g[r])
                counts[0, r] += s
            answer = evaluate_rule(rule, counts, n, q, scale)[0]
            mean = values[list(held)].mean()
            loss = (answer - mean) ** 2
            if kind == "excess":
                loss = (answer - mu) ** 2 - (mean - mu) ** 2
            total += chance * loss
    return total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["average", "paa", "bea", "midpoint", "minimax"])
def test_regret_is_the_sum_over_people(rule: str, kind: str) -> None:
    scale = Scale((1, 2, 4))
    structure = Structure((0.5, 0.2, 0.3), (0.4, 0.9, 0.7))
    expected = by_enumerating_people(rule, structure, 3, 0.4, scale, kind)
    assert compute_regret(rule, structure, 3, 0.4, scale, kind) == pytest.approx(
        expected, rel=1e-12
    )


@settings(max_examples=12)
@given(
    st.data(),
    st.integers(2, 4),
    st.integers(1, 12),
    st.sampled_from(["average", "paa", "bea", "spectral"]),
    st.sampled_from(KINDS),
    st.floats(0.05, 0.95),
)
def test_regret_agrees_with_a_million_draws(
    data: st.DataObject, m: int, n: int, rule: str, kind: str, q: float
) -> None:
    structure = data.draw(structures(m))
    scale = Scale.points(m)
    exact = compute_regret(rule, structure, n, q, scale, kind)
    rng = np.random.default_rng(12)
    found = simulate_regret(rule, structure, n, q, scale, kind, rng=rng, draws=1_000_000)
    assert found.regret == pytest.approx(exact, abs=4 * found.standard_error + 1e-12)


@settings(max_examples=40)
@given(st.data(), st.integers(2, 4), st.integers(1, 8), st.sampled_from(KINDS))
def test_slopes_are_finite_differences(
    data: st.DataObject, m: int, n: int, kind: RegretKind
) -> None:
    scale = Scale.points(m)
    rng = np.random.default_rng(n)
    answers = 1 + (m - 1) * rng.random(count_outcomes(n, m))
    regret = ExactRegret(answers, n, scale, kind)
    # Inside the simplex, where a difference in both directions makes sense.
    cells = data.draw(structures(m, loudest=0.9)).cells()
    _, slope = regret.value_and_slope(cells[None, :])
    for k in range(2 * m):
        step = np.zeros(2 * m)
        step[k] = 1e-5
        difference = regret.value(np.stack([cells + step, cells - step]))
        assert slope[0, k] == pytest.approx(
            (difference[0] - difference[1]) / 2e-5, rel=1e-4, abs=1e-6
        )


def test_slope_at_an_empty_cell_is_the_one_sided_one() -> None:
    regret = ExactRegret(
        evaluate_rule("paa", list_outcomes(4, 3).seen, 4, 0.3, Scale.points(3)),
        4,
        Scale.points(3),
        "gap",
    )
    cells = Structure((0.6, 0, 0.4), (0.5, 1, 1)).cells()
    _, slope = regret.value_and_slope(cells[None, :])
    for k in (1, 4, 5):
        assert cells[k] == 0
        step = np.zeros(6)
        step[k] = 1e-6
        up = regret.value(np.stack([cells + step, cells]))
        assert slope[0, k] == pytest.approx((up[0] - up[1]) / 1e-6, rel=1e-3)


def test_all_histograms_are_there_once() -> None:
    table = list_outcomes(6, 3)
    assert len(table.seen) == count_outcomes(6, 3) == 84
    rows = {tuple(row) for row in np.column_stack([table.seen, table.unseen]).tolist()}
    assert len(rows) == 84
    assert all(sum(row) == 6 for row in rows)
    chances = np.exp(table.log_ways) * 0.25**6
    assert chances.sum() == pytest.approx(1)
    np.testing.assert_allclose(tabulate_binomial(9, 0.3).sum(axis=1), 1)


def test_too_many_histograms_are_refused_politely() -> None:
    with pytest.raises(GameError, match=r"96,560,646 histograms.*n up to \d+.*simulate"):
        list_outcomes(100, 5)


BROKEN: list[tuple[Any, str]] = [
    (lambda seen: seen, r"each of 10 histograms; got an array of shape \(10, 2\)"),
    (lambda seen: seen[:, 0] * np.nan, r"got nan for the histogram \(0, 0\)"),
    (lambda seen: 1 + seen[:, 0], r"from 1 to 2; got 3\.0 for the histogram \(2, 0\)"),
    (lambda seen: ["x"] * len(seen), "must return numbers; got list"),
]


@pytest.mark.parametrize(("rule", "message"), BROKEN, ids=[m for _, m in BROKEN])
def test_a_broken_aggregator_is_named_with_the_histogram(rule: Rule, message: str) -> None:
    with pytest.raises(GameError, match=message):
        compute_regret(rule, Structure((0.5, 0.5), (1, 1)), 3, 0.5, Scale.points(2))


def test_an_aggregator_cannot_spoil_the_histograms() -> None:
    def greedy(seen: Floats) -> Floats:
        seen[:] = 0
        return np.full(len(seen), 1.5)

    evaluate_rule(greedy, list_outcomes(3, 2).seen, 3, 0.5, Scale.points(2))
    assert list_outcomes(3, 2).seen.max() == 3


@pytest.mark.parametrize(
    ("p", "g", "message"),
    [
        ((0.5, 0.6), (1, 1), "add up to 1"),
        ((0.5, 0.5), (1, 1.2), "between 0 and 1"),
        ((0.5, 0.5), (1, 1, 1), "shape"),
        ((1.5, -0.5), (1, 1), "add up to 1"),
    ],
)
def test_structures_are_checked(p: tuple[float, ...], g: tuple[float, ...], message: str) -> None:
    with pytest.raises(StructureError, match=message):
        Structure(p, g)


def test_structures_draw_what_they_say() -> None:
    structure, scale = Structure((0.2, 0.3, 0.5), (0.9, 0.4, 0.7)), Scale((1, 2, 4))
    rng = np.random.default_rng(4)
    seen, unseen = structure.draw_histograms(50, 20_000, rng)
    assert ((seen + unseen).sum(axis=1) == 50).all()
    np.testing.assert_allclose(seen.mean(axis=0) / 50, [0.18, 0.12, 0.35], atol=0.002)
    np.testing.assert_allclose(unseen.mean(axis=0) / 50, [0.02, 0.18, 0.15], atol=0.002)
    ratings, reported = structure.draw_ratings(200_000, scale, rng)
    assert ratings.mean() == pytest.approx(structure.mean(scale), abs=0.01)
    for value, g in zip(scale.values, structure.g, strict=True):
        assert reported[ratings == value].mean() == pytest.approx(g, abs=0.01)


def test_named_structures() -> None:
    first, second = build_lemma_pair(0.7, 0.3, 4)
    np.testing.assert_allclose(first.p, (0.7, 0, 0, 0.3))
    np.testing.assert_allclose(first.g, (0.3, 1, 1, 1))
    assert second == Structure(first.p[::-1], first.g[::-1])
    np.testing.assert_allclose(build_asymptotic_pair(0.25, 2)[0].p, (0.8, 0.2))


def test_the_lemma_pair_attains_the_lower_bound() -> None:
    """[GKL25, lemma 3.2]: BEA is the best response, and its regret there is LB."""
    for n, q in ((7, 0.4), (15, 0.6)):
        for structure in build_lemma_pair(float(uh.bea_a_star(n, q)), q, 3):
            found = compute_regret("bea", structure, n, q, Scale.points(3))
            assert found == pytest.approx(4 * float(uh.regret_lower_bound(n, q)), rel=1e-12)


@pytest.mark.parametrize("kind", ["gap", "excess"])
def test_a_simulation_in_blocks_is_the_one_at_once(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    structure, scale = Structure((0.2, 0.3, 0.5), (0.9, 0.5, 0.4)), Scale.points(3)

    def simulate() -> tuple[float, float]:
        rng = np.random.default_rng(5)
        found = simulate_regret("bea", structure, 30, 0.4, scale, kind, rng=rng, draws=1_000)
        return found.regret, found.standard_error

    at_once = simulate()
    monkeypatch.setattr("unheard.game.regret._BLOCK_CELLS", 100)
    assert simulate() == at_once


def test_a_simulation_takes_little_memory() -> None:
    structure = Structure((1 / 101,) * 101, (0.5,) * 101)
    rng = np.random.default_rng(5)
    tracemalloc.start()
    try:
        simulate_regret("bea", structure, 1_000, 0.5, Scale.points(101), rng=rng, draws=100_000)
        assert tracemalloc.get_traced_memory()[1] < 150e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("n", "m", "words"),
    [
        (10**9, 5, "Use n up to 48, or simulate"),
        (10**300, 101, "over 10\\*\\*18 histograms; 297,029 fit"),
        (1, 10_001, "10001 ratings have .* Use n up to 0, "),
    ],
)
def test_too_many_histograms_are_refused_at_once(n: int, m: int, words: str) -> None:
    with pytest.raises(GameError, match=words):
        list_outcomes(n, m)
