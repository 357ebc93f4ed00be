"""Pairs of items in a settled order, drawn in the terminal: each row against those before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from unheard.cli.layout import aligned, paragraph
from unheard.text import name_of

if TYPE_CHECKING:
    from unheard.tables.shared_ranks import CrowdRanks

_MOST_DRAWN = 15
"""Rows and columns that fit on a screen."""


class Marks(NamedTuple):
    """Characters for a row that is above or below a column, surely or ignoring sampling error."""

    above: str
    below: str
    above_without_error: str
    below_without_error: str
    open: str


FINE = Marks("▲", "▼", "△", "▽", "·")
PLAIN = Marks("A", "B", "a", "b", ".")


def pair_lines(crowd: CrowdRanks, listed: Sequence[str], marks: Marks, width: int) -> Iterator[str]:
    """Yield a triangle of marks, and what they mean; nothing if no pair is listed.

    Parameters
    ----------
    crowd
        The items, ranked with one participation.
    listed
        Their names, in the order of the rows above.
    marks
        What to draw with.
    width
        How wide the terminal is.
    """
    shown = listed[:_MOST_DRAWN]
    if crowd.plain.pairs is None or len(shown) < 2:
        return
    cells = [[marks.open] * at for at in range(len(shown))]
    for row, column, side, with_error in crowd.standings(shown):
        firm = marks.above if side == "above" else marks.below
        loose = marks.above_without_error if side == "above" else marks.below_without_error
        cells[row][column] = firm if with_error else loose
    room = max(width - 3 * len(shown) - 5, 12)
    rows = [
        [f"{at + 1}", name_of(name, room), *cells[at], *[""] * (len(shown) - 1 - at)]
        for at, name in enumerate(shown)
    ]
    rows.append(["", "", *(f"{at + 1}" for at in range(len(shown) - 1))])
    yield from paragraph(
        f"Pairs in a settled order, each row against the items before it: {marks.above} above, "
        f"{marks.below} below; {marks.above_without_error} and {marks.below_without_error} the "
        f"same ignoring sampling error; {marks.open} open.",
        width,
        indent=0,
    )
    yield from aligned(rows, [True, False, *[False] * (len(shown) - 1)])
