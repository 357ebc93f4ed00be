"""Counts as people have them: an array, a mapping from ratings, a Series or a frame."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.errors import CountsError
from unheard.model.scale import Scale
from unheard.text import write_exactly

if TYPE_CHECKING:
    import narwhals as nw

DEFAULT_SCALE = Scale.points(5)
"""The scale of ratings that come without one: five stars."""

_MOST_PLAIN = 101
"""More counts than that, without a scale, are not counts."""

_MOST_LIKE_RATINGS = 11
"""More values than that, all of which could be ratings, are ratings."""

_PLAIN = (list, tuple, np.ndarray, int, float)
_COUNT_COLUMNS = ("count", "counts", "len", "n")
"""How the column of counts is called beside a column of ratings."""


class CountsByRating(Protocol):
    """A mapping from ratings to counts: a dict, a Counter."""

    def items(self) -> Iterable[tuple[float | str, float]]:
        """Return pairs of a rating and how often it was given."""


PlainOrLabelled: TypeAlias = ArrayLike | CountsByRating
"""Counts per rating: m numbers, an (N, m) array, a mapping from ratings to counts, the
``value_counts()`` of a Series, or a frame with one column per rating."""


@dataclass(frozen=True)
class _Labelled:
    """Counts with a rating for each of them.

    Attributes
    ----------
    labels
        The ratings, in any order.
    counts
        Shape (k,) for one histogram, (N, k) for several.
    part
        What holds the labels: the keys, the index, the column names.
    """

    labels: Sequence[object]
    counts: NDArray[Any]
    part: str


@dataclass(frozen=True)
class PlainCounts:
    """Counts in the order of the scale, not yet checked one by one.

    Attributes
    ----------
    array
        Shape (m,) for one histogram, (N, m) for several.
    scale
        The scale, if the counts or the caller state it.
    labelled
        Whether every count came with its rating, so that it cannot be a rating itself.
    """

    array: NDArray[Any]
    scale: Scale | None
    labelled: bool = False


def read_counts(counts: PlainOrLabelled, scale: Scale | None) -> PlainCounts:
    """Put counts into the order of the scale.

    Labelled counts go by their labels: a rating that is absent was given by nobody, and a label
    off the scale is refused. Without a scale their labels must be exactly 1 to 5, because a rating
    that nobody gave is absent from most tallies, and the scale would be a guess.
    """
    if isinstance(counts, _PLAIN):
        return PlainCounts(_as_array(counts), scale)
    found = _find_labels(counts, scale)
    if isinstance(found, _Labelled) and found.labels:
        return _sort_by_label(found, scale)
    return PlainCounts(found.counts if isinstance(found, _Labelled) else _as_array(found), scale)


def _as_array(counts: ArrayLike) -> NDArray[Any]:
    if isinstance(counts, np.ma.MaskedArray):
        raise CountsError(
            "counts",
            problem="{argument} must not be a masked array",
            hint="Fill the masked entries first, with 0 if nobody gave that rating",
        )
    try:
        return np.asarray(counts)
    except (TypeError, ValueError):
        raise CountsError(
            "counts",
            problem="{argument} must have rows of equal length",
            hint="Use one count for each value of the scale, zeros included",
        ) from None


def _find_labels(counts: PlainOrLabelled, scale: Scale | None) -> _Labelled | ArrayLike:
    """Return counts with their labels, or what holds plain counts."""
    if isinstance(counts, Mapping):
        return _Labelled(list(counts), _as_array(list(counts.values())), "keys")
    import narwhals as nw

    data: Any = counts
    if type(data).__name__ == "StructArray" and data.type.num_fields == 2:  # Arrow's value_counts
        ratings, many = data.flatten()
        return _Labelled(ratings.to_pylist(), _as_array(many), "values")
    found = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        raise CountsError(
            "counts",
            problem="{argument} must be in memory, and this is a lazy frame",
            hint="Collect it first, or use unheard.rate",
        )
    if isinstance(found, nw.DataFrame):
        return _read_frame(found, scale)
    if isinstance(found, nw.Series):
        return _read_series(found, scale)
    return data  # type: ignore[no-any-return]


def _read_series(series: nw.Series[Any], scale: Scale | None) -> _Labelled | NDArray[Any]:
    """Use the index of a pandas Series as ratings, unless it only numbers the rows."""
    import narwhals as nw

    values = series.to_numpy()
    index = nw.maybe_get_index(series)
    if index is None or not len(values):
        return values
    if not _numbers_rows(index):
        return _Labelled(list(index), values, "index")
    if scale is None and len(values) <= _MOST_PLAIN:
        raise _without_ratings("an index that numbers the rows")
    return values


def _numbers_rows(index: Any) -> bool:
    """Tell whether an index is what pandas makes where nobody gives one."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _without_ratings(part: str) -> CountsError:
    return CountsError(
        "counts",
        problem="{argument} has {part}, so the ratings are unknown",
        hint="Pass every value a rating may take, as in {scale:1:5}, if these are counts, lowest "
        "rating first; if they are ratings, count them with unheard.tally",
        part=part,
        code="unclear_scale",
    )


