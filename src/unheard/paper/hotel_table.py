"""The table of hotel ratings [GKL25, section 6.1]: what its published figures imply.

The histogram is not public. The paper prints its size, its mean to two decimals, and the size and
mean of all ratings. The histograms (as shares) that match these figures form a polytope, over which
the estimates have exact ranges.

BEA depends only on the mean M and on d = (n_1 - n_m)/n_o; it rises with M and falls with d. The
linear program for the smallest d attains it at the largest M, which gives the largest BEA; likewise
the smallest.

PAA is the mean of two expectiles l and u. That l is at least x is one linear inequality in the
shares, and so is that it is at most x; u is the largest of m + 1 ratios of linear forms, each of
which is a linear program once shares are scaled so that its denominator is 1. So on every slice
x <= l <= y the largest u is known, (y + u)/2 bounds PAA from above, and the optimal histogram
bounds it from below. Bisecting the slice with the largest bound until the two meet is a
certificate.
"""

from __future__ import annotations

import csv
import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unheard.charts.plots import plot_bars, plot_intervals, plot_lines
from unheard.errors import DataError
from unheard.formulas.bea import bea_a_star, bea_lambda, regret_bound_at
from unheard.formulas.operations import Floats
from unheard.model.estimate import estimate
from unheard.paper.exhibit import Exhibit, ExhibitChart, Rows, Step

M, Q = 7, 0.3
PEOPLE = 96_646
REVIEWS = (47_820, 48_826)
"""The number of reviews according to the text, and to the caption of the appendix's figure."""

AVERAGE, PAA, BEA, TRUTH = 5.75, 5.66, 6.03, 5.53
"""The table as printed."""

ROUNDING = 0.005
_VALUES = np.arange(1.0, M + 1)


@dataclass(frozen=True, eq=False)
class Known:
    """What is known about a histogram: linear inequalities ``rows @ z <= 0``, whatever its size.

    Attributes
    ----------
    rows
        One inequality each; the first m columns are counts of the ratings seen, further columns,
        if any, those of everybody.
    """

    rows: Floats

    @staticmethod
    def mean(at: float) -> Known:
        """Build the knowledge that the mean of the ratings seen rounds to a number."""
        return Known(np.stack([_VALUES - at - ROUNDING, at - ROUNDING - _VALUES]))

    @staticmethod
    def means(at: float, truth: float, reviews: int) -> Known:
        """Build the same, also that the mean of everybody rounds to another and g is in [q, 1]."""
        here, none, one = Known.mean(at).rows, np.zeros((2, M)), np.eye(M)
        share = np.full(M, PEOPLE / reviews)
        rows = [
            np.hstack([here, none]),
            np.hstack([none, Known.mean(truth).rows]),
            np.hstack([one, -one]),
            np.hstack([-one, Q * one]),
            np.hstack([[share, -share], [-np.ones(M), np.ones(M)]]),
        ]
        return Known(np.vstack(rows))


def bracket_largest_paa(known: Known, tolerance: float = 1e-4) -> tuple[float, float]:
    """Return a bracket of the largest PAA over all histograms that match what is known.

    Parameters
    ----------
    known
        What is known.
    tolerance
        Width of the bracket at which to stop.
    """
    reached, slices = -np.inf, [(-float(M), 1.0, float(M))]
    while reached + tolerance < -slices[0][0]:
        _, low, high = heapq.heappop(slices)
        middle = (low + high) / 2
        for x, y in ((low, middle), (middle, high)):
            found = _most_upper(known, x, y)
            if found is not None:
                upper, counts = found
                heapq.heappush(slices, (-(y + upper) / 2, x, y))
                reached = max(reached, _paa(counts))
    return reached, -slices[0][0]


