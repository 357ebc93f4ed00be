"""Pairs of items in a settled order, drawn in the terminal: each row against those before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from unheard.present.layout import Page
from unheard.tables.shared_ranks import CrowdRanks
from unheard.text import name_of

_MOST_DRAWN = 15
"""Rows and columns that fit on a screen."""


def write_pairs(crowd: CrowdRanks, listed: Sequence[str], page: Page) -> Iterator[Text]:
    """Write a triangle of marks, and what they mean; nothing if no pair is listed.

    Parameters
    ----------
    crowd
        The items, ranked with one participation.
    listed
        Their names, in the order of the rows above.
    page
        What to write on.
    """
    shown, ink = listed[:_MOST_DRAWN], page.ink
    if crowd.plain.pairs is None or len(shown) < 2:
        return
    cells = [[ink.open] * at for at in range(len(shown))]
    for row, column, side, with_error in crowd.standings(shown):
        firm = ink.above if side == "above" else ink.below
        loose = ink.above_without_error if side == "above" else ink.below_without_error
        cells[row][column] = firm if with_error else loose
    room = max(page.width - 3 * len(shown) - 5, 12)
    rows = [
        [f"{at + 1}", name_of(name, room), *cells[at], *[""] * (len(shown) - 1 - at)]
        for at, name in enumerate(shown)
    ]
    rows.append(["", "", *(f"{at + 1}" for at in range(len(shown) - 1))])
    yield from page.paragraph(
        f"Pairs in a settled order, each row against the items before it: {ink.above} above, "
        f"{ink.below} below; {ink.above_without_error} and {ink.below_without_error} the same "
        f"ignoring sampling error; {ink.open} undecided."
    )
    yield from page.table(rows, ">" + "<" * len(shown), headed=False)
