"""What the response rate says about an assumption."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from unheard.formulas.operations import Floats
from unheard.formulas.refutation import ResponseTest
from unheard.model.assumption import Assumption
from unheard.model.histograms import Histograms

Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Response:
    """How the response rate compares with an assumption, one entry per item.

    Attributes
    ----------
    rate
        Share of the people who responded.
    seen, unseen
        Number of people who responded and who did not, in effective size for weighted counts.
    least, largest
        Smallest and largest participation that the assumption allows any rating.
    level
        Level of the test.
    too_low, too_high
        Whether fewer (more) people responded than the assumption allows, ignoring sampling error.
    refuted
        Whether sampling error is ruled out as the reason at the level.
    """

    rate: Floats
    seen: Floats
    unseen: Floats
    least: Floats
    largest: float
    level: float
    too_low: Mask
    too_high: Mask
    refuted: Mask

    @cached_property
    def p_value(self) -> Floats:
        """Largest probability that the assumption gives to a rate this extreme.

        It is exact; :attr:`refuted` uses an approximation that every engine can compute.
        """
        # The incomplete beta function is the binomial tail, and accepts effective sizes too.
        seen, unseen = self.seen, self.unseen
        least = np.broadcast_to(self.least, seen.shape)
        # The function requires positive arguments; if nobody is unseen (seen) the tail is 1.
        below = np.where(unseen > 0, betainc(np.maximum(unseen, 1e-300), seen + 1, 1 - least), 1.0)
        above = np.where(seen > 0, betainc(np.maximum(seen, 1e-300), unseen + 1, self.largest), 1.0)
        return np.minimum(below, above)

    @cached_property
    def largest_floor(self) -> Floats:
        """The largest floor that the test does not refute."""
        largest = np.ones(self.seen.shape)
        some = self.unseen > 0
        largest[some] = betaincinv(self.seen[some] + 1, self.unseen[some], self.level)
        return largest


def describe_response(
    counts: Histograms, assumption: Assumption, level: float, test: ResponseTest
) -> Response:
    """Describe how the response rate compares with an assumption; n must be known."""
    assert counts.n is not None  # the caller asks only where n is known
    seen, n = counts.n_ratings, counts.n
    if counts.size is not None:
        share = np.divide(counts.size, seen, out=np.ones(len(n)), where=seen > 0)
        seen, n = seen * share, n * share
    unseen = np.maximum(n - seen, 0.0)
    rate = np.divide(seen, n, out=np.zeros(len(n)), where=n > 0)
    return Response(
        rate,
        seen,
        unseen,
        assumption.least,
        assumption.largest,
        level,
        too_low=test.too_low > 0,
        too_high=test.too_high > 0,
        refuted=test.refuted > 0,
    )
