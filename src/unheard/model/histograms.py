"""Validated counts per rating: one histogram or millions, with or without the number of people."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.errors import CountsError, Given, PopulationError, write_value
from unheard.formulas.operations import Floats, blocks
from unheard.model.labelled_counts import PlainOrLabelled, check_plausible, read_counts
from unheard.model.scale import Scale
from unheard.text import plural, write_exactly

Cells: TypeAlias = NDArray[np.integer | np.floating]
"""Counts of any type of number, or sums of weights."""

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


@dataclass(frozen=True, eq=False, repr=False)
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
        Shape (N,): how many people there are, respondents and non-respondents; None if unknown.
    effective
        Shape (N,): effective sample size of survey-weighted counts; None for plain counts, and if
        more is known.
    weights
        More about survey weights; None for plain counts.
    single
        Whether one histogram was given, so that results are numbers and not arrays.
    """

    cells: Cells
    scale: Scale
    n: Floats | None
    effective: Floats | None
    weights: Weights | None
    single: bool

    @classmethod
    def of(
        cls,
        counts: CountsLike,
        *,
        n: ArrayLike | None = None,
        scale: Scale | None = None,
        effective: ArrayLike | None = None,
        squared_weights: PlainOrLabelled | None = None,
        largest_weight: ArrayLike | None = None,
    ) -> Histograms:
        """Check counts and what belongs to them.

        Parameters
        ----------
        counts
            m counts or an (N, m) array, lowest rating first; or counts by rating, in any order: a
            mapping, the ``value_counts()`` of a Series, a frame with one column per rating. Whole
            numbers, unless ``effective`` or ``squared_weights`` is given.
        n
            Number of people per item, if known: one number or N of them.
        scale
            The rating values. If left out, m plain counts are on the scale 1, 2, ..., m, and
            counts by rating must have each of the ratings 1 to 5 and no other.
        effective
            Declares that the counts are sums of survey weights, with this effective sample size
            (sum of the weights squared over the sum of their squares): one number or N of them.
        squared_weights, largest_weight
            Instead of ``effective``: declares the same, with the sum of squared weights for each
            count, and the largest weight that any rating could have, one number or N of them.
        """
        if isinstance(counts, Histograms):
            return counts._with(n, scale, effective, squared_weights, largest_weight)
        whole = effective is None and squared_weights is None
        plain = read_counts(counts, scale)
        if whole:
            check_plausible(plain)
        cells, single = _as_cells(plain.array), plain.array.ndim == 1
        scale = plain.scale or _default_scale(cells.shape[1])
        if cells.shape[1] != scale.m:
            raise CountsError(
                "counts",
                problem="{argument} must have one count per value of the scale: {m} for the scale "
                "{values}",
                value=Given(cells.shape[1]),
                hint="Include a zero for each rating that nobody gave",
                m=scale.m,
                values=scale.describe(),
            )
        _check_cells(cells, single, whole=whole)
        sizes = None if effective is None else _check_effective(effective, cells)
        weights = _check_weights(squared_weights, largest_weight, cells, scale, effective)
        people = None if n is None else _check_people(n, cells, single, whole=whole)
        return cls(cells, scale, people, sizes, weights, single)

    def _with(
        self,
        n: ArrayLike | None,
        scale: Scale | None,
        effective: ArrayLike | None,
        squared_weights: PlainOrLabelled | None,
        largest_weight: ArrayLike | None,
    ) -> Histograms:
        """Check the same counts with more that belongs to them."""
        if scale is not None and scale != self.scale:
            raise CountsError(
                "counts",
                problem="{argument} was counted on the scale {ours}, and {scale} is {theirs}",
                hint="Leave {scale} out, or count the ratings on it",
                ours=self.scale.describe(),
                theirs=scale.describe(),
            )
        if effective is None and squared_weights is None:
            effective = self.effective
            if self.weights is not None:
                squared_weights, largest_weight = self.weights.squares, self.weights.largest
        return Histograms.of(
            self.cells[0] if self.single else self.cells,
            n=self.n if n is None else n,
            scale=self.scale,
            effective=effective,
            squared_weights=squared_weights,
            largest_weight=largest_weight,
        )

    def __repr__(self) -> str:
        """Write one histogram in full, and how many there are of several."""
        if not self.single:
            return f"Histograms({plural(self.rows, 'item')} on the scale {self.scale.describe()})"
        pairs = zip(self.scale.values, self.cells[0], strict=True)
        cells = ", ".join(f"{write_exactly(value)}: {write_exactly(c)}" for value, c in pairs)
        return f"Histograms({{{cells}}})"

    def take(self, rows: NDArray[np.intp]) -> Histograms:
        """Return some of the items, in any order and as often as wanted."""
        n, effective = (None if x is None else x[rows] for x in (self.n, self.effective))
        weights = None if self.weights is None else self.weights.take(rows)
        return Histograms(self.cells[rows], self.scale, n, effective, weights, single=False)

    def refuse_several(self, argument: str, hint: str) -> CountsError:
        """Return the error of functions that take one histogram, which this is not."""
        several = (
            f"{self.rows} histograms"
            if self.rows != 1
            else f"an array of shape (1, {self.scale.m})"
        )
        return CountsError(
            argument, problem="{argument} must be one histogram", value=Given(several), hint=hint
        )

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


