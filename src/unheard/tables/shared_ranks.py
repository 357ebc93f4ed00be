"""Ranks of items with one participation: made in memory from the counts, then brought back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from unheard.analysis.shared_ranking import SharedRanking, rank_shared
from unheard.errors import OptionError
from unheard.formulas.operations import Floats
from unheard.model.question import Question
from unheard.tables.engines.base import Engine
from unheard.tables.named_items import fetch_counts
from unheard.tables.progress import Work
from unheard.tables.request import Request

if TYPE_CHECKING:
    import pyarrow as pa

MOST_LISTED = 2000
"""Items up to which settled pairs are listed, to name and to draw some."""


@dataclass(frozen=True, eq=False)
class CrowdRanks:
    """Items with one participation, and what is settled about their order.

    Attributes
    ----------
    names, question
        The items and their counts.
    plain
        What is settled ignoring sampling error; with its pairs, unless there are too many items.
    with_error
        What is settled allowing for sampling error; None if that was not asked, or is too much.
    """

    names: list[str]
    question: Question
    plain: SharedRanking
    with_error: SharedRanking | None

    def averages(self) -> Floats:
        """Plain averages, NaN without ratings."""
        counts = self.question.counts
        total = counts.cells @ np.array(counts.scale.values)
        seen = counts.n_ratings
        averages: Floats = np.divide(total, seen, out=np.full(len(seen), np.nan), where=seen > 0)
        return averages

    def standings(self, listed: Sequence[str]) -> Iterator[tuple[int, int, str, bool]]:
        """Compare listed items, each with those before it: the settled pairs among them.

        Yields
        ------
        tuple
            Place of the item in the list and of the one before it, from 0; ``above`` or ``below``;
            and whether that holds with sampling error, too.
        """
        place = {self.names.index(name): at for at, name in enumerate(listed)}
        firm = _pairs_among(self.with_error, place)
        for i, j in sorted(_pairs_among(self.plain, place) | firm):
            side = "above" if i > j else "below"
            yield max(i, j), min(i, j), side, (i, j) in firm


def _pairs_among(ranking: SharedRanking | None, place: dict[int, int]) -> set[tuple[int, int]]:
    """Return the settled pairs of some items, by their places in a list; the one above first."""
    if ranking is None or ranking.pairs is None:
        return set()
    some = ranking.pairs[np.isin(ranking.pairs, list(place)).all(axis=1)]
    return {(place[i], place[j]) for i, j in some.tolist()}


def shared_ranks(
    request: Request, engine: Engine, together: exp.Query, work: Work
) -> tuple[exp.Expr, CrowdRanks, list[str]]:
    """Return a table of the engine's with the ranks of each item, the same in memory, and messages.

    Parameters
    ----------
    request
        What is asked; every item has one histogram.
    engine
        Where the counts are.
    together
        The query for the counts, with n beside them.
    work
        How much is done at the most, and whom to tell; twice from 0 to 1 if sampling error
        is allowed for.
    """
    table, names, question = fetch_counts(engine, together, request)
    pairs = len(names) <= MOST_LISTED
    if pairs:
        # Engines give rows in any order, and which of two equal pairs is named must not depend.
        order = np.array(sorted(range(len(names)), key=names.__getitem__), np.intp)
        table, names = table.take(order), [names[at] for at in order]
        question = replace(question, counts=question.counts.take(order))
    rank = partial(rank_shared, question, pairs=pairs, progress=work.progress, effort=work.effort)
    plain, with_error, messages = rank(), None, list[str]()
    if request.n_known and question.counts.n is None:
        messages.append(
            "Ranks under one participation ignore n, which is not known for every item."
        )
    if request.ranks_allow_for_error:
        try:
            with_error = rank(sampling_error=True)
        except OptionError as error:
            if error.code != "too_many_items":
                raise
            messages.append(
                f"Ranks ignore sampling error: {error.data['items']:,} items are too many to "
                "allow for it under one participation."
            )
    crowd = CrowdRanks(names, question, plain, with_error)
    return engine.upload("ranks", _columns(table, request, crowd)), crowd, messages


def _columns(table: pa.Table, request: Request, crowd: CrowdRanks) -> pa.Table:
    import pyarrow as pa

    columns = {name: table[name] for name in request.result_keys}
    columns |= {"best_rank": crowd.plain.best_rank, "worst_rank": crowd.plain.worst_rank}
    if request.order is not None:
        columns["tier"] = crowd.plain.tier
    if request.ranks_allow_for_error:
        found, missing = crowd.with_error, pa.nulls(len(table), pa.int64())
        columns |= {
            "ci_best_rank": missing if found is None else found.best_rank,
            "ci_worst_rank": missing if found is None else found.worst_rank,
        }
    return pa.table(columns)
