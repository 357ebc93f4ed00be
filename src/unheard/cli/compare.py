"""``unheard compare``: A against B."""

from __future__ import annotations

import click

from unheard.analysis.compare import check_has_ratings, compare_rows
from unheard.cli.console import show
from unheard.cli.histogram_arguments import read_named_rows, read_typed_rows
from unheard.cli.options import Values, takes_options
from unheard.cli.progress import show_progress
from unheard.errors import PopulationError


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@takes_options("compare")
def compare(values: Values, a: str, b: str) -> None:
    """Compare two items, to see whether one is really better.

    A and B are counts separated by commas, lowest rating first; with --source, they are the names
    of two items.

    \b
    Examples:
      unheard compare 5,10,35,120,30 30,25,45,80,20 --q 0.5
      unheard compare 5,10,35,120,30 30,25,45,80,20 --q reviews --quiet low --n 900,700
      unheard compare 5,10,35,120,30 30,25,45,80,20 --q 0.5 --shared
      unheard compare Cedar Elm --source stays.csv --item hotel --rating stars --q 0.3
    """
    as_json, shared = values.pop("json"), values.pop("shared")
    _check_two(values["n"])
    if values["source"] is None:
        names = ("A", "B")
        question = read_typed_rows([[a], [b]], values)
    else:
        names = (a, b)
        question = read_named_rows(names, "item", values)
    check_has_ratings(question, names)
    with show_progress("comparing", lambda: None):
        comparison = compare_rows(question, names)
    show(comparison, as_json, shared=shared)


def _check_two(people: list[float] | None) -> None:
    if people is not None and len(people) > 2:
        raise PopulationError(
            "n",
            problem="{argument} has {many} numbers for two items",
            hint="Give one for each, as in --n 900,700",
            many=len(people),
        )
