"""Everything that ``unheard`` raises on purpose.

::

    UnheardError
    ├── MissingLibraryError              a library that is needed is not installed
    ├── QueryError                       an engine refused a query, which is attached
    └── InputError (also a ValueError)   an argument or a table cannot be used
        ├── ScaleError                   the values a rating may take
        ├── CountsError                  counts per rating
        ├── PopulationError              n, the number of people
        ├── AssumptionError              q, direction, bounds or known participation
        ├── MethodError                  the method asked for
        ├── ColumnError                  columns of a table
        ├── SourceError                  a table that cannot be found, opened or read
        ├── DataError                    rows of a table
        └── OptionError                  level, target and other settings

An input error is data: which argument is wrong, what was given, what to do. Its sentences name
arguments by reference, so that each surface (Python, command line, REST, page) can write them
as its users know them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Protocol, TypeAlias

FAULT = "This is a bug in unheard, not in your input. Please report it."


class UnheardError(Exception):
    """Base of every error raised on purpose."""


@dataclass(frozen=True)
class Reference:
    """An argument mentioned in a message.

    Attributes
    ----------
    argument
        Its name in Python, such as ``"off_scale"``.
    index
        Which element of it: ``(2,)`` for ``counts[2]``.
    value
        The value it is given in the message, as in ``off_scale='drop'``, or several names of
        columns; None for none.
    """

    argument: str
    index: tuple[int, ...] = ()
    value: str | tuple[str, ...] | None = None


Part: TypeAlias = str | Reference


class Surface(Protocol):
    """How the users of one surface know the arguments."""

    def write_reference(self, reference: Reference) -> str:
        """Write an argument, or an argument with a value."""


class PythonSurface:
    """Arguments as they are written in Python."""

    def write_reference(self, reference: Reference) -> str:
        """Write ``q``, ``counts[2]`` or ``nulls='drop'``."""
        index = f"[{', '.join(map(str, reference.index))}]" if reference.index else ""
        given = [*reference.value] if isinstance(reference.value, tuple) else reference.value
        value = "" if given is None else f"={given!r}"
        return f"{reference.argument}{index}{value}"


PYTHON = PythonSurface()

_LONGEST_VALUE = 60


class InputError(UnheardError, ValueError):
    """An argument or a table cannot be used.

    Parameters
    ----------
    argument
        The Python name of the argument at fault.
    problem
        What is wrong, as a sentence without its period. ``{argument}`` stands for the argument,
        ``{q}`` for another one, ``{nulls:drop}`` for one with a value; other names in braces
        stand for ``data``.
    hint
        What to do, as a sentence without its period, written in the same way.
    value
        What was given, if that helps: the message then ends in "; got 1.3".
    index
        Which element of the argument is at fault.
    examples
        Values that are accepted; the hint then ends in "such as 0.3 or reviews". An argument with a
        value is written as the users of a surface would give it.
    code
        A name for programs to go by; by default that of the kind of error.
    **data
        What the sentences mention in braces.

    Examples
    --------
    >>> print(InputError("q", problem="{argument} must be in (0, 1]", value=1.3, examples=(0.3,),
    ...                  hint="Use a number"))
    q must be in (0, 1]; got 1.3. Use a number such as 0.3.
    """

    code: str = "invalid_input"

    def __init__(
        self,
        argument: str,
        *,
        problem: str,
        hint: str = "",
        value: object = None,
        index: int | Sequence[int] = (),
        examples: Sequence[object] = (),
        code: str | None = None,
        **data: object,
    ) -> None:
        self.argument: str = argument
        self.problem: str = problem
        self.hint: str = hint
        self.value: object = value
        self.index: tuple[int, ...] = (index,) if isinstance(index, int) else tuple(index)
        self.examples: tuple[object, ...] = tuple(examples)
        self.code = code or type(self).code
        self.data: Mapping[str, object] = data
        super().__init__(self.render())

    def about(self, argument: str) -> InputError:
        """Return the same error about another argument, which was given in place of this one."""
        return _rebuild(type(self), dict(self.__dict__) | {"argument": argument})

    def within(self, part: str) -> InputError:
        """Return the same error with the part of the table that it is about before its problem."""
        fields = {"problem": f"{{part}}: {self.problem}", "data": {**self.data, "part": part}}
        return _rebuild(type(self), dict(self.__dict__) | fields)

    def render(self, surface: Surface = PYTHON) -> str:
        """Write the message as the users of a surface read it."""
        return "".join(
            part if isinstance(part, str) else surface.write_reference(part)
            for part in self.parts()
        )

    def parts(self) -> list[Part]:
        """Return the message as text and references to arguments, without passwords."""
        parts = list(self._fill(self.problem))
        if parts and isinstance(parts[0], str) and parts[0].startswith("the "):
            parts[0] = f"T{parts[0][1:]}"  # what a table without a name is called
        if self.value is not None:
            parts.append(f"; got {write_value(self.value)}")
        parts.append(".")
        if self.hint:
            parts += [" ", *self._fill(self.hint)]
            if self.examples:
                parts += [" such as ", *_list_parts(self.examples)]
            if not str(parts[-1]).endswith("?"):
                parts.append(".")
        return parts

    def _fill(self, template: str) -> Iterator[Part]:
        """Replace names in braces by data and references."""
        for text, name, detail, _ in Formatter().parse(template):
            if text:
                yield text
            if name == "argument":
                yield Reference(self.argument, self.index)
            elif name is not None and name in self.data:
                datum = self.data[name]
                shown = datum if isinstance(datum, Reference) else format(datum, detail or "")
                yield shown if isinstance(shown, Reference) else hide_passwords(shown)
            elif name is not None:
                value = Formatter().vformat(detail, (), self.data) if detail else None
                yield Reference(name, value=value)

    def __reduce__(self) -> tuple[object, tuple[type[InputError], Mapping[str, object]]]:
        """Survive the trip between processes, which rebuilds an error from its arguments."""
        return _rebuild, (type(self), dict(self.__dict__))


def _rebuild(kind: type[InputError], fields: Mapping[str, object]) -> InputError:
    data = fields["data"]
    assert isinstance(data, dict)
    rest = {name: value for name, value in fields.items() if name != "data"}
    return kind(**rest | data)  # type: ignore[arg-type]


_USER_AND_PASSWORD = re.compile(
    r"((?:[a-z][a-z0-9+.-]*:/{1,2}|//|postgres(?:ql)?:)[^:\n]*):.*@", re.IGNORECASE
)
_PASSWORD = re.compile(r"(password=)[^&\s]*", re.IGNORECASE)


def hide_passwords(text: str) -> str:
    """Return text in which no URL has a password, not even one that is misspelt.

    Examples
    --------
    >>> hide_passwords("postgresql://me:secret@host/db is not there")
    'postgresql://me:***@host/db is not there'
    """
    return _PASSWORD.sub(r"\1***", _USER_AND_PASSWORD.sub(r"\1:***@", text))


def write_value(value: object) -> str:
    """Write what was given, briefly: text in quotes, numbers without noise."""
    if isinstance(value, float):
        return f"{value:.15g}"
    # Before it is cut short, when the end of a password might be missing.
    text = hide_passwords(value if isinstance(value, Given) else " ".join(repr(value).split()))
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


class Given(str):
    """What was given, already in words: "shape (0,)" instead of a value in quotes."""

    __slots__ = ()


def _list_parts(examples: Sequence[object]) -> Iterator[Part]:
    """Write examples as a sentence lists them, references left for a surface to write."""
    for at, example in enumerate(examples):
        if at:
            yield " or " if at == len(examples) - 1 else ", "
        yield example if isinstance(example, Reference) else hide_passwords(str(example))


def write_list(values: Sequence[object], last: str = "or") -> str:
    """Write a list as a sentence does: a, b or c."""
    *before, final = [str(value) for value in values]
    return f"{', '.join(before)} {last} {final}" if before else final


class ScaleError(InputError):
    """The scale is not an ordered list of at least two different finite values."""

    code: str = "invalid_scale"


class CountsError(InputError):
    """The counts cannot be counts."""

    code: str = "invalid_counts"


class PopulationError(InputError):
    """The number of people contradicts the counts, or is not a number of people."""

    code: str = "invalid_n"


class AssumptionError(InputError):
    """The assumption about who responds is missing, malformed or contradicts itself."""

    code: str = "invalid_assumption"


class MethodError(InputError):
    """The method does not exist, or requires something that was not given."""

    code: str = "invalid_method"


class OptionError(InputError):
    """An option has a value that it cannot have."""

    code: str = "invalid_option"


class ColumnError(InputError):
    """A column is missing, named twice, or of the wrong type."""

    code: str = "invalid_column"


class SourceError(InputError):
    """A table cannot be found, opened or read."""

    code: str = "unreadable_source"


class DataError(InputError):
    """Rows of a table cannot be used as they are."""

    code: str = "invalid_rows"


class MissingLibraryError(UnheardError):
    """A library that is needed is not installed.

    Parameters
    ----------
    purpose
        What requires it, as the start of a sentence: "Drawing a chart".
    package
        The library.
    extra
        The extra of this package that brings it.
    """

    code: str = "missing_library"

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        self.purpose: str = purpose
        self.package: str = package
        self.extra: str = extra
        super().__init__(
            f"{purpose} requires {package}, which is not installed. "
            f"Install it with: pip install 'unheard[{extra}]'"
        )

    def __reduce__(self) -> tuple[type[MissingLibraryError], tuple[str, str, str]]:
        """Survive the trip between processes."""
        return type(self), (self.purpose, self.package, self.extra)


class QueryError(UnheardError):
    """An engine refused a query.

    Parameters
    ----------
    engine
        Which engine.
    message
        What it said.
    sql
        The query.
    """

    code: str = "query_failed"

    def __init__(self, engine: str, message: str, sql: str) -> None:
        self.engine: str = engine
        self.message: str = message
        self.sql: str = sql
        super().__init__(hide_passwords(f"{engine} reports: {message}"))

    def __reduce__(self) -> tuple[type[QueryError], tuple[str, str, str]]:
        """Survive the trip between processes."""
        return type(self), (self.engine, self.message, self.sql)
