"""Drift: participation that changes over time, window by window.

What each window says about the log-odds of responding is pooled with its neighbours by a random
walk: the more participation moves from window to window, the less is pooled. How much it moves is
estimated from all windows. A change that is too large for chance separates what comes before it
from what comes after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import chdtrc, expit, logit, ndtri

from unheard.analysis.participation import LEAST_PARTICIPATION, Participation, write_p_value
from unheard.errors import DataError
from unheard.formulas.operations import Floats
from unheard.model.results import Result
from unheard.text import plural

CHANGE_LEVEL = 0.05
"""Significance level of the test for a change."""

_STEPS = np.concatenate(([0.0], np.geomspace(0.01, 3.0, 60)))
_UNKNOWN = 1e4
"""Variance of the log-odds about which nothing is known."""

_NOTHING = 1e-11
"""Share of the largest variance below which another is none: the ratings then move together."""


@dataclass(frozen=True)
class Change:
    """A sudden change of participation.

    Attributes
    ----------
    window
        The first window after it, as a place among the windows.
    p
        p-value of the hypothesis that participation did not change there, allowing for all the
        places where it could have.
    """

    window: int
    p: float


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Result):
    """Participation over time.

    Attributes
    ----------
    windows
        First day of each window, and the day after its last.
    alone
        What each window says by itself.
    pooled
        The same, pooled with its neighbours.
    step
        Standard deviation of the change of the log-odds from one window to the next.
    change
        A sudden change; None if there is none.
    """

    windows: tuple[tuple[str, str], ...]
    alone: tuple[Participation, ...]
    pooled: tuple[Participation, ...]
    step: float
    change: Change | None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The finding, for a lay reader."""
        return tuple(_describe_drift(self))

    @property
    def words(self) -> str:
        """The sentences in one paragraph."""
        return " ".join(self.sentences)


def pool_windows(windows: Sequence[tuple[str, str]], alone: Sequence[Participation]) -> Drift:
    """Pool what consecutive windows say about participation.

    Parameters
    ----------
    windows
        First day of each window, and the day after its last, in order.
    alone
        What each window says by itself.
    """
    if len(alone) < 2:
        raise DataError(
            "window",
            problem="All responses are within one window",
            hint="Use a shorter {window}, or leave it out",
        )
    relative = alone[0].relative
    places, covariances, widening = _place(alone, relative)
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    change = _find_change(places, covariances, widening)
    cuts = [0, len(alone)] if change is None else [0, change.window, len(alone)]
    parts = [slice(a, b) for a, b in pairwise(cuts)]
    step = _choose_step([(places[part], variances[part]) for part in parts])
    smooth = [_smooth(places[part], variances[part], step) for part in parts]
    means, spreads = (np.concatenate(both) for both in zip(*smooth, strict=True))
    tail = (1 - alone[0].level) / (2 * alone[0].scale.m)
    away = -ndtri(tail) * widening * np.sqrt(spreads)
    lower, guess, upper = (_return(x, relative) for x in (means - away, means, means + away))
    pooled = tuple(
        replace(
            one,
            g=np.where(np.isnan(one.g), np.nan, guess[w]),
            g_lower=np.where(
                np.isnan(one.g), one.g_lower, np.maximum(lower[w], LEAST_PARTICIPATION)
            ),
            g_upper=np.where(np.isnan(one.g), one.g_upper, upper[w]),
        )
        for w, one in enumerate(alone)
    )
    return Drift(tuple(windows), tuple(alone), pooled, step, change)


def _place(alone: Sequence[Participation], relative: bool) -> tuple[Floats, Floats, Floats]:
    """Return what each window says, as log-odds (or logs) per rating, with its covariance.

    The third result is by how much boxes are wider than the covariance says, per rating: because
    windows are small, and the likelihood is skewed.
    """
    g = np.array([one.g for one in alone])
    places = np.log(g) if relative else logit(g)
    known = np.isfinite(places)
    middle = float(np.median(places[known])) if known.any() else 0.0
    covariances = np.array([one.find_covariance() for one in alone])
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    unknown = ~known | ~(variances < _UNKNOWN)
    covariances[unknown[:, :, None] | unknown[:, None, :]] = 0.0
    window, rating = np.nonzero(unknown)
    covariances[window, rating, rating] = _UNKNOWN
    boxes = np.array([one.find_box_errors() for one in alone])
    ratio = np.where(unknown | ~np.isfinite(boxes), 1.0, boxes / np.sqrt(variances))
    widening = np.maximum(np.median(ratio, axis=0), 1.0)
    return np.where(known, places, middle), covariances, widening


