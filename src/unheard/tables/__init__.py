"""Tables: a row per rating in, a row per item out, inside the engine that holds them."""

from unheard.tables.api import RowsLeftOutWarning, counts, rank, rate, sql

__all__ = ["RowsLeftOutWarning", "counts", "rank", "rate", "sql"]
