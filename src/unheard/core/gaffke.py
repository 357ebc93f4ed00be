"""The confidence limit of a weighted mean, by the test of Gaffke [G05], in closed form.

Let y = w (d - t), with d the distance of a rating from the near end of the scale and w the weight
least favourable to t: the most people that a rating below t can stand for, the fewest above. If
the mean is t or less, the expectation of y is at most 0. Gaffke's test adds one more y at the
least value that it can take, gives every y an independent exponential weight, and rejects t if

    P( sum of the weighted y <= 0 ) <= miss.

The sum is A - B: what lies above t minus what lies below, either a sum of gamma variables. Each is
taken for one gamma variable with the same two moments, so A/(A + B) is a beta variable, whose
distribution Barndorff-Nielsen's r* [BN86] gives to three digits in the tails. For two ratings
nothing but r* is approximate, and the test is that of Clopper and Pearson [CP34]; for more,
docs/confidence.md says how near it comes.

The evidence against t falls as t rises. Which two ratings the limit lies between is found by
halving; there all sums are quadratics in t, and a fixed number of Newton's steps, kept within
bounds, finds the limit. Every engine can do that.

As q falls, only the scale of B grows, and with it the probability: once not rejected, t stays so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from unheard.core.columns import Column, Operations, alike, each, total
from unheard.core.moments import Weighed
from unheard.core.participation import Box

_STEPS = 3
"""Newton's steps: 999 of 1,000 histograms are then within 1e-6 of the way from limit to bound."""

_UP, _DOWN = 0.97, 0.3
"""How far between its bounds to go where a step would leave them above, or below."""

_LONGEST = 1.9
"""The longest step, in the logarithm of the odds; a step of 2 would have no end."""

_LEAST = 1e-280
"""Logarithms are taken of no less: engines refuse zero, even in rows that nobody looks at."""


class Part(NamedTuple):
    """The people on one side of t, seen from the rating next to it.

    Attributes
    ----------
    place
        Where that rating is.
    mass, first
        Sums of w and of w d, with d the distance from there.
    second
        Sum of w**2 d**2.
    weight
        The weight of all, if they have the same; None otherwise.
    masses, firsts
        Sums of w**2 and w**2 d, if weights differ.
    """

    place: Column
    mass: Column
    first: Column
    second: Column
    weight: Column | None = None
    masses: Column | None = None
    firsts: Column | None = None

    def with_one_more(self, here: Column, weight: Column) -> Part:
        """Add a rating for which w d is so much at the place, and grows by a weight from there."""
        more = self._replace(
            mass=self.mass + weight, first=self.first + here, second=self.second + here * here
        )
        if self.weight is not None:
            return more
        return more._replace(
            masses=self.masses + weight * weight, firsts=self.firsts + weight * here
        )


class Segment(NamedTuple):
    """The stretch between two ratings that follow each other: who is below it, and who above."""

    below: Part
    above: Part


class Side(NamedTuple):
    """One side of t, taken for a gamma variable.

    Attributes
    ----------
    mass, first, second
        Sums of w, w d and w**2 d**2, with d the distance from t.
    rate, shape
        Of the gamma variable: one over its scale, and its shape.
    pace
        Sum of w**2 d over that of w**2 d**2.
    """

    mass: Column
    first: Column
    second: Column
    rate: Column
    shape: Column
    pace: Column


class Evidence(NamedTuple):
    """The evidence against t as a normal score, and what its slope is made of."""

    score: Column
    root: Column
    log_ratio: Column
    log_near: Column
    log_far: Column


def lower_limit(
    distances: Sequence[float],
    counts: Sequence[Column],
    box: Box,
    nearer: Weighed,
    further: Weighed,
    z: float,
    ops: Operations,
) -> Column:
    """Return the distance from the near end of the scale to the confidence limit.

    Parameters
    ----------
    distances
        How far each rating lies from the near end, which comes first.
    counts
        How often it was given.
    box
        What it may stand for.
    nearer, further
        Moments of the people below each rating around it, and of those above, furthest first.
    z
        Critical value of the test.
    ops
        The engine's operations.
    """
    test = _Test(z, ops)
    segments = _segments(distances, box, nearer, further, ops)
    while len(segments) > 1:
        half = len(segments) // 2
        lower, upper = segments[:half], segments[half:]
        lower += lower[-1:] * (len(upper) - len(lower))
        rejected = test.score_below(upper[0]) > z
        segments = [_choose(rejected, *pair, ops) for pair in zip(upper, lower, strict=True)]
    # If everybody is at the near end, so is the limit.
    return ops.where(total(counts[1:]) > 0.0, test.solve(segments[0]), 0.0)


