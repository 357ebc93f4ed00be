"""The screen and the JSON of a table: its first rows, their notes, the assumption."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from unheard.cli.console import make_console, make_page, show_lines
from unheard.present.estimates import note_sentences
from unheard.present.phrases import ONE_CROWD, error_ranks_text, ranks_text
from unheard.text import name_of, percent_text, plural, rating_text

if TYPE_CHECKING:
    from unheard.present.layout import Page
    from unheard.tables.pipeline import Job

Columns: TypeAlias = "list[tuple[str, bool, Callable[[dict[str, Any]], str]]]"
"""Columns on the screen: heading, whether at the right, and how to write the cell of a row."""


class Shown:
    """A result that the engine keeps, and the ways to show it."""

    dispensable: tuple[str, ...] = ("people", "ratings")
    """Headings of columns that a narrow terminal does without, the first of them first."""

    def __init__(self, job: Job, result: Any, sort: str | None, top: int) -> None:
        self.job, self.result, self.sort, self.top = job, result, sort, top
        self.request, self.engine = job.request, job.opened.engine
        from unheard.tables.pipeline import number_of_rows

        self.total = number_of_rows(self.engine, result)

    def everything(self) -> Any:
        """Return the query for all rows, in order."""
        if self.sort is not None:
            from unheard.tables.sql.sort import sort_rows

            return sort_rows(self.result, self.request, self.sort)
        from sqlglot import exp

        from unheard.tables.sql.dialects import column

        keys = [exp.Ordered(this=column(name)) for name in self.request.groups]
        return exp.select("*").from_(self.result.copy()).order_by(*keys)

    def as_json(self) -> None:
        """Print one list of rows."""
        self.print_rows()
        self.closing("")

    def print_rows(self, after: str = "") -> None:
        """Print the list of rows, and what comes after it."""
        from unheard.present.table_json import documents

        click.echo("[", nl=False)
        for place, row in enumerate(documents(self.engine, self.everything())):
            text = json.dumps(row, ensure_ascii=False)
            click.echo((",\n" if place else "") + text, nl=False)
        click.echo(f"]{after}")

    def closing(self, words: str) -> None:
        """Say on standard error what was done to rows."""
        for line in (words, *self.job.messages):
            if line:
                click.echo(line, err=True)

    def on_screen(self) -> None:
        """Show the first rows, what their notes mean, and the assumption."""
        from rich.text import Text

        console = make_console()
        rows = self.engine.rows(self.everything().limit(self.top))
        if not rows:
            console.print("No rows are left." if self.job.found.rows else "Nothing was counted.")
            for note in self.job.messages:
                console.print(f"Note: {note}", markup=False)
            return
        what = "rows" if self.request.compared_within or not self.sort else "items"
        size = f"{plural(self.job.found.counted, 'rating')}, {plural(self.total, what[:-1])}"
        console.print(Text(f"{size}, scale {self._scale()}{self._describe_order()}", "bold"))
        columns = self._columns()
        console.print()
        page = make_page(console)
        wide = replace(page, width=console.width)  # rows may be as wide as the terminal
        dropped = self._show_table(columns, rows, wide, console)
        if dropped:
            names = ", ".join(name.replace("\n", " ") for name in dropped)
            show_lines(["", *page.paragraph(f"Not shown: {names} (use -o FILE or --json).")])
        more = self.total - len(rows)
        if more:
            words = f"{plural(more, 'more row')}; --top shows more, -o FILE writes all."
            console.print(f"\n[dim]{words}[/]")
        self._messages(console, rows, page)

    def _show_table(
        self, columns: Columns, rows: list[dict[str, Any]], page: Page, console: Any
    ) -> list[str]:
        """Show as many columns as fit; return the headings of those that do not."""
        dropped: list[str] = []
        for heading in ("", *self.dispensable):
            if heading in [name for name, _, _ in columns]:
                columns = [column for column in columns if column[0] != heading]
                dropped.append(heading)
            cells = [[name for name, _, _ in columns]]
            cells += [[write(row) for _, _, write in columns] for row in rows]
            lines = list(page.table(cells, "".join("<>"[right] for _, right, _ in columns)))
            if max(map(len, lines)) <= page.width:
                break
        show_lines(lines, console)
        return dropped

    def _describe_order(self) -> str:
        """Say by what the rows are sorted."""
        names = {None: "", "item": "", "ci_lower": "lower confidence limit", "lower": "lower bound"}
        name = names.get(self.sort, self.sort)
        return f"; best first by {name}" if name else ""

    def _columns(self) -> Columns:
        request = self.request
        if not self.sort:
            names = [*request.count_names, "n_rows"]
            return self._names() + [(n, True, lambda row, n=n: f"{row[n]:,}") for n in names]
        columns = self._names()
        columns += [
            ("average", True, lambda row: self._number(row["average"])),
            ("estimate", True, lambda row: self._number(row["estimate"])),
            ("bounds", False, lambda row: self._range(row, "lower", "upper")),
        ]
        if request.level is not None:
            name = f"{percent_text(request.level)}\nconfidence\ninterval"
            columns.append((name, False, lambda row: self._range(row, "ci_lower", "ci_upper")))
        if request.ranks:
            prefix = "ci_" if request.ranks_allow_for_error else ""
            name = "rank range\nwith error" if prefix else "rank\nrange"
            columns.append((name, False, lambda row: ranks_text(row, prefix)))
        columns.append(("notes", False, lambda row: row["notes"]))
        return columns

    def _names(self) -> Columns:
        """Columns that say which row it is and how much it rests on."""
        request = self.request
        columns: Columns = [
            (name_of(name), False, lambda row, name=name: name_of(row[name]))  # type: ignore[misc]
            for name in (request.result_keys if self.sort else request.groups)
            if name != "window_end"
        ]
        if self.sort:
            columns.append(("ratings", True, lambda row: f"{row['n_ratings']:,}"))
            if request.n_known:
                columns.append(("people", True, lambda row: _people(row["n"])))
        return columns

    def _messages(self, console: Any, rows: list[dict[str, Any]], page: Page) -> None:
        console.print()
        for line in self._lines(rows):
            show_lines(page.paragraph(line) if line else [""], console)

    def _lines(self, rows: list[dict[str, Any]]) -> list[str]:
        """What is said below the rows."""
        from unheard.present.order_sentences import assumption_words

        messages = [f"Note: {note}" for note in self.job.messages]
        if not self.sort:
            return messages
        notes = (note for row in rows for note in row["notes"].split())
        return [
            *note_sentences(notes),
            *messages,
            *self._meanings(),
            f"Assumption: {assumption_words(self.job)}",
        ]

    def _meanings(self) -> list[str]:
        """What the rank ranges rest on; a result about the order says more."""
        request, meanings = self.request, []
        if request.order is None and request.ranks_allow_for_error and request.level is not None:
            meanings.append(f"{error_ranks_text('Rank range with error', request.level)}.")
        if request.order is None and request.shared:
            meanings.append(ONE_CROWD)
        return meanings

    def _scale(self) -> str:
        return self.request.scale.describe()

    def _number(self, value: float | None) -> str:
        return rating_text(value, self.request.scale.width)

    def _range(self, row: dict[str, Any], low: str, high: str) -> str:
        return f"{self._number(row[low])} to {self._number(row[high])}"


def _people(n: int | None) -> str:
    return "–" if n is None else f"{n:,}"
