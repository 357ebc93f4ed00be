"""Claims about an order with sampling error: by definition, and how often any of them is wrong."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import unheard as uh
from benchmarks.claims import (
    PARTICIPATION,
    SHAPES,
    false_alarms,
    settled_by_limits,
    thinnings,
    wrong_claims,
)
from benchmarks.sections import MISSING, SECTIONS, Sections
from tests.analysis.test_shared_ranking import books, pair_table, random_items
from tests.strategies import Floats
from unheard.analysis import shared_ranking, shared_tests
from unheard.analysis.shared_breakdown import find_shared_breakdown
from unheard.analysis.shared_criteria import PairCriteria
from unheard.analysis.shared_pairs import SharedItems
from unheard.analysis.shared_ranking import rank_shared
from unheard.analysis.shared_tests import (
    PairTests,
    build_tested_criteria,
    choose_number_of_levels,
    compute_limit_levels,
)
from unheard.formulas.boxes import QUIET
from unheard.model.question import build_question

__all__ = ["books"]  # a fixture


@pytest.mark.parametrize("miss", [0.05, 1e-4, 1e-9])
def test_levels_use_up_the_miss_probability(miss: float) -> None:
    many = choose_number_of_levels(miss)
    levels = compute_limit_levels(miss, many)
    # How many levels each of two items is beyond, by chance alone.
    beyond = -np.diff(np.concatenate([[1.0], levels, [0.0]]))
    together = sum(
        beyond[a] * beyond[b] for a, b in product(range(many + 1), repeat=2) if a + b >= many
    )
    assert together == pytest.approx(miss, rel=1e-9)


def test_claims_about_two_ratings_by_definition() -> None:
    """With two ratings p-values are beta distributions: look at their product along the scale."""
    rng = np.random.default_rng(1)
    n = rng.integers(20, 400, 24)
    k = rng.binomial(n, rng.uniform(0.1, 0.95, 24))
    q = 0.4
    found = pair_table(
        rank_shared(build_question(np.stack([n - k, k], 1), q), sampling_error=True, pairs=True)
    )
    claims = 0
    for _ in range(2):
        levels = compute_limit_levels(
            0.05 / (24 * 23 - claims), choose_number_of_levels(0.05 / (24 * 23))
        )
        t = np.linspace(1e-4, 1 - 1e-4, 4001)
        lower, upper = (
            beta.cdf(t, k[:, None], n[:, None] - k[:, None] + 1),
            beta.sf(t, k[:, None] + 1, n[:, None] - k[:, None]),
        )
        steps = [
            np.floor(np.log(np.maximum(p, 1e-300)) / np.log(levels[0]) * (1 + f))
            for p in (lower, upper)
            for f in (-0.02, 0.02)
        ]
        sure, maybe = (
            (
                np.minimum(steps[f], len(levels))[:, None] + np.minimum(steps[2 + f], len(levels))
                >= len(levels)
            ).all(axis=2)
            for f in (0, 1)
        )
        claims = int(found.sum())
    # Weights move t, the same way for both: there is no corner to tell apart.
    assert (found | ~sure).all()
    assert (maybe | ~found).all()
    assert sure.sum() > 100
    assert (~maybe).sum() > 100


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("g", PARTICIPATION, ids=str)
def test_equal_items_are_hardly_ever_claimed_to_differ(shape: str, g: list[float]) -> None:
    """Known participation: what every corner of a box is tested as. All claims are wrong."""
    rng = np.random.default_rng(len(shape))
    runs = 20
    share = false_alarms(rng, runs, 20, (5, 30), shape, np.array(g))
    assert share <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def test_many_equal_items_are_hardly_ever_claimed_to_differ() -> None:
    rng = np.random.default_rng(200)
    assert false_alarms(rng, 10, 200, (5, 300), "J", np.array([0.3, 0.3, 1, 1, 1])) <= 0.1


def test_hardly_anything_claimed_of_thinned_sections_is_wrong() -> None:
    if not SECTIONS.exists():
        pytest.skip(MISSING)
    rng = np.random.default_rng(2)
    census = 20 * Sections.read().near_census(10)
    wrong = 0
    for thinning in islice(thinnings(0.5, rng, each=1), len(QUIET)):
        cells = rng.choice(census, 20, replace=False)
        question = thinning.drawn(cells, rng)
        found = rank_shared(question, sampling_error=True, pairs=True)
        wrong += wrong_claims(cells, found) > 0
        assert found.settled_share > 0.1
        # Sharper than limits that hold for all items at once.
        assert found.settled_share > settled_by_limits(question)
    assert wrong <= 1


def test_hardly_anything_claimed_of_books_is_wrong(books: np.ndarray) -> None:
    rng = np.random.default_rng(5)
    some = books[rng.choice(len(books), 15, replace=False)]
    shares = some / some.sum(axis=1, keepdims=True)
    truth = shares @ np.arange(5)
    runs = wrong = said = 0
    for q, quiet, g in (
        (0.5, "any", np.array([1, 0.5, 0.5, 1, 1])),
        (0.3, "any", np.array([0.3, 0.3, 1, 1, 1])),
        (0.3, "low", np.array([0.3, 0.5, 0.6, 0.7, 1])),
        (0.3, "high", np.array([1, 1, 0.3, 0.3, 0.3])),
        (0.3, "middle", np.array([1, 0.3, 0.5, 0.3, 1])),
    ):
        for ratings in (30, 3000) if quiet == "any" else (3000,):
            drawn = shares * g / (shares @ g)[:, None]
            seen = np.array([rng.multinomial(ratings, share) for share in drawn])
            question = build_question(seen, q, quiet=quiet)
            found = pair_table(rank_shared(question, sampling_error=True, pairs=True))
            exact = pair_table(rank_shared(question, pairs=True))
            assert (exact | ~found).all()
            wrong += bool((found & (truth[:, None] <= truth)).any())
            said += int(found.sum())
            runs += 1
    assert said > 150
    assert wrong <= 1


@pytest.mark.parametrize("stretch", [1.1, 4.0, 1e9])
def test_between_the_points_of_a_direction(stretch: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is behind somewhere on a segment is hardly ahead at one of its points."""
    monkeypatch.setattr(shared_tests, "_STRETCH", stretch)
    cells = random_items(300, 5, 10)
    crowd = SharedItems.of(build_question(cells, 0.05, quiet="low"), unobserved=True)
    trials = PairTests.of(crowd, 1.0)
    i, j = (x.ravel() for x in np.indices((len(crowd.items),) * 2))
    behind = crowd.find_least_differences(i, j, 0.05) <= 0
    means = np.stack([crowd.compute_means(weights) for weights in trials.above])
    least = (means[:, i] - means[:, j]).min(axis=0)[behind]
    assert least.max() <= trials.ahead
    if stretch == 1e9:
        assert least.max() > 0  # so that being ahead at the points is not enough
    lower = trials.find_lower_limits(crowd, np.arange(20), np.array([0.1]), slice(0, 5))
    assert (lower[:, 0] < np.maximum(means[:5, :20], 1e-9) - trials.ahead).all()


