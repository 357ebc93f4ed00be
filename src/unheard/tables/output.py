"""Results written to files: beside the target first, then put in its place in one step."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlglot import exp

from unheard.errors import OptionError
from unheard.tables.engines.base import Engine
from unheard.tables.engines.duckdb import DuckDB

_FORMATS = {
    ".csv": "format csv, header true",
    ".tsv": "format csv, header true, delimiter '\t'",
    ".parquet": "format parquet",
    ".json": "format json, array true",
    ".jsonl": "format json, array false",
    ".ndjson": "format json, array false",
}


def check_target(
    path: Path, inputs: Iterable[str], endings: Collection[str] = tuple(_FORMATS)
) -> None:
    """Raise unless a result can be written there; ``inputs`` are the files that are read."""
    if path.suffix.lower() not in endings:
        raise OptionError(
            "output", f"{path} has an unknown ending", f"Choose one of {', '.join(endings)}"
        )
    if not path.parent.is_dir():
        raise OptionError("output", f"there is no folder {path.parent}", "Make it first")
    if path.is_dir():
        raise OptionError("output", f"{path} is a folder", "Name a file")
    if path.exists() and any(path.samefile(given) for given in inputs):
        raise OptionError("output", f"{path} is read as a table", "Write to another file")


def write(engine: Engine, query: exp.Query, path: Path, *, flags: bool) -> None:
    """Write a result to a file whose ending tells the format.

    Parameters
    ----------
    engine, query
        What to write, and where it is worked out.
    path
        The file; one that is there is replaced.
    flags
        Whether the result has a column of flags.
    """
    if isinstance(engine, DuckDB):
        _copy(engine, query, path, flags)
        return
    writer = DuckDB()
    try:
        # The rows come in order, and are to stay so.
        writer.execute("set preserve_insertion_order = true")
        rows = writer.register(engine.arrow(query))
        _copy(writer, exp.select("*").from_(rows), path, flags)
    finally:
        writer.close()


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """Yield a file next to the target; it takes the target's place only if all went well."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _copy(engine: DuckDB, query: exp.Query, path: Path, flags: bool) -> None:
    ending = path.suffix.lower()
    text = engine.text(query)
    if flags and "json" in _FORMATS[ending]:
        # In JSON the flags are a list, as in the answers to single histograms.
        text = (
            "select * replace (case when flags = '' then [] else string_split(flags, ' ') end "
            f"as flags) from ({text})"
        )
    with beside(path) as partial:
        place = str(partial).replace("'", "''")
        engine.execute(f"copy ({text}) to '{place}' ({_FORMATS[ending]})")
