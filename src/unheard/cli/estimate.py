"""``unheard estimate``: one histogram."""

from __future__ import annotations

import json

import click

from unheard.cli.options import Values, read_counts, takes_options
from unheard.model.question import build_question
from unheard.present.estimates import estimate_document, show_estimates


@click.command(
    # A negative count looks like an option; read_counts tells the two apart.
    context_settings={"ignore_unknown_options": True},
)
@click.argument("counts", nargs=-1)
@takes_options("estimate")
def estimate(values: Values, counts: tuple[str, ...]) -> None:
    """Estimate the mean rating from one histogram.

    COUNTS is the number of ratings of each value, lowest first.

    \b
    Examples:
      unheard estimate 120 30 45 200 605 --q 0.3
      unheard estimate 120 30 45 200 605 --q 0.3 --n 2400 --method all
      unheard estimate 2 1 0 3 6 --q 0.3 --quiet low --json
    """
    as_json, method = values.pop("json"), values.pop("method")
    question = build_question(read_counts(counts), **values)
    chosen = method or question.default_method()
    found = question.answer(question.methods() if chosen == "all" else [chosen])
    if as_json:
        click.echo(json.dumps(estimate_document(question, found)))
    else:
        from unheard.cli.console import make_console, make_page, show_lines

        console = make_console()
        show_lines(show_estimates(found, make_page(console)), console)
