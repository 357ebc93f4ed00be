"""Numbers that are stored as text: counts with a separator between thousands, such as 1,234."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from unheard.tables.engines.duckdb import DuckDB, quote_name, quote_text
from unheard.tables.sources.reading import ReadingNote, Roles

_SEPARATORS = (",", ".", "'", "’", " ", "\u00a0", "\u202f")


@dataclass(frozen=True)
class _Written:
    """How the numbers of a column are written: their type, separator, and a value with it."""

    type: str
    separator: str = ""
    example: str = ""


def read_text_numbers(
    engine: DuckDB, relation: exp.Expr, roles: Roles
) -> tuple[exp.Expr, list[ReadingNote]]:
    """Turn text into numbers where a column needs them.

    A column of whole numbers may have one separator at the places where thousands end, or none.
    Where a value is anything else, the column stays text, which is refused where it is used.
    """
    replaced, notes = [], []
    asked = roles.whole is None or roles.whole
    for name, kind in (engine.columns(relation) if asked else {}).items():
        is_whole = roles.is_whole(name)
        if kind != "text" or not (is_whole or roles.may_be_rating(name)):
            continue
        written = _look(engine, relation, name, _SEPARATORS if is_whole else ())
        if written is not None:
            replaced.append(_write_number(name, written))
        if written is not None and written.example:
            number = written.example.replace(written.separator, "")
            notes.append(ReadingNote(f"In column {name}, {written.example} was read as {number}."))
    if not replaced:
        return relation, notes
    source = relation.sql("duckdb")
    return engine.view(f"select * replace ({', '.join(replaced)}) from {source}"), notes


def _look(
    engine: DuckDB, relation: exp.Expr, name: str, separators: tuple[str, ...]
) -> _Written | None:
    """Return how the numbers of a column of text are written; None if it holds something else."""
    source, value = relation.sql("duckdb"), f"trim({quote_name(name)})"
    is_plain, is_decimal = engine.execute(
        f"select bool_and(regexp_full_match({value}, '[+-]?\\d+')), "
        f"bool_and(try_cast({value} as double) is not null) from {source}"
    ).fetchall()[0]
    if is_plain:
        return _Written("bigint")
    asked = []
    for separator in separators:
        pattern = quote_text(rf"\d+|\d{{1,3}}([{separator}]\d{{3}})+")
        has_one = f"contains({value}, {quote_text(separator)})"
        asked.append(f"bool_and(regexp_full_match({value}, {pattern}))")
        asked.append(f"min({value}) filter (where {has_one})")
    rest = engine.execute(f"select {', '.join(asked)} from {source}").fetchall()[0] if asked else ()
    for at, separator in enumerate(separators):
        fits, example = rest[2 * at : 2 * at + 2]
        if fits:
            return _Written("bigint", separator, example)
    return _Written("double") if is_decimal else None


def _write_number(name: str, written: _Written) -> str:
    value = f"trim({quote_name(name)})"
    if written.separator:
        value = f"replace({value}, {quote_text(written.separator)}, '')"
    return f"cast({value} as {written.type}) as {quote_name(name)}"
