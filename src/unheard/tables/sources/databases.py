"""Databases: what names one, how to connect to it, and which of its tables is meant."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlglot import exp

from unheard.errors import OptionError, QueryError, SourceError, hide_passwords
from unheard.tables.engines.base import Database
from unheard.tables.engines.duckdb import DuckDB, is_duckdb
from unheard.tables.engines.sqlite import SQLite, is_sqlite
from unheard.tables.request import check_table_name
from unheard.tables.sources.parts import read_head
from unheard.tables.sql.dialects import DIALECTS
from unheard.text import plural

DUCKDB_ENDINGS, SQLITE_ENDINGS = (".duckdb", ".ddb"), (".sqlite", ".sqlite3")
"""How a file is called that can be nothing but a database of one kind."""

DATABASE_ENDINGS = (".db", *DUCKDB_ENDINGS, *SQLITE_ENDINGS)
"""How a file is called that is to be opened as a database; what is in it tells which kind."""

_OF_FILES = ("http", "https", "ftp", "s3", "gs", "gcs", "az", "abfss", "hf")
"""Schemes of addresses that files are at."""

_URL = re.compile(r"([a-z][a-z0-9+]*)://", re.IGNORECASE)

LEDGER_COLUMNS = ("batch", "n_rows", "settings")
"""The columns of the table beside kept counts that lists their batches."""


def is_url(text: str) -> bool:
    """Whether a source is named by a URL."""
    return _URL.match(text) is not None


def is_database_file(text: str) -> bool:
    """Whether a source is a file that is to be opened as a database."""
    database, _ = split_source(text)
    return os.path.isfile(database) and database.lower().endswith(DATABASE_ENDINGS)


def split_source(text: str) -> tuple[str, str | None]:
    """Divide ``DATABASE#TABLE``; None if no table is named.

    What has an @ or a / in it is not a table but part of a URL behind a password with a #.
    """
    database, _, name = text.rpartition("#")
    named = is_url(database) or database.lower().endswith(DATABASE_ENDINGS)
    if not named or not name or "@" in name or "/" in name or os.path.isfile(text):
        return text, None
    return database, name


def choose_table(text: str, table: str | None, query: str | None) -> tuple[str, str | None]:
    """Return the database of a source, and the table that is named beside it or apart."""
    database, named = split_source(text)
    if named is not None and (table or query):
        raise OptionError(
            "table" if table else "query",
            problem="{argument} cannot be combined with a source that names a table, {name}",
            hint="Leave one of them out",
            name=repr(named),
        )
    return database, named or table


def path_of_url(text: str) -> Path | None:
    """Return the file that a URL of a SQLite or DuckDB database names; None for any other."""
    found = _URL.match(text)
    if found is None or found[1].lower() not in ("sqlite", "duckdb"):
        return None
    return Path(unquote(urlsplit(text).path)[1:])


def connect(text: str, *, writable: bool = False, memory: str | None = None) -> Database:
    """Connect to a database by its URL, or by its file."""
    found = _URL.match(text)
    scheme = "" if found is None else found[1].lower()
    if scheme in ("postgresql", "postgres"):
        from unheard.tables.engines.postgres import Postgres

        return Postgres(text, writable=writable)
    if scheme in ("mysql", "mariadb"):
        from unheard.tables.engines.mysql import MySQL

        return MySQL(text, writable=writable)
    if scheme in ("clickhouse", "chdb"):
        from unheard.tables.engines.clickhouse import ClickHouse

        return ClickHouse(text, writable=writable)
    path = path_of_url(text)
    if path is not None and not path.is_file():
        raise SourceError(
            "source",
            problem="{path} does not exist",
            hint="Write {scheme}:///folder/file.db, or an absolute path after four slashes",
            code="file_not_found",
            path=str(path),
            scheme=scheme,
        )
    if path is None and scheme:
        raise SourceError(
            "source",
            problem="{url} cannot be read: {scheme} is not supported",
            hint="Run the SQL that `unheard sql --dialect {scheme}` writes"
            if scheme in DIALECTS
            else "Download the file first"
            if scheme in _OF_FILES
            else "Use postgresql://, mysql://, clickhouse://, sqlite:/// or duckdb:///, or run the "
            "SQL that `unheard sql` writes",
            url=hide_passwords(text),
            scheme=scheme,
        )
    path = Path(text) if path is None else path
    if (scheme or _tell_kind(text)) == "sqlite":
        return SQLite(path, writable=writable)
    engine = DuckDB(memory)
    with engine.closed_on_error():
        engine.attach(path, writable=writable)
    return engine


def _tell_kind(text: str) -> str:
    """Tell the kind of a database from what its file begins with."""
    head = read_head(text, text)
    if not head and text.lower().endswith(SQLITE_ENDINGS):
        return "sqlite"  # nothing was written to it yet
    if not is_sqlite(head) and not is_duckdb(head):
        raise SourceError(
            "source",
            problem="{path} is neither a DuckDB nor a SQLite database",
            hint="If it contains rows, give it an ending",
            examples=(".csv", ".parquet"),
            path=text,
        )
    return "sqlite" if is_sqlite(head) else "duckdb"


def find_table(
    engine: Database,
    database: str,
    table: str | None,
    query: str | None = None,
    to_table: str | None = None,
) -> tuple[exp.Expr, str]:
    """Return the table or query that is meant, and what messages call it.

    Parameters
    ----------
    engine, database
        The database, and what messages call it.
    table, query
        The table to read, or a query; by default the only table there is.
    to_table
        A table that is to be made.
    """
    if query is not None:
        return _find_query(engine, query), f"the query on {database}"
    there = engine.tables()
    if to_table is not None and engine.has_table(to_table):
        raise OptionError(
            "to_table",
            problem="{database} already has a table {name}",
            hint="Choose another name",
            database=database,
            name=repr(to_table),
        )
    name = table
    listed = there or engine.qualified_tables()
    if name is None:
        tables = [one for one in there if not is_ledger(engine, one, there)]
        if len(tables) != 1:
            raise OptionError(
                "table",
                problem="{database} has {tables}: {there}",
                hint="Name one with {table}",
                database=database,
                tables=plural(len(listed), "table"),
                there=", ".join(listed[:12]) or "none",
            )
        name = tables[0]
    elif not engine.has_table(name):
        everywhere = engine.qualified_tables()
        near = [one for one in everywhere if one.endswith(f".{name}")]
        near = near or difflib.get_close_matches(name, [*there, *everywhere], n=1)
        raise OptionError(
            "table",
            problem="{database} has no table {name}",
            hint="Did you mean {near}? It has: {there}" if near else "It has: {there}",
            database=database,
            name=repr(name),
            near=repr(near[0]) if near else "",
            there=", ".join(listed[:12]),
        )
    check_table_name("table", name)
    return engine.lookup("table", name), f"table {name} of {database}"


def _find_query(engine: Database, query: str) -> exp.Expr:
    # The user's own words go to the engine as they are.
    try:
        return engine.from_query(query)
    except QueryError as error:
        raise OptionError(
            "query",
            problem="{argument} cannot be run; {engine_name} reports: {message}",
            hint="Use one SELECT statement",
            engine_name=error.engine,
            message=error.message.rstrip("."),
        ) from None


def ledger_of(name: str) -> str:
    """Name the table that lists the batches of kept counts."""
    return f"{name}_batches"


def is_ledger(engine: Database, name: str, there: list[str]) -> bool:
    """Whether a table lists the batches of counts that are kept in another one."""
    if not any(ledger_of(one) == name for one in there):
        return False
    return tuple(engine.columns(engine.lookup("table", name))) == LEDGER_COLUMNS
