"""What the response rate alone says, where the number of people is known: per item or window.

Those who respond least often do so no more often than people do on average, so a floor on
participation is at most the response rate: every larger one is ruled out. A participation ratio is
compatible with any response rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, chdtrc

from unheard.errors import OptionError, PopulationError
from unheard.formulas.operations import Floats
from unheard.model.histograms import LARGEST_COUNT


@dataclass(frozen=True, eq=False)
class ResponseRates:
    """Response rates, one for each item or window.

    Attributes
    ----------
    n_ratings, n
        How many answered, of how many people.
    rate
        Share who answered.
    largest_floor
        The largest floor that the rate does not refute at the level.
    drift_p
        p-value of the hypothesis that the rate is the same everywhere.
    """

    n_ratings: Floats
    n: Floats
    rate: Floats
    largest_floor: Floats
    drift_p: float


def check_response_rates(
    n_ratings: ArrayLike, n: ArrayLike, *, level: float = 0.95
) -> ResponseRates:
    """Say which floors response rates rule out, and whether the rates are the same everywhere.

    Parameters
    ----------
    n_ratings, n
        How many people answered, of how many there are: one number each, or one per item or
        window.
    level
        Level at which a floor is ruled out.

    Examples
    --------
    >>> found = check_response_rates([300, 80], [1000, 1000])
    >>> [round(float(floor), 3) for floor in found.largest_floor]
    [0.325, 0.096]
    """
    seen, people = _sizes(n_ratings, "n_ratings"), _sizes(n, "n")
    if 1 != len(people) != len(seen) != 1:
        raise PopulationError(
            "n", f"{len(people)} numbers for {len(seen)} of ratings", "Give one n, or one for each"
        )
    seen, people = np.broadcast_arrays(seen, people)
    short = people < np.maximum(seen, 1)
    if short.any():
        row = int(np.argmax(short))
        raise PopulationError(
            f"n[{row}]" if len(people) > 1 else "n",
            f"{people[row]:.15g} people for {seen[row]:.15g} ratings",
            "Count everybody in n, those who answered included",
        )
    if not 0 < level < 1:
        raise OptionError("level", f"{level!r} found", "Give a number between 0 and 1")
    rate = seen / people
    unseen = people - seen
    most = np.ones(len(rate))
    silent = unseen > 0
    most[silent] = betaincinv(seen[silent] + 1, unseen[silent], level)
    return ResponseRates(seen, people, rate, most, _drift(seen, people))


def _sizes(values: ArrayLike, place: str) -> Floats:
    try:
        sizes = np.atleast_1d(np.asarray(values, np.float64))
    except (TypeError, ValueError):
        raise PopulationError(
            place, f"{values!r} is not a number", "Give numbers of people"
        ) from None
    if sizes.ndim > 1:
        raise PopulationError(
            place, f"an array of shape {sizes.shape} found", "Give one number for each item"
        )
    if not ((sizes >= 0) & (sizes <= LARGEST_COUNT)).all():
        raise PopulationError(place, "a negative or missing number found", "Give numbers of people")
    return sizes


def _drift(seen: Floats, people: Floats) -> float:
    """Pearson's test that all rates are one."""
    share = seen.sum() / people.sum()
    if len(seen) < 2 or share in (0.0, 1.0):
        return 1.0
    distance = ((seen - share * people) ** 2 / (people * share * (1 - share))).sum()
    return float(chdtrc(len(seen) - 1, distance))
