"""What is asked of a table, checked as far as it can be without reading the table."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal, TypeAlias

from unheard.analysis.breakdown import Claim
from unheard.analysis.ranking import check_k
from unheard.errors import ColumnError, MethodError, OptionError
from unheard.formulas.estimators import ESTIMATORS, find_objection
from unheard.model.assumption import Assumption
from unheard.model.scale import Scale
from unheard.tables.sql.reserved_names import (
    N_NULL,
    N_ROWS,
    PREFIX,
    SEEN,
    N,
    Q,
    is_reserved,
    reserve,
)
from unheard.text import write_exactly

Kind: TypeAlias = Literal["whole", "real", "single", "text", "time", "other"]
"""What a column holds: whole numbers, other numbers (``single``: in single precision), text, ..."""

RESULT_COLUMNS = (
    "n_ratings",
    "n",
    "average",
    "estimate",
    "lower",
    "upper",
    "ci_lower",
    "ci_upper",
    "best_rank",
    "worst_rank",
    "ci_best_rank",
    "ci_worst_rank",
    "notes",
)
"""The columns of a result, after those that name the item."""

ORDER_COLUMNS = (
    "average_rank",
    "tier",
    "top",
    "ci_top",
    "breakdown_q",
)
"""Further columns, before the notes, of a result about the order of the items."""

WITHIN_COLUMNS = ("attribute", "window_start", "window_end")
"""Further columns that name a row of a result, after those of the item."""

_SPAN = re.compile(r"\s*(\d+)?\s*(day|week|month|quarter|year)s?\s*", re.IGNORECASE)
_UNITS = {"day": ("day", 1), "week": ("day", 7)}
_UNITS |= {"month": ("month", 1), "quarter": ("month", 3), "year": ("month", 12)}


@dataclass(frozen=True)
class Span:
    """A length of time: so many days, or so many months."""

    unit: Literal["day", "month"]
    length: int

    @classmethod
    def parse(cls, text: str, place: str) -> Span:
        """Read ``30 days``, ``week``, ``2 months``, ``quarter``, ``year``."""
        found = _SPAN.fullmatch(text)
        if found is None or (found[1] is not None and int(found[1]) == 0):
            raise OptionError(
                place, f"{text!r} found", "Give a length such as '30 days', 'week' or '3 months'"
            )
        unit, factor = _UNITS[found[2].lower()]
        return cls("day" if unit == "day" else "month", factor * int(found[1] or 1))

    @property
    def origin(self) -> date:
        """Where lengths are counted from: of days from a Monday, so that weeks begin on one."""
        return date(1970, 1, 5 if self.unit == "day" else 1)

    def year(self, times: int) -> int:
        """Return the year so many of this length after the origin; 0 or 10,000 if beyond."""
        if self.unit == "month":
            return self.origin.year + times * self.length // 12
        try:
            return date.fromordinal(self.origin.toordinal() + times * self.length).year
        except (ValueError, OverflowError):
            return 0 if times < 0 else date.max.year + 1


@dataclass(frozen=True)
class Window:
    """Ratings grouped by time.

    Attributes
    ----------
    step
        Windows begin so far apart.
    steps
        How many steps a window is long: 1 for windows that do not overlap.
    """

    step: Span
    steps: int


@dataclass(frozen=True)
class Order:
    """What is asked about the order of the items.

    Attributes
    ----------
    k
        Who is among the k best; None if nobody asks.
    claim
        What the breakdown q of each item is wanted for; None if for nothing.
    """

    k: int | None
    claim: Claim | None


@dataclass(frozen=True)
class Request:
    """Everything asked, but for the table.

    Attributes
    ----------
    item
        Columns that name an item.
    rating
        Columns that hold a rating, for tables with a row per rating.
    counts
        Columns that hold a count each, lowest rating first, for tables of counts.
    scale
        The values a rating may take.
    assumption
        What is assumed of who answers; where q is a column, its kind is all that counts.
    q_column, q_table
        The column that holds q, and the table that holds the column if it is a second one.
    n, n_column, n_table
        How many people: one number, a column, or a column of a second table.
    method, level, covers
        As in :func:`unheard.estimate`.
    strata
        Columns that divide an item's people into groups of known size.
    weight
        The column with survey weights, one per rating.
    rater
        The column that says who gave a rating; nobody may rate an item twice.
    time, window
        The column that says when a rating was given, and grouping by it.
    nulls
        What an empty rating is: ``refuse``, ``drop``, or ``nonresponse``, a person who was asked.
    off_scale
        What to do with ratings off the scale: ``refuse`` or ``drop``.
    duplicates
        What to do if somebody rated an item twice: ``refuse``, or keep the ``latest``.
    ranks
        Whether to work out best and worst possible ranks.
    sampling_error
        Whether to work out ranks that allow for sampling error as well.
    shared
        Whether ranks are those of items with one participation, the same for all.
    min_ratings
        Items with fewer ratings are left out.
    order
        What else is asked about the order of the items; None for nothing.
    only_counts
        Whether the counts themselves are the result.
    """

    item: tuple[str, ...]
    rating: tuple[str, ...]
    counts: tuple[str, ...]
    scale: Scale
    assumption: Assumption
    q_column: str | None = None
    q_table: Any = None
    n: float | None = None
    n_column: str | None = None
    n_table: Any = None
    method: str = "paa"
    level: float | None = 0.95
    covers: str = "mean"
    strata: tuple[str, ...] = ()
    weight: str | None = None
    rater: str | None = None
    time: str | None = None
    window: Window | None = None
    nulls: str = "refuse"
    off_scale: str = "refuse"
    duplicates: str = "refuse"
    ranks: bool = True
    sampling_error: bool = True
    shared: bool = False
    min_ratings: int = 0
    order: Order | None = None
    only_counts: bool = False

    @property
    def count_columns(self) -> tuple[str, ...]:
        """Names of the counts inside a query, one per value of the scale, lowest first."""
        return tuple(reserve(f"count_{place}") for place in range(1, self.scale.m + 1))

    @property
    def count_names(self) -> tuple[str, ...]:
        """Names of the counts where they are the result, after the values of the scale."""
        return tuple(f"count_{write_exactly(value)}" for value in self.scale.values)

    @property
    def weight_columns(self) -> tuple[tuple[str, str], ...]:
        """Names of the sums of weights and of squared weights, rating by rating."""
        if self.weight is None:
            return ()
        return tuple(
            (reserve(f"weight_{place}_sum"), reserve(f"square_{place}_sum"))
            for place in range(1, self.scale.m + 1)
        )

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows read, and of those without a rating, where counts are the result."""
        return ("n_rows", "n_null") if self.rating else ("n_rows",)

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Names of the same inside a query."""
        return (N_ROWS, N_NULL) if self.rating else (N_ROWS,)

    @property
    def attributes(self) -> bool:
        """Whether several rating columns are counted at once."""
        return len(self.rating) > 1

    @property
    def groups(self) -> tuple[str, ...]:
        """Columns that name a row of counts."""
        return (*self.result_keys, *self.strata)

    @property
    def result_keys(self) -> tuple[str, ...]:
        """Columns that name a row of the result."""
        return (*self.item, *self.compared_within)

    @property
    def compared_within(self) -> tuple[str, ...]:
        """Columns within which items are ranked against each other."""
        attribute = ("attribute",) if self.attributes else ()
        window = ("window_start", "window_end") if self.window else ()
        return (*attribute, *window)

    @property
    def noise(self) -> bool:
        """Whether ranks that allow for sampling error are asked for."""
        return self.ranks and self.sampling_error and self.level is not None

    @property
    def balance_keys(self) -> tuple[str, ...]:
        """Columns that BEA's lambda depends on: n and q, or the floor that they imply."""
        keys = [] if self.n is not None else [N]
        if self.q_column is not None:
            keys.append(Q)
        return (*keys, SEEN) if self.assumption.is_ratio else tuple(keys)

    @property
    def n_known(self) -> bool:
        """Whether the number of people is known."""
        return self.n is not None or self.n_column is not None or self.nulls == "nonresponse"

    @property
    def n_from_rows(self) -> bool:
        """Whether the rows themselves, empty ratings included, are the people."""
        return self.nulls == "nonresponse" and self.n is None and self.n_column is None

    def columns_of_source(self) -> list[tuple[str, str]]:
        """Pairs of a column that the table must have and the argument that asked for it."""
        wanted = [(name, "item") for name in self.item]
        wanted += [(name, "rating") for name in self.rating]
        wanted += [(name, "counts") for name in self.counts]
        wanted += [(name, "strata") for name in self.strata]
        if self.weight is not None:
            wanted.append((self.weight, "weight"))
        if self.rater is not None:
            wanted.append((self.rater, "rater"))
        if self.time is not None:
            wanted.append((self.time, "time"))
        if self.n_column is not None and self.n_table is None:
            wanted.append((self.n_column, "n"))
        if self.q_column is not None and self.q_table is None:
            wanted.append((self.q_column, "q"))
        return wanted


