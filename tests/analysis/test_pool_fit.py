"""An audit of some items applied to others."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import dirichlet_multinomial

import unheard as uh
from tests.strategies import Floats
from unheard.analysis.calibrate import Audit, calibrate
from unheard.analysis.pool_fit import fit_dirichlet, fit_participation, fit_pool
from unheard.formulas.operations import NUMPY
from unheard.formulas.pooling import error_quantile, predict_mean_with_n
from unheard.options.choices import Method

VALUES = np.array([1.0, 2.0, 4.0, 5.0])


def world(rng: np.random.Generator, items: int, spread: float = 0.7) -> tuple[Floats, Floats]:
    """Draw items as the model has it: those who answered, and everybody."""
    p = rng.dirichlet([2.0, 3.0, 2.5, 1.0], items)
    people = rng.integers(30, 200, items)
    truth = np.array([rng.multinomial(n, row) for n, row in zip(people, p, strict=True)])
    odds = np.array([-2.5, -1.5, -0.5, 0.5]) + spread * rng.standard_normal((items, 1))
    observed = rng.binomial(truth, 1 / (1 + np.exp(-odds)))
    return observed.astype(float), truth.astype(float)


def test_the_dirichlet_fit_is_the_most_likely_one() -> None:
    _, truth = world(np.random.default_rng(1), 300)
    found = fit_dirichlet(truth)
    assert found == pytest.approx([2.0, 3.0, 2.5, 1.0], rel=0.25)

    whole = truth.astype(int)

    def likelihood(a: Floats) -> float:
        return float(np.sum(dirichlet_multinomial.logpmf(whole, a, whole.sum(axis=1))))

    best = likelihood(found)
    for r in range(4):
        for factor in (0.97, 1.03):
            moved = found.copy()
            moved[r] *= factor
            assert likelihood(moved) < best


def test_voices_are_recovered() -> None:
    voice, spread = fit_participation(*world(np.random.default_rng(2), 400))
    assert voice == pytest.approx([-2.5, -1.5, -0.5, 0.5], abs=0.2)
    assert spread == pytest.approx(0.7, rel=0.15)


def test_the_closed_form_is_the_best_linear_prediction() -> None:
    observed, truth = world(np.random.default_rng(3), 60)
    pool = fit_pool(observed, truth, VALUES, paired=True)
    assert pool is not None
    assert pool.with_n is not None
    fitted = pool.with_n
    modes = np.array(fitted.modes).T
    # Undo the change of coordinates, and solve the normal equations with plain algebra.
    back = np.linalg.inv(modes).T
    between, noise = back @ np.diag(fitted.strengths) @ back.T, back @ back.T
    covariance = back @ np.array(fitted.gains)
    for n in (40, 400):
        counts = np.array([3.0, 7.0, 9.0, 4.0])
        slope = np.linalg.solve(between + noise / n, covariance)
        silent = fitted.mean + slope @ (counts / n - np.array(fitted.shares))
        left = fitted.variance - slope @ covariance
        share = 1 - counts.sum() / n
        estimate, square = predict_mean_with_n(list(counts), VALUES.tolist(), n, fitted, NUMPY)
        assert estimate == pytest.approx(counts @ VALUES / n + share * silent, rel=1e-9)
        expected = share**2 * (left + fitted.doubt) + share / n * fitted.within
        assert square == pytest.approx(expected, rel=1e-9)


def test_who_answered_counts_as_they_are() -> None:
    audit = calibrate(*world(np.random.default_rng(4), 40), scale=VALUES.tolist())
    everybody = uh.estimate(
        [5, 3, 2, 9], n=19, assumption=audit.assumption, scale=VALUES.tolist(), covers="people"
    )
    assert everybody.estimate == pytest.approx((5 + 6 + 8 + 45) / 19, rel=1e-12)
    assert everybody.ci_upper - everybody.ci_lower == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("spread", [0.1, 1.2])
@pytest.mark.parametrize("paired", [True, False])
def test_limits_hold_the_stated_share_of_items(paired: bool, spread: float) -> None:
    rng = np.random.default_rng(5)
    held = []
    for _ in range(4):
        observed, truth = world(rng, 600, spread)
        audit = calibrate(observed[:60], truth[:60], scale=VALUES.tolist(), paired=paired)
        result = uh.estimate(
            observed[60:],
            n=truth[60:].sum(axis=1) if paired else None,
            assumption=audit.assumption,
            scale=VALUES.tolist(),
            covers="people" if paired else "mean",
        )
        means = truth[60:] @ VALUES / truth[60:].sum(axis=1)
        held.append(np.mean((result.ci_lower <= means) & (means <= result.ci_upper)))
    # Each audit's share varies around the level as a beta variable; the mean of four by 0.014.
    assert np.mean(held) > 0.95 - 3 * 0.014


def test_reach_takes_the_rank_that_conformal_prediction_asks_for() -> None:
    errors = tuple(float(x) for x in range(1, 100))
    assert error_quantile(errors, 0.95) == 95
    assert error_quantile(errors, 0.5) == 50
    # Ten items cannot tell about 95 in 100: then it is the largest error, or the t limit.
    assert error_quantile(errors[:10], 0.95) == 10


def test_fewer_than_ten_items_make_no_pool() -> None:
    audit = calibrate(*world(np.random.default_rng(6), 9), scale=VALUES.tolist())
    assert audit.pool is None
    assert audit.assumption.kind == "audit"


TRACKS = Path(__file__).parents[3] / "shared" / "data" / "cm100k" / "item_histograms.csv"


@pytest.fixture(scope="module")
def tracks() -> tuple[Floats, Floats]:
    """Ratings of music tracks: those seen, and everybody's."""
    if not TRACKS.exists():
        pytest.skip("the CM100k ratings are not beside this checkout (../shared/data)")
    with TRACKS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    counts = {
        (row["item"], row["population"]): [float(row[f"n{r}"]) for r in range(1, 5)] for row in rows
    }
    names = sorted({item for item, population in counts if population == "true"})
    truth = np.array([counts[item, "true"] for item in names])
    observed = np.array([counts.get((item, "observed"), [0.0] * 4) for item in names])
    return observed, truth