def _segments(
    distances: Sequence[float], box: Box, nearer: Weighed, further: Weighed, ops: Operations
) -> list[Segment]:
    below = _parts(distances, nearer, box.most)
    above = _parts(distances[::-1], further, box.fewest[::-1])[::-1]
    added = zip(below, *_added(distances, box.most, ops), strict=True)
    below = [part.with_one_more(here, weight) for part, here, weight in added]
    return [Segment(*pair) for pair in zip(below, above, strict=True)]


def _added(
    distances: Sequence[float], weights: Sequence[Column], ops: Operations
) -> tuple[list[Column], list[Column]]:
    """Return, at the lower end of each segment, how far below t the least y is, and its slope.

    If weights differ, the least y may be that of a nearer rating that stands for more. How far it
    is below t is then a convex function of t, and between two ratings no more than its chord.
    """
    if alike(weights):
        weight = weights[0]
        return [_times(weight, place) for place in distances[:-1]], [weight] * len(distances[1:])
    rivals = [weights[0] * place for place in distances]
    for weight, near in zip(weights[1:], distances[1:], strict=True):
        for k, place in enumerate(distances):
            if place > near:
                rivals[k] = ops.greatest(rivals[k], weight * (place - near))
    steps = zip(pairwise(distances), pairwise(rivals), strict=True)
    return rivals[:-1], [(after - here) / (high - low) for (low, high), (here, after) in steps]


def _parts(places: Sequence[float], people: Weighed, weights: Sequence[Column]) -> list[Part]:
    """Sum up the people as far as every place but the last, around it."""
    same = alike(weights)
    factor, (mass, first, *_) = people.by(weights, 1)
    square, (masses, firsts, seconds) = people.by(each(lambda w: w * w, weights), 2)
    parts = []
    for k, place in enumerate(places[:-1]):
        sums = _times(factor, mass[k + 1]), _times(factor, first[k]), _times(square, seconds[k])
        rest = (weights[0],) if same else (None, masses[k + 1], firsts[k])
        parts.append(Part(place, *sums, *rest))
    return parts


def _times(factor: Column, column: Column) -> Column:
    return column if isinstance(factor, float) and factor == 1.0 else factor * column


def _choose(condition: Column, yes: Segment, no: Segment, ops: Operations) -> Segment:
    def pick(a: Column, b: Column) -> Column:
        return a if a is b else ops.where(condition, a, b)

    return Segment(*(Part(*map(pick, *pair)) for pair in zip(yes, no, strict=True)))


