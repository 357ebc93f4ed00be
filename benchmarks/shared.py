"""Ranking with shared participation, compared with separate participation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import unheard as uh
from benchmarks.timing import Cost, report, seconds
from unheard.analysis.ranking import adjust_level_for_items, rank_intervals
from unheard.analysis.shared_breakdown import find_shared_breakdown
from unheard.analysis.shared_ranking import rank_shared
from unheard.model.question import build_question
from unheard.options.choices import Quiet
from unheard.tables.pipeline import Job, prepare, read_request
from unheard.tables.sources.open import Where

_Q = 0.3


def run() -> None:
    rng = np.random.default_rng(14)
    cells = _items(10**5, rng)
    _exact(cells)
    _measure_with_sampling_error(cells)
    _pairs(cells[:300])
    _too_many(np.tile(cells, (10, 1)))


def _items(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return counts of items from bad to good, with 20 to 2,000 ratings each."""
    shares = rng.dirichlet([0.6, 0.3, 0.5, 1.2, 2.5], size=size)
    return rng.multinomial(np.exp(rng.uniform(3, 7.6, size)).astype(int), shares)


def _exact(cells: NDArray[np.int64]) -> None:
    """Measure the cost by number of items, ignoring sampling error, with the top 100."""
    for quiet in ("any", "low"):
        for items, goal in (
            (1_000, "goal: at most 20, plus 2 s"),
            (3_000, "no goal"),
            (10_000, "goal: below 120 s"),
            (30_000, "no goal"),
            (100_000, "goal: below 120 s"),
        ):
            some = cells[:items]
            theirs = Cost.of(_separate(some, quiet, None), 3)
            ours = Cost.of(_shared(some, quiet, sampling_error=False), 3 if items <= 1_000 else 1)
            _report(f"{items:,} items ranked exactly, {quiet}", ours, theirs, goal)


def _report(what: str, ours: Cost, theirs: Cost, goal: str) -> None:
    ratio = ours.processor / theirs.processor
    print(f"{what}: {ours}; {ratio:.3g} times separate ranking ({goal})", flush=True)


def _too_many(cells: NDArray[np.int64]) -> None:
    """Check that too many items to compare pair by pair are ranked separately, with a message."""
    table = pa.table({"item": np.arange(len(cells))} | {f"n{r}": cells[:, r] for r in range(5)})
    request = read_request(item="item", counts=[f"n{r}" for r in range(5)], q=_Q, shared=True)
    found: list[Job] = []

    def work() -> None:
        with closing(prepare(table, request, Where())) as job:
            job.opened.engine.keep("result", job.query)
            found.append(job)

    cost = Cost.of(work)
    print(f"{len(cells):,} items asked for with one participation: {cost}; said:")
    print(*found[0].messages, sep="\n", flush=True)


def _measure_with_sampling_error(cells: NDArray[np.int64]) -> None:
    sizes: list[tuple[int, Quiet]] = [(200, "any"), (1_000, "any"), (200, "low"), (4_000, "any")]
    for items, quiet in sizes:
        some = cells[:items]
        theirs = Cost.of(_separate(some, quiet, adjust_level_for_items(0.95, items)), 3)
        ours = Cost.of(_shared(some, quiet, sampling_error=True))
        _report(f"{items:,} items ranked with sampling error, {quiet}", ours, theirs, "no goal")


def _pairs(cells: NDArray[np.int64]) -> None:
    """Measure the cost of the breakdown q of all pairs of some items."""
    i, j = np.nonzero(~np.eye(len(cells), dtype=bool))
    for quiet in ("any", "low"):
        question = build_question(cells, _Q, quiet=quiet)
        ours = seconds(partial(find_shared_breakdown, question, i, j), 1)
        theirs = seconds(_shared(cells, quiet, sampling_error=False), 3)
        what = f"breakdown q of {len(i):,} pairs, {quiet}"
        report(what, ours, "ranking the items at one q", theirs, "no goal")


def _separate(cells: NDArray[np.int64], quiet: Quiet, level: float | None) -> Callable[[], object]:
    def work() -> object:
        found = uh.estimate(cells, _Q, quiet=quiet, level=level)
        if level is None:
            return rank_intervals(found.lower, found.upper)
        return rank_intervals(found.ci_lower, found.ci_upper)

    return work


def _shared(cells: NDArray[np.int64], quiet: str, *, sampling_error: bool) -> Callable[[], object]:
    question = build_question(cells, _Q, quiet=quiet)
    return lambda: rank_shared(question, sampling_error=sampling_error)
