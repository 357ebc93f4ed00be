"""The functions that people call: ``rate``, ``rank``, ``count_ratings`` and ``write_sql``."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from numpy.typing import ArrayLike
from sqlglot import exp

from unheard.errors import OptionError
from unheard.formulas.bea import LARGE_N, bea_lambda
from unheard.model.arguments import (
    Columns,
    CountOptions,
    Labels,
    Pairs,
    Path,
    RankOptions,
    RateOptions,
    ReadingOptions,
    SqlOptions,
    Table,
    TableOptions,
)
from unheard.model.assumption import Assumption
from unheard.model.results import Backend
from unheard.model.scale import ScaleLike
from unheard.options.choices import (
    BadN,
    Covers,
    Duplicates,
    Engine,
    Method,
    Nulls,
    OffScale,
    Quiet,
)
from unheard.options.unknown import check_options, suggests_names
from unheard.tables.engines.base import inline
from unheard.tables.engines.base import table as table_named
from unheard.tables.kept.recall import recall_options
from unheard.tables.pipeline import (
    REQUEST_OPTIONS,
    Job,
    check_names,
    counts_query,
    in_order,
    prepare,
    read_request,
)
from unheard.tables.rating_words import write_stated_words
from unheard.tables.request import Kind, Request, add_order, check_table_name
from unheard.tables.sources.open import Where
from unheard.tables.sources.reading import ReadingNote
from unheard.tables.sql.adapt import FENCES
from unheard.tables.sql.count_query import write_count_query, write_window_query
from unheard.tables.sql.dbt_model import References
from unheard.tables.sql.dialects import ANALYSED_IN_ROUNDS, long_scale, read_dialect, render
from unheard.tables.sql.explicit_columns import needs_more_rounds
from unheard.tables.sql.rate_query import Prepared, SecondTable, write_rate_query
from unheard.tables.sql.reserved_names import BALANCE, N, reserve
from unheard.tables.sql.sort import sort_column, sort_rows
from unheard.text import percent_text

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from narwhals.typing import IntoFrame

FrameT = TypeVar("FrameT", bound="IntoFrame")

_READING = frozenset(ReadingOptions.__annotations__)


class TableWarning(UserWarning):
    """What was done to rows that could not be used as they were, and what is doubtful."""


class ReadingWarning(UserWarning):
    """A file was read in a way that nobody had stated: its encoding, header, sheet or numbers."""


@overload
def rate(
    source: Path,
    item: Columns | None = None,
    rating: Columns | None = None,
    **options: Unpack[RateOptions],
) -> pd.DataFrame | pa.Table: ...
@overload
def rate(
    source: Path,
    item: Columns | None = None,
    rating: Columns | None = None,
    *,
    backend: Backend | None,
    **options: Unpack[RateOptions],
) -> pd.DataFrame | pl.DataFrame | pa.Table: ...
@overload
def rate(
    source: FrameT,
    item: Columns | None = None,
    rating: Columns | None = None,
    **options: Unpack[RateOptions],
) -> FrameT: ...
@suggests_names
def rate(
    source: FrameT | Path,
    item: Columns | None = None,
    rating: Columns | None = None,
    *,
    counts: Columns | None = None,
    labels: Labels | None = None,
    frequency: str | None = None,
    q: ArrayLike | None = None,
    q_column: str | None = None,
    q_table: Table | None = None,
    floor: ArrayLike | None = None,
    quiet: Quiet | None = None,
    participation: Pairs | None = None,
    g: Sequence[float] | None = None,
    assumption: Assumption | None = None,
    n: float | None = None,
    n_column: str | None = None,
    n_table: Table | None = None,
    bad_n: BadN = "refuse",
    strata: Columns | None = None,
    scale: ScaleLike | None = None,
    method: Method | None = None,
    level: float | None = 0.95,
    covers: Covers = "mean",
    time: str | None = None,
    window: str | None = None,
    every: str | None = None,
    nulls: Nulls = "refuse",
    min_ratings: int = 0,
    rater: str | None = None,
    duplicates: Duplicates = "refuse",
    by_experience: bool = False,
    off_scale: OffScale = "refuse",
    max_dropped: float = 0.5,
    sheet: str | int | None = None,
    encoding: str | None = None,
    header: str | int | None = None,
    table: str | None = None,
    query: str | None = None,
    engine: Engine | None = None,
    spark_master: str | None = None,
    memory: str | None = None,
    weight: str | None = None,
    ranks: bool = True,
    shared: bool = False,
    sort: str | bool | None = None,
    backend: Backend | None = None,
) -> FrameT | pd.DataFrame | pl.DataFrame | pa.Table:
    """Rate every item of a table.

    Parameters
    ----------
    source
        A frame (pandas, Polars, PyArrow, DuckDB relation, ibis table, Spark frame), a path or
        glob of files (CSV, TSV, Excel, OpenDocument, Parquet or JSON lines, also compressed), a
        DuckDB or SQLite file (``.db``, ``.duckdb``, ``.sqlite``), or a database URL.
    item
        The column that says what was rated, or several. Counts that :func:`add_counts` has kept
        need neither this nor ``rating``.
    rating
        The column with ratings, of a table with a row per rating. Several columns are several
        attributes, each rated on its own; the result then has a column ``attribute``.
    counts
        Instead of ``rating``: the columns with counts, lowest rating first, of a table of counts.
        Rows of the same item are added up.
    labels
        What ratings that are words stand for: the words, lowest rating first, as in
        ``["Poor", "Fair", "Good"]``; a mapping of words to ratings, None for a word that is not a
        rating; or ``"auto"``, to accept the reading that the error about these words shows. A
        warning then repeats it. Ordered categories of pandas have an order of their own.
    frequency
        The column that says how many equal ratings a row stands for, in a table with a row for each
        item and rating. By default each row is one rating.
    q
        The participation ratio: a number, a preset (``survey``, ``reviews``, ``media``) or a study
        (``usf-online``). See :func:`unheard.estimate`.
    q_column
        Instead of ``q``: the column with the participation ratio of each item.
    q_table
        A second table with q (column ``q``, or ``q_column``), by item or by part of ``item``.
    floor, quiet, participation, g, assumption, method, level, covers
        As in :func:`unheard.estimate`.
    n
        Number of people of each item, non-respondents included.
    n_column
        Instead of ``n``: the column with the number of people of each item.
    n_table
        A second table with the number of people (column ``n``, or ``n_column``) by item. Items that
        nobody rated are taken from it.
    bad_n
        What to do with an n that is less than the number of ratings, missing, or not the same in
        all rows of an item: ``refuse`` it; ``drop`` it, so that the item is rated without n (note
        ``n_dropped``); or ``raise`` it to its largest value, and at least to the number of ratings
        (note ``n_raised``).
    strata
        Columns that divide the people of an item into groups of known size (``n_column`` or
        ``n_table``). The result combines the groups.
    scale
        The values a rating may take, such as ``"1:10"``; by default 1 to 5, or 1 to the number of
        count columns.
    time, window, every
        The column with dates, and the length of windows, such as ``"30 days"`` or ``"month"``;
        each window gets rows of its own. With ``every``, a window starts that often, and windows
        overlap.
    nulls
        What to do with an empty rating: ``refuse`` it, ``drop`` it, or count it as a
        ``nonresponse``: each row is then a person, and the number of people (unless given) is the
        number of rows of the item.
    min_ratings
        Leave out items with fewer ratings.
    rater
        The column that says who rated. A rater may rate each item once.
    duplicates
        What to do if a rater rated an item twice: ``refuse``, or keep the ``latest`` by ``time``.
        Equal ratings of the same time are one. If they differ, or one has no time, it is unknown
        which is the latest: ``latest`` refuses them, ``latest_or_none`` leaves them out.
    by_experience
        Tell each rater's first rating from later ones, by ``rater`` and ``time``: a column
        ``experience`` with the values ``first`` and ``later`` (``unknown`` without a rater or a
        time), for ``strata`` or ``item``.
    off_scale
        What to do with a rating that is not on the scale: ``refuse`` it or ``drop`` it.
    max_dropped
        Largest share of the ratings that may be left out (by ``nulls``, ``off_scale`` and
        ``duplicates``); if more would be, nothing is done.
    sheet
        Which sheet of a workbook, or file of a zip archive, by name or by number from 1; by default
        the only one with data.
    encoding
        The encoding of a text file, such as ``"cp1252"``; by default it is detected.
    header
        The row of a text file or sheet with the names of the columns, counted from 1; ``"none"`` if
        there is none, and columns are called 1, 2, 3, ... By default it is found.
    table, query
        The table of a database to read, or a query whose rows are read.
    engine, spark_master
        ``"spark"`` to read files with Spark, and where it runs.
    memory
        Most memory to use, such as ``"1GiB"``; what does not fit goes to disk.
    weight
        The column with survey weights. The confidence interval allows for weights that depend on
        the rating. The number of people must be unknown.
    ranks
        Whether to compute the rank range of each item.
    shared
        Whether all items share one participation, which then distorts all of them alike and
        settles far more of the order. Bounds and confidence intervals are the same either way.
    sort
        The column to sort by, or ``"item"``. By default the best come first, by ``ci_lower``, so
        that one good review does not win (by ``lower`` with ``level=None``), ties by ``estimate``.
        False: in any order, which is a little faster.
    backend
        The kind of frame to return for a file or database: ``"pandas"``, ``"polars"`` or
        ``"pyarrow"``; by default pandas if it is installed, otherwise PyArrow.

    Returns
    -------
    frame
        Of the same kind as ``source``; for files and databases, of the kind that ``backend`` names.
        Columns: those of the item, ``n_ratings``, ``n``, ``average``, ``estimate``, ``lower``,
        ``upper``, ``ci_lower``, ``ci_upper``, ``best_rank``, ``worst_rank``, ``ci_best_rank``,
        ``ci_worst_rank`` (rank ranges that allow for sampling error in all items at once),
        ``notes`` (names separated by spaces).

    Examples
    --------
    >>> import pyarrow as pa
    >>> stays = pa.table({"hotel": ["A"] * 5 + ["B"] * 4, "stars": [5, 5, 5, 1, 5, 4, 4, 3, 4]})
    >>> result = rate(stays, "hotel", "stars", q=0.3)
    >>> [row["hotel"] for row in result.to_pylist()]
    ['B', 'A']
    >>> [round(row["estimate"], 2) for row in result.to_pylist()]
    [3.69, 3.95]
    """
    given = dict(locals())
    where = Where(**{name: given[name] for name in _READING}, backend=backend)
    options = {name: given[name] for name in REQUEST_OPTIONS if name in given}
    request = read_request(**recall_options(source, where, options))
    return _fetch(source, request, where, _sort_rows(request, sort))


@overload
def rank(
    source: Path,
    item: Columns | None = None,
    rating: Columns | None = None,
    **options: Unpack[RankOptions],
) -> pd.DataFrame | pa.Table: ...
@overload
def rank(
    source: Path,
    item: Columns | None = None,
    rating: Columns | None = None,
    *,
    backend: Backend | None,
    **options: Unpack[RankOptions],
) -> pd.DataFrame | pl.DataFrame | pa.Table: ...
@overload
def rank(
    source: FrameT,
    item: Columns | None = None,
    rating: Columns | None = None,
    **options: Unpack[RankOptions],
) -> FrameT: ...
def rank(
    source: FrameT | Path,
    item: Columns | None = None,
    rating: Columns | None = None,
    *,
    k: int | None = None,
    above: float | None = None,
    below: float | None = None,
    sampling_error: bool = True,
    shared: bool = False,
    sort: str | bool | None = None,
    backend: Backend | None = None,
    **options: Unpack[TableOptions],
) -> FrameT | pd.DataFrame | pl.DataFrame | pa.Table:
    """Find out what is settled about the order of the items of a table.

    Parameters
    ----------
    source, item, rating, sort, backend
        As in :func:`rate`.
    k
        Say which items are among the k best.
    above, below
        A claim: the mean is above, or below, this threshold. Each item then gets the breakdown q
        of the claim, see :func:`unheard.find_breakdown`.
    sampling_error
        Whether to compute ranks that allow for sampling error as well. Ranks compare items, so the
        level holds for the confidence intervals of all items at once.
    shared
        Whether all items share one participation, see :func:`unheard.rank_shared`.
    **options
        Further options of :func:`rate`: the counts, the assumption, n, and so on.

    Returns
    -------
    frame
        As :func:`rate` returns it, ranks included, with further columns before the notes:
        ``average_rank``, the rank by the plain average; ``tier``, 1 for the best, items of
        different tiers cannot change places; ``top``, whether an item is among the k best:
        ``surely``, ``possibly`` or ``no``; ``ci_best_rank``, ``ci_worst_rank`` and ``ci_top``, the
        same allowing for sampling error; ``breakdown_q``, null if the claim fails even at q = 1.

    Examples
    --------
    >>> import pyarrow as pa
    >>> totals = pa.table({"hotel": ["A", "B", "C"], "sad": [2, 9, 60], "happy": [60, 9, 2]})
    >>> result = rank(totals, "hotel", counts=["sad", "happy"], q=0.5, k=1, above=1.5)
    >>> for row in result.to_pylist():
    ...     print(row["hotel"], row["best_rank"], row["worst_rank"], row["tier"], row["top"])
    A 1 1 1 surely
    B 2 2 2 no
    C 3 3 3 no
    """
    check_options(rank, options, TableOptions)
    request, where = split_options(source, item, rating, shared=shared, **options)
    request = add_order(request, k, above, below, sampling_error, options.get("method"))
    where = replace(where, backend=backend)
    return _fetch(source, request, where, _sort_rows(request, sort))


def split_options(
    source: Any, item: Columns | None, rating: Columns | None, **options: Any
) -> tuple[Request, Where]:
    """Tell what is asked of a table from where the table is."""
    where = Where(**{name: options.pop(name) for name in list(options) if name in _READING})
    options = recall_options(source, where, {"item": item, "rating": rating, **options})
    return read_request(**options), where


def _fetch(
    source: FrameT | Path, request: Request, where: Where, query: Callable[[Job], exp.Query]
) -> FrameT | pd.DataFrame | pl.DataFrame | pa.Table:
    """Run a request and return what a query of the job gives, as the kind of frame that came in."""
    job = prepare(source, request, where)
    try:
        warn_of(job.messages)
        return job.opened.back(query(job))
    finally:
        job.close()


def warn_of(messages: Iterable[str]) -> None:
    """Warn of what was done to files and rows, naming the line that called the package."""
    for words in messages:
        kind = ReadingWarning if isinstance(words, ReadingNote) else TableWarning
        warnings.warn(str(words), kind, stacklevel=_count_own_frames())


def _count_own_frames() -> int:
    """Count the calls within the package, so that a warning names the line that called it."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] == "unheard":
        frame, depth = frame.f_back, depth + 1
    return depth


