"""``unheard calibrate --response-rate``: what the share of people who answered rules out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from unheard.analysis.response_rates import ResponseRates, check_response_rates
from unheard.cli.layout import aligned, paragraph
from unheard.cli.options import Values, pick, read_counts, refuse_options
from unheard.cli.tables import read_where
from unheard.errors import OptionError, PopulationError
from unheard.text import printable

_SHOWN = 20


def show_rates(words: tuple[str, ...], values: Values) -> None:
    """Show response rates of typed counts, or of a table."""
    for name in ("answered", "population", "observed", "truth", "segment", "unpaired", "output"):
        if values[name]:
            raise OptionError(
                name,
                problem="{argument} does not apply to {response_rate}",
                hint="Use it with an audit",
            )
    names: tuple[str, ...] = ()
    keys: list[tuple[Any, ...]] = [()]
    if words and all(word.rstrip(",").replace(",", "").isdigit() for word in words):
        if values["n"] is None:
            raise PopulationError(
                "n", problem="{response_rate} requires {argument}", hint="Give the number of people"
            )
        seen: Any = sum(read_counts(words))
        people: Any = values["n"]
    else:
        names, keys, seen, people = _of_table(words, values)
    found = check_response_rates(seen, people, level=values["level"])
    if values["json"]:
        click.echo(json.dumps(_document(names, keys, found), default=str, ensure_ascii=False))
    else:
        _show(names, keys, found, values["level"])


def _of_table(
    words: tuple[str, ...], values: Values
) -> tuple[tuple[str, ...], list[tuple[Any, ...]], list[float], list[float]]:
    from unheard.cli.progress import watched
    from unheard.tables.pipeline import REQUEST_OPTIONS, in_order, prepare, read_request

    refuse_options(words)
    if len(words) != 1:
        raise click.UsageError("Name one table, or give counts with --n.")
    asked = pick(values, REQUEST_OPTIONS) | {"q": 1.0, "level": None, "ranks": False}
    request = read_request(**asked)
    if not request.n_known:
        raise PopulationError(
            "n",
            problem="{response_rate} requires the number of people",
            hint="Give {n}, {n_column}, {n_table} or {nulls:nonresponse}",
            code="requires_n",
        )
    where = read_where(values)
    job = prepare(words[0], request, where, lambda words, at: watched(words, at.fraction))
    try:
        table = job.opened.engine.arrow(in_order(job.query, request)).read_all()
    finally:
        job.close()
    columns = [table[name].to_pylist() for name in request.result_keys]
    keys = list(zip(*columns, strict=True))
    return request.result_keys, keys, table["n_ratings"].to_pylist(), table["n"].to_pylist()


def _document(
    names: Sequence[str], keys: Sequence[tuple[Any, ...]], found: ResponseRates
) -> dict[str, Any]:
    rows = []
    for row, key in enumerate(keys):
        one: dict[str, Any] = dict(zip(names, key, strict=True))
        one |= {
            "n_ratings": int(found.n_ratings[row]),
            "n": int(found.n[row]),
            "rate": float(found.rate[row]),
            "largest_floor": float(found.largest_floor[row]),
        }
        rows.append(one)
    return {"drift_p": found.drift_p, "rows": rows}


def _show(
    names: Sequence[str], keys: Sequence[tuple[Any, ...]], found: ResponseRates, level: float
) -> None:
    from unheard.cli.estimate_screen import make_console, text_width

    console = make_console()
    width = text_width(console)
    cells = [[*names, "responses", "people", "response rate", "largest floor"]]
    for row, key in enumerate(keys[:_SHOWN]):
        line = [printable(str(part)) for part in key]
        line += [f"{found.n_ratings[row]:,.0f}", f"{found.n[row]:,.0f}"]
        cells.append([*line, f"{found.rate[row]:.1%}", f"{found.largest_floor[row]:.3f}"])
    right = [False] * len(names) + [True] * (len(cells[0]) - len(names))
    for line_ in aligned(cells, right):
        console.print(line_, markup=False)
    if len(keys) > _SHOWN:
        console.print(f"\n{len(keys) - _SHOWN:,} more rows; --json prints all.")
    console.print()
    for sentence in _sentences(found, level):
        for line_ in paragraph(sentence, width, indent=0):
            console.print(line_, markup=False)


def _sentences(found: ResponseRates, level: float) -> list[str]:
    said = [
        "Those who respond least often do so no more often than people do on average: with "
        f"{level * 100:.6g}% confidence, nobody can claim a larger --floor than the largest floor. "
        "The rate says nothing about --q, the ratio between those who respond least and most "
        "often; that takes an audit."
    ]
    if len(found.rate) > 1:
        same = "may be" if found.drift_p >= 0.05 else "is not"
        said.append(f"The response rate {same} the same everywhere (p = {found.drift_p:.2g}).")
    return said
