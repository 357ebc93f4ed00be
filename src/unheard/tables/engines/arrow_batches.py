"""Formulas evaluated on a query's rows by NumPy, for engines that run in this process.

A database needs the closed forms as SQL. DuckDB is here already: its rows come as Arrow batches
without a copy, and NumPy evaluates the formulas faster than the database plans a query for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from unheard.formulas.operations import Column, Floats, NumpyOperations, Operations, blocks

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_IN_MEMORY = 2**27
"""Bytes of results that are held in memory; more go to a file."""


class Source(Operations, Protocol):
    """The columns of a table, and what can be done with columns."""

    def column(self, name: str) -> Column:
        """Return a column by its name."""

    def missing(self) -> Column:
        """Return a column without values."""

    def ratings(self, columns: Sequence[Column]) -> Sequence[Column]:
        """Return columns or numbers along the scale, one per rating."""


Formula: TypeAlias = Callable[[Source], Mapping[str, Column]]
"""Makes named columns from those of a table."""


class Block(NumpyOperations):
    """Some rows of a table; implements :class:`Source`."""

    def __init__(self, columns: Mapping[str, Floats]) -> None:
        self._columns = columns

    def column(self, name: str) -> Floats:
        """Return a column by its name."""
        return self._columns[name]

    def missing(self) -> float:
        """Return the value that stands for null."""
        return np.nan

    def ratings(self, columns: Sequence[Column]) -> Sequence[Column]:
        """Return columns or numbers along the scale: as they are."""
        return columns


def carry_out(
    formula: Formula, rows: pa.RecordBatchReader, keys: Sequence[str], folder: Path | None = None
) -> pa.Table:
    """Evaluate a formula on all rows.

    Parameters
    ----------
    formula
        What is computed.
    rows
        The rows, in batches; columns other than the keys hold numbers.
    keys
        Columns that are handed on.
    folder
        Where results go that do not fit into memory; None keeps them all in memory.
    """
    import pyarrow as pa

    empty = pa.RecordBatch.from_pylist([], rows.schema)
    schema = answer_batch(formula, empty, keys).schema
    return _collect((answer_batch(formula, batch, keys) for batch in rows), schema, folder)


def answer_batch(formula: Formula, batch: pa.RecordBatch, keys: Sequence[str]) -> pa.RecordBatch:
    """Evaluate a formula on some rows."""
    import pyarrow as pa

    found = _answers(formula, batch, keys)
    columns = {name: batch.column(name) for name in keys}
    # What is not a number was missing.
    columns |= {name: pa.array(each, from_pandas=True) for name, each in found.items()}
    return pa.record_batch(columns)


def names_of(formula: Formula, columns: Iterable[str]) -> list[str]:
    """List the columns that a formula makes from a table with these columns."""
    return list(formula(Block({name: np.empty(0) for name in columns})))


def _answers(formula: Formula, batch: pa.RecordBatch, keys: Sequence[str]) -> dict[str, Floats]:
    """Evaluate a batch, a block of rows at a time."""
    columns = {
        name: batch.column(name).to_numpy(zero_copy_only=False)
        for name in batch.schema.names
        if name not in keys
    }
    found: dict[str, Floats] = {}
    # An item without ratings divides nothing by nothing; its rows are replaced afterwards.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for block in blocks(batch.num_rows) if batch.num_rows else [slice(0)]:
            part = formula(Block({name: column[block] for name, column in columns.items()}))
            for name, answer in part.items():
                whole = found.setdefault(name, np.empty(batch.num_rows))
                whole[block] = answer
    return found


def _collect(batches: Iterable[pa.RecordBatch], schema: pa.Schema, folder: Path | None) -> pa.Table:
    """Gather batches, in a file once there are too many for memory."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    size, rest = 0, iter(batches)
    for batch in rest:
        held.append(batch)
        size += batch.nbytes
        if folder is not None and size > _MOST_IN_MEMORY:
            break
    else:
        return pa.Table.from_batches(held, schema)
    assert folder is not None  # without one nothing is too much
    path = folder / f"answers_{id(held)}.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        while held:
            writer.write_batch(held.pop())
        for batch in rest:
            writer.write_batch(batch)
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
