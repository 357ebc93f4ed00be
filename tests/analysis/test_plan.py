"""Follow-ups: level by enumeration and simulation, plans against a scan of every k."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import hypergeom

import unheard as uh
from tests.strategies import Floats, Histogram, assumptions, histograms
from unheard.analysis.follow_up import (
    FollowUp,
    Respondents,
    _summarize_partial_response,
    combine_follow_up,
    count_people_at_bounds,
    summarize_full_response,
)
from unheard.analysis.plan import plan_follow_up
from unheard.analysis.plan_search import _settle_claim, find_expected_limits, find_smallest
from unheard.cli.plan import plan as plan_command
from unheard.formulas.confidence import critical_value
from unheard.options.choices import Covers

Ints: TypeAlias = NDArray[np.int64]

HOTEL = [120, 30, 45, 200, 605]
FIVE = np.arange(1.0, 6.0)
SHAPES = {
    "J": np.array([0.12, 0.03, 0.05, 0.2, 0.6]),
    "U": np.array([0.4, 0.05, 0.05, 0.05, 0.45]),
    "rare": np.array([0.02, 0.0, 0.0, 0.0, 0.98]),
    "one-sided": np.array([0.0, 0.0, 0.0, 0.3, 0.7]),
}
UNEVEN = np.array([0.1, 0.1, 0.2, 0.4, 0.8])
"""Participation at first: the unhappy are silent, so that the silent are unlike the others."""


@st.composite
def surveys(draw: st.DrawFn, most_silent: int = 60) -> tuple[Histogram, Ints, int]:
    """Ratings, the ratings of the silent, and how many of these are asked."""
    seen = draw(histograms(most=60))
    silent = draw(
        st.lists(st.integers(0, most_silent), min_size=seen.m, max_size=seen.m).filter(any)
    )
    asked = draw(st.integers(1, sum(silent)))
    return seen, np.array(silent), asked


def draw_without_replacement(rng: np.random.Generator, rows: Any, k: Any) -> Any:
    """k people from each row of counts; NumPy's own draws from one row only."""
    drawn, left, rest = np.zeros_like(rows), k.copy(), rows.sum(axis=1)
    for r in range(rows.shape[1]):
        rest = rest - rows[:, r]
        drawn[:, r] = rng.hypergeometric(rows[:, r], rest, left)
        left = left - drawn[:, r]
    return drawn


def share_covered(limits: tuple[Floats, Floats], truth: Any) -> float:
    return float(np.mean((limits[0] <= truth + 1e-9) & (limits[1] >= truth - 1e-9)))


def in_hand(counts: Any, scale: Floats, n: int, covers: Covers) -> Respondents:
    return Respondents(
        counts[None].astype(float), scale, n, critical_value(0.95), covers == "people"
    )


def between_the_ends(m: int) -> Floats:
    """People who all sit at the ends of the scale, in every split by half a percent."""
    rows = np.zeros((201, m))
    rows[:, -1] = np.linspace(0, 1, 201)
    rows[:, 0] = 1 - rows[:, -1]
    return rows


# The combined estimate


@given(surveys(), st.sampled_from(["mean", "people"]), st.integers(0, 2**32))
def test_the_estimate_is_that_of_double_sampling(
    survey: tuple[Histogram, Ints, int], covers: Covers, seed: int
) -> None:
    seen, silent, k = survey
    answers = np.random.default_rng(seed).multivariate_hypergeometric(silent, k)
    n = int(seen.counts.sum() + silent.sum())
    found = combine_follow_up(seen.counts, answers, n, scale=seen.values, covers=covers)
    people = np.repeat(seen.values, seen.counts)
    asked = np.repeat(seen.values, answers)
    expected = (people.sum() + silent.sum() * asked.mean()) / n
    slack = 1e-9 * (1 + abs(expected))
    assert found.estimate == pytest.approx(expected)
    assert found.lower == found.upper == pytest.approx(expected)
    assert seen.values[0] <= found.ci_lower <= found.estimate + slack
    assert found.estimate - slack <= found.ci_upper <= seen.values[-1]
    assert (found.asked, found.n_responses, found.n_nonrespondents) == (k, k, silent.sum())
    assert found.notes == ()
    if k == silent.sum() and covers == "people":
        assert found.ci_upper - found.ci_lower == pytest.approx(0, abs=slack)


