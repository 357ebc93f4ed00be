"""``unheard compare``: A against B."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
import numpy as np

from unheard.analysis.compare import Comparison, check_has_ratings, compare_rows
from unheard.cli.histogram_arguments import read_named_rows, read_typed_rows
from unheard.cli.layout import aligned, paragraph
from unheard.cli.options import Values, takes_options
from unheard.cli.progress import watched
from unheard.errors import PopulationError
from unheard.model.question import Question
from unheard.present.decision_json import comparison_document
from unheard.present.sentences import comparison_sentences
from unheard.text import printable, range_text, rating_text


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
    if values["source"] is None:
        names = ("A", "B")
        _check_two(values["n"])
        question = read_typed_rows([[a], [b]], values)
    else:
        names = (a, b)
        question = read_named_rows(names, "item", values)
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


def _check_two(people: list[float] | None) -> None:
    if people is not None and len(people) > 2:
        raise PopulationError(
            "n",
            problem="{argument} has {many} numbers for two items",
            hint="Give one for each, as in --n 900,700",
            many=len(people),
        )


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
