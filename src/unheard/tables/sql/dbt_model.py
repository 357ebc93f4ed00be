"""A query as a dbt model: tables become references, and braces in the query are kept."""

from __future__ import annotations

import re

from sqlglot import exp

from unheard.errors import OptionError
from unheard.tables.sql.reserved_names import reserve

_OPENING = re.compile(r"\{(?=[{%#])")


class References:
    """The tables of one query, as a model refers to them.

    Examples
    --------
    >>> tables = References()
    >>> query = exp.select("*").from_(tables.add("table", "raw.stays"))
    >>> tables.fill_in(query.sql())
    "SELECT * FROM {{ source('raw', 'stays') }}"
    """

    def __init__(self) -> None:
        self._written: dict[str, str] = {}

    def add(self, argument: str, name: str) -> exp.Table:
        """Return a table that stands for a model, or for a table of a source: ``source.table``."""
        parts = name.split(".")
        if len(parts) > 2 or not all(parts):
            raise OptionError(
                argument,
                problem="{argument} is neither a model nor a table of a source",
                value=name,
                hint="Write model or source.table",
            )
        quoted = ", ".join(
            "'" + part.replace("\\", r"\\").replace("'", r"\'") + "'" for part in parts
        )
        mark = reserve(f"reference_{len(self._written) + 1}")
        self._written[mark] = f"{{{{ {'ref' if len(parts) == 1 else 'source'}({quoted}) }}}}"
        return exp.to_table(mark)

    def fill_in(self, text: str) -> str:
        """Write the references into a query, where nothing else is left for dbt to replace."""
        text = _OPENING.sub("{{ '{' }}", text)
        marks = "|".join(self._written) or r"(?!)"
        return re.sub(rf"\b(?:{marks})\b", lambda found: self._written[found[0]], text)
