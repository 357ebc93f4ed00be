"""The items whose rank or rating changes most."""

from __future__ import annotations

import pytest

from tests.report.examples import COUNTS, random_counts, report_about, table_of
from unheard.report.changed_items import MAX_CHANGED


def ranks_of(values: list[float]) -> list[int]:
    return [1 + sum(other > own for other in values) for own in values]


@pytest.mark.parametrize("quiet", ["any", "low"])
def test_changed_items(quiet: str) -> None:
    found = report_about(table_of(random_counts(60)), q=0.3, quiet=quiet)
    k, rows = found.k, {row["hotel"]: row for row in found.rows}
    ranks = dict(zip(rows, ranks_of([row["estimate"] for row in rows.values()]), strict=True))
    changed = {item.name: item for item in found.changed_items}
    assert len(changed) == len(found.changed_items) == MAX_CHANGED
    kinds = set()
    for name, item in changed.items():
        row = rows[name]
        columns = ("average", "estimate", "average_rank", "best_rank", "worst_rank")
        assert {c: getattr(item, c) for c in columns} == {c: row[c] for c in columns}
        assert item.estimate_rank == ranks[name]
        kinds.add(item.words.split()[0])
        if "could rank as low" in item.words:
            assert item.average_rank <= k < item.worst_rank
            assert f"as low as {item.worst_rank}." in item.words
        elif item.words.startswith("Rank"):
            assert item.best_rank <= k < item.average_rank
        elif item.words.startswith(("Falls", "Rises")):
            assert ("Falls" in item.words) == (item.estimate_rank > item.average_rank)
            assert f"rank {item.average_rank} by average" in item.words
            assert f"rank {item.estimate_rank} by estimate" in item.words
        else:
            side = "below" if item.estimate < item.average else "above"
            assert item.words == (
                f"Its estimate is {abs(item.estimate - item.average):.2f} {side} its average."
            )
    assert {"In", "Rank", "Its"} <= kinds
    assert kinds & {"Falls", "Rises"}
    # The largest change of each kind is there.
    moved = max(rows, key=lambda name: abs(ranks[name] - rows[name]["average_rank"]))
    shifted = max(rows.values(), key=lambda row: abs(row["estimate"] - row["average"]))
    assert {moved, shifted["hotel"]} <= set(changed)


def test_nothing_changes_where_participation_is_the_same() -> None:
    assert report_about(table_of(COUNTS), q=1.0).changed_items == []


def test_unrated_items_move_nobody() -> None:
    """An item that nobody rated is estimated mid-scale, and passes nobody for that."""
    counts = {**COUNTS, "Fir": [0] * 5}
    found, without = (report_about(table_of(some), q=0.6, k=2) for some in (counts, COUNTS))
    assert (found.numbers.items, found.numbers.rated) == (6, 5)
    assert next(row["estimate"] for row in found.rows if row["hotel"] == "Fir") == 3
    ranks, before = (
        {item.name: item.estimate_rank for item in one.changed_items} for one in (found, without)
    )
    assert ranks
    assert ranks == {name: before[name] for name in ranks}
    assert not any(item.words.startswith(("Falls", "Rises")) for item in found.changed_items)
    assert found.headline[1].startswith("None of the 5 ranks")
