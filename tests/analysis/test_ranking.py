"""Possible ranks against their definition, and against real ratings whose order is known."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unheard as uh
from tests.strategies import Floats, assumptions
from unheard.analysis.breakdown import find_largest_q
from unheard.analysis.ranking import (
    adjust_level_for_items,
    find_top_k_breakdown,
    rank_intervals,
)
from unheard.model.question import Question, build_question

BOOKS = Path(__file__).parents[3] / "shared" / "data" / "goodbooks" / "book_histograms.csv"
QS = np.exp(np.linspace(np.log(1e-3), 0.0, 60))


@st.composite
def intervals(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Intervals on few values, so that many ends coincide."""
    ends = draw(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=1, max_size=25))
    low = np.array([a for a, _ in ends], float)
    return low, low + np.array([b for _, b in ends])


@given(ends=intervals(), k=st.integers(1, 25))
def test_ranks_by_definition(ends: tuple[Floats, Floats], k: int) -> None:
    low, high = ends
    k = min(k, len(low))
    found = rank_intervals(low, high, k=k)
    assert found.surely is not None
    assert found.possibly is not None
    for i in range(len(low)):
        above = sum(low[j] > high[i] for j in range(len(low)))
        below = sum(high[j] < low[i] for j in range(len(low)))
        assert found.best_rank[i] == 1 + above
        assert found.worst_rank[i] == len(low) - below
        assert found.surely[i] == (len(low) - below <= k)
        assert found.possibly[i] == (1 + above <= k)


@given(ends=intervals())
def test_tiers_are_what_overlaps_join(ends: tuple[Floats, Floats]) -> None:
    low, high = ends
    joined = (low[:, None] <= high) & (low <= high[:, None])
    for _ in range(len(low)):
        joined = joined @ joined
    tier = rank_intervals(low, high).tier
    assert (joined == (tier[:, None] == tier)).all()
    assert sorted(set(tier)) == list(range(1, tier.max() + 1))
    for i in range(len(low)):
        assert (low[tier < tier[i]] > high[i]).all()


def test_every_rank_between_best_and_worst_is_possible() -> None:
    rng = np.random.default_rng(1)
    low = rng.uniform(0, 1, 6)
    high = low + rng.uniform(0, 0.5, 6)
    found = rank_intervals(low, high)
    means = rng.uniform(low, high, size=(50_000, 6))
    ranks = 1 + (means[:, None, :] > means[:, :, None]).sum(axis=2)
    for i in range(6):
        assert set(ranks[:, i]) == set(range(found.best_rank[i], found.worst_rank[i] + 1))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"k": 4}, "k must be at most the number of items, 3; got 4."),
        ({"k": 0}, "k must be a whole number, at least 1; got 0."),
        ({"k": 1.5}, "k must be a whole number, at least 1; got 1.5."),
        (
            {"lower": [1, 2]},
            r"lower and upper must have one bound .*; got shapes \(2,\) and \(3,\)",
        ),
        ({"lower": [1, np.nan, 2]}, r"lower\[1\] must be a number.*; got bounds nan and 3"),
        ({"lower": [1, 5, 2]}, r"lower\[1\] .*at most the upper bound; got bounds 5 and 3"),
    ],
    ids=str,
)
def test_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(uh.OptionError, match=words):
        rank_intervals(**{"lower": [1, 2, 3], "upper": [3, 3, 3]} | asked)


def test_nothing_to_rank() -> None:
    assert len(rank_intervals([], []).tier) == 0
    assert adjust_level_for_items(0.9, 0) == 0.9


# How quiet people may be before an item is no longer in the top k.


@st.composite
def questions(draw: st.DrawFn) -> Question:
    m = draw(st.integers(2, 4))
    many = draw(st.integers(2, 6))
    count = st.one_of(st.just(0), st.integers(0, 8), st.integers(0, 400))
    row = st.lists(count, min_size=m, max_size=m)
    cells = np.array(draw(st.lists(row, min_size=many, max_size=many)))
    n = draw(st.one_of(st.none(), st.integers(1, 6)))
    people = None if n is None else n * cells.sum(axis=1) + 3
    return build_question(
        cells, **draw(assumptions(m)), n=people, level=draw(st.sampled_from([0.5, 0.9]))
    )


