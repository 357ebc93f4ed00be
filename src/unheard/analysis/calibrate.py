"""Calibration: the probability of responding, for each rating, from an audit.

An audit is a sample in which everybody's rating is known. Either the *same people* are known twice
(their rating, and whether they responded): then the share who responded is participation itself. Or
the truth comes from *other people*, drawn at random: then only ratios of participation are known.

The box covers participation at all ratings simultaneously: Clopper-Pearson intervals [CP34] at a
level divided among the ratings. If the audit has several items, people of one item are more alike
than people of different items, so the effective sample size is reduced by the design effect, which
the scatter between items shows, with as many degrees of freedom as there are items [KG98], or as
there would be if all had the same size [BM02]. About a rating that occurs in a single item, nothing
is then known. An audit of one item is a single sample of its own people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtr, stdtr, stdtrit

from unheard.analysis.participation import (
    LEAST_PARTICIPATION,
    Participation,
    choose_direction,
    describe_participation,
    write_ratings,
)
from unheard.analysis.pool_fit import fit_pool
from unheard.errors import CountsError, Given
from unheard.formulas.confidence import critical_value
from unheard.formulas.operations import Floats
from unheard.formulas.pooling import Pool
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.question import require_level
from unheard.model.scale import Scale
from unheard.options.unknown import suggests_names
from unheard.text import write_exactly

FEWEST_ITEMS = 5
"""Fewer items say little about the variation between items, so that boxes are wide."""

_LEAST_DEGREES = 0.1

_OPEN_SHARE = 1e-6
"""Smallest share of a rating among everybody; below it, nothing is known about the rating."""


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Participation):
    """What an audit says about participation.

    Attributes
    ----------
    observed, truth
        Counts per item (rows) and rating: of respondents, and of everybody audited.
    paired
        Whether both count the same people, so that participation itself is known; otherwise it is
        relative to the largest.
    """

    source = "audit"

    observed: Floats
    truth: Floats
    paired: bool

    @property
    def relative(self) -> bool:
        """Whether participation is known up to a common factor only."""
        return not self.paired

    @property
    def items(self) -> int:
        """Number of items audited."""
        return len(self.truth)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The finding and what it rests on, for a lay reader."""
        return tuple(_describe_audit(self))

    @cached_property
    def pool(self) -> Pool | None:
        """Variation between items, if enough were audited; see :mod:`unheard.formulas.pooling`."""
        values = np.array(self.scale.values)
        return fit_pool(self.observed, self.truth, values, paired=self.paired)

    def find_item_box(self) -> tuple[Floats, Floats]:
        """Return bounds for one item like those audited: the box, widened by how much items vary.

        If the audit does not show how much items vary, this is the box itself.
        """
        if self.pool is None or self.pool.with_n is None:
            return self.g_lower, self.g_upper
        away = critical_value(self.level) * self.pool.with_n.spread
        lower, upper = expit(logit(self.g_lower) - away), expit(logit(self.g_upper) + away)
        return np.maximum(lower, LEAST_PARTICIPATION), np.asarray(upper)


@suggests_names
def calibrate(
    observed: CountsLike,
    truth: CountsLike,
    *,
    paired: bool = True,
    scale: Scale | Sequence[float] | str | None = None,
    level: float = 0.95,
) -> Audit:
    """Estimate participation from an audit, in which everybody's rating is known.

    Parameters
    ----------
    observed
        Counts per rating of the respondents, lowest first: m counts, or one row per item.
    truth
        The same for everybody in the audit, respondents or not.
    paired
        True: ``truth`` includes the people of ``observed``, so that the share who responded is
        known for each rating. False: ``truth`` is a random sample of other people, or of the same
        people on other occasions; then only ratios of participation are known.
    scale
        The m rating values, or text such as ``"0.5:5:0.5"``; 1, 2, ..., m if left out.
    level
        Simultaneous level of the box: it covers participation at all ratings with this probability.

    Returns
    -------
    Audit
        Its :attr:`Audit.assumption` goes into :func:`unheard.estimate`.

    Examples
    --------
    >>> audit = calibrate([12, 30, 49, 25], [400, 330, 230, 60])
    >>> [round(float(g), 3) for g in audit.g]
    [0.031, 0.092, 0.214, 0.418]
    >>> audit.quiet, round(audit.q, 2)
    ('low', 0.07)
    """
    read_scale = None if scale is None else Scale.read(scale)
    respondents = _read_counts("observed", observed, read_scale)
    everybody = _read_counts("truth", truth, read_scale)
    _check_audit(respondents, everybody, paired)
    level = require_level(level)
    o, t = (np.asarray(x.cells, np.float64) for x in (respondents, everybody))
    g, lower, upper = (_bound_participation if paired else _bound_relative_participation)(
        o, t, level
    )
    values = np.array(respondents.scale.values)
    trend = _test_trend(o, t, values, paired)
    ends = np.isin(values, values[[0, -1]]).astype(float)
    middle = _test_trend(o, t, ends, paired) if len(values) > 2 else (0.0, 1.0)
    quiet = choose_direction(lower, upper, trend, middle)
    return Audit(
        respondents.scale, level, g, lower, upper, trend[1], middle[1], quiet, o, t, paired
    )


