"""``unheard rank``: what is settled about the order of the items of a table."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from unheard.cli.shown import Columns, Shown, rank_range
from unheard.cli.table_options import arguments_of, read_whole, table_options
from unheard.cli.tables import answer
from unheard.core.reading import number
from unheard.errors import OptionError

if TYPE_CHECKING:
    from unheard.tables.jobs import Job


@click.command()
@click.argument("source")
@click.option("--k", metavar="K", help="Say who is among the K best.")
@click.option(
    "--who",
    metavar="ITEM",
    help="Say how quiet people may be before this item is no longer surely among the K best; an "
    "item named by several columns with commas between.",
)
@click.option(
    "--above",
    metavar="VALUE",
    help="Say for each item how quiet people may be before its mean may be at or below VALUE.",
)
@click.option(
    "--below", metavar="VALUE", help="Instead of --above: before it may be VALUE or more."
)
@table_options
def rank(source: str, **given: Any) -> None:
    """Say what is settled about the order of the items of a table.

    An average puts every item into one place. Silent people may change that: this tells which
    places each item can have.

    SOURCE is as in unheard rate.

    \b
    Examples:
      unheard rank stays.csv --item hotel --rating stars --q 0.3
      unheard rank stays.csv --item hotel --rating stars --q 0.3 --k 2 --who Alder
      unheard rank stays.csv --item hotel --rating stars --q 0.3 --above 4 -o ranked.csv
    """
    from unheard.tables.jobs import read_request
    from unheard.tables.request import ordered
    from unheard.tables.standing import check_who

    k = None if given["k"] is None else read_whole(given["k"], "k")
    above, below = (
        None if given[name] is None else number(given[name], f"--{name}", OptionError)
        for name in ("above", "below")
    )
    request = ordered(read_request(**arguments_of(given)), k, above, below, method=given["method"])
    if given["who"] is not None:
        check_who(request)
    answer(source, given, request, partial(ShownOrder, who=given["who"]))


class ShownOrder(Shown):
    """A result about the order of items, and the ways to show it."""

    def __init__(
        self, job: Job, result: Any, sort: str | None, top: int, who: str | None = None
    ) -> None:
        from unheard.tables.findings import Findings
        from unheard.tables.standing import standing

        super().__init__(job, result, sort, top)
        assert self.request.order is not None  # the command asks for it
        self.order = self.request.order
        self.who = None if who is None else standing(job, who)
        self.findings = Findings(job, result, self.who)

    def as_json(self) -> None:
        """Print one object: what was asked, and the rows."""
        from unheard.tables.documents import order_document

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
        order, noise = self.order, self.request.noise
        columns = [
            *self._names(),
            ("average", True, lambda row: self._number(row["average"])),
            ("place by it", True, lambda row: _whole(row["average_rank"])),
            ("estimate", True, lambda row: self._number(row["estimate"])),
            ("interval", False, lambda row: self._range(row, "lower", "upper")),
            ("possible places", False, lambda row: rank_range(row, "best_rank", "worst_rank")),
        ]
        if noise:
            columns.append(
                ("with noise", False, lambda row: rank_range(row, "ci_best_rank", "ci_worst_rank"))
            )
        columns.append(("tier", True, lambda row: _whole(row["tier"])))
        if order.k is not None:
            columns.append((f"top {order.k:,}", False, _verdict))
        if order.claim is not None:
            columns.append((f"{order.claim.side} if q >", True, lambda row: _q(row["breakdown_q"])))
        columns.append(("flags", False, lambda row: row["flags"]))
        return columns

    def _lines(self, rows: list[dict[str, Any]]) -> list[str]:
        found = self.findings
        return [*found.sentences(), "", *found.meanings(), *super()._lines(rows)]


def _whole(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _q(value: float | None) -> str:
    if value is None:
        return "never"
    return "any" if value == 0 else f"{value:.2f}"


def _verdict(row: dict[str, Any]) -> str:
    """Say whether a row is in the top k; where noise makes a difference, say that."""
    differs = row["ci_top"] is not None and row["ci_top"] != row["top"]
    return f"{row['top']}, noise aside" if differs else str(row["top"])
