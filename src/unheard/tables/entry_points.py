"""The functions that people call: ``rate``, ``rank``, ``count_ratings`` and ``write_sql``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from unheard.errors import OptionError
from unheard.formulas.bea import LARGE_N, bea_lambda
from unheard.model.assumption import Assumption
from unheard.model.scale import Scale
from unheard.tables.engines.base import inline
from unheard.tables.engines.base import table as table_named
from unheard.tables.pipeline import Job, counts_query, in_order, prepare, read_request
from unheard.tables.request import Kind, Request, check_table_name, ordered
from unheard.tables.sources.open import Where
from unheard.tables.sql.count_query import counting, windowed
from unheard.tables.sql.dialects import checked_dialect, render
from unheard.tables.sql.rate_query import Prepared, SecondTable
from unheard.tables.sql.rate_query import rating as rating_query
from unheard.tables.sql.reserved_names import BALANCE, N, reserve
from unheard.tables.sql.sort import sort_column, sorted_rows


class DroppedRowsWarning(UserWarning):
    """Rows were left out of a result, as asked."""


def rate(
    source: Any,
    item: str | Iterable[str],
    rating: str | Iterable[str] | None = None,
    *,
    counts: str | Iterable[str] | None = None,
    q: float | str | None = None,
    q_table: Any = None,
    floor: float | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Assumption | None = None,
    n: float | str | None = None,
    n_table: Any = None,
    scale: Scale | Sequence[float] | str | None = None,
    method: str | None = None,
    level: float | None = 0.95,
    covers: str = "mean",
    strata: str | Iterable[str] | None = None,
    weight: str | None = None,
    rater: str | None = None,
    time: str | None = None,
    window: str | None = None,
    every: str | None = None,
    nulls: str = "refuse",
    off_scale: str = "refuse",
    duplicates: str = "refuse",
    ranks: bool = True,
    shared: bool = False,
    min_ratings: int = 0,
    sort: str | bool = True,
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
        glob of CSV, TSV, Parquet or JSON lines files, a DuckDB or SQLite file (``.db``,
        ``.duckdb``, ``.sqlite``), or a database URL.
    item
        The column that says what was rated, or several.
    rating
        The column with ratings, of a table with a row per rating. Several columns are several
        attributes, each rated on its own; the result then has a column ``attribute``.
    counts
        Instead of ``rating``: the columns with counts, lowest rating first, of a table of counts.
        Rows of the same item are added up.
    q
        The participation ratio: a number, a preset (``survey``, ``reviews``, ``media``), or the
        column that holds it. See :func:`unheard.estimate`.
    q_table
        A second table with q: by item, or by any other column that is part of ``item``.
    floor, quiet, participation, g, assumption, method, level, covers
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
    weight
        The column with survey weights: a rating counts for as much as its row weighs, and the
        confidence interval allows for weights that go with the rating. The number of people must be
        unknown.
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
    shared
        Whether one participation is the same for all items, so that it distorts all of them alike:
        then far more of the order is settled. Bounds and confidence intervals stay as they are.
    min_ratings
        Leave out items with fewer ratings.
    sort
        By which column to sort the rows, or ``"item"``. By default the best come first: by
        ``ci_lower``, so that one good review does not win (by ``lower`` with ``level=None``), and
        equal ones by ``estimate``. False: in any order, a little sooner.
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
        ``ci_lower``, ``ci_upper``, ``best_rank``, ``worst_rank``, ``ci_best_rank``,
        ``ci_worst_rank`` (ranks that allow for sampling error, of all items together), ``notes``
        (names with spaces between).

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
    arguments = dict(locals())
    for name in ("source", "sort", "engine", "table", "query", "memory", "spark_master"):
        del arguments[name]
    where = Where(engine, table, query, memory, spark_master)
    request = read_request(**arguments)
    return _answered(source, request, where, _rows(request, sort))


def rank(
    source: Any,
    item: str | Iterable[str],
    rating: str | Iterable[str] | None = None,
    *,
    k: int | None = None,
    above: float | None = None,
    below: float | None = None,
    noise: bool = True,
    sort: str | bool = True,
    engine: str | None = None,
    table: str | None = None,
    query: str | None = None,
    memory: str | None = None,
    spark_master: str | None = None,
    **settings: Any,
) -> Any:
    """Say what is settled about the order of the items of a table.

    Parameters
    ----------
    source, item, rating, sort, engine, table, query, memory, spark_master
        As in :func:`rate`.
    k
        Say who is among the k best.
    above, below
        A claim: that the mean is above, or below, this threshold. Each item is then given the
        breakdown q of the claim, see :func:`unheard.find_breakdown`.
    noise
        Whether to say as well what is settled in spite of sampling noise. Ranks compare items, so
        the confidence intervals behind them hold for all items together with the level stated.
    **settings
        Further arguments of :func:`rate`: the counts, the assumption, n, and so on. With
        ``shared=True`` items are ranked as rated by one crowd, see :func:`unheard.rank_shared`.

    Returns
    -------
    frame
        As :func:`rate` returns it, ranks included, with further columns before the notes:
        ``average_rank``, the rank by the plain average; ``tier``, 1 for the best, items of
        different tiers cannot change places; ``top``, whether an item is among the k best:
        ``surely``, ``possibly`` or ``no``; ``ci_best_rank``, ``ci_worst_rank`` and ``ci_top``, the
        same with noise; ``breakdown_q``, null if the claim does not even hold at q = 1.

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
    request = read_request(item=item, rating=rating, **settings)
    request = ordered(request, k, above, below, noise, settings.get("method"))
    where = Where(engine, table, query, memory, spark_master)
    return _answered(source, request, where, _rows(request, sort))