def _sort_rows(request: Request, sort: str | bool | None) -> Callable[[Job], exp.Query]:
    """Return what makes the query for the rows of a result, in their order."""
    if sort is False:
        return lambda job: job.query
    by = sort_column(request, None if sort is True else sort)
    return lambda job: sort_rows(job.query.subquery(reserve("result")), job.request, by)


@overload
def count_ratings(
    source: Path,
    item: Columns | None = None,
    rating: Columns | None = None,
    **options: Unpack[CountOptions],
) -> pd.DataFrame | pa.Table: ...
@overload
def count_ratings(
    source: Path,
    item: Columns | None = None,
    rating: Columns | None = None,
    *,
    backend: Backend | None,
    **options: Unpack[CountOptions],
) -> pd.DataFrame | pl.DataFrame | pa.Table: ...
@overload
def count_ratings(
    source: FrameT,
    item: Columns | None = None,
    rating: Columns | None = None,
    **options: Unpack[CountOptions],
) -> FrameT: ...
@suggests_names
def count_ratings(
    source: FrameT | Path,
    item: Columns | None = None,
    rating: Columns | None = None,
    *,
    counts: Columns | None = None,
    labels: Labels | None = None,
    frequency: str | None = None,
    scale: ScaleLike | None = None,
    time: str | None = None,
    window: str | None = None,
    every: str | None = None,
    nulls: Nulls = "refuse",
    off_scale: OffScale = "refuse",
    rater: str | None = None,
    duplicates: Duplicates = "refuse",
    max_dropped: float = 0.5,
    sheet: str | int | None = None,
    encoding: str | None = None,
    header: str | int | None = None,
    table: str | None = None,
    query: str | None = None,
    engine: Engine | None = None,
    spark_master: str | None = None,
    memory: str | None = None,
    backend: Backend | None = None,
) -> FrameT | pd.DataFrame | pl.DataFrame | pa.Table:
    """Count the ratings of every item: what must be kept of a table to rate it later.

    Counts add up: put those of several days one under the other and hand them to :func:`rate` with
    ``counts``, or to this function again. :func:`add_counts` keeps them, each batch exactly once.

    Parameters
    ----------
    source, item, rating, counts, labels, frequency, scale, rater, time, window, every
        As in :func:`rate`.
    nulls, off_scale, duplicates, max_dropped
        As in :func:`rate`.
    sheet, encoding, header, engine, table, query, memory, spark_master, backend
        As in :func:`rate`.

    Returns
    -------
    frame
        As :func:`rate` returns it: the columns of the item, one column ``count_...`` for each
        value of the scale, and ``n_rows`` and ``n_null``, the rows read and those without a rating.

    Examples
    --------
    >>> import pyarrow as pa
    >>> day = pa.table({"hotel": ["A", "A", "B"], "stars": [5, 1, 4]})
    >>> count_ratings(day, "hotel", "stars").to_pylist()[0]
    {'hotel': 'A', 'count_1': 1, 'count_2': 0, 'count_3': 0, 'count_4': 0, 'count_5': 1, \
'n_rows': 2, 'n_null': 0}
    """
    given = dict(locals())
    where = Where(**{name: given[name] for name in _READING}, backend=backend)
    options = {name: given[name] for name in REQUEST_OPTIONS if name in given}
    options = recall_options(source, where, options) | {"q": 1.0, "level": None, "ranks": False}
    request = read_request(**options, only_counts=True)
    return _fetch(source, request, where, lambda job: in_order(counts_query(job), job.request))


