"""ClickHouse, through its own driver: a server, or a folder of chDB in this process."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from sqlglot import exp

from unheard.errors import MissingLibraryError, OptionError, QueryError, SourceError, hide_passwords
from unheard.tables.engines.base import (
    CHECK_URL,
    Database,
    as_subquery,
    fresh,
    read_server_url,
    table,
)
from unheard.tables.request import Kind
from unheard.tables.sql.dialects import column, identifier
from unheard.tables.sql.reserved_names import reserve

if TYPE_CHECKING:
    import pyarrow as pa

_HOUR = 3600

_READ_ONLY = {"readonly": 2}
"""Settings of a session that may read, and make temporary tables."""

_WRAPPED = re.compile(r"\A(LowCardinality\(|Nullable\()+")

_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"U?Int(8|16|32|64)\b", "whole"),
    (r"Float64\b|Decimal", "real"),
    (r"Float32\b", "single"),
    (r"(Fixed)?String\b|Enum", "text"),
    (r"Bool\b", "flag"),
    (r"Date", "time"),
)
"""What columns hold, by what the names of their types begin with."""

_READ_AS = (
    (r"Enum|UUID|IPv[46]", "toString", ()),
    (r"FixedString", "toStringCutToZero", ()),
    (r"Date\b", "toDate32", ()),
    (r"DateTime\b", "toDateTime64", (0,)),
)
"""Functions to read columns by that would come out as bare numbers or bytes."""

_STORED_AS = (
    ("is_integer", "Int64"),
    ("is_floating", "Float64"),
    ("is_decimal", "Float64"),
    ("is_date", "Date32"),
    ("is_timestamp", "DateTime64(6)"),
)

_REPORTED = re.compile(r"DB::Exception: (.*?)(?: \([A-Z_]+\))?(?: \(for url .*)?$")


class ClickHouse(Database):
    """A ClickHouse database; everything but the result stays there.

    A run is one session that may read and nothing else, except that counts and results are kept in
    its temporary tables. Formulas are evaluated here, as ClickHouse takes seconds to plan them.
    For a user who may not create temporary tables, everything is computed there, each time it is
    needed. ClickHouse has no transactions: each query reads the state that it finds.
    """

    name = "ClickHouse"
    dialect = "clickhouse"

    def __init__(self, url: str, *, writable: bool = False) -> None:
        if writable:
            raise _refuse_writing()
        try:
            from clickhouse_connect import get_client
            from clickhouse_connect.driver import exceptions
        except ImportError:
            raise MissingLibraryError(
                "Reading a ClickHouse database", "clickhouse-connect", "clickhouse"
            ) from None
        # It would print what it raises, too, where nobody has said what becomes of log messages.
        logging.getLogger("clickhouse_connect").addHandler(logging.NullHandler())
        self._error = exceptions.ClickHouseError
        shown = hide_passwords(url)
        place = _read_url(url, shown)
        try:
            try:
                self.client: Any = get_client(**place | {"settings": _READ_ONLY})
            except exceptions.ProgrammingError:  # the user may do no more, and may not even say so
                self.client = get_client(**place)
        except (self._error, ImportError) as error:
            raise SourceError(
                "source",
                problem="Cannot connect to {url}: {message}",
                hint=CHECK_URL,
                url=shown,
                message=_message(error).rstrip("."),
            ) from None
        self._kept: list[str] = []
        with self.closed_on_error():
            self.keeps = self._may_keep()

    def _may_keep(self) -> bool:
        try:
            self._make("try", "(x UInt8)")
        except QueryError:
            return False
        return True

    def computes(self) -> bool:
        """Whether results can be brought back, so that NumPy may evaluate the formulas."""
        return self.keeps

    def _make(self, name: str, contents: str) -> str:
        """Make a temporary table, and return its name."""
        stored = fresh(name)
        self.execute(f"create temporary table {stored} {contents}")
        self._kept.append(stored)
        return stored

    def execute(self, sql: str) -> Any:
        """Run a statement; an error comes back with it."""
        try:
            return self.client.query(sql)
        except self._error as error:
            raise QueryError(self.name, _message(error), sql) from error

    def rows(self, query: exp.Expr) -> list[dict[str, Any]]:
        """Fetch a small result."""
        return list(self.execute(self.text(query)).named_results())

    def arrow(self, query: exp.Expr) -> pa.RecordBatchReader:
        """Return a result as batches of Arrow records."""
        sql = self.text(query)
        try:
            return self.client.query_arrow(sql).to_reader()
        except self._error as error:
            raise QueryError(self.name, _message(error), sql) from error

    def columns(self, relation: exp.Expr) -> dict[str, Kind]:
        """Say what the columns of a table hold."""
        return {
            name: next((kind for types, kind in _KINDS if re.match(types, declared)), "other")
            for name, declared in self._describe(relation).items()
        }

    def _describe(self, relation: exp.Expr) -> dict[str, str]:
        """Return the type of each column, leaving out whether it may be null."""
        query = self.text(exp.select("*").from_(relation.copy()))
        found = self.execute(f"describe ({query}\n)").named_results()
        return {row["name"]: _WRAPPED.sub("", row["type"]) for row in found}

    def _read(self, relation: exp.Expr) -> exp.Expr:
        """Convert columns that would come out as something other than what they mean."""
        taken: list[exp.Expr] = []
        for name, declared in self._describe(relation).items():
            read: exp.Expr = column(name)
            for types, function, numbers in _READ_AS:
                if re.match(types, declared):
                    further = map(exp.Literal.number, numbers)
                    read = exp.alias_(
                        exp.Anonymous(this=function, expressions=[read, *further]), identifier(name)
                    )
            taken.append(read)
        if all(isinstance(one, exp.Column) for one in taken):
            return relation
        return exp.select(*taken).from_(relation).subquery(reserve("source"))

    def keep(self, name: str, query: exp.Query) -> exp.Expr:
        """Store a result in a temporary table."""
        if not self.keeps:
            return query.subquery(reserve(name))
        return table(self._make(name, f"engine = Memory as {self.text(query)}"))

    def upload(self, name: str, table_: pa.Table) -> exp.Expr:
        """Copy a small table into a temporary one."""
        import pyarrow as pa

        if not self.keeps:
            return super().upload(name, table_)
        kinds = [
            next((kind for tells, kind in _STORED_AS if getattr(pa.types, tells)(one)), "String")
            for one in table_.schema.types
        ]
        pairs = zip(table_.column_names, kinds, strict=True)
        contents = ", ".join(f"{_quote(field)} Nullable({kind})" for field, kind in pairs)
        stored = self._make(name, f"({contents}) engine = Memory")
        try:
            self.client.insert_arrow(stored, table_)
        except self._error as error:
            raise QueryError(self.name, _message(error), f"insert into {stored}") from error
        return table(stored)

    def lookup(self, place: str, name: str) -> exp.Expr:
        """Return a table of the database; another database may stand before a point."""
        return self._read(super().lookup(place, name))

    def from_query(self, sql: str) -> exp.Expr:
        """Read from a query that the user wrote, which must be a single SELECT."""
        return self._read(as_subquery(sql, self.dialect))

    def tables(self) -> list[str]:
        """Names of the tables and views of the database."""
        return self._list("name", "database = currentDatabase()")

    def qualified_tables(self) -> list[str]:
        """Names of the tables and views of all databases, with theirs before a point."""
        return self._list("concat(database, '.', name)", "lower(database) not in "
                          "('system', 'information_schema')")  # fmt: skip

    def _list(self, what: str, where: str) -> list[str]:
        found = self.execute(
            f"select {what} from system.tables where {where} and not is_temporary "
            "and name not like '.inner%' order by 1"
        )
        return [row[0] for row in found.result_rows]

    def begin_writing(self) -> None:
        """Refuse to write."""
        raise _refuse_writing()

    def close(self) -> None:
        """Remove what is kept, which a server would hold for an hour, and end the session."""
        try:
            for name in self._kept:
                self.client.command(f"drop table if exists {name}")
        except self._error:
            pass  # the server is gone, or will forget it by itself
        finally:
            self.client.close()


def _quote(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _refuse_writing() -> OptionError:
    return OptionError(
        "to_table",
        problem="{argument} is not supported for ClickHouse, which has no transactions",
        hint="Write to a file, or create a view with the SQL that `unheard sql --view` writes",
    )


def _read_url(url: str, shown: str) -> dict[str, Any]:
    """Read what the driver has to know from a URL."""
    if url.lower().startswith("chdb:"):
        return {"interface": "chdb", "path": str(_find_folder(url))}
    try:
        place = read_server_url(url, {"secure"})
        password = place.password.decode()
        secure = {"true": True, "false": False}[place.options.get("secure", "false")]
    except (KeyError, ValueError):
        raise SourceError(
            "source",
            problem="{url} is not the URL of a ClickHouse database",
            hint="Write clickhouse://user:password@host:port/name, with %25 for a % in a password, "
            "%40 for @, %2F for / and %23 for #, and nothing behind it but ?secure=true",
            url=shown,
        ) from None
    return {
        "host": place.host,
        "port": place.port or (8443 if secure else 8123),
        "username": place.user,
        "password": password,
        "database": place.database,
        "secure": secure,
        "send_receive_timeout": 24 * _HOUR,  # a large table takes its time
        "autogenerate_session_id": True,
    }


def _find_folder(url: str) -> Path:
    folder = Path(unquote(urlsplit(url).path)[1:])
    if not folder.is_dir():
        raise SourceError(
            "source",
            problem="{path} does not exist",
            hint="Write chdb:///folder, or an absolute path after four slashes",
            code="file_not_found",
            path=str(folder),
        )
    return folder


def _message(error: Exception) -> str:
    """Return what the server says, without number and name, or why it cannot be reached."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    lines = str(error).strip().splitlines() or [type(error).__name__]
    found = _REPORTED.search(lines[0])
    return found[1] if found else lines[0]
