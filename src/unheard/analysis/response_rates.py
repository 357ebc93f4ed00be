"""What response rates alone say about participation, per item or window.

The people who respond least often do so at most as often as people do on average, so a floor on
participation is at most the response rate: every larger one is ruled out. A participation ratio is
compatible with any response rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, chdtrc

from unheard.errors import Given, PopulationError
from unheard.formulas.operations import Floats
from unheard.model.histograms import LARGEST_COUNT
from unheard.model.question import require_level
from unheard.model.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class ResponseRates(Result):
    """Response rates, one for each item or window.

    Attributes
    ----------
    n_ratings, n
        Number of respondents, and of people.
    rate
        Share of the people who responded.
    largest_floor
        The largest floor that the rate does not refute at the level.
    drift_p
        p-value of the hypothesis that the rate is the same everywhere.
    level
        Level at which a floor is ruled out.
    labels
        Columns that name the items or windows.
    """

    n_ratings: Floats
    n: Floats
    rate: Floats
    largest_floor: Floats
    drift_p: float
    level: float
    labels: Mapping[str, Sequence[object]]


def check_response_rates(
    n_ratings: ArrayLike,
    n: ArrayLike,
    *,
    level: float = 0.95,
    labels: Mapping[str, Sequence[object]] | None = None,
) -> ResponseRates:
    """Find the floors that response rates rule out, and test whether the rates are all the same.

    Parameters
    ----------
    n_ratings, n
        Number of respondents, and of people: one number each, or one per item or window.
    level
        Level at which a floor is ruled out.
    labels
        Columns that name the items or windows, such as ``{"hotel": ["Alder", "Birch"]}``.

    Examples
    --------
    >>> found = check_response_rates([300, 80], [1000, 1000])
    >>> [round(float(floor), 3) for floor in found.largest_floor]
    [0.325, 0.096]
    """
    respondents, people = _read_sizes(n_ratings, "n_ratings"), _read_sizes(n, "n")
    if 1 != len(people) != len(respondents) != 1:
        raise PopulationError(
            "n",
            problem="{argument} must be one number, or one for each of the {items} items",
            value=Given(f"{len(people)} numbers"),
            items=len(respondents),
        )
    respondents, people = np.broadcast_arrays(respondents, people)
    short = people < np.maximum(respondents, 1)
    if short.any():
        row = int(np.argmax(short))
        raise PopulationError(
            "n",
            problem="{argument} must be at least 1 and at least the number of ratings, {ratings}",
            value=float(people[row]),
            hint="Count everybody, respondents included",
            index=row if len(people) > 1 else (),
            ratings=f"{respondents[row]:.15g}",
        )
    level = require_level(level)
    rate = respondents / people
    missing = people - respondents
    most = np.ones(len(rate))
    some = missing > 0
    most[some] = betaincinv(respondents[some] + 1, missing[some], level)
    drift_p = _test_drift(respondents, people)
    return ResponseRates(respondents, people, rate, most, drift_p, level, labels or {})


def _read_sizes(values: ArrayLike, argument: str) -> Floats:
    try:
        sizes = np.atleast_1d(np.asarray(values, np.float64))
    except (TypeError, ValueError):
        sizes = np.array([np.nan])
    if sizes.ndim > 1:
        raise PopulationError(
            argument,
            problem="{argument} must have one number for each item",
            value=Given(f"an array of shape {sizes.shape}"),
        )
    if not ((sizes >= 0) & (sizes <= LARGEST_COUNT)).all():
        raise PopulationError(
            argument, problem="{argument} must be numbers of people, 0 or more", value=values
        )
    return sizes


def _test_drift(respondents: Floats, people: Floats) -> float:
    """Return the p-value of Pearson's test that all rates are the same."""
    share = respondents.sum() / people.sum()
    if len(respondents) < 2 or share in (0.0, 1.0):
        return 1.0
    distance = ((respondents - share * people) ** 2 / (people * share * (1 - share))).sum()
    return float(chdtrc(len(respondents) - 1, distance))
