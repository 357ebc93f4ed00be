"""A ranking of items as text, documents and rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from unheard.analysis.ranking import Ranking
from unheard.analysis.shared_ranking import SharedRanking
from unheard.present.layout import Page, apart
from unheard.present.phrases import ranks_text
from unheard.text import plural

_LONGEST_TABLE = 20


def write_document(ranking: Ranking) -> dict[str, Any]:
    """Return the JSON document of a ranking."""
    shared = isinstance(ranking, SharedRanking)
    settled = ranking.settled_share if isinstance(ranking, SharedRanking) else None
    return {
        "k": ranking.k,
        "shared": shared,
        "pairs": {"settled": settled},
        "rows": tabulate(ranking),
    }


def tabulate(ranking: Ranking) -> list[dict[str, Any]]:
    """Return a row for each item, in the order in which the items were given."""
    rows = []
    for item, ranks in enumerate(
        zip(ranking.best_rank, ranking.worst_rank, ranking.tier, strict=True)
    ):
        best, worst, tier = map(int, ranks)
        row: dict[str, Any] = {"item": item, "best_rank": best, "worst_rank": worst, "tier": tier}
        if ranking.k is not None:
            row["top"] = (
                "surely" if worst <= ranking.k else "possibly" if best <= ranking.k else "no"
            )
        rows.append(row)
    return rows


def list_cells(ranking: Ranking) -> list[list[str]]:
    """Return the first items as a table, best first."""
    top = [] if ranking.k is None else [f"top {ranking.k:,}"]
    table = [["item", "rank range", "tier", *top]]
    best_first = sorted(tabulate(ranking), key=lambda row: (row["best_rank"], row["worst_rank"]))
    for row in best_first[:_LONGEST_TABLE]:
        verdict = [row["top"]] if top else []
        table.append([str(row["item"]), ranks_text(row), f"{row['tier']:,}", *verdict])
    return table


def explain(ranking: Ranking) -> Iterator[str]:
    """Yield what is settled about the order."""
    items = len(ranking.tier)
    if items > _LONGEST_TABLE:
        yield f"{plural(items - _LONGEST_TABLE, 'more item')}."
    single = int((ranking.best_rank == ranking.worst_rank).sum())
    yield f"{single:,} of {plural(items, 'item')} {'has' if single == 1 else 'have'} a single rank."
    if isinstance(ranking, SharedRanking):
        yield f"{ranking.settled_share:.1%} of the pairs are in a settled order."
    yield (
        "Rank range: every rank the item can have. Items of different tiers cannot change places."
    )


def write_lines(ranking: Ranking, page: Page) -> Iterator[Text]:
    """Write a ranking: the first items, and what is settled."""
    cells = list_cells(ranking)
    words = [line for sentence in explain(ranking) for line in page.paragraph(sentence)]
    return apart(page.table(cells, "><><"[: len(cells[0])]), words)
