"""Tables: a row per rating in, a row per item out, inside the engine that holds them."""

from unheard.tables.entry_points import DroppedRowsWarning, counts, rank, rate, sql

__all__ = ["DroppedRowsWarning", "counts", "rank", "rate", "sql"]
