"""Messages on standard error, broken into lines where that is a terminal."""

from __future__ import annotations

import re
import shutil
import sys

import click

_NARROWEST = 30
_WORDS = re.compile(r"(?:(?<!\w)'[^']*'(?!\w)|\S)+")
"""Words, and what quotes hold together: it may be copied into a shell."""


def show_message(text: str) -> None:
    """Print a message on standard error; elsewhere than in a terminal it keeps its lines."""
    if sys.stderr.isatty():
        width = max(shutil.get_terminal_size().columns, _NARROWEST)
        text = "\n".join(wrap_line(line, width) for line in text.split("\n"))
    click.echo(text, err=True)


def wrap_line(line: str, width: int) -> str:
    """Break a line between its words.

    Examples
    --------
    >>> print(wrap_line("Say which rating each word has: --labels 'Bad=1,Very good=2'", 32))
    Say which rating each word has:
    --labels 'Bad=1,Very good=2'
    """
    if len(line) <= width:
        return line
    lines = [""]
    for word in _WORDS.findall(line):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)