def check_what(item: Sequence[str], rating: Sequence[str], counts: Sequence[str]) -> None:
    """Raise unless it is said what was rated, and where the ratings are."""
    if not item:
        raise ColumnError("item", "no column named", "Name the column that says what was rated")
    if bool(rating) == bool(counts):
        raise ColumnError(
            "rating",
            "both rating and counts columns named" if rating else "no column named",
            "Name the rating column of a table with a row per rating, or the columns of counts",
        )


def check(request: Request) -> None:
    """Raise if the request contradicts itself."""
    check_what(request.item, request.rating, request.counts)
    if request.counts and len(request.counts) != request.scale.m:
        raise ColumnError(
            "counts",
            f"{len(request.counts)} column{'s' * (len(request.counts) > 1)} for a scale of "
            f"{request.scale.m} values",
            "Name one column for each value of the scale, lowest first",
        )
    _check_names(request)
    _check_choices(request)
    against = find_objection(request.method, request.assumption.kind, request.n_known)
    if against is not None:
        raise against
    if not ESTIMATORS[request.method].closed_form:
        raise MethodError(
            "method",
            f"{request.method} is not a closed form",
            "Use midpoint or bea for tables, or estimate for single histograms",
        )


def ordered(
    request: Request,
    k: int | None = None,
    above: float | None = None,
    below: float | None = None,
    noise: bool = True,
    method: str | None = None,
) -> Request:
    """Ask about the order of the items as well; raise if that contradicts the rest.

    ``method`` is the one that was named, if any.
    """
    if ESTIMATORS[request.method].limits is not None:
        # The order goes by what the assumption allows each item, and so must the numbers beside it.
        if method is not None:
            raise OptionError(
                "method", f"{method} asked for", "An order goes by intervals: leave the method out"
            )
        request = replace(request, method="midpoint" if request.n_known else "paa")
    claim = None
    if above is not None or below is not None:
        claim = Claim.read(above, below, request.scale)
        if request.strata:
            raise OptionError(
                "above" if claim.above else "below",
                "a threshold given together with strata",
                "Leave the strata out, or ask without a threshold",
            )
    if k is not None:
        check_k(k)
    request = replace(request, ranks=True, sampling_error=noise, order=Order(k, claim))
    check(request)
    return request


