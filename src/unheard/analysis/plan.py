"""How many non-respondents to ask, so that an interval is narrow enough or a claim is settled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Unpack

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
from unheard.model.arguments import QuestionOptions
from unheard.model.histograms import CountsLike
from unheard.model.question import Question
from unheard.model.results import Estimate, Result
from unheard.model.scale import Scale
from unheard.options.unknown import check_options
from unheard.text import write_exactly

_SPLITS = 0.5 + np.array([0, *(sign * step / 200 for step in range(1, 101) for sign in (1, -1))])
"""Shares of non-respondents at the top of the scale, others at the bottom, for the worst case."""


@dataclass(frozen=True)
class Scenario:
    """A possible distribution of the non-respondents, and how many of them to ask if it holds.

    Attributes
    ----------
    name
        ``worst``, ``lower``, ``estimate``, ``upper`` or ``given``.
    nonrespondents
        Share of the non-respondents with each rating.
    nonrespondent_mean, mean
        Mean of the non-respondents, and of everybody.
    shows
        Which side of the threshold the mean is on in this scenario, ``above`` or ``below``, and
        thus what the responses will show; None if it is at the threshold, or there is no claim.
    ask
        Number of people to ask; 0 if none is needed, None if asking everybody is not enough.
    """

    name: str
    nonrespondents: tuple[float, ...]
    nonrespondent_mean: float
    mean: float
    shows: str | None
    ask: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """How many non-respondents to ask.

    Attributes
    ----------
    goal, target
        ``width``, ``above`` or ``below``, and its value.
    power
        Probability that the responses settle the claim; None for a width.
    n_nonrespondents
        Number of non-respondents.
    now
        The estimate from the assumption alone, before the follow-up.
    scenarios
        Possible distributions of the non-respondents, with how many to ask; empty if there are no
        non-respondents.
    question
        The counts, the assumption and the settings.
    """

    goal: str
    target: float
    power: float | None
    n_nonrespondents: int
    now: Estimate
    scenarios: tuple[Scenario, ...]
    question: Question

    @property
    def words(self) -> str:
        """The assumption in words."""
        return self.question.words


def plan_follow_up(
    counts: CountsLike,
    n: int,
    *,
    width: float | None = None,
    above: float | None = None,
    below: float | None = None,
    power: float = 0.8,
    nonrespondents: ArrayLike | None = None,
    **options: Unpack[QuestionOptions],
) -> Plan:
    """Find how many non-respondents to ask, if all of those asked then respond.

    Parameters
    ----------
    counts, n
        Counts per rating, lowest first, and the number of people, non-respondents included.
    width
        Goal: a confidence interval no wider than this. There are two scenarios: the worst possible
        distribution of the non-respondents, and the one behind the estimate.
    above, below
        Goal: settle the claim that the mean is above (below) this threshold, with the whole
        confidence interval on one side of it. There are three scenarios: the non-respondents put
        the mean at the lower bound, at the middle of the bounds, and at the upper bound (they are
        all at an end of the scale if the response rate refutes the assumption). Where the claim is
        false, its opposite is to be settled.
    power
        Probability with which the responses settle the claim, at least 0.5.
    nonrespondents
        Your own guess instead of these scenarios: the number or the share of the non-respondents
        with each rating.
    **options
        ``q``, ``floor``, ``quiet``, ``participation``, ``g``, ``assumption``, ``scale``, ``level``
        and ``covers``, as in :func:`unheard.estimate`.

    Examples
    --------
    >>> plan = plan_follow_up([120, 30, 45, 200, 605], 2400, q=0.3, width=0.4)
    >>> [(one.name, one.ask) for one in plan.scenarios]
    [('worst', 149), ('estimate', 101)]
    >>> plan = plan_follow_up([120, 30, 45, 200, 605], 2400, q=0.3, above=3.9)
    >>> [(f"{one.mean:.2f}", one.shows, one.ask) for one in plan.scenarios]
    [('3.35', 'below', 28), ('4.00', 'above', 827), ('4.64', 'above', 10)]
    """
    check_options(plan_follow_up, options, QuestionOptions)
    question = build_question_with_n(counts, n, **options)
    goal, target = _read_goal(width, above, below, question.counts.scale)
    if not 0.5 <= power < 1:
        raise OptionError(
            "power",
            problem="{argument} must be at least 0.5 and below 1",
            value=power,
            hint="Use a probability",
            examples=(0.8,),
        )
    respondents = Respondents.of(question)
    n_nonrespondents = int(respondents.n_nonrespondents[0])
    now = question.answer([question.middle_method()])[0]
    guesses = _list_guesses(question, respondents, now)
    if nonrespondents is not None:
        guesses = {"given": _read_guess(nonrespondents, len(respondents.values))}
    scenarios: Iterable[Scenario] = ()
    if n_nonrespondents and goal == "width":
        scenarios = _plan_for_width(respondents, guesses, target, now)
    elif n_nonrespondents:
        scenarios = _plan_for_claim(respondents, guesses, target, power, now)
    return Plan(
        goal=goal,
        target=target,
        power=None if goal == "width" else power,
        n_nonrespondents=n_nonrespondents,
        now=now,
        scenarios=tuple(scenarios),
        question=question,
    )


def _list_guesses(question: Question, respondents: Respondents, now: Estimate) -> dict[str, Floats]:
    """Return possible shares of the non-respondents per rating, at the bounds and between them."""
    low, high = (
        np.maximum(end - respondents.counts, 0.0)[0] for end in count_people_at_bounds(question)
    )
    found = {"lower": low, "estimate": (low + high) / 2, "upper": high}
    if not _is_trustworthy(now):
        found["lower"], found["upper"] = np.eye(len(low))[[0, -1]]
    # Without non-respondents there are no shares, and none are used.
    return {name: people / max(people.sum(), 1e-300) for name, people in found.items()}


def _plan_for_width(
    respondents: Respondents, guesses: dict[str, Floats], target: float, now: Estimate
) -> Iterator[Scenario]:
    """Plan for the worst split of the non-respondents between the two ends, and for a guess."""
    ends = np.zeros((len(_SPLITS), len(respondents.values)))
    ends[:, 0], ends[:, -1] = 1 - _SPLITS, _SPLITS
    guess = "given" if "given" in guesses else "estimate"
    done = _is_trustworthy(now) and now.ci_upper - now.ci_lower <= target
    most = int(respondents.n_nonrespondents[0])
    for name, rows in (("worst", ends), (guess, guesses[guess][None])):

        def widths(k: int, rows: Floats = rows) -> Floats:
            lower, upper = _find_expected_limits(respondents, rows, k)
            return upper - lower

        ask = 0 if done else _find_smallest(lambda k: bool(widths(k).max() <= target), most)
        last_too_few = max((ask or most) - 1, 1)
        yield _build_scenario(respondents, name, rows[np.argmax(widths(last_too_few))], None, ask)


def _plan_for_claim(
    respondents: Respondents, guesses: dict[str, Floats], target: float, power: float, now: Estimate
) -> Iterator[Scenario]:
    """Plan for each guess: settle which side of the target the mean is on."""
    settled = {"above": now.ci_lower > target, "below": now.ci_upper < target}
    for name, shares in guesses.items():
        side = _find_side(
            float(respondents.compute_mean(shares @ respondents.values)[0]),
            target,
            respondents.values,
        )
        if side is None:
            ask = None
        elif settled[side] and _is_trustworthy(now):
            ask = 0
        else:
            enough = partial(_settles_claim, respondents, shares, side, target, power)
            ask = _find_smallest(enough, int(respondents.n_nonrespondents[0]))
        yield _build_scenario(respondents, name, shares, side, ask)


def _is_trustworthy(now: Estimate) -> bool:
    # An assumption that the response rate refutes settles nothing.
    return not {"low_response", "refuted"} & {*now.notes}


def _find_side(mean: float, target: float, values: Floats) -> str | None:
    # The mean of a scenario is a sum of many numbers: allow for rounding.
    if abs(mean - target) <= 1e-12 * (values[-1] - values[0]):
        return None
    return "above" if mean > target else "below"


def _settles_claim(
    respondents: Respondents, shares: Floats, side: str, target: float, power: float, k: int
) -> bool:
    """Tell whether k responses put the confidence interval on a side with the requested power.

    With that probability, the mean of the responses is off by at most a number of standard errors.
    The responses expected given that mean must suffice.
    """
    away = respondents.values - shares @ respondents.values
    variance = float(shares @ away**2)
    unlucky = shares
    if variance > 0:
        n_nonrespondents = int(respondents.n_nonrespondents[0])
        error = np.sqrt(variance / k * (n_nonrespondents - k) / max(n_nonrespondents - 1, 1))
        shift = float(ndtri(power)) * error * (1.0 if side == "below" else -1.0)
        unlucky = np.maximum(shares * (1 + shift * away / variance), 0.0)
        unlucky = unlucky / unlucky.sum()
    lower, upper = _find_expected_limits(respondents, unlucky[None], k)
    return bool(lower[0] > target if side == "above" else upper[0] < target)


def _find_expected_limits(respondents: Respondents, rows: Floats, k: int) -> Pair:
    """Return the confidence limits if k responses come in these shares, fractions included."""
    return respondents.combine(summarize_full_response(k * rows, respondents), k)[1]


def _find_smallest(enough: Callable[[int], bool], most: int) -> int | None:
    """Return the smallest number from 1 to ``most`` that is enough; None if none is.

    More responses never do worse, so bisection finds it.
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
    respondents: Respondents, name: str, shares: Floats, side: str | None, ask: int | None
) -> Scenario:
    nonrespondent_mean = shares @ respondents.values
    mean = float(respondents.compute_mean(nonrespondent_mean)[0])
    return Scenario(name, tuple(shares.tolist()), float(nonrespondent_mean), mean, side, ask)


