"""From a request to a result that is ready to be fetched: count, check, write the query."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sqlglot import exp

from unheard.analysis.ranking import adjust_level_for_items, check_k
from unheard.errors import (
    ColumnError,
    DataError,
    OptionError,
    PopulationError,
    Reference,
)
from unheard.formulas.bea import LARGE_N, bea_lambda, implied_floor
from unheard.formulas.estimators import default_method
from unheard.formulas.operations import NUMPY, total
from unheard.model.arguments import Columns, Labels, Pairs
from unheard.model.assumption import Assumption
from unheard.model.histograms import LARGEST_COUNT
from unheard.model.labels import read_labels
from unheard.model.question import build_assumption
from unheard.model.scale import Scale, ScaleLike
from unheard.model.studies import NAMED_Q, refuse_name
from unheard.tables import check_rows
from unheard.tables.check_people import check_numbers, check_second, find_unlisted
from unheard.tables.engines.base import Engine
from unheard.tables.named_items import check_plain
from unheard.tables.progress import RankingProgress, Watch, Work
from unheard.tables.rating_words import read_words
from unheard.tables.request import (
    EXPERIENCE,
    Kind,
    Request,
    check,
    check_columns,
    check_what,
    read_names,
    read_window,
)
from unheard.tables.row_messages import describe_rows, describe_table, were
from unheard.tables.sources.column_names import (
    read_ratings,
    write_plainly,
)
from unheard.tables.sources.encodings import check_names_encoded
from unheard.tables.sources.open import Opened, Where, open_source, second_table
from unheard.tables.spread_ranks import rank_spread_items
from unheard.tables.sql.count_query import (
    add_experience,
    rows_to_count,
    write_count_query,
    write_kept_query,
    write_window_query,
)
from unheard.tables.sql.dialects import column, long_scale
from unheard.tables.sql.rate_query import (
    Prepared,
    SecondTable,
    write_people_query,
    write_rank_query,
    write_rate_query,
)
from unheard.tables.sql.reserved_names import BALANCE, MANY, SEEN, N, Q, reserve
from unheard.tables.text_times import check_text_times
from unheard.text import plural, write_exactly

if TYPE_CHECKING:
    from unheard.tables.shared_ranks import CrowdRanks


@dataclass(frozen=True)
class Job:
    """A result that is ready to be fetched or written.

    Attributes
    ----------
    request
        What was asked.
    opened
        Where the rows are.
    query
        The query for the result; the counts it reads are already made.
    people
        The query for these counts, with n and q beside them.
    messages
        What was done to rows that could not be used as they were, in sentences.
    found
        How many rows were read and counted.
    crowd
        The items ranked with one participation; None unless the request says so.
    unrated
        How many rows without a rating were not read, if only those with one were to be.
    """

    request: Request
    opened: Opened
    query: exp.Query
    people: exp.Query
    messages: list[str]
    found: check_rows.Tally = field(repr=False)
    crowd: CrowdRanks | None = field(default=None, repr=False)
    unrated: int = 0

    def close(self) -> None:
        """Give back what the engine holds."""
        self.opened.engine.close()


def read_request(
    *,
    item: Columns | None,
    rating: Columns | None = None,
    counts: Columns | None = None,
    labels: Labels | None = None,
    frequency: str | None = None,
    q: ArrayLike | None = None,
    q_column: str | None = None,
    q_table: Any = None,
    floor: ArrayLike | None = None,
    quiet: str | None = None,
    participation: Pairs | None = None,
    g: Sequence[float] | None = None,
    assumption: Assumption | None = None,
    n: float | None = None,
    n_column: str | None = None,
    n_table: Any = None,
    bad_n: str = "refuse",
    scale: ScaleLike | None = None,
    method: str | None = None,
    level: float | None = 0.95,
    covers: str = "mean",
    strata: Columns | None = None,
    weight: str | None = None,
    rater: str | None = None,
    time: str | None = None,
    window: str | None = None,
    every: str | None = None,
    nulls: str = "refuse",
    off_scale: str = "refuse",
    duplicates: str = "refuse",
    max_dropped: float = 0.5,
    by_experience: bool = False,
    ranks: bool = True,
    shared: bool = False,
    min_ratings: int = 0,
    only_counts: bool = False,
    kept: bool = False,
) -> Request:
    """Read the options of :func:`rate`, or of :func:`count_ratings`, whose result is the counts."""
    count_columns = read_names(counts)
    values = _read_scale(scale, count_columns)
    if not are_numbers(count_columns):
        check_names(count_columns, None if scale is None else values)
    words = read_labels(labels, None if scale is None else values)
    if words is not None and not count_columns:
        values = words.scale
    check_what(read_names(item), read_names(rating), count_columns)
    q_column = _name_column("q", q, q_column, q_table)
    n_column = _name_column("n", n, n_column, n_table)
    if isinstance(q, str) and q not in NAMED_Q:
        raise refuse_name(q, in_table=True)
    stated_q = 1.0 if q_column is not None else q
    assumed = build_assumption(stated_q, quiet, participation, g, assumption, floor)
    assumed.check_fits(values.m, 1)
    people = None if n is None else _check_people(n)
    n_known = people is not None or n_column is not None or nulls == "nonresponse"
    assumed.check_people(n_known=n_known)
    request = Request(
        item=read_names(item),
        rating=read_names(rating),
        counts=count_columns,
        scale=values,
        scale_stated=scale is not None,
        labels=words,
        frequency=frequency,
        assumption=assumed,
        q_column=q_column,
        q_table=q_table,
        n=people,
        n_column=n_column,
        n_table=n_table,
        bad_n=bad_n,
        method=method or default_method(assumed.kind, n_known),
        level=level,
        covers=covers,
        strata=read_names(strata),
        weight=weight,
        rater=rater,
        time=time,
        window=read_window(time, window, every),
        nulls=nulls,
        off_scale=off_scale,
        duplicates=duplicates,
        max_dropped=max_dropped,
        by_experience=by_experience,
        ranks=ranks,
        shared=shared,
        min_ratings=min_ratings,
        only_counts=only_counts,
        kept=kept,
    )
    check(request)
    if shared:
        check_plain(request, "shared")
    return request


REQUEST_OPTIONS = tuple(inspect.signature(read_request).parameters)
"""The options that make a request; the others say where the table is and what becomes of it."""


def _read_scale(scale: ScaleLike | None, count_columns: tuple[str, ...]) -> Scale:
    """Read the scale, which the names of columns of counts may tell as well."""
    if isinstance(scale, str):
        return Scale.parse(scale)
    if scale is not None:
        return scale if isinstance(scale, Scale) else Scale(scale)
    many = max(len(count_columns), 2) if count_columns else 5
    return _scale_of(count_columns) or Scale.points(many)


def are_numbers(count_columns: Sequence[str]) -> bool:
    """Whether the names of columns may be no more than their numbers, in a file without header."""
    return all(name.isdecimal() for name in count_columns)


def check_names(
    count_columns: tuple[str, ...], scale: Scale | None, *, argument: str = "counts"
) -> None:
    """Refuse columns of counts whose names contradict their order, or a scale that is stated.

    Without a scale, they must not leave a rating out.
    """
    _check_order(count_columns, argument)
    named = _scale_of(count_columns)
    if scale is None:
        _check_gaps(count_columns, named or Scale.points(max(len(count_columns), 2)), argument)
    elif named is not None and named != scale:
        raise ColumnError(
            argument,
            problem="{argument} names columns of the ratings {named}, and the scale is {scale}",
            hint="Name the columns of that scale, all of them, lowest first",
            named=named.describe(),
            scale=scale.describe(),
        )


def _check_numbers_of_columns(request: Request, opened: Opened) -> None:
    """Check names that are numbers, now that it is known whether they are names."""
    if not request.counts or not are_numbers(request.counts):
        return
    if opened.findings.has_header:
        check_names(request.counts, request.scale if request.scale_stated else None)
    elif not request.scale_stated and [*map(int, request.counts)] != [
        *range(1, request.scale.m + 1)
    ]:
        raise ColumnError(
            "counts",
            problem="{where} has no header, so {argument} names columns by number, and does not "
            "tell their ratings",
            hint="Name the lowest rating first, and state the scale, as in {stated}",
            code="unclear_scale",
            where=opened.words,
            stated=Reference("scale", value=f"1:{request.scale.m}"),
        )


def _name_column(name: str, value: object, column: str | None, table: Any) -> str | None:
    """Return the column that holds q or n; None if it is one number, or not given."""
    for argument, given in ((f"{name}_column", column), (f"{name}_table", table)):
        if value is not None and given is not None:
            raise OptionError(
                name,
                problem="{argument} and {other} cannot be combined",
                hint="Give one of them",
                other=Reference(argument),
            )
    return column if column is not None else name if table is not None else None


def _scale_of(count_columns: tuple[str, ...]) -> Scale | None:
    """Read the scale from columns named by ratings, such as 4 or count_4."""
    try:
        values = [float(name.removeprefix("count_")) for name in count_columns]
    except ValueError:
        return None
    return Scale(sorted(values)) if len({*values}) == len(values) > 1 else None


def _check_order(count_columns: tuple[str, ...], argument: str) -> None:
    """Refuse columns whose names say that ratings do not rise: counts would go to other ratings."""
    ratings = read_ratings(count_columns)
    if ratings != sorted(ratings):
        rising = sorted(zip(ratings, count_columns, strict=True))
        raise ColumnError(
            argument,
            problem="{argument} names columns of falling ratings, highest first"
            if ratings == sorted(ratings, reverse=True)
            else "{argument} names columns of ratings that neither rise nor fall",
            hint="Name the lowest rating first, as in {rising}",
            code="falling_counts",
            rising=Reference(argument, value=tuple(name for _, name in rising)),
        )


def _check_gaps(count_columns: tuple[str, ...], values: Scale, argument: str) -> None:
    """Refuse names that do not tell the scale: they leave a rating out, or have another one."""
    if all(name.startswith("count_") for name in count_columns):
        return  # as we name them
    numbered = all(re.search(r"\d", write_plainly(name)) for name in count_columns)
    ratings = read_ratings(count_columns) if numbered else []
    if len(ratings) > 1 and (ratings != [*values.values] or values.width != values.m - 1):
        named = Scale(ratings)
        raise ColumnError(
            argument,
            problem="{argument} names columns for the ratings {ratings}, which do not determine "
            "the scale",
            hint="Pass every value a rating may take as {scale}, with a column for each; if these "
            "are all, use {scale:{those}}",
            ratings=", ".join(map(write_exactly, named.values)),
            those=named.write(),
            code="unclear_scale",
        )


def _check_people(n: float) -> float:
    try:
        people = float(n)
    except (TypeError, ValueError, OverflowError):
        people = -1.0
    # The number itself is compared, too: 2**53 + 1 is rounded on the way.
    if not (people.is_integer() and 0 <= people <= LARGEST_COUNT and n <= LARGEST_COUNT):
        raise PopulationError(
            "n",
            problem="{argument} must be a whole number of people, at most 2**53",
            value=n,
            hint="Give a number, or name the column that holds it with {n_column}",
        )
    return people


def prepare(
    source: Any,
    request: Request,
    where: Where,
    watch: Watch | None = None,
    *,
    effort: float = 1.0,
    only_rated: bool = False,
) -> Job:
    """Count, check, and write the query for the result.

    Parameters
    ----------
    source, request, where
        The table, what is asked of it, and how it is read.
    watch
        Called around long work.
    effort
        How much work is done to compare pairs of items, as a share of some minutes' work.
    only_rated
        Whether to read only the rows with a rating, as if the others were not in the table.
    """
    watch = watch or (lambda _words, _engine: nullcontext())
    opened = open_source(source, request, where)
    try:
        wanted = request.columns_of_source()
        encoding = opened.findings.encoding
        if encoding is not None:
            check_names_encoded((name for name, _ in wanted), encoding, opened.words)
        check_columns(
            wanted,
            opened.kinds,
            opened.words,
            has_header=opened.findings.has_header,
            is_text=encoding is not None,
        )
        _check_numbers_of_columns(request, opened)
        check_rows.check_kinds(request, opened)
        unrated = 0
        if only_rated:
            opened, unrated = _leave_unrated_out(request, opened)
        check_text_times(request, opened)
        request, opened, messages = read_words(request, opened)
        if request.by_experience:
            opened = _tell_experience(request, opened)
        with watch("counting", opened.engine):
            given, found = _count(request, opened)
            repeated = _count_repeated(request, opened, found)
            check_rows.check_dropped(request, opened, found, repeated)
        with watch("checking", opened.engine):
            given = _second_tables(request, opened, given)
            together = write_people_query(request, given)
            if not found.items:
                _check_items(request, opened, together)
            check_numbers(request, opened, given, together)
            given = _balances(request, opened, given, together)
            if opened.engine.computes():
                given = replace(given, compute=opened.engine.compute)
        crowd, messages = None, [*opened.findings.notes, *messages]
        messages += describe_rows(request, opened, found, repeated)
        messages += describe_table(request, opened, found, given, together, where.surface)
        if request.min_ratings:
            items, ratings = _left_out(request, opened.engine, together)
            if items:
                fewer = f"with fewer than {plural(request.min_ratings, 'rating')}"
                messages.append(f"{plural(items, 'item')} {fewer} {were(items)} left out.")
            if request.window is None or request.window.steps == 1:
                # A rating in several windows may be left out of some of them only.
                found = replace(found, counted=found.counted - ratings)
        if request.ranks:
            ranking = RankingProgress(opened.engine)
            with watch("ranking", ranking):
                made = _ranks(request, opened, given, together, found, Work(ranking.tell, effort))
            request, given = made.request, made.given
            crowd, messages = made.crowd, messages + made.messages
        return Job(
            request, opened, write_rate_query(request, given), together, messages, found, crowd,
            unrated,
        )  # fmt: skip
    except BaseException:
        opened.engine.close()
        raise


def _check_items(request: Request, opened: Opened, together: exp.Query) -> None:
    """Raise if there is nothing to rate, neither in the table nor in one of people.

    A batch to be counted may be empty.
    """
    given = together.subquery(reserve("given"))
    if not (request.only_counts or number_of_rows(opened.engine, given)):
        raise DataError(
            "source",
            problem="{table} has no rows",
            hint="Use a table with ratings",
            code="no_rows",
            table=opened.words,
        )


def _leave_unrated_out(request: Request, opened: Opened) -> tuple[Opened, int]:
    """Leave out the rows without a rating, and say how many they are."""
    rated = exp.or_(*(column(name).is_(exp.null()).not_() for name in request.rating))
    rows = exp.select("*").from_(opened.relation.copy()).where(rated)
    kept = rows.subquery(reserve("rated"))
    whole, left = (number_of_rows(opened.engine, one) for one in (opened.relation, kept))
    return replace(opened, relation=kept), whole - left


def _tell_experience(request: Request, opened: Opened) -> Opened:
    """Add the column that tells a rater's first rating from later ones."""
    relation = add_experience(request, opened.relation)
    return replace(opened, relation=relation, kinds={**opened.kinds, EXPERIENCE: "text"})


