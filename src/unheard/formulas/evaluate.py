"""The closed forms put together: from columns of counts to named columns of results.

Every engine runs these functions: NumPy on arrays, databases as SQL expressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from unheard.formulas import bounds, confidence
from unheard.formulas.bea import implied_floor
from unheard.formulas.boxes import QUIET, Box, build_boxes
from unheard.formulas.estimators import ESTIMATORS, Situation
from unheard.formulas.operations import Column, Operations, name, row_maximum, total
from unheard.formulas.pooling import Pool


@dataclass(frozen=True)
class Items:
    """What is known about each item, as columns.

    Attributes
    ----------
    counts
        One column per rating.
    q
        Participation ratio or floor, a number or a column; None where ``box`` states it.
    n
        Number of people; None if unknown.
    n_known
        1 where n is known, 0 where it is not and ``n`` holds any number that is possible; None if
        that is the same for all items.
    balance
        BEA's lambda; required by that method only.
    share
        Effective sample size over the sum of the weights; None for plain counts.
    squares, largest
        Sums of squared survey weights per rating, and the largest weight that any rating could
        have; None for plain counts.
    """

    counts: Sequence[Column]
    q: Column = None
    n: Column = None
    n_known: Column | None = None
    balance: Column = None
    share: Column = None
    squares: Sequence[Column] | None = None
    largest: Column = None

    @property
    def seen(self) -> Column:
        """Number of ratings, or the sum of their weights."""
        return total(self.counts)

    def choose_by_n(
        self, known: tuple[Column, Column], unknown: tuple[Column, Column], ops: Operations
    ) -> tuple[Column, Column]:
        """Choose between two ends given n, and without it where n is unknown."""
        if self.n_known is None:
            return known
        is_known = self.n_known > 0.0
        low, high = (ops.where(is_known, a, b) for a, b in zip(known, unknown, strict=True))
        return low, high

    def effective_share(self, ops: Operations) -> Column | None:
        """Return the effective sample size over the sum of the weights; None for plain counts."""
        if self.squares is None:
            return self.share
        return ops.divide(self.seen, total(self.squares))


@dataclass(frozen=True)
class Setting:
    """What all items have in common.

    Attributes
    ----------
    values
        The scale.
    kind
        Kind of assumption.
    box
        The box of the kinds that state one per rating.
    stands
        How many people one rating stands for, where there is a best guess.
    pool
        How items differ, where an audit of several items says so.
    level
        Level of the confidence interval; None for no confidence interval.
    people
        Whether the confidence interval covers the mean of the n people themselves instead of the
        mean of the population they are drawn from.
    """

    values: Sequence[float]
    kind: str
    box: Box | None
    stands: Sequence[float] | None
    pool: Pool | None
    level: float | None
    people: bool

    @property
    def is_ratio(self) -> bool:
        """Whether only ratios of participation are stated."""
        return self.kind in QUIET

    @cached_property
    def z(self) -> float:
        """Critical value of the confidence interval."""
        assert self.level is not None  # callers check
        return confidence.critical_value(self.level)


class Bounds(NamedTuple):
    """Bounds of the mean and its confidence limits, as columns; no level, no limits."""

    lower: Column
    upper: Column
    ci_lower: Column = None
    ci_upper: Column = None

    @property
    def outermost(self) -> tuple[Column, Column]:
        """The confidence limits, or the bounds if there are none."""
        return (self.lower, self.upper) if self.ci_lower is None else (self.ci_lower, self.ci_upper)


class Answer(NamedTuple):
    """The estimate of one method with its bounds and confidence limits, as columns."""

    estimate: Column
    lower: Column
    upper: Column
    ci_lower: Column = None
    ci_upper: Column = None


class Answers(NamedTuple):
    """What several methods say about the same items, as columns.

    Attributes
    ----------
    bounds
        What the assumption allows, and the confidence limits that go with it.
    estimates
        The estimate of each method.
    own_limits
        Confidence limits of those methods that have their own.
    """

    bounds: Bounds
    estimates: Mapping[str, Column]
    own_limits: Mapping[str, tuple[Column, Column]]

    def of(self, method: str) -> Answer:
        """Return what one method says."""
        lower, upper, *limits = self.bounds
        return Answer(
            self.estimates[method], lower, upper, *self.own_limits.get(method, tuple(limits))
        )


def evaluate(items: Items, setting: Setting, methods: Sequence[str], ops: Operations) -> Answers:
    """Work out bounds, confidence limits and the estimate of each method.

    An item without ratings gets the middle of the scale as its estimate and the whole scale as
    its bounds.
    """
    values = setting.values
    ends = build_boxes(setting.kind, items.q, setting.box, len(values))
    distances = bounds.find_distances(items.counts, values, ends, ops)
    free = bounds.place_bounds(distances, items.counts, values, ops)
    known = None
    if items.n is not None:
        known = bounds.find_bounds_with_n(
            items.counts, values, ends, items.n, distances, setting.is_ratio, ops
        )
        known = items.choose_by_n(known, free, ops)
    rated = name("n_seen", items.seen) > 0

    def if_rated(column: Column, otherwise: float) -> Column:
        return ops.where(rated, column, otherwise)

    lower, upper = map(name, ("lower", "upper"), known or free)
    limits: tuple[Column, Column] | tuple[()] = ()
    if setting.level is not None:
        low, high = _limits(items, setting, ends, ops)
        limits = (
            if_rated(ops.least(low, lower), values[0]),
            if_rated(ops.greatest(high, upper), values[-1]),
        )
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
    estimates, own_limits = {}, {}
    for method in methods:
        estimator = ESTIMATORS[method]
        estimate = estimator.formula(situation)
        if items.n_known is not None:
            formula = ESTIMATORS["paa"].formula if estimator.needs_n else estimator.formula
            estimate = ops.where(items.n_known > 0.0, estimate, formula(situation.without_n()))
        estimates[method] = if_rated(estimate, middle)
        if estimator.limits is not None and setting.level is not None:
            own = estimator.limits(situation, setting.level, setting.people)
            if items.n_known is not None:
                without = estimator.limits(situation.without_n(), setting.level, False)
                own = items.choose_by_n(own, without, ops)
            own_limits[method] = if_rated(own[0], values[0]), if_rated(own[1], values[-1])
    outer = Bounds(if_rated(lower, values[0]), if_rated(upper, values[-1]), *limits)
    return Answers(outer, estimates, own_limits)


def _floor(items: Items, setting: Setting, ops: Operations) -> Column | None:
    """Return the least participation, where the assumption and n say anything about it."""
    if setting.box is not None or items.n is None:
        return None
    return implied_floor(items.q, items.seen, items.n, ops) if setting.is_ratio else items.q


def evaluate_limits(items: Items, setting: Setting, ops: Operations) -> tuple[Column, Column]:
    """Return the confidence limits alone, not moved out to the bounds."""
    values = setting.values
    ends = build_boxes(setting.kind, items.q, setting.box, len(values))
    low, high = _limits(items, setting, ends, ops)
    rated = items.seen > 0
    return ops.where(rated, low, values[0]), ops.where(rated, high, values[-1])


def evaluate_one_limit(items: Items, setting: Setting, upper: bool, ops: Operations) -> Column:
    """Return one of the two confidence limits alone, not moved out to the bound.

    Searches that know where the bound is save half the work.
    """
    values = setting.values
    ends = build_boxes(setting.kind, items.q, setting.box, len(values))
    known = _as_plain_counts(items, values, ends, ops)
    limit = confidence.find_one_limit(
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
        limit = ops.least(ops.greatest(limit, values[0]), values[-1])
    return ops.where(items.seen > 0, limit, values[-1] if upper else values[0])


def _limits(
    items: Items, setting: Setting, ends: tuple[Box | None, Box | None], ops: Operations
) -> tuple[Column, Column]:
    known, z = _as_plain_counts(items, setting.values, ends, ops), setting.z
    if items.squares is not None:
        low, high = confidence.find_limits_without_n(known.counts, known.values, known.ends, z, ops)
        return ops.greatest(low, setting.values[0]), ops.least(high, setting.values[-1])
    if known.n is None:
        return confidence.find_limits_without_n(known.counts, known.values, known.ends, z, ops)
    limits = confidence.find_limits_with_n(
        known.counts, known.values, known.ends, known.n, z, setting.people, setting.is_ratio, ops
    )
    if items.n_known is None:
        return limits
    without = confidence.find_limits_without_n(known.counts, known.values, known.ends, z, ops)
    return items.choose_by_n(limits, without, ops)


_OUTSIDE = 1e-6
"""How far outside the scale an unseen rating is placed, in widths: the limits go by steps."""


class _PlainCounts(NamedTuple):
    """Plain counts that carry as much information as weighted ones."""

    counts: Sequence[Column]
    values: Sequence[float]
    ends: tuple[Box | None, Box | None]
    n: Column | None


def _as_plain_counts(
    items: Items, values: Sequence[float], ends: tuple[Box | None, Box | None], ops: Operations
) -> _PlainCounts:
    if items.share is not None:
        counts = [items.share * count for count in items.counts]
        n = None if items.n is None else items.share * items.n
        return _PlainCounts(counts, values, ends, n)
    if items.squares is None:
        return _PlainCounts(items.counts, values, ends, items.n)
    # Ratings with weights that sum to s, and squared weights that sum to s2, are worth s**2/s2
    # ratings of weight s2/s each. A rating that the sample missed could weigh more: such ratings,
    # with a count of zero, are placed just outside both ends of the scale. The weights of
    # non-respondents are unknown, so n is not used.
    pairs = list(zip(items.counts, items.squares, strict=True))
    counts = [ops.where(s > 0.0, ops.divide(s * s, s2), 0.0) for s, s2 in pairs]
    units = [ops.where(s > 0.0, ops.divide(s2, s), items.largest) for s, s2 in pairs]
    low, high = (_scale_box(box, units, items.largest, ops) for box in ends)
    outside = _OUTSIDE * (values[-1] - values[0])
    places = [values[0] - outside, *values, values[-1] + outside]
    return _PlainCounts([0.0, *counts, 0.0], places, (low, high), None)


def _scale_box(box: Box | None, units: Sequence[Column], largest: Column, ops: Operations) -> Box:
    """Let each rating stand for as many times more people as it weighs."""
    ones = (1.0,) * len(units)
    fewest, most = (ones, ones) if box is None else (box.fewest, box.most)
    sides = [
        tuple(
            w * unit
            for w, unit in zip(
                (row_maximum(side, ops), *side, row_maximum(side, ops)),
                (largest, *units, largest),
                strict=True,
            )
        )
        for side in (fewest, most)
    ]
    return Box.elastic(sides[0], sides[1])
