"""What a known number of people says about participation, over NumPy rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from unheard.formulas.boxes import boxes
from unheard.formulas.operations import NUMPY, Floats
from unheard.formulas.refutation import Limits, test_level, verdict
from unheard.model.assumption import Assumption, fixed_box
from unheard.model.histograms import Histograms

Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Response:
    """What a known number of people says about participation.

    Attributes
    ----------
    rate
        Share of the people who answered.
    seen, unseen
        Number of people who responded and who did not, in effective size for weighted counts.
    least, largest
        Smallest and largest participation that the assumption allows any rating.
    level
        Level of the test.
    too_low, too_high
        Whether fewer (more) people answered than the assumption allows, be it by chance.
    refuted
        Whether chance is ruled out at the level.
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
        """Probability of a rate as far out as this, under the assumption at its most lenient.

        Exact; :attr:`refuted` uses an approximation that every engine can compute.
        """
        # An incomplete beta function is the binomial tail, and takes effective sizes as well.
        seen, unseen = self.seen, self.unseen
        least = np.broadcast_to(self.least, seen.shape)
        # The function wants positive arguments; with nobody silent (seen) the tail is certain.
        below = np.where(unseen > 0, betainc(np.maximum(unseen, 1e-300), seen + 1, 1 - least), 1.0)
        above = np.where(seen > 0, betainc(np.maximum(seen, 1e-300), unseen + 1, self.largest), 1.0)
        return np.minimum(below, above)

    @cached_property
    def largest_floor(self) -> Floats:
        """The largest floor that the test does not refute."""
        allowed = np.ones(self.seen.shape)
        silent = self.unseen > 0
        allowed[silent] = betaincinv(self.seen[silent] + 1, self.unseen[silent], self.level)
        return allowed


def response(counts: Histograms, assumption: Assumption, level: float) -> Response:
    """Set the response rate against an assumption that it can refute; n must be known."""
    assert counts.n is not None  # the caller asks only where n is known
    assert not assumption.is_ratio
    seen, n = counts.n_ratings, counts.n
    cells = list(np.asarray(counts.cells.T, np.float64))
    if counts.size is not None:
        share = np.divide(counts.size, seen, out=np.ones(len(n)), where=seen > 0)
        cells, seen, n = [share * cell for cell in cells], seen * share, n * share
    fixed = fixed_box(assumption)
    limits = Limits(
        assumption.kind,
        None if fixed is None else boxes("box", assumption.q, fixed, counts.scale.m)[0],
        assumption.least,
        assumption.largest,
        test_level(level),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        found = verdict(cells, n, limits, NUMPY)
    unseen = np.maximum(n - seen, 0.0)
    rate = np.divide(seen, n, out=np.zeros(len(n)), where=n > 0)
    masks = (
        np.broadcast_to(np.asarray(one) > 0, n.shape)
        for one in (found.too_low, found.too_high, found.refuted)
    )
    return Response(rate, seen, unseen, assumption.least, assumption.largest, level, *masks)