def _read_counts(argument: str, counts: CountsLike, scale: Scale | None) -> Histograms:
    try:
        return Histograms.of(counts, scale=scale)
    except CountsError as error:
        raise error.about(argument) from None


def _check_audit(observed: Histograms, truth: Histograms, paired: bool) -> None:
    if observed.cells.shape != truth.cells.shape:
        raise CountsError(
            "truth",
            problem="{argument} must have as many items and ratings as {observed}",
            value=Given(f"shapes {truth.cells.shape} and {observed.cells.shape}"),
        )
    if not truth.cells.sum():
        raise CountsError(
            "truth",
            problem="{argument} counts nobody",
            hint="Count everybody in the audit",
        )
    if not observed.cells.sum():
        raise CountsError(
            "observed",
            problem="{argument} counts nobody: an audit requires respondents",
            hint="State {q} instead",
        )
    over = observed.cells > truth.cells
    if paired and over.any():
        row, r = (int(i) for i in np.argwhere(over)[0])
        raise CountsError(
            "observed",
            problem="{argument} cannot exceed {truth}: {respondents} people with rating {rating} "
            "responded, out of {people}",
            hint="Count the respondents in {truth} as well, or, if it counts other people, declare "
            "the audit {unpaired}",
            index=r if observed.single else (row, r),
            respondents=f"{observed.cells[row, r]:g}",
            rating=write_exactly(observed.scale.values[r]),
            people=f"{truth.cells[row, r]:g}",
        )


