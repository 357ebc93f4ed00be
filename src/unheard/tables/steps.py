"""A chain of named SELECTs, each reading the one before."""

from __future__ import annotations

from sqlglot import exp


class Steps:
    """A chain of named SELECTs, each reading the one before."""

    def __init__(self) -> None:
        self._steps: list[tuple[str, exp.Query]] = []

    def add(self, name: str, query: exp.Query, comment: str = "") -> str:
        """Append a step and return its name."""
        if comment:
            query.add_comments([f" {comment} "], prepend=True)
        self._steps.append((name, query))
        return name

    def closing(self, query: exp.Select) -> exp.Select:
        """Put the steps before the query that ends them."""
        for name, step in self._steps:
            query = query.with_(name, as_=step, copy=False)
        return _clear_of(query, {name for name, _ in self._steps})


def _clear_of(query: exp.Select, ours: set[str]) -> exp.Select:
    """Rename steps that are called like a table of the user's."""
    given = {t.name.lower() for t in query.find_all(exp.Table) if t.meta.get("given")}
    clashes = ours & given
    if not clashes:
        return query
    for node in list(query.walk()):
        place = None
        if isinstance(node, exp.Column):
            place = node.args.get("table")
        elif isinstance(node, exp.TableAlias) or (
            isinstance(node, exp.Table) and not node.meta.get("given")
        ):
            place = node.this
        if isinstance(place, exp.Identifier) and place.name in clashes:
            place.set("this", f"unheard_{place.name}")
    return query
