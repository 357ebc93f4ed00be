"""Figure "linear": how the regret falls with the number of people [GKL25, appendix B]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from unheard.charts.plots import plot_lines
from unheard.formulas.operations import Floats
from unheard.game.adversary import find_worst_case
from unheard.game.asymptotic import find_asymptotic_worst_case
from unheard.game.outcomes import list_outcomes
from unheard.game.regret import ExactRegret
from unheard.game.rules import evaluate_rule
from unheard.model.scale import Scale
from unheard.paper.exhibit import Exhibit, ExhibitChart, Rows, Step

Q = 0.5
P = (0.67, 0.33)
METHODS = ("bea", "paa")
SCALE = Scale.points(2)

FIXED = "p = (0.67, 0.33) and the worst g"
WORST = "the worst p and g"


def compute_numbers(people: Sequence[int], step: Step = lambda _: None) -> Rows:
    """Return exact regrets for each n: with p as in the paper, and with the worst p.

    The paper does not say which g it uses; here it is the worst in [q, 1] x [q, 1] for that p.
    """
    rows = []
    for done, n in enumerate(people, 1):
        for method in METHODS:
            regret, g = find_worst_participation(method, n)
            rows.append(_row(FIXED, n, method, regret, P, g))
            worst = find_worst_case(method, n, Q, SCALE)
            rows.append(_row(WORST, n, method, worst.regret, worst.structure.p, worst.structure.g))
        step(done / len(people))
    return rows


def _row(
    case: str, n: int, method: str, regret: float, p: Sequence[float], g: Sequence[float]
) -> dict[str, str | float]:
    if p[0] < p[1]:
        # Both methods treat the two ends alike, so of two mirror images the same one is shown.
        p, g = p[::-1], g[::-1]
    ends = {"p_1": p[0], "p_2": p[1], "g_1": g[0], "g_2": g[1]}
    return {"case": case, "n": n, "method": method, "regret": regret, **ends}


def find_worst_participation(method: str, n: int) -> tuple[float, tuple[float, float]]:
    """Return the largest regret for the paper's p over every g in [q, 1] x [q, 1], and that g."""
    answers = evaluate_rule(method, list_outcomes(n, 2).seen, n, Q, SCALE)
    exact = ExactRegret(answers, n, SCALE, "gap")
    p = np.array(P)

    def regrets(g: Floats) -> Floats:
        return exact.value(np.column_stack([p * g, p * (1 - g)]))

    grid = np.array(list(product(np.linspace(Q, 1, 11), repeat=2)))
    values = regrets(grid)
    start, height = grid[values.argmax()], float(values.max())

    # Climb from the best point of the grid, because the worst g may lie between its nodes.
    def downhill(g: Floats) -> float:
        return -float(regrets(g[None, :])[0]) / height

    found = minimize(downhill, start, method="L-BFGS-B", bounds=[(Q, 1.0), (Q, 1.0)])
    regret, g = max((height, tuple(start)), (-float(found.fun) * height, tuple(found.x)))
    return regret, (float(g[0]), float(g[1]))


def find_limits() -> dict[tuple[str, str], float]:
    """Return b, the limit of the regret as n grows, for both cases and methods.

    The worst p: see :mod:`unheard.game.asymptotic`. The paper's p = (p_1, p_2), on {0, 1}:

    BEA. Since n lambda tends to 2, alpha tends to sigma(2 (p_1 g_1 - p_2 g_2)), and the error to
    e = (1 - alpha) p_1 (1 - g_1) - alpha p_2 (1 - g_2): unseen low people taken for high ones,
    minus unseen high people taken for low ones. alpha rises with g_1 and falls with g_2, so e falls
    with g_1 and rises with g_2; it is furthest from zero at g = (q, 1) or (1, q).

    PAA. In odds of high to low, what is seen is o = p_2/p_1, the truth, times g_2/g_1, and l and u
    are that times q and 1/q. All rise with g_2/g_1. At g = (q, 1) l is the truth and u has odds
    o/q**2; at g = (1, q) u is the truth and l has odds o q**2. The error is half their distance.
    """
    (p_1, p_2), o = P, P[1] / P[0]
    bea = (
        p_1 * (1 - Q) * expit(-2 * (p_1 * Q - p_2)),
        p_2 * (1 - Q) * expit(2 * (p_1 - p_2 * Q)),
    )
    paa = tuple(abs(x / (1 + x) - p_2) / 2 for x in (o / Q**2, o * Q**2))
    unit = SCALE.width**2
    return {
        (FIXED, "bea"): unit * float(max(bea)) ** 2,
        (FIXED, "paa"): unit * max(paa) ** 2,
        **{
            (WORST, method): find_asymptotic_worst_case(method, Q, SCALE).regret
            for method in METHODS
        },
    }


