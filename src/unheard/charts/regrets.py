"""Drawings of regrets: over q, over q and the number of people, and one by one."""

from __future__ import annotations

import math
from typing import Any

from unheard.charts.altair import alt
from unheard.charts.marks import (
    METHOD,
    NUMBER,
    Drawing,
    Layers,
    Rows,
    along,
    down,
    key,
    layered,
    method_line,
    stacked,
    table,
    text_width,
    texts,
    tips,
)
from unheard.charts.style import Look

_BOUND = "lower bound"
_TITLES = {"t_name": "method", "t_n": "people", "t_q": "q", "t_regret": "regret"}
_TITLES |= {"t_root": "typical error, its square root", "t_how": "found by"}


def lay_out_regret(rows: Rows, look: Look, width: int) -> Drawing:
    """Draw lines over q; cells if the number of people varies too; rows if q does not vary."""
    drawn = _told([*_bounds(rows), *rows])
    if len({row["q"] for row in rows}) == 1:
        return _one_by_one(drawn, look, width)
    if len({row["n"] for row in rows}) == 1:
        return _over_q(drawn, look, width)
    return _cells(_told(rows), look, width)


def _bounds(rows: Rows) -> list[dict[str, Any]]:
    """Return the lower bound for each q and n; it bounds the worst gap and nothing else."""
    gaps = [dict(row) for row in rows if row["kind"] == "gap"]
    return [
        row | {"method": _BOUND, "regret": row["lower_bound"], "standard_error": None}
        for row in {(row["n"], row["q"]): row for row in gaps}.values()
    ]


def _told(rows: Rows) -> list[dict[str, Any]]:
    """Write the numbers of rows as text."""
    several = len({row["n"] for row in rows}) > 1
    told = []
    for row in rows:
        people = "endless" if row["n"] is None else f"{row['n']:,}"
        name = f"{row['method']}, n = {people}" if several else row["method"]
        texts = {
            "t_name": name,
            "t_n": people,
            "t_q": f"{row['q']:g}",
            "t_regret": f"{row['regret']:.4g}",
            "t_root": f"{max(row['regret'], 0.0) ** 0.5:.3f}",
            "t_how": "the theory" if row["method"] == _BOUND else row["how"],
        }
        told.append({**row, **texts})
    return told


def _title(rows: Rows) -> str:
    return f"regret ({rows[0]['kind']}), in squared rating points"


def _over_q(rows: Rows, look: Look, width: int) -> Drawing:
    """Draw a line for each method."""
    left = 56
    inner = width - left - 24
    ends = min(row["q"] for row in rows), max(row["q"] for row in rows)
    title = "q: the least probability to answer"
    x = along("q", ends, alt.Axis(title=title, grid=False, tickCount=inner // 50))
    side = {
        "title": _title(rows), "titleAnchor": "start", "titleAngle": 0, "titleAlign": "left",
        "titleX": 0, "titleY": -12, "format": NUMBER, "minExtent": left - 8, "domain": False,
        "ticks": False,
    }  # fmt: skip
    y = _height([row["regret"] for row in rows], side)
    names = list(dict.fromkeys(row["method"] for row in rows))
    layers: Layers = []
    for name in names:
        base = table([row for row in rows if row["method"] == name]).encode(x, y)
        layers.append(base.mark_line(**method_line(name, look)))
        dots = base.mark_point(filled=True, size=36, opacity=1, color=look.methods[name])
        layers += [] if name == _BOUND else [dots.encode(tooltip=tips(_TITLES))]
    drawing = layered(layers, inner, 250)
    entries = [(f"{METHOD}{name}", name) for name in names]
    return stacked(drawing, key(entries, look, inner, left), spacing=10)


def _height(values: list[float], side: dict[str, Any]) -> alt.Y:
    """Place regrets: on a logarithmic scale if they differ in size and none is zero."""
    least, most = min(values), max(values)
    if least <= 0 or most < 10 * least:
        return alt.Y("regret:Q", axis=alt.Axis(tickCount=5, **side))
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    ticks = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    axis = alt.Axis(values=[tick for tick in ticks if least / 1.5 < tick < most * 1.5], **side)
    return alt.Y("regret:Q", axis=axis, scale=alt.Scale(type="log", nice=False, padding=8))


def _one_by_one(rows: Rows, look: Look, width: int) -> Drawing:
    """Draw a point for each row, with the noise of a simulation around it."""
    left, right = 20 + max(text_width(row["t_name"]) for row in rows), 66
    inner = width - left - right
    numbered = [
        {**row, "row": i, "colour": look.methods[row["method"]]}
        | _around(row["regret"], row["standard_error"])
        for i, row in enumerate(rows)
    ]
    axis = alt.Axis(title=_title(rows), tickCount=inner // 70, format=NUMBER)
    domain = (0.0, max(row["high"] for row in numbered) * 1.05 or 1.0)
    y, bounds = down(len(rows)), [row for row in numbered if row["method"] == _BOUND]
    others = [row for row in numbered if row["method"] != _BOUND]
    colour = alt.Color("colour:N", scale=None, legend=None)
    base = table(others).encode(y, colour, tooltip=tips(_TITLES))
    layers: Layers = [
        table(bounds)
        .mark_rule(**method_line(_BOUND, look))
        .encode(along("regret", domain, axis), tooltip=tips(_TITLES)),
        base.mark_rule(strokeWidth=2).encode(along("low", domain, axis), alt.X2("high:Q")),
        base.mark_point(filled=True, size=110).encode(along("regret", domain, axis)),
        texts(numbered, "t_name", -10, look, align="right"),
        texts(numbered, "t_regret", inner + right - 6, look, align="right", fontWeight="bold"),
    ]
    return layered(layers, inner, 26 * len(rows) + 6)


def _around(value: float, error: float | None) -> dict[str, float]:
    """Return both ends of two standard errors around a value."""
    away = 2 * (error or 0.0)
    return {"low": max(value - away, 0.0), "high": value + away}


def _cells(rows: Rows, look: Look, width: int) -> Drawing:
    """Colour a cell for each q and number of people, a panel for each method."""
    names = list(dict.fromkeys(row["method"] for row in rows))
    columns = 1 if width < 440 else min(len(names), 2)
    size = (width - 70) // columns - 50
    people = sorted({row["n"] for row in rows}, key=lambda n: float("inf") if n is None else n)
    order = ["endless" if n is None else f"{n:,}" for n in people]
    q = [f"{value:g}" for value in sorted({row["q"] for row in rows})]
    chart = (
        table(rows)
        .mark_rect()
        .encode(
            alt.X("t_q:O", title="q", sort=q, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            alt.Y("t_n:O", title="people", sort=order[::-1]),
            # Cividis is read alike by everybody.
            alt.Color("regret:Q", title="regret", scale=alt.Scale(scheme="cividis", type="sqrt")),
            tooltip=tips(_TITLES),
        )
        .properties(width=size, height=min(size, 30 * len(order)))
        .properties(view=alt.ViewBackground(stroke=look.muted))
    )
    return chart.facet(facet=alt.Facet("method:N", title=None, sort=names), columns=columns)