def check_table_name(place: str, name: str) -> None:
    """Raise if a table could be mistaken for a step of a query; with its schema it cannot."""
    if is_reserved(name):
        raise OptionError(
            place,
            f"{name!r} begins with {PREFIX}, which is reserved for steps of the query",
            "Rename the table, or read it through a view of another name",
        )


def _check_names(request: Request) -> None:
    for name, given in (("n", request.n_column), ("q", request.q_column)):
        own = getattr(request, f"{name}_table") is None
        if own and given is not None and given in (*request.rating, *request.item):
            raise ColumnError(
                name, f"{given!r} is also named as rating or item", "Name the column that holds it"
            )
    second = [(request.n_column, "n"), (request.q_column, "q")]
    for wanted, place in (*request.columns_of_source(), *second):
        if wanted is not None and is_reserved(wanted):
            raise ColumnError(
                place,
                f"{wanted!r} begins with {PREFIX}, which is reserved for columns of the query",
                "Rename that column of the table",
            )
    seen: set[str] = set()
    ours = {*RESULT_COLUMNS, *WITHIN_COLUMNS}
    if request.order is not None:
        ours |= {*ORDER_COLUMNS}
    if request.only_counts:
        ours |= {*request.count_names, *request.row_names}
    for name in (*request.item, *request.strata):
        if name.lower() in seen:
            raise ColumnError("item", f"{name!r} named twice", "Name each column once")
        seen.add(name.lower())
        if name.lower() in ours:
            raise ColumnError(
                "item",
                f"{name!r} is also the name of a column of the result",
                "Rename that column of the table",
            )


