"""Whatever holds the ratings, turned into an engine and a table in it."""

from __future__ import annotations

import codecs
import difflib
import glob
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import narwhals as nw
from sqlglot import exp

from unheard.errors import ColumnError, OptionError, QueryError, SourceError
from unheard.tables.engines.base import Engine
from unheard.tables.engines.duckdb import DuckDB, Relation, kind_of
from unheard.tables.engines.sqlite import SQLite, is_sqlite
from unheard.tables.request import Kind, Request

if TYPE_CHECKING:
    import pyarrow as pa

ENGINES = ("duckdb", "spark")
_FORMS = {
    "csv": "csv", "tsv": "tsv", "tab": "tsv", "txt": "csv", "parquet": "parquet", "pq": "parquet",
    "json": "json", "jsonl": "json", "ndjson": "json",
}  # fmt: skip
_URL = re.compile(r"([a-z][a-z0-9+]*)://", re.IGNORECASE)


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
    """

    engine: Engine
    relation: exp.Expr
    kinds: dict[str, Kind]
    words: str
    back: Callable[[exp.Expr], Any]


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
    """

    engine: str | None = None
    table: str | None = None
    query: str | None = None
    memory: str | None = None
    spark_master: str | None = None
    to_table: str | None = None
    confined: Path | None = None

    @property
    def writable(self) -> bool:
        """Whether the database is to be written to."""
        return self.to_table is not None


def open_source(source: Any, request: Request | None, where: Where) -> Opened:
    """Open whatever holds the ratings; without a request, to see what is in it."""
    if where.engine is not None and where.engine not in ENGINES:
        raise OptionError(
            "engine", f"{where.engine!r} found", f"Choose one of {', '.join(ENGINES)}"
        )
    if isinstance(source, str | os.PathLike):
        return _open_text(os.fspath(source), request, where)
    return _open_frame(source, request, where)


def second_table(source: Any, main: Opened, place: str, as_text: tuple[str, ...]) -> Opened:
    """Open a second table so that the engine of the first can join it."""
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        if not _files(text):
            if _form(text) is not None or text.startswith(("/", ".")):
                raise _not_found(text)
            relation = main.engine.lookup(place, text)
            return replace(main, relation=relation, kinds=main.engine.columns(relation), words=text)
        if isinstance(main.engine, DuckDB):
            relation = _read(main.engine, text, as_text)
            return replace(main, relation=relation, kinds=main.engine.columns(relation), words=text)
        with_duckdb = DuckDB()
        try:
            relation = _read(with_duckdb, text, as_text)
            rows = with_duckdb.native(exp.select("*").from_(relation))
        finally:
            with_duckdb.close()
    else:
        text = f"the table given as {place}"
        implementation = _implementation(source)
        if implementation.is_pyspark() and hasattr(main.engine, "source"):
            relation = main.engine.source(source)
            return replace(main, relation=relation, kinds=main.engine.columns(relation), words=text)
        rows = _as_arrow(source, implementation)
    relation = main.engine.upload(place, rows)
    return replace(main, relation=relation, kinds=main.engine.columns(relation), words=text)


# Files, databases, standard input.


def _open_text(text: str, request: Request | None, where: Where) -> Opened:
    url = _URL.match(text)
    if url is not None:
        return _open_url(text, url[1].lower(), where)
    if where.engine == "spark":
        return _open_with_spark(text, request, where)
    if os.path.isdir(text):
        raise SourceError(
            text, "it is a folder", f"Name its files, such as '{Path(text) / '*.csv'}'"
        )
    if text == "-":
        _refuse_to_table(where)
        engine = DuckDB(where.memory)
        relation = _read_file(engine, str(_save_input(engine)), _text_columns(request), "-")
        return _opened(engine, relation, "standard input")
    files = _files(text)
    if not files:
        raise _not_found(text)
    head = _head(files[0], text)
    if is_sqlite(head):
        return _open_database(SQLite(Path(text), writable=where.writable), text, where)
    engine = DuckDB(where.memory, where.confined)
    if head[8:12] == b"DUCK":
        engine.attach(Path(text), writable=where.writable)
        return _open_database(engine, text, where)
    _refuse_to_table(where)
    if where.table is not None or where.query is not None:
        raise OptionError(
            "table" if where.table else "query", f"{text} is no database", "Leave it out"
        )
    return _opened(engine, _read(engine, text, _text_columns(request)), text)


