"""Counts and an assumption in, an honest rating out: the pieces put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.core import confidence
from unheard.core.aggregators import AGGREGATORS, default_method, objection
from unheard.core.balance import balance, implied_floor
from unheard.core.columns import NUMPY, PLAIN, Column, Floats, Operations, by_blocks
from unheard.core.counts import Counts
from unheard.core.formula import (
    Items,
    Setting,
    answers,
    one_limit,
    own_limits,
    unlike_audited,
)
from unheard.core.participation import Participation, best_guess, fixed_box, preset
from unheard.core.response import Response, response
from unheard.core.scale import Scale
from unheard.core.showing import Shows
from unheard.errors import MethodError, OptionError, ParticipationError

Numbers: TypeAlias = Any
"""A float for one histogram, an array of floats for many."""


TEST_LEVEL = 0.95
"""Level of the test of the response rate where no level is given."""


OUTSIDE_SLACK = 1e-9
"""How far outside the interval, in widths of the scale, rounding alone may put an estimate."""


class Flag(IntFlag):
    """What a reader of the result must know."""

    NO_RATINGS = 1
    FEW_RATINGS = 2
    LOW_RESPONSE = 4
    HIGH_RESPONSE = 8
    REFUTED = 16
    OUTSIDE_INTERVAL = 32
    UNLIKE_AUDITED = 64
    WEIGHTS_ASSUMED = 128


FEW = 10
"""With fewer ratings than this, bounds say little: sampling error may exceed their width."""


FLAG_WORDS = {
    "no_ratings": "nobody rated this: the middle of the scale and the whole scale are given",
    "few_ratings": f"fewer than {FEW} ratings: the bounds ignore sampling error, which may be "
    "larger than they are wide; go by the confidence interval",
    "low_response": "fewer people responded than the assumption allows: n was left out, and only "
    "the ratios that the assumption implies were used",
    "high_response": "more people responded than the assumption allows: n was left out, and only "
    "the ratios that the assumption implies were used",
    "refuted": "the response rate refutes the assumption; chance alone does not explain it",
    "outside_interval": "an estimate lies outside everything that the assumption allows",
    "unlike_audited": "this item is unlike those audited: the confidence interval holds for items "
    "like them, and at no stated level for this one",
    "weights_assumed": "the effective sample size takes survey weights to be unrelated to the "
    "rating; where they are not, the level holds with squared weights per rating only",
    "nulls_counted": "rows without a rating were taken as people who said nothing",
    "rows_dropped": "rows were left out: without a rating, or with one off the scale",
    "n_below_ratings": "there are more ratings than people: n cannot be right",
}


@dataclass(frozen=True, eq=False)
class Estimate(Shows):
    """An estimate with everything that qualifies it.

    One histogram gives plain numbers and a tuple of flags; an (N, m) array of histograms gives
    arrays of length N, and for ``flags`` an array of N tuples. In a notebook it shows itself.

    Attributes
    ----------
    method
        Which estimate this is.
    estimate
        The rating.
    lower, upper
        Interval: everything the mean can be under the assumption, noise aside.
    ci_lower, ci_upper
        Confidence interval: the same with sampling noise; None if none was asked for.
    flags
        What must be known before using the numbers; :data:`FLAG_WORDS` explains each.
    question
        What was asked: the counts, the assumption, the settings.
    """

    method: str
    estimate: Numbers
    lower: Numbers
    upper: Numbers
    ci_lower: Numbers
    ci_upper: Numbers
    flags: Any
    question: Inquiry | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Inquiry:
    """A checked question: the data, the assumption and the settings.

    Attributes
    ----------
    counts, assumption
        The data and what is assumed about who answers.
    level
        Level of the confidence interval; None for none.
    covers
        ``mean``: the mean rating of the population that the people are drawn from; ``people``:
        the mean of exactly the n people.
    """

    counts: Counts
    assumption: Participation
    level: float | None
    covers: str

    @property
    def words(self) -> str:
        """The assumption in one sentence for a lay reader."""
        return self.assumption.words()

    def methods(self) -> tuple[str, ...]:
        """Names of every method that applies."""
        return tuple(name for name in AGGREGATORS if self.objection(name) is None)

    def default_method(self) -> str:
        """Name of the method used when none is asked for."""
        return default_method(self.assumption.kind, self.counts.n is not None)

    def middle_method(self) -> str:
        """Name of the method that is the middle of the interval."""
        return "paa" if self.counts.n is None else "midpoint"

    def objection(self, method: str) -> MethodError | None:
        """Why a method cannot answer this question; None if it can."""
        against = objection(method, self.assumption.kind, self.counts.n is not None)
        if against is not None:
            return against
        one = AGGREGATORS[method]
        if (
            one.most_n is not None
            and self.counts.n is not None
            and self.counts.n.max() > one.most_n
        ):
            return MethodError(
                "method",
                f"{method} is solved for n up to {one.most_n}, and n is {self.counts.n.max():.15g}",
                "Use midpoint or bea",
            )
        if one.needs_people and self.counts.weighted:
            return MethodError(
                "method", f"{method} needs whole people, not sums of weights", "Use paa or midpoint"
            )
        return None

    def response(self) -> Response | None:
        """What the response rate says about the assumption; None if it cannot say anything.

        That is so if n is unknown, and if the assumption is about ratios, which hold at any rate.
        """
        if self.counts.n is None or self.assumption.is_ratio:
            return None
        return response(self.counts, self.assumption, self.level or TEST_LEVEL)

    def answer(self, methods: Iterable[str]) -> list[Estimate]:
        """Answer by each of the methods."""
        chosen = list(methods)
        for method in chosen:
            if (objection := self.objection(method)) is not None:
                raise objection
        lower, upper, *found = self._columns(chosen)
        shared = (None, None) if self.level is None else (found.pop(0), found.pop(0))
        estimates, own = found[: len(chosen)], found[len(chosen) :]
        flags = self._flags()
        records = []
        for method, estimate in zip(chosen, estimates, strict=True):
            limits, raised = shared, flags + self._outside(estimate, lower, upper)
            if method == "pooled":
                raised = raised + self._unlike()
            if AGGREGATORS[method].limits is not None and self.level is not None:
                limits = own.pop(0), own.pop(0)
            records.append(self._record(method, (estimate, lower, upper), limits, raised))
        return records

    def _outside(self, values: Floats, lower: Floats, upper: Floats) -> NDArray[np.int64]:
        """Flag estimates outside the interval, unless rounding alone put them there."""
        slack = OUTSIDE_SLACK * self.counts.scale.width
        outside = (values < lower - slack) | (values > upper + slack)
        return int(Flag.OUTSIDE_INTERVAL) * outside.astype(np.int64)

    def _unlike(self) -> NDArray[np.int64]:
        """Flag items that the audit says nothing about."""

        def formula(items: Items, setting: Setting, ops: Operations) -> list[Column]:
            return [ops.where(unlike_audited(items, setting, ops), 1.0, 0.0)]

        unlike = (self.counts.n_ratings > 0) & (self._run(formula, 1)[0] > 0)
        return int(Flag.UNLIKE_AUDITED) * unlike.astype(np.int64)

    def intervals(self) -> list[Floats]:
        """Return lower, upper and, unless the level is None, the two confidence limits."""
        return self._columns([])

    def at(self, q: ArrayLike, rows: NDArray[np.intp] | None = None) -> Inquiry:
        """Ask the same of another voice ratio, see :meth:`Participation.at`, for all rows or some.

        Parameters
        ----------
        q
            One number, or one per row asked about.
        rows
            Which rows, in any order and as often as wanted.
        """
        counts = self.counts if rows is None else self.counts.take(rows)
        return replace(self, counts=counts, assumption=self.assumption.at(q))

    def one_limit(self, *, upper: bool) -> Floats:
        """Return one confidence limit alone, which the end of the interval may lie beyond."""

        def formula(items: Items, setting: Setting, ops: Operations) -> list[Column]:
            return [one_limit(items, setting, upper, ops)]

        return self._run(formula, 1)[0]

    def _columns(self, methods: Sequence[str]) -> list[Floats]:
        """Run the closed form over the rows: the intervals, then each estimate."""

        def formula(items: Items, setting: Setting, ops: Operations) -> list[Column]:
            return answers(items, setting, methods, ops)

        width = len(methods) + 2
        if self.level is not None:
            width += 2 + 2 * len(own_limits(methods))
        return self._run(formula, width, with_balance="bea" in methods)

    def _run(
        self,
        formula: Callable[[Items, Setting, Operations], list[Column]],
        width: int,
        *,
        with_balance: bool = False,
    ) -> list[Floats]:
        """Run a formula that gives so many columns over the rows."""
        setting = Setting(
            self.counts.scale.values,
            self.assumption.kind,
            fixed_box(self.assumption),
            best_guess(self.assumption),
            self.assumption.pool,
            None if self.level is None else confidence.critical_value(self.level),
            self.covers == "people",
        )
        fixed = {} if self.assumption.q is None else {"q": self.assumption.q}
        rows = self._row_columns(with_balance)

        if self.counts.rows == 1:
            one = {name: float(values.reshape(-1)[0]) for name, values in (fixed | rows).items()}
            counts = [float(count) for count in self.counts.cells[0]]
            found = formula(_items(counts, one), setting, PLAIN)
            return [np.asarray(x, np.float64).reshape(1) for x in found]

        def on_block(counts: Sequence[Column], *row: Column) -> list[Column]:
            items = _items(counts, fixed | dict(zip(rows, row, strict=True)))
            return formula(items, setting, NUMPY)

        return by_blocks(on_block, self.counts.cells, list(rows.values()), width)

    def _row_columns(self, with_balance: bool) -> dict[str, Floats]:
        """Everything that varies from item to item besides the counts."""
        rows = {}
        q, n = self.assumption.q, self.counts.n
        if q is not None and q.ndim:
            rows["q"] = q
        if n is not None:
            rows["n"] = n
            if with_balance and q is not None:
                rows["balance"] = np.broadcast_to(balance(n, self._floor(n, q)), n.shape)
        if self.counts.effective is not None:
            seen = self.counts.n_ratings
            share = np.divide(self.counts.effective, seen, out=np.ones(len(seen)), where=seen > 0)
            rows["share"] = share
        if self.counts.weights is not None:
            rows["largest"] = self.counts.weights.largest
            columns = np.ascontiguousarray(self.counts.weights.squares.T)
            rows |= {f"{_SQUARE}{place}": column for place, column in enumerate(columns)}
        return rows

    def _floor(self, n: Floats, q: Floats) -> Floats:
        """Return the least participation, which the paper's aggregators ask for."""
        if self.assumption.kind == "floor":
            return q
        seen = self.counts.n_ratings
        # Nobody's lambda is never used, and zero has none.
        return np.where(seen > 0, implied_floor(q, seen, np.maximum(n, 1.0), NUMPY), 1.0)

    def _flags(self) -> NDArray[np.int64]:
        seen, size = self.counts.n_ratings, self.counts.size
        empty = seen == 0
        few = (seen if size is None else size) < FEW
        flags = np.where(empty, int(Flag.NO_RATINGS), int(Flag.FEW_RATINGS) * few)
        if self.counts.effective is not None and self.level is not None:
            flags += int(Flag.WEIGHTS_ASSUMED) * ~empty
        about = self.response()
        if about is not None:
            flags += int(Flag.LOW_RESPONSE) * (about.too_low & ~empty)
            flags += int(Flag.HIGH_RESPONSE) * (about.too_high & ~empty)
            flags += int(Flag.REFUTED) * about.refuted
        return flags

    def _record(
        self,
        method: str,
        numbers: tuple[Floats, Floats, Floats],
        limits: tuple[Floats, Floats] | tuple[None, None],
        flags: NDArray[np.int64],
    ) -> Estimate:
        if not self.counts.single:
            low_limits, high_limits = limits
            return Estimate(method, *numbers, low_limits, high_limits, _FLAG_NAMES[flags], self)
        estimate, lower, upper = (float(x[0]) for x in numbers)
        low, high = (None if x is None else float(x[0]) for x in limits)
        return Estimate(method, estimate, lower, upper, low, high, flag_names(int(flags[0])), self)


