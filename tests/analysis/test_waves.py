"""Participation from waves of requests, against independent fits, enumeration and simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import NonlinearConstraint, minimize
from scipy.special import expit, xlogy

import unheard as uh
from tests.learning import LEVELS, LOW, SHARES, find_participation, simulate_waves
from unheard.analysis.participation import LEAST_PARTICIPATION
from unheard.analysis.wave_fit import find_profile_limits, fit_waves
from unheard.analysis.waves import MODEL_LEVEL, check_model
from unheard.formulas.operations import Floats

COUNTS = np.array([[22.0, 41, 97, 150, 140], [18, 33, 70, 81, 60], [14, 24, 45, 44, 27]])
"""Responses of 1,200 people to three requests, by rating."""


def expect(a: Floats, b: Floats, people: Floats) -> tuple[Floats, float]:
    """Return the expected responses, and how many never respond."""
    left, rows = people.copy(), []
    for level in a:
        rows.append(left * expit(level + b))
        left = left - rows[-1]
    return np.array(rows), float(left.sum())


def likelihood(x: Floats, counts: Floats, unheard: float | None) -> float:
    """Return the Poisson log-likelihood, written out cell by cell."""
    waves, m = counts.shape
    b, log_people = x[:m], x[m : 2 * m]
    a = np.zeros(waves) if unheard is None else np.concatenate(([0.0], x[2 * m :]))
    rows, never = expect(a, b, np.exp(log_people))
    value = float((xlogy(counts, rows) - rows).sum())
    return value if unheard is None else value + float(xlogy(unheard, never) - never)


def loss(x: Floats, counts: Floats, unheard: float | None) -> float:
    return -likelihood(x, counts, unheard)


@pytest.mark.parametrize("waves", [2, 3, 4])
def test_expected_responses_give_back_the_parameters(waves: int) -> None:
    a = np.array([0.0, -0.4, 0.3, -0.2])[:waves]
    rows, never = expect(a, LOW, 3000 * SHARES)
    fit = fit_waves(rows, never)
    np.testing.assert_allclose(fit.b, LOW, atol=1e-4)
    np.testing.assert_allclose(fit.a, a, atol=1e-4)
    np.testing.assert_allclose(np.exp(fit.log_people), 3000 * SHARES, rtol=1e-3)
    np.testing.assert_allclose(fit.g, rows.sum(axis=0) / (3000 * SHARES), atol=1e-4)
    assert fit.misfit < 1e-4


def test_two_requests_are_solved_in_closed_form() -> None:
    # The odds of responding to the first request are first/second - d, with exp(-a) for d.
    rows, never = expect(np.array([0.0, -0.4]), LOW, 3000 * SHARES)
    np.testing.assert_allclose(rows[0] / rows[1] - np.exp(0.4), np.exp(LOW))
    assert fit_waves(rows, never).misfit < 1e-6


@pytest.mark.parametrize("unheard", [None, 334.0])
def test_no_other_parameters_are_more_likely(unheard: float | None) -> None:
    fit = fit_waves(COUNTS, unheard)
    levels = fit.a[1:] if unheard is not None else np.zeros(0)
    at = np.concatenate((fit.b, fit.log_people, levels))
    found = likelihood(at, COUNTS, unheard)
    assert found == pytest.approx(fit.log_likelihood, abs=1e-6)
    rng = np.random.default_rng(5)
    for _ in range(4):
        start = at + rng.normal(0, 0.5, len(at))
        best = minimize(loss, start, (COUNTS, unheard), tol=1e-10)
        assert -best.fun <= found + 1e-5


@pytest.mark.parametrize("rating", [0, 4])
def test_limits_are_where_the_likelihood_has_fallen(rating: int) -> None:
    drop, unheard, m = 6.0, 334.0, 5
    fit = fit_waves(COUNTS, unheard)
    at = np.concatenate((fit.b, fit.log_people, fit.a[1:]))

    def log_odds(x: Floats) -> list[float]:
        a = np.concatenate(([0.0], x[2 * m :]))
        silent = np.prod(expit(-(a + x[rating])))
        return [float(np.log((1 - silent) / silent))]

    for end in find_profile_limits(fit, rating, drop):
        at_end = NonlinearConstraint(log_odds, end, end)
        held = minimize(
            loss, at, (COUNTS, unheard), method="SLSQP", constraints=at_end,
            options={"maxiter": 500, "ftol": 1e-10},
        )  # fmt: skip
        assert 2 * (fit.log_likelihood + held.fun) == pytest.approx(drop, abs=0.02)


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 1, 8, 5, 5], [1, 1, 3, 9, 3]],
        [[3, 1, 7, 6, 7], [3, 1, 1, 5, 7]],
    ],
)
def test_with_few_people_the_higher_of_two_peaks_counts(rows: list[list[int]]) -> None:
    counts = np.array(rows, float)
    fit = fit_waves(counts, 60 - counts.sum())
    levels = np.linspace(-3, 3, 13)
    for r in range(5):
        lower, upper = find_profile_limits(fit, r, 8.0)
        for end in (lower, upper):
            if np.isinf(end):
                continue
            beyond = end + 0.02 * np.sign(end - fit.log_odds[r])
            # No start leads to parameters beyond a limit that are likely enough.
            best = max(
                fit_waves(
                    counts, fit.unheard, (r, float(beyond)), replace(fit, a=np.array([0.0, level]))
                ).log_likelihood
                for level in levels
            )
            assert 2 * (fit.log_likelihood - best) > 8.0 - 0.02
    found = uh.calibrate_from_waves(counts, n=60)
    assert (found.g_upper - found.g_lower).min() > 0.8


@pytest.mark.parametrize(("items", "people"), [(1, 3000), (300, 20)])
@pytest.mark.parametrize("waves", [2, 3])
def test_the_box_covers_participation(items: int, people: int, waves: int) -> None:
    rng = np.random.default_rng(items + waves)
    g = find_participation(waves)
    covered = 0
    for _ in range(5):
        counts, n = simulate_waves(rng, items, people, waves=waves)
        found = uh.calibrate_from_waves(counts, n=n)
        covered += bool(((found.g_lower <= g) & (g <= found.g_upper)).all())
        assert found.learned.source == "waves"
    assert covered >= 4  # python -m benchmarks learning has the rates


def test_a_changing_effect_of_the_rating_is_noticed() -> None:
    rng = np.random.default_rng(8)

    def notices(change: Floats | float) -> bool:
        (counts,), (n,) = simulate_waves(rng, 1, 3000, change=change)
        fit = fit_waves(counts, n - counts.sum())
        p = check_model(fit, np.ones(5), np.arange(1.0, 6.0))
        return p is not None and p < MODEL_LEVEL

    assert sum(notices(0.0) for _ in range(40)) <= 6
    assert sum(notices(np.linspace(-0.6, 0.6, 5)) for _ in range(20)) >= 16


@pytest.mark.parametrize("unheard", [None, 4000.0])
def test_the_score_is_that_of_an_effect_which_changes_at_the_last_request(
    unheard: float | None,
) -> None:
    counts = 10 * COUNTS
    scores = np.array([-2.0, -1, 0, 1.5, 3])
    fit = fit_waves(counts, unheard)
    cells = fit.cells

    def log_means(x: Floats) -> Floats:
        """Return the log of what is expected, with one parameter more."""
        b, log_people = x[:5], x[5:10]
        a = np.zeros(3) if unheard is None else np.concatenate(([0.0], x[10:12]))
        odds = a[:, None] + b
        odds[-1] += x[-1] * scores
        stay = np.cumprod(1 - expit(odds), axis=0)
        before = np.vstack((np.ones(5), stay[:-1]))
        rows = np.log(np.exp(log_people) * before * expit(odds)).ravel()
        never = np.log((np.exp(log_people) * stay[-1]).sum())
        return rows if unheard is None else np.append(rows, never)

    free = [] if unheard is None else list(fit.a[1:])
    at = np.array([*fit.b, *fit.log_people, *free, 0.0])
    steps = 1e-5 * np.eye(len(at))
    slopes = np.array([(log_means(at + h) - log_means(at - h)) / 2e-5 for h in steps]).T
    means = np.exp(log_means(at))
    score = slopes.T @ (cells - means)
    inverse = np.linalg.pinv((slopes.T * means) @ slopes, rcond=1e-10, hermitian=True)
    assert np.abs(score[:-1]).max() < 0.05  # the fit is at its maximum
    wanted = score[-1] ** 2 * inverse[-1, -1]
    assert fit.score_last_request(scores) == pytest.approx(wanted, rel=1e-3)


def test_three_requests_that_contradict_the_model_say_so() -> None:
    rows = COUNTS.copy()
    rows[1] = rows[1][::-1]
    found = uh.calibrate_from_waves(rows, n=1200)
    assert found.contradicted
    assert "contradict this assumption (p < 0.001): do not rely on this" in found.warnings[0]
    assert "cannot test this" in uh.calibrate_from_waves(COUNTS[:2], n=1200).words


def test_what_it_assumes_is_said() -> None:
    known, unknown = (uh.calibrate_from_waves(COUNTS, n=n) for n in (1200, None))
    assert "the same difference at every request" in known.words
    assert "every request is as effective as the first" in unknown.words
    assert "as effective" not in known.words
    assert (known.quiet, known.requests, known.items) == ("low", 3, 1)


def test_items_that_differ_widen_the_box_and_more_so_that_of_one_item() -> None:
    rng = np.random.default_rng(3)
    counts, n = simulate_waves(rng, 40, 300)
    varied = counts.copy()
    for i in range(0, 40, 2):  # half of the items lose half of their responses
        varied[i] = rng.binomial(varied[i].astype(int), 0.5)
    alike, apart = (uh.calibrate_from_waves(each, n=n) for each in (counts, varied))
    assert (apart.g_upper - apart.g_lower).sum() > 1.3 * (alike.g_upper - alike.g_lower).sum()
    assert apart.item_spread > 5 * alike.item_spread
    lower, upper = apart.find_item_box()
    assert (lower <= apart.g_lower).all()
    assert (upper >= apart.g_upper).all()


def average(spread: float, levels: Floats, effects: Floats) -> tuple[Floats, Floats]:
    """Return the chances of responding to each request, and ever, over items that differ."""
    shifts, weights = np.polynomial.hermite_e.hermegauss(80)
    made = [expect(levels, effects + spread * x, np.ones(len(effects)))[0] for x in shifts]
    first = np.tensordot(weights / weights.sum(), made, 1)
    return first, first.sum(axis=0)


@pytest.mark.parametrize("waves", [2, 3])
def test_expected_responses_of_items_that_differ_give_back_the_parameters(waves: int) -> None:
    a = np.array([0.0, -0.4, 0.3])[:waves]
    first, ever = average(0.9, a, LOW)
    people = 3000 * SHARES
    unheard = float(people @ (1 - ever))
    fit = fit_waves(people * first, unheard, spread=0.9)
    np.testing.assert_allclose(fit.b, LOW, atol=2e-3)
    np.testing.assert_allclose(fit.g, ever, atol=1e-3)
    # Without the effects of items, participation of people with high ratings looks larger.
    assert fit_waves(people * first, unheard).g[3] > ever[3] + 0.02


def test_derivatives_and_the_inverse_allow_for_items_that_differ() -> None:
    fit = fit_waves(COUNTS, 334.0, spread=0.8)
    shape, m = fit.shape, 5
    at = np.concatenate((fit.b, fit.a[1:], fit.log_people))

    def split(x: Floats) -> tuple[Floats, Floats, Floats]:
        return np.append(0.0, x[m : m + 2]), x[:m], x[m + 2 :]

    for r, log_odds in enumerate(fit.log_odds):
        assert shape.solve_effect(fit.a, float(log_odds)) == pytest.approx(fit.b[r], abs=1e-9)
    for given, wanted in ((fit.jacobian, shape.find_log_means), (fit.gradient, None)):
        for i, step in enumerate(1e-6 * np.eye(len(at))):
            ends = [split(at + sign * step) for sign in (1, -1)]
            up, down = (wanted(*end) if wanted else shape.trace(*end[:2]).log_odds for end in ends)
            np.testing.assert_allclose(given[:, i], (up - down) / 2e-6, atol=1e-6)


def test_how_much_items_differ_is_found_and_the_box_covers_participation() -> None:
    # As if all items were alike, the box covered participation in 6 of 10 such surveys.
    rng = np.random.default_rng(7)
    g = average(0.9, LEVELS, LOW)[1]
    seen, covered, alike = [], 0, 0
    for _ in range(6):
        counts, n = simulate_waves(rng, 150, 150, spread=0.9)
        found = uh.calibrate_from_waves(counts, n=n)
        seen.append(found.item_spread)
        covered += bool(((found.g_lower <= g) & (g <= found.g_upper)).all())
        lower, upper = found.find_item_box()
        for own in (-1.5, 1.5):
            one = expect(LEVELS, LOW + 0.9 * own, np.ones(5))[0].sum(axis=0)
            alike += bool(((lower <= one) & (one <= upper)).all())
    assert np.mean(seen) == pytest.approx(0.9, abs=0.08)
    assert covered >= 5
    assert alike >= 11


def test_people_may_be_known_in_all_only() -> None:
    counts, n = simulate_waves(np.random.default_rng(4), 30, 60)
    each, together = (uh.calibrate_from_waves(counts, n=many) for many in (n, n.sum()))
    np.testing.assert_allclose(each.g, together.g)


def test_a_rating_that_nobody_gave_is_unknown() -> None:
    rows = COUNTS.copy()
    rows[:, 1] = 0
    found = uh.calibrate_from_waves(rows, n=1100)
    assert found.unknown_ratings == (2.0,)
    assert (found.g_lower[1], found.g_upper[1]) == (LEAST_PARTICIPATION, 1.0)
    assert found.assumption.kind == "box"
    assert "Nobody gave the rating 2" in found.words


def test_the_assumption_is_used_and_named(tmp_path: Any) -> None:
    found = uh.calibrate_from_waves(COUNTS, n=1200)
    answer = uh.estimate([30, 60, 120, 160, 130], assumption=found.assumption)
    average = np.arange(1, 6) @ [30, 60, 120, 160, 130] / 500
    assert answer.estimate < average  # people with low ratings are missing
    assert "The responses to each request estimate the probability" in answer.summary()
    uh.write_assumption(found, tmp_path / "waves.json")
    again = uh.read_assumption(tmp_path / "waves.json")
    assert (again.g, again.lo) == (found.assumption.g, found.assumption.lo)
    assert again.learned == found.assumption.learned == found.learned
    assert found.learned.sentences == found.sentences


@pytest.mark.parametrize(
    ("counts", "n", "message"),
    [
        ([[1, 2, 3]], None, "nothing can be learned from one wave"),
        ([[1, 2, 3], [0, 0, 0]], None, "Nobody responded to request 2"),
        ([[1, 2, 3], [1, 1]], None, "a row per request and a column per rating"),
        ([[1, 2, 3], [1, -1, 2]], None, "must be whole numbers, at least 0"),
        ([[1, 2, 3], [1, 1, 2]], 9, "n must be at least the number of responses, 10; got 9"),
        ([[[1, 2, 3], [1, 1, 2]]] * 2, [10, 9], r"n\[1\] must be at least .*, 10; got 9"),
        ([[1, 2, 3], [1, 1, 2]], 10.5, "n must be a whole number of people; got 10.5"),
        ([[1, 2, 3], [1, 1, 2]], float("inf"), "n must be a whole number of people; got inf"),
        ([["few", 2, 3], [1, 1, 2]], 10, "got a table with text, or with parts of unequal length"),
        ([[1, 2, 3], [1, 1, 2]], "many", "n must be at least the number of responses"),
        ([[[1, 2, 3], [1, 1, 2]]] * 2, [10, 10, 10], "one number for all, or one per item"),
    ],
)
def test_refused(counts: Any, n: Any, message: str) -> None:
    with pytest.raises(uh.InputError, match=message):
        uh.calibrate_from_waves(counts, n=n)


def test_everybody_responding_is_no_trouble() -> None:
    found = uh.calibrate_from_waves(COUNTS, n=COUNTS.sum())
    assert (found.g > 0.95).all()
    assert (found.g_upper > 0.999).all()


def test_columns_of_a_frame_are_ratings() -> None:
    wanted = uh.calibrate_from_waves(COUNTS, n=1200)
    frame = pd.DataFrame(COUNTS, columns=range(1, 6), index=[1, 2, 3])
    for columns in ([1, 2, 3, 4, 5], [5, 4, 3, 2, 1]):
        found = uh.calibrate_from_waves(frame[columns], n=1200)
        np.testing.assert_array_equal(found.g, wanted.g)
    with pytest.raises(uh.CountsError, match="ratings 2, 3, 4, 5, which do not determine"):
        uh.calibrate_from_waves(frame[[2, 3, 4, 5]], n=1200)
    part = uh.calibrate_from_waves(frame[[5, 4, 3, 2]], n=1200, scale="2:5")
    assert part.scale.lowest == 2
