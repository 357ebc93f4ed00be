"""``unheard compare``: A against B."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from unheard.analysis.compare import Comparison, check_has_ratings, compare_rows
from unheard.cli.histogram_arguments import named_rows, typed_rows
from unheard.cli.layout import aligned, paragraph
from unheard.cli.options import (
    assumption_options,
    covers_option,
    json_option,
    level_option,
    scale_option,
)
from unheard.cli.progress import watched
from unheard.cli.table_options import source_options
from unheard.errors import PopulationError
from unheard.model.parsing import numbers
from unheard.model.question import Question
from unheard.present.decision_json import comparison_document
from unheard.present.sentences import comparison_sentences
from unheard.text import printable, range_text, rating_text


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@assumption_options
@click.option(
    "--n", metavar="N_A,N_B", help="How many people there are for each, silent ones included."
)
@scale_option
@level_option
@covers_option
@click.option(
    "--shared/--separate",
    default=None,
    help="Show one way alone: one participation shared by both items, or each its own. By default "
    "both ways are shown.",
)
@source_options
@json_option
def compare(a: str, b: str, as_json: bool, shared: bool | None, **given: Any) -> None:
    """Compare two items, to see whether one is really the better.

    A and B are counts with commas between, lowest rating first; with --source, the names of two
    items.

    \b
    Examples:
      unheard compare 5,10,35,120,30 30,25,45,80,20 --q 0.5
      unheard compare 5,10,35,120,30 30,25,45,80,20 --q reviews --quiet low --n 900,700
      unheard compare 5,10,35,120,30 30,25,45,80,20 --q 0.5 --shared
      unheard compare Cedar Elm --source stays.csv --item hotel --rating stars --q 0.3
    """
    if given["source"] is None:
        names = ("A", "B")
        n = None if given["n"] is None else _both(given["n"])
        question = typed_rows([[a], [b]], n, given)
    else:
        names = (a, b)
        question = named_rows(names, "item", given)
    check_has_ratings(question, names)
    with watched("comparing", lambda: None):
        found = compare_rows(question)
    if as_json:
        click.echo(json.dumps(comparison_document(found, names), ensure_ascii=False))
        return
    from unheard.cli.estimate_screen import make_console, text_width

    console = make_console()
    shown = (printable(names[0]), printable(names[1]))
    for line in _lines(found, shown, shared, text_width(console)):
        console.print(line, markup=False)


def _both(text: str) -> list[float]:
    people = numbers(text, "--n", PopulationError)
    if len(people) > 2:
        raise PopulationError("--n", f"{text} found", "Give A's and B's, as in --n 900,700")
    return people


def _lines(
    found: Comparison, names: tuple[str, str], shared: bool | None, width: int
) -> Iterator[str]:
    question = found.question
    level = f"{(question.level or 0) * 100:.6g}% confidence"
    scale = question.counts.scale.width
    cells = [["", "ratings", "average", "estimate", "interval", level]]
    averages = _averages(question)
    for row, one in enumerate((found.a, found.b)):
        cells.append(
            [
                names[row],
                f"{question.counts.n_ratings[row]:,.0f}",
                rating_text(averages[row], scale),
                rating_text(one.estimate, scale),
                range_text(one.lower, one.upper, scale),
                range_text(one.ci_lower, one.ci_upper, scale),
            ]
        )
    yield from aligned(cells, [False, True, True, True, False, False])
    yield ""
    first, second = names
    ways = {
        False: ("each its own participation", found.separate),
        True: ("one shared participation", found.shared),
    }
    cells = [[f"{first} less {second}", "estimate", "interval", level]]
    for words, way in ways.values() if shared is None else [ways[shared]]:
        cells.append(
            [
                words,
                rating_text(way.estimate, scale),
                range_text(way.lower, way.upper, scale),
                range_text(way.ci_lower, way.ci_upper, scale),
            ]
        )
    yield from aligned(cells, [False, True, False, False])
    yield ""
    for sentence in comparison_sentences(found, names, shared):
        yield from paragraph(sentence, width, indent=0)


def _averages(question: Question) -> list[float]:
    cells = np.asarray(question.counts.cells, np.float64)
    means = cells @ np.array(question.counts.scale.values) / cells.sum(axis=1)
    return [float(mean) for mean in means]
