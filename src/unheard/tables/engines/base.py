"""What every engine must be able to do."""

from __future__ import annotations

import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, unquote_to_bytes, urlsplit

from sqlglot import TokenType, exp, tokenize
from sqlglot.errors import TokenError

from unheard.errors import QueryError, SourceError
from unheard.tables.engines.arrow_batches import Formula, carry_out
from unheard.tables.request import Kind
from unheard.tables.sql.dialects import identifier, render
from unheard.tables.sql.expressions import number
from unheard.tables.sql.packed_counts import PackedAs
from unheard.tables.sql.reserved_names import reserve

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_INLINE = 20_000


class Engine(ABC):
    """Something that runs queries.

    Attributes
    ----------
    name
        What people call it.
    dialect
        The SQL it speaks.
    packs
        The fast way of counting that it has, if any.
    keeps
        Whether it can store a result, so that it need not be computed again.
    repeats_steps
        Whether it computes a step of a query again wherever that step is read.
    times_are_text
        Whether columns of dates and times may hold any text, or numbers.
    counts_rows_for_nothing
        Whether the number of rows of its tables is known without reading them.
    """

    name: str
    dialect: str
    packs: PackedAs | None = None
    keeps = False
    repeats_steps = False
    times_are_text = False
    counts_rows_for_nothing = False

    @abstractmethod
    def columns(self, relation: exp.Expr) -> dict[str, Kind]:
        """Say what the columns of a table hold."""

    @abstractmethod
    def rows(self, query: exp.Expr) -> list[dict[str, Any]]:
        """Fetch a small result."""

    @abstractmethod
    def arrow(self, query: exp.Expr) -> pa.RecordBatchReader:
        """Return a result as batches of Arrow records."""

    def keep(self, name: str, query: exp.Query) -> exp.Expr:
        """Store a result inside the engine; by default it is a subquery, computed when used."""
        return query.subquery(reserve(name))

    def computes(self) -> bool:
        """Whether NumPy can evaluate formulas for it, instead of SQL."""
        return False

    def compute(
        self, query: exp.Query, keys: Sequence[str], formula: Formula
    ) -> tuple[exp.Expr, list[str]]:
        """Evaluate a formula on a query's rows; return the table of results, and their names."""
        results = carry_out(formula, self.arrow(query), keys, self.folder)
        return self.upload("answers", results), results.column_names[len(keys) :]

    @property
    def folder(self) -> Path | None:
        """A private folder for what does not fit into memory, if there is one."""
        return None

    def upload(self, name: str, table: pa.Table) -> exp.Expr:
        """Bring a small table into the engine; by default it is written into the query."""
        if table.num_rows > _MOST_INLINE:
            raise SourceError(
                "source",
                problem="{rows} rows are too many to copy into {engine_name}",
                hint="Join that table first, or store it in the same database",
                rows=f"{table.num_rows:,}",
                engine_name=self.name,
            )
        return inline(name, table)

    def lookup(self, place: str, name: str) -> exp.Expr:
        """Return a table that the engine holds, by its name."""
        raise SourceError(
            place,
            problem="{argument} must be a file or a frame",
            value=name,
            hint="Check the path",
        )

    def create(self, name: str, query: exp.Query) -> None:
        """Write a result into a new table of the database, all of it or nothing."""
        raise SourceError(
            "to_table",
            problem="{argument} requires a database, and {engine_name} has none here",
            hint="Write to a file with {output} instead",
            engine_name=self.name,
        )

    def fraction(self) -> float | None:
        """How much of the running query is done, if the engine says."""
        return None

    def text(self, query: exp.Expr) -> str:
        """Write a query in the engine's dialect."""
        return render(query, self.dialect)

    def close(self) -> None:  # noqa: B027 (most engines hold nothing)
        """Release what the engine holds."""

    @contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Close the engine if the block fails."""
        try:
            yield
        except BaseException:
            self.close()
            raise


class Database(Engine):
    """An engine behind a connection that runs statements one by one.

    A run reads one state of the database, even if others write to it meanwhile, if the database has
    transactions.
    """

    keeps = True

    @abstractmethod
    def execute(self, sql: str) -> Any:
        """Run a statement and return a cursor; an error comes back with the statement."""

    @abstractmethod
    def tables(self) -> list[str]:
        """Names of the tables and views of the database."""

    @abstractmethod
    def qualified_tables(self) -> list[str]:
        """Names of the tables and views of all schemas, with their schema before a point."""

    def has_table(self, name: str) -> bool:
        """Whether the database has a table of this name, which may begin with a schema."""
        return name in self.tables() or ".".join(split_name(name)) in self.qualified_tables()

    def lookup(self, place: str, name: str) -> exp.Expr:
        """Return a table of the database; a schema may stand before a point."""
        *schema, last = split_name(name)
        if schema and name in self.tables():
            return table(name)
        return table(last, *schema[-1:])

    @abstractmethod
    def begin_writing(self) -> None:
        """Begin a transaction, alone among ours; nobody sees what it writes before its end.

        Closing the engine undoes it.
        """

    def commit(self) -> None:
        """Make what a transaction has written visible, all of it in one step."""
        self.execute("commit")

    def keep(self, name: str, query: exp.Query) -> exp.Expr:
        """Store a result in a temporary table."""
        stored = fresh(name)
        self.execute(f"create temp table {stored} as {self.text(query)}")
        return table(stored)

    def view(self, sql: str) -> exp.Expr:
        """Give a query a name."""
        stored = fresh("source")
        self.execute(f"create temp view {stored} as {sql}")
        return table(stored)

    def from_query(self, sql: str) -> exp.Expr:
        """Read from a query that the user wrote, which must be a single SELECT."""
        return self.view(sql)

    def rows(self, query: exp.Expr) -> list[dict[str, Any]]:
        """Fetch a small result."""
        cursor = self.execute(self.text(query))
        names = [column[0] for column in cursor.description or []]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def split_name(name: str) -> list[str]:
    """Split a name at its points, but for those within double quotes.

    Examples
    --------
    >>> split_name('raw.stays'), split_name('"raw"."stays, 2.0"')
    (['raw', 'stays'], ['raw', 'stays, 2.0'])
    """
    parts = re.findall(r'"((?:[^"]|"")+)"(?:\.|$)|([^.]+)', name)
    return [quoted.replace('""', '"') or plain for quoted, plain in parts] or [name]


def is_ambiguous(url: str) -> bool:
    """Whether a part of the password may be taken for another part of the URL, and be shown.

    An @ ends the password, and the / ? or # before which it has to stand may be in a password too.
    """
    authority, rest = re.split(r"(?=[/?#])|$", url.partition("://")[2], maxsplit=1)
    return authority.count("@") > 1 or "@" in rest


@dataclass(frozen=True)
class ServerURL:
    """What the URL of a database on a server says; None where it says nothing."""

    host: str
    port: int | None
    user: str | None
    password: bytes
    database: str | None
    options: dict[str, str]


def read_server_url(url: str, options: Set[str]) -> ServerURL:
    """Read ``scheme://user:password@host:port/name?option=…``; raise ValueError if it is not one.

    Parameters
    ----------
    url
        The URL.
    options
        Options that it may have.
    """
    parts = urlsplit(url)
    given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    database = unquote(parts.path[1:])
    if is_ambiguous(url) or "/" in database or given.keys() - options:
        raise ValueError
    return ServerURL(
        parts.hostname or "localhost",
        parts.port,
        None if parts.username is None else unquote(parts.username),
        unquote_to_bytes(parts.password or ""),
        database or None,
        given,
    )


def as_subquery(sql: str, dialect: str) -> exp.Subquery:
    """Put a query that the user wrote behind FROM, unchanged."""
    asked = exp.Var(this=f"\n{_without_end(sql, dialect)}\n")
    return exp.Subquery(this=asked, alias=exp.TableAlias(this=identifier(reserve("asked"))))


def _without_end(sql: str, dialect: str) -> str:
    """Return a query without the semicolon and the comments behind it."""
    try:
        tokens = tokenize(sql, read=dialect)
    except TokenError:
        return sql  # the server says it better
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    return sql[: tokens[-1].end + 1] if tokens else ""


CHECK_URL = "Check host, port, user, password and name"
"""What to do if a server refuses the connection."""


def fresh(name: str) -> str:
    """Return a table name that nobody else uses."""
    return f"unheard_{name}_{uuid.uuid4().hex[:12]}"


def table(name: str, *qualifiers: str) -> exp.Table:
    """Refer to a table by its name, and where it is."""
    parts = [identifier(part) for part in (*qualifiers, name)]
    keys = ("this", "db", "catalog")
    return exp.Table(**dict(zip(keys, reversed(parts), strict=False)))


def inline(name: str, rows: pa.Table) -> exp.Expr:
    """Write a small table into the query."""
    if not rows.num_rows:
        nothing = [exp.alias_(exp.cast(exp.null(), "double"), key) for key in rows.column_names]
        return exp.select(*nothing).where(exp.false()).subquery(reserve(name))
    listed = exp.Values(
        expressions=[
            exp.Tuple(expressions=[literal(value) for value in row.values()])
            for row in rows.to_pylist()
        ],
        alias=exp.TableAlias(
            this=identifier(reserve("listed")),
            columns=[identifier(key) for key in rows.column_names],
        ),
    )
    return exp.select("*").from_(listed).subquery(reserve(name))


def literal(value: object) -> exp.Expr:
    """Write a value into a query."""
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | float):
        return number(value)
    return exp.Literal.string(str(value))


def describe_failure(engine: Engine, error: Exception, sql: str) -> QueryError:
    """Wrap an engine's error, with the query that failed."""
    words = str(error).strip().splitlines() or [type(error).__name__]
    return QueryError(engine.name, words[0], sql)


