"""What the drawings are made of: rows of intervals, a key, labels and axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias

from unheard.charts.altair import alt, debug_mode
from unheard.charts.style import METHOD_DASHES, Look
from unheard.model.scale import Scale

Drawing: TypeAlias = Any
"""An Altair chart; what its methods take is too much for types to say."""

Layers: TypeAlias = list[Drawing]
Part: TypeAlias = dict[str, Any]
"""A drawing as a part of a specification."""

Rows: TypeAlias = Sequence[Mapping[str, Any]]

MOST_TICKS = 12
"""A scale of so many values has a tick at each; a longer one at round numbers."""

NUMBER = ",.10~g"
"""How axes write numbers. Without its precision, one fit for the distance of ticks is chosen."""

METHOD = "method "
"""What a method is told by from other kinds of marks in a key."""

_LETTER = 6.2
"""How wide a letter is, more or less."""


_tables: ContextVar[list[Rows]] = ContextVar("_tables")
"""The rows of the drawing that is being made."""


def specified(draw: Callable[[], Drawing], look: Look) -> Part:
    """Draw, and return the specification.

    Altair copies all that a chart holds at every step, and checks it; rows inside it would cost
    more than everything else. So a chart knows them by name alone until the drawing is done, and
    it is the tests that check.
    """
    found: list[Rows] = []
    token = _tables.set(found)
    try:
        with debug_mode(False):
            drawn = part(draw())
    finally:
        _tables.reset(token)
    rows = {_name(place): [dict(row) for row in rows] for place, rows in enumerate(found)}
    return {"$schema": alt.SCHEMA_URL, **drawn, "config": look.config(), "datasets": rows}


def _name(place: int) -> str:
    return f"rows {place}"


def table(rows: Rows) -> Drawing:
    """Return a chart of plain rows, to put marks on."""
    found = _tables.get()
    place = next((i for i, known in enumerate(found) if known == rows), len(found))
    if place == len(found):
        found.append(rows)
    return alt.Chart(alt.NamedData(name=_name(place)))


def part(drawing: Drawing) -> Part:
    """Return a drawing as a part of a specification."""
    if isinstance(drawing, dict):
        return drawing
    made: Part = drawing.to_dict(validate=False, context={"top_level": False})
    return made


def layered(layers: Sequence[Drawing], width: float, height: float) -> Part:
    """Put marks on top of each other.

    Parts of a specification are put together here, and not by Altair, which copies everything it
    has ten times over when charts are joined.
    """
    return {"layer": [part(layer) for layer in layers], "width": width, "height": height}


def stacked(*drawings: Drawing, spacing: int) -> Part:
    """Put drawings below each other."""
    return {"vconcat": [part(drawing) for drawing in drawings], "spacing": spacing}


def tips(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    """Return what is shown on pointing at a mark: columns of text, and what they are."""
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]


def along(column: str, domain: Sequence[float], axis: alt.Axis | None = None) -> alt.X:
    """Place a column on a horizontal axis; what lies off it is put at its end."""
    scale = alt.Scale(domain=list(domain), nice=False, zero=False, clamp=True)
    return alt.X(f"{column}:Q", scale=scale, axis=axis, title=None)


def down(rows: int) -> alt.Y:
    """Place rows, numbered from 0, below each other."""
    scale = alt.Scale(domain=[rows - 0.5, -0.5], nice=False, zero=False)
    return alt.Y("row:Q", scale=scale, axis=None)


def scale_axis(scale: Scale, title: str | None, **more: Any) -> alt.Axis:
    """Return the axis of a scale: a tick at each value, of a long one at round numbers."""
    if scale.m <= MOST_TICKS:
        more |= {"values": list(scale.values)}
    return alt.Axis(title=title, labelOverlap=True, tickCount=6, format=NUMBER, **more)


def interval_layers(
    rows: Rows,
    look: Look,
    domain: Sequence[float],
    titles: Mapping[str, str],
    axis: alt.Axis | None = None,
) -> Layers:
    """Draw rows of intervals: confidence interval, interval, average, estimate.

    Parameters
    ----------
    rows
        Their columns are ``row`` (from 0), those of an estimate and ``average``, and texts.
    look
        The colours.
    domain
        What the horizontal axis spans.
    titles
        Columns of text to show on pointing at a row, and what they are.
    axis
        The horizontal axis, if it is shown.
    """
    points, lines, told = point_styles(look), line_styles(look), tips(titles)

    def of(some: Rows) -> Drawing:
        return table(some).encode(down(len(rows)), tooltip=told)

    layers: Layers = []
    noisy = [row for row in rows if row["ci_lower"] is not None]
    if noisy:
        place = along("ci_lower", domain, axis), alt.X2("ci_upper:Q")
        layers.append(of(noisy).mark_rule(**lines["confidence"]).encode(*place))
        layers += [
            of(noisy).mark_tick(**tick_style(look)).encode(along(end, domain, axis))
            for end in ("ci_lower", "ci_upper")
        ]
    place = along("lower", domain, axis), alt.X2("upper:Q")
    layers.append(of(rows).mark_rule(**lines["interval"]).encode(*place))
    rated = [row for row in rows if row.get("average") is not None]
    if rated:
        average = of(rated).mark_point(**points["average"])
        layers.append(average.encode(along("average", domain, axis)))
    layers.append(of(rows).mark_point(**points["estimate"]).encode(along("estimate", domain, axis)))
    return layers


def texts(
    rows: Rows, column: str, x: float, look: Look, *, many: int | None = None, **more: Any
) -> Drawing:
    """Write a column of text beside rows; ``many`` is how many rows there are in all."""
    mark = {"baseline": "middle", "color": look.ink} | more
    place = down(len(rows) if many is None else many)
    written = table(rows).mark_text(**mark).encode(place, alt.Text(f"{column}:N"), x=alt.value(x))
    return written.encode(tooltip=tips({column: "title"}))


def key(
    entries: Sequence[tuple[str, str]], look: Look, width: int, start: int = 0, end: int = 0
) -> Drawing:
    """Explain the marks: symbols with their words, as many to a line as fit.

    Parameters
    ----------
    entries
        Kind of mark and words: kinds of :func:`point_styles` and :func:`line_styles`, a method
        behind :data:`METHOD`, or none.
    look
        The colours.
    width
        How wide the drawing above is.
    start, end
        How far beyond it the key begins at the left, and may reach at the right.
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
        base = table([row for row in rows if row["kind"] == kind]).encode(y)
        layers += _symbol(kind, base, x, look)
    layers.append(
        table(rows)
        .mark_text(align="left", baseline="middle", limit=room - 40, color=look.ink)
        .encode(y, x["text"], alt.Text("words:N"))
    )
    return layered(layers, width, 19 * lines)


