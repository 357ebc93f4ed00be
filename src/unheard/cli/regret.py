"""``unheard regret``: how wrong an aggregator can be, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from unheard.cli.options import Values, takes_options
from unheard.errors import OptionError

if TYPE_CHECKING:
    from unheard.game.regret_table import Regret
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
    from unheard.cli.console import print_json, show
    from unheard.game.regret_table import (
        Regrets,
        RegretTable,
        check_methods,
        check_people,
        check_ratios,
        choose_scale,
    )
    from unheard.present.regrets import list_documents

    scale = choose_scale(values["m"], values["scale"], 5)
    methods, qs = values["method"], check_ratios(values["q"])
    check_methods(methods)
    n = check_people(values["n"], "inf")
    table = RegretTable(n, scale, values["kind"], values["quiet"])
    draws, seed = values["draws"], values["seed"]
    if values["p"] is not None or values["g"] is not None:
        rows = table.evaluate_structure(
            methods, qs, _structure(values["p"], values["g"]), draws, seed
        )
    elif draws is not None:
        rows = table.simulate(methods, qs, draws, seed)
    else:
        rows = table.find_worst(methods, qs)
    regrets = Regrets(tuple(_with_progress(rows, len(methods) * len(qs))), scale)
    if values["json"] and len(regrets.cases) > 1:
        print_json(list_documents(regrets))
    else:
        show(regrets, values["json"])


def _structure(p: list[float] | None, g: list[float] | None) -> Structure:
    from unheard.game.structures import Structure

    if p is None or g is None:
        raise OptionError("p", problem="{p} and {g} require each other", hint="Give both, or none")
    return Structure(p, g)


def _with_progress(rows: Iterator[Regret], total: int) -> list[Regret]:
    """Collect rows behind a progress bar on standard error, if there are several."""
    if total == 1:
        return list(rows)
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return list(track(rows, "worst cases", total=total, console=console, transient=True))
