"""Fit participation to waves of responses, by maximum likelihood.

The model ("stableness of resistance" [Alho90], [MLS21]): at request k, a person with rating r who
has not responded yet responds with log-odds a_k + b_r. The effect b of the rating is the same for
every request; the level a_k is not. With the number of people known, the numbers of responses by
rating and request, and the number of people who never respond, are the cells of a multinomial
distribution. It is fitted as a Poisson model with a free total, which has the same maximum.

Two requests identify the model with nothing to spare: with d = exp(a_1 - a_2), the odds of
responding to the first request are ``first/second - d``, and d is where the people add up to n.
Three requests or more can contradict it. Without the number of people, all requests are taken to be
equally effective (d = 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_expit

from unheard.formulas.operations import Floats

FARTHEST = 18.0
"""Largest log-odds considered, either way."""

_STEPS = 100
_ENOUGH = 1e-9
_ENOUGH_FOR_LIMITS = 1e-5
"""Gain of the log-likelihood below which a fit has converged."""
_DAMPING = 1e-4


@dataclass(frozen=True)
class WaveFit:
    """The model at its maximum, for the ratings that occur.

    Attributes
    ----------
    counts
        Number of responses by request (rows) and rating.
    unheard
        Number of people who never responded; None if unknown.
    b, a, log_people
        Effect of each rating; level of each request, 0 for the first; log of the number of people
        with each rating.
    log_likelihood
        Its value, up to a constant.
    """

    counts: Floats
    unheard: float | None
    b: Floats
    a: Floats
    log_people: Floats
    log_likelihood: float

    @cached_property
    def responds(self) -> Floats:
        """Probability of responding to each request (rows), by rating, if not before."""
        return np.asarray(expit(self.a[:, None] + self.b))

    @cached_property
    def log_odds(self) -> Floats:
        """Log-odds of ever responding, by rating."""
        return _find_log_odds(self.a, self.b)

    @cached_property
    def g(self) -> Floats:
        """Probability of ever responding, by rating."""
        return np.asarray(expit(self.log_odds))

    @cached_property
    def means(self) -> Floats:
        """Expected number in each cell: by request and rating, then those who never respond."""
        return np.exp(_find_log_means(self.a, self.b, self.log_people, self.unheard is not None))

    @property
    def cells(self) -> Floats:
        """Observed number in each cell, in the order of ``means``."""
        return _list_cells(self.counts, self.unheard)

    @cached_property
    def jacobian(self) -> Floats:
        """Derivatives of the log-means (rows) by b, by a if it is free, and by log_people."""
        return _differentiate(self.a, self.b, self.log_people, self.unheard is not None)

    @cached_property
    def gradient(self) -> Floats:
        """Derivatives of ``log_odds`` (rows) by the same parameters."""
        m, free = len(self.b), _count_free(self.a, self.unheard is not None)
        slopes = np.zeros((m, 2 * m + free))
        slopes[:, :m] = np.diag(self.responds.sum(axis=0) / self.g)
        slopes[:, m : m + free] = (self.responds[1 : 1 + free] / self.g).T
        return slopes

    @cached_property
    def influence(self) -> Floats:
        """Change of ``log_odds`` (columns) for one more person in each cell (rows)."""
        information = (self.jacobian.T * self.means) @ self.jacobian
        inverse = np.linalg.pinv(information, hermitian=True)
        return np.asarray(self.jacobian @ inverse @ self.gradient.T)

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of ``log_odds`` if people respond independently."""
        return np.asarray((self.influence.T * self.means) @ self.influence)

    def score_last_request(self, scores: Floats) -> float:
        """Return the score statistic of effects that change at the last request [Rao48].

        The change is in proportion to ``scores``, a number per rating. The statistic has one degree
        of freedom, and so finds such a change more often than ``misfit``.
        """
        last = self.responds[-1]
        pulls = np.zeros_like(self.counts)
        pulls[-1] = scores * (1 - last)
        slopes = pulls.ravel()
        if self.unheard is not None:
            stays = self.log_people + np.log1p(-self.responds).sum(axis=0)
            share = np.exp(stays - np.logaddexp.reduce(stays))
            slopes = np.append(slopes, -(share * last) @ scores)
        weighted = self.jacobian.T * self.means
        explained = np.linalg.pinv(weighted @ self.jacobian, hermitian=True) @ (weighted @ slopes)
        rest = slopes - self.jacobian @ explained
        variance = float(self.means @ rest**2)
        return float(rest @ (self.cells - self.means)) ** 2 / variance if variance > 1e-9 else 0.0

    @property
    def degrees(self) -> int:
        """Number of cells that the model could contradict."""
        waves, m = len(self.a), len(self.b)
        return (waves - 2) * (m if self.unheard is None else m - 1)

    @cached_property
    def misfit(self) -> float:
        """Pearson's statistic of the difference between cells and model."""
        return float(((self.cells - self.means) ** 2 / np.maximum(self.means, 1e-12)).sum())


