"""``unheard sweep``: one histogram under every assumption, and what would overturn a claim."""

from __future__ import annotations

import json
from typing import Any

import click

from unheard.analysis.breakdown import Claim, find_breakdown_by_row
from unheard.analysis.sweep import GRID, Sweep, read_floors, sweep_question
from unheard.cli.histogram_arguments import named_rows, typed_rows
from unheard.cli.layout import aligned, paragraph
from unheard.cli.options import (
    check_no_options,
    covers_option,
    json_option,
    level_option,
    per_rating_options,
    scale_option,
)
from unheard.cli.table_options import source_options
from unheard.errors import AssumptionError, OptionError, PopulationError
from unheard.model.parsing import number, numbers, read_q
from unheard.model.question import Question
from unheard.model.results import Estimate
from unheard.present.decision_json import sweep_document
from unheard.present.sentences import sweep_sentences
from unheard.text import range_text, rating_text


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", metavar="COUNTS... | ITEM", nargs=-1)
@click.option("--above", metavar="VALUE", help="Say how quiet people may be before the mean may be "
              "at or below VALUE.")  # fmt: skip
@click.option(
    "--below", metavar="VALUE", help="Instead of --above: before it may be VALUE or more."
)
@click.option(
    "--q",
    metavar="Q,...",
    help="Participation ratios to look at, with commas between. By default "
    + ", ".join(f"{q:g}" for q in GRID) + ".",
)  # fmt: skip
@click.option(
    "--floor",
    metavar="FLOOR,...",
    help="Instead of --q: least probabilities to respond. Requires --n.",
)
@per_rating_options
@click.option("--n", metavar="N", help="How many people there are, silent ones included.")
@scale_option
@level_option
@covers_option
@source_options
@json_option
def sweep(
    words: tuple[str, ...],
    q: str | None,
    floor: str | None,
    above: str | None,
    below: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Show the estimate and its intervals as people are allowed to be ever quieter.

    COUNTS is how often each rating was given, lowest first; with --source, the name of an ITEM.

    \b
    Examples:
      unheard sweep 120 30 45 200 605 --above 3.5
      unheard sweep 120 30 45 200 605 --quiet low --n 2400 --q 0.4,0.3,0.2,0.1
      unheard sweep Alder --source stays.csv --item hotel --rating stars --above 3.5
    """
    grid = GRID if q is None else [read_q(part.strip(), "--q") for part in q.split(",")]
    # The assumption at q = 1, from which the sweep starts; participation per rating has its own.
    stated = any(given[name] for name in ("participation", "g", "assumption"))
    given |= {"q": None if stated or floor else "1", "floor": "1" if floor else None}
    if floor is not None:
        read_floors(floor, q, *(given[name] for name in ("participation", "g", "assumption")))
        grid = numbers(floor, "--floor", AssumptionError)
    question = _question(words, given)
    claim = None
    if above is not None or below is not None:
        ends = (
            None if text is None else number(text, place, OptionError)
            for text, place in ((above, "--above"), (below, "--below"))
        )
        claim = Claim.read(next(ends), next(ends), question.counts.scale)
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


def _question(words: tuple[str, ...], given: dict[str, Any]) -> Question:
    if given["source"] is None:
        n = None if given["n"] is None else number(given["n"], "--n", PopulationError)
        return typed_rows([words], n, given)
    check_no_options(word for word in words if word.startswith("--"))
    return named_rows([" ".join(words)], "item", given)


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