def _return(x: Floats, relative: bool) -> Floats:
    return np.asarray(np.exp(x) if relative else expit(x))


def _find_change(places: Floats, covariances: Floats, widening: Floats) -> Change | None:
    """Find where participation before and after differs most, and whether by more than chance."""
    weights = _invert(covariances * np.outer(widening, widening))
    pulls = np.einsum("wij,wj->wi", weights, places)
    statistics = [
        _compare(weights[:w], pulls[:w], weights[w:], pulls[w:]) for w in range(1, len(places))
    ]
    at = int(np.argmax(statistics))
    # Where log-odds lie on a line, fewer numbers than ratings can differ.
    free = int(np.linalg.matrix_rank(weights.sum(axis=0), rtol=_NOTHING, hermitian=True))
    p = min(1.0, float(chdtrc(free, statistics[at])) * len(statistics))
    return Change(at + 1, p) if p < CHANGE_LEVEL else None


def _invert(covariance: Floats) -> Floats:
    return np.asarray(np.linalg.pinv(covariance, rtol=_NOTHING, hermitian=True))


def _compare(weights: Floats, pulls: Floats, later: Floats, later_pulls: Floats) -> float:
    """Return the chi-squared statistic of the difference between windows and later ones."""
    spreads = [_invert(part.sum(axis=0)) for part in (weights, later)]
    means = [a @ b.sum(axis=0) for a, b in zip(spreads, (pulls, later_pulls), strict=True)]
    differ = means[0] - means[1]
    return float(differ @ _invert(spreads[0] + spreads[1]) @ differ)


def _choose_step(parts: Sequence[tuple[Floats, Floats]]) -> float:
    """Choose the step under which the windows are most likely."""
    likelihoods = [sum(_filter(*part, step**2)[0] for part in parts) for step in _STEPS]
    return float(_STEPS[int(np.argmax(likelihoods))])


def _filter(places: Floats, variances: Floats, step: float) -> tuple[float, Floats, Floats]:
    """Return the log-likelihood, and means and variances given the windows so far."""
    means, spreads = np.empty_like(places), np.empty_like(places)
    means[0], spreads[0] = places[0], variances[0]
    value = 0.0
    for w in range(1, len(places)):
        prior = spreads[w - 1] + step
        total = prior + variances[w]
        miss = places[w] - means[w - 1]
        value -= 0.5 * float((np.log(total) + miss**2 / total).sum())
        gain = prior / total
        means[w], spreads[w] = means[w - 1] + gain * miss, prior * (1 - gain)
    return value, means, spreads


def _smooth(places: Floats, variances: Floats, step: float) -> tuple[Floats, Floats]:
    """Return means and variances given all windows."""
    _, means, spreads = _filter(places, variances, step**2)
    for w in range(len(places) - 2, -1, -1):
        prior = spreads[w] + step**2
        back = spreads[w] / prior
        means[w] += back * (means[w + 1] - means[w])
        spreads[w] += back**2 * (spreads[w + 1] - prior)
    return means, spreads


def _describe_drift(found: Drift) -> list[str]:
    first, last = found.pooled[0].q, found.pooled[-1].q
    sentences = [
        f"The participation ratio goes from q = {first:.2g} in the first window to {last:.2g} in "
        f"the last, {plural(len(found.windows), 'window')} in all."
    ]
    if found.change is None:
        sentences.append("No sudden change stands out.")
    else:
        day = found.windows[found.change.window][0]
        sentences.append(
            f"Participation changes with the window that begins on {day} "
            f"({write_p_value(found.change.p)}): what comes before is not pooled with what comes "
            "after."
        )
    if found.step == 0:
        sentences.append("Otherwise it varies no more than chance allows.")
    return sentences
