"""Numbers that are stored as text: counts such as 1,234, and ratings such as 4,5."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from unheard.tables.engines.duckdb import DuckDB, quote_name, quote_text
from unheard.tables.sources.reading import ReadingNote, Roles

_SEPARATORS = (",", ".", "'", "’", " ", "\u00a0", "\u202f")


@dataclass(frozen=True)
class _Written:
    """How the numbers of a column are written: their type, a sign to replace, a value with it."""

    type: str
    sign: str = ""
    meant: str = ""
    example: str = ""

    def replace(self, text: str) -> str:
        """Write a number in the usual way."""
        return text.replace(self.sign, self.meant)


def read_text_numbers(
    engine: DuckDB, relation: exp.Expr, roles: Roles, *, in_cells: bool
) -> tuple[exp.Expr, list[ReadingNote]]:
    """Turn text into numbers where a column needs them.

    A column of whole numbers may have one separator at the places where thousands end, or none;
    ratings in cells may have a decimal comma, which DuckDB reads in text. Where a value is anything
    else, the column stays text, which is refused where it is used.
    """
    replaced, notes = [], []
    asked = roles.whole is None or roles.whole or in_cells
    for name, kind in (engine.columns(relation) if asked else {}).items():
        is_whole = roles.is_whole(name)
        in_cell = in_cells and name in (roles.ratings or ())
        if kind != "text" or not (is_whole or in_cell or roles.may_be_rating(name)):
            continue
        written = _look(engine, relation, name, _SEPARATORS if is_whole else ())
        if written is not None:
            replaced.append(_write_number(name, written))
        if written is not None and written.example:
            number = written.replace(written.example)
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
            return _Written("bigint", separator, "", example)
    if is_decimal:
        return _Written("double")
    return None if separators else _look_for_commas(engine, source, value)


def _look_for_commas(engine: DuckDB, source: str, value: str) -> _Written | None:
    fits, example = engine.execute(
        f"select bool_and(regexp_full_match({value}, '[+-]?\\d+(,\\d+)?')), "
        f"min({value}) filter (where contains({value}, ',')) from {source}"
    ).fetchall()[0]
    return _Written("double", ",", ".", example) if fits else None


def _write_number(name: str, written: _Written) -> str:
    value = f"trim({quote_name(name)})"
    if written.sign:
        value = f"replace({value}, {quote_text(written.sign)}, {quote_text(written.meant)})"
    return f"cast({value} as {written.type}) as {quote_name(name)}"
