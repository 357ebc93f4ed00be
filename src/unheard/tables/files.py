"""Files of rows: which ones a name stands for, what they are, and how DuckDB reads them."""

from __future__ import annotations

import codecs
import difflib
import glob
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlglot import exp

from unheard.errors import QueryError, SourceError
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


def read_file(
    engine: DuckDB,
    path: str,
    as_text: Collection[str],
    words: str,
    numbers: Collection[str] | None = (),
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
    """
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
        return _read_csv(engine, place, head, form, as_text, numbers)
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


def _read_csv(
    engine: DuckDB,
    place: str,
    head: bytes,
    form: str,
    as_text: Collection[str],
    numbers: Collection[str] | None,
) -> exp.Expr:
    settings = "union_by_name = true, sample_size = 100000"
    stated = re.match(rb"(?:\xef\xbb\xbf)?sep=(.)\r?\n", head)
    if stated is not None:  # as Excel begins a file
        settings += f", skip = 1, delim = {_text(stated[1].decode('latin-1'))}"
    elif form == "tsv":
        settings += ", delim = '\t'"
    found = _columns_of_csv(engine, place, settings)
    names = _told_apart(engine, place, settings, list(found))
    texts = {there for there, name in names.items() if name in as_text}
    wanted = {there for there, name in names.items() if numbers is None or name in numbers}
    if re.search(rb"\d,\d", head) and any(found[there] == "VARCHAR" for there in wanted):
        with_commas = f"{settings}, decimal_separator = ','"
        more = _numbers_among(_columns_of_csv(engine, place, with_commas), found)
        if wanted & more:
            settings, texts = with_commas, (texts | more) - wanted
    if texts:
        kept = ", ".join(f"{_text(there)}: 'VARCHAR'" for there in sorted(texts))
        settings += f", types = {{{kept}}}"
    selected = ", ".join(f"{_name(there)} as {_name(name)}" for there, name in names.items())
    return engine.view(f"select {selected} from read_csv('{place}', header = true, {settings})")


def _columns_of_csv(engine: DuckDB, place: str, settings: str) -> dict[str, str]:
    """Return the columns that DuckDB finds, and their types."""
    text = f"describe select * from read_csv('{place}', header = true, {settings})"
    try:
        return {row[0]: row[1] for row in engine.execute(text).fetchall()}
    except QueryError:
        if "decimal_separator" in settings:
            return {}  # commas are something else here
        raise


def _numbers_among(these: Mapping[str, str], those: Mapping[str, str]) -> set[str]:
    """Return the columns that are numbers here and text there, unless others are the reverse."""
    changed = {one for one in those if these.get(one) != those[one]}
    fine = all((those[one], these.get(one)) == ("VARCHAR", "DOUBLE") for one in changed)
    return changed if fine else set()


def _told_apart(engine: DuckDB, place: str, settings: str, names: list[str]) -> dict[str, str]:
    """Number the columns of one name, so that nobody gets the first of them unawares."""
    plain = {name: name for name in names}
    folded = {name.lower() for name in names}
    # DuckDB has called the second of them by its name and _1.
    if not any(re.sub(r"_\d+$", "", one) in folded for one in folded if re.search(r"_\d+$", one)):
        return plain
    text = f"select * from read_csv('{place}', header = false, all_varchar = true, {settings})"
    heading = engine.execute(f"{text} limit 1").fetchone()
    if heading is None or len(heading) != len(names):
        return plain
    given = [(cell or "").strip().lower() for cell in heading]
    times, seen = Counter(given), Counter[str]()
    called: dict[str, str] = {}
    for name, cell in zip(names, given, strict=True):
        if cell and times[cell] > 1:
            seen[cell] += 1
            plain[name] = f"{called.setdefault(cell, name)} ({seen[cell]})"
    return plain


def _read_json(engine: DuckDB, place: str, as_text: Collection[str]) -> exp.Expr:
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
    taken = ", ".join(f"{quoted} ->> '$' as {quoted}" for quoted in map(_name, mixed))
    replaced = f" replace ({taken})" if taken else ""
    return engine.view(f"select *{replaced} from {source}")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def files_of(*sources: Any) -> list[str]:
    """Return the files that sources stand for."""
    found: list[str] = []
    for source in sources:
        if isinstance(source, str | os.PathLike):
            text = os.fspath(source)
            url = re.match(r"(sqlite|duckdb):///", text)
            found += matching(unquote(urlsplit(text).path)[1:] if url else text)
    return found
