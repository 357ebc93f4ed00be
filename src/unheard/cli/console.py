"""The terminal: what can be shown on it, and results shown there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NoReturn

import click
from rich.console import Console
from rich.text import Text

from unheard.model.results import Result
from unheard.present.layout import FINE, PLAIN, WIDEST, Page
from unheard.present.results import write_lines

_NARROWEST = 30


class Terminal(Console):
    """A console that breaks no line of a drawing, and stops quietly when nobody reads on."""

    def on_broken_pipe(self) -> NoReturn:
        """Let the command end as it sees fit."""
        raise BrokenPipeError


def make_console() -> Terminal:
    """Return the console that everything is shown on."""
    console = Terminal(highlight=False, soft_wrap=True)
    console.width = max(console.width, _NARROWEST)
    return console


def make_page(console: Console) -> Page:
    """Return a page as wide as the terminal, within reason, with characters that it knows."""
    return Page(min(console.width, WIDEST), FINE if _is_unicode(console) else PLAIN)


def _is_unicode(console: Console) -> bool:
    try:
        "".join(vars(FINE).values()).encode(console.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def show_lines(lines: Iterable[Text | str], console: Console | None = None) -> None:
    """Print lines as they are."""
    console = console or make_console()
    for line in lines:
        console.print(line, markup=False)


def print_json(document: object) -> None:
    """Print a JSON document; dates and other things that JSON lacks are text."""
    click.echo(json.dumps(document, default=str, ensure_ascii=False))


def show(result: Result, as_json: bool, **options: object) -> None:
    """Print a result, or its JSON document."""
    if as_json:
        print_json(result.to_dict())
    else:
        show_result(result, **options)


def show_result(result: Result, **options: object) -> None:
    """Print a result."""
    console = make_console()
    show_lines(write_lines(result, make_page(console), **options), console)
