"""How the users of each surface know the options; Python's own way is in ``errors.py``."""

from __future__ import annotations

import csv
import io
from shlex import quote

from unheard.errors import Reference
from unheard.options.questions import QUESTIONS, options_of

_KNOWN = {one.name for options in QUESTIONS.values() for one in options}


class CommandLine:
    """Options as they are typed.

    Parameters
    ----------
    question
        The command: what is an option of one may be an argument of another. None for any.

    Examples
    --------
    >>> command = CommandLine("estimate")
    >>> command.write_reference(Reference("squared_weights"))
    '--squared-weights'
    >>> command.write_reference(Reference("counts", (2,)))
    'count 3'
    >>> CommandLine("rate").write_reference(Reference("nulls", value="drop"))
    '--nulls drop'
    """

    def __init__(self, question: str | None = None) -> None:
        self._question = question
        known = question in QUESTIONS
        self._options = set(options_of(question, "command")) if known and question else _KNOWN

    def write_reference(self, reference: Reference) -> str:
        """Write ``--q``, ``--g[1]``, ``--nulls drop`` or, for an argument, ``count 3``."""
        name, index = reference.argument, reference.index
        if name == "counts" and (index or "counts" not in self._options):
            return _write_place(index) if index else "COUNTS"
        if name not in _KNOWN:
            return f"{name}{_brackets(index)}"
        if name == "source" and name not in self._options:
            return "SOURCE"
        flag = f"--{name.replace('_', '-')}{_brackets(index)}"
        return flag if reference.value is None else f"{flag} {quote(_write_value(reference.value))}"


class Rest:
    """Options as fields of a request: ``q``, ``counts[2]``, ``nulls=drop``."""

    def write_reference(self, reference: Reference) -> str:
        """Write a field, or a field with its value."""
        value = "" if reference.value is None else f"={_write_value(reference.value)}"
        return f"{reference.argument}{_brackets(reference.index)}{value}"


REST = Rest()


def _write_value(value: str | tuple[str, ...]) -> str:
    """Write a value; names separated by commas, those that hold a comma in quotes."""
    if isinstance(value, str):
        return value
    file = io.StringIO()
    csv.writer(file, lineterminator="").writerow(value)
    return file.getvalue()


def _write_place(index: tuple[int, ...]) -> str:
    places = ("item", "count")[-len(index) :]
    return ", ".join(f"{place} {at + 1}" for place, at in zip(places, index, strict=True))


def _brackets(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""