def write_sql(
    item: Columns,
    rating: Columns | None = None,
    *,
    dialect: str,
    table: str = "ratings",
    view: str | None = None,
    dbt: bool = False,
    text_ratings: bool = False,
    ranks: bool = True,
    n_table: str | None = None,
    q_table: str | None = None,
    **options: Unpack[SqlOptions],
) -> str:
    """Write the query that rates every item, to be run inside a warehouse.

    Nobody looks at the rows first, so nothing is refused: rows without a rating or with one off
    the scale are not counted and the item is flagged ``rows_dropped``; rows that do not name an
    item, or no day of the calendar for a window, are left out; an item whose n is missing,
    varies or is less than the number of ratings is rated without n and flagged ``n_dropped``, or
    with strata ``n_raised``, unless ``bad_n`` says otherwise. Words that stand for
    ratings must be named in ``labels``.

    Parameters
    ----------
    item, rating, ranks
        As in :func:`rate`.
    dialect
        The engine to write for, such as ``"postgres"``, ``"bigquery"`` or ``"snowflake"``.
    table
        The table with the ratings, with its schema before a point if it needs one.
    view
        Write a statement that creates a view of this name.
    dbt
        Write a model of dbt: a table ``stays`` is the model of this name, ``raw.stays`` the table
        of a source.
    text_ratings
        Whether the ratings are stored as text.
    n_table, q_table
        Names of tables with n and q, with the columns of the item.
    **options
        Further options of :func:`rate`.

    Examples
    --------
    >>> text = write_sql("hotel", "stars", dialect="postgres", q=0.3, table="stays", level=None)
    >>> "FROM stays" in text
    True
    >>> text = write_sql("hotel", "stars", dialect="postgres", q=0.3, table="raw.stays", dbt=True)
    >>> "FROM {{ source('raw', 'stays') }}" in text
    True
    """
    dialect = read_dialect(dialect)
    if dbt and view is not None:
        raise OptionError(
            "view",
            problem="{view} and {dbt} cannot be combined, since dbt creates the views itself",
            hint="Leave {view} out, and say in the model's config that it is a view",
        )
    references = References()
    named = references.add if dbt else _parse_table_name
    for place, name in (("table", table), ("n_table", n_table), ("q_table", q_table)):
        if name is not None:
            check_table_name(place, name)
    check_options(write_sql, options, SqlOptions)
    request = read_request(
        item=item, rating=rating, n_table=n_table, q_table=q_table, ranks=ranks, **options
    )
    check_names(request.counts, request.scale if request.scale_stated else None)
    # How many items are compared is not known yet, and so is the level of ranks for all of them.
    request = replace(request.without_refusals(), sampling_error=False)
    relation: exp.Expr = named("table", table)
    if request.labels is not None:
        text_ratings, relation = True, write_stated_words(request, relation)
    kinds: dict[str, Kind] = dict.fromkeys(request.rating, "text" if text_ratings else "real")
    counting = write_count_query(request, relation, kinds, packed=None, named=True)
    counted: exp.Expr = counting.query.subquery(reserve("counted"))
    if request.window is not None:
        counted = write_window_query(request, request.window, counted).subquery(reserve("windows"))
    given = Prepared(
        counted,
        _second_by_name(request, named, "n_table", n_table, request.n_column, everything=True),
        _second_by_name(request, named, "q_table", q_table, request.q_column, everything=False),
        _all_balances(request),
        long_scale=long_scale(dialect),
    )
    query = write_rate_query(request, given)
    text = render(query, dialect, pretty=True)
    head = _header(request, dialect, query)
    if dbt:
        return f"{references.fill_in(head + text)}\n"
    if view is None:
        return f"{head}{text};\n"
    return f"{head}CREATE VIEW {render(_parse_table_name('view', view), dialect)} AS\n{text};\n"


