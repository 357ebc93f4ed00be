"""BEA's balance: the integral against the paper's double sum, the limit against the integral."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, gammaln, xlogy
from scipy.stats import binom

import unheard as uh
from tests.strategies import Floats
from unheard.formulas.bea import LARGE_N, _solve_lambda_by_root, approximate_lambda, regret_bound_at


def double_sum(n: int, q: float, a: float) -> float:
    """LB(a) as it stands in [GKL25, lemma 3.2], on the scale {0, 1}."""
    s, t = (x.ravel() for x in np.mgrid[: n + 1, : n + 1])
    s, t = s[s + t <= n], t[s + t <= n]
    u = n - s - t
    log_p = gammaln(n + 1) - gammaln(s + 1) - gammaln(t + 1) - gammaln(u + 1)
    log_p += xlogy(s, a * q) + xlogy(t, 1 - a) + xlogy(u, a * (1 - q))
    slope = np.log(a * q / (1 - a))
    return float(np.exp(log_p) @ (u / n * expit(-slope * (s - t))) ** 2)


def bulk_sum(n: int, q: float, lam: float) -> float:
    """The same sum over the unseen u, then the number s at the low end, where they have mass."""
    a = 1 / (1 + q * np.exp(-lam))
    first, last = (int(binom.ppf(x, n, a * (1 - q))) for x in (1e-18, 1 - 1e-16))
    u = np.arange(max(first - 30, 0), min(last + 30, n) + 1)
    seen = (n - u)[:, None]
    half = np.arange(-450, 451)[None, :]
    s = seen // 2 + half
    inner = binom.pmf(s, seen, expit(lam)) * expit(-lam * (2 * s - seen)) ** 2
    return float(binom.pmf(u, n, a * (1 - q)) @ ((u / n) ** 2 * inner.sum(axis=1)))


@pytest.mark.parametrize(
    ("n", "q", "a_star", "bound"),
    [
        # a* from the double sum in 40-digit arithmetic.
        (10, 0.5, 0.710691285718304, 0.0353107784),
        (20, 0.3, 0.787159805839704, 0.0773017607),
        (20, 0.5, 0.68882228, 0.0315124243),
        (50, 0.8, 0.56497397, 0.0036363278),
    ],
)
def test_reference_values(n: int, q: float, a_star: float, bound: float) -> None:
    digits = 8 if round(a_star, 8) == a_star else 14
    assert round(float(uh.bea_a_star(n, q)), digits) == round(a_star, digits)
    assert round(float(uh.regret_lower_bound(n, q)), 10) == bound


@given(st.integers(2, 60), st.floats(0.001, 1.0), st.floats(0.02, 0.98))
def test_the_integral_is_the_double_sum(n: int, q: float, a: float) -> None:
    lam = np.array(np.log(a * q / (1 - a)))
    found = float(regret_bound_at(np.array(n), np.array(q), lam))
    assert found == pytest.approx(double_sum(n, q, a), abs=1e-14)


@settings(max_examples=25)
@given(st.integers(3, 200), st.floats(0.01, 0.99))
def test_no_other_a_does_better(n: int, q: float) -> None:
    grid = 1 / (1 + q * np.exp(-np.linspace(-1, 4, 41)))
    best = max(double_sum(n, q, a) for a in grid)
    bound = float(uh.regret_lower_bound(n, q))
    assert best <= bound + 1e-15
    assert bound == pytest.approx(double_sum(n, q, float(uh.bea_a_star(n, q))), rel=1e-12)


@pytest.mark.parametrize("q", [0.02, 0.3, 0.7, 0.97])
def test_two_people_have_a_closed_form(q: float) -> None:
    found = minimize_scalar(
        lambda a: -double_sum(2, q, a), bounds=(1e-6, 1 - 1e-9), options={"xatol": 1e-12}
    )
    assert float(uh.bea_a_star(2, q)) == pytest.approx(found.x, abs=1e-6)
    assert float(uh.regret_lower_bound(2, q)) == pytest.approx(-found.fun, rel=1e-12)


def test_one_person() -> None:
    assert float(uh.bea_a_star(1, 0.3)) == 1.0
    assert float(uh.regret_lower_bound(1, 0.3)) == pytest.approx(0.7 / 4)
    assert float(uh.bea_lambda(1, 0.3)) == 0.0


@pytest.mark.parametrize("q", [1e-9, 1e-3, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1 - 1e-9, 1.0])
def test_limit_and_integral_meet(q: float) -> None:
    """n*lambda within 4e-7 moves BEA by less than 1e-7 of the scale's width."""
    n = np.array([LARGE_N, 3 * LARGE_N, 30 * LARGE_N], dtype=float)
    exact = _solve_lambda_by_root(n, np.full(3, q))
    np.testing.assert_allclose(n * approximate_lambda(n, q), n * exact, atol=4e-7, rtol=0)