def _count(request: Request, opened: Opened) -> tuple[Prepared, check_rows.Tally]:
    engine, relation = opened.engine, opened.relation
    if request.kept:
        # They were checked when they were added.
        counts = engine.keep("counts", write_kept_query(request, relation))
        return Prepared(counts), check_rows.tally(replace(request, window=None), engine, counts)
    check_rows.check_duplicates(request, opened, rows_to_count(request, relation))
    lean = (
        (engine.counts_rows_for_nothing or engine.packs == "pairs")
        and request.frequency is None
        and request.nulls == request.off_scale == "refuse"
        and not request.keeps_latest
    )
    packed = engine.packs
    while True:
        made = write_count_query(request, relation, opened.kinds, packed=packed, lean=lean)
        counts = engine.keep("counts", made.query)
        found = check_rows.tally(request, engine, counts)
        if made.most is not None and found.largest > made.most:
            packed = None  # too many ratings of one item for the fast way
        elif lean and found.counted != (
            number_of_rows(engine, relation) if made.leaves_rows_out else found.rows
        ):
            lean = False  # there are rows that it did not count as ratings
        else:
            break
    check_rows.check_rows(request, opened, found)
    check_rows.check_weights(request, opened, counts, found)
    if request.window is not None:
        check_rows.check_windows(request, request.window, opened, counts)
        counts = engine.keep("windows", write_window_query(request, request.window, counts))
    return Prepared(counts, long_scale=long_scale(engine.dialect)), found


