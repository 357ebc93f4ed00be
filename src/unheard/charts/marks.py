"""Building blocks of charts: rows of intervals, keys, labels and axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias

from unheard.charts.altair import alt, debug_mode
from unheard.charts.style import METHOD_DASHES, Look
from unheard.model.scale import Scale

Drawing: TypeAlias = Any
"""An Altair chart, whose methods take too much for types to say."""

Layers: TypeAlias = list[Drawing]
Part: TypeAlias = dict[str, Any]
"""A drawing as part of a Vega-Lite specification."""

Rows: TypeAlias = Sequence[Mapping[str, Any]]

MAX_TICKS = 12
"""A scale with up to this many values has a tick at each; a longer one at round numbers."""

NUMBER = ",.10~g"
"""Number format of axes; without a precision Vega would round to the distance of the ticks."""

METHOD = "method "
"""Prefix that distinguishes methods from other kinds of marks in a key."""

_LETTER = 6.2
"""Approximate width of a letter."""


_tables: ContextVar[list[Rows]] = ContextVar("_tables")
"""The rows of the drawing in progress."""


def build_spec(draw: Callable[[], Drawing], look: Look) -> Part:
    """Draw, and return the Vega-Lite specification.

    Altair copies and validates everything in a chart at every step, which is slow for rows. So
    charts refer to rows by name until the drawing is done, and the tests validate instead.
    """
    found: list[Rows] = []
    token = _tables.set(found)
    try:
        with debug_mode(False):
            drawn = to_part(draw())
    finally:
        _tables.reset(token)
    rows = {_name(place): [dict(row) for row in rows] for place, rows in enumerate(found)}
    return {"$schema": alt.SCHEMA_URL, **drawn, "config": look.config(), "datasets": rows}


def _name(place: int) -> str:
    return f"rows {place}"


def chart_rows(rows: Rows) -> Drawing:
    """Return a chart of plain rows, to which marks are added."""
    found = _tables.get()
    place = next((i for i, known in enumerate(found) if known == rows), len(found))
    if place == len(found):
        found.append(rows)
    return alt.Chart(alt.NamedData(name=_name(place)))


def to_part(drawing: Drawing) -> Part:
    """Return a drawing as part of a specification."""
    if isinstance(drawing, dict):
        return drawing
    made: Part = drawing.to_dict(validate=False, context={"top_level": False})
    return made


def layer(layers: Sequence[Drawing], width: float, height: float) -> Part:
    """Put marks on top of each other.

    Altair would copy everything ten times over when it joins charts.
    """
    return {"layer": [to_part(one) for one in layers], "width": width, "height": height}


def stack(*drawings: Drawing, spacing: int) -> Part:
    """Put drawings below each other."""
    return {"vconcat": [to_part(drawing) for drawing in drawings], "spacing": spacing}


def write_tooltips(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    """Return the tooltip of a mark: columns of text, and their titles."""
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]


def encode_x(column: str, domain: Sequence[float], axis: alt.Axis | None = None) -> alt.X:
    """Place a column on a horizontal axis; values beyond its ends are put at the ends."""
    scale = alt.Scale(domain=list(domain), nice=False, zero=False, clamp=True)
    return alt.X(f"{column}:Q", scale=scale, axis=axis, title=None)


def encode_row(rows: int) -> alt.Y:
    """Place rows, numbered from 0, below each other."""
    scale = alt.Scale(domain=[rows - 0.5, -0.5], nice=False, zero=False)
    return alt.Y("row:Q", scale=scale, axis=None)


def build_scale_axis(scale: Scale, title: str | None, **more: Any) -> alt.Axis:
    """Return the axis of a scale: a tick at each value, or at round numbers if it is long."""
    if scale.m <= MAX_TICKS:
        more |= {"values": list(scale.values)}
    return alt.Axis(title=title, labelOverlap=True, tickCount=6, format=NUMBER, **more)


def draw_intervals(
    rows: Rows,
    look: Look,
    domain: Sequence[float],
    titles: Mapping[str, str],
    axis: alt.Axis | None = None,
) -> Layers:
    """Draw rows of intervals: confidence interval, bounds, average, estimate.

    The rows have columns ``row`` (from 0), those of an estimate, ``average``, and texts for the
    tooltip, whose titles are ``titles``. The horizontal axis spans ``domain``.
    """
    points, lines = point_styles(look), line_styles(look)

    def of(some: Rows) -> Drawing:
        return chart_rows(some).encode(encode_row(len(rows)), tooltip=write_tooltips(titles))

    layers: Layers = []
    with_error = [row for row in rows if row["ci_lower"] is not None]
    if with_error:
        place = encode_x("ci_lower", domain, axis), alt.X2("ci_upper:Q")
        layers.append(of(with_error).mark_rule(**lines["confidence"]).encode(*place))
        layers += [
            of(with_error).mark_tick(**tick_style(look)).encode(encode_x(end, domain, axis))
            for end in ("ci_lower", "ci_upper")
        ]
    place = encode_x("lower", domain, axis), alt.X2("upper:Q")
    bounded = [row for row in rows if row["lower"] is not None]
    layers.append(of(bounded).mark_rule(**lines["bounds"]).encode(*place))
    rated = [row for row in rows if row.get("average") is not None]
    if rated:
        average = of(rated).mark_point(**points["average"])
        layers.append(average.encode(encode_x("average", domain, axis)))
    known = [row for row in rows if row["estimate"] is not None]
    layers.append(
        of(known).mark_point(**points["estimate"]).encode(encode_x("estimate", domain, axis))
    )
    return layers


def draw_texts(
    rows: Rows, column: str, x: float, look: Look, *, many: int | None = None, **more: Any
) -> Drawing:
    """Write a column of text beside rows; ``many`` is the number of rows in all."""
    mark = {"baseline": "middle", "color": look.ink} | more
    place = encode_row(len(rows) if many is None else many)
    written = (
        chart_rows(rows).mark_text(**mark).encode(place, alt.Text(f"{column}:N"), x=alt.value(x))
    )
    return written.encode(tooltip=write_tooltips({column: "title"}))


def draw_key(
    entries: Sequence[tuple[str, str]], look: Look, width: int, start: int = 0, end: int = 0
) -> Drawing:
    """Explain the marks: symbols with labels, as many to a line as fit.

    An entry is a kind of mark and its label: a kind of :func:`point_styles` or
    :func:`line_styles`, a method behind :data:`METHOD`, or none. The key may reach beyond the
    drawing above, which is ``width`` wide, by ``start`` at the left and ``end`` at the right.
    """
    room = start + width + end
    rows = _flow(entries, room)
    lines = 1 + max(row["line"] for row in rows)
    points = alt.Scale(domain=[start, start + width], nice=False, zero=False)
    columns = ("left", "middle", "right", "text")
    x = {name: alt.X(f"{name}:Q", scale=points, axis=None) for name in columns}
    y = alt.Y("line:Q", scale=alt.Scale(domain=[lines - 0.5, -0.5], nice=False), axis=None)
    layers: Layers = []
    for kind in dict.fromkeys(kind for kind, _ in entries):
        base = chart_rows([row for row in rows if row["kind"] == kind]).encode(y)
        layers += _symbol(kind, base, x, look)
    layers.append(
        chart_rows(rows)
        .mark_text(align="left", baseline="middle", limit=room - 40, color=look.ink)
        .encode(y, x["text"], alt.Text("words:N"))
    )
    return layer(layers, width, 19 * lines)


def _flow(entries: Sequence[tuple[str, str]], width: int) -> list[dict[str, Any]]:
    """Place entries one after another, starting a new line where one does not fit."""
    rows: list[dict[str, Any]] = []
    # Half of the widest symbol line, which would otherwise be cut off.
    start = 8.0
    left, line = start, 0
    for kind, words in entries:
        needed = 30 + text_width(words)
        if left > start and left + needed > width:
            left, line = start, line + 1
        rows.append(
            {"kind": kind, "words": words, "line": line}
            | {"left": left, "right": left + 22, "middle": left + 11, "text": left + 29}
        )
        left += needed + 14
    return rows


def text_width(text: str) -> int:
    """Estimate the width of a text in points; capitals are wider than other letters."""
    return math.ceil(_LETTER * len(text) + 2 * sum(letter.isupper() for letter in text))


def _symbol(kind: str, base: Drawing, x: Mapping[str, alt.X], look: Look) -> Layers:
    """Draw the symbols of one kind."""
    points, lines = point_styles(look), line_styles(look)
    if not kind:
        return []
    if kind in points:
        return [base.mark_point(**points[kind]).encode(x["middle"])]
    line = lines.get(kind) or method_line(kind.removeprefix(METHOD), look)
    layers: Layers = [base.mark_rule(**line).encode(x["left"], alt.X2("right:Q"))]
    if kind == "confidence":
        ends = base.mark_tick(**tick_style(look))
        layers += [ends.encode(x["left"]), ends.encode(x["right"])]
    return layers


def point_styles(look: Look) -> dict[str, dict[str, Any]]:
    """Return the styles of points; they also differ in shape, not only in colour."""
    hollow = {"fill": look.background, "strokeWidth": 1.8}
    # A rim in the background colour separates a point from the line below it.
    rim = {"stroke": look.background, "strokeWidth": 1.5}
    swatch = {"shape": "square", "size": 170}
    edges = edge_styles(look) | {"tier": {"strokeWidth": 0}}
    return {
        "estimate": {"shape": "circle", "size": 85, "fill": look.estimate} | rim,
        "average": {"shape": "diamond", "size": 130, "stroke": look.average} | hollow,
        "breakdown": {
            "shape": "triangle-down",
            "size": 80,
            "fill": look.claim,
            "stroke": look.claim,
        },
        "ci breakdown": {"shape": "triangle-down", "size": 80, "stroke": look.claim} | hollow,
        "open": {"shape": "circle", "size": 9, "fill": look.muted, "strokeWidth": 0},
        **_pair_styles(look),
    } | {kind: swatch | style | edges[kind] for kind, style in band_styles(look).items()}


def _pair_styles(look: Look) -> dict[str, dict[str, Any]]:
    """Return the styles of pairs in a settled order: hollow if only ignoring sampling error."""
    styles: dict[str, dict[str, Any]] = {}
    for kind, shape, colour in (
        ("above", "triangle-up", look.estimate),
        ("below", "triangle-down", look.bounds),
    ):
        firm = {"shape": shape, "size": 90, "stroke": colour, "strokeWidth": 1.5}
        styles[kind] = firm | {"fill": colour}
        styles[f"{kind} without error"] = firm | {"fill": look.background}
    return styles


def line_styles(look: Look) -> dict[str, dict[str, Any]]:
    """Return the styles of lines; they also differ in width or dashes, not only in colour."""
    return {
        "bounds": {"strokeWidth": 8, "color": look.bounds},
        "confidence": {"strokeWidth": 1.5, "color": look.confidence},
        "line": {"strokeWidth": 2.5, "color": look.estimate},
        "claim": {"strokeWidth": 1.8, "color": look.claim, "strokeDash": [6, 3]},
        "chosen": {"strokeWidth": 1.5, "color": look.ink, "strokeDash": [2, 2]},
    }


def method_line(method: str, look: Look) -> dict[str, Any]:
    """Return the style of the line of a method."""
    colour = look.methods[method]
    if method == "lower bound":
        # Wide, so that a line on top of it does not hide it.
        return {"strokeWidth": 6, "color": colour}
    return {"strokeWidth": 2, "color": colour, "strokeDash": METHOD_DASHES[method]}


def band_styles(look: Look) -> dict[str, dict[str, Any]]:
    """Return the styles of areas; the grid shows through."""
    return {
        "band": {"fill": look.bounds, "fillOpacity": 0.19},
        "ci band": {"fill": look.bounds, "fillOpacity": 0.1},
        "tier": {"fill": look.band, "fillOpacity": 0.5},
    }


def edge_styles(look: Look) -> dict[str, dict[str, Any]]:
    """Return the styles of the edges of bands."""
    return {
        "band": {"stroke": look.bounds, "strokeWidth": 1.5},
        "ci band": {"stroke": look.confidence, "strokeWidth": 1.2, "strokeDash": [3, 2]},
    }


def tick_style(look: Look) -> dict[str, Any]:
    """Return the style of the ends of a confidence interval."""
    return {"thickness": 1.5, "height": 10, "color": look.confidence, "orient": "vertical"}
