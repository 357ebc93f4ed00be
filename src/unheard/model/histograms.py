"""Validated counts per rating: one histogram or millions, with or without the number of people."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.errors import CountsError, PopulationError
from unheard.formulas.operations import Floats, blocks
from unheard.model.scale import Scale

LARGEST_COUNT = 2**53
"""Every whole number up to here is exact in floating point."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Survey weights, which may go with the ratings.

    Attributes
    ----------
    squares
        Shape (N, m): sum of the squared weights per item and rating.
    largest
        Shape (N,): the largest weight that any rating could have.
    """

    squares: Floats
    largest: Floats

    def take(self, rows: NDArray[np.intp]) -> Weights:
        """Return the weights of some of the items."""
        return Weights(self.squares[rows], self.largest[rows])


@dataclass(frozen=True, eq=False)
class Histograms:
    """Counts per item and rating.

    Build one with :meth:`of`, which checks everything.

    Attributes
    ----------
    cells
        Shape (N, m): how often item i was given rating r.
    scale
        The m values a rating may take.
    n
        Shape (N,): how many people there are, whether they answered or not; None if unknown.
    effective
        Shape (N,): effective sample size of survey-weighted counts; None for plain counts, and if
        more is known.
    weights
        More about survey weights; None for plain counts.
    single
        Whether one histogram was given, so that answers are numbers and not arrays.
    """

    cells: NDArray[Any]
    scale: Scale
    n: Floats | None
    effective: Floats | None
    weights: Weights | None
    single: bool

    @classmethod
    def of(
        cls,
        counts: ArrayLike,
        *,
        n: ArrayLike | None = None,
        scale: Scale | None = None,
        effective: ArrayLike | None = None,
        squared_weights: ArrayLike | None = None,
        largest_weight: ArrayLike | None = None,
    ) -> Histograms:
        """Check counts and what belongs to them.

        Parameters
        ----------
        counts
            m counts, or an (N, m) array of them. Whole numbers, unless ``effective`` is given.
        n
            Number of people per item, if known: one number or N of them.
        scale
            The rating values; 1, 2, ..., m if left out.
        effective
            Declares that the counts are sums of survey weights, with this effective sample size
            (sum of the weights squared over the sum of their squares): one number or N of them.
        squared_weights, largest_weight
            Instead of ``effective``: declares the same, with the sum of squared weights for each
            count, and the largest weight that any rating could have, one number or N of them.
        """
        cells, single = _as_cells(counts)
        if scale is None and cells.shape[1] < 2:
            raise CountsError(
                "counts",
                f"{cells.shape[1]} count(s) per item found",
                "Give one count for each value of the scale, two at the least",
            )
        scale = scale or Scale.points(cells.shape[1])
        if cells.shape[1] != scale.m:
            raise CountsError(
                "counts",
                f"{cells.shape[1]} counts for a scale of {scale.m} values",
                "Give one count for each value of the scale, zeros included",
            )
        whole = effective is None and squared_weights is None
        _check_cells(cells, single, whole=whole)
        sizes = None if effective is None else _effective(effective, cells)
        weights = _weights(squared_weights, largest_weight, cells, effective is not None)
        people = None if n is None else _people(n, cells, single, whole=whole)
        return cls(cells, scale, people, sizes, weights, single)

    def take(self, rows: NDArray[np.intp]) -> Histograms:
        """Return some of the items, in any order and as often as wanted."""
        n, effective = (None if x is None else x[rows] for x in (self.n, self.effective))
        weights = None if self.weights is None else self.weights.take(rows)
        return Histograms(self.cells[rows], self.scale, n, effective, weights, single=False)

    @property
    def size(self) -> Floats | None:
        """Effective sample size per item of survey-weighted counts; None for plain ones."""
        if self.weights is None:
            return self.effective
        squares = _row_sums(self.weights.squares)
        return np.divide(self.n_ratings**2, squares, out=np.zeros(self.rows), where=squares > 0)

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of survey weights."""
        return self.effective is not None or self.weights is not None

    @property
    def rows(self) -> int:
        """Number of items."""
        return len(self.cells)

    @cached_property
    def n_ratings(self) -> Floats:
        """Number of ratings per item (the sum of the weights for weighted counts)."""
        return _row_sums(self.cells)


def _as_cells(counts: ArrayLike) -> tuple[NDArray[Any], bool]:
    remedy = "Give one non-negative whole number for each value of the scale"
    if isinstance(counts, np.ma.MaskedArray):
        raise CountsError("counts", "a masked array found", "Decide what masked entries are first")
    try:
        cells = np.asarray(counts)
    except (TypeError, ValueError):
        raise CountsError("counts", "rows of different lengths found", remedy) from None
    if cells.dtype.kind in "bO" or cells.dtype == np.float16:
        # Python's own large integers arrive as objects; half precision holds no large count.
        try:
            cells = cells.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            raise CountsError("counts", "something that is not a count found", remedy) from None
    if cells.dtype.kind not in "iuf":
        raise CountsError("counts", f"values of type {cells.dtype} found", remedy)
    if cells.ndim not in (1, 2) or cells.size == 0:
        raise CountsError("counts", f"an array of shape {cells.shape} found", remedy)
    return np.atleast_2d(cells), cells.ndim == 1