def overtakers(question: Question, item: int, q: float, sampling_error: bool) -> tuple[int, int]:
    """How many others may be above the item, without and with a tolerance for rounding."""
    if sampling_error:
        level = adjust_level_for_items(question.level or 0.0, question.counts.rows)
        question = Question(question.counts, question.assumption, level, question.covers)
    lower, upper = question.at(q).find_bounds()[2 if sampling_error else 0 :][:2]
    ahead = np.delete(upper, item) - lower[item]
    slack = 1e-9 * question.counts.scale.width
    return int((ahead >= slack).sum()), int((ahead >= -slack).sum())


@pytest.mark.parametrize("sampling_error", [False, True])
@given(question=questions(), data=st.data())
@settings(max_examples=30)
def test_top_k_breakdown_against_a_scan(
    sampling_error: bool, question: Question, data: st.DataObject
) -> None:
    many = question.counts.rows
    item, k = data.draw(st.integers(0, many - 1)), data.draw(st.integers(1, many - 1))
    found = find_top_k_breakdown(question, item, k, sampling_error=sampling_error)
    # Limits for participation stated per rating may move outward a little as q rises, so the claim
    # may hold again below the breakdown q; it fails right below it, and wherever the bounds do.
    wavers = sampling_error and question.assumption.per_rating
    fails_below = find_top_k_breakdown(question, item, k) if wavers else found
    largest = float(find_largest_q(question).min())
    for q in QS[largest >= QS]:
        fewest, most = overtakers(question, item, float(q), sampling_error)
        if q > found * (1 + 1e-9):
            assert fewest < k
        elif np.isnan(fails_below) or q < fails_below * (1 - 1e-9):
            assert most >= k
    if found != 0:
        right_below = largest if np.isnan(found) else found * (1 - 1e-6)
        assert overtakers(question, item, right_below, sampling_error)[1] >= k


def test_nothing_is_claimed_at_a_q_that_a_response_rate_rules_out() -> None:
    # The first two need a q above 0.38 to part, and a tenth of the third's people answered.
    cells = [[2, 3, 5, 30, 60], [5, 5, 15, 40, 35], [60, 20, 10, 5, 5]]
    plenty, few = (build_question(cells, floor=0.3, n=[200, 200, n]) for n in (150, 1000))
    assert find_top_k_breakdown(plenty, 0, 1) == pytest.approx(23 / 60)
    assert np.isnan(find_top_k_breakdown(few, 0, 1))


def test_top_of_all_is_no_claim() -> None:
    question = build_question([[1, 5], [5, 1], [0, 0]], 0.3)
    assert find_top_k_breakdown(question, 2, 3) == 0.0
    assert np.isnan(find_top_k_breakdown(question, 0, 1))  # nobody rated the third
    assert 0 < find_top_k_breakdown(question, 0, 2) < 1
    for item, k, words in (
        (0, 4, "k must be at most"),
        (3, 1, "item must be a .* from 0 to 2; got 3"),
    ):
        with pytest.raises(uh.OptionError, match=words):
            find_top_k_breakdown(question, item, k)
    with pytest.raises(uh.OptionError, match="requires level"):
        find_top_k_breakdown(
            build_question([[1, 5], [5, 1]], 0.3, level=None), 0, 1, sampling_error=True
        )


# Books whose order is known: participation hides it, and nothing said of it may be wrong.

SEEN = {  # how often people answer, by rating, in studies where everybody's rating is known
    "clothes (coat)": (0.3517, 0.5556, 0.5957, 0.6914, 1.0),
    "turned round": (1.0, 0.6914, 0.5957, 0.5556, 0.3517),
    "extremes only": (1.0, 0.3, 0.3, 0.3, 1.0),
}


@pytest.fixture(scope="module")
def books() -> Floats:
    """Shares of the five ratings of 400 books."""
    if not BOOKS.exists():
        pytest.skip("the goodbooks ratings are not beside this checkout (../shared/data)")
    with BOOKS.open(newline="") as file:
        rows = list(csv.DictReader(file))[::25][:400]
    counts = np.array([[float(row[f"n{r}"]) for r in range(1, 6)] for row in rows])
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def participations(rng: np.random.Generator) -> Iterator[tuple[float, Floats]]:
    """Pairs of a q and a participation that it allows."""
    for g in SEEN.values():
        yield min(g), np.array(g)
    for q in (0.2, 0.5, 0.8):
        for _ in range(4):
            yield q, rng.uniform(q, 1, 5)
        for k in range(1, 5):
            steps = np.where(np.arange(5) < k, q, 1.0)
            yield q, steps
            yield q, steps[::-1].copy()


