"""Counts and an assumption in, an honest rating out: the pieces put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.errors import AssumptionError, MethodError, OptionError
from unheard.formulas import confidence
from unheard.formulas.bea import bea_lambda, implied_floor
from unheard.formulas.estimators import ESTIMATORS, default_method, objection
from unheard.formulas.evaluate import (
    Items,
    Setting,
    answers,
    one_limit,
    own_limits,
    unlike_audited,
)
from unheard.formulas.operations import NUMPY, PLAIN, Column, Floats, Operations, by_blocks
from unheard.model.assumption import Assumption, best_guess, fixed_box, read_preset
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.labelled_counts import PlainOrLabelled
from unheard.model.notes import FEW, NOTE_NAMES, Note, note_names
from unheard.model.response import Response, response
from unheard.model.results import Estimate
from unheard.model.scale import Scale, ScaleLike

TEST_LEVEL = 0.95
"""Level of the test of the response rate where no level is given."""


OUTSIDE_SLACK = 1e-9
"""How far outside the interval, in widths of the scale, rounding alone may put an estimate."""


@dataclass(frozen=True, eq=False)
class Question:
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

    counts: Histograms
    assumption: Assumption
    level: float | None
    covers: str

    @property
    def words(self) -> str:
        """The assumption in one sentence for a lay reader."""
        return self.assumption.words()

    def methods(self) -> tuple[str, ...]:
        """Names of every method that applies."""
        return tuple(name for name in ESTIMATORS if self.objection(name) is None)

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
        one = ESTIMATORS[method]
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
        notes = self._notes()
        records = []
        for method, estimate in zip(chosen, estimates, strict=True):
            limits, raised = shared, notes + self._outside(estimate, lower, upper)
            if method == "pooled":
                raised = raised + self._unlike()
            if ESTIMATORS[method].limits is not None and self.level is not None:
                limits = own.pop(0), own.pop(0)
            records.append(self._record(method, (estimate, lower, upper), limits, raised))
        return records

    def _outside(self, values: Floats, lower: Floats, upper: Floats) -> NDArray[np.int64]:
        """Note estimates outside the interval, unless rounding alone put them there."""
        slack = OUTSIDE_SLACK * self.counts.scale.width
        outside = (values < lower - slack) | (values > upper + slack)
        return int(Note.OUTSIDE_BOUNDS) * outside.astype(np.int64)

    def _unlike(self) -> NDArray[np.int64]:
        """Note items that the audit says nothing about."""

        def formula(items: Items, setting: Setting, ops: Operations) -> list[Column]:
            return [ops.where(unlike_audited(items, setting, ops), 1.0, 0.0)]

        unlike = (self.counts.n_ratings > 0) & (self._run(formula, 1)[0] > 0)
        return int(Note.UNLIKE_AUDITED) * unlike.astype(np.int64)

    def intervals(self) -> list[Floats]:
        """Return lower, upper and, unless the level is None, the two confidence limits."""
        return self._columns([])

    def at(self, q: ArrayLike, rows: NDArray[np.intp] | None = None) -> Question:
        """Ask the same of another voice ratio, see :meth:`Assumption.at`, for all rows or some.

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
                rows["balance"] = np.broadcast_to(bea_lambda(n, self._floor(n, q)), n.shape)
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

    def _notes(self) -> NDArray[np.int64]:
        seen, size = self.counts.n_ratings, self.counts.size
        empty = seen == 0
        few = (seen if size is None else size) < FEW
        notes = np.where(empty, int(Note.NO_RATINGS), int(Note.FEW_RATINGS) * few)
        if self.counts.effective is not None and self.level is not None:
            notes += int(Note.WEIGHTS_ASSUMED) * ~empty
        about = self.response()
        if about is not None:
            notes += int(Note.LOW_RESPONSE) * (about.too_low & ~empty)
            notes += int(Note.HIGH_RESPONSE) * (about.too_high & ~empty)
            notes += int(Note.REFUTED) * about.refuted
        return notes

    def _record(
        self,
        method: str,
        numbers: tuple[Floats, Floats, Floats],
        limits: tuple[Floats, Floats] | tuple[None, None],
        notes: NDArray[np.int64],
    ) -> Estimate:
        if not self.counts.single:
            low_limits, high_limits = limits
            return Estimate(method, *numbers, low_limits, high_limits, NOTE_NAMES[notes], self)
        estimate, lower, upper = (float(x[0]) for x in numbers)
        low, high = (None if x is None else float(x[0]) for x in limits)
        return Estimate(method, estimate, lower, upper, low, high, note_names(int(notes[0])), self)


_SQUARE = "square_"


def _items(counts: Sequence[Column], named: dict[str, Column]) -> Items:
    """Put columns of a row together; the squared weights are one per rating."""
    squares = [column for name, column in named.items() if name.startswith(_SQUARE)]
    rest = {name: column for name, column in named.items() if not name.startswith(_SQUARE)}
    return Items(counts, **rest, squares=squares or None)


def build_question(
    counts: CountsLike,
    q: ArrayLike | None = None,
    *,
    floor: ArrayLike | None = None,
    n: ArrayLike | None = None,
    scale: ScaleLike | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Assumption | None = None,
    level: float | None = 0.95,
    covers: str = "mean",
    effective: ArrayLike | None = None,
    squared_weights: PlainOrLabelled | None = None,
    largest_weight: ArrayLike | None = None,
) -> Question:
    """Check a question without answering it; the parameters are those of :func:`estimate`."""
    checked = Histograms.of(
        counts,
        n=n,
        scale=None if scale is None else Scale.read(scale),
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
    return Question(checked, assumption, level, covers)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < 1


def stated(
    q: ArrayLike | None,
    quiet: str,
    participation: Sequence[tuple[float, float]] | None,
    g: Sequence[float] | None,
    assumption: Assumption | None = None,
    floor: ArrayLike | None = None,
) -> Assumption:
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
        raise AssumptionError(
            "assumption",
            "none stated" if not given else f"{' and '.join(given)} stated together",
            "State one: q (0.5 suits surveys people were asked to fill in, 0.3 open review sites, "
            "0.1 media people choose themselves), floor, participation, g, or an assumption from "
            "an audit",
        )
    if q is not None:
        return Assumption.bounded(read_preset(q) if isinstance(q, str) else q, quiet)
    if quiet != "any":
        raise AssumptionError(
            "quiet", f"{quiet!r} stated together with {given[0]}", "A direction goes with q only"
        )
    if floor is not None:
        return Assumption.floor(floor)
    if participation is not None:
        pairs = [_pair(pair, r) for r, pair in enumerate(participation)]
        return Assumption.box([lo for lo, _ in pairs], [hi for _, hi in pairs])
    if assumption is not None:
        # An audit holds the assumption that it led to.
        found = getattr(assumption, "assumption", assumption)
        if not isinstance(found, Assumption):
            raise AssumptionError(
                "assumption",
                f"{type(assumption).__name__} found",
                "Give what calibrate or read_assumption returns; a file is read by read_assumption",
            )
        return found
    assert g is not None  # one of them is stated
    return Assumption.known(g)


def _pair(pair: Sequence[float], r: int) -> tuple[float, float]:
    try:
        lo, hi = pair
    except (TypeError, ValueError):
        raise AssumptionError(
            f"participation[{r}]", f"{pair!r} found", "Give a pair (lo, hi)"
        ) from None
    return lo, hi
