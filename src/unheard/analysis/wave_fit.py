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

Items may differ in how readily people respond: an item adds a normal effect of its own to all
log-odds. Then the readiest items lack in later requests, and people seem to become more reluctant
than they do. So the cells are averages over items, by quadrature; only their standard deviation
counts, which :func:`find_spread` takes from how much the items' numbers of responses scatter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
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

_AWAY = (-2.0, 2.0)
"""How far from the best levels of requests other peaks of the likelihood are looked for."""

_FEW = 500
"""With fewer responses than this, the likelihood may have several peaks within the limits."""

_CLOSE = 1e-3
"""How closely limits are found, in log-odds."""

_NODES = 11
"""Points at which the effects of items are averaged."""

_LARGEST_SPREAD = 4.0
"""Largest standard deviation of the effects of items considered."""


@dataclass(frozen=True)
class _Shape:
    """What the cells are: whether those who never respond are one, and the effects of items.

    Attributes
    ----------
    known
        Whether the number of people is known.
    shifts, log_shares
        Effects that items have, and the log of the share of the items that have them.
    """

    known: bool
    shifts: Floats
    log_shares: Floats

    @classmethod
    def of(cls, known: bool, spread: float) -> _Shape:
        if not spread:
            return cls(known, np.zeros(1), np.zeros(1))
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        return cls(known, spread * nodes, np.log(weights / weights.sum()))

    def count_free(self, a: Floats) -> int:
        """Return how many of the levels are free."""
        return len(a) - 1 if self.known else 0

    def trace(self, a: Floats, b: Floats) -> _Paths:
        """Follow people through the requests."""
        odds = a[:, None] + b + self.shifts[:, None, None]
        stays = log_expit(-odds)
        logs = np.cumsum(stays, axis=1) - stays + log_expit(odds) + self.log_shares[:, None, None]
        silent = stays.sum(axis=1) + self.log_shares[:, None]
        return _Paths(expit(odds), logs, silent)

    def find_log_means(self, a: Floats, b: Floats, log_people: Floats) -> Floats:
        """Return the log of the number expected in each cell."""
        paths = self.trace(a, b)
        logs: Floats = (log_people + np.logaddexp.reduce(paths.logs)).ravel()
        if not self.known:
            return logs
        return np.append(logs, np.logaddexp.reduce(log_people + paths.log_silent))

    def differentiate(self, a: Floats, b: Floats, log_people: Floats) -> Floats:
        """Return the derivatives of the log-means (rows) by b, by a if it is free, log_people."""
        waves, m, free = len(a), len(b), self.count_free(a)
        paths = self.trace(a, b)
        responds, weights = paths.responds, paths.weights
        earlier = np.cumsum(responds, axis=1) - responds
        slopes = np.zeros((waves, m, 2 * m + free))
        each = np.arange(m)
        slopes[:, each, each] = (weights * (1 - responds - earlier)).sum(axis=0)
        slopes[:, each, m + free + each] = 1.0
        for k in range(1, 1 + free):
            slopes[k, :, m + k - 1] = (weights[:, k] * (1 - responds[:, k])).sum(axis=0)
            later = weights[:, k + 1 :] * responds[:, [k]]
            slopes[k + 1 :, :, m + k - 1] = -later.sum(axis=0)
        flat = slopes.reshape(waves * m, -1)
        if not self.known:
            return flat
        share = paths.share_silent(log_people)
        reluctant = paths.reluctant
        never = np.concatenate(
            (-share * reluctant.sum(axis=0), -(reluctant[1 : 1 + free] @ share), share)
        )
        return np.vstack((flat, never))

    def solve_effect(self, a: Floats, log_odds: float) -> float:
        """Find the effect with which people ever respond with these log-odds.

        Newton's method between bounds, on plain numbers: it is at the heart of every profile, and
        for two or three requests arrays would take ten times as long.
        """
        shares: list[float] = np.exp(self.log_shares).tolist()
        rows: list[list[float]] = (a + self.shifts[:, None]).tolist()
        low = -2 * FARTHEST - max(map(max, rows))
        high = 2 * FARTHEST - min(map(min, rows))
        b = min(max(log_odds - math.log(len(a)), low), high)
        for _ in range(60):
            # The log-odds of not responding to a request are x; log(1 + exp(-x)) without overflow.
            odds = [[-(level + b) for level in levels] for levels in rows]
            silent = [-sum(max(-x, 0.0) + math.log1p(math.exp(-abs(x))) for x in xs) for xs in odds]
            top = max(silent)
            stay = [share * math.exp(one - top) for share, one in zip(shares, silent, strict=True)]
            never = sum(stay)
            ever = -sum(share * math.expm1(one) for share, one in zip(shares, silent, strict=True))
            reluctant = sum(
                one * sum(1 / (1 + math.exp(x)) for x in xs)
                for one, xs in zip(stay, odds, strict=True)
            )
            miss = math.log(ever) - math.log(never) - top - log_odds
            fresh = b - miss * ever * never / reluctant
            if abs(fresh - b) < 1e-12:
                return fresh
            low, high = (b, high) if miss < 0 else (low, b)
            b = fresh if low < fresh < high else (low + high) / 2
        return b


