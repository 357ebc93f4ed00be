"""Checks of the rows before they are used: nothing is dropped, clipped or invented unasked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlglot import exp

from unheard.errors import (
    AssumptionError,
    ColumnError,
    DataError,
    Given,
    InputError,
    PopulationError,
    write_list,
)
from unheard.formulas.operations import total
from unheard.model.histograms import LARGEST_COUNT
from unheard.model.scale import suggest_scale
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
from unheard.tables.sql.packed_counts import spellings
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
_READ = 100
"""Rows read to find examples that differ."""

_MOST_VALUES = 1000
"""Different values read of a column; a scale that holds so many is none to suggest."""


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
        Rows with a rating off the scale, or one that is not a number.
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
    """Raise if a column has a type that it cannot be used with."""
    numbers = ("whole", "real", "single")
    for names, argument, allowed, hint in (
        (request.rating, "rating", (*numbers, "text"), "Name a column of ratings"),
        (request.counts, "counts", numbers, "Name columns of counts"),
        ((request.n_column,), "n_column", numbers, "Name a column of numbers without commas"),
        ((request.q_column,), "q_column", numbers, "Name a column of numbers up to 1"),
        ((request.time,), "time", ("time", "text"), "Name a column of dates or times"),
        ((request.weight,), "weight", numbers, "Name a column of numbers"),
    ):
        for name in names:
            kind = opened.kinds.get(name) if name is not None else None
            if kind is not None and kind not in allowed:
                raise ColumnError(
                    argument,
                    problem="Column {column} of {table} cannot be used for {argument}: it contains "
                    "{what}",
                    hint=hint,
                    code="wrong_column_type",
                    column=repr(name),
                    table=opened.words,
                    what={"text": "text", "time": "times"}.get(kind, "values of another type"),
                )


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
        _refuse_nameless(request, opened, found.nameless)
    problems, hints, data = list[str](), list[str](), dict[str, Any]()
    if found.bad:
        problems.append("{bad} a count that is not a whole number from 0 to 2**53{bad_examples}")
        hints.append("Correct these counts; none may be missing")
        wrong = exp.or_(*(bad_count(name) for name in request.counts))
        data["bad"] = _count(found.bad, "row has", "rows have")
        data["bad_examples"] = _list_examples(_example_rows(request, opened, wrong))
    if found.nulls and request.nulls == "refuse":
        problems.append("{empty} no rating{empty_examples}")
        hints.append(
            "Use {nulls:nonresponse} if these people were asked and did not respond, or leave the "
            "rows out with {nulls:drop}"
        )
        data["empty"] = _count(found.nulls, "row has", "rows have")
        data["empty_examples"] = _list_examples(_example_rows(request, opened, _empty(request)))
    if found.off_scale and request.off_scale == "refuse":
        off_scale = _off_scale(request.rating, request, opened.kinds)
        values = _values_off_scale(request, opened)
        problems.append("{off} not on the scale {values}{off_examples}")
        hints.append(_hint_off_scale(values, request, found))
        data["off"] = _count(found.off_scale, "rating is", "ratings are")
        data["values"] = request.scale.describe()
        data["off_examples"] = _list_examples(_example_rows(request, opened, off_scale))
        data["other"] = _other_scale(values, request)
    if problems:
        raise DataError(
            "rating" if request.rating else "counts",
            problem="In {table}, " + ", and ".join(problems),
            hint=". ".join(hints),
            table=opened.words,
            **data,
        )


def _refuse_nameless(request: Request, opened: Opened, many: int) -> None:
    problem = "In {table}, {rows} no value in {columns}"
    examples = ""
    if request.window is not None:
        problem = (
            "In {table}, {rows} no value in {columns}, or no date in the years 1 to 9999 in "
            "{time_column}{shown}"
        )
        examples = _list_examples(_rows_without_window(request, opened))
    raise DataError(
        "item",
        problem=problem,
        hint="Fill it in, or remove these rows",
        code="missing_item",
        table=opened.words,
        rows=_count(many, "row has", "rows have"),
        columns=" or ".join(repr(name) for name in (*request.item, *request.strata)),
        time_column=repr(request.time),
        shown=examples,
    )


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
            "weight",
            problem="In {table}, {rows} no weight above 0 in {column}{shown}",
            hint="Give every row a weight above 0, or remove these rows",
            table=opened.words,
            rows=_count(many, "row has", "rows have"),
            column=repr(request.weight),
            shown=_list_examples(rows),
        )


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
        hint = "Remove the repeats, or keep the newest with {duplicates:latest} and {time}"
        if request.duplicates == "latest":
            hint = "They have the same time or none, so none is the latest: remove all but one"
        raise DataError(
            "rater",
            problem="In {table}, there is more than one rating for {pairs} of rater and "
            "item{shown}",
            hint=hint,
            code="repeated_ratings",
            table=opened.words,
            pairs=_count(many, "pair", "pairs"),
            shown=_list_examples(rows),
        )


@dataclass(frozen=True)
class _Check:
    """Something that must not be true of any row.

    Attributes
    ----------
    condition
        What must not be true.
    problem, hint
        What to say if it is.
    shown
        Columns shown beside those that name the item.
    """

    condition: exp.Expr
    problem: str
    hint: str
    shown: tuple[str, ...] = ()


_EVERYBODY = "Count everybody, respondents and non-respondents"
_WHOLE_N = "In {table}, n is not a whole number of people up to 2**53{shown}"


def check_numbers(request: Request, opened: Opened, counts: exp.Expr, people: exp.Query) -> None:
    """Raise if counts, n or q cannot be what they should."""

    def run(
        source: exp.Expr, checks: Iterable[_Check], argument: str, error: type[InputError]
    ) -> None:
        named = {"n_column": request.n_column, "q_column": request.q_column}.get(argument)
        for check in checks:
            names = map(column, (*request.groups, *check.shown))
            query = exp.select(*names).from_(source.copy()).where(check.condition)
            rows = opened.engine.rows(query.limit(_EXAMPLES))
            if rows:
                raise error(
                    argument,
                    problem=check.problem,
                    hint=check.hint,
                    table=opened.words,
                    column=repr(named),
                    people=request.n,
                    shown=_list_examples(rows),
                )

    if request.n_column is not None and request.n_table is None:
        # Compared as it is: beside the counts it is in double precision, and 2**53 + 1 would be
        # rounded on the way.
        high = reserve("n_high")
        large = _Check(_too_many(column(high)), _WHOLE_N, _EVERYBODY, (high,))
        run(counts, (*_check_constant("n"), large), "n_column", PopulationError)
    if request.q_column is not None and request.q_table is None:
        run(counts, _check_constant("q"), "q_column", AssumptionError)
    if request.counts:
        large = _Check(
            exp.or_(*(_too_many(column(name)) for name in request.count_columns)),
            "In {table}, the counts of an item add up to more than 2**53 for one rating{shown}",
            "Keep each count, summed over the rows of an item, at or below 2**53",
        )
        run(counts, [large], "counts", DataError)
    given = people.subquery(reserve("given"))
    if request.n_known:
        argument = "n_table" if request.n_table is not None else "n_column"
        if request.n is not None or request.n_from_rows:
            argument = "n"
        run(given, _checks_of_n(request), argument, PopulationError)
    if request.q_column is not None:
        q = column(Q)
        wrong = _Check(
            exp.or_(q.is_(exp.null()), q.copy() <= 0, q.copy() > 1),
            "In {table}, q is missing or not in (0, 1]{shown}",
            "Use a participation ratio above 0 and at most 1 for every item",
            (Q,),
        )
        argument = "q_column" if request.q_table is None else "q_table"
        run(given, [wrong], argument, AssumptionError)


def _check_constant(name: str) -> tuple[_Check, _Check]:
    """Check that a column has one value per item, in all of its rows."""
    low, high, known = (reserve(f"{name}_{what}") for what in ("low", "high", "known"))
    missing = exp.NEQ(this=column(known), expression=column(N_ROWS))
    return (
        _Check(
            exp.and_(column(known) > 0, missing),
            "In {table}, column {column} is empty in some rows of an item{shown}",
            "Fill it in",
        ),
        _Check(
            exp.NEQ(this=column(low), expression=column(high)),
            "In {table}, column {column} varies within an item{shown}",
            "Give each item one value, or add the column that distinguishes them to {item}",
            (low, high),
        ),
    )


def _checks_of_n(request: Request) -> list[_Check]:
    seen, n = _ratings(request), column(N)
    if request.n is not None:
        return [
            _Check(
                exp.paren(seen) > number(request.n),
                "In {table}, an item has more than {people:.15g} ratings, the value of {n}{shown}",
                _EVERYBODY,
            )
        ]
    return [
        _Check(
            n.is_(exp.null()),
            "In {table}, n is missing{shown}",
            "Give every item its n, or leave n out",
            (N,),
        ),
        _Check(
            exp.or_(
                n.copy() < 0,
                _too_many(n.copy()),
                exp.NEQ(this=n.copy(), expression=exp.Floor(this=n.copy())),
            ),
            _WHOLE_N,
            _EVERYBODY,
            (N,),
        ),
        _Check(
            n.copy() < exp.paren(seen),
            "In {table}, n is less than the number of ratings{shown}",
            _EVERYBODY,
            (N,),
        ),
    ]


def _too_many(count: exp.Expr) -> exp.Condition:
    """Condition that a count is larger than double precision holds exactly."""
    return exp.GT(this=count, expression=number(LARGEST_COUNT))


def check_second(
    request: Request, opened: Opened, counts: exp.Expr, second: SecondTable, name: str, where: str
) -> None:
    """Raise unless a second table has exactly one row for each row of counts."""
    keys = second.keys
    kind = PopulationError if name == "n" else AssumptionError

    def refuse(query: exp.Select, problem: str, hint: str) -> None:
        rows = opened.engine.rows(query.limit(_EXAMPLES))
        if rows:
            raise kind(
                f"{name}_table",
                problem=problem,
                hint=hint,
                table=where,
                columns=" or ".join(keys),
                name=name,
                shown=_list_examples(rows),
            )

    named = exp.select(*map(column, keys)).from_(second.relation.copy())
    nameless = exp.or_(*(column(key).is_(exp.null()) for key in keys))
    refuse(
        named.copy().where(nameless),
        "In {table}, a row has no value in {columns}{shown}",
        "Fill it in",
    )
    hint = "Keep one row per item"
    if request.window is not None and "window_start" not in keys:
        hint = "For a number per window, name the column with its first day window_start"
    refuse(
        named.copy().group_by(*map(column, keys)).having(exp.Count(this=exp.Star()) > 1),
        "In {table}, an item has more than one row{shown}",
        hint,
    )
    if name == "n":
        value = column(second.value)
        refuse(
            named.copy().select(value).where(_too_many(value.copy())),
            "In {table}, n is not a whole number of people up to 2**53{shown}",
            _EVERYBODY,
        )
    counted, there = reserve("counted"), reserve("second")
    missing = (
        exp.select(*(column(key, counted) for key in request.groups))
        .from_(exp.alias_(counts.copy(), counted, table=True))
        .join(second.select_as(there), on=second.match(there, counted), join_type="left")
        .where(column(VALUE, there).is_(exp.null()))
    )
    refuse(
        missing,
        "In {table}, {name} is missing for an item that has ratings{shown}",
        "Add a row for every item",
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
    problem = ""
    if window.step.year(int(row[first]) - window.steps + 1) < date.min.year:
        problem = "In {table}, the first window of {column} begins before the year 1"
    elif window.step.year(int(row[last]) + 1) > date.max.year:
        problem = "In {table}, the last window of {column} ends after the year 9999"
    if problem:
        raise DataError(
            "time",
            problem=problem,
            hint="Correct or remove these dates, or use a shorter {window}",
            table=opened.words,
            column=repr(request.time),
        )


def _empty(request: Request) -> exp.Expr:
    return exp.or_(*(column(name).is_(exp.null()) for name in request.rating))


def _off_scale(names: Iterable[str], request: Request, kinds: dict[str, Kind]) -> exp.Expr:
    wrong = []
    for name in names:
        there = column(name).is_(exp.null()).not_()
        wrong.append(exp.and_(there, _on_scale(name, request, kinds).not_()))
    return exp.or_(*wrong)


def _on_scale(name: str, request: Request, kinds: dict[str, Kind]) -> exp.Expr:
    return exp.paren(exp.or_(*(is_value(name, kinds[name], v) for v in request.scale.values)))


def _values_off_scale(request: Request, opened: Opened) -> set[object]:
    """Read the values off the scale; raise if a column has no numbers at all."""
    found = set[object]()
    for name in request.rating:
        rating, source = column(name), opened.relation.copy()
        off = (
            exp.select(rating)
            .distinct()
            .from_(source)
            .where(_off_scale([name], request, opened.kinds))
        )
        # Numbers come before words, so that those read are numbers if there are any.
        rows = opened.engine.rows(off.order_by(rating.copy()).limit(_MOST_VALUES))
        values = {row[name] for row in rows}
        on = (
            exp.select(rating.copy())
            .from_(source.copy())
            .where(_on_scale(name, request, opened.kinds))
        )
        if values and not any(map(_is_number, values)) and not opened.engine.rows(on.limit(1)):
            raise ColumnError(
                "rating",
                problem="Column {column} of {table} contains no numbers",
                value=Given(write_list([_brief(row[name]) for row in rows[:_EXAMPLES]], "and")),
                hint="Name the column with the ratings in {argument}; ratings must be numbers",
                code="wrong_column_type",
                column=repr(name),
                table=opened.words,
            )
        found |= values
    return found


def _other_scale(values: Iterable[object], request: Request) -> str:
    """Return a scale that holds values off the scale as well; "" for none."""
    if not all(map(_is_written_as_number, values)):
        return ""
    return suggest_scale([*request.scale.values, *(float(str(value)) for value in values)])


def _hint_off_scale(values: Iterable[object], request: Request, found: Tally) -> str:
    """Say what to do with values off the scale, but never to drop every rating there is."""
    hint = "If these are valid ratings, pass the whole scale with {scale}; otherwise "
    if not all(map(_is_written_as_number, values)):
        hint = "Write ratings as numbers with a decimal point, or "
    elif _other_scale(values, request):
        hint = "If these are valid ratings, pass the whole scale with {scale:{other}}; otherwise "
    if found.counted:
        return hint + "leave them out with {off_scale:drop}"
    return hint + "name the column with the ratings in {rating}"


def _is_number(value: object) -> bool:
    """Tell whether somebody meant a number, if only with a decimal comma."""
    try:
        return math.isfinite(float(str(value).replace(",", ".")))
    except ValueError:
        return False


def _is_written_as_number(value: object) -> bool:
    """Tell whether a value is a number, and if it is text, whether it can be counted as one."""
    if not isinstance(value, str):
        return _is_number(value)
    return _is_number(value) and "," not in value and value.strip() in spellings(float(value))


def _example_rows(request: Request, opened: Opened, condition: exp.Expr) -> list[dict[str, Any]]:
    names = (*request.item, *request.strata, *request.rating, *request.counts)
    return opened.engine.rows(
        exp.select(*map(column, names)).from_(opened.relation.copy()).where(condition).limit(_READ)
    )


def _list_examples(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return ""
    written = [
        ", ".join(f"{plain(key)}={_brief(value)}" for key, value in row.items()) for row in rows
    ]
    return " (for example " + "; ".join([*dict.fromkeys(written)][:_EXAMPLES]) + ")"


def _brief(value: object) -> str:
    text = repr(value)
    if isinstance(value, float) and value.is_integer():
        text = str(int(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def _count(many: int, one: str, several: str) -> str:
    return f"{many:,} {one if many == 1 else several}"
