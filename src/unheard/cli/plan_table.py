"""``unheard plan TABLE``: which items of a table to call first, and how far calls go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unheard.cli.console import show
from unheard.cli.options import Values
from unheard.cli.tables import read_table_options, read_where
from unheard.errors import OptionError

if TYPE_CHECKING:
    from unheard.analysis.plan import Plans


def show_table_plan(source: str, goal: Values, values: Values) -> None:
    """Plan for every item of a table, and write, print or show the result as the options say."""
    from unheard.cli.progress import show_progress
    from unheard.tables.output.write import check_target
    from unheard.tables.plan_items import PlanTask
    from unheard.tables.sources.files import files_of

    for name in ("follow_up", "asked"):
        if values[name] is not None:
            raise OptionError(
                name,
                problem="{argument} does not apply to a table",
                hint="Combine the responses item by item: give the counts of one item",
            )
    target = None if values["output"] is None else Path(values["output"])
    if target is not None:
        check_target(target, files_of(source, values["n_table"], values["q_table"]))
    options = read_table_options(source, values)
    task = PlanTask.read(options, goal, values["nonrespondents"], values["budget"])
    plans, messages = task.run(
        source, read_where(values), lambda words, at: show_progress(words, at.fraction)
    )
    if target is not None:
        _write(plans, target)
    if values["json"] or target is None:
        show(plans, values["json"], top=values["top"])
    else:
        click.echo(f"{len(plans):,} rows written to {target}.", err=True)
    for words in messages:
        click.echo(f"Note: {words}", err=True)


def _write(plans: Plans, target: Path) -> None:
    """Write all rows, with how they were computed, for a file that is read without the command."""
    from unheard.present.plan_tables import tabulate
    from unheard.present.results import build_frame
    from unheard.tables.output.write import write_table

    rows = [row | {"notes": " ".join(row["notes"])} for row in tabulate(plans)]
    settings: dict[str, str | float | None] = {
        "goal": plans.goal,
        "target": plans.target,
        "power": plans.power,
        "level": plans.question.level,
        "covers": plans.question.covers,
        "assumption": plans.words,
    }
    write_table(build_frame(rows, "pyarrow"), target, settings)
