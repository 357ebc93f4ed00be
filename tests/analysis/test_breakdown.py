"""Breakdown q against a scan of the intervals themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import Floats, Histogram, assumptions, histograms
from unheard.analysis.breakdown import Claim, find_breakdown, find_breakdown_by_row, find_largest_q
from unheard.errors import OptionError
from unheard.model.question import Question, build_question
from unheard.model.scale import Scale

QS = np.exp(np.linspace(np.log(1e-3), 0.0, 120))


@st.composite
def questions(draw: st.DrawFn) -> tuple[Question, Claim]:
    histogram: Histogram = draw(histograms())
    stated: dict[str, Any] = draw(assumptions(histogram.m))
    seen = int(histogram.counts.sum())
    n = draw(st.one_of(st.none(), st.integers(seen, 12 * seen)))
    question = build_question(histogram.counts, **stated, n=n, scale=histogram.values)
    low, high = histogram.values[0], histogram.values[-1]
    share = draw(st.floats(0, 1))
    return question, Claim(draw(st.booleans()), low + share * (high - low))


def margins(question: Question, claim: Claim, qs: Floats, sampling_error: bool) -> Floats:
    """How far beyond the threshold the end of the interval lies, for each q."""
    rows = np.zeros(len(qs), np.intp)
    found = question.at(qs, rows).find_bounds()
    lower, upper = found.outermost if sampling_error else (found.lower, found.upper)
    beyond: Floats = lower - claim.threshold if claim.above else claim.threshold - upper
    return beyond


@pytest.mark.parametrize("sampling_error", [False, True])
@given(asked=questions())
def test_breakdown_is_where_the_claim_starts_to_hold(
    sampling_error: bool, asked: tuple[Question, Claim]
) -> None:
    question, claim = asked
    found = float(find_breakdown_by_row(question, claim, sampling_error)[0])
    slack = 1e-9 * question.counts.scale.width
    beyond = margins(question, claim, QS, sampling_error)
    if np.isnan(found):
        # Above the response rate nothing is claimed: the assumption contradicts it.
        assert (beyond[find_largest_q(question)[0] >= QS] <= slack).all()
    else:
        claimed = (found * (1 + 1e-9) < QS) & (find_largest_q(question)[0] >= QS)
        assert (beyond[claimed] > -slack).all()
        assert (beyond[found * (1 - 1e-9) > QS] <= slack).all()


@pytest.mark.parametrize("sampling_error", [False, True])
@given(asked=questions())
def test_the_end_of_the_interval_is_the_threshold_at_the_breakdown(
    sampling_error: bool, asked: tuple[Question, Claim]
) -> None:
    question, claim = asked
    found = float(find_breakdown_by_row(question, claim, sampling_error)[0])
    if found > 1e-9:
        around = np.array([found * (1 - 1e-9), min(found * (1 + 1e-9), 1.0)])
        before, after = margins(question, claim, around, sampling_error)
        slack = 1e-12 * question.counts.scale.width
        assert before <= slack
        assert after >= -slack


@given(asked=questions())
def test_the_largest_q_is_where_the_number_of_people_just_fits(
    asked: tuple[Question, Claim],
) -> None:
    question, _ = asked
    most = float(find_largest_q(question)[0])
    found = question.at(most).assess_response()
    if found is not None and question.assumption.kind != "known":
        assert not found.too_low[0] or not question.counts.cells[0, 1:-1].any()
        if most < 1:
            above = question.at(min(most * 1.001, 1.0)).assess_response()
            assert above is not None
            assert above.too_low[0]


def test_breakdown_in_numbers() -> None:
    # Above 3.5: (120 * 2.5 + 30 * 1.5 + 45 * 0.5) / (200 * 0.5 + 605 * 1.5).
    found = find_breakdown([120, 30, 45, 200, 605], above=3.5)
    assert found == pytest.approx(367.5 / 1007.5, rel=1e-15)
    # Nothing seen below 4, so nobody silent can be thought to be there.
    assert find_breakdown([0, 0, 0, 3, 1], above=3.5) == 0
    assert np.isnan(find_breakdown([0, 0, 0, 3, 1], above=4.25))
    # Every claim about an item without ratings is open.
    many = find_breakdown(np.array([[0, 0], [1, 9]]), above=1.5)
    assert np.isnan(many[0])
    assert many[1] == pytest.approx(1 / 9, rel=1e-15)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({}, "A claim requires above or below. State a threshold such as 4"),
        ({"above": 2, "below": 3}, "above and below cannot be combined"),
        ({"above": 7}, "above must be on the scale, from 1 to 5; got 7"),
        ({"below": 0.5}, "below must be on the scale, from 1 to 5; got 0.5"),
    ],
)
def test_claims_that_say_nothing_are_refused(claim: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        find_breakdown([1, 2, 3, 4, 5], **claim)


@pytest.mark.parametrize(
    ("counts", "n", "g", "threshold"),
    [
        ([0, 56, 0, 0, 0], 56, [1.0, 1.0, 1.0, 1.0, 0.5], 0.75),
        ([0, 18, 0, 0, 0], 32, [1.0] * 5, 1.0),
    ],
)
def test_what_is_ruled_out_fails_no_claim(
    counts: list[int], n: int, g: list[float], threshold: float
) -> None:
    """At a q that the response rate contradicts limits are wider, and nothing is claimed there."""
    scale = Scale([0.5 * r for r in range(len(counts))])
    box = [(one, one) for one in g]
    question = build_question(counts, participation=box, n=n, scale=scale)
    most = float(find_largest_q(question)[0])
    claim = Claim.read(None, threshold, scale)
    found = float(find_breakdown_by_row(question, claim, True)[0])
    if np.isnan(found):
        assert margins(question, claim, np.array([most]), True)[0] <= 0
    elif found > 1e-9:
        around = np.minimum(found * np.array([1 - 1e-9, 1 + 1e-9]), 1.0)
        before, after = margins(question, claim, around, True)
        assert before <= 1e-12
        assert after >= -1e-12 or found >= most * (1 - 1e-9)
