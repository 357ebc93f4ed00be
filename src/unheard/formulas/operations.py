"""Arithmetic that every engine understands.

The closed forms of this package are written once, over *columns*: anything that supports
``+ - * /``, unary minus and comparisons. In this process a column is a NumPy array, or a number for
a single row; inside a database it is an SQL expression. :class:`Operations` names what Python has
no operator for.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import accumulate
from operator import add, mul
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Column: TypeAlias = Any
"""An array, a number or an SQL expression."""

Part = TypeVar("Part")
Tree = TypeVar("Tree")

Floats: TypeAlias = NDArray[np.float64]

_FEW = 5
"""Running totals of up to this many columns are computed one after the other."""

BLOCK_ROWS = 8192
"""Rows computed at a time: few enough that intermediate columns stay in the cache."""


class Operations(Protocol):
    """What an engine must provide besides arithmetic operators."""

    def least(self, a: Column, b: Column) -> Column:
        """Smaller of two, row by row."""

    def greatest(self, a: Column, b: Column) -> Column:
        """Larger of two, row by row."""

    def divide(self, a: Column, b: Column) -> Column:
        """Divide; where ``b`` is zero the result is missing, never an error."""

    def sqrt(self, a: Column) -> Column:
        """Square root of a column that is nowhere negative."""

    def log(self, a: Column) -> Column:
        """Natural logarithm of a column that is everywhere positive."""

    def exp(self, a: Column) -> Column:
        """Exponential of a column of moderate size."""

    def logistic(self, a: Column) -> Column:
        """Return 1/(1 + exp(-a)) without overflow."""

    def where(self, condition: Column, yes: Column, no: Column) -> Column:
        """Choose row by row; the branch not chosen may be missing."""

    def both_ends(
        self, function: Callable[..., Tree], low: tuple[Any, ...], high: tuple[Any, ...]
    ) -> tuple[Tree, Tree]:
        """Apply a function to what is seen from the low end of the scale, and from the high end.

        It returns a column, or a tuple of columns.
        """

    def constant(self, what: str, value: float) -> Column:
        """Give a number a name."""


class NumpyOperations:
    """:class:`Operations` on NumPy arrays."""

    def least(self, a: Column, b: Column) -> Column:
        """Smaller of two, row by row."""
        return np.minimum(a, b)

    def greatest(self, a: Column, b: Column) -> Column:
        """Larger of two, row by row."""
        return np.maximum(a, b)

    def divide(self, a: Column, b: Column) -> Column:
        """Divide; a zero divisor gives NaN or infinity, which the caller replaces."""
        return np.true_divide(a, b)

    def sqrt(self, a: Column) -> Column:
        """Square root."""
        return np.sqrt(a)

    def log(self, a: Column) -> Column:
        """Natural logarithm."""
        return np.log(a)

    def exp(self, a: Column) -> Column:
        """Exponential."""
        return np.exp(a)

    def logistic(self, a: Column) -> Column:
        """Return 1/(1 + exp(-a)) without overflow."""
        return expit(a)

    def where(self, condition: Column, yes: Column, no: Column) -> Column:
        """Choose row by row."""
        return np.where(condition, yes, no)

    def both_ends(
        self, function: Callable[..., Tree], low: tuple[Any, ...], high: tuple[Any, ...]
    ) -> tuple[Tree, Tree]:
        """Apply a function to what is seen from either end, one after the other."""
        return function(*low), function(*high)

    def constant(self, what: str, value: float) -> Column:
        """Return the number."""
        return value


NUMPY = NumpyOperations()


class PlainOperations:
    """:class:`Operations` on Python's own numbers, some ten times faster for a single row."""

    def least(self, a: Column, b: Column) -> Column:
        """Smaller of two; NaN stays NaN, as in NumPy."""
        return a if a < b or math.isnan(a) else b

    def greatest(self, a: Column, b: Column) -> Column:
        """Larger of two; NaN stays NaN, as in NumPy."""
        return a if a > b or math.isnan(a) else b

    def divide(self, a: Column, b: Column) -> Column:
        """Divide; a zero divisor gives NaN or infinity, as in NumPy."""
        if b:
            return a / b
        return math.nan if not a or math.isnan(a) else math.copysign(math.inf, a)

    def sqrt(self, a: Column) -> Column:
        """Square root; NaN for NaN."""
        return math.sqrt(a) if a >= 0 else math.nan

    def log(self, a: Column) -> Column:
        """Natural logarithm; NaN for NaN."""
        return math.log(a) if a > 0 else math.nan

    def exp(self, a: Column) -> Column:
        """Exponential."""
        return math.exp(a)

    def logistic(self, a: Column) -> Column:
        """Return 1/(1 + exp(-a)) without overflow."""
        return float(expit(a))

    def where(self, condition: Column, yes: Column, no: Column) -> Column:
        """Choose."""
        return yes if condition else no

    def both_ends(
        self, function: Callable[..., Tree], low: tuple[Any, ...], high: tuple[Any, ...]
    ) -> tuple[Tree, Tree]:
        """Apply a function to what is seen from either end, one after the other."""
        return function(*low), function(*high)

    def constant(self, what: str, value: float) -> Column:
        """Return the number."""
        return value


