"""Tables of web pages, which many sites export under the ending .xls."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

from unheard.tables.sources.cells import read_cells
from unheard.tables.sources.header import Cell
from unheard.tables.sources.reading import FileFindings, Reading, Roles, choose_part

if TYPE_CHECKING:
    import pyarrow as pa

_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body|meta|table|!--)",
    re.I,
)
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([a-z0-9_-]+)", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d+)?")
_WIDEST = 1000
"""Most columns or rows that a cell may span."""


def is_page(head: bytes) -> bool:
    """Whether a file that begins like this is a web page."""
    return _PAGE.match(head) is not None


def stated_charset(head: bytes) -> str | None:
    """Return the encoding that a page states."""
    found = _CHARSET.search(head)
    return None if found is None else found[1].decode("ascii")


def read_page(
    path: Path, roles: Roles, reading: Reading, words: str
) -> tuple[pa.Table, FileFindings]:
    """Read one table of a page, in UTF-8."""
    parser = _Tables()
    with path.open(encoding="utf-8") as file:
        while text := file.read(1 << 16):
            parser.feed(text)
    parser.close()
    full = {f"table {at}": rows for at, rows in enumerate(parser.tables, 1) if any(map(any, rows))}
    name = choose_part(words, "sheet", list(full), reading.sheet, list(full))
    rows = ([_read_number(cell) for cell in row] for row in full[name])
    cells = read_cells(rows, roles, reading, words)
    return cells.columns, FileFindings(
        name, tuple(full), has_header=cells.has_header, notes=cells.notes
    )


def _read_number(text: str) -> Cell:
    """Read a number that is written like one of a program; names like 007 stay as they are."""
    if not _NUMBER.fullmatch(text) or re.match(r"[+-]?0\d", text):
        return text
    return float(text)


class _Tables(HTMLParser):
    """The cells of all tables of a page, as text."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._open: list[_Table] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row or a cell, which ends the one before it."""
        if tag == "table":
            self._open.append(_Table([]))
            self.tables.append(self._open[-1].rows)
        elif not self._open:
            return
        elif tag == "tr":
            self._open[-1].begin_row()
        elif tag in ("td", "th"):
            given = dict(attrs)
            self._open[-1].begin_cell(_span(given.get("colspan")), _span(given.get("rowspan")))
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        """End a cell or a table."""
        if self._open and tag in ("td", "th", "tr", "table"):
            self._open[-1].end_cell()
            if tag == "table":
                self._open.pop()

    def handle_data(self, data: str) -> None:
        """Take the text of a cell."""
        if self._open and self._open[-1].text is not None:
            self._open[-1].text.append(data)

    def close(self) -> None:
        """Close what is still open."""
        super().close()
        for table in self._open:
            table.end_cell()


@dataclass
class _Table:
    """A table that is being read.

    Attributes
    ----------
    rows
        Its cells so far.
    text
        The text of the cell that is being read; None outside cells.
    across, down
        How many columns and rows that cell spans.
    reaching
        Cells that reach down into rows below: by column, their text, and their first and last row.
    """

    rows: list[list[str]]
    text: list[str] | None = None
    across: int = 1
    down: int = 1
    reaching: dict[int, tuple[str, int, int]] = field(default_factory=dict)

    def begin_row(self) -> None:
        self.end_cell()
        self.rows.append([])

    def begin_cell(self, across: int, down: int) -> None:
        self.end_cell()
        if not self.rows:
            self.rows.append([])
        self._take_from_above()
        self.text, self.across, self.down = [], across, down

    def end_cell(self) -> None:
        """Put the cell into its row; one that spans several columns stands in the first."""
        if self.text is None:
            return
        row, text = self.rows[-1], " ".join("".join(self.text).split())
        self.text = None
        if self.down > 1:
            self.reaching[len(row)] = (text, len(self.rows), len(self.rows) + self.down - 1)
        row += [text, *[""] * (self.across - 1)]
        self._take_from_above()

    def _take_from_above(self) -> None:
        row = self.rows[-1]
        while len(row) in self.reaching:
            text, first, last = self.reaching[len(row)]
            if not first < len(self.rows) <= last:
                break
            row.append(text)


def _span(text: str | None) -> int:
    return min(int(text), _WIDEST) if text is not None and text.isdecimal() and int(text) else 1
