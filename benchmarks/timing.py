"""How benchmarks measure and report."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Best time of several runs: the one that was disturbed least."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def report(what: str, ours: float, peer: str, theirs: float, goal: str) -> None:
    """Print one ratio."""
    print(
        f"{what}: {ours / theirs:.3g} times {peer} ({ours:.3g} s against {theirs:.3g} s; {goal})",
        flush=True,
    )
