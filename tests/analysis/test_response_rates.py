"""Response rates against SciPy's own tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency

from unheard.analysis.response_rates import check_response_rates
from unheard.errors import InputError, OptionError, PopulationError
from unheard.model.question import build_question


@st.composite
def sizes(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 5000))
    return draw(st.integers(0, n)), n


@given(size=sizes(), level=st.sampled_from([0.8, 0.95, 0.999]))
def test_the_largest_floor_is_the_limit_of_clopper_and_pearson(
    size: tuple[int, int], level: float
) -> None:
    seen, n = size
    found = check_response_rates(seen, n, level=level)
    limits = binomtest(seen, n, alternative="less").proportion_ci(level, method="exact")
    assert found.largest_floor[0] == pytest.approx(limits.high, rel=1e-9)
    assert found.rate[0] == seen / n
    assert found.drift_p == 1


@given(
    some=st.lists(sizes(), min_size=2, max_size=9).filter(
        lambda rows: 0 < sum(seen for seen, _ in rows) < sum(n for _, n in rows)
    )
)
def test_drift_is_pearsons_test(some: list[tuple[int, int]]) -> None:
    seen, n = np.array(some).T
    expected = chi2_contingency([seen, n - seen], correction=False).pvalue
    assert check_response_rates(seen, n).drift_p == pytest.approx(expected, rel=1e-6, abs=1e-300)


def test_rates_that_are_all_or_nothing_do_not_drift() -> None:
    assert check_response_rates([0, 0, 0], [5, 9, 70]).drift_p == 1
    assert check_response_rates([5, 9], [5, 9]).drift_p == 1
    assert check_response_rates([5, 9], [5, 9]).largest_floor.tolist() == [1, 1]


@pytest.mark.parametrize(("seen", "n"), [(30, 100), (3, 400), (17, 18)])
def test_a_larger_floor_is_what_estimate_calls_refuted(seen: int, n: int) -> None:
    most = float(check_response_rates(seen, n).largest_floor[0])
    for floor, refuted in ((min(1.0, most * 1.01), True), (most * 0.99, False)):
        notes = build_question([seen, 0], floor=floor, n=n).answer(["midpoint"])[0].notes
        assert ("refuted" in notes) == refuted


def test_one_n_for_all() -> None:
    assert check_response_rates([3, 5], 10).rate.tolist() == [0.3, 0.5]


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"n": [1000, 79]}, PopulationError, r"n\[1\] must be .* number of ratings, 80; got 79"),
        ({"n_ratings": 7, "n": 6}, PopulationError, "n must be .* number of ratings, 7; got 6"),
        ({"n_ratings": 0, "n": 0}, PopulationError, "n must be at least 1"),
        ({"n_ratings": [-1, 3]}, PopulationError, "n_ratings"),
        ({"n": [1000, float("nan")]}, PopulationError, "n must be numbers of people"),
        ({"n": [1000, None]}, PopulationError, "n must be numbers of people"),
        ({"n": ["many", 3]}, PopulationError, "n must be numbers of people, 0 or more; got .'many"),
        (
            {"n": [1000, 1000, 1000]},
            PopulationError,
            "n must be one number, or one for each of the 2 items; got 3",
        ),
        ({"level": 1}, OptionError, "level must be between 0 and 1; got 1"),
    ],
)
def test_refused(words: dict[str, Any], error: type[InputError], message: str) -> None:
    asked: dict[str, Any] = {"n_ratings": [300, 80], "n": [1000, 1000]}
    with pytest.raises(error, match=message):
        check_response_rates(**asked | words)
