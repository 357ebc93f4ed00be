"""The functions that people call: ``rate``, ``counts`` and ``sql``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from unheard.core.balance import LIMIT_FROM, balance
from unheard.core.estimate import stated
from unheard.core.scale import Scale
from unheard.errors import ColumnError, OptionError, PopulationError
from unheard.tables import checks
from unheard.tables.counting import counting, rows_to_count, windowed
from unheard.tables.dialects import check_dialect, column, render
from unheard.tables.engines.base import Engine, inline
from unheard.tables.engines.base import table as table_named
from unheard.tables.rating import Prepared, SecondTable, people, ranks, rating
from unheard.tables.request import (
    Kind,
    Request,
    check,
    check_columns,
    default_method_for,
    names,
    read_window,
)
from unheard.tables.sources import Opened, Where, open_source, second_table

Watch = Callable[[str, Engine], AbstractContextManager[Any]]
"""Called around long work with what is done and by which engine: a place for a progress bar."""


class RowsLeftOutWarning(UserWarning):
    """Rows were left out of a result, as asked."""


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
    notes
        What was done to rows that could not be used as they were, in sentences.
    found
        How many rows were read and counted.
    """

    request: Request
    opened: Opened
    query: exp.Query
    notes: list[str]
    found: checks.Tally = field(repr=False)

    def close(self) -> None:
        """Give back what the engine holds."""
        self.opened.engine.close()


def read_request(
    *,
    item: str | Iterable[str] | None,
    rating: str | Iterable[str] | None = None,
    counts: str | Iterable[str] | None = None,
    q: float | str | None = None,
    q_table: Any = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    n: float | str | None = None,
    n_table: Any = None,
    scale: Scale | Sequence[float] | str | None = None,
    method: str | None = None,
    level: float | None = 0.95,
    covers: str = "mean",
    strata: str | Iterable[str] | None = None,
    rater: str | None = None,
    time: str | None = None,
    window: str | None = None,
    every: str | None = None,
    nulls: str = "refuse",
    off_scale: str = "refuse",
    duplicates: str = "refuse",
    ranks: bool = True,
    **_: Any,
) -> Request:
    """Read the arguments of :func:`rate`."""
    count_columns = names(counts)
    if isinstance(scale, str):
        values = Scale.parse(scale)
    elif scale is None:
        values = Scale.points(len(count_columns) if len(count_columns) > 1 else 5)
    else:
        values = scale if isinstance(scale, Scale) else Scale(scale)
    q_column = q if isinstance(q, str) else ("q" if q_table is not None and q is None else None)
    if q_table is not None and not (q is None or isinstance(q, str)):
        raise OptionError("q", "a number and a table given together", "Give one of them")
    assumption = stated(
        1.0 if q_column is not None else q,
        quiet,
        participation,
        g,
    )
    assumption.check_fits(values.m, 1)
    n_column = n if isinstance(n, str) else ("n" if n_table is not None and n is None else None)
    people = None if n is None or isinstance(n, str) else _number_of_people(n)
    n_known = people is not None or n_column is not None or nulls == "nonresponse"
    request = Request(
        item=names(item),
        rating=names(rating),
        counts=count_columns,
        scale=values,
        assumption=assumption,
        q_column=q_column,
        q_table=q_table,
        n=people,
        n_column=n_column,
        n_table=n_table,
        method=method or default_method_for(assumption, n_known),
        level=level,
        covers=covers,
        strata=names(strata),
        rater=rater,
        time=time,
        window=read_window(time, window, every),
        nulls=nulls,
        off_scale=off_scale,
        duplicates=duplicates,
        ranks=ranks,
    )
    check(request)
    return request


def _number_of_people(n: float) -> float:
    try:
        people = float(n)
    except (TypeError, ValueError):
        people = -1.0
    if not (people >= 0 and people.is_integer() and people <= 2**53):
        raise PopulationError(
            "n", f"{n!r} found", "Give a whole number of people, a column, or a table as n_table"
        )
    return people


