"""What is asked of a table, checked as far as it can be without reading the table."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal, TypeAlias

from unheard.analysis.breakdown import Claim
from unheard.analysis.ranking import check_k
from unheard.errors import ColumnError, MethodError, OptionError, Reference
from unheard.formulas.estimators import ESTIMATORS, find_objection
from unheard.model.arguments import Columns
from unheard.model.assumption import Assumption
from unheard.model.labels import LabelMap
from unheard.model.scale import Scale
from unheard.options import declarations as o
from unheard.options.unknown import check_choice
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
from unheard.text import plural, write_exactly

Kind: TypeAlias = Literal["whole", "real", "single", "text", "flag", "time", "other"]
"""What a column holds: whole numbers, other numbers (``single``: in single precision), text, true
or false (``flag``), ..."""

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

EXPERIENCE = "experience"
"""The column that tells a rater's first rating from later ones, where it is asked for."""

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
                place,
                problem="{argument} is not a length of time",
                value=text,
                hint="Use a length",
                examples=("'30 days'", "week", "'3 months'"),
            )
        unit, factor = _UNITS[found[2].lower()]
        return cls("day" if unit == "day" else "month", factor * int(found[1] or 1))

    def write(self) -> str:
        """Write it so that it can be read again."""
        return plural(self.length, self.unit)

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
    frequency
        The column that says how many equal ratings a row stands for; None if each is one.
    counts
        Columns that hold a count each, lowest rating first, for tables of counts.
    scale, scale_stated
        The values a rating may take, and whether somebody said so.
    labels
        What ratings that are words stand for.
    assumption
        What is assumed of who answers; where q is a column, its kind is all that counts.
    q_column, q_table
        The column that holds q, and the table that holds the column if it is a second one.
    n, n_column, n_table
        How many people: one number, a column, or a column of a second table.
    bad_n
        What to do with an n that cannot be right: ``refuse`` it, ``drop`` it, or ``raise`` it.
    bad_q
        What to do with an item whose q cannot be used: ``refuse`` it, or ``widen`` its bounds to
        all that is possible.
    requires_n
        Whether every item must have its n.
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
        What to do if somebody rated an item twice: ``refuse``, or keep the ``latest``, and if it
        is unknown which is the latest refuse, or keep none (``latest_or_none``).
    max_dropped
        Largest share of the ratings that may be left out.
    by_experience
        Whether to add a column that tells a rater's first rating from later ones.
    ranks
        Whether to compute the best and worst possible rank.
    sampling_error
        Whether to compute ranks that allow for sampling error as well.
    shared
        Whether ranks are those of items with one participation, the same for all.
    min_ratings
        Items with fewer ratings are left out.
    order
        What else is asked about the order of the items; None for nothing.
    only_counts
        Whether the counts themselves are the result.
    kept
        Whether the table holds counts that were kept, see :mod:`unheard.tables.kept`: what is said
        of ratings, windows and bad rows is how they were made.
    scale_kept
        Whether the counts are added to others, so that the scale cannot be another one.
    """

    item: tuple[str, ...]
    rating: tuple[str, ...]
    counts: tuple[str, ...]
    scale: Scale
    assumption: Assumption
    scale_stated: bool = True
    labels: LabelMap | None = None
    frequency: str | None = None
    q_column: str | None = None
    q_table: Any = None
    n: float | None = None
    n_column: str | None = None
    n_table: Any = None
    bad_n: str = "refuse"
    bad_q: str = "refuse"
    requires_n: bool = False
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
    max_dropped: float = 1.0
    by_experience: bool = False
    ranks: bool = True
    sampling_error: bool = True
    shared: bool = False
    min_ratings: int = 0
    order: Order | None = None
    only_counts: bool = False
    kept: bool = False
    scale_kept: bool = False

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
    def ranks_allow_for_error(self) -> bool:
        """Whether ranks that allow for sampling error are asked for."""
        return self.ranks and self.sampling_error and self.level is not None

    @property
    def balance_keys(self) -> tuple[str, ...]:
        """Columns that BEA's lambda depends on: n and q, or the floor that they imply."""
        keys = [N] if self.has_several_n else []
        if self.q_column is not None:
            keys.append(Q)
        return (*keys, SEEN) if self.assumption.is_ratio else tuple(keys)

    @property
    def n_known(self) -> bool:
        """Whether the number of people is known."""
        return self.n is not None or self.n_column is not None or self.nulls == "nonresponse"

    @property
    def n_varies(self) -> bool:
        """Whether the number of people may differ from item to item."""
        return self.n_known and (self.n is None or self.bad_n != "refuse")

    @property
    def has_several_n(self) -> bool:
        """Whether the number of people, where it is known, may differ from item to item."""
        return self.n_known and (self.n is None or self.bad_n == "raise")

    @property
    def n_may_be_unknown(self) -> bool:
        """Whether the number of people is known, but perhaps not that of every item."""
        return self.n_known and self.bad_n == "drop"

    @property
    def keeps_latest(self) -> bool:
        """Whether the latest of several ratings by one person counts."""
        return self.duplicates != "refuse"

    def without_refusals(self) -> Request:
        """Ask the same of a query that runs where nothing can be refused.

        What would be refused is left out, and a note says so. Strata count by their n, so there it
        is raised. Nothing is assumed of an item whose q cannot be used.
        """
        bad_n = self.bad_n
        if bad_n == "refuse" and self.n_known and not self.n_from_rows:
            bad_n = "raise" if self.strata else "drop"
        nulls, off_scale = (
            "drop" if how == "refuse" else how for how in (self.nulls, self.off_scale)
        )
        return replace(self, bad_n=bad_n, bad_q="widen", nulls=nulls, off_scale=off_scale)

    @property
    def n_from_rows(self) -> bool:
        """Whether the rows themselves, empty ratings included, are the people."""
        return self.nulls == "nonresponse" and self.n is None and self.n_column is None

    def columns_of_source(self) -> list[tuple[str, str]]:
        """Pairs of a column that the table must have and the argument that asked for it."""
        if self.kept:
            return self._columns_of_kept_counts()
        wanted = [(name, "item") for name in self.item]
        wanted += [(name, "rating") for name in self.rating]
        wanted += [(name, "counts") for name in self.counts]
        wanted += [(name, "strata") for name in self.strata]
        if self.frequency is not None:
            wanted.append((self.frequency, "frequency"))
        if self.weight is not None:
            wanted.append((self.weight, "weight"))
        if self.rater is not None:
            wanted.append((self.rater, "rater"))
        if self.time is not None:
            wanted.append((self.time, "time"))
        if self.n_column is not None and self.n_table is None:
            wanted.append((self.n_column, "n_column"))
        if self.q_column is not None and self.q_table is None:
            wanted.append((self.q_column, "q_column"))
        return [pair for pair in wanted if not (self.by_experience and pair[0] == EXPERIENCE)]

    def _columns_of_kept_counts(self) -> list[tuple[str, str]]:
        wanted = [(name, "item") for name in (*self.result_keys, *self.strata)]
        wanted += [(name, "counts") for name in (*self.count_names, *self.row_names)]
        not_kept = {"weight": self.weight, "rater": self.rater}
        return wanted + [(name, one) for one, name in not_kept.items() if name is not None]


