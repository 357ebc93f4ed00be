"""An honest rating, with an allowance for the people who said nothing.

>>> import unheard as uh
>>> result = uh.estimate([120, 30, 45, 200, 605], q=0.3)
>>> f"{result.estimate:.2f}, between {result.lower:.2f} and {result.upper:.2f}"
'4.00, between 3.35 and 4.64'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unheard._version import __version__
from unheard.core.aggregators import AGGREGATORS
from unheard.core.balance import a_star, balance, lower_bound
from unheard.core.counts import Counts
from unheard.core.estimate import FLAG_WORDS, Estimate, Inquiry, estimate, inquire
from unheard.core.participation import Participation
from unheard.core.response import Response
from unheard.core.scale import Scale
from unheard.errors import (
    ColumnError,
    CountsError,
    DataError,
    InputError,
    MethodError,
    MissingEngineError,
    OptionError,
    ParticipationError,
    PopulationError,
    QueryError,
    ScaleError,
    SourceError,
    UnheardError,
)
from unheard.game import method as _minimax_joins_the_methods  # noqa: F401

if TYPE_CHECKING:
    from unheard.tables import RowsLeftOutWarning, counts, rate, sql

METHODS = tuple(AGGREGATORS)
"""Names of the methods that :func:`estimate` knows."""

_LATER = dict.fromkeys(("RowsLeftOutWarning", "counts", "rate", "sql"), "unheard.tables")
"""Names that load an engine, and are fetched when first used."""

__all__ = [
    "FLAG_WORDS",
    "METHODS",
    "ColumnError",
    "Counts",
    "CountsError",
    "DataError",
    "Estimate",
    "InputError",
    "Inquiry",
    "MethodError",
    "MissingEngineError",
    "OptionError",
    "Participation",
    "ParticipationError",
    "PopulationError",
    "QueryError",
    "Response",
    "RowsLeftOutWarning",
    "Scale",
    "ScaleError",
    "SourceError",
    "UnheardError",
    "__version__",
    "a_star",
    "balance",
    "counts",
    "estimate",
    "inquire",
    "lower_bound",
    "rate",
    "sql",
]


def __getattr__(name: str) -> Any:
    """Fetch a name that needs an engine when it is first used."""
    if name not in _LATER:
        raise AttributeError(f"module 'unheard' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    """List the names that are fetched later as well."""
    return sorted([*globals(), *_LATER])
