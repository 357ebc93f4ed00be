"""The names that queries make up: they all begin alike, so that none can be a user's.

A query carries the user's own columns, under their own names, beside columns of its making. Every
name of its making comes from :func:`reserve`: columns, steps, and what subqueries are called. What
:func:`is_reserved` is refused as a name of a column or table of the user's. The columns of a result
are the one exception; their names are a promise, and items may not be called like them.
"""

from __future__ import annotations

PREFIX = "uh_"
"""What the names that queries make up begin with."""


def reserve(name: str) -> str:
    """Make a name that no column or table of the user's can have."""
    return f"{PREFIX}{name}"


def is_reserved(name: str) -> bool:
    """Whether a name is kept for queries, in any case: most engines do not tell cases apart."""
    return name.lower().startswith(PREFIX)


def plain(name: str) -> str:
    """Return a name as people are shown it."""
    return name.removeprefix(PREFIX)


N, Q, SEEN, BALANCE = reserve("n"), reserve("q"), reserve("seen"), reserve("balance")
"""People, participation ratio, number of ratings and BEA's lambda, beside the counts."""

N_WRONG = reserve("n_wrong")
"""1 where n cannot be right, and was dropped or raised."""

VALUE = reserve("value")
"""The one column that is taken from a second table, besides its keys."""

N_ROWS, N_NULL, N_BAD = reserve("n_rows"), reserve("n_null"), reserve("n_bad")
"""Rows read for a row of counts, those without a rating, and those that hold no counts."""

BUCKET = reserve("bucket")
"""The number of a step of time."""

MANY = reserve("many")
"""How many rows there are, where nothing else is asked."""

END, PLACE, RATING = reserve("end"), reserve("place"), reserve("rating")
"""The end of an interval, how many ratings from it a rating is, and from the lowest."""