def check_what(item: Sequence[str], rating: Sequence[str], counts: Sequence[str]) -> None:
    """Raise unless it is said what was rated, and where the ratings are."""
    if not item:
        raise ColumnError(
            "item", problem="{argument} is missing", hint="Name the column that says what was rated"
        )
    if bool(rating) == bool(counts):
        raise ColumnError(
            "rating",
            problem="{rating} and {counts} cannot be combined"
            if rating
            else "{rating} is missing, and so is {counts}",
            hint="Name the rating column of a table with a row per rating, or the columns of a "
            "table of counts",
        )


def check(request: Request) -> None:
    """Raise if the request contradicts itself."""
    check_what(request.item, request.rating, request.counts)
    if request.counts and len(request.counts) != request.scale.m:
        raise ColumnError(
            "counts",
            problem="{argument} has {columns} for a scale of {m} values",
            hint="Name one column for each value of the scale, lowest first",
            columns=plural(len(request.counts), "column"),
            m=request.scale.m,
        )
    _check_names(request)
    _check_choices(request)
    objection = find_objection(request.method, request.assumption.kind, request.n_known)
    if objection is not None:
        raise objection
    if not ESTIMATORS[request.method].closed_form:
        raise MethodError(
            "method",
            problem="{method} is not in closed form, which tables require",
            hint="Use midpoint or bea, or estimate one histogram at a time",
            method=request.method,
        )