@dataclass(frozen=True)
class _Paths:
    """How people come to respond, by effect of the item, request and rating.

    Attributes
    ----------
    responds
        Probability of responding to a request, if not before.
    logs, silent
        Log of the probability of responding to a request, and of never responding, with the share
        of the items that have the effect.
    """

    responds: Floats
    logs: Floats
    silent: Floats

    @property
    def log_silent(self) -> Floats:
        """Log of the probability of never responding, over all items."""
        return np.asarray(np.logaddexp.reduce(self.silent))

    @property
    def weights(self) -> Floats:
        """Share of each effect among those who respond to a request."""
        return np.asarray(np.exp(self.logs - np.logaddexp.reduce(self.logs)))

    @property
    def reluctant(self) -> Floats:
        """Probability of responding to each request for items like those of who never respond."""
        weights = np.exp(self.silent - self.log_silent)
        return np.asarray((weights[:, None] * self.responds).sum(axis=0))

    @property
    def log_odds(self) -> Floats:
        """Log-odds of ever responding, over all items."""
        silent = self.log_silent
        return np.asarray(np.log(-np.expm1(silent)) - silent)

    def share_silent(self, log_people: Floats) -> Floats:
        """Return the share of each rating among those who never respond."""
        logs = log_people + self.log_silent
        return np.asarray(np.exp(logs - np.logaddexp.reduce(logs)))


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
    spread
        Standard deviation of the effects of items.
    """

    counts: Floats
    unheard: float | None
    b: Floats
    a: Floats
    log_people: Floats
    log_likelihood: float
    spread: float = 0.0

    @property
    def shape(self) -> _Shape:
        """What the cells are."""
        return _Shape.of(self.unheard is not None, self.spread)

    @cached_property
    def paths(self) -> _Paths:
        """How people come to respond."""
        return self.shape.trace(self.a, self.b)

    @property
    def log_odds(self) -> Floats:
        """Log-odds of ever responding, by rating."""
        return self.paths.log_odds

    @cached_property
    def g(self) -> Floats:
        """Probability of ever responding, by rating."""
        return np.asarray(expit(self.log_odds))

    @cached_property
    def means(self) -> Floats:
        """Expected number in each cell: by request and rating, then those who never respond."""
        return np.exp(self.shape.find_log_means(self.a, self.b, self.log_people))

    @property
    def cells(self) -> Floats:
        """Observed number in each cell, in the order of ``means``."""
        return _list_cells(self.counts, self.unheard)

    @cached_property
    def jacobian(self) -> Floats:
        """Derivatives of the log-means (rows) by b, by a if it is free, and by log_people."""
        return self.shape.differentiate(self.a, self.b, self.log_people)

    @cached_property
    def gradient(self) -> Floats:
        """Derivatives of ``log_odds`` (rows) by the same parameters."""
        m, free = len(self.b), self.shape.count_free(self.a)
        slopes = np.zeros((m, 2 * m + free))
        slopes[:, :m] = np.diag(self.paths.reluctant.sum(axis=0) / self.g)
        slopes[:, m : m + free] = (self.paths.reluctant[1 : 1 + free] / self.g).T
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
        paths = self.paths
        pulls = np.zeros_like(self.counts)
        pulls[-1] = scores * (paths.weights[:, -1] * (1 - paths.responds[:, -1])).sum(axis=0)
        slopes = pulls.ravel()
        if self.unheard is not None:
            share = paths.share_silent(self.log_people)
            slopes = np.append(slopes, -(share * paths.reluctant[-1]) @ scores)
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
    start: WaveFit | None = None, spread: float = 0.0,
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
    spread
        Standard deviation of the effects of items.
    """
    shape = _Shape.of(unheard is not None, spread)
    a, b, log_people = (
        _guess(counts, unheard) if start is None else (start.a, start.b, start.log_people)
    )
    m, free = counts.shape[1], shape.count_free(a)
    cells = _list_cells(counts, unheard)
    enough = _ENOUGH if hold is None else _ENOUGH_FOR_LIMITS

    def place(x: Floats) -> tuple[Floats, Floats, Floats]:
        levels = np.concatenate(([0.0], x[m : m + free], np.zeros(len(a) - 1 - free)))
        effects = np.clip(x[:m], -FARTHEST, FARTHEST)
        if hold is not None:
            effects[hold[0]] = shape.solve_effect(levels, hold[1])
        return levels, effects, x[m + free :]

    def evaluate(at: tuple[Floats, Floats, Floats]) -> tuple[float, Floats]:
        logs = shape.find_log_means(*at)
        return float((cells * logs).sum() - np.exp(logs).sum()), logs

    x = np.concatenate((b, a[1 : 1 + free], log_people))
    at = place(x)
    value, logs = evaluate(at)
    damping = _DAMPING
    for _ in range(_STEPS):
        slopes = _hold(shape, at, hold)
        means = np.exp(logs)
        score = slopes.T @ (cells - means)
        information = (slopes.T * means) @ slopes
        scale = np.diag(information) + 1e-9
        gained = 0.0
        while damping < 1e12:
            move = np.linalg.solve(information + np.diag(damping * scale), score)
            # No step larger than a few units of log-odds.
            move *= min(1.0, 4.0 / max(np.abs(move).max(), 1e-300))
            there = place(x + move)
            better, other = evaluate(there)
            if better >= value:
                gained, value, logs = better - value, better, other
                x, at = x + move, there
                damping = max(damping / 10, 1e-10)
                break
            damping *= 10
        if gained < enough:
            break
    levels, effects, people = at
    return WaveFit(counts, unheard, effects, levels, people, value, spread)


