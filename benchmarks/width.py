"""Width of the confidence interval, compared with exact Gaffke intervals and hedged betting.

All three use the same histograms. Gaffke's probability is computed by inverting its characteristic
function; betting is the hedged capital process of Waudby-Smith and Ramdas (2024) with the bets that
they recommend for a fixed number of ratings, in random order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import unheard as uh

Floats = NDArray[np.float64]

VALUES = np.arange(1.0, 6.0)
SHAPES = {
    "J": [0.1, 0.05, 0.05, 0.2, 0.6],
    "U": [0.35, 0.1, 0.1, 0.1, 0.35],
    "uniform": [0.2] * 5,
    "high": [0.0, 0.02, 0.08, 0.3, 0.6],
    "near-constant": [0.0, 0.0, 0.0, 0.02, 0.98],
}
SIZES = (3, 10, 30, 100, 1000)
QS = (1.0, 0.6, 0.3, 0.1)
ROWS = 40
MISS = 0.025


def run() -> None:
    rng = np.random.default_rng(2026)
    print("ours over Gaffke's, mean (largest); betting over Gaffke's, mean, for q = 1")
    means, rows = [], []
    for size in SIZES:
        for name, shape in SHAPES.items():
            counts = np.unique(rng.multinomial(size, shape, size=ROWS), axis=0).astype(float)
            cells = []
            for q in QS:
                found = uh.estimate(counts, q)
                exact = gaffke_width(counts, q)
                ratio = (found.ci_upper - found.ci_lower) / exact
                cells.append(f"q={q:g}: {ratio.mean():.3f} ({ratio.max():.3f})")
                means.append(ratio.mean())
                rows.append(ratio.max())
                if q == 1:
                    cells.append(f"betting {np.mean(betting_width(counts, rng) / exact):.2f}")
            print(f"{size:,} ratings, {name}: " + ", ".join(cells), flush=True)
    print(f"largest mean {max(means):.3f} (goal: at most 1.02)")
    print(f"largest row {max(rows):.3f} (goal: at most 1.05)")


def gaffke_width(counts: Floats, q: float) -> Floats:
    """Return the width of the exact interval."""
    top = gaffke_limit(counts[:, ::-1], (VALUES[-1] - VALUES)[::-1], q)
    bottom = gaffke_limit(counts, VALUES - VALUES[0], q)
    return np.asarray(VALUES[-1] - VALUES[0] - top - bottom)


def gaffke_limit(counts: Floats, places: Floats, q: float, miss: float = MISS) -> Floats:
    """Return the distance of the exact lower limit from the near end, by bisection."""
    low, high = np.zeros(len(counts)), np.full(len(counts), places[-1])
    for _ in range(34):
        t = (low + high) / 2
        y = np.where(places < t[:, None], 1 / q, 1.0) * (places - t[:, None])
        y = np.column_stack([y, -t / q])
        people = np.column_stack([counts, np.ones(len(counts))])
        rejected = _not_positive(y, people) <= miss
        low, high = np.where(rejected, t, low), np.where(rejected, high, t)
    return low


def _not_positive(y: Floats, people: Floats) -> Floats:
    """Return the probability that the sum of y times gamma variables is at most 0 (Imhof 1961)."""
    step = 0.12 / (1 + np.sqrt(people.sum(axis=1).max()) / 8)
    u = np.exp(np.arange(-26, 14, step))
    y = y / np.sqrt((people * y * y).sum(axis=1, keepdims=True))
    angle, size = np.zeros((len(y), len(u))), np.zeros((len(y), len(u)))
    for k in range(y.shape[1]):
        turned = u * y[:, [k]]
        angle += people[:, [k]] * np.arctan(turned)
        size += people[:, [k]] * np.log1p(turned * turned) / 2
    return np.asarray(0.5 - (np.sin(angle) * np.exp(-size)).sum(axis=1) * step / np.pi)


def betting_width(counts: Floats, rng: np.random.Generator, grid: int = 1001) -> Floats:
    """Return the width of the hedged capital interval for the plain mean."""
    places = (VALUES - VALUES[0]) / (VALUES[-1] - VALUES[0])
    means = np.linspace(0, 1, grid)
    widths = []
    for row in counts:
        ratings = rng.permutation(np.repeat(places, row.astype(int)))
        n = len(ratings)
        running = (0.5 + np.cumsum(ratings)) / (np.arange(1, n + 1) + 1)
        spread = (0.25 + np.cumsum((ratings - running) ** 2)) / (np.arange(1, n + 1) + 1)
        before = np.concatenate([[0.25], spread[:-1]])
        bets = np.sqrt(2 * np.log(2 / (2 * MISS)) / (n * before))[:, None]
        with np.errstate(divide="ignore"):
            up, down = np.minimum(bets, 0.5 / means), np.minimum(bets, 0.5 / (1 - means))
        gains = ratings[:, None] - means
        capital = np.maximum(np.log1p(up * gains).sum(axis=0), np.log1p(-down * gains).sum(axis=0))
        inside = means[capital < np.log(1 / MISS)]
        widths.append((inside[-1] - inside[0]) * (VALUES[-1] - VALUES[0]))
    return np.array(widths)
