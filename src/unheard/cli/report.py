"""``unheard report``: one page about the order of the items of a table, to be mailed or printed."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click

from unheard.cli.options import Values, takes_options
from unheard.cli.tables import read_order, read_where
from unheard.errors import OptionError, hide_passwords
from unheard.text import plural


@click.command()
@click.argument("source")
@takes_options("report")
def report(values: Values, source: str) -> None:
    """Write a report: one page to mail or print.

    It says in plain words what is settled about the order of the items, which items change most,
    what is assumed, what would overturn the conclusions, and how they were computed. The page
    opens offline.

    SOURCE is as in unheard rate. With --json the content is printed, and -o is optional.

    \b
    Examples:
      unheard report stays.csv --item hotel --rating stars --q 0.3 -o page.html
      unheard report stays.csv --item hotel --rating stars --q 0.3 --above 4 -o page.html
      unheard report totals.csv --item hotel --counts n1,n2,n3,n4,n5 --q reviews -o page.html
    """
    from unheard.cli.progress import show_progress
    from unheard.report.build import PAGE_ENDINGS, name_source, write_page
    from unheard.report.report_data import gather_report_data
    from unheard.report.report_json import build_document
    from unheard.report.shared_participation import choose_participation
    from unheard.tables.output.write import check_target
    from unheard.tables.pipeline import prepare
    from unheard.tables.sources.files import files_of

    target = None if values["output"] is None else Path(values["output"])
    if target is not None:
        check_target(target, files_of(source, values["n_table"], values["q_table"]), PAGE_ENDINGS)
    elif not values["json"]:
        raise OptionError(
            "output",
            problem="{argument} is missing",
            hint="Name the file to write with -o",
            examples=("-o page.html",),
        )
    where, shared = read_where(values), values.pop("shared")
    request = choose_participation(read_order(source, values), shared)
    job = prepare(source, request, where, lambda words, at: show_progress(words, at.fraction))
    try:
        with show_progress("rating", job.opened.engine.fraction):
            name = name_source(source, job)
            data = gather_report_data(
                job, source=name, command=write_typed_command(), title=values["title"]
            )
    finally:
        job.close()
    size = ""
    if target is not None:
        from unheard.report.page import render_page  # requires the extra `charts`

        with show_progress("drawing", lambda: None):
            write_page(render_page(data), target)
        size = f", {target.stat().st_size / 1e6:.1f} MB"
    if values["json"]:
        click.echo(json.dumps(build_document(data), ensure_ascii=False))
    else:
        what = "row" if data.request.compared_within else "item"
        click.echo(f"{target}: {plural(data.numbers.items, what)}{size}", err=True)


def write_typed_command() -> str:
    """Return the command as it was typed, without passwords."""
    return shlex.join(["unheard", *(hide_passwords(word) for word in sys.argv[1:])])