def _bound_participation(o: Floats, t: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    responded, asked = o.sum(axis=0), t.sum(axis=0)
    tail = (1 - level) / (2 * len(asked))
    share = np.divide(responded, asked, out=np.zeros(len(asked)), where=asked > 0)
    shrink = _find_effective_share(o - share * t, t, share * (1 - share) * asked, tail)
    lower, upper = _bound_proportion(responded * shrink, asked * shrink, tail)
    # Jeffreys' estimate, which is never 0 or 1.
    g = np.where(asked > 0, (responded + 0.5) / (asked + 1), np.nan)
    return g, np.maximum(lower, LEAST_PARTICIPATION), upper


def _bound_relative_participation(
    o: Floats, t: Floats, level: float
) -> tuple[Floats, Floats, Floats]:
    responded, audited = o.sum(axis=0), t.sum(axis=0)
    tail = (1 - level) / (4 * len(audited))
    both = (responded > 0) & (audited > 0)
    first, second = (np.where(both, x, 1.0) for x in (responded, audited))
    pulls = np.where(both, o / first - t / second, 0.0)
    plain = np.where(both, 1 / first + 1 / second, 0.0)
    ends = []
    for counts, people in ((responded, o), (audited, t)):
        shrink = _find_effective_share(pulls, people, plain, tail)
        ends.append(_bound_proportion(counts * shrink, counts.sum() * shrink, tail))
    (seen_low, seen_high), (true_low, true_high) = ends
    known = audited > 0
    share = (responded + 0.5) / (audited + 0.5) * (audited.sum() / responded.sum())
    g = np.where(known, share, np.nan)
    # Half a person more or less may put the estimate just outside.
    lower = np.fmin(seen_low / true_high, g)
    upper = np.fmax(seen_high / np.maximum(true_low, _OPEN_SHARE), g)
    # No participation is taken to be larger than the largest possible one of those audited.
    lower, upper = np.where(known, lower, 0.0), np.where(known, upper, upper[known].max())
    top = np.nanmax(g)
    return g / top, np.maximum(lower / top, LEAST_PARTICIPATION), upper / top


def _bound_proportion(x: Floats, n: Floats, tail: float) -> tuple[Floats, Floats]:
    """Return Clopper-Pearson limits, for sizes that need not be whole; 0 and 1 for a size of 0."""
    rest = np.maximum(n - x, 0.0)
    some, others = x > 0, rest > 0
    lower, upper = np.zeros(len(x)), np.ones(len(x))
    lower[some] = betaincinv(x[some], rest[some] + 1, tail)
    upper[others] = betaincinv(x[others] + 1, rest[others], 1 - tail)
    return lower, upper


def _find_effective_share(pulls: Floats, people: Floats, plain: Floats, tail: float) -> Floats:
    """Return the effective sample size as a share of the people, because items cluster people.

    Parameters
    ----------
    pulls
        How much each item (row) moves the estimate for each rating away from that of the others.
    people
        The number of people of each item and rating.
    plain
        The variance of all pulls together if people responded independently of each other.
    tail
        Miss probability of the limits to be found.
    """
    items, asked = len(people), people.sum(axis=0)
    if items == 1:
        return np.ones(len(asked))
    share = np.divide(people, asked, out=np.zeros_like(people), where=asked > 0)
    # An item pulls the estimate towards itself, so it is compared with the others [BM02].
    alone = share > 1 - 1e-9
    against = np.divide(pulls, 1 - share, out=np.zeros_like(pulls), where=~alone)
    scatter = (against**2).sum(axis=0) * ((items - 1) / items)
    effect = np.divide(scatter, plain, out=np.ones(len(asked)), where=plain > 0)
    sizes = (share**2).sum(axis=0)
    degrees = np.divide(1, sizes, out=np.ones(len(asked)), where=sizes > 0) - 1
    few = stdtrit(np.maximum(degrees, _LEAST_DEGREES), tail)
    many = stdtrit(np.maximum(asked - 1, 1.0), tail)
    counted = np.minimum(1.0, (many / few) ** 2) / np.maximum(effect, 1.0)
    return np.where(degrees > _LEAST_DEGREES, counted, 0.0)


def _test_trend(o: Floats, t: Floats, scores: Floats, paired: bool) -> tuple[float, float]:
    """Test whether participation depends on a score of the rating: return z and the p-value.

    This is the Cochran-Armitage test of a trend in proportions for the same people, and a
    comparison of two means for different people; with several items, the variance is that between
    items.
    """
    items, responded, audited = len(t), o.sum(), t.sum()
    if paired:
        center = (t @ scores).sum() / audited
        share = responded / audited
        pulls = (o - share * t) @ (scores - center)
        plain = share * (1 - share) * (t @ (scores - center) ** 2).sum()
    else:
        means = [(x @ scores).sum() / x.sum() for x in (o, t)]
        pulls = o @ (scores - means[0]) / responded - t @ (scores - means[1]) / audited
        pulls = pulls + (means[0] - means[1]) / items
        spreads = [
            (x @ (scores - mean) ** 2).sum() / x.sum() ** 2
            for x, mean in zip((o, t), means, strict=True)
        ]
        plain = sum(spreads)
    scatter = ((pulls - pulls.mean()) ** 2).sum() * items / max(items - 1, 1)
    several = items > 1
    variance = max(plain, scatter) if several else plain
    if variance <= 0:
        return 0.0, 1.0
    z = float(pulls.sum() / np.sqrt(variance))
    tail = stdtr(items - 1.0, -abs(z)) if several else ndtr(-abs(z))
    return z, float(2 * tail)


def _describe_audit(audit: Audit) -> list[str]:
    sentences = describe_participation(audit)
    if audit.items == 1:
        sentences.append(
            "One item does not show how much items vary: the bounds hold for its own people, and "
            "not at a known level for other items."
        )
    elif audit.items < FEWEST_ITEMS:
        sentences.append(
            f"{audit.items} items say little about how much items vary, so the bounds are wide."
        )
    if audit.unknown_ratings:
        ratings = write_ratings(audit.scale, np.isnan(audit.g))
        sentences.append(f"Nobody audited has the rating {ratings}: nothing is known about them.")
    never = (audit.observed.sum(axis=0) == 0) & (audit.truth.sum(axis=0) > 0)
    if never.any():
        ratings = write_ratings(audit.scale, never)
        sentences.append(f"Nobody with the rating {ratings} responded: perhaps they never do.")
    return sentences
