"""Rows and values that messages show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unheard.tables.sql.reserved_names import plain

EXAMPLES = 3
"""Rows that a message shows."""

VALUES = 6
"""Different values that a message shows."""

MOST_WORDS_SHOWN = 30
"""Different words that a message shows where somebody must say what each stands for."""


def list_examples(rows: Sequence[dict[str, Any]]) -> str:
    """Write some rows that differ, in brackets; nothing if there are none."""
    if not rows:
        return ""
    written = dict.fromkeys(map(write_row, rows))
    return " (for example " + "; ".join([*written][:EXAMPLES]) + ")"


def write_row(row: Mapping[str, Any]) -> str:
    """Write a row as its columns with their values."""
    return ", ".join(f"{plain(key)}={write_briefly(value)}" for key, value in row.items())


def list_values(counts: Mapping[Any, int], most: int = VALUES) -> str:
    """Write different values with the number of their rows, the most frequent first.

    Examples
    --------
    >>> list_values({0: 1200, 7.0: 3, "n/a": 1})
    "0 (1,200 times), 7 (3 times), 'n/a' (once)"
    """
    order = sorted(counts, key=lambda value: (-counts[value], str(value)))
    shown = [f"{write_briefly(value)} ({_write_times(counts[value])})" for value in order[:most]]
    more = len(order) - most
    if more > 0:
        rest = _write_times(sum(counts[value] for value in order[most:]))
        shown.append(f"and {more:,} other {'value' if more == 1 else 'values'} ({rest})")
    return ", ".join(shown)


def _write_times(many: int) -> str:
    return "once" if many == 1 else f"{many:,} times"


def write_briefly(value: object) -> str:
    """Write a value on at most 60 characters."""
    text = repr(value)
    if isinstance(value, float) and value.is_integer():
        text = str(int(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def count_rows(many: int, one: str, several: str) -> str:
    """Write how many rows there are, with the verb that goes with them."""
    return f"{many:,} {one if many == 1 else several}"
