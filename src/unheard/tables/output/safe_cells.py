"""Text that a spreadsheet would take for a formula, and how to write it so that it stays text."""

from __future__ import annotations

import re
from typing import TypeVar

from unheard.tables.engines.duckdb import quote_text

_Cell = TypeVar("_Cell")

# Both patterns mean the same to Python and to DuckDB, which has other ideas of \s, \d and $.
_SPACE = " \t\n\v\f\r\u00a0\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
_FORMULA = f"^(?:[\t\n\r]|[{_SPACE}]*[=+\\-@＝＋－＠])"
_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"


def safe_cell(value: _Cell) -> _Cell | str:
    """Put a quote in front of text that a spreadsheet would take for a formula.

    Numbers stay as they are, also those that are written as text.

    Examples
    --------
    >>> [safe_cell(value) for value in ("=1+1", " @sum", "Alder", "-1.5", -0.5)]
    ["'=1+1", "' @sum", 'Alder', '-1.5', -0.5]
    """
    if not isinstance(value, str) or not re.match(_FORMULA, value):
        return value
    return value if re.fullmatch(_NUMBER, value) else f"'{value}"


def safe_column(column: str) -> str:
    """Write :func:`safe_cell` of a column of text, for DuckDB."""
    formula = f"regexp_matches({column}, {quote_text(_FORMULA)})"
    number = f"regexp_full_match({column}, {quote_text(_NUMBER)})"
    return f"case when {formula} and not {number} then '''' || {column} else {column} end"