_SQUARE = "square_"


def _items(counts: Sequence[Column], named: dict[str, Column]) -> Items:
    """Put columns of a row together; the squared weights are one per rating."""
    squares = [column for name, column in named.items() if name.startswith(_SQUARE)]
    rest = {name: column for name, column in named.items() if not name.startswith(_SQUARE)}
    return Items(counts, **rest, squares=squares or None)


def flag_names(code: int) -> tuple[str, ...]:
    """Spell out a combination of flags."""
    return tuple(str(flag.name).lower() for flag in Flag if code & flag)


_FLAG_NAMES = np.empty(2 ** len(Flag), dtype=object)
_FLAG_NAMES[:] = [flag_names(code) for code in range(len(_FLAG_NAMES))]


def inquire(
    counts: ArrayLike,
    q: ArrayLike | None = None,
    *,
    floor: ArrayLike | None = None,
    n: ArrayLike | None = None,
    scale: Scale | Sequence[float] | str | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Participation | None = None,
    level: float | None = 0.95,
    covers: str = "mean",
    effective: ArrayLike | None = None,
    squared_weights: ArrayLike | None = None,
    largest_weight: ArrayLike | None = None,
) -> Inquiry:
    """Check a question without answering it; the parameters are those of :func:`estimate`."""
    if isinstance(scale, str):
        scale = Scale.parse(scale)
    elif scale is not None and not isinstance(scale, Scale):
        scale = Scale(scale)
    checked = Counts.of(
        counts,
        n=n,
        scale=scale,
        effective=effective,
        squared_weights=squared_weights,
        largest_weight=largest_weight,
    )
    assumption = stated(q, quiet, participation, g, assumption, floor)
    assumption.check_fits(checked.scale.m, checked.rows)
    assumption.check_people(n_known=checked.n is not None)
    if level is not None and not _is_share(level):
        raise OptionError(
            "level", f"{level!r} found", "Give a number between 0 and 1, such as 0.95"
        )
    if covers not in ("mean", "people"):
        raise OptionError("covers", f"{covers!r} found", "Choose mean or people")
    if covers == "people" and checked.weighted:
        raise OptionError(
            "covers", "people asked for, with weighted counts", "Weights stand for a population"
        )
    if covers == "people" and checked.n is None:
        raise OptionError(
            "covers", "people asked for, and n is unknown", "Give n, or cover the mean"
        )
    return Inquiry(checked, assumption, level, covers)