def _read_frame(frame: nw.DataFrame[Any], scale: Scale | None) -> _Labelled | NDArray[Any]:
    """Read a frame of ratings beside their counts, or with one column per rating."""
    names = list(frame.columns)
    if _numbers_rows(getattr(frame.to_native(), "columns", None)):
        if scale is None:
            raise _without_ratings("numbered columns")
        return _as_array(frame.to_numpy())
    if len(names) == 2 and (two := [name for name in names if name in _COUNT_COLUMNS]):
        (rating,) = [name for name in names if name != two[0]]
        return _Labelled(frame[rating].to_list(), frame[two[0]].to_numpy(), "values")
    return _Labelled(names, _as_array(frame.to_numpy()), "column names")


def _sort_by_label(found: _Labelled, scale: Scale | None) -> PlainCounts:
    ours = [str(label).startswith("count_") for label in found.labels]
    if all(ours):
        # Named by unheard.count_ratings, which leaves no value of the scale out.
        values = [_read_label(str(label)[len("count_") :], found.part) for label in found.labels]
        scale = scale or Scale(sorted(values))
    else:
        values = [_read_label(label, found.part) for label in found.labels]
        _check_missing(values, found.counts)
        scale = scale or _check_five_stars(values)
    _check_labels(values, scale)
    places = {value: place for place, value in enumerate(scale.values)}
    counts = found.counts
    if counts.dtype.kind not in "iuf":
        counts = counts.astype(object)
    sorted_counts = np.zeros((*counts.shape[:-1], scale.m), counts.dtype)
    sorted_counts[..., [places[value] for value in values]] = counts
    return PlainCounts(sorted_counts, scale, labelled=True)


def _read_label(label: object, part: str) -> float:
    try:
        return float(label)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        if label is None or str(label) in ("<NA>", "NaT"):
            return math.nan
        hint = "Pass counts by rating, or a plain list of counts, lowest rating first"
        if part == "column names":
            hint = "Keep the columns of counts and name them by rating, or use unheard.rate"
        raise CountsError(
            "counts",
            problem="{argument} must have ratings as its {part}",
            value=label,
            hint=hint,
            part=part,
        ) from None


def _check_missing(values: Sequence[float], counts: NDArray[Any]) -> None:
    missing = [place for place, value in enumerate(values) if math.isnan(value)]
    if missing:
        raise CountsError(
            "counts",
            problem="{argument} includes missing ratings: {many} of them",
            hint="Leave them out; if they are people who did not respond, count them in {n}",
            many=counts[..., missing].sum(),
        )


def _check_five_stars(values: Sequence[float]) -> Scale:
    if {*values} == {*DEFAULT_SCALE.values}:
        return DEFAULT_SCALE
    raise CountsError(
        "counts",
        problem="{argument} has the ratings {ratings}, which do not determine the scale",
        hint="Pass every value a rating may take, as in {scale:1:5}; if {argument} holds ratings "
        "and not counts, count them with unheard.tally",
        ratings=list_values(values),
        code="unclear_scale",
    )


def _check_labels(values: Sequence[float], scale: Scale) -> None:
    repeated = [value for value, times in Counter(values).items() if times > 1]
    off = sorted({*values} - {*scale.values})
    if not repeated and not off:
        return
    problem = "{argument} has more than one count for the rating {ratings}"
    if off:
        problem = "{argument} has the ratings {ratings}, which are not on the scale {values}"
    raise CountsError(
        "counts",
        problem=problem,
        hint="Check {scale}; if {argument} holds ratings and not counts, count them with "
        "unheard.tally",
        ratings=list_values(off or repeated[:1]),
        values=scale.describe(),
    )


def list_values(values: Iterable[float], most: int = 8) -> str:
    """Write values in ascending order, the first ones if there are many."""
    shown = [write_exactly(value) for value in sorted(values)]
    return ", ".join(shown if len(shown) <= most else [*shown[:most], "..."])


def check_plausible(counts: PlainCounts) -> None:
    """Refuse an unlabelled vector that holds ratings rather than counts of them."""
    array, scale = counts.array, counts.scale
    if counts.labelled or array.ndim != 1 or array.dtype.kind not in "iuf":
        return
    size = len(array)
    if scale is None:
        could_be = ((array >= 1) & (array <= 10)).all()
        ratings = size > _MOST_PLAIN or (size > _MOST_LIKE_RATINGS and could_be)
    else:
        ratings = size > scale.m and np.isin(array, scale.values).all()
    if ratings:
        raise CountsError(
            "counts",
            problem="{argument} must have one count per rating, but its {size} values look like "
            "ratings",
            hint="Count the ratings first (unheard.tally in Python, the command rate for a file); "
            "if these are counts, "
            + ("pass {scale:1:{m}}" if size <= _MOST_PLAIN else "pass a {scale} of as many values"),
            size=f"{size:,}",
            m=size,
            code="counts_look_like_ratings",
        )
