"""The first lines of delimited text: the delimiter, and the line with the names of the columns."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from unheard.tables.row_examples import write_briefly
from unheard.tables.sources.cells import note_header, refuse_header
from unheard.tables.sources.header import (
    LOOKED_AT,
    count_explained,
    find_header,
    name_columns,
    read_heading,
)
from unheard.tables.sources.packed import compression_of, open_unpacked
from unheard.tables.sources.parts import Part, read_head
from unheard.tables.sources.reading import Reading, ReadingNote, unreadable

_DELIMITERS = (",", ";", "\t", "|")
_STATED = re.compile(rb"(?:\xef\xbb\xbf)?sep=(.)\r?\n")
_BLANK_ROW = re.compile(rb"(?:^|[\r\n])[ \t\"]*[,;\t|][,;\t| \"]*(?:[\r\n]|$)")


@dataclass(frozen=True)
class Lines:
    """What the first lines tell.

    Attributes
    ----------
    delimiter
        Between the columns; None if there is one column.
    skip
        Lines to skip: those above the header, or above the first row if there is none.
    has_header
        Whether there is one.
    renames
        Whether the first row that is read has no names: there are none, or they are in two rows
        above it, or further up.
    names
        What the columns are called.
    notes
        How the header was found, if that is not plain.
    """

    delimiter: str | None
    skip: int
    has_header: bool
    renames: bool
    names: list[str]
    notes: tuple[ReadingNote, ...]


def delimiter_stated(head: bytes) -> str | None:
    """Return the delimiter that the first line states, as Excel begins a file."""
    found = _STATED.match(head)
    return None if found is None else found[1].decode("latin-1")


def has_blank_rows(part: Part) -> bool:
    """Whether there are rows without any value where they usually are, at the ends."""
    return any(_BLANK_ROW.search(text) for text in (part.head, part.tail))


def find_lines(
    part: Part, delim: str | None, wanted: Collection[str] | None, reading: Reading
) -> Lines:
    """Look for the header in the first lines of a file.

    Parameters
    ----------
    part
        The file.
    delim
        The delimiter as DuckDB is told, in quotes; None to find it.
    wanted, reading
        The names that are needed, and what was said about the header.
    """
    stated = delimiter_stated(part.head)
    text = part.head.decode("utf-8", "ignore").removeprefix("\ufeff")
    if stated is not None:
        text = text[text.index("\n") :]  # that line is a row, and holds no cells
    delimiter = stated or ("\t" if delim == "'\t'" else None) or _find_delimiter(text, wanted)
    rows, ends = _split(text, delimiter)
    at: int | None
    if reading.header is None:
        at = find_header(rows, wanted)
    else:
        if reading.header > len(rows):
            refuse_header(part.words, reading.header, len(rows))
        at = reading.header - 1 if reading.header else None
    width = max((len(row) for row in rows), default=0)
    above = at if at is not None else next((i for i, row in enumerate(rows) if any(row)), 0)
    skip = ends[above - 1] if above else 0
    heading = [] if at is None else read_heading(rows, at)
    names = list(map(str, range(1, width + 1))) if at is None else name_columns(heading)
    notes = () if reading.header is not None else tuple(note_header(part.words, rows, at, width))
    explained = 0 if at is None else count_explained(rows, at)
    renames = at is None or explained > 0 or heading[: len(rows[at])] != rows[at]
    if at is not None and renames:
        skip = ends[at + explained]
    return Lines(delimiter if width > 1 else None, skip, at is not None, renames, names, notes)


_CALLED = {",": "a comma", ";": "a semicolon", "\t": "a tab"}


def refuse_long_row(part: Part, lines: Lines) -> None:
    """Raise the error about the first row with more cells than there are names, if there is one."""
    delimiter, names = lines.delimiter or _DELIMITERS[0], len(lines.names)
    compression = compression_of(read_head(part.path, part.words))
    with open_unpacked(part.path, compression) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
        for row, line in _read(text, delimiter):
            if line > lines.skip and len(row) > names:
                raise unreadable(
                    "Line {line} of {path} has {found} cells, and the header {names}: {row}",
                    part.words,
                    "Put text that holds {mark} in double quotes, or remove the surplus cells",
                    line=line,
                    found=len(row),
                    names=names,
                    row=write_briefly(delimiter.join(row)),
                    mark=_CALLED.get(delimiter, delimiter),
                )


def _find_delimiter(text: str, wanted: Collection[str] | None) -> str:
    """Return the delimiter that parts most rows into the same number of columns."""

    def judge(delimiter: str) -> tuple[bool, float, int]:
        rows = [row for row in _split(text, delimiter)[0] if row]
        names = [{cell.strip() for cell in row} for row in rows]
        named = wanted is not None and any({*wanted} <= one for one in names)
        ((width, times),) = Counter(map(len, rows)).most_common(1) or [(0, 0)]
        return named, times / len(rows) if width > 1 else 0.0, width

    return max(_DELIMITERS, key=judge)


def _split(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Part the first rows into cells; return with them the number of lines until each ends."""
    rows: list[list[str]] = []
    ends: list[int] = []
    for row, end in _read(io.StringIO(text, newline=""), delimiter):
        rows.append(row)
        ends.append(end)
        if len(rows) == LOOKED_AT:
            break
    return rows, ends


def _read(text: Iterable[str], delimiter: str) -> Iterator[tuple[list[str], int]]:
    reader = csv.reader(text, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            yield row, reader.line_num
    except csv.Error:
        return
