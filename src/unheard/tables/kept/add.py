"""`add_counts`: count a batch of rows, and add it to kept counts exactly once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from unheard.errors import OptionError
from unheard.model.arguments import Columns, ReadingOptions, Table
from unheard.model.arguments import Path as FilePath
from unheard.model.results import Result
from unheard.model.scale import ScaleLike
from unheard.options.choices import Engine, Nulls, OffScale
from unheard.options.unknown import suggests_names
from unheard.tables.kept.batches import Batch, BatchSource, conform, list_batches
from unheard.tables.kept.in_file import ENDINGS, CountsFile
from unheard.tables.kept.in_table import DEFAULT_TABLE, CountsTable
from unheard.tables.kept.recall import recall_options
from unheard.tables.kept.settings import CountSettings
from unheard.tables.pipeline import REQUEST_OPTIONS, counts_query, prepare, read_request
from unheard.tables.progress import Watch
from unheard.tables.request import Request
from unheard.tables.sources.databases import DATABASE_ENDINGS, is_url, split_source
from unheard.tables.sources.files import files_of
from unheard.tables.sources.open import Where

if TYPE_CHECKING:
    import pyarrow as pa

Target: TypeAlias = CountsFile | CountsTable


@dataclass(frozen=True)
class AddedBatch:
    """A batch of rows that was to be added.

    Attributes
    ----------
    batch
        What it is called: the name it was given, or a digest of the contents of its file.
    name
        What messages call it.
    rows
        Rows that were added; 0 if the batch had been added before.
    added
        Whether it was added now.
    """

    batch: str
    name: str
    rows: int
    added: bool


@dataclass(frozen=True, repr=False)
class AddedCounts(Result):
    """What was added to kept counts, and what is kept now.

    Attributes
    ----------
    into
        Where the counts are kept.
    batches
        The batches that were to be added.
    n_batches
        Number of batches that are kept, these included.
    n_rows
        Number of rows that were read for them.
    n_ratings
        Number of ratings among them.
    n_items
        Number of rows of counts: one for each item, in each window and for each attribute.
    messages
        What was done to rows that could not be used as they were, in sentences.
    """

    into: str
    batches: tuple[AddedBatch, ...]
    n_batches: int
    n_rows: int
    n_ratings: int
    n_items: int
    messages: tuple[str, ...] = ()


@suggests_names
def add_counts(
    source: Table,
    into: FilePath,
    item: Columns | None = None,
    rating: Columns | None = None,
    *,
    batch: str | None = None,
    labels: str | Mapping[str, float | None] | None = None,
    frequency: str | None = None,
    counts: Columns | None = None,
    scale: ScaleLike | None = None,
    time: str | None = None,
    window: str | None = None,
    every: str | None = None,
    nulls: Nulls | None = None,
    off_scale: OffScale | None = None,
    max_dropped: float = 0.5,
    rater: str | None = None,
    sheet: str | int | None = None,
    encoding: str | None = None,
    header: str | int | None = None,
    table: str | None = None,
    query: str | None = None,
    engine: Engine | None = None,
    spark_master: str | None = None,
    memory: str | None = None,
) -> AddedCounts:
    """Count a batch of rows and add it to kept counts, exactly once.

    Rate kept counts with :func:`rate` whenever you like, ``rate("counts.parquet", q=0.3)``: the
    result is that of all rows at once, which need not be read again. A crash leaves the old counts.

    Parameters
    ----------
    source
        The batch, as in :func:`rate`. Each file of a glob is a batch.
    into
        Where the counts are kept: a Parquet file, or a table of a database, such as
        ``"counts.duckdb"``, ``"hotels.sqlite#kept"`` or ``"postgresql://me@host/db#kept"``; the
        table is called ``counts`` unless another name follows ``#``. It is created when the first
        batch is added.
    item, rating, counts, labels, frequency, scale, time, window, nulls, off_scale
        As in :func:`rate`. Later batches are counted as the first one was, and refused if other
        settings are given. Only words that are new may be added to ``labels``, and what to do with
        bad rows may be said once there are some.
    max_dropped
        As in :func:`rate`, for each of these batches.
    batch
        The name of the batch; a batch of a name that was added is not added again. A file is by
        default known by its contents. Frames, databases and standard input must be named.
    every, rater
        Refused if the counts of batches would not add up: where windows overlap, and where a
        rater's ratings are to be told apart.
    sheet, encoding, header, table, query, engine, spark_master, memory
        As in :func:`rate`. A sheet that is named is a batch of its own.

    Returns
    -------
    AddedCounts
        Which batches were added, and how much is kept.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> monday = pa.table({"hotel": ["A", "A", "B"], "stars": [5, 1, 4]})
    >>> tuesday = pa.table({"hotel": ["B", "C"], "stars": [2, 3]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = add_counts(monday, f"{folder}/kept.parquet", "hotel", "stars", batch="monday")
    ...     second = add_counts(tuesday, f"{folder}/kept.parquet", batch="tuesday")
    ...     again = add_counts(monday, f"{folder}/kept.parquet", batch="monday")
    >>> first.n_ratings, second.n_ratings, again.n_ratings
    (3, 5, 5)
    """
    given = dict(locals())
    where = Where(**{name: given[name] for name in ReadingOptions.__annotations__})
    options = {name: given[name] for name in REQUEST_OPTIONS if name in given}
    found = add_batches(source, into, batch, options, where)
    from unheard.tables.public_functions import warn_of

    warn_of(found.messages)
    return found


def add_batches(
    source: Any,
    into: FilePath,
    batch: str | None,
    options: Mapping[str, Any],
    where: Where,
    watch: Watch | None = None,
) -> AddedCounts:
    """Do what :func:`add_counts` does; options that are None were not given."""
    target = open_target(into)
    state = target.read()
    _refuse_kept(source, where, options, target)
    options = options if state is None else state.settings.complete(options)
    stated = {name: value for name, value in options.items() if value is not None}
    request = read_request(
        **{"item": None, **stated}, q=1.0, level=None, ranks=False, only_counts=True
    )
    settings = CountSettings.of(request)
    if state is not None:
        state.settings.check_same(settings, target.words)
        request = replace(request, scale_kept=True)
    known = {} if state is None else state.batches
    sources = list_batches(source, batch, vars(where), known, target.words)
    counted: list[Batch] = []
    messages: list[str] = []
    for one in sources:
        if one.batch not in known:
            # Words that are recognised in one batch are known in the next.
            counts, request, told = _count(one, request, where, watch)
            counted.append(Batch(one.batch, one.name, counts))
            messages += told
    added, totals = target.add(request, counted, where.memory)
    rows = {one.batch: one.rows for one in added}
    return AddedCounts(
        target.words,
        tuple(
            AddedBatch(one.batch, one.name, rows.get(one.batch, 0), one.batch in rows)
            for one in sources
        ),
        totals.batches,
        totals.rows,
        totals.ratings,
        totals.items,
        tuple(messages),
    )


def open_target(into: FilePath) -> Target:
    """Return what keeps counts under a name, which may end in # and the name of a table."""
    text = os.fspath(into)
    if text.lower().endswith(ENDINGS):
        return CountsFile(Path(text))
    database, table = split_source(text)
    if is_url(database) or database.lower().endswith(DATABASE_ENDINGS):
        return CountsTable(database, table or DEFAULT_TABLE)
    raise OptionError(
        "into",
        problem="{argument} must be a Parquet file, or a database",
        value=text,
        hint="Name one",
        examples=("counts.parquet", "counts.duckdb", "postgresql://me@host/db#counts"),
    )


def _refuse_kept(source: Any, where: Where, options: Mapping[str, Any], target: Target) -> None:
    """Refuse a source that is itself kept counts: batches added to both would be counted twice."""
    same = isinstance(target, CountsFile) and target.path.exists()
    if same and any(target.path.samefile(file) for file in files_of(source)):  # type: ignore[union-attr]
        raise OptionError(
            "into",
            problem="{path} is also read as a table",
            hint="Keep the counts in another file",
            path=target.words,
        )
    if recall_options(source, where, options).get("kept"):
        raise OptionError(
            "source",
            problem="{argument} holds kept counts, and its batches might be added twice",
            hint="Add the tables that it was made of",
            code="not_additive",
        )


def _count(
    source: BatchSource, request: Request, where: Where, watch: Watch | None
) -> tuple[pa.Table, Request, list[str]]:
    """Count a batch; return the request with its scale and words, and what was done to its rows."""
    job = prepare(source.rows, request, where, watch)
    try:
        counts = job.opened.engine.arrow(counts_query(job)).read_all()
    finally:
        job.close()
    source.check_unchanged()
    request = replace(request, scale=job.request.scale, labels=job.request.labels)
    request = replace(request, scale_stated=True, scale_kept=True)
    return conform(counts, request), request, job.messages