def _count_repeated(request: Request, opened: Opened, found: check_rows.Tally) -> int:
    """Count the rows that were left out for a later rating by the same person."""
    if not request.keeps_latest:
        return 0
    rows: int = number_of_rows(opened.engine, opened.relation)
    return rows - found.rows // len(request.rating)


def number_of_rows(engine: Engine, relation: exp.Expr) -> int:
    """Count the rows of a table."""
    many = exp.select(exp.alias_(exp.Count(this=exp.Star()), MANY)).from_(relation.copy())
    return int(engine.rows(many)[0][MANY])


def _second_tables(request: Request, opened: Opened, given: Prepared) -> Prepared:
    made: dict[str, SecondTable | None] = {}
    kinds = _kinds_of_groups(request, opened)
    for name, value, source in (
        ("n", request.n_column, request.n_table),
        ("q", request.q_column, request.q_table),
    ):
        made[name] = None
        if source is None:
            continue
        assert value is not None  # a table without a named column has one called n or q
        place = f"{name}_table"
        second = second_table(source, opened, place, request.groups)
        _check_value(value, place, second)
        keys = tuple(key for key in request.groups if key in second.kinds)
        if not keys:
            raise ColumnError(
                place,
                problem="None of the columns that name an item is in {table}: {columns}",
                hint="Name its columns like those of the first table",
                table=second.words,
                columns=", ".join(request.groups),
            )
        everything = name == "n" and keys == request.groups
        as_text = tuple(key for key in keys if kinds.get(key) != second.kinds[key])
        found = SecondTable(second.relation, keys, value, everything, as_text, second.words)
        check_second(request, opened, given.counts, found, name)
        if everything and request.bad_n == "drop":
            found = _list_everything(request, given.counts, found)
        made[name] = found
    return replace(given, n_table=made["n"], q_table=made["q"])


