"""Columns and paragraphs as people read them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """Set cells in columns; a line that is too long for the terminal is not cut."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = []
        for cell, width, at_right in zip(row, widths, right, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if at_right else cell + space)
        lines.append("  ".join(padded).rstrip())
    return lines


def paragraph(words: str, width: int, label: str = "", indent: int = 2) -> Iterator[str]:
    """Wrap sentences behind their label."""
    margin = " " * indent
    lines = textwrap.wrap(words, max(width - indent - len(label), 20))
    for place, line in enumerate(lines):
        yield f"{margin}{label if place == 0 else ' ' * len(label)}{line}"
