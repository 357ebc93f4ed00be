"""Layouts of charts of bounds on the scale: one histogram, two items, many items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from unheard.charts import marks
from unheard.charts.altair import alt
from unheard.charts.marks import Drawing, Layers, Rows
from unheard.charts.style import Look
from unheard.model.notes import FEW, NOTE_TEXTS
from unheard.model.scale import Scale
from unheard.present.estimates import confidence_words
from unheard.text import plural, range_text, rating_text, round_percentages, write_exactly

_ROW = 26
"""Height of a row."""

_TIER = 40
"""Width of the labels of tiers, at the right of rows."""


@dataclass(frozen=True)
class Room:
    """How the width of a picture is divided: names, drawing, numbers."""

    left: int
    inner: int
    right: int

    @classmethod
    def of(cls, rows: Rows, name: str, scale: Scale, width: int, more: int = 0) -> Room:
        """Leave room for names, at most three eighths, for estimates, and for more."""
        names = max(marks.text_width(row[name]) for row in rows) + 20
        figures = (
            max(marks.text_width(rating_text(row["estimate"], scale.width)) for row in rows) + 20
        )
        left, right = min(names, width * 3 // 8), max(figures, 52) + more
        return cls(left, width - left - right, right)

    def draw_key(self, entries: Sequence[tuple[str, str]], look: Look) -> Drawing:
        """Explain the marks across the whole picture."""
        return marks.draw_key(entries, look, self.inner, self.left, self.right)

    def build_axis(self, title: str) -> alt.Axis:
        """Return an axis with as many ticks as there is room for."""
        return alt.Axis(title=title, tickCount=max(self.inner // 50, 3), labelOverlap=True)


def write_numbers(row: Mapping[str, Any], width: float, level: float | None) -> dict[str, str]:
    """Write the numbers of a row, by their titles."""
    said = {"estimate": rating_text(row["estimate"], width)}
    if "average" in row:
        said["average"] = rating_text(row["average"], width)
    said["bounds"] = range_text(row["lower"], row["upper"], width)
    if row["ci_lower"] is not None:
        said[confidence_words(level)] = range_text(row["ci_lower"], row["ci_upper"], width)
    if row.get("notes"):
        said["note"] = "; ".join(NOTE_TEXTS.get(note, note) for note in row["notes"])
    return said


def _number_rows(
    rows: Rows, said: Sequence[Mapping[str, str]]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Number the rows and add their texts in numbered columns; return the titles of these too."""
    titles = {
        title: f"text{i}" for i, title in enumerate(dict.fromkeys(t for s in said for t in s))
    }
    numbered = [
        {**row, "row": i, **{column: words.get(title, "–") for title, column in titles.items()}}
        for i, (row, words) in enumerate(zip(rows, said, strict=True))
    ]
    return numbered, {column: title for title, column in titles.items()}


def lay_out_estimate(
    bars: Rows, rows: Rows, scale: Scale, level: float | None, look: Look, width: int
) -> Drawing:
    """Lay out shares of ratings as bars, and below them bounds on the same axis."""
    several, spelled = len(rows) > 1, scale.m <= marks.MAX_TICKS
    left = 0 if spelled else 44
    room = Room(left, width - left - 14, 14)
    if several:
        room = Room.of(rows, "method", scale, width)
    edges, domain = _place_bars(bars, scale)
    top = _draw_bars(edges, scale, domain, look, room.left, spelled)
    said = [{"method": row["method"]} | write_numbers(row, scale.width, level) for row in rows]
    numbered, titles = _number_rows(rows, said)
    grid = marks.build_scale_axis(scale, None, labels=False, ticks=False, domain=False)
    layers = marks.draw_intervals(numbered, look, domain, titles, grid)
    if several:
        layers += _draw_labels(numbered, "method", scale, look, room)
    strip = marks.layer(layers, room.inner, _ROW * len(rows) + 6)
    entries = _list_entries(rows, None if several else said[0], level)
    if 0 < sum(bar["count"] for bar in bars) < FEW:
        entries.append(("", "few ratings: go by the confidence interval"))
    below = room.draw_key(entries, look)
    return marks.stack(marks.layer(top, room.inner, 150), strip, below, spacing=8)


def _draw_labels(
    rows: Rows, name: str, scale: Scale, look: Look, room: Room, more: int = 0
) -> Layers:
    """Write the names at the left of rows, and the estimates at their right."""
    shown = [{**row, "shown": rating_text(row["estimate"], scale.width)} for row in rows]
    head = marks.chart_rows([{}]).mark_text(
        text="estimate", align="right", color=look.muted, fontSize=11
    )
    end = room.inner + room.right - more - 4
    return [
        marks.draw_texts(
            rows, name, -10, look, align="right", limit=room.left - 14, lineBreak="\n"
        ),
        marks.draw_texts(shown, "shown", end, look, align="right", fontWeight="bold"),
        head.encode(x=alt.value(end), y=alt.value(-6)),
    ]


