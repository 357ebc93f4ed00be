"""Files of rows: which ones a name stands for, what they are, and how DuckDB reads them."""

from __future__ import annotations

import codecs
import difflib
import glob
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlglot import exp

from unheard.errors import QueryError, SourceError
from unheard.tables.engines.duckdb import DuckDB, is_duckdb, kind_of, quote_name, quote_text
from unheard.tables.engines.sqlite import is_sqlite
from unheard.tables.sources.delimited import read_delimited

_FORMS = {
    "csv": "csv", "tsv": "tsv", "tab": "tsv", "txt": "csv", "parquet": "parquet", "pq": "parquet",
    "json": "json", "jsonl": "json", "ndjson": "json",
}  # fmt: skip
_CLOSE = 0.75
_UTF8 = "Save it as UTF-8, which Excel calls CSV UTF-8"


def not_found(text: str) -> SourceError:
    """Return the error about a file that does not exist, with the name that may have been meant."""
    path = Path(text)
    near: list[str] = []
    if path.parent.is_dir():
        near = [
            name
            for name in difflib.get_close_matches(path.name, os.listdir(path.parent), cutoff=_CLOSE)
            # A suffix in common makes any two short names look alike.
            if difflib.SequenceMatcher(None, path.stem, Path(name).stem).ratio() >= _CLOSE
        ]
    hint = "Use a file, a glob, a database URL, or - for standard input"
    return SourceError(
        "source",
        problem="{path} does not exist",
        hint="Did you mean {near}?" if near else hint,
        code="file_not_found",
        path=text,
        near=str(path.parent / near[0]) if near else "",
    )


def _unreadable(problem: str, path: str, hint: str, **data: Any) -> SourceError:
    return SourceError("source", problem=problem, hint=hint, path=path, **data)


def matching(text: str) -> list[str]:
    """Return the files that a path or a glob stands for.

    What exists under the name as it is written, file or folder, is never read as a pattern. A
    pattern matches hidden files only where it writes their dot.
    """
    if os.path.isfile(text):
        return [text]
    folder = next((one for one in Path(text).parents if one.is_dir()), None)
    if folder is None or not glob.has_magic(text):
        return []
    pattern = str(Path(text).relative_to(folder))
    found = glob.glob(pattern, root_dir=folder, recursive=True)
    return sorted(str(folder / one) for one in found if (folder / one).is_file())


def head_of(path: str, text: str) -> bytes:
    """Return the beginning of a file."""
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError as error:
        raise _unreadable(
            "{path} cannot be read: {message}",
            text,
            "Check its permissions",
            message=error.strerror,
        ) from None


def form_of(text: str) -> str | None:
    """Tell the format of a file from its name; None if that does not tell."""
    name = text.lower()
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    return _FORMS.get(name.rpartition(".")[2])


def read_file(
    engine: DuckDB,
    path: str,
    as_text: Collection[str],
    words: str,
    numbers: Collection[str] | None = (),
    wanted: Collection[str] | None = None,
) -> exp.Expr:
    """Let DuckDB read files.

    Parameters
    ----------
    engine
        That reads.
    path
        A path or a glob.
    as_text
        Columns whose values are taken as they are written.
    words
        What messages call the files.
    numbers
        Columns in which a comma between digits is a decimal comma; None for all. Elsewhere it may
        stand for thousands.
    wanted
        Columns that are needed; None for all. If one of them is missing, the table has them all.
    """
    files = matching(path)
    empty = [one for one in files if os.path.getsize(one) == 0]
    if empty:
        raise _unreadable(
            "{path} is empty", words if len(files) == 1 else empty[0], "Use a file with a header"
        )
    head = head_of(files[0], words)
    form = form_of(path) if words != "-" else None
    if form is None:
        form = "parquet" if head.startswith(b"PAR1") else "csv"
        if head.lstrip()[:1] in (b"{", b"["):
            form = "json"
    for one in files:
        if form in ("csv", "tsv"):
            _refuse_binary(one, words if len(files) == 1 else one)
        _check_gzip(one)
    paths = _escape_paths(files)
    try:
        if form in ("csv", "tsv"):
            tabs = form == "tsv"
            return read_delimited(engine, paths, head, as_text, numbers, wanted, tabs=tabs)
        listed = f"[{', '.join(map(quote_text, paths))}]"
        if form == "json":
            return _read_json(engine, listed, as_text)
        engine.counts_rows_for_nothing = True
        together = ", union_by_name = true" if len(files) > 1 else ""
        return _view(engine, f"read_parquet({listed}{together})", wanted)
    except Exception as error:
        if form != "parquet" and not _is_utf8(files):
            raise _unreadable("{path} is not in UTF-8", words, _UTF8) from None
        message = error.message if isinstance(error, QueryError) else str(error)
        raise _unreadable(
            "{path} cannot be read as {form}: {message}",
            words,
            "Check the file and its ending",
            form=form,
            message=message.splitlines()[0],
        ) from error


