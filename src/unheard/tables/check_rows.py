"""Checks of the rows before they are used: nothing is dropped, clipped or invented unasked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlglot import exp

from unheard.errors import (
    ColumnError,
    DataError,
    write_list,
)
from unheard.formulas.operations import total
from unheard.model.labels import ask_about
from unheard.model.scale import Scale
from unheard.model.scale_guess import RARE, guess_scale
from unheard.tables.engines.base import Engine
from unheard.tables.rating_words import refuse_words
from unheard.tables.request import Kind, Request, Window
from unheard.tables.row_examples import (
    EXAMPLES,
    MOST_WORDS_SHOWN,
    VALUES,
    count_rows,
    list_examples,
    list_values,
    write_row,
)
from unheard.tables.sources.open import Opened
from unheard.tables.sql.count_query import (
    BAD_WEIGHTS,
    LARGEST_WEIGHT,
    bad_count,
    bad_weight,
    is_named,
    is_value,
)
from unheard.tables.sql.dialects import column
from unheard.tables.sql.packed_counts import spellings
from unheard.tables.sql.reserved_names import (
    BUCKET,
    MANY,
    N_BAD,
    N_NULL,
    N_ROWS,
    plain,
    reserve,
)
from unheard.text import percent_text

_READ = 100
"""Rows read to find examples that differ."""

_MOST_VALUES = 10_000
"""Different values read of a column."""


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
    given
        How often each value of the scale was given.
    """

    rows: int
    counted: int
    nulls: int
    off_scale: int
    largest: int
    items: int
    nameless: int
    bad: int
    given: tuple[int, ...] = ()


def check_kinds(request: Request, opened: Opened) -> None:
    """Raise if a column has a type that it cannot be used with."""
    numbers = ("whole", "real", "single")
    for names, argument, allowed, hint in (
        (request.rating, "rating", (*numbers, "text"), "Name a column of ratings"),
        (
            request.counts,
            "counts",
            numbers,
            "Correct these values, write 0 where nobody gave a rating, or name other columns",
        ),
        ((request.n_column,), "n_column", numbers, "Name a column of numbers without commas"),
        ((request.q_column,), "q_column", numbers, "Name a column of numbers up to 1"),
        ((request.time,), "time", ("time", "text"), "Name a column of dates or times"),
        ((request.frequency,), "frequency", numbers, "Name a column of whole numbers"),
        ((request.weight,), "weight", numbers, "Name a column of numbers"),
    ):
        for name in names:
            kind = opened.kinds.get(name) if name is not None else None
            if name is not None and kind is not None and kind not in allowed:
                what = _KINDS.get(kind, "values of another type")
                if kind == "text":
                    what = _list_text(opened, name)
                raise ColumnError(
                    argument,
                    problem="Column {column} of {table} cannot be used for {argument}: it contains "
                    "{what}",
                    hint=hint,
                    code="wrong_column_type",
                    column=repr(name),
                    table=opened.words,
                    what=what,
                )


_KINDS: Mapping[Kind, str] = {
    "text": "text",
    "time": "times",
    **dict.fromkeys(("whole", "real", "single"), "numbers"),
}


def _list_text(opened: Opened, name: str) -> str:
    """List what is not a number in a column of text, or what there is."""
    values = count_values(opened, name, column(name).is_(exp.null()).not_())
    words = {value: times for value, times in values.items() if not _is_number(value)}
    return f"text, {list_values(words or values)}" if values else "no values"


def tally(request: Request, engine: Engine, counts: exp.Expr) -> Tally:
    """Add the counts up."""
    zero = exp.Literal.number(0)
    nulls = column(N_NULL) if request.rating else zero
    bad = column(N_BAD) if request.counts or request.frequency else zero
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
    asked |= {plain(name): exp.Sum(this=column(name)) for name in request.count_columns}
    # None is called as a column of the counts, which ClickHouse would take for it.
    selected = [exp.alias_(what, reserve(f"sum_{name}")) for name, what in asked.items()]
    (row,) = engine.rows(exp.select(*selected).from_(counts.copy()))
    found = {name: int(value or 0) for name, value in zip(asked, row.values(), strict=True)}
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
        tuple(found[plain(name)] for name in request.count_columns),
    )


def _ratings(request: Request) -> exp.Expr:
    """Number of ratings of a row of counts."""
    ratings: exp.Expr = total([column(name) for name in request.count_columns])
    return ratings


