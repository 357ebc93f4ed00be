"""The level, exactly: every outcome is enumerated, so that no luck hides a limit that is too bold.

None of these tests knows how the limits are made. They say how rarely a limit may miss, and how wide
it may be beside limits that are known in closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, xlogy
from scipy.stats import beta, binom

import unheard as uh
from tests.strategies import Floats, Histogram, histograms, voice_ratios

TINY = 1e-9
MISS = 0.025
"""How often either end of a 95% interval may miss."""

NEARLY = 1.05
"""The closed form stands for an exact test: it may miss by this factor more often."""


def all_histograms(n: int, m: int) -> Floats:
    """Every way in which n people divide into m kinds."""
    kinds = np.stack(np.meshgrid(*[np.arange(n + 1.0)] * (m - 1), indexing="ij"), axis=-1)
    first = kinds.reshape(-1, m - 1)
    first = first[first.sum(axis=1) <= n]
    return np.column_stack([first, n - first.sum(axis=1)])


def multinomial(cells: Floats, p: Floats) -> Floats:
    """Probability of every row of cells, for every row of p."""
    ways = gammaln(cells[0].sum() + 1) - gammaln(cells + 1).sum(axis=1)
    logs = sum(xlogy(cell[:, None], share) for cell, share in zip(cells.T, p.T, strict=True))
    return np.asarray(np.exp(ways[:, None] + logs))


def misses(found: Any, probability: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """How often the lower and the upper limit lie on the wrong side of each truth."""
    too_high = found.ci_lower[:, None] > truth + TINY
    too_low = found.ci_upper[:, None] < truth - TINY
    return (probability * too_high).sum(axis=0), (probability * too_low).sum(axis=0)


def reweighed(share: Floats, q: float) -> Floats:
    """What a share of the high rating among those seen means if the low one is quiet."""
    return np.asarray(share / (share + (1 - share) / q))


@pytest.mark.parametrize("n", [3, 10, 30, 100, 300])
def test_either_end_of_two_ratings_misses_rarely_for_every_p(n: int) -> None:
    high = np.arange(n + 1.0)
    found = uh.estimate(np.column_stack([n - high, high]), 1.0)
    p = np.linspace(0.0, 1.0, 1001)
    for miss in misses(found, binom.pmf(high[:, None], n, p), 1 + p):
        assert miss.max() <= NEARLY * MISS


@settings(max_examples=50)
@given(st.integers(1, 200), st.integers(1, 200), voice_ratios)
def test_two_ratings_are_reweighed_by_q_and_no_more(low: int, high: int, q: float) -> None:
    """With two ratings the worst participation is the same for every t: q only renames the mean."""
    flat, found = (uh.estimate([low, high], x, scale=[0, 1]) for x in (1.0, q))
    assert found.ci_lower == pytest.approx(float(reweighed(np.array(flat.ci_lower), q)), abs=1e-9)
    assert found.ci_upper == pytest.approx(
        1 - float(reweighed(np.array(1 - flat.ci_upper), q)), abs=1e-9
    )


@pytest.mark.parametrize("everybody_answers", [False, True])
@pytest.mark.parametrize("n", [3, 10, 30, 100, 300])
def test_two_ratings_are_not_much_wider_than_clopper_and_pearson(
    n: int, everybody_answers: bool
) -> None:
    high = np.arange(n + 1.0)
    cells = np.column_stack([n - high, high])
    found = uh.estimate(cells, 1.0, n=n if everybody_answers else None)
    low_end = np.where(high > 0, beta.ppf(MISS, np.maximum(high, 1), n - high + 1), 0.0)
    exact = 1 - low_end[::-1] - low_end
    assert np.max((found.ci_upper - found.ci_lower) / exact) <= 1.4


def corners(q: float, quiet: str) -> list[Floats]:
    """The extreme participations of two ratings."""
    found = [(q, 1.0), (q, q), (1.0, 1.0), (1.0, q)]
    return [np.array(g) for g in found if quiet == "any" or g[0] <= g[1]]


@pytest.mark.parametrize("quiet", ["any", "low"])
@pytest.mark.parametrize("q", [0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("n", [10, 30, 60])
def test_either_end_misses_rarely_with_n_known(n: int, q: float, quiet: str) -> None:
    """Every outcome of two ratings and silence."""
    cells = all_histograms(n, 3)
    mean, people = (
        uh.estimate(cells[:, :2], q, quiet=quiet, n=n, covers=covers)
        for covers in ("mean", "people")
    )
    share, held = np.linspace(0.0, 1.0, 101), np.arange(n + 1)
    for g in corners(q, quiet):
        seen = np.column_stack([1 - share, share]) * g
        drawn = multinomial(cells, np.column_stack([seen, np.maximum(1 - seen.sum(axis=1), 0)]))
        answered = binom.pmf(cells[:, [0]], n - held, g[0]) * binom.pmf(cells[:, [1]], held, g[1])
        for miss in (*misses(mean, drawn, 1 + share), *misses(people, answered, 1 + held / n)):
            assert miss.max() <= NEARLY * MISS


def test_neighbouring_ratings_near_an_end_do_not_fool_two_tests_at_once() -> None:
    """A structure in which the limits with and without n both bite: nobody gives the lowest."""
    scale, p, q, n = (0, 0.9, 1), (0.0, 0.2, 0.8), 0.3, 10_000
    seen = p[1], p[2] * q
    ranges = [np.arange(binom.ppf(1e-6, n, s), binom.ppf(1 - 1e-6, n, s) + 1) for s in seen]
    one, two = (x.ravel() for x in np.meshgrid(*ranges, indexing="ij"))
    found = uh.estimate(np.column_stack([0 * one, one, two]), q, n=n, scale=scale)
    probability = binom.pmf(one, n, seen[0]) * binom.pmf(two, n - one, seen[1] / (1 - seen[0]))
    mu = float(np.dot(p, scale))
    assert probability @ ((found.ci_lower <= mu) & (found.ci_upper >= mu)) >= 0.95


@settings(max_examples=200)
@given(histograms(), voice_ratios, st.integers(0, 2000))
def test_n_costs_at_most_a_halved_miss(histogram: Histogram, q: float, unseen: int) -> None:
    """Where n does not help, two limits share the miss probability, and no more than that."""
    n = int(histogram.counts.sum()) + unseen
    known = uh.estimate(histogram.counts, q, n=n, scale=histogram.values)
    free = uh.estimate(histogram.counts, q, scale=histogram.values, level=1 - MISS)
    assert free.ci_lower <= known.ci_lower + TINY
    assert known.ci_upper <= free.ci_upper + TINY