def fit_waves(
    counts: Floats, unheard: float | None, hold: tuple[int, float] | None = None,
    start: WaveFit | None = None,
) -> WaveFit:  # fmt: skip
    """Fit the model.

    Parameters
    ----------
    counts
        Number of responses by request (rows) and rating; every rating occurs.
    unheard
        Number of people who never responded; None if unknown.
    hold
        A rating, by its place, and the log-odds of ever responding that it is to have.
    start
        A fit to begin from.
    """
    known = unheard is not None
    a, b, log_people = (
        _guess(counts, unheard) if start is None else (start.a, start.b, start.log_people)
    )
    m, free = counts.shape[1], _count_free(a, known)
    cells = _list_cells(counts, unheard)
    enough = _ENOUGH if hold is None else _ENOUGH_FOR_LIMITS

    def place(x: Floats) -> tuple[Floats, Floats, Floats]:
        levels = np.concatenate(([0.0], x[m : m + free], np.zeros(len(a) - 1 - free)))
        effects = np.clip(x[:m], -FARTHEST, FARTHEST)
        if hold is not None:
            effects[hold[0]] = _solve_effect(levels, hold[1])
        return levels, effects, x[m + free :]

    def evaluate(x: Floats) -> tuple[float, Floats]:
        logs = _find_log_means(*place(x), known)
        return float((cells * logs).sum() - np.exp(logs).sum()), logs

    x = np.concatenate((b, a[1 : 1 + free], log_people))
    value, logs = evaluate(x)
    damping = _DAMPING
    for _ in range(_STEPS):
        slopes = _hold(_differentiate(*place(x), known), place(x), hold, free)
        means = np.exp(logs)
        score = slopes.T @ (cells - means)
        information = (slopes.T * means) @ slopes
        scale = np.diag(information) + 1e-9
        gained = 0.0
        while damping < 1e12:
            move = np.linalg.solve(information + np.diag(damping * scale), score)
            # No step larger than a few units of log-odds.
            move *= min(1.0, 4.0 / max(np.abs(move).max(), 1e-300))
            better, other = evaluate(x + move)
            if better >= value:
                gained, x, value, logs = better - value, x + move, better, other
                damping = max(damping / 10, 1e-10)
                break
            damping *= 10
        if gained < enough:
            break
    levels, effects, people = place(x)
    return WaveFit(counts, unheard, effects, levels, people, value)


def find_profile_limits(best: WaveFit, rating: int, drop: float) -> tuple[float, float]:
    """Return between which log-odds of ever responding the likelihood falls by at most ``drop``.

    Twice the fall of the log-likelihood is compared with ``drop``. An end that is not reached
    within what is considered is infinite.
    """
    middle = float(np.clip(best.log_odds[rating], -FARTHEST, FARTHEST))
    spread = float(np.sqrt(best.covariance[rating, rating]))
    step = float(np.clip(spread * np.sqrt(drop), 0.05, 4.0)) if np.isfinite(spread) else 1.0

    def search(sign: int) -> float:
        at, near = best, middle

        def excess(t: float) -> float:
            nonlocal at
            at = fit_waves(best.counts, best.unheard, (rating, t), at)
            return 2 * (best.log_likelihood - at.log_likelihood) - drop

        if excess(sign * FARTHEST) <= 0:
            return sign * np.inf
        at, stride = best, step
        while True:
            far = near + sign * stride
            if abs(far) >= FARTHEST:
                far = sign * FARTHEST
                break
            if excess(far) > 0:
                break
            near, stride = far, stride * 1.6
        if near == middle:
            at = best
        return float(brentq(excess, near, far, xtol=1e-3)) if excess(near) < 0 else near

    return search(-1), search(1)