def check_rows(request: Request, opened: Opened, found: Tally) -> None:
    """Raise if rows cannot be used and nobody said what to do with them."""
    if found.nameless:
        _refuse_nameless(request, opened, found)
    if found.off_scale and request.labels is None:
        refuse_words(request, opened)
    problems, hints, data = list[str](), list[str](), dict[str, Any]()
    if found.bad:
        problems.append("{bad} a count that is not a whole number from 0 to 2**53{bad_examples}")
        hints.append("Correct these counts; where nobody gave a rating, write 0")
        wrong = exp.or_(*map(bad_count, _columns_of_counts(request)))
        data["bad"] = count_rows(found.bad, "row has", "rows have")
        data["bad_examples"] = list_examples(_example_rows(request, opened, wrong))
    if found.nulls and request.nulls == "refuse":
        problems.append("{empty} no rating{empty_examples}")
        one = found.nulls == 1
        people, rows = ("this person was", "row") if one else ("these people were", "rows")
        hint = f"Use {{nulls:nonresponse}} if {people} asked and did not respond"
        if _may_drop(request, found, found.nulls):
            hint += f", or leave the {rows} out with {{nulls:drop}}"
        elif request.rating:
            hint += "; otherwise name the column with the ratings in {rating}"
        hints.append(hint)
        data["empty"] = _count_rows(request, found.nulls)
        data["empty_examples"] = list_examples(_example_rows(request, opened, _empty(request)))
    if found.off_scale and request.off_scale == "refuse":
        values = _values_off_scale(request, opened)
        problems.append("{off} not on the scale {values}: {off_values}, for example {off_row}")
        hint, other = _advise_on_scale(values, request, found)
        hints.append(hint)
        data["off"] = count_rows(found.off_scale, "rating is", "ratings are")
        data["values"] = request.scale.describe()
        data["off_values"] = _list_off_scale(values)
        data["other"] = other
        data["asked"] = _ask_about(values, request)
        off = _off_scale(request.rating, request, opened.kinds)
        data["off_row"] = write_row(_example_rows(request, opened, off)[0])
    if problems:
        raise DataError(
            _name_at_fault(request, found),
            problem="In {table}, " + ", and ".join(problems),
            hint=". ".join(hints),
            table=opened.words,
            **data,
        )


def _columns_of_counts(request: Request) -> tuple[str, ...]:
    return request.counts if request.frequency is None else (request.frequency,)


def _name_at_fault(request: Request, found: Tally) -> str:
    if request.counts:
        return "counts"
    return "frequency" if found.bad else "rating"


def name_row(request: Request) -> str:
    """Return what a row stands for; with frequencies rows are counted as ratings are."""
    return "row" if request.frequency is None else "response"


def _count_rows(request: Request, many: int) -> str:
    what = name_row(request)
    return count_rows(many, f"{what} has", f"{what}s have")


def _may_drop(request: Request, found: Tally, more: int) -> bool:
    """Tell whether further rows may be left out, besides those that are."""
    dropped = more + (found.nulls if request.nulls == "drop" else 0)
    dropped += found.off_scale if request.off_scale == "drop" else 0
    return dropped <= request.max_dropped * found.rows


def check_dropped(request: Request, opened: Opened, found: Tally, repeated: int) -> None:
    """Raise if more ratings would be left out than may be; ``repeated`` ones are not counted."""
    repeated *= len(request.rating)
    left_out = {
        "{nulls:drop}": found.nulls if request.nulls == "drop" else 0,
        "{off_scale:drop}": found.off_scale if request.off_scale == "drop" else 0,
        f"{{duplicates:{request.duplicates}}}": repeated if request.keeps_latest else 0,
    }
    dropped, rows = sum(left_out.values()), found.rows + repeated
    if dropped <= request.max_dropped * rows:
        return
    share = math.ceil(100 * dropped / rows) / 100
    raise DataError(
        "max_dropped",
        problem="In {table}, "
        + " and ".join(option for option, many in left_out.items() if many)
        + " would leave out {dropped:,} of {rows:,} ratings, more than {most}",
        hint="Check the columns and the scale; to leave them out all the same, use "
        "{max_dropped:{share}}",
        code="too_many_dropped",
        table=opened.words,
        dropped=dropped,
        rows=rows,
        most=percent_text(request.max_dropped),
        share=f"{share:g}",
    )


