"""Aggregators by name or as a callable, evaluated on every histogram."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unheard.errors import Given
from unheard.formulas.estimators import ESTIMATORS
from unheard.formulas.operations import Floats
from unheard.game.outcomes import GameError
from unheard.model.question import build_question
from unheard.model.scale import Scale
from unheard.text import write_exactly

Rule: TypeAlias = str | Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""The name of a method, or a function from (K, m) counts of ratings seen to K ratings."""

_RETURN_HINT = "Return one rating on the scale for each row of counts"


def rule_name(rule: Rule) -> str:
    """Return the name of a rule for reports."""
    return rule if isinstance(rule, str) else getattr(rule, "__name__", "your aggregator")


def evaluate_rule(rule: Rule, seen: Floats, n: int, q: float, scale: Scale) -> Floats:
    """Return the rule's answer to every histogram.

    Parameters
    ----------
    rule
        Name or callable.
    seen
        Shape (K, m): counts of ratings seen.
    n, q
        Number of people and least participation, for those named methods that use them.
    scale
        The rating values.
    """
    if callable(rule):
        return check_answers(rule(seen.copy()), seen, scale, rule_name(rule))
    question = build_question(seen, **state_assumption(rule, n, q), scale=scale, level=None)
    return np.asarray(question.answer_rows([rule])[0].estimate)


def state_assumption(rule: Rule, n: float, q: float) -> dict[str, Any]:
    """Return the arguments that state the paper's assumption, g >= q, to a named method.

    A method that does not use n gets the participation ratio that the assumption implies.
    """
    if rule in ESTIMATORS and ESTIMATORS[rule].needs_n:
        return {"floor": q, "n": n}
    return {"q": q}


def check_answers(answers: object, seen: Floats, scale: Scale, name: str) -> Floats:
    """Return a callable's answers, or raise unless they are ratings on the scale."""
    try:
        found = np.asarray(answers, np.float64)
    except (TypeError, ValueError):
        raise GameError(
            "rule",
            problem="{name} must return numbers",
            value=Given(type(answers).__name__),
            hint=_RETURN_HINT,
            name=name,
        ) from None
    if found.shape != (len(seen),):
        raise GameError(
            "rule",
            problem="{name} must return one number for each of {size} histograms",
            value=Given(f"an array of shape {found.shape}"),
            hint=_RETURN_HINT,
            name=name,
            size=len(seen),
        )
    slack = 1e-9 * scale.width
    good = (found >= scale.lowest - slack) & (found <= scale.highest + slack)
    if not good.all():
        row = int(np.argmin(good))
        counts = ", ".join(f"{c:g}" for c in seen[row])
        raise GameError(
            "rule",
            problem="{name} must return ratings from {lowest} to {highest}",
            value=Given(f"{float(found[row])!r} for the histogram ({counts})"),
            hint=_RETURN_HINT,
            name=name,
            lowest=write_exactly(scale.lowest),
            highest=write_exactly(scale.highest),
        )
    return found
