"""What the commands that read a table share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unheard.cli.options import Values, pick
from unheard.options.questions import READING

if TYPE_CHECKING:
    from unheard.tables.request import Request
    from unheard.tables.sources.open import Where

_READING = (*(one.name for one in READING), "to_table")


def read_where(values: Values) -> Where:
    """Read from options where the table is."""
    from unheard.tables.sources.open import Where

    return Where(**pick(values, _READING))


def read_order(values: Values) -> Request:
    """Read options into a request about the order of items."""
    from unheard.tables.pipeline import REQUEST_OPTIONS, read_request
    from unheard.tables.request import add_order

    request = read_request(**pick(values, REQUEST_OPTIONS))
    return add_order(
        request, values["k"], values["above"], values["below"], method=values["method"]
    )
