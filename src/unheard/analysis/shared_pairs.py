"""Which of two items is better, whatever one participation distorts both: exact, pair by pair.

One seen rating r stands for w_r people, whichever item it is about. Item i, seen with shares a, is
*surely above* j, seen with shares b, if its mean is the larger for all weights that are allowed.
Only the sign of the difference is asked for, and the sign is that of

    F(w) = Σ w a v Σ w b - Σ w b v Σ w a = Σ_{r<s} w_r w_s (a_s b_r - a_r b_s)(v_s - v_r).

No term holds a weight squared: along each weight F is a straight line. So it is smallest at a
*corner* of a box of weights, though the difference of the means itself need not be
(:mod:`unheard.analysis.shared_difference`): i is surely above j if and only if it is ahead at every
corner.

**Which corners.** Let a box grow from where i is surely above j. Where it first is not, at some
corner, F is zero and both means are the same s. There the slope of F along w_r is
(v_r - s)(a_r D_j - b_r D_i), with D the two denominators. Because the corner is a minimum, the
weights at their upper ends are, with λ = D_j/D_i, those of the ratings

    above s with b_r/a_r > λ, and below s with b_r/a_r < λ.

(Where b_r/a_r = λ the weight may be put at either end: F stays zero, and λ what it is.) So m²
corners, cut by s and by λ, hold the first failure, instead of 2^m; and along the growing box F is
a quadratic at each. The q at which "i is above j" breaks down is the first root of all: closed
form, for any number of ratings.

**Directions.** Monotone weights are mixtures of thresholds, and the difference is smallest on a
segment between two of them: a mixture of W, of a common y and of 1. There is one stationary point
on each segment. The breakdown q is found by bisection, as a smaller q allows more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unheard.analysis.breakdown import find_smallest_q
from unheard.analysis.shared_difference import find_best_between
from unheard.errors import AssumptionError
from unheard.formulas.boxes import boxes
from unheard.formulas.operations import Floats
from unheard.model.assumption import fixed_box
from unheard.model.question import Question

TIE = 1e-12
"""Means that differ by no more than this share of the scale's width are equal."""

_ZERO = 1e-14
"""Coefficients below this share of their terms are rounding."""

