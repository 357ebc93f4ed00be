"""The certified optimum: what is proved, against brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unheard as uh
from tests.strategies import Floats
from unheard.game.adversary import find_worst_case
from unheard.game.bernstein import certify_worst_case, compute_coefficients
from unheard.game.minimax import certify_rule, extend_to_scale, solve_minimax
from unheard.game.outcomes import GameError, list_outcomes
from unheard.game.regret import ExactRegret
from unheard.model.scale import Scale
from unheard.options.choices import RegretKind

BINARY = Scale((0, 1))
KINDS: tuple[RegretKind, ...] = ("gap", "excess")


def random_table(n: int, seed: int) -> Floats:
    return np.random.default_rng(seed).random((n + 1, n + 1))


def as_regret(table: Floats, kind: RegretKind) -> ExactRegret:
    n = len(table) - 1
    low, high = list_outcomes(n, 2).seen.astype(int).T
    return ExactRegret(table[low, high], n, BINARY, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("high_quiet", [False, True])
def test_bernstein_coefficients_give_the_regret(kind: RegretKind, high_quiet: bool) -> None:
    """The polynomial with these coefficients is the regret, at any shares of the three types."""
    n, q = 5, 0.35
    table = random_table(n, 1)
    found = compute_coefficients(table, q, kind, high_quiet)
    degree = len(found) - 1
    assert degree == (n if kind == "gap" else n + 1)
    for shares in np.random.default_rng(2).dirichlet([1, 1, 1], size=10):
        total = sum(
            found[k, j]
            * shares[0] ** (degree - k - j)
            * shares[1] ** j
            * shares[2] ** k
            * np.exp(
                sum(np.log(np.arange(1, degree + 1)))
                - sum(np.log(np.arange(1, degree - k - j + 1)))
                - sum(np.log(np.arange(1, j + 1)))
                - sum(np.log(np.arange(1, k + 1)))
            )
            for k in range(degree + 1)
            for j in range(degree + 1 - k)
        )
        loud, quiet, high = shares
        g_high = q if high_quiet else 1.0
        cells = np.array([loud + q * quiet, high * g_high, (1 - q) * quiet, high * (1 - g_high)])
        assert total == pytest.approx(float(as_regret(table, kind).value(cells[None, :])[0]))


@settings(max_examples=25)
@given(st.integers(1, 7), st.floats(0.05, 0.95), st.integers(0, 1000), st.sampled_from(KINDS))
def test_certificate_holds_on_a_lattice_of_all_structures(
    n: int, q: float, seed: int, kind: RegretKind
) -> None:
    """For any aggregator, also one that treats the ends differently."""
    table = random_table(n, seed)
    proof = certify_worst_case(table, q, kind, 1e-3)
    points = np.array([x for x in product(range(11), repeat=4) if sum(x) == 10]) / 10
    low_loud, high_loud, low_quiet, high_quiet = points.T
    cells = np.column_stack(
        [
            low_loud + q * low_quiet,
            high_loud + q * high_quiet,
            (1 - q) * low_quiet,
            (1 - q) * high_quiet,
        ]
    )
    regret = as_regret(table, kind)
    assert regret.value(cells).max() <= proof.upper
    at_witness = float(regret.value(proof.witness.cells()[None, :])[0])
    assert at_witness == pytest.approx(proof.lower, rel=1e-9)
    assert proof.lower <= proof.upper <= proof.lower * 1.001 + 1e-11


@pytest.mark.parametrize("rule", ["average", "bea", "paa", "spectral"])
def test_certificate_agrees_with_the_search(rule: str) -> None:
    proof = certify_rule(rule, 15, 0.6, tolerance=1e-5)
    found = find_worst_case(rule, 15, 0.6, BINARY)
    assert proof.lower <= found.regret * (1 + 1e-12)
    assert found.regret <= proof.upper


@pytest.mark.parametrize(("n", "q", "value"), [(10, 0.9, "0.002545"), (20, 0.95, "0.0006305")])
def test_reference_values(n: int, q: float, value: str) -> None:
    game = solve_minimax(n, q, tolerance=1e-4)
    digits = len(value) - 2
    assert f"{game.lower:.{digits}f}" == value == f"{game.upper:.{digits}f}"
    assert not game.bea_is_optimal
    assert game.lower_bound < game.lower < game.upper < game.bea < game.average


@pytest.mark.parametrize("n", [1, 2, 10, 20, 50, 100])
@pytest.mark.parametrize("q", [0.05, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99])
def test_the_bracket_is_narrow(n: int, q: float) -> None:
    game = solve_minimax(n, q)
    assert 0 < game.lower <= game.upper
    assert game.gap <= 1e-3
    assert game.lower_bound <= game.upper
    assert game.upper <= game.bea * (1 + 1e-3)


@pytest.mark.parametrize(("n", "inside", "outside"), [(10, 0.80, 0.82), (20, 0.90, 0.92)])
def test_bea_is_optimal_below_its_threshold(n: int, inside: float, outside: float) -> None:
    below, above = solve_minimax(n, inside), solve_minimax(n, outside)
    assert below.bea_is_optimal
    assert below.lower == pytest.approx(below.lower_bound, rel=1e-4)
    assert not above.bea_is_optimal


@pytest.mark.parametrize("q", [0.3, 0.9])
def test_excess_has_a_value_too(q: float) -> None:
    game = solve_minimax(10, q, kind="excess")
    assert game.gap <= 1e-3
    assert game.upper <= game.bea


@pytest.mark.parametrize("n", [2, 5, 8])
@pytest.mark.parametrize("q", [0.2, 0.6, 0.9])
def test_the_extension_is_no_worse_than_the_binary_game(n: int, q: float) -> None:
    """Jensen: worst-case regret on three ratings at most the width squared times the binary."""
    scale = Scale((1, 2, 4))
    game = solve_minimax(n, q, scale)
    found = find_worst_case(game.answer, n, q, scale, screened=512, followed=12)
    assert found.regret <= game.upper + 1e-9
    # And no aggregator can do better, since two ratings are a special case.
    assert found.regret >= game.lower * (1 - 1e-9)


def test_the_extension_averages_over_replacements() -> None:
    """Against the plain sum over every way to replace ratings by ends."""
    table, scale = random_table(6, 5), Scale((1, 2, 4))
    seen = np.array([[1, 3, 2], [0, 2, 0], [0, 0, 0], [2, 0, 1]])
    for row, found in zip(seen, extend_to_scale(table, seen.astype(float), scale), strict=True):
        expected = 0.0
        for ends in product((0, 1), repeat=int(row[1])):
            high = sum(ends)
            chance = (1 / 3) ** high * (2 / 3) ** (len(ends) - high)
            low = row[0] + len(ends) - high
            expected += chance * table[low, row[2] + high]
        assert found == pytest.approx(1 + 3 * expected)


def test_minimax_is_a_method_of_estimate() -> None:
    counts = np.array([[2, 1, 0, 3, 6], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]])
    found = uh.estimate(counts, floor=0.3, n=[20, 9, 12], method="minimax")
    assert found.estimate[1] == 3
    for row, n in ((0, 20), (2, 12)):
        game = solve_minimax(n, 0.3, Scale.points(5), tolerance=1e-3)
        assert found.estimate[row] == pytest.approx(game.answer(counts[row : row + 1] * 1.0)[0])
    turned = uh.estimate(counts[:, ::-1], floor=0.3, n=[20, 9, 12], method="minimax")
    np.testing.assert_allclose(found.estimate, 6 - turned.estimate, atol=1e-9)
    full = uh.estimate([3, 0, 4], 0.3, n=7, method="minimax")
    assert full.estimate == pytest.approx(15 / 7)
    with pytest.raises(uh.MethodError, match="n up to 100; got 101"):
        uh.estimate([3, 4], 0.3, n=101, method="minimax")
    assert "minimax" not in uh.build_question([3, 4], 0.3, n=101).methods()
    # With q alone, the floor is q times the response rate.
    ratio = uh.estimate(counts[:1], 0.5, n=20, method="minimax")
    floor = uh.estimate(counts[:1], floor=0.5 * 12 / 20, n=20, method="minimax")
    assert ratio.estimate == floor.estimate


def test_everybody_seen_is_no_game() -> None:
    game = solve_minimax(5, 1.0)
    assert (game.lower, game.upper) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0, "q": 0.5}, "n must be from 1 to 200 for kind='gap'"),
        ({"n": 201, "q": 0.5}, "n must be from 1 to 200 for kind='gap'"),
        ({"n": 51, "q": 0.5, "kind": "excess"}, "n must be from 1 to 50 for kind='excess'"),
        ({"n": 5, "q": 0.5, "kind": "other"}, "kind must be 'gap' or 'excess'; got 'other'"),
        ({"n": 5, "q": 0.5, "kind": "excess", "scale": Scale.points(3)}, "two ratings"),
    ],
)
def test_games_that_cannot_be_played(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(GameError, match=message):
        solve_minimax(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "q"), [(5, 0.3), (3, 0.05), (8, 0.6)])
def test_lower_is_not_below_the_papers_bound(n: int, q: float) -> None:
    """It was 0.0921683 beside 0.0921694 for 5 people and q = 0.3: a mixture not quite the best."""
    game = solve_minimax(n, q)
    assert game.lower_bound <= game.lower <= game.upper
