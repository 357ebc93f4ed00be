"""Figure "PAA": average and PAA in the limit of large n [GKL25, section 4.1]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, differential_evolution

from unheard.charts.plots import plot_lines
from unheard.formulas.operations import Floats
from unheard.game.asymptotic import find_asymptotic_worst_case
from unheard.game.rules import evaluate_rule
from unheard.model.scale import Scale
from unheard.paper.exhibit import Exhibit, ExhibitChart, Rows, Step

METHODS = ("average", "paa")
RATINGS = 3

_MANY = 10**15
"""Stands for infinitely many people; counts of so many are still exact in floating point."""


def list_closed_forms(qs: Sequence[float], m: int = RATINGS) -> Rows:
    """Return the worst case of both methods by formula, with its share at the first end."""
    rows = []
    for q in qs:
        for method in METHODS:
            limit = find_asymptotic_worst_case(method, q, Scale.points(m))
            share = limit.structure.p[0]
            rows.append(
                {
                    "q": q,
                    "method": method,
                    "regret": limit.regret,
                    "share at the end": share,
                }
            )
    return rows


def search_worst_cases(qs: Sequence[float], step: Step = lambda _: None, m: int = RATINGS) -> Rows:
    """Return the worst case of both methods by a search that does not use the formulas."""
    rows = []
    for done, q in enumerate(qs, 1):
        rows += [
            {"q": q, "method": method, "regret": search_worst_case(method, q, m)}
            for method in METHODS
        ]
        step(done / len(qs))
    return rows


def search_worst_case(method: str, q: float, m: int = RATINGS) -> float:
    """Find the largest (f - mu)**2 over all structures, by differential evolution.

    There are 2m types of people: a rating, and participation of 1 or q. Any other participation is
    a mixture of the two.
    """
    scale = Scale.points(m)
    values = np.array(scale.values)

    def downhill(columns: Floats) -> Floats:
        # One column per structure. The tiny number turns a column of zeros into a structure.
        points = columns.reshape(2 * m, -1).T + 1e-15
        points = points / points.sum(axis=1, keepdims=True)
        eager, reluctant = points[:, :m], points[:, m:]
        seen = np.round(_MANY * (eager + q * reluctant))
        answers = evaluate_rule(method, seen, _MANY, q, scale)
        return np.asarray(-((answers - (eager + reluctant) @ values) ** 2))

    found = differential_evolution(
        downhill,  # type: ignore[arg-type]  # of many structures at once, as vectorized asks
        Bounds(np.zeros(2 * m), np.ones(2 * m)),
        rng=0,
        tol=1e-10,
        maxiter=400,
        vectorized=True,
        updating="deferred",
    )
    return -float(found.fun)


def make(fast: bool, step: Step) -> Exhibit:
    """Make the exhibit."""
    formulas = list_closed_forms([i / 100 for i in range(1, 100)])
    places = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99] if fast else [0.01, *_twentieths(), 0.99]
    found = search_worst_cases(places, step)
    at = {(row["method"], row["q"]): row["regret"] for row in formulas}
    apart = max(abs(row["regret"] / at[row["method"], row["q"]] - 1) for row in found)
    worse = {q: at["average", q] / at["paa", q] - 1 for q in (0.1, 0.5, 0.9)}
    chart = plot_lines(
        formulas,
        "q",
        "regret",
        "method",
        x_title="q: least participation",
        y_title="worst-case regret as n grows",
        log=True,
        dots=found,
    )
    return Exhibit(
        title="Average and PAA as n grows",
        where="Section 4.1, figure “PAA”",
        claim="As n grows PAA is optimal; its regret tends to ((m−1)(1−q)/(2(1+q)))². The figure "
        "shows it below the average’s for m = 3. No formula is given for the average.",
        found="The limit for the average is ((m−1)(1−√q)/(1+√q))², attained where a share 1/(1+√q) "
        "of the people is at one end of the scale and responds with probability q. A search over "
        f"all structures that uses neither formula agrees with both to {apart:.0e} (relative) at "
        f"{len(places)} values of q. The average is worse at every q, though barely for large q: "
        "by "
        f"{worse[0.1]:.0%} at q = 0.1, {worse[0.5]:.1%} at q = 0.5 and {worse[0.9]:.2%} at "
        "q = 0.9. As q falls to 0 the factor rises to 4.",
        verdict="agrees",
        tables={"formulas": formulas, "search": found},
        pictures={
            "regret": ExhibitChart(
                chart,
                "Worst case as n grows, for m = 3: formulas (lines) and a search over all "
                "structures (rings). Logarithmic scale.",
            )
        },
    )


def _twentieths() -> list[float]:
    return [i / 20 for i in range(1, 20)]
