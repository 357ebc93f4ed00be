"""Batches of counts: what they are called, what they hold, and which of them are new."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unheard.errors import ColumnError, DataError, OptionError
from unheard.model.histograms import LARGEST_COUNT
from unheard.tables.kept.settings import CountSettings
from unheard.tables.request import Kind, Request
from unheard.tables.sources.databases import is_database_file, is_url
from unheard.tables.sources.files import matching, not_found

if TYPE_CHECKING:
    import pyarrow as pa

_WORDS: dict[Kind, str] = {
    "whole": "whole numbers",
    "real": "numbers",
    "text": "text",
    "time": "dates or times",
    "other": "something else",
}


_DIGEST = re.compile(r"[0-9a-f]{32}-([0-9]+)")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class BatchSource:
    """Rows that are one batch.

    Attributes
    ----------
    batch
        What it is called.
    rows
        Where the rows are.
    name
        What messages call it.
    stamp
        A value that changes when its file is written to.
    """

    batch: str
    rows: Any
    name: str
    stamp: object = None

    def check_unchanged(self) -> None:
        """Raise if the file is no longer the one that its digest is of."""
        if self.stamp is not None and self.stamp != _stamp(self.rows):
            raise DataError(
                "source",
                problem="{path} was written to while it was read",
                hint="Try again when it is complete",
                path=self.name,
            )


@dataclass(frozen=True)
class Batch:
    """The counts of a batch.

    Attributes
    ----------
    batch
        What it is called.
    name
        What messages call it.
    counts
        Its counts, as :func:`conform` writes them.
    """

    batch: str
    name: str
    counts: pa.Table

    @property
    def rows(self) -> int:
        """The number of rows that were read for it."""
        return sum(self.counts["n_rows"].to_pylist())


@dataclass(frozen=True)
class State:
    """Counts that are kept: how they were made, and the rows read for each batch."""

    settings: CountSettings
    batches: Mapping[str, int]

    def choose_new(self, batches: Iterable[Batch]) -> list[Batch]:
        """Return the batches that were not added yet."""
        return [one for one in batches if one.batch not in self.batches]


@dataclass(frozen=True)
class Totals:
    """What is kept: rows of counts, rows read for them, ratings, batches."""

    items: int
    rows: int
    ratings: int
    batches: int


def list_batches(
    source: Any, batch: str | None, where: Mapping[str, Any], known: Mapping[str, int], into: str
) -> list[BatchSource]:
    """Divide a source into batches: each file is one, unless they are named together.

    A file is known by what is in it, so that it is the same batch under another name.

    Parameters
    ----------
    source
        The source.
    batch
        The name of the batch; None if it has none.
    where
        How to reach the source.
    known, into
        The batches that were added before, and where to.
    """
    if batch is not None:
        if not batch.strip():
            raise OptionError("batch", problem="{argument} is empty", hint="Name the batch")
        return [BatchSource(batch, source, f"batch {batch}")]
    named = isinstance(source, str | os.PathLike)
    text = os.fspath(source) if named else ""
    in_database = where["table"] or where["query"] or where["engine"] == "spark"
    if not named or text == "-" or in_database or is_url(text) or is_database_file(text):
        raise OptionError(
            "batch",
            problem="{argument} is missing: only files are known by their contents",
            hint="So that these rows are added once, use a name",
            examples=("2024-05-13",),
        )
    files = matching(text)
    if not files:
        raise not_found(text)
    found: dict[str, BatchSource] = {}
    for file in files:
        stamp = _stamp(file)
        name = _digest(file, known, into)
        if where["sheet"] is not None:
            name += f"#{where['sheet']}"
        found.setdefault(name, BatchSource(name, file, file, stamp))
    return list(found.values())


def _stamp(path: str) -> object:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


def _digest(path: str, known: Mapping[str, int], into: str) -> str:
    """Return a digest of a file and its size; raise if it is a known one that has grown."""
    sizes = {
        int(found[1])
        for batch, rows in known.items()
        if rows and (found := _DIGEST.fullmatch(batch))
    }
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        for end in (*sorted(sizes), None):
            while chunk := file.read(_CHUNK if end is None else min(_CHUNK, end - size)):
                digest.update(chunk)
                size += len(chunk)
            begun = f"{digest.hexdigest()[:32]}-{size}"
            if end == size and begun in known and file.peek(1):
                raise DataError(
                    "source",
                    problem="{path} begins with rows that were added to {kept} before",
                    hint="Put the new rows into a file of their own",
                    code="added_before",
                    path=path,
                    kept=into,
                )
    return f"{digest.hexdigest()[:32]}-{size}"


def conform(counts: pa.Table, request: Request) -> pa.Table:
    """Write the counts of a batch in types that every engine has."""
    import pyarrow as pa

    plain = [pa.field(one.name, _plain_type(one.type)) for one in counts.schema]
    for place, one in enumerate(plain):
        if one.name not in request.groups:
            plain[place] = pa.field(one.name, pa.int64())
    return counts.cast(pa.schema(plain))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if types.is_integer(kind):
        return pa.int64()
    if types.is_floating(kind):
        return pa.float64()
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return pa.string()
    return pa.date32() if types.is_date(kind) else kind


def kind_of(kind: pa.DataType) -> Kind:
    """Say what a column of a plain type holds."""
    from pyarrow import types

    if types.is_integer(kind):
        return "whole"
    if types.is_floating(kind):
        return "real"
    if types.is_string(kind):
        return "text"
    return "time" if types.is_date(kind) or types.is_timestamp(kind) else "other"


def check_kinds(batch: Batch, kept: Mapping[str, Kind], request: Request, into: str) -> None:
    """Raise if a column that names items holds something else than it did in earlier batches."""
    for key in request.groups:
        ours = kind_of(batch.counts.schema.field(key).type)
        if ours != kept[key] and batch.counts.num_rows:
            raise ColumnError(
                "item",
                problem="Column {column} of {batch} contains {ours}, and {theirs} in the counts in "
                "{kept}",
                hint="Convert it",
                code="wrong_column_type",
                column=repr(key),
                batch=batch.name,
                ours=_WORDS[ours],
                theirs=_WORDS[kept[key]],
                kept=into,
            )


def refuse_large(item: str, into: str) -> DataError:
    """Return the error about counts that add up to more than double precision holds exactly."""
    return DataError(
        "counts",
        problem="With these rows, the counts of {item} in {kept} would add up to more than "
        "{largest:,} for one rating",
        hint="Keep each sum at or below 2**53",
        item=item,
        kept=into,
        largest=LARGEST_COUNT,
    )
