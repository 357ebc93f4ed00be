"""Shared or separate participation: how many pairs each settles, and how often correctly.

CM100k has for every track the ratings of people who knew it before, and those of everybody who was
asked. A participation ratio of 0.1 holds for all tracks together; it varies from track to track,
which neither ranking takes into account.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unheard.analysis.ranking import adjust_level_for_items
from unheard.analysis.shared_ranking import rank_shared
from unheard.model.question import Question, build_question

TRACKS = Path(__file__).parents[2] / "shared" / "data" / "cm100k" / "item_histograms.csv"
MISSING = "the CM100k ratings are not beside this checkout (../shared/data)"
_FEWEST = 20
_LEVEL = 0.95


def run() -> None:
    if not TRACKS.exists():
        print(f"No table: {MISSING}.")
        return
    seen, everybody = read_tracks(_FEWEST)
    average, truth = (counts @ np.arange(1, 5) / counts.sum(axis=1) for counts in (seen, everybody))
    print(f"{len(seen)} tracks of CM100k with {_FEWEST} ratings or more")
    print(f"plain averages: all pairs ordered, {_wrong(_above(average, average), truth)} wrong")
    for q in (0.3, 0.1):
        question = build_question(seen, q, scale=(1, 2, 3, 4), level=_LEVEL)
        for sampling_error in (False, True):
            error = "with sampling error" if sampling_error else "ignoring sampling error"
            for way, sure in (
                ("shared participation", _rank_shared(question, sampling_error=sampling_error)),
                (
                    "separate participation",
                    _rank_separately(question, sampling_error=sampling_error),
                ),
            ):
                share = sure.sum() / (len(seen) * (len(seen) - 1) / 2)
                print(f"q = {q}, {error}, {way}: {share:.1%} settled, {_wrong(sure, truth)} wrong")


def read_tracks(fewest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return counts of people who knew a track, if there are enough, and of everybody."""
    with TRACKS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    seen, everybody = (
        {
            row["item"]: [int(row[f"n{r}"]) for r in range(1, 5)]
            for row in rows
            if row["population"] == population
        }
        for population in ("observed", "true")
    )
    chosen = [item for item, counts in seen.items() if sum(counts) >= fewest]
    return np.array([seen[i] for i in chosen]), np.array([everybody[i] for i in chosen])


def _rank_shared(question: Question, *, sampling_error: bool) -> NDArray[np.bool_]:
    pairs = rank_shared(question, sampling_error=sampling_error, pairs=True).pairs
    assert pairs is not None  # asked for
    sure = np.zeros((question.counts.rows,) * 2, bool)
    sure[pairs[:, 0], pairs[:, 1]] = True
    return sure


def _rank_separately(question: Question, *, sampling_error: bool) -> NDArray[np.bool_]:
    level = adjust_level_for_items(_LEVEL, question.counts.rows) if sampling_error else None
    lower, upper = replace(question, level=level).find_bounds().outermost
    return _above(lower, upper)


def _above(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.bool_]:
    return lower[:, None] > upper


def _wrong(sure: NDArray[np.bool_], truth: NDArray[np.float64]) -> str:
    """Write the share of the settled pairs that the means of everybody contradict."""
    first, second = np.nonzero(sure)
    if not len(first):
        return "none"
    return f"{(truth[first] < truth[second]).mean():.1%}"