def _most_upper(known: Known, x: float, y: float) -> tuple[float, Floats] | None:
    """Return the largest u of a histogram with l from x to y, and that histogram, if one exists."""
    wider = known.rows.shape[1] - M
    l_rows = [-_pull(x), _pull(y)]
    rows = np.vstack([known.rows, [np.pad(row, (0, wider)) for row in l_rows]])
    best = None
    for k in range(M + 1):
        weight = np.pad(np.where(np.arange(M) < k, Q, 1.0), (0, wider))
        found = _solve(np.pad(_VALUES, (0, wider)) * weight, rows, weight)
        if found is not None and (best is None or found[0] > best[0]):
            best = found
    return None if best is None else (best[0], best[1][:M])


def _pull(x: float) -> Floats:
    """Return coefficients whose sum over a histogram is positive where its l is above x."""
    return np.where(x > _VALUES, 1.0, Q) * (_VALUES - x)


def _solve(objective: Floats, rows: Floats, scaled: Floats) -> tuple[float, Floats] | None:
    """Maximise over z >= 0 with rows @ z <= 0 and scaled @ z = 1."""
    from scipy.optimize import linprog

    found: Any = linprog(
        -objective, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=scaled[None, :], b_eq=[1.0]
    )
    return (-float(found.fun), np.asarray(found.x)) if found.status == 0 else None


def _paa(shares: Floats) -> float:
    ends = [
        [float(w * shares @ _VALUES / (w @ shares)) for w in weights]
        for weights in (
            [np.where(np.arange(M) < k, 1.0, Q) for k in range(M + 1)],
            [np.where(np.arange(M) < k, Q, 1.0) for k in range(M + 1)],
        )
    ]
    return (min(ends[0]) + max(ends[1])) / 2


@dataclass(frozen=True, eq=False)
class Extreme:
    """The histogram with the smallest or largest BEA.

    Attributes
    ----------
    shares
        Share of each rating among those seen.
    bea
        Its BEA.
    exact
        Whether it is proved to be the extreme: its mean is at the favourable end.
    """

    shares: Floats
    bea: float
    exact: bool


def find_extreme_bea(reviews: int, *, largest: bool) -> Extreme:
    """Return the histogram with the given number of ratings whose BEA is extreme."""
    sign = -1.0 if largest else 1.0
    difference = np.zeros(M)
    difference[[0, -1]] = sign, -sign
    found = _solve(difference, Known.mean(AVERAGE).rows, np.ones(M))
    assert found is not None  # histograms with any mean between 1 and m exist
    shares = found[1] / found[1].sum()
    wanted = AVERAGE - sign * ROUNDING
    return Extreme(
        shares,
        float(compute_bea(shares, reviews, float(bea_lambda(PEOPLE, Q)))),
        abs(float(shares @ _VALUES) - wanted) < 1e-9,
    )


def compute_bea(shares: Floats, reviews: int, lam: float | Floats) -> Any:
    """Return BEA of a histogram, given as shares, for any lambda."""
    gap = reviews * (shares[0] - shares[-1])
    unseen_mean = M - (M - 1) / (1 + np.exp(-np.asarray(lam) * gap))
    return (reviews * (shares @ _VALUES) + (PEOPLE - reviews) * unseen_mean) / PEOPLE


def solve_for_a(shares: Floats, reviews: int, bea: float) -> float:
    """Return the a* for which BEA of a histogram is a given number."""
    unseen_mean = (PEOPLE * bea - reviews * (shares @ _VALUES)) / (PEOPLE - reviews)
    at_low = (M - unseen_mean) / (M - 1)
    lam = np.log(at_low / (1 - at_low)) / (reviews * (shares[0] - shares[-1]))
    return float(1 / (1 + Q * np.exp(-lam)))


def evaluate_objective(a: Floats) -> Floats:
    """Return the objective that a* maximises, exactly, on {0, 1}."""
    return regret_bound_at(np.full(a.shape, float(PEOPLE)), np.full(a.shape, Q), _lambda(a))


