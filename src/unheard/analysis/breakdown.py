"""Breakdown q: the participation ratio below which a claim about the mean may fail.

Ignoring sampling error, it has a closed form. "The mean is above t" holds at q if the ratings above
t outweigh those below it even when each rating below t stands for 1/q people:

    sum over v > t of n_v (v - t)  >  (1/q) * sum over v < t of n_v (t - v),

so the breakdown q is the shortfall below t divided by the excess above it. Written over columns,
the formula runs in every engine. With sampling error, the confidence limit replaces the bound and
the equation is solved numerically.

A claim that holds at q holds at every larger q, because bounds and confidence limits only move
inward as q rises. With sampling error, a claim uses one limit of the confidence interval alone, and
is wrong with probability at most 1 - level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.errors import OptionError
from unheard.formulas.bounds import average, find_misfits
from unheard.formulas.boxes import Box, build_boxes
from unheard.formulas.moments import WeightedMoments, accumulate_moments_below
from unheard.formulas.operations import (
    NUMPY,
    Column,
    Floats,
    Operations,
    run_in_blocks,
    weighted_sum,
)
from unheard.model.arguments import SensitivityOptions
from unheard.model.assumption import Assumption, fixed_box
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.labelled_counts import CountsByRating
from unheard.model.question import Question, build_question, require_level
from unheard.model.results import Numbers, Row, Rows
from unheard.model.scale import Scale
from unheard.options.unknown import check_options
from unheard.text import write_exactly

NEVER = 2.0
"""What the closed form returns for a claim that fails at every q."""

SMALLEST_Q = 1e-12
"""A claim that holds at this q is reported to hold at every q."""


@dataclass(frozen=True)
class Claim:
    """The claim that a mean is above a threshold, or below it."""

    above: bool
    threshold: float

    @classmethod
    def read(cls, above: float | None, below: float | None, scale: Scale) -> Claim:
        """Read the claim from the two arguments, one of which must be given."""
        if above is not None and below is not None:
            raise OptionError(
                "above",
                problem="{argument} and {below} cannot be combined",
                hint="State one claim at a time",
            )
        if above is None and below is None:
            raise OptionError(
                "above",
                problem="A claim requires {argument} or {below}",
                hint="State a threshold",
                examples=(scale.values[-2],),
            )
        name, value = ("above", above) if above is not None else ("below", below)
        if (
            not isinstance(value, int | float | np.integer)
            or not scale.lowest <= value <= scale.highest
        ):
            raise OptionError(
                name,
                problem="{argument} must be on the scale, from {lowest} to {highest}",
                value=value,
                lowest=write_exactly(scale.lowest),
                highest=write_exactly(scale.highest),
            )
        return cls(name == "above", float(value))

    @property
    def side(self) -> str:
        """Which side of which threshold the claim is about: ``above 4``."""
        return f"{'above' if self.above else 'below'} {write_exactly(self.threshold)}"

    @property
    def words(self) -> str:
        """The claim in a few words: ``the mean is above 4``."""
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
    """Return the breakdown q of a claim, ignoring sampling error, in any engine.

    Parameters
    ----------
    counts, values, n, ratio
        As in :func:`unheard.formulas.bounds.find_bounds_with_n`.
    ends
        The boxes of the assumption at q = 1; see :func:`unheard.formulas.boxes.boxes`.
    claim
        The claim.
    ops
        The operations of the engine.

    Returns
    -------
    Column
        The claim holds at every larger q and at no smaller one; 0 if it holds at every q, and
        :data:`NEVER` if it holds at none.
    """
    box, threshold = ends[0], claim.threshold
    if not claim.above:
        # Reverse the scale, so that "below" becomes "above".
        counts, values = counts[::-1], [-v for v in values[::-1]]
        box, threshold = None if ends[1] is None else ends[1].reversed(), -threshold
    if box is None:
        mean = average(counts, values, ops)
        return ops.where(mean > threshold, 0.0, NEVER)
    without_n = _solve_without_n(counts, values, box, threshold, ops)
    if n is None:
        return without_n
    if ratio:
        return _solve_ratio(counts, values, box, threshold, n, without_n, ops)
    return _solve_floor(counts, values, box, threshold, n, without_n, ops)


def _select_weights(box: Box, gives: bool) -> list[Column]:
    """Return the largest weights of the ratings whose upper end moves with q, or does not."""
    return [w if g is gives else 0.0 for w, g in zip(box.most, box.gives, strict=True)]


def _sum_shortfall(
    weights: Sequence[Column], counts: Sequence[Column], values: Sequence[float], t: float
) -> Column:
    """Sum how far the ratings below t fall short of it."""
    return weighted_sum([w * max(t - v, 0.0) for w, v in zip(weights, values, strict=True)], counts)


def _solve_without_n(
    counts: Sequence[Column], values: Sequence[float], box: Box, t: float, ops: Operations
) -> Column:
    excess = weighted_sum(
        [f * max(v - t, 0.0) for f, v in zip(box.fewest, values, strict=True)], counts
    )
    room = excess - _sum_shortfall(_select_weights(box, False), counts, values, t)
    shortfall = _sum_shortfall(_select_weights(box, True), counts, values, t)
    return ops.where(room > 0.0, ops.divide(shortfall, room), NEVER)


def _solve_ratio(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box,
    t: float,
    n: Column,
    without_n: Column,
    ops: Operations,
) -> Column:
    """Return the smaller of the breakdown q without n and those that the number of people gives.

    The ratings stand for at most n people. A price s below t for every further person bounds what
    the ratings below t can do, whatever their weights: the thresholds s of :func:`_solve_dual`.
    """
    below = [k for k, s in enumerate(values) if s < t]
    return _solve_dual(counts, values, box, t, n, below, without_n, ops)


def _solve_floor(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box,
    t: float,
    n: Column,
    without_n: Column,
    ops: Operations,
) -> Column:
    """Return the breakdown q of participation itself: the ratings stand for exactly n people."""
    best = _solve_dual(counts, values, box, t, n, range(len(values)), NEVER, ops)
    # A larger q contradicts the response rate, and no claim is made there.
    most = ops.least(ops.divide(weighted_sum(box.most, counts), n), 1.0)
    held = ops.where(most > best, best, NEVER)
    # If more people responded than the assumption allows, n is ignored.
    return ops.where(find_misfits(counts, box, n)[1], without_n, held)


def _solve_dual(
    counts: Sequence[Column],
    values: Sequence[float],
    box: Box,
    t: float,
    n: Column,
    thresholds: Sequence[int],
    best: Column,
    ops: Operations,
) -> Column:
    """Return the least q that keeps the lower bound above t at any of some thresholds, or ``best``.

    The lower bound is the maximum, over thresholds s on the scale, of the mean that results if all
    non-respondents rate s, corrected for the room below s: the dual of the greedy filling, and
    linear in 1/q. The claim holds as long as any s keeps it above t.
    """
    fewest = box.fewest
    sure = weighted_sum([f * v for f, v in zip(fewest, values, strict=True)], counts)
    left = n - weighted_sum(fewest, counts)
    people = WeightedMoments(accumulate_moments_below, values, counts, 1)
    parts = (_select_weights(box, True), fewest, _select_weights(box, False))
    below = [people.by(one, 1) for one in parts]
    for k in thresholds:
        room, short, never = (factor * firsts[k] for factor, (_, firsts) in below)
        spare = sure + values[k] * left + short - never - n * t
        best = ops.least(best, ops.where(spare > 0.0, ops.divide(room, spare), NEVER))
    return best


def build_boxes_at_one(assumption: Assumption, m: int) -> tuple[Box | None, Box | None]:
    """Return the boxes of an assumption at q = 1."""
    return build_boxes(assumption.kind, 1.0, fixed_box(assumption), m)


class BreakdownOptions(SensitivityOptions, total=False):
    """The keywords of :func:`find_breakdown`."""

    above: float | None
    below: float | None
    sampling_error: bool
    n: ArrayLike | None


@overload
def find_breakdown(
    counts: Sequence[Sequence[float]] | Rows, **options: Unpack[BreakdownOptions]
) -> Floats: ...
@overload
def find_breakdown(
    counts: Sequence[float] | CountsByRating | Row, **options: Unpack[BreakdownOptions]
) -> float: ...
@overload
def find_breakdown(counts: CountsLike, **options: Unpack[BreakdownOptions]) -> Numbers: ...
def find_breakdown(
    counts: CountsLike,
    *,
    above: float | None = None,
    below: float | None = None,
    sampling_error: bool = False,
    n: ArrayLike | None = None,
    **options: Unpack[SensitivityOptions],
) -> Numbers:
    """Find the breakdown q of a claim about the mean.

    Parameters
    ----------
    counts, n
        As in :func:`unheard.estimate`.
    above, below
        The claim: the mean is above, or below, this threshold.
    sampling_error
        Whether to allow for sampling error: the confidence interval, and not only the bounds, must
        lie beyond the threshold.
    **options
        ``scale``, ``quiet``, ``participation``, ``g``, ``assumption``, ``level`` and ``covers``, as
        in :func:`unheard.estimate`. Participation stated per rating is loosened by q; see
        :meth:`unheard.Assumption.at`.

    Returns
    -------
    float or array
        The claim holds at every larger q. 0 if it holds at every q, NaN if it fails even at q = 1
        (with n known: at the largest q that the response rate allows).

    Examples
    --------
    >>> round(find_breakdown([120, 30, 45, 200, 605], above=3.5), 4)
    0.3648
    >>> round(find_breakdown([120, 30, 45, 200, 605], above=3.5, sampling_error=True), 4)
    0.4332
    """
    check_options(find_breakdown, options, SensitivityOptions)
    question = build_question_at_one(counts, n, **options)
    claim = Claim.read(above, below, question.counts.scale)
    if sampling_error:
        require_level(question.level)
    found = find_breakdown_by_row(question, claim, sampling_error)
    return float(found[0]) if question.counts.single else found


def build_question_at_one(
    counts: CountsLike, n: ArrayLike | None = None, **options: Unpack[SensitivityOptions]
) -> Question:
    """Build a question whose q is to be found or varied, from q = 1 or what is stated per rating.

    The parameters are those of :func:`unheard.build_question`.
    """
    per_rating = ("participation", "g", "assumption")
    q = 1.0 if all(options.get(name) is None for name in per_rating) else None
    return build_question(counts, q, n=n, **options)


def find_breakdown_by_row(question: Question, claim: Claim, sampling_error: bool) -> Floats:
    """Return the breakdown q of a claim for every row of a question, whatever its own q."""
    found = _apply_closed_form(question.counts, question.assumption, claim)
    if not sampling_error:
        return found
    hopeful = np.flatnonzero(~np.isnan(found))
    if not len(hopeful):
        return found
    sign = 1.0 if claim.above else -1.0

    def margin(q: Floats, rows: NDArray[np.intp]) -> Floats:
        # At every q searched, the bound itself is already beyond the threshold.
        limit = question.at(q, rows).find_limit(upper=not claim.above)
        return sign * (limit - claim.threshold)

    found = found.copy()
    found[hopeful] = find_smallest_q(
        margin, hopeful, found[hopeful], find_largest_q(question)[hopeful]
    )
    return found


def find_largest_q(question: Question) -> Floats:
    """Return the largest q that the response rate does not contradict, row by row.

    No claim is made above it. It is 1 without n, and for a ratio, which no response rate
    contradicts.
    """
    counts = question.counts
    if counts.n is None or question.assumption.is_ratio:
        return np.ones(counts.rows)
    box, _ = build_boxes_at_one(question.assumption, counts.scale.m)
    assert box is not None  # only a direction has an end without a box, and it is a ratio
    most = weighted_sum(box.most, list(np.asarray(counts.cells.T, np.float64)))
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
    """Return, row by row, the largest q of a grid at which a margin is not positive.

    The grid runs from ``least`` to ``most``: above the largest q that the response rate allows,
    no claim is made and none can fail.
    """
    failed = np.maximum(least, SMALLEST_Q)
    for share in np.linspace(0.0, 1.0, grid):
        q = np.minimum(np.maximum(least, SMALLEST_Q) ** (1 - share) * most**share, most)
        failed = np.where((margin(q, rows) <= 0) & (q > failed), q, failed)
    return failed


def _apply_closed_form(counts: Histograms, assumption: Assumption, claim: Claim) -> Floats:
    values, ends = counts.scale.values, build_boxes_at_one(assumption, counts.scale.m)

    def formula(cells: Sequence[Column], n: Column | None = None) -> Column:
        # A claim that holds by a hair breaks down at a q that overflows, which means never.
        with np.errstate(over="ignore"):
            found = compute_breakdown(cells, values, ends, claim, n, assumption.is_ratio, NUMPY)
        return np.where(found < 1, found, np.nan)

    found = run_in_blocks(formula, counts.cells, {} if counts.n is None else {"n": counts.n})
    # Nothing is known about an item without ratings.
    return np.where(counts.n_ratings > 0, found, np.nan)


def find_smallest_q(
    margin: Callable[[Floats, NDArray[np.intp]], Floats],
    rows: NDArray[np.intp],
    least: Floats,
    most: Floats | None = None,
) -> Floats:
    """Find, row by row, where a margin that increases with q crosses zero.

    Parameters
    ----------
    margin
        Called with q and the rows that it is for.
    rows
        The rows.
    least
        For each row, a q below which the margin is known to be negative.
    most
        For each row, the largest q; 1 by default.

    Returns
    -------
    Floats
        Accurate to a relative 1e-12; 0 where the margin is positive at :data:`SMALLEST_Q`, NaN
        where it is not positive at the largest q.
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

    def margin_at_log(log_q: Floats, *where: NDArray[np.intp]) -> Floats:
        return margin(np.exp(log_q), where[0])

    if open_.any():
        ends = (np.log(least[open_]), np.log(most[open_]))
        solved = find_root(
            margin_at_log,
            ends,
            args=(rows[open_],),
            tolerances={"xatol": 1e-12, "xrtol": 0.0, "fatol": 0.0, "frtol": 0.0},
        )
        found[open_] = np.exp(solved.x)
    return found