def prepare(source: Any, request: Request, where: Where, watch: Watch | None = None) -> Job:
    """Count, check, and write the query for the result."""
    watch = watch or (lambda _words, _engine: nullcontext())
    opened = open_source(source, request, where)
    try:
        check_columns(request.columns_of_source(), opened.kinds, opened.words)
        checks.check_kinds(request, opened)
        with watch("counting", opened.engine):
            given, found = _count(request, opened)
        with watch("checking", opened.engine):
            given = _second_tables(request, opened, given)
            together = people(request, given)
            checks.check_numbers(request, opened, given.counts, together)
            given = _balances(request, opened, given, together)
        if request.ranks and opened.engine.keeps:
            with watch("ranking", opened.engine):
                # Done first, so that its memory is free again when the result is made.
                kept = opened.engine.keep("ranks", ranks(request, given))
            given = replace(given, ranks=kept)
        return Job(request, opened, rating(request, given), _notes(request, found), found)
    except BaseException:
        opened.engine.close()
        raise


def _count(request: Request, opened: Opened) -> tuple[Prepared, checks.Tally]:
    engine, relation = opened.engine, opened.relation
    checks.check_duplicates(request, opened, rows_to_count(request, relation))
    lean = (
        engine.counts_rows_for_nothing
        and request.nulls == request.off_scale == "refuse"
        and request.duplicates == "refuse"
    )
    made = counting(request, relation, opened.kinds, packed=engine.packs, lean=lean)
    counts = engine.keep("counts", made.query)
    found = checks.tally(request, engine, counts)
    all_rows = _number_of_rows(engine, relation) if lean else found.rows
    if (made.most is not None and found.largest > made.most) or all_rows != found.rows:
        # Too many ratings of one item for the fast way, or rows that it did not count.
        slow = made.most is not None and found.largest > made.most
        made = counting(request, relation, opened.kinds, packed=engine.packs and not slow)
        counts = engine.keep("counts", made.query)
        found = checks.tally(request, engine, counts)
        if made.most is not None and found.largest > made.most:
            made = counting(request, relation, opened.kinds, packed=False)
            counts = engine.keep("counts", made.query)
            found = checks.tally(request, engine, counts)
    checks.check_rows(request, opened, found)
    if request.window is not None:
        counts = engine.keep("windows", windowed(request, request.window, counts))
    return Prepared(counts), found


def _number_of_rows(engine: Engine, relation: exp.Expr) -> int:
    many = exp.select(exp.alias_(exp.Count(this=exp.Star()), "many")).from_(relation.copy())
    return int(engine.rows(many)[0]["many"])


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
        check_columns([(value, name)], second.kinds, second.words)
        keys = tuple(key for key in request.groups if key in second.kinds)
        if not keys:
            raise ColumnError(
                place,
                f"{second.words} shares no column with the item: {', '.join(request.groups)}",
                "Name its columns like those of the first table",
            )
        everything = name == "n" and keys == request.groups
        as_text = tuple(key for key in keys if kinds.get(key) != second.kinds[key])
        made[name] = SecondTable(second.relation, keys, value, everything, as_text)
        checks.check_second(request, opened, given.counts, made[name], name, second.words)
    return Prepared(given.counts, made["n"], made["q"])


def _kinds_of_groups(request: Request, opened: Opened) -> dict[str, Kind]:
    ours: dict[str, Kind] = {"attribute": "text", "window_start": "time", "window_end": "time"}
    return ours | {name: opened.kinds[name] for name in (*request.item, *request.strata)}


def _balances(request: Request, opened: Opened, given: Prepared, together: exp.Query) -> Prepared:
    """Work out BEA's lambda for every n and q that occur, where the large-n form is not exact."""
    if request.method != "bea" or (request.n is not None and request.q_column is None):
        return given
    import numpy as np
    import pyarrow as pa

    wanted = [column("n")] if request.n is None else []
    if request.q_column is not None:
        wanted.append(column("q"))
    distinct = exp.select(*wanted).distinct().from_(together.subquery("given"))
    if request.n is None:
        distinct = distinct.where(column("n") < LIMIT_FROM)
    rows = opened.engine.rows(distinct)
    n = np.array([row.get("n", request.n) for row in rows], np.float64)
    q = np.array([row.get("q", request.assumption.q) for row in rows], np.float64)
    table = pa.table({"n": n, "q": q, "balance": balance(n, q) if len(n) else n})
    return Prepared(
        given.counts, given.n_table, given.q_table, opened.engine.upload("balances", table)
    )


