"""Estimated participation as text, documents and rows: an audit, waves, or a suggestion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rich.text import Text

from unheard.analysis.assumption_file import build_participation_document as write_document
from unheard.analysis.calibrate import Audit
from unheard.analysis.participation import Participation
from unheard.analysis.suggest import Suggestion
from unheard.analysis.waves import Waves
from unheard.present.estimates import tidy
from unheard.present.layout import Page, apart
from unheard.text import percent_text, plural, write_exactly

__all__ = ["explain", "list_cells", "tabulate", "write_document", "write_lines"]

_POOLED = (
    "The audit shows by how much items differ: estimates for other items are pooled with it, and "
    "their confidence intervals are as wide as the errors on audited items that were left out in "
    "turn."
)
_MOST_REQUESTS = 3
"""Number of requests whose responses fit into a terminal."""

_NOT_POOLED = "An audit of ten or more items also shows by how much items differ."


def tabulate(found: Participation) -> list[dict[str, Any]]:
    """Return, for each rating, who responded, and participation with its box."""
    return [
        {
            "rating": tidy(value),
            **_count_people(found, r),
            "g": None if math.isnan(found.g[r]) else float(found.g[r]),
            "g_lower": float(found.g_lower[r]),
            "g_upper": float(found.g_upper[r]),
        }
        for r, value in enumerate(found.scale.values)
    ]


def _count_people(found: Participation, r: int) -> dict[str, float]:
    if isinstance(found, Audit):
        return {
            "audited": float(found.truth[:, r].sum()),
            "answers": float(found.observed[:, r].sum()),
        }
    if isinstance(found, Waves):
        waves = found.counts[:, :, r].sum(axis=0)
        requests = {f"request_{k}": float(many) for k, many in enumerate(waves, 1)}
        return {**requests, "answers": float(waves.sum())}
    assert isinstance(found, Suggestion)  # there is no other source
    return {"answers": float(found.counts[:, r].sum())}


def list_cells(found: Participation) -> list[list[str]]:
    """Return the numbers as a table."""
    rows = tabulate(found)
    people = [name for name in rows[0] if name in ("audited", "answers")]
    headings = ["responded" if name == "answers" else name for name in people]
    box = "box, all ratings together"
    if isinstance(found, Waves) and found.requests <= _MOST_REQUESTS:
        people = [name for name in rows[0] if name.startswith("request_")]
        headings, box = [name.replace("_", " ") for name in people], "box, all together"
    what = "relative participation" if found.relative else "participation"
    table = [["rating", *headings, what, f"{percent_text(found.level)} {box}"]]
    for row in rows:
        guess = "unknown" if row["g"] is None else f"{row['g']:.3f}"
        limits = f"{row['g_lower']:.3f} to {row['g_upper']:.3f}"
        many = [f"{row[name]:,.0f}" for name in people]
        table.append([write_exactly(row["rating"]), *many, guess, limits])
    return table


def explain(found: Participation) -> Iterator[str]:
    """Yield what was found, and what it rests on."""
    yield found.words
    if isinstance(found, Audit):
        if found.pool is not None:
            yield _POOLED
        elif found.items > 1:
            yield _NOT_POOLED
    if isinstance(found, Waves) and found.item_spread > 0:
        yield (
            "Items vary in how readily people respond (standard deviation of the log-odds "
            f"{found.item_spread:.2g}); the assumption for one item allows for that."
        )


def write_lines(found: Participation, page: Page) -> Iterator[Text]:
    """Write estimated participation as the terminal shows it."""
    words = [line for sentence in explain(found) for line in page.paragraph(sentence)]
    cells = list_cells(found)
    aligned = ">" * (len(cells[0]) - 1) + "<"
    more = _list_alternatives(found, page) if isinstance(found, Suggestion) else []
    return apart([Text(_write_size(found))], page.table(cells, aligned, indent=2), words, more)


def _write_size(found: Participation) -> str:
    items = plural(found.items, "item")
    if isinstance(found, Audit):
        people, answers = (int(many.sum()) for many in (found.truth, found.observed))
        return (
            f"{plural(people, 'person', 'people')} audited, {plural(answers, 'response')}, {items}"
        )
    assert isinstance(found, Waves | Suggestion)  # there is no other source
    size = f"{plural(int(found.counts.sum()), 'response')}, {items}"
    if isinstance(found, Waves):
        size += f", {plural(found.requests, 'request')}"
    if found.n is not None:
        size = f"{plural(int(found.n.sum()), 'person', 'people')} asked, {size}"
    return size


def _list_alternatives(found: Suggestion, page: Page) -> list[Text]:
    """Show what would be suggested if better items were answered more for other reasons."""
    table = [["If items one point better were answered", "q", "responds less"]]
    for one in found.alternatives:
        factor = "as often as the others" if one.kappa == 0 else f"{math.exp(one.kappa):.2f} times"
        shown = ["none fits", ""] if one.q is None else [f"{one.q:.2g}", one.quiet]
        table.append([factor if one.kappa == 0 else f"{factor} as often", *shown])
    return list(page.table(table, "<><", indent=2))
