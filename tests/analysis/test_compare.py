"""A against B: against grids, scans over q, simulation, and real books with known truth."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import unheard as uh
from tests.strategies import Floats, assumptions, box_of, boxes, scales
from unheard.analysis.breakdown import find_largest_q
from unheard.analysis.compare import Comparison, Difference, compare
from unheard.analysis.differences import SEPARATE, SHARED
from unheard.errors import AssumptionError, CountsError, OptionError, PopulationError
from unheard.model.question import Question, build_question

A, B = [5, 10, 35, 120, 30], [30, 25, 45, 80, 20]
BOOKS = Path(__file__).parents[3] / "shared" / "data" / "goodbooks" / "book_histograms.csv"
COAT = np.array([0.3517, 0.5556, 0.5957, 0.6914, 1.0])
WAYS = {"separate": SEPARATE, "shared": SHARED}


@st.composite
def questions(draw: st.DrawFn) -> Question:
    m = draw(st.integers(2, 6))
    count = st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 400))
    rows = [draw(st.lists(count, min_size=m, max_size=m).filter(any)) for _ in range(2)]
    n = None
    if draw(st.booleans()):
        n = [draw(st.integers(sum(row), 12 * sum(row))) for row in rows]
    return build_question(rows, **draw(assumptions(m)), n=n, scale=draw(scales(m)))


def swapped(question: Question) -> Question:
    turned = question.at(
        1.0 if question.assumption.q is None else question.assumption.q, np.array([1, 0])
    )
    return Question(turned.counts, question.assumption, question.level, question.covers)


# The interval and the confidence interval.


@given(asked=questions())
@settings(max_examples=12)
def test_sharing_never_widens(asked: Question) -> None:
    low, high, ci_low, ci_high = SEPARATE.find_bounds_and_limits(asked)
    lower, upper, ci_lower, ci_upper = SHARED.find_bounds_and_limits(asked)
    assert low <= lower <= upper + 1e-12 * asked.counts.scale.width
    assert upper <= high
    assert ci_lower <= lower
    assert upper <= ci_upper
    assert ci_low <= low
    assert high <= ci_high
    if asked.counts.n is None:
        assert ci_low <= ci_lower
        assert ci_upper <= ci_high
    # With n two limits may have to share the miss probability, and no more.
    guarded = replace(asked, level=(1 + 0.95) / 2)
    assert SEPARATE.find_limit(guarded, False) <= max(ci_lower, low)
    assert SEPARATE.find_limit(guarded, True) >= min(ci_upper, high)


@given(asked=questions())
@settings(max_examples=10)
def test_swapping_items_turns_signs(asked: Question) -> None:
    for way in WAYS.values():
        lower, upper, ci_lower, ci_upper = way.find_bounds_and_limits(asked)
        turned = way.find_bounds_and_limits(swapped(asked))
        wanted = [-upper, -lower, -ci_upper, -ci_lower]
        np.testing.assert_allclose(turned, wanted, atol=1e-9 * asked.counts.scale.width)


def means(weights: Floats, counts: Floats, values: Floats) -> Floats:
    found: Floats = weights @ (counts * values) / (weights @ counts)
    return found


@pytest.mark.parametrize("quiet", ["any", "low", "high", "middle", "box"])
@given(data=st.data(), m=st.integers(2, 3))
@settings(max_examples=15)
def test_brute_force_on_a_fine_grid(quiet: str, data: st.DataObject, m: int) -> None:
    count = st.one_of(st.just(0), st.integers(0, 400))
    rows = [data.draw(st.lists(count, min_size=m, max_size=m).filter(any)) for _ in range(2)]
    stated: dict[str, Any] = {"quiet": quiet, "q": data.draw(st.floats(0.05, 1))}
    if quiet == "box":
        stated = {"participation": data.draw(boxes(m))}
    asked = build_question(rows, **stated, scale=data.draw(scales(m)))
    values = np.array(asked.counts.scale.values)
    lo, hi = box_of(stated, m)
    sides = [np.unique(np.geomspace(low, high, 45)) for low, high in zip(lo, hi, strict=True)]
    g = np.array(list(product(*sides)))
    steps = np.diff(g, axis=1)
    if quiet in ("low", "high"):
        g = g[((steps >= 0) if quiet == "low" else (steps <= 0)).all(axis=1)]
    first, second = (means(1 / g, row, values) for row in asked.counts.cells.astype(float))
    width = asked.counts.scale.width
    for found_at, lowest, highest in (
        (SEPARATE.find_bounds, first.min() - second.max(), first.max() - second.min()),
        (SHARED.find_bounds, (first - second).min(), (first - second).max()),
    ):
        lower, upper = found_at(asked)
        assert lower <= lowest + 1e-9 * width
        assert upper >= highest - 1e-9 * width
        np.testing.assert_allclose([lower, upper], [lowest, highest], atol=2e-3 * width)


@pytest.mark.parametrize(
    "stated",
    [
        {"q": 0.3, "n": [900, 640]},
        {"q": 0.4, "quiet": "low"},
        {"participation": [(0.1, 0.4), (0.2, 0.4), (0.2, 0.3), (0.3, 0.9), (0.5, 0.6)]},
        {"g": [0.1, 0.4, 0.2, 0.6, 0.5], "n": [700, 640]},
    ],
)
def test_separate_is_made_of_two_estimates(stated: dict[str, Any]) -> None:
    found = compare(A, B, **stated)
    people = stated.pop("n", [None, None])
    a, b = (
        uh.estimate(c, **stated, n=n, method="paa" if n is None else "midpoint")
        for c, n in zip((A, B), people, strict=True)
    )
    assert found.separate.lower == pytest.approx(a.lower - b.upper, abs=1e-12)
    assert found.separate.upper == pytest.approx(a.upper - b.lower, abs=1e-12)
    assert found.separate.estimate == pytest.approx(
        (a.lower + a.upper - b.lower - b.upper) / 2, abs=1e-12
    )
    for one, wanted in ((found.a, a), (found.b, b)):
        for name in ("method", "notes"):
            assert getattr(one, name) == getattr(wanted, name)
        for name in ("estimate", "lower", "upper", "ci_lower", "ci_upper"):
            assert getattr(one, name) == pytest.approx(getattr(wanted, name), abs=1e-12)


def test_in_numbers() -> None:
    found = compare(A, B, 0.5)
    assert found.leader == "a"
    # Ignoring sampling error, shared participation never puts B ahead: A's ratings are higher
    # at every threshold, in odds.
    assert found.shared.breakdown_q == 0
    # Known participation leaves one point, the same both ways.
    known = compare([3, 1, 2], [1, 5, 1], g=[1, 0.25, 0.5])
    point = (3 + 8 + 12) / (3 + 4 + 4) - (1 + 40 + 6) / (1 + 20 + 2)
    for way in (known.separate, known.shared):
        assert way.lower == pytest.approx(point, abs=1e-12)
        assert way.upper == pytest.approx(point, abs=1e-12)
    same = compare([4, 1, 5], [12, 3, 15], 0.2)
    assert (same.leader, same.shared.lower, same.shared.upper) == (None, 0, 0)
    assert same.separate.lower < -0.3
    assert same.shared.breakdown_q is None
    assert same.separate.ci_breakdown_q is None


# How quiet people may be.

CASES: dict[str, tuple[list[int], list[int], dict[str, Any]]] = {
    "any": ([5, 10, 35, 120, 30], [30, 25, 45, 80, 20], {"q": 0.5}),
    "b leads": ([9, 2, 3, 5], [2, 3, 9, 40], {"q": 0.5}),
    "low": ([20, 3, 40], [30, 30, 3], {"q": 0.5, "quiet": "low"}),
    "high, hardly": ([20, 3, 40], [30, 1, 40], {"q": 0.5, "quiet": "high"}),
    "middle": ([1, 40, 30, 60], [30, 10, 50, 20], {"q": 0.5, "quiet": "middle"}),
    "people": ([20, 30, 180], [60, 40, 90], {"q": 0.5, "n": (500, 300)}),
    "people, low": ([9, 2, 50], [30, 5, 31], {"q": 0.5, "quiet": "low", "n": (90, 190)}),
    "box": ([8, 15, 120], [40, 15, 60], {"participation": [(0.3, 0.4), (0.2, 0.6), (0.5, 0.6)]}),
    "known": ([8, 15, 120], [40, 5, 60], {"g": [0.3, 0.2, 0.5]}),
    "known, people": ([8, 15, 120], [40, 5, 60], {"g": [0.3, 0.2, 0.5], "n": (400, 300)}),
}


@cache
def case(name: str) -> Comparison:
    a, b, stated = CASES[name]
    return compare(a, b, **stated)


@pytest.mark.parametrize("name", CASES)
def test_breakdown_is_where_the_claim_starts_to_hold(name: str) -> None:
    found = case(name)
    most = float(find_largest_q(found.question).min())
    qs = np.exp(np.linspace(np.log(1e-3), np.log(most), 60))
    leads_a = found.leader == "a"
    for name_of_way, way in WAYS.items():
        one: Difference = getattr(found, name_of_way)
        ends = [way.find_bounds(found.question.at(float(q)))[not leads_a] for q in qs]
        _check_crossing(np.array(ends) * (1 if leads_a else -1), qs, one.breakdown_q)
        settled = [way.is_ahead(found.question.at(float(q)), not leads_a) for q in qs[::4]]
        _check_crossing(np.where(settled, 1.0, -1.0), qs[::4], one.ci_breakdown_q)


def _check_crossing(ends: Floats, qs: Floats, q: float | None) -> None:
    if q is None:
        assert ends[-1] <= 1e-12
        return
    assert (ends[qs > q * (1 + 1e-6)] > -1e-12).all()
    # Limits for unequal participation can move a little the wrong way further down.
    near = (qs > 0.9 * q) & (qs < q * (1 - 1e-6))
    assert (ends[near] <= 1e-12).all()


@pytest.mark.parametrize("name", ["any", "low", "people", "box"])
def test_a_claim_is_settled_if_the_limit_is_positive(name: str) -> None:
    question = case(name).question
    for way in WAYS.values():
        for q in (0.2, 0.5, 0.8, 1.0):
            for second in (False, True):
                limit = way.find_limit(question.at(q), second)
                assert way.is_ahead(question.at(q), second) == ((-limit if second else limit) > 0)


def test_the_cases_show_every_outcome() -> None:
    found = {name: case(name) for name in CASES}
    assert {one.leader for one in found.values()} == {"a", "b"}
    qs = [
        (way.breakdown_q, way.ci_breakdown_q)
        for one in found.values()
        for way in (one.separate, one.shared)
    ]
    assert any(q is not None and q > 0.1 for q, _ in qs)
    assert any(q is not None and q > 0.1 for _, q in qs)
    assert any(q == 0 for q, _ in qs)
    assert any(q is None for _, q in qs)
    for plain, noisy in qs:
        assert noisy is None or (plain is not None and noisy >= plain)


def test_swapping_items_swaps_the_leader_and_keeps_the_breakdown() -> None:
    a, b, stated = CASES["people"]
    one, other = case("people"), compare(b, a, stated["q"], n=stated["n"][::-1])
    assert (one.leader, other.leader) == ("a", "b")
    assert one.separate.ci_breakdown_q is not None
    for way in WAYS:
        x: Difference = getattr(one, way)
        y: Difference = getattr(other, way)
        assert y.breakdown_q == pytest.approx(x.breakdown_q, rel=1e-9)
        assert y.ci_breakdown_q == pytest.approx(x.ci_breakdown_q, rel=1e-9)
        assert y.estimate == pytest.approx(-x.estimate, abs=1e-9)


# Coverage.

DRAWN = {
    # how two items are rated, how many answer, q, who is quiet, participation
    "falling": ((0.1, 0.2, 0.3, 0.4), (0.3, 0.3, 0.3, 0.1), (60, 25), 0.3, "any"),
    "few": ((0.5, 0.1, 0.4), (0.1, 0.8, 0.1), (15, 17), 0.5, "any"),
    "rare": ((0.02, 0.03, 0.15, 0.8), (0.1, 0.1, 0.1, 0.7), (200, 30), 0.2, "low"),
    "direction": ((0.6, 0.1, 0.3), (0.2, 0.2, 0.6), (90, 150), 0.4, "high"),
    "between": ((0.3, 0.3, 0.2, 0.2), (0.1, 0.5, 0.2, 0.2), (40, 80), 0.25, "middle"),
}


def at_extremes(p: Floats, others: Floats, q: float, quiet: str) -> tuple[Floats, Floats]:
    """The participation that spreads the truth most away from what is seen, of all corners."""
    m = len(p)
    corners = np.array(list(product([q, 1.0], repeat=m)))
    steps = np.diff(corners, axis=1)
    if quiet == "low":
        corners = corners[(steps >= 0).all(axis=1)]
    elif quiet == "high":
        corners = corners[(steps <= 0).all(axis=1)]
    elif quiet == "middle":
        corners = corners[(corners[:, [0, -1]] == 1).all(axis=1)]
    values = np.arange(1, m + 1)
    pulls = [(corners * x) @ values / (corners @ x) for x in (p, others)]
    return corners[np.argmax(pulls[0])], corners[np.argmin(pulls[1])]


@pytest.mark.parametrize("name", DRAWN)
def test_separate_confidence_intervals_hold_the_difference(name: str) -> None:
    """For shared participation, ``test_difference_limits`` enumerates what can be seen."""
    first, second, sizes, q, quiet = DRAWN[name]
    p_a, p_b = np.array(first), np.array(second)
    # A is made to look good and B bad.
    g_a, g_b = at_extremes(p_a, p_b, q, quiet)
    values = np.arange(1, len(p_a) + 1)
    truth = float((p_a - p_b) @ values)
    rng = np.random.default_rng(len(name))
    runs, held, width = 100, 0, 0.0
    seen_a, seen_b = p_a * g_a / (p_a @ g_a), p_b * g_b / (p_b @ g_b)
    for _ in range(runs):
        rows = [rng.multinomial(sizes[0], seen_a), rng.multinomial(sizes[1], seen_b)]
        limits = SEPARATE.find_bounds_and_limits(build_question(rows, q, quiet=quiet))
        held += limits[2] <= truth <= limits[3]
        width += (limits[1] - limits[0]) / runs
    assert held / runs >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)
    assert width > 0.05  # there was something to allow for


# Real books, whose ratings are taken for the truth.


@pytest.fixture(scope="module")
def books() -> Floats:
    if not BOOKS.exists():
        pytest.skip("the goodbooks ratings are not beside this checkout (../shared/data)")
    with BOOKS.open(newline="", encoding="utf-8") as file:
        rows = [[float(row[f"n{r}"]) for r in range(1, 6)] for row in csv.DictReader(file)]
    counts = np.array(rows)
    assert len(counts) > 1000
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def seen_of(p: Floats, g: Floats, people: float = 1e9) -> NDArray[np.int64]:
    """What would be seen of very many people on average, in whole numbers."""
    return np.rint(p * g * people).astype(np.int64)


@pytest.mark.parametrize("habit", ["drawn", "coat"])
@pytest.mark.parametrize("way", WAYS)
def test_no_verdict_about_books_is_wrong(books: Floats, habit: str, way: str) -> None:
    rng = np.random.default_rng(7)
    q, values, rounding = 0.35, np.arange(1, 6), 1e-7
    verdicts = turned = 0
    order = books[np.argsort(books @ values)]
    for run in range(200):
        # Any two books; or one of the best and one of the worst, in either order.
        a, b = books[rng.choice(len(books), 2, replace=False)]
        if run % 2:
            a, b = rng.permutation([order[rng.integers(100)], order[-1 - rng.integers(100)]])
        extreme = rng.random() < 0.5
        gs = rng.choice([q, 1.0], (2, 5)) if extreme else rng.uniform(q, 1, (2, 5))
        if habit == "coat":
            gs = np.array([COAT, COAT[::-1] if extreme else rng.permutation(COAT)])
        if way == "shared":
            gs[1] = gs[0]
        question = build_question([seen_of(a, gs[0]), seen_of(b, gs[1])], q)
        lower, upper = WAYS[way].find_bounds(question)
        truth = float((a - b) @ values)
        assert lower - rounding <= truth <= upper + rounding
        verdicts += lower > rounding or upper < -rounding
        averages = question.counts.cells @ values / question.counts.n_ratings
        turned += (averages[0] - averages[1]) * truth < 0
    # Many verdicts were given, though averages of those seen mislead.
    assert verdicts > (100 if way == "shared" else 20)
    assert turned > (0 if way == "shared" else 15)


def test_while_q_is_above_the_breakdown_no_book_is_ahead_wrongly(books: Floats) -> None:
    rng = np.random.default_rng(8)
    given_ = {"separate": 0, "shared": 0}
    for _ in range(2):
        a, b = books[rng.choice(len(books), 2, replace=False)]
        g = rng.choice([0.35, 0.6, 1.0], (2, 5))
        for way in WAYS:
            g_b = g[0] if way == "shared" else g[1]
            found: Comparison = compare(seen_of(a, g[0], 1e6), seen_of(b, g_b, 1e6), 0.35)
            one: Difference = getattr(found, way)
            if one.breakdown_q is not None and one.breakdown_q < 0.35:
                given_[way] += 1
                ahead = float((a - b) @ np.arange(1, 6))
                assert (ahead > 0) == (found.leader == "a")
    assert given_["shared"] > 0


# What is refused.


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"b": [1, 2]}, CountsError, "b must be on the scale of a, 1, 2, 3; got 1, 2"),
        (
            {"a": [[1, 2, 3]]},
            CountsError,
            r"a must be one histogram; got an array of shape \(1, 3\)",
        ),
        ({"b": [0, 0, 0]}, CountsError, "b has no ratings"),
        ({"n": 7}, PopulationError, "n must be two numbers, one for each item; got 7"),
        ({"n": (9, 9, 9)}, PopulationError, "n must be two numbers"),
        (
            {"n": (9, 3)},
            PopulationError,
            r"n\[1\] must be at least the number of ratings, 9; got 3",
        ),
        ({"names": ("X",)}, OptionError, r"names must be two names, .*; got \('X',\)"),
        ({"names": "XY"}, OptionError, "names must be two names"),
        ({"level": None}, OptionError, "Allowing for sampling error requires level"),
        ({"q": "review"}, AssumptionError, r"Did you mean reviews\?"),
        ({"q": None}, AssumptionError, "An assumption about who responds is required"),
    ],
)
def test_refused(words: dict[str, Any], error: type[Exception], message: str) -> None:
    question: dict[str, Any] = {"a": [1, 2, 3], "b": [2, 3, 4], "q": 0.3}
    with pytest.raises(error, match=message):
        compare(**question | words)


def test_a_preset_is_its_number() -> None:
    assert (
        compare([1, 2, 3], [5, 2, 3], "media").shared == compare([1, 2, 3], [5, 2, 3], 0.1).shared
    )
