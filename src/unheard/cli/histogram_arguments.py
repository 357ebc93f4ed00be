"""Histograms that a command is about: typed as counts, or named items of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unheard.cli.options import read_counts, read_level, stated_assumption
from unheard.cli.table_options import arguments_of
from unheard.errors import OptionError
from unheard.model.question import Question, build_question

_OF_TABLES = ("item", "rating", "counts", "n_column", "n_table", "table", "query", "rater")


def typed_rows(rows: Sequence[Sequence[str]], n: Any, given: dict[str, Any]) -> Question:
    """Make the question about counts that were typed, one list of words for each histogram."""
    for name in _OF_TABLES:
        if given[name]:
            option = f"--{name.replace('_', '-')}"
            raise OptionError(option, "given without a table", "Name the table with --source")
    counts: list[Any] = [read_counts(tuple(words)) for words in rows]
    return build_question(
        counts[0] if len(counts) == 1 else counts,
        **stated_assumption(given),
        n=n,
        level=read_level(given["level"]),
        covers=given["covers"],
    )


def named_rows(names: Sequence[str], place: str, given: dict[str, Any]) -> Question:
    """Make the question about items of a table."""
    from unheard.cli.progress import watched
    from unheard.tables.named_items import check_plain, fetch, find
    from unheard.tables.pipeline import prepare, read_request
    from unheard.tables.sources.open import Where

    request = read_request(**arguments_of(given) | {"ranks": False})
    check_plain(request, place)
    where = Where(*(given[name] for name in ("engine", "table", "query", "memory", "spark_master")))
    job = prepare(given["source"], request, where, lambda words, at: watched(words, at.fraction))
    try:
        known, question = fetch(job)
        rows = [find(name, known, job.opened.words, place) for name in names]
    finally:
        job.close()
    # One item is one histogram, as if its counts had been typed.
    counts = replace(question.counts.take(np.array(rows)), single=len(rows) == 1)
    return replace(question, counts=counts)
