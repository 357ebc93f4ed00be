"""Regrets and the minimax game as text, documents and rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.text import Text

from unheard.game.minimax import Minimax
from unheard.game.regret_table import Regret, Regrets
from unheard.model.scale import Scale
from unheard.present.layout import Page, apart
from unheard.text import plural, write_exactly

_MOST_STRUCTURES = 8


def write_document(result: Regrets | Minimax, table: bool = False) -> dict[str, Any]:
    """Return the JSON document of regrets, or of a solved game, on request with its table."""
    if isinstance(result, Regrets):
        rows = list_documents(result)
        return rows[0] if len(rows) == 1 else {"rows": rows}
    document: dict[str, Any] = {
        "n": result.n,
        "m": result.scale.m,
        "q": result.q,
        "kind": result.kind,
        "lower": result.lower,
        "upper": result.upper,
        "bea": result.bea,
        "average": result.average,
        "lower_bound": result.lower_bound,
        "bea_is_optimal": result.bea_is_optimal,
        "ratings": list(result.ratings),
        "support": [
            {"weight": weight, "p": list(one.p), "g": list(one.g)} for weight, one in result.support
        ],
    }
    return document | ({"table": _optimal_answers(result)} if table else {})


def list_documents(regrets: Regrets) -> list[dict[str, Any]]:
    """Return the JSON document of each case."""
    rows = [asdict(one) | {"p": list(one.p), "g": list(one.g)} for one in regrets.cases]
    for row in rows:
        if row["standard_error"] is None:
            del row["standard_error"]
    return rows


def _optimal_answers(game: Minimax) -> list[list[float]]:
    """Return row n_low of the answers for n_high = 0, 1, ... as far as there are people."""
    low, width = game.scale.lowest, game.scale.width
    return [
        [float(low + width * game.table[a, b]) for b in range(game.n - a + 1)]
        for a in range(game.n + 1)
    ]


def tabulate(result: Regrets | Minimax) -> list[dict[str, Any]]:
    """Return a row for each case; of a solved game, one for each aggregator."""
    if isinstance(result, Regrets):
        return [asdict(one) | {"p": list(one.p), "g": list(one.g)} for one in result.cases]
    certified = {
        "optimal": (result.lower, result.upper),
        "bea": (None, result.bea),
        "average": (None, result.average),
    }
    return [
        {"method": name, "lower": lower, "upper": upper}
        for name, (lower, upper) in certified.items()
    ]


def list_cells(result: Regrets | Minimax) -> list[list[str]]:
    """Return the numbers as a table."""
    if isinstance(result, Regrets):
        head = ["method", "q", "regret", "root", "lower bound", "worst p", "worst g"]
        return [head, *map(_case_cells, result.cases)]
    table = [
        ["Best possible", f"{result.lower:.6g} to {result.upper:.6g}", "certified"],
        ["BEA", f"at most {result.bea:.6g}", ""],
        ["Average", f"at most {result.average:.6g}", ""],
    ]
    if result.kind == "gap":
        table.append(["Paper's bound", f"{result.lower_bound:.6g}", "from two structures alone"])
    return [["", f"worst-case regret ({result.kind})", ""], *table]


def _case_cells(one: Regret) -> list[str]:
    numbers = [f"{one.regret:.6g}", _root(one.regret), f"{one.lower_bound:.6g}"]
    return [one.method, f"{one.q:g}", *numbers, _vector(one.p), _vector(one.g)]


def _root(regret: float) -> str:
    return f"{math.sqrt(max(regret, 0)):.3f}"


def explain(result: Regrets | Minimax) -> Iterator[str]:
    """Yield the setting, how the numbers were computed, and whether BEA is optimal."""
    if isinstance(result, Regrets):
        first = result.cases[0]
        yield f"{_setting(first.n, result.scale)}, {first.kind}."
        yield f"Computed by {first.how}."
    else:
        yield f"{_setting(result.n, result.scale)}, least participation {result.q:g}."
        if result.bea_is_optimal:
            yield _OPTIMAL


_OPTIMAL = "BEA is optimal here: no aggregator improves on it by more than 0.1%."


def _setting(n: int | None, scale: Scale) -> str:
    people = "infinitely many people" if n is None else plural(n, "person", "people")
    return f"{people}, ratings {scale.describe()}"


def write_lines(result: Regrets | Minimax, page: Page, table: bool = False) -> Iterator[Text]:
    """Write regrets or a solved game as the terminal shows them."""
    if isinstance(result, Minimax):
        return _minimax_lines(result, page, table)
    if len(result.cases) == 1:
        return _case_lines(result.cases[0], result.scale, page)
    how = Text(f"Computed by {result.cases[0].how}.", "dim")
    return apart(page.table(list_cells(result), "<>>>><<"), [how])


def _case_lines(one: Regret, scale: Scale, page: Page) -> Iterator[Text]:
    setting = f" with {_setting(one.n, scale)}, least participation {one.q:g}"
    error = "" if one.standard_error is None else f" ± {one.standard_error:.2g}"
    numbers = [
        [f"Regret ({one.kind})", f"{one.regret:.6g}{error}", ""],
        ["Typical error", _root(one.regret), "square root of the regret"],
        ["Lower bound", f"{one.lower_bound:.6g}", "no aggregator's worst gap is smaller"],
    ]
    where = [
        Text("  The structure, from the lowest rating up:"),
        *page.paragraph(_vector(one.p), "p = ", "", indent=2),
        *page.paragraph(_vector(one.g), "g = ", "", indent=2),
    ]
    optimal = one.method == "bea" and one.kind == "gap"
    optimal = optimal and one.regret <= one.lower_bound * (1 + 1e-6)
    return apart(
        [Text.assemble((one.method, "bold"), setting)],
        page.table(numbers, "<<<", indent=2, headed=False),
        where,
        [Text("  BEA attains the lower bound: it is optimal here.")] if optimal else [],
        [Text(f"  Computed by {one.how}.", "dim")],
    )


def _minimax_lines(game: Minimax, page: Page, table: bool) -> Iterator[Text]:
    low, high = map(write_exactly, game.ratings)
    mixed: list[Text] = []
    if game.support:
        mixed = [
            *page.paragraph(
                "The adversary mixes these structures, each with its mirror image; p and g are "
                f"those of the ratings {low} and {high}:",
                indent=2,
            )
        ]
        for weight, one in game.support[:_MOST_STRUCTURES]:
            mixed.append(Text(f"  {weight:>6.1%}  p = {_vector(one.p)}  g = {_vector(one.g)}"))
    hint = [] if table else [Text("  --table shows the optimal aggregator itself.", "dim")]
    head = f"{_setting(game.n, game.scale)}, least participation {game.q:g}"
    return apart(
        [Text(head, "bold")],
        page.table(list_cells(game), "<<<", indent=2),
        [Text(f"  {_OPTIMAL}")] if game.bea_is_optimal else [],
        mixed,
        [*_table_lines(game, page)] if table else hint,
    )


def _table_lines(game: Minimax, page: Page) -> Iterator[Text]:
    low, high = map(write_exactly, game.ratings)
    words = f"The optimal answer, by the number of ratings {low} (down) and {high} (across)."
    if game.scale.m > 2:
        words += (
            " A rating in between counts as one of the two at random, with the same mean; the "
            "answers are averaged."
        )
    yield from page.paragraph(words, indent=2)
    yield Text("     " + "".join(f"{b:>6}" for b in range(game.n + 1)))
    for a, row in enumerate(_optimal_answers(game)):
        yield Text(f"  {a:>3}" + "".join(f"{value:>6.2f}" for value in row))


def _vector(values: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.3g}" for value in values) + ")"
