"""Counting raw ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.errors import DataError, OptionError, write_value
from unheard.model.histograms import Histograms
from unheard.model.labelled_counts import DEFAULT_SCALE, list_values
from unheard.model.scale import Scale, ScaleLike
from unheard.model.scale_guess import guess_scale
from unheard.options.unknown import suggests_names

_MOST_SHOWN = 5


@suggests_names
def tally(
    ratings: ArrayLike | Iterable[float | str | None],
    scale: ScaleLike | None = None,
    *,
    nulls: Literal["refuse", "drop"] = "refuse",
) -> Histograms:
    """Count how often each rating was given.

    Parameters
    ----------
    ratings
        One rating per person: a list, an array, or a Series of pandas, Polars or Arrow.
    scale
        Every value a rating may take, given or not, such as ``"1:10"``. If left out, the ratings
        must take each of the values 1 to 5, and no other.
    nulls
        What to do with missing ratings: ``refuse`` them, or ``drop`` them. If they are people who
        did not respond, drop them here and count them in ``n``.

    Returns
    -------
    Histograms
        The counts with their scale, for :func:`unheard.estimate` and everything else that takes
        counts.

    Examples
    --------
    >>> tally([5, 4, 5, 1, 5], scale="1:5")
    Histograms({1: 1, 2: 0, 3: 0, 4: 1, 5: 3})
    """
    if nulls not in ("refuse", "drop"):
        raise OptionError(
            "nulls",
            problem="{argument} must be 'refuse' or 'drop'",
            value=nulls,
            hint="Choose one of them",
        )
    found, missing = _count_values(_as_vector(ratings))
    if missing and nulls == "refuse":
        raise DataError(
            "ratings",
            problem="{some} missing",
            hint="Leave missing ratings out with {nulls:drop}; if they stand for people who did "
            "not respond, also count these people in {n}",
            code="missing_ratings",
            some=_some_of(missing, missing + found.total()),
        )
    _check_numbers(found)
    chosen = Scale.read(scale) if scale is not None else _check_five_stars(found)
    _check_on_scale(found, chosen)
    return Histograms.of([found[value] for value in chosen.values], scale=chosen)


def _as_vector(ratings: object) -> NDArray[Any]:
    import narwhals as nw

    series = nw.from_native(ratings, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        values = series.to_numpy()
    elif isinstance(series, nw.DataFrame | nw.LazyFrame):
        raise DataError(
            "ratings",
            problem="{argument} must be one column, and this is a table",
            hint="Select the column of ratings, or use unheard.rate for one result per item",
        )
    elif hasattr(ratings, "__array__"):
        values = np.asarray(ratings)
    elif isinstance(ratings, str | bytes) or not isinstance(ratings, Iterable):
        raise DataError(
            "ratings",
            problem="{argument} must be a list or a column of ratings",
            value=ratings,
            hint="Give one rating per person, as in [5, 4, 5]",
        )
    else:
        values = np.asarray(list(ratings))
    if values.ndim != 1:
        raise DataError(
            "ratings",
            problem="{argument} must be one-dimensional, and this has shape {shape}",
            hint="Use unheard.rate for one result per item",
            shape=values.shape,
        )
    return values


def _count_values(values: NDArray[Any]) -> tuple[Counter[float | str], int]:
    """Return how often each value occurs, and how many are missing; other things are text."""
    if values.dtype.kind in "iufb":
        there = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        kept, many = np.unique(there, return_counts=True)
        # A single-precision 0.1 is 0.1 and not the double closest to it.
        numbers = [float(str(value)) for value in kept] if kept.dtype.kind == "f" else kept.tolist()
        found: Counter[float | str] = Counter(dict(zip(numbers, many.tolist(), strict=True)))
        return found, len(values) - len(there)
    found, missing = Counter(), 0
    for value, times in Counter(values.tolist()).items():
        read = _read_value(value)
        if read is None:
            missing += times
        else:
            found[read] += times
    return found, missing


def _read_value(value: Any) -> float | str | None:
    if value is None or str(value) in ("", "<NA>", "NaT"):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return None if np.isnan(number) else number


def _check_five_stars(found: Counter[float | str]) -> Scale:
    if {*found} == {*DEFAULT_SCALE.values}:
        return DEFAULT_SCALE
    raise DataError(
        "ratings",
        problem="{argument} takes the values {values}, which do not determine the scale",
        hint="Pass every value a rating may take, as in {scale:1:5}",
        values=_list_all(found),
        code="unclear_scale",
    )


def _list_all(found: Iterable[float | str]) -> str:
    numbers = [value for value in found if isinstance(value, float | int)]
    texts = sorted(repr(value) for value in found if isinstance(value, str))[:_MOST_SHOWN]
    return ", ".join([*([list_values(numbers)] if numbers else []), *texts]) or "none"


def _check_numbers(found: Counter[float | str]) -> None:
    text = Counter({value: times for value, times in found.items() if isinstance(value, str)})
    if text:
        raise DataError(
            "ratings",
            problem="{some} not {what}: {shown}",
            hint="Write ratings as numbers with a decimal point, and remove what is not a rating",
            code="off_scale_ratings",
            some=_some_of(text.total(), found.total()),
            what="a number" if text.total() == 1 else "numbers",
            shown=_list_most_common(text),
        )


def _check_on_scale(found: Counter[float | str], scale: Scale) -> None:
    off = Counter({float(value): found[value] for value in found if value not in scale.values})
    if not off:
        return
    other = guess_scale({**off, **dict.fromkeys(scale.values, 1)}, rare=0.0)
    hint = "If these are valid ratings, pass the whole scale with {scale}; otherwise correct them"
    raise DataError(
        "ratings",
        problem="{some} not on the scale {scale_values}: {shown}",
        hint=hint.replace("{scale}", "{scale:{other}}") if other else hint,
        code="off_scale_ratings",
        some=_some_of(off.total(), found.total()),
        scale_values=scale.describe(),
        shown=_list_most_common(off),
        other=other,
    )


def _some_of(many: int, size: int) -> str:
    """Write how many of the ratings are concerned, up to the verb."""
    if size == 1:
        return "The only rating is"
    return f"{many:,} of the {size:,} ratings {'is' if many == 1 else 'are'}"


def _list_most_common(values: Counter[Any]) -> str:
    shown = [
        write_value(value) + (f" ({times:,} times)" if times > 1 else "")
        for value, times in values.most_common(_MOST_SHOWN)
    ]
    return ", ".join([*shown, "..."] if len(values) > _MOST_SHOWN else shown)