CountsLike: TypeAlias = PlainOrLabelled | Histograms
"""Counts of one or several items: m numbers, an (N, m) array, a mapping from ratings to counts, the
``value_counts()`` of a Series, a frame with one column per rating, or tallied ratings."""


def _default_scale(m: int) -> Scale:
    if m < 2:
        raise CountsError(
            "counts",
            problem="{argument} must have at least two counts, one for each value of the scale",
            value=Given(m),
            hint="Include a zero for each rating that nobody gave",
        )
    return Scale.points(m)


_KINDS = {"U": "text", "S": "text", "O": "something else", "c": "complex numbers", "M": "dates"}
_COUNT_HINT = "Use one non-negative whole number for each value of the scale"


def _as_cells(counts: NDArray[Any], argument: str = "counts") -> Cells:
    """Turn one or several rows of numbers into an array of two dimensions."""
    if counts.ndim == 0:
        raise CountsError(
            argument,
            problem="{argument} must be a list, dict or array of counts",
            value=Given(repr(counts.item())),
            hint=_COUNT_HINT,
        )
    if counts.size == 0:
        raise CountsError(argument, problem="{argument} is empty", hint=_COUNT_HINT)
    cells = counts
    if cells.dtype.kind in "bO" or cells.dtype == np.float16:
        # Python's own large integers arrive as objects; half precision holds no large count.
        with suppress(TypeError, ValueError, OverflowError):
            cells = cells.astype(np.float64)
    if cells.dtype.kind not in "iuf":
        raise CountsError(
            argument,
            problem="{argument} must be numbers",
            value=Given(_KINDS.get(cells.dtype.kind, f"values of type {cells.dtype}")),
            hint=_COUNT_HINT,
        )
    if cells.ndim > 2:
        raise CountsError(
            argument,
            problem="{argument} must be one or more rows of counts",
            value=Given(f"an array of shape {cells.shape}"),
            hint=_COUNT_HINT,
        )
    return np.atleast_2d(cells)


def _check_cells(cells: Cells, single: bool, *, whole: bool) -> None:
    low, high = cells.min(), cells.max()
    # NaN compares false, so the good case is spelled out and everything else is bad.
    if not (low >= 0 and high <= LARGEST_COUNT):
        _refuse_cells(cells, ~((cells >= 0) & (cells <= LARGEST_COUNT)), single)
    if whole and cells.dtype.kind == "f":
        for block in blocks(len(cells)):
            part = cells[block]
            if (np.floor(part) != part).any():
                _refuse_cells(cells, np.floor(cells) != cells, single, fraction=True)


def _row_sums(cells: Cells) -> Floats:
    # A product with ones is several times faster than a sum along short rows.
    return np.asarray(cells @ np.ones(cells.shape[1]))


def _refuse_cells(
    cells: Cells, bad: NDArray[np.bool_], single: bool, *, fraction: bool = False
) -> None:
    row, column = (int(index) for index in np.argwhere(bad)[0])
    value, many = cells[row, column].item(), int(bad.sum())
    one, several = "{argument} must be between 0 and 2**53", "{counts} must be between 0 and 2**53"
    hint = "Count how often each rating was given"
    if math.isnan(value):
        hint = "Replace a missing count by 0 if nobody gave that rating"
    if fraction:
        one, several = "{argument} must be a whole number", "{counts} must be whole numbers"
        hint = "For survey weights, also pass {squared_weights} and {largest_weight}"
        if cells.max() <= 1:
            hint = "Shares are not counts: pass the counts (in pandas, leave out normalize=True)"
    raise CountsError(
        "counts",
        index=column if single else (row, column),
        problem=one if many == 1 else several + "; {many} are not, such as {argument} = {first}",
        value=value if many == 1 else None,
        hint=hint,
        many=f"{many:,}",
        first=write_value(value),
    )


