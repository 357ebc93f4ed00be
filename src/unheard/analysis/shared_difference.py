"""Bounds of the difference of two means when one shared participation distorts both.

Two items with counts a_r and b_r are rated by the same kind of people: one observed rating r stands
for w_r = 1/g_r people, for both items. The difference of the means

    d(w) = Σ w a v / Σ w a - Σ w b v / Σ w b

is then known far better than two separate bounds suggest. We need its minimum and maximum over all
weights that the assumption allows. A minimum is a maximum with the items swapped, so what follows
is about the maximum.

**Location of the maximum.** d does not change when w is multiplied by a constant. Write y = tw with
t such that Σ y b = 1 (Charnes and Cooper), and fix Σ y a at its value in the maximum: the rest is a
linear program with two equalities over a cone, so some basic solution is a maximum.

- A box f <= w <= h has the cone tf <= y <= th in m+1 unknowns (y, t). A basic solution meets m+1
  constraints, at least m-1 of them sides of the box: at most one weight lies strictly inside, and
  the maximum is on an *edge* of the box.
- Monotone weights in [1, 1/q] are the mixtures of m+1 threshold vectors. A basic solution mixes at
  most two of them, not always neighbours: the maximum is on a *segment* between two.

It need not be at a corner. Counts (1, 1) and (2, 1) of the ratings 0 and 1 differ most, by 3 - 2√2,
if one rating 1 stands for √2 times as many people as one rating 0.

**Along a segment.** As w goes from w0 to w1, x in [0, 1], a mean changes by Δ in total while its
denominator, which is linear in x, grows by a factor ρ. Its slope is ρΔ/(1 - x + ρx)². Denominators
are positive, so the two slopes are equal where their square roots are, and that is a linear
equation: if Δ_a and Δ_b have the same sign there is at most one stationary point, with
α = √(ρ_a|Δ_a|), β = √(ρ_b|Δ_b|),

    x = h0/(h0 - h1),    h0 = α - β,    h1 = αρ_b - βρ_a,

which is inside if and only if h0 and h1 have opposite signs, so there is no division by zero;
otherwise there is none.

**Many ratings.** k free weights have k 2^(k-1) edges. Beyond :data:`MOST_FREE` free weights we
search over λ = Σ w b / Σ w a instead. Where that is the ratio of the denominators, for every s

    d(w) <= U(λ, s) = s + max over w of Σ w (λ a (v - s) - b v) / Σ w b,

because Σ w λ a = Σ w b makes the two s cancel; and by linear programming duality the best s makes
this an equality for some w. On an interval [λ1, λ2] with the best s1, s2 and the bounds U1, U2 at
its two ends, let λs be linear in λ in between. Then the maximum is over functions that are linear
in λ, hence convex, and s = r + p/λ is convex if s2 <= s1. In that case U is convex in λ and its
maximum is at an end: nothing is lost. Otherwise s exceeds its own chord by at most the last term of

    d(w) <= max(U1, U2) + max(s2 - s1, 0) (√λ2 - √λ1)/(√λ2 + √λ1),

which is quadratic in the length of the interval. Halving the intervals whose bound still exceeds
the best value found terminates with a proof. The best s may be restricted to the scale: where it
would leave it, U is at most d at the corner that attains it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unheard.formulas.boxes import Box, build_boxes
from unheard.formulas.operations import Floats

MOST_FREE = 12
"""Number of free weights up to which every edge is evaluated."""

GAP = 1e-10
"""Largest gap that the search leaves between value and bound, relative to the scale's width."""

ROUNDING = 1e-12
"""Added to every searched bound, relative to the scale's width; more for q below 0.001."""

_MOST_HALVINGS = 60
_MOST_STEPS = 100
_FIRST_INTERVALS = 32
_MOST_INTERVALS = 4096


@dataclass(frozen=True, eq=False)
class ExtremeDifference:
    """The smallest or the largest difference.

    Attributes
    ----------
    value
        The difference at ``weights``.
    bound
        No weights exceed this bound. It equals ``value``, unless there are more than
        :data:`MOST_FREE` free weights; then it is further out by about :data:`GAP` times the width
        of the scale, or by what rounding leaves unproved if q is below a millionth.
    weights
        The number of people that one observed rating stands for, per rating.
    """

    value: float
    bound: float
    weights: Floats


