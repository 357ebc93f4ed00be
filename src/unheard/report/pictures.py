"""The pictures of a report, each in a light and a dark look, wide and narrow."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from unheard.charts.altair import alt
from unheard.charts.marks import NUMBER, Drawing, Rows, layered, line_styles, table
from unheard.charts.picture import Picture
from unheard.charts.results import pairs_picture, ranking_picture, sweep_picture
from unheard.charts.style import Look
from unheard.report.changes import item_name, within_name
from unheard.report.content import Facts, order_words
from unheard.report.headline import share_text
from unheard.report.overturn import Step

_WIDTHS = {"wide": 760, "narrow": 340}
_DRAWN = 15
"""How many items a ranking shows."""

_TICKS = (1, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)

_GROUPS, _DRAWN_OF_EACH = 4, 10
"""Of how many attributes or windows the ranking is drawn, and how many items of each."""


@dataclass(frozen=True)
class Figure:
    """A picture as addresses that hold all of it.

    Attributes
    ----------
    caption
        What is said below it.
    words
        What it shows, with the numbers.
    addresses
        The drawing by look and width.
    """

    caption: str
    words: str
    addresses: Mapping[tuple[str, str], str]


def figure(picture: Picture, caption: str) -> Figure:
    """Draw a picture in every look and width."""
    return Figure(
        caption,
        picture.words,
        {
            (theme, width): _address(picture.svg(theme, points))
            for theme in ("light", "dark")
            for width, points in _WIDTHS.items()
        },
    )


def _address(svg: str) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def ranking_figures(facts: Facts) -> Iterator[Figure]:
    """Draw the first items; of several attributes or windows, those of each of the first few."""
    if not facts.rows:
        return
    if not facts.request.compared_within:
        which = _which(facts.numbers.items, _DRAWN)
        caption = f"{which[0].upper()}{which[1:]}, by {order_words(facts.request)}."
        yield figure(_ranking(facts, facts.rows, _DRAWN), caption)
        return
    by_group = groupby(facts.rows, key=lambda row: within_name(row, facts.request))
    groups = [(within, list(rows)) for within, rows in by_group]
    # Of many windows the latest matter most.
    for within, rows in groups[:_GROUPS] if facts.request.attributes else groups[-_GROUPS:]:
        which = _which(len(rows), _DRAWN_OF_EACH)
        caption = f"{within}: {which}, by {order_words(facts.request)}."
        yield figure(_ranking(facts, rows, _DRAWN_OF_EACH), caption)


def _which(items: int, drawn: int) -> str:
    return "all items" if items <= drawn else f"the first {drawn:,} of {items:,} items"


def _ranking(facts: Facts, rows: Sequence[Mapping[str, Any]], top: int) -> Picture:
    item = facts.request.item
    # Where not all rows are at hand the picture must not count them.
    listed = rows[:top] if facts.left_out else rows
    short = [{**row, "item": item_name(row, item)} for row in listed]
    return ranking_picture(short, ["item"], facts.scale, top=top)


def leader_figure(facts: Facts) -> Figure | None:
    """Draw what becomes of the first item over q."""
    other = facts.overturn
    if other is None or other.leader is None:
        return None
    one = other.leader
    drawn = sweep_picture(one.question, one.sweep, facts.claim, one.broken, other.q)
    return figure(drawn, f"{one.name}: what its mean can be, for every q.")


def pairs_figure(facts: Facts) -> Figure | None:
    """Draw how much of the order is settled over q."""
    other, pairs = facts.overturn, facts.numbers.pairs
    if other is None or not pairs:
        return None
    records = list(_shares(facts, other.steps, pairs))
    now = next(step for step in other.steps if step.q == other.q)
    words = (
        f"At q = {other.q:g}, {share_text(now.pairs_settled, pairs)} of all pairs of items are in "
        "a settled order, noise aside"
    )
    if now.ci_pairs_settled is not None:
        words += f", and {share_text(now.ci_pairs_settled, pairs)} with noise"
    drawn = Picture(partial(_draw_shares, records, other.q), records, f"{words}.")
    return figure(drawn, "How many of all pairs of items are in a settled order, for every q.")


def standings_figure(facts: Facts) -> Figure | None:
    """Draw which of the first items is above which, pair by pair."""
    found = facts.standings
    if found is None:
        return None
    drawn = pairs_picture(found.names, found.settled, facts.numbers.items - len(found.names))
    which = _which(facts.numbers.items, len(found.names))
    return figure(drawn, f"Which of two items is above the other: {which}, one crowd.")


def other_way(facts: Facts) -> str | None:
    """Name the way to rank that the report does not lead with, if it was looked at."""
    other = facts.overturn
    if other is None or other.steps[0].other_pairs_settled is None:
        return None
    return "each its own crowd" if facts.request.shared else "one crowd"


def _shares(facts: Facts, steps: Sequence[Step], pairs: int) -> Iterator[dict[str, Any]]:
    way = other_way(facts)
    for step in steps:
        found = {"noise aside": step.pairs_settled, "with noise": step.ci_pairs_settled}
        if way is not None:
            found[way] = step.other_pairs_settled
        for series, many in found.items():
            if many is not None:
                yield {"q": step.q, "series": series, "share": many / pairs}


def _draw_shares(records: Rows, q: float, look: Look, width: int) -> Drawing:
    left, right, height = 52, 14, 200
    inner = width - left - right
    least = min(record["q"] for record in records)
    across = alt.X(
        "q:Q",
        scale=alt.Scale(type="log", domain=[least, 1], reverse=True, nice=False),
        axis=alt.Axis(
            values=_TICKS,
            format=NUMBER,
            title="q",
            grid=False,
            labelOverlap="greedy",
            labelSeparation=6,
        ),
    )
    percent = alt.Axis(title=None, format=".0%", tickCount=5, minExtent=left - 8, domain=False)
    up = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=percent)
    series = list(dict.fromkeys(record["series"] for record in records))
    dashes = alt.StrokeDash(
        "series:N",
        scale=alt.Scale(domain=series, range=[[1, 0], [6, 3], [1, 3]][: len(series)]),
        legend=alt.Legend(title=None, orient="bottom", symbolType="stroke", symbolSize=600),
    )
    drawn = table(records)
    chosen = table([{"q": q, "words": f"q = {q:.3g}"}]).encode(across)
    words = chosen.mark_text(align="left", dx=5, baseline="top", color=look.ink)
    return layered(
        [
            drawn.mark_line(color=look.interval).encode(across, up, dashes),
            drawn.mark_point(color=look.interval, filled=True, size=40).encode(across, up),
            chosen.mark_rule(**line_styles(look)["chosen"]),
            words.encode(alt.Text("words:N"), y=alt.value(2)),
        ],
        inner,
        height,
    )
