"""``unheard minimax``: the smallest worst-case regret, certified."""

from __future__ import annotations

import math

import click

from unheard.cli.options import Values, takes_options
from unheard.cli.regret import read_people, read_scale
from unheard.errors import OptionError


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
    from unheard.cli.console import print_json, show_result
    from unheard.game.minimax import solve_minimax
    from unheard.present.regrets import write_document

    scale = read_scale(values, 2)
    game = solve_minimax(_read_n(values["n"]), values["q"], scale, values["kind"])
    if values["json"]:
        print_json(write_document(game, table=values["table"]))
    else:
        show_result(game, table=values["table"])


def _read_n(n: float) -> int:
    if n == math.inf:
        raise OptionError(
            "n", problem="{argument} must be finite", hint="Use a number of people up to 200"
        )
    return int(read_people(n))
