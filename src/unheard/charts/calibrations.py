"""Layout of a calibration: participation by rating, with its confidence box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unheard.charts import marks
from unheard.charts.altair import alt
from unheard.charts.marks import Drawing, Layers, Rows
from unheard.charts.style import Look
from unheard.model.scale import Scale
from unheard.text import write_exactly

_LEFT, _RIGHT, _HEIGHT = 46, 18, 220


def lay_out_calibration(
    rows: Rows, scale: Scale, paired: bool, level: float, look: Look, width: int
) -> Drawing:
    """Lay out the estimated participation at each rating, and its confidence box."""
    inner = width - _LEFT - _RIGHT
    pad = scale.width / min(2 * (scale.m - 1), 40)
    domain = (scale.lowest - pad, scale.highest + pad)
    top = max(row["g_upper"] for row in rows)
    share = alt.Scale(domain=[0, top * 1.05], nice=False)
    side = alt.Axis(
        title=None, format="~%" if paired else marks.NUMBER, tickCount=5,
        minExtent=_LEFT - 8, domain=False, ticks=False,
    )  # fmt: skip
    axis = marks.build_scale_axis(scale, "rating", grid=False)
    written = [row | _write_participation(row, paired) for row in map(dict, rows)]
    titles = {
        "t_rating": "rating",
        "t_g": "estimate",
        "t_box": f"{level * 100:.6g}% confidence box",
    }
    if "audited" in rows[0]:
        titles |= {"t_audited": "people audited"}
    titles |= {"t_answers": "respondents"}
    base = marks.chart_rows(written).encode(
        marks.encode_x("rating", domain, axis), tooltip=marks.write_tooltips(titles)
    )
    thick = marks.line_styles(look)["bounds"] | {"strokeWidth": min(8, 0.5 * inner / len(rows))}
    lower, upper = alt.Y("g_lower:Q", scale=share, axis=side), alt.Y2("g_upper:Q")
    known = [row for row in written if row["g"] is not None]
    layers: Layers = [base.mark_rule(**thick).encode(lower, upper)]
    place = marks.encode_x("rating", domain, axis), alt.Y("g:Q", scale=share, axis=side)
    points = marks.chart_rows(known).encode(*place, tooltip=marks.write_tooltips(titles))
    dot = marks.point_styles(look)["estimate"]
    dot |= {"size": min(dot["size"], max((inner / len(rows)) ** 2, 30))}
    layers.append(points.mark_point(**dot))
    if inner / len(rows) > 55:
        text = points.mark_text(align="left", dx=9, fontSize=11, color=look.muted)
        layers.append(text.encode(alt.Text("t_g:N")))
    unknown = [row for row in written if row["g"] is None]
    if unknown and inner / len(rows) > 30:
        nobody = marks.chart_rows(unknown).mark_text(
            text="unknown", angle=270, dy=-13, fontSize=11, color=look.muted
        )
        layers.append(nobody.encode(marks.encode_x("rating", domain, axis), y=alt.value(110)))
    what = "share who respond" if paired else "relative to the highest"
    entries = [
        ("estimate", f"participation: {what}"),
        ("bounds", f"{level * 100:.6g}% confidence box for all ratings"),
    ]
    drawing = marks.layer(layers, inner, _HEIGHT)
    return marks.stack(drawing, marks.draw_key(entries, look, inner, _LEFT), spacing=10)


def _write_participation(row: Mapping[str, Any], paired: bool) -> dict[str, str]:
    """Write participation at a rating as text."""

    def text(value: float) -> str:
        return f"{value:.1%}" if paired else f"{value:.2f}"

    return {
        "t_rating": write_exactly(row["rating"]),
        "t_g": "unknown" if row["g"] is None else text(row["g"]),
        "t_box": f"{text(row['g_lower'])} to {text(row['g_upper'])}",
        "t_audited": f"{row.get('audited', 0):,.0f}",
        "t_answers": f"{row['answers']:,.0f}",
    }
