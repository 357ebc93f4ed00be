"""Answers as plain documents: the JSON that commands print and the REST interface sends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unheard.model.question import Question
from unheard.model.results import Estimate
from unheard.present.value_of_n import Contribution, contribution_of_n


def assumption_document(question: Question) -> dict[str, Any]:
    """Return what is assumed, as every JSON document states it."""
    assumption = question.assumption
    stated: dict[str, Any] = {"kind": assumption.kind}
    if assumption.q is not None:
        stated["floor" if assumption.kind == "floor" else "q"] = float(assumption.q)
    if assumption.g:
        stated["g"] = list(assumption.g)
    if assumption.kind in ("box", "audit", "pool"):
        stated["participation"] = [list(p) for p in zip(assumption.lo, assumption.hi, strict=True)]
    stated["words"] = question.words
    return stated


def estimate_document(question: Question, found: Sequence[Estimate]) -> dict[str, Any]:
    """Return the JSON document of one histogram."""
    counts = question.counts
    result: dict[str, Any] = {
        "scale": [tidy(v) for v in counts.scale.values],
        "counts": [tidy(c) for c in counts.cells[0].tolist()],
        "n": None if counts.n is None else tidy(float(counts.n[0])),
        "n_ratings": tidy(float(counts.n_ratings[0])),
        "assumption": assumption_document(question),
        "level": question.level,
        "covers": question.covers,
    }
    if counts.effective is not None:
        result["effective"] = float(counts.effective[0])
    if counts.weights is not None:
        result["squared_weights"] = counts.weights.squares[0].tolist()
        result["largest_weight"] = float(counts.weights.largest[0])
    if found and (added := contribution_of_n(question, found[0])) is not None:
        result["response"] = _response_document(question, added)
    result["estimates"] = [numbers_document(one) for one in found]
    return result


def _response_document(question: Question, added: Contribution) -> dict[str, Any]:
    """Return what the number of people adds, and what it says about the assumption."""
    document: dict[str, Any] = {
        "rate": added.rate,
        "lower_without_n": added.lower,
        "upper_without_n": added.upper,
        "words": added.words,
    }
    response = question.assess_response()
    if response is not None:
        document["largest_floor"] = float(response.largest_floor[0])
        document["p_value"] = float(response.p_value[0])
    return document


def numbers_document(one: Estimate) -> dict[str, Any]:
    """Return what one estimate says, without the question that it answers."""
    columns = ("method", "estimate", "lower", "upper", "ci_lower", "ci_upper")
    return {name: getattr(one, name) for name in columns} | {"notes": list(one.notes)}


def tidy(value: float) -> int | float:
    """Write whole numbers without a decimal point."""
    return int(value) if float(value).is_integer() else float(value)
