"""The response rate against SciPy's exact binomial test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

import unheard as uh


@given(st.integers(1, 400), st.integers(0, 400), st.floats(0.01, 0.99))
def test_p_value_and_largest_floor(seen: int, unseen: int, q: float) -> None:
    about = uh.build_question([seen, 0], floor=q, n=seen + unseen).assess_response()
    assert about is not None
    test = binomtest(seen, seen + unseen, q, alternative="less")
    assert about.p_value[0] == pytest.approx(test.pvalue, rel=1e-9, abs=1e-300)
    limit = test.proportion_ci(0.95).high
    assert about.largest_floor[0] == pytest.approx(limit, rel=1e-9)


@given(st.integers(1, 400), st.integers(0, 400), st.floats(0.01, 0.99))
def test_refuted_exactly_when_the_test_rejects(seen: int, unseen: int, q: float) -> None:
    notes = uh.estimate([seen, 0], floor=q, n=seen + unseen).notes
    p_value = binomtest(seen, seen + unseen, q, alternative="less").pvalue
    # The flag uses a closed form that is right to the third digit of the p-value.
    assume(abs(p_value - 0.05) > 0.002)
    assert ("refuted" in notes) == (p_value < 0.05)
    assert ("low_response" in notes) == (seen / (seen + unseen) < q * (1 - 1e-11))


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_closed_form_of_the_test_decides_as_the_exact_one(level: float) -> None:
    for n in (1, 2, 3, 5, 8, 13, 40, 200, 1000, 100_000):
        for q in np.linspace(0.02, 0.98, 25):
            seen = np.unique(np.linspace(max(0, n * q - 8 * np.sqrt(n)), n * q, 60).astype(int))
            cells = np.column_stack([seen, np.zeros_like(seen)])
            about = uh.build_question(cells, floor=q, n=n, level=level).assess_response()
            assert about is not None
            exact = binom.cdf(seen, n, q)
            clear = np.abs(exact / (1 - level) - 1) > 0.05
            assert (about.refuted == (exact < 1 - level))[clear].all(), (n, q)


def test_everybody_answers_is_refuted_by_one_silent_person() -> None:
    assert "refuted" in uh.estimate([3, 6], floor=1.0, n=10).notes
    assert uh.estimate([3, 6], floor=1.0, n=9).notes == ("few_ratings",)


@given(st.integers(1, 400), st.integers(0, 4000), st.floats(0.01, 1.0))
def test_no_response_rate_refutes_a_ratio(seen: int, unseen: int, q: float) -> None:
    question = uh.build_question([seen, 1], q, n=seen + 1 + unseen)
    assert question.assess_response() is None
    assert {*question.answer(["midpoint"])[0].notes} <= {"few_ratings"}


def test_too_many_answers_refute_a_box_below_one() -> None:
    box = [(0.1, 0.5), (0.1, 0.6)]
    about = uh.build_question([40, 50], participation=box, n=100).assess_response()
    assert about is not None
    expected = binomtest(90, 100, 0.6, alternative="greater").pvalue
    assert about.p_value[0] == pytest.approx(expected, rel=1e-9)
    assert about.refuted[0]


def test_many_items_at_once_give_what_one_gives() -> None:
    counts = np.array([[3, 4, 1], [0, 0, 0], [50, 5, 5], [1, 0, 0]])
    n = np.array([20, 30, 61, 1000])
    together = uh.estimate(counts, floor=0.4, n=n)
    for row in range(4):
        alone = uh.estimate(counts[row], floor=0.4, n=n[row])
        assert together.notes[row] == alone.notes
        assert together.estimate[row] == alone.estimate
        assert together.ci_lower[row] == alone.ci_lower
        assert together.ci_upper[row] == alone.ci_upper
    assert together.notes[1] == ("no_ratings", "refuted")


@pytest.mark.parametrize("seen", [5, 50, 90, 99])
def test_a_box_is_refuted_from_both_sides(seen: int) -> None:
    box = [(0.3, 0.8), (0.2, 0.7)]
    about = uh.build_question([seen, 0], participation=box, n=100).assess_response()
    assert about is not None
    too_few = binomtest(seen, 100, 0.2, alternative="less").pvalue < 0.05
    too_many = binomtest(seen, 100, 0.8, alternative="greater").pvalue < 0.05
    assert bool(about.refuted[0]) == (too_few or too_many)
    # One seen with the first rating stands for 1/0.8 to 1/0.3 people.
    assert bool(about.too_low[0]) == (seen / 0.3 < 100)
    assert bool(about.too_high[0]) == (seen / 0.8 > 100)


@pytest.mark.parametrize("n", [100, 150, 400])
def test_known_participation_fits_no_n_to_the_person(n: int) -> None:
    """The number who answer is random, so that only the test can tell."""
    notes = uh.estimate([30, 40], g=[0.4, 0.5], n=n).notes
    assert not {"low_response", "high_response"} & set(notes)
    assert ("refuted" in notes) == (n != 150)


def test_one_person_in_a_million_is_told_and_rounding_is_not() -> None:
    shares = np.arange(1, 100)
    exact = [uh.estimate([int(s), 0], floor=s / 100, n=100).notes for s in shares]
    assert not any("low_response" in notes for notes in exact)
    assert "low_response" in uh.estimate([300_000, 0], floor=0.3, n=1_000_001).notes


def test_weights_count_as_many_people_as_they_are_worth() -> None:
    about = uh.build_question([80, 40], floor=0.5, n=300, effective=30).assess_response()
    assert about is not None
    assert about.rate[0] == pytest.approx(0.4)
    assert about.p_value[0] == pytest.approx(
        binomtest(30, 75, 0.5, alternative="less").pvalue, rel=1e-9
    )


@pytest.mark.parametrize("n", [1, 2, 5, 13, 40])
def test_the_largest_floor_not_refuted_has_nearly_the_level(n: int) -> None:
    """Even for a handful of people the exact p-value is then 0.05, within 0.002."""
    for seen in range(n):
        q = np.linspace(0.0005, 0.9995, 2000)
        about = uh.build_question(np.tile([seen, 0], (len(q), 1)), floor=q, n=n).assess_response()
        assert about is not None
        exact = binom.cdf(seen, n, q)
        assert about.refuted[exact < 0.048].all()
        assert not about.refuted[exact > 0.052].any()
