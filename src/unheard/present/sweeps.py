"""A sweep over q as text, documents and rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.text import Text

from unheard.analysis.sweep import Sweep
from unheard.model.results import Estimates
from unheard.present.estimates import (
    NUMBERS,
    Screen,
    estimate_document,
    headings,
    note_sentences,
    number_cells,
)
from unheard.present.layout import Page, apart
from unheard.present.phrases import claim_text, never_text
from unheard.text import printable


def write_document(sweep: Sweep) -> dict[str, Any]:
    """Return the JSON document of a sweep."""
    result = estimate_document(sweep.question, [])
    for name in ("estimates", "response"):
        result.pop(name, None)
    if not sweep.question.assumption.per_rating:
        # The sweep is over q; what is stated is the direction.
        result["assumption"] = {"kind": sweep.question.assumption.kind}
    claim = sweep.claim
    named = {} if sweep.name is None else {"name": sweep.name}
    return (
        named
        | result
        | {
            "method": sweep.method,
            "rows": tabulate(sweep),
            "claim": None
            if claim is None
            else {
                "above" if claim.above else "below": claim.threshold,
                "breakdown_q": sweep.breakdown_q,
                "ci_breakdown_q": sweep.ci_breakdown_q,
            },
            "words": list(list_sentences(sweep)),
        }
    )


def tabulate(sweep: Sweep) -> list[dict[str, Any]]:
    """Return a row for each q."""
    return [
        {name: float(getattr(sweep, name)[row]) for name in ("q", *NUMBERS)}
        | {"notes": list(notes)}
        for row, notes in enumerate(sweep.notes)
    ]


def list_sentences(sweep: Sweep) -> Iterator[str]:
    """Yield when the claim holds, and the assumption."""
    claim = sweep.claim
    if claim is not None:
        never = never_text(sweep.question.assumption)
        yield claim_text(claim.words, sweep.breakdown_q, sweep.ci_breakdown_q, never)
    yield f"Assumption: {sweep.question.assumption.words('q')}"


def list_cells(sweep: Sweep) -> list[list[str]]:
    """Return the numbers as a table."""
    question = sweep.question
    table = [["q", *headings(question.level), "notes"]]
    for q, *numbers, notes in zip(
        sweep.q, *(getattr(sweep, name) for name in NUMBERS), sweep.notes, strict=True
    ):
        cells = number_cells(numbers, question.counts.scale.width)
        table.append([f"{q:.3g}", *cells, " ".join(notes)])
    return table


def explain(sweep: Sweep) -> Iterator[str]:
    """Yield what the numbers say, and what the notes mean."""
    yield from list_sentences(sweep)
    yield from note_sentences(note for notes in sweep.notes for note in notes)


def write_lines(sweep: Sweep, page: Page) -> Iterator[Text]:
    """Write a sweep as the terminal shows it: bounds drawn for each q, then the numbers."""
    columns = (sweep.estimate, sweep.lower, sweep.upper, sweep.ci_lower, sweep.ci_upper)
    notes = np.fromiter(sweep.notes, object)
    rows = Estimates(sweep.method, *columns, notes, sweep.question)
    estimates = [rows.pick(row, sweep.question) for row in range(len(rows))]
    screen = Screen(sweep.question, estimates, page, [f"q {q:g}" for q in sweep.q])
    words = [line for text in list_sentences(sweep) for line in page.paragraph(text, indent=2)]
    table = page.table(list_cells(sweep), ">><<<", indent=2)
    heading = [] if sweep.name is None else [Text(printable(sweep.name), "bold")]
    return apart([*heading, *screen.size()], screen.drawing(), words, table, screen.note_lines())