@settings(max_examples=50)
@given(surveys(), st.data())
def test_missing_answers_leave_the_interval_of_the_core(
    survey: tuple[Histogram, Ints, int], data: st.DataObject
) -> None:
    seen, answers, _ = survey
    assumption = data.draw(assumptions(seen.m))
    covers: Covers = data.draw(st.sampled_from(["mean", "people"]))
    asked = int(answers.sum()) + data.draw(st.integers(1, 30))
    silent = asked + data.draw(st.integers(0, 30))
    n = int(seen.counts.sum()) + silent
    found = combine_follow_up(
        seen.counts, answers, n, asked=asked, scale=seen.values, covers=covers, **assumption
    )
    core = uh.estimate(answers, n=asked, scale=seen.values, **assumption)
    first = float(seen.counts @ np.array(seen.values))
    slack = 1e-9 * (1 + max(map(abs, seen.values)))
    for mine, theirs in (
        (found.estimate, core.estimate),
        (found.lower, core.lower),
        (found.upper, core.upper),
    ):
        assert mine == pytest.approx((first + silent * theirs) / n, abs=slack)
    assert found.ci_lower <= found.lower + slack
    assert found.upper - slack <= found.ci_upper
    assert found.notes == core.notes


@given(histograms(), st.data())
def test_the_people_at_the_ends_have_the_means_of_the_ends(
    seen: Histogram, data: st.DataObject
) -> None:
    n = int(seen.counts.sum()) + data.draw(st.integers(0, 500))
    stated = data.draw(assumptions(seen.m))
    question = uh.build_question(seen.counts, n=n, scale=seen.values, **stated)
    lower, upper = question.find_bounds()[:2]
    low, high = count_people_at_bounds(question)
    for people, end in ((low, lower), (high, upper)):
        assert people.sum() == pytest.approx(n)
        assert people.min() >= -1e-9
        assert people[0] @ np.array(seen.values) / n == pytest.approx(float(end[0]), abs=1e-9 * n)


def test_nobody_missing_needs_no_assumption_and_somebody_does() -> None:
    alone = combine_follow_up(HOTEL, [3, 1, 4, 6, 2], 2400)
    other = combine_follow_up(HOTEL, [3, 1, 4, 6, 2], 2400, asked=16, q=0.1, quiet="low")
    assert alone.to_dict() == other.to_dict()
    assert alone.words == ""
    with pytest.raises(uh.AssumptionError, match="An assumption about who responds is required"):
        combine_follow_up(HOTEL, [3, 1, 4, 6, 2], 2400, asked=17)
    some = combine_follow_up(HOTEL, [3, 1, 4, 6, 2], 2400, asked=17, q=0.5)
    assert "0.5" in some.words
    # One missing answer changes little: no jump from one formula to another.
    assert some.ci_lower == pytest.approx(alone.ci_lower, abs=0.25)
    assert combine_follow_up(HOTEL, [3, 1, 4, 6, 2], 2400, asked=30, floor=0.9).notes == (
        *("low_response", "refuted"),
    )


def test_equal_answers_do_not_make_certain() -> None:
    found = combine_follow_up([0, 0, 0, 0, 50], [0, 0, 0, 0, 8], 500)
    assert found.estimate == 5
    assert found.ci_lower < 3.9
    assert found.ci_upper == 5


# Its level


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("silent", "asked"), [(1, 1), (5, 2), (12, 6), (30, 29), (100, 90)])
def test_two_ratings_keep_the_level_for_every_truth(silent: int, asked: int, level: float) -> None:
    x = np.arange(asked + 1)
    seen = Respondents(np.zeros((1, 2)), np.array([0.0, 1.0]), silent, critical_value(level), True)
    answers = np.column_stack([asked - x, x]).astype(float)
    lower, upper = seen.combine(summarize_full_response(answers, seen), asked)[1]
    ones = np.arange(silent + 1)
    inside = (lower[:, None] <= ones / silent + 1e-9) & (upper[:, None] >= ones / silent - 1e-9)
    coverage = (hypergeom.pmf(x[:, None], silent, ones, asked) * inside).sum(axis=0)
    assert coverage.min() >= level - 1e-12


