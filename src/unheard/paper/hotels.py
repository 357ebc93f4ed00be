"""Figures 1 and 2: two hotels with the same average [GKL25, section 1]."""

from __future__ import annotations

import numpy as np

from unheard.charts.plots import plot_bars, plot_intervals
from unheard.formulas.estimators import MINIMAX_REACH
from unheard.model.example import HOTELS
from unheard.model.question import build_question
from unheard.paper.exhibit import Exhibit, ExhibitChart, Rows, Step

Q = 0.3
OBSERVED = HOTELS

TRUE = {"Hotel A": (50, 16, 50, 70, 114), "Hotel B": (8, 15, 52, 180, 45)}
"""What all guests may think: A's neutral guests mostly did not respond, B's all respond alike."""

_STARS = np.arange(1.0, 6.0)


def tabulate_ratings() -> Rows:
    """Return the share of each rating, observed and true, and its participation."""
    rows = []
    for hotel, seen in OBSERVED.items():
        for which, counts in (("observed", seen), ("true", TRUE[hotel])):
            for stars, count in enumerate(counts, start=1):
                rows.append(
                    {
                        "hotel": hotel,
                        "ratings": which,
                        "panel": f"{hotel}, {which} ratings",
                        "stars": stars,
                        "count": count,
                        "share": 100 * count / sum(counts),
                        "participation": seen[stars - 1] / TRUE[hotel][stars - 1],
                    }
                )
    return rows


def tabulate_estimates() -> Rows:
    """Return every method's estimate with its bounds: without n, with n, then the truth."""
    rows = []
    for hotel, counts in OBSERVED.items():
        n, truth = sum(TRUE[hotel]), _mean(TRUE[hotel])
        free, known = build_question(counts, Q), build_question(counts, floor=Q, n=n)
        needs_n = [method for method in known.methods() if method not in free.methods()]
        answers = [*free.answer(free.methods()), *known.answer(needs_n)]
        for one in answers:
            words = f"{one.method}, of {n} guests" if one.method in needs_n else one.method
            rows.append(
                {
                    "name": f"{hotel}: {words}",
                    "hotel": hotel,
                    "method": one.method,
                    "lower": one.lower,
                    "estimate": one.estimate,
                    "upper": one.upper,
                }
            )
        rows.append(
            {
                "name": f"{hotel}: true mean",
                "hotel": hotel,
                "method": "truth",
                "lower": truth,
                "estimate": truth,
                "upper": truth,
            }
        )
    return rows


def _mean(counts: tuple[int, ...]) -> float:
    return float(np.average(_STARS, weights=counts))


def make(fast: bool, step: Step) -> Exhibit:
    """Make the exhibit."""
    histograms, answers = tabulate_ratings(), tabulate_estimates()
    step(0.5)
    return Exhibit(
        title="Two hotels with the same average",
        where="Section 1, figures 1 and 2",
        claim="Two hotels have the same average. A's ratings are polarised, B's are around 4. A's "
        "displayed rating may be inflated, since guests with neutral opinions may have skipped "
        "reviewing; B's reflects the truth better.",
        found=_summarize(histograms, answers),
        verdict="agrees",
        tables={"ratings": histograms, "estimates": answers},
        pictures={
            "ratings": ExhibitChart(
                plot_bars(
                    histograms, "stars", "share", "panel", x_title="stars", y_title="% of ratings"
                ),
                "Left: the ratings seen. Right: what all guests may think (figures 1 and 2 of the "
                "paper).",
            ),
            "estimates": ExhibitChart(
                plot_intervals(
                    answers, "name", "lower", "estimate", "upper", x_title="mean rating in stars"
                ),
                f"Bars: the bounds for q = {Q:g}, with n unknown and known. Dots: the estimates. "
                "The spectral method is a root mean square, so it always lies above the "
                "average.",
            ),
        },
    )


def _summarize(histograms: Rows, answers: Rows) -> str:
    participation = [row["participation"] for row in histograms]
    at = {(row["hotel"], row["method"]): row for row in answers}
    said = ""
    for hotel, seen in OBSERVED.items():
        paa, midpoint = at[hotel, "paa"], at[hotel, "midpoint"]
        said += (
            f"{hotel}: average {_mean(seen):.2f}, true mean {_mean(TRUE[hotel]):.2f}; q = {Q:g} "
            f"allows {paa['lower']:.2f} to {paa['upper']:.2f} (paa {paa['estimate']:.2f}), with n "
            f"known {midpoint['lower']:.2f} to {midpoint['upper']:.2f} (midpoint "
            f"{midpoint['estimate']:.2f}, bea {at[hotel, 'bea']['estimate']:.2f}). "
        )
    return (
        "The paper prints no numbers, so these are ours. The true ratings fit the observed ones "
        f"with participation between {min(participation):.2f} and {max(participation):.2f}, inside "
        f"[{Q:g}, 1]. {said}Both true means lie within the bounds, and those of A are wider: "
        "nonresponse can hide more behind polarised ratings. It does not follow that A's rating is "
        "inflated, only that it may be: its bounds reach above the average as well. The minimax "
        f"estimate is missing because it is available for up to {MINIMAX_REACH} people."
    )
