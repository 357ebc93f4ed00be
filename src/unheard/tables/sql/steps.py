"""A chain of named SELECTs, each reading the one before."""

from __future__ import annotations

from sqlglot import exp

from unheard.tables.sql.reserved_names import reserve


class Steps:
    """A chain of named SELECTs, each reading the one before."""

    def __init__(self) -> None:
        self._steps: list[tuple[str, exp.Query]] = []

    def add(self, name: str, query: exp.Query, comment: str = "") -> str:
        """Append a step and return the name it is given."""
        if comment:
            first = query
            while isinstance(first, exp.SetOperation):
                first = first.left
            first.add_comments([f" {comment} "], prepend=True)
        self._steps.append((reserve(name), query))
        return reserve(name)

    def closing(self, query: exp.Select) -> exp.Select:
        """Put the steps before the query that ends them."""
        for name, step in self._steps:
            query = query.with_(name, as_=step, copy=False)
        return query
