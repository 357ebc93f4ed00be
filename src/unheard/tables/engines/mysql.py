"""MySQL and MariaDB, through PyMySQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from unheard.errors import MissingLibraryError, OptionError, QueryError, SourceError, hide_passwords
from unheard.tables.engines.base import (
    CHECK_URL,
    Database,
    as_subquery,
    batches,
    describe_failure,
    read_server_url,
    schema_of,
)
from unheard.tables.request import Kind
from unheard.tables.sql.reserved_names import reserve

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 10_000

_BEGIN = (
    # What the strings and operators of our queries mean is not for the server to choose.
    "set session sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'",
    "set session transaction isolation level repeatable read",
    "start transaction with consistent snapshot, read only",
)

_DECLARED: tuple[tuple[str, Kind, str], ...] = (
    ("TINY SHORT LONG LONGLONG INT24 YEAR", "whole", "int64"),
    ("DOUBLE DECIMAL NEWDECIMAL", "real", "float64"),
    ("FLOAT", "single", "float64"),
    ("VARCHAR VAR_STRING STRING TINY_BLOB BLOB MEDIUM_BLOB LONG_BLOB", "text", "string"),
    ("DATE NEWDATE", "time", "date32"),
    ("DATETIME TIMESTAMP", "time", "timestamp[us]"),
)
"""Types by the names that the driver has for them, what they are, and how Arrow calls them."""


class MySQL(Database):
    """A MySQL or MariaDB database; everything but the result stays there.

    A run is one read-only transaction with a consistent snapshot. The server makes no tables in
    it, so results are computed each time they are needed, and nothing can be written.
    """

    name = "MySQL"
    dialect = "mysql"
    keeps = False

    def __init__(self, url: str, *, writable: bool = False) -> None:
        if writable:
            raise _refuse_writing()
        try:
            import pymysql
        except ImportError:
            raise MissingLibraryError("Reading a MySQL database", "PyMySQL", "mysql") from None
        self._error = pymysql.MySQLError
        shown = hide_passwords(url)
        try:
            self.connection = pymysql.connect(
                **_read_url(url, shown), charset="utf8mb4", autocommit=True
            )
        # The driver asks for a further library if passwords are to be sent without encryption.
        except (pymysql.MySQLError, RuntimeError) as error:
            raise SourceError(
                "source",
                problem="Cannot connect to {url}: {message}",
                hint=CHECK_URL,
                url=shown,
                message=_message(error),
            ) from None
        self._codes = {
            getattr(pymysql.constants.FIELD_TYPE, name): (kind, arrow)
            for names, kind, arrow in _DECLARED
            for name in names.split()
        }
        with self.closed_on_error():
            for statement in _BEGIN:
                self.execute(statement)

    def execute(self, sql: str) -> Any:
        """Run a statement; an error comes back with it."""
        cursor = self.connection.cursor()
        try:
            cursor.execute(sql)
        except self._error as error:
            raise QueryError(self.name, _message(error), sql) from error
        return cursor

    def columns(self, relation: exp.Expr) -> dict[str, Kind]:
        """Say what the columns of a table hold."""
        cursor = self.execute(self.text(exp.select("*").from_(relation.copy()).limit(0)))
        unknown: tuple[Kind, str] = ("other", "string")
        return {column[0]: self._codes.get(column[1], unknown)[0] for column in cursor.description}

    def keep(self, name: str, query: exp.Query) -> exp.Expr:
        """Leave a result to be computed when it is needed."""
        return query.subquery(reserve(name))

    def from_query(self, sql: str) -> exp.Expr:
        """Read from a query that the user wrote, which must be a single SELECT.

        The driver sends one statement at a time, and what stands behind FROM is a query.
        """
        relation = as_subquery(sql, self.dialect)
        self.execute(self.text(exp.select("*").from_(relation.copy()).limit(0)))
        return relation

    def arrow(self, query: exp.Expr) -> pa.RecordBatchReader:
        """Return a result as batches of Arrow records."""
        import pyarrow as pa

        sql = self.text(query)
        cursor = self.execute(sql)
        first = cursor.fetchmany(_BATCH)
        schema = schema_of([column[0] for column in cursor.description], first)
        for index, column in enumerate(cursor.description):
            if all(row[index] is None for row in first) and column[1] in self._codes:
                kind = pa.type_for_alias(self._codes[column[1]][1])
                schema = schema.set(index, pa.field(column[0], kind))

        def read() -> Iterator[list[Any]]:
            chunk = first
            while chunk:
                yield chunk
                chunk = cursor.fetchmany(_BATCH)

        try:
            return batches(read(), schema)
        except pa.ArrowException as error:
            raise describe_failure(self, error, sql) from error

    def tables(self) -> list[str]:
        """Names of the tables and views of the database."""
        found = self.execute(
            "select table_name from information_schema.tables where table_schema = database() "
            "order by 1"
        )
        return [row[0] for row in found.fetchall()]

    def qualified_tables(self) -> list[str]:
        """Names of the tables and views of all databases, with theirs before a point."""
        found = self.execute(
            "select concat(table_schema, '.', table_name) from information_schema.tables where "
            "table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys') "
            "order by 1"
        )
        return [row[0] for row in found.fetchall()]

    def begin_writing(self) -> None:
        """Refuse to write."""
        raise _refuse_writing()

    def close(self) -> None:
        """Close the connection."""
        if self.connection.open:
            self.connection.close()


def _refuse_writing() -> OptionError:
    return OptionError(
        "to_table",
        problem="{argument} is not supported for MySQL and MariaDB, which would read another state "
        "of the database to fill the table",
        hint="Write to a file, or create a view with the SQL that `unheard sql --view` writes",
    )


def _read_url(url: str, shown: str) -> dict[str, Any]:
    """Read what the driver has to know from a URL."""
    try:
        place = read_server_url(url, {"unix_socket", "ssl_ca"})
        if place.database is None or place.user is None:
            raise ValueError
    except ValueError:
        raise SourceError(
            "source",
            problem="{url} is not the URL of a MySQL database",
            hint="Write mysql://user:password@host:port/name, with %25 for a % in a password, "
            "%40 for @, %2F for / and %23 for #, and nothing behind it but ?unix_socket= or "
            "?ssl_ca=",
            url=shown,
        ) from None
    # Who names a certificate wants to know whom they talk to.
    checked = {"ssl_verify_identity": "yes"} if "ssl_ca" in place.options else {}
    return {
        "host": place.host,
        "port": place.port or 3306,
        "user": place.user,
        "password": place.password,
        "database": place.database,
        **place.options,
        **checked,
    }


def _message(error: Exception) -> str:
    """Return what the server says, without the number of the error."""
    words = str(error.args[-1] if error.args else error).strip().splitlines()
    return words[0] if words else type(error).__name__