def _read_goal(
    width: float | None, above: float | None, below: float | None, scale: Scale
) -> tuple[str, float]:
    """Return the goal, of which exactly one must be given."""
    wanted = {"width": width, "above": above, "below": below}
    given = {name: float(x) for name, x in wanted.items() if x is not None}
    if not given:
        raise OptionError(
            "width",
            problem="A plan requires a goal: {width}, {above} or {below}",
            hint="State the width of a confidence interval, or a threshold that the mean is above "
            "or below",
        )
    if len(given) > 1:
        raise OptionError(
            next(iter(given)),
            problem="{width}, {above} and {below} cannot be combined",
            hint="State one goal",
        )
    ((goal, target),) = given.items()
    if goal == "width" and not 0 < target < math.inf:
        raise OptionError(
            "width",
            problem="{argument} must be above 0",
            value=target,
            hint="Use a width",
            examples=(0.3,),
        )
    if goal != "width" and not scale.lowest < target < scale.highest:
        raise OptionError(
            goal,
            problem="{argument} must be between the ends of the scale, {lowest} and {highest}",
            value=target,
            lowest=write_exactly(scale.lowest),
            highest=write_exactly(scale.highest),
        )
    return goal, target


def _read_guess(nonrespondents: ArrayLike, m: int) -> Floats:
    """Check a guess at the ratings of the non-respondents, and return it as shares."""
    try:
        people = np.array(nonrespondents, dtype=np.float64)
    except (TypeError, ValueError):
        people = np.array([])
    if people.shape != (m,) or not (np.isfinite(people) & (people >= 0)).all() or not people.any():
        raise CountsError(
            "nonrespondents",
            problem="{argument} must be one number for each of the {m} ratings, none of them "
            "negative and not all of them 0",
            value=nonrespondents,
            hint="Give how many non-respondents, or which share of them, have each rating",
            m=m,
        )
    return np.asarray(people / people.sum())