def find_shared_range(
    a: ArrayLike, b: ArrayLike, values: ArrayLike, kind: str, q: float | None, fixed: Box | None
) -> tuple[ExtremeDifference, ExtremeDifference]:
    """Return the smallest and the largest difference of two means, first minus second.

    Parameters
    ----------
    a, b
        Counts per rating of the two items; each has at least one rating.
    values
        The values of the scale, in increasing order.
    kind
        The kind of the assumption.
    q
        The participation ratio; where ``fixed`` is given, as :func:`boxes` takes it.
    fixed
        The box of an assumption stated per rating.

    Examples
    --------
    With separate participation either item may be better; with shared participation the first is:

    >>> least, most = find_shared_range([1, 2, 6], [3, 3, 2], [1, 2, 3], "any", 0.3, None)
    >>> round(least.value, 3), round(most.value, 3)
    (0.433, 0.854)
    """
    v = np.asarray(values, dtype=np.float64)
    # Shares rather than counts: proportional counts give identical numbers.
    first, second = (c / c.sum() for c in (np.asarray(c, dtype=np.float64) for c in (a, b)))
    width = float(v[-1] - v[0]) or 1.0
    u = (v - v[0]) / width
    least = _find_largest(second, first, u, kind, q, fixed)
    most = _find_largest(first, second, u, kind, q, fixed)
    return (
        ExtremeDifference(0.0 - least.value * width, 0.0 - least.bound * width, least.weights),
        ExtremeDifference(most.value * width, most.bound * width, most.weights),
    )


def _find_largest(
    a: Floats, b: Floats, u: Floats, kind: str, q: float | None, fixed: Box | None
) -> ExtremeDifference:
    """Return the largest difference for shares a and b and values in [0, 1].

    Weights w matter only through the four *sums* ``terms @ w``: denominator and numerator of the
    first mean, and of the second.
    """
    terms = np.stack([a, a * u, b, b * u])
    if fixed is None and kind in ("low", "high"):
        assert q is not None  # a direction states a q
        return _evaluate_at(terms, _find_best_monotone(terms, q, falling=kind == "low"))
    box, _ = build_boxes(kind, q, fixed, len(u))
    assert box is not None  # only a direction has an end without a box
    low, high = (np.array(side, dtype=np.float64) for side in (box.fewest, box.most))
    seen = a + b > 0
    if np.array_equal(a, b):
        return ExtremeDifference(0.0, 0.0, low)
    weights = low.copy()
    if np.count_nonzero(seen & (high > low)) <= MOST_FREE:
        weights[seen] = _find_best_on_edges(terms[:, seen], low[seen], high[seen])
        return _evaluate_at(terms, weights)
    weights[seen], bound = _search_ratios(terms[:, seen], low[seen], high[seen])
    found = _evaluate_at(terms, weights)
    return ExtremeDifference(found.value, max(found.value, bound), weights)


def _evaluate_at(terms: Floats, weights: Floats) -> ExtremeDifference:
    value = float(_compute_difference((terms * weights).sum(axis=1)))
    return ExtremeDifference(value, value, weights)


def _compute_difference(sums: Floats) -> Floats:
    """Return the difference of the means for given sums, which are on the first axis."""
    difference: Floats = sums[1] / sums[0] - sums[3] / sums[2]
    return difference


def find_best_between(start: Floats, stop: Floats) -> tuple[Floats, Floats]:
    """Find the largest difference on segments between sums, and where it is, from 0 to 1.

    Differences of means may cancel, but the resulting error of the difference is then no larger
    than rounding.
    """
    growth_a, growth_b = stop[0] / start[0], stop[2] / start[2]
    move_a = stop[1] / stop[0] - start[1] / start[0]
    move_b = stop[3] / stop[2] - start[3] / start[2]
    alpha, beta = np.sqrt(growth_a * np.abs(move_a)), np.sqrt(growth_b * np.abs(move_b))
    h0, h1 = alpha - beta, alpha * growth_b - beta * growth_a
    inside = (np.sign(move_a) == np.sign(move_b)) & (np.sign(h0) * np.sign(h1) < 0)
    turn = np.divide(h0, h0 - h1, out=np.zeros_like(h0), where=inside)
    at_turn = _compute_difference((1 - turn) * start + turn * stop)
    ends = _compute_difference(start), _compute_difference(stop)
    end = (ends[1] > ends[0]).astype(np.float64)
    at_end = np.maximum(*ends)
    return np.where(at_turn > at_end, turn, end), np.maximum(at_turn, at_end)