def _flow(entries: Sequence[tuple[str, str]], width: int) -> list[dict[str, Any]]:
    """Place entries one after another, on a new line where one does not fit."""
    rows: list[dict[str, Any]] = []
    # The width of the widest line, which would otherwise stick out.
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
    """Guess how wide a text is, in points."""
    return math.ceil(_LETTER * len(text))


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
    """Return how points are drawn; each differs from the others in its shape, too."""
    hollow = {"fill": look.background, "strokeWidth": 1.8}
    # A rim of the background keeps a point apart from the line that it lies on.
    rim = {"stroke": look.background, "strokeWidth": 1.5}
    swatch = {"shape": "square", "size": 170}
    edges = edge_styles(look) | {"tier": {"strokeWidth": 0}}
    return {
        "estimate": {"shape": "circle", "size": 85, "fill": look.estimate} | rim,
        "average": {"shape": "diamond", "size": 130, "stroke": look.average} | hollow,
        "noiseless": {
            "shape": "triangle-down",
            "size": 80,
            "fill": look.claim,
            "stroke": look.claim,
        },
        "noisy": {"shape": "triangle-down", "size": 80, "stroke": look.claim} | hollow,
        "open": {"shape": "circle", "size": 9, "fill": look.muted, "strokeWidth": 0},
        **_pair_styles(look),
    } | {kind: swatch | style | edges[kind] for kind, style in band_styles(look).items()}


def _pair_styles(look: Look) -> dict[str, dict[str, Any]]:
    """Return how pairs in a settled order are drawn: hollow if only ignoring sampling error."""
    styles: dict[str, dict[str, Any]] = {}
    for kind, shape, colour in (
        ("above", "triangle-up", look.estimate),
        ("below", "triangle-down", look.interval),
    ):
        firm = {"shape": shape, "size": 90, "stroke": colour, "strokeWidth": 1.5}
        styles[kind] = firm | {"fill": colour}
        styles[f"{kind} without error"] = firm | {"fill": look.background}
    return styles


def line_styles(look: Look) -> dict[str, dict[str, Any]]:
    """Return how lines are drawn; each differs from the others in its width or dashes, too."""
    return {
        "interval": {"strokeWidth": 8, "color": look.interval},
        "confidence": {"strokeWidth": 1.5, "color": look.confidence},
        "line": {"strokeWidth": 2.5, "color": look.estimate},
        "claim": {"strokeWidth": 1.8, "color": look.claim, "strokeDash": [6, 3]},
        "chosen": {"strokeWidth": 1.5, "color": look.ink, "strokeDash": [2, 2]},
    }


def method_line(method: str, look: Look) -> dict[str, Any]:
    """Return how the line of a method is drawn."""
    colour = look.methods[method]
    if method == "lower bound":
        # Wide, so that a line upon it does not hide it.
        return {"strokeWidth": 6, "color": colour}
    return {"strokeWidth": 2, "color": colour, "strokeDash": METHOD_DASHES[method]}


def band_styles(look: Look) -> dict[str, dict[str, Any]]:
    """Return how areas are shaded; lines of the grid show through."""
    return {
        "band": {"fill": look.interval, "fillOpacity": 0.19},
        "noise band": {"fill": look.interval, "fillOpacity": 0.1},
        "tier": {"fill": look.band, "fillOpacity": 0.5},
    }


def edge_styles(look: Look) -> dict[str, dict[str, Any]]:
    """Return how the edges of bands are drawn."""
    return {
        "band": {"stroke": look.interval, "strokeWidth": 1.5},
        "noise band": {"stroke": look.confidence, "strokeWidth": 1.2, "strokeDash": [3, 2]},
    }


def tick_style(look: Look) -> dict[str, Any]:
    """Return how the ends of a confidence interval are drawn."""
    return {"thickness": 1.5, "height": 10, "color": look.confidence, "orient": "vertical"}
