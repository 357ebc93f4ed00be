"""``unheard rank``: what is settled about the order of the items of a table."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from unheard.cli.options import number
from unheard.cli.shown import Columns, Shown, name_of, rank_range
from unheard.cli.table_options import arguments_of, read_whole, table_options
from unheard.cli.tables import answer
from unheard.decide.words import never_text, plural, q_text
from unheard.errors import OptionError

if TYPE_CHECKING:
    from sqlglot import exp

    from unheard.tables.jobs import Job

_NAMED = 5
"""How many items a sentence names."""


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
        from unheard.tables.standing import standing

        super().__init__(job, result, sort, top)
        assert self.request.order is not None  # the command asks for it
        self.order = self.request.order
        self.who = None if who is None else standing(job, who)

    def as_json(self) -> None:
        """Print one object: what was asked, and the rows."""
        asked: dict[str, Any] = {"k": self.order.k, "level": self.request.level, "who": None}
        if self.who is not None:
            asked["who"] = {
                "item": self.who.item,
                "breakdown_q": self.who.breakdown_q,
                "ci_breakdown_q": self.who.ci_breakdown_q,
            }
        head = json.dumps(asked, ensure_ascii=False)
        click.echo(f'{head[:-1]}, "rows": ', nl=False)
        self.print_rows(after="}")
        self.closing("")

    def closing(self, words: str) -> None:
        """Say on standard error what was done to rows, and about the item asked for."""
        super().closing(words)
        if words and self.who is not None:
            click.echo(self._standing(), err=True)

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
            columns.append((f"{self._claim()} if q >", True, lambda row: _q(row["breakdown_q"])))
        columns.append(("flags", False, lambda row: row["flags"]))
        return columns

    def _claim(self) -> str:
        claim = self.order.claim
        assert claim is not None
        return f"{'above' if claim.above else 'below'} {claim.threshold:g}"

    def _lines(self, rows: list[dict[str, Any]]) -> list[str]:
        return [*self._sentences(), "", *self._meanings(), *super()._lines(rows)]

    def _sentences(self) -> list[str]:
        """What is settled, in words."""
        sentences = [self._settled()]
        if self.request.compared_within:
            within = "attribute" if self.request.attributes else "window"
            sentences.append(f"The items of each {within} are ranked among themselves.")
        elif self.order.k is not None:
            sentences += self._top(self.order.k)
        if self.who is not None:
            sentences.append(self._standing())
        return sentences

    def _settled(self) -> str:
        from unheard.tables.dialects import column

        many = self._count(column("best_rank").eq(column("worst_rank")))
        if not many:
            return "No place is settled: silent people may change each of them."
        words = f"{many:,} of {plural(self.total, 'place')} {'is' if many == 1 else 'are'} settled"
        if self.request.noise:
            still = self._count(column("ci_best_rank").eq(column("ci_worst_rank")))
            words += f", noise aside, and {still or 'none'} with noise"
        return f"{words}."

    def _top(self, k: int) -> list[str]:
        from sqlglot import exp

        from unheard.tables.dialects import column

        def verdict(name: str, prefix: str = "") -> exp.Condition:
            return column(f"{prefix}top").eq(exp.Literal.string(name))

        sentences = [
            f"Surely in the top {k:,}, noise aside: {self._listed(verdict('surely'))}. "
            f"Possibly: {self._listed(verdict('possibly'))}."
        ]
        if self.request.noise:
            sentences.append(
                f"Surely with noise: {self._listed(verdict('surely', 'ci_'))}. "
                f"Possibly: {self._listed(verdict('possibly', 'ci_'))}."
            )
        open_ = exp.and_(column("average_rank") <= k, exp.not_(verdict("surely")))
        if self._count(open_):
            sentences.append(
                f"In the top {k:,} by plain average, but not for sure: {self._listed(open_)}."
            )
        else:
            sentences.append(f"The top {k:,} by plain average is settled, noise aside.")
        return sentences

    def _standing(self) -> str:
        assert self.who is not None
        who, name, never = self.who, name_of(self.who.item), self._never()
        if who.breakdown_q is None:
            return f"{name} is not surely in the top {who.k:,}, {never}."
        words = f"{name} is surely in the top {who.k:,} {q_text(who.breakdown_q, never)}"
        if who.noise:
            words += f"; with sampling noise, {q_text(who.ci_breakdown_q, never)}"
        return f"{words}."

    def _never(self) -> str:
        """Say that something holds at no q."""
        # At q = 1 every interval is the average, n known or not.
        return never_text(per_rating=self.request.assumption.per_rating, n_known=False)

    def _meanings(self) -> list[str]:
        """What the columns mean."""
        meanings = [
            "Possible places: all that the item may have, depending on the silent. Items of "
            "different tiers cannot change places."
        ]
        if self.request.noise and self.request.level is not None:
            share = f"{self.request.level * 100:.6g}%"
            meanings.append(
                f"With noise: the same with chance on top, for all items together with {share} "
                "confidence."
            )
        if self.order.claim is not None:
            meanings.append(
                f"The mean is {self._claim()} as long as q is larger than the number there, noise "
                f"aside; never: {self._never()}."
            )
        if self.request.assumption.per_rating and (self.who or self.order.claim):
            meanings.append(
                "q: people may be quieter than stated, down to q times the probability to answer."
            )
        return meanings

    def _count(self, condition: exp.Condition) -> int:
        from sqlglot import exp

        many = exp.alias_(exp.Count(this=exp.Star()), "many")
        query = exp.select(many).from_(self.result.copy()).where(condition)
        return int(self.engine.rows(query)[0]["many"])

    def _listed(self, condition: exp.Condition) -> str:
        """Name the first few items for which a condition holds."""
        many = self._count(condition)
        rows = self.engine.rows(self.everything().where(condition).limit(_NAMED))
        names = [",".join(name_of(row[key]) for key in self.request.item) for row in rows]
        mark = "; " if any("," in name for name in names) else ", "
        if many > len(names):
            names.append(f"{many - len(names):,} more")
        return mark.join(names) or "none"


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