@pytest.mark.parametrize("q", [0.05, 0.4, 0.9])
def test_integral_limit_and_bulk_sum_meet(q: float) -> None:
    """The middle way, a sum over the bulk of the distribution, peaks at the same lambda."""
    n, h = LARGE_N, 0.2

    def rise(kappa: float) -> float:
        return bulk_sum(n, q, (kappa + h) / n) - bulk_sum(n, q, (kappa - h) / n)

    assert brentq(rise, 1.5, 2.5) == pytest.approx(n * float(uh.bea_lambda(n, q)), abs=1e-4)
    lam = float(uh.bea_lambda(n, q))
    assert bulk_sum(n, q, lam) == pytest.approx(float(uh.regret_lower_bound(n, q)), rel=1e-11)


def test_large_n_limits() -> None:
    """n*lambda tends to 2 for every fixed q, and to 1 where hardly anybody is unseen."""
    assert round(3000 * float(uh.bea_lambda(3000, 0.3)), 4) == 2.0005
    assert 1e9 * float(uh.bea_lambda(10**9, 0.3)) == pytest.approx(2, abs=1e-8)
    assert 1e4 * float(uh.bea_lambda(10**4, 1 - 1e-9)) == pytest.approx(1, abs=1e-3)


def test_many_sizes_at_once() -> None:
    n, q = np.array([[1, 2, 3], [50, 4000, 10**9]]), np.array([0.2, 0.5, 0.9])
    together = uh.bea_lambda(n, q)
    one_by_one: Floats = np.array(
        [[float(uh.bea_lambda(x, y)) for x, y in zip(row, q, strict=True)] for row in n]
    )
    np.testing.assert_array_equal(together, one_by_one)


def brute_force_bea(counts: list[int], q: float, n: int) -> float:
    found = minimize_scalar(
        lambda a: -double_sum(n, q, a), bounds=(1e-6, 1 - 1e-9), options={"xatol": 1e-12}
    )
    slope = np.log(found.x * q / (1 - found.x))
    alpha = 1 / (1 + np.exp(-slope * (counts[0] - counts[-1])))
    m, seen = len(counts), sum(counts)
    total = sum(r * c for r, c in enumerate(counts, 1))
    return float(total + (n - seen) * (alpha + m * (1 - alpha))) / n


@settings(max_examples=60)
@given(st.data(), st.integers(2, 40), st.floats(0.05, 0.99))
def test_bea_is_the_brute_force(data: st.DataObject, n: int, q: float) -> None:
    counts = data.draw(st.lists(st.integers(0, n), min_size=2, max_size=5))
    while sum(counts) > n:
        counts = [c // 2 for c in counts]
    if sum(counts) == 0:
        counts[-1] = 1
    found = uh.estimate(counts, floor=q, n=n, method="bea").estimate
    width = len(counts) - 1
    assert found == pytest.approx(brute_force_bea(counts, q, n), abs=1e-6 * width)


def test_bea_reference_value() -> None:
    # 40-digit arithmetic gives 3.66391366633026.
    found = uh.estimate([2, 1, 0, 3, 6], floor=0.3, n=20, method="bea").estimate
    assert found == pytest.approx(3.66391366633026, abs=1e-12)


@given(st.lists(st.integers(0, 2**45), min_size=2, max_size=6).filter(any), st.floats(0.01, 1))
def test_bea_with_nobody_unseen_is_exactly_the_average(counts: list[int], q: float) -> None:
    found = uh.estimate(counts, q, n=sum(counts), method="bea").estimate
    assert found == uh.estimate(counts, q, method="average").estimate


def test_bea_does_not_overflow() -> None:
    counts = np.array([[10**9 // 2, 0, 10], [10, 0, 10**9 // 2]])
    found = uh.estimate(counts, 0.01, n=10**9, method="bea").estimate
    assert np.isfinite(found).all()
    assert found[0] == pytest.approx(4 - found[1])


def test_a_ratio_implies_a_floor_for_bea() -> None:
    """With q alone, the least participation is at least q times the response rate."""
    counts = [[2, 1, 0, 3, 6], [1, 0, 0, 0, 2], [0, 0, 0, 0, 0]]
    found = uh.estimate(counts, 0.5, n=20, method="bea").estimate
    for row, rate in enumerate((12 / 20, 3 / 20)):
        expected = uh.estimate(counts[row], floor=0.5 * rate, n=20, method="bea").estimate
        assert found[row] == pytest.approx(expected, rel=1e-14)
    assert found[2] == 3