_CHOICES = {
    "nulls": ("refuse", "drop", "nonresponse"),
    "off_scale": ("refuse", "drop"),
    "duplicates": ("refuse", "latest"),
    "covers": ("mean", "people"),
}


def _check_choices(request: Request) -> None:
    for name, allowed in _CHOICES.items():
        value = getattr(request, name)
        if value not in allowed:
            raise OptionError(name, f"{value!r} found", f"Choose {' or '.join(allowed)}")
    if request.level is not None and not 0 < request.level < 1:
        raise OptionError(
            "level", f"{request.level!r} found", "Give a number between 0 and 1, such as 0.95"
        )
    if request.covers == "people" and not request.n_known:
        raise OptionError(
            "covers", "people asked for, and n is unknown", "Give n, or cover the mean"
        )
    if request.strata and not request.n_known:
        raise OptionError(
            "strata", "n is unknown", "Give the size of each group as n, by a column or a table"
        )
    _check_weight(request)
    if request.duplicates == "latest" and (request.rater is None or request.time is None):
        raise OptionError(
            "duplicates", "latest asked for without a rater and a time", "Name both columns"
        )
    if request.counts and request.rater is not None:
        raise OptionError(
            "rater",
            f"{request.rater!r} named together with counts",
            "Counts have no raters: leave it out",
        )
    if request.counts and request.nulls == "nonresponse":
        raise OptionError(
            "nulls", "nonresponse asked for with counts", "Give n: counts have no empty ratings"
        )


def _check_weight(request: Request) -> None:
    if request.weight is None:
        return
    against = {
        "counts": bool(request.counts),
        "several ratings": request.attributes,
        "n": request.n_known,
        "shared ranks": request.shared,
        "counts as the result": request.only_counts,
    }
    for what, asked in against.items():
        if asked:
            raise OptionError(
                "weight",
                f"{request.weight!r} named together with {what}",
                "Weights go with the rows of one rating column, and their people are not counted",
            )


def read_window(time: str | None, window: str | None, every: str | None) -> Window | None:
    """Read the arguments that group by time."""
    if window is None and every is None:
        return None
    if time is None or window is None:
        raise OptionError(
            "window",
            "a time column and a length are needed, and one is missing",
            "Name the column with time and give the length with window, such as '30 days'",
        )
    length = Span.parse(window, "window")
    step = length if every is None else Span.parse(every, "every")
    if step.unit != length.unit or length.length % step.length:
        raise OptionError(
            "every",
            f"{every!r} does not divide {window!r}",
            "Give a step that fits the window a whole number of times",
        )
    return Window(step, length.length // step.length)


def names(given: str | int | Iterable[str | int] | None) -> tuple[str, ...]:
    """Read one name or several; frames may name columns by whole numbers."""
    if given is None:
        return ()
    return (str(given),) if isinstance(given, str | int) else tuple(map(str, given))


def check_columns(
    wanted: Sequence[tuple[str, str]], columns: Mapping[str, Kind], where: str
) -> None:
    """Raise if a column is not there, and say which one may have been meant."""
    for name, place in wanted:
        if name in columns:
            continue
        folded = {column.lower(): column for column in columns}
        near = difflib.get_close_matches(name.lower(), list(folded), n=1)
        there = ", ".join(list(columns)[:12]) + (", ..." if len(columns) > 12 else "")
        guess = f"Did you mean {folded[near[0]]!r}? " if near else ""
        raise ColumnError(
            place, f"{where} has no column {name!r}", f"{guess}It has: {there or 'no columns'}"
        )
