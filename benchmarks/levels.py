"""Coverage of confidence intervals, exactly, in the structures that are worst for them.

For each question in :data:`QUESTIONS` every outcome is enumerated, the intervals are worked out once,
and the structure (who rates what, who responds) is searched that is covered least. Where there are
too many outcomes, they are drawn instead, in the structures that were worst among those enumerated.
``UNHEARD_SECONDS=60`` gives each search a minute instead of ten seconds.

To add a kind of statement, append to ``QUESTIONS`` whatever has a name and a ``search``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

import unheard as uh

Floats = NDArray[np.float64]

SECONDS = float(os.environ.get("UNHEARD_SECONDS", "10"))
LEAST = 0.949
"""The coverage that must be found at a nominal 0.95."""

TINY = 1e-9


class Structure(NamedTuple):
    """Shares of the ratings among all people, and how likely each is to be given."""

    p: Floats
    g: Floats

    def __str__(self) -> str:
        p, g = (", ".join(f"{x:.4g}" for x in row) for row in self)
        return f"p = ({p}), g = ({g})"


class Question(Protocol):
    """Something that states a level."""

    name: str

    def search(self, rng: np.random.Generator, seconds: float) -> tuple[float, str]:
        """Return the least coverage found, and the structure in words."""


def outcomes(n: int, cells: int) -> Floats:
    """Every way in which n people divide into so many cells."""
    if cells == 1:
        return np.array([[float(n)]])
    parts = [
        np.column_stack([np.full(len(rest), float(k)), rest])
        for k in range(n + 1)
        for rest in [outcomes(n - k, cells - 1)]
    ]
    return np.concatenate(parts)


def probabilities(rows: Floats, shares: Floats) -> Floats:
    """Probability of every row of counts, for each row of shares."""
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
    n_known, draws
        Whether n is known; how many outcomes to draw instead of enumerating them.
    """

    name: str
    values: Floats
    size: int
    stated: dict[str, Any]
    allowed: Callable[[Floats], Floats]
    n_known: bool = False
    draws: int = 0
    level: float = 0.95
    one_sided: bool = False
    starts: list[Structure] = field(default_factory=list)

    def search(self, rng: np.random.Generator, seconds: float) -> tuple[float, str]:
        """Search p and g against the interval."""
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
        """Work out the intervals, once for all structures."""
        stated = dict(self.stated)
        if self.n_known:
            rows, stated["n"] = rows[:, :-1], self.size
        found = uh.estimate(rows, scale=self.values.tolist(), level=self.level, **stated)
        return found.ci_lower, found.ci_upper

    def coverage(
        self, rows: Floats, low: Floats, high: Floats, structures: list[Structure]
    ) -> Floats:
        """Probability that the interval holds the truth, structure by structure."""
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
        """Share of draws in which the interval holds the truth."""
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
    """Participations with a ratio of at least q, in the direction stated."""

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
    """Participations in a box per rating."""
    return lambda y: np.asarray(lo) ** y[:-1] * np.asarray(hi) ** (1 - y[:-1])


def run() -> None:
    rng = np.random.default_rng(2026)
    for question in questions():
        coverage, worst = question.search(rng, SECONDS)
        verdict = "" if coverage >= LEAST else "   BELOW"
        print(f"{question.name}: {coverage:.4f}{verdict}\n   {worst}", flush=True)