def test_ranks_and_tiers_follow_from_claims() -> None:
    cells = np.array([[0, 0, 5, 90, 905], [0, 5, 200, 500, 300], [10, 200, 600, 180, 10], [0] * 5])
    found = rank_shared(build_question(cells, 0.3), k=2, sampling_error=True, pairs=True)
    assert found.pairs is not None
    assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert found.worst_rank.tolist() == [2, 3, 4, 4]
    assert found.surely is not None
    assert found.surely.tolist() == [True, False, False, False]
    rated = rank_shared(build_question(cells[:3], 0.3), sampling_error=True)
    assert rated.tier.tolist() == [1, 2, 3]


def test_similar_participation_with_sampling_error_is_between() -> None:
    rng = np.random.default_rng(3)
    seen = np.array([rng.multinomial(2000, share) for share in rng.dirichlet([1, 1, 3], 12)])
    settled = [
        rank_shared(build_question(seen, 0.3), sampling_error=True, similarity=similarity).settled
        for similarity in (0.3, 0.8, 1)
    ]
    assert settled == sorted(settled)
    assert settled[0] < settled[1] < settled[2]


def test_a_rating_nobody_gave_may_exist() -> None:
    """What no rating shows, a longer scale still allows."""
    cells = np.array([[0, 0, 60], [0, 25, 35]])
    assert rank_shared(build_question(cells[:, 1:], 0.5, scale=(2, 3)), sampling_error=True).settled
    assert not rank_shared(
        build_question(cells, 0.5, scale=(-20, 2, 3)), sampling_error=True
    ).settled


def test_later_claims_count_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Floats] = []

    def noted(crowd: SharedItems, trials: PairTests, levels: Floats, *rest: Any) -> PairCriteria:
        used.append(levels)
        return build_tested_criteria(crowd, trials, levels, *rest)

    monkeypatch.setattr(shared_ranking, "build_tested_criteria", noted)
    cells = np.array([[0, 0, 100], [100, 0, 0], [99, 1, 0], [0, 0, 0]])
    assert rank_shared(build_question(cells, 0.5, level=0.9), sampling_error=True).settled == 2
    many = choose_number_of_levels(0.1 / 6)
    for levels, claims in zip(used, (6, 4), strict=True):
        np.testing.assert_allclose(levels, compute_limit_levels(0.1 / claims, many))


@pytest.mark.parametrize("quiet", ["any", "low"])
def test_breakdown_with_sampling_error_is_where_claims_end(quiet: str) -> None:
    cells = np.array([[5, 10, 60, 200, 300], [20, 30, 90, 150, 160], [0, 0, 0, 0, 0]])
    question = build_question(cells, 0.5, quiet=quiet)
    exact = find_shared_breakdown(question, [0, 1, 0], [1, 0, 2])
    (q, *none) = find_shared_breakdown(question, [0, 1, 0], [1, 0, 2], sampling_error=True)
    assert exact[0] < q < 1
    assert np.isnan(none).all()
    for at, claimed in ((q * 1.01, 1), (q * 0.99, 0)):
        assert (
            rank_shared(build_question(cells, at, quiet=quiet), sampling_error=True).settled
            == claimed
        )


def test_progress_rises_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_tests, "_PORTION", 8)  # two of fifteen corners of four items
    told: list[float] = []
    rank_shared(
        build_question(np.eye(4, dtype=int) + 3, 0.3), sampling_error=True, progress=told.append
    )
    assert told == sorted(told)
    assert told[-1] == 1
    assert len(told) == 2 * 8


def test_refused() -> None:
    with pytest.raises(uh.OptionError, match="Allowing for sampling error requires level"):
        rank_shared(build_question([[1, 5], [5, 1]], 0.3, level=None), sampling_error=True)
    with pytest.raises(
        uh.OptionError, match="sampling_error cannot be combined with weighted counts"
    ):
        rank_shared(
            build_question([[1.5, 5.0], [5.0, 1.0]], 0.3, effective=[5, 5]), sampling_error=True
        )
    with pytest.raises(uh.OptionError, match="100,000 items on this scale are too many to"):
        rank_shared(build_question(np.ones((10**5, 5)), 0.3), sampling_error=True)