def find_profile_limits(best: WaveFit, rating: int, drop: float) -> tuple[float, float]:
    """Return between which log-odds of ever responding the likelihood falls by at most ``drop``.

    Twice the fall of the log-likelihood is compared with ``drop``. An end that is not reached
    within what is considered is infinite.
    """
    middle = float(np.clip(best.log_odds[rating], -FARTHEST, FARTHEST))
    spread = float(np.sqrt(best.covariance[rating, rating]))
    step = float(np.clip(spread * np.sqrt(drop), 0.05, 4.0)) if np.isfinite(spread) else 1.0

    several_peaks = best.unheard is not None and best.counts.sum() < _FEW
    elsewhere = [
        replace(best, a=np.append(0.0, best.a[1:] + far)) for far in _AWAY if several_peaks
    ]

    def fall(t: float, at: WaveFit) -> tuple[float, WaveFit]:
        # A value is ruled out if no start leads to a fit that is likely enough.
        found = []
        for start in (at, best, *elsewhere):
            fit = fit_waves(best.counts, best.unheard, (rating, t), start, best.spread)
            found.append((2 * (best.log_likelihood - fit.log_likelihood) - drop, fit))
            if found[-1][0] <= 0:
                break
        return min(found, key=lambda pair: pair[0])

    def search(sign: int) -> float:
        if fall(sign * FARTHEST, best)[0] <= 0:
            return sign * np.inf
        near, at, short, stride = middle, best, -drop, step
        while True:
            far = sign * min(sign * near + stride, FARTHEST)
            over, there = fall(far, at)
            if over > 0:
                break
            if abs(far) == FARTHEST:
                return sign * np.inf
            near, at, short, stride = far, there, over, stride * 1.6
        while abs(far - near) > _CLOSE:
            # Where a straight line would be 0, but never so near an end that the other stays.
            t = near + float(np.clip(short / (short - over), 0.1, 0.9)) * (far - near)
            value, there = fall(t, at)
            if value > 0:
                far, over = t, value
            else:
                near, at, short = t, there, value
        return far

    return search(-1), search(1)


