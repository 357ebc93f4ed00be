"""Histograms that a command is about: typed as counts, or named items of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unheard.cli.options import Values, pick, read_counts
from unheard.cli.tables import read_table_options, read_where
from unheard.errors import CountsError, OptionError
from unheard.model.question import Question, build_question
from unheard.options.questions import ASSUMPTION, SETTINGS

_ASKED = ("n", *(one.name for one in (*ASSUMPTION, *SETTINGS)))
_OF_TABLES = ("item", "rating", "counts", "n_column", "n_table", "table", "query", "rater")


def read_typed_rows(rows: Sequence[Sequence[str]], values: Values) -> Question:
    """Make the question about counts that were typed, one list of words for each histogram."""
    for name in _OF_TABLES:
        if values[name]:
            raise OptionError(
                name, problem="{argument} requires a table", hint="Name the table with {source}"
            )
    counts: list[Any] = [read_counts(tuple(words)) for words in rows]
    several = [len(one) for one in counts]
    if len({*several}) > 1:
        raise CountsError(
            "counts",
            problem="A and B must have equally many counts; A has {a}, and B has {b}",
            hint="Type one count for each value of the scale, zeros included",
            a=several[0],
            b=several[1],
        )
    return build_question(counts[0] if len(counts) == 1 else counts, **pick(values, _ASKED))


def read_named_rows(names: Sequence[str], argument: str, values: Values) -> Question:
    """Make the question about items of a table."""
    from unheard.cli.progress import show_progress
    from unheard.tables.named_items import check_plain, fetch_named
    from unheard.tables.pipeline import prepare, read_request

    options = read_table_options(values["source"], values) | {"ranks": False}
    people = options["n"]
    if people is not None:
        if options.get("bad_n", "refuse") != "refuse":
            raise OptionError(
                "bad_n",
                problem="{argument} is about n of a table, and {n} is stated",
                hint="Leave one of them out",
            )
        people = np.atleast_1d(people)
        options["n"] = float(people.max())
    request = read_request(**options)
    check_plain(request, argument)
    if people is not None:
        # It is that of the named items: whether it would do for the others is not asked.
        request = replace(request, bad_n="drop")
    where = read_where(values)
    job = prepare(
        values["source"], request, where, lambda words, at: show_progress(words, at.fraction)
    )
    try:
        return fetch_named(job, names, argument, people)
    finally:
        job.close()
