"""``unheard rate`` and ``unheard sql``: a table of ratings, one row out per item."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unheard.cli.options import (
    assumption_options,
    covers_option,
    json_option,
    number,
    one_of,
    read_level,
    scale_option,
    stated_assumption,
)
from unheard.core.aggregators import AGGREGATORS
from unheard.core.estimate import FLAG_WORDS
from unheard.errors import OptionError, PopulationError

if TYPE_CHECKING:
    from unheard.tables.jobs import Job

_SORTS = ("estimate", "lower", "upper", "average", "n_ratings", "item")
_CLOSED = [one.name for one in AGGREGATORS.values() if one.closed_form]

_WHAT = (
    click.option(
        "--item", "item", multiple=True, metavar="COLUMN,...",
        help="Column that says what was rated; several, with commas between, together.",
    ),
    click.option(
        "--rating", "rating", multiple=True, metavar="COLUMN,...",
        help="Column with ratings, of a table with a row per rating; several are rated side by "
        "side, each as an attribute.",
    ),
    click.option(
        "--counts", "counts", multiple=True, metavar="COLUMN,...",
        help="Instead of --rating: the columns of a table of counts, lowest rating first.",
    ),
)  # fmt: skip
_PEOPLE = (
    click.option("--q-column", metavar="COLUMN", help="Instead of --q: the column with q."),
    click.option(
        "--q-table", metavar="TABLE", help="A second table with q, by item or another item column."
    ),
    click.option("--n", metavar="N", help="How many people there are for each item."),
    click.option("--n-column", metavar="COLUMN", help="Column that says how many people."),
    click.option(
        "--n-table",
        metavar="TABLE",
        help="A second table with the items and how many people (column n, or --n-column).",
    ),
    click.option(
        "--strata",
        multiple=True,
        metavar="COLUMN,...",
        help="Columns that divide an item's people into groups of known size (--n-column or "
        "--n-table), which are put together.",
    ),
)
_SETTINGS = (
    click.option(
        "--method",
        metavar="|".join(_CLOSED),
        shell_complete=one_of(*_CLOSED),
        help="Which estimate. By default reweight for known --g, otherwise midpoint where n is "
        "known and paa where not.",
    ),
    click.option(
        "--level",
        metavar="LEVEL|none",
        default="0.95",
        show_default=True,
        help="Level of the confidence interval; none to go without.",
    ),
    covers_option,
    click.option("--time", metavar="COLUMN", help="Column with dates or times."),
    click.option(
        "--window", metavar="LENGTH", help="Group by time: '30 days', week, month, '3 months', ..."
    ),
    click.option(
        "--every", metavar="LENGTH", help="Start a window that often, so that windows overlap."
    ),
    click.option(
        "--nulls",
        metavar="refuse|drop|nonresponse",
        shell_complete=one_of("refuse", "drop", "nonresponse"),
        default="refuse",
        show_default=True,
        help="What an empty rating is. nonresponse: a person who was asked and said nothing, so "
        "that an item's rows are its people.",
    ),
    click.option("--no-ranks", is_flag=True, help="Leave best and worst possible ranks out."),
)
_ROWS = (
    click.option("--rater", metavar="COLUMN", help="Column that says who rated: once per item."),
    click.option(
        "--duplicates",
        metavar="refuse|latest",
        shell_complete=one_of("refuse", "latest"),
        default="refuse",
        show_default=True,
        help="If somebody rated an item twice: refuse, or keep the latest by --time.",
    ),
    click.option(
        "--off-scale",
        metavar="refuse|drop",
        shell_complete=one_of("refuse", "drop"),
        default="refuse",
        show_default=True,
        help="What to do with ratings that are not on the scale.",
    ),
)


def _with(*groups: tuple[Callable[[Any], Any], ...]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for group in reversed(groups):
            for option in reversed(group):
                command = option(command)
        return command

    return add


@click.command()
@click.argument("source")
@_with(_WHAT)
@assumption_options
@_with(_PEOPLE)
@scale_option
@_with(_SETTINGS, _ROWS)
@click.option("--table", metavar="NAME", help="Which table of a database to read.")
@click.option("--query", metavar="SELECT", help="Instead of --table: what to read of a database.")
@click.option(
    "--engine",
    metavar="duckdb|spark",
    shell_complete=one_of("duckdb", "spark"),
    help="What reads files. By default DuckDB.",
)
@click.option("--spark-master", metavar="URL", help="Where Spark runs, such as 'local[*]'.")
@click.option("--memory", metavar="AMOUNT", help="Most memory to use, such as 1GiB.")
@click.option(
    "-o", "--output", metavar="FILE", help="Write all rows there: .csv, .tsv, .parquet, .json, "
    ".jsonl."
)  # fmt: skip
@click.option("--to-table", metavar="NAME", help="Write all rows into a new table of the database.")
@click.option(
    "--counts-only", is_flag=True, help="Write the counts instead, to be added up and rated later."
)
@click.option(
    "--sort",
    metavar="|".join(_SORTS),
    shell_complete=one_of(*_SORTS),
    default="estimate",
    show_default=True,
    help="Order of the rows, best first.",
)
@click.option("--top", metavar="ROWS", default="20", show_default=True, help="Rows to show.")
@json_option
def rate(source: str, **given: Any) -> None:
    """Rate every item of a table.

    SOURCE is a CSV, TSV, Parquet or JSON lines file, a glob, a DuckDB or SQLite file, a database
    URL, or - for standard input.

    \b
    Examples:
      unheard rate stays.csv --item hotel --rating stars --q 0.3
      unheard rate stays.csv --item hotel --rating stars --q 0.3 -o rated.parquet
      unheard rate totals.csv --item hotel --counts n1,n2,n3,n4,n5 --q 0.3
      unheard rate postgresql://me@host/db --table stays --item hotel --rating stars --q 0.3
    """
    from unheard.cli.progress import watched
    from unheard.tables.jobs import counts_query, prepare, read_request
    from unheard.tables.output import check_target, write
    from unheard.tables.sources import Where, files_of

    if given["counts_only"] and not any(given[name] for name in ("q", "participation", "g")):
        given["q"] = "1"  # counting needs no assumption
    request = read_request(**_arguments(given))
    top, sort = _read_top(given["top"]), _read_sort(given["sort"])
    target = None if given["output"] is None else Path(given["output"])
    if target is not None:
        check_target(target, files_of(source, given["n_table"], given["q_table"]))
    where = Where(
        given["engine"],
        given["table"],
        given["query"],
        given["memory"],
        given["spark_master"],
        given["to_table"],
    )
    job = prepare(source, request, where, lambda words, at: watched(words, at.fraction))
    try:
        engine = job.opened.engine
        query = counts_query(job) if given["counts_only"] else job.query
        with watched("rating", engine.fraction):
            result = engine.keep("result", query)
        shown = Shown(job, result, None if given["counts_only"] else sort, top)
        if target is not None:
            with watched("writing", engine.fraction):
                write(engine, shown.everything(), target, flags=not given["counts_only"])
        if given["to_table"] is not None:
            with watched("writing", engine.fraction):
                engine.create(given["to_table"], shown.everything())
        if given["as_json"]:
            shown.as_json()
        elif target is not None or given["to_table"] is not None:
            shown.closing(f"{shown.total:,} rows written to {target or given['to_table']}.")
        else:
            shown.on_screen()
    finally:
        job.close()


@click.command()
@click.option(
    "--dialect",
    required=True,
    metavar="DIALECT",
    help="bigquery, clickhouse, databricks, duckdb, mysql, postgres, redshift, snowflake, spark, "
    "sqlite, trino or tsql.",
)
@click.option(
    "--table", default="ratings", show_default=True, metavar="NAME", help="Table to read."
)
@click.option("--view", metavar="NAME", help="Write a statement that makes a view.")
@click.option("--text-ratings", is_flag=True, help="The ratings are stored as text.")
@_with(_WHAT)
@assumption_options
@_with(_PEOPLE)
@scale_option
@_with(_SETTINGS)
def sql(**given: Any) -> None:
    """Print the query that rates every item, to be run inside a warehouse.

    Nothing is refused there: rows that cannot be counted are left out, and the item is flagged.

    \b
    Examples:
      unheard sql --dialect postgres --table stays --item hotel --rating stars --q 0.3
      unheard sql --dialect bigquery --table stays --item hotel --rating stars --q 0.3 --view rated
    """
    from unheard.tables.api import sql as write_sql

    text = write_sql(
        dialect=given["dialect"],
        table=given["table"],
        create_view=given["view"],
        text_ratings=given["text_ratings"],
        **_arguments(given),
    )
    click.echo(text, nl=False)


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Turn options into the arguments of :func:`unheard.rate`."""
    arguments = stated_assumption(
        given["q"] if given["q_column"] is None else None,
        given["quiet"],
        given["participation"],
        given["g"],
    )
    if given["q_column"] is not None:
        if given["q"] is not None:
            raise OptionError("q", "--q and --q-column given together", "Give one of them")
        arguments["q"] = given["q_column"]
    n: Any = given["n_column"]
    if given["n"] is not None:
        if n is not None:
            raise OptionError("n", "--n and --n-column given together", "Give one of them")
        n = number(given["n"], "--n", PopulationError)
    level = given["level"]
    arguments |= {
        "n": n,
        "ranks": not given["no_ranks"],
        "level": None if level.lower() == "none" else read_level(level),
        "scale": given["scale"],
    }
    for name in ("item", "rating", "counts", "strata"):
        arguments[name] = [part for text in given[name] for part in text.split(",")] or None
    for name in ("q_table", "n_table", "method", "covers", "time", "window", "every", "nulls",
                 "rater", "duplicates", "off_scale"):  # fmt: skip
        if name in given:
            arguments[name] = given[name]
    return arguments


