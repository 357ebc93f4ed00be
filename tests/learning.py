"""Simulated surveys: with reminders, and with response rates that depend on the rating."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
from scipy.special import expit

from unheard.formulas.operations import Floats

SHARES = np.array([0.1, 0.15, 0.25, 0.3, 0.2])
LOW = np.array([-1.2, -0.8, -0.3, 0.1, 0.5])
"""Effects of the rating on the log-odds of responding: people with low ratings do so less."""

LEVELS = np.array([0.0, -0.3, -0.5])
REMINDERS = (date(2024, 5, 13), date(2024, 5, 20))


def simulate_waves(
    rng: np.random.Generator,
    items: int,
    people: int,
    *,
    waves: int = 3,
    effects: Floats = LOW,
    change: Floats | float = 0.0,
    spread: float = 0.0,
) -> tuple[Floats, Floats]:
    """Return responses per item, request and rating, and the number of people per item.

    ``change`` is added to the effects at the second request, which the model rules out. ``spread``
    is how much items vary in how readily people respond.
    """
    counts = np.zeros((items, waves, len(effects)))
    own = rng.normal(0, spread, items) if spread else np.zeros(items)
    for i in range(items):
        shares = SHARES if items == 1 else rng.dirichlet(8 * SHARES)
        left = rng.multinomial(people, shares)
        for k in range(waves):
            odds = LEVELS[k] + effects + (k == 1) * change + own[i]
            counts[i, k] = rng.binomial(left, expit(odds))
            left = left - counts[i, k].astype(int)
    return counts, np.full(items, float(people))


def find_participation(waves: int = 3, effects: Floats = LOW) -> Floats:
    """Return the probability of ever responding, by rating."""
    return np.asarray(1 - np.prod(expit(-(LEVELS[:waves, None] + effects)), axis=0))


def list_responses(counts: Floats, people: Floats) -> list[list[object]]:
    """Return a row per response: course, stars, request, day, enrolled."""
    first = (date(2024, 5, 6), *REMINDERS)
    return [
        [f"c{i}", r + 1, k + 1, first[k] + timedelta(days=j % 5), int(people[i])]
        for i, k, r in np.ndindex(*counts.shape)
        for j in range(int(counts[i, k, r]))
    ]


def simulate_rates(
    rng: np.random.Generator, items: int = 300, *, spread: float = 0.0, kappa: float = 0.0
) -> tuple[Floats, Floats, Floats]:
    """Return responses per item and rating, the number of people, and everybody's ratings.

    ``spread`` is how much items vary in how readily people respond for reasons of their own;
    ``kappa`` says by how much that grows with each point of the item's mean.
    """
    g = np.array([0.15, 0.2, 0.3, 0.42, 0.55])
    values = np.arange(1.0, 6.0)
    means = rng.normal(3.4, 0.7, items)
    shapes = np.exp(-0.5 * (values - means[:, None]) ** 2) + 0.02
    shares = shapes / shapes.sum(axis=1, keepdims=True)
    people = rng.integers(15, 120, items)
    everybody = np.array([rng.multinomial(n, p) for n, p in zip(people, shares, strict=True)])
    own = np.exp(rng.normal(0, spread, items) + kappa * (shares @ values - 3.4))
    seen = rng.binomial(everybody, np.minimum(g * own[:, None], 1.0))
    return seen.astype(float), people.astype(float), everybody.astype(float)
