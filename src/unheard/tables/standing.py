"""How firmly one item stands in the top k: the counts of all items are fetched, and q is sought."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unheard.core.estimate import Inquiry, inquire
from unheard.decide.ranking import top_k_breakdown
from unheard.errors import DataError, OptionError
from unheard.tables.request import Request

if TYPE_CHECKING:
    import pyarrow as pa

    from unheard.tables.jobs import Job

_MOST_COMPARED = 50_000
"""Names that a misspelt one is compared with; more would take longer than anybody waits."""


@dataclass(frozen=True)
class Standing:
    """How quiet people may be before an item is no longer surely in the top k.

    Attributes
    ----------
    item
        Its name.
    k
        How many are the best.
    breakdown_q, ci_breakdown_q
        It is surely there at every larger q, noise aside and with noise; 0 if at every q, None if
        not even at q = 1.
    noise
        Whether it was asked for with noise at all.
    """

    item: str
    k: int
    breakdown_q: float | None
    ci_breakdown_q: float | None
    noise: bool


def check_who(request: Request) -> int:
    """Raise unless it can be asked how firmly one item stands; return the k."""
    if request.order is None or request.order.k is None:
        raise OptionError(
            "who", "an item named without k", "Give k as well, the number of the best"
        )
    for name, given in (("strata", request.strata), ("window", request.window)):
        if given:
            raise OptionError("who", f"asked for together with {name}", "Leave one of them out")
    if request.attributes:
        raise OptionError("who", "asked for with several ratings", "Name one rating column")
    return request.order.k


def standing(job: Job, who: str) -> Standing:
    """Find the breakdown q of "this item is in the top k".

    Parameters
    ----------
    job
        A job whose request is about the order.
    who
        The item's name; of several columns with commas between.
    """
    request, k = job.request, check_who(job.request)
    table = job.opened.engine.arrow(job.people).read_all()
    index = _find(who, _names(table, request.item), job.opened.words)
    question = _question(table, request)
    found = [
        None if np.isnan(q) else q
        for q in (
            top_k_breakdown(question, index, k, noise=noise)
            for noise in ((False, True) if request.noise else (False,))
        )
    ]
    return Standing(who, k, found[0], found[1] if request.noise else None, request.noise)


def _names(table: pa.Table, item: Sequence[str]) -> list[str]:
    columns = [table[name].to_pylist() for name in item]
    return [",".join(map(str, key)) for key in zip(*columns, strict=True)]


def _find(who: str, names: Sequence[str], where: str) -> int:
    if who in names:
        return names.index(who)
    some = {name.lower(): name for name in names[:_MOST_COMPARED]}
    near = difflib.get_close_matches(who.lower(), list(some), n=1)
    guess = f"Did you mean {some[near[0]]!r}? " if near else ""
    there = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    raise DataError("who", f"{where} has no item {who!r}", f"{guess}It has: {there or 'none'}")


def _question(table: pa.Table, request: Request) -> Inquiry:
    cells = np.column_stack([table[name].to_numpy() for name in request.count_columns])
    n = request.n
    if request.n_known and n is None:
        n = table["n"].to_numpy()
    return inquire(
        cells,
        n=n,
        scale=request.scale,
        assumption=request.assumption,
        level=request.level,
        covers=request.covers,
    )