def _refuse_nameless(request: Request, opened: Opened, found: Tally) -> None:
    many = found.nameless
    problem = "In {table}, {rows} no value in {columns}{shown}"
    if request.window is None:
        nameless = is_named(request).not_()
        examples = list_examples(_example_rows(request, opened, nameless))
    else:
        problem = (
            "In {table}, {rows} no value in {columns}, or no date in the years 1 to 9999 in "
            "{time_column}{shown}"
        )
        examples = list_examples(_rows_without_window(request, opened))
    raise DataError(
        "item",
        problem=problem,
        hint="Fill it in" + _or_remove(request, found, many),
        code="missing_item",
        table=opened.words,
        rows=_count_rows(request, many),
        columns=" or ".join(repr(name) for name in (*request.item, *request.strata)),
        time_column=repr(request.time),
        shown=examples,
    )


def _or_remove(request: Request, found: Tally, many: int) -> str:
    these = "this row" if many == 1 else "these rows"
    return f", or remove {these}" if _may_drop(request, found, many) else ""


def check_weights(request: Request, opened: Opened, counts: exp.Expr, found: Tally) -> None:
    """Raise if a row has no weight that can be used."""
    if request.weight is None:
        return
    bad = exp.alias_(exp.Sum(this=column(BAD_WEIGHTS)), BAD_WEIGHTS)
    largest = exp.alias_(exp.Max(this=column(LARGEST_WEIGHT)), LARGEST_WEIGHT)
    (row,) = opened.engine.rows(exp.select(bad, largest).from_(counts.copy()))
    # What is not a number slips through comparisons that are settled by a file's statistics.
    many = int(row[BAD_WEIGHTS] or 0) or int(math.isnan(row[LARGEST_WEIGHT] or 0.0))
    if many:
        values = count_values(opened, request.weight, bad_weight(request.weight))
        hint = "Give every row a weight above 0"
        raise DataError(
            "weight",
            problem="In {table}, {rows} no weight above 0 in {column}: {shown}",
            hint=hint + _or_remove(request, found, many),
            table=opened.words,
            rows=count_rows(many, "row has", "rows have"),
            column=repr(request.weight),
            shown=list_values(values),
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
    counted = exp.select(
        exp.alias_(exp.Count(this=exp.Star()), MANY),
        exp.alias_(exp.Sum(this=column(reserve("times"))), reserve("ratings")),
    )
    (found,) = opened.engine.rows(counted.from_(repeated.copy().subquery(reserve("repeated"))))
    many = int(found[MANY])
    if many:
        every = exp.select(exp.alias_(exp.Count(this=exp.Star()), MANY))
        all_rows, left = (
            int(opened.engine.rows(every.from_(one.copy()))[0][MANY])
            for one in (opened.relation, source)
        )
        # The advice leaves out all but one of them; if one cannot be told, all, and what is left
        # out already.
        dropped = int(found[reserve("ratings")]) - many
        if request.duplicates == "latest":
            dropped += many + all_rows - left
        rows = opened.engine.rows(repeated.copy().limit(EXAMPLES))
        raise DataError(
            "rater",
            problem="In {table}, there is more than one rating for {pairs} of rater and "
            "item{shown}",
            hint=_advise_on_repeats(request, dropped <= request.max_dropped * all_rows),
            code="repeated_ratings",
            table=opened.words,
            pairs=count_rows(many, "pair", "pairs"),
            shown=list_examples(rows),
        )


def _advise_on_repeats(request: Request, few: bool) -> str:
    if request.duplicates == "latest":
        return (
            "They differ and have the same time or none, so none is known to be the latest: remove "
            "all but one" + ", or leave them out with {duplicates:latest_or_none}" * few
        )
    if not few:
        return "Check that {rater} names the people who rated, one name for each"
    return "Remove the repeats, or keep the newest with {duplicates:latest} and {time}"


def _rows_without_window(request: Request, opened: Opened) -> list[dict[str, Any]]:
    assert request.time is not None  # there are no windows without
    names = [column(name) for name in (*request.item, *request.strata)]
    # Whether infinity is in the calendar, some engines do not know: that counts as no.
    placed = exp.case().when(is_named(request), exp.Literal.number(1))
    # As text, since not every driver can hand out such dates.
    time = exp.alias_(exp.cast(column(request.time), "text"), request.time)
    rows = exp.select(*names, time).from_(opened.relation.copy()).where(placed.is_(exp.null()))
    return opened.engine.rows(rows.limit(EXAMPLES))


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


def count_values(
    opened: Opened, name: str, condition: exp.Expr, frequency: str | None = None
) -> Counter[object]:
    """Count the different values of a column in the rows of which something is true."""
    counted = exp.Count(this=exp.Star()) if frequency is None else exp.Sum(this=column(frequency))
    times = exp.alias_(counted, MANY)
    query = exp.select(column(name), times).from_(opened.relation.copy()).where(condition)
    query = query.group_by(column(name)).order_by(exp.Ordered(this=column(MANY), desc=True))
    rows = opened.engine.rows(query.limit(_MOST_VALUES))
    return Counter({row[name]: int(row[MANY]) for row in rows})


def _values_off_scale(request: Request, opened: Opened) -> Counter[object]:
    """Count the values off the scale; raise if a column has no numbers at all."""
    found = Counter[object]()
    for name in request.rating:
        off = _off_scale([name], request, opened.kinds)
        values = count_values(opened, name, off, request.frequency)
        on = (
            exp.select(column(name))
            .from_(opened.relation.copy())
            .where(_on_scale(name, request, opened.kinds))
        )
        if values and not any(map(_is_number, values)) and not opened.engine.rows(on.limit(1)):
            raise ColumnError(
                "rating",
                problem="Column {column} of {table} contains "
                + ("no numbers" if request.labels is None else "neither numbers nor these words")
                + ": {shown}",
                hint="Name the column with the ratings in {argument}"
                + (_EXPLAIN if _ask_about(values, request) else ""),
                code="wrong_column_type",
                column=repr(name),
                table=opened.words,
                shown=_list_off_scale(values),
                asked=_ask_about(values, request),
            )
        found += values
    return found


def _other_scale(values: Mapping[object, int], request: Request, found: Tally) -> str:
    """Return a scale that holds values off the scale as well; "" for none."""
    if not all(map(_is_written_as_number, values)):
        return ""
    ratings = {v: n for v, n in zip(request.scale.values, found.given, strict=True) if n}
    if request.scale_stated:
        ratings = dict.fromkeys(request.scale.values, 1) | ratings
    ratings |= {float(str(v)): n for v, n in values.items()}
    likely = guess_scale(ratings)
    # Where rare values are slips, the scale is as it was: then they are taken for ratings.
    same = not likely or Scale.parse(likely) == request.scale
    return guess_scale(ratings, rare=0.0) if same else likely


def _advise_on_scale(
    values: Mapping[object, int], request: Request, found: Tally
) -> tuple[str, str]:
    """Say what to do with values off the scale, but never to drop most ratings there are."""
    other = _other_scale(values, request, found)
    it, these = (
        ("it", "this is a valid rating")
        if found.off_scale == 1
        else ("them", "these are valid ratings")
    )
    drop = f"leave {it} out with {{off_scale:drop}}"
    may_drop = bool(found.counted) and _may_drop(request, found, found.off_scale)
    if not all(map(_is_written_as_number, values)):
        ways = ["Write ratings as numbers with a decimal point"]
        words = _LABELS if _ask_about(values, request) else "{labels}"
        ways += [f"say what words stand for with {words}", *([drop] if may_drop else [])]
        return write_list(ways), other
    again = "count all tables again" if request.scale_kept else "pass the whole scale"
    if_valid = f"f {these}, {again} with "
    if_valid += "{scale:{other}}" if other else "{scale}"
    if may_drop and found.off_scale <= RARE * found.rows:
        return f"{drop[0].upper()}{drop[1:]}, or i{if_valid}", other
    otherwise = drop if may_drop else "name the column with the ratings in {rating}"
    return f"I{if_valid}; otherwise {otherwise}", other


_LABELS = "{labels:{asked}}"
_EXPLAIN = "; if these are ratings, say what each stands for, as in " + _LABELS


def _ask_about(values: Mapping[object, int], request: Request) -> str:
    """Write words as the option takes them, after those that are stated.

    Nothing if there are too many, or none.
    """
    words = {str(value): times for value, times in values.items() if not _is_number(value)}
    return ask_about(words, request.labels) if len(words) <= MOST_WORDS_SHOWN else ""


def _list_off_scale(values: Mapping[object, int]) -> str:
    """List values: every word, since the reader must say what each stands for."""
    words = sum(not _is_number(value) for value in values)
    return list_values(values, max(VALUES, min(words, MOST_WORDS_SHOWN)))


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
    # Of words that stand for no rating nothing is left to show.
    ratings = () if request.labels is not None else request.rating
    names = (*request.item, *request.strata, *ratings, *_columns_of_counts(request))
    return opened.engine.rows(
        exp.select(*map(column, names)).from_(opened.relation.copy()).where(condition).limit(_READ)
    )
