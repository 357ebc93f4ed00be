"""``unheard rate`` and ``unheard sql``: a table of ratings, one row out per item."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unheard.cli.table_options import (
    arguments_of,
    no_ranks_option,
    question_options,
    read_whole,
    table_options,
    weight_option,
)
from unheard.cli.table_result import Shown

if TYPE_CHECKING:
    from unheard.tables.request import Request


@click.command()
@click.argument("source")
@table_options
@weight_option
@no_ranks_option
@click.option(
    "--counts-only", is_flag=True, help="Write the counts instead, to be added up and rated later."
)
def rate(source: str, **given: Any) -> None:
    """Rate every item of a table.

    SOURCE is a CSV, TSV, Parquet or JSON lines file, a glob, a DuckDB or SQLite file (.db, .duckdb,
    .sqlite), a database URL, or - for standard input.

    \b
    Examples:
      unheard rate stays.csv --item hotel --rating stars --q 0.3
      unheard rate stays.csv --item hotel --rating stars --q 0.3 -o rated.parquet
      unheard rate totals.csv --item hotel --counts n1,n2,n3,n4,n5 --q 0.3
      unheard rate postgresql://me@host/db --table stays --item hotel --rating stars --q 0.3
    """
    from unheard.tables.pipeline import read_request

    if given["counts_only"] and not any(given[name] for name in ("q", "participation", "g")):
        given["q"] = "1"  # counting needs no assumption
    request = read_request(**arguments_of(given), only_counts=given["counts_only"])
    answer(source, given, request, Shown)


def answer(
    source: str, given: dict[str, Any], request: Request, make: Callable[..., Shown]
) -> None:
    """Run a request, and write, print or show its result as the options say."""
    from unheard.cli.progress import watched
    from unheard.tables.output.write import check_target, write
    from unheard.tables.pipeline import counts_query, prepare
    from unheard.tables.sources.files import files_of
    from unheard.tables.sources.open import Where
    from unheard.tables.sql.sort import sort_column

    top, sort = read_whole(given["top"], "top"), sort_column(request, given["sort"])
    counts_only = given.get("counts_only", False)
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
        query = counts_query(job) if counts_only else job.query
        with watched("rating", engine.fraction):
            result = engine.keep("result", query)
        shown = make(job, result, None if counts_only else sort, top)
        if target is not None:
            with watched("writing", engine.fraction):
                write(engine, shown.everything(), target, notes=not counts_only)
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
@question_options
@no_ranks_option
def sql(**given: Any) -> None:
    """Print the query that rates every item, to be run inside a warehouse.

    Nothing is refused there: rows that cannot be counted are left out, and the item is flagged.

    \b
    Examples:
      unheard sql --dialect postgres --table stays --item hotel --rating stars --q 0.3
      unheard sql --dialect bigquery --table stays --item hotel --rating stars --q 0.3 --view rated
    """
    from unheard.tables.entry_points import write_sql

    text = write_sql(
        dialect=given["dialect"],
        table=given["table"],
        create_view=given["view"],
        text_ratings=given["text_ratings"],
        **arguments_of(given),
    )
    click.echo(text, nl=False)
