"""The figures of a report, each light and dark, wide and narrow."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from unheard.charts.altair import alt
from unheard.charts.draw import draw_pairs, draw_ranking, draw_sweep
from unheard.charts.marks import Drawing, Rows, chart_rows, layer
from unheard.charts.picture import Picture
from unheard.charts.style import THEMES, Look
from unheard.charts.sweeps import LEFT, RIGHT, Plane, draw_chosen
from unheard.report.names import name_group, name_item
from unheard.report.report_data import ReportData
from unheard.report.sentences import describe_sorting, write_share
from unheard.report.settled_by_q import SettledAtQ

_WIDTHS = {"wide": 620, "narrow": 340}
_DRAWN = 15
"""How many items a figure of the ranking shows."""

_GROUPS, _DRAWN_OF_EACH = 4, 10
"""Of how many rating columns or windows the ranking is drawn, and how many items of each."""


@dataclass(frozen=True)
class Figure:
    """A figure: its caption, its alternative text, and its embedded images by theme and width."""

    caption: str
    words: str
    addresses: Mapping[tuple[str, str], str]


def build_figure(picture: Picture, caption: str) -> Figure:
    """Draw a picture in every theme and width."""
    return Figure(
        caption,
        picture.words,
        {
            (theme, width): _embed(picture.svg(theme, points))
            for theme in THEMES
            for width, points in _WIDTHS.items()
        },
    )


def _embed(svg: str) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def draw_rankings(data: ReportData) -> Iterator[Figure]:
    """Draw the first items; of several rating columns or windows, the first items of each."""
    if not data.rows:
        return
    by = describe_sorting(data.request)
    if not data.request.compared_within:
        which = _count_drawn(data.numbers.items, _DRAWN)
        caption = f"{which[0].upper()}{which[1:]}, sorted by {by}."
        yield build_figure(_draw_ranking(data, data.rows, _DRAWN), caption)
        return
    by_group = groupby(data.rows, key=lambda row: name_group(row, data.request))
    groups = [(within, list(rows)) for within, rows in by_group]
    # Of many windows the latest matter most.
    for within, rows in groups[:_GROUPS] if data.request.attributes else groups[-_GROUPS:]:
        caption = f"{within}: {_count_drawn(len(rows), _DRAWN_OF_EACH)}, sorted by {by}."
        yield build_figure(_draw_ranking(data, rows, _DRAWN_OF_EACH), caption)


def _count_drawn(items: int, drawn: int) -> str:
    return "all items" if items <= drawn else f"the first {drawn:,} of {items:,} items"


def _draw_ranking(data: ReportData, rows: Sequence[Mapping[str, Any]], top: int) -> Picture:
    item = data.request.item
    # If some rows are not at hand, the picture must not count them.
    listed = rows[:top] if data.left_out else rows
    named = [{**row, "item": name_item(row, item)} for row in listed]
    return draw_ranking(named, ["item"], data.scale, top=top)


def draw_leader(data: ReportData) -> Figure | None:
    """Draw the bounds on the mean of the first item at every q."""
    if data.sensitivity is None or data.sensitivity.leader is None:
        return None
    one, q = data.sensitivity.leader, data.sensitivity.q
    drawn = draw_sweep(one.sweep, q)
    return build_figure(drawn, f"{one.name}: bounds on its mean at every q.")


def draw_settled_pairs(data: ReportData) -> Figure | None:
    """Draw how much of the order is settled at every q."""
    sensitivity, pairs = data.sensitivity, data.numbers.pairs
    if sensitivity is None or not pairs:
        return None
    records = list(_list_shares(data, sensitivity.steps, pairs))
    q, now = sensitivity.q, sensitivity.assumed
    words = (
        f"At q = {q:g}, {write_share(now.pairs_settled, pairs)} of all pairs of items are in a "
        "settled order ignoring sampling error"
    )
    if now.ci_pairs_settled is not None:
        words += f", and {write_share(now.ci_pairs_settled, pairs)} allowing for it"
    drawn = Picture(partial(_lay_out_shares, records, q), records, f"{words}.")
    return build_figure(drawn, "Share of all pairs of items in a settled order, at every q.")


def draw_leading_pairs(data: ReportData) -> Figure | None:
    """Draw which of the first items is above which, pair by pair."""
    found = data.leading_pairs
    if found is None:
        return None
    drawn = draw_pairs(found.names, found.settled, data.numbers.items - len(found.names))
    which = _count_drawn(data.numbers.items, len(found.names))
    return build_figure(drawn, f"Settled pairs under shared participation: {which}.")


def name_other_participation(data: ReportData) -> str | None:
    """Name the participation that the report does not assume, if it was examined."""
    other = data.sensitivity
    if other is None or other.steps[0].other_pairs_settled is None:
        return None
    return f"{'separate' if data.request.shared else 'shared'} participation"


def _list_shares(
    data: ReportData, steps: Sequence[SettledAtQ], pairs: int
) -> Iterator[dict[str, Any]]:
    other = name_other_participation(data)
    for step in steps:
        found = {
            "ignoring sampling error": step.pairs_settled,
            "allowing for sampling error": step.ci_pairs_settled,
        }
        if other is not None:
            found[f"{other}, ignoring sampling error"] = step.other_pairs_settled
        for series, many in found.items():
            if many is not None:
                yield {"q": step.q, "series": series, "share": many / pairs}


def _lay_out_shares(records: Rows, q: float, look: Look, width: int) -> Drawing:
    inner, least = width - LEFT - RIGHT, min(record["q"] for record in records)
    plane = Plane(least, (0, 1), "participation ratio q", inner, "pairs settled", ".0%")
    place = plane.encode_q(), plane.encode_y("share")
    series = list(dict.fromkeys(record["series"] for record in records))
    styles = alt.Scale(domain=series, range=[[1, 0], [6, 3], [1, 3]][: len(series)])
    legend = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=300)
    legend.symbolType, legend.symbolSize = "stroke", 600
    drawn = chart_rows(records)
    lines = drawn.mark_line(color=look.bounds)
    return layer(
        [
            lines.encode(*place, alt.StrokeDash("series:N", scale=styles, legend=legend)),
            drawn.mark_point(color=look.bounds, filled=True, size=40).encode(*place),
            *draw_chosen(q, plane, look),
        ],
        inner,
        200,
    )