def _check_cells(cells: NDArray[Any], single: bool, *, whole: bool) -> None:
    low, high = cells.min(), cells.max()
    remedy = "A count is a non-negative whole number"
    # NaN compares false, so the good case is spelled out and everything else is bad.
    if not (low >= 0 and high <= LARGEST_COUNT):
        good = (cells >= 0) & (cells <= LARGEST_COUNT)
        _refuse(cells, ~good, single, f"{remedy}, at most 2**53")
    if whole and cells.dtype.kind == "f":
        for block in blocks(len(cells)):
            part = cells[block]
            if (np.floor(part) != part).any():
                advice = f"{remedy}; declare survey weights by their squares"
                _refuse(cells, np.floor(cells) != cells, single, advice)


def _row_sums(cells: NDArray[Any]) -> Floats:
    # A product with ones is several times faster than a sum along short rows.
    return np.asarray(cells @ np.ones(cells.shape[1]))


def _refuse(cells: NDArray[Any], bad: NDArray[np.bool_], single: bool, remedy: str) -> None:
    row, column = (int(index) for index in np.argwhere(bad)[0])
    place = f"counts[{column}]" if single else f"counts[{row}, {column}]"
    more = int(bad.sum()) - 1
    others = f" (and {more:,} more like it)" if more else ""
    value = cells[row, column].item()
    raise CountsError(place, f"{value!r} found{others}", remedy)


def _per_row(values: ArrayLike, rows: int, place: str, error: type[PopulationError]) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise error(place, f"{values!r} is not a number", "Give one number per item") from None
    if numbers.ndim > 1 or numbers.size not in (1, rows):
        raise error(
            place, f"{numbers.size} numbers for {rows} item(s)", "Give one number, or one per item"
        )
    return np.ascontiguousarray(np.broadcast_to(numbers.reshape(-1), (rows,)))


def _effective(effective: ArrayLike, cells: NDArray[Any]) -> Floats:
    sizes = _per_row(effective, len(cells), "effective", PopulationError)
    rated = _row_sums(cells) > 0
    bad = rated & ~((sizes > 0) & (sizes <= LARGEST_COUNT))
    if bad.any():
        raise PopulationError(
            "effective",
            f"{sizes[bad][0]:.15g} found",
            "Give (sum of weights) squared over the sum of squared weights, above 0 and at most "
            "2**53",
        )
    return sizes


def _weights(
    squares: ArrayLike | None, largest: ArrayLike | None, cells: NDArray[Any], twice: bool
) -> Weights | None:
    if squares is None and largest is None:
        return None
    if squares is None or largest is None or twice:
        raise CountsError(
            "squared_weights",
            "effective given as well" if twice else "one of two given",
            "Give the sum of squared weights for each count together with the largest weight that "
            "any rating could have, and no effective size",
        )
    sums, _ = _as_cells(squares)
    if sums.shape != cells.shape:
        raise CountsError(
            "squared_weights",
            f"numbers of shape {sums.shape} beside counts of {cells.shape}",
            "Give one sum of squared weights for each count",
        )
    heaviest = _per_row(largest, len(cells), "largest_weight", PopulationError)
    # No weight is above the largest, and a sum of squares is no more than the sum times it.
    good = (sums >= 0) & ((sums > 0) == (cells > 0))
    good &= sums <= cells * heaviest[:, None] * (1 + 1e-9)
    if not good.all():
        row, r = (int(i) for i in np.argwhere(~good)[0])
        raise CountsError(
            f"squared_weights[{r}]" if len(cells) == 1 else f"squared_weights[{row}, {r}]",
            f"{sums[row, r]:g} found beside weights of {cells[row, r]:g} in all, none above "
            f"{heaviest[row]:g}",
            "Square each weight and add up, rating by rating",
        )
    return Weights(np.asarray(sums, np.float64), heaviest)


def _people(n: ArrayLike, cells: NDArray[Any], single: bool, *, whole: bool) -> Floats:
    people = _per_row(n, len(cells), "n", PopulationError)
    remedy = "Count everybody in n, those who answered included"
    broken = ~((people >= 0) & (people <= LARGEST_COUNT))
    if whole:
        broken |= np.floor(people) != people
    if broken.any():
        row = int(np.argmax(broken))
        raise PopulationError(
            _row_place("n", row, single),
            f"{people[row]:.15g} found",
            f"{remedy}; it is a whole number up to 2**53",
        )
    seen = _row_sums(cells)
    # Sums of survey weights carry rounding noise; whole counts do not.
    short = people < (seen if whole else seen * (1 - 1e-12))
    if short.any():
        row = int(np.argmax(short))
        raise PopulationError(
            _row_place("n", row, single),
            f"{people[row]:.15g} people for {seen[row]:.15g} ratings",
            f"{remedy}; correct n, or leave it out if unknown",
        )
    return people


def _row_place(name: str, row: int, single: bool) -> str:
    return name if single else f"{name}[{row}]"
