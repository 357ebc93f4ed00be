"""Confidence intervals: level by exact enumeration, and the properties that are proved."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, xlogy
from scipy.stats import binom

import unheard as uh
from tests.formulas.outcomes import list_outcomes
from tests.strategies import DIRECTIONS, Floats, Histogram, assumptions, histograms, voice_ratios
from unheard.options.choices import Quiet

TINY = 1e-9


def worst_mean(p: Floats, q: float) -> tuple[float, float]:
    """The ends of what a population seen as p can mean, by trying every threshold."""
    m = len(p)
    values = np.arange(1, m + 1)
    quiet_low = [np.where(np.arange(m) < k, 1 / q, 1.0) * p for k in range(m + 1)]
    quiet_high = [np.where(np.arange(m) < k, 1.0, 1 / q) * p for k in range(m + 1)]
    return (
        min(float(w @ values / w.sum()) for w in quiet_low),
        max(float(w @ values / w.sum()) for w in quiet_high),
    )


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 30, 100, 300])
def test_two_ratings_keep_the_level_for_every_p(n: int, level: float) -> None:
    x = np.arange(n + 1)
    found = uh.estimate(np.column_stack([n - x, x]), 1.0, level=level)
    p = np.linspace(0.0, 1.0, 2001)
    covered = (found.ci_lower[:, None] <= 1 + p + TINY) & (found.ci_upper[:, None] >= 1 + p - TINY)
    coverage = (binom.pmf(x[:, None], n, p) * covered).sum(axis=0)
    assert coverage.min() >= level - 1e-12


@pytest.mark.parametrize("q", [0.1, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("n", [3, 8, 15])
def test_three_ratings_keep_the_level_against_the_worst_participation(n: int, q: float) -> None:
    rng = np.random.default_rng(7)
    cells = list_outcomes(n, 3)
    found = uh.estimate(cells, q)
    log_ways = gammaln(n + 1) - gammaln(cells + 1).sum(axis=1)
    for alpha in (0.2, 0.5, 1.0):
        for p in rng.dirichlet(np.full(3, alpha), size=40):
            probability = np.exp(log_ways + xlogy(cells, p).sum(axis=1))
            low, high = worst_mean(p, q)
            for truth in (low, high):
                covered = (found.ci_lower <= truth + TINY) & (found.ci_upper >= truth - TINY)
                assert probability @ covered >= 0.945


@pytest.mark.parametrize("stated", ["q", "floor"])
@pytest.mark.parametrize("q", [0.3, 0.6, 1.0])
def test_known_n_keeps_the_level_for_the_mean_and_for_the_people(q: float, stated: str) -> None:
    """Every outcome of eight people with three ratings, responding as little as allowed."""
    n, m = 8, 3
    values = np.array([1.0, 2.0, 3.0])
    everybody = list_outcomes(n, m)
    pairs = [
        (held, np.array(seen, dtype=float))
        for held in everybody
        for seen in np.ndindex(*(int(h) + 1 for h in held))
    ]
    held = np.array([h for h, _ in pairs])
    seen = np.array([s for _, s in pairs])
    assumption: dict[str, Any] = {stated: q}
    mean = uh.estimate(seen, **assumption, n=n)
    people = uh.estimate(seen, **assumption, n=n, covers="people")
    levels = (1.0, 0.7, 0.2) if stated == "q" else (1.0,)
    truth = held @ values / n
    for p in ([0.6, 0.1, 0.3], [0.05, 0.05, 0.9], [0.5, 0.0, 0.5]):
        log_p = gammaln(n + 1) - gammaln(held + 1).sum(axis=1) + xlogy(held, p).sum(axis=1)
        for g, level in product(([q, q, q], [q, 1, 1], [1, 1, q], [q, q, 1]), levels):
            given_held = np.prod(binom.pmf(seen, held, level * np.array(g)), axis=1)
            probability = np.exp(log_p) * given_held
            assert probability.sum() == pytest.approx(1)
            mu = float(np.array(p) @ values)
            inside = (mean.ci_lower <= mu + TINY) & (mean.ci_upper >= mu - TINY)
            assert probability @ inside >= 0.945
            inside = (people.ci_lower <= truth + TINY) & (people.ci_upper >= truth - TINY)
            assert probability @ inside >= 0.945


@settings(max_examples=300)
@given(
    histograms(),
    st.sampled_from(["any", "low", "high", "middle", "floor"]),
    st.tuples(voice_ratios, voice_ratios),
    st.none() | st.integers(0, 3000),
)
@example(Histogram(np.array([1, 7]), (0.0, 1.0)), "any", (0.6, 0.2), 4)
def test_never_narrower_when_q_falls(
    histogram: Histogram, quiet: str, qs: tuple[float, float], unseen: int | None
) -> None:
    seen = int(histogram.counts.sum())
    n = None if unseen is None else seen + unseen
    assume(quiet != "floor" or n is not None)
    found = []
    for q in sorted(qs, reverse=True):
        stated: dict[str, Any] = {"floor": q} if quiet == "floor" else {"q": q, "quiet": quiet}
        found.append(uh.estimate(histogram.counts, **stated, n=n, scale=histogram.values))
    narrow, wide = found
    # Where the response rate contradicts a floor, n is left out, and says nothing about q.
    assume("low_response" not in narrow.notes)
    assert wide.ci_lower <= narrow.ci_lower + TINY
    assert narrow.ci_upper <= wide.ci_upper + TINY


@settings(max_examples=300)
@given(st.data(), histograms(), st.none() | st.integers(0, 3000))
def test_holds_the_interval_and_stays_on_the_scale(
    data: st.DataObject, histogram: Histogram, unseen: int | None
) -> None:
    assumption = data.draw(assumptions(histogram.m, n_known=unseen is not None))
    n = None if unseen is None else int(histogram.counts.sum()) + unseen
    found = uh.estimate(histogram.counts, **assumption, n=n, scale=histogram.values)
    assert histogram.values[0] <= found.ci_lower <= found.lower
    assert found.lower <= found.upper <= found.ci_upper <= histogram.values[-1]


@settings(max_examples=300)
@given(histograms(), voice_ratios, st.sampled_from(DIRECTIONS), st.integers(0, 3000))
@example(Histogram(np.array([0, 0, 1, 1, 3]), (1.0, 2.0, 3.0, 4.0, 5.0)), 0.3, "any", 5)
def test_knowing_n_never_widens(histogram: Histogram, q: float, quiet: Quiet, unseen: int) -> None:
    n = int(histogram.counts.sum()) + unseen
    known = uh.estimate(histogram.counts, q, quiet=quiet, n=n, scale=histogram.values)
    free = uh.estimate(histogram.counts, q, quiet=quiet, scale=histogram.values)
    assert free.ci_lower - TINY <= known.ci_lower
    assert known.ci_upper <= free.ci_upper + TINY


def test_n_sharpens_the_limits_of_a_near_census() -> None:
    free = uh.estimate([120, 30, 45, 200, 605], 0.3)
    known = uh.estimate([120, 30, 45, 200, 605], 0.3, n=1200)
    assert known.ci_upper - known.ci_lower < 0.65 * (free.ci_upper - free.ci_lower)


@given(histograms(), voice_ratios, st.tuples(st.floats(0.5, 0.999), st.floats(0.5, 0.999)))
def test_a_higher_level_is_wider(
    histogram: Histogram, q: float, levels: tuple[float, float]
) -> None:
    low, high = (uh.estimate(histogram.counts, q, level=level) for level in sorted(levels))
    assert high.ci_lower <= low.ci_lower + TINY
    assert low.ci_upper <= high.ci_upper + TINY


SHAPES: dict[str, Any] = {
    "J": [0.1, 0.05, 0.05, 0.2, 0.6],
    "U": [0.35, 0.1, 0.1, 0.1, 0.35],
    "uniform": [0.2] * 5,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("q", [0.1, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("size", [1000, 10_000, 1_000_000])
def test_not_wasteful(shape: str, q: float, size: int) -> None:
    """At most 1.15 times the plain asymptotic interval from 1,000 ratings on."""
    counts, values = np.array(SHAPES[shape]) * size, np.arange(1, 6)
    found = uh.estimate(np.round(counts).tolist(), q)

    def half_width(end: float, below: float, above: float) -> float:
        w = np.where(values < end, below, above)
        return float(1.96 * np.sqrt(counts @ (w * (values - end)) ** 2) / (counts @ w))

    plain = found.upper - found.lower
    plain += half_width(found.lower, 1 / q, 1) + half_width(found.upper, 1, 1 / q)
    assert (found.ci_upper - found.ci_lower) / plain <= 1.15


@pytest.mark.parametrize("stated", [{}, {"quiet": "any"}, {"quiet": "low"}])
@pytest.mark.parametrize(
    ("low", "high", "q"), [(2, 18, 0.95), (7, 93, 0.98), (16, 100, 0.99), (150, 5000, 0.999)]
)
def test_these_people_when_hardly_anybody_is_unseen(
    low: int, high: int, q: float, stated: dict[str, str]
) -> None:
    """One whole person unseen is more than the variance w (w - 1) tells."""
    seen = np.arange(low + 1)
    counts = np.column_stack([seen, np.full(low + 1, high)])
    assumption: dict[str, Any] = {"q": q, **stated} if stated else {"floor": q}
    found = uh.estimate(counts, **assumption, n=low + high, covers="people")
    truth = (low + 2 * high) / (low + high)
    covered = (found.ci_lower <= truth + TINY) & (found.ci_upper >= truth - TINY)
    assert binom.pmf(seen, low, q) @ covered >= 0.95


def test_these_people_are_no_better_than_those_seen_allow() -> None:
    """Two of three people are known to be at the bottom."""
    found = uh.estimate([2, 0], 0.37, quiet="low", n=3, scale=[0, 1], covers="people")
    assert found.ci_upper == pytest.approx(1 / 3)


def test_equal_ratings_leave_doubt() -> None:
    found = uh.estimate([0, 0, 0, 0, 10], 1.0)
    assert found.lower == found.upper == 5
    assert 3 < found.ci_lower < 4.5
    assert found.ci_upper == 5


def test_nobody_unseen_leaves_no_doubt_about_the_people() -> None:
    found = uh.estimate([3, 1, 0, 4, 9], 0.3, n=17, covers="people")
    assert found.ci_lower == pytest.approx(found.estimate, abs=1e-12)
    assert found.ci_upper == pytest.approx(found.estimate, abs=1e-12)
