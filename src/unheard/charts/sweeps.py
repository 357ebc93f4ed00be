"""Drawings over q and over the ratings: sweeps and participation."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unheard.charts.altair import alt
from unheard.charts.marks import (
    NUMBER,
    Drawing,
    Layers,
    Rows,
    along,
    band_styles,
    edge_styles,
    key,
    layered,
    line_styles,
    point_styles,
    scale_axis,
    stacked,
    table,
    tips,
)
from unheard.charts.style import Look
from unheard.model.scale import Scale
from unheard.present.chart_records import confidence_words
from unheard.text import range_text, rating_text, write_exactly

_LEFT, _RIGHT, _HEIGHT = 46, 18, 250
_TICKS = (1, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
_TIGHT = (0.7, 0.3)
"""Ticks that a narrow picture does without."""


@dataclass(frozen=True)
class Plane:
    """Where q and ratings lie in a picture.

    Attributes
    ----------
    least
        The q at the right; 1 is at the left.
    domain
        Lowest and highest rating.
    title
        What q means; under the axis.
    inner
        How wide the plane is.
    """

    least: float
    domain: tuple[float, float]
    title: str
    inner: int

    def x(self, column: str = "q") -> alt.X:
        """Place q."""
        ticks = [q for q in _TICKS if q >= self.least and (self.inner > 400 or q not in _TIGHT)]
        title = textwrap.wrap(self.title, max(int(self.inner / 6.4), 20))
        axis = alt.Axis(
            values=ticks, format=NUMBER, title=title, titlePadding=24, grid=False,
            labelOverlap="greedy", labelSeparation=6,
        )  # fmt: skip
        scale = alt.Scale(type="log", domain=[self.least, 1], reverse=True, nice=False)
        return alt.X(f"{column}:Q", scale=scale, axis=axis)

    def y(self, column: str) -> alt.Y:
        """Place a rating."""
        axis = alt.Axis(title=None, tickCount=5, minExtent=_LEFT - 8, domain=False, ticks=False)
        scale = alt.Scale(domain=list(self.domain), nice=False, zero=False)
        return alt.Y(f"{column}:Q", scale=scale, axis=axis)


def lay_out_sweep(
    rows: Rows,
    marked: Mapping[str, Mapping[str, Any]],
    scale: Scale,
    level: float | None,
    words: tuple[str, str, str],
    look: Look,
    width: int,
) -> Drawing:
    """Draw estimate and intervals over q, from 1 at the left to nearly 0 at the right.

    Parameters
    ----------
    rows
        The answers, largest q first.
    marked
        The claim and the q chosen, where there are any.
    scale, level
        Of the question.
    words
        What q means, and what its two ends mean.
    look, width
        As everywhere.
    """
    claim, chosen = marked.get("claim"), marked.get("chosen")
    heights = [row[name] for row in rows for name in ("ci_lower", "ci_upper")]
    heights += [claim["threshold"]] if claim else []
    pad = 0.05 * (max(heights) - min(heights)) or 0.5
    inner = width - _LEFT - _RIGHT
    domain = (min(heights) - pad, max(heights) + pad)
    plane = Plane(rows[-1]["q"], domain, words[0], inner)
    entries = [("line", "estimate"), ("band", "interval")]
    entries.append(("noise band", confidence_words(level)))
    layers = [*_bands(rows, plane, look), *_ends(words[1:], plane, look)]
    if ruled_out := [row["q"] for row in rows if "low_response" in row["notes"]]:
        layers.insert(0, _ruled_out(ruled_out, plane, look))
        entries.append(("tier", "fewer people responded than the floor allows"))
    if claim:
        more, said = _claim(claim, plane, look)
        layers += more
        entries += said
    if chosen:
        layers += _chosen(chosen["q"], plane, look)
    layers.append(_pointed_at(rows, scale, level, plane))
    drawing = layered(layers, inner, _HEIGHT)
    return stacked(drawing, key(entries, look, inner, _LEFT), spacing=10)


def _bands(rows: Rows, plane: Plane, look: Look) -> Layers:
    """Draw both intervals as bands with edges, and the estimate as a line."""
    base, areas = table(rows).encode(plane.x()), band_styles(look)
    edges = edge_styles(look)
    return [
        base.mark_area(**areas["noise band"]).encode(plane.y("ci_lower"), alt.Y2("ci_upper:Q")),
        base.mark_area(**areas["band"]).encode(plane.y("lower"), alt.Y2("upper:Q")),
        *(
            base.mark_line(**edges[kind]).encode(plane.y(end))
            for kind, ends in (
                ("noise band", ("ci_lower", "ci_upper")),
                ("band", ("lower", "upper")),
            )
            for end in ends
        ),
        base.mark_line(**line_styles(look)["line"]).encode(plane.y("estimate")),
    ]


def _ends(words: tuple[str, ...], plane: Plane, look: Look) -> Layers:
    """Say at both ends of the axis what q means there."""
    first, last = words
    return [
        table([{}])
        .mark_text(fontSize=11, color=look.muted, baseline="top", text=text, align=align)
        .encode(x=alt.value(place), y=alt.value(_HEIGHT + 24))
        for text, align, place in ((first, "left", -4), (f"{last} →", "right", plane.inner + 4))
    ]


def _ruled_out(q: list[float], plane: Plane, look: Look) -> Drawing:
    """Shade the q that the response rate contradicts."""
    shade = table([{"q": max(q), "end": min(q)}]).mark_rect(**band_styles(look)["tier"])
    return shade.encode(plane.x(), alt.X2("end:Q"))


def _claim(
    claim: Mapping[str, Any], plane: Plane, look: Look
) -> tuple[Layers, list[tuple[str, str]]]:
    """Draw the threshold, and where the claim breaks down; and say so in the key."""
    side = "above" if claim["above"] else "below"
    entries = [("claim", f"the claim: {side} {write_exactly(claim['threshold'])}")]
    rule = table([claim]).mark_rule(**line_styles(look)["claim"])
    layers: Layers = [rule.encode(plane.y("threshold"))]
    for kind, column, words in (
        ("noiseless", "breakdown_q", "noise aside"),
        ("noisy", "ci_breakdown_q", "with sampling noise"),
    ):
        q = claim[column]
        if q is not None and q >= plane.least:
            layers += _breakdown(kind, q, claim["threshold"], plane, look)
            entries.append((kind, f"holds above q = {q:.3g}, {words}"))
        else:
            said = "cannot be said" if q is None else "holds at every q here"
            entries.append(("", f"{said}, {words}"))
    return layers, entries


def _breakdown(kind: str, q: float, threshold: float, plane: Plane, look: Look) -> Layers:
    """Mark where a claim breaks down, and draw a line to the axis below."""
    base = table([{"q": q, "threshold": threshold, "foot": plane.domain[0], "told": f"{q:.3g}"}])
    base = base.encode(plane.x(), plane.y("threshold"), tooltip=tips({"told": "breaks down at q"}))
    dashes = [1, 0] if kind == "noiseless" else [2, 2]
    drop = base.mark_rule(color=look.claim, strokeWidth=1, strokeDash=dashes)
    return [drop.encode(alt.Y2("foot:Q")), base.mark_point(**point_styles(look)[kind])]


def _chosen(q: float, plane: Plane, look: Look) -> Layers:
    """Draw a line at the q chosen, its number above."""
    base = table([{"q": q, "words": f"q = {q:.3g}"}]).encode(plane.x())
    number = base.mark_text(fontWeight="bold", color=look.ink)
    return [
        base.mark_rule(**line_styles(look)["chosen"]),
        number.encode(alt.Text("words:N"), y=alt.value(-9)),
    ]


def _pointed_at(rows: Rows, scale: Scale, level: float | None, plane: Plane) -> Drawing:
    """Cover the picture with columns that nobody sees, but that tell the numbers there.

    A line or a band is one mark, and would tell those of its first row wherever one points.
    """
    titles = {"t_q": "q", "t_estimate": "estimate", "t_interval": "interval"}
    titles["t_confidence"] = confidence_words(level)
    told = [
        {
            "q": row["q"],
            "t_q": f"{row['q']:.3g}",
            "t_estimate": rating_text(row["estimate"], scale.width),
            "t_interval": range_text(row["lower"], row["upper"], scale.width),
            "t_confidence": range_text(row["ci_lower"], row["ci_upper"], scale.width),
        }
        for row in rows
    ]
    columns = table(told).mark_rule(opacity=0, strokeWidth=max(plane.inner / len(rows), 4))
    return columns.encode(plane.x(), tooltip=tips(titles))


def lay_out_calibration(
    rows: Rows, scale: Scale, paired: bool, level: float, look: Look, width: int
) -> Drawing:
    """Draw the best guess of participation at each rating, and its box."""
    inner = width - _LEFT - _RIGHT
    pad = scale.width / min(2 * (scale.m - 1), 40)
    domain = (scale.lowest - pad, scale.highest + pad)
    top = max(row["g_upper"] for row in rows)
    share = alt.Scale(domain=[0, top * 1.05], nice=False)
    side = alt.Axis(
        title=None, format="~%" if paired else NUMBER, tickCount=5,
        minExtent=_LEFT - 8, domain=False, ticks=False,
    )  # fmt: skip
    axis = scale_axis(scale, "rating", grid=False)
    told = [row | _participation(row, paired) for row in map(dict, rows)]
    titles = {"t_rating": "rating", "t_g": "best guess", "t_box": f"{level * 100:.6g}% box"}
    titles |= {"t_audited": "people audited", "t_answers": "answered"}
    base = table(told).encode(along("rating", domain, axis), tooltip=tips(titles))
    thick = line_styles(look)["interval"] | {"strokeWidth": min(8, 0.5 * inner / len(rows))}
    lower, upper = alt.Y("g_lower:Q", scale=share, axis=side), alt.Y2("g_upper:Q")
    known = [row for row in told if row["g"] is not None]
    layers: Layers = [base.mark_rule(**thick).encode(lower, upper)]
    place = along("rating", domain, axis), alt.Y("g:Q", scale=share, axis=side)
    points = table(known).encode(*place, tooltip=tips(titles))
    dot = point_styles(look)["estimate"]
    dot |= {"size": min(dot["size"], max((inner / len(rows)) ** 2, 30))}
    layers.append(points.mark_point(**dot))
    if inner / len(rows) > 55:
        text = points.mark_text(align="left", dx=9, fontSize=11, color=look.muted)
        layers.append(text.encode(alt.Text("t_g:N")))
    unknown = [row for row in told if row["g"] is None]
    if unknown and inner / len(rows) > 30:
        nobody = table(unknown).mark_text(
            text="nobody audited", angle=270, dy=-13, fontSize=11, color=look.muted
        )
        layers.append(nobody.encode(along("rating", domain, axis), y=alt.value(110)))
    what = "share of people who answer" if paired else "compared with the most outspoken"
    entries = [
        ("estimate", f"best guess: {what}"),
        ("interval", f"{level * 100:.6g}% box, all ratings together"),
    ]
    drawing = layered(layers, inner, 220)
    return stacked(drawing, key(entries, look, inner, _LEFT), spacing=10)


def _participation(row: Mapping[str, Any], paired: bool) -> dict[str, str]:
    """Write participation at a rating as text."""

    def text(value: float) -> str:
        return f"{value:.1%}" if paired else f"{value:.2f}"

    return {
        "t_rating": write_exactly(row["rating"]),
        "t_g": "unknown" if row["g"] is None else text(row["g"]),
        "t_box": f"{text(row['g_lower'])} to {text(row['g_upper'])}",
        "t_audited": f"{row['audited']:,.0f}",
        "t_answers": f"{row['answers']:,.0f}",
    }