def _notes(request: Request, found: checks.Tally) -> list[str]:
    notes = []
    each = " (counted once for each rating column)" if request.attributes else ""
    scale = checks.describe_scale(request.scale.values)
    if found.off_scale:
        notes.append(
            f"{_were(found.off_scale, 'rating')} left out, not on the scale {scale}{each}; "
            "flag rows_dropped."
        )
    if found.nulls and request.nulls == "drop":
        notes.append(
            f"{_were(found.nulls, 'row')} left out, without a rating{each}; flag rows_dropped."
        )
    if found.nulls and request.nulls == "nonresponse":
        notes.append(
            f"{_were(found.nulls, 'row')} taken as people who said nothing: no rating{each}; "
            "flag nulls_counted."
        )
    return notes


def _were(many: int, what: str) -> str:
    return f"{many:,} {what} was" if many == 1 else f"{many:,} {what}s were"


def rate(
    source: Any,
    item: str | Iterable[str],
    rating: str | Iterable[str] | None = None,
    *,
    counts: str | Iterable[str] | None = None,
    q: float | str | None = None,
    q_table: Any = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    n: float | str | None = None,
    n_table: Any = None,
    scale: Scale | Sequence[float] | str | None = None,
    method: str | None = None,
    level: float | None = 0.95,
    covers: str = "mean",
    strata: str | Iterable[str] | None = None,
    rater: str | None = None,
    time: str | None = None,
    window: str | None = None,
    every: str | None = None,
    nulls: str = "refuse",
    off_scale: str = "refuse",
    duplicates: str = "refuse",
    ranks: bool = True,
    sort: bool = True,
    engine: str | None = None,
    table: str | None = None,
    query: str | None = None,
    memory: str | None = None,
    spark_master: str | None = None,
) -> Any:
    """Rate every item of a table.

    Parameters
    ----------
    source
        A frame (pandas, Polars, PyArrow, DuckDB relation, ibis table, Spark frame), a path or
        glob of CSV, TSV, Parquet or JSON lines files, a DuckDB or SQLite file, or a database
        URL.
    item
        The column that says what was rated, or several.
    rating
        The column with ratings, of a table with a row per rating. Several columns are several
        attributes, each rated on its own; the result then has a column ``attribute``.
    counts
        Instead of ``rating``: the columns with counts, lowest rating first, of a table of counts.
        Rows of the same item are added up.
    q
        The voice ratio: a number, or the column that holds it. See :func:`unheard.estimate`.
    q_table
        A second table with q: by item, or by any other column that is part of ``item``.
    quiet, participation, g, method, level, covers
        As in :func:`unheard.estimate`.
    n
        How many people there are for each item: a number, or the column that holds it.
    n_table
        A second table with n by item. Items that nobody rated are in it and in the result.
    scale
        The values a rating may take, such as ``"1:10"``; 1 to 5, or to the number of counts.
    strata
        Columns that divide an item's people into groups whose sizes n gives; the result puts the
        groups together.
    rater
        The column that says who rated; somebody who rated an item twice is refused.
    time, window, every
        The column with dates, and the length of windows, such as ``"30 days"`` or ``"month"``;
        each gets rows of its own. With ``every`` a window starts that often, and they overlap.
    nulls
        An empty rating: ``refuse`` it, ``drop`` it, or take it for a ``nonresponse``: the row is a
        person, and n (unless given) the number of an item's rows.
    off_scale
        A rating off the scale: ``refuse`` it or ``drop`` it.
    duplicates
        Somebody who rated an item twice: ``refuse``, or keep the ``latest``, by ``time``.
    ranks
        Whether to work out the best and worst rank that each item can have.
    sort
        Whether to sort the rows by item; without it they come in any order, a little sooner.
    engine, spark_master
        ``"spark"`` to read files with Spark, and where it runs.
    table, query
        What to read of a database.
    memory
        Most memory to use, such as ``"1GiB"``; what does not fit is put on disk.

    Returns
    -------
    frame
        Of the same kind as ``source``; an Arrow table for files and databases. Columns: those of
        the item, ``n_ratings``, ``n``, ``average``, ``estimate``, ``lower``, ``upper``,
        ``ci_lower``, ``ci_upper``, ``best_rank``, ``worst_rank``, ``flags`` (names with spaces
        between).

    Examples
    --------
    >>> import pyarrow as pa
    >>> stays = pa.table({"hotel": ["A"] * 5 + ["B"] * 4, "stars": [5, 5, 5, 1, 5, 4, 4, 3, 4]})
    >>> result = rate(stays, "hotel", "stars", q=0.3)
    >>> [row["hotel"] for row in result.to_pylist()]
    ['A', 'B']
    >>> [round(row["estimate"], 2) for row in result.to_pylist()]
    [3.95, 3.69]
    """
    arguments = dict(locals())
    for name in ("source", "sort", "engine", "table", "query", "memory", "spark_master"):
        del arguments[name]
    job = prepare(
        source,
        read_request(**arguments),
        Where(engine, table, query, memory, spark_master),
    )
    try:
        return _handed_over(job, in_order(job.query, job.request) if sort else job.query)
    finally:
        job.close()


