"""Figure "SPE": four aggregators over q for 20 people and five ratings [GKL25, section 6.2]."""

from __future__ import annotations

from collections.abc import Sequence

from unheard.charts.plots import plot_lines
from unheard.game.adversary import find_worst_cases
from unheard.model.scale import Scale
from unheard.paper.exhibit import Exhibit, ExhibitChart, Rows, Step

PEOPLE, RATINGS = 20, 5
METHODS = ("spectral", "average", "paa", "bea")


def build_grid(fast: bool) -> list[float]:
    """Return every q of the figure, or a few."""
    coarse = [0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
    return coarse if fast else [i / 100 for i in range(1, 100)]


def compute_numbers(
    qs: Sequence[float], step: Step = lambda _: None, n: int = PEOPLE, m: int = RATINGS
) -> Rows:
    """Return the worst case of each method at each q, with the structure that causes it."""
    rows = []
    for method in METHODS:
        for found in find_worst_cases(method, n, qs, Scale.points(m)):
            p, g = found.structure.p, found.structure.g
            rows.append(
                {
                    "q": found.q,
                    "method": method,
                    "regret": found.regret,
                    "p": " ".join(f"{x:.4f}" for x in p),
                    "g": " ".join(f"{x:.4f}" for x in g),
                    "share between the ends": sum(p[1:-1]),
                }
            )
            step(len(rows) / (len(METHODS) * len(qs)))
    return rows


def find_spectral_limit(m: int) -> float:
    """Return the spectral method's worst case when n grows and everybody responds.

    It estimates by the root of the mean square. With a share x at m and the rest at 1 it exceeds
    the mean by sqrt(1 + (m**2-1) x) - 1 - (m-1) x, at most (m-1)**2/(4 (m+1)). Moving a rating to a
    random end with the same mean raises the mean square, so no rating between the ends is worse.
    """
    return ((m - 1) ** 2 / (4 * (m + 1))) ** 2


def make(fast: bool, step: Step) -> Exhibit:
    """Make the exhibit."""
    qs = build_grid(fast)
    rows = compute_numbers(qs, step)
    at = {(row["method"], row["q"]): row["regret"] for row in rows}
    least = {
        method: min((at["spectral", q] / at[method, q], q) for q in qs)
        for method in ("bea", "paa", "average")
    }
    holds = min(least["bea"], least["paa"])[0] > 1
    inner = max(row["share between the ends"] for row in rows)
    chart = plot_lines(
        rows,
        "q",
        "regret",
        "method",
        x_title="q: least participation",
        y_title="worst-case regret",
        log=True,
    )
    return Exhibit(
        title="The spectral method compared with the others",
        where="Section 6.2, figure “SPE”",
        claim="For n = 20 and m = 5 both BEA and PAA outperform the spectral method for any q.",
        found=f"They {'do' if holds else 'do not'} at every one of {len(qs)} values of q from "
        f"{qs[0]} to {qs[-1]}. The spectral method’s worst case is at least "
        f"{_times(least['bea'])} that of BEA and {_times(least['paa'])} that of PAA. It does not "
        f"beat the plain average anywhere either (at least {_times(least['average'])}). It is a "
        "root mean "
        "square, too high whenever ratings differ; even if n grows and everybody responds, its "
        "worst "
        f"case is ((m−1)²/(4(m+1)))² = {find_spectral_limit(RATINGS):.3f}. At q = {qs[-1]} it is "
        f"{at['spectral', qs[-1]]:.3f}, the largest of the others {_others(at, qs[-1]):.4f}. The "
        f"search covers all five ratings; the worst structures hold {inner:.1%} of the people "
        "between the two ends.",
        verdict="agrees" if holds else "corrected",
        tables={"regret": rows},
        pictures={
            "regret": ExhibitChart(
                chart, "Worst-case regret for n = 20 and m = 5. Logarithmic scale."
            )
        },
    )


def _times(least: tuple[float, float]) -> str:
    return f"{least[0]:.2f} times (at q = {least[1]:g})"


def _others(at: dict[tuple[str, float], float], q: float) -> float:
    return max(at[method, q] for method in METHODS[1:])
