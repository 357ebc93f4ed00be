"""An audit as text, documents and rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rich.text import Text

from unheard.analysis.assumption_file import build_audit_document as write_document
from unheard.analysis.calibrate import Audit
from unheard.present.estimates import tidy
from unheard.present.layout import Page, apart
from unheard.text import percent_text, plural, write_exactly

__all__ = ["explain", "list_cells", "tabulate", "write_document", "write_lines"]

_POOLED = (
    "The audit shows by how much items differ: estimates for other items are pooled with it, and "
    "their confidence intervals are as wide as the errors on audited items that were left out in "
    "turn."
)
_NOT_POOLED = "An audit of ten or more items also shows by how much items differ."


def tabulate(audit: Audit) -> list[dict[str, Any]]:
    """Return, for each rating, who was audited, who responded, and participation with its box."""
    return [
        {
            "rating": tidy(value),
            "audited": float(audit.truth[:, r].sum()),
            "answers": float(audit.observed[:, r].sum()),
            "g": None if math.isnan(audit.g[r]) else float(audit.g[r]),
            "g_lower": float(audit.g_lower[r]),
            "g_upper": float(audit.g_upper[r]),
        }
        for r, value in enumerate(audit.scale.values)
    ]


def list_cells(audit: Audit) -> list[list[str]]:
    """Return the numbers as a table."""
    what = "participation" if audit.paired else "relative participation"
    box = f"{percent_text(audit.level)} box, all ratings together"
    table = [["rating", "audited", "responded", what, box]]
    for row in tabulate(audit):
        guess = "unknown" if row["g"] is None else f"{row['g']:.3f}"
        people = f"{row['audited']:,.0f}", f"{row['answers']:,.0f}"
        limits = f"{row['g_lower']:.3f} to {row['g_upper']:.3f}"
        table.append([write_exactly(row["rating"]), *people, guess, limits])
    return table


def explain(audit: Audit) -> Iterator[str]:
    """Yield what the audit says."""
    yield audit.words
    if audit.pool is not None:
        yield _POOLED
    elif audit.items > 1:
        yield _NOT_POOLED


def write_lines(audit: Audit, page: Page) -> Iterator[Text]:
    """Write an audit as the terminal shows it."""
    people, answers = (int(many.sum()) for many in (audit.truth, audit.observed))
    size = Text(
        f"{plural(people, 'person', 'people')} audited, {plural(answers, 'response')}, "
        f"{plural(audit.items, 'item')}"
    )
    words = [line for sentence in explain(audit) for line in page.paragraph(sentence)]
    return apart([size], page.table(list_cells(audit), ">>>><", indent=2), words)