def coverage(
    shape: str, n: int, asked: int | str, q: float | None, runs: int, seed: int = 5
) -> tuple[float, float]:
    """Share of runs in which the mean and these people are covered; docs/howto/plan.md shows it.

    With a q, the happiest of those asked answer with probability 1 and all others with q, or the
    reverse, and the worse of the two is returned.
    """
    rng, p, found = np.random.default_rng(seed), SHAPES[shape], []
    turns: list[Floats | None] = [None]
    if q is not None:
        turns = [np.array([q, q, q, q, 1.0]), np.array([1.0, 1.0, 1.0, 1.0, q])]
    for g in turns:
        people = rng.multinomial(n, p, size=runs)
        seen = rng.binomial(people, UNEVEN)
        silent = people - seen
        n_silent = silent.sum(axis=1)
        few = {"half": (n_silent + 1) // 2, "all": n_silent}
        k = few[asked] if isinstance(asked, str) else np.minimum(asked, n_silent)
        answers = draw_without_replacement(rng, silent, k)
        if g is not None:
            answers = rng.binomial(answers, g)
        # Runs in which nobody answers end in an error, not in an interval.
        some = answers.sum(axis=1) > 0
        rows, k = answers[some].astype(float), k[some].astype(float)
        for covers_people, truth in ((False, p @ FIVE), (True, people[some] @ FIVE / n)):
            first = Respondents(
                seen[some].astype(float), FIVE, n, critical_value(0.95), covers_people
            )
            if q is None:
                part = summarize_full_response(rows, first)
            else:
                part = _summarize_partial_response(uh.build_question(rows, q, n=k))
            found.append(share_covered(first.combine(part, k)[1], truth))
    return min(found[::2]), min(found[1::2])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "asked"), [(20, 3), (60, "half"), (300, 30), (2000, "half")])
def test_everybody_answers_and_the_level_is_kept(shape: str, n: int, asked: int | str) -> None:
    # 0.945 is one and a half standard errors of 4,000 runs below the nominal level.
    assert min(coverage(shape, n, asked, None, 4000)) >= 0.945


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("n", "asked", "q"), [(60, 10, 0.3), (300, "all", 0.3), (2000, "all", 0.6), (2000, "half", 0.3)]
)
def test_some_answer_and_the_level_is_kept(shape: str, n: int, asked: int | str, q: float) -> None:
    assert min(coverage(shape, n, asked, q, 4000)) >= 0.945


def test_rows_say_what_the_function_says() -> None:
    seen = in_hand(np.array(HOTEL), FIVE, 2400, "mean")
    rows = np.array([[3, 1, 4, 6, 2], [0, 0, 0, 0, 16]], float)
    together = seen.combine(_summarize_partial_response(uh.build_question(rows, 0.3, n=30)), 30)
    for index, answers in enumerate(rows):
        one = combine_follow_up(HOTEL, answers, 2400, asked=30, q=0.3)
        ends = [float(end[index]) for pair in together for end in pair]
        assert ends == pytest.approx([one.lower, one.upper, one.ci_lower, one.ci_upper])


# The plan


def first_enough(enough: list[bool]) -> int | None:
    return enough.index(True) + 1 if True in enough else None


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(1, 600)), max_size=6), st.data())
def test_halving_finds_the_first_of_every_item(
    pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    most, thresholds = np.array(pairs, float).reshape(-1, 2).T
    some = np.flatnonzero([data.draw(st.booleans()) for _ in pairs])
    found = find_smallest(lambda items, k: k >= thresholds[items], most, some)
    expected = np.where(thresholds <= most, thresholds, np.nan)[some]
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=15)
@given(surveys(most_silent=12), st.sampled_from(["mean", "people"]), st.floats(0.02, 0.9))
def test_the_plan_for_a_width_is_that_of_a_scan(
    survey: tuple[Histogram, Ints, int], covers: Covers, share: float
) -> None:
    seen, silent, _ = survey
    n_silent = int(silent.sum())
    n, scale = int(seen.counts.sum()) + n_silent, np.array(seen.values)
    width = share * float(scale[-1] - scale[0])
    plan = plan_follow_up(
        seen.counts, n, q=1e-6, width=width, covers=covers, scale=seen.values, nonrespondents=silent
    )
    worst, guess = plan.scenarios
    if plan.now.ci_upper - plan.now.ci_lower <= width:
        assert worst.ask == guess.ask == 0
        return
    first = in_hand(seen.counts, scale, n, covers)
    for rows, ask in ((between_the_ends(seen.m), worst.ask), (silent[None] / n_silent, guess.ask)):
        widths = [find_expected_limits(first, rows, k) for k in range(1, n_silent + 1)]
        assert ask == first_enough([bool((high - low).max() <= width) for low, high in widths])