PLAIN = PlainOperations()


class Along(Sequence[Column]):
    """Columns along the scale that an engine holds as rows, one for each rating.

    In this process columns along the scale are a list. The functions below take either.
    """

    @abstractmethod
    def along(self, function: Callable[..., Column], lists: Sequence[Sequence[Column]]) -> Along:
        """Apply a function along lists of columns, of which this is one."""

    @abstractmethod
    def total(self) -> Column:
        """Add up."""

    @abstractmethod
    def running_total(self) -> Along:
        """Add up the first, the first two, ... and all."""

    @abstractmethod
    def running_maximum(self) -> Along:
        """Find the largest of the first, of the first two, ... and of all."""

    @abstractmethod
    def extreme(self, largest: bool) -> Column:
        """Find the largest or the smallest."""

    @abstractmethod
    def shifted(self, first: Column) -> Along:
        """Move everything one place on."""

    @abstractmethod
    def add_to_first(self, more: Column) -> Along:
        """Add to the first."""

    @abstractmethod
    def last_total(self) -> Column:
        """Return the last of running totals."""

    @abstractmethod
    def neighbours(self, is_beyond: Callable[[Column], Column]) -> tuple[Column, Column]:
        """Find the two places that something lies between; see :func:`find_neighbours`."""


def along(function: Callable[..., Column], *lists: Sequence[Column]) -> Sequence[Column]:
    """Apply a function along lists of columns, rating by rating."""
    for one in lists:
        if isinstance(one, Along):
            return one.along(function, lists)
    return [function(*each) for each in zip(*lists, strict=True)]


def name(what: str, column: Column) -> Column:
    """Say what a column is called where columns have names."""
    return column.called(what) if hasattr(column, "called") else column


def total(terms: Sequence[Column]) -> Column:
    """Add up columns in the given order."""
    return terms.total() if isinstance(terms, Along) else reduce(add, terms)


def weighted_sum(weights: Sequence[Column], columns: Sequence[Column]) -> Column:
    """Return the sum of products of two lists of columns."""
    if are_identical(weights):
        return weights[0] * total(columns)
    return total(along(mul, weights, columns))


def are_identical(columns: Sequence[Column]) -> bool:
    """Return whether all columns of a list are the same object."""
    if isinstance(columns, Along):
        return False
    first = columns[0]
    for column in columns:  # noqa: SIM110 (three times as fast as all(), and called very often)
        if column is not first:
            return False
    return True


def running_total(parts: Sequence[Column]) -> Sequence[Column]:
    """Return the first part, the sum of the first two, ... and of all."""
    return parts.running_total() if isinstance(parts, Along) else accumulate_columns(parts)


def last_total(totals: Sequence[Column]) -> Column:
    """Return the last of running totals."""
    return totals.last_total() if isinstance(totals, Along) else totals[-1]


def shifted(columns: Sequence[Column], first: Column) -> Sequence[Column]:
    """Move columns one place on, and put another first."""
    return columns.shifted(first) if isinstance(columns, Along) else [first, *columns[:-1]]


def add_to_first(columns: Sequence[Column], more: Column) -> Sequence[Column]:
    """Add to the first of several columns."""
    if isinstance(columns, Along):
        return columns.add_to_first(more)
    return [columns[0] + more, *columns[1:]]


def leave_out(place: int, *lists: Sequence[Column]) -> Sequence[Sequence[Column]]:
    """Leave out the first of lists (0) or the last (-1), which matters to nothing but the work."""
    if any(isinstance(one, Along) for one in lists):
        return lists
    return [one[:-1] if place else one[1:] for one in lists]


def accumulate_columns(
    parts: Sequence[Part], join: Callable[[Part, Part], Part] = add
) -> list[Part]:
    """Return the joined first part, the first two, ... and all parts.

    A long list is joined by halves, so that no result is more than about log2(m) joins away from
    its parts, and rounding errors stay small.
    """
    if len(parts) <= _FEW:
        return list(accumulate(parts, join))
    half = (len(parts) + 1) // 2
    head, tail = accumulate_columns(parts[:half], join), accumulate_columns(parts[half:], join)
    last = head[-1]
    return head + [join(last, part) for part in tail]


