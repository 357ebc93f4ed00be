"""``unheard paper``: every figure and table of the paper."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from unheard.cli.options import Values, takes_options


@click.command()
@takes_options("paper")
def paper(values: Values) -> None:
    """Reproduce the paper's figures and tables.

    Each comes as charts (SVG and PNG), the numbers behind them (CSV), and a verdict on index.html.
    What is up to date is not made again.

    \b
    Examples:
      unheard paper -o out --fast
      unheard paper -o out --only heat_maps,theorems
    """
    from unheard.paper.run import check_names, make_all

    names = check_names(values["only"] or [])
    folder, data = Path(values["output"]), None if values["data"] is None else Path(values["data"])
    with _Bar(len(names), quiet=values["json"]) as bar:
        found = []
        for made in make_all(
            folder,
            names,
            fast=values["fast"],
            data=data,
            step=bar.step,
        ):
            bar.done(made.name, made.entry.verdict, made.fresh)
            found.append(made)
    if values["json"]:
        rows = [
            {key: value for key, value in vars(made.entry).items() if key != "key"}
            for made in found
        ]
        click.echo(json.dumps(rows, ensure_ascii=False))
    else:
        click.echo(f"{folder / 'index.html'}")


class _Bar:
    """Progress on standard error: a bar for people, a line per exhibit for files."""

    def __init__(self, exhibits: int, quiet: bool) -> None:
        self.exhibits, self.quiet = exhibits, quiet
        self.progress: Any = None
        self.task: Any = None

    def __enter__(self) -> _Bar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self.progress = Progress(console=Console(stderr=True), transient=True)
            self.progress.start()
            self.task = self.progress.add_task("", total=self.exhibits)
            self.finished = 0
        return self

    def __exit__(self, *_: object) -> None:
        if self.progress is not None:
            self.progress.stop()

    def step(self, name: str, share: float) -> None:
        """Show how much of an exhibit is done."""
        if self.progress is not None:
            self.progress.update(self.task, description=name, completed=self.finished + share)

    def done(self, name: str, verdict: str, fresh: bool) -> None:
        """Say that an exhibit is there."""
        if self.progress is not None:
            self.finished += 1
            self.progress.update(self.task, completed=self.finished)
        if not self.quiet:
            words = verdict if fresh else f"{verdict} (up to date)"
            click.echo(f"{name:16} {words}", err=True)
