"""How many of the silent to ask: until an interval is narrow enough, or a claim is settled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from unheard.analysis.follow_up import (
    Pair,
    Respondents,
    build_question_with_n,
    count_people_at_bounds,
    summarize_full_response,
)
from unheard.errors import CountsError, OptionError
from unheard.formulas.operations import Floats
from unheard.model.assumption import Assumption
from unheard.model.histograms import CountsLike
from unheard.model.question import Question
from unheard.model.results import Estimate
from unheard.model.scale import Scale
from unheard.text import write_exactly

_SPLITS = 0.5 + np.array([0, *(sign * step / 200 for step in range(1, 101) for sign in (1, -1))])
"""Shares of the silent at the top of the scale, the others at the bottom, tried for the worst."""


@dataclass(frozen=True)
class Scenario:
    """What the silent people may be like, and how many of them to ask if they are.

    Attributes
    ----------
    name
        ``worst``, ``lower``, ``estimate``, ``upper`` or ``given``.
    nonrespondents
        Share of the silent people with each rating.
    nonrespondent_mean, mean
        Mean of the silent, and of everybody.
    shows
        ``above`` or ``below``: on which side of the claimed value the mean lies here, which is what
        the answers will show; None if it lies right on it, or no claim was made.
    ask
        How many people to ask; 0 if nobody needs to be; None if asking everybody is not enough.
    """

    name: str
    nonrespondents: tuple[float, ...]
    nonrespondent_mean: float
    mean: float
    shows: str | None
    ask: int | None


@dataclass(frozen=True, eq=False)
class Plan:
    """How many of the silent to ask.

    Attributes
    ----------
    goal, target
        ``width``, ``above`` or ``below``, and the number that goes with it.
    power
        Probability that the answers settle the claim; None for a width.
    n_nonrespondents
        How many people said nothing.
    now
        What the assumption alone gives, before anybody is asked.
    scenarios
        One answer for each thing the silent may be like; none if nobody is silent.
    words
        The assumption in words.
    """

    goal: str
    target: float
    power: float | None
    n_nonrespondents: int
    now: Estimate
    scenarios: tuple[Scenario, ...]
    words: str


def plan_follow_up(
    counts: CountsLike,
    n: int,
    *,
    width: float | None = None,
    above: float | None = None,
    below: float | None = None,
    power: float = 0.8,
    scale: Scale | Sequence[float] | str | None = None,
    q: float | str | None = None,
    floor: float | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Assumption | None = None,
    level: float = 0.95,
    covers: str = "mean",
    nonrespondents: ArrayLike | None = None,
) -> Plan:
    """Find how many of the silent must be asked, if all of those asked then answer.

    Parameters
    ----------
    counts, n
        How often each rating was given, lowest first, and how many people there are.
    width
        The confidence interval shall be no wider than this. The answer is given for the worst that
        the silent people can be like, and for what the estimate takes them to be like.
    above, below
        Instead: the claim that the mean lies above (below) this value shall be settled, the whole
        confidence interval lying on one side of it. The answer is given for silent people who
        put the mean at the lower end of the interval that the assumption allows, at its middle,
        and at its upper end (all of them at an end of the scale if the response rate refutes the
        assumption). Where the claim is then false, its opposite shall be settled.
    power
        The probability with which that shall happen, from 0.5 up.
    scale, q, floor, quiet, participation, g, assumption
        Scale and assumption, as in :func:`unheard.estimate`.
    level, covers
        As in :func:`follow_up`.
    nonrespondents
        Your own guess instead of what the assumption allows: how many of the silent, or which
        share of them, have each rating.

    Examples
    --------
    >>> plan = plan_follow_up([120, 30, 45, 200, 605], 2400, q=0.3, width=0.4)
    >>> [(one.name, one.ask) for one in plan.scenarios]
    [('worst', 149), ('estimate', 101)]
    >>> plan = plan_follow_up([120, 30, 45, 200, 605], 2400, q=0.3, above=3.9)
    >>> [(f"{one.mean:.2f}", one.shows, one.ask) for one in plan.scenarios]
    [('3.35', 'below', 28), ('4.00', 'above', 827), ('4.64', 'above', 10)]
    """
    stated: dict[str, Any] = {
        "q": q,
        "floor": floor,
        "quiet": quiet,
        "participation": participation,
        "g": g,
        "assumption": assumption,
    }
    question = build_question_with_n(counts, n, scale=scale, level=level, covers=covers, **stated)
    goal, target = _read_goal(width, above, below, question.counts.scale)
    if not 0.5 <= power < 1:
        raise OptionError(
            "power", f"{power!r} found", "Give a probability of at least 0.5 and below 1"
        )
    seen = Respondents.of(question)
    n_nonrespondents = int(seen.n_nonrespondents[0])
    now = question.answer([question.middle_method()])[0]
    guesses = _list_guesses(question, seen, now)
    if nonrespondents is not None:
        guesses = {"given": _read_guess(nonrespondents, len(seen.values))}
    scenarios: Iterable[Scenario] = ()
    if n_nonrespondents and goal == "width":
        scenarios = _plan_for_width(seen, guesses, target, now)
    elif n_nonrespondents:
        scenarios = _plan_for_claim(seen, guesses, target, power, now)
    return Plan(
        goal=goal,
        target=target,
        power=None if goal == "width" else power,
        n_nonrespondents=n_nonrespondents,
        now=now,
        scenarios=tuple(scenarios),
        words=question.words,
    )


def _list_guesses(question: Question, seen: Respondents, now: Estimate) -> dict[str, Floats]:
    """What the silent may be like: shares per rating, at the ends of the interval and between."""
    low, high = (np.maximum(end - seen.counts, 0.0)[0] for end in count_people_at_bounds(question))
    found = {"lower": low, "estimate": (low + high) / 2, "upper": high}
    if not _is_trustworthy(now):
        found["lower"], found["upper"] = np.eye(len(low))[[0, -1]]
    # With nobody silent there are no shares, and nobody will ask for them.
    return {name: people / max(people.sum(), 1e-300) for name, people in found.items()}


def _plan_for_width(
    seen: Respondents, guesses: dict[str, Floats], target: float, now: Estimate
) -> Iterator[Scenario]:
    """Plan for silent people split between the two ends, however is worst, and for a guess."""
    ends = np.zeros((len(_SPLITS), len(seen.values)))
    ends[:, 0], ends[:, -1] = 1 - _SPLITS, _SPLITS
    guess = "given" if "given" in guesses else "estimate"
    done = _is_trustworthy(now) and now.ci_upper - now.ci_lower <= target
    most = int(seen.n_nonrespondents[0])
    for name, rows in (("worst", ends), (guess, guesses[guess][None])):

        def widths(k: int, rows: Floats = rows) -> Floats:
            lower, upper = _expected_limits(seen, rows, k)
            return upper - lower

        ask = 0 if done else _find_smallest(lambda k: bool(widths(k).max() <= target), most)
        last_too_few = max((ask or most) - 1, 1)
        yield _build_scenario(seen, name, rows[np.argmax(widths(last_too_few))], None, ask)


def _plan_for_claim(
    seen: Respondents, guesses: dict[str, Floats], target: float, power: float, now: Estimate
) -> Iterator[Scenario]:
    """Plan for each guess: settle on which side of the target the mean then lies."""
    settled = {"above": now.ci_lower > target, "below": now.ci_upper < target}
    for name, shares in guesses.items():
        side = _find_side(float(seen.mean(shares @ seen.values)[0]), target, seen.values)
        if side is None:
            ask = None
        elif settled[side] and _is_trustworthy(now):
            ask = 0
        else:
            enough = partial(_settles_claim, seen, shares, side, target, power)
            ask = _find_smallest(enough, int(seen.n_nonrespondents[0]))
        yield _build_scenario(seen, name, shares, side, ask)


def _is_trustworthy(now: Estimate) -> bool:
    # A refuted assumption settles nothing.
    return not {"low_response", "refuted"} & {*now.notes}


def _find_side(mean: float, target: float, values: Floats) -> str | None:
    # A scenario's mean is a sum of many numbers: a hair beside the target is on it.
    if abs(mean - target) <= 1e-12 * (values[-1] - values[0]):
        return None
    return "above" if mean > target else "below"


def _settles_claim(
    seen: Respondents, shares: Floats, side: str, target: float, power: float, k: int
) -> bool:
    """Whether k answers put the whole confidence interval on a side, with the power asked for.

    With that probability the mean of the answers is no worse than some number of standard
    errors off. The answers then expected, given that mean, must do.
    """
    away = seen.values - shares @ seen.values
    variance = float(shares @ away**2)
    unlucky = shares
    if variance > 0:
        n_nonrespondents = int(seen.n_nonrespondents[0])
        error = np.sqrt(variance / k * (n_nonrespondents - k) / max(n_nonrespondents - 1, 1))
        shift = float(ndtri(power)) * error * (1.0 if side == "below" else -1.0)
        unlucky = np.maximum(shares * (1 + shift * away / variance), 0.0)
        unlucky = unlucky / unlucky.sum()
    lower, upper = _expected_limits(seen, unlucky[None], k)
    return bool(lower[0] > target if side == "above" else upper[0] < target)


def _expected_limits(seen: Respondents, rows: Floats, k: int) -> Pair:
    """Confidence limits if k answers come in these shares, parts of people allowed."""
    return seen.combine(summarize_full_response(k * rows, seen), k)[1]


def _find_smallest(enough: Callable[[int], bool], most: int) -> int | None:
    """Return the smallest number from 1 to ``most`` that is enough; None if none is.

    More answers never do worse, so halving finds it.
    """
    if not enough(most):
        return None
    too_few = 0
    while most - too_few > 1:
        middle = (too_few + most) // 2
        if enough(middle):
            most = middle
        else:
            too_few = middle
    return most


def _build_scenario(
    seen: Respondents, name: str, shares: Floats, side: str | None, ask: int | None
) -> Scenario:
    nonrespondent_mean = shares @ seen.values
    mean = float(seen.mean(nonrespondent_mean)[0])
    return Scenario(name, tuple(shares.tolist()), float(nonrespondent_mean), mean, side, ask)


def _read_goal(
    width: float | None, above: float | None, below: float | None, scale: Scale
) -> tuple[str, float]:
    """Return the one thing that is asked for."""
    wanted = {"width": width, "above": above, "below": below}
    given = {name: float(x) for name, x in wanted.items() if x is not None}
    if len(given) != 1:
        raise OptionError(
            "goal",
            f"{' and '.join(given)} given together" if given else "none given",
            "Say one: a width of the confidence interval, or a value that the mean lies above or "
            "below",
        )
    ((goal, target),) = given.items()
    if goal == "width" and not 0 < target < math.inf:
        raise OptionError(
            "width", f"{write_exactly(target)} found", "Give a number above 0, such as 0.3"
        )
    if goal != "width" and not scale.lowest < target < scale.highest:
        raise OptionError(
            goal,
            f"{write_exactly(target)} found on the scale {scale.describe()}",
            "Claim something between its ends",
        )
    return goal, target


def _read_guess(nonrespondents: ArrayLike, m: int) -> Floats:
    """Check a guess about the nonrespondents; return it as shares."""
    try:
        people = np.array(nonrespondents, dtype=np.float64)
    except (TypeError, ValueError):
        people = np.array([])
    if people.shape != (m,) or not (np.isfinite(people) & (people >= 0)).all() or not people.any():
        raise CountsError(
            "nonrespondents",
            f"{nonrespondents!r} found",
            f"Give how many of them have each of the {m} ratings, or which share of them",
        )
    return np.asarray(people / people.sum())
