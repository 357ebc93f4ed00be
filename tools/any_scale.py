"""The closed forms on a scale of unknown length, for SQL that is written before the scale is known.

:mod:`unheard.tables.sql.expressions` gives every rating of a long scale a row of its own. Here the
values in these rows, the ends of the scale and its length are columns, too, so that one text serves
every scale of up to ``LONGEST`` ratings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from unheard.formulas.operations import are_identical, name
from unheard.tables.sql.expressions import Cell, Operand, Order, RatingRows, Sheet
from unheard.tables.sql.reserved_names import reserve

LONGEST = 17
"""As many ratings as four steps of bisection tell apart."""

VALUES = [float(value) for value in range(1, LONGEST + 1)]
"""Stand for the values of the scale until their column takes their place."""

_FEW = 3
"""So many elements at the ends may differ from the rest, on a scale of three ratings and more."""

COUNT, VALUE, LOWEST, HIGHEST, SIZE = map(
    reserve, ("count", "scale_value", "scale_lowest", "scale_highest", "scale_size")
)
"""The columns that the closed forms read, besides the ends and places of the ratings."""

Element: TypeAlias = Callable[[], Operand]

_REVERSED: dict[Order, Order] = {
    "rating": "rating desc", "rating desc": "rating",
    "place": "place desc", "place desc": "place",
}  # fmt: skip


class AnyScale(RatingRows):
    """Columns along a scale of which only the two ends are known apart from the rest.

    Parameters
    ----------
    sheet, order, row
        As for :class:`RatingRows`.
    first, last
        Return the elements at the ends.
    """

    def __init__(
        self, sheet: Sheet, order: Order, row: Operand, first: Element, last: Element
    ) -> None:
        super().__init__(sheet, order, _refuse, row, LONGEST)
        self._first, self._last = first, last

    def __getitem__(self, place: int | slice) -> Operand | Sequence[Operand]:  # type: ignore[override]
        """Return the first or the last element, or all in reverse order."""
        if isinstance(place, slice):
            assert place == slice(None, None, -1), "a part of the scale is not known"
            back = _REVERSED[self.order]
            made = AnyScale(self.sheet, back, self.row, self._last, self._first)
            return made._named(self.name)
        return {0: self._first, -1: self._last}[place]()

    def merge(self, high: RatingRows) -> RatingRows:
        """Put what is seen from the low end, this, together with what is seen from the high end."""
        assert isinstance(high, AnyScale)
        by_end, (ours, theirs) = self.sheet.by_end, (self, high)
        order: Order = "place" if self.order == "rating" else "place desc"
        made = AnyScale(
            self.sheet,
            order,
            by_end(self.row, high.row),
            lambda: by_end(ours._first(), theirs._first()),
            lambda: by_end(ours._last(), theirs._last()),
        )
        return made._named(self.name)

    def along(
        self, function: Callable[..., Operand], lists: Sequence[Sequence[Operand]]
    ) -> RatingRows:
        """Apply a function row by row."""
        assert {one.order for one in lists if isinstance(one, RatingRows)} == {self.order}
        rows = [one.row if isinstance(one, RatingRows) else self._row_of(one) for one in lists]

        def element(place: Literal[0, -1]) -> Element:
            return lambda: function(*(one[place] for one in lists))

        return AnyScale(self.sheet, self.order, function(*rows), element(0), element(-1))

    def _row_of(self, elements: Sequence[Operand]) -> Operand:
        """Return a column that holds one element in each row; all but a few are the same."""
        if list(elements) == VALUES:
            return self.sheet.column(VALUE)
        middle = elements[len(elements) // 2]
        if are_identical(elements) or all(one is middle for one in elements):
            return middle
        here = self._position()
        row, size = middle, self.sheet.column(SIZE)
        low = [place for place, one in enumerate(elements) if one is not middle]
        head = [place for place in low if place < len(elements) // 2]
        tail = [place - len(elements) for place in low if place > len(elements) // 2]
        assert head == list(range(len(head)))
        assert tail == list(range(-len(tail), 0))
        assert len(head) + len(tail) <= _FEW, "elements must differ at the ends alone"
        for place in reversed(head):
            row = self.sheet.where(here <= place + 1.0, elements[place], row)
        for place in tail:
            row = self.sheet.where(here > size + float(place), elements[place], row)
        return row

    def _position(self) -> Operand:
        """Return the place of a row in the list, from 1."""
        forward: Order = "rating" if self.order.startswith("rating") else "place"
        here = self.sheet.cell("position", forward, LONGEST)
        return here if forward == self.order else self.sheet.column(SIZE) + 1.0 - here

    def _computed(self, operation: str, *more: Operand) -> RatingRows:
        row = self.sheet.cell(operation, self.row, *more, self.order)
        first = _refuse_one if operation != "shifted" else lambda: more[0]
        return AnyScale(self.sheet, self.order, row, first, _refuse_one)

    def total(self) -> Operand:
        """Add up."""
        return self.sheet.cell("total", self.row)

    def running_maximum(self) -> RatingRows:
        """Find the largest of the first, of the first two, ... and of all."""
        return self._computed("running_maximum")

    def shifted(self, first: Operand) -> RatingRows:
        """Move everything one place on."""
        return self._computed("shifted", first)

    def neighbours(self, is_beyond: Callable[[Operand], Operand]) -> tuple[Operand, Operand]:
        """Find the two places that something lies between.

        On a shorter scale the last steps change nothing: what lies between is known already.
        """
        sheet, low, high = self.sheet, 1.0, self.sheet.column(SIZE)
        bounds: tuple[Operand, Operand] = (low, high)
        for _ in range(math.ceil(math.log2(LONGEST - 1))):
            middle = name("middle", sheet.floor((bounds[0] + bounds[1]) / 2.0))
            beyond = is_beyond(name("place", self._at(middle)))
            bounds = (
                sheet.where(beyond, middle, bounds[0]),
                sheet.where(beyond, bounds[1], middle),
            )
        return self._at(bounds[0]), self._at(bounds[1])

    def _at(self, place: Operand) -> Operand:
        """Return the element in a place; elements ascend."""
        sheet = self.sheet
        return sheet.cell(
            "largest", sheet.where(self._position() <= place, self.row, sheet.missing())
        )


def _refuse() -> list[Operand]:
    return [_refuse_one()]


def _refuse_one() -> Operand:
    raise TypeError("the elements of a scale of unknown length are not known")


class AnySheet(Sheet):
    """All cells of one computation on a scale of unknown length."""

    def ratings(self, columns: Sequence[Operand]) -> Sequence[Operand]:
        """Return the counts, or the values of the scale."""
        if isinstance(columns[0], Cell):
            return AnyScale(self, "rating", self.column(COUNT), _refuse_one, _refuse_one)
        lowest, highest = self.column(LOWEST), self.column(HIGHEST)
        return AnyScale(self, "rating", self.column(VALUE), lambda: lowest, lambda: highest)

    def greatest(self, a: Operand, b: Operand) -> Operand:
        """Larger of two, row by row; what is compared already is not compared again."""
        ours, theirs = _compared(a), _compared(b)
        if theirs <= ours:
            return a
        return b if ours <= theirs else super().greatest(a, b)


def _compared(a: Operand) -> set[Operand]:
    """Return everything of which a column is the greatest."""
    if isinstance(a, Cell) and a.operation == "greatest":
        return _compared(a.arguments[0]) | _compared(a.arguments[1])
    return {a}
