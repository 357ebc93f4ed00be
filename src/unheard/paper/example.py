"""Example "Why direct average is not good" [GKL25, section 1.1]."""

from __future__ import annotations

import numpy as np

from unheard.charts.plots import plot_lines
from unheard.model.estimate import estimate
from unheard.paper.exhibit import Exhibit, Picture, Rows, Step

TRUTH = 1.5
_MANY = 1_000_000_000


def numbers(fast: bool) -> Rows:
    """Two equally likely ratings, of which the higher is reported with probability q.

    A rating seen is a 2 with probability q/(1+q), whatever n: so the mean of the average is its
    limit for every n, given that anybody answers.
    """
    rows = []
    for q in np.linspace(0.05, 1.0, 20 if fast else 96):
        seen = estimate([_MANY, round(_MANY * q)], q, level=None)
        answers = {
            "average": (1 + 2 * q) / (1 + q),
            "paa": seen.estimate,
            "lowest that q allows": seen.lower,
            "highest that q allows, the truth": seen.upper,
        }
        rows += [{"q": float(q), "series": s, "rating": float(x)} for s, x in answers.items()]
    return rows


def make(fast: bool, step: Step) -> Exhibit:
    """Make the exhibit."""
    rows = numbers(fast)
    step(0.5)
    chart = plot_lines(
        rows,
        "q",
        "rating",
        "series",
        x_title="q: chance that somebody who would rate 2 says so",
        y_title="rating",
    )
    at = {row["series"]: row["rating"] for row in rows if abs(row["q"] - 0.1) < 1e-9}
    return Exhibit(
        title="Why the plain average is not good",
        where="Section 1.1, example",
        claim="With ratings 1 and 2 equally likely and g = (1, q), the average of those seen tends "
        "to (1+2q)/(1+q), below the true 3/2, however many people there are.",
        found="So it does, and not only in the limit: for every n the mean of the average is that "
        f"number. At q = 0.1 it is {at['average']:.3f}. What q allows reaches up to the truth, "
        f"{TRUTH}, and the middle of it is {at['paa']:.3f}.",
        verdict="agrees",
        tables={"ratings": rows},
        pictures={"ratings": Picture(chart, "Ratings 1 and 2, equally likely; the truth is 1.5.")},
    )
