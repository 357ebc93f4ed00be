"""The paper's theorems as numerical checks: statement, method and largest deviation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import gammaln

from unheard.charts.plots import plot_lines
from unheard.formulas.bea import bea_a_star, bea_lambda, regret_bound_at, regret_lower_bound
from unheard.formulas.operations import Floats
from unheard.game.adversary import find_worst_case
from unheard.game.minimax import certify_rule, solve_minimax
from unheard.game.outcomes import list_outcomes
from unheard.game.regret import ExactRegret, compute_regret
from unheard.game.structures import build_asymptotic_pair, build_lemma_pair
from unheard.model.question import build_question
from unheard.model.scale import Scale
from unheard.paper.exhibit import Exhibit, ExhibitChart, Rows, Step

Check = dict[str, Any]
_BINARY = Scale((0, 1))
_ROUNDING = 1e-12
"""Rounding error of sums of some hundred numbers of size one."""


def build_check(where: str, statement: str, how: str, deviation: float, allowed: float) -> Check:
    """Build a row of the table; the statement holds if the deviation is at most the allowed one.

    An inequality that holds with a margin has a deviation of 0.
    """
    return {
        "where": where,
        "statement": statement,
        "how": how,
        "largest deviation": max(float(deviation), 0.0),
        "allowed": allowed,
        "holds": bool(deviation <= allowed),
    }


def draw_histograms(m: int, rows: int, rng: np.random.Generator) -> Floats:
    """Draw histograms of all shapes, many with empty cells, none without ratings."""
    shares = rng.dirichlet(np.full(m, 0.5), size=rows)
    counts = rng.poisson(shares * rng.choice([3, 30, 3000], size=(rows, 1))).astype(np.float64)
    counts[counts.sum(axis=1) == 0, 0] = 1.0
    return np.asarray(counts)


def find_ends(counts: Floats, q: float) -> tuple[Floats, Floats]:
    """Return l and u by the package: a scan over all thresholds."""
    bounds = build_question(counts, q, level=None).find_bounds()
    return bounds.lower, bounds.upper


def find_ends_by_index(counts: Floats, q: float) -> tuple[Floats, Floats]:
    """Return l and u by the closed index k_1, k_2 of [GKL25, definition 4.1]."""
    m = counts.shape[1]
    values, k = np.arange(1.0, m + 1), np.arange(1.0, m + 1)[:, None]
    found = []
    for below, above in ((1.0, q), (q, 1.0)):
        # The largest k whose weighted sum of (r - k) is not negative.
        sums = counts @ (np.where(values < k, below, above) * (values - k)).T
        largest = m - np.argmax((sums >= 0)[:, ::-1], axis=1)
        weights = np.where(values <= largest[:, None], below, above) * counts
        found.append(weights @ values / weights.sum(axis=1))
    return found[0], found[1]


def find_expectile(counts: Floats, level: float) -> Floats:
    """Return expectiles by bisection of their first-order condition [NP87]."""
    values = np.arange(1.0, counts.shape[1] + 1)
    low, high = np.full(len(counts), values[0]), np.full(len(counts), values[-1])
    for _ in range(60):
        middle = (low + high) / 2
        away = values - middle[:, None]
        above = (counts * away * np.where(away > 0, level, 1 - level)).sum(axis=1) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2)


def check_closed_index(rows: int) -> Check:
    """Compare definition 4.1 with the scan."""
    return build_check(
        "Definition 4.1",
        "l and u by the closed index k_1, k_2 are the extremes over all thresholds",
        f"{rows:,} random histograms of 2 to 9 ratings",
        _over_histograms(rows, find_ends_by_index),
        _ROUNDING,
    )


def check_expectiles(rows: int) -> Check:
    """Compare l and u with expectiles."""
    return build_check(
        "Ours",
        "l and u are the expectiles at the levels q/(1+q) and 1/(1+q)",
        f"{rows:,} random histograms, expectiles by bisection",
        _over_histograms(
            rows,
            lambda counts, q: (
                find_expectile(counts, q / (1 + q)),
                find_expectile(counts, 1 / (1 + q)),
            ),
        ),
        _ROUNDING,
    )


def _over_histograms(rows: int, other: Callable[[Floats, float], tuple[Floats, Floats]]) -> float:
    rng = np.random.default_rng(41)
    worst = 0.0
    for m in range(2, 10):
        counts, q = draw_histograms(m, rows // 8, rng), float(rng.uniform(0.02, 1))
        for mine, theirs in zip(find_ends(counts, q), other(counts, q), strict=True):
            worst = max(worst, float(np.abs(mine - theirs).max()))
    return worst


def build_twins(counts: Floats, q: float) -> tuple[Floats, Floats]:
    """Return two g for each histogram under which the mean of everybody is l and u.

    People who rate up to l (from u on) respond with probability q, all others always.
    """
    values = np.arange(1.0, counts.shape[1] + 1)
    lower, upper = find_ends(counts, q)
    return (
        np.where(values <= lower[:, None], q, 1.0),
        np.where(values >= upper[:, None], q, 1.0),
    )


def check_optimal_paa(rows: int) -> Check:
    """Check that two structures with the same histogram have the means l and u.

    Every aggregator errs by (u - l)/2 on one of them, which is the largest error of PAA.
    """
    rng = np.random.default_rng(43)
    worst = 0.0
    for m in range(2, 10):
        counts, q = draw_histograms(m, rows // 8, rng), float(rng.uniform(0.02, 1))
        for g, end in zip(build_twins(counts, q), find_ends(counts, q), strict=True):
            people = counts / g
            means = people @ np.arange(1.0, m + 1) / people.sum(axis=1)
            worst = max(worst, float(np.abs(means - end).max()))
    return build_check(
        "Theorem 4.2",
        "As n grows PAA is optimal: two structures with the same histogram have the means l and u",
        f"{rows:,} random histograms: participation in [q, 1], means against l and u",
        worst,
        _ROUNDING,
    )


def check_worst_pair(draws: int) -> Check:
    """Compare PAA's regret on the pair of the proposition, and on random structures."""
    rng = np.random.default_rng(44)
    worst = 0.0
    for m in (2, 3, 5, 7):
        scale = Scale.points(m)
        for q in (0.1, 0.3, 0.7, 0.95):
            limit = ((m - 1) * (1 - q) / (2 * (1 + q))) ** 2
            # Both structures show as many of the lowest as of the highest rating.
            seen = np.eye(m)[[0]] + np.eye(m)[[-1]]
            paa = float(np.mean(find_ends(seen, q)))
            for one in build_asymptotic_pair(q, m):
                worst = max(worst, abs((paa - one.mean(scale)) ** 2 - limit))
            p = rng.dirichlet(np.full(m, 0.3), size=draws)
            g = q + (1 - q) * rng.beta(0.3, 0.3, size=p.shape)
            # Shares in the limit of large n, as counts of 10**12 people.
            shown = np.round(p * g * 1e12)
            answers = np.mean(find_ends(shown, q), axis=0)
            regrets = (answers - p @ np.array(scale.values)) ** 2
            worst = max(worst, float((regrets - limit).max()))
    return build_check(
        "Proposition 4.3",
        "As n grows PAA's regret is ((m-1)(1-q)/(2(1+q)))², attained by the given pair",
        f"16 pairs of m and q: both structures, and {draws:,} random ones, none of them worse",
        worst,
        1e-10,
    )


