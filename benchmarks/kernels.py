"""Estimating many histograms at once, compared with their plain means in NumPy."""

from __future__ import annotations

import numpy as np

import unheard as uh
from benchmarks.timing import report, seconds

_SHAPE = [0.1, 0.05, 0.05, 0.2, 0.6]


def run() -> None:
    rng = np.random.default_rng(1)
    values = np.arange(1.0, 6.0)
    counts = rng.multinomial(60, _SHAPE, size=1_000_000)
    for dtype in (np.int64, np.float64):
        cells = counts.astype(dtype)
        name = np.dtype(dtype).name
        mean = seconds(lambda cells=cells: (cells @ values) / cells.sum(axis=1))  # type: ignore[misc]
        peer = "the plain mean of the same matrix"
        ours = seconds(lambda cells=cells: uh.estimate(cells, 0.3, level=None))  # type: ignore[misc]
        report(f"paa with bounds, 10^6 x 5 {name}", ours, peer, mean, "goal: at most 5")
        ours = seconds(lambda cells=cells: uh.estimate(cells, 0.3), 2)  # type: ignore[misc]
        report(f"with confidence interval, 10^6 x 5 {name}", ours, peer, mean, "no goal")
        ours = seconds(lambda cells=cells: uh.estimate(cells, 0.3, n=200), 2)  # type: ignore[misc]
        report(f"with n and confidence interval, 10^6 x 5 {name}", ours, peer, mean, "no goal")
    _growth(rng)


def _growth(rng: np.random.Generator) -> None:
    """Cost per row must not grow with the number of rows."""
    per_row = {}
    for size in (10**4, 10**5, 10**6, 10**7):
        cells = rng.integers(0, 50, size=(size, 5))
        repeats = 20 if size < 10**6 else 2
        per_row[size] = seconds(lambda c=cells: uh.estimate(c, 0.3, level=None), repeats) / size  # type: ignore[misc]
    for size, cost in per_row.items():
        report(
            f"paa with bounds, per row of {size:,}",
            cost,
            "per row of 10^4",
            per_row[10**4],
            "goal: about 1",
        )
