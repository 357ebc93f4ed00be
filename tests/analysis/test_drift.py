"""Participation over time, against the equations of the random walk written out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.special import chdtri, expit, logit

import unheard as uh
from tests.learning import LOW, find_participation, simulate_rates, simulate_waves
from unheard.analysis.drift import _choose_step, _compare, _filter, _smooth
from unheard.formulas.operations import Floats

WINDOWS = [(f"2024-{w:02d}-01", f"2024-{w + 1:02d}-01") for w in range(1, 12)]


def audits(shapes: Sequence[Floats], size: int, seed: int) -> list[uh.Audit]:
    """Return an audit per window, with participation of these shapes."""
    rng = np.random.default_rng(seed)
    truth = np.full(len(shapes[0]), size)
    return [uh.calibrate(rng.binomial(truth, g), truth) for g in shapes]


def precise(places: Floats, variances: Floats, step: float) -> tuple[Floats, Floats]:
    """Solve the random walk as one system of equations."""
    w = len(places)
    precision = np.diag(1 / variances)
    for i in range(w - 1):
        precision[i : i + 2, i : i + 2] += np.array([[1, -1], [-1, 1]]) / step**2
    covariance = np.linalg.inv(precision)
    return covariance @ (places / variances), np.diag(covariance)


def test_smoothing_solves_the_random_walk() -> None:
    rng = np.random.default_rng(1)
    places, variances = rng.normal(0, 1, (9, 2)), rng.uniform(0.05, 0.8, (9, 2))
    means, spreads = _smooth(places, variances, 0.4)
    for r in range(2):
        wanted = precise(places[:, r], variances[:, r], 0.4)
        np.testing.assert_allclose(means[:, r], wanted[0])
        np.testing.assert_allclose(spreads[:, r], wanted[1])


def test_the_likelihood_is_that_of_the_differences() -> None:
    # Given the first place, the others are normal around it; two windows show it plainly.
    places, variances, step = np.array([[0.3], [0.9]]), np.array([[0.1], [0.2]]), 0.25
    total = 0.1 + 0.2 + step**2
    value = _filter(places, variances, step**2)[0]
    assert value == pytest.approx(-0.5 * (np.log(total) + 0.6**2 / total))


@pytest.mark.parametrize("step", [0.0, 0.5])
def test_the_step_is_found(step: float) -> None:
    rng = np.random.default_rng(6)
    walk = np.cumsum(rng.normal(0, step, (40, 5)), axis=0)
    variances = np.full(walk.shape, 0.04)
    found = _choose_step([(walk + rng.normal(0, 0.2, walk.shape), variances)])
    assert found == pytest.approx(step, abs=0.12)


def test_constant_participation_is_pooled() -> None:
    g = np.array([0.2, 0.3, 0.4, 0.5, 0.6])
    alone = audits([g] * 11, 120, 2)
    drift = uh.pool_windows(WINDOWS, alone)
    assert drift.change is None
    assert drift.step < 0.1
    assert "No sudden change stands out." in drift.words
    widths = [
        np.mean([one.g_upper - one.g_lower for one in part]) for part in (alone, drift.pooled)
    ]
    assert widths[1] < 0.6 * widths[0]
    covered = [(one.g_lower <= g).all() and (g <= one.g_upper).all() for one in drift.pooled]
    assert sum(covered) >= 10


def test_a_sudden_change_is_flagged_with_its_date_and_not_smoothed_over() -> None:
    before = np.array([0.2, 0.3, 0.4, 0.5, 0.6])
    after = expit(logit(before) + np.array([1.2, 0.9, 0.4, 0.0, -0.3]))
    drift = uh.pool_windows(WINDOWS, audits([before] * 6 + [after] * 5, 300, 3))
    assert drift.change is not None
    assert drift.change.window == 6
    assert drift.change.p < 0.001
    assert "changes with the window that begins on 2024-07-01" in drift.words
    np.testing.assert_allclose(drift.pooled[5].g, before, atol=0.05)
    np.testing.assert_allclose(drift.pooled[6].g, after, atol=0.05)
    document = drift.to_dict()
    assert document["change"] == {"date": "2024-07-01", "p": drift.change.p}


def test_gradual_drift_is_followed() -> None:
    start = np.array([-1.5, -1.0, -0.5, 0.0, 0.5])
    shapes = [expit(start + 0.12 * w * np.array([1, 1, 0, -1, -1])) for w in range(11)]
    drift = uh.pool_windows(WINDOWS, audits(shapes, 2000, 4))
    for one, g in zip(drift.pooled, shapes, strict=True):
        np.testing.assert_allclose(one.g, g, atol=0.06)


def test_a_false_alarm_is_rare() -> None:
    g = np.array([0.2, 0.3, 0.4, 0.5, 0.6])
    alarms = [uh.pool_windows(WINDOWS, audits([g] * 11, 200, seed)).change for seed in range(40)]
    assert sum(change is not None for change in alarms) <= 4


def test_a_false_alarm_is_rare_where_all_ratings_move_together() -> None:
    # What response rates suggest is a line: two numbers may change, not one for each rating.
    rng = np.random.default_rng(3)

    def suggest() -> uh.Suggestion:
        seen, people, _ = simulate_rates(rng, 300)
        return uh.suggest_participation(seen, people)

    alone = [suggest() for _ in range(8)]
    assert np.linalg.matrix_rank(alone[0].find_covariance(), rtol=1e-9) == 2
    sides = (logit(alone[0].g_upper) - logit(alone[0].g)) ** 2
    np.testing.assert_allclose(sides, chdtri(2, 0.05) * np.diag(alone[0].find_covariance()))
    drawn = [rng.choice(8, 8, replace=False) for _ in range(40)]
    alarms = [uh.pool_windows(WINDOWS[:8], [alone[w] for w in one]).change for one in drawn]
    assert sum(change is not None for change in alarms) <= 6


def test_one_window_is_refused() -> None:
    with pytest.raises(uh.DataError, match="All responses are within one window"):
        uh.pool_windows(WINDOWS[:1], audits([np.array([0.2, 0.5])], 50, 5))


def test_windows_are_compared_with_all_their_covariances() -> None:
    rng = np.random.default_rng(8)
    roots = rng.normal(0, 0.4, (5, 3, 3))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.05 * np.eye(3)
    places = rng.normal(0, 1, (5, 3))
    weights = np.asarray(np.linalg.inv(covariances))
    pulls = np.einsum("wij,wj->wi", weights, places)
    found = _compare(weights[:2], pulls[:2], weights[2:], pulls[2:])
    # The same as the loss of fit if one mean has to do for both parts.

    def misfit(part: slice) -> float:
        design = np.tile(np.eye(3), (len(places[part]), 1))
        root = block_diag(*(np.linalg.cholesky(w).T for w in weights[part]))
        return float(np.linalg.lstsq(root @ design, root @ places[part].ravel())[1][0])

    assert found == pytest.approx(misfit(slice(0, 5)) - misfit(slice(0, 2)) - misfit(slice(2, 5)))


def test_a_change_between_surveys_with_reminders_is_not_smoothed_over() -> None:
    rng = np.random.default_rng(9)
    effects = [LOW] * 2 + [0.2 * LOW] * 2
    surveys = [simulate_waves(rng, 1, 3000, effects=one) for one in effects]
    alone = [uh.calibrate_from_waves(counts, n=people) for counts, people in surveys]
    drift = uh.pool_windows(WINDOWS[:4], alone)
    assert drift.change is not None
    assert drift.change.window == 2
    for effect, before, one in zip(effects, alone, drift.pooled, strict=True):
        g = find_participation(effects=effect)
        assert (one.g_lower <= g).all()
        assert (g <= one.g_upper).all()
        assert one.q == pytest.approx(g.min() / g.max(), abs=0.12)
        # A window's words are about its pooled estimate.
        assert f"q = {one.q:.2g}" in one.words
        assert (one.g_upper - one.g_lower).sum() < (before.g_upper - before.g_lower).sum()
