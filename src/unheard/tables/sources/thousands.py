"""Counts with a separator between thousands: 1,234 as text is the whole number 1234."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlglot import exp

from unheard.tables.engines.duckdb import DuckDB, quote_name, quote_text
from unheard.tables.sources.reading import ReadingNote

_SEPARATORS = (",", ".", "'", "’", " ", "\u00a0", "\u202f")


def read_thousands(
    engine: DuckDB, relation: exp.Expr, whole: Collection[str]
) -> tuple[exp.Expr, list[ReadingNote]]:
    """Read columns of whole numbers that are stored as text, with separators or without.

    A column is read if every value of it has the same separator at the places where thousands end,
    or none. Otherwise it stays text, which is refused where it is used.
    """
    kinds = engine.columns(relation) if whole else {}
    replaced, notes = [], []
    for name in dict.fromkeys(whole):
        written = _look(engine, relation, name) if kinds.get(name) == "text" else None
        if written is not None:
            replaced.append(_write_number(name, written))
        if written is not None and written.example:
            number = written.example.replace(written.separator, "")
            notes.append(ReadingNote(f"In column {name}, {written.example} was read as {number}."))
    if not replaced:
        return relation, notes
    source = relation.sql("duckdb")
    return engine.view(f"select * replace ({', '.join(replaced)}) from {source}"), notes


@dataclass(frozen=True)
class _Written:
    """How the numbers of a column are written: their type, separator, and a value with it."""

    type: str
    separator: str = ""
    example: str = ""


def _look(engine: DuckDB, relation: exp.Expr, name: str) -> _Written | None:
    """Return how the numbers of a column of text are written; None if it holds something else."""
    source, value = relation.sql("duckdb"), f"trim({quote_name(name)})"
    asked = [f"bool_and(regexp_full_match({value}, '[+-]?\\d+'))"]
    for separator in _SEPARATORS:
        pattern = quote_text(rf"\d+|\d{{1,3}}([{separator}]\d{{3}})+")
        has_one = f"contains({value}, {quote_text(separator)})"
        asked.append(f"bool_and(regexp_full_match({value}, {pattern}))")
        asked.append(f"min({value}) filter (where {has_one})")
    asked.append(f"bool_and(try_cast({value} as double) is not null)")
    is_plain, *rest, is_decimal = engine.execute(
        f"select {', '.join(asked)} from {source}"
    ).fetchall()[0]
    if is_plain:
        return _Written("bigint")
    for at, separator in enumerate(_SEPARATORS):
        fits, example = rest[2 * at : 2 * at + 2]
        if fits:
            return _Written("bigint", separator, example)
    return _Written("double") if is_decimal else None


def _write_number(name: str, written: _Written) -> str:
    value = f"trim({quote_name(name)})"
    if written.separator:
        value = f"replace({value}, {quote_text(written.separator)}, '')"
    return f"cast({value} as {written.type}) as {quote_name(name)}"
