"""A picture of every kind, and names that try to be something else."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

import unheard as uh
from unheard.analysis.breakdown import Claim
from unheard.analysis.sweep import GRID, sweep_question
from unheard.charts.draw import (
    draw_calibration,
    draw_comparison,
    draw_estimate,
    draw_ranking,
    draw_regret,
    draw_sweep,
)
from unheard.charts.picture import Picture
from unheard.game.regret_table import RegretTable
from unheard.model.scale import Scale

COUNTS = (120, 30, 45, 200, 605)

HOSTILE = (
    "</script><script>alert(1)</script>",
    '<img src=x onerror="alert(2)">',
    "datum.estimate",
    "{{7*7}} ${7*7} {expr: 'x'}",
    "a.b[c]['d']\\\"",
    "line\nbreak\ttab\x00\x1b[31m\u2028",
    "lone \ud800 surrogate and \ufffe\uffff",
    "]]> & &amp; <!-- -->",
    "x" * 500,
    "",
    "名前 ☃ 👩‍👩‍👧 עברית",
)


def ranked(names: list[Any], column: str = "hotel") -> list[dict[str, Any]]:
    """Return rows as ``unheard rank --json`` has them, one tier for every two items."""
    rows = []
    for i, name in enumerate(names):
        middle = 5 - 4 * (i // 2 * 2 + 1) / (len(names) + 1)
        rows.append(
            {
                column: name,
                "n_ratings": 10 * (i + 1),
                "n": None,
                "average": None if i == 1 else middle + 0.01,
                "estimate": middle - 0.001 * i,
                "lower": middle - 0.1,
                "upper": middle + 0.1,
                "ci_lower": middle - 0.2,
                "ci_upper": middle + 0.2,
                "best_rank": i + 1 - i % 2,
                "worst_rank": i + 2 - i % 2,
                "tier": i // 2 + 1,
                "notes": ["no_ratings"] if i == 1 else [],
            }
        )
    return rows


def regrets(sizes: tuple[int, ...], qs: tuple[float, ...]) -> list[dict[str, Any]]:
    methods = ["average", "bea"]
    return [
        asdict(row)
        for n in sizes
        for row in RegretTable(n, Scale.points(2), "gap", "any").find_worst(methods, qs)
    ]


def pictures() -> dict[str, Picture]:
    """Return every kind of picture, in its variants."""
    free, known = uh.build_question(COUNTS, 0.3), uh.build_question(COUNTS, 0.3, n=2400)
    nobody = uh.build_question([0] * 5, 0.3)
    long = uh.build_question(np.arange(1001) % 7, 0.3, scale="0:1000", level=None)
    audit = uh.calibrate([12, 30, 0, 49, 25], [400, 330, 0, 230, 60])
    simulated = RegretTable(50, Scale.points(2), "gap", "any").simulate(
        ["average", "paa"], [0.5], 50, 0
    )
    return {
        "estimate": draw_estimate(free, free.answer(["paa"])),
        "methods": draw_estimate(known, known.answer(known.methods())),
        "no ratings": draw_estimate(nobody, nobody.answer(["paa"])),
        "long scale": draw_estimate(long, long.answer(["paa"])),
        "sweep": draw_sweep(sweep_question(free, GRID, Claim(True, 3.5)), q=0.3),
        "sweep with n": draw_sweep(sweep_question(known, GRID, Claim(False, 4.5))),
        "sweep of nothing": draw_sweep(sweep_question(nobody, GRID, Claim(True, 3.5))),
        "comparison": draw_comparison(
            uh.compare([5, 10, 35, 120, 30], [30, 25, 45, 80, 20], q=0.5, names=("A", HOSTILE[0]))
        ),
        "ranking": draw_ranking(ranked(list(HOSTILE)), ["hotel"], Scale.points(5)),
        "one item": draw_ranking(ranked(["A"]), ["hotel"], Scale.points(5)),
        "no items": draw_ranking([], ["hotel"], Scale.points(5)),
        "audit": draw_calibration(audit),
        "other people": draw_calibration(uh.calibrate([12, 30, 49], [40, 33, 23], paired=False)),
        "regret": draw_regret(regrets((6,), (0.2, 0.5, 0.8))),
        "one q": draw_regret([asdict(row) for row in simulated]),
        "map": draw_regret(regrets((4, 8), (0.2, 0.5, 0.8))),
    }
