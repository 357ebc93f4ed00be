"""From a table to counts per item and rating: the one pass over the user's rows.

Plain counting (``count(case when rating = 4 then 1 end)`` for each value) runs everywhere; DuckDB
has a faster way, :mod:`unheard.tables.sql.packed_counts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sqlglot import exp

from unheard.model.histograms import LARGEST_COUNT
from unheard.tables.request import EXPERIENCE, Kind, Request, Window
from unheard.tables.sql.dialects import column
from unheard.tables.sql.expressions import number
from unheard.tables.sql.packed_counts import (
    MOST_IN_PAIRS,
    PackedAs,
    packed_total,
    packing,
    pair_counts,
    spellings,
)
from unheard.tables.sql.reserved_names import BUCKET, N_BAD, N_NULL, N_ROWS, reserve

_LONG_SCALE = 13


@dataclass(frozen=True)
class Counting:
    """A query for counts.

    Attributes
    ----------
    query
        The query.
    most
        Up to how many ratings of one item it can be trusted; None if it always can.
    leaves_rows_out
        Whether rows that are not counted as ratings are in none of its columns.
    """

    query: exp.Select
    most: int | None
    leaves_rows_out: bool = False


def write_count_query(
    request: Request,
    relation: exp.Expr,
    kinds: dict[str, Kind],
    *,
    packed: PackedAs | None,
    lean: bool = False,
    named: bool = False,
) -> Counting:
    """Write the query that counts.

    Its columns: those of ``request.groups`` (of a window the number of the step, ``BUCKET``; see
    :func:`windowed`), the counts, ``N_ROWS``, ``N_NULL`` (of long tables),
    ``N_BAD`` (of tables of counts), and the smallest and largest n and q where these are columns.

    Parameters
    ----------
    request
        What is asked.
    relation
        The table or subquery to read.
    kinds
        What its columns hold.
    packed
        The fast way to use if it applies.
    lean
        Whether to leave out, if the fast way applies, what depends only on rows that were not
        counted: ``N_NULL`` is then 0, and ``N_ROWS`` may be the number of ratings. The caller
        compares the ratings with the number of rows.
    named
        Whether to leave out the rows that do not say what was rated, or when, if there are windows;
        otherwise they are counted, so that they can be refused.
    """
    source = exp.select().from_(rows_to_count(request, relation))
    if named:
        source = source.where(is_named(request))
    keys = _keys(request)
    if request.counts:
        return Counting(_group(source, keys, [*_merge_counts(request), *_per_item(request)]), None)
    if request.frequency is not None:
        packed = None  # fast ways count rows
    most, leaves_rows_out = None, False
    if len(request.rating) == 1 and request.scale.m >= _LONG_SCALE:
        query = _by_value(request, source, keys, kinds)
    else:
        inner: list[exp.Expr] = []
        outer: list[list[exp.Expr]] = []
        all_rows = None
        for index, name in enumerate(request.rating):
            fast = packing(request.scale, name, kinds[name]) if packed == "lists" else None
            if packed == "pairs":
                values = request.scale.values
                is_each = [is_value(name, kinds[name], one) for one in values]
                sums, (*counted, all_rows) = pair_counts(is_each, index)
                made = sums, counted
                most = MOST_IN_PAIRS
            elif fast is None:
                made = _plain_counts(request, name, kinds[name], index)
            else:
                made = fast.columns(index)
                most = fast.most if most is None else min(most, fast.most)
            inner += made[0]
            outer.append(made[1])
        lean = lean and most is not None and not request.attributes
        if lean and packed == "lists":
            all_rows, leaves_rows_out = column(packed_total(0)), True
        rows = _count_rows(request, all_rows, lean=lean)
        kept = _keep_per_item(request, kinds)
        if most is None and not request.attributes:
            query = _group(source, keys, [*_named_counts(request, inner), *kept])
        else:
            query = _group(source, keys, [*inner, *rows.inner, *kept])
            query = _unfold(request, query, outer, rows)
    return Counting(query, most, leaves_rows_out)


def _named_counts(request: Request, counts: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Name the counts of one rating, and count all rows, and those without a rating."""
    (rating,) = request.rating
    everything, rated = _count_ratings(request), _count_ratings(request, _is_there(rating))
    named = [
        exp.alias_(count.this.copy(), name)
        for count, name in zip(counts, request.count_columns, strict=True)
    ]
    missing = exp.alias_(everything.copy() - rated, N_NULL)
    return [*named, exp.alias_(everything, N_ROWS), missing]


