"""Counts and an assumption in, an honest rating out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack, overload

from numpy.typing import ArrayLike

from unheard.model.arguments import SensitivityOptions
from unheard.model.assumption import Assumption
from unheard.model.histograms import CountsLike
from unheard.model.labelled_counts import CountsByRating, PlainOrLabelled
from unheard.model.question import build_question
from unheard.model.results import Estimate, Estimates, Row, Rows
from unheard.model.scale import ScaleLike
from unheard.options.choices import Covers, Method, Quiet
from unheard.options.unknown import suggests_names


class EstimateOptions(SensitivityOptions, total=False):
    """The keywords of :func:`estimate`."""

    floor: ArrayLike | None
    n: ArrayLike | None
    method: Method | None
    effective: ArrayLike | None
    squared_weights: PlainOrLabelled | None
    largest_weight: ArrayLike | None


# A type checker takes an array of unknown shape for many histograms.
@overload
def estimate(
    counts: Sequence[Sequence[float]] | Rows,
    q: ArrayLike | None = None,
    **options: Unpack[EstimateOptions],
) -> Estimates: ...
@overload
def estimate(
    counts: Sequence[float] | CountsByRating | Row,
    q: ArrayLike | None = None,
    **options: Unpack[EstimateOptions],
) -> Estimate: ...
@overload
def estimate(
    counts: CountsLike, q: ArrayLike | None = None, **options: Unpack[EstimateOptions]
) -> Estimate | Estimates: ...
@suggests_names
def estimate(
    counts: CountsLike,
    q: ArrayLike | None = None,
    *,
    floor: ArrayLike | None = None,
    n: ArrayLike | None = None,
    scale: ScaleLike | None = None,
    quiet: Quiet | None = None,
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Assumption | None = None,
    method: Method | None = None,
    level: float | None = 0.95,
    covers: Covers = "mean",
    effective: ArrayLike | None = None,
    squared_weights: PlainOrLabelled | None = None,
    largest_weight: ArrayLike | None = None,
) -> Estimate | Estimates:
    """Estimate the mean rating of everybody from the ratings of respondents.

    Parameters
    ----------
    counts
        How often each rating was given. Plain counts go lowest rating first: m of them, or an
        (N, m) array with one row per item. Counts by rating go in any order: a mapping such as
        ``{5: 605, 4: 200}``, the ``value_counts()`` of a pandas or Polars Series, a frame with one
        column per rating, or what :func:`unheard.tally` makes of raw ratings.
    q
        Participation ratio in (0, 1], or the name of a preset (``survey`` 0.5, ``reviews`` 0.3,
        ``media`` 0.1) or of a study (``rental-video``, ``usf-online``, ...): those who respond
        least often do so at least q times as often as those who respond most often. It means the
        same with n and without. One number, or one per item.
    floor
        Instead of q: everybody responds with a probability of at least ``floor``, the paper's
        assumption. Requires n; a response rate below it refutes it. One number, or one per item.
    n
        How many people there are, those who did not respond included, if known: one number or one
        per item. It can only narrow the bounds.
    scale
        The m rating values, or text such as ``"0.5:5:0.5"``. If left out, m plain counts are on
        the scale 1, 2, ..., m, and counts by rating must have each of the ratings 1 to 5 and no
        other: a rating that is absent could be off the scale or given by nobody.
    quiet
        Who may respond less often: people with ``any`` rating, ``low``, ``high`` or ``middle``
        ones. By default ``any``, or as in the study that q names.
    participation
        Instead of q: one pair (lo, hi) per rating, between which the probability to answer lies.
    g
        Instead of q: the probability to answer, per rating, if it is known.
    assumption
        Instead of q: what an audit found (see :func:`unheard.calibrate`), or any
        :class:`Assumption`.
    method
        ``average``, ``spectral``, ``reweight``, ``pooled``, ``paa``, ``bea``, ``midpoint`` or
        ``minimax`` (n up to 100). By default ``pooled`` for an audit of ten items or more,
        ``reweight`` for a smaller one and for known g; otherwise ``midpoint`` if n is known and
        ``paa`` if not.
    level
        Level of the confidence interval; None to go without, which is several times faster.
    covers
        ``mean``: the confidence interval is for the mean rating of the population behind these
        people; ``people`` (needs n): for the mean of exactly these n people.
    effective
        Declares that the counts are sums of survey weights with this effective sample size,
        (sum of weights)**2 / (sum of squared weights): one number or one per item. n is then on
        the scale of the weights, which add up to the number of people who answered. That takes
        weights to be unrelated to the rating, and the result says so.
    squared_weights, largest_weight
        Instead of ``effective``, where weights may go with the rating: the sum of the squared
        weights for each count, and the largest weight that any rating could have (of the whole
        survey, say), one number or one per item.

    Returns
    -------
    Estimate or Estimates
        Numbers for one histogram, arrays for many.

    Examples
    --------
    >>> result = estimate([120, 30, 45, 200, 605], q=0.3)
    >>> round(result.estimate, 4), round(result.lower, 4), round(result.upper, 4)
    (3.997, 3.3505, 4.6434)
    >>> estimate({5: 605, 4: 200, 3: 45, 2: 30, 1: 120}, q=0.3).estimate == result.estimate
    True
    >>> estimate([120, 30, 45, 200, 605], q="usf-online").question.assumption.kind
    'high'
    >>> round(estimate([2, 1, 0, 3, 6], floor=0.3, n=20, method="bea").estimate, 8)
    3.66391367
    """
    question = build_question(
        counts,
        q,
        floor=floor,
        n=n,
        scale=scale,
        quiet=quiet,
        participation=participation,
        g=g,
        assumption=assumption,
        level=level,
        covers=covers,
        effective=effective,
        squared_weights=squared_weights,
        largest_weight=largest_weight,
    )
    chosen = [method or question.default_method()]
    return (question.answer if question.counts.single else question.answer_rows)(chosen)[0]