@settings(max_examples=50)
@given(surveys(most_silent=40), st.sampled_from(["mean", "people"]), st.integers(0, 2**32))
def test_no_answers_at_all_are_worse_than_the_worst_case(
    survey: tuple[Histogram, Ints, int], covers: Covers, seed: int
) -> None:
    seen, silent, k = survey
    n, rng = int(seen.counts.sum() + silent.sum()), np.random.default_rng(seed)
    scale = np.array(seen.values)
    first = in_hand(seen.counts, scale, n, covers)
    low, high = find_expected_limits(first, between_the_ends(seen.m), k)
    answers = rng.multinomial(k, rng.dirichlet(np.full(seen.m, 0.3), size=50)).astype(float)
    lower, upper = first.combine(summarize_full_response(answers, first), k)[1]
    # The worst split is looked for in steps of half a percent.
    slack = 1e-5 * (scale[-1] - scale[0])
    assert (upper - lower).max() <= (high - low).max() + slack


@settings(max_examples=15)
@given(
    surveys(most_silent=12), st.sampled_from(["mean", "people"]), st.floats(0.5, 0.99), st.data()
)
def test_the_plan_for_a_claim_is_that_of_a_scan(
    survey: tuple[Histogram, Ints, int], covers: Covers, power: float, data: st.DataObject
) -> None:
    seen, silent, _ = survey
    n_silent = int(silent.sum())
    n, scale = int(seen.counts.sum()) + n_silent, np.array(seen.values)
    share = data.draw(st.floats(0.02, 0.98))
    target = float(scale[0] + share * (scale[-1] - scale[0]))
    plan = plan_follow_up(
        seen.counts,
        n,
        q=1e-6,
        above=target,
        power=power,
        covers=covers,
        scale=seen.values,
        nonrespondents=silent,
    )
    (one,) = plan.scenarios
    mean = float((seen.counts + silent) @ scale / n)
    assert one.mean == pytest.approx(mean)
    assume(abs(mean - target) > 1e-6)
    assert one.shows == ("above" if mean > target else "below")
    if one.ask == 0:
        assert plan.now.ci_lower > target or plan.now.ci_upper < target
        return
    first = in_hand(seen.counts, scale, n, covers)
    every = range(1, n_silent + 1)
    shares, side = silent[None] / n_silent, np.array([1.0 if one.shows == "above" else -1.0])
    enough = [
        bool(_settle_claim(first, shares, side, target, power, np.array([0]), np.array([k]))[0])
        for k in every
    ]
    assert one.ask == first_enough(enough)
    if covers == "people":
        # Asking everybody tells the mean of these people exactly.
        assert one.ask is not None


@pytest.mark.parametrize("covers", ["mean", "people"])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize(
    ("counts", "silent", "target"),
    [
        (HOTEL, [300, 100, 200, 300, 500], 3.9),
        (HOTEL, [300, 100, 200, 300, 500], 3.6),
        ([4, 1, 2, 6, 20], [25, 10, 10, 20, 60], 4.1),
        ([0, 0, 1, 10, 40], [200, 0, 0, 800, 3000], 4.5),
    ],
)
def test_the_power_is_there(
    counts: list[int], silent: list[int], target: float, power: float, covers: Covers
) -> None:
    n, rng = sum(counts) + sum(silent), np.random.default_rng(11)
    plan = plan_follow_up(
        counts, n, q=1e-3, above=target, power=power, covers=covers, nonrespondents=silent
    )
    (one,) = plan.scenarios
    if one.ask is None:
        assert covers == "mean"
        return
    seen = in_hand(np.array(counts), FIVE, n, covers)
    answers = rng.multivariate_hypergeometric(silent, one.ask, size=4000).astype(float)
    lower, upper = seen.combine(summarize_full_response(answers, seen), one.ask)[1]
    settled = np.mean(lower > target if one.shows == "above" else upper < target)
    # A normal quantile of a few skewed, whole answers, and 4,000 runs.
    assert power - 0.04 <= settled <= power + 0.07


