"""``unheard report``: one page about the order of the items of a table, to be mailed or printed."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from unheard.cli.options import json_option
from unheard.cli.table_options import order_options, ordered_request, reading_options
from unheard.errors import OptionError
from unheard.text import plural


@click.command()
@click.argument("source")
@click.option("-o", "--output", metavar="FILE", help="Where to write the page: a .html file.")
@click.option("--title", metavar="WORDS", help="What the report is called.")
@click.option(
    "--shared/--separate",
    default=None,
    help="Whether one crowd rated all items, so that one participation distorts them all, or each "
    "item has its own. By default one crowd, where that can be.",
)
@order_options("Say who is among the K best. By default 10, and at most half of the items.")
@reading_options
@json_option
def report(source: str, **given: Any) -> None:
    """Make a report: one page that opens offline and can be mailed or printed.

    It says in plain words what is settled about the order of the items, which items change
    most, what is assumed, what other assumptions would show, and how it was computed.

    SOURCE is as in unheard rate. With --json the data are printed; -o may then be left out.

    \b
    Examples:
      unheard report stays.csv --item hotel --rating stars --q 0.3 -o page.html
      unheard report stays.csv --item hotel --rating stars --q 0.3 --above 4 -o page.html
      unheard report totals.csv --item hotel --counts n1,n2,n3,n4,n5 --q reviews -o page.html
    """
    from unheard.cli.progress import watched
    from unheard.report.build import PAGE_ENDINGS, name_source, write_page
    from unheard.report.report_data import gather_report_data
    from unheard.report.report_json import build_document
    from unheard.report.shared_participation import choose_participation
    from unheard.tables.output.write import check_target
    from unheard.tables.pipeline import prepare
    from unheard.tables.sources.files import files_of
    from unheard.tables.sources.open import Where

    target = None if given["output"] is None else Path(given["output"])
    if target is not None:
        check_target(target, files_of(source, given["n_table"], given["q_table"]), PAGE_ENDINGS)
    elif not given["as_json"]:
        raise OptionError("output", "no file named", "Name one with -o, such as -o page.html")
    where = Where(*(given[name] for name in ("engine", "table", "query", "memory", "spark_master")))
    shared = given.pop("shared")
    request = choose_participation(ordered_request(given), shared)
    job = prepare(source, request, where, lambda words, at: watched(words, at.fraction))
    try:
        with watched("rating", job.opened.engine.fraction):
            name = name_source(source, job)
            data = gather_report_data(job, source=name, command=typed(), title=given["title"])
    finally:
        job.close()
    size = ""
    if target is not None:
        from unheard.report.page import render_page  # requires the extra `charts`

        with watched("drawing", lambda: None):
            write_page(render_page(data), target)
        size = f", {target.stat().st_size / 1e6:.1f} MB"
    if given["as_json"]:
        click.echo(json.dumps(build_document(data), ensure_ascii=False))
    else:
        what = "row" if data.request.compared_within else "item"
        click.echo(f"{target}: {plural(data.numbers.items, what)}{size}", err=True)


def typed() -> str:
    """Return the command as it was typed, without passwords."""
    from unheard.tables.engines.postgres import without_password

    return shlex.join(["unheard", *(without_password(word) for word in sys.argv[1:])])
