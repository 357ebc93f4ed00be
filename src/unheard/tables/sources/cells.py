"""Rows of cells, as sheets and web pages hold them, as columns of one type each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NoReturn

from unheard.tables.sources.header import (
    LOOKED_AT,
    Cell,
    count_explained,
    find_header,
    name_columns,
    read_heading,
    write_cell,
)
from unheard.tables.sources.reading import Reading, ReadingNote, Roles, unreadable
from unheard.text import plural

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 10_000
"""Number of rows that are turned into columns at a time."""


@dataclass(frozen=True)
class Cells:
    """A table of cells.

    Attributes
    ----------
    columns
        The columns that are needed, or all of them if one of these is missing.
    has_header
        Whether they have names.
    notes
        How the header was found, if that is not plain.
    """

    columns: pa.Table
    has_header: bool
    notes: tuple[ReadingNote, ...]


def read_cells(rows: Iterable[Sequence[Cell]], roles: Roles, reading: Reading, words: str) -> Cells:
    """Make a table of rows of cells.

    Parameters
    ----------
    rows
        All rows, empty ones included; they may be of different lengths.
    roles, reading
        What is needed, and what was said about the header.
    words
        What messages call the table.
    """
    import pyarrow as pa

    left = iter(rows)
    top = list(islice(left, max(LOOKED_AT, reading.header or 0)))
    at = _place_header(top, roles, reading, words)
    below = top if at is None else top[at + 1 + count_explained(top, at) :]
    width = max((_width(row) for row in top), default=0)
    heading = [] if at is None else read_heading(top, at)
    heading += [None] * (width - len(heading))
    names = list(map(str, range(1, width + 1))) if at is None else name_columns(heading)
    there = [place for place in range(len(names)) if write_cell(_at(heading, place)) or at is None]
    unnamed = [place for place in range(len(names)) if place not in there]
    # A column without a name that holds nothing is none.
    there += [place for place in unnamed if any(write_cell(_at(row, place)) for row in below)]
    kept = {names[place]: place for place in sorted(there)}
    if roles.wanted and {*roles.wanted} <= kept.keys():
        kept = {name: kept[name] for name in roles.wanted}
    pieces = [
        {name: _column([_at(row, place) for row in some]) for name, place in kept.items()}
        for some in _batches(chain(below, left))
    ]
    columns = {name: _unite([piece[name] for piece in pieces]) for name in kept}
    said = () if reading.header is not None else tuple(note_header(words, top, at, width))
    return Cells(pa.table(columns), at is not None, said)


def note_header(
    words: str, top: Sequence[Sequence[Cell]], at: int | None, width: int
) -> Iterator[ReadingNote]:
    """Say where a header was found, unless it is plain."""
    if at is None:
        yield ReadingNote(f"{words} has no header: its columns are numbered 1 to {width}.")
        return
    explained = count_explained(top, at)
    if explained:
        rows = "the row" if explained == 1 else f"the {explained} rows"
        yield ReadingNote(f"The header of {words} was read without {rows} below that explain it.")
    if any(_width(row) for row in top[:at]):
        yield note_row(words, at)


def note_row(words: str, above: int) -> ReadingNote:
    """Say in which row the header was found."""
    return ReadingNote(f"The header of {words} was found in row {above + 1}.")


def _place_header(
    top: Sequence[Sequence[Cell]], roles: Roles, reading: Reading, words: str
) -> int | None:
    if reading.header is None:
        return find_header(top, roles.wanted)
    if reading.header > len(top):
        refuse_header(words, reading.header, len(top))
    return reading.header - 1 if reading.header else None


def refuse_header(words: str, asked: int, rows: int) -> NoReturn:
    """Raise the error about a header beyond the end."""
    raise unreadable(
        "{path} has no row {asked}: it has {rows}",
        words,
        "Give the row with the names of the columns as {header}, or leave it out",
        asked=asked,
        rows=plural(rows, "row"),
    )


def _batches(rows: Iterable[Sequence[Cell]]) -> Iterator[list[Sequence[Cell]]]:
    """Group rows that are not empty; there is at least one group."""
    full = (row for row in rows if any(cell is not None and cell != "" for cell in row))
    yield list(islice(full, _AT_ONCE))
    while some := list(islice(full, _AT_ONCE)):
        yield some


def _at(row: Sequence[Cell], place: int) -> Cell:
    return row[place] if place < len(row) else None


def _width(row: Sequence[Cell]) -> int:
    return max((at for at, cell in enumerate(row, 1) if write_cell(cell)), default=0)


def _column(cells: Sequence[Cell]) -> pa.Array:
    """Make a column of cells: of their type, or of text if they have several."""
    import pyarrow as pa

    given = [None if cell is None or cell == "" else cell for cell in cells]
    kinds = {_kind(cell) for cell in given if cell is not None}
    if not kinds:
        return pa.nulls(len(given))
    if kinds == {"number"}:
        return _whole_if_possible(given)
    if kinds == {"date"}:
        return pa.array(given, pa.date32())
    if kinds <= {"date", "moment"}:
        moments: list[Any] = [
            datetime.combine(one, time()) if type(one) is date else one for one in given
        ]
        return pa.array(moments, pa.timestamp("us"))
    if kinds == {"flag"}:
        return pa.array(given, pa.bool_())
    texts = [None if one is None else _text(one) for one in given]
    return pa.array(texts, pa.string())


def _kind(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "flag"
    if isinstance(cell, int | float):
        return "number"
    if isinstance(cell, date):
        return "moment" if isinstance(cell, datetime) else "date"
    return "text"


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else write_cell(cell)


def _whole_if_possible(numbers: Sequence[Any]) -> pa.Array:
    """Make whole numbers of numbers that all are: sheets store every number as a decimal one."""
    import pyarrow as pa

    if all(one is None or (float(one).is_integer() and abs(one) <= 2**53) for one in numbers):
        return pa.array([None if one is None else int(one) for one in numbers], pa.int64())
    return pa.array(numbers, pa.float64())


def _unite(pieces: Sequence[pa.Array]) -> pa.ChunkedArray:
    """Put pieces of a column together, in a type that holds all of them."""
    import pyarrow as pa

    types = {piece.type for piece in pieces} - {pa.null()}
    if not types:
        return pa.chunked_array([piece.cast(pa.string()) for piece in pieces])
    if len(types) == 1:
        (together,) = types
    elif types <= {pa.int64(), pa.float64()}:
        together = pa.float64()
    elif types <= {pa.date32(), pa.timestamp("us")}:
        together = pa.timestamp("us")
    else:
        texts = [[None if one is None else _text(one) for one in p.to_pylist()] for p in pieces]
        return pa.chunked_array([pa.array(text, pa.string()) for text in texts])
    return pa.chunked_array([piece.cast(together) for piece in pieces])


def unite_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables one below the other, matching columns by name; what one lacks is empty in it."""
    import pyarrow as pa

    if len(tables) == 1:
        return tables[0]
    names = dict.fromkeys(name for table in tables for name in table.column_names)
    pieces = {
        name: [
            chunk
            for table in tables
            for chunk in (
                table[name].chunks
                if name in table.column_names
                else [pa.nulls(table.num_rows, pa.null())]
            )
        ]
        for name in names
    }
    return pa.table({name: _unite(chunks) for name, chunks in pieces.items()})