def _handed_over(job: Job, query: exp.Query) -> Any:
    for note in job.notes:
        warnings.warn(note, RowsLeftOutWarning, stacklevel=4)
    return job.opened.back(query)


def in_order(query: exp.Query, request: Request) -> exp.Query:
    """Sort a result by the columns that name its rows."""
    return query.order_by(*(column(name) for name in request.result_keys), copy=False)


def counts(
    source: Any,
    item: str | Iterable[str],
    rating: str | Iterable[str] | None = None,
    *,
    counts: str | Iterable[str] | None = None,
    scale: Scale | Sequence[float] | str | None = None,
    rater: str | None = None,
    time: str | None = None,
    window: str | None = None,
    every: str | None = None,
    nulls: str = "refuse",
    off_scale: str = "refuse",
    duplicates: str = "refuse",
    engine: str | None = None,
    table: str | None = None,
    query: str | None = None,
    memory: str | None = None,
    spark_master: str | None = None,
) -> Any:
    """Count the ratings of every item: what must be kept of a table to rate it later.

    Counts add up: put those of several days one under the other and hand them to :func:`rate` with
    ``counts``, or to this function again.

    Parameters
    ----------
    source, item, rating, counts, scale, rater, time, window, every, nulls, off_scale, duplicates
        As in :func:`rate`.
    engine, table, query, memory, spark_master
        As in :func:`rate`.

    Returns
    -------
    frame
        Of the same kind as ``source``: the columns of the item, one column ``count_...`` for each
        value of the scale, and ``n_rows`` and ``n_null``, the rows read and those without a rating.

    Examples
    --------
    >>> import pyarrow as pa
    >>> day = pa.table({"hotel": ["A", "A", "B"], "stars": [5, 1, 4]})
    >>> counts(day, "hotel", "stars").to_pylist()[0]
    {'hotel': 'A', 'count_1': 1, 'count_2': 0, 'count_3': 0, 'count_4': 0, 'count_5': 1, \
'n_rows': 2, 'n_null': 0}
    """
    arguments = dict(locals())
    for name in ("source", "engine", "table", "query", "memory", "spark_master"):
        del arguments[name]
    job = prepare(
        source,
        read_request(**arguments, q=1.0, level=None, ranks=False),
        Where(engine, table, query, memory, spark_master),
    )
    try:
        return _handed_over(job, in_order(counts_query(job), job.request))
    finally:
        job.close()


def counts_query(job: Job) -> exp.Query:
    """Return the query for the counts that a job has made."""
    request = job.request
    made = job.query.find(exp.CTE)
    assert made is not None  # the first step of every result reads the counts
    rows = ("n_rows", "n_null") if request.rating else ("n_rows",)
    selected = [column(name) for name in request.groups]
    selected += [
        exp.alias_(exp.cast(column(name), "bigint"), name)  # type: ignore[misc]
        for name in (*request.count_columns, *rows)
    ]
    return exp.select(*selected).from_(made.this.subquery("counted"))


