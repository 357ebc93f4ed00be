"""Real ratings with known truth: the assumption helps where it is right."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import unheard as uh
from tests.strategies import Floats

ITEMS = Path(__file__).parents[3] / "shared" / "data" / "cm100k" / "item_histograms.csv"


@pytest.fixture(scope="module")
def tracks() -> tuple[Floats, Floats]:
    """Ratings of music tracks: those seen, and everybody's."""
    if not ITEMS.exists():
        pytest.skip("the CM100k ratings are not beside this checkout (../shared/data)")
    with ITEMS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    seen, everybody = (
        {
            row["item"]: [float(row[f"n{r}"]) for r in range(1, 5)]
            for row in rows
            if row["population"] == population
        }
        for population in ("observed", "true")
    )
    chosen = [item for item, counts in seen.items() if sum(counts) >= 10]
    return np.array([seen[i] for i in chosen]), np.array([everybody[i] for i in chosen])


def error(estimate: Floats, everybody: Floats) -> float:
    truth = everybody @ np.arange(1, 5) / everybody.sum(axis=1)
    return float(np.sqrt(np.mean((estimate - truth) ** 2)))


def test_the_error_halves_when_the_unhappy_are_quiet(tracks: tuple[Floats, Floats]) -> None:
    seen, everybody = tracks
    average = uh.estimate(seen, 0.3, method="average").estimate
    assert round(error(average, everybody), 3) == 0.623
    assert round(error(uh.estimate(seen, 0.3).estimate, everybody), 3) == 0.610
    low = uh.estimate(seen, 0.1, quiet="low").estimate
    assert round(error(low, everybody), 3) == 0.318
