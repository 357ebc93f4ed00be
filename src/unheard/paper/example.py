"""Example "Why direct average is not good" [GKL25, section 1.1]."""

from __future__ import annotations

import numpy as np

from unheard.charts.plots import plot_lines
from unheard.model.estimate import estimate
from unheard.paper.exhibit import Exhibit, ExhibitChart, Rows, Step

TRUTH = 1.5
_MANY = 1_000_000_000


def compute_numbers(fast: bool) -> Rows:
    """Compute ratings for two equally likely values, the higher reported with probability q.

    A rating seen is a 2 with probability q/(1+q) whatever n is, so the mean of the average equals
    its limit for every n, given that anybody responds.
    """
    rows = []
    for q in np.linspace(0.05, 1.0, 20 if fast else 96):
        seen = estimate([_MANY, round(_MANY * q)], q, level=None)
        answers = {
            "average": (1 + 2 * q) / (1 + q),
            "paa": seen.estimate,
            "lower bound": seen.lower,
            "upper bound, the truth": seen.upper,
        }
        rows += [{"q": float(q), "series": s, "rating": float(x)} for s, x in answers.items()]
    return rows


def make(fast: bool, step: Step) -> Exhibit:
    """Make the exhibit."""
    rows = compute_numbers(fast)
    step(0.5)
    chart = plot_lines(
        rows,
        "q",
        "rating",
        "series",
        x_title="q: probability that somebody who would rate 2 responds",
        y_title="rating",
    )
    at = {row["series"]: row["rating"] for row in rows if abs(row["q"] - 0.1) < 1e-9}
    return Exhibit(
        title="Why the plain average is biased",
        where="Section 1.1, example",
        claim="With ratings 1 and 2 equally likely and g = (1, q), the average of the ratings "
        "tends "
        "to (1+2q)/(1+q), below the true 3/2, however many people there are.",
        found="Confirmed, and not only in the limit: the expected average is that number for "
        "every n. "
        f"At q = 0.1 it is {at['average']:.3f}. The bounds that q allows reach up to the truth, "
        f"{TRUTH}, and their middle is {at['paa']:.3f}.",
        verdict="agrees",
        tables={"ratings": rows},
        pictures={
            "ratings": ExhibitChart(chart, "Ratings 1 and 2, equally likely; the truth is 1.5.")
        },
    )