@pytest.fixture(scope="module")
def audits(tracks: tuple[Floats, Floats]) -> list[tuple[NDArray[np.bool_], Audit]]:
    """Five audits of 5% of the tracks, and which tracks they are of."""
    observed, truth = tracks
    found = []
    for split in range(5):
        rng = np.random.default_rng(split)
        audited = rng.permutation(len(truth)) < round(0.05 * len(truth))
        found.append((audited, calibrate(observed[audited], truth[audited])))
    return found


@pytest.mark.xdist_group("tracks")
@pytest.mark.parametrize(
    ("known", "method", "most", "coverage"),
    [(True, "pooled", 0.22, 0.93), (False, "pooled", 0.33, 0.90), (False, "reweight", 0.38, 0.95)],
)
def test_tracks_calibrated_on_some_of_them(
    tracks: tuple[Floats, Floats],
    audits: list[tuple[NDArray[np.bool_], Audit]],
    known: bool,
    method: Method,
    most: float,
    coverage: float,
) -> None:
    """The average is off by 0.62; an audit of 5% of the tracks brings that down to 0.2."""
    observed, truth = tracks
    n, values = truth.sum(axis=1), np.arange(1.0, 5.0)
    means = truth @ values / n
    errors, held = [], []
    for audited, audit in audits:
        rest = ~audited & (observed.sum(axis=1) >= 10)
        result = uh.estimate(
            observed[rest],
            n=n[rest] if known else None,
            assumption=audit.assumption,
            method=method,
            covers="people" if known else "mean",
        )
        errors.append(np.sqrt(np.mean((result.estimate - means[rest]) ** 2)))
        held.append(np.mean((result.ci_lower <= means[rest]) & (means[rest] <= result.ci_upper)))
    assert np.mean(errors) < most
    assert np.mean(held) > coverage


@pytest.mark.parametrize("n_known", [False, True])
def test_items_unlike_the_audited_ones_are_flagged(n_known: bool) -> None:
    rng = np.random.default_rng(3)
    voice = np.array([-2.5, -2.0, -1.3, -0.7, -0.2])

    def items(many: int, shape: list[float], lean: float) -> tuple[Any, Any]:
        shares = rng.dirichlet(np.array(shape) * 15, size=many)
        people = np.array([rng.multinomial(200, p) for p in shares])
        odds = voice + lean + 0.4 * rng.standard_normal((many, 1))
        return rng.binomial(people, 1 / (1 + np.exp(-odds))), people

    usual, worse = [0.1, 0.15, 0.2, 0.25, 0.3], [0.6, 0.25, 0.1, 0.03, 0.02]
    audit = uh.calibrate(*items(40, usual, 0.0))

    def flagged(seen: Any, people: Any) -> float:
        found = uh.estimate(
            seen, assumption=audit.assumption, n=people.sum(axis=1) if n_known else None
        )
        assert found.method == "pooled"
        return float(np.mean(["unlike_audited" in notes for notes in found.notes]))

    assert flagged(*items(300, usual, 0.0)) < 0.12
    assert flagged(*items(300, worse, 0.0)) > 0.7
    # One histogram is told the same, and another estimate of it is not.
    one = uh.estimate([60, 1, 0, 0, 0], assumption=audit.assumption, n=200 if n_known else None)
    assert "unlike_audited" in one.notes
    plain = uh.estimate([60, 1, 0, 0, 0], assumption=audit.assumption, method="average")
    assert "unlike_audited" not in plain.notes
