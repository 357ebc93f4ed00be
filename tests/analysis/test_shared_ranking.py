"""Ranks under one participation against the definition over all pairs, and on real ratings."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unheard as uh
from benchmarks.claims import thinnings, wrong_claims
from benchmarks.sections import MISSING, SECTIONS, Sections
from tests.strategies import Floats, assumptions, scales
from unheard.analysis import dominance, shared_criteria
from unheard.analysis.ranking import rank_intervals
from unheard.analysis.shared_difference import find_shared_range
from unheard.analysis.shared_pairs import SharedItems
from unheard.analysis.shared_ranking import SharedRanking, rank_shared
from unheard.formulas.boxes import QUIET
from unheard.model.assumption import fixed_box
from unheard.model.question import Question, build_question

BOOKS = Path(__file__).parents[3] / "shared" / "data" / "goodbooks" / "book_histograms.csv"


@st.composite
def tables(draw: st.DrawFn, most: int = 5) -> Question:
    """Few items: some unrated, some equal, some proportional to others, on any scale."""
    m = draw(st.integers(2, most))
    count = st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 400))
    row = st.lists(count, min_size=m, max_size=m)
    cells = np.array(draw(st.lists(row, min_size=1, max_size=7)))
    copied = draw(st.integers(0, len(cells) - 1))
    cells = np.concatenate([cells, draw(st.integers(1, 3)) * cells[copied : copied + 1]])
    return build_question(cells, **draw(assumptions(m)), scale=draw(scales(m)))


def least_differences(question: Question) -> Floats:
    """Smallest difference of every pair, by edges and segments; NaN for items without ratings."""
    values, assumption = question.counts.scale.values, question.assumption
    cells = question.counts.cells
    q = None if assumption.q is None else float(assumption.q)
    least = np.full((len(cells), len(cells)), np.nan)
    for i, j in product(range(len(cells)), repeat=2):
        if cells[i].any() and cells[j].any():
            ends = find_shared_range(
                cells[i], cells[j], values, assumption.kind, q, fixed_box(assumption)
            )
            least[i, j] = ends[0].bound / (values[-1] - values[0])
    return least


def assert_follows(found: SharedRanking, sure: np.ndarray, k: int | None) -> None:
    """Check everything that is said against the table of pairs."""
    items = len(sure)
    assert (found.best_rank == 1 + sure.sum(axis=0)).all()
    assert (found.worst_rank == items - sure.sum(axis=1)).all()
    assert found.settled == sure.sum()
    assert found.pairs is not None
    assert {tuple(pair) for pair in found.pairs.tolist()} == set(
        zip(*(x.tolist() for x in np.nonzero(sure)), strict=True)
    )
    joined = ~sure & ~sure.T
    for _ in range(items):
        joined = joined @ joined
    assert (joined == (found.tier[:, None] == found.tier)).all()
    assert sorted(set(found.tier)) == list(range(1, found.tier.max() + 1))
    assert (sure | (found.tier[:, None] >= found.tier)).all()
    if k is not None:
        assert found.surely is not None
        assert found.possibly is not None
        assert (found.surely == (items - sure.sum(axis=1) <= k)).all()
        assert (found.possibly == (sure.sum(axis=0) < k)).all()


@given(question=tables(), k=st.integers(1, 8))
@settings(max_examples=100)
def test_ranks_by_definition(question: Question, k: int) -> None:
    k = min(k, question.counts.rows)
    least = least_differences(question)
    if (np.abs(least) < 1e-9).any():
        # Ties are decided by rounding in one of the two; proportional histograms never are.
        least[np.abs(least) < 1e-13] = 0
    if not ((np.abs(least) < 1e-9) & (least != 0)).any():
        assert_follows(rank_shared(question, k=k, pairs=True), least > 0, k)


@given(question=tables(7))
@settings(max_examples=100)
def test_few_corners_and_pair_by_pair_agree(question: Question) -> None:
    by_corners = rank_shared(question, pairs=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_criteria, "_MOST_CORNERS", 0)
        by_pairs = rank_shared(question, pairs=True)
    assert by_pairs.settled == by_corners.settled
    np.testing.assert_array_equal(by_pairs.best_rank, by_corners.best_rank)


def random_items(items: int, m: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(rng.uniform(0.3, 2, m), items)
    return rng.multinomial(rng.integers(0, 80, items), shares)


@pytest.mark.parametrize("quiet", ["any", "low", "high", "middle"])
@pytest.mark.parametrize("q", [1.0, 0.5, 0.1])
def test_strips_do_not_matter(quiet: str, q: float, monkeypatch: pytest.MonkeyPatch) -> None:
    question = build_question(random_items(150, 5, 1), q, quiet=quiet)
    whole = rank_shared(question, pairs=True)
    assert 0 < whole.settled_share < 1
    assert_follows(whole, pair_table(whole), None)
    monkeypatch.setattr(dominance, "STRIP", 37)
    monkeypatch.setattr(dominance, "_ROWS", 23)
    parts = rank_shared(question)
    np.testing.assert_array_equal(parts.best_rank, whole.best_rank)
    np.testing.assert_array_equal(parts.worst_rank, whole.worst_rank)


def pair_table(found: SharedRanking) -> np.ndarray:
    sure = np.zeros((len(found.tier),) * 2, bool)
    assert found.pairs is not None
    sure[tuple(found.pairs.T)] = True
    return sure


@pytest.mark.parametrize("q", [0.5, 0.1, 0.02])
def test_many_items_by_corners_and_pair_by_pair(q: float, monkeypatch: pytest.MonkeyPatch) -> None:
    question = build_question(random_items(250, 5, 9), q)
    by_corners = rank_shared(question, pairs=True)
    monkeypatch.setattr(shared_criteria, "_MOST_CORNERS", 0)
    by_pairs = rank_shared(question, pairs=True)
    np.testing.assert_array_equal(by_pairs.pairs, by_corners.pairs)


@pytest.mark.parametrize("stretch", [1.4, 1e9])
def test_chords_of_a_direction_settle_nothing_wrong(
    stretch: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_criteria, "_STRETCH", stretch)
    question = build_question(random_items(300, 5, 10), 0.05, quiet="low")
    crowd = SharedItems.of(question)
    i, j = np.indices((len(crowd.items),) * 2)
    sure = crowd.are_surely_above(i.ravel(), j.ravel()).reshape(i.shape)
    found = pair_table(rank_shared(question, pairs=True))[np.ix_(crowd.items, crowd.items)]
    np.testing.assert_array_equal(found, sure)


def test_equal_averages_are_ties_whatever_rounding_makes_of_them() -> None:
    cells = np.array([c for c in product(range(8), repeat=5) if sum(c) == 7])
    average = cells @ np.arange(1, 6)
    for total in (19, 24):
        assert (
            rank_shared(build_question(cells[average == total], 1.0, scale="0.1:0.5:0.1")).settled
            == 0
        )


@pytest.mark.parametrize("quiet", ["low", "high"])
def test_a_direction_against_every_pair(quiet: str) -> None:
    question = build_question(random_items(40, 5, 2), 0.2, quiet=quiet)
    least = least_differences(question)
    assert_follows(rank_shared(question, pairs=True), least > 1e-12, None)


def test_progress_rises_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dominance, "STRIP", 20)
    told: list[float] = []
    rank_shared(build_question(random_items(90, 4, 3), 0.3), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1
    assert len(told) > 20


# Items that are nearly alike.


@given(question=tables(3), similarity=st.sampled_from([0.95, 0.7, 0.4]), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_nearly_alike_against_brute_force(question: Question, similarity: float, seed: int) -> None:
    kind = question.assumption.kind
    if kind in ("low", "high"):
        return
    found = pair_table(rank_shared(question, similarity=similarity, pairs=True))
    crowd = SharedItems.of(
        build_question(np.ones(question.counts.scale.m), assumption=question.assumption)
    )
    low, high = crowd.low, crowd.high
    rng = np.random.default_rng(seed)
    levels = [
        np.unique([f, h, min(h, f / similarity), max(f, h * similarity)])
        for f, h in zip(low, high, strict=True)
    ]
    x = np.concatenate([list(product(*levels)), rng.uniform(low, high, (60, len(low)))])
    y = np.concatenate(
        [
            x[rng.permutation(len(x))],
            np.clip(x * similarity, low, high),
            np.clip(x / similarity, low, high),
        ]
    )
    x, y = (z.reshape(-1, len(low)) for z in np.broadcast_arrays(x[:, None], y[None]))
    near = ((x >= y * similarity * (1 - 1e-12)) & (y >= x * similarity * (1 - 1e-12))).all(axis=1)
    x, y = x[near], y[near]
    values = np.array(question.counts.scale.values)
    cells = np.asarray(question.counts.cells, float)
    for i, j in product(range(len(cells)), repeat=2):
        if not (cells[i].any() and cells[j].any()):
            assert not found[i, j]
            continue
        a, b = cells[i], cells[j]
        least = ((x @ (a * values)) / (x @ a) - (y @ (b * values)) / (y @ b)).min()
        assert least > 0 if found[i, j] else least < 1e-9


@pytest.mark.parametrize("similarity", [0.9, 0.6])
def test_nearly_alike_against_all_vertices(similarity: float) -> None:
    cells = random_items(80, 4, 11) + np.array([0, 0, 0, 1])
    found = pair_table(rank_shared(build_question(cells, 0.3), similarity=similarity, pairs=True))
    low, high, more, less = 1.0, 1 / 0.3, 1 / similarity, similarity / 0.3
    hexagon = [(low, low), (low, more), (less, high), (high, high), (high, less), (more, low)]
    x, y = np.moveaxis(np.array(list(product(hexagon, repeat=4))), 2, 0)
    above, below = ((cells @ (w * np.arange(4)).T) / (cells @ w.T) for w in (x, y))
    sure = np.array([(one > below + 1e-12).all(axis=1) for one in above])
    np.testing.assert_array_equal(found, sure)


def test_from_shared_to_separate() -> None:
    question = build_question(random_items(60, 5, 5), 0.4, level=None)
    tables_found = [
        pair_table(rank_shared(question, similarity=x, pairs=True))
        for x in (0.1, 0.4, 0.7, 0.9, 1.0)
    ]
    for fewer, more in pairwise(tables_found):
        assert (more | ~fewer).all()
    assert tables_found[-1].sum() > tables_found[2].sum() > tables_found[0].sum() > 0
    np.testing.assert_array_equal(tables_found[0], tables_found[1])
    rated = question.counts.n_ratings > 0
    lower, upper = question.find_bounds().outermost
    separate = (lower[:, None] > upper) & rated[:, None] & rated
    np.testing.assert_array_equal(tables_found[0], separate)
    own = rank_intervals(lower[rated], upper[rated])
    assert (len(own.tier) - own.worst_rank).sum() == separate.sum()


# Real ratings.


@pytest.fixture(scope="module")
def books() -> np.ndarray:
    if not BOOKS.exists():
        pytest.skip("the goodbooks ratings are not beside this checkout (../shared/data)")
    with BOOKS.open(newline="") as file:
        counts = [[int(row[f"n{r}"]) for r in range(1, 6)] for row in csv.DictReader(file)]
    return np.array(counts)


@pytest.mark.parametrize(("q", "share"), [(0.5, 0.909), (0.3, 0.835), (0.1, 0.671)])
def test_share_of_settled_pairs_of_books(books: np.ndarray, q: float, share: float) -> None:
    some = books[np.random.default_rng(1).choice(len(books), 400, replace=False)]
    assert rank_shared(build_question(some, q)).settled_share == pytest.approx(share, abs=0.0005)
    if q == 0.3:
        separate = rank_shared(build_question(some, q), similarity=q)
        assert separate.settled_share == pytest.approx(0.011, abs=0.0005)


def test_nothing_said_of_books_is_wrong(books: np.ndarray) -> None:
    """Thin the ratings of books by one participation: no claim about their true order fails."""
    shares = books[::25] / books[::25].sum(axis=1, keepdims=True)
    truth = shares @ np.arange(5)
    ahead = truth[:, None] > truth
    rng = np.random.default_rng(7)
    said = 0
    for q in (0.5, 0.2):
        corners = rng.choice([q, 1.0], (4, 5))
        for g in (*corners, *rng.uniform(q, 1, (4, 5)), np.linspace(q, 1, 5), np.linspace(1, q, 5)):
            seen = np.rint(shares * g * 1e12)
            kinds = [
                "any",
                *(["low"] if (np.diff(g) >= 0).all() else []),
                *(["high"] if (np.diff(g) <= 0).all() else []),
            ]
            for kind in kinds:
                found = pair_table(
                    rank_shared(build_question(seen, q * (1 - 1e-9), quiet=kind), pairs=True)
                )
                assert (ahead | ~found).all()
                said += int(found.sum())
    assert said > 500_000


@pytest.mark.parametrize("q", [0.5, 0.2])
def test_nothing_said_of_thinned_sections_is_wrong(q: float) -> None:
    """Sections in which nearly everybody responded, then one participation: expected counts."""
    if not SECTIONS.exists():
        pytest.skip(MISSING)
    rng = np.random.default_rng(14)
    cells = rng.choice(Sections.read().near_census(), 300, replace=False)
    said: Counter[str] = Counter()
    for thinning in thinnings(q, rng, each=2):
        found = rank_shared(thinning.expected(cells), pairs=True)
        assert wrong_claims(cells, found) == 0
        said[thinning.quiet] += found.settled
    assert min(said[quiet] for quiet in QUIET) > 50_000


# What is refused.


def test_too_many_items_get_advice() -> None:
    question = build_question(np.tile([1, 2, 3, 4, 5], (10**6, 1)), 0.3)
    with pytest.raises(
        uh.OptionError, match=r"1,000,000 items are too many.*separate participation"
    ):
        rank_shared(question)


def test_long_scales() -> None:
    cells = random_items(30, 40, 6)
    found = rank_shared(build_question(cells, 0.5), pairs=True)
    least = least_differences(build_question(cells[:8], 0.5))
    assert (pair_table(found)[:8, :8] == (least > 0)).all()
    with pytest.raises(uh.OptionError, match="5,000 items are too many"):
        rank_shared(build_question(random_items(5000, 40, 6) + 1, 0.5))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"k": 4}, "k must be at most the number of items, 3; got 4"),
        ({"similarity": 0.0}, r"similarity must be in \(0, 1\]; got 0"),
        ({"similarity": 1.5}, r"similarity must be in \(0, 1\]; got 1\.5"),
    ],
)
def test_refused(asked: dict[str, float], words: str) -> None:
    with pytest.raises(uh.OptionError, match=words):
        rank_shared(build_question([[1, 2], [2, 1], [1, 1]], 0.3), **asked)  # type: ignore[arg-type]


def test_what_goes_together() -> None:
    with pytest.raises(
        uh.OptionError, match=r"similarity cannot be combined with a direction; got 0\.8"
    ):
        rank_shared(build_question([[1, 2], [2, 1]], 0.3, quiet="low"), similarity=0.8)
    with pytest.raises(
        uh.OptionError, match="pairs cannot be listed for more than 5,000 items; got 5,001"
    ):
        rank_shared(build_question(np.ones((5001, 2)), 0.3), pairs=True)
    with pytest.raises(uh.AssumptionError, match="must have the same q; got one for each item"):
        rank_shared(build_question([[1, 2], [2, 1]], [0.3, 0.4]))


def test_items_without_ratings_may_have_any_rank() -> None:
    found = rank_shared(build_question([[0, 0, 9], [0, 0, 0], [9, 0, 0]], 0.3), k=1)
    assert found.best_rank.tolist() == [1, 1, 2]
    assert found.worst_rank.tolist() == [2, 3, 3]
    assert found.tier.tolist() == [1, 1, 1]
    assert found.settled == 1
    nobody = rank_shared(build_question([[0, 0], [0, 0]], 0.3))
    assert (nobody.settled, nobody.best_rank.tolist(), nobody.worst_rank.tolist()) == (
        0,
        [1, 1],
        [2, 2],
    )
