"""The methods: one number from the counts, the assumption and, for some methods, n.

Every formula takes the same :class:`Situation`. The registry :data:`ESTIMATORS` says what each
method requires and when it applies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from unheard.errors import MethodError
from unheard.formulas import bounds
from unheard.formulas.operations import Column, Operations, total, weighted_sum
from unheard.formulas.pooling import (
    Pool,
    error_quantile,
    predict_mean_with_n,
    predict_mean_without_n,
)
from unheard.later import fetch


@dataclass(frozen=True)
class Situation:
    """Everything that an estimate may use, as columns.

    Attributes
    ----------
    counts
        One column per rating.
    values
        The scale.
    free
        Bounds of the mean without n.
    known
        Bounds of the mean given n; None if n is unknown.
    stands
        How many people one rating stands for, where there is a best guess (known g, an audit).
    n, balance
        Number of people and BEA's lambda; None if n is unknown.
    floor
        Least participation; None where the assumption states it per rating or n is unknown.
    pool
        How items differ, where an audit of several items says so.
    ops
        The engine's operations.
    """

    counts: Sequence[Column]
    values: Sequence[float]
    free: tuple[Column, Column]
    known: tuple[Column, Column] | None
    stands: Sequence[float] | None
    n: Column | None
    balance: Column | None
    floor: Column | None
    pool: Pool | None
    ops: Operations

    def without_n(self) -> Situation:
        """Return the same situation if n were unknown."""
        return replace(self, known=None, n=None, balance=None, floor=None)


def average(given: Situation) -> Column:
    """Mean of the ratings seen, as if participation did not depend on the rating."""
    return bounds.average(given.counts, given.values, given.ops)


def spectral(given: Situation) -> Column:
    """Root mean square of the ratings seen: the spectral method on one item [GKL25, 6.2]."""
    squares = [value * value for value in given.values]
    mean_square = given.ops.divide(weighted_sum(squares, given.counts), total(given.counts))
    return given.ops.sqrt(mean_square)


def reweight(given: Situation) -> Column:
    """Importance sampling: each rating counts for the people it stands for [GKL25, section 1]."""
    assert given.stands is not None  # the method requires a best guess
    people = [w * c for w, c in zip(given.stands, given.counts, strict=True)]
    return bounds.average(people, given.values, given.ops)


def pooled(given: Situation) -> Column:
    """Prediction from the audited items and this item's own ratings."""
    return _predict_mean(given)[0]


def _predict_mean(given: Situation) -> tuple[Column, Column]:
    assert given.pool is not None  # the method requires an audit of several items
    if given.n is None:
        return predict_mean_without_n(given.counts, given.values, given.pool.without_n, given.ops)
    assert given.pool.with_n is not None  # a relative audit is refused where n is known
    return predict_mean_with_n(given.counts, given.values, given.n, given.pool.with_n, given.ops)


def pooled_limits(given: Situation, level: float, people: bool) -> tuple[Column, Column]:
    """Limits that contain the means of the stated share of items like those audited."""
    assert given.pool is not None
    estimate, square = _predict_mean(given)
    errors = given.pool.without_n.errors
    if given.n is not None and given.pool.with_n is not None:
        errors = given.pool.with_n.errors
        if not people:
            # The mean of the population is a little further away than that of these people.
            square = square + given.ops.divide(given.pool.with_n.people, given.n)
    away = error_quantile(errors, level) * given.ops.sqrt(square)
    low, high = given.values[0], given.values[-1]
    return given.ops.greatest(estimate - away, low), given.ops.least(estimate + away, high)


def paa(given: Situation) -> Column:
    """Middle of the bounds without n: polarizing-averaging [GKL25, definition 4.1]."""
    lower, upper = given.free
    return (lower + upper) / 2.0


def midpoint(given: Situation) -> Column:
    """Middle of the bounds given n."""
    assert given.known is not None  # the method requires n
    lower, upper = given.known
    return (lower + upper) / 2.0


