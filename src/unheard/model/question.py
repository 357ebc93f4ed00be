"""A checked question: counts, an assumption and settings, and how it is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.errors import AssumptionError, Given, MethodError, OptionError
from unheard.formulas.bea import bea_lambda, implied_floor
from unheard.formulas.estimators import ESTIMATORS, default_method, find_objection, middle_method
from unheard.formulas.evaluate import (
    Answer,
    Answers,
    Bounds,
    Items,
    Setting,
    evaluate,
    evaluate_one_limit,
)
from unheard.formulas.note_rules import note_estimate, note_items
from unheard.formulas.operations import (
    NUMPY,
    PLAIN,
    Column,
    Floats,
    Operations,
    map_columns,
    run_in_blocks,
)
from unheard.formulas.refutation import TEST_LEVEL, assess_response_rate
from unheard.model.assumption import Assumption, best_guess, fixed_box
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.labelled_counts import PlainOrLabelled
from unheard.model.notes import NOTE_NAMES, encode_notes
from unheard.model.response_rate import Response, describe_response
from unheard.model.results import Estimate, Estimates
from unheard.model.scale import Scale, ScaleLike
from unheard.model.studies import STUDIES, read_named_q
from unheard.options.choices import Method
from unheard.options.unknown import suggests_names

P = ParamSpec("P")
R = TypeVar("R")

Tree = TypeVar("Tree")
"""Columns: one, or named tuples and mappings of them."""


@dataclass(frozen=True, eq=False)
class Question:
    """A checked question: the data, the assumption and the settings.

    Attributes
    ----------
    counts, assumption
        The data, and what is assumed about who responds.
    level
        Level of the confidence interval; None for none.
    covers
        What the confidence interval covers. ``mean``: the mean rating of the population that the
        people are drawn from; ``people``: the mean of exactly the n people.
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
        return tuple(name for name in ESTIMATORS if self.find_objection(name) is None)

    def default_method(self) -> str:
        """Name of the method used when none is asked for."""
        return default_method(self.assumption.kind, self.counts.n is not None)

    def middle_method(self) -> str:
        """Name of the method that is the middle of the bounds."""
        return middle_method(n_known=self.counts.n is not None)

    def find_objection(self, method: str) -> MethodError | None:
        """Return why a method does not apply to this question; None if it does."""
        n = self.counts.n
        general = find_objection(method, self.assumption.kind, n is not None)
        if general is not None:
            return general
        estimator = ESTIMATORS[method]
        if estimator.most_n is not None and n is not None and n.max() > estimator.most_n:
            return MethodError(
                "method",
                problem="{method:{name}} is available for {n} up to {most}",
                value=Given(f"{n.max():.15g}"),
                hint="Use {method:midpoint} or {method:bea}",
                name=method,
                most=estimator.most_n,
            )
        if estimator.needs_people and self.counts.weighted:
            return MethodError(
                "method",
                problem="{method:{name}} requires counts of people, and these are sums of weights",
                hint="Use {method:paa} or {method:midpoint}",
                name=method,
            )
        return None

    def assess_response(self) -> Response | None:
        """Compare the response rate with the assumption.

        None if n is unknown, and if the assumption is about ratios, which hold at any rate.
        """
        if self.counts.n is None or self.assumption.is_ratio:
            return None
        test = self._run(assess_response_rate)
        return describe_response(self.counts, self.assumption, self.level or TEST_LEVEL, test)

    def answer(self, methods: Iterable[str]) -> list[Estimate]:
        """Answer a question about one histogram by each of the methods."""
        assert self.counts.rows == 1  # several are answered by answer_rows
        return [many.pick(0, self) for many in self.answer_rows(methods)]

    def answer_rows(self, methods: Iterable[str]) -> list[Estimates]:
        """Answer about every histogram by each of the methods."""
        chosen = list(methods)
        for method in chosen:
            if (objection := self.find_objection(method)) is not None:
                raise objection

        def formula(
            items: Items, setting: Setting, ops: Operations
        ) -> tuple[Answers, dict[str, Column]]:
            answers = evaluate(items, setting, chosen, ops)
            of_items = encode_notes(note_items(items, setting, ops))
            codes = {}
            for method in chosen:
                notes = note_estimate(items, setting, method, answers.of(method), ops)
                codes[method] = of_items + encode_notes(notes)
            return answers, codes

        answers, codes = self._run(formula, with_balance="bea" in chosen)
        return [
            self._build_estimates(method, answers.of(method), codes[method].astype(np.int64))
            for method in chosen
        ]

    def find_bounds(self) -> Bounds:
        """Return the bounds and, unless the level is None, the confidence limits."""

        def formula(items: Items, setting: Setting, ops: Operations) -> Bounds:
            return evaluate(items, setting, [], ops).bounds

        return self._run(formula)

    def at(self, q: ArrayLike, rows: NDArray[np.intp] | None = None) -> Question:
        """Return the same question with another q (see :meth:`Assumption.at`), or for some rows.

        Parameters
        ----------
        q
            One number, or one per row asked about.
        rows
            Which rows, in any order; rows may repeat.
        """
        counts = self.counts if rows is None else self.counts.take(rows)
        return replace(self, counts=counts, assumption=self.assumption.at(q))

    def take_row(self, row: int) -> Question:
        """Return the same question about one of the histograms alone."""
        counts = replace(self.counts.take(np.array([row])), single=True)
        q = self.assumption.q
        own = self.assumption if q is None or not q.ndim else self.assumption.at(q[row])
        return replace(self, counts=counts, assumption=own)

    def find_limit(self, *, upper: bool) -> Floats:
        """Return one confidence limit alone; the bound itself may lie further out."""

        def formula(items: Items, setting: Setting, ops: Operations) -> Column:
            return evaluate_one_limit(items, setting, upper, ops)

        limit: Floats = self._run(formula)
        return limit

    def _run(
        self,
        formula: Callable[[Items, Setting, Operations], Tree],
        *,
        with_balance: bool = False,
    ) -> Tree:
        """Run a formula over all rows."""
        setting = build_setting(self.counts.scale, self.assumption, self.level, self.covers)
        fixed = {} if self.assumption.q is None else {"q": self.assumption.q}
        rows = self._row_columns(with_balance)
        if self.counts.rows == 1:
            # Python's own numbers are several times faster than arrays of length 1.
            one = {name: _only(values) for name, values in (fixed | rows).items()}
            found = formula(_build_items(_only(self.counts.cells), **one), setting, PLAIN)
            return map_columns(lambda x: np.asarray(x, np.float64).reshape(1), found)

        def formula_of_block(counts: Sequence[Column], **row: Column) -> Tree:
            return formula(_build_items(counts, **(fixed | row)), setting, NUMPY)

        return run_in_blocks(formula_of_block, self.counts.cells, rows)

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
            rows["squares"] = self.counts.weights.squares
        return rows

    def _floor(self, n: Floats, q: Floats) -> Floats:
        """Return the least participation, which the paper's aggregators ask for."""
        if self.assumption.kind == "floor":
            return q
        seen = self.counts.n_ratings
        # An item without ratings has no floor, and its lambda is never used.
        return np.where(seen > 0, implied_floor(q, seen, np.maximum(n, 1.0), NUMPY), 1.0)

    def _build_estimates(self, method: str, answer: Answer, notes: NDArray[np.int64]) -> Estimates:
        estimate, lower, upper, *limits = answer
        none = np.full(self.counts.rows, np.nan)
        low, high = (none if limit is None else limit for limit in limits)
        name = cast("Method", method)  # find_objection knows no other
        return Estimates(name, estimate, lower, upper, low, high, NOTE_NAMES[notes], self)