def test_the_scenarios_are_what_the_assumption_allows() -> None:
    plan = plan_follow_up(HOTEL, 2400, floor=0.3, above=4)
    low, middle, high = plan.scenarios
    core = uh.estimate(HOTEL, floor=0.3, n=2400)
    assert [one.name for one in plan.scenarios] == ["lower", "estimate", "upper"]
    assert [one.mean for one in plan.scenarios] == pytest.approx(
        [core.lower, core.estimate, core.upper]
    )
    assert [one.shows for one in plan.scenarios] == ["below", "above", "above"]
    assert sum(middle.nonrespondents) == pytest.approx(1)
    assert low.nonrespondent_mean < middle.nonrespondent_mean < high.nonrespondent_mean == 5
    other = plan_follow_up(HOTEL, 2400, floor=0.3, below=4)
    assert [one.ask for one in other.scenarios] == [one.ask for one in plan.scenarios]


@given(st.data(), histograms(), st.integers(1, 3000))
def test_people_at_the_ends_have_the_means_of_the_ends(
    data: st.DataObject, histogram: Histogram, unseen: int
) -> None:
    assumption = data.draw(assumptions(histogram.m, n_known=True))
    n = int(histogram.counts.sum()) + unseen
    question = uh.build_question(
        histogram.counts, **assumption, n=n, scale=histogram.values, level=None
    )
    lower, upper = question.find_bounds()[:2]
    values = np.array(histogram.values)
    for people, end in zip(count_people_at_bounds(question), (lower, upper), strict=True):
        assert people.sum() == pytest.approx(n)
        assert people[0] @ values / n == pytest.approx(end[0], abs=1e-9)


def test_nothing_to_ask() -> None:
    wide = plan_follow_up(HOTEL, 2400, q=0.3, width=2)
    assert [one.ask for one in wide.scenarios] == [0, 0]
    clear = plan_follow_up(HOTEL, 2400, q=0.3, below=4.8)
    assert [(one.shows, one.ask) for one in clear.scenarios] == [("below", 0)] * 3
    everybody = plan_follow_up(HOTEL, 1000, q=0.3, width=0.01)
    assert (everybody.n_nonrespondents, everybody.scenarios) == (0, ())


def test_a_refuted_assumption_settles_nothing() -> None:
    plan = plan_follow_up(HOTEL, 2400, floor=0.9, width=0.3)
    assert "refuted" in plan.now.notes
    assert plan.now.ci_upper - plan.now.ci_lower < 0.3
    assert all(one.ask for one in plan.scenarios)
    low, _, high = plan_follow_up(HOTEL, 2400, floor=0.9, above=3.5).scenarios
    assert (low.nonrespondent_mean, high.nonrespondent_mean) == (1, 5)


def test_out_of_reach() -> None:
    plan = plan_follow_up(HOTEL, 2400, q=0.3, width=0.05)
    assert [one.ask for one in plan.scenarios] == [None, None]
    people = plan_follow_up(HOTEL, 2400, q=0.3, width=1e-9, covers="people")
    assert [one.ask for one in people.scenarios] == [1400, 1400]
    on_it = plan_follow_up([0, 0, 0], 50, q=0.3, above=2)
    assert [(one.shows, one.ask is None) for one in on_it.scenarios] == [
        *(("below", False), (None, True), ("above", False)),
    ]


def test_a_billion_people() -> None:
    plan = plan_follow_up([c * 100_000 for c in HOTEL], 10**9, q=0.05, width=0.01)
    worst, guess = plan.scenarios
    assert worst.ask is not None
    assert guess.ask is not None
    # Half at each end: 1.96 times the standard error on either side, for nine tenths of the people.
    assert worst.ask == pytest.approx((2 * 1.96 * 2 * 0.9 / 0.01) ** 2, rel=0.01)
    assert guess.ask < worst.ask


