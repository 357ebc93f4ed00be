"""One participation shared by all items, or one for each: what a report ranks by.

By default a report assumes shared participation where it can. docs/howto/rank.md has the evidence:
on real tables separate participation settles almost nothing, and what shared participation settles
holds where the truth is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from unheard.errors import OptionError
from unheard.tables.named_items import check_plain
from unheard.tables.pipeline import Job
from unheard.tables.request import Request

MAX_PAIRED = 20
"""How many items are compared pair by pair in a figure."""


@dataclass(frozen=True)
class LeadingPairs:
    """The names of the first items, and the pairs of them in a settled order.

    A pair is the index of an item, the index of an item before it, ``above`` or ``below``, and
    whether that holds allowing for sampling error.
    """

    names: list[str]
    settled: list[tuple[int, int, str, bool]]


def choose_participation(request: Request, shared: bool | None) -> Request:
    """Choose shared participation where that is possible, unless told otherwise."""
    if shared is not False:
        try:
            check_plain(request, "shared")
        except OptionError:
            if shared:
                raise
            return request
    return replace(request, shared=shared is not False)


def compare_leading(job: Job, leading: Mapping[str, str]) -> LeadingPairs | None:
    """Compare the first items pair by pair; ``leading`` maps their keys to their names."""
    if job.crowd is None or job.crowd.plain.pairs is None or len(leading) < 2:
        return None
    return LeadingPairs(list(leading.values()), list(job.crowd.standings(list(leading))))