def fit_rates(rows: Rows) -> Rows:
    """Fit k/n + b by least squares to each case and method, with the theoretical b."""
    found = []
    for (case, method), limit in find_limits().items():
        chosen = [row for row in rows if (row["case"], row["method"]) == (case, method)]
        n = np.array([row["n"] for row in chosen], np.float64)
        regret = np.array([row["regret"] for row in chosen])
        design = np.column_stack([1 / n, np.ones(len(n))])
        k, b = np.linalg.lstsq(design, regret)[0]
        off = np.abs(design @ [k, b] / regret - 1).max()
        found.append(
            {
                "case": case,
                "method": method,
                "k": float(k),
                "b": float(b),
                "b in theory": limit,
                "largest relative error": float(off),
            }
        )
    return found


def make(fast: bool, step: Step) -> Exhibit:
    """Make the exhibit."""
    rows = compute_numbers(range(20, 101, 10 if fast else 1), step)
    fitted = fit_rates(rows)
    chart = plot_lines(
        _curves(fitted),
        "n",
        "regret",
        "method",
        x_title="n: number of people",
        y_title="regret",
        panels="case",
        shared=True,
        size=(380, 280),
        dots=[row for row in rows if row["n"] % 10 == 0],
        wide=("limit",),
    )
    return Exhibit(
        title="How the regret falls with n",
        where="Appendix B, figure “linear”",
        claim="For m = 2, q = 0.5 and p = (0.67, 0.33) the regret of BEA and PAA for n from 20 to "
        "100 is approximately k/n + b. Both worst cases are proportional to (m−1)² as n grows.",
        found=_summarize(rows, fitted),
        verdict="agrees",
        tables={"regret": rows, "fits": fitted},
        pictures={
            "regret": ExhibitChart(
                chart,
                "Exact regret (rings), the fitted k/n + b (lines) and the limit (grey), for "
                "m = 2 and q = 0.5. Left: the paper’s p. Right: the worst p for every n.",
            )
        },
    )


def _curves(fitted: Rows) -> Rows:
    places = range(20, 101)
    limit = {row["case"]: row["b in theory"] for row in fitted}
    flat = [
        {"case": case, "n": n, "method": "limit", "regret": b}
        for case, b in limit.items()
        for n in places
    ]
    bent = [
        {"case": f["case"], "n": n, "method": f["method"], "regret": f["k"] / n + f["b"]}
        for f in fitted
        for n in places
    ]
    return [*flat, *bent]


def _summarize(rows: Rows, fitted: Rows) -> str:
    off = max(row["largest relative error"] for row in fitted)
    corner = all(row["g_1"] == Q and row["g_2"] == 1 for row in rows if row["case"] == FIXED)
    of = {(row["case"], row["method"]): row for row in fitted}
    fixed = "; ".join(
        f"{method.upper()} {of[FIXED, method]['k']:.4f}/n + {of[FIXED, method]['b']:.5f} (b in "
        f"theory: {of[FIXED, method]['b in theory']:.5f})"
        for method in METHODS
    )
    worst = "; ".join(
        f"{method.upper()} {of[WORST, method]['k']:.4f}/n + {of[WORST, method]['b']:.5f}"
        for method in METHODS
    )
    return (
        f"k/n + b fits every exact regret to within {off:.2%}. The paper does not say which g it "
        "uses; we use the worst one for that p, which is "
        f"{f'g = (q, 1) = ({Q}, 1) for every n' if corner else 'not the same g for every n'}. "
        f"Fitted: {fixed}. This p is, to two digits, the worst one as n grows, "
        f"(1/(1+q), q/(1+q)) = ({1 / (1 + Q):.4f}, {Q / (1 + Q):.4f}). With the worst p for each "
        f"n: {worst}, both tending to ((m−1)(1−q)/(2(1+q)))² = "
        f"{of[WORST, 'bea']['b in theory']:.5f}, which is proportional to (m−1)². A fitted b "
        "differs from the theoretical one by terms of order 1/n²."
    )
