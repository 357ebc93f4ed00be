"""Criteria that settle the order of all pairs of items under shared participation.

See :mod:`unheard.analysis.shared_pairs` for the proofs about one pair:

- Weights in a box: i is surely above j if and only if it is ahead at every corner.
- A direction: both items are evaluated at some points of every segment between thresholds. An item
  that is behind at a point is not surely above. Between two points a mean stays close to its chord:
  it changes by Δ while its denominator grows by a factor ρ, and deviates from the chord by at most
  Δ(√ρ - 1)/(√ρ + 1). Chords differ least at an end, so an item that is ahead at both ends by more
  than both means can deviate is ahead in between. Only the pairs that neither criterion settles are
  evaluated one by one.
- Weights in a box with too many corners: the same, with the two extremes of each mean in place of
  chords.

**Similar participation.** Participation may also differ a little from item to item: for each rating
by a factor of at most 1/``similarity``. The weights x of i and y of j then fill, rating by rating,
a hexagon, and F is still linear along each (x_r, y_r), because the term with x_r y_r has the factor
v_r - v_r. So i is surely above j if and only if it is ahead at all combinations of their vertices.
If it is not, mean_i < mean_j at the worst combination; ratings above both means are then at a
vertex with x_r small and y_r large, those below both at one with x_r large and y_r small, and all
others at the top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product

import numpy as np

from unheard.analysis.dominance import Flags, Progress, Scores, find_dominance, unpack_sets
from unheard.analysis.shared_pairs import TIE, Index, SharedItems
from unheard.errors import OptionError
from unheard.formulas.operations import Floats

MOST_COMPARISONS = 10**12
"""Largest number of pairs times conditions that are compared, which takes some minutes."""

_MOST_CORNERS = 2**13
_MOST_CUTS = 2 * 10**9
_PORTION = 2**11
_STRETCH = 1.4
"""The factor by which a weight grows from one point of a segment to the next."""


@dataclass(frozen=True)
class PairCriteria:
    """Criteria by which the order of all pairs is settled.

    Attributes
    ----------
    necessary
        Scores under conditions that an item surely above another must dominate, and their number.
    sufficient
        Scores under conditions that suffice to be surely above, if the necessary ones do not.
    settle
        Settles the remaining pairs, one by one.
    """

    necessary: tuple[Scores, int]
    sufficient: tuple[Scores, int] | None = None
    settle: Callable[[Index, Index], Flags] | None = None


def settle_pairs(
    criteria: PairCriteria, items: int, progress: Progress | None = None
) -> Iterator[tuple[slice, slice, Flags]]:
    """Yield blocks of pairs, and whether the row is surely above the column."""
    if criteria.sufficient is None or criteria.settle is None:
        for columns, sets in find_dominance(*criteria.necessary, items, progress):
            for rows, sure in unpack_sets(columns, sets):
                yield rows, columns, sure
        return
    strips = zip(
        find_dominance(*criteria.necessary, items),
        find_dominance(*criteria.sufficient, items),
        strict=True,
    )
    for (columns, sets), (_, plenty) in strips:
        blocks = zip(unpack_sets(columns, sets), unpack_sets(columns, plenty), strict=True)
        for (rows, possible), (_, sure) in blocks:
            i, j = np.nonzero(possible & ~sure)
            for some in (slice(at, at + _PORTION) for at in range(0, len(i), _PORTION)):
                possible[i[some], j[some]] = criteria.settle(
                    i[some] + rows.start, j[some] + columns.start
                )
                if progress is not None:
                    before = columns.start * items + rows.start * (columns.stop - columns.start)
                    here = min(some.stop / len(i), 1.0) * possible.size
                    progress((before + here) / items**2)
            yield rows, columns, possible
    if progress is not None:
        progress(1.0)


def build_exact_criteria(
    shared: SharedItems, similarity: float, effort: float = 1.0
) -> PairCriteria:
    """Build the criteria that settle all pairs, ignoring sampling error."""
    if shared.falling and similarity == 1:
        criteria = _build_falling_criteria(shared)
    elif similarity == 1 and 2**shared.free > _MOST_CORNERS:
        criteria = _build_many_cornered_criteria(shared)
    else:
        criteria = PairCriteria(_score_means(shared, *list_extreme_weights(shared, similarity)))
    conditions = criteria.necessary[1] + (criteria.sufficient[1] if criteria.sufficient else 0)
    check_comparisons(len(shared.items), conditions, effort * MOST_COMPARISONS)
    return criteria


def list_extreme_weights(shared: SharedItems, similarity: float) -> tuple[Floats, Floats]:
    """Return weights for the upper and for the lower item that together settle every pair.

    For weights in a box: a mean that is larger under each of these is larger under all weights.
    """
    if similarity == 1:
        corners = _list_corners(shared)
        return corners, corners
    if shared.falling:
        raise OptionError(
            "similarity",
            problem="{argument} cannot be combined with a direction",
            value=similarity,
            hint="Leave out {quiet}",
        )
    return _list_vertices(shared, similarity)


def check_comparisons(items: int, steps: int, most: float) -> None:
    """Raise if a number of comparisons for each pair of items takes too long."""
    if items * items * steps > most:
        raise OptionError(
            "shared",
            problem="{items:,} items are too many to compare pair by pair under one participation",
            hint="Rank at most {most:,} items on this scale, or use separate participation",
            code="too_many_items",
            items=items,
            most=int((most / steps) ** 0.5),
        )


def _score_means(shared: SharedItems, above: Floats, below: Floats) -> tuple[Scores, int]:
    """Return means as scores: at some weights for the upper item, at others for the lower."""

    def scores(condition: int) -> tuple[Floats, Floats]:
        means = shared.compute_means(above[condition])
        others = means if above is below else shared.compute_means(below[condition])
        return means - TIE, others

    return scores, len(above)


def _list_corners(shared: SharedItems) -> Floats:
    """Return the corners of the box of weights, without multiples of each other."""
    sides = [np.unique(side) for side in zip(shared.low, shared.high, strict=True)]
    corners = np.array(list(product(*sides)), np.float64)
    growth = shared.high / shared.low
    # The last corner is a multiple of the first if all weights may grow by the same factor.
    return corners[:-1] if len(corners) > 1 and growth.min() == growth.max() else corners


def list_segment_points(
    shared: SharedItems, stretch: float
) -> dict[tuple[float, ...], set[tuple[float, ...]]]:
    """Return points on all segments between thresholds, each with its neighbours."""
    m, most = len(shared.places), float(shared.high[0])
    steps = int(np.ceil(np.log(most) / np.log(stretch)))
    inner = np.geomspace(1, most, steps + 1).tolist()
    points: dict[tuple[float, ...], set[tuple[float, ...]]] = {(1.0,) * m: set()}
    for i, j in combinations(range(m), 2):
        segment = [(most,) * i + (y,) * (j - i) + (1.0,) * (m - j) for y in inner]
        for one, other in pairwise(segment):
            points.setdefault(one, set()).add(other)
            points.setdefault(other, set()).add(one)
    return points


def _build_falling_criteria(shared: SharedItems) -> PairCriteria:
    """Build the criteria for a direction: points on every segment, and chords between them."""
    points = list_segment_points(shared, _STRETCH)
    weights, neighbours = np.array(list(points)), [np.array(list(x)) for x in points.values()]

    def chords(condition: int) -> tuple[Floats, Floats]:
        mass, mean = (
            shared.compute_totals(weights[condition]),
            shared.compute_means(weights[condition]),
        )
        short, over = np.zeros_like(mean), np.zeros_like(mean)
        for other in neighbours[condition]:
            root = np.sqrt(shared.compute_totals(other) / mass)
            leaves = (shared.compute_means(other) - mean) * (root - 1) / (root + 1)
            short, over = np.minimum(short, leaves), np.maximum(over, leaves)
        return mean + short - TIE, mean + over

    return PairCriteria(
        _score_means(shared, weights, weights), (chords, len(weights)), shared.are_surely_above
    )


def _build_many_cornered_criteria(shared: SharedItems) -> PairCriteria:
    """Build the criteria for a box with many corners: those at which a mean is extreme."""
    m = len(shared.places)
    check_comparisons(len(shared.items), m * m, _MOST_CUTS)
    lower = np.tri(m, m, -1, dtype=bool)
    pushed = np.concatenate(
        [np.where(lower, shared.high, shared.low), np.where(lower, shared.low, shared.high)]
    )
    means = np.stack([shared.compute_means(weights) for weights in pushed])
    ends = means.min(axis=0) - TIE, means.max(axis=0)
    return PairCriteria(
        _score_means(shared, pushed, pushed), (lambda _: ends, 1), shared.are_surely_above
    )


def _list_vertices(shared: SharedItems, similarity: float) -> tuple[Floats, Floats]:
    """Return weights of two items with similar participation that together settle every pair."""
    upward, downward = [], []
    for low, high in zip(shared.low.tolist(), shared.high.tolist(), strict=True):
        more, less = min(high, low / similarity), max(low, high * similarity)
        upward.append({(low, low), (low, more), (less, high), (high, high)})
        downward.append({(y, x) for x, y in upward[-1]})
    sides = [(*downward[:cut], *upward[cut:]) for cut in range(len(upward) + 1)]
    many = sum(float(np.prod([len(x) for x in side], dtype=float)) for side in sides)
    check_comparisons(len(shared.items), int(many), MOST_COMPARISONS)
    vertices = np.array(sorted({one for side in sides for one in product(*side)}))
    return vertices[:, :, 0], vertices[:, :, 1]