def _list_everything(request: Request, counts: exp.Expr, second: SecondTable) -> SecondTable:
    """Add the items that are not in a table of n, for which n is unknown."""
    taken = exp.select(*map(column, second.keys), column(second.value))
    keys = [
        exp.alias_(exp.cast(column(key), "text") if key in second.as_text else column(key), key)
        for key in second.keys
    ]
    nothing = exp.alias_(exp.cast(exp.null(), "double"), second.value)
    unlisted = find_unlisted(request, counts, second).subquery(reserve("unlisted"))
    relation = exp.union(
        taken.from_(second.relation.copy()),
        exp.select(*keys, nothing).from_(unlisted),
        distinct=False,
    )
    return replace(second, relation=relation.subquery(reserve("listed")))


def _check_value(value: str, place: str, second: Opened) -> None:
    """Raise unless a second table has its column of numbers."""
    if value not in second.kinds:
        numeric = [column for column, kind in second.kinds.items() if kind in ("whole", "real")]
        hint = "It has: {there}"
        if numeric and place == "n_table":
            hint = "Name its column of numbers, as in {n_column:{numeric}}. It has: {there}"
        elif numeric:
            hint = "Name its column of numbers, as in {q_column:{numeric}}. It has: {there}"
        raise ColumnError(
            place,
            problem="{table} has no column {column}",
            hint=hint,
            code="no_such_column",
            table=second.words,
            column=repr(value),
            there=", ".join(second.kinds),
            numeric=numeric[0] if numeric else "",
        )
    if second.kinds[value] not in ("whole", "real", "single"):
        raise ColumnError(
            place,
            problem="Column {column} of {table} is not numeric",
            hint="Write numbers with a decimal point and without signs, such as 0.3 for 30%",
            code="wrong_column_type",
            column=repr(value),
            table=second.words,
        )