def map_distinct(function: Callable[..., Column], *lists: Sequence[Column]) -> Sequence[Column]:
    """Apply a function along lists of columns, once for each distinct set of arguments.

    Often the weights are the same column for every rating; their result stays one column.
    """
    if any(isinstance(one, Along) for one in lists):
        return along(function, *lists)
    if all(map(are_identical, lists)):
        return (function(*[one[0] for one in lists]),) * len(lists[0])
    done: dict[tuple[int, ...], Column] = {}
    made = []
    for arguments in zip(*lists, strict=True):
        key = tuple(map(id, arguments))
        if key not in done:
            done[key] = function(*arguments)
        made.append(done[key])
    return tuple(made)


def row_maximum(columns: Sequence[Column], ops: Operations) -> Column:
    """Return the largest of several columns, row by row."""
    if isinstance(columns, Along):
        return columns.extreme(largest=True)
    distinct = {id(column): column for column in columns}
    return reduce(ops.greatest, distinct.values())


def extreme_along(
    function: Callable[..., Column],
    lists: Sequence[Sequence[Column]],
    ops: Operations,
    *,
    largest: bool,
) -> Column:
    """Return the largest or smallest result of a function along lists; none of them is kept."""
    for one in lists:
        if isinstance(one, Along):
            return one.along(function, lists).extreme(largest)
    pick = ops.greatest if largest else ops.least
    return reduce(pick, (function(*each) for each in zip(*lists, strict=True)))


def running_maximum(columns: Sequence[Column], ops: Operations) -> Sequence[Column]:
    """Return the row-wise maximum of the first column, of the first two, ... and of all."""
    if isinstance(columns, Along):
        return columns.running_maximum()
    if are_identical(columns):
        return list(columns)
    return accumulate_columns(columns, lambda a, b: a if a is b else ops.greatest(a, b))


def find_neighbours(
    places: Sequence[Column], is_beyond: Callable[[Column], Column], ops: Operations
) -> tuple[Column, Column]:
    """Find by bisection the two of ascending places that something lies between.

    Parameters
    ----------
    places
        Where to look; what is searched lies between the first and the last.
    is_beyond
        Whether it lies beyond a place.
    ops
        The engine's operations.
    """
    if isinstance(places, Along):
        return places.neighbours(is_beyond)
    low, high, inner = places[0], places[-1], list(places[1:-1])
    while inner:
        middle = len(inner) // 2
        place, lower, upper = inner[middle], inner[:middle], inner[middle + 1 :]
        beyond = is_beyond(name("place", place))
        low, high = ops.where(beyond, place, low), ops.where(beyond, high, place)
        upper = [place] * (len(lower) - len(upper)) + upper
        inner = [ops.where(beyond, *pair) for pair in zip(upper, lower, strict=True)]
    return low, high


def run_in_blocks(
    formula: Callable[..., Tree], cells: NDArray[Any], rows: Mapping[str, Floats]
) -> Tree:
    """Run a formula over NumPy rows, a block at a time.

    Parameters
    ----------
    formula
        Called as ``formula(columns, **row_columns)``; returns a column, or named tuples and
        mappings of columns.
    cells
        Counts, one row per item, one column per rating.
    rows
        Further columns with one number per item (the population size, q, ...).

    Returns
    -------
    Tree
        What the formula returns, for all rows.
    """
    whole = None
    # An item without ratings divides zero by zero; callers replace its result.
    with np.errstate(divide="ignore", invalid="ignore"):
        for block in blocks(len(cells)) if len(cells) else [slice(0)]:
            columns = list(np.ascontiguousarray(cells[block].T, dtype=np.float64))
            part = formula(columns, **{name: row[block] for name, row in rows.items()})
            if whole is None:
                whole = map_columns(lambda _: np.empty(len(cells)), part)
            _store(whole, part, block)
    assert whole is not None  # there is at least one block
    return whole


def map_columns(function: Callable[[Column], Column], tree: Tree) -> Tree:
    """Apply a function to every column of named tuples and mappings, however nested."""
    made: Any
    if tree is None:
        made = None
    elif isinstance(tree, Mapping):
        made = {name: map_columns(function, part) for name, part in tree.items()}
    elif isinstance(tree, tuple):
        parts = [map_columns(function, part) for part in tree]
        # A named tuple takes its fields one by one.
        made = type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    else:
        made = function(tree)
    return made  # type: ignore[no-any-return]


def _store(whole: Any, part: Any, block: slice) -> None:
    if isinstance(part, Mapping):
        for name, column in part.items():
            _store(whole[name], column, block)
    elif isinstance(part, tuple):
        for target, column in zip(whole, part, strict=True):
            _store(target, column, block)
    elif part is not None:
        whole[block] = part


def blocks(length: int) -> Iterator[slice]:
    """Yield the slices that split rows into blocks."""
    for start in range(0, length, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, length))