def estimate(
    counts: ArrayLike,
    q: ArrayLike | None = None,
    *,
    floor: ArrayLike | None = None,
    n: ArrayLike | None = None,
    scale: Scale | Sequence[float] | str | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Participation | None = None,
    method: str | None = None,
    level: float | None = 0.95,
    covers: str = "mean",
    effective: ArrayLike | None = None,
    squared_weights: ArrayLike | None = None,
    largest_weight: ArrayLike | None = None,
) -> Estimate:
    """Estimate the mean rating of everybody from those who answered.

    Parameters
    ----------
    counts
        How often each rating was given, lowest first: m counts, or an (N, m) array with one row
        per item.
    q
        Participation ratio in (0, 1], or the name of a preset (``survey`` 0.5, ``reviews`` 0.3,
        ``media`` 0.1): those who respond least often do so at least q times as often as those who
        respond most often. It means the same with n and without. One number, or one per item.
    floor
        Instead of q: everybody responds with a probability of at least ``floor``, the paper's
        assumption. Requires n; a response rate below it refutes it. One number, or one per item.
    n
        How many people there are, those who did not respond included, if known: one number or one
        per item. It can only narrow the bounds.
    scale
        The m rating values, or text such as ``"0.5:5:0.5"``; 1, 2, ..., m if left out.
    quiet
        Who may respond less often: people with ``any`` rating, ``low``, ``high`` or ``middle``
        ones.
    participation
        Instead of q: one pair (lo, hi) per rating, between which the probability to answer lies.
    g
        Instead of q: the probability to answer, per rating, if it is known.
    assumption
        Instead of q: what an audit found (see :func:`unheard.calibrate`), or any
        :class:`Participation`.
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
    Estimate
        Numbers for one histogram, arrays for many.

    Examples
    --------
    >>> result = estimate([120, 30, 45, 200, 605], q=0.3)
    >>> round(result.estimate, 4), round(result.lower, 4), round(result.upper, 4)
    (3.997, 3.3505, 4.6434)
    >>> round(estimate([2, 1, 0, 3, 6], floor=0.3, n=20, method="bea").estimate, 8)
    3.66391367
    """
    question = inquire(
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
    return question.answer([method or question.default_method()])[0]


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < 1


def stated(
    q: ArrayLike | None,
    quiet: str,
    participation: Sequence[tuple[float, float]] | None,
    g: Sequence[float] | None,
    assumption: Participation | None = None,
    floor: ArrayLike | None = None,
) -> Participation:
    """Read the assumption from the arguments that state it, of which one must be given."""
    arguments = {
        "q": q,
        "floor": floor,
        "participation": participation,
        "g": g,
        "assumption": assumption,
    }
    given = [name for name, x in arguments.items() if x is not None]
    if len(given) != 1:
        raise ParticipationError(
            "assumption",
            "none stated" if not given else f"{' and '.join(given)} stated together",
            "State one: q (0.5 suits surveys people were asked to fill in, 0.3 open review sites, "
            "0.1 media people choose themselves), floor, participation, g, or an assumption from "
            "an audit",
        )
    if q is not None:
        return Participation.bounded(preset(q) if isinstance(q, str) else q, quiet)
    if quiet != "any":
        raise ParticipationError(
            "quiet", f"{quiet!r} stated together with {given[0]}", "A direction goes with q only"
        )
    if floor is not None:
        return Participation.floor(floor)
    if participation is not None:
        pairs = [_pair(pair, r) for r, pair in enumerate(participation)]
        return Participation.box([lo for lo, _ in pairs], [hi for _, hi in pairs])
    if assumption is not None:
        # An audit holds the assumption that it led to.
        found = getattr(assumption, "assumption", assumption)
        if not isinstance(found, Participation):
            raise ParticipationError(
                "assumption",
                f"{type(assumption).__name__} found",
                "Give what calibrate or read_assumption returns; a file is read by read_assumption",
            )
        return found
    assert g is not None  # one of them is stated
    return Participation.known(g)


def _pair(pair: Sequence[float], r: int) -> tuple[float, float]:
    try:
        lo, hi = pair
    except (TypeError, ValueError):
        raise ParticipationError(
            f"participation[{r}]", f"{pair!r} found", "Give a pair (lo, hi)"
        ) from None
    return lo, hi
