"""Layout of a chart of pairs: each item against those listed before it."""

from __future__ import annotations

from collections.abc import Sequence

from unheard.charts import marks
from unheard.charts.altair import alt
from unheard.charts.marks import Drawing, Rows
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

    Each pair has a ``row`` and a ``column``, which count the names from 0, and a ``kind``.
    """
    many = len(names)
    rows = [{"row": at, "name": f"{at + 1}  {name}"} for at, name in enumerate(names)]
    left = min(max(marks.text_width(f"00  {name}") for name in names) + 20, width // 2)
    inner = min(width - left - 14, 34 * (many - 1))
    domain, styles = [-0.5, many - 1.5], marks.point_styles(look)
    layers: list[Drawing] = [
        marks.chart_rows([pair for pair in pairs if pair["kind"] == kind])
        .mark_point(**styles[kind])
        .encode(
            marks.encode_x("column", domain),
            marks.encode_row(many),
            tooltip=marks.write_tooltips({"words": "title"}),
        )
        for kind in _KINDS
        if any(pair["kind"] == kind for pair in pairs)
    ]
    layers.append(marks.draw_texts(rows, "name", 8 - left, look, align="left", limit=left - 16))
    step = 1 if inner >= 17 * many else 2  # numbers would touch in a narrow picture
    places = [{"column": at, "place": str(at + 1)} for at in range(0, many - 1, step)]
    numbers = marks.chart_rows(places).mark_text(color=look.muted, fontSize=11)
    numbers = numbers.encode(marks.encode_x("column", domain), alt.Text("place:N"), y=alt.value(6))
    drawn = {pair["kind"] for pair in pairs}
    entries = [(kind, words) for kind, words in _KINDS.items() if kind in drawn]
    return marks.stack(
        marks.layer(layers, inner, _ROW * many),
        marks.layer([numbers], inner, 12),
        marks.draw_key(entries, look, inner, left, width - left - inner),
        spacing=4,
    )
