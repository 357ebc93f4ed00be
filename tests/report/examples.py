"""Tables to report about, and reports about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from unheard.report.report_data import ReportData, gather_report_data
from unheard.tables.pipeline import Job, prepare, read_request
from unheard.tables.request import add_order
from unheard.tables.sources.open import Where

COUNTS = {  # one certainly best, one certainly worst, three whose order is open
    "Alder": [1, 0, 2, 20, 300],
    "Birch": [10, 20, 40, 100, 60],
    "Cedar": [12, 15, 45, 95, 70],
    "Dune": [2, 3, 4, 5, 6],
    "Elm": [30, 10, 8, 3, 1],
}
NAMES = [f"n{star}" for star in range(1, 6)]

RATED = pa.table(
    {
        "hotel": ["A", "A", "B", "B", "A", "B"] * 9,
        "day": ["2024-01-05", "2024-02-05"] * 27,
        "wing": ["old", "new", "new"] * 18,
        "stars": [5, 4, 1, 2, 5, 3] * 9,
        "clean": [4, 4, 2, 2, 5, 5] * 9,
        "doubt": [0.5] * 54,
    }
)
WINGS = pa.table({"hotel": ["A", "A", "B", "B"], "wing": ["old", "new"] * 2, "n": [99] * 4})


def table_of(counts: Mapping[str, Sequence[int]], **more: Sequence[Any]) -> pa.Table:
    """A table of counts, with further columns if wanted."""
    columns = dict(zip(NAMES, zip(*counts.values(), strict=True), strict=True))
    return pa.table({"hotel": list(counts), **columns, **more})


def random_counts(items: int, seed: int = 1) -> dict[str, list[int]]:
    """Histograms of all shapes and sizes."""
    made = np.random.default_rng(seed)
    shapes = made.dirichlet([0.7] * 5, items)
    sizes = made.integers(1, 400, items)
    return {
        f"item {i:04}": made.multinomial(size, shape).tolist()
        for i, (size, shape) in enumerate(zip(sizes, shapes, strict=True))
    }


@contextmanager
def job_of(
    source: Any,
    *,
    k: int | None = None,
    above: float | None = None,
    below: float | None = None,
    sampling_error: bool = True,
    **settings: Any,
) -> Iterator[Job]:
    """A job about the order of the items of a table, counts of hotels unless told otherwise."""
    asked = {"item": "hotel"} | ({} if "rating" in settings else {"counts": NAMES}) | settings
    request = add_order(
        read_request(**asked), k, above, below, sampling_error, settings.get("method")
    )
    job = prepare(source, request, Where())
    try:
        yield job
    finally:
        job.close()


def report_about(source: Any, **settings: Any) -> ReportData:
    """The data of a report on a table."""
    with job_of(source, **settings) as job:
        return gather_report_data(job, source="stays.csv", command="unheard report", title=None)