def compute_double_sum(n: int, q: float, a: float) -> float:
    """Return the lower bound for a given a as printed, on {0, 1} [GKL25, lemma 3.2]."""
    table = list_outcomes(n, 2)
    (s, t), u = table.seen.T, table.unseen
    log_chance = table.log_ways + s * np.log(a * q) + t * np.log1p(-a) + u * np.log(a * (1 - q))
    posterior = 1 / (1 + (a * q / (1 - a)) ** (s - t))
    return float((np.exp(log_chance) * (u / n * posterior) ** 2).sum())


def compute_bayes_regret(n: int, q: float, a: float) -> float:
    """Return the smallest regret of any aggregator on the even mixture of the lemma's pair."""
    table = list_outcomes(n, 2)
    pair = build_lemma_pair(a, q, 2)
    chances, targets = [], []
    for one in pair:
        *seen, low, high = one.cells()
        logs = np.log([*seen, low + high])
        cells = np.column_stack([table.seen, table.unseen])
        chances.append(np.exp(gammaln(n + 1) - gammaln(cells + 1).sum(axis=1) + cells @ logs))
        targets.append((table.seen[:, 1] + table.unseen * high / (low + high)) / n)
    mass = chances[0] + chances[1]
    answers = (chances[0] * targets[0] + chances[1] * targets[1]) / mass
    regret = ExactRegret(answers, n, _BINARY, "gap")
    return float(regret.value(np.stack([one.cells() for one in pair])).mean())