def add_order(
    request: Request,
    k: int | None = None,
    above: float | None = None,
    below: float | None = None,
    sampling_error: bool = True,
    method: str | None = None,
) -> Request:
    """Ask about the order of the items as well; raise if that contradicts the rest.

    ``method`` is the one that was named, if any.
    """
    if ESTIMATORS[request.method].limits is not None:
        # The order goes by what the assumption allows each item, and so must the numbers beside it.
        if method is not None:
            raise OptionError(
                "method",
                problem="{method} gives no bounds, which an order of items is based on",
                hint="Leave {argument} out",
                method=method,
            )
        request = replace(request, method="midpoint" if request.n_known else "paa")
    claim = None
    if above is not None or below is not None:
        claim = Claim.read(above, below, request.scale)
        if request.strata:
            raise OptionError(
                "above" if claim.above else "below",
                problem="{argument} and {strata} cannot be combined",
                hint="Leave one of them out",
            )
    if k is not None:
        check_k(k)
    request = replace(request, ranks=True, sampling_error=sampling_error, order=Order(k, claim))
    check(request)
    return request


def check_table_name(argument: str, name: str) -> None:
    """Raise if a table could be mistaken for a step of a query; with its schema it cannot."""
    if "://" in name:
        raise OptionError(
            argument,
            problem="{argument} must be the name of a table",
            value=name,
            hint="Only the first table can be named by a URL",
        )
    if is_reserved(name):
        raise OptionError(
            argument,
            problem="The name of the table begins with {prefix}, which is reserved for the query",
            value=name,
            hint="Rename the table, or read it through a view of another name",
            prefix=PREFIX,
        )


def _check_names(request: Request) -> None:
    _check_uses(request)
    second = [(request.n_column, "n_column"), (request.q_column, "q_column")]
    for wanted, argument in (*request.columns_of_source(), *second):
        if wanted is not None and is_reserved(wanted):
            raise ColumnError(
                argument,
                problem="The column's name begins with {prefix}, which is reserved for the query",
                value=wanted,
                hint="Rename the column",
                prefix=PREFIX,
            )
    _check_result_names(request)


def _check_uses(request: Request) -> None:
    """Raise if a column is to be two things."""
    # That items and strata are named by one column twice is seen with their names in the result.
    uses: list[tuple[str | None, str]] = [(name, "item") for name in dict.fromkeys(request.item)]
    uses += [(name, "strata") for name in dict.fromkeys(request.strata) if name not in request.item]
    uses += [(name, "rating") for name in request.rating]
    uses += [(name, "counts") for name in request.counts]
    for argument in ("n", "q"):
        if getattr(request, f"{argument}_table") is None:
            uses.append((getattr(request, f"{argument}_column"), f"{argument}_column"))
    uses += [(request.frequency, "frequency"), (request.weight, "weight")]
    uses.append((request.rater, "rater"))
    seen: dict[str, str] = {}
    for name, argument in uses:
        if name is not None and name in seen:
            other = seen[name]
            raise ColumnError(
                argument,
                problem="{argument} names a column twice"
                if other == argument
                else "{argument} names the same column as {other}",
                value=name,
                hint="Name another column",
                other=Reference(other),
            )
        if name is not None:
            seen[name] = argument


