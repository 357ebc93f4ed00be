"""Rating a table, compared with `select item, avg(rating), count(*) ... group by item` on the file.

Each measurement runs in its own process, which reports its best time and its peak memory; ours and
the peer's alternate. ``UNHEARD_ROWS=1000000`` makes a quick run.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.timing import report, seconds

_ROWS = int(os.environ.get("UNHEARD_ROWS", "100000000"))
_PEER = "avg and count"


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for items in (10**5, 10**6):
            for m in (5, 10):
                path = _generate(Path(folder), _ROWS, items, m)
                _compare(path, items, m)
        _growth(Path(folder))
        _limited(Path(folder))
        _spark(Path(folder))


def _generate(folder: Path, rows: int, items: int, m: int, text: bool = False) -> Path:
    """Write ratings with a skewed histogram, and items in random order."""
    import duckdb

    path = folder / f"ratings_{rows}_{items}_{m}_{text}.parquet"
    if not path.exists():
        item = f"hash(i * 7919 + 1) % {items}"
        item = f"'item-' || ({item})" if text else f"({item})::integer"
        duckdb.sql(
            f"copy (select {item} as item, "
            f"(1 + least({m - 1}, (hash(i) % 100) * {m} // 90))::tinyint as rating "
            f"from range({rows}) t(i)) to '{path}' (format parquet)"
        )
    return path


def _measure(**task: Any) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.tables", json.dumps(task)],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _compare(path: Path, items: int, m: int) -> None:
    what = f"{_ROWS:,} rows, {items:,} items, {m} ratings"
    cases = {
        "estimate with interval": {"level": None, "ranks": False},
        "with confidence interval, ranks, notes": {},
    }
    goals = {
        "estimate with interval": 1.15 if m == 5 else 1.6,
        "with confidence interval, ranks, notes": 1.5 if m == 5 else 2.2,
    }
    tasks = {"peer": {"peer": True}} | cases
    best: dict[str, dict[str, float]] = {}
    for _ in range(2):
        for name, settings in tasks.items():
            got = _measure(path=str(path), m=m, **settings)
            old = best.setdefault(name, got)
            best[name] = {key: min(value, old[key]) for key, value in got.items()}
    peer = best["peer"]
    for name in cases:
        goal = f"goal: at most {goals[name]}"
        report(f"{what}, {name}", best[name]["seconds"], _PEER, peer["seconds"], goal)
        report(f"{what}, {name}: peak memory in GB", best[name]["memory"], _PEER, peer["memory"],
               "goal: at most 1.5")  # fmt: skip


def _growth(folder: Path) -> None:
    """Cost per row must not grow with the number of rows."""
    sizes = [n for n in (10**6, 10**7, 10**8) if n <= _ROWS]
    cost = {}
    for rows in sizes:
        path = _generate(folder, rows, 10**5, 5)
        cost[rows] = _measure(path=str(path), m=5)["seconds"] / rows
    for rows in sizes[1:]:
        report(f"per row of {rows:,}", cost[rows], f"per row of {sizes[0]:,}", cost[sizes[0]],
               "goal: at most 1")  # fmt: skip


def _limited(folder: Path) -> None:
    path = _generate(folder, _ROWS, 10**6, 5, text=True)
    free = _measure(path=str(path), m=5, repeats=1)
    tight = _measure(path=str(path), m=5, repeats=1, memory="1GiB")
    report(f"{_ROWS:,} rows, 1,000,000 items named by text, within 1 GiB", tight["seconds"],
           "without a limit", free["seconds"], "goal: completes")  # fmt: skip
    print(f"   peak memory {tight['memory']:.2f} GB, without a limit {free['memory']:.2f} GB")


def _spark(folder: Path) -> None:
    from benchmarks import spark

    for rows, items in ((10**7, 10**5), (10**8, 10**5), (10**8, 10**6)):
        if rows <= _ROWS:
            spark.compare(_generate(folder, rows, items, 5), rows, items)


def _task(task: dict[str, Any]) -> dict[str, float]:
    path, m, repeats = task.pop("path"), task.pop("m"), task.pop("repeats", 2)
    if task.pop("peer", False):
        import duckdb

        connection = duckdb.connect()
        plain = f"select item, avg(rating), count(*) from '{path}' group by item"

        def work() -> object:
            return connection.sql(plain).to_arrow_table()
    else:
        import unheard as uh

        def work() -> object:
            # The peer makes an Arrow table, too.
            scale = f"1:{m}"
            return uh.rate(
                path, "item", "rating", q=0.3, scale=scale, sort=False, backend="pyarrow", **task
            )

    best = seconds(work, repeats)
    return {
        "seconds": best,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


if __name__ == "__main__":
    print(json.dumps(_task(json.loads(sys.argv[1]))))
