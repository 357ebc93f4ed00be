"""``unheard paper``: every figure and table of the paper."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from unheard.cli.options import json_option


@click.command()
@click.option(
    "-o", "--output", metavar="DIR", default="paper", show_default=True, help="Where to write."
)
@click.option(
    "--only",
    metavar="NAME,...",
    help="Make these alone: hotels, example, regret_over_q, asymptotic, heat_maps, methods_over_q, "
    "regret_over_n, hotel_table, tracks, theorems.",
)
@click.option("--fast", is_flag=True, help="Coarser numbers, in at most a minute and a half.")
@click.option(
    "--data", metavar="DIR", help="Folder with public rating data (cm100k/item_histograms.csv)."
)
@json_option
def paper(output: str, only: str | None, fast: bool, data: str | None, as_json: bool) -> None:
    """Reproduce every figure and table of the paper, and say what agrees.

    For each: charts (SVG and PNG), the numbers behind them (CSV), and a line on index.html. What is
    up to date is not made again.

    \b
    Examples:
      unheard paper -o out --fast
      unheard paper -o out --only heat_maps,theorems
    """
    from unheard.paper.run import check_names, make_all

    names = check_names([] if only is None else only.split(","))
    folder = Path(output)
    with _Bar(len(names), quiet=as_json) as bar:
        found = []
        for made in make_all(
            folder, names, fast=fast, data=None if data is None else Path(data), step=bar.step
        ):
            bar.done(made.name, made.entry.verdict, made.fresh)
            found.append(made)
    if as_json:
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