def _check_result_names(request: Request) -> None:
    """Raise if a column that names an item would stand twice in the result."""
    seen: set[str] = set()
    ours = {*RESULT_COLUMNS, *WITHIN_COLUMNS}
    if request.order is not None:
        ours |= {*ORDER_COLUMNS}
    if request.only_counts:
        ours |= {*request.count_names, *request.row_names}
    for name in (*request.item, *request.strata):
        if name.lower() in seen:
            raise ColumnError(
                "item", problem="A column is named twice", value=name, hint="Name each column once"
            )
        seen.add(name.lower())
        if name.lower() in ours:
            raise ColumnError(
                "item",
                problem="A column of the result has the name of this column",
                value=name,
                hint="Rename the column of the table",
            )


def _check_choices(request: Request) -> None:
    for option in (o.NULLS, o.OFF_SCALE, o.DUPLICATES, o.BAD_N, o.COVERS):
        check_choice(option.name, getattr(request, option.name), option.choices, OptionError)
    if request.level is not None and not 0 < request.level < 1:
        raise OptionError(
            "level",
            problem="{argument} must be between 0 and 1",
            value=request.level,
            hint="Use a number",
            examples=(0.95,),
        )
    if request.covers == "people" and not request.n_known:
        raise OptionError(
            "covers",
            problem="{covers:people} requires the number of people",
            hint="Give {n} or {n_column}, or use {covers:mean}",
            code="requires_n",
        )
    if request.strata and not request.n_known:
        raise OptionError(
            "strata",
            problem="{argument} requires the number of people in each group",
            hint="Give {n_column} or {n_table}",
            code="requires_n",
        )
    _check_frequency(request)
    _check_weight(request)
    _check_people(request)
    if not 0 <= request.max_dropped <= 1:
        raise OptionError(
            "max_dropped",
            problem="{argument} must be a share from 0 to 1",
            value=request.max_dropped,
            hint="Use a number",
            examples=(0.2,),
        )
    if request.counts and request.labels is not None:
        raise OptionError(
            "labels",
            problem="{argument} and {counts} cannot be combined, since counts are numbers",
            hint="Leave {argument} out",
        )
    if request.kept:
        _check_kept(request)
    if request.keeps_latest and (request.rater is None or request.time is None):
        raise OptionError(
            "duplicates",
            problem="{duplicates:{choice}} requires {rater} and {time}",
            hint="Name both columns",
            choice=request.duplicates,
        )
    if request.by_experience and (request.rater is None or request.time is None):
        raise OptionError(
            "by_experience",
            problem="{argument} requires {rater} and {time}",
            hint="Name the columns that say who rated, and when",
        )
    if request.counts and request.rater is not None:
        raise OptionError(
            "rater",
            problem="{argument} and {counts} cannot be combined, since counts have no raters",
            hint="Leave {argument} out",
        )
    if request.counts and request.nulls == "nonresponse":
        raise OptionError(
            "nulls",
            problem="{nulls:nonresponse} and {counts} cannot be combined, since counts have no "
            "empty ratings",
            hint="Give {n} or {n_column} instead",
        )


def _check_people(request: Request) -> None:
    if request.bad_n != "refuse" and not request.n_known:
        raise OptionError(
            "bad_n",
            problem="{argument} requires the number of people",
            hint="Give {n}, {n_column} or {n_table}, or leave {argument} out",
            code="requires_n",
        )
    if request.n_may_be_unknown and request.strata:
        raise OptionError(
            "bad_n",
            problem="{bad_n:drop} and {strata} cannot be combined, since groups count by their n",
            hint="Use {bad_n:raise}, or correct n",
        )


def _check_kept(request: Request) -> None:
    for name in ("n", "q"):
        if getattr(request, f"{name}_column") and getattr(request, f"{name}_table") is None:
            raise OptionError(
                f"{name}_column",
                problem="{argument} requires {table} for kept counts, which hold nothing else",
                hint="Name the table that has the column",
                table=Reference(f"{name}_table"),
            )