def _guess(counts: Floats, unheard: float | None) -> tuple[Floats, Floats, Floats]:
    """Solve the first two requests, with half a response more in each cell."""
    first, second = counts[0] + 0.5, counts[1] + 0.5
    ratio = first / second
    most = ratio.min()
    if unheard is None:
        d = min(1.0, 0.95 * most)
    else:
        people = counts.sum() + unheard

        def left(d: float) -> float:
            return float((first / (ratio - d)).sum() - (people - first.sum()))

        low, high = 1e-6 * most, (1 - 1e-6) * most
        d = high if left(high) < 0 else low if left(low) > 0 else float(brentq(left, low, high))
    b = np.clip(np.log(np.maximum(ratio - d, 1e-6)), -6, 6)
    a = np.zeros(len(counts))
    if unheard is not None:
        a[1:] = np.clip(-np.log(d), -4, 4)
    silent = np.exp(log_expit(-(a[:, None] + b)).sum(axis=0))
    return a, b, np.log((counts.sum(axis=0) + 0.5) / np.maximum(1 - silent, 1e-6))


def _count_free(a: Floats, known: bool) -> int:
    return len(a) - 1 if known else 0


def _list_cells(counts: Floats, unheard: float | None) -> Floats:
    return counts.ravel() if unheard is None else np.append(counts.ravel(), unheard)


def _find_log_means(a: Floats, b: Floats, log_people: Floats, known: bool) -> Floats:
    odds = a[:, None] + b
    stays = log_expit(-odds)
    before = np.cumsum(stays, axis=0) - stays
    logs = (log_people + before + log_expit(odds)).ravel()
    if not known:
        return logs
    return np.append(logs, np.logaddexp.reduce(log_people + stays.sum(axis=0)))


def _differentiate(a: Floats, b: Floats, log_people: Floats, known: bool) -> Floats:
    waves, m = len(a), len(b)
    free = _count_free(a, known)
    responds = expit(a[:, None] + b)
    earlier = np.cumsum(responds, axis=0) - responds
    slopes = np.zeros((waves, m, 2 * m + free))
    each = np.arange(m)
    slopes[:, each, each] = 1 - responds - earlier
    slopes[:, each, m + free + each] = 1.0
    for k in range(1, 1 + free):
        slopes[k, :, m + k - 1] = 1 - responds[k]
        slopes[k + 1 :, :, m + k - 1] = -responds[k]
    flat = slopes.reshape(waves * m, -1)
    if not known:
        return flat
    logs = log_people + log_expit(-(a[:, None] + b)).sum(axis=0)
    share = np.exp(logs - np.logaddexp.reduce(logs))
    never = np.concatenate(
        (-share * responds.sum(axis=0), -(responds[1 : 1 + free] @ share), share)
    )
    return np.vstack((flat, never))


def _hold(
    slopes: Floats, at: tuple[Floats, Floats, Floats], hold: tuple[int, float] | None, free: int
) -> Floats:
    """Let the held rating's effect follow from the levels."""
    if hold is None:
        return slopes
    a, b, _ = at
    r, m = hold[0], len(b)
    responds = expit(a + b[r])
    slopes = slopes.copy()
    follows = -responds[1 : 1 + free] / responds.sum()
    slopes[:, m : m + free] += slopes[:, [r]] * follows
    slopes[:, r] = 0.0
    return slopes


def _find_log_odds(a: Floats, b: Floats) -> Floats:
    silent = log_expit(-(a[:, None] + b)).sum(axis=0)
    return np.asarray(np.log(-np.expm1(silent)) - silent)


def _solve_effect(a: Floats, log_odds: float) -> float:
    """Find the effect with which somebody ever responds with these log-odds.

    Newton's method between bounds, on plain numbers: it is at the heart of every profile, and for
    two or three requests arrays would take ten times as long.
    """
    levels: list[float] = a.tolist()
    low, high = -2 * FARTHEST - max(levels), 2 * FARTHEST - min(levels)
    b = min(max(log_odds - math.log(len(levels)), low), high)
    for _ in range(60):
        # The log-odds of not responding to a request are x; log(1 + exp(-x)) without overflow.
        xs = [-(level + b) for level in levels]
        silent = -sum(max(-x, 0.0) + math.log1p(math.exp(-abs(x))) for x in xs)
        miss = math.log(-math.expm1(silent)) - silent - log_odds
        slope = sum(1 / (1 + math.exp(x)) for x in xs) / -math.expm1(silent)
        fresh = b - miss / slope
        if abs(fresh - b) < 1e-12:
            return fresh
        low, high = (b, high) if miss < 0 else (low, b)
        b = fresh if low < fresh < high else (low + high) / 2
    return b
