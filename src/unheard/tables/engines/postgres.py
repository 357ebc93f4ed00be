"""PostgreSQL, through psycopg."""

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
    fresh,
    is_ambiguous,
    schema_of,
    table,
)
from unheard.tables.request import Kind
from unheard.tables.sql.reserved_names import reserve

if TYPE_CHECKING:
    import psycopg
    import pyarrow as pa

_BATCH = 10_000
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("int2", "int4", "int8"), "whole"),
    **dict.fromkeys(("float8", "numeric"), "real"),
    "float4": "single",
    **dict.fromkeys(("text", "varchar", "bpchar", "name"), "text"),
    "bool": "flag",
    **dict.fromkeys(("date", "timestamp", "timestamptz"), "time"),
}

_NO_RIGHT = "42501"
"""The code of the error that a privilege is missing."""

_BEGIN = "begin isolation level repeatable read"
_READ_ONLY = "savepoint reading; set transaction read only"
_ALLOWED = """
    select current_setting('transaction_read_only') = 'off',
        has_database_privilege(current_database(), 'temporary')
"""


class Postgres(Database):
    """A PostgreSQL database; everything but the result stays there.

    A run is one transaction that sees one state of the database. Whatever reads the user's rows is
    read-only; the server then makes no tables, so those that hold our results are made in between.
    Where it makes none at all (a standby, a session that is read-only, a role that has no right to
    temporary tables), results are computed each time they are needed.
    """

    name = "PostgreSQL"
    dialect = "postgres"

    def __init__(self, url: str, *, writable: bool = False) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingLibraryError(
                "Reading a PostgreSQL database", "psycopg", "postgres"
            ) from None
        self._error = psycopg.Error
        self._writes = False
        if is_ambiguous(url):
            raise _refuse_url(url)
        try:
            self.connection: psycopg.Connection[Any] = psycopg.connect(url, autocommit=True)
        except (psycopg.ProgrammingError, UnicodeError):
            # The driver would quote the URL, password and all, and has no words for bytes that are
            # no text.
            raise _refuse_url(url) from None
        except psycopg.Error as error:
            words = str(error).strip().splitlines()[0]
            raise SourceError(
                "source",
                problem="Cannot connect to {url}: {message}",
                hint=CHECK_URL,
                url=hide_passwords(url),
                message=words,
            ) from None
        self.execute(_BEGIN)
        (allowed,) = self.execute(_ALLOWED).fetchall()
        may_write, may_keep = allowed
        if writable and not may_write:
            self.close()
            raise OptionError(
                "to_table",
                problem="{argument} requires write access, and this session of {url} is read-only",
                hint="Connect to a primary as a user who may write, or write to a file with "
                "{output}",
                url=hide_passwords(url),
            )
        self.keeps = may_write and may_keep
        self.execute(_READ_ONLY)

    def _make(self, sql: str) -> None:
        """Run a statement that makes a table, then be read-only again."""
        self.execute(sql if self._writes else f"release savepoint reading; {sql}; {_READ_ONLY}")

    def begin_writing(self) -> None:
        """Begin a transaction once no other of ours is running; it sees what that one wrote."""
        self._writes = True
        # What is seen is settled by the first look, which the wait for a lock would be.
        self.execute("rollback; begin isolation level read committed")
        self.execute("select pg_advisory_xact_lock(hashtextextended('unheard', 0))")

    def execute(self, sql: str) -> psycopg.Cursor[Any]:
        """Run a statement; an error comes back with it."""
        try:
            return self.connection.execute(sql.encode())
        except self._error as error:
            raise describe_failure(self, error, sql) from error

    def columns(self, relation: exp.Expr) -> dict[str, Kind]:
        """Say what the columns of a table hold."""
        cursor = self.execute(self.text(exp.select("*").from_(relation.copy()).limit(0)))
        types = self.connection.adapters.types
        found: dict[str, Kind] = {}
        for one in cursor.description or []:
            known = types.get(one.type_code)
            found[one.name] = _KINDS.get(known.name if known else "", "other")
        return found

    def keep(self, name: str, query: exp.Query) -> exp.Expr:
        """Store a result in a temporary table, with statistics for the planner."""
        if not self.keeps:
            return query.subquery(reserve(name))
        stored, sql = fresh(name), self.text(query)
        self._make(f"create temp table {stored} as {sql} with no data")
        self.execute(f"insert into {stored} {sql}")
        self.execute(f"analyze {stored}")
        return table(stored)

    def from_query(self, sql: str) -> exp.Expr:
        """Read from a query that the user wrote, which must be a single SELECT."""
        relation = as_subquery(sql, self.dialect)
        look = self.text(exp.select("*").from_(relation.copy()).limit(0))
        try:
            # What is prepared is one statement, and what stands behind FROM is a query.
            self.connection.execute(look.encode(), prepare=True)
        except self._error as error:
            raise describe_failure(self, error, look) from error
        return relation

    def rows(self, query: exp.Expr) -> list[dict[str, Any]]:
        """Fetch a small result."""
        try:
            return super().rows(query)
        except self._error as error:  # a date that Python has no word for
            raise describe_failure(self, error, self.text(query)) from error

    def arrow(self, query: exp.Expr) -> pa.RecordBatchReader:
        """Return a result as batches of Arrow records."""
        sql = self.text(query)
        cursor = self.execute(sql)
        names = [column.name for column in cursor.description or []]

        def some() -> list[Any]:
            try:
                return cursor.fetchmany(_BATCH)
            except self._error as error:
                raise describe_failure(self, error, sql) from error

        first = some()
        types = self.connection.adapters.types
        schema = schema_of(names, first)
        schema = _as_declared(schema, [types.get(c.type_code) for c in cursor.description or []])

        def read() -> Iterator[list[Any]]:
            chunk = first
            while chunk:
                yield chunk
                chunk = some()

        return batches(read(), schema)

    def upload(self, name: str, table_: pa.Table) -> exp.Expr:
        """Copy a small table into a temporary one."""
        import pyarrow as pa

        if not self.keeps:
            return super().upload(name, table_)
        stored = fresh(name)
        kinds = []
        for field in table_.schema:
            kind = "text"
            if pa.types.is_integer(field.type):
                kind = "bigint"
            elif pa.types.is_floating(field.type) or pa.types.is_decimal(field.type):
                kind = "double precision"
            elif pa.types.is_date(field.type):
                kind = "date"
            elif pa.types.is_timestamp(field.type):
                kind = "timestamp"
            kinds.append('"' + field.name.replace('"', '""') + f'" {kind}')
        self._make(f"create temp table {stored} ({', '.join(kinds)})")
        with self.connection.cursor() as cursor, cursor.copy(f"copy {stored} from stdin") as copy:
            for batch in table_.to_batches():
                for row in batch.to_pylist():
                    copy.write_row(tuple(row.values()))
        self.execute(f"analyze {stored}")
        return table(stored)

    def tables(self) -> list[str]:
        """Names of the tables and views that need no schema."""
        found = self.execute(
            "select c.relname from pg_class c join pg_namespace s on s.oid = c.relnamespace "
            "where c.relkind in ('r', 'v', 'm', 'p', 'f') and pg_table_is_visible(c.oid) "
            "and s.nspname not in ('pg_catalog', 'information_schema') order by 1"
        )
        return [row[0] for row in found.fetchall()]

    def qualified_tables(self) -> list[str]:
        """Names of the tables and views of all schemas, with their schema before a point."""
        found = self.execute(
            "select s.nspname || '.' || c.relname from pg_class c "
            "join pg_namespace s on s.oid = c.relnamespace "
            "where c.relkind in ('r', 'v', 'm', 'p', 'f') and s.nspname not like 'pg\\_%' "
            "and s.nspname <> 'information_schema' order by 1"
        )
        return [row[0] for row in found.fetchall()]

    def has_table(self, name: str) -> bool:
        """Whether the database has a table of this name, system tables included."""
        target = self.lookup("table", name).sql("postgres", identify=True)
        query = exp.select(exp.alias_(exp.func("to_regclass", exp.Literal.string(target)), "oid"))
        return self.rows(query)[0]["oid"] is not None

    def create(self, name: str, query: exp.Query) -> None:
        """Write a result into a new table of the database, all of it or nothing."""
        target = self.lookup("to_table", name).sql("postgres", identify=True)
        made = self.keep("made", query)
        try:
            self._make(f"create table {target} as {self.text(exp.select('*').from_(made))}")
        except QueryError as error:
            if getattr(error.__cause__, "sqlstate", None) != _NO_RIGHT:
                raise
            raise OptionError(
                "to_table",
                problem="Table {name} cannot be made; PostgreSQL reports: {message}",
                hint="Connect as a user who may create tables there, name a schema in which this "
                "one may, such as mine.rated, or write to a file with {output}",
                name=repr(name),
                message=error.message,
            ) from None
        self.commit()
        self.execute(f"{_BEGIN}; {_READ_ONLY}")

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def _as_declared(schema: pa.Schema, types: list[Any]) -> pa.Schema:
    """Use the types that the driver reports for columns that came out empty or too narrow."""
    import pyarrow as pa

    known = {
        "int2": pa.int16(), "int4": pa.int32(), "int8": pa.int64(), "float8": pa.float64(),
        "float4": pa.float32(), "text": pa.string(), "varchar": pa.string(), "date": pa.date32(),
        "bool": pa.bool_(),
    }  # fmt: skip
    fields = []
    for field, declared in zip(schema, types, strict=True):
        kind = known.get(declared.name) if declared is not None else None
        fields.append(field if kind is None else pa.field(field.name, kind))
    return pa.schema(fields)


def _refuse_url(url: str) -> SourceError:
    return SourceError(
        "source",
        problem="{url} is not the URL of a PostgreSQL database",
        hint="Write postgresql://user:password@host:port/name, with %25 for a % in a password, %40 "
        "for @, %2F for / and %23 for #",
        url=hide_passwords(url),
    )
