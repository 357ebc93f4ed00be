"""Lines of a terminal: columns, paragraphs, and the characters to draw with."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

WIDEST = 80
"""No text is set wider than this."""


@dataclass(frozen=True)
class Ink:
    """Characters to draw with."""

    full: str
    eighths: str
    line: str
    tick: str
    thin: str
    thick: str
    estimate: str
    average: str
    above: str
    below: str
    above_without_error: str
    below_without_error: str
    open: str


FINE = Ink("█", " ▏▎▍▌▋▊▉", "─", "┼", "╌", "━", "●", "◇", "▲", "▼", "△", "▽", "·")
PLAIN = Ink("#", "        ", "-", "+", "-", "=", "o", "x", "A", "B", "a", "b", ".")


@dataclass(frozen=True)
class Page:
    """What lines are set on: so many columns, drawn with some characters."""

    width: int = WIDEST
    ink: Ink = FINE

    def paragraph(
        self, words: str, label: str = "", style: str = "bold", indent: int = 0
    ) -> Iterator[Text]:
        """Wrap sentences behind their label."""
        lines = textwrap.wrap(words, max(self.width - indent - len(label), 20))
        for place, line in enumerate(lines):
            head = (label, style) if place == 0 else " " * len(label)
            yield Text.assemble(" " * indent, head, line)

    def table(
        self, rows: Sequence[Sequence[str]], align: str, indent: int = 0, headed: bool = True
    ) -> Iterator[Text]:
        """Set cells in columns; a cell of the last column may wrap.

        Parameters
        ----------
        rows
            Cells, row by row.
        align
            ``<`` or ``>`` for each column: at the left or at the right.
        indent
            How far from the left.
        headed
            Whether the first row holds headings, which are in bold.
        """
        columns = [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]
        room = max(self.width - indent - sum(width + 2 for width in columns[:-1]), 12)
        for place, row in enumerate(rows):
            *cells, last = row
            margin = " " * indent + "".join(
                f"{_pad(cell, width, side)}  "
                for cell, width, side in zip(cells, columns, align, strict=False)
            )
            for part in textwrap.wrap(last, room, break_on_hyphens=False) or [""]:
                shown = _pad(part, min(columns[-1], room), align[-1])
                yield Text((margin + shown).rstrip(), "bold" if headed and place == 0 else "")
                margin = " " * cell_len(margin)


def _pad(cell: str, width: int, side: str) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if side == ">" else cell + space


def apart(*parts: Iterable[Text]) -> Iterator[Text]:
    """Yield the lines of several parts, an empty line between them."""
    written = False
    for part in parts:
        lines = list(part)
        if lines and written:
            yield Text()
        for line in lines:
            line.rstrip()
            yield line
        written = written or bool(lines)
