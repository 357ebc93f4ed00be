"""The fewest non-respondents to ask, found for many items at once.

More responses never do worse, so bisection finds the smallest number that is enough. Every step
is taken for all items of a block together, because a step for one item costs little but overhead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unheard.analysis.follow_up import Pair, Respondents, summarize_full_response
from unheard.analysis.plan_goal import Goal
from unheard.formulas.operations import BLOCK_ROWS, Floats
from unheard.model.results import Numbers

Indices: TypeAlias = NDArray[np.intp]
Enough: TypeAlias = Callable[[Indices, Floats], NDArray[np.bool_]]
"""Tells for some items, each with a number of responses, whether these are enough."""

_SPLITS = 0.5 + np.array([0, *(sign * step / 200 for step in range(1, 101) for sign in (1, -1))])
"""Shares of non-respondents at the top of the scale, others at the bottom, for the worst case."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """One scenario for each of some items, and how many people to ask if it holds.

    Attributes
    ----------
    shares
        Share of the non-respondents with each rating; one row per item.
    sides
        Which side of the threshold the mean is on: 1 above, -1 below, 0 for neither.
    ask
        Number of people to ask; 0 if none is needed, NaN if asking everybody is not enough.
    """

    shares: Floats
    sides: Floats
    ask: Floats


def items_per_block(goal: Goal) -> int:
    """Return how many items to search at once, so that the rows of a step stay in the cache."""
    return BLOCK_ROWS if goal.power is not None else BLOCK_ROWS // len(_SPLITS)


def search(
    respondents: Respondents,
    guesses: Mapping[str, Floats],
    goal: Goal,
    reached: NDArray[np.bool_],
    settled: Floats,
) -> dict[str, Outlook]:
    """Find how many people to ask in each scenario.

    Parameters
    ----------
    respondents
        One row per item, each with somebody who did not respond.
    guesses
        Shares of the non-respondents per rating in each scenario, one row per item.
    goal
        What the follow-up is for.
    reached, settled
        Whether the goal is reached already, and on which side of the target the interval is.
    """
    if goal.power is None:
        return _search_for_width(respondents, guesses, goal.target, reached)
    return {
        name: _search_for_claim(respondents, shares, goal.target, goal.power, settled)
        for name, shares in guesses.items()
    }


def _search_for_width(
    respondents: Respondents,
    guesses: Mapping[str, Floats],
    target: float,
    reached: NDArray[np.bool_],
) -> dict[str, Outlook]:
    """Search for the worst split of the non-respondents between the two ends, and for a guess."""
    ends = np.zeros((1, len(_SPLITS), len(respondents.values)))
    ends[..., 0], ends[..., -1] = 1 - _SPLITS, _SPLITS
    guess = "given" if "given" in guesses else "estimate"
    most, items = respondents.n_nonrespondents, np.arange(len(respondents.counts))
    found = {}
    for name, shapes in (("worst", ends), (guess, guesses[guess][:, None])):
        widths = partial(_find_widths, respondents, shapes)
        ask = np.where(reached, 0.0, np.nan)
        ask[~reached] = find_smallest(partial(_is_narrow, widths, target), most, items[~reached])
        last_too_few = np.maximum(np.where(ask > 0, ask, most) - 1, 1)
        widest = np.argmax(widths(items, last_too_few), axis=1)
        every = np.broadcast_to(shapes, (len(items), *shapes.shape[1:]))
        found[name] = Outlook(every[items, widest], np.zeros(len(items)), ask)
    return found


def _is_narrow(
    widths: Callable[[Indices, Floats], Floats], target: float, items: Indices, k: Floats
) -> NDArray[np.bool_]:
    return np.asarray(widths(items, k).max(axis=1) <= target)


def _find_widths(respondents: Respondents, shapes: Floats, items: Indices, k: Floats) -> Floats:
    """Return the widths of the intervals after k responses, by item and shape of the responses."""
    many = shapes.shape[1]
    own = shapes[items if len(shapes) > 1 else np.zeros_like(items)]
    rows = own.reshape(-1, own.shape[-1])
    repeated = respondents.take(np.repeat(items, many))
    lower, upper = find_expected_limits(repeated, rows, np.repeat(k, many))
    return np.asarray((upper - lower).reshape(-1, many))


def _search_for_claim(
    respondents: Respondents, shares: Floats, target: float, power: float, settled: Floats
) -> Outlook:
    """Search for one guess: settle which side of the target the mean is on."""
    values = respondents.values
    distance = respondents.compute_mean(shares @ values) - target
    # The mean of a scenario is a sum of many numbers: allow for rounding.
    sides = np.where(np.abs(distance) <= 1e-12 * (values[-1] - values[0]), 0.0, np.sign(distance))
    done = (sides != 0) & (settled == sides)
    ask = np.where(done, 0.0, np.nan)
    left = np.flatnonzero((sides != 0) & ~done)
    enough = partial(_settle_claim, respondents, shares, sides, target, power)
    ask[left] = find_smallest(enough, respondents.n_nonrespondents, left)
    return Outlook(shares, sides, ask)


def _settle_claim(
    respondents: Respondents,
    shares: Floats,
    sides: Floats,
    target: float,
    power: float,
    items: Indices,
    k: Floats,
) -> NDArray[np.bool_]:
    """Tell whether k responses put the confidence interval on a side with the requested power.

    With that probability, the mean of the responses is off by at most a number of standard errors.
    The responses expected given that mean must suffice.
    """
    asked, shares, sides = respondents.take(items), shares[items], sides[items]
    n_nonrespondents = asked.n_nonrespondents
    away = asked.values - (shares @ asked.values)[:, None]
    variance = (shares * away**2).sum(axis=1)
    left = (n_nonrespondents - k) / np.maximum(n_nonrespondents - 1, 1)
    shift = -sides * float(ndtri(power)) * np.sqrt(variance / k * left)
    tilt = np.divide(shift, variance, out=np.zeros_like(shift), where=variance > 0)
    unlucky = np.maximum(shares * (1 + tilt[:, None] * away), 0.0)
    unlucky /= unlucky.sum(axis=1, keepdims=True)
    lower, upper = find_expected_limits(asked, unlucky, k)
    return np.where(sides > 0, lower > target, upper < target)


def find_expected_limits(respondents: Respondents, rows: Floats, k: Numbers) -> Pair:
    """Return the confidence limits if k responses come in these shares, fractions included."""
    responses = np.asarray(k, np.float64)[..., None] * rows
    return respondents.combine(summarize_full_response(responses, respondents), k)[1]


def find_smallest(enough: Enough, most: Floats, items: Indices) -> Floats:
    """Return the smallest number from 1 to ``most`` that is enough, for each of some items.

    NaN where not even ``most`` is.
    """
    found = np.full(len(items), np.nan)
    open_ = np.flatnonzero(enough(items, most[items])) if len(items) else np.arange(0)
    too_few, high = np.zeros(len(open_)), most[items[open_]].astype(np.float64)
    found[open_] = high
    while len(open_ := open_[(wide := high - too_few > 1)]):
        too_few, high = too_few[wide], high[wide]
        middle = np.floor((too_few + high) / 2)
        good = enough(items[open_], middle)
        too_few, high = np.where(good, too_few, middle), np.where(good, middle, high)
        found[open_] = high
    return found