class _Test(NamedTuple):
    """Gaffke's test, in closed form."""

    z: float
    ops: Operations

    def score_below(self, segment: Segment) -> Column:
        """Return the evidence against t at the lower end of a segment."""
        near, far = self._sides(segment, segment.below.place)
        score = self._evidence(near, far).score
        return self.ops.where(far.first > near.first, score, 0.0)

    def solve(self, segment: Segment) -> Column:
        """Find the limit in a segment whose lower end is rejected, and whose upper end is not."""
        (below, above), ops = segment, self.ops
        low = below.place
        excess = above.first + above.mass * (above.place - low) - below.first
        # Nothing speaks against t where the two sides balance.
        balance = low + ops.divide(excess, above.mass + below.mass)
        high = ops.least(above.place, balance)
        near, far = self._sides(segment, balance)
        error = ops.divide(ops.sqrt(near.second + far.second), near.mass + far.mass)
        t = self._within(balance - self.z * error, low, high)
        t = self._within(self._leap(segment, t), low, high)
        for _ in range(_STEPS):
            near, far = self._sides(segment, t)
            found = self._evidence(near, far)
            rejected = found.score > self.z
            low, high = ops.where(rejected, t, low), ops.where(rejected, high, t)
            t = self._within(t + self._step(near, far, found), low, high)
        return t

    def _within(self, t: Column, low: Column, high: Column) -> Column:
        ops, room = self.ops, high - low
        return ops.where(t > high, low + _UP * room, ops.where(low > t, low + _DOWN * room, t))

    def _sides(self, segment: Segment, t: Column) -> tuple[Side, Side]:
        """Return what is nearer than t, and what is further."""
        below, above = segment
        return self._side(below, t - below.place), self._side(above, above.place - t)

    def _side(self, part: Part, distance: Column) -> Side:
        """Sum up one side at a distance from its place; all terms are positive."""
        ops, mass = self.ops, part.mass
        first = part.first + mass * distance
        if part.weight is not None:
            second = part.second + _times(part.weight, distance) * (part.first + first)
            rate = ops.divide(first, second)
            return Side(mass, first, second, rate, first * rate, _times(part.weight, rate))
        firsts = part.firsts + part.masses * distance
        second = part.second + (part.firsts + firsts) * distance
        rate = ops.divide(first, second)
        return Side(mass, first, second, rate, first * rate, ops.divide(firsts, second))

    def _leap(self, segment: Segment, t: Column) -> Column:
        """Go to where an approximation of beta quantiles [AS64, 26.5.22] sees the limit."""
        ops, z = self.ops, self.z
        near, far = self._sides(segment, t)
        less, more = (ops.divide(0.5, 2.0 * ops.greatest(s.shape, 1.0) - 1.0) for s in (far, near))
        bend, both = (z * z - 3.0) / 6.0, less + more
        root = ops.sqrt(ops.greatest(both + bend * both * both, 0.0))
        log_odds = z * root - 2.0 * (more - less) * (bend + 5.0 / 6.0 - 2.0 / 3.0 * both)
        odds = ops.divide(far.first, near.first) * ops.exp(-2.0 * log_odds)
        return t + ops.divide(odds - 1.0, near.pace + odds * far.pace)

    def _evidence(self, near: Side, far: Side) -> Evidence:
        """Return r* of the beta distribution, with its sign turned, where there is evidence."""
        ops = self.ops
        rates = near.rate + far.rate
        share = ops.divide(rates, near.shape + far.shape)
        log_near, log_far = self._log(near.first * share), self._log(far.first * share)
        square = ops.greatest(2.0 * (near.shape * log_near + far.shape * log_far), 1e-20)
        gap = far.first - near.first
        ratio = ops.divide(
            gap * gap * near.rate * far.rate, near.first * far.first * share * rates * square
        )
        root, log_ratio = ops.sqrt(square), 0.5 * self._log(ratio)
        return Evidence(root + ops.divide(log_ratio, root), root, log_ratio, log_near, log_far)

    def _step(self, near: Side, far: Side, found: Evidence) -> Column:
        """Return a step of Newton's, taken in the logarithm of the odds."""
        ops = self.ops
        # How the logarithms of rates, and of the roots of shapes, change with t.
        grows, shrinks = ops.divide(near.mass, near.first), ops.divide(far.mass, far.first)
        near_shape, far_shape = grows - near.pace, far.pace - shrinks
        near_rate, far_rate = near_shape - near.pace, far_shape + far.pace
        near_part, far_part = near_shape * near.shape, far_shape * far.shape
        gap = far.first - near.first
        lean = ops.divide(near.rate * far.rate, near.rate + far.rate)
        tilt = 2.0 * (near_part * found.log_near + far_part * found.log_far) + (
            gap * lean * (near_rate - far_rate)
        )
        shift = (
            lean * (ops.divide(near_rate, near.rate) + ops.divide(far_rate, far.rate))
            - ops.divide(near.mass + far.mass, gap)
            - ops.divide(near_shape * far.shape + far_shape * near.shape, near.shape + far.shape)
        )
        slope = tilt * (1.0 - ops.divide(found.log_ratio + 1.0, found.root * found.root)) + shift
        step = ops.divide((self.z - found.score) * found.root, slope) * (near.pace + far.pace)
        step = ops.greatest(ops.least(step, _LONGEST), -_LONGEST)
        return ops.divide(2.0 * step, (2.0 - step) * near.pace + (2.0 + step) * far.pace)

    def _log(self, x: Column) -> Column:
        return self.ops.log(self.ops.greatest(x, _LEAST))
