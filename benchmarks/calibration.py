"""Accuracy of estimates for music tracks after an audit of some; see docs/howto/choose-q.md.

In CM100k, everybody's rating is known, and who had heard the track before. Estimates use the
ratings of those who had; the truth is the mean of everybody. Tracks with ten ratings or more that
were not audited are scored.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

import unheard as uh

Floats = NDArray[np.float64]

TRACKS = Path(__file__).parents[2] / "shared" / "data" / "cm100k" / "item_histograms.csv"
SPLITS = 50
SHARE = 0.05
FEWEST = 10


def run() -> None:
    if not TRACKS.exists():
        print("The CM100k ratings are not beside this checkout (../shared/data).")
        return
    observed, truth = read()
    n = truth.sum(axis=1)
    means = truth @ np.arange(1.0, 5.0) / n
    rated = observed.sum(axis=1) >= FEWEST
    print(f"{len(n):,} tracks, {rated.sum()} with {FEWEST} ratings or more; {SPLITS} audits of 5%")
    print(f"{'':42}{'RMSE':>7}{'interval':>10}{'confidence':>12}{'width':>7}")
    for words, answer in stated(observed, n).items():
        report(words, [score(answer, means, rated)])
    for pool, candidates in (("all tracks", n > 0), ("tracks rated", rated)):
        drawn = [audited(candidates, seed) for seed in range(SPLITS)]
        found: dict[str, list[list[float]]] = {}
        for chosen in track(drawn, pool, transient=True):
            audit = uh.calibrate(observed[chosen], truth[chosen])
            rest = rated & ~chosen
            for words, answer in calibrated(observed, n, audit).items():
                found.setdefault(words, []).append(score(answer, means, rest))
        for words, scores in found.items():
            report(f"audit of {pool}: {words}", scores)


def read() -> tuple[Floats, Floats]:
    with TRACKS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    counts = {
        (row["item"], row["population"]): [float(row[f"n{r}"]) for r in range(1, 5)] for row in rows
    }
    items = sorted({item for item, _ in counts})
    nobody = [0.0] * 4
    observed, truth = (
        np.array([counts.get((item, population), nobody) for item in items])
        for population in ("observed", "true")
    )
    return observed, truth


def audited(candidates: NDArray[np.bool_], seed: int) -> NDArray[np.bool_]:
    among = np.flatnonzero(candidates)
    chosen = np.random.default_rng(seed).choice(among, round(SHARE * len(among)), replace=False)
    return np.isin(np.arange(len(candidates)), chosen)


def stated(observed: Floats, n: Floats) -> dict[str, uh.Estimates]:
    return {
        "average": uh.estimate(observed, 1.0, method="average"),
        "--q 0.3": uh.estimate(observed, 0.3),
        "--q 0.1 --quiet low": uh.estimate(observed, 0.1, quiet="low"),
        "--q 0.1 --quiet low, n known": uh.estimate(observed, 0.1, quiet="low", n=n),
    }


def calibrated(observed: Floats, n: Floats, audit: uh.Audit) -> dict[str, uh.Estimates]:
    stated = audit.assumption
    asked: dict[str, Callable[[], uh.Estimates]] = {
        "reweight": lambda: uh.estimate(observed, assumption=stated, method="reweight"),
        "pooled": lambda: uh.estimate(observed, assumption=stated),
        "pooled, n known": lambda: uh.estimate(observed, assumption=stated, n=n, covers="people"),
    }
    return {words: ask() for words, ask in asked.items()}


def score(answer: uh.Estimates, means: Floats, rows: NDArray[np.bool_]) -> list[float]:
    inside = (answer.lower <= means) & (means <= answer.upper)
    covered = (answer.ci_lower <= means) & (means <= answer.ci_upper)
    return [
        float(np.sqrt(np.mean((answer.estimate - means)[rows] ** 2))),
        float(inside[rows].mean()),
        float(covered[rows].mean()),
        float((answer.ci_upper - answer.ci_lower)[rows].mean()),
    ]


def report(words: str, scores: list[list[float]]) -> None:
    error, inside, covered, width = np.mean(scores, axis=0)
    print(f"{words:42}{error:7.3f}{inside:10.1%}{covered:12.1%}{width:7.2f}")
