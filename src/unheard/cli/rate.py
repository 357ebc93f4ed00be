"""``unheard rate`` and ``unheard sql``: a table of ratings, one row out per item."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unheard.cli.options import Values, takes_options
from unheard.cli.table_result import Shown
from unheard.cli.tables import read_table_options, read_where

if TYPE_CHECKING:
    from unheard.tables.pipeline import Job
    from unheard.tables.request import Request


@click.command()
@click.argument("source")
@takes_options("rate")
def rate(values: Values, source: str) -> None:
    """Rate every item of a table.

    SOURCE is a CSV, TSV, Excel, OpenDocument, Parquet or JSON lines file, also compressed, a glob,
    a DuckDB or SQLite file (.db, .duckdb, .sqlite), a database URL, or - for standard input.

    \b
    Examples:
      unheard rate stays.csv --item hotel --rating stars --q 0.3
      unheard rate stays.csv --item hotel --rating stars --q 0.3 -o rated.parquet
      unheard rate stays.xlsx --sheet 2024 --item hotel --rating stars --q 0.3
      unheard rate totals.csv --item hotel --counts n1,n2,n3,n4,n5 --q 0.3
      unheard rate postgresql://me@host/db --table stays --item hotel --rating stars --q 0.3
    """
    from unheard.tables.pipeline import read_request

    answer(source, values, read_request(**read_table_options(source, values)), Shown)


def answer(source: str, values: Values, request: Request, make: Callable[..., Shown]) -> None:
    """Run a request, and write, print or show its result as the options say."""
    from unheard.cli.progress import show_progress
    from unheard.tables.output.write import add_settings, check_target, create_table, write
    from unheard.tables.pipeline import counts_query, prepare
    from unheard.tables.sources.files import files_of
    from unheard.tables.sql.sort import sort_column

    counts_only = request.only_counts
    sort = None if counts_only else sort_column(request, values["sort"])
    target = None if values["output"] is None else Path(values["output"])
    if target is not None:
        check_target(target, files_of(source, values.get("n_table"), values.get("q_table")))
    where = read_where(values)
    job = prepare(source, request, where, lambda words, at: show_progress(words, at.fraction))
    try:
        engine = job.opened.engine
        query = counts_query(job) if counts_only else job.query
        with show_progress("rating", engine.fraction):
            result = engine.keep("result", query)
        shown = make(job, result, sort, values["top"])
        settings = {} if counts_only else _list_settings(job)
        if target is not None:
            with show_progress("writing", engine.fraction):
                write(engine, shown.everything(), target, notes=not counts_only, settings=settings)
        if values["to_table"] is not None:
            with show_progress("writing", engine.fraction):
                rows = add_settings(shown.everything(), settings, request.result_keys)
                create_table(engine, values["to_table"], rows)
        if values["json"]:
            shown.as_json()
        elif target is not None or values["to_table"] is not None:
            shown.closing(f"{shown.total:,} rows written to {target or values['to_table']}.")
        else:
            shown.on_screen()
    finally:
        job.close()


def _list_settings(job: Job) -> dict[str, str | float | None]:
    """Return how a result was computed, for a file that is read without the command."""
    from unheard.present.order_sentences import assumption_words

    assumption, q = job.request.assumption, None
    if assumption.is_ratio and assumption.q is not None and job.request.q_column is None:
        q = float(assumption.q)
    return {
        "method": job.request.method,
        "q": q,
        "level": job.request.level,
        "assumption": assumption_words(job),
    }


@click.command()
@takes_options("sql")
def sql(values: Values) -> None:
    """Print the query that rates every item in a warehouse.

    Nothing is refused there: rows that cannot be counted are left out, and a note on the item says
    so.

    \b
    Examples:
      unheard sql --dialect postgres --table stays --item hotel --rating stars --q 0.3
      unheard sql --dialect bigquery --table stays --item hotel --rating stars --q 0.3 --view rated
      unheard sql --dialect snowflake --table raw.stays --item hotel --rating stars --q 0.3 --dbt
    """
    from unheard.tables.public_functions import write_sql

    item, rating = values.pop("item") or (), values.pop("rating")
    text = write_sql(item, rating, **values)
    click.echo(text, nl=False)
