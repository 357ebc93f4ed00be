"""The breakdown q of one item's place in the top k, found from the counts of all items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unheard.analysis.ranking import find_top_k_breakdown
from unheard.analysis.shared_breakdown import find_shared_top_k_breakdown
from unheard.errors import OptionError
from unheard.tables.named_items import check_plain, fetch, find_item
from unheard.tables.request import Request

if TYPE_CHECKING:
    from unheard.tables.pipeline import Job


@dataclass(frozen=True)
class TopKBreakdown:
    """Down to which q an item is in the top k for certain.

    Attributes
    ----------
    item
        Its name.
    k
        How many items are in the top k.
    breakdown_q, ci_breakdown_q
        It is there for certain at every larger q that the response rates allow, ignoring sampling
        error and allowing for it; 0 if at every q, None if at none.
    allows_for_error
        Whether sampling error was allowed for at all.
    """

    item: str
    k: int
    breakdown_q: float | None
    ci_breakdown_q: float | None
    allows_for_error: bool


def check_who(request: Request) -> int:
    """Raise unless the breakdown q of one item can be found; return the k."""
    if request.order is None or request.order.k is None:
        raise OptionError(
            "who",
            problem="{argument} requires {k}",
            hint="Pass {k}, the number of best items",
            code="requires_k",
        )
    check_plain(request, "who")
    return request.order.k


def find_item_breakdown(job: Job, who: str) -> TopKBreakdown:
    """Find the breakdown q of "this item is in the top k".

    Parameters
    ----------
    job
        A job whose request is about the order.
    who
        The item's name; names of several columns are joined by commas.
    """
    request, k = job.request, check_who(job.request)
    names, question = fetch(job)
    index = find_item(who, names, job.opened.words, "who")
    breakdown = find_shared_top_k_breakdown if request.shared else find_top_k_breakdown
    found = [
        None if np.isnan(q) else q
        for q in (
            breakdown(question, index, k, sampling_error=error)
            for error in ((False, True) if request.ranks_allow_for_error else (False,))
        )
    ]
    return TopKBreakdown(
        who,
        k,
        found[0],
        found[1] if request.ranks_allow_for_error else None,
        request.ranks_allow_for_error,
    )
