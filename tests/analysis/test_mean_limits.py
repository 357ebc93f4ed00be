"""Limits of weighted means against beta distributions and against every histogram there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import beta

from tests.strategies import Floats
from unheard.analysis.mean_limits import find_lower_limits, find_upper_limits

LEVELS = np.array([0.2, 0.05, 1e-2, 1e-3, 1e-5, 1e-7])


@pytest.mark.parametrize("n", [1, 4, 30, 1000])
@pytest.mark.parametrize("odds", [1.0, 5.0, 0.2])
def test_two_ratings_are_clopper_and_pearson(n: int, odds: float) -> None:
    """With weights (1, odds) the limit of the share is moved as the share itself."""
    k = np.unique(np.linspace(1, n, 9).astype(int))
    counts = np.stack([n - k, k], axis=1).astype(float)
    found = find_lower_limits(counts, np.array([0.0, 1.0]), np.array([[1.0, odds]]), LEVELS)[0]
    share = found / (found + odds * (1 - found))
    missed = beta.cdf(share, k, n - k + 1) / LEVELS[:, None]
    assert (missed <= 1.003).all()
    assert (missed[found > 1e-6] > 0.8).all()


def histograms(n: int, m: int) -> Floats:
    return np.array([h for h in product(range(n + 1), repeat=m) if sum(h) == n], float)


@pytest.mark.parametrize("n", [3, 9, 20])
def test_no_level_is_broken_by_any_of_many_shares(n: int) -> None:
    """Enumerate all histograms of three ratings, for weights at either end of their box."""
    rng = np.random.default_rng(n)
    seen, places = histograms(n, 3), np.array([0.0, 0.4, 1.0])
    ways = gammaln(n + 1) - gammaln(seen + 1).sum(axis=1)
    shares = np.concatenate([rng.dirichlet([c] * 3, 60) for c in (0.15, 0.5, 2)]) + 1e-9
    shares /= shares.sum(axis=1, keepdims=True)
    chances = np.exp(ways + np.log(shares) @ seen.T)
    worst = np.zeros(len(LEVELS))
    for weights in np.array([[1, 1, 1], [4, 1, 1], [1, 4, 1], [1, 1, 4], [1, 4, 4], [4, 1, 4]]):
        means = (shares @ (weights * places)) / (shares @ weights)
        lower = find_lower_limits(seen, places, weights[None].astype(float), LEVELS)[0]
        upper = find_upper_limits(seen, places, weights[None].astype(float), LEVELS)[0]
        for limits, sign in ((lower, 1), (upper, -1)):
            missed = sign * limits[:, None, :] > sign * means[:, None]
            worst = np.maximum(worst, (missed * chances).sum(axis=2).max(axis=1))
    assert (worst <= LEVELS * 1.003).all()
    assert (worst[:3] > LEVELS[:3] * 0.6).all()  # and none is wasted


def test_looked_at_from_the_other_end() -> None:
    counts = np.random.default_rng(2).integers(0, 9, (20, 4)).astype(float)
    places, weights = (
        np.array([0.0, 0.2, 0.7, 1.0]),
        np.array([[1.0, 3.0, 2.0, 1.0], [1.0, 1.0, 1.0, 5.0]]),
    )
    lower = find_lower_limits(counts, places, weights, LEVELS)
    turned = find_upper_limits(counts[:, ::-1], 1 - places[::-1], weights[:, ::-1], LEVELS)
    np.testing.assert_allclose(lower, 1 - turned, atol=1e-12)
    upper = find_upper_limits(counts, places, weights, LEVELS)
    assert (np.diff(lower, axis=1) <= 0).all()
    assert (lower[:, 0] < upper[:, 0]).all()


def test_what_says_nothing() -> None:
    counts = np.array([[0.0, 0.0, 0.0], [7.0, 0.0, 0.0]])
    assert (find_lower_limits(counts, np.array([0, 0.5, 1]), np.ones((1, 3)), LEVELS) == 0).all()


def test_equal_ratings_leave_room_for_others() -> None:
    # All of n at the top: at most a share of 1 - level**(1/n) can have been missed.
    found = find_lower_limits(
        np.array([[0.0, 0, 50]]), np.array([0, 0.5, 1]), np.ones((1, 3)), [0.025]
    )
    assert found[0, 0, 0] == pytest.approx(0.025 ** (1 / 50), abs=2e-3)
    # A rating that counts little when seen, and others much, may hide more.
    hidden = np.array([[3.0, 1.0, 1.0]])
    lower = find_lower_limits(np.array([[0.0, 0, 50]]), np.array([0, 0.5, 1]), hidden, [0.025])
    assert lower[0, 0, 0] < found[0, 0, 0] - 0.05


def test_portions_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(5).integers(0, 40, (50, 5)).astype(float)
    places, weights = np.linspace(0, 1, 5), np.array([[1.0, 2, 1, 2, 1], [2.0, 1, 1, 1, 1]])
    whole = find_lower_limits(counts, places, weights, LEVELS)
    monkeypatch.setattr("unheard.analysis.mean_limits._CELLS", 1)
    np.testing.assert_allclose(find_lower_limits(counts, places, weights, LEVELS), whole, atol=1e-4)
