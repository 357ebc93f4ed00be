"""Heat maps of BEA and PAA over the two counts of a binary scale [GKL25, section 5]."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from unheard.charts.plots import Chart, plot_heat_map, plot_lines
from unheard.formulas.bea import bea_lambda
from unheard.formulas.operations import Floats
from unheard.game.rules import state_assumption
from unheard.model.question import build_question
from unheard.paper.exhibit import Exhibit, ExhibitChart, Rows, Step

MIDDLE = 1.5
BEA_N, BEA_Q = 20, (0.1, 0.7, 0.9)
PAA_N, PAA_Q = 1000, (0.1, 0.3, 0.5)
_SLACK = 1e-12
"""How far rounding alone may move an estimate."""


def build_grid(n: int, step: int) -> Floats:
    """Return all pairs of counts n_1, n_2 in steps whose sum is at most n."""
    pairs = [(a, b) for a in range(0, n + 1, step) for b in range(0, n + 1 - a, step)]
    return np.array(pairs, np.float64)


def apply_method(method: str, counts: Floats, q: float) -> Floats:
    """Return the estimates of a method; BEA is told that there are 20 people."""
    assumption = state_assumption(method, BEA_N, q)
    question = build_question(counts, **assumption, level=None)
    return question.answer_rows([method])[0].estimate


def tabulate_cells(method: str, counts: Floats, qs: Iterable[float]) -> Rows:
    """Return the estimates of a method for each q, and the average, cell by cell."""
    panels = {f"{method}, q = {q:g}": apply_method(method, counts, q) for q in qs}
    # The average is PAA at q = 1, but it is not BEA at q = 1.
    plain = "average (q = 1)" if method == "paa" else "plain average"
    panels[plain] = apply_method("average", counts, 1.0)
    return [
        {"panel": panel, "n_1": int(a), "n_2": int(b), "rating": float(x)}
        for panel, values in panels.items()
        for (a, b), x in zip(counts, values, strict=True)
    ]


def tabulate_section(method: str, n_1: int, seconds: Iterable[int], qs: Iterable[float]) -> Rows:
    """Return the same along a line with n_1 fixed."""
    return tabulate_cells(method, np.array([(n_1, b) for b in seconds], np.float64), qs)


def measure_distances(method: str, counts: Floats, qs: Iterable[float]) -> Rows:
    """Return how far estimates are from 3/2 as q grows, and how often further than the average.

    ``rises`` and ``falls`` count the cells whose distance grew or shrank since the q before.
    """
    rows, before = [], None
    plain = np.abs(apply_method("average", counts, 1.0) - MIDDLE)
    for q in qs:
        away = np.abs(apply_method(method, counts, q) - MIDDLE)
        change = np.zeros(len(away)) if before is None else away - before
        rows.append(
            {
                "method": method,
                "q": float(q),
                "mean distance": float(away.mean()),
                "mean distance of the average": float(plain.mean()),
                "cells": len(away),
                "beyond the average": int((away > plain + _SLACK).sum()),
                "most beyond": float((away - plain).max()),
                "rises": int((change > _SLACK).sum()),
                "falls": int((change < -_SLACK).sum()),
                "n lambda": float(BEA_N * bea_lambda(BEA_N, q)) if method == "bea" else None,
            }
        )
        before = away
    return rows


def measure_at_equal_counts(method: str, n: int, step: int, qs: Iterable[float]) -> float:
    """Return how far from 3/2 a method is where n_1 = n_2, at the most."""
    counts = np.array([(a, a) for a in range(0, n // 2 + 1, step)], np.float64)
    return max(float(np.abs(apply_method(method, counts, q) - MIDDLE).max()) for q in qs)


def _map(rows: Rows) -> Chart:
    return plot_heat_map(
        rows, "n_1", "n_2", "rating", "panel",
        x_title="ratings of 1", y_title="ratings of 2", colour_title="estimate",
    )  # fmt: skip


def _lines(rows: Rows) -> Chart:
    return plot_lines(
        rows, "n_2", "rating", "panel",
        x_title="ratings of 2", y_title="estimate",
    )  # fmt: skip


def make(fast: bool, step: Step) -> Exhibit:
    """Make the exhibit."""
    coarse = 40 if fast else 20
    small, large = build_grid(BEA_N, 1), build_grid(PAA_N, coarse)
    tables = {
        "bea": tabulate_cells("bea", small, BEA_Q),
        "bea-values": tabulate_section("bea", 5, range(16), BEA_Q),
        "paa": tabulate_cells("paa", large, PAA_Q),
        "paa-values": tabulate_section("paa", 300, range(0, 701, 10), PAA_Q),
    }
    step(0.3)
    every = np.round(np.arange(0.05, 1.0, 0.05 if fast else 0.01), 2).tolist()
    bea = measure_distances("bea", small, every)
    paa = measure_distances("paa", large, every)
    tables["distances"] = [*bea, *paa]
    step(0.5)
    return Exhibit(
        title="BEA and PAA, count by count",
        where="Section 5, figures of the heat maps and values",
        claim="With ratings 1 and 2 both are more conservative (nearer to 3/2) than the average. "
        "PAA grows more conservative as q falls, BEA as q grows. Where n_1 = n_2 all give 3/2.",
        found=_summarize(bea, paa),
        verdict="agrees",
        tables=tables,
        pictures={
            "bea": ExhibitChart(_map(tables["bea"]), f"BEA for n = {BEA_N}, and the average."),
            "bea-values": ExhibitChart(
                _lines(tables["bea-values"]),
                f"BEA for n = {BEA_N} with five ratings of 1, and the average.",
            ),
            "paa": ExhibitChart(
                _map(tables["paa"]),
                f"PAA in steps of {coarse} counts; at q = 1 it is the average.",
            ),
            "paa-values": ExhibitChart(
                _lines(tables["paa-values"]),
                "PAA with 300 ratings of 1; at q = 1 it is the average.",
            ),
        },
    )


def _summarize(bea: Rows, paa: Rows) -> str:
    beyond = {
        name: sum(row["beyond the average"] for row in rows)
        for name, rows in (("bea", bea), ("paa", paa))
    }
    equal = max(
        measure_at_equal_counts("bea", BEA_N, 1, BEA_Q),
        measure_at_equal_counts("paa", PAA_N, 20, PAA_Q),
    )
    rises, falls = (sum(row[way] for row in bea) for way in ("rises", "falls"))
    paa_rises, paa_falls = (sum(row[way] for row in paa) for way in ("rises", "falls"))
    least, most = bea[0], bea[-1]
    return (
        f"PAA, as q falls through {len(paa)} values: cells move towards 3/2 {paa_rises:,} times "
        f"and away from it {paa_falls:,} times; beyond the average {beyond['paa']:,} times. BEA, "
        f"as q grows from {least['q']:g} to {most['q']:g}: towards 3/2 {falls:,} times, away from "
        f"it {rises:,} times. So it does grow more conservative with q, but barely: the mean "
        f"distance from 3/2 goes from {least['mean distance']:.4f} to {most['mean distance']:.4f}, "
        f"compared with {most['mean distance of the average']:.4f} for the average. The reason is "
        "its "
        f"lambda: n lambda is {least['n lambda']:.3f} and {most['n lambda']:.3f} there, and for "
        "large n it is 2 for every q, unless hardly anybody is unseen. BEA lies beyond the average "
        f"in {beyond['bea']:,} of {len(bea) * bea[0]['cells']:,} cases. Where n_1 = n_2 the "
        f"largest distance from 3/2 is {equal:.0e}. The panel that the paper calls simple "
        "averaging (q = 1) is the average, not BEA at q = 1: BEA still assigns ratings to the "
        "unseen."
    )
