"""``unheard regret``: how wrong an aggregator can be, and when."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from unheard.cli.options import Values, takes_options
from unheard.errors import OptionError
from unheard.model.scale import Scale

if TYPE_CHECKING:
    from unheard.game.structures import Structure


@click.command()
@takes_options("regret")
def regret(values: Values) -> None:
    """Find the worst case of an aggregator.

    \b
    Examples:
      unheard regret --n 20 --m 5 --q 0.5 --method bea
      unheard regret --n 10 --m 3 --q 0.1:0.9:0.1 --method average,bea,paa
      unheard regret --n inf --q 0.5 --method average
      unheard regret --n 500 --m 2 --q 0.5 --method paa --p 0.6,0.4 --g 0.5,1 --draws 10000
    """
    from unheard.game.regret_table import RegretTable, check_methods, check_ratios

    scale = read_scale(values, 5)
    methods, qs = values["method"], check_ratios(values["q"])
    check_methods(methods)
    table = RegretTable(read_people(values["n"]), scale, values["kind"], values["quiet"])
    draws, seed = values["draws"], values["seed"]
    if values["p"] is not None or values["g"] is not None:
        rows = table.evaluate_structure(
            methods, qs, _structure(values["p"], values["g"]), draws, seed
        )
    elif draws is not None:
        rows = table.simulate(methods, qs, draws, seed)
    else:
        rows = table.find_worst(methods, qs)
    found = _with_progress(rows, len(methods) * len(qs))
    if values["json"]:
        click.echo(json.dumps(found[0] if len(found) == 1 else found))
    else:
        _show(found, scale)


def _structure(p: list[float] | None, g: list[float] | None) -> Structure:
    from unheard.game.structures import Structure

    if p is None or g is None:
        raise OptionError("p", problem="{p} and {g} require each other", hint="Give both, or none")
    return Structure(p, g)


def read_scale(values: Values, m: int) -> Scale:
    """Read the scale from ``--scale``, or from the number of ratings ``--m``."""
    if values["scale"] is None:
        return Scale.points(values["m"] or m)
    if values["m"] is not None:
        raise OptionError(
            "m", problem="{argument} and {scale} exclude each other", hint="Give one of them"
        )
    scale: Scale = values["scale"]
    return scale


def read_people(n: float) -> float:
    """Read the number of people, of whom there may be infinitely many."""
    if not (n >= 1 and (n == math.inf or float(n).is_integer())):
        raise OptionError(
            "n", problem="{argument} must be a whole number, 1 or more, or inf", value=n
        )
    return n if n == math.inf else int(n)


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
