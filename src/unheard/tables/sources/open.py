"""Sources of ratings, opened: each becomes an engine and a table in it."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
from sqlglot import exp

from unheard.errors import (
    PYTHON,
    ColumnError,
    Given,
    OptionError,
    SourceError,
    Surface,
    hide_passwords,
    write_list,
)
from unheard.model.results import Backend, choose_backend
from unheard.tables.engines.base import Engine
from unheard.tables.engines.duckdb import DuckDB, Relation
from unheard.tables.request import Kind, Request, check_table_name
from unheard.tables.sources.databases import (
    choose_table,
    connect,
    find_table,
    is_database_file,
    is_url,
)
from unheard.tables.sources.files import matching, not_found, read_file
from unheard.tables.sources.parts import form_of, is_named_like_file
from unheard.tables.sources.reading import FileFindings, Reading, Roles
from unheard.tables.sources.workbooks import sheet_names
from unheard.tables.sql.dialects import column
from unheard.tables.sql.reserved_names import reserve

if TYPE_CHECKING:
    import pyarrow as pa

ENGINES = ("duckdb", "spark")


@dataclass(frozen=True)
class Opened:
    """A table that can be read.

    Attributes
    ----------
    engine
        What runs queries on it.
    relation
        The table, as a query refers to it.
    kinds
        What its columns hold.
    words
        What messages call it.
    back
        Turns a result of the engine into the kind of frame that came in.
    orders
        The words of columns that have an order of their own, lowest first.
    findings
        What was found out about files.
    """

    engine: Engine
    relation: exp.Expr
    kinds: dict[str, Kind]
    words: str
    back: Callable[[exp.Expr], Any]
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    findings: FileFindings = field(default_factory=FileFindings)


@dataclass(frozen=True)
class Where:
    """How to reach a table: which engine, and what of a database.

    Attributes
    ----------
    engine
        ``duckdb`` or ``spark``; None for what suits the source.
    table, query
        Which table of a database to read, or a query to run there.
    memory
        Most memory that DuckDB may use.
    spark_master
        Where Spark runs.
    to_table
        The table of the database that the result is written to.
    confined
        The one folder that files may be read from; None for any.
    surface
        How those who asked know the options, which messages name.
    sheet, encoding, header
        How a file is to be read, see :class:`unheard.tables.sources.reading.Reading`.
    most
        How many bytes a file may have when it is unpacked; None for any number.
    backend
        The kind of frame to return for what is not one; None for pandas if it is installed.
    """

    engine: str | None = None
    table: str | None = None
    query: str | None = None
    memory: str | None = None
    spark_master: str | None = None
    to_table: str | None = None
    confined: Path | None = None
    surface: Surface = PYTHON
    sheet: str | int | None = None
    encoding: str | None = None
    header: str | int | None = None
    most: int | None = None
    backend: Backend | None = None

    @property
    def reading(self) -> Reading:
        """How a file is to be read."""
        return Reading.read(self.sheet, self.encoding, self.header, self.most)

    def refuse_reading(self, what: str) -> None:
        """Raise if options for reading files are given for a source that is not a file."""
        for name in ("sheet", "encoding", "header"):
            if getattr(self, name) is not None:
                raise OptionError(
                    name,
                    problem="{argument} does not apply to {what}",
                    hint="Leave it out",
                    what=what,
                )

    @property
    def writable(self) -> bool:
        """Whether the database is to be written to."""
        return self.to_table is not None


def open_source(source: Any, request: Request | None, where: Where) -> Opened:
    """Open a source of ratings; without a request, to see what is in it."""
    if where.engine is not None and where.engine not in ENGINES:
        raise OptionError(
            "engine",
            problem="{argument} must be {choices}",
            value=where.engine,
            hint="Choose one of them, or leave it out",
            choices=write_list(ENGINES),
        )
    if isinstance(source, str | os.PathLike):
        opened = _open_text(os.fspath(source), request, where)
    else:
        opened = _open_frame(source, request, where)
    return _write_flags(opened, request)


def _write_flags(opened: Opened, request: Request | None) -> Opened:
    """Turn ratings that are true or false into words, as they are in files of text."""
    flags = [
        name
        for name, kind in opened.kinds.items()
        if kind == "flag" and (request is None or name in request.rating)
    ]
    if not flags:
        return opened
    selected = [
        exp.alias_(exp.cast(column(name), "text"), name) if name in flags else column(name)
        for name in opened.kinds
    ]
    relation = exp.select(*selected).from_(opened.relation.copy()).subquery(reserve("worded"))
    return replace(
        opened, relation=relation, kinds={**opened.kinds, **dict.fromkeys(flags, "text")}
    )


def second_table(source: Any, main: Opened, place: str, as_text: tuple[str, ...]) -> Opened:
    """Open a second table so that the engine of the first can join it."""
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        if not matching(text):
            workbook = main.findings.workbook
            if (
                workbook is not None
                and isinstance(main.engine, DuckDB)
                and text in sheet_names(workbook)
            ):
                return _second_file(main, workbook, Roles(as_text=as_text), Reading(text), text)
            if is_named_like_file(text) or text.startswith(("/", ".")):
                raise not_found(text)
            check_table_name(place, text)
            relation = main.engine.lookup(place, text)
            return replace(main, relation=relation, kinds=main.engine.columns(relation), words=text)
        if isinstance(main.engine, DuckDB):
            return _second_file(main, text, Roles(as_text=as_text), Reading(), text)
        with_duckdb = DuckDB()
        try:
            relation, _ = _read_second(with_duckdb, text, Roles(as_text=as_text), Reading(), text)
            rows = with_duckdb.arrow(exp.select("*").from_(relation)).read_all()
        finally:
            with_duckdb.close()
    else:
        text = f"the table passed as {place}"
        implementation = _implementation(source)
        if implementation.is_pyspark() and hasattr(main.engine, "source"):
            relation = main.engine.source(source)
            return replace(main, relation=relation, kinds=main.engine.columns(relation), words=text)
        rows = _as_arrow(source, implementation)
    relation = main.engine.upload(place, rows)
    return replace(main, relation=relation, kinds=main.engine.columns(relation), words=text)


def _second_file(main: Opened, path: str, roles: Roles, reading: Reading, words: str) -> Opened:
    assert isinstance(main.engine, DuckDB)
    relation, findings = _read_second(main.engine, path, roles, reading, words)
    kinds = main.engine.columns(relation)
    return replace(main, relation=relation, kinds=kinds, words=words, findings=findings)


def _read_second(
    engine: DuckDB, path: str, roles: Roles, reading: Reading, words: str
) -> tuple[exp.Expr, FileFindings]:
    try:
        return read_file(engine, path, words, roles, reading)
    except SourceError as error:
        if error.code != "several_sheets":
            raise
        raise SourceError(
            "source",
            problem=error.problem,
            hint="Save the one that is needed as a file of its own",
            path=words,
            many=error.data["many"],
            what=error.data["what"],
        ) from None


# Files, databases, standard input.


def _open_text(text: str, request: Request | None, where: Where) -> Opened:
    if is_url(text):
        return _open_database(text, where)
    if where.engine == "spark":
        return _open_with_spark(text, request, where)
    if os.path.isdir(text):
        within = os.path.join(glob.escape(text), "*.csv")
        raise SourceError(
            "source",
            problem="{path} is a folder",
            hint="Name its files",
            examples=(f"'{within}'",),
            path=text,
        )
    # What was uploaded holds rows, whatever it is called.
    if where.confined is None and is_database_file(text):
        return _open_database(text, where)
    return _open_file(text, request, where)


def _open_file(text: str, request: Request | None, where: Where) -> Opened:
    words = "standard input" if text == "-" else text
    if text != "-" and not matching(text):
        raise not_found(text)
    _refuse_to_table(where)
    reading = where.reading
    if where.table is not None or where.query is not None:
        raise OptionError(
            "table" if where.table else "query",
            problem="{argument} requires a database, and {path} is not one",
            hint="Leave {argument} out",
            path=words,
        )
    engine = DuckDB(where.memory, where.confined)
    with engine.closed_on_error():
        path = str(_save_input(engine)) if text == "-" else text
        relation, findings = read_file(engine, path, words, Roles.of(request), reading)
        return replace(_describe_file(engine, relation, words, where), findings=findings)


def _refuse_to_table(where: Where) -> None:
    if where.to_table is not None:
        raise OptionError(
            "to_table",
            problem="{argument} requires a database as the source",
            hint="Write to a file with {output} instead",
        )


def _open_database(text: str, where: Where) -> Opened:
    where.refuse_reading("a database")
    database, table = choose_table(text, where.table, where.query)
    engine = connect(database, writable=where.writable, memory=where.memory)
    with engine.closed_on_error():
        words = hide_passwords(database)
        relation, words = find_table(engine, words, table, where.query, where.to_table)
        return _describe_file(engine, relation, words, where)


def _open_with_spark(text: str, request: Request | None, where: Where) -> Opened:
    from unheard.tables.engines.spark import Spark, session

    where.refuse_reading("files that Spark reads")
    if where.query is not None:
        raise OptionError(
            "query",
            problem="{argument} cannot be used with Spark, which reads files and tables here",
            hint="Name a file, or a table with {table}",
        )
    if os.path.isfile(text) and re.search(r"[*?\[{]", text):
        raise SourceError(
            "source",
            problem="Spark cannot read {path}: it takes such a name as a pattern",
            hint="Rename it, or use {engine:duckdb}",
            path=text,
        )
    engine = Spark(session(where.spark_master))
    if where.table is not None:
        check_table_name("table", where.table)
        relation, words = engine.lookup("table", where.table), f"table {where.table}"
        if where.backend is None:
            return _describe(engine, relation, words, engine.native)
        return _describe_file(engine, relation, words, where)
    form = form_of(text)
    if form is None:
        raise SourceError(
            "source",
            problem="The ending of {path} does not say which format it has",
            hint="Use a file that ends in .csv, .parquet or .jsonl",
            path=text,
        )
    frame = engine.read(text, form, Roles.of(request).as_text)
    return _describe_file(engine, engine.source(frame), text, where)


def _describe_file(engine: Engine, relation: exp.Expr, words: str, where: Where) -> Opened:
    """Describe a source that is not a frame; results are frames of the kind that was asked for."""
    backend = choose_backend(where.backend)

    def convert(query: exp.Expr) -> Any:
        rows = engine.arrow(query).read_all()
        if backend == "pandas":
            return rows.to_pandas()
        return rows if backend == "pyarrow" else nw.from_arrow(rows, backend=backend).to_native()

    return _describe(engine, relation, words, convert)


def _describe(
    engine: Engine, relation: exp.Expr, words: str, back: Callable[[exp.Expr], Any]
) -> Opened:
    return Opened(engine, relation, engine.columns(relation), words, back)


def _save_input(engine: DuckDB) -> Path:
    """Keep standard input in a private file: it is read more than once."""
    path = engine.folder / "input"
    with path.open("wb") as file:
        while chunk := sys.stdin.buffer.read(1 << 20):
            file.write(chunk)
    return path


# Frames.


def _implementation(source: Any) -> nw.Implementation:
    try:
        _refuse_repeated(source)
        found: nw.Implementation = nw.from_native(source).implementation
        return found
    except TypeError:
        raise SourceError(
            "source",
            problem="{argument} must be a path, a URL or a frame",
            value=Given(f"a {type(source).__name__}"),
            hint="Use a frame of pandas, Polars, PyArrow, DuckDB, ibis or Spark",
        ) from None


def _refuse_repeated(source: Any) -> None:
    """Refuse a frame in which two columns have one name, so that neither can be meant."""
    if hasattr(source, "collect_schema"):
        return  # Polars has no such frames
    columns = getattr(source, "column_names", None) or getattr(source, "columns", [])
    if callable(columns) or not hasattr(columns, "__iter__"):
        return
    named = [str(column) for column in columns]
    for name, times in Counter(named).items():
        if times > 1:
            raise ColumnError(
                "source",
                problem="{argument} has two columns named {column}",
                hint="Rename one of them",
                code="repeated_column",
                column=repr(name),
            )


def _open_frame(source: Any, request: Request | None, where: Where) -> Opened:
    implementation = _implementation(source)
    where.refuse_reading("a frame")
    if where.backend is not None:
        raise OptionError(
            "backend",
            problem="{argument} does not apply to a frame, whose own kind comes back",
            value=where.backend,
            hint="Leave it out",
        )
    words = f"the {implementation.value} frame"
    if implementation.is_pyspark() or implementation.is_pyspark_connect():
        from unheard.tables.engines.spark import Spark

        spark = Spark(source.sparkSession)
        return _describe(spark, spark.source(source), "the Spark frame", spark.native)
    if implementation.is_duckdb():
        relation = Relation(source)
        return _describe(relation, relation.source, "the DuckDB relation", relation.native)
    engine = DuckDB(where.memory)
    with engine.closed_on_error():
        wanted = Roles.of(request).wanted
        if implementation.is_pandas():
            source = _with_index(source, wanted or ())
        rows = _as_arrow(source, implementation, wanted)
        back = partial(_same_kind, source, implementation, engine)
        opened = _describe(engine, engine.register(rows), words, back)
        names = map(str, nw.from_native(source).collect_schema().names())
        unread = tuple(name for name in names if name not in rows.column_names)
        return replace(opened, orders=_orders_of(rows), findings=FileFindings(unread=unread))


def _with_index(source: Any, wanted: Collection[str]) -> Any:
    """Return a pandas frame with its index as columns, where one of these is asked for.

    What pandas groups by or cross-tabulates, it names in the index.
    """
    there = {str(name) for name in source.columns}
    named = [name for name in source.index.names if str(name) in {*wanted} - there]
    return source.reset_index(level=named) if named else source


def _as_arrow(
    source: Any, implementation: nw.Implementation, wanted: Collection[str] | None = None
) -> pa.Table:
    """Turn a frame into Arrow: the wanted columns, or all if one of them is not there."""
    import pyarrow as pa

    if implementation.is_pandas():
        columns = {str(name): name for name in source.columns}
        kept = columns if wanted is None or not {*wanted} <= columns.keys() else wanted
        return pa.table({name: _pandas_column(source[columns[name]]) for name in kept})
    frame = nw.from_native(source)
    if wanted is not None and {*wanted} <= {*frame.collect_schema().names()}:
        frame = frame.select(*wanted)
    if implementation.is_ibis():
        return frame.to_native().to_pyarrow()
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame.to_arrow()


def _orders_of(rows: pa.Table) -> dict[str, tuple[str, ...]]:
    """Return the words of the columns whose words are ordered, as in pandas and Polars."""
    import pyarrow as pa

    orders = {}
    for field_ in rows.schema:
        if pa.types.is_dictionary(field_.type) and field_.type.ordered and rows.num_rows:
            words = rows[field_.name].chunk(0).dictionary.to_pylist()
            orders[field_.name] = tuple(str(word) for word in words)
    return orders


def _pandas_column(values: Any) -> pa.ChunkedArray | pa.Array:
    """Turn a pandas column into Arrow; one of mixed types becomes text."""
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        missing = values.isna()
        return pa.array(
            [None if gone else str(value) for value, gone in zip(values, missing, strict=True)],
            type=pa.string(),
        )


def _same_kind(
    source: Any, implementation: nw.Implementation, engine: DuckDB, query: exp.Expr
) -> Any:
    """Return a result as the kind of frame that came in."""
    rows = engine.arrow(query).read_all()
    if implementation.is_pyarrow():
        return rows
    if implementation.is_ibis():
        import ibis

        return ibis.memtable(rows)
    if implementation.is_pandas():
        # Whole numbers that name columns travel as text.
        return rows.to_pandas().rename(columns={str(name): name for name in source.columns})
    frame = nw.from_arrow(rows, backend=implementation)  # type: ignore[arg-type]
    lazy = isinstance(nw.from_native(source), nw.LazyFrame)
    return (frame.lazy() if lazy else frame).to_native()
