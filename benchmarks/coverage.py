"""Coverage and width of the confidence intervals, against the worst participation.

Writes the tables of docs/confidence.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

import unheard as uh
from benchmarks.timing import replace_table

Floats = NDArray[np.float64]

PAGE = Path(__file__).parents[1] / "docs" / "confidence.md"
SIZES = (3, 10, 30, 100, 1000, 10_000)
QS = (0.1, 0.3, 0.6, 0.95, 1.0)
SCALES = (2, 5, 10)
DRAWS = 50_000
DRAWS_KNOWN = 10_000
TINY = 1e-9


def shapes(m: int) -> dict[str, Floats]:
    """What the ratings look like, each as a distribution over m ratings."""
    place = np.linspace(0, 1, m)
    drawn = {
        "J": np.exp(3.0 * place) + 3.0 * (place == 0),
        "U": 0.15 + (2 * place - 1) ** 2,
        "one-sided": np.where(place == 1, 4.0, np.where(place >= 1 - 1 / (m - 1), 1.0, 0.0)),
        "uniform": np.ones(m),
        "all-equal": (place == 1).astype(float),
    }
    return {name: shape / shape.sum() for name, shape in drawn.items()}


@dataclass(frozen=True)
class Cell:
    m: int
    size: int
    q: float
    shape: str
    free: float
    known: float
    people: float
    width: float


def run() -> None:
    rng = np.random.default_rng(2025)
    jobs = [
        (m, size, q, name, shape)
        for m in SCALES
        for size in SIZES
        for q in QS
        for name, shape in shapes(m).items()
    ]
    cells = [_measure(*job, rng) for job in track(jobs, description="coverage")]
    for what in ("free", "known", "people"):
        print(f"least coverage, {what}: {min(getattr(cell, what) for cell in cells):.4f}")
    ratios = [c.width for c in cells if c.size >= 1000 and c.shape in ("J", "U", "uniform")]
    print(f"largest ratio of widths, J, U and uniform from 1,000 on: {max(ratios):.3f}")
    _write(cells)


def _measure(
    m: int, size: int, q: float, name: str, shape: Floats, rng: np.random.Generator
) -> Cell:
    free, width = _free(m, size, q, shape, rng)
    known, people = _known(m, size, q, shape, rng)
    return Cell(m, size, q, name, free, known, people, width)


def _patterns(m: int, q: float) -> list[Floats]:
    """Every participation that is 1 up to some rating and q beyond it, or the reverse."""
    steps = [np.where(np.arange(m) < k, q, 1.0) for k in range(m + 1)]
    return steps if q == 1 else [*steps, *(g[::-1] for g in steps[1:m])]


def _free(
    m: int, size: int, q: float, shape: Floats, rng: np.random.Generator
) -> tuple[float, float]:
    """n unknown: ratings follow the shape, and the truth is the worst that it can mean."""
    values = np.arange(1.0, m + 1)
    cells = rng.multinomial(size, shape, size=DRAWS)
    found = uh.estimate(cells, q)
    means = [shape / g @ values / (shape / g).sum() for g in _patterns(m, q)]
    coverage = min(_share(found, truth) for truth in (min(means), max(means)))
    return coverage, _width_ratio(found, shape * size, q, values)


def _known(
    m: int, size: int, q: float, shape: Floats, rng: np.random.Generator
) -> tuple[float, float]:
    """n known: people follow the shape and answer by each extreme pattern in turn."""
    values = np.arange(1, m + 1)
    mean, people = [], []
    for g in _patterns(m, q):
        n = max(round(size / float(shape @ g)), 1)
        held = rng.multinomial(n, shape, size=DRAWS_KNOWN)
        seen = rng.binomial(held, g)
        mean.append(_share(uh.estimate(seen, q, n=n), shape @ values))
        people.append(_share(uh.estimate(seen, q, n=n, covers="people"), held @ values / n))
    return min(mean), min(people)


def _share(found: uh.Estimate, truth: float | Floats) -> float:
    inside = (found.ci_lower <= truth + TINY) & (found.ci_upper >= truth - TINY)
    return float(inside.mean())


def _width_ratio(found: uh.Estimate, counts: Floats, q: float, values: Floats) -> float:
    """Mean width over that of the plain asymptotic interval at the expected counts."""

    def half(end: float, below: float, above: float) -> float:
        w = np.where(values < end, below, above)
        return float(1.959964 * np.sqrt(counts @ (w * (values - end)) ** 2) / (counts @ w))

    exact = uh.estimate(counts, q, effective=counts.sum())
    plain = exact.upper - exact.lower + half(exact.lower, 1 / q, 1) + half(exact.upper, 1, 1 / q)
    mean = float((found.ci_upper - found.ci_lower).mean())
    return mean / plain if plain > 1e-6 else float("nan")


def _write(cells: list[Cell]) -> None:
    for what in ("free", "known", "people"):
        replace_table(PAGE, what, _coverage_table(cells, what))
    replace_table(PAGE, "width", _width_table(cells))


def _coverage_table(cells: list[Cell], what: str) -> str:
    lines = ["| ratings | q | " + " | ".join(shapes(5)) + " |"]
    lines.append("|---" * 7 + "|")
    for size in SIZES:
        for q in QS:
            row = [min(getattr(c, what) for c in _at(cells, size, q, shape)) for shape in shapes(5)]
            lines.append(f"| {size:,} | {q:g} | " + " | ".join(f"{x:.3f}" for x in row) + " |")
    return "\n".join(lines)


def _width_table(cells: list[Cell]) -> str:
    names = ("J", "U", "uniform")
    lines = ["| ratings | q | " + " | ".join(names) + " |", "|---" * 5 + "|"]
    for size in SIZES:
        for q in QS:
            row = [max(c.width for c in _at(cells, size, q, shape)) for shape in names]
            lines.append(f"| {size:,} | {q:g} | " + " | ".join(f"{x:.2f}" for x in row) + " |")
    return "\n".join(lines)


def _at(cells: list[Cell], size: int, q: float, shape: str) -> Iterable[Cell]:
    return (c for c in cells if (c.size, c.q, c.shape) == (size, q, shape))
