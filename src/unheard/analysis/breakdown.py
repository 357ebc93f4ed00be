"""Breakdown q: how quiet people may be before a claim about the mean is overturned.

Noise aside it has a closed form. "The mean is above t" holds at q if the ratings above t outweigh
those below it even when each of these stands for 1/q people:

    sum over v > t of n_v (v - t)  >  (1/q) * sum over v < t of n_v (t - v),

so the breakdown q is the shortfall below t over the excess above it. Written over columns, it runs
in every engine. With noise the confidence limit takes the place of the interval's end, and the
equation is solved.

A claim that holds at q holds at every larger q, since intervals and confidence limits only shrink
as q rises. With sampling error a claim uses one limit of the confidence interval alone, and is
wrong with a probability of at most 1 - level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.errors import OptionError
from unheard.formulas.bounds import average, misfits
from unheard.formulas.boxes import Box, boxes
from unheard.formulas.moments import Weighed, moments_below
from unheard.formulas.operations import NUMPY, Column, Floats, Operations, by_blocks, weighted
from unheard.model.assumption import Assumption, fixed_box
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.question import Question, build_question
from unheard.model.results import Numbers
from unheard.model.scale import Scale

NEVER = 2.0
"""What the closed form returns for a claim that no q makes true."""

SMALLEST_Q = 1e-12
"""A claim that survives this q is said to hold at every q."""


@dataclass(frozen=True)
class Claim:
    """That a mean lies above a threshold, or below it."""

    above: bool
    threshold: float

    @classmethod
    def read(cls, above: float | None, below: float | None, scale: Scale) -> Claim:
        """Read the claim from the two arguments that may state it."""
        given = {"above": above, "below": below}
        stated = {name: value for name, value in given.items() if value is not None}
        if len(stated) != 1:
            raise OptionError(
                "above",
                "above and below given together" if stated else "no claim stated",
                "State one threshold, such as above 4",
            )
        ((name, value),) = stated.items()
        if not scale.lowest <= value <= scale.highest:
            raise OptionError(
                name,
                f"{value:g} is not on the scale from {scale.lowest:g} to {scale.highest:g}",
                "Give a threshold on the scale",
            )
        return cls(name == "above", float(value))

    @property
    def side(self) -> str:
        """On which side of which threshold the mean is claimed to be."""
        return f"{'above' if self.above else 'below'} {self.threshold:g}"

    @property
    def words(self) -> str:
        """The claim in a few words."""
        return f"the mean is {self.side}"


def compute_breakdown(
    counts: Sequence[Column],
    values: Sequence[float],
    ends: tuple[Box | None, Box | None],
    claim: Claim,
    n: Column | None,
    ratio: bool,
    ops: Operations,
) -> Column:
    """Return the breakdown q of a claim, ignoring sampling error; for every engine.

    Parameters
    ----------
    counts, values, n, ratio
        As in :func:`unheard.formulas.bounds.interval_with_n`.
    ends
        The boxes of the assumption at q = 1, see :func:`unheard.model.assumption.boxes`.
    claim
        What is claimed.
    ops
        The engine's operations.

    Returns
    -------
    Column
        The claim holds at every larger q and at no smaller one; 0 if it holds at every q, and
        :data:`NEVER` if it holds at none.
    """
    box, threshold = ends[0], claim.threshold
    if not claim.above:
        # Seen from the other end of the scale, below is above.
        counts, values = counts[::-1], [-v for v in values[::-1]]
        box, threshold = None if ends[1] is None else ends[1].reversed(), -threshold
    if box is None:
        mean = average(counts, values, ops)
        return ops.where(mean > threshold, 0.0, NEVER)
    free = _free(counts, values, box, threshold, ops)
    if n is None:
        return free
    if ratio:
        return _ratio(counts, values, box, threshold, n, free, ops)
    return _known(counts, values, box, threshold, n, free, ops)


def _parts(box: Box, gives: bool) -> list[Column]:
    """Weights of the ratings whose side of the box gives way, or of those whose does not."""
    return [w if g is gives else 0.0 for w, g in zip(box.most, box.gives, strict=True)]


def _below(
    weights: Sequence[Column], counts: Sequence[Column], values: Sequence[float], t: float
) -> Column:
    """Add up how far the ratings below t fall short of it."""
    return weighted([w * max(t - v, 0.0) for w, v in zip(weights, values, strict=True)], counts)


def _free(
    counts: Sequence[Column], values: Sequence[float], box: Box, t: float, ops: Operations
) -> Column:
    excess = weighted(
        [f * max(v - t, 0.0) for f, v in zip(box.fewest, values, strict=True)], counts
    )
    room = excess - _below(_parts(box, False), counts, values, t)
    return ops.where(
        room > 0.0, ops.divide(_below(_parts(box, True), counts, values, t), room), NEVER
    )


def _ratio(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box,
    t: float,
    n: Column,
    free: Column,
    ops: Operations,
) -> Column:
    """Take the best of the breakdown q without n and those that the number of people gives.

    The ratings stand for n people at most. A price s below t for every further one bounds what
    the ratings below t can do, whatever their weights: the thresholds s of :func:`_dual`.
    """
    below = [k for k, s in enumerate(values) if s < t]
    return _dual(counts, values, box, t, n, below, free, ops)


def _known(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box,
    t: float,
    n: Column,
    free: Column,
    ops: Operations,
) -> Column:
    """Solve for participation itself: the ratings stand for exactly n people."""
    best = _dual(counts, values, box, t, n, range(len(values)), NEVER, ops)
    # A larger q than this contradicts the response rate, and nothing is claimed there.
    most = ops.least(ops.divide(weighted(box.most, counts), n), 1.0)
    held = ops.where(most > best, best, NEVER)
    # If more people responded than stated, n is left out.
    return ops.where(misfits(counts, box, n)[1], free, held)


def _dual(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box,
    t: float,
    n: Column,
    thresholds: Sequence[int],
    best: Column,
    ops: Operations,
) -> Column:
    """Return the least q that keeps the lower end above t at any of some thresholds, or ``best``.

    The lower end is the largest, over thresholds s on the scale, of the mean that results if the
    people who did not respond all rate s, corrected for the room below s: the dual of the greedy
    filling, and linear in 1/q. The claim holds while any s keeps it above t.
    """
    fewest = box.fewest
    sure = weighted([f * v for f, v in zip(fewest, values, strict=True)], counts)
    left = n - weighted(fewest, counts)
    people = Weighed(moments_below, values, counts, 1)
    below = [people.by(one, 1) for one in (_parts(box, True), fewest, _parts(box, False))]
    for k in thresholds:
        room, short, never = (factor * firsts[k] for factor, (_, firsts) in below)
        spare = sure + values[k] * left + short - never - n * t
        best = ops.least(best, ops.where(spare > 0.0, ops.divide(room, spare), NEVER))
    return best


def build_boxes_at_one(assumption: Assumption, m: int) -> tuple[Box | None, Box | None]:
    """Return the boxes of an assumption at q = 1."""
    return boxes(assumption.kind, 1.0, fixed_box(assumption), m)


def find_breakdown(
    counts: CountsLike,
    *,
    above: float | None = None,
    below: float | None = None,
    sampling_error: bool = False,
    n: ArrayLike | None = None,
    scale: Scale | Sequence[float] | str | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Assumption | None = None,
    level: float = 0.95,
    covers: str = "mean",
) -> Numbers:
    """Find how quiet people may be before a claim about the mean is overturned.

    Parameters
    ----------
    counts, n, scale, quiet, participation, g, assumption, level, covers
        As in :func:`unheard.estimate`. Participation stated per rating is loosened by q, see
        :meth:`unheard.Assumption.at`.
    above, below
        The claim: that the mean is above, or below, this threshold.
    sampling_error
        Whether the confidence interval, and not only the interval, must lie beyond the threshold.

    Returns
    -------
    float or array
        The breakdown q: the claim holds at every larger q. 0 if it holds at every q, NaN if it
        does not even hold at q = 1 (with n known: at the largest q that the response rate allows).

    Examples
    --------
    >>> round(find_breakdown([120, 30, 45, 200, 605], above=3.5), 4)
    0.3648
    >>> round(find_breakdown([120, 30, 45, 200, 605], above=3.5, sampling_error=True), 4)
    0.4332
    """
    question = build_question_at_one(
        counts,
        participation,
        g,
        assumption,
        n=n,
        scale=scale,
        quiet=quiet,
        level=level,
        covers=covers,
    )
    found = find_breakdown_by_row(
        question, Claim.read(above, below, question.counts.scale), sampling_error
    )
    return float(found[0]) if question.counts.single else found


def build_question_at_one(
    counts: CountsLike,
    participation: Sequence[tuple[float, float]] | None,
    g: Sequence[float] | None,
    assumption: Assumption | None,
    **rest: Any,
) -> Question:
    """Check a question whose q is sought or varied: it starts from q = 1, or from what is stated.

    ``rest`` are further arguments of :func:`unheard.build_question`.
    """
    stated: dict[str, Any] = {"participation": participation, "g": g, "assumption": assumption}
    q = 1.0 if all(one is None for one in stated.values()) else None
    return build_question(counts, q, **stated, **rest)


def find_breakdown_by_row(question: Question, claim: Claim, sampling_error: bool) -> Floats:
    """Return the breakdown q of a claim for every row of a question, whatever its q."""
    found = _closed_form(question.counts, question.assumption, claim)
    if not sampling_error:
        return found
    hopeful = np.flatnonzero(~np.isnan(found))
    if not len(hopeful):
        return found
    sign = 1.0 if claim.above else -1.0

    def margin(q: Floats, rows: NDArray[np.intp]) -> Floats:
        # Down to where the search starts the interval itself lies beyond the threshold.
        limit = question.at(q, rows).one_limit(upper=not claim.above)
        return sign * (limit - claim.threshold)

    found = found.copy()
    found[hopeful] = find_smallest_q(
        margin, hopeful, found[hopeful], find_largest_q(question)[hopeful]
    )
    return found


def find_largest_q(question: Question) -> Floats:
    """Return the largest q that the response rate does not contradict, row by row.

    Nothing is claimed above it. It is 1 without n, and for a ratio, which nothing contradicts.
    """
    counts = question.counts
    if counts.n is None or question.assumption.is_ratio:
        return np.ones(counts.rows)
    box, _ = build_boxes_at_one(question.assumption, counts.scale.m)
    assert box is not None  # only a direction leaves an end to the average, and it is a ratio
    most = weighted(box.most, list(np.asarray(counts.cells.T, np.float64)))
    # An item without ratings contradicts nothing.
    fits = (counts.n <= most) | (most == 0)
    return np.where(fits, 1.0, most / np.maximum(counts.n, 1.0))


def find_largest_failing_q(
    margin: Callable[[Floats, NDArray[np.intp]], Floats],
    rows: NDArray[np.intp],
    least: Floats,
    most: Floats,
    grid: int = 100,
) -> Floats:
    """Return, row by row, the largest of many q from ``least`` to ``most`` at which a margin fails.

    Beyond the largest q that the response rate allows nothing is claimed, so nothing can fail.
    """
    failed = np.maximum(least, SMALLEST_Q)
    for share in np.linspace(0.0, 1.0, grid):
        q = np.minimum(np.maximum(least, SMALLEST_Q) ** (1 - share) * most**share, most)
        failed = np.where((margin(q, rows) <= 0) & (q > failed), q, failed)
    return failed


def _closed_form(counts: Histograms, assumption: Assumption, claim: Claim) -> Floats:
    values, ends = counts.scale.values, build_boxes_at_one(assumption, counts.scale.m)

    def formula(cells: Sequence[Column], *n: Column) -> list[Column]:
        # A claim that holds by next to nothing breaks down at an endless q, which is none.
        with np.errstate(over="ignore"):
            people = n[0] if n else None
            found = compute_breakdown(
                cells, values, ends, claim, people, assumption.is_ratio, NUMPY
            )
        return [np.where(found < 1, found, np.nan)]

    (found,) = by_blocks(formula, counts.cells, [] if counts.n is None else [counts.n], 1)
    # Of an item without ratings nothing is known.
    return np.where(counts.n_ratings > 0, found, np.nan)


def find_smallest_q(
    margin: Callable[[Floats, NDArray[np.intp]], Floats],
    rows: NDArray[np.intp],
    least: Floats,
    most: Floats | None = None,
) -> Floats:
    """Find, row by row, where a margin that only rises with q crosses zero.

    Parameters
    ----------
    margin
        Called with q and the rows it is for.
    rows
        The rows.
    least
        A q per row below which the margin is known to be negative.
    most
        The largest q per row; 1 if left out.

    Returns
    -------
    Floats
        Right to a relative 1e-12; 0 where the margin is positive at :data:`SMALLEST_Q`, NaN where
        it is not positive at the largest q.
    """
    from scipy.optimize.elementwise import find_root

    if not len(rows):
        return least
    most = np.ones(len(rows)) if most is None else most
    least = np.minimum(np.maximum(least, SMALLEST_Q), most)
    holds = margin(most, rows) > 0
    found = np.where(holds, np.where(least > SMALLEST_Q, least, 0.0), np.nan)
    if not holds.any():
        return found
    open_ = holds.copy()
    open_[holds] = margin(least[holds], rows[holds]) <= 0

    def in_logs(x: Floats, *where: Any) -> Floats:
        return margin(np.exp(x), where[0])

    if open_.any():
        ends = (np.log(least[open_]), np.log(most[open_]))
        solved = find_root(
            in_logs,
            ends,
            args=(rows[open_],),
            tolerances={"xatol": 1e-12, "xrtol": 0.0, "fatol": 0.0, "frtol": 0.0},
        )
        found[open_] = np.exp(solved.x)
    return found
