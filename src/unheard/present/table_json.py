"""Results as plain documents: the JSON that commands print and the REST interface sends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from typing import Any

from sqlglot import exp

from unheard.present.estimates import tidy
from unheard.present.order_sentences import OrderFindings, assumption_words
from unheard.tables.engines.base import Engine
from unheard.tables.pipeline import Job


def documents(engine: Engine, query: exp.Query) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query: notes as a list, dates and other things JSON lacks as text."""
    for batch in engine.arrow(query):
        for row in batch.to_pylist():
            if "notes" in row:
                row["notes"] = row["notes"].split()
            yield {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    plain = value is None or isinstance(value, str | int | float | list)
    return value if plain else (value.isoformat() if isinstance(value, date) else str(value))


def order_document(job: Job, findings: OrderFindings) -> dict[str, Any]:
    """Return the JSON document about the order of the items, but for its rows."""
    who = findings.who
    standing = None
    if who is not None:
        standing = {name: asdict(who)[name] for name in ("item", "breakdown_q", "ci_breakdown_q")}
    return {
        "k": findings.order.k,
        "level": job.request.level,
        "shared": job.request.shared,
        "pairs": findings.pairs(),
        "who": standing,
        "scale": [tidy(value) for value in job.request.scale.values],
        "assumption": {"words": assumption_words(job)},
        "words": findings.sentences(),
        "meanings": findings.meanings(),
        "messages": job.messages,
    }
