"""Counts kept in a Parquet file: a row per item, and in its metadata settings and batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from unheard.errors import SourceError
from unheard.files import check_replaceable, follow_link, lock_file
from unheard.model.histograms import LARGEST_COUNT
from unheard.tables.engines.duckdb import DuckDB, quote_name, quote_text
from unheard.tables.kept.batches import Batch, State, Totals, check_kinds, kind_of, refuse_large
from unheard.tables.kept.settings import CountSettings
from unheard.tables.output.write import copy_to_file
from unheard.tables.request import Request
from unheard.tables.sources.files import read_file
from unheard.tables.sources.reading import Reading, Roles

ENDINGS = (".parquet", ".pq")

_KEY = "unheard_counts"


class CountsFile:
    """Counts kept in a file; processes that add to it wait for each other."""

    def __init__(self, path: Path) -> None:
        self.path, self.words = path, str(path)
        folder = follow_link(path).parent
        if not folder.is_dir():
            raise SourceError(
                "into",
                problem="The folder {path} does not exist",
                hint="Create it first",
                path=str(folder),
            )
        check_replaceable(path, "into")

    def read(self) -> State | None:
        """Return what is kept; None if nothing is kept yet."""
        if not self.path.exists():
            return None
        found = read_state(self.path)
        if found is None:
            raise SourceError(
                "into",
                problem="{path} exists but holds no kept counts",
                hint="Name another file",
                path=self.words,
            )
        return found

    def add(
        self, request: Request, batches: Sequence[Batch], memory: str | None
    ) -> tuple[list[Batch], Totals]:
        """Add the batches that are new, all of them or none; return them, and what is kept."""
        settings = CountSettings.of(request)
        with lock_file(self.path, "into"):
            state = self.read() or State(settings, {})
            state.settings.check_same(settings, self.words)
            new = state.choose_new(batches)
            engine = DuckDB(memory)
            try:
                self._merge(engine, request, new)
                query = _TOTALS.format(_sum_of(request))
                ((items, rows, ratings),) = engine.execute(query).fetchall()
                if new:
                    known = {**state.batches, **{one.batch: one.rows for one in new}}
                    self._write(engine, request, State(state.settings.add(settings), known))
            finally:
                engine.close()
        return new, Totals(items, rows or 0, ratings or 0, len(state.batches) + len(new))

    def _merge(self, engine: DuckDB, request: Request, batches: Sequence[Batch]) -> None:
        """Merge what is kept and what is new, in a table of the engine."""
        parts: list[exp.Expr] = []
        if self.path.exists():
            parts.append(read_file(engine, self.words, self.words, Roles(), Reading())[0])
            from pyarrow.parquet import read_schema

            kept = {one.name: kind_of(one.type) for one in read_schema(self.path)}
            for batch in batches:
                check_kinds(batch, kept, request, self.words)
        parts += [engine.register(batch.counts) for batch in batches]
        keys = [quote_name(key) for key in request.groups]
        counted = [*map(quote_name, request.count_names), *map(quote_name, request.row_names)]
        sums = [f"cast(sum({name}) as bigint) as {name}" for name in counted]
        rows = " union all by name ".join(f"select * from {engine.text(one)}" for one in parts)
        listed = ", ".join(keys)
        engine.execute(
            f"create temp table merged as select {', '.join([*keys, *sums])} "
            f"from ({rows}) group by {listed} order by {listed}"
        )
        if request.counts:
            large = " or ".join(
                f"{quote_name(name)} > {LARGEST_COUNT}" for name in request.count_names
            )
            found = engine.execute(f"select {listed} from merged where {large}").fetchone()
            if found is not None:
                raise refuse_large(", ".join(map(repr, found)), self.words)

    def _write(self, engine: DuckDB, request: Request, state: State) -> None:
        listed = ", ".join(quote_name(key) for key in request.groups)
        about = {"settings": json.loads(state.settings.write()), "batches": dict(state.batches)}
        form = f"format parquet, kv_metadata {{{_KEY}: {quote_text(json.dumps(about))}}}"
        copy_to_file(engine, f"from merged order by {listed}", self.path, form, "into")


_TOTALS = "select count(*), sum(n_rows), sum({}) from merged"


def _sum_of(request: Request) -> str:
    return " + ".join(map(quote_name, request.count_names))


def read_state(path: Path) -> State | None:
    """Read what a Parquet file says of the counts in it; None if it says nothing."""
    import pyarrow as pa
    from pyarrow.parquet import read_metadata

    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return None
    try:
        metadata = read_metadata(path).metadata or {}
    except (pa.ArrowInvalid, OSError):
        return None  # the error of whatever reads its rows is clearer
    text = metadata.get(_KEY.encode())
    if text is None:
        return None
    about = json.loads(text)
    return State(CountSettings.read(json.dumps(about.get("settings"))), about.get("batches", {}))
