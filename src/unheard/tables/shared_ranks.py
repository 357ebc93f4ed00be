"""Ranks of items with one participation: made in memory from the counts, then brought back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from unheard.core.estimate import Inquiry
from unheard.core.format import rating_text
from unheard.decide.dominance import Progress
from unheard.decide.shared_claims import shared_breakdown
from unheard.decide.shared_ranking import rank_shared
from unheard.decide.words import name_of, never_text, q_text
from unheard.errors import OptionError
from unheard.tables.engines.base import Engine
from unheard.tables.histograms import fetch, question_of
from unheard.tables.request import Request

if TYPE_CHECKING:
    from unheard.tables.jobs import Job

_MOST_LISTED = 2000
"""Items up to which all settled pairs are looked at to name some."""


def shared_ranks(
    request: Request, engine: Engine, together: exp.Query, progress: Progress
) -> tuple[exp.Expr, list[str]]:
    """Return a table of the engine's with the ranks of each item, and what must be known of it.

    Parameters
    ----------
    request
        What is asked; every item has one histogram.
    engine
        Where the counts are.
    together
        The query for the counts, with n beside them.
    progress
        Called with the share of the work that is done; twice from 0 to 1 if there is noise.
    """
    import pyarrow as pa

    table = engine.arrow(together).read_all()
    question = question_of(table, request)
    enough = question.counts.n_ratings >= request.min_ratings
    table, question = table.filter(pa.array(enough)), _some(question, enough)
    columns = {name: table[name] for name in request.result_keys}
    found = rank_shared(question, progress=progress)
    columns |= {"best_rank": found.best_rank, "worst_rank": found.worst_rank}
    if request.order is not None:
        columns["tier"] = found.tier
    notes = []
    if request.noise:
        missing = pa.nulls(len(table), pa.int64())
        columns |= {"ci_best_rank": missing, "ci_worst_rank": missing}
        try:
            found = rank_shared(question, noise=True, progress=progress)
            columns |= {"ci_best_rank": found.best_rank, "ci_worst_rank": found.worst_rank}
        except OptionError as error:
            if error.place != "shared":
                raise
            notes.append(f"Ranks ignore sampling error: {error.found}.")
    return engine.upload("ranks", pa.table(columns)), notes


def _some(question: Inquiry, which: np.ndarray) -> Inquiry:
    return replace(question, counts=question.counts.take(which.nonzero()[0]))


def settled_pairs(job: Job) -> list[str]:
    """Name the closest pair whose order is settled, and the one that contradicts its averages most.

    Under one participation, ignoring sampling error.
    """
    names, question = fetch(job)
    enough = question.counts.n_ratings >= max(job.request.min_ratings, 1)
    names = [name for name, kept in zip(names, enough, strict=True) if kept]
    if not 1 < len(names) <= _MOST_LISTED:
        return []
    question = _some(question, enough)
    pairs = rank_shared(question, pairs=True).pairs
    if pairs is None or not len(pairs):
        return []
    counts, scale = question.counts, question.counts.scale
    average = counts.cells @ np.array(scale.values) / counts.n_ratings
    lead = average[pairs[:, 0]] - average[pairs[:, 1]]
    chosen = {"Closest settled pair": int(np.argmin(np.abs(lead)))}
    if lead.min() < 0:
        chosen["Against their averages"] = int(np.argmin(lead))
    never, said = never_text(question.assumption), []
    for heading, one in chosen.items():
        i, j = pairs[one]
        (q,) = shared_breakdown(question, [i], [j])
        first, second = (
            f"{name_of(names[k])} ({rating_text(average[k], scale.width)})" for k in (i, j)
        )
        said.append(f"{heading}: {first} is above {second} {q_text(float(q), never)}.")
    return said