def _spread_over_rows(values: ArrayLike, rows: int, argument: str) -> Floats:
    """Read one number, or one per row."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise PopulationError(
            argument,
            problem="{argument} must be a number, or one number per item",
            value=values,
            hint="Use numbers up to 2**53",
        ) from None
    if numbers.ndim > 1 or numbers.size not in (1, rows):
        raise PopulationError(
            argument,
            problem="{argument} must be one number, or one per item ({items})",
            value=Given(plural(numbers.size, "number")),
            hint="Use one number for all items, or as many as {counts} has rows",
            items=f"{rows:,}",
        )
    return np.ascontiguousarray(np.broadcast_to(numbers.reshape(-1), (rows,)))


def _check_effective(effective: ArrayLike, cells: Cells) -> Floats:
    sizes = _spread_over_rows(effective, len(cells), "effective")
    rated = _row_sums(cells) > 0
    bad = rated & ~((sizes > 0) & (sizes <= LARGEST_COUNT))
    if bad.any():
        raise PopulationError(
            "effective",
            problem="{argument} must be above 0 and at most 2**53",
            value=float(sizes[bad][0]),
            hint="Use (sum of weights) squared over the sum of squared weights",
        )
    return sizes


def _check_weights(
    squares: PlainOrLabelled | None,
    largest: ArrayLike | None,
    cells: Cells,
    scale: Scale,
    effective: ArrayLike | None,
) -> Weights | None:
    if squares is None and largest is None:
        return None
    if effective is not None:
        raise CountsError(
            "squared_weights",
            problem="{squared_weights} and {effective} cannot be given together",
            hint="Leave {effective} out: the squared weights say more",
        )
    if squares is None or largest is None:
        raise CountsError(
            "largest_weight" if largest is None else "squared_weights",
            problem="{squared_weights} and {largest_weight} must be given together",
            hint="Pass the sum of squared weights for each count, and the largest weight that any "
            "rating could have",
        )
    try:
        sums = _as_cells(read_counts(squares, scale).array)
    except CountsError as error:
        raise error.about("squared_weights") from None
    if sums.shape != cells.shape:
        raise CountsError(
            "squared_weights",
            problem="{argument} must have the shape of {counts}, which is {shape}",
            value=Given(f"shape {sums.shape}"),
            hint="Use one sum of squared weights for each count",
            shape=cells.shape,
        )
    heaviest = _spread_over_rows(largest, len(cells), "largest_weight")
    # No weight is above the largest, and a sum of squares is no more than the sum times it.
    good = (sums >= 0) & ((sums > 0) == (cells > 0))
    good &= sums <= cells * heaviest[:, None] * (1 + 1e-9)
    if not good.all():
        row, r = (int(i) for i in np.argwhere(~good)[0])
        raise CountsError(
            "squared_weights",
            index=r if len(cells) == 1 else (row, r),
            problem="{argument} cannot be a sum of squares of weights that add up to {total}, none "
            "of them above {heaviest}",
            value=float(sums[row, r]),
            hint="Square each weight and add up the squares, rating by rating",
            total=f"{cells[row, r]:.15g}",
            heaviest=f"{heaviest[row]:.15g}",
        )
    return Weights(np.asarray(sums, np.float64), heaviest)


def _check_people(n: ArrayLike, cells: Cells, single: bool, *, whole: bool) -> Floats:
    people = _spread_over_rows(n, len(cells), "n")
    broken = ~((people >= 0) & (people <= LARGEST_COUNT))
    if whole:
        broken |= np.floor(people) != people
    if broken.any():
        row = int(np.argmax(broken))
        raise PopulationError(
            "n",
            index=() if single else row,
            problem="{argument} must be a whole number of people, at most 2**53",
            value=float(people[row]),
            hint="Count everybody, respondents and non-respondents",
        )
    seen = _row_sums(cells)
    # Sums of survey weights carry rounding errors; whole counts do not.
    short = people < (seen if whole else seen * (1 - 1e-12))
    if short.any():
        row = int(np.argmax(short))
        raise PopulationError(
            "n",
            index=() if single else row,
            problem="{argument} must be at least the number of ratings, {seen}",
            value=float(people[row]),
            hint="Count everybody, respondents and non-respondents",
            seen=f"{seen[row]:.15g}",
        )
    return people
