"""``unheard calibrate --response-rate``: the floors that a response rate rules out."""

from __future__ import annotations

from typing import Any

import click

from unheard.analysis.response_rates import check_response_rates
from unheard.cli.console import show
from unheard.cli.options import Values, read_counts, refuse_options
from unheard.cli.tables import read_table_options, read_where
from unheard.errors import OptionError, PopulationError


def show_rates(words: tuple[str, ...], values: Values) -> None:
    """Show response rates of typed counts, or of a table."""
    learned = ("wave", "reminder", "across_items")
    audited = ("answered", "population", "observed", "truth", "segment", "unpaired", "output")
    for name in (*learned, *audited):
        if values[name]:
            raise OptionError(
                name,
                problem="{argument} does not apply to {response_rate}",
                hint="Leave one of them out" if name in learned else "Use it with an audit",
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
    labels = dict(zip(names, zip(*keys, strict=True), strict=True))
    rates = check_response_rates(seen, people, level=values["level"], labels=labels)
    show(rates, values["json"])


def _of_table(
    words: tuple[str, ...], values: Values
) -> tuple[tuple[str, ...], list[tuple[Any, ...]], list[float], list[float]]:
    from unheard.cli.progress import show_progress
    from unheard.tables.pipeline import in_order, prepare, read_request

    refuse_options(words)
    if len(words) != 1:
        raise click.UsageError("Name one table, or give counts with --n.")
    asked = read_table_options(words[0], values) | {"q": 1.0, "level": None, "ranks": False}
    request = read_request(**asked)
    if not request.n_known:
        raise PopulationError(
            "n",
            problem="{response_rate} requires the number of people",
            hint="Give {n}, {n_column}, {n_table} or {nulls:nonresponse}",
            code="requires_n",
        )
    where = read_where(values)
    job = prepare(words[0], request, where, lambda words, at: show_progress(words, at.fraction))
    request = job.request
    try:
        table = job.opened.engine.arrow(in_order(job.query, request)).read_all()
    finally:
        job.close()
    # Where n is unknown there is no response rate.
    table = table.filter(table["n"].is_valid())
    columns = [table[name].to_pylist() for name in request.result_keys]
    keys = list(zip(*columns, strict=True))
    return request.result_keys, keys, table["n_ratings"].to_pylist(), table["n"].to_pylist()
