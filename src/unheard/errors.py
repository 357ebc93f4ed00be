"""Everything that ``unheard`` raises on purpose.

::

    UnheardError
    ├── MissingEngineError               a library that an engine needs is not installed
    ├── QueryError                       an engine refused a query; it is attached
    └── InputError (also a ValueError)   something given by the caller cannot be used
        ├── ScaleError                   the values a rating may take
        ├── CountsError                  counts per rating
        ├── PopulationError              n, the number of people
        ├── ParticipationError           q, direction, box, known g
        ├── MethodError                  which estimate was asked for
        ├── ColumnError                  columns of a table
        ├── SourceError                  a table that cannot be found, opened or read
        ├── DataError                    rows of a table
        └── OptionError                  level, target and other settings

Every message has three parts: the place, what was found there, and what to do about it.
"""

from __future__ import annotations


class UnheardError(Exception):
    """Base of every error raised on purpose."""


class InputError(UnheardError, ValueError):
    """Something given by the caller cannot be used.

    Parameters
    ----------
    place
        What the caller would call the thing that is wrong: ``"counts[2]"``, ``"q"``.
    found
        What was found there.
    remedy
        What to do about it.
    """

    def __init__(self, place: str, found: str, remedy: str) -> None:
        self.place = place
        self.found = found
        self.remedy = remedy
        super().__init__(f"{place}: {found}. {remedy}.")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        """Survive the trip between processes, which rebuilds an error from its arguments."""
        return type(self), (self.place, self.found, self.remedy)


class ScaleError(InputError):
    """The scale is not an ordered list of at least two different finite values."""


class CountsError(InputError):
    """The counts cannot be counts."""


class PopulationError(InputError):
    """The number of people contradicts the counts, or is no number of people."""


class AssumptionError(InputError):
    """The assumption about who answers is missing, malformed or contradicts itself."""


class MethodError(InputError):
    """The method does not exist, or needs something that was not given."""


class OptionError(InputError):
    """A setting lies outside what it may be."""


class ColumnError(InputError):
    """A column is missing, named twice, or holds something else than it should."""


class SourceError(InputError):
    """A table cannot be found, opened or read."""


class DataError(InputError):
    """Rows of a table cannot be used as they are."""


class MissingLibraryError(UnheardError):
    """A library that an engine needs is not installed.

    Parameters
    ----------
    what
        What needs it.
    package
        The library.
    extra
        The extra of this package that brings it.
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        self.what, self.package, self.extra = what, package, extra
        super().__init__(
            f"{what} needs {package}, which is not installed. "
            f"Install it with: pip install 'unheard[{extra}]'"
        )

    def __reduce__(self) -> tuple[type[MissingLibraryError], tuple[str, str, str]]:
        """Survive the trip between processes."""
        return type(self), (self.what, self.package, self.extra)


class QueryError(UnheardError):
    """An engine refused a query.

    Parameters
    ----------
    engine
        Which engine.
    words
        What it said.
    sql
        The query.
    """

    def __init__(self, engine: str, words: str, sql: str) -> None:
        self.engine, self.words, self.sql = engine, words, sql
        super().__init__(f"{engine} says: {words}")

    def __reduce__(self) -> tuple[type[QueryError], tuple[str, str, str]]:
        """Survive the trip between processes."""
        return type(self), (self.engine, self.words, self.sql)
