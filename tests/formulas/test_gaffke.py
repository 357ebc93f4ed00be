"""The closed form of Gaffke's test, against SciPy's distributions, root finders and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import f as f_distribution

import unheard as uh
from benchmarks.width import gaffke_limit
from tests.strategies import Floats
from unheard.formulas.confidence import critical_value
from unheard.formulas.gaffke import fit_log_quantile

PLACES = np.arange(5.0)
SLOW = [
    # Much at one rating and the limit just beside it: the steps take longest.
    (0, 45, 0, 0, 1),
    (0, 332, 0, 0, 1),
    (0, 516, 38, 0, 0),
    (0, 44, 181, 64, 19),
    (0, 125, 3, 11, 119),
    (0, 247, 4, 12, 4),
    (1, 2, 0, 4, 18),
    (0, 0, 0, 84, 39),
]


@pytest.mark.parametrize(
    ("level", "off"),
    [(0.5, 4e-4), (0.8, 4e-4), (0.95, 4e-4), (0.99, 6e-4), (0.999, 8e-4), (0.9999, 2e-3)],
)
def test_the_quantile_of_log_f(level: float, off: float) -> None:
    rng = np.random.default_rng(3)
    few = rng.integers(1, 6, (2, 2000)).astype(float)
    a, b = np.concatenate([few, np.exp(rng.uniform(0, 18, (2, 4000)))], axis=1)
    exact = -np.log(f_distribution.ppf((1 - level) / 2, 2 * a, 2 * b))
    u, v = 1 / a, 1 / b
    found = fit_log_quantile(critical_value(level)).at(np.sqrt(u + v), (u - v) / (u + v))
    assert np.abs(found - exact).max() / critical_value(level) < 2 * off
    assert np.abs(found / exact - 1).max() < off


def excess(t: float, counts: Floats, q: float, miss: float) -> float:
    """By how much the mean above t exceeds what SciPy's F distribution asks for."""
    y = PLACES - t
    above = np.maximum(y, 0.0)
    below = np.append(np.maximum(-y, 0.0), t)
    some = np.append(counts, 1.0)
    a1, a2 = counts @ above, counts @ above**2
    b1, b2 = some @ below, some @ below**2
    needed = f_distribution.ppf(miss, 2 * a1**2 / a2, 2 * b1**2 / b2)
    return float(a1 * needed - b1 / q)


def lower_limit_by_search(counts: Floats, q: float, miss: float) -> float:
    seen = PLACES[counts > 0].max()
    return float(brentq(excess, 1e-9, seen * (1 - 1e-9), args=(counts, q, miss), xtol=1e-13))


@pytest.mark.parametrize("q", [1.0, 0.6, 0.3, 0.1, 0.01])
def test_the_steps_end_at_the_limit(q: float) -> None:
    rng = np.random.default_rng(11)
    rates = rng.choice([0.01, 0.1, 0.5, 1, 30, 500], (150, 5))
    drawn = rng.poisson(rates)
    rows = np.concatenate([SLOW, drawn[drawn[:, 1:].sum(axis=1) > 0]]).astype(float)
    found = uh.estimate(rows, q)
    for counts, limit, bound in zip(rows, found.ci_lower - 1, found.lower - 1, strict=True):
        exact = lower_limit_by_search(counts, q, 0.025)
        assert limit == pytest.approx(exact, abs=2e-3 * (bound - exact) + 1e-12)


@pytest.mark.parametrize(
    ("level", "q", "counts"),
    [
        (0.999, 0.1, [0, 251, 71]),
        (0.9999, 0.1, [0, 181, 82]),
        (0.999, 0.1, [0, 522, 32, 21, 0]),
        (0.9999, 1.0, [0, 0, 0, 487, 32]),
        (0.999, 0.01, [0, 492, 505, 38, 32]),
        (0.9999, 0.3, [0, 0, 300, 40, 0, 0, 25, 0]),
    ],
)
def test_high_levels_beside_a_rating_that_many_gave(
    level: float, q: float, counts: list[int]
) -> None:
    rows = np.array([counts], dtype=float)
    places = np.arange(float(len(counts)))
    exact = gaffke_limit(rows, places, q, (1 - level) / 2)[0]
    found = uh.estimate(rows, q, scale=places.tolist(), level=level)
    assert found.ci_lower[0] == pytest.approx(exact, abs=0.05 * (found.lower[0] - exact))


@pytest.mark.parametrize("q", [1.0, 0.3])
def test_the_probability_at_the_limit(q: float) -> None:
    rng = np.random.default_rng(5)
    for counts in ([1, 0, 2, 3, 4], [0, 1, 1, 9, 19], [30, 5, 5, 10, 50]):
        limit = float(uh.estimate(counts, q).ci_lower) - 1
        y = np.append(PLACES, 0.0) - limit
        weights = rng.gamma(np.maximum([*counts, 1], 1e-300), size=(400_000, 6))
        sums = weights @ np.where(y < 0, y / q, y)
        # By two moments on either side: within a tenth of 0.025, or less with few ratings.
        assert 0.0205 < np.mean(sums <= 0) < 0.0275


def test_levels_from_hardly_any_to_nearly_certain() -> None:
    levels = np.array([0.01, 0.2, 0.5, 0.9, 0.99, 0.9999, 1 - 1e-9])
    limits = [float(uh.estimate([3, 1, 0, 5, 9], 0.5, level=x).ci_lower) for x in levels]
    assert np.all(np.diff(limits) < 0)
    assert limits[-1] > 1.0
