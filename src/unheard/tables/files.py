"""Files of rows: which ones a name stands for, what they are, and how DuckDB reads them."""

from __future__ import annotations

import codecs
import difflib
import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlglot import exp

from unheard.errors import SourceError
from unheard.tables.engines.duckdb import DuckDB, kind_of

_FORMS = {
    "csv": "csv", "tsv": "tsv", "tab": "tsv", "txt": "csv", "parquet": "parquet", "pq": "parquet",
    "json": "json", "jsonl": "json", "ndjson": "json",
}  # fmt: skip
_UTF8 = "Save it again as UTF-8, which Excel calls CSV UTF-8"


def not_found(text: str) -> SourceError:
    """Return the error about a file that is not there, with a guess what was meant."""
    path = Path(text)
    near: list[str] = []
    if path.parent.is_dir():
        near = difflib.get_close_matches(path.name, os.listdir(path.parent), n=1)
    guess = f"Did you mean {path.parent / near[0]}? " if near else ""
    return SourceError(
        text,
        "there is no such file",
        f"{guess}Give a file, a glob, a database URL, or - for standard input",
    )


def matching(text: str) -> list[str]:
    """Return the files that a path or a glob stands for."""
    if os.path.isfile(text):
        return [text]
    if any(sign in text for sign in "*?["):
        return sorted(found for found in glob.glob(text, recursive=True) if os.path.isfile(found))
    return []


def head_of(path: str, text: str) -> bytes:
    """Return the beginning of a file."""
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError as error:
        raise SourceError(
            text, f"it cannot be read: {error.strerror}", "Check its permissions"
        ) from None


def form_of(text: str) -> str | None:
    """Tell the format of a file from its name; None if that does not tell."""
    name = text.lower()
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    return _FORMS.get(name.rpartition(".")[2])


def read_file(engine: DuckDB, path: str, as_text: tuple[str, ...], words: str) -> exp.Expr:
    """Let DuckDB read files; ``words`` is what messages call them."""
    files = matching(path)
    empty = [one for one in files if os.path.getsize(one) == 0]
    if empty:
        raise SourceError(
            words if len(files) == 1 else empty[0], "the file is empty", "Give one with a header"
        )
    head = head_of(files[0], words)
    form = form_of(path) if words != "-" else None
    if form is None:
        form = "parquet" if head.startswith(b"PAR1") else "csv"
        if head.lstrip()[:1] in (b"{", b"["):
            form = "json"
    if form in ("csv", "tsv"):
        _refuse_binary(head, words, files[0])
    place = path.replace("'", "''")
    try:
        if form == "parquet":
            engine.counts_rows_for_nothing = True
            several = ", union_by_name = true" if len(files) > 1 else ""
            return engine.view(f"select * from read_parquet('{place}'{several})")
        if form == "json":
            return _read_json(engine, place, as_text)
        return _read_csv(engine, place, form, as_text)
    except Exception as error:
        if form != "parquet" and not _is_utf8(files):
            raise SourceError(words, "it is not in UTF-8", _UTF8) from None
        said = str(error).splitlines()[0].removeprefix("DuckDB says: ")
        raise SourceError(
            words, f"it cannot be read as {form}: {said}", "Check the file and its ending"
        ) from error


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


def _refuse_binary(head: bytes, words: str, path: str) -> None:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError(words, "it is in UTF-16", _UTF8)
    if not path.lower().endswith((".gz", ".zst")) and b"\0" in head:
        raise SourceError(words, "it is no text", "Give a CSV, TSV, Parquet or JSON lines file")


def _read_csv(engine: DuckDB, place: str, form: str, as_text: tuple[str, ...]) -> exp.Expr:
    settings = "header = true, union_by_name = true, sample_size = 100000"
    if form == "tsv":
        settings += ", delim = '\t'"
    found = engine.execute(f"describe select * from read_csv('{place}', {settings})").fetchall()
    there = [row[0] for row in found]
    kept = ", ".join(
        f"'{name.replace(chr(39), chr(39) * 2)}': 'VARCHAR'" for name in there if name in as_text
    )
    if kept:
        settings += f", types = {{{kept}}}"
    return engine.view(f"select * from read_csv('{place}', {settings})")


def _read_json(engine: DuckDB, place: str, as_text: tuple[str, ...]) -> exp.Expr:
    source = f"read_json('{place}', union_by_name = true)"
    found = engine.execute(f"describe select * from {source}").fetchall()
    guessed = [row for row in found if row[0] in as_text and kind_of(row[1]) in ("time", "other")]
    if any(row[1] != "JSON" for row in guessed):
        # Names that look like dates are names.
        names = {row[0] for row in guessed if row[1] != "JSON"}
        kept = ", ".join(
            f"{_text(name)}: {_text('VARCHAR' if name in names else kind)}"
            for name, kind, *_ in found
        )
        source = f"read_json('{place}', columns = {{{kept}}})"
    # A column of numbers and text comes as JSON; its values are taken out as text.
    mixed = [row[0] for row in found if row[1] == "JSON" and row[0] in as_text]
    taken = ", ".join(
        f"{quoted} ->> '$' as {quoted}"
        for quoted in ('"' + name.replace('"', '""') + '"' for name in mixed)
    )
    replaced = f" replace ({taken})" if taken else ""
    return engine.view(f"select *{replaced} from {source}")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def files_of(*sources: Any) -> list[str]:
    """Return the files that sources stand for."""
    found: list[str] = []
    for source in sources:
        if isinstance(source, str | os.PathLike):
            text = os.fspath(source)
            url = re.match(r"(sqlite|duckdb):///", text)
            found += matching(unquote(urlsplit(text).path)[1:] if url else text)
    return found
