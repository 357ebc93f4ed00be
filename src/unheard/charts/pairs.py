"""A drawing of pairs of items in a settled order: each item against those before it."""

from __future__ import annotations

from collections.abc import Sequence

from unheard.charts.altair import alt
from unheard.charts.marks import (
    Drawing,
    Rows,
    along,
    down,
    key,
    layered,
    point_styles,
    stacked,
    table,
    text_width,
    texts,
    tips,
)
from unheard.charts.style import Look

_ROW = 22
_KINDS = {
    "above": "above",
    "below": "below",
    "above without error": "above, ignoring sampling error",
    "below without error": "below, ignoring sampling error",
    "open": "open",
}
"""Kinds of marks, and what they say of a row against a column."""


def lay_out_pairs(names: Sequence[str], pairs: Rows, look: Look, width: int) -> Drawing:
    """Draw a triangle of marks, with names at the left and numbers below.

    Parameters
    ----------
    names
        The items, in the order of the list.
    pairs
        For each pair ``row`` and ``column``, from 0, and its ``kind``.
    look, width
        The colours, and how wide the picture is.
    """
    many = len(names)
    rows = [{"row": at, "name": f"{at + 1}  {name}"} for at, name in enumerate(names)]
    left = min(max(text_width(f"00  {name}") for name in names) + 20, width // 2)
    inner = min(width - left - 14, 34 * (many - 1))
    domain, styles = [-0.5, many - 1.5], point_styles(look)
    layers: list[Drawing] = [
        table([pair for pair in pairs if pair["kind"] == kind])
        .mark_point(**styles[kind])
        .encode(along("column", domain), down(many), tooltip=tips({"words": "title"}))
        for kind in _KINDS
        if any(pair["kind"] == kind for pair in pairs)
    ]
    layers.append(texts(rows, "name", 8 - left, look, align="left", limit=left - 16))
    places = [{"column": at, "place": str(at + 1)} for at in range(many - 1)]
    numbers = table(places).mark_text(color=look.muted, fontSize=11)
    numbers = numbers.encode(along("column", domain), alt.Text("place:N"), y=alt.value(6))
    drawn = {pair["kind"] for pair in pairs}
    entries = [(kind, words) for kind, words in _KINDS.items() if kind in drawn]
    return stacked(
        layered(layers, inner, _ROW * many),
        layered([numbers], inner, 12),
        key(entries, look, inner, left, width - left - inner),
        spacing=4,
    )
