"""The scale that ratings were probably given on, and whether they contradict the default one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from unheard.model.scale import Scale
from unheard.text import write_exactly

RARE = 0.02
"""Values at the ends as rare as this may be slips or codes, and do not make a scale longer."""

MANY = 200
"""Number of ratings of which at least one is at each end of the scale: an end that 2% of people
use is missed by 200 with a probability of less than 2%."""

_USUAL: tuple[tuple[float, float], ...] = (
    (0, 1),
    (1, 5),
    (0, 5),
    (1, 6),
    (1, 7),
    (1, 10),
    (0, 10),
    (1, 20),
    (0, 20),
    (1, 100),
    (0, 100),
)
_LONGEST_KNOWN = 10
"""On longer scales, it is not surprising if nobody uses an end."""

_MOST_SUGGESTED = 101

_STEPS = (1.0, 0.5, 0.25, 0.1, 0.05, 0.01)


def guess_scale(counts: Mapping[float, int], rare: float = RARE) -> str:
    """Return the shortest usual scale, in steps of 1, 0.5, ..., that holds ratings; "" for none.

    Parameters
    ----------
    counts
        How often each rating was given.
    rare
        The share of ratings, at either end, that the scale need not hold.

    Examples
    --------
    >>> guess_scale({1: 3, 5: 9, 7: 1, 0: 2}), guess_scale({1: 2, 5: 8, 9: 4, 3.5: 1})
    ('0:10', '1:10:0.5')
    >>> guess_scale({1: 3, 1.3: 9, 3.7: 1}), guess_scale({0: 3, 0.85: 2, 1: 4})
    ('1:5:0.1', '0:1:0.05')

    Of many ratings, somebody uses the ends of the scale; 99 is a code.

    >>> guess_scale({1: 60, 2: 80, 3: 90, 4: 50, 99: 3})
    '1:4'
    >>> guess_scale(dict.fromkeys(range(101), 10)), guess_scale(dict.fromkeys(range(6, 11), 60))
    ('0:100', '1:10')
    """
    low, high = _trim(counts, rare)
    inside = {value: times for value, times in counts.items() if low <= value <= high}
    step = _find_step(inside, rare)
    is_share = step < 0.5 and low >= 0 and high <= 1
    first, last = (0.0, 1.0) if is_share else _fit_ends(low, high)
    if last > _LONGEST_KNOWN:  # so many values are all rare
        whole = _fit_ends(min(counts), max(counts))
        first = whole[0] if whole in _USUAL and whole[1] == last else first
    if sum(inside.values()) >= MANY and last <= _LONGEST_KNOWN:
        # By a step: a scale that lacks more at an end is not shorter, but seldom used there.
        used = [value for value in counts if first <= value <= last]
        first = min(used) if min(used) <= first + 1 else first
        last = max(used) if max(used) >= last - 1 else last
    if step == 0.5 and first == 0 and low > 0:
        first = 0.5
    if not 1 <= (last - first) / step < _MOST_SUGGESTED:
        return ""
    by = "" if step == 1 else f":{write_exactly(step)}"
    return f"{write_exactly(first)}:{write_exactly(last)}{by}"


def _trim(counts: Mapping[float, int], rare: float) -> tuple[float, float]:
    """Return the ends of the values without those at the ends that are rare."""
    most = rare * sum(counts.values())
    ends = []
    for values in (sorted(counts), sorted(counts, reverse=True)):
        passed = 0
        for value in values:
            passed += counts[value]
            if passed > most:
                break
        ends.append(value)
    return ends[0], ends[1]


def _find_step(counts: Mapping[float, int], rare: float) -> float:
    most = rare * sum(counts.values())
    for step in _STEPS:
        between = (times for value, times in counts.items() if round(value / step, 9) % 1)
        if sum(between) <= most:
            return step
    return math.nan


def _fit_ends(low: float, high: float) -> tuple[float, float]:
    for first, last in _USUAL:
        # Six and seven points start at 1, and two at 0.
        starts = low == first if last in (1, 6, 7) else low >= first
        if starts and high <= last:
            return first, last
    return low, high


@dataclass(frozen=True)
class Doubt:
    """Why a scale that nobody stated may not be the one that ratings were given on.

    Attributes
    ----------
    unused
        The ends that nobody used.
    ratings
        How many ratings there are.
    likely
        The scale that the ratings suggest.
    """

    unused: tuple[float, ...]
    ratings: int
    likely: str

    def explain(self, assumed: Scale) -> str:
        """Say what the ratings show, and what to do; ``{scale:1:4}`` stands for the option."""
        ends = " or ".join(write_exactly(value) for value in self.unused)
        low, high = write_exactly(assumed.lowest), write_exactly(assumed.highest)
        return (
            f"None of the {self.ratings:,} ratings is {ends}, so the scale may be "
            f"{Scale.parse(self.likely).describe()}: if it is, use {{scale:{self.likely}}}. "
            f"{assumed.describe()} was assumed; {{scale:{low}:{high}}} confirms that."
        )


def doubt_scale(counts: Mapping[float, int], scale: Scale) -> Doubt | None:
    """Return why ratings contradict a scale that they lie on; None if they do not.

    Examples
    --------
    >>> doubt_scale({1: 90, 2: 80, 3: 70, 4: 60}, Scale.points(5))
    Doubt(unused=(5.0,), ratings=300, likely='1:4')
    >>> doubt_scale({1: 9, 2: 8, 3: 7, 4: 6}, Scale.points(5))
    """
    ratings = sum(counts.values())
    unused = tuple(end for end in (scale.lowest, scale.highest) if not counts.get(end))
    if ratings < MANY or not unused:
        return None
    likely = guess_scale({value: times for value, times in counts.items() if times})
    if not likely or Scale.parse(likely) == scale:
        return None
    return Doubt(unused, ratings, likely)
