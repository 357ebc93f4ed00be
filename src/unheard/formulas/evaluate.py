"""The whole closed form, from columns of counts to columns of answers, for every engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scipy.special import ndtr

from unheard.formulas import bounds, confidence
from unheard.formulas.bea import implied_floor
from unheard.formulas.boxes import QUIET, Box, boxes
from unheard.formulas.estimators import ESTIMATORS, Situation
from unheard.formulas.operations import Column, Operations, peak, total
from unheard.formulas.pooling import Pool, unlikeness_with_n, unlikeness_without_n


@dataclass(frozen=True)
class Items:
    """What is known of the items, as columns.

    Attributes
    ----------
    counts
        One column per rating.
    q
        Participation ratio or floor, a number or a column; None where ``box`` states it.
    n
        Number of people; None if unknown.
    balance
        BEA's lambda; needed for that method only.
    share
        Effective sample size over the sum of the weights; None for plain counts.
    squares, largest
        Sums of squared survey weights per rating, and the largest weight that any could have;
        None for plain counts.
    """

    counts: Sequence[Column]
    q: Column = None
    n: Column = None
    balance: Column = None
    share: Column = None
    squares: Sequence[Column] | None = None
    largest: Column = None


@dataclass(frozen=True)
class Setting:
    """What is the same for all items.

    Attributes
    ----------
    values
        The scale.
    kind
        Kind of participation.
    box
        The box of the kinds that state one per rating.
    stands
        How many people a rating stands for, where there is a best guess.
    pool
        How items differ, where an audit tells.
    z
        Critical value of the confidence interval; None for no confidence interval.
    people
        Whether it is for the mean of the n people instead of the mean behind them.
    """

    values: Sequence[float]
    kind: str
    box: Box | None
    stands: Sequence[float] | None
    pool: Pool | None
    z: float | None
    people: bool

    @property
    def is_ratio(self) -> bool:
        """Whether only ratios of participation are stated."""
        return self.kind in QUIET


def answers(
    items: Items, setting: Setting, methods: Sequence[str], ops: Operations
) -> list[Column]:
    """Return lower, upper, the two confidence limits (if asked for), then each estimate.

    Methods with confidence limits of their own add these at the end, one pair after the other.
    An item nobody rated gets the middle of the scale, and the whole scale as interval.
    """
    values = setting.values
    ends = boxes(setting.kind, items.q, setting.box, len(values))
    free = bounds.free_interval(items.counts, values, ends, ops)
    known = None
    if items.n is not None:
        known = bounds.interval_with_n(
            items.counts, values, ends, items.n, free, setting.is_ratio, ops
        )
    lower, upper = known or free
    columns = [(lower, values[0]), (upper, values[-1])]
    if setting.z is not None:
        low, high = _limits(items, setting, ends, setting.z, ops)
        columns += [(ops.least(low, lower), values[0]), (ops.greatest(high, upper), values[-1])]
    situation = Situation(
        items.counts,
        values,
        free,
        known,
        setting.stands,
        items.n,
        items.balance,
        _floor(items, setting, ops),
        setting.pool,
        ops,
    )
    middle = (values[0] + values[-1]) / 2
    columns += [(ESTIMATORS[method].formula(situation), middle) for method in methods]
    if setting.z is not None:
        level = float(1 - 2 * ndtr(-setting.z))
        for own in own_limits(methods):
            low, high = own(situation, level, setting.people)
            columns += [(low, values[0]), (high, values[-1])]
    rated = total(items.counts) > 0
    return [ops.where(rated, column, otherwise) for column, otherwise in columns]


def _floor(items: Items, setting: Setting, ops: Operations) -> Column | None:
    """Return the least participation, where the assumption and n say anything about it."""
    if setting.box is not None or items.n is None:
        return None
    return (
        implied_floor(items.q, total(items.counts), items.n, ops) if setting.is_ratio else items.q
    )


def own_limits(
    methods: Sequence[str],
) -> list[Callable[[Situation, float, bool], tuple[Column, Column]]]:
    """Return the limits of those methods that have their own, in order."""
    found = [ESTIMATORS[method].limits for method in methods]
    return [limits for limits in found if limits is not None]


def unlike_audited(items: Items, setting: Setting, ops: Operations) -> Column:
    """Tell whether items are further from the audited ones than nearly all of these are."""
    pool = setting.pool
    assert pool is not None  # the caller has an audit of several items
    if items.n is None:
        unlike = unlikeness_without_n(items.counts, setting.values, pool.seen, ops)
        return unlike > pool.seen.farthest
    assert pool.silent is not None  # a relative audit is refused where n is known
    unlike = unlikeness_with_n(items.counts, setting.values, items.n, pool.silent, ops)
    return unlike > pool.silent.farthest


def one_limit(items: Items, setting: Setting, upper: bool, ops: Operations) -> Column:
    """Return one of the two confidence limits alone, noise and not the interval limiting it.

    For searches that know where the end of the interval is.
    """
    assert setting.z is not None  # the caller asks for a level
    values = setting.values
    ends = boxes(setting.kind, items.q, setting.box, len(values))
    known = _informative(items, values, ends, ops)
    found = confidence.one_limit(
        known.counts,
        known.values,
        known.ends,
        known.n,
        setting.z,
        setting.people,
        setting.is_ratio,
        upper,
        ops,
    )
    if items.squares is not None:
        found = ops.least(ops.greatest(found, values[0]), values[-1])
    return ops.where(total(items.counts) > 0, found, values[-1] if upper else values[0])


def _limits(
    items: Items, setting: Setting, ends: tuple[Box | None, Box | None], z: float, ops: Operations
) -> tuple[Column, Column]:
    known = _informative(items, setting.values, ends, ops)
    if items.squares is not None:
        low, high = confidence.free_limits(known.counts, known.values, known.ends, z, ops)
        return ops.greatest(low, setting.values[0]), ops.least(high, setting.values[-1])
    if known.n is None:
        return confidence.free_limits(known.counts, known.values, known.ends, z, ops)
    return confidence.known_limits(
        known.counts, known.values, known.ends, known.n, z, setting.people, setting.is_ratio, ops
    )


_OUTSIDE = 1e-6
"""How far outside the scale a rating that was missed stands, in widths: limits go by steps."""


class _Informative(NamedTuple):
    """Plain counts that carry as much information as weighted ones."""

    counts: Sequence[Column]
    values: Sequence[float]
    ends: tuple[Box | None, Box | None]
    n: Column | None


def _informative(
    items: Items, values: Sequence[float], ends: tuple[Box | None, Box | None], ops: Operations
) -> _Informative:
    if items.share is not None:
        counts = [items.share * count for count in items.counts]
        n = None if items.n is None else items.share * items.n
        return _Informative(counts, values, ends, n)
    if items.squares is None:
        return _Informative(items.counts, values, ends, items.n)
    # Ratings that weigh s in all, and s2 if squared, are as good as s**2/s2 that weigh s2/s each.
    # One that was missed could weigh more: such ratings stand just outside both ends of the scale,
    # and nobody gave them. How the unseen weigh is not known, so n is left out.
    pairs = list(zip(items.counts, items.squares, strict=True))
    counts = [ops.where(s > 0.0, ops.divide(s * s, s2), 0.0) for s, s2 in pairs]
    units = [ops.where(s > 0.0, ops.divide(s2, s), items.largest) for s, s2 in pairs]
    low, high = (_weighing(box, units, items.largest, ops) for box in ends)
    outside = _OUTSIDE * (values[-1] - values[0])
    places = [values[0] - outside, *values, values[-1] + outside]
    return _Informative([0.0, *counts, 0.0], places, (low, high), None)


def _weighing(box: Box | None, units: Sequence[Column], largest: Column, ops: Operations) -> Box:
    """Let each seen rating stand for as many times more people as it weighs."""
    ones = (1.0,) * len(units)
    fewest, most = (ones, ones) if box is None else (box.fewest, box.most)
    sides = [
        tuple(
            w * unit
            for w, unit in zip(
                (peak(side, ops), *side, peak(side, ops)), (largest, *units, largest), strict=True
            )
        )
        for side in (fewest, most)
    ]
    return Box.elastic(sides[0], sides[1])
