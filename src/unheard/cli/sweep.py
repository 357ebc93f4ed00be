"""``unheard sweep``: one histogram under every assumption, and what would overturn a claim."""

from __future__ import annotations

import json

import click

from unheard.analysis.breakdown import Claim, find_breakdown_by_row
from unheard.analysis.sweep import GRID, Sweep, read_floors, sweep_question
from unheard.cli.histogram_arguments import read_named_rows, read_typed_rows
from unheard.cli.layout import aligned, paragraph
from unheard.cli.options import Values, refuse_options, takes_options
from unheard.model.question import Question
from unheard.model.results import Estimate
from unheard.present.decision_json import sweep_document
from unheard.present.sentences import sweep_sentences
from unheard.text import range_text, rating_text


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", metavar="COUNTS... | ITEM", nargs=-1)
@takes_options("sweep")
def sweep(values: Values, words: tuple[str, ...]) -> None:
    """Show how the answer depends on q (sensitivity analysis).

    COUNTS is the number of ratings of each value, lowest first; with --source, it is the name of an
    ITEM.

    \b
    Examples:
      unheard sweep 120 30 45 200 605 --above 3.5
      unheard sweep 120 30 45 200 605 --quiet low --n 2400 --q 0.4,0.3,0.2,0.1
      unheard sweep Alder --source stays.csv --item hotel --rating stars --above 3.5
    """
    as_json, q, floor = values.pop("json"), values.pop("q"), values.pop("floor")
    above, below = values.pop("above"), values.pop("below")
    per_rating = [values[name] for name in ("participation", "g", "assumption")]
    grid = GRID if q is None else q
    # The assumption at q = 1, from which the sweep starts; participation per rating has its own.
    stated = any(one is not None for one in per_rating)
    values |= {"q": None if stated or floor else 1.0, "floor": 1.0 if floor else None}
    if floor is not None:
        read_floors(floor, q, *per_rating)
        grid = floor
    question = _read_question(words, values)
    claim = None
    if above is not None or below is not None:
        claim = Claim.read(above, below, question.counts.scale)
    found = sweep_question(question, grid)
    broken = None
    if claim is not None:
        broken = [
            float(find_breakdown_by_row(question, claim, noise)[0]) for noise in (False, True)
        ]
    if as_json:
        click.echo(json.dumps(sweep_document(question, found, claim, broken)))
    else:
        _show(question, found, claim, broken)


def _read_question(words: tuple[str, ...], values: Values) -> Question:
    if values["source"] is None:
        return read_typed_rows([words], values)
    refuse_options(word for word in words if word.startswith("--"))
    return read_named_rows([" ".join(words)], "item", values)


def _show(
    question: Question, found: Sweep, claim: Claim | None, broken: list[float] | None
) -> None:
    from unheard.cli.estimate_screen import Screen, ink_for, make_console, stripped, text_width

    console = make_console()
    rows = [
        Estimate(
            f"q {found.q[row]:g}",
            found.estimate[row],
            found.lower[row],
            found.upper[row],
            found.ci_lower[row],
            found.ci_upper[row],
            notes,
        )
        for row, notes in enumerate(found.notes)
    ]
    width, scale = text_width(console), question.counts.scale
    screen = Screen(question, rows, width, ink_for(console))
    cells = [
        ["q", "estimate", "interval", f"{(question.level or 0) * 100:.6g}% confidence", "notes"]
    ]
    cells += [
        [
            one.method.removeprefix("q "),
            rating_text(one.estimate, scale.width),
            range_text(one.lower, one.upper, scale.width),
            range_text(one.ci_lower, one.ci_upper, scale.width),
            " ".join(one.notes),
        ]
        for one in rows
    ]
    table = [f"  {line}" for line in aligned(cells, [True, True, False, False, False])]
    words = [
        line
        for sentence in sweep_sentences(question, claim, broken)
        for line in paragraph(sentence, width)
    ]
    console.print(screen.size())
    for part in (map(stripped, screen.drawing()), table, screen.note_lines(), words):
        lines = list(part)
        if lines:
            console.print()
        for line in lines:
            console.print(line)
