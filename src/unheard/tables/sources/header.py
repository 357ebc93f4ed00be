"""The row with the names of the columns: where it is, and what the columns are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import date, datetime, time, timedelta
from itertools import pairwise, zip_longest
from typing import TypeAlias

from unheard.text import write_exactly

Cell: TypeAlias = str | float | bool | date | datetime | time | timedelta | None

EXPLAINED = "ImportId"
"""What every cell of a row of ids says."""

LOOKED_AT = 60
"""Number of rows from the top that are searched."""

_COMPARED = 20
_NUMBER = re.compile(r"\s*[+-]?\d+([.,]\d+)?\s*%?\s*")
_DATE = re.compile(r"\s*(\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{2,4})\b.*")


def find_header(rows: Sequence[Sequence[Cell]], wanted: Collection[str] | None) -> int | None:
    """Return which of the first rows has the names of the columns; None if none has.

    It is the first that has all the names that are wanted, or else the first that has a name for
    every column that is filled below it: titles have fewer.

    Examples
    --------
    >>> find_header([["Summer"], [], ["hotel", "stars"], ["A", 5], ["B", 4]], None)
    2
    >>> find_header([["A", 5], ["B", 4]], None)
    """
    if wanted:
        for at, row in enumerate(rows):
            if {*wanted} <= {write_cell(cell) for cell in row}:
                return at
    filled = [_find_filled(row) for row in rows]
    full = [at for at, cells in enumerate(filled) if cells]
    at = next((at for at in full if _covers(filled, at)), full[0] if full else 0)
    return None if _holds_values(rows, at) else at


def read_heading(rows: Sequence[Sequence[Cell]], at: int) -> list[Cell]:
    """Return the cells of a header; those that are empty are named in the row above, if at all.

    Examples
    --------
    >>> read_heading([["Id", "", "How was it?", ""], ["", "Hotel", "Room", "Staff"], [1]], 1)
    ['Id', 'Hotel', 'Room', 'Staff']
    """
    row = rows[at]
    if not _is_named_above([_find_filled(cells) for cells in rows], at):
        return list(row)
    both = zip_longest(row, rows[at - 1])
    return [cell if write_cell(cell) else above for cell, above in both]


def count_explained(rows: Sequence[Sequence[Cell]], at: int) -> int:
    """Count the rows below a header that explain it: Qualtrics puts questions and their ids there.

    Examples
    --------
    >>> count_explained([["Q1"], ["How was it?"], ['{"ImportId":"QID1"}'], [5]], 0)
    2
    """
    for below, row in enumerate(rows[at + 1 : at + 3], 1):
        cells = [text for text in map(write_cell, row) if text]
        if cells and all(text.startswith(f'{{"{EXPLAINED}"') for text in cells):
            return below
    return 0


def name_columns(cells: Sequence[Cell]) -> list[str]:
    """Name columns after the cells of a header; every name is used once.

    Examples
    --------
    >>> name_columns(["hotel", " stars ", "stars", "", 5.0])
    ['hotel', 'stars (1)', 'stars (2)', 'column 4', '5']
    """
    given = [write_cell(cell) or f"column {at}" for at, cell in enumerate(cells, 1)]
    times, seen = Counter(map(str.lower, given)), Counter[str]()
    first: dict[str, str] = {}
    names = []
    for name in given:
        folded = name.lower()
        if times[folded] > 1:
            seen[folded] += 1
            name = f"{first.setdefault(folded, name)} ({seen[folded]})"  # noqa: PLW2901
        names.append(name)
    return names


def write_cell(cell: Cell) -> str:
    """Write a cell on one line; nothing if it is empty."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return write_exactly(cell)
    return " ".join(str(cell).split())


def _find_filled(row: Sequence[Cell]) -> set[int]:
    return {at for at, cell in enumerate(row) if write_cell(cell)}


def _covers(filled: Sequence[set[int]], at: int) -> bool:
    """Whether a row has a cell for every column that most rows below it fill, titles left out.

    The first column may have no name: there, programs put the numbers of the rows. Surveys name a
    question in one row, and its parts in the next.
    """
    needed = _find_needed(filled, at)
    missing = needed - filled[at]
    if missing == {min(needed, default=0)} and len(filled[at]) > 1:
        return True
    return not missing or _is_named_above(filled, at)


def _is_named_above(filled: Sequence[set[int]], at: int) -> bool:
    """Whether the row above names the columns that this row does not."""
    missing = _find_needed(filled, at) - filled[at]
    if not at or not missing or min(len(filled[at]), len(filled[at - 1])) < 2:
        return False
    return missing <= filled[at - 1]


def _find_needed(filled: Sequence[set[int]], at: int) -> set[int]:
    """Return the columns that most rows below fill, titles left out."""
    below = [cells for cells in filled[at + 1 : at + 1 + _COMPARED] if cells]
    widest = max(map(len, below), default=0)
    below = [cells for cells in below if 2 * len(cells) >= widest]
    times = Counter(column for cells in below for column in cells)
    return {column for column, many in times.items() if 2 * many >= len(below)}


def _holds_values(rows: Sequence[Sequence[Cell]], at: int) -> bool:
    """Whether a row holds numbers or dates of its own instead of names.

    Numbers that rise, such as 1 to 5, are names of ratings; a year above ratings is a name, too.
    """
    cells = {column: cell for column, cell in enumerate(rows[at]) if write_cell(cell)}
    if any(_is_date(cell) for cell in cells.values()):
        return True
    numbers = {column: _number(cell) for column, cell in cells.items()}
    found = {column: number for column, number in numbers.items() if number is not None}
    if not found:
        return False
    values = list(found.values())
    steps = [after - before for before, after in pairwise(values)]
    if steps and (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
        return False
    for column, number in found.items():
        below = [_number(row[column]) for row in rows[at + 1 :] if column < len(row)]
        known = [value for value in below if value is not None]
        if known:
            low, high = min(known), max(known)
            span = max(high - low, abs(low), abs(high))
            if low - span <= number <= high + span:
                return True
    return False


def _is_date(cell: Cell) -> bool:
    return isinstance(cell, date | time | timedelta) or (
        isinstance(cell, str) and _DATE.fullmatch(cell) is not None
    )


def _number(cell: Cell) -> float | None:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return float(cell)
    if isinstance(cell, str) and _NUMBER.fullmatch(cell):
        return float(cell.strip().rstrip("% ").replace(",", "."))
    return None
