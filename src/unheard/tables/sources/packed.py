"""Packed files: gzip, zstd, and zip archives with one file inside."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from unheard.errors import SourceError
from unheard.tables.sources.reading import Reading, choose_part, unreadable

GZIP, ZSTD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
_PIECE = 1 << 20
_HEAD = 1 << 16
_TEXT = (".txt", ".csv", ".tsv", ".tab")
_WORKBOOKS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
"""Files that tell a workbook, which is a zip archive, too."""


def compression_of(head: bytes) -> str | None:
    """Tell how a file that begins like this is compressed; None if it is not."""
    return "gzip" if head.startswith(GZIP) else "zstd" if head.startswith(ZSTD) else None


@contextmanager
def open_unpacked(path: str, compression: str | None) -> Iterator[IO[bytes]]:
    """Open a file as it is when unpacked."""
    if compression is None:
        with open(path, "rb") as file:
            yield file
        return
    import pyarrow as pa

    with pa.input_stream(path, compression=compression) as stream:
        yield stream


def read_pieces(source: IO[bytes], reading: Reading, words: str) -> Iterator[bytes]:
    """Read a file piece by piece, but not more of it than it may have."""
    size = 0
    while piece := source.read(_PIECE):
        size += len(piece)
        if reading.most is not None and size > reading.most:
            raise _too_large(words, reading.most)
        yield piece


def is_workbook(path: str) -> bool:
    """Whether a zip archive is a workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if "content.xml" in names and "mimetype" not in names:
                return False
            return any(name in names for name in _WORKBOOKS)
    except (zipfile.BadZipFile, OSError):
        return False


def check_archive(path: str, reading: Reading, words: str) -> None:
    """Raise unless every file of an archive is whole, and all together are small enough."""
    with _open_archive(path, words) as archive:
        members = archive.infolist()
        unpacked = sum(one.file_size for one in members)
        if reading.most is not None and unpacked > reading.most:
            raise _too_large(words, reading.most)
        for one in members:
            _refuse_encrypted(one, words)
            with archive.open(one) as file:
                while file.read(_PIECE):
                    pass


def unzip(
    path: str,
    folder: Path,
    reading: Reading,
    words: str,
    is_named_like_table: Callable[[str], bool],
) -> tuple[Path, str, Literal["user", "nobody", "content"]]:
    """Unpack the table of an archive; return where it is, its name, and who has chosen it.

    That is ``user``, or ``nobody`` where it is the only one, or the only one with a table: then
    ``content``.
    """
    with _open_archive(path, words) as archive:
        files = {one.filename: one for one in archive.infolist() if _holds_something(one)}
        named = {name: one for name, one in files.items() if is_named_like_table(name)}
        if not named and len(files) > 1:
            raise unreadable(
                "{path} is an archive without a table",
                words,
                "Pack a CSV, TSV, Excel, OpenDocument, Parquet or JSON lines file",
            )
        tables = named or files
        full = [name for name, one in tables.items() if _holds_table(archive, one)]
        # In an archive with one file, a sheet is one of a workbook inside.
        asked = reading.sheet if len(tables) > 1 or reading.sheet in tables else None
        name = choose_part(words, "file", list(tables), asked, full or list(tables))
        _refuse_encrypted(tables[name], words)
        target = folder / f"unzipped{PurePosixPath(name).suffix.lower()}"
        with archive.open(tables[name]) as source, target.open("wb") as file:
            for piece in read_pieces(source, reading, words):
                file.write(piece)
    by_content: Literal["content", "nobody"] = "content" if len(tables) > 1 else "nobody"
    return target, name, by_content if asked is None else "user"


@contextmanager
def _open_archive(path: str, words: str) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise unreadable(
            "{path} is a damaged zip file: {message}",
            words,
            "Create or download it again",
            message=_say_damage(error),
        ) from None


def _say_damage(error: Exception) -> str:
    text = str(error).rstrip(".")
    return "it is truncated, or not a zip file" if text == "File is not a zip file" else text


def _holds_table(archive: zipfile.ZipFile, one: zipfile.ZipInfo) -> bool:
    """Whether a file may hold a table: text does if it has two rows and columns or more."""
    if not one.filename.lower().endswith(_TEXT) or one.flag_bits & 1:
        return True
    with archive.open(one) as file:
        head = file.read(_HEAD)
    rows = [line for line in head.splitlines() if line.strip()]
    parted = sum(any(mark in row for mark in b",;\t|") for row in rows)
    return b"\0" in head or (len(rows) > 1 and 2 * parted > len(rows))


def _holds_something(one: zipfile.ZipInfo) -> bool:
    parts: Sequence[str] = PurePosixPath(one.filename).parts
    hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return not one.is_dir() and not hidden and one.file_size > 0


def _refuse_encrypted(one: zipfile.ZipInfo, words: str) -> None:
    if one.flag_bits & 1:
        raise unreadable("{path} is encrypted", words, "Unpack it and use the file inside")


def _too_large(words: str, most: int) -> SourceError:
    return unreadable(
        "{path} has more than {most:,} bytes when unpacked, which is more than this server accepts",
        words,
        "Send fewer columns or rows, or use the command line",
        most=most,
        code="too_large",
    )
