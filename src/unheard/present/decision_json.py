"""Decisions as plain documents: the JSON that commands print and the REST interface sends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from unheard.analysis.breakdown import Claim
from unheard.analysis.compare import Comparison
from unheard.analysis.sweep import Sweep
from unheard.model.question import Question
from unheard.present.estimate_json import assumption_document, estimate_document, numbers_document
from unheard.present.sentences import comparison_sentences, sweep_sentences


def sweep_document(
    question: Question, found: Sweep, claim: Claim | None, broken: Sequence[float] | None
) -> dict[str, Any]:
    """Return the JSON document of a sweep; ``broken`` is the breakdown q without and with noise."""
    result = estimate_document(question, [])
    for name in ("estimates", "response"):
        result.pop(name, None)
    if not question.assumption.per_rating:
        # The sweep is over q; what is stated is the direction.
        result["assumption"] = {"kind": question.assumption.kind}
    result["method"] = found.method
    columns = ("q", "estimate", "lower", "upper", "ci_lower", "ci_upper")
    result["rows"] = [
        {name: float(getattr(found, name)[row]) for name in columns} | {"notes": list(notes)}
        for row, notes in enumerate(found.notes)
    ]
    result["claim"] = None
    if claim is not None and broken is not None:
        plain, noisy = (None if math.isnan(q) else q for q in broken)
        result["claim"] = {
            "above" if claim.above else "below": claim.threshold,
            "breakdown_q": plain,
            "ci_breakdown_q": noisy,
        }
    result["words"] = list(sweep_sentences(question, claim, broken))
    return result


def comparison_document(found: Comparison, names: tuple[str, str]) -> dict[str, Any]:
    """Return the JSON document of a comparison."""
    counts = found.question.counts
    items = {}
    for row, (key, one) in enumerate((("a", found.a), ("b", found.b))):
        items[key] = {
            "name": names[row],
            "counts": counts.cells[row].tolist(),
            "n": None if counts.n is None else int(counts.n[row]),
            **numbers_document(one),
        }
    return {
        "scale": list(counts.scale.values),
        **items,
        "assumption": assumption_document(found.question),
        "level": found.question.level,
        "covers": found.question.covers,
        "leader": found.leader,
        "separate": asdict(found.separate),
        "shared": asdict(found.shared),
        "words": list(comparison_sentences(found, names)),
    }