def sql(
    item: str | Iterable[str],
    rating: str | Iterable[str] | None = None,
    *,
    dialect: str,
    table: str = "ratings",
    create_view: str | None = None,
    counts: str | Iterable[str] | None = None,
    text_ratings: bool = False,
    n_table: str | None = None,
    q_table: str | None = None,
    **settings: Any,
) -> str:
    """Write the query that rates every item, to be run inside a warehouse.

    Nobody looks at the rows first, so nothing is refused: rows without a rating or with one off
    the scale are not counted and the item is flagged ``rows_dropped``; an item with more ratings
    than people is flagged ``n_below_ratings``.

    Parameters
    ----------
    item, rating, counts
        As in :func:`rate`.
    dialect
        The engine to write for, such as ``"postgres"``, ``"bigquery"`` or ``"snowflake"``.
    table
        The table with the ratings, with its schema before a point if it needs one.
    create_view
        Write a statement that makes a view of this name.
    text_ratings
        Whether the ratings are stored as text.
    n_table, q_table
        Names of tables with n and q, with the columns of the item.
    **settings
        Further arguments of :func:`rate`.

    Examples
    --------
    >>> text = sql("hotel", "stars", dialect="postgres", q=0.3, table="stays", level=None)
    >>> "FROM stays" in text
    True
    """
    check_dialect(dialect)
    request = read_request(
        item=item,
        rating=rating,
        counts=counts,
        n_table=n_table,
        q_table=q_table,
        **settings,
    )
    kinds: dict[str, Kind] = dict.fromkeys(request.rating, "text" if text_ratings else "real")
    counted: exp.Expr = counting(request, _named(table), kinds, packed=False).query.subquery(
        "counted"
    )
    if request.window is not None:
        counted = windowed(request, request.window, counted).subquery("windows")
    given = Prepared(
        counted,
        _second_by_name(request, n_table, request.n_column, everything=True),
        _second_by_name(request, q_table, request.q_column, everything=False),
        _all_balances(request),
        unchecked=True,
    )
    text = render(rating_query(request, given), dialect, pretty=True)
    head = _header(request)
    if create_view is None:
        return f"{head}{text};\n"
    name = _named(create_view).sql(dialect)
    return f"{head}CREATE VIEW {name} AS\n{text};\n"


rating_query = rating


def _named(name: str) -> exp.Table:
    parts = name.split(".")
    if len(parts) > 3:
        raise OptionError("table", f"{name!r} has {len(parts)} parts", "Give at most three")
    return table_named(parts[-1], *parts[:-1])


def _second_by_name(
    request: Request, name: str | None, value: str | None, *, everything: bool
) -> SecondTable | None:
    if name is None or value is None:
        return None
    keys = request.groups if everything else request.item
    return SecondTable(_named(name), keys, value, everything)


def _all_balances(request: Request) -> exp.Expr | None:
    """Write BEA's lambda out for every n for which the large-n form is not exact."""
    if request.method != "bea" or (request.n is not None and request.q_column is None):
        return None
    if request.q_column is not None:
        raise OptionError(
            "method", "bea with a q per item has no closed form in SQL", "Use midpoint, or rate"
        )
    import numpy as np
    import pyarrow as pa

    n = np.arange(0.0, LIMIT_FROM)
    return inline("balances", pa.table({"n": n, "balance": balance(n, request.assumption.q)}))  # type: ignore[arg-type]


def _header(request: Request) -> str:
    """Say, as comments, what the query computes and what its columns are."""
    from textwrap import wrap

    words = request.assumption.words(n_known=request.n_known)
    if request.q_column is not None:
        words = f"q is column {request.q_column}: how quiet people may be, item by item."
    lines = [
        "An honest rating for every item, with an allowance for the people who said nothing.",
        f"Assumption: {words}",
        "Columns: n_ratings, n (people, if known), average of those who answered,",
        f"estimate ({request.method}), lower and upper (everything the assumption allows),",
        "ci_lower and ci_upper (with sampling noise), best_rank and worst_rank (possible ranks),",
        "flags (what must be known before using the numbers).",
    ]
    return "".join(f"-- {part}\n" for line in lines for part in wrap(line, 92))
