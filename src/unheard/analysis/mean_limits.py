"""Confidence limits of a weighted mean, for few ratings and at any level.

Ratings are drawn independently, and rating r has the weight w_r; the limits are for the mean
μ = Σ w p v / Σ w p. The hypothesis μ <= t is tested by y = w (v - t), whose expectation is then at
most 0. Gaffke's test [G05] adds one more y at the smallest value that it can take, gives all of
them independent exponential weights, and rejects t at level π if

    P(Σ_r y_r Gamma(n_r) + (min_r y_r) Gamma(1) <= 0) <= π.

For two ratings this is the limit of Clopper and Pearson [CP34]. It does not rely on a variance that
is small by chance, and needs no rule for ratings with a count of zero. That it keeps its level is a
conjecture in general; tests/analysis/test_mean_limits.py enumerates all histograms of three ratings
for many distributions, at levels down to 1e-7, and finds no violation. The probability increases
with t, so the limit is where it equals π.

Probabilities are computed by the saddlepoint approximation: with ℓ = max over σ of Σ log(1 + σ y),
the logarithm of an empirical likelihood ratio, r = √(2ℓ) and u = σ √(Σ y²/(1 + σ y)²), it is
Φ(-r - log(u/r)/r) [BN86]. In the tails this is 0.998 to 1.11 times the exact value where that is a
beta distribution, however few the ratings; and a σ that is not quite optimal errs on the safe side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from unheard.formulas.operations import Floats

_MOST_ROUNDS = 60
_MOST_STEPS = 60
_NEAR, _CLOSE, _WEAK = 1e-9, 1e-4, 0.1

_AIM = 1e-3
"""How far beyond the critical value to aim, so that the limit errs on the safe side."""

_CELLS = 2**15


def find_lower_limits(counts: Floats, places: Floats, weights: Floats, levels: ArrayLike) -> Floats:
    """Find one-sided lower confidence limits of weighted means.

    Parameters
    ----------
    counts
        One row per item, one column per possible rating.
    places
        The ratings as places on the scale from 0 to 1, in any order; one of them is 0.
    weights
        The weight of each rating; one row per set of weights.
    levels
        Miss probabilities: those of lying above the mean. Each is below 1/2.

    Returns
    -------
    Floats
        Limits by weights, level and item; 0 where there is no better one.

    Examples
    --------
    Eight of ten, compared with the limit of Clopper and Pearson:

    >>> counts, places = np.array([[2.0, 8.0]]), np.array([0.0, 1.0])
    >>> find_lower_limits(counts, places, np.ones((1, 2)), [0.025]).round(3), 0.444
    (array([[[0.443]]]), 0.444)
    """
    z = -ndtri(np.asarray(levels, np.float64))
    found = np.empty((len(weights), len(z), len(counts)))
    columns, sides = np.ascontiguousarray(counts.T), np.ascontiguousarray(weights.T)
    portion = max(1, _CELLS // len(places))
    for start in range(0, found.size, portion):
        some = np.arange(start, min(start + portion, found.size))
        w, level, item = np.unravel_index(some, found.shape)
        limits = _search_limits(columns[:, item], places[:, None], sides[:, w], z[level])
        found.reshape(-1)[some] = limits
    return found


def find_upper_limits(counts: Floats, places: Floats, weights: Floats, levels: ArrayLike) -> Floats:
    """Find one-sided upper limits, as in :func:`find_lower_limits`; one of the places is 1."""
    limits: Floats = 1 - find_lower_limits(counts, 1 - places, weights, levels)
    return limits


def _search_limits(counts: Floats, places: Floats, weights: Floats, z: Floats) -> Floats:
    """Find the largest t that is rejected, by Newton steps within bounds; axis 0 is the rating."""
    mass, first = (weights * counts).sum(axis=0), (weights * places * counts).sum(axis=0)
    mean = np.divide(first, mass, out=np.zeros_like(mass), where=mass > 0)
    limit: Floats = np.zeros_like(mean)
    high = mean
    left = np.flatnonzero(mean > 0)
    spread = np.sqrt((weights**2 * counts).sum(axis=0))[left] / mass[left]
    t, share = mean[left] / (1 + z[left] * spread), np.full(len(left), 0.5)
    for _ in range(_MOST_ROUNDS):
        evidence, slope, share = _score_test(counts[:, left], places, weights[:, left], t, share)
        rejected = evidence >= z[left]
        limit[left] = np.where(rejected, t, limit[left])
        high[left] = np.where(rejected, high[left], t)
        aim = evidence - z[left] - _AIM
        margin = mean[left] - limit[left]
        open_ = (np.abs(aim) >= _AIM) & (high[left] - limit[left] > _AIM * margin)
        if not open_.any():
            break
        left, t, share = left[open_], (t + aim / slope)[open_], share[open_]
        inside = (t > limit[left]) & (t < high[left])
        t = np.where(inside, t, (limit[left] + high[left]) / 2)
    return limit


def _score_test(
    counts: Floats, places: Floats, weights: Floats, t: Floats, share: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the normal score of the test of t, its slope (negated), and σ to start the next t.

    σ is found as a ``share`` of the largest one for which all logarithms exist. The derivative of
    Σ log(1 + σ y) has a pole there, which a factor removes.
    """
    y = weights * (places - t)
    least = -y.min(axis=0)
    y /= least
    low, high = np.zeros_like(t), np.ones_like(t)
    for _ in range(_MOST_STEPS):
        rate = y / (1 + share * y)
        spare = 1 - share
        rise = (counts * rate).sum(axis=0) - 1 / spare
        bend = (counts * rate * rate).sum(axis=0) + 1 / spare**2
        low, high = np.where(rise > 0, share, low), np.where(rise > 0, high, share)
        moved = share + spare * rise / (spare * bend + rise)
        moved = np.where((moved >= low) & (moved <= high), moved, (low + high) / 2)
        if (np.abs(moved - share) <= _CLOSE * np.minimum(share, spare) + _NEAR).all():
            break
        share = moved
    log_ratio = (counts * np.log1p(share * y)).sum(axis=0) + np.log1p(-share)
    r = np.sqrt(2 * np.maximum(log_ratio, 0.0))
    likely = r < _WEAK  # t is near the mean, and not rejected at any level of interest
    r = np.maximum(r, _WEAK)
    score = np.where(likely, 0.0, r + np.log(share * np.sqrt(bend) / r) / r)
    nearest = np.where(y <= -1, weights, 0.0).max(axis=0)
    falls = (counts * weights / (1 + share * y)).sum(axis=0) + nearest / (1 - share)
    return score, share * falls / (least * r), share
