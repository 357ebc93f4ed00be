"""From a table to counts per item and rating: the one pass over the user's rows.

Plain counting (``count(case when rating = 4 then 1 end)`` for each value) runs everywhere; DuckDB
has a faster way, :mod:`unheard.tables.packing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sqlglot import exp

from unheard.core.counts import LARGEST_COUNT
from unheard.core.scale import Scale
from unheard.tables.dialects import column
from unheard.tables.expressions import number
from unheard.tables.packing import packing, spellings
from unheard.tables.request import Kind, Request, Window

_LONG_SCALE = 13


@dataclass(frozen=True)
class Counting:
    """A query for counts, and up to how many ratings of one item it can be trusted."""

    query: exp.Select
    most: int | None


def counting(
    request: Request,
    relation: exp.Expr,
    kinds: dict[str, Kind],
    *,
    packed: bool,
    lean: bool = False,
) -> Counting:
    """Write the query that counts.

    Its columns: those of ``request.groups`` (of a window the number of the step, ``bucket``; see
    :func:`windowed`), the counts, ``n_rows``, ``n_null`` (of long tables),
    ``n_bad`` (of tables of counts), and the smallest and largest n and q where these are columns.

    Parameters
    ----------
    request
        What is asked.
    relation
        The table or subquery to read.
    kinds
        What its columns hold.
    packed
        Whether to use the fast way if it applies.
    lean
        Whether to leave out, if the fast way applies, what only rows that were not counted make a
        difference to: ``n_rows`` is then the number of ratings, and the caller compares its sum
        with the number of rows.
    """
    source = rows_to_count(request, relation)
    keys = _keys(request)
    if request.counts:
        return Counting(_grouped(source, keys, [*_merged(request), *_per_item(request)]), None)
    most = None
    if len(request.rating) == 1 and request.scale.m >= _LONG_SCALE:
        query = _by_value(request, source, keys, kinds)
    else:
        inner: list[exp.Expr] = []
        outer: list[list[exp.Expr]] = []
        for index, name in enumerate(request.rating):
            fast = packing(request.scale, name, kinds[name]) if packed else None
            if fast is None:
                made = _plain_counts(request.scale, name, kinds[name], index)
            else:
                made = fast.columns(index)
                most = fast.most if most is None else min(most, fast.most)
            inner += made[0]
            outer.append(made[1])
        lean = lean and most is not None and not request.attributes
        rows = [] if lean else _rows(request)
        query = _grouped(source, keys, [*inner, *rows, *_per_item(request)])
        query = _unfolded(request, query, outer, lean=lean)
    return Counting(query, most)


def _rows(request: Request) -> list[exp.Expr]:
    """Count all rows, and those with a rating, whatever it is."""
    rows: list[exp.Expr] = [exp.alias_(exp.Count(this=exp.Star()), "n_rows")]
    rows += [
        exp.alias_(exp.Count(this=column(name)), f"n_answers_{index}")
        for index, name in enumerate(request.rating)
    ]
    return rows


def rows_to_count(request: Request, relation: exp.Expr) -> exp.Expr:
    """Return the rows to count: of several ratings by one person the latest, if so asked."""
    if request.duplicates != "latest":
        return relation
    assert request.rater is not None  # checked with the request
    assert request.time is not None
    latest = exp.Window(
        this=exp.func("rank"),
        partition_by=[column(name) for name in (*request.item, *request.strata, request.rater)],
        order=exp.Order(expressions=[exp.Ordered(this=column(request.time), desc=True)]),
    )
    # Somebody unknown cannot be told from others, and keeps all ratings.
    ranked = exp.select("*", exp.alias_(latest, "x_place")).from_(relation)
    kept = (column("x_place").eq(1)).or_(column(request.rater).is_(exp.null()))
    return exp.select("*").from_(ranked.subquery("ranked")).where(kept).subquery("ratings")


def _keys(request: Request) -> list[tuple[str, exp.Expr]]:
    names = [*request.item, *request.strata]
    keys: list[tuple[str, exp.Expr]] = [(name, column(name)) for name in names]
    if request.window is not None:
        assert request.time is not None  # checked with the request
        keys.append(("bucket", _bucket(request.time, request.window)))
    return keys


def _grouped(
    source: exp.Expr,
    keys: Sequence[tuple[str, exp.Expr]],
    aggregates: Sequence[exp.Expr],
) -> exp.Select:
    named = [key if isinstance(key, exp.Column) else exp.alias_(key, name) for name, key in keys]
    query = exp.select(*named, *aggregates).from_(source)
    return query.group_by(*(key.copy() for _, key in keys))


def _per_item(request: Request) -> list[exp.Expr]:
    """Aggregate what must be the same in all rows of an item: n and q given as columns."""
    found: list[exp.Expr] = []
    for name, made_of, table in (
        ("n", request.n_column, request.n_table),
        ("q", request.q_column, request.q_table),
    ):
        if made_of is not None and table is None:
            value = column(made_of)
            found += [
                exp.alias_(exp.Min(this=value), f"{name}_low"),
                exp.alias_(exp.Max(this=value.copy()), f"{name}_high"),
                exp.alias_(exp.Count(this=value.copy()), f"{name}_known"),
            ]
    return found


def _merged(request: Request) -> list[exp.Expr]:
    """Add counts up; a row counts as bad if one of its counts cannot be a count."""
    sums: list[exp.Expr] = []
    bad: exp.Expr = exp.false()
    for given, name in zip(request.counts, request.count_columns, strict=True):
        wrong = bad_count(given)
        value = exp.case().when(wrong.copy(), exp.Literal.number(0)).else_(column(given))
        sums.append(exp.alias_(exp.cast(exp.Sum(this=value), "bigint"), name))
        bad = wrong if isinstance(bad, exp.Boolean) else exp.or_(bad, wrong)
    rows = exp.alias_(exp.Count(this=exp.Star()), "n_rows")
    return [*sums, rows, exp.alias_(_count_if(bad), "n_bad")]


def bad_count(name: str) -> exp.Expr:
    """Condition that a column holds no count: nothing, a negative number, a fraction, no number."""
    value = column(name)
    fraction = exp.NEQ(this=value.copy(), expression=exp.Floor(this=value.copy()))
    # What is not a number is larger than any number, in every engine that knows such a thing.
    huge = exp.GT(this=value.copy(), expression=number(LARGEST_COUNT))
    return exp.or_(value.copy().is_(exp.null()), value.copy() < 0, huge, fraction)


def _count_if(condition: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.case().when(condition, exp.Literal.number(1)))


def is_value(name: str, kind: Kind, value: float) -> exp.Expr:
    """Condition that a column holds one value of the scale."""
    if kind == "text":
        texts = [exp.Literal.string(one) for one in spellings(value)]
        return exp.In(this=exp.Trim(this=column(name)), expressions=texts)
    if kind == "single" and not float(value).is_integer():
        # 0.1 in single precision is not 0.1 in double precision.
        return exp.Between(
            this=column(name),
            low=number(value - 1e-6 * abs(value)),
            high=number(value + 1e-6 * abs(value)),
        )
    return exp.EQ(this=column(name), expression=number(value))


def _plain_counts(
    scale: Scale, name: str, kind: Kind, index: int
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    inner: list[exp.Expr] = [
        exp.alias_(_count_if(is_value(name, kind, value)), f"c_{index}_{place}")
        for place, value in enumerate(scale.values)
    ]
    return inner, [column(f"c_{index}_{place}") for place in range(scale.m)]


def _by_value(
    request: Request,
    source: exp.Expr,
    keys: Sequence[tuple[str, exp.Expr]],
    kinds: dict[str, Kind],
) -> exp.Select:
    """Count a long scale: first the rows per item and rating, then side by side."""
    (name,) = request.rating
    rows = exp.alias_(exp.Count(this=exp.Star()), "n_rows")
    inner = _grouped(source, [*keys, (name, column(name))], [rows, *_per_item(request)])
    counts: list[exp.Expr] = [
        exp.alias_(
            exp.Sum(
                this=exp.case()
                .when(is_value(name, kinds[name], value), column("n_rows"))
                .else_(exp.Literal.number(0))
            ),
            count,
        )
        for value, count in zip(request.scale.values, request.count_columns, strict=True)
    ]
    empty = exp.Sum(
        this=exp.case()
        .when(column(name).is_(exp.null()), column("n_rows"))
        .else_(exp.Literal.number(0))
    )
    counts += [
        exp.alias_(exp.Sum(this=column("n_rows")), "n_rows"),
        exp.alias_(empty, "n_null"),
    ]
    for kept, how in _kept(request):
        counts.append(exp.alias_(how(this=column(kept)), kept))
    outer_keys = [(key, column(key)) for key, _ in keys]
    return _grouped(inner.subquery("by_value"), outer_keys, counts)


def _kept(request: Request) -> list[tuple[str, type[exp.AggFunc]]]:
    """Columns of :func:`_per_item`, and how they are put together once more."""
    kept: list[tuple[str, type[exp.AggFunc]]] = []
    for aggregate in _per_item(request):
        name = aggregate.alias
        how = {"low": exp.Min, "high": exp.Max, "known": exp.Sum}[name.rpartition("_")[2]]
        kept.append((name, how))
    return kept


def _unfolded(
    request: Request,
    grouped: exp.Select,
    counts: Sequence[Sequence[exp.Expr]],
    *,
    lean: bool,
) -> exp.Select:
    """Give every attribute a row of its own, without reading the counts twice."""
    keys = [*request.item, *request.strata, *(["bucket"] if request.window else [])]
    kept = [name for name, _ in _kept(request)]
    nulls = [
        column("n_rows") - column(f"n_answers_{index}") for index in range(len(request.rating))
    ]
    if not request.attributes:
        named = [
            exp.alias_(count.copy(), name)
            for count, name in zip(counts[0], request.count_columns, strict=True)
        ]
        rows = [column("n_rows"), exp.alias_(nulls[0], "n_null")]
        if lean:
            rows = [
                exp.alias_(column("p_0_n"), "n_rows"),
                exp.alias_(exp.cast(exp.Literal.number(0), "bigint"), "n_null"),
            ]
        return exp.select(*map(column, keys), *named, *rows, *map(column, kept)).from_(
            grouped.subquery("grouped")
        )
    which = [
        exp.select(
            exp.alias_(exp.Literal.number(index), "x_attribute"),
            exp.alias_(exp.Literal.string(name), "attribute"),
        )
        for index, name in enumerate(request.rating)
    ]
    listed = exp.union(*which, distinct=False)

    def chosen(options: Sequence[exp.Expr]) -> exp.Expr:
        case = exp.case()
        for index, option in enumerate(options):
            case = case.when(column("x_attribute").eq(index), option.copy())
        return case

    named = [
        exp.alias_(chosen([per[place] for per in counts]), name)
        for place, name in enumerate(request.count_columns)
    ]
    return (
        exp.select(
            *map(column, keys),
            column("attribute"),
            *named,
            column("n_rows"),
            exp.alias_(chosen(nulls), "n_null"),
            *map(column, kept),
        )
        .from_(grouped.subquery("grouped"))
        .join(listed.subquery("attributes"), join_type="cross")
    )


def _bucket(time: str, window: Window) -> exp.Expr:
    """Number the steps of time; of what is no day of the calendar, there is none."""
    day = exp.cast(column(time), "date")
    origin = exp.cast(exp.Literal.string(window.step.origin.isoformat()), "date")
    if window.step.unit == "day":
        count: exp.Expr = exp.DateDiff(this=day, expression=origin, unit=exp.Var(this="DAY"))
    else:
        year = exp.Extract(this=exp.Var(this="YEAR"), expression=day)
        month = exp.Extract(this=exp.Var(this="MONTH"), expression=day.copy())
        count = exp.paren((year - 1970) * 12 + month - 1)
    if window.step.length > 1:
        division = exp.cast(count, "double") / exp.Literal.number(window.step.length)
        division.set("typed", True)
        count = exp.Floor(this=division)
    return exp.case().when(in_calendar(time), exp.cast(count, "bigint"))


def in_calendar(time: str) -> exp.Expr:
    """Condition that a column holds a day that every engine can write: none BC, no infinity."""
    year = exp.Extract(this=exp.Var(this="YEAR"), expression=exp.cast(column(time), "date"))
    first, last = (exp.Literal.number(end) for end in (date.min.year, date.max.year))
    return exp.Between(this=year, low=first, high=last)


def windowed(request: Request, window: Window, counts: exp.Expr) -> exp.Select:
    """Write the query from counts per step of time to counts per window."""
    attribute = ["attribute"] if request.attributes else []
    keys = [*request.item, *request.strata, *attribute]
    counted = [*request.count_columns, "n_rows", "n_null"]
    if window.steps > 1:
        back = [
            exp.select(exp.alias_(exp.Literal.number(k), "x_back")) for k in range(window.steps)
        ]
        last = exp.Window(this=exp.Max(this=column("bucket")))
        ended = exp.select("*", exp.alias_(last, "x_last")).from_(counts)
        spread = (
            exp.select(
                *map(column, keys),
                exp.alias_(column("bucket") - column("x_back"), "bucket"),
                *map(column, [*counted, *(name for name, _ in _kept(request)), "x_last"]),
            )
            .from_(ended.subquery("steps"))
            .join(exp.union(*back, distinct=False).subquery("back"), join_type="cross")
        )
        # A window that ends after the last rating would be cut short by the calendar alone.
        whole = (column("bucket") + (window.steps - 1)) <= column("x_last")
        sums: list[exp.Expr] = [exp.alias_(exp.Sum(this=column(name)), name) for name in counted]
        sums += [exp.alias_(how(this=column(name)), name) for name, how in _kept(request)]
        counts = (
            exp.select(*map(column, keys), column("bucket"), *sums)
            .from_(spread.subquery("spread"))
            .where(whole)
            .group_by(*map(column, keys), column("bucket"))
            .subquery("windows")
        )
    start = _date(column("bucket"), window, 0)
    end = _date(column("bucket"), window, window.steps)
    return exp.select(
        *map(column, keys),
        exp.alias_(start, "window_start"),
        exp.alias_(end, "window_end"),
        *map(column, [*counted, *(name for name, _ in _kept(request))]),
    ).from_(counts)


def _date(bucket: exp.Expr, window: Window, later: int) -> exp.Expr:
    """Return the day on which a window begins, or the one after its end."""
    position = bucket + later if later else bucket
    steps = exp.paren(position) * window.step.length
    origin = exp.cast(exp.Literal.string(window.step.origin.isoformat()), "date")
    unit = exp.Var(this=window.step.unit.upper())
    return exp.cast(
        exp.DateAdd(this=origin, expression=exp.cast(exp.paren(steps), "int"), unit=unit), "date"
    )
