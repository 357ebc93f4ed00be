"""What the commands that read a table share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unheard.cli.options import Values, pick
from unheard.options.questions import READING
from unheard.options.surfaces import CommandLine

if TYPE_CHECKING:
    from unheard.tables.request import Request
    from unheard.tables.sources.open import Where

_READING = (*(one.name for one in READING), "to_table")


def read_where(values: Values) -> Where:
    """Read from options where the table is."""
    from unheard.tables.sources.open import Where

    return Where(**pick(values, _READING), surface=CommandLine())


def read_table_options(source: str, values: Values) -> Values:
    """Return the options that make a request; kept counts know some of them."""
    from unheard.tables.kept.recall import recall_options
    from unheard.tables.pipeline import REQUEST_OPTIONS

    return recall_options(source, read_where(values), pick(values, REQUEST_OPTIONS))


def read_order(source: str, values: Values) -> Request:
    """Read options into a request about the order of items."""
    from unheard.tables.pipeline import read_request
    from unheard.tables.request import add_order

    request = read_request(**read_table_options(source, values))
    return add_order(
        request, values["k"], values["above"], values["below"], method=values["method"]
    )