def truth_of(books: Floats) -> tuple[Floats, Floats]:
    mean = books @ np.arange(1, 6)
    return mean, 1.0 + (mean[:, None] < mean).sum(axis=1)


def test_ignoring_sampling_error_no_claim_is_wrong(books: Floats) -> None:
    """Each book may have its own participation; all the same is the hardest to tell apart."""
    mean, rank = truth_of(books)
    rng = np.random.default_rng(400)
    said = 0
    for q, g in participations(rng):
        seen = np.rint(books * g * 1e12)
        result = uh.estimate(seen, q * (1 - 1e-9), level=None)
        for k in (1, 10, 100):
            found = rank_intervals(result.lower, result.upper, k=k)
            assert found.surely is not None
            assert found.possibly is not None
            assert (rank[found.surely] <= k).all()
            assert (rank[~found.possibly] > k).all()
            said += int(found.surely.sum() + (~found.possibly).sum())
        assert (found.best_rank <= rank).all()
        assert (rank <= found.worst_rank).all()
        assert (np.diff(found.tier[np.argsort(-mean)]) >= 0).all()
    assert said > 1000  # not by saying nothing


def test_ignoring_sampling_error_a_breakdown_holds(books: Floats) -> None:
    """What is said at q, A above B or A in the top k, is so whatever q allows has happened."""
    rng = np.random.default_rng(401)
    kept = 0
    for q, g in participations(rng):
        some = books[rng.choice(len(books), 12, replace=False)]
        mean, rank = truth_of(some)
        question = build_question(np.rint(some * g * 1e12), q)
        for item in range(12):
            for k in (1, 3):
                if find_top_k_breakdown(question, item, k) < q * (1 - 1e-6):
                    assert rank[item] <= k
                    kept += 1
            pair = question.counts.take(np.array([item, (item + 1) % 12]))
            pairs = Question(pair, question.assumption, None, "mean")
            if find_top_k_breakdown(pairs, 0, 1) < q * (1 - 1e-6):
                assert mean[item] > mean[(item + 1) % 12]
                kept += 1
    assert kept > 50


@pytest.mark.parametrize(
    ("ratings", "least_said"),
    [((30, 300), 0), ((3_000, 30_000), 50)],
    ids=["few ratings say next to nothing", "many ratings"],
)
def test_with_sampling_error_few_runs_have_a_wrong_claim(
    books: Floats, ratings: tuple[int, int], least_said: float
) -> None:
    rng = np.random.default_rng(402)
    mean, rank = truth_of(books)
    level = adjust_level_for_items(0.95, len(books))
    runs = wrong = said = 0
    for q, g in [*participations(rng), (1.0, np.ones(5))]:
        shares = books * g / (books @ g)[:, None]
        for _ in range(8):
            seen = np.array([rng.multinomial(rng.integers(*ratings), share) for share in shares])
            result = uh.estimate(seen, q, level=level)
            found = rank_intervals(result.ci_lower, result.ci_upper, k=100)
            assert found.surely is not None
            assert found.possibly is not None
            first = rank <= 100
            ranks = (found.best_rank <= rank) & (rank <= found.worst_rank)
            tiers = np.diff(found.tier[np.argsort(-mean)]) >= 0
            top = (first | ~found.surely) & (found.possibly | ~first)
            wrong += not (ranks.all() and tiers.all() and top.all())
            said += int(found.surely.sum() + (~found.possibly).sum())
            runs += 1
    assert said >= least_said * runs
    assert wrong <= 0.05 * runs + 3 * np.sqrt(0.05 * 0.95 * runs)


@pytest.mark.parametrize(
    "ask",
    [
        uh.rank_shared,
        lambda counts: uh.rank_shared(counts, q=0.3),  # type: ignore[call-arg]
        lambda counts: uh.find_top_k_breakdown(counts, 0, 1),
        lambda counts: uh.find_shared_top_k_breakdown(counts, 0, 1),
        lambda counts: uh.find_shared_breakdown(counts, [0], [1]),
    ],
)
def test_counts_are_no_question(ask: Callable[[Any], object]) -> None:
    with pytest.raises(uh.OptionError, match="must be a Question; got list"):
        ask([[1, 2], [2, 1]])
    question: Any = uh.build_question([[1, 2], [2, 1]], 0.3)
    with pytest.raises(
        uh.OptionError, match=r"rank_shared\(\) has no option pair\. Did you mean pai"
    ):
        uh.rank_shared(question, pair=True)  # type: ignore[call-arg]