@dataclass(frozen=True)
class _Rows:
    """The rows of an item, with and without ratings.

    Attributes
    ----------
    inner
        What is aggregated.
    everything
        The number of rows, made of what is.
    nulls
        The number of rows without a rating, for each rating column.
    """

    inner: list[exp.Expr]
    everything: exp.Expr
    nulls: list[exp.Expr]


def _count_rows(request: Request, all_rows: exp.Expr | None, *, lean: bool) -> _Rows:
    """Count all rows, unless their number is known, and those with a rating, whatever it is."""
    inner: list[exp.Expr] = []
    if all_rows is None:
        inner.append(exp.alias_(_count_ratings(request), N_ROWS))
        all_rows = column(N_ROWS)
    if lean:
        return _Rows(inner, all_rows, [exp.cast(exp.Literal.number(0), "bigint")])
    nulls: list[exp.Expr] = []
    for index, name in enumerate(request.rating):
        rated = exp.alias_(_count_ratings(request, _is_there(name)), _n_answers(index))
        inner.append(rated)
        nulls.append(all_rows - column(rated.alias))
    return _Rows(inner, all_rows, nulls)


def _is_there(name: str) -> exp.Expr:
    return column(name).is_(exp.null()).not_()


def _count_ratings(request: Request, condition: exp.Expr | None = None) -> exp.Expr:
    """Count rows, those that meet a condition if there is one, as the ratings they stand for."""
    if request.frequency is None:
        return exp.Count(this=exp.Star()) if condition is None else _count_if(condition)
    counted: exp.Expr = exp.not_(bad_count(request.frequency))
    if condition is not None:
        counted = exp.and_(condition, counted)
    case = exp.case().when(counted, column(request.frequency))
    return exp.Sum(this=case.else_(exp.Literal.number(0)))


def _n_answers(index: int) -> str:
    return reserve(f"n_answers_{index}")


_RECENCY, _PLACE, _SETTLED = reserve("recency"), reserve("place"), reserve("settled")


def rows_to_count(request: Request, relation: exp.Expr) -> exp.Expr:
    """Return the rows to count: if asked for, only the latest of several ratings by one person.

    Ratings that are equally late are one if they are the same. If they differ, or one without a
    time is among several, it is unknown which is the latest: then all are kept, and
    :func:`unheard.tables.check_rows.check_duplicates` refuses them, or none, if so asked. Where
    rows are people, one row without a rating is left of those. Somebody unknown cannot be told
    from others, and keeps all ratings.
    """
    if not request.keeps_latest:
        return relation
    assert request.rater is not None  # checked with the request
    names = _names_of_source(request)
    first, settled = column(_PLACE).eq(1), column(_SETTLED).eq(1)
    unknown = column(request.rater).is_(exp.null())
    selected: list[exp.Expr] = [column(name) for name in names]
    if request.duplicates == "latest":
        kept = exp.or_(exp.and_(first, settled), column(_SETTLED).eq(0), unknown)
    elif request.nulls == "nonresponse":
        kept = exp.or_(first, unknown)
        known = exp.or_(settled, unknown.copy())
        selected = [
            exp.alias_(exp.case().when(known.copy(), column(name)), name)
            if name in request.rating
            else column(name)
            for name in names
        ]
    else:
        kept = exp.or_(exp.and_(first, settled), unknown)
    latest = exp.select(*selected).from_(_compare_latest(request, relation)).where(kept)
    return latest.subquery(reserve("latest"))