def _only(values: NDArray[Any]) -> Any:
    """Return the only row of an array, as a number or a list of numbers."""
    row = values.reshape(-1) if values.ndim < 2 else values[0]
    return [float(value) for value in row] if values.ndim == 2 else float(row[0])


def _build_items(counts: Sequence[Column], *, squares: Any = None, **rows: Column) -> Items:
    if isinstance(squares, np.ndarray):
        squares = list(np.ascontiguousarray(squares.T))
    return Items(counts, squares=squares, **rows)


def build_setting(
    scale: Scale, assumption: Assumption, level: float | None, covers: str
) -> Setting:
    """Return what all items of a question have in common, as the formulas take it."""
    return Setting(
        scale.values,
        assumption.kind,
        fixed_box(assumption),
        best_guess(assumption),
        assumption.pool,
        level,
        covers == "people",
    )


@suggests_names
def build_question(
    counts: CountsLike,
    q: ArrayLike | None = None,
    *,
    floor: ArrayLike | None = None,
    n: ArrayLike | None = None,
    scale: ScaleLike | None = None,
    quiet: str | None = None,
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
    assumption = build_assumption(q, quiet, participation, g, assumption, floor)
    assumption.check_fits(checked.scale.m, checked.rows)
    assumption.check_people(n_known=checked.n is not None)
    _check_level(level)
    _check_covers(covers, checked)
    return Question(checked, assumption, level, covers)


def require_level(level: float | None) -> float:
    """Return the level, or raise if there is none."""
    _check_level(level)
    if level is None:
        raise OptionError(
            "level",
            problem="Allowing for sampling error requires {argument}",
            hint="Use a level",
            examples=(0.95,),
        )
    return level


def _check_level(level: object) -> None:
    if level is not None and not (isinstance(level, int | float) and 0 < level < 1):
        raise OptionError(
            "level",
            problem="{argument} must be between 0 and 1",
            value=level,
            hint="Use a number",
            examples=(0.95,),
        )


def _check_covers(covers: str, counts: Histograms) -> None:
    if covers not in ("mean", "people"):
        raise OptionError(
            "covers",
            problem="{argument} must be 'mean' or 'people'",
            value=covers,
            hint="Use {covers:mean} for the population, {covers:people} for exactly these n people",
        )
    if covers == "people" and counts.weighted:
        raise OptionError(
            "covers",
            problem="{covers:people} does not apply to weighted counts, which stand for a "
            "population",
            hint="Use {covers:mean}",
        )
    if covers == "people" and counts.n is None:
        raise OptionError(
            "covers",
            problem="{covers:people} requires {n}",
            hint="Give {n}, or use {covers:mean}",
            code="requires_n",
        )


def build_assumption(
    q: ArrayLike | None,
    quiet: str | None,
    participation: Sequence[tuple[float, float]] | None,
    g: Sequence[float] | None,
    assumption: Assumption | None = None,
    floor: ArrayLike | None = None,
) -> Assumption:
    """Build the assumption from the arguments that state it, exactly one of which is required."""
    arguments = {
        "q": q,
        "floor": floor,
        "participation": participation,
        "g": g,
        "assumption": assumption,
    }
    given = [name for name, value in arguments.items() if value is not None]
    if not given:
        raise AssumptionError(
            "q",
            problem="An assumption about who responds is required",
            hint="Give {q} (0.5 suits surveys that people are asked to fill in, 0.3 open review "
            "sites, 0.1 media that people choose themselves), {floor}, {participation}, {g} or "
            "{assumption}",
            code="requires_assumption",
        )
    if len(given) > 1:
        raise AssumptionError(
            given[1],
            problem="Only one assumption can be stated",
            value=Given(" and ".join(given)),
            hint="Give one of {q}, {floor}, {participation}, {g} and {assumption}",
        )
    if q is not None:
        return _build_bounded(q, quiet)
    if quiet not in (None, "any"):
        raise AssumptionError(
            "quiet",
            problem="{argument} applies only together with {q}",
            value=Given(f"{quiet!r} together with {given[0]}"),
            hint="Give {q}, or leave {argument} out",
        )
    if floor is not None:
        return Assumption.floor(floor)
    if participation is not None:
        pairs = [_read_pair(pair, r) for r, pair in enumerate(participation)]
        return Assumption.box([lo for lo, _ in pairs], [hi for _, hi in pairs])
    if assumption is not None:
        # An audit holds the assumption that it leads to.
        inner = getattr(assumption, "assumption", assumption)
        if not isinstance(inner, Assumption):
            raise AssumptionError(
                "assumption",
                problem="{argument} must be an Assumption or estimated participation",
                value=Given(type(assumption).__name__),
                hint="Pass what calibrate or read_assumption returns; read_assumption reads a file",
            )
        return inner
    assert g is not None  # exactly one is given
    return Assumption.known(g)


def takes_question(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function refuse the counts that a question is about, whatever is given with them."""
    answer = suggests_names(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        question = args[0] if args else kwargs.get("question")
        if not isinstance(question, Question):
            raise OptionError(
                "question",
                problem="{argument} must be a Question",
                value=Given(type(question).__name__),
                hint="Build it with unheard.build_question, which takes the counts and q",
            )
        return answer(*args, **kwargs)

    return call


def _build_bounded(q: ArrayLike, quiet: str | None) -> Assumption:
    """Read a number, a preset or a study; a study has a direction, which another one replaces."""
    if not isinstance(q, str):
        return Assumption.bounded(q, quiet or "any")
    value, study = read_named_q(q), STUDIES.get(q)
    direction = quiet or ("any" if study is None else study.direction)
    return replace(Assumption.bounded(value, direction), study=study)


def _read_pair(pair: Sequence[float], r: int) -> tuple[float, float]:
    try:
        lo, hi = pair
    except (TypeError, ValueError):
        raise AssumptionError(
            "participation",
            index=r,
            problem="{argument} must be a pair (lo, hi)",
            value=pair,
            hint="Use a pair",
            examples=((0.2, 0.6),),
        ) from None
    return lo, hi
