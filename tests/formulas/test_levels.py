"""The level, exactly: every outcome is enumerated, so that no luck hides a limit that is too bold.

None of these tests knows how the limits are made. They say how rarely a limit may miss, and how
wide it may be beside limits that are known in closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

import unheard as uh
from tests.formulas.outcomes import binomial, list_outcomes, misses, multinomial
from tests.strategies import Floats, Histogram, histograms, voice_ratios
from unheard.options.choices import Covers

TINY = 1e-9
MISS = 0.025
"""How often either end of a 95% interval may miss."""

NEARLY = 1.01
"""The closed form stands for an exact test: it may miss by this factor more often."""


def reweighed(share: Floats, q: float) -> Floats:
    """What a share of the high rating among those seen means if the low one is quiet."""
    return np.asarray(share / (share + (1 - share) / q))


@pytest.mark.parametrize("n", [3, 10, 30, 100, 300])
def test_either_end_of_two_ratings_misses_rarely_for_every_p(n: int) -> None:
    high = np.arange(n + 1.0)
    found = uh.estimate(np.column_stack([n - high, high]), 1.0)
    p = np.linspace(0.0, 1.0, 1001)
    for miss in misses(found, binomial(high[:, None], n, p), 1 + p):
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
    ratio = (found.ci_upper - found.ci_lower) / exact
    assert ratio.max() <= 1.02
    assert ratio.mean() <= 1.01


def corners(q: float, quiet: str) -> list[Floats]:
    """The extreme participations of two ratings."""
    found = [(q, 1.0), (q, q), (1.0, 1.0), (1.0, q)]
    return [np.array(g) for g in found if quiet != "low" or g[0] <= g[1]]


@pytest.mark.parametrize("quiet", ["any", "low", "floor"])
@pytest.mark.parametrize("q", [0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("n", [10, 30, 60])
def test_either_end_misses_rarely_with_n_known(n: int, q: float, quiet: str) -> None:
    """Every outcome of two ratings and silence."""
    cells = list_outcomes(n, 3)
    stated: dict[str, Any] = {"floor": q} if quiet == "floor" else {"q": q, "quiet": quiet}
    mean, people = (
        uh.estimate(cells[:, :2], **stated, n=n, covers=covers) for covers in ("mean", "people")
    )
    share, held = np.linspace(0.0, 1.0, 101), np.arange(n + 1)
    for g in corners(q, quiet):
        seen = np.column_stack([1 - share, share]) * g
        drawn = multinomial(cells, np.column_stack([seen, np.maximum(1 - seen.sum(axis=1), 0)]))
        answered = binomial(cells[:, [0]], n - held, g[0]) * binomial(cells[:, [1]], held, g[1])
        for miss in (*misses(mean, drawn, 1 + share), *misses(people, answered, 1 + held / n)):
            assert miss.max() <= NEARLY * MISS


@pytest.mark.parametrize("stated", ["q", "floor"])
def test_neighbouring_ratings_near_an_end_do_not_fool_two_tests_at_once(stated: str) -> None:
    """A structure in which the limits with and without n both bite: nobody gives the lowest."""
    scale, p, q, n = (0, 0.9, 1), (0.0, 0.2, 0.8), 0.3, 10_000
    seen = p[1], p[2] * q
    ranges = [np.arange(binom.ppf(1e-6, n, s), binom.ppf(1 - 1e-6, n, s) + 1) for s in seen]
    one, two = (x.ravel() for x in np.meshgrid(*ranges, indexing="ij"))
    assumption: dict[str, Any] = {stated: q}
    found = uh.estimate(np.column_stack([0 * one, one, two]), **assumption, n=n, scale=scale)
    probability = binomial(one, n, seen[0]) * binomial(two, n - one, seen[1] / (1 - seen[0]))
    mu = float(np.dot(p, scale))
    assert probability @ ((found.ci_lower <= mu) & (found.ci_upper >= mu)) >= 0.95


@pytest.mark.parametrize("n", [1000, 20_000])
def test_bounds_under_which_two_thresholds_tie(n: int) -> None:
    """Found by a search: once 0.91 were covered; at full strength the tests with n leave 0.945."""
    scale = range(1, 12)
    box = [(0.181, 0.653), (0.0125, 0.263), *[(0.02, 0.047)] * 9]
    seen, mu = (0.378 * 0.181, 0.622 * 0.263), 1.622
    ranges = [np.arange(binom.ppf(1e-6, n, s), binom.ppf(1 - 1e-6, n, s) + 1) for s in seen]
    one, two = (x.ravel() for x in np.meshgrid(*ranges, indexing="ij"))
    cells = np.column_stack([one, two, *[0 * one] * 9])
    found = uh.estimate(cells, participation=box, n=n, scale=list(scale))
    probability = binomial(one, n, seen[0]) * binomial(two, n - one, seen[1] / (1 - seen[0]))
    assert probability @ ((found.ci_lower <= mu) & (found.ci_upper >= mu)) >= 0.955


@settings(max_examples=200)
@given(histograms(), voice_ratios, st.integers(0, 2000))
def test_n_never_widens_a_floor(histogram: Histogram, q: float, unseen: int) -> None:
    n = int(histogram.counts.sum()) + unseen
    known = uh.estimate(histogram.counts, floor=q, n=n, scale=histogram.values)
    free = uh.estimate(histogram.counts, q, scale=histogram.values)
    assert free.ci_lower <= known.ci_lower + TINY
    assert known.ci_upper <= free.ci_upper + TINY


def test_either_end_misses_rarely_for_these_people() -> None:
    """Whoever they are: here the number of people with each rating is fixed."""
    n, q = 150, 0.6
    cells, held = list_outcomes(n, 3), np.arange(n + 1)
    found = uh.estimate(cells[:, :2], floor=q, n=n, covers="people")
    for g in ((q, 1.0), (q, q)):
        answered = binomial(cells[:, [0]], n - held, g[0]) * binomial(cells[:, [1]], held, g[1])
        for miss in misses(found, answered, 1 + held / n):
            assert miss.max() <= MISS


@pytest.mark.parametrize("people", [1, 2, 3, 5])
def test_few_people_with_unequal_bounds(people: int) -> None:
    """One rating of a handful of people says next to nothing about the others."""
    box = [(0.018, 0.39), (0.1, 0.53), (0.12, 0.62), (0.29, 0.71), (0.31, 0.9)]
    for level in (0.95, 0.99, 0.999):
        found = uh.estimate([1, 0, 0, 0, 0], participation=box, n=people, level=level)
        assert found.ci_upper > 4.5


def test_a_rare_response_in_the_middle_does_not_rule_the_width() -> None:
    """One rating of which one in a hundred is seen: once 12 times the plain interval."""
    counts = np.full(5, 200.0)
    weights = 1 / np.array([1, 1, 0.01, 1, 1])
    found = uh.estimate(counts, g=[1, 1, 0.01, 1, 1])
    mean = counts * weights @ VALUES / (counts @ weights)
    error = np.sqrt(counts @ (weights * (VALUES - mean)) ** 2) / (counts @ weights)
    assert (found.ci_upper - found.ci_lower) / (2 * 1.96 * error) <= 1.15


VALUES = np.arange(1.0, 6.0)
SHAPES = {"J": [0.1, 0.05, 0.05, 0.2, 0.6], "U": [0.35, 0.1, 0.1, 0.1, 0.35], "uniform": [0.2] * 5}


def plain_lower_limit(seen: Floats, values: Floats, n: int, q: float, covers: str) -> float:
    """Normal limit at the threshold t where the mean of y = t + w (rating - t) is the largest."""
    best, error = -np.inf, 0.0
    for t in values:
        w = np.where(values < t, 1 / q, 1.0)
        mean = float(t + seen @ (w * (values - t)) / n)
        if mean > best:
            best = mean
            spread = w * (w - 1) if covers == "people" else w * w
            around = 0.0 if covers == "people" else n * (mean - t) ** 2
            error = float(np.sqrt(seen @ (spread * (values - t) ** 2) - around)) / n
    return best - 1.96 * error


@pytest.mark.parametrize("covers", ["mean", "people"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("q", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("n", [1000, 1_000_000])
def test_not_wasteful_with_n_known(n: int, q: float, shape: str, covers: Covers) -> None:
    """At most 1.1 times the plain asymptotic interval from 1,000 people on."""
    g = q + (1 - q) * np.array([0.7, 0.6, 0.5, 0.4, 0.3])
    seen = np.round(n * g * SHAPES[shape])
    found = uh.estimate(seen, floor=q, n=n, covers=covers)
    lower = plain_lower_limit(seen, VALUES, n, q, covers)
    upper = -plain_lower_limit(seen, -VALUES, n, q, covers)
    assert (found.ci_upper - found.ci_lower) / (upper - lower) <= 1.1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [0.5, 0.9])
@pytest.mark.parametrize("n", [1000, 10_000])
def test_those_seen_are_a_large_part_of_these_people(n: int, rate: float, shape: str) -> None:
    """The end without bias: at most 1.25 times the normal error of a sample without replacement."""
    seen = np.round(n * rate * np.array(SHAPES[shape]))
    found = uh.estimate(seen, 0.9 * rate, quiet="low", n=n, covers="people")
    size = seen.sum()
    variance = seen @ (VALUES - seen @ VALUES / size) ** 2 / size
    plain = 1.96 * np.sqrt(variance / size * (1 - size / n))
    assert found.ci_upper - found.upper <= 1.25 * plain


@pytest.mark.parametrize("p", [(0.02748, 0.3355, 0.63702), (0.04565, 0.0448, 0.90955)])
def test_a_high_level_where_many_ratings_are_just_below_the_limit(
    p: tuple[float, float, float],
) -> None:
    cells = list_outcomes(250, 3)
    found = uh.estimate(cells, 1.0, scale=[0.0, 0.9, 1.0], level=0.9999)
    truth = p[1] * 0.9 + p[2]
    inside = (found.ci_lower <= truth) & (found.ci_upper >= truth)
    assert multinomial(cells, np.array(p))[~inside].sum() < 1.2e-4
