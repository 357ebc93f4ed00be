"""``unheard minimax``: the smallest worst-case regret, certified."""

from __future__ import annotations

import click

from unheard.cli.options import Values, takes_options


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
    from unheard.game.regret_table import choose_scale
    from unheard.present.regrets import write_document

    scale = choose_scale(values["m"], values["scale"], 2)
    game = solve_minimax(values["n"], values["q"], scale, values["kind"])
    if values["json"]:
        print_json(write_document(game, table=values["table"]))
    else:
        show_result(game, table=values["table"])