def find_spread(fit: WaveFit, ever: Floats, people: Floats) -> float:
    """Find how much items differ: the standard deviation of their effects.

    Each item's people, estimated from its responses, are compared with its n. What their difference
    exceeds by chance is due to the item.

    Parameters
    ----------
    fit
        The model for all items together.
    ever
        Number of responses by item (rows) and rating.
    people
        Number of people of each item.
    """

    def excess(spread: float) -> float:
        at = fit_waves(fit.counts, fit.unheard, None, fit, spread)
        observed = float((((ever / at.g).sum(axis=1) - people) ** 2).sum())
        shape = at.shape
        share = np.exp(at.log_people - np.logaddexp.reduce(at.log_people))
        g = -np.expm1(at.paths.silent - shape.log_shares[:, None])
        chance = (share * g * (1 - g) / at.g**2).sum(axis=1)
        differs = (share * (g / at.g - 1)).sum(axis=1)
        due = people.sum() * chance + (people**2).sum() * differs**2
        return observed - float(np.exp(shape.log_shares) @ due)

    if excess(0.0) <= 0:
        return 0.0
    if excess(_LARGEST_SPREAD) >= 0:
        return _LARGEST_SPREAD
    return float(brentq(excess, 0.0, _LARGEST_SPREAD, xtol=1e-3))


def shift_participation(a: Floats, spread: float, log_odds: float, away: float) -> float:
    """Return participation for an item with an effect of its own.

    Parameters
    ----------
    a
        Level of each request.
    spread
        Standard deviation of the effects of items.
    log_odds
        Log-odds of ever responding, over all items.
    away
        The effect of the item.
    """
    b = _Shape.of(True, spread).solve_effect(a, log_odds)
    return float(-np.expm1(log_expit(-(a + b + away)).sum()))


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


def _list_cells(counts: Floats, unheard: float | None) -> Floats:
    return counts.ravel() if unheard is None else np.append(counts.ravel(), unheard)


def _hold(
    shape: _Shape, at: tuple[Floats, Floats, Floats], hold: tuple[int, float] | None
) -> Floats:
    """Return the derivatives of the log-means; a held rating's effect follows from the levels."""
    slopes = shape.differentiate(*at)
    if hold is None:
        return slopes
    a, b, _ = at
    r, m, free = hold[0], len(b), shape.count_free(a)
    reluctant = shape.trace(a, b[[r]]).reluctant[:, 0]
    follows = -reluctant[1 : 1 + free] / reluctant.sum()
    slopes[:, m : m + free] += slopes[:, [r]] * follows
    slopes[:, r] = 0.0
    return slopes