_CELLS = 2**21
"""Numbers in an intermediate array."""

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SharedItems:
    """Items rated by one crowd, and the weights that its participation may give to the ratings.

    Attributes
    ----------
    items
        Which items of the question have ratings, by rising average: neighbours in one order are
        near each other in others, and in the cache. Of the other items nothing is known.
    shares
        One row per such item, one column per rating that anybody gave: how often it was given.
        Proportional histograms become the same numbers, bit by bit.
    seen
        How many ratings each of these items has.
    places
        Where these ratings lie, as a share of the scale's width. For a direction the first column
        is the end whose weights are largest, and lies at 0.
    low, high
        Least and largest weight per rating.
    loosened
        How much the largest weight grows as 1/q grows by one: what a breakdown q is about.
    falling
        Whether weights must fall along the columns, as for a direction.
    """

    items: Index
    shares: Floats
    seen: Floats
    places: Floats
    low: Floats
    high: Floats
    loosened: Floats
    falling: bool

    @classmethod
    def of(cls, question: Question, *, unseen: bool = False) -> SharedItems:
        """Read the items and the weights out of a question.

        Ratings that nobody gave are left out, unless the ``unseen`` are asked for. A known number
        of people is not used: with one participation ratio for all items, it could only narrow
        what is allowed, so what is sure without it is sure with it.
        """
        counts, assumption = question.counts, question.assumption
        q = 1.0 if assumption.q is None else _one_q(assumption.q)
        cells = np.asarray(counts.cells, np.float64)
        used = cells.any(axis=0) | (unseen or not cells.any())
        values = np.array(counts.scale.values)
        places = (values - values[0]) / (values[-1] - values[0])
        fixed = fixed_box(assumption)
        at, at_one = (
            next(box for box in boxes(assumption.kind, one, fixed, len(values)) if box is not None)
            for one in (q, 1.0)
        )
        low, high, base = (np.array(side, np.float64) for side in (at.fewest, at.most, at_one.most))
        # Where a weight's upper end moves with q, it is what it is at q = 1, divided by q.
        moves = np.array(at_one.gives) if fixed is None else np.ones(len(values), bool)
        order = np.arange(len(values))[used]
        if fixed is None and assumption.kind == "high":
            order, places = order[::-1], places - 1
        items, shares = _in_order(cells[:, order], places[order])
        return cls(
            items,
            shares,
            counts.n_ratings[items],
            places[order],
            low[order],
            high[order],
            np.where(moves, base, 0.0)[order],
            falling=fixed is None and assumption.kind in ("low", "high"),
        )

    def at(self, q: float) -> SharedItems:
        """Return the same items with another participation ratio."""
        return replace(self, high=np.maximum(self.low, self.loosened / q))

    @property
    def free(self) -> int:
        """Number of weights that are not known."""
        return int(np.count_nonzero(self.high > self.low))

    def totals(self, weights: Floats) -> Floats:
        """Sum of the weighted shares of every item.

        Not by BLAS, whose threads wait for each other thousands of times here: on a busy machine
        that takes ten times as long as the sums.
        """
        return np.asarray(np.einsum("ir,r->i", self.shares, weights))

    def means(self, weights: Floats) -> Floats:
        """Mean of every item for one vector of weights, as a place on the scale."""
        return self.totals(weights * self.places) / self.totals(weights)

    def surely_above(self, above: Index, below: Index) -> NDArray[np.bool_]:
        """Tell for pairs of rows whether the first is surely above the second."""
        if self.falling:
            return self.least_differences(above, below, 1 / self.high[0]) > TIE
        ends = (self.low, self.low, self.high - self.low)
        first = [
            _first_failure(self.shares[above[some]], self.shares[below[some]], self.places, *ends)
            for some in _portions(len(above), len(self.places) ** 2)
        ]
        # A failure at the very end of the box is one, whichever side rounding puts it on.
        return np.concatenate([np.zeros(0), *first]) > 1 + TIE

    def least_differences(self, above: Index, below: Index, q: float | Floats) -> Floats:
        """Return the smallest difference of pairs of rows for falling weights in [1, 1/q]."""
        found = np.empty(len(above))
        spans = np.broadcast_to(1 / np.asarray(q, np.float64) - 1, found.shape)
        for some in _portions(len(above), 4 * len(self.places) ** 2):
            first, second = self.shares[above[some]], self.shares[below[some]]
            terms = np.stack([second, second * self.places, first, first * self.places])
            found[some] = -_largest_for_falling(terms, spans[some])
        return found

    def breakdowns(self, above: Index, below: Index) -> Floats:
        """Return the breakdown q of pairs of rows; see :mod:`unheard.analysis.shared_breakdown`."""
        if self.falling:

            def margin(q: Floats, rows: Index) -> Floats:
                return self.least_differences(above[rows], below[rows], q)

            ahead = self.least_differences(above, below, 1.0) > TIE
            rows = np.flatnonzero(ahead)
            found = np.full(len(above), np.nan)
            found[rows] = find_smallest_q(margin, rows, np.zeros(len(rows)))
            return found
        return self._box_breakdowns(above, below)

    def _box_breakdowns(self, above: Index, below: Index) -> Floats:
        stated = self.at(1.0)
        found = np.where(stated.surely_above(above, below), 0.0, np.nan)
        rows = np.flatnonzero(found == 0)
        for some in _portions(len(rows), len(self.places) ** 2):
            pairs = rows[some]
            a, b = self.shares[above[pairs]], self.shares[below[pairs]]
            growth = _first_failure(a, b, self.places, self.low, stated.high, self.loosened)
            found[pairs] = 1 / (1 + growth)
        return found


def _in_order(cells: Floats, places: Floats) -> tuple[Index, Floats]:
    """Return which rows have ratings, by rising average, and their shares."""
    seen = cells.sum(axis=1)
    items = np.flatnonzero(seen > 0)
    shares = cells[items] / seen[items, None]
    order = np.argsort(shares @ places, kind="stable")
    return items[order], shares[order]


