"""Conditions under which items are compared, so that together they settle pairs.

How pairs are settled, see :mod:`unheard.analysis.shared_pairs` for the proofs:

- Weights in a box: i is surely above j if and only if it is ahead at every corner.
- A direction: at some points of every segment between thresholds both items are looked at. One
  that is behind at a point is not surely above. Between two points a mean stays close to its
  chord: going from one to the other it moves by Δ while its denominator grows by a factor ρ, and it
  leaves the chord by Δ(√ρ - 1)/(√ρ + 1) at most. Chords differ least at an end, so one that is
  ahead at both ends by more than both can leave their chords is ahead in between. Only the pairs
  that neither settles are looked at one by one.
- Weights in a box with too many corners: the same, with the two extremes of each mean in place of
  chords.

**Nearly alike.** Participation may also differ a little from item to item: for each rating by a
factor of at most 1/``alike``. The weights x of i and y of j then fill, rating by rating, a hexagon,
and F is still a straight line along each (x_r, y_r), because the term with x_r y_r has the factor
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

from unheard.analysis.dominance import Flags, Progress, Scores, dominance, unpacked
from unheard.analysis.shared_pairs import TIE, Crowd, Index
from unheard.errors import OptionError
from unheard.formulas.operations import Floats

MOST_COMPARISONS = 10**12
"""Pairs times conditions up to which items are ranked: some minutes."""

_MOST_CORNERS = 2**13
_MOST_CUTS = 2 * 10**9
_PORTION = 2**11
_STRETCH = 1.4
"""The factor by which a weight grows from one point of a segment to the next."""


@dataclass(frozen=True)
class Plan:
    """How to settle all pairs.

    Attributes
    ----------
    necessary
        Scores that one surely above must have, and the number of conditions.
    sufficient
        Scores that are enough to be surely above, if the necessary ones are not.
    settle
        Tells for pairs between the two, one by one.
    """

    necessary: tuple[Scores, int]
    sufficient: tuple[Scores, int] | None = None
    settle: Callable[[Index, Index], Flags] | None = None


def settle(
    plan: Plan, items: int, progress: Progress | None = None
) -> Iterator[tuple[slice, slice, Flags]]:
    """Tell for blocks of pairs, rows against columns, which are surely in this order."""
    if plan.sufficient is None or plan.settle is None:
        for columns, sets in dominance(*plan.necessary, items, progress):
            for rows, sure in unpacked(columns, sets):
                yield rows, columns, sure
        return
    strips = zip(dominance(*plan.necessary, items), dominance(*plan.sufficient, items), strict=True)
    for (columns, sets), (_, plenty) in strips:
        blocks = zip(unpacked(columns, sets), unpacked(columns, plenty), strict=True)
        for (rows, possible), (_, sure) in blocks:
            i, j = np.nonzero(possible & ~sure)
            for some in (slice(at, at + _PORTION) for at in range(0, len(i), _PORTION)):
                possible[i[some], j[some]] = plan.settle(
                    i[some] + rows.start, j[some] + columns.start
                )
                if progress is not None:
                    before = columns.start * items + rows.start * (columns.stop - columns.start)
                    here = min(some.stop / len(i), 1.0) * possible.size
                    progress((before + here) / items**2)
            yield rows, columns, possible
    if progress is not None:
        progress(1.0)


def plan_exact(crowd: Crowd, alike: float, effort: float = 1.0) -> Plan:
    """Plan how to settle all pairs, ignoring sampling error, with a share of the most work."""
    if crowd.falling and alike == 1:
        plan = _plan_falling(crowd)
    elif alike == 1 and 2**crowd.free > _MOST_CORNERS:
        plan = _plan_many(crowd)
    else:
        plan = Plan(_mean_scores(crowd, *extreme_weights(crowd, alike)))
    conditions = plan.necessary[1] + (plan.sufficient[1] if plan.sufficient else 0)
    check_work(len(crowd.items), conditions, effort * MOST_COMPARISONS)
    return plan


def extreme_weights(crowd: Crowd, alike: float) -> tuple[Floats, Floats]:
    """Return weights of one above and of one below, enough of them to settle every pair.

    For weights in a box: if a mean is larger than another under each of these, it is under all.
    """
    if alike == 1:
        corners = _corners(crowd)
        return corners, corners
    if crowd.falling:
        raise OptionError(
            "alike", f"{alike:g} given with a direction", "Give it with q alone or per rating"
        )
    return _vertices(crowd, alike)


def check_work(items: int, steps: int, most: float) -> None:
    """Raise if so many steps for each pair of so many items take too long."""
    if items * items * steps > most:
        raise OptionError(
            "shared",
            f"{items:,} items are too many to compare pair by pair under one participation",
            f"Rank at most {int((most / steps) ** 0.5):,} items on this scale, or rank them with "
            "separate participation",
        )


def _mean_scores(crowd: Crowd, above: Floats, below: Floats) -> tuple[Scores, int]:
    """Means at some weights, and for the one below at others."""

    def scores(condition: int) -> tuple[Floats, Floats]:
        means = crowd.means(above[condition])
        others = means if above is below else crowd.means(below[condition])
        return means - TIE, others

    return scores, len(above)


def _corners(crowd: Crowd) -> Floats:
    """Corners of the box of weights, each once up to a factor."""
    sides = [np.unique(side) for side in zip(crowd.low, crowd.high, strict=True)]
    corners = np.array(list(product(*sides)), np.float64)
    growth = crowd.high / crowd.low
    # The last corner is the first one times a number if all weights may grow by the same factor.
    return corners[:-1] if len(corners) > 1 and growth.min() == growth.max() else corners


def points_on_segments(
    crowd: Crowd, stretch: float
) -> dict[tuple[float, ...], set[tuple[float, ...]]]:
    """Return points on all segments between thresholds, each with its neighbours on them."""
    m, most = len(crowd.places), float(crowd.high[0])
    steps = int(np.ceil(np.log(most) / np.log(stretch)))
    inner = np.geomspace(1, most, steps + 1).tolist()
    points: dict[tuple[float, ...], set[tuple[float, ...]]] = {(1.0,) * m: set()}
    for i, j in combinations(range(m), 2):
        segment = [(most,) * i + (y,) * (j - i) + (1.0,) * (m - j) for y in inner]
        for one, other in pairwise(segment):
            points.setdefault(one, set()).add(other)
            points.setdefault(other, set()).add(one)
    return points


def _plan_falling(crowd: Crowd) -> Plan:
    """A direction: points on every segment between thresholds, with chords between them."""
    points = points_on_segments(crowd, _STRETCH)
    weights, neighbours = np.array(list(points)), [np.array(list(x)) for x in points.values()]

    def chords(condition: int) -> tuple[Floats, Floats]:
        mass, mean = crowd.totals(weights[condition]), crowd.means(weights[condition])
        short, over = np.zeros_like(mean), np.zeros_like(mean)
        for other in neighbours[condition]:
            root = np.sqrt(crowd.totals(other) / mass)
            leaves = (crowd.means(other) - mean) * (root - 1) / (root + 1)
            short, over = np.minimum(short, leaves), np.maximum(over, leaves)
        return mean + short - TIE, mean + over

    return Plan(_mean_scores(crowd, weights, weights), (chords, len(weights)), crowd.surely_above)


def _plan_many(crowd: Crowd) -> Plan:
    """A box with many corners: those at which a mean is extreme, then pairs one by one."""
    m = len(crowd.places)
    check_work(len(crowd.items), m * m, _MOST_CUTS)
    lower = np.tri(m, m, -1, dtype=bool)
    pushed = np.concatenate(
        [np.where(lower, crowd.high, crowd.low), np.where(lower, crowd.low, crowd.high)]
    )
    means = np.stack([crowd.means(weights) for weights in pushed])
    ends = means.min(axis=0) - TIE, means.max(axis=0)
    return Plan(_mean_scores(crowd, pushed, pushed), (lambda _: ends, 1), crowd.surely_above)


def _vertices(crowd: Crowd, alike: float) -> tuple[Floats, Floats]:
    """Return the weights of two items that are nearly alike where one may first pass the other."""
    upward, downward = [], []
    for low, high in zip(crowd.low.tolist(), crowd.high.tolist(), strict=True):
        more, less = min(high, low / alike), max(low, high * alike)
        upward.append({(low, low), (low, more), (less, high), (high, high)})
        downward.append({(y, x) for x, y in upward[-1]})
    sides = [(*downward[:cut], *upward[cut:]) for cut in range(len(upward) + 1)]
    many = sum(float(np.prod([len(x) for x in side], dtype=float)) for side in sides)
    check_work(len(crowd.items), int(many), MOST_COMPARISONS)
    vertices = np.array(sorted({one for side in sides for one in product(*side)}))
    return vertices[:, :, 0], vertices[:, :, 1]