def sample_objective(a: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the objective by Monte Carlo at each a, and the standard deviation of one draw.

    A draw is what the paper's lemma averages: n people of the first structure, and the squared
    posterior error of those unseen.
    """
    means, spreads = np.empty(len(a)), np.empty(len(a))
    for i, (share, lam) in enumerate(zip(a, _lambda(a), strict=True)):
        cells = (share * Q, 1 - share, share * (1 - Q))
        s, t, unseen = rng.multinomial(PEOPLE, cells, size=draws).T
        losses = (unseen / PEOPLE / (1 + np.exp(lam * (s - t)))) ** 2
        means[i], spreads[i] = losses.mean(), losses.std()
    return means, spreads


def _lambda(a: Floats) -> Floats:
    return np.asarray(np.log(a * Q / (1 - a)))


@dataclass(frozen=True, eq=False)
class Search:
    """Many searches for a* by Monte Carlo.

    Attributes
    ----------
    found
        The a with the largest mean, run by run.
    curves
        Grid and means of the first runs.
    spread
        Standard deviation of one draw at a*.
    draws
        Draws for each a.
    """

    found: Floats
    curves: list[tuple[Floats, Floats]]
    spread: float
    draws: int


def search_by_monte_carlo(fast: bool) -> Search:
    """Search for a* by Monte Carlo many times, each on a fine grid of its own."""
    rng = np.random.default_rng(2025)
    exact = float(bea_a_star(PEOPLE, Q))
    runs, draws = (40, 1_000) if fast else (100, 4_000)
    found, curves = [], []
    for _ in range(runs):
        # A grid that contains a* itself would make the search too easy.
        grid = exact + np.linspace(-5e-4, 5e-4, 41) + rng.uniform(-1.25e-5, 1.25e-5)
        means, _ = sample_objective(grid, draws, rng)
        found.append(grid[int(np.argmax(means))])
        curves.append((grid, means))
    _, spread = sample_objective(np.array([exact]), 50_000, rng)
    return Search(np.array(found), curves[:3], float(spread[0]), draws)


def read_counts(file: Path) -> tuple[Floats, Floats]:
    """Read counts of the ratings 1 to 10 or 1 to 7, and merge 1 to 4 as the paper does.

    Parameters
    ----------
    file
        A CSV with the columns rating, observed, true.
    """
    with file.open(newline="", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    try:
        ratings = [int(row["rating"]) for row in rows]
        columns = [[float(row[name]) for row in rows] for name in ("observed", "true")]
    except (KeyError, ValueError, TypeError):
        raise DataError(
            "data",
            problem="{file} must contain whole numbers in the columns rating, observed and true",
            hint="Correct the file, or leave it out",
            file=str(file),
        ) from None
    long = ratings == list(range(1, 11))
    if not long and ratings != list(range(1, M + 1)):
        raise DataError(
            "data",
            problem="{file} must list the ratings 1 to 10, or 1 to {m}",
            value=ratings,
            hint="Give one row per rating, in ascending order",
            file=str(file),
            m=M,
        )
    observed, true = (_merge_lowest(column) if long else np.array(column) for column in columns)
    return observed, true


def _merge_lowest(counts: Sequence[float]) -> Floats:
    return np.array([sum(counts[:4]), *counts[4:]])


def build_table(observed: Floats, true: Floats) -> Rows:
    """Return the paper's table for real counts."""
    n = float(true.sum())
    found = {
        "average": estimate(observed, Q, method="average", level=None).estimate,
        "paa": estimate(observed, Q, method="paa", level=None).estimate,
        "bea": estimate(observed, floor=Q, n=n, method="bea", level=None).estimate,
        "truth": float(true @ _VALUES / n),
    }
    printed = {"average": AVERAGE, "paa": PAA, "bea": BEA, "truth": TRUTH}
    return [{"method": k, "printed": printed[k], "here": x} for k, x in found.items()]


def find_ranges(tolerance: float = 1e-4) -> tuple[Rows, list[Extreme]]:
    """Return the ranges of PAA and BEA with the printed values, and the extremes of BEA."""
    known: dict[str, Callable[[float, float], Known]] = {
        "paa, from its mean": lambda at, _: Known.mean(at),
        "paa, from both means": lambda at, truth: Known.means(at, truth, REVIEWS[0]),
    }
    rows = []
    for name, of in known.items():
        most = bracket_largest_paa(of(AVERAGE, TRUTH), tolerance)[1]
        # The smallest PAA is the largest one on the reversed scale.
        least = M + 1 - bracket_largest_paa(of(M + 1 - AVERAGE, M + 1 - TRUTH), tolerance)[1]
        rows.append(_range(name, least, most, PAA))
    extremes = []
    for reviews in REVIEWS:
        two = [find_extreme_bea(reviews, largest=largest) for largest in (False, True)]
        extremes += two
        rows.append(_range(f"bea, {reviews:,} reviews", two[0].bea, two[1].bea, BEA))
    return rows, extremes


def _range(name: str, low: float, high: float, printed: float) -> dict[str, Any]:
    possible = bool(low - ROUNDING <= printed <= high + ROUNDING)
    return {"name": name, "low": low, "high": high, "printed": printed, "possible": possible}


def make(fast: bool, step: Step, data: Path | None = None) -> Exhibit:
    """Make the exhibit; it uses ``hotel.csv`` in the data folder if that exists."""
    rows, extremes = find_ranges(1e-3 if fast else 1e-4)
    step(0.4)
    search = search_by_monte_carlo(fast)
    step(0.7)
    smallest, largest = extremes[:2]
    searched = _tabulate_searches(search.found, {"smallest": smallest, "largest": largest})
    tables = {"ranges": rows, "searches": searched, "objective": _tabulate_objective(search)}
    found = f"{_describe_implied(rows, extremes)} {_cause(largest, search, searched)}"
    file = None if data is None else data / "hotel.csv"
    if file is not None and file.exists():
        tables["table"] = build_table(*read_counts(file))
        numbers = ", ".join(f"{row['method']} {row['here']:.2f}" for row in tables["table"])
        found = f"With the counts in hotel.csv: {numbers}. {found}"
    else:
        found += (
            " The exact table requires the counts: put hotel.csv with the columns rating, observed "
            "and true into the folder given by --data."
        )
    return Exhibit(
        title="The hotel table",
        where="Section 6.1, table 1",
        claim=f"On {PEOPLE:,} survey ratings and {REVIEWS[0]:,} reviews (m = {M}, q = {Q:g}): "
        f"average {AVERAGE}, PAA {PAA}, BEA {BEA} with a* by Monte Carlo, truth {TRUTH}.",
        found=found,
        verdict="corrected",
        tables=tables,
        pictures=_pictures(tables),
    )


def _tabulate_searches(found: Floats, histograms: dict[str, Extreme]) -> Rows:
    """Return the BEA that each Monte Carlo a* gives."""
    exact = float(bea_a_star(PEOPLE, Q))
    return [
        {
            "histogram": f"histogram with the {name} BEA",
            "a": float(a),
            "a - a*": float(a - exact),
            "bea": float(compute_bea(one.shares, REVIEWS[0], _lambda(a))),
            "exact bea": one.bea,
        }
        for name, one in histograms.items()
        for a in found
    ]


def _tabulate_objective(search: Search) -> Rows:
    exact = float(bea_a_star(PEOPLE, Q))
    fine = exact + np.linspace(-5e-4, 5e-4, 81)
    curves = {"exact": (fine, evaluate_objective(fine))}
    curves |= {f"Monte Carlo, run {i + 1}": curve for i, curve in enumerate(search.curves)}
    return [
        {"series": name, "a - a*": float(a - exact) * 1e4, "objective": float(x) * 1e3}
        for name, (grid, values) in curves.items()
        for a, x in zip(grid, values, strict=True)
    ]


def _describe_implied(rows: Rows, extremes: list[Extreme]) -> str:
    """Describe what the published figures allow."""
    paa, bea = ([row for row in rows if row["name"].startswith(x)] for x in ("paa", "bea"))
    low, high = min(row["low"] for row in bea), max(row["high"] for row in bea)
    proved = "proved by linear programs" if all(one.exact for one in extremes) else "not proved"
    return (
        "The counts are not public, and the paper gives two numbers of reviews, "
        f"{REVIEWS[0]:,} and {REVIEWS[1]:,}. They add up to {sum(REVIEWS):,}, so one of them seems "
        f"to be the number of non-respondents. A mean that rounds to {AVERAGE} allows a PAA from "
        f"{paa[0]['low']:.3f} to {paa[0]['high']:.3f}, and with the true mean and participation in "
        f"[{Q:g}, 1] as well from {paa[1]['low']:.3f} to {paa[1]['high']:.3f}: {PAA} is "
        f"{'possible' if paa[1]['possible'] else 'impossible'}. BEA can be from "
        f"{bea[0]['low']:.3f} to {bea[0]['high']:.3f} with {REVIEWS[0]:,} reviews and from "
        f"{bea[1]['low']:.3f} to {bea[1]['high']:.3f} with {REVIEWS[1]:,} ({proved}): {BEA} is "
        f"{'possible' if any(row['possible'] for row in bea) else 'impossible'}. BEA is too "
        f"low by {TRUTH - high:.2f} to {TRUTH - low:.2f}, and the average is too high by "
        f"{AVERAGE - TRUTH:.2f}; the figures do not say which is closer."
    )


def _cause(largest: Extreme, search: Search, searched: Rows) -> str:
    """Explain why a* by Monte Carlo is unreliable, given the histogram with the largest BEA."""
    exact = float(bea_a_star(PEOPLE, Q))
    wrong = solve_for_a(largest.shares, REVIEWS[0], BEA)
    rounded = solve_for_a(largest.shares, REVIEWS[0], largest.bea + ROUNDING)
    missed = evaluate_objective(np.array([exact])) - evaluate_objective(np.array([wrong, rounded]))
    # Two independent means, two standard errors apart.
    draws = 2 * (2 * search.spread / missed) ** 2
    beas = [row["bea"] for row in searched if row["exact bea"] == largest.bea]
    return (
        f"The cause is a*, which is {exact:.7f}; for {BEA} it would have to be {wrong:.7f}, even "
        f"with the histogram whose BEA is largest. There the objective is smaller by "
        f"{missed[0]:.1e}, which takes {draws[0]:.0e} draws to detect; two correct decimals of BEA "
        f"take {draws[1]:.0e}. Monte Carlo searches with {search.draws:,} draws for each a have a "
        f"standard deviation of {search.found.std():.1e}, and the BEA that they give for that "
        f"histogram ranges from {min(beas):.2f} to {max(beas):.2f}."
    )


def _pictures(tables: dict[str, Rows]) -> dict[str, ExhibitChart]:
    counted: dict[tuple[str, float], int] = {}
    for row in tables["searches"]:
        key = (row["histogram"], np.floor(2 * row["bea"]) / 2)
        counted[key] = counted.get(key, 0) + 1
    names = list(dict.fromkeys(name for name, _ in counted))
    bins = [
        {"histogram": name, "from": f"{b:.1f}", "runs": counted.get((name, b), 0)}
        for name in names
        for b in np.arange(3.0, 6.6, 0.5)
    ]
    return {
        "ranges": ExhibitChart(
            plot_intervals(
                tables["ranges"], "name", "low", "printed", "high", x_title="mean rating (1 to 7)"
            ),
            "Bars: the range over all histograms with the published totals and means. Dots: the "
            "printed values.",
        ),
        "objective": ExhibitChart(
            plot_lines(
                tables["objective"],
                "a - a*",
                "objective",
                "series",
                x_title="a − a*, in units of 0.0001",
                y_title="objective for a*, in units of 0.001",
            ),
            "The objective that a* maximises, exact and by Monte Carlo. A step of 0.0001 is enough "
            "to move BEA from one end to the other.",
        ),
        "searches": ExhibitChart(
            plot_bars(
                bins,
                "from",
                "runs",
                "histogram",
                x_title="BEA, in bins of 0.5 from",
                y_title="Monte Carlo searches",
                size=(260, 180),
            ),
            "The BEA that results from the a* of each Monte Carlo search, for the two extreme "
            "histograms.",
        ),
    }
