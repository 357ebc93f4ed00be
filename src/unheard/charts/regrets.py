"""Layouts of charts of regret: over q, over q and n, and method by method."""

from __future__ import annotations

import math
from typing import Any

from unheard.charts import marks
from unheard.charts.altair import alt
from unheard.charts.marks import Drawing, Layers, Rows
from unheard.charts.style import Look

_BOUND = "lower bound"
_TITLES = {"t_name": "method", "t_n": "people", "t_q": "q", "t_regret": "regret"}
_TITLES |= {"t_root": "square root, a typical error", "t_how": "computed by"}


def lay_out_regret(rows: Rows, look: Look, width: int) -> Drawing:
    """Lay out lines over q; cells if n varies too; rows if q does not vary."""
    drawn = _write_rows([*_list_bounds(rows), *rows])
    if len({row["q"] for row in rows}) == 1:
        return _lay_out_rows(drawn, look, width)
    if len({row["n"] for row in rows}) == 1:
        return _lay_out_lines(drawn, look, width)
    return _lay_out_cells(_write_rows(rows), look, width)


def _list_bounds(rows: Rows) -> list[dict[str, Any]]:
    """Return the lower bound for each q and n; it applies to the worst gap only."""
    gaps = [dict(row) for row in rows if row["kind"] == "gap"]
    return [
        row | {"method": _BOUND, "regret": row["lower_bound"], "standard_error": None}
        for row in {(row["n"], row["q"]): row for row in gaps}.values()
    ]


def _write_rows(rows: Rows) -> list[dict[str, Any]]:
    """Add the numbers of rows as text."""
    several = len({row["n"] for row in rows}) > 1
    written = []
    for row in rows:
        people = "infinite" if row["n"] is None else f"{row['n']:,}"
        name = f"{row['method']}, n = {people}" if several else row["method"]
        texts = {
            "t_name": name,
            "t_n": people,
            "t_q": f"{row['q']:g}",
            "t_regret": f"{row['regret']:.4g}",
            "t_root": f"{max(row['regret'], 0.0) ** 0.5:.3f}",
            "t_how": "the theory" if row["method"] == _BOUND else row["how"],
        }
        written.append({**row, **texts})
    return written


def _write_title(rows: Rows) -> str:
    return f"regret ({rows[0]['kind']}), in squared rating points"


def _lay_out_lines(rows: Rows, look: Look, width: int) -> Drawing:
    """Draw a line for each method."""
    left = 56
    inner = width - left - 24
    ends = min(row["q"] for row in rows), max(row["q"] for row in rows)
    title = "q: smallest probability of responding"
    x = marks.encode_x("q", ends, alt.Axis(title=title, grid=False, tickCount=inner // 50))
    side = {
        "title": _write_title(rows), "titleAnchor": "start", "titleAngle": 0, "titleAlign": "left",
        "titleX": 0, "titleY": -12, "format": marks.NUMBER, "minExtent": left - 8, "domain": False,
        "ticks": False,
    }  # fmt: skip
    y = _encode_regret([row["regret"] for row in rows], side)
    names = list(dict.fromkeys(row["method"] for row in rows))
    layers: Layers = []
    for name in names:
        base = marks.chart_rows([row for row in rows if row["method"] == name]).encode(x, y)
        layers.append(base.mark_line(**marks.method_line(name, look)))
        dots = base.mark_point(filled=True, size=36, opacity=1, color=look.methods[name])
        layers += [] if name == _BOUND else [dots.encode(tooltip=marks.write_tooltips(_TITLES))]
    drawing = marks.layer(layers, inner, 250)
    entries = [(f"{marks.METHOD}{name}", name) for name in names]
    return marks.stack(drawing, marks.draw_key(entries, look, inner, left), spacing=10)


def _encode_regret(values: list[float], side: dict[str, Any]) -> alt.Y:
    """Place regrets: on a logarithmic scale if they differ in size and none is zero."""
    least, most = min(values), max(values)
    if least <= 0 or most < 10 * least:
        return alt.Y("regret:Q", axis=alt.Axis(tickCount=5, **side))
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    ticks = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    axis = alt.Axis(values=[tick for tick in ticks if least / 1.5 < tick < most * 1.5], **side)
    return alt.Y("regret:Q", axis=axis, scale=alt.Scale(type="log", nice=False, padding=8))


def _lay_out_rows(rows: Rows, look: Look, width: int) -> Drawing:
    """Draw a point for each row, with two standard errors of a simulation around it."""
    left, right = 20 + max(marks.text_width(row["t_name"]) for row in rows), 66
    inner = width - left - right
    numbered = [
        {**row, "row": i, "colour": look.methods[row["method"]]}
        | _find_ends(row["regret"], row["standard_error"])
        for i, row in enumerate(rows)
    ]
    axis = alt.Axis(title=_write_title(rows), tickCount=inner // 70, format=marks.NUMBER)
    domain = (0.0, max(row["high"] for row in numbered) * 1.05 or 1.0)
    y, bounds = marks.encode_row(len(rows)), [row for row in numbered if row["method"] == _BOUND]
    others = [row for row in numbered if row["method"] != _BOUND]
    colour = alt.Color("colour:N", scale=None, legend=None)
    base = marks.chart_rows(others).encode(y, colour, tooltip=marks.write_tooltips(_TITLES))
    layers: Layers = [
        marks.chart_rows(bounds)
        .mark_rule(**marks.method_line(_BOUND, look))
        .encode(marks.encode_x("regret", domain, axis), tooltip=marks.write_tooltips(_TITLES)),
        base.mark_rule(strokeWidth=2).encode(marks.encode_x("low", domain, axis), alt.X2("high:Q")),
        base.mark_point(filled=True, size=110).encode(marks.encode_x("regret", domain, axis)),
        marks.draw_texts(numbered, "t_name", -10, look, align="right"),
        marks.draw_texts(
            numbered, "t_regret", inner + right - 6, look, align="right", fontWeight="bold"
        ),
    ]
    return marks.layer(layers, inner, 26 * len(rows) + 6)


def _find_ends(value: float, error: float | None) -> dict[str, float]:
    """Return the ends of two standard errors around a value."""
    away = 2 * (error or 0.0)
    return {"low": max(value - away, 0.0), "high": value + away}


def _lay_out_cells(rows: Rows, look: Look, width: int) -> Drawing:
    """Colour a cell for each q and number of people, a panel for each method."""
    names = list(dict.fromkeys(row["method"] for row in rows))
    columns = 1 if width < 440 else min(len(names), 2)
    size = (width - 70) // columns - 50
    people = sorted({row["n"] for row in rows}, key=lambda n: float("inf") if n is None else n)
    order = ["infinite" if n is None else f"{n:,}" for n in people]
    q = [f"{value:g}" for value in sorted({row["q"] for row in rows})]
    chart = (
        marks.chart_rows(rows)
        .mark_rect()
        .encode(
            alt.X("t_q:O", title="q", sort=q, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            alt.Y("t_n:O", title="people", sort=order[::-1]),
            # Cividis looks the same to colour-blind readers.
            alt.Color("regret:Q", title="regret", scale=alt.Scale(scheme="cividis", type="sqrt")),
            tooltip=marks.write_tooltips(_TITLES),
        )
        .properties(width=size, height=min(size, 30 * len(order)))
        .properties(view=alt.ViewBackground(stroke=look.muted))
    )
    return chart.facet(facet=alt.Facet("method:N", title=None, sort=names), columns=columns)