def check_lemma() -> Check:
    """Compare the printed lower bound with the Bayes regret."""
    worst = max(
        abs(compute_double_sum(n, q, a) - compute_bayes_regret(n, q, a))
        for n in (1, 2, 5, 12)
        for q in (0.1, 0.5, 0.9)
        for a in (0.2, 0.5, 0.8)
    )
    return build_check(
        "Lemma 3.2",
        "The lower bound is the Bayes regret of the two structures",
        "Enumeration of all histograms, n up to 12, nine pairs of q and a",
        worst,
        _ROUNDING,
    )


def check_best_response() -> Check:
    """Compare BEA's regret on both structures with the largest lower bound."""
    worst = 0.0
    for n in (2, 10, 20, 40):
        for q in (0.1, 0.5, 0.9):
            bound, a = float(regret_lower_bound(n, q)), float(bea_a_star(n, q))
            worst = max(worst, abs(compute_double_sum(n, q, a) - bound))
            for one in build_lemma_pair(a, q, 2):
                worst = max(worst, abs(compute_regret("bea", one, n, q, _BINARY) - bound))
    return build_check(
        "Corollary 3.3",
        "At a* both structures give BEA the same regret, the lower bound",
        "n from 2 to 40, q = 0.1, 0.5, 0.9; the bound by our integral and by the double sum",
        worst,
        _ROUNDING,
    )


def check_maximiser() -> Check:
    """Compare the bound at a* with the bound everywhere else."""
    worst = -np.inf
    for n in (2, 10, 100, 1000):
        for q in (0.1, 0.5, 0.9):
            lam = np.linspace(0.01, 8, 500) / n
            others = regret_bound_at(np.full(lam.shape, float(n)), np.full(lam.shape, q), lam)
            worst = max(worst, float((others - regret_lower_bound(n, q)).max()))
    return build_check(
        "Definition 3.1",
        "Our a* maximises the paper's objective",
        "500 other values of a for each of 12 pairs of n and q, n up to 1,000",
        worst,
        1e-15,
    )


def check_limit_of_lambda() -> tuple[Check, Check]:
    """Compare n lambda with 2, and with its other limits where hardly anybody is unseen."""
    people = np.array([1e4, 1e5, 1e6])
    away = [
        np.abs(people * bea_lambda(people, q) - 2) * people * (1 - q) for q in (0.1, 0.3, 0.5, 0.9)
    ]
    unseen = np.array([0.01, 0.1, 1.0, 10.0, 100.0])
    n = 1e6
    # r = (n-1)(1-q)/(1+q) is about half the number unseen; n lambda goes to (2r+1)/(r+1).
    r = unseen / 2
    apart = np.abs(n * bea_lambda(n, 1 - unseen / n) - (2 * r + 1) / (r + 1))
    return (
        build_check(
            "Ours",
            "n lambda tends to 2 for every q, so BEA no longer depends on q",
            "|n lambda - 2| times n(1-q) for n = 10⁴ to 10⁶ and four q stays below 4",
            float(np.max(away)),
            4.0,
        ),
        build_check(
            "Ours",
            "With n(1-q) = c fixed, n lambda tends to 2(c+1)/(c+2), between 1 and 2",
            "n = 10⁶, c from 0.01 to 100",
            float(apart.max()),
            1e-3,
        ),
    )


