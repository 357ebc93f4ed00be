"""Fit what an audit of several items says about others; see :mod:`unheard.formulas.pooling`.

The model: the people of an item have ratings drawn from p, and p varies over items with a Dirichlet
distribution. A person with rating r responds with probability logistic(b_r + a), where a, the
random effect of the item, has a normal distribution. The model is fitted to the audited items by
maximum likelihood. Only its means, variances and covariances over items are used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from scipy.special import chdtri, digamma, expit, gammaln, logit, logsumexp

from unheard.formulas.operations import NUMPY, Floats
from unheard.formulas.pooling import (
    NonrespondentPool,
    Pool,
    RespondentPool,
    measure_unlikeness_with_n,
    measure_unlikeness_without_n,
    predict_mean_with_n,
    predict_mean_without_n,
    predict_nonrespondent_mean,
)

FEWEST_POOLED_ITEMS = 10
"""An audit of fewer items says too little about the variation between items."""

_FOLDS = 10
_DRAWS = 20_000
_NODES = 15
_MOST_ERRORS = 1000
_MANY = 1e6
_UNLIKELY = 0.05
_LARGEST_LOG = 12.0
_WEAK = 3.0
"""Prior standard deviation of b_r, which regularizes ratings that hardly occur."""

Fitted = TypeVar("Fitted", RespondentPool, NonrespondentPool)


def fit_pool(observed: Floats, truth: Floats, values: Floats, *, paired: bool) -> Pool | None:
    """Fit the pool of an audit and cross-validate it; return None if there are too few items."""
    some = truth.sum(axis=1) > 0
    observed, truth = observed[some], truth[some]
    if len(truth) < FEWEST_POOLED_ITEMS:
        return None

    def fit_nonrespondents(o: Floats, t: Floats) -> NonrespondentPool:
        return _fit_with_n(o, t, values)

    means = truth @ values / truth.sum(axis=1)
    seen = _fit_with_validation(
        _fit_without_n,
        _predict_without_n,
        _standardize_errors_without_n,
        observed,
        truth,
        values,
        means,
    )
    rated = observed[observed.sum(axis=1) > 0]
    unlike = measure_unlikeness_without_n(list(rated.T), values.tolist(), seen, NUMPY)
    seen = replace(seen, farthest=_find_unlikeness_limit(unlike, 1))
    if not paired:
        return Pool(seen, None)
    known = _fit_with_validation(
        fit_nonrespondents,
        _predict_with_n,
        _standardize_errors_with_n,
        observed,
        truth,
        values,
        means,
    )
    people = truth.sum(axis=1)
    unlike = measure_unlikeness_with_n(list(observed.T), values.tolist(), people, known, NUMPY)
    return Pool(seen, replace(known, farthest=_find_unlikeness_limit(unlike, len(values))))


def _find_unlikeness_limit(unlike: Floats, ways: int) -> float:
    """Return the unlikeness that most audited items do not exceed; above it, items get a note."""
    return max(float(np.quantile(unlike, 1 - _UNLIKELY)), float(chdtri(ways, _UNLIKELY)))


def _fit_with_validation(
    fit: Callable[[Floats, Floats], Fitted],
    predict: Callable[[Fitted, Floats, Floats, Floats], Floats],
    standardize_errors: Callable[[Fitted, Floats, Floats, Floats, Floats], Floats],
    observed: Floats,
    truth: Floats,
    values: Floats,
    means: Floats,
) -> Fitted:
    """Fit to all items, and add the errors on each fold of items when fitted to the others."""
    items = len(truth)
    fold = np.random.default_rng(0).permutation(items) % _FOLDS
    parts = [fit(observed[fold != k], truth[fold != k]) for k in range(_FOLDS)]
    doubt = _compute_jackknife_variance([predict(part, observed, truth, values) for part in parts])
    errors = np.empty(items)
    for k, part in enumerate(parts):
        held = fold == k
        fitted = replace(part, doubt=doubt)
        errors[held] = standardize_errors(fitted, observed[held], truth[held], values, means[held])
    errors.sort()
    if items > _MOST_ERRORS:
        errors = errors[np.linspace(0, items - 1, _MOST_ERRORS).round().astype(int)]
    return replace(fit(observed, truth), doubt=doubt, errors=tuple(errors.tolist()))


def _compute_jackknife_variance(predictions: list[Floats]) -> float:
    """Return the variance of a prediction over possible audits, by the jackknife."""
    spread = np.array(predictions) - np.mean(predictions, axis=0)
    return float((len(predictions) - 1) / len(predictions) * (spread**2).sum(axis=0).mean())


def _predict_without_n(
    pool: RespondentPool, observed: Floats, truth: Floats, values: Floats
) -> Floats:
    """Predict the means of infinitely large items, whose error further ratings do not reduce."""
    many = list((observed + 1e-9).T * (_MANY / (observed.sum(axis=1) + 1e-9)))
    return np.asarray(predict_mean_without_n(many, values.tolist(), pool, NUMPY)[0])


def _predict_with_n(
    pool: NonrespondentPool, observed: Floats, truth: Floats, values: Floats
) -> Floats:
    """Predict the means of the non-respondents of infinitely large items."""
    n = truth.sum(axis=1)
    many = list(observed.T * (_MANY / n))
    means, _ = predict_nonrespondent_mean(
        many, values.tolist(), np.full(len(n), _MANY), pool, NUMPY
    )
    return np.asarray(means)


def _standardize_errors_without_n(
    pool: RespondentPool, observed: Floats, truth: Floats, values: Floats, means: Floats
) -> Floats:
    estimate, square = predict_mean_without_n(list(observed.T), values.tolist(), pool, NUMPY)
    return np.asarray(np.abs(means - estimate) / np.sqrt(square))


def _standardize_errors_with_n(
    pool: NonrespondentPool, observed: Floats, truth: Floats, values: Floats, means: Floats
) -> Floats:
    n = truth.sum(axis=1)
    estimate, square = predict_mean_with_n(list(observed.T), values.tolist(), n, pool, NUMPY)
    # Where everybody responded, there is no error.
    away = np.abs(means - estimate)
    return np.asarray(np.divide(away, np.sqrt(square), out=np.zeros(len(n)), where=square > 0))


def _fit_without_n(observed: Floats, truth: Floats) -> RespondentPool:
    responded, audited = observed.sum(axis=0), truth.sum(axis=0)
    # Half a person more on both sides keeps the ratio finite and positive, whatever the counts.
    stands = (audited + 0.5) / (responded + 0.5)
    pseudo = fit_dirichlet(observed[observed.sum(axis=1) > 0])
    return RespondentPool(
        tuple(pseudo.tolist()), tuple((stands / stands.min()).tolist()), 0.0, (), 0.0
    )


def _fit_with_n(observed: Floats, truth: Floats, values: Floats) -> NonrespondentPool:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(fit_dirichlet(truth), _DRAWS)
    log_odds, spread = fit_participation(observed, truth)
    g = expit(log_odds + spread * rng.standard_normal((_DRAWS, 1)))
    shares, unseen = p * g, p * (1 - g)
    unseen /= unseen.sum(axis=1, keepdims=True)
    nonrespondent_means = unseen @ values
    error = np.diag(shares.mean(axis=0)) - shares.T @ shares / _DRAWS
    around = shares - shares.mean(axis=0)
    strengths, modes = _decorrelate_shares(around.T @ around / _DRAWS, error)
    gains = modes.T @ (around.T @ (nonrespondent_means - nonrespondent_means.mean())) / _DRAWS
    return NonrespondentPool(
        mean=float(nonrespondent_means.mean()),
        variance=float(nonrespondent_means.var()),
        within=float((unseen @ values**2 - nonrespondent_means**2).mean()),
        people=float((p @ values**2 - (p @ values) ** 2).mean()),
        spread=spread,
        shares=tuple(shares.mean(axis=0).tolist()),
        modes=tuple(tuple(mode) for mode in modes.T.tolist()),
        strengths=tuple(np.maximum(strengths, 0.0).tolist()),
        gains=tuple(gains.tolist()),
        doubt=0.0,
        errors=(),
        farthest=0.0,
    )


def _decorrelate_shares(between: Floats, error: Floats) -> tuple[Floats, Floats]:
    """Return combinations of shares uncorrelated both between items and in their sampling error."""
    from scipy.linalg import eigh

    # A rating that never occurs has no sampling error; a trace of it keeps the system solvable.
    floor = 1e-9 * np.trace(error) / len(error)
    strengths, modes = eigh(between, error + floor * np.eye(len(error)))
    return np.asarray(strengths), np.asarray(modes)


def fit_dirichlet(counts: Floats) -> Floats:
    """Fit the Dirichlet distribution of rating distributions over items [M00].

    Parameters
    ----------
    counts
        One histogram per item, in rows.

    Returns
    -------
    Floats
        The parameters with the largest likelihood.
    """
    from scipy.optimize import minimize

    sizes = counts.sum(axis=1)

    def loss(logs: Floats) -> tuple[float, Floats]:
        a = np.exp(logs)
        whole = a.sum()
        value = (gammaln(whole) - gammaln(whole + sizes)).sum()
        value += (gammaln(a + counts) - gammaln(a)).sum()
        slope = (digamma(whole) - digamma(whole + sizes)).sum()
        slope = slope + (digamma(a + counts) - digamma(a)).sum(axis=0)
        # Without a prior, items that do not seem to differ would be fitted as all equal: a flat
        # prior on the correlation 1/(1 + whole) of two people of one item.
        value += np.log(whole) - 2 * np.log1p(whole)
        slope = slope + 1 / whole - 2 / (1 + whole)
        return -value, -slope * a

    start = np.log((counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5) * 10)
    bounds = [(-_LARGEST_LOG, _LARGEST_LOG)] * len(start)
    found = minimize(loss, np.clip(start, -8, 8), jac=True, method="L-BFGS-B", bounds=bounds)
    return np.exp(np.asarray(found.x))


def fit_participation(observed: Floats, truth: Floats) -> tuple[Floats, float]:
    """Fit participation per rating, and how much it varies between items.

    Parameters
    ----------
    observed, truth
        Counts of respondents, and of everybody; one row per item.

    Returns
    -------
    tuple
        The log-odds of responding per rating, for the median item, and their standard deviation
        over items.
    """
    from scipy.optimize import minimize

    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    log_weights = np.log(weights / weights.sum())[:, None]
    center = logit((observed.sum() + 0.5) / (truth.sum() + 1))

    def loss(parameters: Floats) -> tuple[float, Floats]:
        log_odds, spread = parameters[:-1], np.exp(parameters[-1])
        odds = log_odds + spread * nodes[:, None]
        # One row per node, one column per item.
        fit = odds @ observed.T - np.logaddexp(0, odds) @ truth.T + log_weights
        whole = logsumexp(fit, axis=0)
        likely = np.exp(fit - whole)
        shares = expit(odds)
        by_rating = likely.sum(axis=0) @ observed - ((likely @ truth) * shares).sum(axis=0)
        by_node = likely @ observed.sum(axis=1) - ((likely @ truth) * shares).sum(axis=1)
        pull = (log_odds - center) / _WEAK**2
        # The prior on the spread rules out zero [C13].
        value = -whole.sum() + (pull * (log_odds - center)).sum() / 2 - np.log(spread)
        return value, np.append(pull - by_rating, -spread * (nodes @ by_node) - 1)

    start = logit((observed.sum(axis=0) + 0.5) / (truth.sum(axis=0) + 1))
    bounds = [(-30.0, 30.0)] * len(start) + [(-8.0, 3.0)]
    found = minimize(loss, np.append(start, -0.5), jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x[:-1]), float(np.exp(found.x[-1]))
