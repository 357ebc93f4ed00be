"""Columns that are SQL: the closed forms of the core, written down instead of evaluated.

The formulas of :mod:`unheard.formulas` work on whatever understands ``+ - * /`` and ``>``. Here
that is a :class:`Cell`, which remembers how it was made. Equal cells are one cell, so the result is
a graph without repetition, which :mod:`unheard.tables.sql.layout` lays out as a chain of SELECTs.

Both ends of an interval are computed by the same lines, in a row for each end. On a long scale, so
are the sums over the ratings: each rating has a row of its own (:class:`RatingRows`), and the text
does not grow with the scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from itertools import accumulate
from operator import add, mul, neg, sub, truediv
from typing import Any, Literal, TypeAlias, overload

from sqlglot import exp

from unheard.formulas.operations import Along, Tree, are_identical, map_columns, name

Operand: TypeAlias = "Cell | float"

Order: TypeAlias = Literal["rating", "rating desc", "place", "place desc"]
"""Along the scale or against it, away from an end or towards it."""

LONG_SCALE = 6
"""Number of ratings from which on each has a row of its own."""

LOW, HIGH = "lower", "upper"
"""The ends of an interval."""


class Cell:
    """One column on a :class:`Sheet`: an operation and what it is applied to."""

    __slots__ = ("arguments", "name", "operation", "sheet")

    def __init__(self, sheet: Sheet, operation: str, arguments: tuple[Any, ...]) -> None:
        self.sheet, self.operation, self.arguments = sheet, operation, arguments
        self.name: str | None = None

    def called(self, name: str) -> Cell:
        """Name the column, in case it needs a name; the first name given is kept."""
        self.name = self.name or name
        return self

    def __add__(self, other: Operand) -> Operand:
        return self if other == 0 else self.sheet.cell("add", self, other)

    def __radd__(self, other: float) -> Operand:
        return self if other == 0 else self.sheet.cell("add", other, self)

    def __sub__(self, other: Operand) -> Operand:
        return self if other == 0 else self.sheet.cell("sub", self, other)

    def __rsub__(self, other: float) -> Operand:
        return self.sheet.cell("sub", other, self)

    def __mul__(self, other: Operand) -> Operand:
        if isinstance(other, Cell):
            return self.sheet.cell("mul", self, other)
        return self.__rmul__(other)

    def __rmul__(self, other: float) -> Operand:
        if other == 0:
            return 0.0
        return self if other == 1 else self.sheet.cell("mul", other, self)

    def __truediv__(self, other: Operand) -> Operand:
        return self if other == 1 else self.sheet.cell("div", self, other)

    def __rtruediv__(self, other: float) -> Operand:
        return self.sheet.cell("div", other, self)

    def __neg__(self) -> Operand:
        return self.sheet.cell("neg", self)

    def __gt__(self, other: Operand) -> Operand:
        return self.sheet.cell("gt", self, other)

    def __ge__(self, other: Operand) -> Operand:
        return self.sheet.cell("ge", self, other)

    def __lt__(self, other: Operand) -> Operand:
        return self.sheet.cell("lt", self, other)

    def __le__(self, other: Operand) -> Operand:
        return self.sheet.cell("le", self, other)


class Sheet:
    """All cells of one computation; implements :class:`unheard.formulas.operations.Operations`."""

    def __init__(self, long: int = LONG_SCALE) -> None:
        self._cells: dict[tuple[Any, ...], Cell] = {}
        self._long = long

    def cell(self, operation: str, *arguments: Any) -> Cell:
        """Return the cell for an operation, the same one whenever it is asked for again."""
        if operation in _FOLDED and all(map(_is_constant, arguments)):
            known = (a.arguments[0] if isinstance(a, Cell) else a for a in arguments)
            return self.cell("constant", float(_FOLDED[operation](*known)))
        key = (operation, *(id(a) if isinstance(a, Cell) else (type(a), a) for a in arguments))
        return self._cells.setdefault(key, Cell(self, operation, arguments))

    def column(self, name: str) -> Cell:
        """Return a column of the table that the computation starts from."""
        return self.cell("column", name)

    def missing(self) -> Cell:
        """Return a column without values."""
        return self.cell("missing")

    def least(self, a: Operand, b: Operand) -> Operand:
        """Smaller of two, row by row."""
        return self._either("least", min, a, b)

    def greatest(self, a: Operand, b: Operand) -> Operand:
        """Larger of two, row by row."""
        return self._either("greatest", max, a, b)

    def divide(self, a: Operand, b: Operand) -> Operand:
        """Divide; by zero the result is null."""
        return self.cell("divide", a, b) if isinstance(b, Cell) else a / b

    def floor(self, a: Operand) -> Operand:
        """Largest whole number that is not above."""
        return self.cell("floor", a) if isinstance(a, Cell) else math.floor(a)

    def sqrt(self, a: Operand) -> Operand:
        """Square root."""
        return self.cell("sqrt", a)

    def log(self, a: Operand) -> Operand:
        """Natural logarithm."""
        return self.cell("ln", a)

    def exp(self, a: Operand) -> Operand:
        """Exponential."""
        return self.cell("exp", a)

    def logistic(self, a: Operand) -> Operand:
        """Return 1/(1 + exp(-a)); the arguments that BEA has are small."""
        return 1.0 / (1.0 + self.exp(-a))

    def where(self, condition: Operand | bool, yes: Operand, no: Operand) -> Operand:
        """Choose row by row; a condition on numbers alone is evaluated at once."""
        if isinstance(condition, bool):
            return yes if condition else no
        return yes if yes is no else self.cell("where", condition, yes, no)

    def constant(self, what: str, value: float) -> Cell:
        """Return a number that is stated once, under its name."""
        return self.cell("constant", value).called(what)

    def ratings(self, columns: Sequence[Operand]) -> Sequence[Operand]:
        """Return columns along the scale, or numbers: on a long scale a row for each."""
        if len(columns) < self._long:
            return columns
        return RatingRows(self, "rating", lambda: list(columns))

    def both_ends(
        self, function: Callable[..., Tree], low: tuple[Any, ...], high: tuple[Any, ...]
    ) -> tuple[Tree, Tree]:
        """Apply a function once to what is seen from each end, in a row for each end."""
        if not _are_alike(low, high):
            return function(*low), function(*high)
        found = function(*self._merge(low, high))
        at_low = map_columns(lambda one: self._at_end(one, LOW), found)
        return at_low, map_columns(lambda one: self._at_end(one, HIGH), found)

    def by_end(self, low: Operand, high: Operand) -> Operand:
        """Return a column with a value of its own at each end."""
        if low is high or (not isinstance(low, Cell) and low == high):
            return low
        if isinstance(low, Cell) and low.operation == "at_end":
            found, end = low.arguments
            if end == LOW and high is self._at_end(found, HIGH):
                return found  # type: ignore[no-any-return]
        return self.cell("by_end", low, high)

    def _at_end(self, found: Operand, end: str) -> Operand:
        if not isinstance(found, Cell):
            return found
        if found.operation == "by_end":
            at_low, at_high = found.arguments
            return at_low if end == LOW else at_high  # type: ignore[no-any-return]
        cell = self.cell("at_end", found, end)
        return cell.called(f"{end}_{found.name}") if found.name else cell

    def _merge(self, low: Any, high: Any) -> Any:
        """Combine what is seen from the two ends, column by column."""
        if low is high:
            return low
        if isinstance(low, RatingRows):
            return low.merge(high)
        if isinstance(low, tuple | list):
            return self._merge_lists(low, high)
        if is_dataclass(low):
            kept = {f.name: (getattr(low, f.name), getattr(high, f.name)) for f in fields(low)}
            made: Callable[..., Any] = type(low)
            asked = {f.name for f in fields(low) if f.init}
            return made(**{n: self._merge(*both) for n, both in kept.items() if n in asked})
        if isinstance(low, Cell | float | int) and not isinstance(low, bool):
            return self.by_end(low, high)
        assert low == high, "only columns may differ from end to end"
        return low

    def _either(
        self, operation: str, known: Callable[[Any, Any], float], a: Operand, b: Operand
    ) -> Operand:
        if isinstance(a, Cell) or isinstance(b, Cell):
            return a if a is b else self.cell(operation, a, b)
        return known(a, b)

    def _merge_lists(self, low: Sequence[Any], high: Sequence[Any]) -> Sequence[Any]:
        if all(isinstance(one, Cell) and one.operation == "column" for one in low):
            # Counts: each gets a name of its own, also that in the middle, which is the same.
            return [
                self.cell("by_end", *both).called(f"seen_{place}")
                for place, both in enumerate(zip(low, high, strict=True), start=1)
            ]
        return tuple(self._merge(*both) for both in zip(low, high, strict=True))


_FOLDED: dict[str, Callable[..., float]] = {
    "add": add, "sub": sub, "mul": mul, "div": truediv, "neg": neg, "divide": truediv,
}  # fmt: skip
"""Operations that are evaluated at once if they are made of constants: the result is one, too."""


def _is_constant(a: Any) -> bool:
    return not isinstance(a, Cell) or a.operation == "constant"


def _are_alike(low: Any, high: Any) -> bool:
    """Whether what is seen from two ends differs in nothing but its columns."""
    return all((a is None) == (b is None) for a, b in zip(low, high, strict=True))


class RatingRows(Along):
    """Columns along the scale as a single column, with a row for each rating.

    Parameters
    ----------
    sheet
        Where the computation is written down.
    order
        The order in which the rows stand for a list.
    elements
        Returns the list of columns, if there is one.
    row
        The column; None for that of the elements.
    """

    def __init__(
        self,
        sheet: Sheet,
        order: Order,
        elements: Callable[[], list[Operand]],
        row: Operand | None = None,
        size: int | None = None,
    ) -> None:
        self.sheet, self.order, self._elements, self._row = sheet, order, elements, row
        self._size = size
        self.is_listed = row is None
        self.name: str | None = None
        self._summed: RatingRows | None = None

    def called(self, name: str) -> RatingRows:
        """Name the column, unless it is computed from others."""
        if self.is_listed:
            self.name = self.name or name
            if isinstance(self._row, Cell):
                self._row.called(name)
        return self

    def _named(self, name: str | None) -> RatingRows:
        return self.called(name) if name else self

    def __len__(self) -> int:
        return len(self._elements()) if self._size is None else self._size

    @overload
    def __getitem__(self, place: int) -> Operand: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Operand]: ...
    def __getitem__(self, place: int | slice) -> Operand | Sequence[Operand]:
        """Return one of the elements, some of them as a list, or all in reverse order."""
        if place != slice(None, None, -1):
            return self._elements()[place]
        back: dict[Order, Order] = {
            "rating": "rating desc", "rating desc": "rating",
            "place": "place desc", "place desc": "place",
        }  # fmt: skip
        elements, size = self._elements, self._size
        row = None if self.is_listed else self._row
        made = RatingRows(self.sheet, back[self.order], lambda: elements()[::-1], row, size)
        return made._named(self.name)

    @property
    def row(self) -> Operand:
        """The column."""
        if self._row is None:
            self._row = self._row_of(self._elements())
            self._named(self.name)
        return self._row

    def _row_of(self, elements: Sequence[Operand]) -> Operand:
        """Return a column that holds one element in each row."""
        if are_identical(elements) or len(set(map(id, elements))) == 1:
            return elements[0]
        low, high = _by_place(elements, self.order)
        if _are_numbers(low) and _are_numbers(high):
            if len({*low, *high}) == 1:
                return low[0]
            return self.sheet.cell("listed", low, high)
        by_rating = (low, high[::-1])
        if all(a is b or a == b for a, b in zip(*by_rating, strict=True)):
            return self.sheet.cell("gathered", *low)
        return self.sheet.by_end(*(self.sheet.cell("gathered", *each) for each in by_rating))

    def merge(self, high: RatingRows) -> RatingRows:
        """Put what is seen from the low end, this, together with what is seen from the high end."""
        orders: dict[tuple[Order, Order], Order] = {
            ("rating", "rating desc"): "place",
            ("rating desc", "rating"): "place desc",
        }
        order = orders[self.order, high.order]
        ours, theirs = self._elements, high._elements

        def elements() -> list[Operand]:
            return [self.sheet.by_end(*both) for both in zip(ours(), theirs(), strict=True)]

        if self.is_listed and high.is_listed and self.row is not high.row:
            return RatingRows(self.sheet, order, elements)._named(self.name)
        row = self.sheet.by_end(self.row, high.row)
        return RatingRows(self.sheet, order, elements, row, len(self))._named(self.name)

    def along(
        self, function: Callable[..., Operand], lists: Sequence[Sequence[Operand]]
    ) -> RatingRows:
        """Apply a function row by row."""
        rows = [one for one in lists if isinstance(one, RatingRows)]
        assert {one.order for one in rows} == {self.order}, "lists must have one order"

        def elements() -> list[Operand]:
            return [function(*each) for each in zip(*lists, strict=True)]

        if all(one.is_listed for one in rows):
            constants = self._along_numbers(function, lists)
            if constants is not None:
                return constants
        taken = [one.row if isinstance(one, RatingRows) else self._row_of(one) for one in lists]
        return RatingRows(self.sheet, self.order, elements, function(*taken), len(self))

    def _along_numbers(
        self, function: Callable[..., Operand], lists: Sequence[Sequence[Operand]]
    ) -> RatingRows | None:
        """Apply a function to numbers, if lists are of nothing else."""
        ends = [_by_place(list(one), self.order) for one in lists]
        if not all(_are_numbers(low) and _are_numbers(high) for low, high in ends):
            return None
        low, high = (
            [function(*each) for each in zip(*(end[side] for end in ends), strict=True)]
            for side in (0, 1)
        )
        if not (_are_numbers(low) and _are_numbers(high)):
            return None
        return RatingRows(self.sheet, self.order, lambda: self._from_places(low, high))

    def _from_places(self, low: list[Operand], high: list[Operand]) -> list[Operand]:
        """Return elements from what they are, in the order of places, at either end."""
        if self.order in ("rating", "rating desc"):
            return low if self.order == "rating" else low[::-1]
        merged = [self.sheet.by_end(*both) for both in zip(low, high, strict=True)]
        return merged if self.order == "place" else merged[::-1]

    def _compute(self, operation: str, *more: Operand) -> RatingRows:
        def elements() -> list[Operand]:
            raise TypeError("what is made of several rows has no elements")

        row = self.sheet.cell(operation, self.row, *more, self.order)
        return RatingRows(self.sheet, self.order, elements, row, len(self))

    def total(self) -> Operand:
        """Add up."""
        row = self.row
        return self.sheet.cell("total", row) if isinstance(row, Cell) else len(self) * row

    def running_total(self) -> RatingRows:
        """Add up the first, the first two, ... and all."""
        made = self._compute("running_total")
        made._summed = self
        return made

    def last_total(self) -> Operand:
        """Return the last of running totals."""
        assert self._summed is not None, "these are not running totals"
        return self._summed.total()

    def running_maximum(self) -> RatingRows:
        """Find the largest of the first, of the first two, ... and of all."""
        if self.is_listed:
            ends = _by_place(list(self), self.order)
            if all(map(_are_numbers, ends)):
                back = self.order in ("rating desc", "place desc")
                low, high = (_running_maximum(end, back) for end in ends)
                return RatingRows(self.sheet, self.order, lambda: self._from_places(low, high))
        return self._compute("running_maximum")

    def extreme(self, largest: bool) -> Operand:
        """Find the largest or the smallest."""
        row = self.row
        if not isinstance(row, Cell):
            return row
        return self.sheet.cell("largest" if largest else "smallest", row)

    def shifted(self, first: Operand) -> RatingRows:
        """Move everything one place on."""
        if self.is_listed and not isinstance(first, Cell):
            elements = self._elements
            return RatingRows(self.sheet, self.order, lambda: [first, *elements()[:-1]])
        return self._compute("shifted", first)

    def add_to_first(self, more: Operand) -> RatingRows:
        """Add to the first."""
        elements = self._elements

        def added() -> list[Operand]:
            first, *others = elements()
            return [first + more, *others]

        is_first = self.sheet.cell("position", self.order, len(self)) <= 1.0
        row = self.sheet.where(is_first, self.row + more, self.row)
        return RatingRows(self.sheet, self.order, added, row, len(self))

    def neighbours(self, is_beyond: Callable[[Operand], Operand]) -> tuple[Operand, Operand]:
        """Find the two places that something lies between."""
        sheet = self.sheet
        low: Operand = 1.0
        high: Operand = float(len(self))
        for _ in range(math.ceil(math.log2(len(self) - 1))):
            middle = name("middle", sheet.floor((low + high) / 2.0))
            beyond = is_beyond(self._at(middle))
            low, high = sheet.where(beyond, middle, low), sheet.where(beyond, high, middle)
        return self._at(low), self._at(high)

    def _at(self, place: Operand) -> Operand:
        """Return the element in a place; elements ascend."""
        if not isinstance(place, Cell):
            return self._elements()[int(place) - 1]
        elements: list[Any] = self._elements()
        if _are_numbers(elements) and elements == [k * elements[1] for k in range(len(self))]:
            found: Operand = (place - 1.0) * elements[1]
            return found
        here = self.sheet.cell("position", self.order, len(self))
        return self.sheet.cell(
            "largest", self.sheet.where(here <= place, self.row, self.sheet.missing())
        )


def _running_maximum(numbers: Sequence[Any], back: bool) -> list[Operand]:
    found: list[Operand] = list(accumulate(numbers[::-1] if back else numbers, max))
    return found[::-1] if back else found


def _are_numbers(elements: Sequence[Operand]) -> bool:
    return not any(isinstance(one, Cell) for one in elements)


def _by_place(
    elements: Sequence[Operand], order: Order
) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """Return elements in the order of their places, as seen from the low end and the high."""
    low, high = tuple(elements), tuple(elements)
    if order in ("rating", "rating desc"):
        return (low, high[::-1]) if order == "rating" else (low[::-1], high)
    low = tuple(_side(one, 0) for one in elements)
    high = tuple(_side(one, 1) for one in elements)
    return (low, high) if order == "place" else (low[::-1], high[::-1])


def _side(one: Operand, side: int) -> Operand:
    if isinstance(one, Cell) and one.operation == "by_end":
        return one.arguments[side]  # type: ignore[no-any-return]
    return one


def number(value: float) -> exp.Expr:
    """Write a number so that every engine reads it as it is, in double precision if fractional."""
    # A whole number stays what it is: 2**53 + 1 has no double.
    if isinstance(value, int) or (value.is_integer() and abs(value) <= 2**53):
        return exp.Literal.number(int(value)) if value >= 0 else exp.Neg(this=number(-value))
    text = repr(float(value))
    # Without an exponent several engines read a decimal number, and round it on the way.
    literal = exp.Literal.number((text if "e" in text else f"{text}e0").lstrip("-"))
    return literal if value > 0 else exp.Neg(this=literal)
