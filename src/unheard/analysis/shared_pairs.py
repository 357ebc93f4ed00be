"""Which of two items has the larger mean under shared participation: exact, pair by pair.

One observed rating r stands for w_r people, for every item. Item i, with shares a, is *surely
above* item j, with shares b, if its mean is larger for all weights that the assumption allows. Only
the sign of the difference matters, and it is that of

    F(w) = Σ w a v Σ w b - Σ w b v Σ w a = Σ_{r<s} w_r w_s (a_s b_r - a_r b_s)(v_s - v_r).

No term contains a squared weight: F is linear in each weight. So its minimum is at a *corner* of a
box of weights, though that of the difference of the means itself need not be
(:mod:`unheard.analysis.shared_difference`): i is surely above j if and only if it is ahead at every
corner.

**Which corners.** Let a box grow from one in which i is surely above j. Where this first fails, at
some corner, F is zero and both means equal the same s. There the slope of F along w_r is
(v_r - s)(a_r D_j - b_r D_i), with D the two denominators. Because the corner is a minimum, the
weights at their upper ends are, with λ = D_j/D_i, those of the ratings

    above s with b_r/a_r > λ, and below s with b_r/a_r < λ.

(Where b_r/a_r = λ the weight may be at either end: F stays zero, and λ does not change.) So the
first failure is at one of m² corners, given by s and by λ, instead of 2^m; and at each, F is a
quadratic in the size of the box. The q at which "i is above j" breaks down is the first of all
roots: a closed form, for any number of ratings.

**Directions.** Monotone weights are mixtures of thresholds, and the difference is smallest on a
segment between two of them: 1/q on some ratings, a common y on others, 1 on the rest. There is at
most one stationary point on each segment. The breakdown q is found by bisection, because a smaller
q allows more weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unheard.analysis.breakdown import find_smallest_q
from unheard.analysis.shared_difference import find_best_between
from unheard.errors import AssumptionError, Given
from unheard.formulas.boxes import build_boxes
from unheard.formulas.operations import Floats
from unheard.model.assumption import fixed_box
from unheard.model.question import Question

TIE = 1e-12
"""Means that differ by at most this share of the scale's width count as equal."""

_ZERO = 1e-14
"""Coefficients below this share of their terms are rounding errors."""