def _kinds_of_groups(request: Request, opened: Opened) -> dict[str, Kind]:
    ours: dict[str, Kind] = {"attribute": "text", "window_start": "time", "window_end": "time"}
    return ours | {name: opened.kinds[name] for name in (*request.item, *request.strata)}


def _balances(request: Request, opened: Opened, given: Prepared, together: exp.Query) -> Prepared:
    """Work out BEA's lambda for every n and q that occur, where the large-n form is not exact."""
    if request.method != "bea" or not request.balance_keys:
        return given
    import numpy as np
    import pyarrow as pa

    made: dict[str, exp.Expr] = {name: column(name) for name in (N, Q)}
    made[SEEN] = total([column(name) for name in request.count_columns])
    wanted = [exp.alias_(made[name], name) for name in request.balance_keys]
    distinct = exp.select(*wanted).distinct().from_(together.subquery(reserve("given")))
    if request.has_several_n:
        distinct = distinct.where(column(N) < LARGE_N)
    rows = opened.engine.rows(distinct)
    keys = {
        name: np.array([row[name] for row in rows], np.float64) for name in request.balance_keys
    }
    n = keys.get(N, np.full(len(rows), request.n))
    q = keys.get(Q, np.full(len(rows), request.assumption.q))
    if SEEN in keys:
        # An item without ratings has no lambda, and needs none.
        seen = keys[SEEN]
        q = np.where(seen > 0, implied_floor(q, seen, np.maximum(n, 1.0), NUMPY), q)
    found = pa.table(keys | {BALANCE: bea_lambda(n, q) if len(n) else n})
    return replace(given, balances=opened.engine.upload("balances", found))