def bea(given: Situation) -> Column:
    """Balanced extremes: the unseen are placed at the two ends [GKL25, definition 3.1]."""
    low, high = given.values[0], given.values[-1]
    unseen = given.n - total(given.counts)
    at_low = given.ops.logistic(given.balance * (given.counts[0] - given.counts[-1]))
    their_sum = unseen * (high - at_low * (high - low))
    return given.ops.divide(weighted_sum(given.values, given.counts) + their_sum, given.n)


MINIMAX_REACH = 100
"""Largest n for which estimates solve the game; it takes a few seconds there."""


def minimax(given: Situation) -> Column:
    """Estimate with the smallest worst-case regret; a layer above solves the game."""
    return fetch("game").answer_by_minimax(given)


@dataclass(frozen=True)
class Estimator:
    """A method and what it requires.

    Attributes
    ----------
    name
        The name users type.
    words
        A short description.
    formula
        From a :class:`Situation` to one column.
    needs_n
        Whether the number of people must be known.
    kinds
        Kinds of assumption that it applies to; empty for all.
    needs_people
        Whether counts must be people instead of sums of weights.
    most_n
        Largest number of people; None for any.
    closed_form
        Whether the formula runs on the columns of every engine, or only on NumPy arrays.
    limits
        Confidence limits of its own, from a :class:`Situation`, the level, and whether they cover
        the mean of exactly these people; None for those of the assumption.
    """

    name: str
    words: str
    formula: Callable[[Situation], Column]
    needs_n: bool = False
    kinds: tuple[str, ...] = ()
    needs_people: bool = False
    most_n: int | None = None
    closed_form: bool = True
    limits: Callable[[Situation, float, bool], tuple[Column, Column]] | None = None


ESTIMATORS: dict[str, Estimator] = {
    one.name: one
    for one in (
        Estimator("average", "mean of the ratings seen", average),
        Estimator("spectral", "root mean square of the ratings seen", spectral),
        Estimator(
            "reweight",
            "each rating counts for the people it stands for",
            reweight,
            kinds=("known", "audit", "pool"),
        ),
        Estimator(
            "pooled",
            "an audit of several items applied to this one",
            pooled,
            kinds=("pool",),
            limits=pooled_limits,
        ),
        Estimator("paa", "middle of the bounds without n", paa),
        Estimator(
            "bea",
            "non-respondents at the two ends of the scale",
            bea,
            needs_n=True,
            kinds=("any", "floor"),
            needs_people=True,
        ),
        Estimator("midpoint", "middle of the bounds given n", midpoint, needs_n=True),
        Estimator(
            "minimax",
            "smallest worst-case regret",
            minimax,
            needs_n=True,
            kinds=("any", "floor"),
            needs_people=True,
            most_n=MINIMAX_REACH,
            closed_form=False,
        ),
    )
}


def default_method(kind: str, n_known: bool) -> str:
    """Return the name of the method that is used by default."""
    if kind == "pool":
        return "pooled"
    if kind in ("known", "audit"):
        return "reweight"
    return middle_method(n_known=n_known)


def middle_method(*, n_known: bool) -> str:
    """Name the method that is the middle of the bounds, and so never outside them."""
    return "midpoint" if n_known else "paa"


_ASSUMPTIONS = {
    "known": "g per rating",
    "audit": "an audit",
    "pool": "an audit of several items",
    "any": "q without a direction",
    "floor": "a floor",
}


def find_objection(method: str, kind: str, n_known: bool) -> MethodError | None:
    """Return why a method does not apply to a kind of assumption, with n known or not."""
    estimator = ESTIMATORS.get(method)
    if estimator is None:
        return MethodError(
            "method",
            problem="{argument} must be one of {methods}",
            value=method,
            hint="Use {method:paa}, or leave {argument} out for the default",
            methods=", ".join(ESTIMATORS),
        )
    if estimator.needs_n and not n_known:
        return MethodError(
            "method",
            problem="{method:{name}} requires {n}",
            hint="Give {n}, or use {method:paa}",
            name=method,
            code="requires_n",
        )
    if estimator.kinds and kind not in estimator.kinds:
        return MethodError(
            "method",
            problem="{method:{name}} does not apply to this kind of assumption",
            hint="State {assumptions}, or use {method:paa}",
            name=method,
            assumptions=" or ".join(_ASSUMPTIONS[kind] for kind in estimator.kinds),
        )
    return None
