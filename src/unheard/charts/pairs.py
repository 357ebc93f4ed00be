"""Layout of a chart of pairs: each item against those listed before it."""

from __future__ import annotations

from collections.abc import Sequence

from unheard.charts.altair import alt
from unheard.charts.marks import (
    Drawing,
    Rows,
    chart_rows,
    draw_key,
    draw_texts,
    encode_row,
    encode_x,
    layer,
    point_styles,
    stack,
    text_width,
    write_tooltips,
)
from unheard.charts.style import Look

_ROW = 22
_KINDS = {
    "above": "above",
    "below": "below",
    "above without error": "above, ignoring sampling error",
    "below without error": "below, ignoring sampling error",
    "open": "undecided",
}
"""Kinds of marks, and what they say about the item of a row against that of a column."""


def lay_out_pairs(names: Sequence[str], pairs: Rows, look: Look, width: int) -> Drawing:
    """Lay out a triangle of marks, with names at the left and numbers below.

    Parameters
    ----------
    names
        The items, in the order of the list.
    pairs
        For each pair ``row`` and ``column``, from 0, and its ``kind``.
    look, width
        The colours, and the width of the picture.
    """
    many = len(names)
    rows = [{"row": at, "name": f"{at + 1}  {name}"} for at, name in enumerate(names)]
    left = min(max(text_width(f"00  {name}") for name in names) + 20, width // 2)
    inner = min(width - left - 14, 34 * (many - 1))
    domain, styles = [-0.5, many - 1.5], point_styles(look)
    layers: list[Drawing] = [
        chart_rows([pair for pair in pairs if pair["kind"] == kind])
        .mark_point(**styles[kind])
        .encode(
            encode_x("column", domain), encode_row(many), tooltip=write_tooltips({"words": "title"})
        )
        for kind in _KINDS
        if any(pair["kind"] == kind for pair in pairs)
    ]
    layers.append(draw_texts(rows, "name", 8 - left, look, align="left", limit=left - 16))
    step = 1 if inner >= 17 * many else 2  # numbers would touch in a narrow picture
    places = [{"column": at, "place": str(at + 1)} for at in range(0, many - 1, step)]
    numbers = chart_rows(places).mark_text(color=look.muted, fontSize=11)
    numbers = numbers.encode(encode_x("column", domain), alt.Text("place:N"), y=alt.value(6))
    drawn = {pair["kind"] for pair in pairs}
    entries = [(kind, words) for kind, words in _KINDS.items() if kind in drawn]
    return stack(
        layer(layers, inner, _ROW * many),
        layer([numbers], inner, 12),
        draw_key(entries, look, inner, left, width - left - inner),
        spacing=4,
    )
