"""SQLite, through Python's own driver."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import date, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from unheard.errors import SourceError
from unheard.tables.engines.base import Database, batches, describe_failure, fresh, schema_of, table
from unheard.tables.request import Kind

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 10_000
_PATIENCE = 60.0
"""Seconds to wait while another program writes; one that never stops leaves few gaps."""

_MAGIC = b"SQLite format 3\0"


def is_sqlite(head: bytes) -> bool:
    """Whether a file that begins like this is a SQLite database."""
    return head.startswith(_MAGIC)


class SQLite(Database):
    """A SQLite database file; opened for reading unless a table is to be written.

    A run is one read transaction. Without a write-ahead log, programs that write wait for its end.
    """

    name = "SQLite"
    dialect = "sqlite"
    times_are_text = True

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        try:
            self.connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode={'rw' if writable else 'ro'}",
                uri=True,
                # Whoever reads a result in batches may do so from a thread of its own.
                check_same_thread=False,
                isolation_level=None,  # transactions begin and end where it says so here
                timeout=_PATIENCE,
            )
            self.connection.execute("begin")
            # The state of the database that a transaction sees is that of its first look.
            self.connection.execute("select 1 from sqlite_master").fetchall()
        except sqlite3.Error as error:
            raise _refuse_to_open(path, error) from None

    def execute(self, sql: str) -> sqlite3.Cursor:
        """Run a statement; an error comes back with it."""
        try:
            return self.connection.execute(sql)
        except sqlite3.Error as error:
            raise describe_failure(self, error, sql) from error

    def columns(self, relation: exp.Expr) -> dict[str, Kind]:
        """Say what the columns of a table hold: as declared, or else as found in its first rows."""
        query = exp.select("*").from_(relation.copy())
        view = fresh("look")
        self.execute(f"create temp view {view} as {self.text(query)}")
        declared = self.execute(f"pragma table_info({view})").fetchall()
        kinds = {row[1]: _kind(row[2]) for row in declared}
        for name, kind in kinds.items():
            if kind is None:
                kinds[name] = self._find_kind(view, name)
        self.execute(f"drop view {view}")
        return {name: kind or "other" for name, kind in kinds.items()}

    def _find_kind(self, view: str, name: str) -> Kind:
        quoted = '"' + name.replace('"', '""') + '"'
        found = self.execute(
            f"select distinct typeof({quoted}) from (select {quoted} from {view} "
            f"where {quoted} is not null limit 1000)"
        ).fetchall()
        types = {row[0] for row in found}
        if types == {"integer"}:
            return "whole"
        return "real" if types and types <= {"integer", "real"} else "text"

    def arrow(self, query: exp.Expr) -> pa.RecordBatchReader:
        """Return a result as batches of Arrow records."""
        cursor = self.execute(self.text(query))
        names = [column[0] for column in cursor.description]
        return batches(*_find_types(cursor, names))

    def computes(self) -> bool:
        """Return that it can: it runs in this process."""
        return True

    def upload(self, name: str, table_: pa.Table) -> exp.Expr:
        """Bring a small table into the engine."""
        stored = fresh(name)
        columns = ", ".join('"' + c.replace('"', '""') + '"' for c in table_.column_names)
        marks = ", ".join("?" * table_.num_columns)
        self.execute(f"create temp table {stored} ({columns})")
        rows = (
            tuple(map(_without_dates, row.values()))
            for batch in table_.to_batches()
            for row in batch.to_pylist()
        )
        sql = f"insert into {stored} values ({marks})"
        try:
            self.connection.executemany(sql, rows)
        except sqlite3.Error as error:
            raise describe_failure(self, error, sql) from error
        return table(stored)

    def tables(self) -> list[str]:
        """Names of the tables and views of the database."""
        found = self.execute(
            "select name from sqlite_master where type in ('table', 'view') "
            "and name not like 'sqlite_%' order by name"
        )
        return [row[0] for row in found.fetchall()]

    def qualified_tables(self) -> list[str]:
        """Names of the tables and views, with the only schema before a point."""
        return [f"main.{name}" for name in self.tables()]

    def create(self, name: str, query: exp.Query) -> None:
        """Write a result into a new table of the database."""
        target = self.text(self.lookup("to_table", name))
        made = self.keep("made", query)
        # Who has read cannot write once others have written. What is made needs no second look.
        self.execute("commit")
        self.execute(f"create table {target} as select * from {made.name}")

    def begin_writing(self) -> None:
        """Begin a transaction; wait, for a minute at most, while somebody else writes."""
        self.execute("commit")
        self.execute("begin immediate")

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def _refuse_to_open(path: Path, error: sqlite3.Error) -> SourceError:
    problem, hint = "SQLite cannot open {path}: {message}", "Use a SQLite database"
    code = getattr(error, "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_BUSY:
        hint = "Try again when no other program writes to it"
    elif code == sqlite3.SQLITE_READONLY_ROLLBACK:
        problem = (
            "{path} cannot be read: a program was interrupted while it wrote to it, and "
            "{path}-journal, which undoes what was half written, is still to be applied"
        )
        hint = (
            "Open {path} once with a program that may write, and SQLite applies it: "
            "sqlite3 {path} 'pragma user_version'"
        )
    return SourceError("source", problem=problem, hint=hint, path=str(path), message=str(error))


def _kind(declared: str) -> Kind | None:
    """Read a declared type by SQLite's own rules of affinity."""
    name = declared.upper()
    if not name:
        return None
    if "INT" in name:
        return "whole"
    if any(word in name for word in ("CHAR", "CLOB", "TEXT")):
        return "text"
    if any(word in name for word in ("DATE", "TIME")):
        return "time"
    if any(word in name for word in ("REAL", "FLOA", "DOUB", "NUM", "DEC")):
        return "real"
    return None


def _find_types(cursor: sqlite3.Cursor, names: list[str]) -> tuple[Iterator[list[Any]], pa.Schema]:
    import pyarrow as pa

    first = cursor.fetchmany(_BATCH)
    schema = schema_of(names, first)
    dates = [i for i, field in enumerate(schema) if pa.types.is_date(field.type)]

    def read() -> Iterator[list[Any]]:
        chunk = first
        while chunk:
            yield [_with_dates(row, dates) for row in chunk] if dates else chunk
            chunk = cursor.fetchmany(_BATCH)

    return chain(read()), schema


def _without_dates(value: Any) -> Any:
    """Write dates and times as SQLite's functions do: it has none."""
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, date) else value


def _with_dates(row: tuple[Any, ...], dates: list[int]) -> tuple[Any, ...]:
    """SQLite has no dates; ours come as text."""
    cells = list(row)
    for index in dates:
        if cells[index] is not None:
            cells[index] = date.fromisoformat(cells[index])
    return tuple(cells)