def find_unsettled(request: Request, relation: exp.Expr) -> exp.Expr:
    """Return a row for each rater and item of which it is unknown which rating is the latest."""
    assert request.rater is not None  # checked with the request
    there = column(request.rater).is_(exp.null()).not_()
    unsettled = exp.and_(column(_PLACE).eq(1), column(_SETTLED).eq(0), there)
    rows = exp.select(column(request.rater)).from_(_compare_latest(request, relation))
    return rows.where(unsettled).subquery(reserve("unsettled"))


def _names_of_source(request: Request) -> list[str]:
    names = [*dict.fromkeys(name for name, _ in request.columns_of_source())]
    # Added to the source before; see `add_experience`.
    return [*names, EXPERIENCE] if request.by_experience else names


def _compare_latest(request: Request, relation: exp.Expr) -> exp.Expr:
    """Return the latest ratings of each rater and item, numbered, and whether they are the same."""
    assert request.rater is not None  # checked with the request
    assert request.time is not None
    rater, time = column(request.rater), column(request.time)
    partition = [column(name) for name in (*request.item, *request.strata, request.rater)]

    def over(what: exp.Expr, *order: exp.Expr) -> exp.Window:
        ordered = exp.Order(expressions=list(order)) if order else None
        return exp.Window(this=what, partition_by=[one.copy() for one in partition], order=ordered)

    # Engines differ in where they put what is missing.
    untimed = exp.case().when(time.is_(exp.null()), number(1)).else_(number(0))
    recency = over(
        exp.func("rank"), exp.Ordered(this=untimed), exp.Ordered(this=time.copy(), desc=True)
    )
    names = [column(name) for name in _names_of_source(request)]
    ranked = exp.select(*names, exp.alias_(recency, _RECENCY)).from_(relation.copy())
    late = exp.or_(column(_RECENCY).eq(1), time.copy().is_(exp.null()), rater.is_(exp.null()))
    compared = [*request.rating, *([request.weight] if request.weight is not None else [])]
    same = []
    for name in compared:
        there = over(exp.Count(this=column(name)))
        ends = [over(how(this=column(name))) for how in (exp.Min, exp.Max)]
        every = over(exp.Count(this=exp.Star()))
        all_there = exp.EQ(this=there, expression=every)
        alike = exp.and_(all_there, exp.EQ(this=ends[0], expression=ends[1]))
        same.append(exp.or_(exp.EQ(this=there.copy(), expression=number(0)), alike))
    settled = exp.case().when(exp.and_(*same), number(1)).else_(number(0))
    order = [exp.Ordered(this=column(name)) for name in compared]
    numbered = exp.select(
        *(name.copy() for name in names),
        exp.alias_(over(exp.RowNumber(), *order), _PLACE),
        exp.alias_(settled, _SETTLED),
    )
    return numbered.from_(ranked.subquery(reserve("ranked"))).where(late).subquery(reserve("late"))


def add_experience(request: Request, relation: exp.Expr) -> exp.Expr:
    """Add a column that tells a rater's first rating from later ones.

    Several ratings that are equally early are all the first. Somebody unknown, or a rating without
    a time, cannot be told apart.
    """
    assert request.rater is not None  # checked with the request
    assert request.time is not None
    rater, time, place = column(request.rater), column(request.time), reserve("place")
    ranked = exp.Window(
        this=exp.func("rank"),
        partition_by=[rater],
        order=exp.Order(expressions=[exp.Ordered(this=time)]),
    )
    names = dict.fromkeys(name for name, _ in request.columns_of_source())
    known = (rater.copy(), time.copy())
    inner = exp.select(*map(column, names), exp.alias_(ranked, place)).from_(relation)
    inner = inner.where(*(one.is_(exp.null()).not_() for one in known))
    told = exp.case().when(column(place).eq(1), exp.Literal.string("first"))
    told = told.else_(exp.Literal.string("later"))
    first = exp.select(*map(column, names), exp.alias_(told, EXPERIENCE)).from_(
        inner.subquery(reserve("raters"))
    )
    rest = exp.select(
        *map(column, names), exp.alias_(exp.Literal.string("unknown"), EXPERIENCE)
    ).from_(relation.copy())
    rest = rest.where(exp.or_(*(one.copy().is_(exp.null()) for one in known)))
    return exp.union(first, rest, distinct=False).subquery(reserve("experienced"))


