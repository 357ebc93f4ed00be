"""Pooled estimates: what an audit of several items says about another item of the same kind.

With n known, the mean rating of an item's non-respondents is predicted from the shares of people
who gave each rating: the best linear prediction, as in credibility theory [BS70] and linear Bayes
[H69]. It uses only means, variances and covariances over items, gives more weight to an item's own
ratings the larger n is, and has a closed form. Respondents count with the ratings they gave.

With n unknown, every item gets a few pseudo-ratings distributed as in the audited items, and each
rating then counts for the people that it stands for.

The audit itself tells how far such an estimate may be off: by the errors on audited items that it
was not fitted to, in units of the error that the formula expects (conformal prediction [VGS05]). So
the limits contain the means of the stated share of items if the audited ones were drawn at random,
whether or not the model behind the formula is right. They promise nothing about items unlike the
audited ones. Items whose ratings are more unusual than those of nearly all audited items get a
note.

docs/howto/choose-q.md has the derivation; :mod:`unheard.analysis.pool_fit` fits the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import stdtrit

from unheard.formulas.operations import Column, Operations, total, weighted_sum


@dataclass(frozen=True)
class NonrespondentPool:
    """How the mean of an item's non-respondents depends on the shares of people seen.

    Attributes
    ----------
    mean, variance
        Mean and variance over items of the non-respondents' mean rating.
    within
        Average variance of the ratings of one item's non-respondents.
    people
        Average variance of the ratings of all people of one item.
    spread
        Standard deviation over items of the log-odds of responding.
    shares
        Average share of people who gave each rating.
    modes
        Combinations of these shares that vary independently over items, each with a sampling
        variance of 1 for one person.
    strengths
        Variance of each combination over items, in units of one person's sampling variance.
    gains
        Covariance of each combination with the non-respondents' mean.
    doubt
        Variance of a prediction because the audit is a sample of items.
    errors
        Errors on audited items, in units of the expected error, in ascending order.
    farthest
        The unlikeness (:func:`measure_unlikeness_with_n`) that nearly all audited items stay below.
    """

    mean: float
    variance: float
    within: float
    people: float
    spread: float
    shares: tuple[float, ...]
    modes: tuple[tuple[float, ...], ...]
    strengths: tuple[float, ...]
    gains: tuple[float, ...]
    doubt: float
    errors: tuple[float, ...]
    farthest: float


@dataclass(frozen=True)
class RespondentPool:
    """The prior for an item's ratings.

    Attributes
    ----------
    pseudo
        Pseudo-ratings to add.
    stands
        How many people each rating stands for.
    doubt, errors, farthest
        As in :class:`NonrespondentPool`.
    """

    pseudo: tuple[float, ...]
    stands: tuple[float, ...]
    doubt: float
    errors: tuple[float, ...]
    farthest: float


@dataclass(frozen=True)
class Pool:
    """What an audit of several items says about others.

    Attributes
    ----------
    without_n
        Used if n is unknown.
    with_n
        Used if n is known; None if the audit was not of the same people.
    """

    without_n: RespondentPool
    with_n: NonrespondentPool | None


def error_quantile(errors: Sequence[float], level: float) -> float:
    """Return how many expected errors the limits span to contain the stated share of items."""
    rank = math.ceil((len(errors) + 1) * level)
    if rank <= len(errors):
        return errors[rank - 1]
    # Too few items were audited to read the quantile from them alone.
    return max(*errors, float(stdtrit(len(errors) - 1.0, (1 + level) / 2)))


def predict_mean_with_n(
    counts: Sequence[Column],
    values: Sequence[float],
    n: Column,
    pool: NonrespondentPool,
    ops: Operations,
) -> tuple[Column, Column]:
    """Return the predicted mean of the n people and the expected squared error."""
    mean, left = predict_nonrespondent_mean(counts, values, n, pool, ops)
    one = ops.divide(1.0, n)
    share = ops.greatest(1.0 - total(counts) * one, 0.0)
    estimate = weighted_sum(values, counts) * one + share * mean
    return estimate, share * share * (left + pool.doubt) + share * one * pool.within


def predict_nonrespondent_mean(
    counts: Sequence[Column],
    values: Sequence[float],
    n: Column,
    pool: NonrespondentPool,
    ops: Operations,
) -> tuple[Column, Column]:
    """Return the predicted mean of the non-respondents, and its variance given the ratings."""
    one = ops.divide(1.0, n)
    mean, explained = pool.mean, 0.0
    for mode, strength, gain in zip(pool.modes, pool.strengths, pool.gains, strict=True):
        trust = gain / (strength + one)
        mean = mean + (weighted_sum(mode, counts) * one - _center(mode, pool)) * trust
        explained = explained + gain * trust
    mean = ops.least(ops.greatest(mean, values[0]), values[-1])
    return mean, ops.greatest(pool.variance - explained, 0.0)


def predict_mean_without_n(
    counts: Sequence[Column], values: Sequence[float], pool: RespondentPool, ops: Operations
) -> tuple[Column, Column]:
    """Return the predicted mean of everybody and the expected squared error."""
    more = [c + extra for c, extra in zip(counts, pool.pseudo, strict=True)]
    people = [w * c for w, c in zip(pool.stands, more, strict=True)]
    mass = total(people)
    estimate = ops.divide(weighted_sum(values, people), mass)
    spread = total(
        [
            w * k * ((v - estimate) * (v - estimate))
            for w, k, v in zip(pool.stands, people, values, strict=True)
        ]
    )
    return estimate, ops.divide(spread, mass * mass) + pool.doubt


def measure_unlikeness_with_n(
    counts: Sequence[Column],
    values: Sequence[float],
    n: Column,
    pool: NonrespondentPool,
    ops: Operations,
) -> Column:
    """Return the squared distance of the shares of people seen from those of the audited items.

    It is in units of its expectation, which allows for how items differ and for n.
    """
    one = ops.divide(1.0, n)
    return total(
        [
            _squared(weighted_sum(mode, counts) * one - _center(mode, pool)) / (strength + one)
            for mode, strength in zip(pool.modes, pool.strengths, strict=True)
        ]
    )


def _center(mode: Sequence[float], pool: NonrespondentPool) -> float:
    return sum(a * b for a, b in zip(mode, pool.shares, strict=True))


def measure_unlikeness_without_n(
    counts: Sequence[Column], values: Sequence[float], pool: RespondentPool, ops: Operations
) -> Column:
    """Return the squared distance of the average from those of the audited items, standardised."""
    rated, weight = total(counts), sum(pool.pseudo)
    mean = sum(v * a for v, a in zip(values, pool.pseudo, strict=True)) / weight
    variance = sum(a * (v - mean) ** 2 for v, a in zip(values, pool.pseudo, strict=True)) / weight
    away = _squared(ops.divide(weighted_sum(values, counts), rated) - mean)
    expected = (variance / (weight + 1.0)) * (1.0 + ops.divide(weight, rated))
    return ops.divide(away, expected)


def _squared(column: Column) -> Column:
    return column * column
