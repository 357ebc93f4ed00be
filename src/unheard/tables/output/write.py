"""Results written to files: beside the target first, then put in its place in one step."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from unheard.errors import OptionError, QueryError, write_list
from unheard.files import beside, check_replaceable, follow_link, refuse_to_write
from unheard.tables.engines.base import Engine
from unheard.tables.engines.duckdb import DuckDB, kind_of, quote_name, quote_text
from unheard.tables.output.safe_cells import safe_cell, safe_column

if TYPE_CHECKING:
    import pyarrow as pa

_FORMATS = {
    ".csv": "format csv, header true",
    ".tsv": "format csv, header true, delimiter '\t'",
    ".parquet": "format parquet",
    ".json": "format json, array true",
    ".jsonl": "format json, array false",
    ".ndjson": "format json, array false",
}


def check_target(
    path: Path, inputs: Iterable[str], endings: Collection[str] = tuple(_FORMATS)
) -> None:
    """Raise unless a result can be written there; ``inputs`` are the files that are read."""
    if path.suffix.lower() not in endings:
        raise OptionError(
            "output",
            problem="{argument} must end in {endings}",
            value=str(path),
            hint="Choose one of these formats",
            endings=write_list(tuple(endings)),
        )
    folder = follow_link(path).parent
    if not folder.is_dir():
        raise _refuse("The folder {path} does not exist", folder, "Create it first")
    if path.is_dir():
        raise _refuse("{path} is a folder", path, "Name a file")
    check_replaceable(path)
    if path.exists() and any(path.samefile(given) for given in inputs):
        raise _refuse("{path} is also read as a table", path, "Write to another file")


def _refuse(problem: str, path: Path, hint: str) -> OptionError:
    return OptionError("output", problem=problem, hint=hint, path=str(path))


def create_table(engine: Engine, name: str, query: exp.Query) -> None:
    """Write a result into a new table of the database that holds the ratings."""
    try:
        engine.create(name, query)
    except QueryError as error:
        raise OptionError(
            "to_table",
            problem="Table {name} cannot be made; {engine} reports: {message}",
            hint="Solve that and try again, or write to a file with {output}",
            name=repr(name),
            engine=error.engine,
            message=error.message,
        ) from error


def write(
    engine: Engine,
    query: exp.Query,
    path: Path,
    *,
    notes: bool,
    settings: Mapping[str, str | float | None] | None = None,
) -> None:
    """Write a result to a file whose ending tells the format.

    Parameters
    ----------
    engine, query
        What to write, and the engine that computes it.
    path
        The file; one that is there is replaced.
    notes
        Whether the result has a column of notes.
    settings
        How the result was computed: a column each, the same in every row, so that it survives in
        every format; in Parquet it is in the metadata of the file, too. A setting named like a
        column of the result has no column.
    """
    if isinstance(engine, DuckDB):
        _copy(engine, query, path, notes, settings or {})
        return
    writer = DuckDB()
    try:
        # The rows come in order, and are to stay so.
        writer.execute("set preserve_insertion_order = true")
        rows = writer.register(engine.arrow(query))
        _copy(writer, exp.select("*").from_(rows), path, notes, settings or {})
    finally:
        writer.close()


def write_table(
    table: pa.Table, path: Path, settings: Mapping[str, str | float | None] | None = None
) -> None:
    """Write a table in memory, with a column of notes, as :func:`write` does."""
    engine = DuckDB()
    try:
        engine.execute("set preserve_insertion_order = true")
        rows = engine.register(table.to_reader())
        write(engine, exp.select("*").from_(rows), path, notes=True, settings=settings)
    finally:
        engine.close()


def _copy(
    engine: DuckDB,
    query: exp.Query,
    path: Path,
    notes: bool,
    settings: Mapping[str, str | float | None],
) -> None:
    form = _FORMATS[path.suffix.lower()]
    text = _with_settings(engine, engine.text(query), settings)
    if settings and "parquet" in form:
        form += f", kv_metadata {{unheard: {quote_text(json.dumps(settings))}}}"
    if "csv" in form:
        text = _without_formulas(engine, text)
    elif notes and "json" in form:
        # In JSON the notes are a list, as in the answers to single histograms.
        text = (
            "select * replace (case when notes = '' then [] else string_split(notes, ' ') end "
            f"as notes) from ({text})"
        )
    copy_to_file(engine, text, path, form)


def copy_to_file(
    engine: DuckDB, text: str, path: Path, form: str, argument: str = "output"
) -> None:
    """Let DuckDB write a query's rows to a file, in a format described in its own words."""
    with beside(path, argument) as partial, write_errors(partial, path, argument):
        place = quote_text(str(partial))
        engine.execute(f"copy ({text}) to {place} ({form}, use_tmp_file false)")


@contextmanager
def write_errors(partial: Path, path: Path, argument: str) -> Iterator[None]:
    """Tell a file that DuckDB cannot write from its other failures."""
    try:
        yield
    except (QueryError, duckdb.Error) as error:
        message = str(error.__cause__ or error)
        found = re.search(r'file \\?"(.+?)\\?": ([^"\n]+)', message)
        if found is None or Path(found[1]).name != partial.name:
            raise
        raise refuse_to_write(path, found[2], argument) from error


def add_settings(
    query: exp.Select, settings: Mapping[str, str | float | None], taken: Collection[str]
) -> exp.Select:
    """Return a query with a column for each setting, as :func:`write` has it in files.

    A setting with the name of a column that is taken has none.
    """
    names = {name.lower() for name in taken}
    added = [
        exp.alias_(_build_literal(value), name, quoted=True)
        for name, value in settings.items()
        if name not in names
    ]
    return query.select(*added)


def _build_literal(value: str | float | None) -> exp.Expr:
    if isinstance(value, str):
        return exp.cast(exp.Literal.string(value), "text")
    number = exp.Null() if value is None else exp.Literal.number(repr(float(value)))
    return exp.cast(number, "double")


def _with_settings(engine: DuckDB, text: str, settings: Mapping[str, str | float | None]) -> str:
    """Write a query with a column for each setting, the same in every row."""
    if not settings:
        return text
    taken = {row[0].lower() for row in engine.execute(f"describe {text}").fetchall()}
    added = [
        f"{_write_literal(value)} as {quote_name(name)}"
        for name, value in settings.items()
        if name not in taken
    ]
    return f"select {', '.join(['*', *added])} from ({text})"


def _write_literal(value: str | float | None) -> str:
    if isinstance(value, str):
        return quote_text(value)
    return f"cast({'null' if value is None else repr(float(value))} as double)"


def _without_formulas(engine: DuckDB, text: str) -> str:
    """Write a query whose result is safe to open in a spreadsheet."""
    selected = []
    for name, declared, *_ in engine.execute(f"describe {text}").fetchall():
        quoted = quote_name(name)
        cell = safe_column(quoted) if kind_of(declared) == "text" else quoted
        selected.append(f"{cell} as {quote_name(safe_cell(name))}")
    return f"select {', '.join(selected)} from ({text})"