def _check_frequency(request: Request) -> None:
    if request.frequency is None:
        return
    excluded = {
        "counts": ("counts", bool(request.counts)),
        "weight": ("survey weights", request.weight is not None),
        "rater": ("raters, each of whom gives one rating", request.rater is not None),
    }
    for name, (what, asked) in excluded.items():
        if asked:
            raise OptionError(
                "frequency",
                problem="{argument} cannot be combined with {what}",
                hint="Leave {argument} or {other} out",
                what=what,
                other=Reference(name),
            )


def _check_weight(request: Request) -> None:
    if request.weight is None:
        return
    excluded = {
        "counts": bool(request.counts),
        "several rating columns": request.attributes,
        "a known number of people": request.n_known,
        "shared ranks": request.shared,
        "counts as the result": request.only_counts,
    }
    for what, asked in excluded.items():
        if asked:
            raise OptionError(
                "weight",
                problem="{argument} cannot be combined with {what}",
                hint="Use it with one rating column and an unknown number of people",
                what=what,
            )


def read_window(time: str | None, window: str | None, every: str | None) -> Window | None:
    """Read the arguments that group by time."""
    if window is None and every is None:
        return None
    if time is None or window is None:
        raise OptionError(
            "window",
            problem="Grouping by time requires both {time} and {window}",
            hint="Name the column with dates and give a length",
            examples=("'30 days'",),
        )
    length = Span.parse(window, "window")
    step = length if every is None else Span.parse(every, "every")
    if step.unit != length.unit or length.length % step.length:
        raise OptionError(
            "every",
            problem="{argument} does not divide {window}, {length}",
            value=every,
            hint="Give a step that fits the window a whole number of times",
            length=repr(window),
        )
    return Window(step, length.length // step.length)


def read_names(given: Columns | None) -> tuple[str, ...]:
    """Read the name of one column or those of several; frames may have numbers for names."""
    if given is None:
        return ()
    several = (given,) if isinstance(given, str | int) else tuple(given)
    return tuple(str(name) for name in several)


def check_columns(
    wanted: Sequence[tuple[str, str]],
    columns: Mapping[str, Kind],
    where: str,
    *,
    has_header: bool = True,
    is_text: bool = False,
) -> None:
    """Raise if a column does not exist, and suggest the one that may be meant."""
    for name, argument in wanted:
        if name in columns:
            continue
        if not has_header:
            raise ColumnError(
                argument,
                problem="{where} has no column {name}, because it has no header: its columns are "
                "numbered 1 to {many}",
                hint="Name columns by number, as in {item:1}; if the first row does hold names, "
                "state {header:1}",
                code="no_header",
                where=where,
                name=repr(name),
                many=len(columns),
            )
        several = _split_otherwise([one for one, place in wanted if place == argument], columns)
        if several:
            raise ColumnError(
                argument,
                problem="{where} has no column {name}",
                hint="Did you mean {columns}?",
                code="no_such_column",
                where=where,
                name=repr(name),
                columns=Reference(argument, value=several),
            )
        alone = next(iter(columns)) if is_text and len(columns) == 1 else ""
        if re.search(r"\S(\s|[:^~])+\S", alone):
            raise ColumnError(
                argument,
                problem="{where} has no column {name}: it has one column, {there}",
                hint="Separate its columns by commas, semicolons, tabs or |",
                code="no_such_column",
                where=where,
                name=repr(name),
                there=repr(alone),
            )
        folded = {column.lower(): column for column in columns}
        near = difflib.get_close_matches(name.lower(), list(folded), n=1)
        there = ", ".join(list(columns)[:12]) + (", ..." if len(columns) > 12 else "")
        raise ColumnError(
            argument,
            problem="{where} has no column {name}",
            hint="Did you mean {near}? Its columns are {there}" if near else "It has {there}",
            code="no_such_column",
            where=where,
            name=repr(name),
            near=repr(folded[near[0]]) if near else "",
            there=there or "no columns",
        )


def _split_otherwise(names: Sequence[str], columns: Collection[str]) -> tuple[str, ...]:
    """Return the columns that names are if their commas mean something else; nothing if none."""
    parts = ",".join(names)
    for several in ((parts,), tuple(part.strip() for part in parts.split(","))):
        if {*several} <= {*columns}:
            return several
    return ()