def check_reduction() -> Check:
    """Compare the extended optimum's worst case on three ratings with the binary value."""
    worst, scale = 0.0, Scale.points(3)
    for n, q in ((3, 0.3), (6, 0.5), (8, 0.9)):
        game = solve_minimax(n, q, scale)
        found = find_worst_case(game.answer, n, q, scale)
        # Inside the certified bracket the deviation is 0.
        outside = max(found.regret - game.upper, game.lower - found.regret, 0.0)
        worst = max(worst, outside / game.lower)
    return build_check(
        "Ours",
        "The optimum on three ratings is W² times that on two",
        "n = 3, 6, 8: worst case of the extended optimum against the certified bracket",
        worst,
        # The search stops this close to the maximum.
        1e-6,
    )


def measure_decay(fast: bool) -> Rows:
    """Return how far PAA's worst case on two ratings is above its limit, as n grows.

    Worst cases are certified from above, with a relative error of at most 1e-6.
    ``over the limit`` is the distance from the regret as n grows, ``over the bound`` that from the
    lower bound on the regret of any aggregator with n people.
    """
    sizes = (10, 20, 50, 100, 200) if fast else (10, 14, 20, 28, 40, 56, 80, 110, 150, 200)
    rows = []
    for q in (0.3, 0.5, 0.8):
        limit = ((1 - q) / (2 * (1 + q))) ** 2
        for n in sizes:
            worst = certify_rule("paa", n, q, tolerance=1e-6).upper
            bound = float(regret_lower_bound(n, q))
            rows.append(
                {
                    "q": q,
                    "n": n,
                    "worst case": worst,
                    "over the limit": worst - limit,
                    "over the bound": worst - bound,
                    "by the theorem": (worst - limit) * float(np.sqrt(n / np.log(n))),
                    "by 1/n": (worst - limit) * n,
                    "by 1/n²": (worst - bound) * n**2,
                }
            )
    return rows


def check_finite(rows: Rows) -> Check:
    """Check that the excess, divided by the theorem's rate, does not grow."""
    growth = max(
        after["by the theorem"] - before["by the theorem"]
        for before, after in pairwise(rows)
        if before["q"] == after["q"]
    )
    return build_check(
        "Theorem 4.4",
        "PAA is within O(m² sqrt(ln n/n)) of the optimum",
        "Certified worst cases for n = 10 to 200, m = 2, three q: the excess over the limit times "
        "sqrt(n/ln n) falls from each n to the next",
        growth,
        0.0,
    )


def check_falling_bound() -> Check:
    """Check what the proof of theorem 4.4 uses: the lower bound falls with n, to the limit."""
    n = np.arange(1, 1001)
    worst = -np.inf
    for q in (0.1, 0.5, 0.9):
        bounds = regret_lower_bound(n, q)
        limit = ((1 - q) / (2 * (1 + q))) ** 2
        worst = max(worst, float(np.diff(bounds).max()), limit - float(bounds.min()))
    return build_check(
        "Proof of theorem 4.4",
        "The lower bound never rises with n, nor falls below its limit",
        "n = 1 to 1,000 at q = 0.1, 0.5, 0.9",
        worst,
        0.0,
    )