_CELLS = 2**21
"""Size of an intermediate array."""

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SharedItems:
    """Items that share one participation, and the weights that it may give to ratings.

    Attributes
    ----------
    items
        The items of the question that have ratings, by increasing average: neighbours in one order
        are close in others, and in the cache. Nothing is known about the other items.
    shares
        One row per such item, one column per rating that occurs: the share of the ratings.
        Proportional histograms give identical numbers.
    n_ratings
        The number of ratings of each of these items.
    places
        The ratings as places on the scale, in scale widths. For a direction, the first column is
        the end with the largest weights, and its place is 0.
    low, high
        Smallest and largest weight per rating.
    loosened
        How much the largest weight grows as 1/q grows by one, for breakdown q.
    falling
        Whether weights must decrease along the columns, as for a direction.
    """

    items: Index
    shares: Floats
    n_ratings: Floats
    places: Floats
    low: Floats
    high: Floats
    loosened: Floats
    falling: bool

    @classmethod
    def of(cls, question: Question, *, unobserved: bool = False) -> SharedItems:
        """Extract the items and the weights from a question.

        Ratings that do not occur are left out, unless ``unobserved`` is set. A known number of
        people is not used: with one participation ratio for all items it could only narrow the
        weights, so an order that is sure without it is sure with it.
        """
        counts, assumption = question.counts, question.assumption
        q = 1.0 if assumption.q is None else _read_common_q(assumption.q)
        cells = np.asarray(counts.cells, np.float64)
        used = cells.any(axis=0) | (unobserved or not cells.any())
        values = np.array(counts.scale.values)
        places = (values - values[0]) / (values[-1] - values[0])
        fixed = fixed_box(assumption)
        at, at_one = (
            next(
                box
                for box in build_boxes(assumption.kind, one, fixed, len(values))
                if box is not None
            )
            for one in (q, 1.0)
        )
        low, high, base = (np.array(side, np.float64) for side in (at.fewest, at.most, at_one.most))
        # An upper end that moves with q is its value at q = 1, divided by q.
        moves = np.array(at_one.gives) if fixed is None else np.ones(len(values), bool)
        order = np.arange(len(values))[used]
        if fixed is None and assumption.kind == "high":
            order, places = order[::-1], places - 1
        items, shares = _sort_by_average(cells[:, order], places[order])
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
        """Return the same items at another participation ratio."""
        return replace(self, high=np.maximum(self.low, self.loosened / q))

    @property
    def free(self) -> int:
        """Number of weights that are not fixed."""
        return int(np.count_nonzero(self.high > self.low))

    def compute_totals(self, weights: Floats) -> Floats:
        """Return the sum of the weighted shares of every item.

        This avoids BLAS, whose threads would wait for each other thousands of times here: on a busy
        machine that takes ten times as long as the sums.
        """
        return np.asarray(np.einsum("ir,r->i", self.shares, weights))

    def compute_means(self, weights: Floats) -> Floats:
        """Return the mean of every item for one vector of weights, as a place on the scale."""
        return self.compute_totals(weights * self.places) / self.compute_totals(weights)

    def are_surely_above(self, above: Index, below: Index) -> NDArray[np.bool_]:
        """Tell for pairs of rows whether the first is surely above the second."""
        if self.falling:
            return self.find_least_differences(above, below, 1 / self.high[0]) > TIE
        ends = (self.low, self.low, self.high - self.low)
        first = [
            _find_first_failure(
                self.shares[above[some]], self.shares[below[some]], self.places, *ends
            )
            for some in _portions(len(above), len(self.places) ** 2)
        ]
        # A failure at the boundary of the box counts, whichever side rounding puts it on.
        return np.concatenate([np.zeros(0), *first]) > 1 + TIE

    def find_least_differences(self, above: Index, below: Index, q: float | Floats) -> Floats:
        """Return the smallest difference of pairs of rows for decreasing weights in [1, 1/q]."""
        found = np.empty(len(above))
        spans = np.broadcast_to(1 / np.asarray(q, np.float64) - 1, found.shape)
        for some in _portions(len(above), 4 * len(self.places) ** 2):
            first, second = self.shares[above[some]], self.shares[below[some]]
            terms = np.stack([second, second * self.places, first, first * self.places])
            found[some] = -_find_largest_for_falling(terms, spans[some])
        return found

    def find_breakdowns(self, above: Index, below: Index) -> Floats:
        """Return the breakdown q of pairs of rows; see :mod:`unheard.analysis.shared_breakdown`."""
        if self.falling:

            def margin(q: Floats, rows: Index) -> Floats:
                return self.find_least_differences(above[rows], below[rows], q)

            ahead = self.find_least_differences(above, below, 1.0) > TIE
            rows = np.flatnonzero(ahead)
            found = np.full(len(above), np.nan)
            found[rows] = find_smallest_q(margin, rows, np.zeros(len(rows)))
            return found
        return self._find_box_breakdowns(above, below)

    def _find_box_breakdowns(self, above: Index, below: Index) -> Floats:
        stated = self.at(1.0)
        found = np.where(stated.are_surely_above(above, below), 0.0, np.nan)
        rows = np.flatnonzero(found == 0)
        for some in _portions(len(rows), len(self.places) ** 2):
            pairs = rows[some]
            a, b = self.shares[above[pairs]], self.shares[below[pairs]]
            growth = _find_first_failure(a, b, self.places, self.low, stated.high, self.loosened)
            found[pairs] = 1 / (1 + growth)
        return found


def _sort_by_average(cells: Floats, places: Floats) -> tuple[Index, Floats]:
    """Return the rows that have ratings, by increasing average, and their shares."""
    n_ratings = cells.sum(axis=1)
    items = np.flatnonzero(n_ratings > 0)
    shares = cells[items] / n_ratings[items, None]
    order = np.argsort(shares @ places, kind="stable")
    return items[order], shares[order]


def _read_common_q(q: Floats) -> float:
    if q.size > 1 and q.min() != q.max():
        raise AssumptionError(
            "q",
            problem="Items that share one participation must have the same {argument}",
            value=Given("one for each item"),
            hint="Use one number for all items",
        )
    return float(q.min())


