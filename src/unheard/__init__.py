"""An honest rating, with an allowance for the people who said nothing.

>>> import unheard as uh
>>> result = uh.estimate([120, 30, 45, 200, 605], q=0.3)
>>> f"{result.estimate:.2f}, between {result.lower:.2f} and {result.upper:.2f}"
'4.00, between 3.35 and 4.64'
"""

from unheard._version import __version__
from unheard.core.aggregators import AGGREGATORS
from unheard.core.balance import a_star, balance, lower_bound
from unheard.core.counts import Counts
from unheard.core.estimate import FLAG_WORDS, Estimate, Inquiry, estimate, inquire
from unheard.core.participation import Participation
from unheard.core.response import Response
from unheard.core.scale import Scale
from unheard.errors import (
    CountsError,
    InputError,
    MethodError,
    OptionError,
    ParticipationError,
    PopulationError,
    ScaleError,
    UnheardError,
)
from unheard.game import method as _minimax_joins_the_methods  # noqa: F401

METHODS = tuple(AGGREGATORS)
"""Names of the methods that :func:`estimate` knows."""

__all__ = [
    "FLAG_WORDS",
    "METHODS",
    "Counts",
    "CountsError",
    "Estimate",
    "InputError",
    "Inquiry",
    "MethodError",
    "OptionError",
    "Participation",
    "ParticipationError",
    "PopulationError",
    "Response",
    "Scale",
    "ScaleError",
    "UnheardError",
    "__version__",
    "a_star",
    "balance",
    "estimate",
    "inquire",
    "lower_bound",
]
