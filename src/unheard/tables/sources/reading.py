"""How a file is to be read: its sheet, encoding and header, and what its columns are for."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unheard.errors import OptionError, Reference, SourceError
from unheard.tables.request import Request
from unheard.tables.sources.column_names import COUNT, FREQUENCY, PEOPLE, RATING

_MOST_NAMED = 12


class ReadingNote(str):
    """A sentence on how a file was read where it could have been read in another way."""

    __slots__ = ()


@dataclass(frozen=True)
class Reading:
    """How a file is to be read.

    Attributes
    ----------
    sheet
        Which sheet of a workbook, or which file of an archive; None for the only one.
    encoding
        The encoding of text; None to detect it.
    header
        The row with the names of the columns, counted from 1; 0 if there is none, None to find it.
    most
        How many bytes a file may have when it is unpacked; None for any number.
    """

    sheet: str | None = None
    encoding: str | None = None
    header: int | None = None
    most: int | None = None

    @classmethod
    def read(
        cls,
        sheet: str | int | None,
        encoding: str | None,
        header: str | int | None,
        most: int | None = None,
    ) -> Reading:
        """Read the options of that name."""
        if encoding is not None:
            _check_encoding(encoding)
        named = None if sheet is None else str(sheet)
        return cls(named, encoding, _read_header(header), most)

    @property
    def is_default(self) -> bool:
        """Whether nothing is said about how files are read."""
        return self.sheet is None and self.encoding is None and self.header is None


@dataclass(frozen=True)
class Roles:
    """Which columns of a file are needed, and what for.

    Attributes
    ----------
    wanted
        Those that are needed; None for all.
    as_text
        Those whose values are taken as they are written: names like 007, ratings like n/a.
    ratings
        Those in which a comma between digits is a decimal comma; None for all.
    whole
        Those that hold whole numbers, in which a separator can only stand for thousands; None to
        tell by their names.
    time
        The one that says when.
    """

    wanted: tuple[str, ...] | None = None
    as_text: tuple[str, ...] = ()
    ratings: tuple[str, ...] | None = ()
    whole: tuple[str, ...] | None = ()
    time: str | None = None

    @classmethod
    def of(cls, request: Request | None) -> Roles:
        """Return what a request needs; without one, everything may be of use."""
        if request is None:
            return cls(ratings=None, whole=None)
        rater = () if request.rater is None else (request.rater,)
        numbers = [name for name in (request.frequency, request.n_column) if name is not None]
        return cls(
            tuple(dict.fromkeys(name for name, _place in request.columns_of_source())),
            (*request.item, *request.strata, *request.rating, *rater),
            request.rating,
            (*request.counts, *numbers),
            request.time,
        )

    def is_whole(self, name: str) -> bool:
        """Whether a column holds whole numbers."""
        if self.whole is not None:
            return name in self.whole
        plain = re.sub(r" \(\d+\)$", "", name)  # without what tells columns of one name apart
        return any(words.fullmatch(plain) for words in (PEOPLE, COUNT, FREQUENCY))

    def may_be_rating(self, name: str) -> bool:
        """Whether a column of text may hold ratings, where nobody has said which does."""
        return self.ratings is None and bool(RATING.match(name))


@dataclass(frozen=True)
class FileFindings:
    """What was found out about files while they were read.

    Attributes
    ----------
    sheet, sheets
        The sheet that was read, and all that have rows; None and none if there are no sheets.
    encoding
        Of text; None for anything else.
    has_header
        Whether its columns have names; otherwise they are called 1, 2, 3, ...
    notes
        What the reader of a result should know about it.
    workbook
        Where the workbook is whose sheet was read, if there is one.
    unread
        Columns that were left unread, since nobody asked for them.
    """

    sheet: str | None = None
    sheets: tuple[str, ...] = ()
    encoding: str | None = None
    has_header: bool = True
    notes: tuple[ReadingNote, ...] = ()
    workbook: str | None = None
    unread: tuple[str, ...] = ()


def unreadable(problem: str, path: str, hint: str, **data: Any) -> SourceError:
    """Return the error about a file that cannot be read."""
    return SourceError("source", problem=problem, hint=hint, path=path, **data)


def choose_part(
    path: str, what: str, known: Sequence[str], asked: str | None, offered: Sequence[str]
) -> str:
    """Return the sheet of a workbook, or the file of an archive, that is meant.

    Parameters
    ----------
    path
        What messages call the workbook or archive.
    what
        ``"sheet"`` or ``"file"``.
    known
        All there are, in their order.
    asked
        A name, or a number counted from 1; None if nobody has said.
    offered
        Those that hold something.
    """
    if asked is None:
        if len(offered) == 1:
            return offered[0]
        raise unreadable(
            "{path} has {many} {what}s to choose from"
            if offered
            else "{path} has no {what} with data",
            path,
            "Name one" if offered else "Check the file",
            code="several_sheets" if offered else None,
            examples=_write_choices(offered),
            many=len(offered),
            what=what,
        )
    folded = [name.casefold() for name in known]
    if asked in known:
        return asked
    if asked.casefold() in folded:
        return known[folded.index(asked.casefold())]
    if asked.isdecimal() and 1 <= int(asked) <= len(known):
        return known[int(asked) - 1]
    raise OptionError(
        "sheet",
        problem="{path} has no {what} {asked}",
        hint="Choose one of those it has",
        examples=_write_choices(offered),
        path=path,
        what=what,
        asked=repr(asked),
    )


def _write_choices(names: Sequence[str]) -> list[Reference]:
    return [Reference("sheet", value=name) for name in names[:_MOST_NAMED]]


def _check_encoding(name: str) -> None:
    try:
        known = codecs.lookup(name)
        "".encode(known.name)
    except (LookupError, ValueError):  # not known, not one of text, or no name at all
        raise OptionError(
            "encoding",
            problem="{argument} is not known",
            value=name,
            hint="Use the name of an encoding",
            examples=("cp1252", "utf-16"),
        ) from None


def _read_header(given: str | int | None) -> int | None:
    if given is None:
        return None
    text = str(given).strip().lower()
    if text == "none":
        return 0
    if not text.isdecimal() or int(text) < 1:
        raise OptionError(
            "header",
            problem="{argument} must be the number of a row, from 1, or none",
            value=given,
            hint="Give the row with the names of the columns",
            examples=(Reference("header", value="1"),),
        )
    return int(text)