def _portions(many: int, cells: int) -> Iterator[slice]:
    """Split pairs, each of which needs a number of cells, into portions that fit in memory."""
    step = max(1, _CELLS // cells)
    for start in range(0, many, step):
        yield slice(start, min(start + step, many))


def _find_largest_for_falling(terms: Floats, spans: Floats) -> Floats:
    """Return the largest difference of pairs for weights that decrease from at most 1 + span to 1.

    The axes of ``terms`` are: term (as in :mod:`unheard.analysis.shared_difference`), pair, rating.
    """
    m = terms.shape[-1]
    whole = terms.sum(axis=-1, keepdims=True)
    ahead = np.cumsum(terms, axis=-1) - terms  # sums over the ratings before each
    sums = whole + spans[:, None] * ahead
    i, j = np.triu_indices(m)
    _, values = find_best_between(sums[..., i], sums[..., j])
    largest: Floats = values.max(axis=-1)
    return largest


def _find_first_failure(
    a: Floats, b: Floats, u: Floats, low: Floats, base: Floats, slope: Floats
) -> Floats:
    """Return the first t >= 0 at which the order of pairs with shares a and b is no longer sure.

    Weights are between ``low`` and ``base + t slope``. The order must be sure at t = 0, unless
    ``base`` equals ``low``: then that is checked here.
    """
    # Sort by b/a, written so that there is no division by zero.
    both = a + b
    share = np.divide(b, both, out=np.full_like(b, 0.5), where=both > 0)
    order = np.argsort(share, axis=1)
    terms = np.stack([a, a * u, b, b * u])
    sums = (terms * low).sum(axis=-1)[..., None, None]
    sums = sums + _sum_over_cuts(terms * (base - low), order) if (base != low).any() else sums
    mass_a, first_a, mass_b, first_b = sums
    more_a, further_a, more_b, further_b = _sum_over_cuts(terms * slope, order)
    constant = first_a * mass_b - first_b * mass_a
    linear = _subtract(first_a * more_b + further_a * mass_b, first_b * more_a + further_b * mass_a)
    square = _subtract(further_a * more_b, further_b * more_a)
    constant = np.broadcast_to(constant, linear.shape)
    ahead = (constant > TIE * mass_a * mass_b).all(axis=(1, 2))
    return np.where(ahead, _find_first_root(constant, linear, square).min(axis=(1, 2)), 0.0)


def _sum_over_cuts(terms: Floats, order: Index) -> Floats:
    """Sum terms over the ratings whose weights are at their upper ends, for every pair of cuts.

    With a cut of the scale before rating k and of the ``order`` before its l-th entry, these are
    the ratings below the first cut and before the second, and those above and after.
    """
    m = order.shape[1]
    sorted_terms = np.take_along_axis(terms, order[None], axis=2)[:, :, None, :]
    lower = order[:, None, :] < np.arange(m)[:, None]
    signed = np.where(lower, sorted_terms, -sorted_terms)
    sums = np.empty((*signed.shape[:-1], m + 1))
    sums[..., 0] = np.where(lower, 0.0, sorted_terms).sum(axis=-1)
    sums[..., 1:] = sums[..., :1] + np.cumsum(signed, axis=-1)
    return sums


def _subtract(plus: Floats, minus: Floats) -> Floats:
    """Subtract, and set differences that are only rounding errors to zero."""
    difference = plus - minus
    return np.where(np.abs(difference) > _ZERO * (np.abs(plus) + np.abs(minus)), difference, 0.0)


def _find_first_root(constant: Floats, linear: Floats, square: Floats) -> Floats:
    """Return the first positive root of quadratics that are positive at 0; infinity if none."""
    inner = linear * linear - 4 * square * constant
    root = np.sqrt(np.maximum(inner, 0.0))
    falls = linear < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        # Written to avoid cancellation.
        early = np.where(inner >= 0, 2 * constant / (root - linear), np.inf)
        late = np.where(square < 0, (linear + root) / (-2 * square), np.inf)
    return np.where(falls, early, late)
