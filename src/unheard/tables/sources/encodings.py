"""Text in any encoding, turned into UTF-8."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from unheard.errors import Reference, SourceError
from unheard.tables.sources.reading import unreadable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""What a file may begin with to tell its encoding; UTF-16 begins like UTF-32, and comes later."""

_NAMES = {
    "cp1252": "Windows-1252",
    "mac-roman": "Mac Roman",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
}
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x19\x1b-\x1f]")
"""What no text has: neither white space, nor the mark by which DOS ended files."""

_MOST_ACCENTED = 0.4
"""Western text has a smaller share of letters beyond ASCII; other alphabets have none in it."""

_WESTERN = ("cp850", "mac_roman")
_OTHER = ("cp1251", "shift_jis", "gb18030", "cp949", "big5", "cp1253")
"""Encodings to suggest, for text mostly in ASCII and for any other."""

_FURTHER = ("cp1250", "cp1254", "cp1255", "cp1256")
"""Encodings in which nearly all bytes are letters, so that they cannot be told by trying."""


def write_name(encoding: str) -> str:
    """Write the name of an encoding as people know it."""
    return _NAMES.get(codecs.lookup(encoding).name, encoding.upper())


def find_encoding(head: bytes) -> str | None:
    """Tell the encoding of text from its beginning; None if that does not tell.

    Examples
    --------
    >>> find_encoding("hôtel".encode("utf-16")), find_encoding("hotel".encode("utf-16-be"))
    ('utf-16', 'utf-16-be')
    >>> find_encoding("hôtel".encode("cp1252"))
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    half = len(head) // 2
    if half:
        # Names and numbers are mostly in ASCII, of which UTF-16 makes every second byte zero.
        even, odd = head[::2].count(0) / half, head[1::2].count(0) / half
        encoding = "utf-16-le" if odd > even else "utf-16-be"
        if max(even, odd) > 0.3 and min(even, odd) < 0.05:
            text = head[: 2 * half].decode(encoding, "replace")
            return None if _CONTROLS.search(text.encode()) else encoding
    return None


def has_controls(head: bytes) -> bool:
    """Whether there are characters that no text has."""
    return _CONTROLS.search(head) is not None


class Survey:
    """What is known of text once all of it has been seen, piece by piece.

    Attributes
    ----------
    is_utf8
        Whether it is in UTF-8.
    sample
        The first piece that is not; empty if there is none.
    tail
        The last piece.
    """

    def __init__(self) -> None:
        self.is_utf8, self.sample, self.tail = True, b"", b""
        self._has_returns, self._has_feeds_alone = False, False
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def see(self, piece: bytes, *, final: bool = False) -> None:
        """See the next piece."""
        self._see_ends(piece)
        self.tail = piece or self.tail
        inside = self._decoder.getstate()[0]  # a character that the last piece has begun
        if not self.is_utf8 or (piece.isascii() and not inside):
            return
        try:
            self._decoder.decode(piece, final)
        except UnicodeDecodeError:
            self.is_utf8, self.sample = False, inside + piece

    def _see_ends(self, piece: bytes) -> None:
        returns = piece.count(b"\r")
        self._has_returns |= returns > 0
        if not self._has_feeds_alone:
            # A return and its line feed may be parted.
            begun = self.tail.endswith(b"\r") and piece.startswith(b"\n")
            feeds = piece.count(b"\n", int(begun))
            self._has_feeds_alone = feeds > returns - piece.endswith(b"\r")

    @property
    def has_mixed_ends(self) -> bool:
        """Whether lines end in two ways, as where files of two systems were joined."""
        return self._has_returns and self._has_feeds_alone


def guess_encoding(text: bytes, words: str) -> str:
    """Tell the encoding of text that is not UTF-8, or raise an error that says what to do.

    It is Windows-1252, or on the old Macintosh Mac Roman.

    Parameters
    ----------
    text
        A piece of it.
    words
        What messages call the file.
    """
    readable = text.decode("utf-8", "replace")
    damaged = readable.count("\ufffd")
    if sum(not one.isascii() for one in readable) > 2 * damaged + 1:
        raise unreadable(
            "{path} is in UTF-8, but for a few characters that are damaged",
            words,
            "Save it again as UTF-8, or read it in another encoding with {encoding:cp1252}",
        )
    letters = [one for one in text.decode("cp1252", "replace") if one.isalpha()]
    accented = sum(not one.isascii() for one in letters) / max(len(letters), 1)
    is_western = accented <= _MOST_ACCENTED
    # Lines that end in returns alone are of the old Macintosh, as Excel still writes them there.
    is_old_mac = b"\r" in text and b"\n" not in text
    if is_western and _decodes(text, "mac_roman" if is_old_mac else "cp1252"):
        return "mac_roman" if is_old_mac else "cp1252"
    raise undetectable(text, words, is_western=is_western)


def undetectable(text: bytes, words: str, *, is_western: bool = True) -> SourceError:
    """Return the error about text in an encoding that cannot be told."""
    fitting = [one for one in (_WESTERN if is_western else _OTHER) if _decodes(text, one)]
    return unreadable(
        "The encoding of {path} cannot be detected: it is neither UTF-8, UTF-16 nor Windows-1252",
        words,
        "Save it as UTF-8, which Excel calls CSV UTF-8, or state its encoding",
        examples=[Reference("encoding", value=one) for one in fitting],
        code="unknown_encoding",
    )


def check_names_encoded(names: Iterable[str], encoding: str, words: str) -> None:
    """Raise if columns that are asked for have names that cannot be written in an encoding."""
    for name in names:
        if not _encodes(name, encoding):
            # All letters can be written in the Chinese one.
            fitting = sorted((*_OTHER, *_FURTHER), key=lambda one: one == "gb18030")
            raise unreadable(
                "{path} has no column {name}: it was read as {encoding}, which has no such letters",
                words,
                "State its encoding",
                examples=[
                    Reference("encoding", value=one) for one in fitting if _encodes(name, one)
                ],
                code="wrong_encoding",
                name=repr(name),
                encoding=write_name(encoding),
            )


def _encodes(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _decodes(text: bytes, encoding: str) -> bool:
    try:
        # The end may be in the middle of a character.
        codecs.getincrementaldecoder(encoding)().decode(text)
    except UnicodeDecodeError:
        return False
    return True


def write_utf8(pieces: Iterable[bytes], target: Path, encoding: str) -> None:
    """Write text as UTF-8, without a mark at its beginning; all lines end alike."""
    with target.open("w", encoding="utf-8", newline="") as file:
        left = ""
        for piece in _decode(pieces, encoding):
            text = left + piece
            left = "\r" if text.endswith("\r") else ""  # a line feed may follow
            file.write(text.removesuffix("\r").replace("\r\n", "\n"))
        file.write(left)


def _decode(pieces: Iterable[bytes], encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    is_first = True
    for piece in pieces:
        text = decoder.decode(piece)
        yield text.removeprefix("\ufeff") if is_first else text
        is_first = is_first and not text
    yield decoder.decode(b"", True)


def misread(words: str, encoding: str) -> SourceError:
    """Return the error about text that is not in the encoding that was stated."""
    return unreadable(
        "{path} is not in {name}",
        words,
        "Leave {encoding} out to have it detected, or state another one",
        name=write_name(encoding),
        code="wrong_encoding",
    )
