"""Does the response rate refute the assumption? A one-sided binomial test.

The response rate can only refute an assumption about participation itself (a floor, bounds per
rating, known g). An assumption about ratios holds at any response rate.
"""

from __future__ import annotations

from typing import NamedTuple

from scipy.special import ndtri

from unheard.formulas.bounds import find_misfits
from unheard.formulas.boxes import build_boxes
from unheard.formulas.evaluate import Items, Setting
from unheard.formulas.operations import Column, Operations, total

TEST_LEVEL = 0.95
"""Level of the test where no level is given."""


class ResponseTest(NamedTuple):
    """How the response rate compares with the assumption, as columns of 0 and 1.

    Attributes
    ----------
    too_low, too_high
        Whether fewer (more) people responded than the assumption allows, ignoring sampling error.
    refuted
        Whether sampling error is ruled out as the reason at the level.
    """

    too_low: Column
    too_high: Column
    refuted: Column


def assess_response_rate(items: Items, setting: Setting, ops: Operations) -> ResponseTest:
    """Test the assumption against the response rate; n must be known."""
    counts, n = items.counts, items.n
    share = items.effective_share(ops)
    if share is not None:
        counts, n = [share * count for count in counts], share * n
    seen = total(counts)
    too_low: Column = 0.0
    too_high: Column = 0.0
    box, _ = build_boxes(setting.kind, items.q, setting.box, len(counts))
    # Known participation never matches n exactly, so only the test says whether it fits.
    if setting.kind != "known" and box is not None:
        too_low, too_high = (ops.where(misfit, 1.0, 0.0) for misfit in find_misfits(counts, box, n))
    # Sums of weights may exceed n by rounding.
    unseen = ops.greatest(n - seen, 0.0)
    z = float(ndtri(setting.level or TEST_LEVEL))
    refuted = _is_too_few(seen, unseen, least_participation(items, setting), z, ops)
    largest = 1.0 if setting.box is None else 1.0 / min(setting.box.fewest)
    if largest < 1:
        refuted = ops.greatest(refuted, _is_too_few(unseen, seen, 1.0 - largest, z, ops))
    return ResponseTest(too_low, too_high, refuted)


def least_participation(items: Items, setting: Setting) -> Column:
    """Return the smallest participation that the assumption allows any rating."""
    if setting.box is None:
        return items.q
    least = 1.0 / max(setting.box.most)
    return least if items.q is None else least * items.q


def _is_too_few(seen: Column, unseen: Column, share: Column, z: float, ops: Operations) -> Column:
    """Whether a binomial with probability ``share`` rules out so few seen: 1 or 0.

    The normal approximation of [PP68] is right in the third digit of a p-value near 0.05 even for
    a handful of people. It needs only logarithms, so it runs on engines without an incomplete
    beta function. It is solved for the comparison, so that nothing is divided by zero.
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
    # The test is one-sided: more seen than expected refutes nothing.
    # Near the expectation both sides of the comparison are rounding error.
    below = ops.where(away < -0.01, ops.where(shift < 0.0, 1.0, 0.0), 0.0)
    return ops.where(unseen > 0.0, ops.where(far, below, 0.0), 0.0)
