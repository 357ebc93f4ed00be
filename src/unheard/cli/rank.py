"""``unheard rank``: what is settled about the order of the items of a table."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from unheard.cli.console import show_lines
from unheard.cli.options import Values, takes_options
from unheard.cli.rate import answer
from unheard.cli.table_result import Columns, Shown
from unheard.cli.tables import read_order
from unheard.present.phrases import q_cell, ranks_text

if TYPE_CHECKING:
    from unheard.present.layout import Page
    from unheard.tables.pipeline import Job


@click.command()
@click.argument("source")
@takes_options("rank")
def rank(values: Values, source: str) -> None:
    """Find out what is settled about the order of the items.

    An average gives every item one rank. Non-respondents may change that: this shows the range of
    ranks that each item can have.

    SOURCE is as in unheard rate.

    \b
    Examples:
      unheard rank stays.csv --item hotel --rating stars --q 0.3
      unheard rank stays.csv --item hotel --rating stars --q 0.3 --k 2 --who Alder
      unheard rank stays.csv --item hotel --rating stars --q 0.3 --above 4 -o ranked.csv
    """
    from unheard.tables.top_k import check_who

    request = read_order(source, values)
    if values["who"] is not None:
        check_who(request)
    answer(source, values, request, partial(ShownOrder, who=values["who"]))


class ShownOrder(Shown):
    """A result about the order of items, and the ways to show it."""

    dispensable = ("people", "average\nrank", "ratings", "estimate")

    def __init__(
        self, job: Job, result: Any, sort: str | None, top: int, who: str | None = None
    ) -> None:
        from unheard.present.order_sentences import OrderFindings
        from unheard.tables.top_k import find_item_breakdown

        super().__init__(job, result, sort, top)
        assert self.request.order is not None  # the command asks for it
        self.order = self.request.order
        self.who = None if who is None else find_item_breakdown(job, who)
        self.findings = OrderFindings(job, result, self.who)

    def as_json(self) -> None:
        """Print one object: what was asked, and the rows."""
        from unheard.present.table_json import order_document

        head = json.dumps(order_document(self.job, self.findings), ensure_ascii=False)
        click.echo(f'{head[:-1]}, "rows": ', nl=False)
        self.print_rows(after="}")
        self.closing("")

    def closing(self, words: str) -> None:
        """Say on standard error what was done to rows, and about the item asked for."""
        super().closing(words)
        if words and self.who is not None:
            click.echo(self.findings.standing(self.who), err=True)

    def _columns(self) -> Columns:
        order, with_error = self.order, self.request.ranks_allow_for_error
        columns = [
            *self._names(),
            ("average", True, lambda row: self._number(row["average"])),
            ("average\nrank", True, lambda row: _whole(row["average_rank"])),
            ("estimate", True, lambda row: self._number(row["estimate"])),
            ("bounds", False, lambda row: self._range(row, "lower", "upper")),
            ("rank\nrange", False, ranks_text),
        ]
        if with_error:
            columns.append(("with\nerror", False, lambda row: ranks_text(row, "ci_")))
        columns.append(("tier", True, lambda row: _whole(row["tier"])))
        if order.k is not None:
            columns.append((f"top {order.k:,}", False, _write_verdict))
        if order.claim is not None:
            heading = f"{order.claim.side}\nif q >"
            columns.append((heading, True, lambda row: q_cell(row["breakdown_q"])))
        columns.append(("notes", False, lambda row: row["notes"]))
        return columns

    def _messages(self, console: Any, rows: list[dict[str, Any]], page: Page) -> None:
        crowd, item = self.job.crowd, self.request.item
        if crowd is not None:
            from unheard.present.pair_grid import write_pairs

            listed = [",".join(str(row[key]) for key in item) for row in rows]
            for place, line in enumerate(write_pairs(crowd, listed, page)):
                show_lines([line] if place else ["", line], console)
        super()._messages(console, rows, page)

    def _lines(self, rows: list[dict[str, Any]]) -> list[str]:
        found = self.findings
        meanings = found.meanings(error_heading="With error", mark="*")
        return [*found.sentences(), "", *meanings, *super()._lines(rows)]


def _write_verdict(row: dict[str, Any]) -> str:
    differs = row["ci_top"] is not None and row["ci_top"] != row["top"]
    return f"{row['top']}*" if differs else str(row["top"])


def _whole(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"