def make(fast: bool, step: Step) -> Exhibit:
    """Make the exhibit."""
    many = 4_000 if fast else 80_000
    table = [
        check_closed_index(many),
        check_expectiles(many),
        check_optimal_paa(many),
        check_worst_pair(many // 4),
    ]
    step(0.2)
    table += [
        check_lemma(),
        check_best_response(),
        check_maximiser(),
        *check_limit_of_lambda(),
        check_falling_bound(),
    ]
    step(0.4)
    table.append(check_reduction())
    step(0.6)
    rows = measure_decay(fast)
    table.append(check_finite(rows))
    step(0.9)
    return Exhibit(
        title="The theorems, checked",
        where="Sections 3 and 4",
        claim="BEA is the best response to the two structures behind the lower bound. As n grows "
        "PAA is optimal, with a regret of ((m-1)(1-q)/(2(1+q)))², and with n people it is within "
        "O(m² sqrt(ln n/n)) of the optimum.",
        found=_summarize(table, rows),
        verdict="agrees" if all(row["holds"] for row in table) else "corrected",
        tables={"checks": table, "decay": rows},
        pictures={"decay": _picture(rows)},
    )


def _summarize(table: Rows, rows: Rows) -> str:
    failed = [row["where"] for row in table if not row["holds"]]
    last = {row["q"]: row for row in rows}
    rates, squares = (
        ", ".join(f"{one[key]:.3f} at q = {q:g}" for q, one in last.items())
        for key in ("by 1/n", "by 1/n²")
    )
    low, high = (one.mean(Scale.points(2)) for one in build_asymptotic_pair(0.3, 2))
    return (
        f"{len(table) - len(failed)} of {len(table)} statements hold"
        + (f"; not {', '.join(failed)}" if failed else "")
        + ". The last bound is loose: PAA's worst case falls to its limit like 1/n (n times the "
        f"difference is {rates} for n = {rows[-1]['n']}, on a scale from 0 to 1), and so does the "
        "lower bound: n² times the difference between the two stays bounded in this range "
        f"({squares}). So PAA, without n, is within about 1/n² of the best with n. One error: the "
        "proof of proposition 4.3 calls its first structure the one with the largest mean; it has "
        f"the smallest ({low:.3f} against {high:.3f} for m = 2, q = 0.3)."
    )


def _picture(rows: Rows) -> ExhibitChart:
    chart = plot_lines(
        _reference(rows),
        "n",
        "difference",
        "series",
        x_title="n people",
        y_title="difference",
        log=True,
        log_x=True,
        panels="panel",
        marks=True,
        size=(360, 300),
    )
    return ExhibitChart(
        chart,
        "Two ratings, certified worst cases. Left: the excess over the limit as n grows. Right: "
        "the "
        "excess over the lower bound for n people. The other lines show the slopes of the "
        "theorem's rate, of 1/n and of 1/n².",
    )


def _reference(rows: Rows) -> Rows:
    """Return the differences by q, and the rates, which start at the largest of them."""
    rates: dict[str, Callable[[float], float]] = {
        "sqrt(ln n/n)": lambda n: float(np.sqrt(np.log(n) / n)),
        "1/n": lambda n: 1 / n,
        "1/n²": lambda n: 1 / n**2,
    }
    sizes = list(dict.fromkeys(row["n"] for row in rows))
    panels = {
        "worst case of PAA minus its limit": ("over the limit", ("sqrt(ln n/n)", "1/n")),
        "worst case of PAA minus the lower bound": ("over the bound", ("sqrt(ln n/n)", "1/n²")),
    }
    drawn = []
    for panel, (key, shown) in panels.items():
        curves = {
            f"q = {q:g}": {row["n"]: row[key] for row in rows if row["q"] == q}
            for q in dict.fromkeys(row["q"] for row in rows)
        }
        top = max(curve[sizes[0]] for curve in curves.values())
        for name in shown:
            rate = rates[name]
            curves[name] = {n: top * rate(n) / rate(sizes[0]) for n in sizes}
        drawn += [
            {"panel": panel, "series": name, "n": n, "difference": x}
            for name, curve in curves.items()
            for n, x in curve.items()
        ]
    return drawn