def _parse_table_name(argument: str, name: str) -> exp.Table:
    parts = name.split(".")
    if len(parts) > 3:
        raise OptionError(
            argument,
            problem="{argument} has more than three parts",
            value=name,
            hint="Write catalog.schema.table at most",
        )
    return table_named(parts[-1], *parts[:-1])


def _second_by_name(
    request: Request,
    named: Callable[[str, str], exp.Table],
    place: str,
    name: str | None,
    value: str | None,
    *,
    everything: bool,
) -> SecondTable | None:
    if name is None or value is None:
        return None
    keys = request.groups if everything else request.item
    return SecondTable(named(place, name), keys, value, everything)


def _all_balances(request: Request) -> exp.Expr | None:
    """Write BEA's lambda out for every n for which the large-n form is not exact."""
    if request.method != "bea" or not request.balance_keys:
        return None
    if request.balance_keys != (N,):
        raise OptionError(
            "method",
            problem="bea with a participation ratio has no closed form in SQL",
            hint="State {floor} instead of {q}, or use midpoint",
        )
    import numpy as np
    import pyarrow as pa

    n = np.arange(0.0, LARGE_N)
    return inline("balances", pa.table({N: n, BALANCE: bea_lambda(n, request.assumption.q)}))  # type: ignore[arg-type]


