"""One crowd for all items, or one each: which of them a report leads with, and the difference.

A report leads with one crowd where it can. The evidence is in docs/decide.md: with a participation
for each item next to nothing is settled on real tables, and what one crowd settles holds where the
truth is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from unheard.errors import OptionError
from unheard.present.phrases import ONE_CROWD, OWN_CROWDS
from unheard.report.headline import share_text
from unheard.report.order_queries import Numbers
from unheard.report.overturn import Overturn
from unheard.tables.named_items import check_plain
from unheard.tables.pipeline import Job
from unheard.tables.request import Request

MOST_DRAWN = 20
"""How many items are compared pair by pair in a drawing."""


@dataclass(frozen=True)
class Standings:
    """The first items of a list, and the settled pairs among them.

    Attributes
    ----------
    names
        What readers call them.
    settled
        Place of an item and of one before it, ``above`` or ``below``, and whether that holds with
        sampling error.
    """

    names: list[str]
    settled: list[tuple[int, int, str, bool]]


def lead_with(request: Request, shared: bool | None) -> Request:
    """Choose one crowd where that is possible, unless somebody says otherwise."""
    if shared is not False:
        try:
            check_plain(request, "shared")
        except OptionError:
            if shared:
                raise
            return request
    return replace(request, shared=shared is not False)


def standings_of(job: Job, leading: Mapping[str, str]) -> Standings | None:
    """Compare the first items pair by pair; ``leading`` has what counts know them by, and names."""
    if job.crowd is None or job.crowd.plain.pairs is None or len(leading) < 2:
        return None
    return Standings(list(leading.values()), list(job.crowd.standings(list(leading))))


def crowd_words(request: Request, found: Numbers, other: Overturn | None) -> list[str]:
    """Say in two sentences whether one crowd is taken to rate all items, and what else would be."""
    if found.items < 2:
        return []
    said = [ONE_CROWD if request.shared else OWN_CROWDS]
    step = None if other is None else next(one for one in other.steps if one.q == other.q)
    if step is None or step.other_pairs_settled is None:
        return said
    share = share_text(step.other_pairs_settled, found.pairs)
    each = "each item had its own pattern of silence" if request.shared else "one crowd rated all"
    said.append(f"If {each}, {share} of the pairs would be in a settled order, noise aside.")
    return said
