"""Files as DuckDB reads them: unpacked where they must be, and text in UTF-8."""

from __future__ import annotations

import codecs
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from unheard.errors import OptionError
from unheard.tables.engines.duckdb import is_duckdb
from unheard.tables.engines.sqlite import is_sqlite
from unheard.tables.sources import encodings
from unheard.tables.sources.packed import (
    ZIP,
    compression_of,
    is_workbook,
    open_unpacked,
    read_pieces,
    unzip,
)
from unheard.tables.sources.reading import Reading, ReadingNote, unreadable
from unheard.tables.sources.web_tables import is_page, stated_charset
from unheard.tables.sources.workbooks import OLE

Form: TypeAlias = Literal["csv", "tsv", "json", "parquet", "workbook", "page"]

_FORMS: dict[str, Form] = {
    "csv": "csv", "tsv": "tsv", "tab": "tsv", "txt": "csv", "parquet": "parquet", "pq": "parquet",
    "json": "json", "jsonl": "json", "ndjson": "json",
}  # fmt: skip
_BY_CONTENT = ("xlsx", "xlsm", "xlsb", "xls", "ods", "zip", "htm", "html")
"""Further endings of tables, whose content tells what they are."""

_HEAD = 1 << 16
_USABLE = "Use a CSV, TSV, Excel, OpenDocument, Parquet or JSON lines file"


@dataclass(frozen=True)
class Part:
    """A file that can be read.

    Attributes
    ----------
    path
        Where it is; possibly still compressed, if its name says so.
    form
        What it is.
    words
        What messages call it.
    head, tail
        The beginning and the end of text, in UTF-8.
    sheet
        The sheet that is still to be chosen.
    encoding
        Of text, as it was.
    notes
        What was assumed to read it.
    """

    path: str
    form: Form
    words: str
    head: bytes
    tail: bytes = b""
    sheet: str | None = None
    encoding: str | None = None
    notes: tuple[ReadingNote, ...] = ()


def form_of(name: str) -> Form | None:
    """Tell the format of a file from its name; None if that does not tell."""
    return _FORMS.get(_ending(name))


def is_named_like_file(name: str) -> bool:
    """Whether a name ends like that of a file with a table."""
    return _ending(name) in (*_FORMS, *_BY_CONTENT)


def _ending(name: str) -> str:
    name = name.lower()
    for packed in (".gz", ".zst"):
        name = name.removesuffix(packed)
    return name.rpartition(".")[2]


def read_head(path: str, words: str, size: int = 4096) -> bytes:
    """Return the beginning of a file as it is."""
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except OSError as error:
        raise unreadable(
            "{path} cannot be read: {message}",
            words,
            "Check its permissions",
            message=error.strerror,
        ) from None


def open_part(path: str, name: str, words: str, folder: Path, reading: Reading) -> Part:
    """Make a file readable.

    Parameters
    ----------
    path
        Where it is.
    name
        What it is called, which may tell its format.
    words
        What messages call it.
    folder
        Where it can be unpacked to.
    reading
        What was said about it.
    """
    if read_head(path, words).startswith(ZIP) and not is_workbook(path):
        return _open_archive(path, words, folder, reading)
    compression = compression_of(read_head(path, words))
    try:
        with open_unpacked(path, compression) as file:
            head = file.read(_HEAD)
        form = _tell_form(path, name, head)
        if form in ("parquet", "workbook"):
            if reading.encoding is not None:
                raise OptionError(
                    "encoding",
                    problem="{argument} does not apply to {path}, which is not text",
                    hint="Leave it out",
                    path=words,
                )
            if compression is not None:
                path = _unpack(path, compression, folder, reading, words)
                form = _tell_form(path, name, head)
            return Part(path, form, words, head, sheet=reading.sheet)
        return _open_text(Part(path, form, words, head), name, compression, folder, reading)
    except OSError as error:
        if compression is None:
            raise
        raise unreadable(
            "{path} is a damaged {compression} file: {message}",
            words,
            "Create or download it again",
            compression=compression,
            message=str(error),
        ) from None


def _open_archive(path: str, words: str, folder: Path, reading: Reading) -> Part:
    inner, name, chooser = unzip(path, _new_folder(folder), reading, words, is_named_like_file)
    said = ReadingNote(f"{name} of {words} was read: its other files have no table.")
    words = f"{name} in {words}"
    if read_head(str(inner), words).startswith(ZIP) and not is_workbook(str(inner)):
        raise unreadable("{path} is an archive inside an archive", words, "Unpack it")
    left = replace(reading, sheet=None) if chooser == "user" else reading
    part = open_part(str(inner), name, words, folder, left)
    return replace(part, notes=(said, *part.notes)) if chooser == "content" else part


def _new_folder(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))


def _unpack(path: str, compression: str, folder: Path, reading: Reading, words: str) -> str:
    target = _new_folder(folder) / "unpacked"
    with open_unpacked(path, compression) as source, target.open("wb") as file:
        for piece in read_pieces(source, reading, words):
            file.write(piece)
    return str(target)