def _list_entries(
    rows: Rows, said: Mapping[str, str] | None, level: float | None
) -> list[tuple[str, str]]:
    """List the entries of the key; with the numbers, if there is one row."""
    names = [("estimate", "estimate", "estimate")]
    if any(row.get("average") is not None for row in rows):
        names.append(("average", "plain average", "average"))
    names.append(("bounds", "bounds", "bounds"))
    if any(row["ci_lower"] is not None for row in rows):
        confidence = confidence_words(level)
        names.append(("confidence", confidence, confidence))
    return [
        (kind, words if said is None else f"{words} {said[column]}")
        for kind, words, column in names
    ]


def lay_out_comparison(
    items: Rows, ways: Rows, scale: Scale, level: float | None, look: Look, width: int
) -> Drawing:
    """Lay out two items on the scale, and below them their differences around zero."""
    room = Room.of((*items, *ways), "name", scale, width)
    first, second = (_shorten(row["name"], room.inner // 16) for row in items)
    panels = [
        _lay_out_panel(rows, title, scale, level, look, room)
        for rows, title in ((items, "rating"), (ways, f"{first} minus {second}"))
    ]
    entries = [*_list_entries(items, None, level), ("claim", "no difference")]
    return marks.stack(*panels, room.draw_key(entries, look), spacing=14)


def _lay_out_panel(
    rows: Rows, title: str, scale: Scale, level: float | None, look: Look, room: Room
) -> Drawing:
    """Lay out rows of bounds on an axis of their own; differences with a line at zero."""
    differ = rows[0]["part"] == "differences"
    said = [{"title": row["name"]} | write_numbers(row, scale.width, level) for row in rows]
    numbered, titles = _number_rows(rows, said)
    domain, axis = _find_domain(rows, zero=differ), room.build_axis(title)
    layers = marks.draw_intervals(numbered, look, domain, titles, axis)
    if differ:
        zero = marks.chart_rows([{"zero": 0}]).mark_rule(**marks.line_styles(look)["claim"])
        layers.insert(0, zero.encode(marks.encode_x("zero", domain, axis)))
        numbered = [{**row, "name": _wrap(row["name"], room.left - 14)} for row in numbered]
    layers += _draw_labels(numbered, "name", scale, look, room)
    return marks.layer(layers, room.inner, _ROW * len(rows) + 10)


def _shorten(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _wrap(words: str, width: int) -> str:
    """Put the last word on a line of its own if all do not fit on one."""
    return words if marks.text_width(words) <= width else "\n".join(words.rsplit(" ", 1))


def _find_domain(rows: Rows, *, zero: bool = False) -> list[float]:
    """Return the range of the axis: everything that is drawn, and zero if asked."""
    columns = ("estimate", "lower", "upper", "ci_lower", "ci_upper", "average")
    drawn = [row[name] for row in rows for name in columns if row.get(name) is not None]
    if zero or not drawn:
        drawn.append(0.0)
    low, high = min(drawn), max(drawn)
    pad = 0.04 * (high - low) or 0.5
    return [low - pad, high + pad]


def lay_out_rows(rows: Rows, title: str, look: Look, width: int) -> Drawing:
    """Draw named rows, each with a range, a point or both, and a number at its right."""
    left = min(max(marks.text_width(row["name"]) for row in rows) + 20, width * 3 // 8)
    right = max(marks.text_width(row["shown"]) for row in rows) + 20
    room = Room(left, width - left - right, right)
    numbered, titles = _number_rows(
        rows, [{"title": row["name"], title: row["shown"]} for row in rows]
    )
    layers = marks.draw_intervals(
        numbered, look, _find_domain(rows), titles, room.build_axis(title)
    )
    layers += [
        marks.draw_texts(numbered, "name", -10, look, align="right", limit=left - 14),
        marks.draw_texts(
            numbered, "shown", room.inner + right - 4, look, align="right", fontWeight="bold"
        ),
    ]
    return marks.layer(layers, room.inner, _ROW * len(rows) + 10)


def lay_out_ranking(rows: Rows, more: int, scale: Scale, look: Look, width: int) -> Drawing:
    """Lay out the bounds of items below each other, every other tier shaded."""
    if not rows:
        nothing = marks.chart_rows([{}]).mark_text(text="no items", color=look.muted)
        return marks.layer([nothing], width, 2 * _ROW)
    tiered = len({row["tier"] for row in rows}) > 1
    room = Room.of(rows, "name", scale, width, _TIER if tiered else 0)
    said = [
        {"title": row["name"]} | write_numbers(row, scale.width, None) | _write_ranks(row)
        for row in rows
    ]
    numbered, titles = _number_rows(rows, said)
    layers = marks.draw_intervals(
        numbered, look, _find_domain(rows), titles, room.build_axis("rating")
    )
    layers += _draw_labels(numbered, "name", scale, look, room, _TIER if tiered else 0)
    entries = _list_entries(rows, None, None)
    if tiered:
        layers = [*_draw_tiers(numbered, look, room), *layers]
        entries.append(("tier", "tier: items cannot leave it"))
    if more:
        words = f"{plural(more, 'more item')} {'is' if more == 1 else 'are'} not shown"
        entries.append(("", words))
    drawing = marks.layer(layers, room.inner, _ROW * len(rows))
    return marks.stack(drawing, room.draw_key(entries, look), spacing=10)


def _write_ranks(row: Mapping[str, Any]) -> dict[str, str]:
    """Write the rank range of an item, its tier, and its number of ratings."""
    said = {}
    if row["best_rank"] is not None:
        best, worst = row["best_rank"], row["worst_rank"]
        said["rank range"] = f"{best:,}" if best == worst else f"{best:,} to {worst:,}"
    said |= {"tier": f"{row['tier']:,}"} if row["tier"] is not None else {}
    return said | ({"ratings": f"{row['n_ratings']:,}"} if row["n_ratings"] is not None else {})


def _draw_tiers(rows: Rows, look: Look, room: Room) -> Layers:
    """Shade every other tier, and number them at the right."""
    runs = [list(run) for _, run in groupby(rows, key=lambda row: row["tier"])]
    tiers = [
        {"row": run[0]["row"] - 0.5, "end": run[-1]["row"] + 0.5, "shaded": i % 2 == 0}
        for i, run in enumerate(runs)
    ]
    labels = [{**run[0], "label": f"tier {run[0]['tier']:,}"} for run in runs]
    y, end = marks.encode_row(len(rows)), room.inner + room.right
    shade = (
        marks.chart_rows([tier for tier in tiers if tier["shaded"]])
        .mark_rect(**marks.band_styles(look)["tier"])
        .encode(y, alt.Y2("end:Q"), x=alt.value(-room.left), x2=alt.value(end))
    )
    numbers = marks.draw_texts(
        labels, "label", end - 4, look, many=len(rows), align="right", color=look.muted
    )
    return [shade, numbers]


def _place_bars(bars: Rows, scale: Scale) -> tuple[list[dict[str, Any]], list[float]]:
    """Add the two sides of each bar, and return the range of the axis."""
    gap = min(b - a for a, b in zip(scale.values, scale.values[1:], strict=False))
    half = max(0.38 * gap, scale.width / 300)
    rounded = round_percentages([bar["share"] for bar in bars])
    edges = [
        {**bar, "left": bar["from"] - half, "right": bar["to"] + half}
        | _write_bar_texts(bar, percentage)
        for bar, percentage in zip(bars, rounded, strict=True)
    ]
    pad = max(half, scale.width / 50) * 1.15
    return edges, [scale.lowest - pad, scale.highest + pad]


def _write_bar_texts(bar: Mapping[str, Any], rounded: int) -> dict[str, str]:
    one = bar["from"] == bar["to"]
    count, share = bar["count"], bar["share"]
    return {
        "rating": write_exactly(bar["from"])
        if one
        else f"{write_exactly(bar['from'])} to {write_exactly(bar['to'])}",
        "times": f"{count:,}" if isinstance(count, int) else f"{count:,.2f}",
        "percent": f"{share:.1%}",
        "rounded": _write_percentage(rounded, share),
    }


def _write_percentage(rounded: int, share: float) -> str:
    """Write a rounded percentage; none and all are exact."""
    if rounded == 0 < share:
        return "<1%"
    return ">99%" if share < 1 and rounded == 100 else f"{rounded}%"


def _draw_bars(
    edges: Rows, scale: Scale, domain: Sequence[float], look: Look, left: int, spelled: bool
) -> Layers:
    """Draw shares of ratings, each written above its bar, or on an axis if there are many."""
    axis = marks.build_scale_axis(scale, "rating", grid=False)
    highest = max(bar["share"] for bar in edges) or 1.0
    shares = alt.Scale(domain=[0, highest * 1.12], nice=False)
    side = None
    if not spelled:
        side = alt.Axis(format="~%", tickCount=4, title=None, minExtent=left - 8, domain=False)
    base = marks.chart_rows(edges).encode(
        marks.encode_x("left", domain, axis),
        alt.Y("share:Q", scale=shares, axis=side, title=None),
        tooltip=marks.write_tooltips({"rating": "rating", "times": "ratings", "percent": "share"}),
    )
    seen = any(bar["count"] for bar in edges)
    layers: Layers = [base.mark_bar(color=look.bar).encode(alt.X2("right:Q"), alt.Y2Datum(0))]
    if spelled and seen:
        middle = [{**bar, "middle": (bar["left"] + bar["right"]) / 2} for bar in edges]
        layers.append(
            marks.chart_rows(middle)
            .mark_text(dy=-7, color=look.muted, fontSize=11)
            .encode(
                marks.encode_x("middle", domain, axis),
                alt.Y("share:Q", scale=shares, axis=None),
                alt.Text("rounded:N"),
            )
        )
    if not seen:
        nobody = marks.chart_rows([{}]).mark_text(text="no ratings", color=look.muted, fontSize=13)
        layers.append(nobody)
    return layers