def _one_q(q: Floats) -> float:
    if q.size > 1 and q.min() != q.max():
        raise AssumptionError(
            "q", "one per item found", "Give one q for all items: they share one participation"
        )
    return float(q.min())


def _portions(many: int, cells: int) -> Iterator[slice]:
    """Cut pairs, each of which needs so many numbers, into portions that fit."""
    step = max(1, _CELLS // cells)
    for start in range(0, many, step):
        yield slice(start, min(start + step, many))


def _largest_for_falling(terms: Floats, spans: Floats) -> Floats:
    """Largest difference of pairs for weights that fall from 1 + span or less to 1.

    ``terms`` has the axes: term (as in :mod:`unheard.analysis.shared_difference`), pair, rating.
    """
    m = terms.shape[-1]
    whole = terms.sum(axis=-1, keepdims=True)
    ahead = np.cumsum(terms, axis=-1) - terms  # of the ratings before each
    sums = whole + spans[:, None] * ahead
    i, j = np.triu_indices(m)
    _, values = find_best_between(sums[..., i], sums[..., j])
    largest: Floats = values.max(axis=-1)
    return largest


def _first_failure(
    a: Floats, b: Floats, u: Floats, low: Floats, base: Floats, slope: Floats
) -> Floats:
    """Return the first t >= 0 at which pairs with shares a and b are no longer surely in order.

    Weights lie between ``low`` and ``base + t slope``, and the order is sure where the upper ends
    are ``base``, or ``base`` is ``low`` and it is asked here.
    """
    # By rising b/a, written so that nothing is divided by zero.
    both = a + b
    share = np.divide(b, both, out=np.full_like(b, 0.5), where=both > 0)
    order = np.argsort(share, axis=1)
    terms = np.stack([a, a * u, b, b * u])
    sums = (terms * low).sum(axis=-1)[..., None, None]
    sums = sums + _over_cuts(terms * (base - low), order) if (base != low).any() else sums
    mass_a, first_a, mass_b, first_b = sums
    more_a, further_a, more_b, further_b = _over_cuts(terms * slope, order)
    constant = first_a * mass_b - first_b * mass_a
    linear = _cleaned(first_a * more_b + further_a * mass_b, first_b * more_a + further_b * mass_a)
    square = _cleaned(further_a * more_b, further_b * more_a)
    constant = np.broadcast_to(constant, linear.shape)
    ahead = (constant > TIE * mass_a * mass_b).all(axis=(1, 2))
    return np.where(ahead, _first_root(constant, linear, square).min(axis=(1, 2)), 0.0)


def _over_cuts(terms: Floats, order: Index) -> Floats:
    """Sum terms over the ratings whose weights are at their upper ends, for every pair of cuts.

    For a cut of the scale before rating k and of the ``order`` before its l-th: ratings below the
    one and before the other, and ratings above and behind.
    """
    m = order.shape[1]
    sorted_terms = np.take_along_axis(terms, order[None], axis=2)[:, :, None, :]
    lower = order[:, None, :] < np.arange(m)[:, None]
    signed = np.where(lower, sorted_terms, -sorted_terms)
    sums = np.empty((*signed.shape[:-1], m + 1))
    sums[..., 0] = np.where(lower, 0.0, sorted_terms).sum(axis=-1)
    sums[..., 1:] = sums[..., :1] + np.cumsum(signed, axis=-1)
    return sums


def _cleaned(plus: Floats, minus: Floats) -> Floats:
    """Subtract; what is left of two equal numbers by rounding is nothing."""
    difference = plus - minus
    return np.where(np.abs(difference) > _ZERO * (np.abs(plus) + np.abs(minus)), difference, 0.0)


def _first_root(constant: Floats, linear: Floats, square: Floats) -> Floats:
    """Return the first positive zero of quadratics that start positive; infinity if none."""
    inner = linear * linear - 4 * square * constant
    root = np.sqrt(np.maximum(inner, 0.0))
    falls = linear < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        # Written so that nothing cancels.
        early = np.where(inner >= 0, 2 * constant / (root - linear), np.inf)
        late = np.where(square < 0, (linear + root) / (-2 * square), np.inf)
    return np.where(falls, early, late)
