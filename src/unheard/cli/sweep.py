"""``unheard sweep``: one histogram under every assumption, and what would overturn a claim."""

from __future__ import annotations

from dataclasses import replace

import click

from unheard.analysis.breakdown import Claim
from unheard.analysis.sweep import GRID, check_one_grid, sweep_question
from unheard.cli.console import show
from unheard.cli.histogram_arguments import read_named_rows, read_typed_rows
from unheard.cli.options import Values, refuse_options, takes_options
from unheard.model.question import Question


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
        check_one_grid(q, floor)
        grid = floor
    question = _read_question(words, values)
    claim = None
    if above is not None or below is not None:
        claim = Claim.read(above, below, question.counts.scale)
    name = None if values["source"] is None else _read_name(words)
    show(replace(sweep_question(question, grid, claim), name=name), as_json)


def _read_question(words: tuple[str, ...], values: Values) -> Question:
    if values["source"] is None:
        return read_typed_rows([words], values)
    refuse_options(word for word in words if word.startswith("--"))
    return read_named_rows([_read_name(words)], "item", values)


def _read_name(words: tuple[str, ...]) -> str:
    return " ".join(words)