def _refuse_to_table(where: Where) -> None:
    if where.to_table is not None:
        raise OptionError(
            "to_table", "the source is no database", "Write to a file with output instead"
        )


def _open_url(text: str, scheme: str, where: Where) -> Opened:
    from unheard.tables.engines.postgres import Postgres, without_password

    engine: Engine
    if scheme in ("postgresql", "postgres"):
        engine = Postgres(text)
    elif scheme in ("sqlite", "duckdb"):
        path = Path(unquote(urlsplit(text).path)[1:])
        if not path.is_file():
            raise SourceError(
                text,
                f"there is no file {path}",
                "Write sqlite:///folder/file.db, or an absolute path after four slashes",
            )
        if scheme == "sqlite":
            engine = SQLite(path, writable=where.writable)
        else:
            engine = DuckDB(where.memory)
            engine.attach(path, writable=where.writable)
    else:
        raise SourceError(
            without_password(text),
            f"{scheme} is not among the databases that can be reached",
            "Give postgresql://, sqlite:/// or duckdb:///, or run the text that `unheard sql` "
            "writes there",
        )
    return _open_database(engine, without_password(text), where)


def _open_database(engine: Any, text: str, where: Where) -> Opened:
    if where.query is not None:
        # The user's own words go to the engine as they are.
        try:
            relation = engine.view(where.query.strip().rstrip(";"))
        except QueryError as error:
            raise OptionError(
                "query", f"{error.engine} says: {error.words}", "Give one SELECT"
            ) from None
        return _opened(engine, relation, f"the query on {text}")
    there = engine.tables()
    if where.to_table in there:
        raise OptionError(
            "to_table", f"{text} already has a table {where.to_table!r}", "Choose another name"
        )
    name = where.table
    if name is None:
        if len(there) != 1:
            listed = ", ".join(there[:12]) or "none"
            raise OptionError(
                "table", f"{text} holds {len(there)} tables: {listed}", "Name one with table"
            )
        name = there[0]
    elif name not in there and "." not in name:
        near = difflib.get_close_matches(name, there, n=1)
        guess = f"Did you mean {near[0]!r}? " if near else ""
        raise OptionError(
            "table", f"{text} has no table {name!r}", f"{guess}It has: {', '.join(there[:12])}"
        )
    return _opened(engine, engine.lookup("table", name), f"table {name} of {text}")


def _open_with_spark(text: str, request: Request | None, where: Where) -> Opened:
    from unheard.tables.engines.spark import Spark, session

    engine = Spark(session(where.spark_master))
    if where.table is not None:
        return _opened(engine, engine.lookup("table", where.table), f"table {where.table}")
    form = _form(text)
    if form is None:
        raise SourceError(text, "the ending tells no format", "Name a .csv, .parquet or .jsonl")
    frame = engine.read(text, form, _text_columns(request))
    opened = _opened(engine, engine.source(frame), text)
    return replace(opened, back=lambda query: engine.arrow(query).read_all())


def _opened(engine: Engine, relation: exp.Expr, words: str) -> Opened:
    return Opened(engine, relation, engine.columns(relation), words, engine.native)


def _not_found(text: str) -> SourceError:
    path = Path(text)
    near: list[str] = []
    if path.parent.is_dir():
        near = difflib.get_close_matches(path.name, os.listdir(path.parent), n=1)
    guess = f"Did you mean {path.parent / near[0]}? " if near else ""
    return SourceError(
        text,
        "there is no such file",
        f"{guess}Give a file, a glob, a database URL, or - for standard input",
    )


