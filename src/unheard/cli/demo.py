"""``unheard demo``: a built-in example, no files needed."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING

import click

from unheard.cli.options import Values, takes_options
from unheard.model.assumption import Assumption
from unheard.model.estimate import estimate
from unheard.model.example import HOTELS
from unheard.model.question import build_question
from unheard.present.estimates import estimate_document

if TYPE_CHECKING:
    from rich.console import Console

MORE_HOTELS = {"Hotel C": (2, 3, 10, 40, 45), "Hotel D": (0, 0, 0, 1, 3)}

GUESTS = 260
_Q = 0.3
_GOOD = 3.5


@click.command()
@takes_options("demo")
def demo(values: Values) -> None:
    """Show what unheard does, on two hotels with the same average.

    \b
    Example:
      unheard demo
    """
    questions = {name: build_question(counts, _Q) for name, counts in HOTELS.items()}
    if values["json"]:
        found = {
            name: estimate_document(question, question.answer(question.methods()))
            for name, question in questions.items()
        }
        click.echo(json.dumps(found))
        return
    from unheard.cli.console import make_console, show_result

    console = make_console()
    console.print(
        "Two hotels, 200 reviews each, the same average. Which one is better?\n\n"
        "Not everybody writes a review, and who does depends on how they liked it.\n"
        f"Suppose that the guests who respond least often do so at least {_Q} times as\n"
        "often as those who respond most often."
    )
    for name, question in questions.items():
        console.print(f"\n[bold]{name}[/]  ", end="")
        show_result(question.answer(["paa"])[0])
    _show_table(console)
    _show_claims(console)
    _show_rated(console)
    console.print(
        "\nThe averages of A and B are both 3.80, but non-respondents can change the\n"
        "mean of A far more than that of B. Knowing how many guests there were can\n"
        "narrow both.\n\n"
        f"Now yours:  {_command()} estimate 40 5 15 35 105 --q 0.3\n"
        f"            {_command()} sweep 40 5 15 35 105 --above 3.5\n"
        f"            {_command()} rate FILE.csv --item hotel --rating stars --q 0.3\n"
        f"            {_command()} report FILE.csv --item hotel --rating stars --q 0.3 \\\n"
        "              -o page.html\n"
        f"            {_command()} serve\n"
        f"            {_command()} --help"
    )


def _command() -> str:
    """Return what the reader has to type to reach this command."""
    if shutil.which("unheard"):
        return "unheard"
    if sys.argv[0].endswith("__main__.py"):
        return f"{os.path.basename(sys.executable)} -m unheard"
    return os.path.relpath(sys.argv[0])


def _show_table(console: Console) -> None:
    """Show how the bounds widen as q falls, and what n adds."""
    from rich.table import Table

    table = Table(title="What the mean of all guests can be", title_justify="left", box=None)
    table.add_column("")
    for name in HOTELS:
        table.add_column(name, justify="right", no_wrap=True)
    cases: list[tuple[str, float, int | None]] = [(f"q = {q}", q, None) for q in (0.6, _Q, 0.1)]
    cases.append((f"q = {_Q} of {GUESTS} guests", _Q, GUESTS))
    for words, q, n in cases:
        found = [estimate(counts, q, n=n) for counts in HOTELS.values()]
        table.add_row(words, *(f"{one.lower:.2f} to {one.upper:.2f}" for one in found))
    console.print()
    console.print(table)


def _show_claims(console: Console) -> None:
    """Show what would overturn a claim about each."""
    from unheard.analysis.sweep import sweep
    from unheard.cli.console import show_lines
    from unheard.present.layout import Page
    from unheard.present.phrases import claim_text, never_text

    console.print("\n[bold]What would overturn it?[/]\n")
    never = never_text(Assumption.bounded(1.0))
    for name, counts in HOTELS.items():
        found = sweep(counts, above=_GOOD)
        words = claim_text(
            f"{name} is above {_GOOD:g}", found.breakdown_q, found.ci_breakdown_q, never
        )
        show_lines(Page().paragraph(words), console)


def _show_rated(console: Console) -> None:
    """Rate a table with a row per review, in the embedded database."""
    import pyarrow as pa

    from unheard.cli.table_result import Shown
    from unheard.tables.pipeline import prepare, read_request
    from unheard.tables.sources.open import Where

    reviews = [
        (name, stars)
        for name, counts in (HOTELS | MORE_HOTELS).items()
        for stars, many in enumerate(counts, start=1)
        for _ in range(many)
    ]
    table = pa.table({"hotel": [name for name, _ in reviews], "stars": [s for _, s in reviews]})
    request = read_request(item="hotel", rating="stars", q=_Q)
    console.print("\n[bold]The same for a whole table[/], with a row per review:\n")
    job = prepare(table, request, Where())
    try:
        Shown(job, job.opened.engine.keep("result", job.query), "ci_lower", 20).on_screen()
    finally:
        job.close()
