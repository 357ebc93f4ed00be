"""Does the response rate itself refute the assumption? An exact binomial test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincinv

from unheard.core.columns import Floats
from unheard.core.counts import Counts
from unheard.core.participation import Participation


@dataclass(frozen=True, eq=False)
class Response:
    """What a known number of people says about participation.

    Attributes
    ----------
    rate
        Ratings seen per person.
    q_allowed
        The largest least-participation that the test does not refute.
    p_value
        Probability of a response rate as far out as this one under the assumption at its most
        favourable; small values refute it.
    too_low, too_high
        Whether the rate lies outside what the assumption allows, be it by chance.
    refuted
        Whether chance is ruled out at the level of the confidence interval.
    """

    rate: Floats
    q_allowed: Floats
    p_value: Floats
    too_low: np.ndarray[tuple[int], np.dtype[np.bool_]]
    too_high: np.ndarray[tuple[int], np.dtype[np.bool_]]
    refuted: np.ndarray[tuple[int], np.dtype[np.bool_]]


def response(counts: Counts, assumption: Participation, level: float) -> Response:
    """Test the assumption against the response rate; ``counts.n`` must be known."""
    assert counts.n is not None  # the caller asks only where n is known
    seen, n = counts.n_ratings, counts.n
    lightest, heaviest = _people_implied(counts, assumption)
    slack = 1e-12 * n
    # Known participation never fits n to the person; only the test can tell.
    exact = assumption.kind == "known"
    too_low = np.zeros(len(n), bool) if exact else n > heaviest + slack
    too_high = np.zeros(len(n), bool) if exact else n < lightest - slack

    if counts.effective is not None:
        factor = np.divide(counts.effective, seen, out=np.zeros(len(n)), where=seen > 0)
        seen, n = seen * factor, n * factor
    # An incomplete beta function is the binomial tail, and takes effective sizes as well.
    unseen = n - seen
    below = np.ones(len(n))
    silent = unseen > 0
    below[silent] = betainc(unseen, seen + 1, 1 - assumption.least)[silent]
    above = np.ones(len(n))
    if assumption.largest < 1:
        vocal = seen > 0
        above[vocal] = betainc(seen, unseen + 1, assumption.largest)[vocal]
    p_value = np.minimum(below, above)
    allowed = np.ones(len(n))
    allowed[silent] = betaincinv((seen + 1)[silent], unseen[silent], level)
    rate = np.divide(counts.n_ratings, counts.n, out=np.zeros(len(n)), where=counts.n > 0)
    return Response(rate, allowed, p_value, too_low, too_high, p_value < 1 - level)


def _people_implied(counts: Counts, assumption: Participation) -> tuple[Floats, Floats]:
    """How many people, at least and at most, the ratings seen can stand for."""
    m = counts.scale.m
    if assumption.q is None:
        fewest = 1 / np.asarray(assumption.hi)
        most = 1 / np.asarray(assumption.lo)
        return counts.cells @ fewest, counts.cells @ most
    seen = counts.n_ratings
    if assumption.kind == "middle":
        inner = counts.cells[:, 1 : m - 1].sum(axis=1, dtype=np.float64)
        return seen, seen + inner * (1 / assumption.q - 1)
    return seen, seen / assumption.q
