"""Every result as text, documents, rows and frames; one module of this package for each kind."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from rich.text import Text

from unheard.model.results import Backend, Result, choose_backend
from unheard.present.layout import Page

_MODULES = {
    "Estimate": "estimates",
    "Estimates": "estimates",
    "Sweep": "sweeps",
    "Comparison": "comparisons",
    "Ranking": "rankings",
    "SharedRanking": "rankings",
    "Audit": "participation",
    "Waves": "participation",
    "Suggestion": "participation",
    "Drift": "drifts",
    "Plan": "plans",
    "Plans": "plan_tables",
    "FollowUp": "plans",
    "ResponseRates": "response_rates",
    "AddedCounts": "added_counts",
    "Regrets": "regrets",
    "Minimax": "regrets",
}
"""Which module presents which kind of result; it is imported when it is first needed."""


def _module(result: Result) -> Any:
    return import_module(f"unheard.present.{_MODULES[type(result).__name__]}")


def write_lines(result: Result, page: Page, **options: object) -> Iterator[Text]:
    """Return the lines that the terminal shows."""
    lines: Iterator[Text] = _module(result).write_lines(result, page, **options)
    return lines


def summarize(result: Result, **options: object) -> str:
    """Return what the terminal shows, as plain text."""
    return "\n".join(line.plain for line in write_lines(result, Page(), **options))


def describe(result: Result) -> str:
    """Return the numbers as a table, and below it what they rest on."""
    page = Page()
    cells = list_cells(result)
    lines = [Text(type(result).__name__), *page.table(cells, "<" * len(cells[0]), indent=2)]
    for sentence in explain(result):
        lines += page.paragraph(sentence, indent=2)
    return "\n".join(line.plain.rstrip() for line in lines)


def list_cells(result: Result) -> list[list[str]]:
    """Return the numbers as a table of text, the headings first; empty columns are left out."""
    table: list[list[str]] = _module(result).list_cells(result)
    kept = [any(cells[1:]) or place == 0 for place, cells in enumerate(zip(*table, strict=True))]
    return [[cell for cell, keep in zip(row, kept, strict=True) if keep] for row in table]


def explain(result: Result) -> list[str]:
    """Return what the numbers rest on, in sentences."""
    return list(_module(result).explain(result))


def write_document(result: Result, **options: object) -> dict[str, Any]:
    """Return the JSON document."""
    document: dict[str, Any] = _module(result).write_document(result, **options)
    return document


def tabulate(result: Result) -> list[dict[str, Any]]:
    """Return tidy rows."""
    rows: list[dict[str, Any]] = _module(result).tabulate(result)
    return rows


def build_frame(rows: list[dict[str, Any]], backend: Backend | None) -> Any:
    """Turn rows into a data frame of a library; by default pandas if installed, else PyArrow."""
    backend = choose_backend(backend)
    if backend == "pyarrow":
        import pyarrow as pa

        return pa.Table.from_pylist(rows)
    return import_module(backend).DataFrame(rows)
