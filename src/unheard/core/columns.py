"""Arithmetic that every engine understands.

The closed forms of this package are written once, over *columns*: whatever supports
``+ - * /``, unary minus and ``> >=``. On a laptop a column is a NumPy array, or for a single row a
number; inside a database it is an SQL expression. What Python has no operator for is named in
:class:`Operations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Column: TypeAlias = Any
"""An array, a number or an SQL expression."""

Floats: TypeAlias = NDArray[np.float64]

BLOCK_ROWS = 8192
"""Rows worked on at a time: few enough that every intermediate column stays in the cache."""


class Operations(Protocol):
    """What an engine must offer besides the operators of arithmetic."""

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

    def logistic(self, a: Column) -> Column:
        """Return 1/(1 + exp(-a)) without overflow."""

    def where(self, condition: Column, yes: Column, no: Column) -> Column:
        """Choose row by row; the branch not chosen may be missing."""


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

    def logistic(self, a: Column) -> Column:
        """Return 1/(1 + exp(-a)) without overflow."""
        return expit(a)

    def where(self, condition: Column, yes: Column, no: Column) -> Column:
        """Choose row by row."""
        return np.where(condition, yes, no)


NUMPY = NumpyOperations()


class PlainOperations:
    """:class:`Operations` on Python's own numbers, some ten times faster for a single row."""

    def least(self, a: Column, b: Column) -> Column:
        """Smaller of two; what is missing stays missing, as in NumPy."""
        return a if a < b or math.isnan(a) else b

    def greatest(self, a: Column, b: Column) -> Column:
        """Larger of two; what is missing stays missing, as in NumPy."""
        return a if a > b or math.isnan(a) else b

    def divide(self, a: Column, b: Column) -> Column:
        """Divide; a zero divisor gives NaN or infinity, as in NumPy."""
        if b:
            return a / b
        return math.nan if not a or math.isnan(a) else math.copysign(math.inf, a)

    def sqrt(self, a: Column) -> Column:
        """Square root; NaN has none."""
        return math.sqrt(a) if a >= 0 else math.nan

    def log(self, a: Column) -> Column:
        """Natural logarithm; NaN has none."""
        return math.log(a) if a > 0 else math.nan

    def logistic(self, a: Column) -> Column:
        """Return 1/(1 + exp(-a)) without overflow."""
        return float(expit(a))

    def where(self, condition: Column, yes: Column, no: Column) -> Column:
        """Choose."""
        return yes if condition else no


PLAIN = PlainOperations()


def total(terms: Sequence[Column]) -> Column:
    """Add columns up, in the order given."""
    return reduce(lambda a, b: a + b, terms)


def weighted(weights: Sequence[Column], columns: Sequence[Column]) -> Column:
    """Return the sum of products of two lists of columns."""
    return total([w * c for w, c in zip(weights, columns, strict=True)])


def each(function: Callable[..., Column], *lists: Sequence[Column]) -> tuple[Column, ...]:
    """Apply a function along lists of columns, once for each different set of arguments.

    Most weights are the same column for every rating; what is made of them stays one column.
    """
    done: dict[tuple[int, ...], Column] = {}
    for arguments in zip(*lists, strict=True):
        key = tuple(id(argument) for argument in arguments)
        if key not in done:
            done[key] = function(*arguments)
    return tuple(done[tuple(id(a) for a in arguments)] for arguments in zip(*lists, strict=True))


def peak(columns: Sequence[Column], ops: Operations) -> Column:
    """Return the largest of several columns, row by row."""
    return reduce(lambda a, b: a if a is b else ops.greatest(a, b), columns)


def by_blocks(
    formula: Callable[..., Sequence[Column]],
    cells: NDArray[Any],
    rows: Sequence[Floats],
    results: int,
) -> list[Floats]:
    """Run a formula over NumPy rows, a block at a time.

    Parameters
    ----------
    formula
        Called as ``formula(columns, *row_columns)``; returns ``results`` columns.
    cells
        Counts, one row per item, one column per rating.
    rows
        Further columns with one number per item (the population size, q, ...).
    results
        How many columns the formula returns.
    """
    out = [np.empty(len(cells)) for _ in range(results)]
    # An item without ratings divides nothing by nothing; its rows are replaced afterwards.
    with np.errstate(divide="ignore", invalid="ignore"):
        for block in blocks(len(cells)):
            columns = list(np.ascontiguousarray(cells[block].T, dtype=np.float64))
            answers = formula(columns, *(row[block] for row in rows))
            for target, answer in zip(out, answers, strict=True):
                target[block] = answer
    return out


def blocks(length: int) -> Iterator[slice]:
    """Cut rows into blocks."""
    for start in range(0, length, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, length))
