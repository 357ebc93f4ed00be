"""Does the response rate itself refute the assumption? An exact binomial test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from unheard.core.columns import Floats
from unheard.core.counts import Counts
from unheard.core.participation import Participation

Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Response:
    """What a known number of people says about participation.

    Attributes
    ----------
    rate
        Share of the people who answered.
    seen, unseen
        Number of people who answered and who did not, of those whom the test is about: everybody,
        for ``middle`` those between the ends. In effective size for weighted counts.
    least, largest
        Smallest and largest participation that the assumption allows any rating.
    level
        Level of the test.
    too_low, too_high
        Whether fewer (more) people answered than the assumption allows, be it by chance.
    """

    rate: Floats
    seen: Floats
    unseen: Floats
    least: Floats
    largest: float
    level: float
    too_low: Mask
    too_high: Mask

    @cached_property
    def p_value(self) -> Floats:
        """Probability of a rate as far out as this, under the assumption at its most lenient."""
        return self._p_values(np.ones(self.seen.shape, bool))

    @cached_property
    def refuted(self) -> Mask:
        """Whether chance is ruled out at the level."""
        n = self.seen + self.unseen
        outside = (self.seen < self.least * n) | (self.seen > self.largest * n)
        refuted = np.zeros(n.shape, bool)
        refuted[outside] = self._p_values(outside) < 1 - self.level
        return refuted

    @cached_property
    def q_allowed(self) -> Floats:
        """The largest least-participation that the test does not refute."""
        allowed = np.ones(self.seen.shape)
        silent = self.unseen > 0
        allowed[silent] = betaincinv(self.seen[silent] + 1, self.unseen[silent], self.level)
        return allowed

    def _p_values(self, rows: Mask) -> Floats:
        # An incomplete beta function is the binomial tail, and takes effective sizes as well.
        seen, unseen = self.seen[rows], self.unseen[rows]
        least = np.broadcast_to(self.least, self.seen.shape)[rows]
        # The function wants positive arguments; with nobody silent (seen) the tail is certain.
        below = np.where(unseen > 0, betainc(np.maximum(unseen, 1e-300), seen + 1, 1 - least), 1.0)
        above = np.where(seen > 0, betainc(np.maximum(seen, 1e-300), unseen + 1, self.largest), 1.0)
        return np.minimum(below, above)


def response(counts: Counts, assumption: Participation, level: float) -> Response:
    """Set the response rate against the assumption; ``counts.n`` must be known."""
    assert counts.n is not None  # the caller asks only where n is known
    seen, n = counts.n_ratings, counts.n
    fewest, most = _people_implied(counts, assumption)
    # Known participation never fits n to the person; only the test can tell.
    slack = np.where(assumption.kind == "known", np.inf, 1e-12 * n)
    too_low, too_high = n > most + slack, n < fewest - slack
    if counts.effective is not None:
        share = np.divide(counts.effective, seen, out=np.ones(len(n)), where=seen > 0)
        seen, n = seen * share, n * share
    # Sums of weights may exceed n by rounding.
    unseen = np.maximum(n - seen, 0.0)
    rate = np.divide(seen, n, out=np.zeros(len(n)), where=n > 0)
    if assumption.kind == "middle":
        # Everybody at the two ends is seen, so the test is about the people between them.
        inner = counts.n_ratings - _at_the_ends(counts)
        seen = np.divide(seen * inner, counts.n_ratings, out=inner, where=counts.n_ratings > 0)
    return Response(
        rate, seen, unseen, assumption.least, assumption.largest, level, too_low, too_high
    )


def _people_implied(counts: Counts, assumption: Participation) -> tuple[Floats, Floats]:
    """How many people, at least and at most, the ratings seen can stand for."""
    if assumption.q is None:
        return (
            np.asarray(counts.cells @ (1 / np.asarray(assumption.hi))),
            np.asarray(counts.cells @ (1 / np.asarray(assumption.lo))),
        )
    seen = counts.n_ratings
    if assumption.kind == "middle":
        loud = _at_the_ends(counts)
        return seen, loud + (seen - loud) / assumption.q
    return seen, seen / assumption.q


def _at_the_ends(counts: Counts) -> Floats:
    return np.asarray(counts.cells[:, 0].astype(np.float64) + counts.cells[:, -1])
