"""``unheard minimax``: the smallest worst-case regret, certified."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click

from unheard.cli.options import Values, takes_options
from unheard.cli.regret import read_people, read_scale, vector
from unheard.errors import OptionError
from unheard.formulas.operations import Floats
from unheard.text import write_exactly

if TYPE_CHECKING:
    from rich.console import Console

    from unheard.game.minimax import Minimax


@click.command()
@takes_options("minimax")
def minimax(values: Values) -> None:
    """Bracket the best worst case that any aggregator can have.

    \b
    Examples:
      unheard minimax --n 20 --q 0.9
      unheard minimax --n 10 --q 0.9 --table
      unheard minimax --n 20 --q 0.95 --m 5 --json
    """
    from unheard.game.minimax import solve_minimax

    scale = read_scale(values, 2)
    game = solve_minimax(_read_n(values["n"]), values["q"], scale, values["kind"])
    if values["json"]:
        document: dict[str, Any] = {
            "n": game.n,
            "m": scale.m,
            "q": game.q,
            "kind": game.kind,
            "lower": game.lower,
            "upper": game.upper,
            "bea": game.bea,
            "average": game.average,
            "lower_bound": game.lower_bound,
            "bea_is_optimal": game.bea_is_optimal,
            "ratings": list(game.ratings),
            "support": [
                {"weight": weight, "p": list(one.p), "g": list(one.g)}
                for weight, one in game.support
            ],
        }
        if values["table"]:
            document["table"] = _rows(game.table, scale.lowest, scale.width)
        click.echo(json.dumps(document))
        return
    _show(game, values["table"])


def _read_n(n: float) -> int:
    if n == math.inf:
        raise OptionError(
            "n", problem="{argument} must be finite", hint="Use a number of people up to 200"
        )
    return int(read_people(n))


def _rows(table: Floats, lowest: float, width: float) -> list[list[float]]:
    """Return row n_low of the answers for n_high = 0, 1, ... as far as there are people."""
    n = len(table) - 1
    return [[float(lowest + width * table[a, b]) for b in range(n - a + 1)] for a in range(n + 1)]


def _show(game: Minimax, table: bool) -> None:
    from unheard.cli.estimate_screen import make_console

    console = make_console()
    scale = game.scale
    console.print(
        f"[bold]{game.n} people[/], ratings {scale.describe()}, least "
        f"participation {game.q:g}: worst-case regret ({game.kind})\n"
    )
    bracket = f"[bold]{game.lower:.6g}[/] to [bold]{game.upper:.6g}[/]"
    console.print(f"  The best possible   {bracket}   certified")
    console.print(f"  BEA                 {game.bea:.6g} at the most")
    console.print(f"  Average             {game.average:.6g} at the most")
    if game.kind == "gap":
        console.print(f"  Paper's bound       {game.lower_bound:.6g}   from two structures alone")
    if game.bea_is_optimal:
        console.print("\n  BEA is optimal here: nothing can beat it by more than 0.1%.")
    if game.support:
        low, high = map(write_exactly, game.ratings)
        console.print(
            f"\n  The adversary mixes structures with shares p of people whose rating is {low} or "
            f"{high},\n  who respond with probabilities g; each with its mirror image:"
        )
        for weight, one in game.support[:8]:
            console.print(f"  {weight:>6.1%}  p = {vector(list(one.p))}  g = {vector(list(one.g))}")
    if table:
        _show_table(game, console)
    else:
        console.print("\n  [dim]--table shows the optimal aggregator itself[/]")


def _show_table(game: Minimax, console: Console) -> None:
    scale = game.scale
    low, high = write_exactly(scale.lowest), write_exactly(scale.highest)
    console.print(
        f"\n  The optimal answer, for so many ratings of {low} (down) and of {high} "
        "(across)."
        + (
            ""
            if scale.m == 2
            else "\n  A rating between counts as either, by chance "
            "with the same mean; the answers are averaged."
        )
        + "\n"
    )
    rows = _rows(game.table, scale.lowest, scale.width)
    console.print("     " + "".join(f"{b:>6}" for b in range(game.n + 1)))
    for a, row in enumerate(rows):
        console.print(f"  {a:>3}" + "".join(f"{value:>6.2f}" for value in row))
