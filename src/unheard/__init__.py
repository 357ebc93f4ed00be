"""An honest rating, with an allowance for the people who said nothing.

>>> import unheard as uh
>>> result = uh.estimate([120, 30, 45, 200, 605], q=0.3)
>>> f"{result.estimate:.2f}, between {result.lower:.2f} and {result.upper:.2f}"
'4.00, between 3.35 and 4.64'
"""

from __future__ import annotations

from unheard import _loading as _before_all_that_takes_time  # noqa: F401

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unheard._version import __version__
from unheard.core.aggregators import AGGREGATORS
from unheard.core.balance import a_star, balance, lower_bound
from unheard.core.counts import Counts
from unheard.core.estimate import FLAG_WORDS, Estimate, Inquiry, estimate, inquire
from unheard.core.participation import PRESETS, Participation
from unheard.core.response import Response
from unheard.core.scale import Scale
from unheard.core.showing import install as _install_shower
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
    from unheard.decide.audit import Audit, calibrate
    from unheard.decide.breakdown import breakdown
    from unheard.decide.compare import Comparison, compare
    from unheard.decide.follow_up import follow_up
    from unheard.decide.plan import plan_follow_up
    from unheard.decide.ranking import Ranking, ranking, top_k_breakdown
    from unheard.decide.rates import response_rates
    from unheard.decide.shared_claims import shared_breakdown, shared_top_k_breakdown
    from unheard.decide.shared_ranking import SharedRanking, rank_shared
    from unheard.decide.store import read_assumption, write_assumption
    from unheard.decide.sweep import Sweep, sweep
    from unheard.report import make_report
    from unheard.tables import RowsLeftOutWarning, counts, rank, rate, sql

METHODS = tuple(AGGREGATORS)
"""Names of the methods that :func:`estimate` knows."""

_LATER = {
    name: module
    for module, names in {
        "unheard.decide.audit": ("Audit", "calibrate"),
        "unheard.decide.breakdown": ("breakdown",),
        "unheard.decide.compare": ("Comparison", "compare"),
        "unheard.decide.follow_up": ("follow_up",),
        "unheard.decide.plan": ("plan_follow_up",),
        "unheard.decide.ranking": ("Ranking", "ranking", "top_k_breakdown"),
        "unheard.decide.rates": ("response_rates",),
        "unheard.decide.shared_claims": ("shared_breakdown", "shared_top_k_breakdown"),
        "unheard.decide.shared_ranking": ("SharedRanking", "rank_shared"),
        "unheard.decide.store": ("read_assumption", "write_assumption"),
        "unheard.decide.sweep": ("Sweep", "sweep"),
        "unheard.report": ("make_report",),
        "unheard.tables": ("RowsLeftOutWarning", "counts", "rank", "rate", "sql"),
    }.items()
    for name in names
}
"""Names that are fetched when first used, so that importing the package stays fast."""

__all__ = [
    "FLAG_WORDS",
    "METHODS",
    "PRESETS",
    "Audit",
    "ColumnError",
    "Comparison",
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
    "Ranking",
    "Response",
    "RowsLeftOutWarning",
    "Scale",
    "ScaleError",
    "SharedRanking",
    "SourceError",
    "Sweep",
    "UnheardError",
    "__version__",
    "a_star",
    "balance",
    "breakdown",
    "calibrate",
    "compare",
    "counts",
    "estimate",
    "follow_up",
    "inquire",
    "lower_bound",
    "make_report",
    "plan_follow_up",
    "rank",
    "rank_shared",
    "ranking",
    "rate",
    "read_assumption",
    "response_rates",
    "shared_breakdown",
    "shared_top_k_breakdown",
    "sql",
    "sweep",
    "top_k_breakdown",
    "write_assumption",
]


# Drawing is above the results that are drawn; only here are the two put together.
_install_shower(lambda: import_module("unheard.charts.notebook"))


def __getattr__(name: str) -> Any:
    """Fetch a name when it is first used."""
    if name == "charts":
        return import_module("unheard.charts")
    if name not in _LATER:
        raise AttributeError(f"module 'unheard' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    """List the names that are fetched later as well."""
    return sorted([*globals(), *_LATER])
