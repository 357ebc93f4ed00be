"""The figures on regret: reference values, closed forms and independent oracles."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from unheard.game.adversary import find_worst_case
from unheard.game.regret import compute_regret
from unheard.game.structures import Structure, build_lemma_pair
from unheard.model.scale import Scale
from unheard.paper import asymptotic, methods_over_q, regret_over_n, regret_over_q
from unheard.paper.exhibit import Rows

QS = (0.3, 0.5, 0.9)

PROVED = 2e-4
"""Worst cases are certified to 1e-4, from one side or the other; twice that for a quotient."""


@pytest.fixture(scope="module")
def proved() -> Rows:
    return regret_over_q.compute_proofs(QS, [10])


@pytest.fixture(scope="module")
def proved_at_high_q() -> Rows:
    return regret_over_q.compute_proofs([0.5, 0.95], [20])


@pytest.fixture(scope="module")
def searched(proved: Rows) -> Rows:
    return regret_over_q.compute_numbers(proved, [(10, 3), (10, 5)])


@pytest.fixture(scope="module")
def four_methods() -> Rows:
    return methods_over_q.compute_numbers([0.05, 0.5, 0.95], n=8, m=4)


@pytest.fixture(scope="module")
def over_n() -> Rows:
    return regret_over_n.compute_numbers([20, 40, 60, 80, 100])


def _at(rows: Rows, q: float) -> dict[str, float]:
    return dict(next(row for row in rows if row["q"] == q))


class TestRegretOverQ:
    def test_lower_bounds_are_the_reference_values(
        self, proved: Rows, proved_at_high_q: Rows
    ) -> None:
        # All ten digits that were written down.
        assert _at(proved, 0.5)["lower bound"] == pytest.approx(0.0353107784, abs=5e-11)
        assert _at(proved_at_high_q, 0.5)["lower bound"] == pytest.approx(0.0315124243, abs=5e-11)

    def test_reference_values_where_bea_is_not_optimal(
        self, proved: Rows, proved_at_high_q: Rows
    ) -> None:
        # Half a unit of the last digit given, or the width of the proof if that is more.
        ten, twenty = _at(proved, 0.9), _at(proved_at_high_q, 0.95)
        assert ten["lower bound"] == pytest.approx(0.0020296, abs=5e-8)
        assert ten["bea"] == pytest.approx(0.0026875, rel=PROVED)
        assert twenty["lower bound"] == pytest.approx(0.00048754, abs=5e-9)
        assert twenty["bea"] == pytest.approx(0.00065057, rel=PROVED)
        # The optimum is known to half a thousandth.
        assert ten["minimax"] == pytest.approx(0.002545, rel=5e-4)
        assert twenty["minimax"] == pytest.approx(0.0006305, rel=5e-4)

    def test_everything_is_in_order(self, proved: Rows, proved_at_high_q: Rows) -> None:
        for row in (*proved, *proved_at_high_q):
            order = ["lower bound", "minimax at least", "minimax", "bea", "paa", "average"]
            values = [row[name] for name in order]
            # Upper sides of proofs: equal methods may come out in either order.
            assert all(a <= b * (1 + PROVED) for a, b in pairwise(values)), row

    def test_bea_is_strictly_better_than_the_average(self, proved: Rows) -> None:
        assert all(row["bea"] < row["average at least"] for row in proved)

    def test_search_finds_what_is_proved_for_the_two_ends(
        self, proved: Rows, searched: Rows
    ) -> None:
        # Rounding only: the true worst case lies inside of the bracket.
        assert regret_over_q.measure_disagreement(proved, searched) < 1e-9

    def test_disagreement_sees_a_wrong_number(self, proved: Rows, searched: Rows) -> None:
        for factor in (0.999, 1.001):
            wrong = [{**searched[0], "bea": searched[0]["bea"] * factor}, *searched[1:]]
            assert regret_over_q.measure_disagreement(proved, wrong) > 5e-4

    def test_optimum_and_lower_bound_grow_with_the_width_squared(
        self, proved: Rows, searched: Rows
    ) -> None:
        for row in searched:
            for name in ("minimax", "lower bound"):
                expected = (row["m"] - 1) ** 2 * _at(proved, row["q"])[name]
                assert row[name] == pytest.approx(expected, rel=1e-12)

    def test_beyond_the_threshold_the_worst_structure_is_the_papers(self, proved: Rows) -> None:
        row = _at(proved, 0.9)
        # Corners of triangles are sums of powers of 1/2: exact up to rounding.
        assert (row["p_1"], row["g_1"], row["g_2"]) == pytest.approx((0.5, 0.9, 0.9), abs=1e-9)

    def test_threshold(self) -> None:
        (row,) = regret_over_q.find_thresholds([10])
        # Just above 0.81, as the certified optimum on the grid says, and below the paper's 0.82.
        assert 0.81 < row["bea leaves lower bound"] < row["paper"]
        # Oracle: the regret at p = (1/2, 1/2), g = (q, q), equals the bound and a thousandth.
        q = row["bea leaves lower bound"]
        even = compute_regret("bea", Structure((0.5, 0.5), (q, q)), 10, q, Scale.points(2))
        bound = find_worst_case("bea", 10, q, Scale.points(2)).lower_bound
        # The root is found to 1e-5, where the quotient changes by some 2 per unit of q.
        assert even / bound == pytest.approx(1.001, abs=5e-5)

    def test_average_against_pairs(self) -> None:
        values = [
            compute_regret("average", side, 6, 0.7, Scale((0, 1)))
            for a in np.linspace(0, 1, 41)
            for side in build_lemma_pair(float(a), 0.7, 2)
        ]
        found = regret_over_q.regret_against_pairs(6, 0.7)
        # The coarse grid misses the top by at most a square of its step.
        assert max(values) - 1e-12 <= found <= max(values) * 1.002


class TestAsymptotic:
    def test_closed_forms(self) -> None:
        for row in asymptotic.list_closed_forms([0.1, 0.5]):
            q = row["q"]
            expected = {
                "paa": (2 * (1 - q) / (2 * (1 + q))) ** 2,
                "average": (2 * (1 - q**0.5) / (1 + q**0.5)) ** 2,
            }
            assert row["regret"] == pytest.approx(expected[row["method"]], rel=1e-14)

    @pytest.mark.parametrize("m", [2, 3, 4])
    def test_search_agrees_with_closed_forms(self, m: int) -> None:
        found = {row["method"]: row["regret"] for row in asymptotic.search_worst_cases([0.2], m=m)}
        for row in asymptotic.list_closed_forms([0.2], m=m):
            # Differential evolution stops when its population agrees to 1e-10.
            assert found[row["method"]] == pytest.approx(row["regret"], rel=1e-7)


class TestMethodsOverQ:
    def test_spectral_is_worst(self, four_methods: Rows) -> None:
        at = {(row["method"], row["q"]): row["regret"] for row in four_methods}
        for q, method in product((0.05, 0.5, 0.95), ("bea", "paa", "average")):
            assert at[method, q] < at["spectral", q]

    def test_structures_are_the_witnesses(self, four_methods: Rows) -> None:
        for row in four_methods:
            p, g = ([float(x) for x in row[name].split()] for name in ("p", "g"))
            structure = Structure([x / sum(p) for x in p], g)
            regret = compute_regret(row["method"], structure, 8, row["q"], Scale.points(4))
            # Printed with four digits, next to a maximum, where the slope is small.
            assert regret == pytest.approx(row["regret"], rel=1e-3)

    def test_remainder_is_the_largest_excess_of_the_root_mean_square(self) -> None:
        x = np.linspace(0, 1, 100_001)
        excess = np.sqrt(1 + 24 * x) - 1 - 4 * x
        # The grid misses the top by a square of its step.
        assert methods_over_q.find_spectral_limit(5) == pytest.approx(excess.max() ** 2, rel=1e-8)


class TestRegretOverN:
    def test_worst_g_beats_a_scattering_of_others(self) -> None:
        regret, g = regret_over_n.find_worst_participation("bea", 20)
        assert g == (0.5, 1.0)
        rng = np.random.default_rng(5)
        for other in rng.uniform(0.5, 1, size=(40, 2)):
            structure = Structure(regret_over_n.P, other.tolist())
            assert compute_regret("bea", structure, 20, 0.5, Scale.points(2)) <= regret

    def test_worst_p_is_at_least_as_bad_and_bea_meets_its_bound(self, over_n: Rows) -> None:
        at = {(row["case"], row["method"], row["n"]): row["regret"] for row in over_n}
        for (case, method, n), regret in at.items():
            if case == regret_over_n.FIXED:
                assert regret <= at[regret_over_n.WORST, method, n]
        # At q = 0.5 BEA is optimal: its worst case is the lower bound of the specification.
        assert at[regret_over_n.WORST, "bea", 20] == pytest.approx(0.0315124243, abs=5e-11)

    @pytest.mark.parametrize("method", ["bea", "paa"])
    def test_limits_are_what_large_n_tends_to(self, method: str) -> None:
        # Richardson: this combination cancels 1/n and 1/n**2. What is left falls by 8 when n is
        # doubled, and is 4e-6 of the limit here.
        worst = Structure(regret_over_n.P, (0.5, 1.0))
        few, some, many = (
            compute_regret(method, worst, n, 0.5, Scale.points(2)) for n in (100, 200, 400)
        )
        limit = regret_over_n.find_limits()[regret_over_n.FIXED, method]
        assert (few - 6 * some + 8 * many) / 3 == pytest.approx(limit, rel=1e-5)

    def test_the_largest_limit_error_over_all_g(self) -> None:
        p, q = np.array(regret_over_n.P), regret_over_n.Q
        g = np.array(list(product(np.linspace(q, 1, 101), repeat=2)))
        seen = p * g
        alpha = 1 / (1 + np.exp(-2 * (seen[:, 0] - seen[:, 1])))
        bea = seen[:, 1] + (1 - seen.sum(axis=1)) * (1 - alpha) - p[1]
        odds = seen[:, 1] / seen[:, 0]
        paa = sum(x * odds / (1 + x * odds) for x in (q, 1 / q)) / 2 - p[1]
        limits = regret_over_n.find_limits()
        for method, error in (("bea", bea), ("paa", paa)):
            expected = limits[regret_over_n.FIXED, method]
            assert (error**2).max() == pytest.approx(expected, rel=1e-12)

    def test_fits(self, over_n: Rows) -> None:
        for fit in regret_over_n.fit_rates(over_n):
            assert fit["k"] > 0
            assert fit["largest relative error"] < 3e-3
            # Terms of order 1/n**2 move b by less than a hundredth.
            assert fit["b"] == pytest.approx(fit["b in theory"], rel=1e-2)

    def test_fits_recover_an_exact_line(self) -> None:
        rows = [
            {"case": case, "method": method, "n": n, "regret": 0.5 / n + 0.03}
            for case, method in regret_over_n.find_limits()
            for n in (20, 50, 100)
        ]
        for fit in regret_over_n.fit_rates(rows):
            assert (fit["k"], fit["b"]) == pytest.approx((0.5, 0.03), rel=1e-9)
