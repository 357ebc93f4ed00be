"""Options of the commands that read a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from unheard.cli.options import (
    Command,
    assumption_options,
    covers_option,
    json_option,
    one_of,
    read_level,
    scale_option,
    stated_assumption,
)
from unheard.errors import OptionError, PopulationError
from unheard.formulas.estimators import ESTIMATORS
from unheard.model.parsing import listed, number

if TYPE_CHECKING:
    from unheard.tables.request import Request

_CLOSED = [one.name for one in ESTIMATORS.values() if one.closed_form]

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
_N_COLUMNS = (
    click.option("--n-column", metavar="COLUMN", help="Column that says how many people."),
    click.option(
        "--n-table",
        metavar="TABLE",
        help="A second table with the items and how many people (column n, or --n-column).",
    ),
)
_PEOPLE = (
    click.option("--q-column", metavar="COLUMN", help="Instead of --q: the column with q."),
    click.option(
        "--q-table", metavar="TABLE", help="A second table with q, by item or another item column."
    ),
    click.option("--n", metavar="N", help="How many people there are for each item."),
    *_N_COLUMNS,
    click.option(
        "--strata",
        multiple=True,
        metavar="COLUMN,...",
        help="Columns that divide an item's people into groups of known size (--n-column or "
        "--n-table), which are put together.",
    ),
)
_NULLS = click.option(
    "--nulls",
    metavar="refuse|drop|nonresponse",
    shell_complete=one_of("refuse", "drop", "nonresponse"),
    default="refuse",
    show_default=True,
    help="What an empty rating is. nonresponse: a person who was asked and said nothing, so "
    "that an item's rows are its people.",
)
_TIME = (
    click.option("--time", metavar="COLUMN", help="Column with dates or times."),
    click.option(
        "--window", metavar="LENGTH", help="Group by time: '30 days', week, month, '3 months', ..."
    ),
    click.option(
        "--every", metavar="LENGTH", help="Start a window that often, so that windows overlap."
    ),
)
_SETTINGS = (
    click.option(
        "--method",
        metavar="|".join(_CLOSED),
        shell_complete=one_of(*_CLOSED),
        help="Which estimate. By default pooled for an --assumption from ten items or more, "
        "reweight for a smaller one and for --g, otherwise midpoint where n is known and paa "
        "where not.",
    ),
    click.option(
        "--level",
        metavar="LEVEL|none",
        default="0.95",
        show_default=True,
        help="Level of the confidence interval; none to go without.",
    ),
    covers_option,
    *_TIME,
    _NULLS,
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
_SHARED = click.option(
    "--shared",
    is_flag=True,
    help="Rank items as rated by one crowd: participation is unknown, but the same for all items, "
    "so that it distorts all of them alike.",
)
_MIN_RATINGS = click.option(
    "--min-ratings", metavar="N", help="Leave out items with fewer than N ratings."
)
_READING = (
    click.option("--table", metavar="NAME", help="Which table of a database to read."),
    click.option(
        "--query", metavar="SELECT", help="Instead of --table: what to read of a database."
    ),
    click.option(
        "--engine",
        metavar="duckdb|spark",
        shell_complete=one_of("duckdb", "spark"),
        help="What reads files. By default DuckDB.",
    ),
    click.option("--spark-master", metavar="URL", help="Where Spark runs, such as 'local[*]'."),
    click.option("--memory", metavar="AMOUNT", help="Most memory to use, such as 1GiB."),
)
_WRITING = (
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write all rows there: .csv, .tsv, .parquet, .json, .jsonl.",
    ),
    click.option(
        "--to-table", metavar="NAME", help="Write all rows into a new table of the database."
    ),
    click.option(
        "--sort",
        metavar="COLUMN",
        shell_complete=one_of("item", "n_ratings", "average", "estimate", "lower", "ci_lower"),
        help="Order of the rows, best first: item, or any column of the result. By default the "
        "lower end of the confidence interval, so that one good rating does not come first.",
    ),
    click.option("--top", metavar="ROWS", default="20", show_default=True, help="Rows to show."),
)


def _added(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def question_options(command: Command) -> Command:
    """Add the options that say what is rated, what is assumed, and how."""
    return _added(command, *_WHAT, assumption_options, *_PEOPLE, scale_option, *_SETTINGS)


def reading_options(command: Command) -> Command:
    """Add the options of a command that reads a table, whatever it puts out."""
    return _added(command, question_options, _MIN_RATINGS, *_ROWS, *_READING)


def table_options(command: Command) -> Command:
    """Add all options of a command that reads a table and puts out another."""
    return _added(command, reading_options, _SHARED, *_WRITING, json_option)


def source_options(command: Command) -> Command:
    """Add the options that name a table, for commands that also take counts as they are."""
    source = click.option(
        "--source",
        metavar="SOURCE",
        help="Take the counts from a table, as unheard rate reads it; items are then given by "
        "their names.",
    )
    return _added(command, source, *_WHAT, *_N_COLUMNS, _NULLS, *_ROWS, *_READING)


def audit_options(command: Command) -> Command:
    """Add the options that say what is in a table of an audit, or of response rates."""
    n = click.option("--n", metavar="N", help="With --response-rate: how many people there are.")
    return _added(command, *_WHAT, n, *_N_COLUMNS, *_TIME, _NULLS, *_ROWS, *_READING)


def order_options(about_k: str) -> Callable[[Command], Command]:
    """Add the options that ask about the order of items, with what there is to say about k."""
    return lambda command: _added(
        command,
        click.option("--k", metavar="K", help=about_k),
        click.option(
            "--above",
            metavar="VALUE",
            help="Say for each item how quiet people may be before its mean may be at or below "
            "VALUE.",
        ),
        click.option(
            "--below", metavar="VALUE", help="Instead of --above: before it may be VALUE or more."
        ),
    )


def ordered_request(given: dict[str, Any]) -> Request:
    """Read options into a request about the order of items."""
    from unheard.tables.pipeline import read_request
    from unheard.tables.request import ordered

    k = None if given["k"] is None else read_whole(given["k"], "k")
    above, below = (
        None if given[name] is None else number(given[name], f"--{name}", OptionError)
        for name in ("above", "below")
    )
    return ordered(read_request(**arguments_of(given)), k, above, below, method=given["method"])


def weight_option(command: Command) -> Command:
    """Add the column of survey weights."""
    words = "Column with survey weights, one per rating; n must be unknown."
    return click.option("--weight", metavar="COLUMN", help=words)(command)


def no_ranks_option(command: Command) -> Command:
    """Add ``--no-ranks``."""
    return click.option(
        "--no-ranks", is_flag=True, help="Leave best and worst possible ranks out."
    )(command)


def arguments_of(given: dict[str, Any]) -> dict[str, Any]:
    """Turn options into the arguments of :func:`unheard.rate`."""
    arguments = stated_assumption(given)
    if given.get("q_column") is not None:
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
        "ranks": not given.get("no_ranks", False),
        "level": None if level.lower() == "none" else read_level(level),
    }
    for name in ("item", "rating", "counts", "strata"):
        arguments[name] = listed(given.get(name)) or None
    for name in ("q_table", "n_table", "method", "covers", "time", "window", "every", "nulls",
                 "rater", "duplicates", "off_scale", "shared", "weight"):  # fmt: skip
        if name in given:
            arguments[name] = given[name]
    if given.get("min_ratings") is not None:
        arguments["min_ratings"] = read_whole(given["min_ratings"], "min-ratings")
    return arguments


def read_whole(text: str, name: str) -> int:
    """Read a whole number, 1 or more."""
    value = number(text, f"--{name}", OptionError)
    if not (value.is_integer() and value >= 1):
        raise OptionError(name, f"{text} found", "Give a whole number, 1 or more")
    return int(value)