def _files(text: str) -> list[str]:
    if os.path.isfile(text):
        return [text]
    if any(sign in text for sign in "*?["):
        return sorted(found for found in glob.glob(text, recursive=True) if os.path.isfile(found))
    return []


def _head(path: str, text: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError as error:
        raise SourceError(
            text, f"it cannot be read: {error.strerror}", "Check its permissions"
        ) from None


def _save_input(engine: DuckDB) -> Path:
    """Keep standard input in a private file: it is read more than once."""
    path = engine.folder / "input"
    with path.open("wb") as file:
        while chunk := sys.stdin.buffer.read(1 << 20):
            file.write(chunk)
    return path


def _text_columns(request: Request | None) -> tuple[str, ...]:
    """Columns that no reader of text may guess about: names like 007, ratings like n/a."""
    if request is None:
        return ()
    rater = () if request.rater is None else (request.rater,)
    return (*request.item, *request.strata, *request.rating, *rater)


def _form(text: str) -> str | None:
    name = text.lower()
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    return _FORMS.get(name.rpartition(".")[2])


def _read(engine: DuckDB, text: str, as_text: tuple[str, ...]) -> exp.Expr:
    return _read_file(engine, text, as_text, text)


def _read_file(engine: DuckDB, path: str, as_text: tuple[str, ...], words: str) -> exp.Expr:
    files = _files(path)
    empty = [one for one in files if os.path.getsize(one) == 0]
    if empty:
        raise SourceError(
            words if len(files) == 1 else empty[0], "the file is empty", "Give one with a header"
        )
    head = _head(files[0], words)
    form = _form(path) if words != "-" else None
    if form is None:
        form = "parquet" if head.startswith(b"PAR1") else "csv"
        if head.lstrip()[:1] in (b"{", b"["):
            form = "json"
    if form in ("csv", "tsv"):
        _refuse_binary(head, words, files[0])
    place = path.replace("'", "''")
    try:
        if form == "parquet":
            engine.counts_rows_for_nothing = True
            several = ", union_by_name = true" if len(files) > 1 else ""
            return engine.view(f"select * from read_parquet('{place}'{several})")
        if form == "json":
            return _read_json(engine, place, as_text)
        return _read_csv(engine, place, form, as_text)
    except Exception as error:
        if form != "parquet" and not _is_utf8(files):
            raise SourceError(words, "it is not in UTF-8", _UTF8) from None
        said = str(error).splitlines()[0].removeprefix("DuckDB says: ")
        raise SourceError(
            words, f"it cannot be read as {form}: {said}", "Check the file and its ending"
        ) from error


_UTF8 = "Save it again as UTF-8, which Excel calls CSV UTF-8"


def _is_utf8(files: Sequence[str]) -> bool:
    """Whether all of some files are text in UTF-8; packed ones are taken to be."""
    for path in files:
        if path.lower().endswith((".gz", ".zst")):
            continue
        with open(path, encoding="utf-8") as file:
            try:
                while file.read(1 << 20):
                    pass
            except UnicodeDecodeError:
                return False
    return True


def _refuse_binary(head: bytes, words: str, path: str) -> None:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError(words, "it is in UTF-16", _UTF8)
    if not path.lower().endswith((".gz", ".zst")) and b"\0" in head:
        raise SourceError(words, "it is no text", "Give a CSV, TSV, Parquet or JSON lines file")


def _read_csv(engine: DuckDB, place: str, form: str, as_text: tuple[str, ...]) -> exp.Expr:
    settings = "header = true, union_by_name = true, sample_size = 100000"
    if form == "tsv":
        settings += ", delim = '\t'"
    found = engine.execute(f"describe select * from read_csv('{place}', {settings})").fetchall()
    there = [row[0] for row in found]
    kept = ", ".join(
        f"'{name.replace(chr(39), chr(39) * 2)}': 'VARCHAR'" for name in there if name in as_text
    )
    if kept:
        settings += f", types = {{{kept}}}"
    return engine.view(f"select * from read_csv('{place}', {settings})")


def _read_json(engine: DuckDB, place: str, as_text: tuple[str, ...]) -> exp.Expr:
    source = f"read_json('{place}', union_by_name = true)"
    found = engine.execute(f"describe select * from {source}").fetchall()
    guessed = [row for row in found if row[0] in as_text and kind_of(row[1]) in ("time", "other")]
    if any(row[1] != "JSON" for row in guessed):
        # Names that look like dates are names.
        names = {row[0] for row in guessed if row[1] != "JSON"}
        kept = ", ".join(
            f"{_text(name)}: {_text('VARCHAR' if name in names else kind)}"
            for name, kind, *_ in found
        )
        source = f"read_json('{place}', columns = {{{kept}}})"
    # A column of numbers and text comes as JSON; its values are taken out as text.
    mixed = [row[0] for row in found if row[1] == "JSON" and row[0] in as_text]
    taken = ", ".join(
        f"{quoted} ->> '$' as {quoted}"
        for quoted in ('"' + name.replace('"', '""') + '"' for name in mixed)
    )
    replaced = f" replace ({taken})" if taken else ""
    return engine.view(f"select *{replaced} from {source}")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def files_of(*sources: Any) -> list[str]:
    """Return the files that sources stand for."""
    found: list[str] = []
    for source in sources:
        if isinstance(source, str | os.PathLike):
            text = os.fspath(source)
            url = re.match(r"(sqlite|duckdb):///", text)
            found += _files(unquote(urlsplit(text).path)[1:] if url else text)
    return found


# Frames.


def _implementation(source: Any) -> nw.Implementation:
    try:
        _refuse_repeated(source)
        found: nw.Implementation = nw.from_native(source).implementation
        return found
    except TypeError:
        raise SourceError(
            "table",
            f"a {type(source).__name__} found",
            "Give a path, a URL, or a frame of pandas, Polars, PyArrow, DuckDB, ibis or Spark",
        ) from None


def _refuse_repeated(source: Any) -> None:
    """Refuse a frame in which two columns have one name: nobody could tell which is meant."""
    if hasattr(source, "collect_schema"):
        return  # Polars has no such frames
    columns = getattr(source, "column_names", None) or getattr(source, "columns", [])
    if callable(columns) or not hasattr(columns, "__iter__"):
        return
    named = [str(column) for column in columns]
    for name in named:
        if named.count(name) > 1:
            raise ColumnError("table", f"two columns are called {name!r}", "Rename one of them")


def _open_frame(source: Any, request: Request | None, where: Where) -> Opened:
    implementation = _implementation(source)
    words = f"the {implementation.value} frame"
    if implementation.is_pyspark() or implementation.is_pyspark_connect():
        from unheard.tables.engines.spark import Spark

        spark = Spark(source.sparkSession)
        return _opened(spark, spark.source(source), "the Spark frame")
    if implementation.is_duckdb():
        relation = Relation(source)
        return _opened(relation, relation.source, "the DuckDB relation")
    engine = DuckDB(where.memory)
    relation_ = engine.register(_as_arrow(source, implementation))
    opened = _opened(engine, relation_, words)
    return replace(opened, back=lambda query: _same_kind(source, implementation, engine, query))


def _as_arrow(source: Any, implementation: nw.Implementation) -> pa.Table:
    import pyarrow as pa

    if implementation.is_pyarrow():
        return source
    if implementation.is_ibis():
        return source.to_pyarrow()
    if implementation.is_pandas():
        return pa.table({str(name): _pandas_column(source[name]) for name in source.columns})
    frame = nw.from_native(source)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame.to_arrow()


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
        return rows.to_pandas()
    frame = nw.from_arrow(rows, backend=implementation)  # type: ignore[arg-type]
    lazy = isinstance(nw.from_native(source), nw.LazyFrame)
    return (frame.lazy() if lazy else frame).to_native()
