"""Aggregators as players: a name or a callable, turned into one answer per histogram."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unheard.formulas.estimators import ESTIMATORS
from unheard.formulas.operations import Floats
from unheard.game.outcomes import GameError
from unheard.model.question import build_question
from unheard.model.scale import Scale
from unheard.text import write_exactly

Rule: TypeAlias = str | Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""The name of a method, or a function from (K, m) counts of ratings seen to K ratings."""


def rule_name(rule: Rule) -> str:
    """Return what to call a rule in a report."""
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
    return np.asarray(question.answer([rule])[0].estimate)


def state_assumption(rule: Rule, n: float, q: float) -> dict[str, Any]:
    """State the paper's assumption, g >= q, to a named method, as far as that uses it.

    Without n only the ratio that it implies matters.
    """
    if rule in ESTIMATORS and ESTIMATORS[rule].needs_n:
        return {"floor": q, "n": n}
    return {"q": q}


def check_answers(answers: object, seen: Floats, scale: Scale, name: str) -> Floats:
    """Return a callable's answers, or say which histogram it got wrong."""
    remedy = f"{name} must return one rating on the scale for each histogram"
    try:
        found = np.asarray(answers, np.float64)
    except (TypeError, ValueError):
        raise GameError(name, f"{type(answers).__name__} returned", remedy) from None
    if found.shape != (len(seen),):
        raise GameError(name, f"shape {found.shape} returned for {len(seen)} histograms", remedy)
    slack = 1e-9 * scale.width
    good = (found >= scale.lowest - slack) & (found <= scale.highest + slack)
    if not good.all():
        row = int(np.argmin(good))
        counts = ", ".join(f"{c:g}" for c in seen[row])
        raise GameError(
            name,
            f"{float(found[row])!r} returned for the histogram ({counts})",
            f"{remedy}, between {write_exactly(scale.lowest)} and {write_exactly(scale.highest)}",
        )
    return found