# What cannot be used


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"n": None}, uh.PopulationError, "A follow-up requires n, the number of people"),
        ({"n": 900}, uh.PopulationError, "at least the number of ratings, 1000; got 900"),
        ({"counts": [0, 0, 0, 0, 0], "n": 0}, uh.PopulationError, "n must be at least 1; got 0"),
        (
            {"counts": [HOTEL, HOTEL]},
            uh.CountsError,
            "counts must be one histogram; got 2 histograms",
        ),
        ({"width": None}, uh.OptionError, "A plan requires a goal: width, above or below"),
        ({"above": 4}, uh.OptionError, "width, above and below cannot be combined"),
        ({"width": 0}, uh.OptionError, "width must be above 0; got 0"),
        ({"width": float("nan")}, uh.OptionError, "width must be above 0; got nan"),
        (
            {"width": None, "above": 7},
            uh.OptionError,
            "above must be between .* the scale, 1 and 5; got 7",
        ),
        ({"width": None, "below": 1}, uh.OptionError, "below must be between .*; got 1"),
        ({"power": 1}, uh.OptionError, "power"),
        ({"power": 0.2}, uh.OptionError, "at least 0.5"),
        ({"level": None}, uh.OptionError, "level"),
        ({"level": 95}, uh.OptionError, "level"),
        ({"q": None}, uh.AssumptionError, "An assumption about who responds is required"),
        ({"nonrespondents": [1, 2]}, uh.CountsError, "each of the 5 ratings"),
        ({"nonrespondents": [0, 0, 0, 0, 0]}, uh.CountsError, "nonrespondents"),
        ({"nonrespondents": [1, 1, 1, 1, -1]}, uh.CountsError, "nonrespondents"),
        ({"nonrespondents": "many"}, uh.CountsError, "nonrespondents"),
    ],
)
def test_plans_refused(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    asked: dict[str, Any] = {"counts": HOTEL, "n": 2400, "q": 0.3, "width": 0.3} | changes
    with pytest.raises(error, match=words):
        plan_follow_up(**asked)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"n": None}, uh.PopulationError, "A follow-up requires n, the number of people"),
        ({"n": 900}, uh.PopulationError, "at least the number of ratings, 1000; got 900"),
        ({"n": 1010}, uh.PopulationError, "more responses than the 10 non-respondents; got 16"),
        ({"n": 1000}, uh.PopulationError, "more responses than the 0 non-respondents; got 16"),
        ({"asked": 15}, uh.PopulationError, r"asked must be .* from 16 \(the resp.*; got 15"),
        ({"asked": 1401}, uh.PopulationError, "to 1,400 .the non-respondents.; got 1401"),
        ({"asked": 20.5}, uh.PopulationError, "whole number"),
        ({"asked": float("nan")}, uh.PopulationError, "whole number"),
        ({"follow_up": [0, 0, 0, 0, 0]}, uh.CountsError, "follow_up has no responses"),
        ({"follow_up": []}, uh.CountsError, "follow_up"),
        (
            {"follow_up": [1, 2]},
            uh.CountsError,
            "follow_up must have one count per value .* 5 .*; got 2",
        ),
        ({"follow_up": [1, 2, 3, 4, -1]}, uh.CountsError, r"follow_up\[4\] must be .*; got -1"),
        (
            {"follow_up": [HOTEL, HOTEL]},
            uh.CountsError,
            "follow_up must be one histogram; got 2 histograms",
        ),
        ({"covers": "all"}, uh.OptionError, "covers"),
    ],
)
def test_follow_ups_refused(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    given: dict[str, Any] = {"counts": HOTEL, "follow_up": [3, 1, 4, 6, 2], "n": 2400} | changes
    with pytest.raises(error, match=words):
        combine_follow_up(**given)


# The command

WORDS = [*map(str, HOTEL), "--n", "2400"]


def run(*words: str) -> str:
    done = CliRunner().invoke(plan_command, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_command_plans_for_a_width() -> None:
    shown = run(*WORDS, "--q", "0.3", "--width", "0.3")
    found = json.loads(run(*WORDS, "--q", "0.3", "--width", "0.3", "--json"))
    plan = plan_follow_up(HOTEL, 2400, q=0.3, width=0.3)
    assert [one["ask"] for one in found["scenarios"]] == [one.ask for one in plan.scenarios]
    assert found["scenarios"][0]["mean"] == plan.scenarios[0].mean
    assert (found["goal"], found["target"], found["power"]) == ("width", 0.3, None)
    assert (found["n"], found["n_ratings"], found["n_nonrespondents"]) == (2400, 1000, 1400)
    assert found["now"]["ci_lower"] == plan.now.ci_lower
    assert "0.3" in found["assumption"]
    for words in ("1,400 did not respond", "no wider than 0.3", "at random from the 1,400"):
        assert words in shown
    assert f" {plan.scenarios[0].ask}\n" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_command_plans_for_a_claim() -> None:
    shown = run(*WORDS, "--q", "0.3", "--above", "4.0", "--power", "0.9")
    found = json.loads(run(*WORDS, "--q", "0.3", "--above", "4.0", "--power", "0.9", "--json"))
    plan = plan_follow_up(HOTEL, 2400, q=0.3, above=4, power=0.9)
    assert [one["ask"] for one in found["scenarios"]] == [one.ask for one in plan.scenarios]
    assert found["power"] == 0.9
    for words in ("whether the mean is above 4, with", "90%", "below 4\n", "above 4\n"):
        assert words in shown
    guessed = run(*WORDS, "--q", "0.3", "--below", "4", "--nonrespondents", "1,1,1,1,1")
    assert "rate as you guess" in guessed


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--width", "3"], "Nobody needs to be asked: the interval is narrow enough already."),
        (["--above", "3"], "Nobody needs to be asked: the mean is above 3 already."),
        (["--width", "0.05"], "Asking all 1,400 non-respondents is not enough. With this"),
        (["--n", "1000", "--width", "0.05"], "Everybody responded"),
    ],
)
def test_command_says_when_asking_is_no_help(words: list[str], shown: str) -> None:
    assert shown in run(*WORDS, "--q", "0.3", *words)


