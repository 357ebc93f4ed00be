"""The order of many items rated by one crowd: one unknown participation distorts them all.

Item i is *surely above* j if its mean is the larger for every participation that the assumption
allows, the same for both. What is reported counts pairs: the best rank of an item is one more than
the number of items surely above it, the worst one is N less the number of items surely below it.
Ranks under one common participation may range less widely than this; nothing is claimed about
that.

How pairs are settled, see :mod:`unheard.decide.shared_pairs` for the proofs:

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

from unheard.core.columns import Floats
from unheard.core.estimate import Inquiry
from unheard.decide.dominance import Flags, Progress, Scores, dominance, unpacked
from unheard.decide.ranking import Ranking, Whole, check_k
from unheard.decide.shared_pairs import TIE, Crowd, Index
from unheard.errors import OptionError

MOST_COMPARISONS = 10**12
"""Pairs times conditions up to which items are ranked: some minutes."""

MOST_LISTED = 5000
"""Items up to which settled pairs are listed."""

_MOST_CORNERS = 2**13
_MOST_CUTS = 2 * 10**9
_PORTION = 2**14
_STRETCH = 1.4
"""The factor by which a weight grows from one point of a segment to the next."""


@dataclass(frozen=True, eq=False)
class SharedRanking(Ranking):
    """What one shared participation settles about an order, item by item; 1 is best.

    The fields of :class:`~unheard.decide.ranking.Ranking` count pairs here: a best rank is one more
    than the number of items surely above. An item without ratings may have any rank.

    Attributes
    ----------
    settled
        Number of pairs in a settled order, of N(N - 1)/2.
    pairs
        The settled pairs in rising order, the one above first, shape (settled, 2); None unless
        asked for.
    """

    settled: int
    pairs: Whole | None

    @property
    def settled_share(self) -> float:
        """Share of all pairs whose order is settled; 1 if there is only one item."""
        items = len(self.tier)
        return self.settled / (items * (items - 1) / 2) if items > 1 else 1.0


def rank_shared(
    question: Inquiry,
    *,
    k: int | None = None,
    alike: float = 1.0,
    pairs: bool = False,
    progress: Progress | None = None,
) -> SharedRanking:
    """Rank items that one participation distorts, ignoring sampling error.

    Parameters
    ----------
    question
        All items, with one q for all. A known number of people is not used: it could only narrow
        what is allowed, so whatever is settled without it is settled.
    k
        Also say who is surely, and who possibly, among the k best.
    alike
        By how much the participation of two items may differ, rating by rating: at least this
        share of the other's. 1 if it is the same; q or less if each item has its own.
    pairs
        Whether to list the settled pairs.
    progress
        Called with the share of the work that is done.

    Examples
    --------
    >>> from unheard import inquire
    >>> hotels = inquire([[1, 2, 6, 18, 14], [3, 1, 6, 7, 5], [4, 3, 3, 9, 9]], 0.3)
    >>> found = rank_shared(hotels, k=1, pairs=True)
    >>> found.best_rank, found.worst_rank, found.pairs.tolist()
    (array([1, 2, 2]), array([1, 3, 3]), [[0, 1], [0, 2]])
    """
    items = question.counts.rows
    if k is not None:
        check_k(k, items)
    if pairs and items > MOST_LISTED:
        raise OptionError(
            "pairs", f"asked for, with {items:,} items", f"List pairs of at most {MOST_LISTED:,}"
        )
    crowd = Crowd.of(question)
    plan = _plan(crowd, _checked_alike(alike))
    above, below = (np.zeros(items, np.int64) for _ in range(2))
    listed: list[Whole] = []
    for rows, columns, sure in _settle(plan, crowd, progress):
        # A block has fewer than 2**16 rows and columns, and short numbers add up faster.
        below[crowd.items[rows]] += sure.sum(axis=1, dtype=np.uint16)
        above[crowd.items[columns]] += sure.sum(axis=0, dtype=np.uint16)
        if pairs:
            i, j = np.nonzero(sure)
            listed.append(
                np.stack([crowd.items[rows][i], crowd.items[columns][j]], axis=1).astype(np.int64)
            )
    found = np.concatenate([np.zeros((0, 2), np.int64), *listed]) if pairs else None
    if found is not None:
        found = found[np.lexsort(found.T[::-1])]
    return ranking_of(above, below, k, found)


def ranking_of(above: Whole, below: Whole, k: int | None, pairs: Whole | None) -> SharedRanking:
    """Make ranks of the numbers of items surely above and surely below each.

    A tier ends after p items if p items have a worst rank of at most p. For each of these has N - p
    items below; one of them that has none of the others below therefore has all the rest below,
    and every other one is above such a one.
    """
    items = len(above)
    best, worst = 1 + above, items - below
    firm = np.cumsum(np.bincount(worst, minlength=items + 1))
    ends = firm == np.arange(items + 1)  # also before the first item
    tier = np.cumsum(ends)[worst - 1] if items else worst
    surely, possibly = (None, None) if k is None else (worst <= k, best <= k)
    return SharedRanking(best, worst, tier, surely, possibly, int(below.sum()), pairs)


@dataclass(frozen=True)
class _Plan:
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


def _settle(
    plan: _Plan, crowd: Crowd, progress: Progress | None
) -> Iterator[tuple[slice, slice, Flags]]:
    """Tell for blocks of pairs, rows against columns, which are surely in this order."""
    items = len(crowd.items)
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


def _plan(crowd: Crowd, alike: float) -> _Plan:
    if alike < 1:
        plan = _plan_alike(crowd, alike)
    elif crowd.falling:
        plan = _plan_falling(crowd)
    elif 2**crowd.free <= _MOST_CORNERS:
        plan = _Plan(_mean_scores(crowd, _corners(crowd)))
    else:
        plan = _plan_many(crowd)
    conditions = plan.necessary[1] + (plan.sufficient[1] if plan.sufficient else 0)
    _check_work(len(crowd.items), conditions, MOST_COMPARISONS)
    return plan


def _check_work(items: int, steps: int, most: int) -> None:
    """Raise if so many steps for each pair of so many items take too long."""
    if items * items * steps > most:
        raise OptionError(
            "shared",
            f"{items:,} items are too many to compare pair by pair under one participation",
            f"Rank at most {int((most / steps) ** 0.5):,} items on this scale, or rank them with "
            "separate participation",
        )


def _mean_scores(crowd: Crowd, weights: Floats, others: Floats | None = None) -> tuple[Scores, int]:
    """Means at some weights, or for the one below at others."""

    def scores(condition: int) -> tuple[Floats, Floats]:
        means = crowd.means(weights[condition])
        below = means if others is None else crowd.means(others[condition])
        return means - TIE, below

    return scores, len(weights)


def _corners(crowd: Crowd) -> Floats:
    """Corners of the box of weights, each once up to a factor."""
    sides = [np.unique(side) for side in zip(crowd.low, crowd.high, strict=True)]
    corners = np.array(list(product(*sides)), np.float64)
    growth = crowd.high / crowd.low
    # The last corner is the first one times a number if all weights may grow by the same factor.
    return corners[:-1] if len(corners) > 1 and growth.min() == growth.max() else corners


def _plan_falling(crowd: Crowd) -> _Plan:
    """A direction: points on every segment between thresholds, with chords between them."""
    m, most = len(crowd.places), float(crowd.high[0])
    steps = int(np.ceil(np.log(most) / np.log(_STRETCH)))
    inner = np.geomspace(1, most, steps + 1) if steps else np.ones(2)
    points: dict[tuple[float, ...], set[tuple[float, ...]]] = {}
    for i, j in combinations(range(m), 2):
        segment = [(most,) * i + (float(y),) * (j - i) + (1.0,) * (m - j) for y in inner]
        for one, other in pairwise(segment):
            points.setdefault(one, set()).add(other)
            points.setdefault(other, set()).add(one)
    points = points or {(1.0,) * m: set()}
    weights, neighbours = np.array(list(points)), [np.array(list(x)) for x in points.values()]

    def chords(condition: int) -> tuple[Floats, Floats]:
        mass, mean = crowd.shares @ weights[condition], crowd.means(weights[condition])
        short, over = np.zeros_like(mean), np.zeros_like(mean)
        for other in neighbours[condition]:
            root = np.sqrt(crowd.shares @ other / mass)
            leaves = (crowd.means(other) - mean) * (root - 1) / (root + 1)
            short, over = np.minimum(short, leaves), np.maximum(over, leaves)
        return mean + short - TIE, mean + over

    return _Plan(_mean_scores(crowd, weights), (chords, len(weights)), crowd.surely_above)


def _plan_many(crowd: Crowd) -> _Plan:
    """A box with many corners: those at which a mean is extreme, then pairs one by one."""
    m = len(crowd.places)
    _check_work(len(crowd.items), m * m, _MOST_CUTS)
    lower = np.tri(m, m, -1, dtype=bool)
    pushed = np.concatenate(
        [np.where(lower, crowd.high, crowd.low), np.where(lower, crowd.low, crowd.high)]
    )
    means = np.stack([crowd.means(weights) for weights in pushed])
    ends = means.min(axis=0) - TIE, means.max(axis=0)
    return _Plan(_mean_scores(crowd, pushed), (lambda _: ends, 1), crowd.surely_above)


def _plan_alike(crowd: Crowd, alike: float) -> _Plan:
    if crowd.falling:
        raise OptionError(
            "alike", f"{alike:g} given with a direction", "Give it with q alone or per rating"
        )
    sides = list(zip(crowd.low.tolist(), crowd.high.tolist(), strict=True))
    upward, downward = [], []
    for low, high in sides:
        more, less = min(high, low / alike), max(low, high * alike)
        upward.append({(low, low), (low, more), (less, high), (high, high)})
        downward.append({(y, x) for x, y in upward[-1]})
    m = len(sides)
    many = sum(
        int(np.prod([len(x) for x in (*downward[:cut], *upward[cut:])], dtype=float))
        for cut in range(m + 1)
    )
    _check_work(len(crowd.items), many, MOST_COMPARISONS)
    combined = {one for cut in range(m + 1) for one in product(*downward[:cut], *upward[cut:])}
    vertices = np.array(sorted(combined))
    return _Plan(_mean_scores(crowd, vertices[:, :, 0], vertices[:, :, 1]))


def _checked_alike(alike: float) -> float:
    if not 0 < alike <= 1:
        raise OptionError("alike", f"{alike!r} found", "Give a number above 0 and at most 1")
    return float(alike)