def _answered(
    source: Any, request: Request, where: Where, query: Callable[[Job], exp.Query]
) -> Any:
    """Run a request and return what a query of the job gives, as the kind of frame that came in."""
    job = prepare(source, request, where)
    try:
        for note in job.messages:
            warnings.warn(note, DroppedRowsWarning, stacklevel=3)
        return job.opened.back(query(job))
    finally:
        job.close()


def _rows(request: Request, sort: str | bool) -> Callable[[Job], exp.Query]:
    """Return what makes the query for the rows of a result, in their order."""
    if sort is False:
        return lambda job: job.query
    by = sort_column(request, None if sort is True else sort)
    return lambda job: sorted_rows(job.query.subquery(reserve("result")), request, by)


def count_ratings(
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
    >>> count_ratings(day, "hotel", "stars").to_pylist()[0]
    {'hotel': 'A', 'count_1': 1, 'count_2': 0, 'count_3': 0, 'count_4': 0, 'count_5': 1, \
'n_rows': 2, 'n_null': 0}
    """
    arguments = dict(locals())
    for name in ("source", "engine", "table", "query", "memory", "spark_master"):
        del arguments[name]
    request = read_request(**arguments, q=1.0, level=None, ranks=False, only_counts=True)
    where = Where(engine, table, query, memory, spark_master)
    return _answered(source, request, where, lambda job: in_order(counts_query(job), job.request))


def write_sql(
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
    >>> text = write_sql("hotel", "stars", dialect="postgres", q=0.3, table="stays", level=None)
    >>> "FROM stays" in text
    True
    """
    dialect = checked_dialect(dialect)
    for place, name in (("table", table), ("n_table", n_table), ("q_table", q_table)):
        if name is not None:
            check_table_name(place, name)
    request = read_request(
        item=item,
        rating=rating,
        counts=counts,
        n_table=n_table,
        q_table=q_table,
        **settings,
    )
    if request.shared:
        raise OptionError("shared", "has no form in SQL", "Rank by pairs with rate or rank")
    # How many items are compared is not known yet, and so is the level of ranks for all of them.
    request = replace(request, sampling_error=False)
    kinds: dict[str, Kind] = dict.fromkeys(request.rating, "text" if text_ratings else "real")
    counted: exp.Expr = counting(
        request, _named("table", table), kinds, packed=False
    ).query.subquery(reserve("counted"))
    if request.window is not None:
        counted = windowed(request, request.window, counted).subquery(reserve("windows"))
    given = Prepared(
        counted,
        _second_by_name(request, "n_table", n_table, request.n_column, everything=True),
        _second_by_name(request, "q_table", q_table, request.q_column, everything=False),
        _all_balances(request),
        unchecked=True,
    )
    text = render(rating_query(request, given), dialect, pretty=True)
    head = _header(request)
    if create_view is None:
        return f"{head}{text};\n"
    view = _named("create_view", create_view).sql(dialect)
    return f"{head}CREATE VIEW {view} AS\n{text};\n"


def _named(place: str, name: str) -> exp.Table:
    parts = name.split(".")
    if len(parts) > 3:
        raise OptionError(place, f"{name!r} has {len(parts)} parts", "Give at most three")
    return table_named(parts[-1], *parts[:-1])


def _second_by_name(
    request: Request, place: str, name: str | None, value: str | None, *, everything: bool
) -> SecondTable | None:
    if name is None or value is None:
        return None
    keys = request.groups if everything else request.item
    return SecondTable(_named(place, name), keys, value, everything)


def _all_balances(request: Request) -> exp.Expr | None:
    """Write BEA's lambda out for every n for which the large-n form is not exact."""
    if request.method != "bea" or not request.balance_keys:
        return None
    if request.balance_keys != (N,):
        raise OptionError(
            "method",
            "bea with a participation ratio has no closed form in SQL",
            "State a floor, or use midpoint",
        )
    import numpy as np
    import pyarrow as pa

    n = np.arange(0.0, LARGE_N)
    return inline("balances", pa.table({N: n, BALANCE: bea_lambda(n, request.assumption.q)}))  # type: ignore[arg-type]


def _header(request: Request) -> str:
    """Say, as comments, what the query computes and what its columns are."""
    from textwrap import wrap

    words = request.assumption.words()
    if request.q_column is not None:
        words = f"q is column {request.q_column}: how quiet people may be, item by item."
    lines = [
        "An honest rating for every item, with an allowance for the people who said nothing.",
        f"Assumption: {words}",
        "Columns: n_ratings, n (people, if known), average of those who answered,",
        f"estimate ({request.method}), lower and upper (everything the assumption allows),",
        "ci_lower and ci_upper (with sampling noise), best_rank and worst_rank (possible ranks),",
        "notes (what must be known before using the numbers).",
    ]
    return "".join(f"-- {part}\n" for line in lines for part in wrap(line, 92))
