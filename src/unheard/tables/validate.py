"""Looking at the rows before answering: nothing is dropped, clipped or invented unasked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlglot import exp

from unheard.errors import AssumptionError, ColumnError, DataError, PopulationError
from unheard.formulas.operations import total
from unheard.model.histograms import LARGEST_COUNT
from unheard.tables.engines.base import Engine
from unheard.tables.request import Kind, Request, Window
from unheard.tables.sources.open import Opened
from unheard.tables.sql.count_query import (
    BAD_WEIGHTS,
    LARGEST_WEIGHT,
    bad_count,
    bad_weight,
    in_calendar,
    is_value,
)
from unheard.tables.sql.dialects import column
from unheard.tables.sql.expressions import number
from unheard.tables.sql.rate_query import SecondTable
from unheard.tables.sql.reserved_names import (
    BUCKET,
    MANY,
    N_BAD,
    N_NULL,
    N_ROWS,
    VALUE,
    N,
    Q,
    plain,
    reserve,
)

_EXAMPLES = 3
_PEOPLE = "Name one with numbers of people, written without commas"


@dataclass(frozen=True)
class Tally:
    """How many rows were read, and what became of them.

    Attributes
    ----------
    rows
        Rows read; with several rating columns each row counts once for each.
    counted
        Ratings counted.
    nulls
        Rows without a rating.
    off_scale
        Rows with a rating off the scale, or one that is no number.
    largest
        Most rows of any one item.
    items
        Rows of the result, or of counts if there are strata.
    nameless
        Rows without a name for their item.
    bad
        Rows of a table of counts that hold something else.
    """

    rows: int
    counted: int
    nulls: int
    off_scale: int
    largest: int
    items: int
    nameless: int
    bad: int


def check_kinds(request: Request, opened: Opened) -> None:
    """Raise if a column holds what it cannot be used for."""
    for names, place, allowed, remedy in (
        (request.rating, "rating", ("whole", "real", "single", "text"), "Name one with ratings"),
        (request.counts, "counts", ("whole", "real", "single"), "Name columns of counts"),
        ((request.n_column,), "n", ("whole", "real", "single"), _PEOPLE),
        ((request.q_column,), "q", ("real", "whole", "single"), "Name one with numbers up to 1"),
        ((request.time,), "time", ("time", "text"), "Name one with dates or times"),
        ((request.weight,), "weight", ("whole", "real", "single"), "Name one with numbers"),
    ):
        for name in names:
            kind = opened.kinds.get(name) if name is not None else None
            if kind is not None and kind not in allowed:
                what = {"text": "text", "time": "times"}.get(kind, "something else")
                raise ColumnError(place, f"column {name!r} holds {what}", remedy)


def tally(request: Request, engine: Engine, counts: exp.Expr) -> Tally:
    """Add the counts up."""
    zero = exp.Literal.number(0)
    nulls = column(N_NULL) if request.rating else zero
    bad = column(N_BAD) if request.counts else zero
    time = [BUCKET] if request.window is not None else []
    names = (*request.item, *request.strata, *time)
    nameless = exp.or_(*(column(name).is_(exp.null()) for name in names))
    asked = {
        "rows": exp.Sum(this=column(N_ROWS)),
        "counted": exp.Sum(this=_ratings(request)),
        "nulls": exp.Sum(this=nulls),
        "largest": exp.Max(this=column(N_ROWS)),
        "items": exp.Count(this=exp.Star()),
        "nameless": exp.Sum(this=exp.case().when(nameless, column(N_ROWS)).else_(zero.copy())),
        "bad": exp.Sum(this=bad),
    }
    selected = [exp.alias_(what, reserve(name)) for name, what in asked.items()]
    (row,) = engine.rows(exp.select(*selected).from_(counts.copy()))
    found = {plain(name): int(value or 0) for name, value in row.items()}
    rows = found["rows"] if request.rating else found["counted"]
    return Tally(
        rows,
        found["counted"],
        found["nulls"],
        rows - found["counted"] - found["nulls"],
        found["largest"],
        found["items"],
        found["nameless"],
        found["bad"],
    )


def _ratings(request: Request) -> exp.Expr:
    """Number of ratings of a row of counts."""
    ratings: exp.Expr = total([column(name) for name in request.count_columns])
    return ratings


def check_rows(request: Request, opened: Opened, found: Tally) -> None:
    """Raise if rows cannot be used and nobody said what to do with them."""
    if found.nameless:
        named = " or ".join(repr(name) for name in (*request.item, *request.strata))
        words = f"{_plural(found.nameless, 'row has', 'rows have')} nothing in {named}"
        if request.window is not None:
            words += f", or no date of the years 1 to 9999 in {request.time!r}"
            words += _shown(_rows_without_window(request, opened))
        raise DataError(f"item of {opened.words}", words, "Fill it in, or leave such rows out")
    problems = []
    if found.bad:
        wrong = exp.or_(*(bad_count(name) for name in request.counts))
        problems.append(
            (
                f"{_plural(found.bad, 'row holds', 'rows hold')} something that is no count"
                f"{_examples(request, opened, wrong)}",
                "A count is a whole number from 0 to 2**53; none may be missing",
            )
        )
    if found.nulls and request.nulls == "refuse":
        many = _plural(found.nulls, "row has", "rows have")
        problems.append(
            (
                f"{many} no rating{_examples(request, opened, _empty(request))}",
                "If these people were asked and said nothing, say nulls='nonresponse'; leave them "
                "out with nulls='drop'",
            )
        )
    if found.off_scale and request.off_scale == "refuse":
        scale = request.scale
        many = _plural(found.off_scale, "rating is", "ratings are")
        rows = _example_rows(request, opened, _off_scale(request, opened.kinds))
        remedy = f"State the scale, such as scale='{_example_scale(scale.values)}'"
        if any(_is_words(row[name]) for row in rows for name in request.rating):
            remedy = "Ratings are numbers, with a point for decimals: correct them"
        problems.append(
            (
                f"{many} not on the scale {scale.describe()}{_shown(rows)}",
                f"{remedy}, or leave them out with off_scale='drop'",
            )
        )
    if problems:
        place = f"{'rating' if request.rating else 'counts'} of {opened.words}"
        raise DataError(place, "; ".join(p[0] for p in problems), ". ".join(p[1] for p in problems))


def check_weights(request: Request, opened: Opened, counts: exp.Expr) -> None:
    """Raise if a row has no weight that can be used."""
    if request.weight is None:
        return
    bad = exp.alias_(exp.Sum(this=column(BAD_WEIGHTS)), BAD_WEIGHTS)
    largest = exp.alias_(exp.Max(this=column(LARGEST_WEIGHT)), LARGEST_WEIGHT)
    (row,) = opened.engine.rows(exp.select(bad, largest).from_(counts.copy()))
    # What is not a number slips through comparisons that are settled by a file's statistics.
    many = int(row[BAD_WEIGHTS] or 0) or int(math.isnan(row[LARGEST_WEIGHT] or 0.0))
    if many:
        names = [column(name) for name in (*request.item, *request.rating, request.weight)]
        rows = opened.engine.rows(
            exp.select(*names)
            .from_(opened.relation.copy())
            .where(bad_weight(request.weight))
            .limit(_EXAMPLES)
        )
        raise DataError(
            f"weight {request.weight!r} of {opened.words}",
            f"{_plural(many, 'row has', 'rows have')} no weight above 0{_shown(rows)}",
            "Give every row a weight, or leave such rows out",
        )


def _example_scale(values: Sequence[float]) -> str:
    return "0:10" if values[0] == 1 and values[-1] == 10 else "1:10"


def check_duplicates(request: Request, opened: Opened, source: exp.Expr) -> None:
    """Raise if somebody rated an item more than once, and none of the ratings is the latest."""
    if request.rater is None:
        return
    names = (*request.item, *request.strata, request.rater)
    repeated = (
        exp.select(*map(column, names), exp.alias_(exp.Count(this=exp.Star()), reserve("times")))
        .from_(source.copy())
        .where(column(request.rater).is_(exp.null()).not_())
        .group_by(*map(column, names))
        .having(exp.Count(this=exp.Star()) > 1)
    )
    counted = exp.select(exp.alias_(exp.Count(this=exp.Star()), MANY))
    (found,) = opened.engine.rows(counted.from_(repeated.copy().subquery(reserve("repeated"))))
    many = int(found[MANY])
    if many:
        rows = opened.engine.rows(repeated.copy().limit(_EXAMPLES))
        raise DataError(
            f"rater {request.rater!r} of {opened.words}",
            f"{_plural(many, 'pair', 'pairs')} of rater and item occur more than once"
            + _shown(rows),
            "Remove the repeats, or keep the newest with duplicates='latest' and a time column"
            if request.duplicates == "refuse"
            else "They have the same time or none, so that none is the latest: remove all but one",
        )


def check_numbers(request: Request, opened: Opened, counts: exp.Expr, people: exp.Query) -> None:
    """Raise if n or q, where they vary from item to item, cannot be what they should."""
    engine, keys = opened.engine, request.groups

    def refuse(
        source: exp.Expr,
        condition: exp.Expr,
        show: Iterable[str],
        error: type[DataError] | type[PopulationError] | type[AssumptionError],
        name: str,
        words: str,
        remedy: str,
    ) -> None:
        query = exp.select(*map(column, (*keys, *show))).from_(source.copy()).where(condition)
        rows = engine.rows(query.limit(_EXAMPLES))
        if rows:
            raise error(f"{name} of {opened.words}", words + _shown(rows), remedy)

    told = "Count everybody in n, those who answered included"
    nobody = ("n is no number of people", f"{told}; it is a whole number up to 2**53")
    for name, given, table, error in (
        ("n", request.n_column, request.n_table, PopulationError),
        ("q", request.q_column, request.q_table, AssumptionError),
    ):
        if given is not None and table is None:
            low, high, known = (reserve(f"{name}_{what}") for what in ("low", "high", "known"))
            refuse(
                counts,
                exp.and_(
                    column(known) > 0,
                    exp.NEQ(this=column(known), expression=column(N_ROWS)),
                ),
                (),
                error,
                name,
                f"column {given!r} is empty in some rows of an item",
                "Fill it in",
            )
            refuse(
                counts,
                exp.NEQ(this=column(low), expression=column(high)),
                (low, high),
                error,
                name,
                f"column {given!r} varies within an item",
                "Give each item one value, or add the column that tells them apart to item",
            )
            if name == "n":
                # Compared as it is: beside the counts it is in double precision, and 2**53 + 1
                # would be rounded on the way.
                refuse(counts, _too_many(column(high)), (high,), error, name, *nobody)
    if request.counts:
        refuse(
            counts,
            exp.or_(*(_too_many(column(name)) for name in request.count_columns)),
            (),
            DataError,
            "counts",
            "the counts of an item add up to more than 2**53 of one rating",
            "A count is at most 2**53, also where rows of the same item are added up",
        )
    given_people = people.subquery(reserve("given"))
    if request.n_known and request.n is None:
        seen = _ratings(request)
        n = column(N)
        for condition, words, remedy in (
            (n.is_(exp.null()), "n is missing", "Give every item its n, or leave n out"),
            (
                exp.or_(
                    n.copy() < 0,
                    _too_many(n.copy()),
                    exp.NEQ(this=n.copy(), expression=exp.Floor(this=n.copy())),
                ),
                *nobody,
            ),
            (n.copy() < exp.paren(seen), "n is less than the number of ratings", told),
        ):
            refuse(given_people, condition, (N,), PopulationError, "n", words, remedy)
    elif request.n is not None:
        refuse(
            given_people,
            exp.paren(_ratings(request)) > number(request.n),
            (),
            PopulationError,
            "n",
            f"an item has more than n = {request.n:g} ratings",
            told,
        )
    if request.q_column is not None:
        q = column(Q)
        wrong = exp.or_(q.is_(exp.null()), q.copy() <= 0, q.copy() > 1)
        refuse(
            given_people, wrong, (Q,), AssumptionError, "q",
            "q is missing or not in (0, 1]", "Give a number above 0 and at most 1",
        )  # fmt: skip


def _too_many(count: exp.Expr) -> exp.Condition:
    """Condition that a count is larger than double precision holds exactly."""
    return exp.GT(this=count, expression=number(LARGEST_COUNT))


def check_second(
    request: Request, opened: Opened, counts: exp.Expr, second: SecondTable, name: str, where: str
) -> None:
    """Raise unless a second table has exactly one row for each row of counts."""
    keys = second.keys
    twice = (
        exp.select(*map(column, keys))
        .from_(second.relation.copy())
        .group_by(*map(column, keys))
        .having(exp.Count(this=exp.Star()) > 1)
    )
    rows = opened.engine.rows(twice.limit(_EXAMPLES))
    error = PopulationError if name == "n" else AssumptionError
    nameless = exp.select("*").from_(second.relation.copy())
    nameless = nameless.where(exp.or_(*(column(key).is_(exp.null()) for key in keys)))
    if opened.engine.rows(nameless.limit(1)):
        raise error(f"{name} in {where}", f"a row has nothing in {' or '.join(keys)}", "Fill it in")
    if rows:
        remedy = "Keep one row"
        if request.window is not None and "window_start" not in keys:
            remedy = "For a number per window name the column with its first day window_start"
        raise error(f"{name} in {where}", f"an item occurs twice{_shown(rows)}", remedy)
    if name == "n":
        value = column(second.value)
        many = exp.select(*map(column, keys), value).from_(second.relation.copy())
        rows = opened.engine.rows(many.where(_too_many(value.copy())).limit(_EXAMPLES))
        if rows:
            raise error(
                f"{name} in {where}",
                f"n is no number of people{_shown(rows)}",
                "Give a whole number up to 2**53",
            )
    counted, there = reserve("counted"), reserve("second")
    missing = (
        exp.select(*(column(key, counted) for key in request.groups))
        .from_(exp.alias_(counts.copy(), counted, table=True))
        .join(second.named(there), on=second.match(there, counted), join_type="left")
        .where(column(VALUE, there).is_(exp.null()))
    )
    rows = opened.engine.rows(missing.limit(_EXAMPLES))
    if rows:
        raise error(
            f"{name} in {where}",
            f"nothing is said about an item that has ratings{_shown(rows)}",
            f"Give every item its {name}",
        )


def _rows_without_window(request: Request, opened: Opened) -> list[dict[str, Any]]:
    assert request.time is not None  # there are no windows without
    names = [column(name) for name in (*request.item, *request.strata)]
    named = [name.is_(exp.null()).not_() for name in names]
    # Whether infinity is in the calendar, some engines do not know: that counts as no.
    placed = exp.case().when(exp.and_(*named, in_calendar(request.time)), exp.Literal.number(1))
    # As text, since not every driver can hand out such dates.
    time = exp.alias_(exp.cast(column(request.time), "text"), request.time)
    rows = exp.select(*names, time).from_(opened.relation.copy()).where(placed.is_(exp.null()))
    return opened.engine.rows(rows.limit(_EXAMPLES))


def check_windows(request: Request, window: Window, opened: Opened, counts: exp.Expr) -> None:
    """Raise if a window would reach beyond the calendar."""
    first, last = reserve("first"), reserve("last")
    ends = {first: exp.Min, last: exp.Max}
    asked = [exp.alias_(how(this=column(BUCKET)), name) for name, how in ends.items()]
    (row,) = opened.engine.rows(exp.select(*asked).from_(counts.copy()))
    if row[first] is None:
        return
    words = ""
    if window.step.year(int(row[first]) - window.steps + 1) < date.min.year:
        words = "the first window begins before the year 1"
    elif window.step.year(int(row[last]) + 1) > date.max.year:
        words = "the last window ends after the year 9999"
    if words:
        remedy = "Correct such dates, leave them out, or choose shorter windows"
        raise DataError(f"time {request.time!r} of {opened.words}", words, remedy)


def _empty(request: Request) -> exp.Expr:
    return exp.or_(*(column(name).is_(exp.null()) for name in request.rating))


def _off_scale(request: Request, kinds: dict[str, Kind]) -> exp.Expr:
    wrong = []
    for name in request.rating:
        hits = [is_value(name, kinds[name], value) for value in request.scale.values]
        there = column(name).is_(exp.null()).not_()
        wrong.append(exp.and_(there, exp.paren(exp.or_(*hits)).not_()))
    return exp.or_(*wrong)


def _is_words(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return value is not None
    return False


def _examples(request: Request, opened: Opened, condition: exp.Expr) -> str:
    return _shown(_example_rows(request, opened, condition))


def _example_rows(request: Request, opened: Opened, condition: exp.Expr) -> list[dict[str, Any]]:
    names = (*request.item, *request.strata, *request.rating, *request.counts)
    return opened.engine.rows(
        exp.select(*map(column, names))
        .from_(opened.relation.copy())
        .where(condition)
        .limit(_EXAMPLES)
    )


def _shown(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return ""
    written = [
        ", ".join(f"{plain(key)}={_brief(value)}" for key, value in row.items()) for row in rows
    ]
    return " (for example " + "; ".join(written) + ")"


def _brief(value: object) -> str:
    text = repr(value)
    if isinstance(value, float) and value.is_integer():
        text = str(int(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def _plural(many: int, one: str, several: str) -> str:
    return f"{many:,} {one if many == 1 else several}"