def batches(rows: Iterator[list[Any]], schema: pa.Schema) -> pa.RecordBatchReader:
    """Turn rows that a database driver yields into Arrow batches."""
    import pyarrow as pa

    def made() -> Iterator[pa.RecordBatch]:
        for chunk in rows:
            columns = list(zip(*chunk, strict=True))
            arrays = [
                pa.array(values, type=field.type)
                for values, field in zip(columns, schema, strict=True)
            ]
            yield pa.record_batch(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, made())


RESULT_TYPES = {
    "n_ratings": "int64",
    "n": "int64",
    "best_rank": "int64",
    "worst_rank": "int64",
    "average_rank": "int64",
    "tier": "int64",
    "top": "string",
    "ci_best_rank": "int64",
    "ci_worst_rank": "int64",
    "ci_top": "string",
    "notes": "string",
    "attribute": "string",
    "window_start": "date32",
    "window_end": "date32",
}
RESULT_TYPES |= dict.fromkeys(
    ("average", "estimate", "lower", "upper", "ci_lower", "ci_upper", "breakdown_q"), "float64"
)
"""Arrow types of our own columns, for engines whose drivers do not say."""


def schema_of(names: list[str], first: list[Any]) -> pa.Schema:
    """Guess a schema from the first rows; of columns that are empty there, from their names."""
    import pyarrow as pa

    fields = []
    for index, name in enumerate(names):
        kind = pa.array([row[index] for row in first]).type
        stated = RESULT_TYPES.get(name, "int64" if name.startswith(("count_", "n_")) else "string")
        if pa.types.is_null(kind) or stated == "date32":
            kind = pa.type_for_alias(stated)
        fields.append(pa.field(name, kind))
    return pa.schema(fields)
