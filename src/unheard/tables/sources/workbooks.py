"""Workbooks: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods), read by calamine."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from unheard.tables.sources.cells import Cells, read_cells
from unheard.tables.sources.header import Cell
from unheard.tables.sources.packed import ZIP, check_archive
from unheard.tables.sources.reading import (
    FileFindings,
    Reading,
    ReadingNote,
    Roles,
    choose_part,
    unreadable,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from python_calamine import CalamineSheet, CalamineWorkbook

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How an .xls file begins, and an encrypted .xlsx file, too."""

_MOST_CELLS = 200_000_000
_DIMENSION = re.compile(rb'<dimension ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
_NO_RESULT = re.compile(rb"</f>\s*(<v\s*/>|<v></v>|</c>)")


@dataclass(frozen=True)
class _Choice:
    """A sheet, its name, and the names of all that have rows."""

    sheet: CalamineSheet
    name: str
    sheets: tuple[str, ...]
    note: str = ""


def read_workbook(
    path: str, roles: Roles, reading: Reading, words: str
) -> tuple[pa.Table, FileFindings]:
    """Read one sheet of a workbook."""
    with _open_workbook(path, words) as workbook:
        # A damaged archive could otherwise be read as far as it goes.
        is_archive = _head(path).startswith(ZIP)
        if is_archive:
            check_archive(path, reading, words)
            _refuse_vast(path, words)
        found = _choose_sheet(workbook, reading, words)
        place = f"sheet {found.name} of {words}" if len(workbook.sheet_names) > 1 else words
        cells = read_cells(_rows(found.sheet), roles, reading, place)
    if is_archive and _lacks_values(cells, roles) and _has_formulas_without_results(path):
        raise unreadable(
            "In {path}, formulas have no results: the program that wrote it did not compute them",
            words,
            "Open it in a spreadsheet program and save it again",
            code="formulas_without_results",
        )
    notes = (ReadingNote(found.note),) if found.note else ()
    findings = FileFindings(
        found.name, found.sheets, has_header=cells.has_header, notes=(*notes, *cells.notes)
    )
    return cells.columns, findings


def sheet_names(path: str) -> list[str]:
    """Return the names of all sheets of a workbook; none if it is not one."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with CalamineWorkbook.from_path(path) as workbook:
            return list(workbook.sheet_names)
    except (CalamineError, OSError):
        return []


@contextmanager
def _open_workbook(path: str, words: str) -> Iterator[CalamineWorkbook]:
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        with CalamineWorkbook.from_path(path) as workbook:
            yield workbook
    except PasswordError:
        raise unreadable(
            "{path} is protected by a password", words, "Save it without one", code="encrypted"
        ) from None
    except CalamineError as error:
        raise unreadable(
            "{path} cannot be read as a workbook: {message}",
            words,
            "Open it in a spreadsheet program and save it again, or save it as CSV",
            message=str(error).rstrip("."),
        ) from None


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(8)


def _choose_sheet(workbook: CalamineWorkbook, reading: Reading, words: str) -> _Choice:
    """Choose the sheet that was named, or the only one with a table that is not hidden."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    tables = [one for one in workbook.sheets_metadata if one.typ == SheetTypeEnum.WorkSheet]
    known = [one.name for one in tables]
    seen = [one.name for one in tables if one.visible == SheetVisibleEnum.Visible]
    if reading.sheet is not None:
        name = choose_part(words, "sheet", known, reading.sheet, seen)
        sheet = workbook.get_sheet_by_name(name)
        if sheet.start is None:
            raise unreadable(
                "Sheet {sheet_name} of {path} is empty",
                words,
                "Choose another",
                sheet_name=repr(name),
            )
        return _Choice(sheet, name, tuple(seen))
    unseen = [name for name in known if name not in seen]
    for names, holds in ((seen, _holds_table), (unseen, _holds_table), (known, _holds_something)):
        full = _find_full(workbook, names, holds)
        if full:
            first = names.index(next(iter(full)))  # those before it hold nothing
            offered = names[first:] if len(full) > 1 else list(full)
            name = choose_part(words, "sheet", known, None, offered)
            return _Choice(full[name], name, (name,), _note_choice(words, name, known))
    choose_part(words, "sheet", known, None, ())
    raise AssertionError  # nothing to choose from was refused


def _holds_something(sheet: CalamineSheet) -> bool:
    return sheet.start is not None


def _holds_table(sheet: CalamineSheet) -> bool:
    """Whether a sheet has columns and rows, and not just a title or remarks."""
    return sheet.start is not None and sheet.height > 1 and sheet.width > 1


def _find_full(
    workbook: CalamineWorkbook, names: Sequence[str], holds: Callable[[CalamineSheet], bool]
) -> dict[str, CalamineSheet]:
    """Return the first sheets that hold something, two at most: nothing needs the others."""
    full: dict[str, CalamineSheet] = {}
    for name in names:
        sheet = workbook.get_sheet_by_name(name)
        if holds(sheet):
            full[name] = sheet
        if len(full) > 1:
            break
    return full


def _note_choice(words: str, name: str, known: Sequence[str]) -> str:
    if len(known) < 2:
        return ""
    return f"Sheet {name} of {words} was read: the others have no table, or are hidden."


def _rows(sheet: CalamineSheet) -> Iterator[Sequence[Cell]]:
    """Return all rows; a cell that is merged with those below it stands in each of them."""
    left = 0 if sheet.start is None else sheet.start[1]
    merged: dict[int, list[tuple[int, int]]] = {}
    for (top, first), (bottom, last) in sheet.merged_cell_ranges or ():
        if first == last:
            merged.setdefault(top, []).append((first - left, bottom))
    reaching: dict[int, tuple[Cell, int]] = {}
    rows: Iterator[list[Any]] = sheet.iter_rows()
    for at, row in enumerate(rows):
        for column, (cell, bottom) in [*reaching.items()]:
            row[column] = cell
            if at == bottom:
                del reaching[column]
        for column, bottom in merged.get(at, ()):
            if 0 <= column < len(row):
                reaching[column] = (row[column], bottom)
        yield row


def _refuse_vast(path: str, words: str) -> None:
    """Refuse a sheet that says it is larger than memory: one stray cell far out is enough."""
    for name, head in _heads_of_sheets(path):
        found = _DIMENSION.search(head)
        if found is None:
            continue
        rows = int(found[4]) - int(found[2]) + 1
        columns = _column_number(found[3]) - _column_number(found[1]) + 1
        if rows * columns > _MOST_CELLS:
            raise unreadable(
                "{path} has a sheet of {rows:,} rows and {columns:,} columns ({name})",
                words,
                "Delete the cells that are far from the table, or save the table as CSV",
                rows=rows,
                columns=columns,
                name=PurePosixPath(name).name,
            )


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _heads_of_sheets(path: str) -> Iterator[tuple[str, bytes]]:
    for name, file in _sheets(path):
        yield name, file.read(2000)


def _has_formulas_without_results(path: str) -> bool:
    return any(_NO_RESULT.search(file.read()) for _, file in _sheets(path))


def _sheets(path: str) -> Iterator[tuple[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                with archive.open(name) as file:
                    yield name, file


def _lacks_values(cells: Cells, roles: Roles) -> bool:
    wanted = roles.wanted or cells.columns.column_names
    return any(
        cells.columns[name].null_count for name in wanted if name in cells.columns.column_names
    )