def _keys(request: Request) -> list[tuple[str, exp.Expr]]:
    names = [*request.item, *request.strata]
    keys: list[tuple[str, exp.Expr]] = [(name, column(name)) for name in names]
    if request.window is not None:
        assert request.time is not None  # checked with the request
        keys.append((BUCKET, _bucket(request.time, request.window)))
    return keys


def is_named(request: Request) -> exp.Expr:
    """Condition that a row says what was rated, and when, if there are windows."""
    there = exp.Not(this=exp.null())
    known: list[exp.Expr] = [
        column(name).is_(there.copy()) for name in (*request.item, *request.strata)
    ]
    if request.window is not None:
        assert request.time is not None  # checked with the request
        known.append(in_calendar(request.time))
    return exp.and_(*known)


def _group(
    source: exp.Select,
    keys: Sequence[tuple[str, exp.Expr]],
    aggregates: Sequence[exp.Expr],
) -> exp.Select:
    named = [key if isinstance(key, exp.Column) else exp.alias_(key, name) for name, key in keys]
    return source.select(*named, *aggregates).group_by(*(key.copy() for _, key in keys))


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
                exp.alias_(exp.Min(this=value), reserve(f"{name}_low")),
                exp.alias_(exp.Max(this=value.copy()), reserve(f"{name}_high")),
                exp.alias_(_count_ratings(request, _is_there(made_of)), reserve(f"{name}_known")),
            ]
    return found


def _keep_per_item(request: Request, kinds: dict[str, Kind]) -> list[exp.Expr]:
    """Aggregate what goes with the counts of an item; see :func:`_list_kept_columns`."""
    kept = [*_per_item(request), *_sum_weights(request, kinds)]
    if request.frequency is not None:
        kept.append(exp.alias_(_count_if(bad_count(request.frequency)), N_BAD))
    return kept


LARGEST_WEIGHT, BAD_WEIGHTS = reserve("largest_weight_high"), reserve("bad_weights_sum")


def _sum_weights(request: Request, kinds: dict[str, Kind]) -> list[exp.Expr]:
    """Add up survey weights and their squares, rating by rating."""
    if request.weight is None:
        return []
    (rating,) = request.rating
    weight = exp.cast(column(request.weight), "double")
    found: list[exp.Expr] = [
        exp.alias_(exp.Max(this=weight.copy()), LARGEST_WEIGHT),
        exp.alias_(_count_if(bad_weight(request.weight)), BAD_WEIGHTS),
    ]
    zero = exp.cast(exp.Literal.number(0), "double")
    for value, names in zip(request.scale.values, request.weight_columns, strict=True):
        for name, term in zip(
            names, (weight, exp.Mul(this=weight, expression=weight)), strict=True
        ):
            here = exp.case().when(is_value(rating, kinds[rating], value), term.copy())
            found.append(exp.alias_(exp.Sum(this=here.else_(zero.copy())), name))
    return found


def bad_weight(name: str) -> exp.Expr:
    """Condition that a column holds no valid weight: null, not positive, or too large."""
    value = column(name)
    huge = exp.GT(this=value.copy(), expression=number(LARGEST_COUNT))
    return exp.or_(value.copy().is_(exp.null()), value.copy() <= 0, huge)


