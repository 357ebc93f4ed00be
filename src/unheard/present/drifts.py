"""Participation over time as text, documents and rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from unheard.analysis.assumption_file import build_drift_document as write_document
from unheard.analysis.drift import Drift
from unheard.present import participation
from unheard.present.layout import Page, apart
from unheard.text import percent_text, plural

__all__ = ["explain", "list_cells", "tabulate", "write_document", "write_lines"]


def tabulate(drift: Drift) -> list[dict[str, Any]]:
    """Return a row per window and rating."""
    return [
        {"window_start": start, "window_end": end, "q": one.q, "q_lower": one.q_lower, **row}
        for (start, end), one in zip(drift.windows, drift.pooled, strict=True)
        for row in participation.tabulate(one)
    ]


def list_cells(drift: Drift) -> list[list[str]]:
    """Return the windows as a table."""
    level = percent_text(drift.pooled[0].level)
    table = [["from", "until", "q", "alone", f"at least ({level})", "responds less", "change"]]
    for w, ((start, end), one) in enumerate(zip(drift.windows, drift.pooled, strict=True)):
        changed = drift.change is not None and drift.change.window == w
        numbers = [f"{q:.2g}" for q in (one.q, drift.alone[w].q, one.q_lower)]
        table.append([start, end, *numbers, one.quiet, "here" if changed else ""])
    return table


def explain(drift: Drift) -> Iterator[str]:
    """Yield what was found, and what it rests on."""
    yield drift.words
    yield from list(participation.explain(drift.alone[-1]))[:1]


def write_lines(drift: Drift, page: Page) -> Iterator[Text]:
    """Write participation over time as the terminal shows it."""
    words = [line for sentence in [drift.words] for line in page.paragraph(sentence)]
    cells = list_cells(drift)
    size = Text(plural(len(drift.windows), "window"))
    return apart([size], page.table(cells, "<<>>><<", indent=2), words)