def test_command_puts_answers_together() -> None:
    words = [*WORDS, "--follow-up", "3,1,4,6,2"]
    found = json.loads(run(*words, "--json"))
    expected = combine_follow_up(HOTEL, [3, 1, 4, 6, 2], 2400)
    for name in ("estimate", "lower", "upper", "ci_lower", "ci_upper", "asked", "n_responses"):
        assert found[name] == getattr(expected, name)
    assert found["assumption"] is None
    shown = run(*words)
    assert f"{expected.ci_lower:.2f} to {expected.ci_upper:.2f}" in shown
    assert "No assumption is needed" in shown
    some: FollowUp = combine_follow_up(HOTEL, [3, 1, 4, 6, 2], 2400, asked=30, q=0.3)
    shown = run(*words, "--asked", "30", "--q", "0.3")
    assert f"{some.lower:.2f} to {some.upper:.2f}" in shown
    assert "30 non-respondents asked, of whom 16 responded" in shown
    assert "Note: " in run(*words, "--asked", "30", "--floor", "0.9")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--q", "0.3"], "A goal is missing. Give one of --width 0.3"),
        (["--q", "0.3", "--width", "0.3", "--above", "4"], "Two goals are given."),
        (
            ["--q", "0.3", "--width", "0.3", "--power", "0.9"],
            "--power and --width cannot be combined",
        ),
        (["--q", "0.3", "--width", "wide"], "--width is not a number; got 'wide'"),
        (
            ["--follow-up", "1,2,3,4,5", "--width", "0.3"],
            "--width and --follow-up cannot be combined",
        ),
        (["--q", "0.3", "--width", "0.3", "--asked", "3"], "--asked requires --follow-up"),
        (["--follow-up", "1,2,3,4,x"], "--follow-up[4] is not a number; got 'x'"),
        (["--follow-up", "1,2,3,4,-5"], "--follow-up[4] must be between 0 and 2**53; got -5"),
        (["--follow-up", "3,1,4,6,2", "--asked", "10"], "--asked must be a whole number from 16"),
    ],
)
def test_command_refuses(words: list[str], message: str) -> None:
    done = CliRunner().invoke(plan_command, [*WORDS, *words])
    assert done.exit_code == 2
    assert done.output.startswith("Error: ")
    assert message in done.output


def test_command_needs_the_number_of_people() -> None:
    done = CliRunner().invoke(plan_command, [*WORDS[:5], "--q", "0.3", "--width", "0.3"])
    assert done.exit_code == 2
    assert "A follow-up requires --n, the number of people" in done.output


def test_examples_of_the_help_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2] / "docs")
    examples = [
        line.split()[2:]
        for line in run("--help").splitlines()
        if line.strip().startswith("unheard plan")
    ]
    assert len(examples) == 5
    for words in examples:
        assert run(*words)