def _tell_form(path: str, name: str, head: bytes) -> Form:
    """Tell what a file is: from its content if that is unmistakable, or else from its name."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((ZIP, OLE)):
        return "workbook"
    if is_page(head):
        return "page"
    form = form_of(name)
    if form is None:
        return "json" if head.lstrip()[:1] in (b"{", b"[") else "csv"
    return form


def _open_text(
    part: Part, name: str, compression: str | None, folder: Path, reading: Reading
) -> Part:
    """Make text readable: it must be in UTF-8, which DuckDB reads, also compressed."""
    _refuse_known(part)
    _refuse_binary(part)
    if part.form != "page" and part.head.lstrip().startswith(b"<?xml"):
        raise unreadable(
            "{path} is an XML file",
            part.words,
            "Open it in a spreadsheet program and save it as .xlsx or CSV",
        )
    if part.form != "page" and reading.sheet is not None:
        raise OptionError(
            "sheet",
            problem="{argument} does not apply to {path}, which has no sheets",
            hint="Leave it out",
            path=part.words,
        )
    survey = encodings.Survey()
    with open_unpacked(part.path, compression) as file:
        for piece in read_pieces(file, reading, part.words):
            survey.see(piece)
        survey.see(b"", final=True)
    encoding = _tell_encoding(part, survey, reading)
    is_utf8 = _is_utf8(encoding)
    # DuckDB unpacks what is called like a compressed file.
    is_called_so = name.lower().endswith((".gz", ".zst")) and part.form != "page"
    is_fine = is_utf8 and not (part.form in ("csv", "tsv") and survey.has_mixed_ends)
    if is_fine and (compression is None or is_called_so):
        tail = survey.tail
        return replace(part, tail=tail, sheet=reading.sheet, encoding="utf-8")
    target = _new_folder(folder) / "text"
    try:
        with open_unpacked(part.path, compression) as file:
            encodings.write_utf8(read_pieces(file, reading, part.words), target, encoding)
    except UnicodeError:
        if reading.encoding is None:
            raise encodings.undetectable(survey.sample or part.head, part.words) from None
        raise encodings.misread(part.words, encoding) from None
    with target.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(max(0, target.stat().st_size - _HEAD))
        tail = file.read()
    said = () if is_utf8 else (_note_encoding(part.words, encoding, reading),)
    return Part(
        str(target), _tell_form(str(target), name, head), part.words, head, tail,
        reading.sheet, encoding, tuple(one for one in said if one),
    )  # fmt: skip


def _is_utf8(encoding: str) -> bool:
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")


def _tell_encoding(part: Part, survey: encodings.Survey, reading: Reading) -> str:
    if reading.encoding is not None:
        if _is_utf8(reading.encoding) and not survey.is_utf8:
            raise encodings.misread(part.words, reading.encoding)
        return reading.encoding
    found = encodings.find_encoding(part.head)
    if found is not None and found != "utf-8":
        return found
    if survey.is_utf8:
        return "utf-8"
    stated = stated_charset(part.head) if part.form == "page" else None
    if encodings.has_controls(part.head):
        raise _binary(part.words)
    return stated or encodings.guess_encoding(survey.sample, part.words)


def _note_encoding(words: str, encoding: str, reading: Reading) -> ReadingNote:
    if reading.encoding is not None:
        return ReadingNote("")
    name = encodings.write_name(encoding)
    return ReadingNote(f"{words} is not in UTF-8: it was read as {name}.")


_UNPACK, _SAVE_AS_CSV = "Unpack it", "Save its table as CSV or .xlsx"
_KNOWN = (
    (b"BZh", "a bzip2 file", _UNPACK),
    (b"\xfd7zXZ", "an xz file", _UNPACK),
    (b"7z\xbc\xaf", "a 7-Zip archive", _UNPACK),
    (b"Rar!", "a RAR archive", _UNPACK),
    (b"PK\x05\x06", "an archive without files", "Create it again"),
    (b"%PDF-", "a PDF file", _SAVE_AS_CSV),
    (b"{\\rtf", "an RTF file", _SAVE_AS_CSV),
    (b"$FL", "an SPSS file", _SAVE_AS_CSV),
    (b"<stata_dta>", "a Stata file", _SAVE_AS_CSV),
    (b"SAS FILE", "a SAS file", _SAVE_AS_CSV),
    (b"HEADER RECORD*******LIB", "a SAS file", _SAVE_AS_CSV),
    (b"RDX", "an R file", _SAVE_AS_CSV),
)
"""Files that are not read: what they begin with, what they are, and what to do."""


def _refuse_known(part: Part) -> None:
    for start, kind, hint in _KNOWN:
        if part.head.startswith(start):
            raise unreadable("{path} is {kind}", part.words, hint, kind=kind)


def _refuse_binary(part: Part) -> None:
    if b"\0" not in part.head or encodings.find_encoding(part.head) is not None:
        return
    # Queries that a database brings along run only if the user has called it one.
    for name, is_one in (("DuckDB", is_duckdb), ("SQLite", is_sqlite)):
        if is_one(part.head):
            raise unreadable(
                "{path} is a {kind} database",
                part.words,
                "Export its table as CSV or Parquet, or name the database: {url}",
                kind=name,
                url=f"{name.lower()}:///{part.words}",
            )
    raise _binary(part.words)


def _binary(words: str) -> Exception:
    return unreadable("{path} is a binary file", words, _USABLE)
