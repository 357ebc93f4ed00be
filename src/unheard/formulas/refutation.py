"""Does the response rate itself refute the assumption? A binomial test.

Only an assumption about participation itself (a floor, bounds per rating, known g) can be refuted.
One about ratios holds at any response rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtri

from unheard.formulas.boxes import Box
from unheard.formulas.operations import Column, Operations, total, weighted


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
        As in :class:`unheard.formulas.evaluate.Setting`.
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
