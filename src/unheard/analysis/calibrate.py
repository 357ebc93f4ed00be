"""Calibration: how likely people with each rating are to answer, from an audit.

An audit is a sample in which the truth is known. Either the *same people* are known twice (what
they think, and whether they answered): then the share who answered is participation itself. Or the
truth comes from *other people*, drawn at random: then only ratios of participation are known.

The box holds participation at every rating together with the stated probability: Clopper-Pearson
intervals [CP34] at a level divided among the ratings. Where the audit has several items, people of
one item are more alike than people of different ones, and the sample counts for as many people as
the scatter between items says (the design effect), with as many degrees of freedom as there are
items [KG98], or as would be if all were of the same size [BM02]. Of a rating held in one item alone
nothing is known then. An audit of a single item speaks about its own people, as one sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtr, stdtr, stdtrit

from unheard.analysis.pool_fit import fit_pool
from unheard.errors import CountsError, OptionError
from unheard.formulas.confidence import critical_value
from unheard.formulas.operations import Floats
from unheard.formulas.pooling import Pool
from unheard.model.assumption import Assumption
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.results import Result
from unheard.model.scale import Scale
from unheard.text import write_exactly

OPEN_END = 1e-9
"""Lower end of participation where the audit does not bound it: next to nothing."""

FEWEST_ITEMS = 5
"""Fewer items hardly tell how items differ: boxes are then wide."""

_LEAST_DEGREES = 0.1

_OPEN_SHARE = 1e-6
"""Least share of a rating among everybody: below it, it is as if nothing were known."""

DIRECTION_LEVEL = 0.05
"""A direction is suggested if a test of level participation is this unlikely to be passed."""


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """What an audit says about participation; it shows itself in notebooks.

    Attributes
    ----------
    scale
        The values a rating may take.
    observed, truth
        Counts per item (rows) and rating: those who answered, and everybody audited.
    paired
        Whether both are of the same people, so that participation itself is known.
    level
        The box holds all ratings together with this probability.
    g
        Best guess of participation per rating; NaN for a rating that nobody audited holds. If not
        paired, it is relative to the most outspoken, whose best guess is 1.
    g_lower, g_upper
        Simultaneous confidence box.
    trend_p, middle_p
        p-values of tests that participation does not rise or fall with the rating, and that people
        between the two ends are as outspoken as those at them.
    quiet
        The direction that the tests suggest: ``any``, ``low``, ``high`` or ``middle``.
    words
        What was found, in sentences for a lay reader.
    """

    scale: Scale
    observed: Floats
    truth: Floats
    paired: bool
    level: float
    g: Floats
    g_lower: Floats
    g_upper: Floats
    trend_p: float
    middle_p: float
    quiet: str
    words: str = field(repr=False)

    @property
    def items(self) -> int:
        """Number of items audited."""
        return len(self.truth)

    @property
    def q(self) -> float:
        """Best guess of the voice ratio: least participation over largest."""
        return float(np.nanmin(self.g) / np.nanmax(self.g))

    @property
    def q_lower(self) -> float:
        """Smallest voice ratio that the box allows."""
        return float(self.g_lower.min() / self.g_upper.max())

    @property
    def unaudited(self) -> tuple[float, ...]:
        """Ratings that nobody audited holds."""
        none = self.truth.sum(axis=0) == 0
        return tuple(v for v, missing in zip(self.scale.values, none, strict=True) if missing)

    @cached_property
    def pool(self) -> Pool | None:
        """How items differ, if enough of them were audited; see :mod:`unheard.formulas.pooling`."""
        values = np.array(self.scale.values)
        return fit_pool(self.observed, self.truth, values, paired=self.paired)

    def item_box(self) -> tuple[Floats, Floats]:
        """Bounds for one item like those audited: the box, and how far items are from each other.

        Where the audit does not tell how items differ, it is the box itself.
        """
        if self.pool is None or self.pool.silent is None:
            return self.g_lower, self.g_upper
        away = critical_value(self.level) * self.pool.silent.spread
        lower, upper = expit(logit(self.g_lower) - away), expit(logit(self.g_upper) + away)
        return np.maximum(lower, OPEN_END), np.asarray(upper)

    @property
    def assumption(self) -> Assumption:
        """The audit as an assumption for :func:`unheard.estimate` and all that take one."""
        lower, upper = (end.tolist() for end in self.item_box())
        if self.unaudited:
            return Assumption.box(lower, upper, relative=not self.paired)
        return Assumption.audit(
            self.g.tolist(), lower, upper, relative=not self.paired, pool=self.pool
        )


def calibrate(
    observed: CountsLike,
    truth: CountsLike,
    *,
    paired: bool = True,
    scale: Scale | Sequence[float] | str | None = None,
    level: float = 0.95,
) -> Audit:
    """Find out who answers, from a sample in which the truth is known.

    Parameters
    ----------
    observed
        How often each rating was given by those who answered, lowest first: m counts, or one row
        per item.
    truth
        The same for everybody in the audit, whether they answered or not.
    paired
        True: ``truth`` counts the people of ``observed`` as well, so that the share who answered is
        known at each rating. False: ``truth`` is a random sample of other people, or of the same
        on other occasions; then only ratios of participation are known.
    scale
        The m rating values, or text such as ``"0.5:5:0.5"``; 1, 2, ..., m if left out.
    level
        Probability with which the box holds participation at all ratings together.

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
    if isinstance(scale, str):
        scale = Scale.parse(scale)
    elif scale is not None and not isinstance(scale, Scale):
        scale = Scale(scale)
    seen, everybody = Histograms.of(observed, scale=scale), _checked_truth(truth, scale)
    _check_together(seen, everybody, paired)
    if not 0 < level < 1:
        raise OptionError("level", f"{level!r} found", "Give a number between 0 and 1")
    o, t = (np.asarray(x.cells, np.float64) for x in (seen, everybody))
    g, lower, upper = (_paired_box if paired else _unpaired_box)(o, t, level)
    values = np.array(seen.scale.values)
    trend = _trend(o, t, values, paired)
    ends = np.isin(values, values[[0, -1]]).astype(float)
    middle = _trend(o, t, ends, paired) if len(values) > 2 else (0.0, 1.0)
    quiet = _direction(lower, upper, trend, middle)
    audit = Audit(seen.scale, o, t, paired, level, g, lower, upper, trend[1], middle[1], quiet, "")
    return replace(audit, words=_words(audit))


