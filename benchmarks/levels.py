"""Exact coverage of confidence intervals, in the structures that are worst for them.

For every question all outcomes are enumerated, the intervals are computed once, and a search finds
the structure (shares of the ratings, participation) with the least coverage. Where there are too
many outcomes, they are simulated instead, in the structures that were worst among those enumerated.
``UNHEARD_SECONDS=60`` gives each search a minute instead of ten seconds.

To add a kind of statement, append to :data:`QUESTIONS` a function that yields questions: objects
with a name and a ``search``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, ndtri, xlogy

import unheard as uh

Floats = NDArray[np.float64]

SECONDS = float(os.environ.get("UNHEARD_SECONDS", "10"))
LEAST = 0.949
"""The coverage required at a nominal 0.95."""

TINY = 1e-9


class Structure(NamedTuple):
    """Shares of the ratings among all people, and participation."""

    p: Floats
    g: Floats

    def __str__(self) -> str:
        p, g = (", ".join(f"{x:.4g}" for x in row) for row in self)
        return f"p = ({p}), g = ({g})"


class Question(Protocol):
    """A statement at a level."""

    @property
    def name(self) -> str:
        """A description of the question."""

    def search(self, rng: np.random.Generator, seconds: float) -> tuple[float, str]:
        """Return the least coverage, and its structure in words."""


def outcomes(n: int, cells: int) -> Floats:
    """Return all ways to divide n people among a number of cells."""
    if cells == 1:
        return np.array([[float(n)]])
    parts = [
        np.column_stack([np.full(len(rest), float(k)), rest])
        for k in range(n + 1)
        for rest in [outcomes(n - k, cells - 1)]
    ]
    return np.concatenate(parts)


def probabilities(rows: Floats, shares: Floats) -> Floats:
    """Return the probability of every row of counts, for each row of shares."""
    ways = gammaln(rows[0].sum() + 1) - gammaln(rows + 1).sum(axis=1)
    logs = sum(xlogy(row[:, None], share) for row, share in zip(rows.T, shares.T, strict=True))
    return np.asarray(np.exp(ways[:, None] + logs))


@dataclass
class OneHistogram:
    """The interval of one histogram.

    Attributes
    ----------
    name
        What is asked.
    values
        The scale.
    size
        How many ratings, or with n known how many people.
    stated
        The assumption, as arguments of :func:`unheard.estimate`.
    allowed
        Makes, of numbers from 0 to 1, one per rating and one more, participations that it allows.
    n_known
        Whether n is known.
    level
        The level stated.
    """

    name: str
    values: Floats
    size: int
    stated: dict[str, Any]
    allowed: Callable[[Floats], Floats]
    n_known: bool = False
    level: float = 0.95

    def search(self, rng: np.random.Generator, seconds: float) -> tuple[float, str]:
        """Search for the p and g with the least coverage."""
        rows = outcomes(self.size, len(self.values) + self.n_known)
        low, high = self.limits(rows)
        best, found, end = 2.0, None, time.monotonic() + seconds
        m = len(self.values)
        portion = max(8, min(64, 4_000_000 // len(rows)))
        x, y = self._first(rng, portion, m)
        scale = 1.0
        while time.monotonic() < end:
            coverage = self.coverage(rows, low, high, self._structures(x, y))
            k = int(coverage.argmin())
            if coverage[k] < best:
                best, found = float(coverage[k]), (x[k], y[k])
                scale = min(1.0, scale * 2)
            else:
                scale = max(1e-4, scale * 0.8)
            assert found is not None
            if rng.random() < 0.1:
                x, y = self._first(rng, portion, m)
            else:
                x, y = self._near(*found, scale, portion, rng)
        assert found is not None
        return best, str(self._structures(found[0][None], found[1][None])[0])

    def limits(self, rows: Floats) -> tuple[Floats, Floats]:
        """Compute the intervals, once for all structures."""
        stated = dict(self.stated)
        if self.n_known:
            rows, stated["n"] = rows[:, :-1], self.size
        found = uh.estimate(rows, scale=self.values.tolist(), level=self.level, **stated)
        return found.ci_lower, found.ci_upper

    def coverage(
        self, rows: Floats, low: Floats, high: Floats, structures: list[Structure]
    ) -> Floats:
        """Return the probability that the interval covers the truth, for each structure."""
        seen = np.array([s.p * s.g for s in structures])
        truth = np.array([s.p @ self.values for s in structures])
        if self.n_known:
            unseen = np.maximum(1 - seen.sum(axis=1, keepdims=True), 0.0)
            shares = np.column_stack([seen, unseen])
        else:
            shares = seen / seen.sum(axis=1, keepdims=True)
        inside = (low[:, None] <= truth + TINY) & (high[:, None] >= truth - TINY)
        return np.asarray((probabilities(rows, shares) * inside).sum(axis=0))

    def simulate(
        self, structure: Structure, rng: np.random.Generator, draws: int = 200_000
    ) -> float:
        """Return the share of draws in which the interval covers the truth."""
        shares = np.append(structure.p * structure.g, 0.0)
        shares[-1] = max(1 - shares.sum(), 0.0)
        if not self.n_known:
            shares = shares[:-1] / shares[:-1].sum()
        rows, times = np.unique(
            rng.multinomial(self.size, shares / shares.sum(), size=draws),
            axis=0,
            return_counts=True,
        )
        low, high = self.limits(rows.astype(float))
        truth = structure.p @ self.values
        inside = (low <= truth + TINY) & (high >= truth - TINY)
        return float(times @ inside / draws)

    def _structures(self, x: Floats, y: Floats) -> list[Structure]:
        p = np.exp(x - x.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        p = np.where(p < 1e-12, 0.0, p)
        return [
            Structure(one / one.sum(), self.allowed(two)) for one, two in zip(p, y, strict=True)
        ]

    def _first(self, rng: np.random.Generator, rows: int, m: int) -> tuple[Floats, Floats]:
        x = rng.normal(0, rng.choice([0.5, 2, 6], size=(rows, 1)), size=(rows, m))
        x = np.where(rng.random((rows, m)) < 0.25, -100.0, x)
        x[x.max(axis=1) < -50] = 0.0
        y = rng.random((rows, m + 1))
        corner = rng.random((rows, m + 1)) < 0.7
        return x, np.where(corner, np.round(y), y)

    def _near(
        self, x: Floats, y: Floats, scale: float, rows: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        m = len(x)
        some = rng.random((rows, m)) < 0.5
        moved = x + some * rng.normal(0, scale, size=(rows, m))
        moved = np.where(rng.random((rows, m)) < 0.03, -100.0, moved)
        moved = np.where((moved < -50) & (rng.random((rows, m)) < 0.03), x.max() - 3, moved)
        moved[moved.max(axis=1) < -50] = x
        some = rng.random((rows, m + 1)) < 0.3
        other = y + some * rng.normal(0, scale, size=(rows, m + 1))
        other = np.clip(other, 0.0, 1.0)
        flipped = rng.random((rows, m + 1)) < 0.03
        return moved, np.where(flipped, np.round(1 - other), other)


def ratio(q: float, quiet: str = "any", level: bool = False) -> Callable[[Floats], Floats]:
    """Return participations with a ratio of at least q, in a direction."""

    def allowed(y: Floats) -> Floats:
        g = q ** y[:-1]
        if quiet == "low":
            g = np.sort(g)
        if quiet == "high":
            g = np.sort(g)[::-1]
        if quiet == "middle":
            g[0] = g[-1] = 1.0
        return np.asarray(g / g.max() * (0.02 ** y[-1] if level else 1.0))

    return allowed


def within(lo: list[float], hi: list[float]) -> Callable[[Floats], Floats]:
    """Return participations within bounds per rating."""
    return lambda y: np.asarray(lo) ** y[:-1] * np.asarray(hi) ** (1 - y[:-1])


UNEQUAL = ([0.2, 0.02, 0.3], [0.6, 0.3, 0.9])
"""Bounds per rating that are very unequal."""

TIED = ([0.181, 0.0125, *[0.02] * 9], [0.653, 0.263, *[0.047] * 9])
"""Bounds under which two thresholds tie, on a scale of 1 to 11."""


def one_histogram() -> Iterator[OneHistogram]:
    """Yield questions about one histogram, by kind."""
    scales = {"0 1": [0.0, 1.0], "0 .9 1": [0.0, 0.9, 1.0], "0 1 2": [0.0, 1.0, 2.0]}
    five = np.arange(1.0, 6.0)
    for name, values in scales.items():
        m, scale = len(values), np.array(values)
        for q in (1.0, 0.9, 0.3):
            for size in (10, 300) if m == 2 else (10, 120):
                yield OneHistogram(
                    f"{size} ratings of {name}, q={q}", scale, size, {"q": q}, ratio(q)
                )
        for quiet in ("low", "high", "middle"):
            stated = {"q": 0.3, "quiet": quiet}
            what = f"of {name}, q=0.3, {quiet}"
            yield OneHistogram(f"60 ratings {what}", scale, 60, stated, ratio(0.3, quiet))
            allowed = ratio(0.3, quiet, level=True)
            yield OneHistogram(f"30 people {what}", scale, 30, stated, allowed, n_known=True)
        lo, hi = (side[:m] for side in UNEQUAL)
        box = {"participation": list(zip(lo, hi, strict=True))}
        yield OneHistogram(f"60 ratings of {name}, bounds", scale, 60, box, within(lo, hi))
        yield OneHistogram(f"60 ratings of {name}, g", scale, 60, {"g": lo}, within(lo, lo))
        for size in (3, 40):
            what = f"{size} people of {name}"
            yield OneHistogram(f"{what}, bounds", scale, size, box, within(lo, hi), n_known=True)
            for q in (0.9, 0.3):
                allowed, least = ratio(q, level=True), within([q] * m, [1.0] * m)
                yield OneHistogram(f"{what}, q={q}", scale, size, {"q": q}, allowed, n_known=True)
                yield OneHistogram(
                    f"{what}, floor={q}", scale, size, {"floor": q}, least, n_known=True
                )
    for q in (1.0, 0.3):
        yield OneHistogram(f"16 ratings of five, q={q}", five, 16, {"q": q}, ratio(q))


class Known(NamedTuple):
    """A structure that was once the worst, at a size that must be simulated."""

    question: OneHistogram
    structure: Structure

    @property
    def name(self) -> str:
        """A description of the question."""
        return self.question.name

    def search(self, rng: np.random.Generator, seconds: float) -> tuple[float, str]:
        """Simulate; there is nothing to search."""
        draws = 200_000
        found = self.question.simulate(self.structure, rng, draws)
        error = np.sqrt(found * (1 - found) / draws)
        return found, f"{self.structure}, simulated, standard error {error:.4f}"


def large_sizes() -> Iterator[Known]:
    """Yield structures that were the worst, or similar, at sizes beyond enumeration."""
    lo, hi = TIED
    box = {"participation": list(zip(lo, hi, strict=True))}
    tied = Structure(np.array([0.378, 0.622, *[0.0] * 9]), np.array([0.181, 0.263, *[0.02] * 9]))
    for size in (300, 1000, 100_000):
        name = f"{size:,} people of 1 to 11, bounds that tie"
        scale = np.arange(1.0, 12.0)
        yield Known(OneHistogram(name, scale, size, box, within(lo, hi), n_known=True), tied)
    near = np.array([0.0, 0.95, 1.0])
    quiet = Structure(np.array([0.0, 0.2, 0.8]), np.array([1.0, 1.0, 0.3]))
    rare = Structure(np.array([0.8729, 0.1271, 0.0]), np.array([0.3, 1.0, 1.0]))
    for stated, allowed in (
        ({"q": 0.3}, ratio(0.3)),
        ({"floor": 0.3}, within([0.3] * 3, [1.0] * 3)),
    ):
        kind = next(iter(stated))
        for structure in (quiet, rare):
            name = f"30,000 people of 0 .95 1, {kind}=0.3"
            yield Known(OneHistogram(name, near, 30_000, stated, allowed, n_known=True), structure)
    for q in (1.0, 0.3):
        flat = Structure(np.full(3, 1 / 3), np.array([q, 1.0, 1.0]))
        yield Known(OneHistogram(f"10,000 ratings, q={q}", near, 10_000, {"q": q}, ratio(q)), flat)


class OneSided(OneHistogram):
    """The interval of Imbens and Manski [IM04], which is not offered: docs/confidence.md says why.

    Its critical value c solves  Phi(c + width/s) - Phi(-c) = level, where s is the larger of both
    standard errors; limits are interpolated between those of two ends and those of one.
    """

    def limits(self, rows: Floats) -> tuple[Floats, Floats]:
        """Compute the intervals, once for all structures."""
        scale, level = self.values.tolist(), self.level
        both = uh.estimate(rows, scale=scale, level=level, **self.stated)
        one = uh.estimate(rows, scale=scale, level=2 * level - 1, **self.stated)
        least, most = ndtri(level), ndtri((1 + level) / 2)
        beyond = np.maximum(both.lower - both.ci_lower, both.ci_upper - both.upper)
        errors = np.maximum(beyond / most, TINY)
        low, high = np.full(len(rows), least), np.full(len(rows), most)
        for _ in range(40):
            c = (low + high) / 2
            enough = ndtr(c + (both.upper - both.lower) / errors) - ndtr(-c) >= level
            low, high = np.where(enough, low, c), np.where(enough, c, high)
        share = (most - high) / (most - least)
        return (
            both.ci_lower + share * (one.ci_lower - both.ci_lower),
            both.ci_upper + share * (one.ci_upper - both.ci_upper),
        )


def one_sided() -> Iterator[OneHistogram]:
    """Yield questions about one-sided limits at the whole miss probability."""
    for values, sizes in (([0.0, 1.0], (3, 10, 30, 100, 300)), ([0.0, 0.9, 1.0], (10, 30, 100))):
        for size in sizes:
            for q in (0.97, 0.9, 0.6, 0.3, 0.1):
                words = " ".join(f"{value:g}" for value in values)
                name = f"{size} ratings of {words}, q={q}, one-sided"
                yield OneSided(name, np.array(values), size, {"q": q}, ratio(q))


QUESTIONS: list[Callable[[], Iterator[Question]]] = [one_histogram, large_sizes, one_sided]
"""What is searched; each function yields questions of one kind."""


def run() -> None:
    rng = np.random.default_rng(2026)
    least: dict[str, float] = {}
    for kind in QUESTIONS:
        for question in kind():
            coverage, worst = question.search(rng, SECONDS)
            verdict = "" if coverage >= LEAST else "   BELOW"
            print(f"{question.name}: {coverage:.4f}{verdict}\n   {worst}", flush=True)
            least[kind.__name__] = min(coverage, least.get(kind.__name__, 1.0))
    for name, coverage in least.items():
        print(f"least coverage, {name.replace('_', ' ')}: {coverage:.4f} (goal: at least {LEAST})")