def _merge_counts(request: Request) -> list[exp.Expr]:
    """Add counts up; a row counts as bad if one of its counts cannot be a count."""
    sums: list[exp.Expr] = []
    bad: exp.Expr = exp.false()
    for given, name in zip(request.counts, request.count_columns, strict=True):
        wrong = bad_count(given)
        value = exp.case().when(wrong.copy(), exp.Literal.number(0)).else_(column(given))
        # Not cast: sums too large for any type of whole numbers are found and refused.
        sums.append(exp.alias_(exp.Sum(this=value), name))
        bad = wrong if isinstance(bad, exp.Boolean) else exp.or_(bad, wrong)
    rows = exp.alias_(exp.Count(this=exp.Star()), N_ROWS)
    return [*sums, rows, exp.alias_(_count_if(bad), N_BAD)]


def bad_count(name: str) -> exp.Expr:
    """Condition that a column holds no valid count: null, negative, a fraction, or not a number."""
    value = column(name)
    fraction = exp.NEQ(this=value.copy(), expression=exp.Floor(this=value.copy()))
    # What is not a number is larger than any number, in every engine that knows such a thing.
    huge = exp.GT(this=value.copy(), expression=number(LARGEST_COUNT))
    return exp.or_(value.copy().is_(exp.null()), value.copy() < 0, huge, fraction)


def write_kept_query(request: Request, relation: exp.Expr) -> exp.Select:
    """Write the query that reads kept counts, added up over the columns that are not asked for."""
    sums: list[exp.Expr] = [
        exp.alias_(exp.Sum(this=column(name)), ours)
        for name, ours in zip(
            (*request.count_names, *request.row_names),
            (*request.count_columns, *request.row_columns),
            strict=True,
        )
    ]
    if request.counts:
        sums.append(exp.alias_(exp.Literal.number(0), N_BAD))
    keys = [(name, column(name)) for name in request.groups]
    return _group(exp.select().from_(relation), keys, sums)


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
    request: Request, name: str, kind: Kind, index: int
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    inner: list[exp.Expr] = [
        exp.alias_(
            _count_ratings(request, is_value(name, kind, value)), reserve(f"count_{index}_{place}")
        )
        for place, value in enumerate(request.scale.values, start=1)
    ]
    return inner, [column(one.alias) for one in inner]


def _by_value(
    request: Request,
    source: exp.Select,
    keys: Sequence[tuple[str, exp.Expr]],
    kinds: dict[str, Kind],
) -> exp.Select:
    """Count a long scale: first the rows per item and rating, then side by side."""
    (given,) = request.rating
    name = reserve("rating")
    # A name of its own: ClickHouse would take that of a sum for the sum.
    many = reserve("given")
    rows = exp.alias_(_count_ratings(request), many)
    rating = exp.alias_(column(given), name)
    kept = _keep_per_item(request, kinds)
    inner = _group(source, keys, [rating, rows, *kept]).group_by(column(given))
    counts: list[exp.Expr] = [
        exp.alias_(
            exp.Sum(
                this=exp.case()
                .when(is_value(name, kinds[given], value), column(many))
                .else_(exp.Literal.number(0))
            ),
            count,
        )
        for value, count in zip(request.scale.values, request.count_columns, strict=True)
    ]
    empty = exp.Sum(
        this=exp.case()
        .when(column(name).is_(exp.null()), column(many))
        .else_(exp.Literal.number(0))
    )
    counts += [
        exp.alias_(exp.Sum(this=column(many)), N_ROWS),
        exp.alias_(empty, N_NULL),
    ]
    for one, how in _list_kept_columns(request):
        counts.append(exp.alias_(how(this=column(one)), one))
    outer_keys = [(key, column(key)) for key, _ in keys]
    by_value = exp.select().from_(inner.subquery(reserve("by_value")))
    return _group(by_value, outer_keys, counts)


def _list_kept_columns(request: Request) -> list[tuple[str, type[exp.AggFunc]]]:
    """Columns besides the counts, and how they are aggregated once more."""
    kept: list[tuple[str, type[exp.AggFunc]]] = []
    for aggregate in _per_item(request):
        name = aggregate.alias
        how = {"low": exp.Min, "high": exp.Max, "known": exp.Sum}[name.rpartition("_")[2]]
        kept.append((name, how))
    if request.weight is not None:
        kept += [(LARGEST_WEIGHT, exp.Max), (BAD_WEIGHTS, exp.Sum)]
        kept += [(name, exp.Sum) for names in request.weight_columns for name in names]
    if request.frequency is not None:
        kept.append((N_BAD, exp.Sum))
    return kept