def _checked_truth(truth: CountsLike, scale: Scale | None) -> Histograms:
    try:
        return Histograms.of(truth, scale=scale)
    except CountsError as error:
        raise error.about("truth") from None


def _check_together(observed: Histograms, truth: Histograms, paired: bool) -> None:
    if observed.cells.shape != truth.cells.shape:
        raise CountsError(
            "truth",
            f"counts of shape {truth.cells.shape} beside observed ones of {observed.cells.shape}",
            "Give as many items and ratings for both",
        )
    if not truth.cells.sum():
        raise CountsError("truth", "nobody audited", "Give the ratings of everybody in the audit")
    if not observed.cells.sum():
        raise CountsError(
            "observed", "nobody answered", "An audit needs some who answered; state q instead"
        )
    over = observed.cells > truth.cells
    if paired and over.any():
        row, r = (int(i) for i in np.argwhere(over)[0])
        raise CountsError(
            f"observed[{r}]" if observed.single else f"observed[{row}, {r}]",
            f"{observed.cells[row, r]:g} answered with rating "
            f"{write_exactly(observed.scale.values[r])}, and {truth.cells[row, r]:g} hold it",
            "The truth must count those who answered as well; if it is of other people, say that "
            "the audit is not paired",
        )


def _paired_box(o: Floats, t: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    answered, asked = o.sum(axis=0), t.sum(axis=0)
    tail = (1 - level) / (2 * len(asked))
    share = np.divide(answered, asked, out=np.zeros(len(asked)), where=asked > 0)
    shrink = _counting_for(o - share * t, t, share * (1 - share) * asked, tail)
    lower, upper = _proportion(answered * shrink, asked * shrink, tail)
    # Jeffreys' middle: never 0 or 1, whatever was seen.
    g = np.where(asked > 0, (answered + 0.5) / (asked + 1), np.nan)
    return g, np.maximum(lower, OPEN_END), upper


def _unpaired_box(o: Floats, t: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    answered, audited = o.sum(axis=0), t.sum(axis=0)
    tail = (1 - level) / (4 * len(audited))
    both = (answered > 0) & (audited > 0)
    first, second = (np.where(both, x, 1.0) for x in (answered, audited))
    pulls = np.where(both, o / first - t / second, 0.0)
    plain = np.where(both, 1 / first + 1 / second, 0.0)
    ends = []
    for counts, people in ((answered, o), (audited, t)):
        shrink = _counting_for(pulls, people, plain, tail)
        ends.append(_proportion(counts * shrink, counts.sum() * shrink, tail))
    (seen_low, seen_high), (true_low, true_high) = ends
    known = audited > 0
    share = (answered + 0.5) / (audited + 0.5) * (audited.sum() / answered.sum())
    g = np.where(known, share, np.nan)
    # Half a person more or less may put the best guess just outside.
    lower = np.fmin(seen_low / true_high, g)
    upper = np.fmax(seen_high / np.maximum(true_low, _OPEN_SHARE), g)
    # Nobody is taken to be more outspoken than the most outspoken of those audited may be.
    lower, upper = np.where(known, lower, 0.0), np.where(known, upper, upper[known].max())
    top = np.nanmax(g)
    return g / top, np.maximum(lower / top, OPEN_END), upper / top


def _proportion(x: Floats, n: Floats, tail: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson limits; sizes need not be whole. Nothing is known of nobody."""
    rest = np.maximum(n - x, 0.0)
    some, others = x > 0, rest > 0
    lower, upper = np.zeros(len(x)), np.ones(len(x))
    lower[some] = betaincinv(x[some], rest[some] + 1, tail)
    upper[others] = betaincinv(x[others] + 1, rest[others], 1 - tail)
    return lower, upper


def _counting_for(pulls: Floats, people: Floats, plain: Floats, tail: float) -> Floats:
    """Return for what share of its people the audit counts, since people of an item are alike.

    Parameters
    ----------
    pulls
        How much each item (row) pulls the answer about each rating away from that of the others.
    people
        Of how many people it does so.
    plain
        Variance of all pulls together if people answered independently of each other.
    tail
        Miss probability of the limits that are to be found.
    """
    items, asked = len(people), people.sum(axis=0)
    if items == 1:
        return np.ones(len(asked))
    share = np.divide(people, asked, out=np.zeros_like(people), where=asked > 0)
    # An item pulls the answer towards itself: it is set against the others [BM02].
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


def _trend(o: Floats, t: Floats, scores: Floats, paired: bool) -> tuple[float, float]:
    """Test whether participation goes with a score of the rating: direction, and p-value.

    Cochran and Armitage's test of a trend in proportions for the same people, a comparison of two
    means for different ones; with several items the scatter between them is the yardstick.
    """
    items, answered, audited = len(t), o.sum(), t.sum()
    if paired:
        center = (t @ scores).sum() / audited
        share = answered / audited
        pulls = (o - share * t) @ (scores - center)
        plain = share * (1 - share) * (t @ (scores - center) ** 2).sum()
    else:
        means = [(x @ scores).sum() / x.sum() for x in (o, t)]
        pulls = o @ (scores - means[0]) / answered - t @ (scores - means[1]) / audited
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


def _direction(
    lower: Floats, upper: Floats, trend: tuple[float, float], middle: tuple[float, float]
) -> str:
    """Name the direction that the tests suggest and that fits into the box."""
    rises = bool((np.maximum.accumulate(lower) <= upper).all())
    falls = bool((np.maximum.accumulate(lower[::-1]) <= upper[::-1]).all())
    z, p = trend
    if p < DIRECTION_LEVEL and ((z > 0 and rises) or (z < 0 and falls)):
        return "low" if z > 0 else "high"
    at_ends, p = middle
    ends = max(lower[0], lower[-1]), min(upper[0], upper[-1])
    fits = ends[0] <= ends[1] and bool((lower[1:-1] <= ends[1]).all())
    return "middle" if p < DIRECTION_LEVEL and at_ends > 0 and fits else "any"


_QUIET_WORDS = {
    "low": "The lower their rating, the quieter people are",
    "high": "The higher their rating, the quieter people are",
    "middle": "People between the two ends of the scale are quieter than those at them",
    "any": "No direction shows in who is quiet",
}


def _words(audit: Audit) -> str:
    p = {"middle": audit.middle_p}.get(audit.quiet, audit.trend_p)
    chance = "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
    least = "next to never" if audit.q_lower < 1e-3 else f"{audit.q_lower:.2g} times"
    said = (
        f"{_QUIET_WORDS[audit.quiet]} ({chance}). The quietest answer about {audit.q:.2g} times as "
        f"often as the most outspoken; {least} cannot be ruled out."
    )
    if audit.items == 1:
        said += (
            " One item does not tell how items differ: the bounds hold for its own people, and at "
            "no stated level for those of others."
        )
    elif audit.items < FEWEST_ITEMS:
        said += " So few items hardly tell how items differ, so the bounds are wide."
    if audit.unaudited:
        ratings = ", ".join(write_exactly(value) for value in audit.unaudited)
        said += f" Nobody audited holds the rating {ratings}: nothing is known of them."
    never = (audit.observed.sum(axis=0) == 0) & (audit.truth.sum(axis=0) > 0)
    if never.any():
        ratings = ", ".join(
            write_exactly(v) for v, none in zip(audit.scale.values, never, strict=True) if none
        )
        said += f" Nobody with the rating {ratings} answered: they may be silent altogether."
    return said
