"""Tables: a row per rating in, a row per item out, inside the engine that holds them."""

from unheard.tables.kept.add import AddedBatch, AddedCounts, add_counts
from unheard.tables.plan_items import plan_table
from unheard.tables.public_functions import (
    ReadingWarning,
    TableWarning,
    count_ratings,
    rank,
    rate,
    write_sql,
)

__all__ = [
    "AddedBatch",
    "AddedCounts",
    "ReadingWarning",
    "TableWarning",
    "add_counts",
    "count_ratings",
    "plan_table",
    "rank",
    "rate",
    "write_sql",
]
