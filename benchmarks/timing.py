"""Measuring and reporting the cost of work."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Cost:
    """The cost of some work: wall time, and processor time including that of child processes.

    On a busy machine, wall time depends on what else runs; processor time hardly does.
    """

    wall: float
    processor: float

    @classmethod
    def of(cls, work: Callable[[], object], repeats: int = 1) -> Cost:
        """Return the smallest cost of several runs, which was disturbed least."""
        return min(cls._once(work) for _ in range(repeats))

    @classmethod
    def _once(cls, work: Callable[[], object]) -> Cost:
        start, used = time.perf_counter(), _used()
        work()
        return cls(time.perf_counter() - start, _used() - used)

    def __str__(self) -> str:
        return f"{self.wall:.3g} s, {self.processor:.3g} s of processor time"


def _used() -> float:
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest time of several runs, which was disturbed least."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def report(what: str, ours: float, peer: str, theirs: float, goal: str) -> None:
    """Print a ratio, with its goal."""
    print(
        f"{what}: {ours / theirs:.3g} times {peer} ({ours:.3g} s against {theirs:.3g} s; {goal})",
        flush=True,
    )


def replace_table(page: Path, name: str, table: str) -> None:
    """Replace a table on a page of the documentation, between two comments with its name."""
    start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    before, rest = page.read_text().split(start)
    page.write_text(f"{before}{start}\n{table}\n{end}{rest.split(end)[1]}")