def _unfold(
    request: Request, grouped: exp.Select, counts: Sequence[Sequence[exp.Expr]], rows: _Rows
) -> exp.Select:
    """Give every attribute a row of its own, without reading the counts twice."""
    keys = [*request.item, *request.strata, *([BUCKET] if request.window else [])]
    kept = [name for name, _ in _list_kept_columns(request)]
    n_rows = exp.alias_(rows.everything, N_ROWS)
    if not request.attributes:
        named = [
            exp.alias_(count.copy(), name)
            for count, name in zip(counts[0], request.count_columns, strict=True)
        ]
        n_null = exp.alias_(rows.nulls[0], N_NULL)
        return exp.select(*map(column, keys), *named, n_rows, n_null, *map(column, kept)).from_(
            grouped.subquery(reserve("grouped"))
        )
    number_of = reserve("attribute")
    which = [
        exp.select(
            exp.alias_(exp.Literal.number(index), number_of),
            exp.alias_(exp.Literal.string(name), "attribute"),
        )
        for index, name in enumerate(request.rating)
    ]
    listed = exp.union(*which, distinct=False)

    def chosen(options: Sequence[exp.Expr]) -> exp.Expr:
        case = exp.case()
        for index, option in enumerate(options):
            case = case.when(column(number_of).eq(index), option.copy())
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
            n_rows,
            exp.alias_(chosen(rows.nulls), N_NULL),
            *map(column, kept),
        )
        .from_(grouped.subquery(reserve("grouped")))
        .join(listed.subquery(reserve("attributes")), join_type="cross")
    )


def _bucket(time: str, window: Window) -> exp.Expr:
    """Number the steps of time; null for what is not a day of the calendar."""
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


def write_window_query(request: Request, window: Window, counts: exp.Expr) -> exp.Select:
    """Write the query from counts per step of time to counts per window."""
    attribute = ["attribute"] if request.attributes else []
    keys = [*request.item, *request.strata, *attribute]
    counted = [*request.count_columns, *request.row_columns]
    if window.steps > 1:
        earlier, last = reserve("earlier"), reserve("last_bucket")
        back = [exp.select(exp.alias_(exp.Literal.number(k), earlier)) for k in range(window.steps)]
        latest = exp.Window(this=exp.Max(this=column(BUCKET)))
        ended = exp.select("*", exp.alias_(latest, last)).from_(counts)
        spread = (
            exp.select(
                *map(column, keys),
                exp.alias_(column(BUCKET) - column(earlier), BUCKET),
                *map(column, [*counted, *(name for name, _ in _list_kept_columns(request)), last]),
            )
            .from_(ended.subquery(reserve("steps")))
            .join(exp.union(*back, distinct=False).subquery(reserve("back")), join_type="cross")
        )
        # A window that ends after the last rating would be cut short by the calendar alone.
        whole = (column(BUCKET) + (window.steps - 1)) <= column(last)
        sums: list[exp.Expr] = [exp.alias_(exp.Sum(this=column(name)), name) for name in counted]
        sums += [
            exp.alias_(how(this=column(name)), name) for name, how in _list_kept_columns(request)
        ]
        counts = (
            exp.select(*map(column, keys), column(BUCKET), *sums)
            .from_(spread.subquery(reserve("spread")))
            .where(whole)
            .group_by(*map(column, keys), column(BUCKET))
            .subquery(reserve("windows"))
        )
    start = _date(column(BUCKET), window, 0)
    end = _date(column(BUCKET), window, window.steps)
    return exp.select(
        *map(column, keys),
        exp.alias_(start, "window_start"),
        exp.alias_(end, "window_end"),
        *map(column, [*counted, *(name for name, _ in _list_kept_columns(request))]),
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
