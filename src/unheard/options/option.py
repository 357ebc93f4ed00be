"""What an option is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import Literal, TypeAlias

from unheard.errors import Reference, Surface

Kind: TypeAlias = Literal[
    "number",
    "whole",
    "numbers",
    "pairs",
    "ratio",
    "ratios",
    "level",
    "scale",
    "labels",
    "choice",
    "flag",
    "text",
    "column",
    "columns",
    "table",
    "names",
    "assumption",
    "file",
]
"""What an option's value is.

``ratio`` is a participation ratio or the name of a preset or study, ``level`` a level or none,
``pairs`` a pair of numbers for each rating, ``labels`` words and what they stand for;
``column`` and ``columns`` name columns of a table, and
``table`` is a second table.
"""

Where: TypeAlias = Literal["python", "command", "rest"]
EVERYWHERE: frozenset[Where] = frozenset(("python", "command", "rest"))


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option, as every surface offers it.

    Attributes
    ----------
    name
        The argument in Python and the field in REST; on the command line ``--off-scale``.
    kind
        What its value is.
    help
        What it does, in a sentence or two; ``{q}`` stands for another option.
    default
        Its value if it is not given.
    choices
        The values a choice has, and what the page calls each.
    metavar
        What stands for the value in the help of the command line.
    label
        What the page calls the option.
    short
        A one-letter form on the command line.
    off
        The word that turns a flag off on the command line: ``separate`` for ``--separate``.
    least, most
        The smallest and largest value of a whole number.
    required
        Whether it must be given.
    surfaces
        Where it is offered.
    """

    name: str
    kind: Kind
    help: str
    default: float | str | bool | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    metavar: str = ""
    label: str = ""
    short: str = ""
    off: str = ""
    least: int = 1
    most: int | None = None
    required: bool = False
    surfaces: frozenset[Where] = EVERYWHERE

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return f"--{self.name.replace('_', '-')}"

    def write_help(self, surface: Surface) -> str:
        """Write the help as the users of a surface read it."""
        return write_text(self.help, surface)

    def only(self, *surfaces: Where) -> Option:
        """Return the option offered on these surfaces alone."""
        return replace(self, surfaces=frozenset(surfaces))


def write_text(template: str, surface: Surface) -> str:
    """Replace the names of options in braces as a surface writes them."""
    written = []
    for text, name, value, _ in Formatter().parse(template):
        written.append(text)
        if name is not None:
            written.append(surface.write_reference(Reference(name, value=value or None)))
    return "".join(written)