_MORE_ROUNDS = (
    "Run this first, in the same session: SET spark.sql.analyzer.maxIterations = 200. Spark goes "
    "over a query 100 times at most, and this one has more steps."
)


def _header(request: Request, dialect: str, query: exp.Query) -> str:
    """Say, as comments, what the query computes and what its columns are."""
    from textwrap import wrap

    assumption = request.assumption.words()
    if request.q_column is not None:
        assumption = f"the participation ratio of each item is in column {request.q_column}."
    interval = "no confidence interval was asked for"
    if request.level is not None:
        interval = f"{percent_text(request.level)} confidence interval: adds sampling error"
    lines = [
        "A rating for every item, with an allowance for the people who did not respond.",
        f"Assumption: {assumption}",
        "Columns: n_ratings, n (people, if known), average of the respondents,",
        f"estimate ({request.method}), lower and upper (bounds: what the assumption allows),",
        f"ci_lower and ci_upper ({interval}), best_rank and",
        "worst_rank (rank range), notes (what to know before using the numbers).",
        *([FENCES[dialect]] if dialect in FENCES else []),
        *([_MORE_ROUNDS] if dialect in ANALYSED_IN_ROUNDS and needs_more_rounds(query) else []),
    ]
    return "".join(f"-- {part}\n" for line in lines for part in wrap(line, 92))