def _escape_paths(files: Sequence[str]) -> list[str]:
    """Write paths so that DuckDB finds neither patterns nor addresses in them."""
    for path in files:
        if os.sep != "\\" and "\\" in path and glob.has_magic(path):
            raise _unreadable(
                "DuckDB cannot read {path}: its name has both a backslash and *, ? or [",
                path,
                "Rename it",
            )
    # The dot in front keeps ~ and http: from meaning anything.
    return [glob.escape(os.path.join(os.curdir, path)) for path in files]


def _check_gzip(path: str) -> None:
    """Refuse a damaged gzip file: DuckDB takes what it unpacks to without a look at its checksum.

    (It does look at those of zstd, where there are any.)
    """
    if not path.lower().endswith(".gz"):
        return
    import pyarrow as pa

    try:
        with pa.input_stream(path, compression="gzip") as unpacked:
            while unpacked.read(1 << 20):
                pass
    except OSError as error:
        raise _unreadable(
            "{path} is a damaged gzip file: {message}",
            path,
            "Create or download it again",
            message=str(error),
        ) from None


def _view(engine: DuckDB, source: str, wanted: Collection[str] | None) -> exp.Expr:
    """Give the wanted columns of a source a name: thousands more would cost a minute.

    If one of them is not there, or in other letters, all columns are taken.
    """
    if wanted:
        try:
            narrow = engine.view(f"select {', '.join(map(quote_name, wanted))} from {source}")
        except QueryError:
            pass
        else:
            if engine.columns(narrow).keys() == {*wanted}:
                return narrow
    return engine.view(f"select * from {source}")


def _is_utf8(files: Sequence[str]) -> bool:
    """Whether all of some files are text in UTF-8; packed ones are taken to be."""
    for path in files:
        if path.lower().endswith((".gz", ".zst")):
            continue
        with open(path, encoding="utf-8") as file:
            try:
                while file.read(1 << 20):
                    pass
            except UnicodeDecodeError:
                return False
    return True


def _refuse_binary(path: str, words: str) -> None:
    head = head_of(path, words)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise _unreadable("{path} is in UTF-16", words, _UTF8)
    if path.lower().endswith((".gz", ".zst")) or b"\0" not in head:
        return
    # Queries that a database brings along run only if the user has called it one.
    for name, is_one in (("DuckDB", is_duckdb), ("SQLite", is_sqlite)):
        if is_one(head):
            raise _unreadable(
                "{path} is a {kind} database",
                words,
                "Export its table as CSV or Parquet, or name the database: {url}",
                kind=name,
                url=f"{name.lower()}:///{words}",
            )
    raise _unreadable(
        "{path} is a binary file", words, "Use a CSV, TSV, Parquet or JSON lines file"
    )


def _read_json(engine: DuckDB, listed: str, as_text: Collection[str]) -> exp.Expr:
    source = f"read_json({listed}, union_by_name = true)"
    found = engine.execute(f"describe select * from {source}").fetchall()
    guessed = [row for row in found if row[0] in as_text and kind_of(row[1]) in ("time", "other")]
    if any(row[1] != "JSON" for row in guessed):
        # Names that look like dates are names.
        names = {row[0] for row in guessed if row[1] != "JSON"}
        kept = ", ".join(
            f"{quote_text(name)}: {quote_text('VARCHAR' if name in names else kind)}"
            for name, kind, *_ in found
        )
        source = f"read_json({listed}, columns = {{{kept}}})"
    # A column of numbers and text comes as JSON; its values are taken out as text.
    mixed = [row[0] for row in found if row[1] == "JSON" and row[0] in as_text]
    taken = ", ".join(f"{quoted} ->> '$' as {quoted}" for quoted in map(quote_name, mixed))
    replaced = f" replace ({taken})" if taken else ""
    return engine.view(f"select *{replaced} from {source}")


def files_of(*sources: Any) -> list[str]:
    """Return the files that sources stand for."""
    found: list[str] = []
    for source in sources:
        if isinstance(source, str | os.PathLike):
            text = os.fspath(source)
            url = re.match(r"(sqlite|duckdb):///", text)
            found += matching(unquote(urlsplit(text).path)[1:] if url else text)
    return found
