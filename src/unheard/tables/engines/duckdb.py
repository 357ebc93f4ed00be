"""DuckDB, embedded: files, data frames, DuckDB databases and relations."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from unheard._interrupt import loaded
from unheard.errors import Given, OptionError, SourceError
from unheard.tables.engines.base import Database, Engine, describe_failure, fresh, table
from unheard.tables.request import Kind
from unheard.tables.sql.packed_counts import PackedAs

if TYPE_CHECKING:
    import pyarrow as pa

# What a query needs and DuckDB lacks is never fetched, nor taken from where somebody put it.
_ALONE: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|INTEGER")


def kind_of(declared: str) -> Kind:
    """Say what a column of a DuckDB type holds."""
    if _WHOLE.fullmatch(declared):
        return "whole"
    if declared == "FLOAT":
        return "single"
    if declared == "DOUBLE" or declared.startswith("DECIMAL"):
        return "real"
    if declared in ("VARCHAR", "UUID") or declared.startswith("ENUM"):
        return "text"
    if declared.startswith(("DATE", "TIMESTAMP")):
        return "time"
    return "flag" if declared == "BOOLEAN" else "other"


def is_duckdb(head: bytes) -> bool:
    """Whether a file that begins like this is a DuckDB database."""
    return head[8:12] == b"DUCK"


class DuckDB(Database):
    """A private DuckDB that reads files, frames and databases, and spills to disk.

    While it has a database open, nothing else in this process or another can write to it.

    Parameters
    ----------
    memory
        Most memory to use, such as ``"1GiB"``; by default DuckDB's own limit.
    confined
        The one folder, besides its own for what does not fit into memory, that it may read; by
        default it may read any.
    """

    name = "DuckDB"
    dialect = "duckdb"
    packs: PackedAs | None = "lists"

    def __init__(self, memory: str | None = None, confined: Path | None = None) -> None:
        self.connection = duckdb.connect(config=_ALONE)
        self._attached = False
        loaded()
        # Goes with the engine, whatever becomes of it.
        self._folder = tempfile.TemporaryDirectory(prefix="unheard-", ignore_cleanup_errors=True)
        try:
            self._configure(memory, confined)
        except BaseException:
            self.close()
            raise

    def _configure(self, memory: str | None, confined: Path | None) -> None:
        # Rows of a result have no order of their own; without one, sorts and scans spill better.
        self.connection.execute("set preserve_insertion_order = false")
        # So that it can be asked how far it is; it prints nothing itself.
        self.connection.execute("set enable_progress_bar = true")
        self.connection.execute("set enable_progress_bar_print = false")
        # Whole numbers up to two million that name items are counted in a plain array; the
        # default stops at four thousand. It halves the time and costs at most some 100 MB.
        self.connection.execute("set perfect_ht_threshold = 21")
        self.connection.execute(f"set temp_directory = {quote_text(str(self.folder))}")
        if memory is not None:
            try:
                self.connection.execute(f"set memory_limit = {quote_text(memory)}")
            except duckdb.Error:
                raise OptionError(
                    "memory",
                    problem="{argument} must be an amount of memory",
                    value=memory,
                    hint="Use a number with a unit",
                    examples=("1GiB", "500MB"),
                ) from None
        if confined is not None:
            allowed = ", ".join(quote_text(str(place)) for place in (confined, self.folder))
            self.connection.execute(f"set allowed_directories = [{allowed}]")
            self.connection.execute("set enable_external_access = false")
            self.connection.execute("set lock_configuration = true")

    @property
    def folder(self) -> Path:
        """A private folder that is removed when the engine is closed."""
        return Path(self._folder.name)

    def execute(self, sql: str) -> duckdb.DuckDBPyConnection:
        """Run a statement; an error comes back with it."""
        with _wrap_errors(self, sql):
            return self.connection.execute(sql)

    def columns(self, relation: exp.Expr) -> dict[str, Kind]:
        """Say what the columns of a table hold."""
        query = exp.select("*").from_(relation.copy())
        found = self.execute(f"describe {self.text(query)}").fetchall()
        return {row[0]: kind_of(row[1]) for row in found}

    def arrow(self, query: exp.Expr) -> pa.RecordBatchReader:
        """Return a result as batches of Arrow records."""
        sql = self.text(query)
        with _wrap_errors(self, sql):
            return self.connection.sql(sql).to_arrow_reader()

    def computes(self) -> bool:
        """Return that it can: it runs in this process."""
        return True

    def upload(self, name: str, table_: pa.Table) -> exp.Expr:
        """Let DuckDB read an Arrow table without copying it."""
        stored = fresh(name)
        self.connection.register(stored, table_)
        return table(stored)

    def from_query(self, sql: str) -> exp.Expr:
        """Read from a query that the user wrote, which must be a single SELECT."""
        with _wrap_errors(self, sql):
            found = [statement.type for statement in self.connection.extract_statements(sql)]
        if found != [duckdb.StatementType.SELECT]:
            what = ", ".join(str(kind).rpartition(".")[2] for kind in found) or "nothing"
            raise OptionError(
                "query",
                problem="{argument} must be one SELECT statement",
                value=Given(what),
                hint="Remove everything else",
            )
        return self.view(sql)

    def lookup(self, place: str, name: str) -> exp.Expr:
        """Return a table of the attached database; a schema may stand before a point."""
        if self._attached:
            return super().lookup(place, name)
        return Engine.lookup(self, place, name)

    def create(self, name: str, query: exp.Query) -> None:
        """Write a result into a new table of the attached database."""
        if not self._attached:
            super().create(name, query)
        target = self.text(self.lookup("to_table", name))
        self.execute(f"create table {target} as {self.text(query)}")

    def fraction(self) -> float | None:
        """How much of the running query is done."""
        done = self.connection.query_progress()
        return None if done < 0 else done / 100

    def close(self) -> None:
        """Close the connection and remove what was spilled."""
        self.connection.close()
        self._folder.cleanup()

    # Where rows come from.

    def register(self, frame: object) -> exp.Expr:
        """Let DuckDB read Arrow data without copying them."""
        stored = fresh("source")
        self.connection.register(stored, frame)
        self.counts_rows_for_nothing = True
        return table(stored)

    def attach(self, path: Path, *, writable: bool) -> None:
        """Open a DuckDB database and look for tables there first."""
        mode = "" if writable else ", read_only"
        # Without the dot and the type, a name may mean an address, or a database of another kind.
        place = quote_text(os.path.join(os.curdir, path))
        try:
            self.connection.execute(f"attach {place} as database_ (type duckdb{mode})")
            self.connection.execute("use database_")
            self._attached = True
        except duckdb.Error as error:
            raise SourceError(
                "source",
                problem="DuckDB cannot open {path}: {message}",
                hint="Is another program writing to it?",
                path=str(path),
                message=str(error),
            ) from None
        self.counts_rows_for_nothing = True

    def tables(self) -> list[str]:
        """Names of the tables of the attached database."""
        return [row[0] for row in self.execute("show tables").fetchall()]

    def qualified_tables(self) -> list[str]:
        """Names of the tables and views of all schemas, with their schema before a point."""
        listed = "select table_schema || '.' || table_name from information_schema.tables "
        found = self.execute(f"{listed} where table_catalog = current_database() order by 1")
        return [row[0] for row in found.fetchall()]

    def begin_writing(self) -> None:
        """Begin a transaction; nobody else has the database open."""
        self.execute("begin transaction")


class Relation(Engine):
    """A DuckDB relation that the user holds; everything runs on its own connection."""

    name = "DuckDB"
    dialect = "duckdb"
    packs: PackedAs | None = "lists"

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation, self._view = relation, fresh("source")

    @property
    def source(self) -> exp.Expr:
        """The relation, as a table to read from."""
        return table(self._view)

    def columns(self, relation: exp.Expr) -> dict[str, Kind]:
        """Say what the columns of a table hold."""
        found = self._run(exp.select("*").from_(relation.copy()))
        return {
            name: kind_of(str(kind)) for name, kind in zip(found.columns, found.types, strict=True)
        }

    def rows(self, query: exp.Expr) -> list[dict[str, Any]]:
        """Fetch a small result."""
        found = self._run(query)
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]

    def native(self, query: exp.Expr) -> Any:
        """Return a result as a relation, computed when it is used."""
        return self._run(query)

    def arrow(self, query: exp.Expr) -> pa.RecordBatchReader:
        """Return a result as batches of Arrow records."""
        return self._run(query).to_arrow_reader()

    def _run(self, query: exp.Expr) -> duckdb.DuckDBPyRelation:
        sql = self.text(query)
        with _wrap_errors(self, sql):
            found = self._relation.query(self._view, sql)
        assert found is not None  # a SELECT has a result
        return found


@contextmanager
def _wrap_errors(engine: Engine, sql: str) -> Iterator[None]:
    """Pass errors on with the query that failed, and Ctrl-C as what it is."""
    try:
        yield
    except (duckdb.Error, RuntimeError) as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise describe_failure(engine, error, sql) from error


def quote_text(value: str) -> str:
    """Write text into a statement."""
    return "'" + value.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """Write the name of a column or a table into a statement."""
    return '"' + name.replace('"', '""') + '"'
