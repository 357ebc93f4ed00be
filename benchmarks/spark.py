"""Rating a table on Spark, compared with `select item, avg(rating), count(*) ... group by item`.

Ours and the plain query alternate in one session, on one core and on two. What does not depend on
the number of rows, which is planning and starting jobs, is measured apart: on a thousand rows.
Processor time is that of Java and of its Python workers; on a busy machine it says more than time
does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.timing import report

_ROUNDS = int(os.environ.get("UNHEARD_ROUNDS", "4"))
_MEMORY = os.environ.get("UNHEARD_SPARK_MEMORY", "3g")
_PEER = "avg and count"
_CASES: dict[str, dict[str, Any]] = {
    "estimate and bounds": {"level": None, "ranks": False},
    "everything": {},
}


def compare(path: Path, rows: int, items: int) -> None:
    """Compare the costs on one file, on one core and on two."""
    goals = {
        "estimate and bounds": "goal: at most 1.15",
        "everything": f"goal: at most {2.0 if rows < 10**8 else 1.6}",
    }
    walls = {}
    for cores in (1, 2):
        got = _measure(path, cores)
        fixed = _measure(_first_rows(path), cores)
        walls[cores] = got
        for name, goal in goals.items():
            what = f"Spark, local[{cores}], {rows:,} rows, {items:,} items, {name}"
            report(what, got[name][0], _PEER, got[_PEER][0], "no goal")
            report(f"{what}: processor time", got[name][1], _PEER, got[_PEER][1], goal)
            # What ours takes longer where there is nothing to count.
            extra = fixed[name][0] - fixed[_PEER][0]
            report(f"{what}: planning and starting jobs", extra, _PEER, got[_PEER][0], "no goal")
            report(f"{what}, without these", got[name][0] - extra, _PEER, got[_PEER][0], goal)
    for name in (_PEER, *_CASES):
        report(f"Spark, {rows:,} rows, {items:,} items, {name}, local[1]", walls[1][name][0],
               "local[2]", walls[2][name][0], "goal: as many times as avg and count")  # fmt: skip


def _first_rows(path: Path) -> Path:
    """Write the first rows of a file into another."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    few = path.with_name("first_rows.parquet")
    batch = next(pq.ParquetFile(path).iter_batches(1000))
    pq.write_table(pa.Table.from_batches([batch]), few)
    return few


def _measure(path: Path, cores: int) -> dict[str, list[float]]:
    """Measure in a process of its own: Java has one size and one number of cores."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.spark", str(path), str(cores)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _work(path: str, cores: int) -> dict[str, list[float]]:
    from pyspark.sql import SparkSession

    import unheard as uh

    with tempfile.TemporaryDirectory() as scratch:
        # Python's part of the work is done by this Python, which has the package.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        spark = (
            SparkSession.builder.master(f"local[{cores}]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.memory", _MEMORY)
            .config("spark.local.dir", scratch)
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("ERROR")
        frame = spark.read.parquet(path)
        frame.createOrReplaceTempView("ratings")

        def write(result: Any) -> None:
            result.write.format("noop").mode("overwrite").save()

        def rate(settings: dict[str, Any]) -> Callable[[], None]:
            return lambda: write(uh.rate(frame, "item", "rating", q=0.3, sort=False, **settings))

        plain = "select item, avg(rating), count(*) from ratings group by item"
        tasks: dict[str, Callable[[], None]] = {_PEER: lambda: write(spark.sql(plain))}
        tasks |= {name: rate(settings) for name, settings in _CASES.items()}
        best: dict[str, list[float]] = {}
        for turn in range(_ROUNDS + 1):
            for name, task in tasks.items():
                cost = _cost(task)
                for kept in spark.sparkContext._jsc.getPersistentRDDs().values():
                    kept.unpersist()
                if turn:  # the first compiles
                    best[name] = [*map(min, cost, best.get(name, cost))]
        spark.stop()
    return best


def _cost(task: Callable[[], None]) -> list[float]:
    start, used = time.perf_counter(), _processor_time()
    task()
    return [time.perf_counter() - start, _processor_time() - used]


def _processor_time() -> float:
    """Return the time that this process, and those under it, have spent on the processor."""
    parents, spent = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        process = int(entry.parent.name)
        parents[process] = int(fields[1])
        # Of its own, and of its children that have ended.
        spent[process] = sum(map(int, fields[11:15]))
    ours, grown = {os.getpid()}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in ours} - ours
        ours, grown = ours | more, bool(more)
    return sum(spent.get(process, 0) for process in ours) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    print(json.dumps(_work(sys.argv[1], int(sys.argv[2]))))
