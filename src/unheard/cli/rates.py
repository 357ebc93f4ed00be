"""``unheard calibrate --response-rate``: what the share of people who answered rules out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from unheard.cli.options import check_no_options, read_counts, read_level
from unheard.cli.text import aligned, paragraph
from unheard.core.reading import listed, number, read_q
from unheard.decide.rates import Rates, response_rates
from unheard.decide.words import printable
from unheard.errors import OptionError, PopulationError

_SHOWN = 20


def show_rates(words: tuple[str, ...], as_json: bool, given: dict[str, Any]) -> None:
    """Show response rates of typed counts, or of a table."""
    from unheard.tables.files import files_of

    for name in ("answered", "population", "observed", "truth", "segment", "unpaired"):
        if given[name]:
            raise OptionError(name, "given with --response-rate", "It goes with an audit")
    names: tuple[str, ...] = ()
    keys: list[tuple[Any, ...]] = [()]
    if words and all(word.rstrip(",").replace(",", "").isdigit() for word in words):
        if given["n"] is None:
            raise PopulationError("n", "not given", "Say how many people there are, with --n")
        seen: Any = sum(read_counts(words))
        people: Any = number(given["n"], "--n", PopulationError)
    else:
        names, keys, seen, people = _of_table(words, given)
    ratio = given["q"]
    if ratio is not None:
        ratio = read_q(ratio, "--q")
    found = response_rates(seen, people, ratio=ratio, level=read_level(given["level"]))
    if given["output"] is not None:
        inputs = files_of(*words, given["n_table"]) if names else []
        _write(Path(given["output"]), inputs, names, keys, found)
        click.echo(f"{len(keys):,} rows written to {given['output']}.", err=True)
    if as_json:
        click.echo(json.dumps(_document(names, keys, found), default=str, ensure_ascii=False))
    else:
        _show(names, keys, found, read_level(given["level"]))


def _of_table(
    words: tuple[str, ...], given: dict[str, Any]
) -> tuple[tuple[str, ...], list[tuple[Any, ...]], list[float], list[float]]:
    from unheard.cli.progress import watched
    from unheard.tables.jobs import in_order, prepare, read_request
    from unheard.tables.sources import Where

    check_no_options(words)
    if len(words) != 1:
        raise click.UsageError("Name one table, or give counts with --n.")
    n = given["n_column"]
    if given["n"] is not None:
        n = number(given["n"], "--n", PopulationError)
    plain = ("scale", "time", "window", "every", "n_table", "nulls", "off_scale", "rater")
    arguments: dict[str, Any] = {name: given[name] for name in (*plain, "duplicates")}
    for name in ("item", "rating", "counts"):
        arguments[name] = listed(given[name]) or None
    request = read_request(**arguments, n=n, q=1.0, level=None, ranks=False)
    if not request.n_known:
        raise PopulationError(
            "n", "the number of people is not known", "Give --n, --n-column, --n-table, or --nulls "
            "nonresponse"
        )  # fmt: skip
    where = Where(*(given[k] for k in ("engine", "table", "query", "memory", "spark_master")))
    job = prepare(words[0], request, where, lambda words, at: watched(words, at.fraction))
    try:
        table = job.opened.engine.arrow(in_order(job.query, request)).read_all()
    finally:
        job.close()
    columns = [table[name].to_pylist() for name in request.result_keys]
    keys = list(zip(*columns, strict=True))
    return request.result_keys, keys, table["n_ratings"].to_pylist(), table["n"].to_pylist()


def _document(
    names: Sequence[str], keys: Sequence[tuple[Any, ...]], found: Rates
) -> dict[str, Any]:
    rows = []
    for row, key in enumerate(keys):
        one: dict[str, Any] = dict(zip(names, key, strict=True))
        one |= {
            "n_ratings": int(found.n_ratings[row]),
            "n": int(found.n[row]),
            "rate": float(found.rate[row]),
            "q_most": float(found.q_most[row]),
            "q": None if found.q is None else float(found.q[row]),
        }
        rows.append(one)
    return {"drift_p": found.drift_p, "rows": rows}


def _write(
    target: Path,
    inputs: Sequence[str],
    names: Sequence[str],
    keys: Sequence[tuple[Any, ...]],
    found: Rates,
) -> None:
    from unheard.tables.output import beside, check_target
    from unheard.tables.spreadsheets import safe_cell

    if target.suffix.lower() != ".csv" or found.q is None or not names:
        raise OptionError(
            "output",
            f"{target} found",
            "A table of q is written as .csv, for a table of items, with the voice ratio --q",
        )
    check_target(target, inputs)
    rows = io.StringIO()
    table = csv.writer(rows, lineterminator="\n")
    table.writerow([*map(safe_cell, names), "q"])
    for key, q in zip(keys, found.q.tolist(), strict=True):
        table.writerow([*map(safe_cell, key), q])
    with beside(target) as fresh:
        fresh.write_text(rows.getvalue(), encoding="utf-8")


def _show(
    names: Sequence[str], keys: Sequence[tuple[Any, ...]], found: Rates, level: float
) -> None:
    from unheard.cli.screen import make_console, text_width

    console = make_console()
    width = text_width(console)
    head = [*names, "answers", "people", "response rate", "largest q"]
    cells = [head + (["q"] if found.q is not None else [])]
    for row, key in enumerate(keys[:_SHOWN]):
        line = [printable(str(part)) for part in key]
        line += [f"{found.n_ratings[row]:,.0f}", f"{found.n[row]:,.0f}"]
        line += [f"{found.rate[row]:.1%}", f"{found.q_most[row]:.3f}"]
        cells.append(line + ([] if found.q is None else [f"{found.q[row]:.3f}"]))
    right = [False] * len(names) + [True] * (len(cells[0]) - len(names))
    for line_ in aligned(cells, right):
        console.print(line_, markup=False)
    if len(keys) > _SHOWN:
        console.print(f"\n{len(keys) - _SHOWN:,} more rows; --json prints all.")
    console.print()
    for sentence in _sentences(found, level):
        for line_ in paragraph(sentence, width, indent=0):
            console.print(line_, markup=False)


def _sentences(found: Rates, level: float) -> list[str]:
    said = [
        "Somebody with the quietest rating answers no more often than people do on average: with "
        f"{level * 100:.6g}% confidence the least participation, q with n known, is not above the "
        "largest q. Nothing follows for a smaller one; how ratings differ takes an audit."
    ]
    if found.q is not None:
        said.append(
            "q: the voice ratio times the response rate, the least participation there. As a "
            "table (-o q.csv) it goes into unheard rate --q-table, so that each row follows its "
            "own response."
        )
    if len(found.rate) > 1:
        same = "may be" if found.drift_p >= 0.05 else "is not"
        said.append(f"The response rate {same} the same everywhere (p = {found.drift_p:.2g}).")
    return said
