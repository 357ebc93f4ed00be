"""Layout of a sweep: estimate, bounds and confidence interval over q."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unheard.charts import marks
from unheard.charts.altair import alt
from unheard.charts.marks import Drawing, Layers, Rows
from unheard.charts.style import Look
from unheard.model.scale import Scale
from unheard.present.estimates import confidence_words
from unheard.text import range_text, rating_text, write_exactly

LEFT, RIGHT, HEIGHT = 62, 18, 250
_TICKS = (1, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
_TIGHT = (0.7, 0.3)
"""Ticks that a narrow picture leaves out."""


@dataclass(frozen=True)
class Plane:
    """Axes of a chart over q, from 1 at the left to ``least`` at the right.

    ``domain`` and ``side`` are the range and the title of the vertical axis, ``title`` is the title
    of the horizontal axis, and ``inner`` is the width.
    """

    least: float
    domain: tuple[float, float]
    title: str
    inner: int
    side: str | None = "mean rating"
    number: str = marks.NUMBER

    def encode_q(self, column: str = "q") -> alt.X:
        """Place q on the horizontal axis."""
        ticks = [q for q in _TICKS if q >= self.least and (self.inner > 400 or q not in _TIGHT)]
        title = textwrap.wrap(self.title, max(int(self.inner / 6.4), 20))
        axis = alt.Axis(
            values=ticks, format=marks.NUMBER, title=title, titlePadding=24, grid=False,
            labelOverlap="greedy", labelSeparation=6,
        )  # fmt: skip
        scale = alt.Scale(type="log", domain=[self.least, 1], reverse=True, nice=False)
        return alt.X(f"{column}:Q", scale=scale, axis=axis)

    def encode_y(self, column: str) -> alt.Y:
        """Place a rating, or a share, on the vertical axis."""
        axis = alt.Axis(
            title=self.side,
            tickCount=5,
            minExtent=LEFT - 34,
            domain=False,
            ticks=False,
            format=self.number,
        )
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
    """Lay out estimate, bounds and confidence interval over q, from 1 to nearly 0.

    ``rows`` are the results, largest q first; ``marked`` has the claim and the chosen q, if any;
    ``words`` say what q means, and what its two ends mean.
    """
    claim, chosen = marked.get("claim"), marked.get("chosen")
    heights = [row[name] for row in rows for name in ("ci_lower", "ci_upper")]
    heights += [claim["threshold"]] if claim else []
    pad = 0.05 * (max(heights) - min(heights)) or 0.5
    inner = width - LEFT - RIGHT
    domain = (min(heights) - pad, max(heights) + pad)
    plane = Plane(rows[-1]["q"], domain, words[0], inner)
    entries = [("line", "estimate"), ("band", "bounds"), ("ci band", confidence_words(level))]
    layers = [*_draw_bands(rows, plane, look), *_label_ends(words[1:], plane, look)]
    if contradicted := [row["q"] for row in rows if "low_response" in row["notes"]]:
        layers.insert(0, _shade(contradicted, plane, look))
        entries.append(("tier", "the response rate is below the floor"))
    if claim:
        claim_layers, claim_entries = _draw_claim(claim, plane, look)
        layers += claim_layers
        entries += claim_entries
    if chosen:
        layers += draw_chosen(chosen["q"], plane, look)
    layers.append(_add_tooltips(rows, scale, level, plane))
    drawing = marks.layer(layers, inner, HEIGHT)
    return marks.stack(drawing, marks.draw_key(entries, look, inner, LEFT), spacing=10)


def _draw_bands(rows: Rows, plane: Plane, look: Look) -> Layers:
    """Draw bounds and confidence interval as bands with edges, and the estimate as a line."""
    base, areas = marks.chart_rows(rows).encode(plane.encode_q()), marks.band_styles(look)
    edges = marks.edge_styles(look)
    bands = (("ci band", "ci_lower", "ci_upper"), ("band", "lower", "upper"))
    return [
        *(
            base.mark_area(**areas[kind]).encode(plane.encode_y(low), alt.Y2(f"{high}:Q"))
            for kind, low, high in bands
        ),
        *(
            base.mark_line(**edges[kind]).encode(plane.encode_y(end))
            for kind, *ends in bands
            for end in ends
        ),
        base.mark_line(**marks.line_styles(look)["line"]).encode(plane.encode_y("estimate")),
    ]


def _label_ends(words: tuple[str, ...], plane: Plane, look: Look) -> Layers:
    """Write at both ends of the axis what q means there."""
    first, last = words
    return [
        marks.chart_rows([{}])
        .mark_text(fontSize=11, color=look.muted, baseline="top", text=text, align=align)
        .encode(x=alt.value(place), y=alt.value(HEIGHT + 24))
        for text, align, place in ((first, "left", -4), (f"{last} →", "right", plane.inner + 4))
    ]


def _shade(q: list[float], plane: Plane, look: Look) -> Drawing:
    """Shade the q that the response rate contradicts."""
    shade = marks.chart_rows([{"q": max(q), "end": min(q)}]).mark_rect(
        **marks.band_styles(look)["tier"]
    )
    return shade.encode(plane.encode_q(), alt.X2("end:Q"))


def _draw_claim(
    claim: Mapping[str, Any], plane: Plane, look: Look
) -> tuple[Layers, list[tuple[str, str]]]:
    """Draw the threshold and the breakdown q, and return entries for the key."""
    side = "above" if claim["above"] else "below"
    entries = [("claim", f"claim: {side} {write_exactly(claim['threshold'])}")]
    rule = marks.chart_rows([claim]).mark_rule(**marks.line_styles(look)["claim"])
    layers: Layers = [rule.encode(plane.encode_y("threshold"))]
    for kind, column, words in (
        ("breakdown", "breakdown_q", "ignoring sampling error"),
        ("ci breakdown", "ci_breakdown_q", "allowing for it"),
    ):
        q = claim[column]
        if q is not None and q >= plane.least:
            layers += _draw_breakdown(kind, q, claim["threshold"], plane, look)
            entries.append((kind, f"holds above q = {q:.3g} {words}"))
        else:
            holds = "holds at no q" if q is None else "holds at every q shown"
            entries.append(("", f"{holds} {words}"))
    return layers, entries


def _draw_breakdown(kind: str, q: float, threshold: float, plane: Plane, look: Look) -> Layers:
    """Mark the breakdown q of a claim, with a line to the axis below."""
    row = {"q": q, "threshold": threshold, "foot": plane.domain[0], "text": f"{q:.3g}"}
    place = plane.encode_q(), plane.encode_y("threshold")
    base = marks.chart_rows([row]).encode(
        *place, tooltip=marks.write_tooltips({"text": "breakdown q"})
    )
    dashes = [1, 0] if kind == "breakdown" else [2, 2]
    drop = base.mark_rule(color=look.claim, strokeWidth=1, strokeDash=dashes)
    return [drop.encode(alt.Y2("foot:Q")), base.mark_point(**marks.point_styles(look)[kind])]


def draw_chosen(q: float, plane: Plane, look: Look) -> Layers:
    """Draw a line at the chosen q, its number above."""
    base = marks.chart_rows([{"q": q, "words": f"q = {q:.3g}"}]).encode(plane.encode_q())
    number = base.mark_text(fontWeight="bold", color=look.ink)
    return [
        base.mark_rule(**marks.line_styles(look)["chosen"]),
        number.encode(alt.Text("words:N"), y=alt.value(-9)),
    ]


def _add_tooltips(rows: Rows, scale: Scale, level: float | None, plane: Plane) -> Drawing:
    """Cover the picture with invisible columns whose tooltips have the numbers at each q.

    A line or a band is one mark, and would show the numbers of its first row everywhere.
    """
    titles = {"t_q": "q", "t_estimate": "estimate", "t_bounds": "bounds"}
    titles["t_confidence"] = confidence_words(level)
    texts = [
        {
            "q": row["q"],
            "t_q": f"{row['q']:.3g}",
            "t_estimate": rating_text(row["estimate"], scale.width),
            "t_bounds": range_text(row["lower"], row["upper"], scale.width),
            "t_confidence": range_text(row["ci_lower"], row["ci_upper"], scale.width),
        }
        for row in rows
    ]
    columns = marks.chart_rows(texts).mark_rule(
        opacity=0, strokeWidth=max(plane.inner / len(rows), 4)
    )
    return columns.encode(plane.encode_q(), tooltip=marks.write_tooltips(titles))
