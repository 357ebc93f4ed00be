"""Batches added to kept counts, as text, documents and rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from unheard.present.layout import Page
from unheard.tables.kept.add import AddedBatch, AddedCounts
from unheard.text import name_of, plural


def write_document(added: AddedCounts) -> dict[str, Any]:
    """Return the JSON document of what was added."""
    return {
        "into": added.into,
        "batches": tabulate(added),
        "n_batches": added.n_batches,
        "n_rows": added.n_rows,
        "n_ratings": added.n_ratings,
        "n_items": added.n_items,
    }


def tabulate(added: AddedCounts) -> list[dict[str, Any]]:
    """Return a row for each batch."""
    return [
        {"batch": one.batch, "source": one.name, "rows": one.rows, "added": one.added}
        for one in added.batches
    ]


def list_cells(added: AddedCounts) -> list[list[str]]:
    """Return the batches as a table."""
    return [["batch", "rows", "state"], *(_cells(one) for one in added.batches)]


def _cells(batch: AddedBatch) -> list[str]:
    rows = f"{batch.rows:,}" if batch.added else "–"
    return [name_of(batch.name), rows, "added" if batch.added else "was added before"]


def explain(added: AddedCounts) -> Iterator[str]:
    """Yield what is kept now."""
    batches = plural(added.n_batches, "batch", "batches")
    yield (
        f"{added.into} now has {plural(added.n_ratings, 'rating')} in "
        f"{plural(added.n_items, 'row')} of counts, from {batches}."
    )


def write_lines(added: AddedCounts, page: Page) -> Iterator[Text]:
    """Yield a line for each batch, and what is kept now."""
    for one in added.batches:
        done = f"{plural(one.rows, 'row')} added." if one.added else "was added before."
        yield from page.paragraph(f"{name_of(one.name)}: {done}")
    for sentence in explain(added):
        yield from page.paragraph(sentence)