def _find_best_monotone(terms: Floats, q: float, falling: bool) -> Floats:
    """Find the best monotone weights in [1, 1/q] on all segments between two thresholds."""
    m = terms.shape[1]
    # Equal weights occur once, as 1: the threshold with all weights 1/q is proportional to it.
    corners = np.where(np.tri(m, m, -1, dtype=bool), 1 / q, 1.0)
    if not falling:
        corners = corners[:, ::-1]
    sums = (terms[:, None, :] * corners).sum(axis=-1)
    i, j = np.triu_indices(m)
    far, value = find_best_between(sums[:, i], sums[:, j])
    best = int(np.argmax(value))
    return _mix(corners[i[best]], corners[j[best]], far[best])


def _find_best_on_edges(terms: Floats, low: Floats, high: Floats) -> Floats:
    """Find the best weights in a box, on all its edges.

    Corners are numbered in binary: a one stands for a weight at its upper end.
    """
    free = np.flatnonzero(high > low)
    sums = (terms * np.where(high > low, 0.0, low)).sum(axis=1, keepdims=True)
    for r in free:
        sums = np.hstack([sums + side[r] * terms[:, r, None] for side in (low, high)])
    best, weights = -np.inf, low
    for place, r in enumerate(free):
        pairs = sums.reshape(4, -1, 2, 2**place)
        far, value = find_best_between(pairs[:, :, 0], pairs[:, :, 1])
        if value.max() > best:
            best = float(value.max())
            i, j = np.unravel_index(int(np.argmax(value)), value.shape)
            corner = int(i) * 2 ** (place + 1) + int(j)
            weights = low.copy()
            weights[free] = np.where(corner >> np.arange(len(free)) & 1, high[free], low[free])
            weights[r] = _mix(low[r], high[r], far[i, j])
    return weights


def _mix(start: Floats, stop: Floats, far: Floats) -> Floats:
    # The far end is returned exactly.
    return np.where(far == 1, stop, start + far * (stop - start))


def _search_ratios(terms: Floats, low: Floats, high: Floats) -> tuple[Floats, float]:
    """Find the best weights in a box with many sides, and a bound, by halving intervals of λ."""
    least, most = terms[2] @ low / (terms[0] @ high), terms[2] @ high / (terms[0] @ low)
    ratios = np.geomspace(least, most, _FIRST_INTERVALS + 1)
    means, uppers, weights, _ = _bound_ratios(terms, low, high, ratios)
    weights, best = _improve_weights(terms, weights, low, high)
    nodes = np.stack([ratios, means, uppers])
    left, right = nodes[:, :-1], nodes[:, 1:]
    # Along an edge, U is a difference of numbers as large as the largest ratio of weights.
    slack = ROUNDING * max(1.0, 1e-3 * float(np.max(high / low)))
    settled = -np.inf
    for _ in range(_MOST_HALVINGS):
        excess = np.maximum(right[1] - left[1], 0) * _compute_spread(left[0], right[0])
        bounds = np.maximum(left[2], right[2]) + excess
        open_ = bounds > best + GAP + slack
        settled = max(settled, float(np.max(bounds[~open_], initial=-np.inf)))
        left, right, bounds = left[:, open_], right[:, open_], bounds[open_]
        if not 0 < len(bounds) <= _MOST_INTERVALS:
            break
        ratios = np.sqrt(left[0]) * np.sqrt(right[0])
        means, uppers, other, value = _bound_ratios(terms, low, high, ratios)
        if value > best:
            weights, best = _improve_weights(terms, other, low, high)
        middle = np.stack([ratios, means, uppers])
        left, right = np.hstack([left, middle]), np.hstack([middle, right])
    return weights, min(1.0, max(settled, float(np.max(bounds, initial=-np.inf))) + slack)


