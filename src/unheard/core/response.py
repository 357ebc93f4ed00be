"""Does the response rate itself refute the assumption? A binomial test.

Only an assumption about participation itself (a floor, bounds per rating, known g) can be refuted.
One about ratios holds at any response rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, ndtri

from unheard.core.columns import NUMPY, Column, Floats, Operations, total, weighted
from unheard.core.counts import Counts
from unheard.core.participation import Box, Participation, boxes, fixed_box

Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Verdict:
    """What the response rate says, as columns of 0 and 1.

    Attributes
    ----------
    too_low, too_high
        Whether fewer (more) people answered than the assumption allows, be it by chance.
    refuted
        Whether chance is ruled out at the level.
    """

    too_low: Column
    too_high: Column
    refuted: Column


@dataclass(frozen=True)
class Limits:
    """What an assumption says about the response rate, for all items.

    Attributes
    ----------
    kind, box
        As in :class:`unheard.core.formula.Setting`.
    least, largest
        Smallest and largest participation that any rating may have; a column if q is one.
    z
        One-sided critical value of the test.
    """

    kind: str
    box: Box | None
    least: Column
    largest: float
    z: float


def test_level(level: float) -> float:
    """Return the critical value of the one-sided test."""
    return float(ndtri(level))


def verdict(counts: Sequence[Column], n: Column, limits: Limits, ops: Operations) -> Verdict:
    """Set the response rate against the assumption; for every engine."""
    seen = total(counts)
    fewest, most = _people_implied(counts, limits)
    low = high = 0.0
    if limits.kind != "known":
        # Known participation never fits n to the person; only the test can tell.
        slack = 1e-12 * n
        low = ops.where(n > most + slack, 1.0, 0.0)
        high = ops.where(fewest - slack > n, 1.0, 0.0)
    # Sums of weights may exceed n by rounding.
    unseen = ops.greatest(n - seen, 0.0)
    refuted = _too_few(seen, unseen, limits.least, limits.z, ops)
    if limits.largest < 1:
        above = _too_few(unseen, seen, 1.0 - limits.largest, limits.z, ops)
        refuted = ops.greatest(refuted, above)
    return Verdict(low, high, refuted)


def _too_few(seen: Column, unseen: Column, share: Column, z: float, ops: Operations) -> Column:
    """Whether a binomial with probability ``share`` rules out so few seen: 1 or 0.

    The normal approximation of [PP68], right in the third digit of a p-value near 0.05 even for a
    handful of people, and made of nothing but logarithms: it runs where no incomplete beta
    function is at hand. Solved for the comparison, so that nothing is divided by zero.
    """
    n = seen + unseen
    rest = ops.greatest(1.0 - share, 1e-300)
    few, many = seen + 0.5, ops.greatest(unseen - 0.5, 0.5)
    away = few - n * share
    shift = (few + 1 / 6) - (n + 1 / 3) * share
    shift = shift + 0.02 * (rest / (few + 0.5) - share / (many + 0.5) + (rest - 0.5) / (n + 1.0))
    expected, other = ops.greatest(n * share, 1e-300), ops.greatest(n * rest, 1e-300)
    deviance = 2.0 * (few * ops.log(few / expected) + many * ops.log(many / other))
    far = shift * shift * deviance > (z * z) * (1.0 + 1.0 / (6.0 * n + 1e-300)) * (away * away)
    # The test is one-sided: with more seen than expected there is nothing to refute.
    # Around the expectation itself both sides of the comparison are rounding noise.
    below = ops.where(away < -0.01, ops.where(shift < 0.0, 1.0, 0.0), 0.0)
    return ops.where(unseen > 0.0, ops.where(far, below, 0.0), 0.0)


def _people_implied(counts: Sequence[Column], limits: Limits) -> tuple[Column, Column]:
    """How many people, at least and at most, the ratings seen can stand for."""
    if limits.box is not None:
        return weighted(limits.box.fewest, counts), weighted(limits.box.most, counts)
    seen = total(counts)
    return seen, seen / limits.least


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


def response(counts: Counts, assumption: Participation, level: float) -> Response:
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