def _read_top(text: str) -> int:
    value = number(text, "--top", OptionError)
    if not (value.is_integer() and value >= 1):
        raise OptionError("top", f"{text} found", "Give a whole number, 1 or more")
    return int(value)


def _read_sort(text: str) -> str:
    if text not in _SORTS:
        raise OptionError("sort", f"{text!r} found", f"Choose one of {', '.join(_SORTS)}")
    return text


class Shown:
    """A result that the engine keeps, and the ways to show it."""

    def __init__(self, job: Job, result: Any, sort: str | None, top: int) -> None:
        self.job, self.result, self.sort, self.top = job, result, sort, top
        self.request, self.engine = job.request, job.opened.engine
        from sqlglot import exp

        many = exp.alias_(exp.Count(this=exp.Star()), "many")
        self.total = int(self.engine.rows(exp.select(many).from_(result.copy()))[0]["many"])

    def everything(self) -> Any:
        """Return the query for all rows, in order."""
        from sqlglot import exp

        from unheard.tables.dialects import column

        query = exp.select("*").from_(self.result.copy())
        keys = list(self.request.result_keys if self.sort else self.request.groups)
        order = [exp.Ordered(this=column(name)) for name in keys]
        if self.sort not in (None, "item"):
            # Items are ranked within an attribute and a window, and are listed so.
            within = [exp.Ordered(this=column(name)) for name in self.request.compared_within]
            order = [*within, exp.Ordered(this=column(str(self.sort)), desc=True), *order]
        return query.order_by(*order)

    def as_json(self) -> None:
        """Print one list of rows."""
        first = True
        click.echo("[", nl=False)
        for batch in self.engine.arrow(self.everything()):
            for row in batch.to_pylist():
                if "flags" in row:
                    row["flags"] = row["flags"].split()
                text = json.dumps(row, default=str, ensure_ascii=False)
                click.echo(("" if first else ",\n") + text, nl=False)
                first = False
        click.echo("]")
        self.closing("")

    def closing(self, words: str) -> None:
        """Say on standard error what was done to rows."""
        for line in (words, *self.job.notes):
            if line:
                click.echo(line, err=True)

    def on_screen(self) -> None:
        """Show the first rows, what their flags mean, and the assumption."""
        from rich.text import Text

        from unheard.cli.screen import make_console, text_width

        console = make_console()
        rows = self.engine.rows(self.everything().limit(self.top))
        if not rows:
            console.print("The table has no rows.")
            return
        what = "rows" if self.request.compared_within or not self.sort else "items"
        size = f"{_plural(self.job.found.counted, 'rating')}, {_plural(self.total, what[:-1])}"
        console.print(Text(f"{size}, scale {self._scale()}", "bold"))
        columns = self._columns()
        cells = [[name for name, _, _ in columns]]
        cells += [[show(row) for _, _, show in columns] for row in rows]
        console.print()
        for place, line in enumerate(_aligned(cells, [right for _, right, _ in columns])):
            console.print(Text(line, "bold" if place == 0 else ""))
        more = self.total - len(rows)
        if more:
            console.print(f"\n[dim]{more:,} more rows; --top shows more, -o FILE writes all.[/]")
        self._notes(console, rows, text_width(console))

    def _columns(self) -> list[tuple[str, bool, Callable[[dict[str, Any]], str]]]:
        request = self.request
        columns: list[tuple[str, bool, Callable[[dict[str, Any]], str]]] = [
            (_name(name), False, lambda row, name=name: _name(row[name]))  # type: ignore[misc]
            for name in (request.result_keys if self.sort else request.groups)
            if name != "window_end"
        ]
        if not self.sort:
            names = [*request.count_columns, "n_rows"]
            return columns + [(n, True, lambda row, n=n: f"{row[n]:,}") for n in names]
        columns.append(("ratings", True, lambda row: f"{row['n_ratings']:,}"))
        if request.n_known:
            columns.append(("people", True, lambda row: f"{row['n']:,}"))
        columns += [
            ("average", True, lambda row: self._number(row["average"])),
            ("estimate", True, lambda row: self._number(row["estimate"])),
            ("interval", False, lambda row: self._range(row, "lower", "upper")),
        ]
        if request.level is not None:
            name = f"{request.level * 100:.6g}% confidence"
            columns.append((name, False, lambda row: self._range(row, "ci_lower", "ci_upper")))
        if request.ranks:
            columns.append(("rank", False, _ranks))
        columns.append(("flags", False, lambda row: row["flags"]))
        return columns

    def _notes(self, console: Any, rows: list[dict[str, Any]], width: int) -> None:
        from textwrap import wrap

        lines = []
        if self.sort:
            raised = dict.fromkeys(flag for row in rows for flag in row["flags"].split())
            lines += [f"{flag}: {FLAG_WORDS[flag]}." for flag in raised]
        lines += [f"Note: {note}" for note in self.job.notes]
        if self.sort:
            words = self.request.assumption.words(n_known=self.request.n_known)
            if self.request.q_column is not None:
                words = f"q as in column {self.request.q_column}, item by item."
            lines.append(f"Assumption: {words}")
        console.print()
        for line in lines:
            for part in wrap(line, width, subsequent_indent="  "):
                console.print(part, markup=False)

    def _scale(self) -> str:
        from unheard.tables.checks import describe_scale

        return describe_scale(self.request.scale.values)

    def _number(self, value: float | None) -> str:
        if value is None:
            return "–"
        return f"{value:.{max(2, 2 - math.floor(math.log10(self.request.scale.width)))}f}"

    def _range(self, row: dict[str, Any], low: str, high: str) -> str:
        return f"{self._number(row[low])} to {self._number(row[high])}"


def _aligned(rows: list[list[str]], right: list[bool]) -> list[str]:
    """Set cells in columns; a line that is too long for the terminal is not cut."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = []
        for cell, width, at_right in zip(row, widths, right, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if at_right else cell + space)
        lines.append("  ".join(padded).rstrip())
    return lines


def _plural(many: int, one: str) -> str:
    return f"{many:,} {one}{'' if many == 1 else 's'}"


def _ranks(row: dict[str, Any]) -> str:
    best, worst = row["best_rank"], row["worst_rank"]
    return f"{best:,}" if best == worst else f"{best:,} to {worst:,}"


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def printable(text: str) -> str:
    """Write out characters that would say something to the terminal."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def _name(value: object) -> str:
    """Write a name so that it stays on its line."""
    text = printable("(none)" if value is None else str(value))
    return text if len(text) <= 60 else f"{text[:57]}..."