@dataclass(frozen=True)
class _Ranks:
    """Ranks that the engine keeps, the request that they answer, and what must be known of them."""

    request: Request
    given: Prepared
    crowd: CrowdRanks | None = None
    messages: list[str] = field(default_factory=list)


def _ranks(
    request: Request,
    opened: Opened,
    given: Prepared,
    together: exp.Query,
    found: check_rows.Tally,
    work: Work,
) -> _Ranks:
    """Work ranks out first, so that their memory is free again when the result is made.

    Too many items for one participation are ranked with separate ones: then the request says so.
    """
    engine, messages = opened.engine, list[str]()
    compared, groups = _add_shared_ranks(request, engine, together, found)
    if request.order is not None and request.order.k is not None and compared:
        check_k(request.order.k, compared)
    if request.shared and compared:
        from unheard.tables.shared_ranks import shared_ranks

        try:
            kept, crowd, told = shared_ranks(request, engine, together, work)
            if crowd.with_error is None:
                # Too much work: then nothing is said about sampling error.
                request = replace(request, sampling_error=False)
            return _Ranks(request, replace(given, ranks=kept), crowd, told)
        except OptionError as error:
            if error.code != "too_many_items":
                raise
            request = replace(request, shared=False)
            messages.append(
                f"Ranks use separate participation: {error.data['items']:,} items are too many to "
                "compare pair by pair under one participation."
            )
    if not (request.ranks_allow_for_error or engine.keeps or request.order):
        return _Ranks(request, given, messages=messages)
    level = None
    if request.ranks_allow_for_error and request.level is not None:
        level = adjust_level_for_items(request.level, compared)
    if engine.repeats_steps:
        given = rank_spread_items(engine, request, given, level, compared, groups)
    else:
        given = replace(given, ranks=engine.keep("ranks", write_rank_query(request, given, level)))
    return _Ranks(request, given, messages=messages)


