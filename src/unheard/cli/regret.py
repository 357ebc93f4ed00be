"""``unheard regret``: how wrong an aggregator can be, and when."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import click

from unheard.cli.options import json_option, kind_option, one_of, scale_option
from unheard.errors import AssumptionError, OptionError
from unheard.formulas.boxes import QUIET
from unheard.formulas.estimators import ESTIMATORS
from unheard.model.parsing import number, numbers
from unheard.model.scale import Scale


@click.command()
@click.option("--n", required=True, metavar="N", help="How many people; inf for endless people.")
@click.option("--m", metavar="M", help="How many ratings, 1 to M. By default 5.")
@scale_option
@click.option(
    "--q",
    required=True,
    metavar="Q",
    help="Least participation: one number, several with commas, or FIRST:LAST:STEP.",
)
@click.option(
    "--method",
    required=True,
    metavar="METHOD,...",
    shell_complete=one_of(*ESTIMATORS),
    help=f"One or several of {', '.join(ESTIMATORS)}.",
)
@kind_option(
    "gap: squared distance to the mean of all N ratings, seen or not. excess: squared "
    "distance to the mean behind them, less what seeing everybody would leave."
)
@click.option(
    "--quiet",
    metavar="|".join(QUIET),
    default="any",
    show_default=True,
    shell_complete=one_of(*QUIET),
    help="Who may be the quieter in the worst case.",
)
@click.option("--p", metavar="P,...", help="With --g: not the worst case, but this structure.")
@click.option("--g", metavar="G,...", help="Participation of each rating, together with --p.")
@click.option("--draws", metavar="DRAWS", help="Estimate by simulation, for any N and M.")
@click.option("--seed", metavar="SEED", default="0", show_default=True, help="Of the simulation.")
@json_option
def regret(
    n: str,
    m: str | None,
    scale: str | None,
    q: str,
    method: str,
    kind: str,
    quiet: str,
    p: str | None,
    g: str | None,
    draws: str | None,
    seed: str,
    as_json: bool,
) -> None:
    """Find the structure in which an aggregator is furthest off, and by how much.

    \b
    Examples:
      unheard regret --n 20 --m 5 --q 0.5 --method bea
      unheard regret --n 10 --m 3 --q 0.1:0.9:0.1 --method average,bea,paa
      unheard regret --n inf --q 0.5 --method average
      unheard regret --n 500 --m 2 --q 0.5 --method paa --p 0.6,0.4 --g 0.5,1 --draws 10000
    """
    from unheard.game.regret_table import RegretTable, check_methods

    values = read_scale(m, scale)
    people = math.inf if n.strip() == "inf" else whole(n, "--n", 1)
    methods = [name.strip() for name in method.split(",")]
    table = RegretTable(people, values, kind, quiet)
    check_methods(methods)
    qs, sample = read_range(q), None if draws is None else whole(draws, "--draws", 2)
    if p is not None or g is not None:
        rows = table.evaluate_structure(
            methods, qs, _structure(p, g), sample, whole(seed, "--seed", 0)
        )
    elif sample is not None:
        rows = table.simulate(methods, qs, sample, whole(seed, "--seed", 0))
    else:
        rows = table.find_worst(methods, qs)
    found = _with_progress(rows, len(methods) * len(qs))
    if as_json:
        click.echo(json.dumps(found[0] if len(found) == 1 else found))
    else:
        _show(found, values)


def _structure(p: str | None, g: str | None) -> Any:
    from unheard.game.structures import Structure

    if p is None or g is None:
        raise OptionError("p", "one of --p and --g given", "Give both, or none")
    return Structure(numbers(p, "--p", OptionError), numbers(g, "--g", AssumptionError))


def read_scale(m: str | None, scale: str | None) -> Scale:
    """Read the scale from ``--scale``, or from the number of ratings ``--m``."""
    if scale is not None:
        if m is not None:
            raise OptionError("m", "--m and --scale given", "Give one of them")
        return Scale.parse(scale)
    return Scale.points(whole(m or "5", "--m", 2))


def whole(text: str, place: str, least: int) -> int:
    """Read a whole number."""
    value = number(text, place, OptionError)
    if not (value.is_integer() and value >= least):
        raise OptionError(place, f"{text} found", f"Give a whole number, {least} or more")
    return int(value)


def read_range(text: str) -> list[float]:
    """Read one number, several with commas, or a range with its step."""
    from unheard.game.regret_table import check_ratios

    found = list(Scale.parse(text).values) if ":" in text else numbers(text, "--q", AssumptionError)
    return check_ratios(found)


def _with_progress(rows: Iterator[dict[str, Any]], total: int) -> list[dict[str, Any]]:
    """Collect rows behind a progress bar on standard error, if there are several."""
    if total == 1:
        return list(rows)
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return list(track(rows, "worst cases", total=total, console=console, transient=True))


def _show(found: list[dict[str, Any]], scale: Scale) -> None:
    from rich.table import Table

    from unheard.cli.estimate_screen import make_console

    console = make_console()
    if len(found) == 1:
        _show_one(found[0], scale)
        return
    table = Table(box=None, header_style="bold")
    for header in ("method", "q", "regret", "root", "lower bound"):
        table.add_column(header, justify="left" if header == "method" else "right")
    for header in ("worst p", "worst g"):
        table.add_column(header)
    for row in found:
        table.add_row(
            row["method"],
            f"{row['q']:g}",
            f"{row['regret']:.6g}",
            f"{math.sqrt(max(row['regret'], 0)):.3f}",
            f"{row['lower_bound']:.6g}",
            vector(row["p"]),
            vector(row["g"]),
        )
    console.print(table)
    console.print(f"[dim]{found[0]['how']}[/]")


def _show_one(row: dict[str, Any], scale: Scale) -> None:
    from unheard.cli.estimate_screen import make_console

    console = make_console()
    people = "endless people" if row["n"] is None else f"{row['n']} people"
    console.print(
        f"[bold]{row['method']}[/] with {people}, ratings {scale.describe()}, "
        f"least participation {row['q']:g}\n"
    )
    error = f" ± {row['standard_error']:.2g}" if "standard_error" in row else ""
    console.print(f"  {'Regret (' + row['kind'] + ')':<16}[bold]{row['regret']:.6g}[/]{error}")
    console.print(f"  Typical error   {math.sqrt(max(row['regret'], 0)):.3f}   its square root")
    bound = f"{row['lower_bound']:.6g}"
    console.print(f"  Lower bound     {bound}   no aggregator's worst gap is smaller")
    console.print("\n  where the people and their participation are, from the lowest rating up,")
    console.print(f"  p = {vector(row['p'])}")
    console.print(f"  g = {vector(row['g'])}")
    if row["kind"] == "gap" and row["method"] == "bea":
        near = row["regret"] <= row["lower_bound"] * (1 + 1e-6)
        if near:
            console.print("\n  BEA attains the lower bound: it is optimal here.")
    console.print(f"\n  [dim]{row['how']}[/]")


def vector(values: list[float]) -> str:
    """Write a list of shares."""
    return "(" + ", ".join(f"{value:.3g}" for value in values) + ")"
