"""Groups of known size put together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import unheard as uh
from unheard.core.columns import NUMPY
from unheard.core.strata import Answer, combined, terms

VALUES = np.arange(1.0, 6.0)


def together(counts: np.ndarray, n: np.ndarray, q: float) -> Answer:
    got = uh.estimate(counts, floor=q, n=n)
    part = Answer(got.estimate, got.lower, got.upper, got.ci_lower, got.ci_upper)
    return combined([np.sum(term) for term in terms(n, part)], NUMPY)


def test_interval_is_everything_that_the_strata_allow() -> None:
    counts = np.array([[3, 1, 0, 6, 9], [10, 2, 2, 0, 1]])
    n, q = np.array([60.0, 40.0]), 0.2
    found = together(counts, n, q)
    # Unseen people of each rating and stratum, as a linear program over both strata at once.
    people = np.tile(VALUES, 2)
    seen = counts.reshape(-1)
    each = np.kron(np.eye(2), np.ones(5))
    for sign, end in ((1, found.lower), (-1, found.upper)):
        best = linprog(
            sign * people,
            A_eq=each,
            b_eq=n - counts.sum(axis=1),
            bounds=[(0, c * (1 / q - 1)) for c in seen],
        )
        assert end == pytest.approx(
            (people @ seen + sign * float(best.fun or 0)) / n.sum(), rel=1e-9
        )


def test_one_stratum_is_itself() -> None:
    got = uh.estimate([3, 1, 0, 6, 9], floor=0.2, n=60)
    found = together(np.array([[3, 1, 0, 6, 9]]), np.array([60.0]), 0.2)
    for name in Answer._fields:
        assert getattr(found, name) == pytest.approx(getattr(got, name), rel=1e-12)


def test_confidence_interval_keeps_its_level() -> None:
    # The worst case for the lower end: low ratings all quiet, high ones all heard.
    rng = np.random.default_rng(5)
    q, sizes = 0.4, np.array([300, 150, 80])
    p = np.array([[0.3, 0.1, 0.1, 0.2, 0.3], [0.5, 0, 0, 0, 0.5], [0.1, 0.1, 0.2, 0.3, 0.3]])
    g = np.where(VALUES <= 3, q, 1.0)
    truth = (sizes * (p @ VALUES)).sum() / sizes.sum()
    inside = 0
    for _ in range(600):
        counts = np.array(
            [rng.binomial(rng.multinomial(k, row), g) for k, row in zip(sizes, p, strict=True)]
        )
        found = together(counts, sizes.astype(float), q)
        inside += found.ci_lower <= truth <= found.ci_upper
    # 600 draws: a level of 0.95 gives fewer than 556 once in a thousand times.
    assert inside >= 556
