"""Counts kept in a table of a database, beside a table of the batches that were added."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from unheard.errors import ColumnError, InputError, QueryError, SourceError, hide_passwords
from unheard.files import beside, lock_file
from unheard.model.histograms import LARGEST_COUNT
from unheard.tables.engines.base import Database, literal
from unheard.tables.engines.duckdb import quote_name
from unheard.tables.kept.batches import Batch, State, Totals, check_kinds, kind_of, refuse_large
from unheard.tables.kept.settings import CountSettings
from unheard.tables.output.write import write_errors
from unheard.tables.request import Request, check_table_name
from unheard.tables.sources.databases import (
    DUCKDB_ENDINGS,
    LEDGER_COLUMNS,
    SQLITE_ENDINGS,
    connect,
    is_url,
    ledger_of,
    path_of_url,
)

if TYPE_CHECKING:
    import pyarrow as pa

DEFAULT_TABLE = "counts"


class CountsTable:
    """Counts kept in a table; processes that add to it wait for each other.

    Parameters
    ----------
    database
        A database file or URL.
    table
        The table, which is made when the first batch is added.
    """

    def __init__(self, database: str, table: str) -> None:
        check_table_name("into", table)
        self._database, self._table = database, table
        self.words = f"{hide_passwords(database)}#{table}"
        self._path = path_of_url(database) if is_url(database) else Path(database)

    def read(self) -> State | None:
        """Return what is kept; None if nothing is kept yet."""
        if self._path is not None and not _is_there(self._path):
            return None
        # While somebody adds to it, a DuckDB file cannot even be read. Opened for writing, because
        # what an interrupted program left half written in a SQLite file is then undone.
        with self._lock(), self._connect() as engine:
            return self._read(engine)

    def add(
        self, request: Request, batches: Sequence[Batch], memory: str | None
    ) -> tuple[list[Batch], Totals]:
        """Add the batches that are new, all of them or none; return them, and what is kept."""
        try:
            return self._add(request, batches, memory)
        except QueryError as error:
            # Whether a commit was done before its connection was lost, nobody knows, and it does
            # not matter.
            raise SourceError(
                "into",
                problem="{table} cannot be written; {engine} reports: {message}",
                hint="Solve that and try again; no batch is added twice",
                table=self.words,
                engine=error.engine,
                message=error.message,
            ) from error

    def _add(
        self, request: Request, batches: Sequence[Batch], memory: str | None
    ) -> tuple[list[Batch], Totals]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._lock())
            if self._path is not None:
                stack.enter_context(_create_database(self._path, self._database))
            engine = stack.enter_context(self._connect(memory))
            engine.begin_writing()
            settings = CountSettings.of(request)
            state = self._read(engine) or State(settings, {})
            state.settings.check_same(settings, self.words)
            new = state.choose_new(batches)
            if new and not state.batches:
                self._create(engine, request, new[0].counts)
            for batch in new:
                self._add_one(engine, request, batch)
            totals = self._total(engine, request, len(state.batches) + len(new))
            engine.commit()
        return new, totals

    def _lock(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self._path is None else lock_file(self._path, "into")

    @contextmanager
    def _connect(self, memory: str | None = None) -> Iterator[Database]:
        try:
            engine = connect(self._database, writable=True, memory=memory)
        except InputError as error:
            raise error.about("into") from None
        try:
            yield engine
        finally:
            engine.close()

    def _read(self, engine: Database) -> State | None:
        ledger = ledger_of(self._table)
        there = [engine.has_table(name) for name in (self._table, ledger)]
        if not any(there):
            return None
        found = read_state(engine, self._table) if all(there) else None
        if found is None:
            raise SourceError(
                "into",
                problem="{table} exists but holds no kept counts",
                hint="Name another table",
                table=self.words,
            )
        return found

    def _create(self, engine: Database, request: Request, batch: pa.Table) -> None:
        """Make both tables."""
        columns = []
        for name in batch.column_names:
            declared = "bigint"
            if name in request.groups:
                declared = self._declare(name, batch.schema.field(name).type)
            columns.append(f"{quote_name(name)} {declared} not null")
        keys = ", ".join(map(quote_name, request.groups))
        engine.execute(
            f"create table {self._name(engine)} ({', '.join(columns)}, primary key ({keys}))"
        )
        engine.execute(
            f"create table {self._name(engine, ledger_of(self._table))} "
            "(batch text primary key, n_rows bigint not null, settings text not null)"
        )

    def _declare(self, name: str, kind: pa.DataType) -> str:
        from pyarrow.types import is_date

        held = kind_of(kind)
        if held == "time":
            return "date" if is_date(kind) else "timestamp"
        declared = {"whole": "bigint", "real": "double precision", "text": "text"}.get(held)
        if declared is None:
            raise ColumnError(
                "item",
                problem="Column {column} holds values of a type that {kept} cannot keep: {type}",
                hint="Convert it to text",
                code="wrong_column_type",
                column=repr(name),
                kept=self.words,
                type=str(kind),
            )
        return declared

    def _add_one(self, engine: Database, request: Request, batch: Batch) -> None:
        """Add the counts of a batch to those of the same items."""
        target, keys = self._name(engine), list(map(quote_name, request.groups))
        kept = engine.columns(engine.lookup("into", self._table))
        check_kinds(batch, kept, request, self.words)
        names = [*request.count_names, *request.row_names]
        added = [f"{name} = kept.{name} + excluded.{name}" for name in map(quote_name, names)]
        columns = ", ".join([*keys, *map(quote_name, names)])
        uploaded = engine.text(exp.select("*").from_(engine.upload("batch", batch.counts)))
        engine.execute(
            f"insert into {target} as kept ({columns}) select {columns} from ({uploaded}) as batch "
            f"where true on conflict ({', '.join(keys)}) do update set {', '.join(added)}"
        )
        settings = CountSettings.of(request).write()
        values = [batch.batch, batch.rows, settings]
        written = ", ".join(engine.text(literal(value)) for value in values)
        ledger = self._name(engine, ledger_of(self._table))
        engine.execute(f"insert into {ledger} values ({written})")

    def _total(self, engine: Database, request: Request, batches: int) -> Totals:
        target = self._name(engine)
        if not batches:
            return Totals(0, 0, 0, 0)
        counts = list(map(quote_name, request.count_names))
        if request.counts:
            large = " or ".join(f"{name} > {LARGEST_COUNT}" for name in counts)
            keys = ", ".join(map(quote_name, request.groups))
            found = engine.execute(f"select {keys} from {target} where {large}").fetchone()
            if found is not None:
                raise refuse_large(", ".join(map(repr, found)), self.words)
        items, rows, ratings = engine.execute(
            f"select count(*), sum(n_rows), sum({' + '.join(counts)}) from {target}"
        ).fetchone()
        return Totals(items, int(rows or 0), int(ratings or 0), batches)

    def _name(self, engine: Database, table: str | None = None) -> str:
        """Write the name of a table into a statement."""
        return engine.text(engine.lookup("into", self._table if table is None else table))


def read_state(engine: Database, table: str) -> State | None:
    """Read what the list of batches says of the counts in a table; None if there is none."""
    ledger = ledger_of(table)
    if not engine.has_table(ledger):
        return None
    relation = engine.lookup("table", ledger)
    if tuple(engine.columns(relation)) != LEDGER_COLUMNS:
        return None
    rows = engine.rows(exp.select("*").from_(relation))
    if not rows:
        return None
    batches = {row["batch"]: int(row["n_rows"]) for row in rows}
    settings = (CountSettings.read(text) for text in {row["settings"] for row in rows})
    return State(reduce(CountSettings.add, settings), batches)


def _is_there(path: Path) -> bool:
    """Whether a database exists; an empty file is one that nothing was written to yet."""
    return path.is_file() and path.stat().st_size > 0


@contextmanager
def _create_database(path: Path, named: str) -> Iterator[None]:
    """Create an empty database if there is none; remove it again if nothing is written to it."""
    if _is_there(path):
        yield
        return
    if path.suffix.lower() in SQLITE_ENDINGS or named.lower().startswith("sqlite:"):
        path.touch()
    elif path.suffix.lower() in DUCKDB_ENDINGS or named.lower().startswith("duckdb:"):
        with beside(path, "into") as partial, write_errors(partial, path, "into"):
            partial.unlink()
            duckdb.connect(str(partial)).close()
    else:
        raise SourceError(
            "into",
            problem="{path} does not exist",
            hint="Name it as a new database of one kind, or as a file of counts",
            examples=("counts.duckdb", "counts.sqlite", "counts.parquet"),
            path=str(path),
        )
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        # On a full disk SQLite leaves its journal, which the next database of this name would read.
        for ending in (".wal", "-journal", "-wal", "-shm"):
            path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
        raise