def _compute_spread(least: Floats, most: Floats) -> Floats:
    root = np.sqrt(least / most)
    spread: Floats = (1 - root) / (1 + root)
    return spread


def _bound_ratios(
    terms: Floats, low: Floats, high: Floats, ratios: Floats
) -> tuple[Floats, Floats, Floats, float]:
    """Return the best s and U(λ, s) for some ratios λ, and the best weights with their difference.

    U is convex in s: the maximum of one line per corner. Keep one falling and one rising line, go
    to where they cross, replace one of them by the line that is highest there, and repeat. A
    mixture of the last two corners attains both λ and U.
    """
    s = np.zeros(len(ratios))
    upper, falling = _maximize_line(terms, low, high, ratios, s)
    top, rising = _maximize_line(terms, low, high, ratios, s + 1)
    at_top = _compute_line(terms, rising, ratios)[1] <= 0
    s[at_top], upper[at_top] = 1.0, top[at_top]
    rows = np.flatnonzero(~at_top & (_compute_line(terms, falling, ratios)[1] < 0))
    for _ in range(_MOST_STEPS):
        if not len(rows):
            break
        base, slope = _compute_line(terms, falling[rows], ratios[rows])
        base_up, slope_up = _compute_line(terms, rising[rows], ratios[rows])
        s[rows] = (base_up - base) / (slope - slope_up)
        upper[rows], corner = _maximize_line(terms, low, high, ratios[rows], s[rows])
        higher = upper[rows] > base + slope * s[rows] + ROUNDING
        rows, corner = rows[higher], corner[higher]
        falls = _compute_line(terms, corner, ratios[rows])[1] < 0
        falling[rows[falls]] = corner[falls]
        rising[rows[~falls]] = corner[~falls]
    far, values = find_best_between(terms @ falling.T, terms @ rising.T)
    i = int(np.argmax(values))
    return s, upper, _mix(falling[i], rising[i], far[i]), float(values[i])


def _compute_line(terms: Floats, corners: Floats, ratios: Floats) -> tuple[Floats, Floats]:
    """Return intercept and slope of the line in s that a corner contributes to U(λ, s)."""
    mass_a, first_a, mass_b, first_b = terms @ corners.T
    return (ratios * first_a - first_b) / mass_b, 1 - ratios * mass_a / mass_b


def _maximize_line(
    terms: Floats, low: Floats, high: Floats, ratios: Floats, s: Floats
) -> tuple[Floats, Floats]:
    """Return U(λ, s) for pairs of λ and s, and the corners that attain it.

    By Dinkelbach's iteration: to exceed the current quotient, put large weights on the ratings that
    raise it and small weights on the others; if that does not help, the quotient is the maximum.
    """
    gain = ratios[:, None] * (terms[1] - s[:, None] * terms[0]) - terms[3]
    quotient = gain @ low / (terms[2] @ low)
    for _ in range(_MOST_STEPS):
        corners = np.where(gain > quotient[:, None] * terms[2], high, low)
        better = (corners * gain).sum(axis=1) / (corners @ terms[2])
        if not (better > quotient).any():
            break
        quotient = np.maximum(quotient, better)
    return s + quotient, corners


def _improve_weights(
    terms: Floats, weights: Floats, low: Floats, high: Floats
) -> tuple[Floats, float]:
    """Change the one weight that helps most, to where it helps most, until no change helps."""
    value = float(_compute_difference(terms @ weights))
    for _ in range(_MOST_STEPS * len(low)):
        start, stop = (np.tile(weights, (len(low), 1)) for _ in range(2))
        np.fill_diagonal(start, low)
        np.fill_diagonal(stop, high)
        far, values = find_best_between(terms @ start.T, terms @ stop.T)
        r = int(np.argmax(values))
        if not values[r] > value + ROUNDING / 1000:
            break
        value = float(values[r])
        weights = _mix(start[r], stop[r], far[r])
    return weights, value
