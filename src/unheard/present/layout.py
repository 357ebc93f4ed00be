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
    """A page to set lines on: its width, and the characters to draw with."""

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
        """Set cells in columns; those of the last column wrap, or are written below their row.

        Parameters
        ----------
        rows
            Cells, row by row; a heading may have several lines.
        align
            ``<`` or ``>`` for each column: at the left or at the right.
        indent
            How far from the left.
        headed
            Whether the first row holds headings, which are in bold.
        """
        head = [cell.split("\n") for cell in rows[0]] if headed else []
        if headed and rows[1:] and not any(row[-1] for row in rows[1:]):
            head[-1] = [""]  # an empty column, such as notes, needs no heading
        deep = max(map(len, head), default=0)
        lines = [*zip(*([""] * (deep - len(cell)) + cell for cell in head), strict=True)]
        cells = [*lines, *rows[headed:]]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        room = self.width - indent - sum(width + 2 for width in widths[:-1])
        longest = max((cell_len(word) for row in cells for word in row[-1].split()), default=0)
        for place, row in enumerate(cells):
            margin = " " * indent + "".join(
                f"{_pad(cell, width, side)}  "
                for cell, width, side in zip(row, widths[:-1], align, strict=False)
            )
            style = "bold" if place < deep else ""
            if longest > room:
                yield Text(margin.rstrip(), style)
                if place >= deep:  # what does not fit is written below its row
                    yield from self.paragraph(row[-1], indent=indent + 2)
                continue
            for part in textwrap.wrap(row[-1], max(room, 1), break_on_hyphens=False) or [""]:
                yield Text((margin + _pad(part, min(widths[-1], room), align[-1])).rstrip(), style)
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
