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
_UNKNOWN = 1e6


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
    tail = (1 - alone[0].level) / (2 * alone[0].scale.m)
    places, variances = _place(alone, relative, tail)
    change = _find_change(places, variances)
    cuts = [0, len(alone)] if change is None else [0, change.window, len(alone)]
    parts = [slice(a, b) for a, b in pairwise(cuts)]
    step = _choose_step([(places[part], variances[part]) for part in parts])
    smooth = [_smooth(places[part], variances[part], step) for part in parts]
    means, spreads = (np.concatenate(both) for both in zip(*smooth, strict=True))
    away = -ndtri(tail) * np.sqrt(spreads)
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


def _place(alone: Sequence[Participation], relative: bool, tail: float) -> tuple[Floats, Floats]:
    """Return what each window says per rating, as log-odds (or logs), and its variance.

    The variance is what makes the longer side of the box; where the box is open, it is unknown.
    """

    def line(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(x) if relative else logit(np.minimum(x, 1.0)))

    places = line(np.array([one.g for one in alone]))
    lower, upper = (
        line(np.array([getattr(one, name) for one in alone])) for name in ("g_lower", "g_upper")
    )
    sides = np.maximum(upper - places, places - lower) / -ndtri(tail)
    open_end = ~np.isfinite(sides) | (lower <= line(np.array(2 * LEAST_PARTICIPATION)))
    known = np.isfinite(places)
    middle = float(np.median(places[known])) if known.any() else 0.0
    variances = np.where(open_end | ~known, _UNKNOWN, np.maximum(np.nan_to_num(sides) ** 2, 1e-9))
    return np.where(known, places, middle), variances


def _return(x: Floats, relative: bool) -> Floats:
    return np.asarray(np.exp(x) if relative else expit(x))


def _find_change(places: Floats, variances: Floats) -> Change | None:
    """Find where participation before and after differs most, and whether by more than chance."""
    weights = 1 / variances
    before, after = np.cumsum(weights, axis=0), np.cumsum(weights[::-1], axis=0)[::-1]
    sums = np.cumsum(weights * places, axis=0)
    rest = np.cumsum((weights * places)[::-1], axis=0)[::-1]
    differ = sums[:-1] / before[:-1] - rest[1:] / after[1:]
    statistics = (differ**2 / (1 / before[:-1] + 1 / after[1:])).sum(axis=1)
    at = int(np.argmax(statistics))
    p = min(1.0, float(chdtrc(places.shape[1], statistics[at])) * len(statistics))
    return Change(at + 1, p) if p < CHANGE_LEVEL else None


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
        sentences.append("Otherwise it does not move by more than chance.")
    return sentences