def items_query(request: Request, together: exp.Query) -> exp.Select:
    """List the items that are rated, each once."""
    keys = [column(name) for name in request.result_keys]
    items = exp.select(*keys).from_(together.subquery(reserve("given"))).group_by(*keys)
    if request.min_ratings:
        items = items.having(_sum_ratings(request) >= request.min_ratings)
    return items


def _sum_ratings(request: Request) -> exp.Expr:
    return exp.Sum(this=total([column(name) for name in request.count_columns]))


def _left_out(request: Request, engine: Engine, together: exp.Query) -> tuple[int, int]:
    """Count the items with too few ratings, and these ratings."""
    few = items_query(replace(request, min_ratings=0), together)
    few = few.having(_sum_ratings(request) < request.min_ratings)
    few = few.select(exp.alias_(_sum_ratings(request), SEEN))
    both = {
        MANY: exp.Count(this=exp.Star()),
        SEEN: exp.Coalesce(this=exp.Sum(this=column(SEEN)), expressions=[exp.Literal.number(0)]),
    }
    counted = exp.select(*(exp.alias_(what, name) for name, what in both.items()))
    (found,) = engine.rows(counted.from_(few.subquery(reserve("few"))))
    return int(found[MANY]), int(found[SEEN])


def _add_shared_ranks(
    request: Request, engine: Engine, together: exp.Query, found: check_rows.Tally
) -> tuple[int, int]:
    """Count the items that are compared with each other, at the most, and the groups of these."""
    more = request.n_table is not None  # it may list items without ratings
    if not (more or request.compared_within or request.strata or request.min_ratings):
        return found.items, 1  # each has one row of counts
    within = [column(name) for name in request.compared_within]
    items = items_query(request, together)
    many = exp.select(exp.alias_(exp.Count(this=exp.Star()), MANY))
    many = many.from_(items.subquery(reserve("items")))
    grouped = many.group_by(*within) if within else many
    most = exp.alias_(exp.Max(this=column(MANY)), MANY)
    groups = exp.alias_(exp.Count(this=exp.Star()), reserve("groups"))
    (row,) = engine.rows(exp.select(most, groups).from_(grouped.subquery(reserve("grouped"))))
    return int(row[MANY] or 0), int(row[reserve("groups")])


def in_order(query: exp.Query, request: Request) -> exp.Query:
    """Sort a result by the columns that name its rows."""
    return query.order_by(*(column(name) for name in request.result_keys), copy=False)


def counts_query(job: Job) -> exp.Query:
    """Return the query for the counts that a job has made."""
    request = job.request
    made = job.people.find(exp.CTE)
    assert made is not None  # the first step reads the counts
    inside = (*request.count_columns, *request.row_columns)
    selected = [column(name) for name in request.groups]
    selected += [
        exp.alias_(exp.cast(column(ours), "bigint"), name)  # type: ignore[misc]
        for ours, name in zip(inside, (*request.count_names, *request.row_names), strict=True)
    ]
    return exp.select(*selected).from_(made.this.subquery(reserve("counted")))
