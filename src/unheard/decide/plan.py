"""Ask some of the silent: how many, and what is known once they have answered.

The follow-up is double sampling [HH46]: k people drawn at random from those who said nothing stand
for all of them, so what they say needs no assumption about who speaks up, as long as all of them
answer. If only some do, the stated assumption is about those asked, and about nobody else.

The confidence interval adds two distances as the sides of a right angle [ZD08]: from the mean
of the silent to its limit, and, where the mean behind these people is wanted, from the mean of all
n people to its limit. Both limits are the core's, so that few or equal answers keep the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from unheard.core import confidence
from unheard.core.bounds import relaxed
from unheard.core.columns import NUMPY, Floats, total
from unheard.core.counts import Counts
from unheard.core.estimate import Estimate, Inquiry, Numbers, inquire
from unheard.core.participation import Box, Participation, boxes, fixed_box
from unheard.core.scale import Scale
from unheard.errors import CountsError, OptionError, PopulationError

Pair: TypeAlias = tuple[Floats, Floats]
"""Something at the lower and at the upper end, one entry per row."""

_SPLITS = 0.5 + np.array([0, *(sign * step / 200 for step in range(1, 101) for sign in (1, -1))])
"""Shares of the silent at the top of the scale, the others at the bottom, tried for the worst."""


@dataclass(frozen=True)
class FollowUp:
    """What everybody's mean is, with the answers of a follow-up in hand.

    Attributes
    ----------
    estimate
        The mean rating of everybody.
    lower, upper
        Interval: everything the mean can be under the assumption, noise aside; without width if
        everybody asked has answered.
    ci_lower, ci_upper
        Confidence interval: the same with the noise of drawing people.
    silent
        Estimated mean of those who said nothing at first.
    n_silent, asked, n_answers
        How many said nothing at first, how many of them were asked, and how many answered then.
    words
        The assumption about those asked, in words; empty if none was needed.
    flags
        What must be known before using the numbers, about the follow-up; see
        :data:`unheard.FLAG_WORDS`.
    """

    estimate: float
    lower: float
    upper: float
    ci_lower: float
    ci_upper: float
    silent: float
    n_silent: int
    asked: int
    n_answers: int
    words: str
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Scenario:
    """What the silent people may be like, and how many of them to ask if they are.

    Attributes
    ----------
    name
        ``worst``, ``lower``, ``estimate``, ``upper`` or ``given``.
    silent
        Share of the silent people with each rating.
    mean_silent, mean
        Mean of the silent, and of everybody.
    shows
        ``above`` or ``below``: on which side of the claimed value the mean lies here, which is what
        the answers will show; None if it lies right on it, or no claim was made.
    ask
        How many people to ask; 0 if nobody needs to be; None if asking everybody is not enough.
    """

    name: str
    silent: tuple[float, ...]
    mean_silent: float
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
    n_silent
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
    n_silent: int
    now: Estimate
    scenarios: tuple[Scenario, ...]
    words: str


def follow_up(
    counts: ArrayLike,
    answers: ArrayLike,
    n: int,
    *,
    asked: int | None = None,
    scale: Scale | Sequence[float] | str | None = None,
    q: float | str | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Participation | None = None,
    level: float = 0.95,
    covers: str = "mean",
) -> FollowUp:
    """Estimate the mean rating of everybody once some of the silent have been asked.

    Parameters
    ----------
    counts
        How often each rating was given at first, lowest first.
    answers
        The same for the follow-up: people drawn at random from those who said nothing at first.
    n
        How many people there are, silent ones included.
    asked
        How many were drawn, if not all of them answered.
    scale
        As in :func:`unheard.estimate`.
    q, quiet, participation, g, assumption
        The assumption about who of those asked has answered, as in :func:`unheard.estimate` with n
        known. Not used, and not needed, if all of them did.
    level, covers
        Level of the confidence interval, and what it is for: ``mean``, the mean of the population
        behind these people, or ``people``, the mean of exactly these n people.

    Examples
    --------
    >>> found = follow_up([120, 30, 45, 200, 605], [30, 11, 14, 20, 25], n=2400)
    >>> f"{found.estimate:.2f}, with noise {found.ci_lower:.2f} to {found.ci_upper:.2f}"
    '3.47, with noise 3.27 to 3.67'
    """
    first = _inquire(counts, n, q=1.0, scale=scale, level=level, covers=covers)
    seen = _Seen.of(first)
    rows = _answers(answers, first.counts.scale)
    n_answers = int(rows.sum())
    n_silent = int(seen.n_silent[0])
    drawn = _number_asked(asked, n_answers, n_silent)
    if drawn == n_answers:
        silent, flags, words = _all_answered(rows, seen), (), ""
        mean_silent = float(silent.interval[0][0])
    else:
        question = inquire(
            rows[0],
            q,
            n=drawn,
            scale=first.counts.scale,
            quiet=quiet,
            participation=participation,
            g=g,
            assumption=assumption,
            level=level,
        )
        found = question.answer([question.middle_method()])[0]
        silent, flags, words = _some_answered(question), found.flags, question.words
        mean_silent = found.estimate
    interval, limits = seen.together(silent, drawn)
    lower, upper, ci_lower, ci_upper = (float(end[0]) for end in (*interval, *limits))
    return FollowUp(
        estimate=float(seen.mean(mean_silent)[0]),
        lower=lower,
        upper=upper,
        ci_lower=ci_lower,
        ci_upper=ci_upper,
        silent=mean_silent,
        n_silent=n_silent,
        asked=drawn,
        n_answers=n_answers,
        words=words,
        flags=flags,
    )


def plan_follow_up(
    counts: ArrayLike,
    n: int,
    *,
    width: float | None = None,
    above: float | None = None,
    below: float | None = None,
    power: float = 0.8,
    scale: Scale | Sequence[float] | str | None = None,
    q: float | str | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Participation | None = None,
    level: float = 0.95,
    covers: str = "mean",
    silent: ArrayLike | None = None,
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
    scale, q, quiet, participation, g, assumption
        Scale and assumption, as in :func:`unheard.estimate`.
    level, covers
        As in :func:`follow_up`.
    silent
        Your own guess instead of what the assumption allows: how many of the silent, or which
        share of them, have each rating.

    Examples
    --------
    >>> plan = plan_follow_up([120, 30, 45, 200, 605], 2400, q=0.3, width=0.4)
    >>> [(one.name, one.ask) for one in plan.scenarios]
    [('worst', 151), ('estimate', 74)]
    >>> plan = plan_follow_up([120, 30, 45, 200, 605], 2400, q=0.3, above=3.9)
    >>> [(f"{one.mean:.2f}", one.shows, one.ask) for one in plan.scenarios]
    [('3.81', 'below', 690), ('4.22', 'above', 71), ('4.64', 'above', 14)]
    """
    stated: dict[str, Any] = {
        "q": q,
        "quiet": quiet,
        "participation": participation,
        "g": g,
        "assumption": assumption,
    }
    question = _inquire(counts, n, scale=scale, level=level, covers=covers, **stated)
    goal, target = _goal(width, above, below, question.counts.scale)
    if not 0.5 <= power < 1:
        raise OptionError(
            "power", f"{power!r} found", "Give a probability of at least 0.5 and below 1"
        )
    seen = _Seen.of(question)
    n_silent = int(seen.n_silent[0])
    now = question.answer([question.middle_method()])[0]
    guesses = _guesses(question, seen, now)
    if silent is not None:
        guesses = {"given": _given(silent, len(seen.values))}
    scenarios: Iterable[Scenario] = ()
    if n_silent and goal == "width":
        scenarios = _for_width(seen, guesses, target, now)
    elif n_silent:
        scenarios = _for_claim(seen, guesses, target, power, now)
    return Plan(
        goal=goal,
        target=target,
        power=None if goal == "width" else power,
        n_silent=n_silent,
        now=now,
        scenarios=tuple(scenarios),
        words=question.words,
    )


class _Silent(NamedTuple):
    """What a follow-up says about those asked, one row per follow-up.

    Attributes
    ----------
    answers
        How often each rating was given.
    interval
        What the mean of those asked can be.
    asked_limits
        Confidence limits for the mean of those asked.
    behind_limits
        Confidence limits for the mean of an endless population that they are drawn from.
    shares
        Share of those asked with each rating, at either end of the interval.
    """

    answers: Floats
    interval: Pair
    asked_limits: Pair
    behind_limits: Pair
    shares: Pair


@dataclass(frozen=True)
class _Seen:
    """The ratings in hand, one row per follow-up or one for all, and what is asked about them."""

    counts: Floats
    values: Floats
    n: int
    z: float
    people: bool

    @classmethod
    def of(cls, question: Inquiry) -> _Seen:
        counts = question.counts
        assert counts.n is not None  # _inquire insists on both
        assert question.level is not None
        return cls(
            counts.cells.astype(np.float64),
            np.array(counts.scale.values),
            int(counts.n[0]),
            confidence.critical_value(question.level),
            question.covers == "people",
        )

    @property
    def n_silent(self) -> Floats:
        return np.asarray(self.n - self.counts.sum(axis=1))

    def mean(self, mean_silent: Numbers) -> Floats:
        """Mean of everybody, from that of the silent."""
        return np.asarray((self.counts @ self.values + self.n_silent * mean_silent) / self.n)

    def together(self, silent: _Silent, asked: Numbers) -> tuple[Pair, Pair]:
        """Return the interval and the confidence interval for everybody."""
        interval, limits = [], []
        for end, away in ((0, -1.0), (1, 1.0)):
            mean, share = self.mean(silent.interval[end]), self.n_silent / self.n
            reach = share * self._reach(silent, asked, end)
            if not self.people:
                # An end of the interval can be off by what those missing hide, which is no noise
                # around it: that part adds up plainly, and vanishes if nobody is missing.
                hidden = np.minimum(reach, share * self._farthest(silent, asked, end))
                noise = self._noise(silent.shares[end], end)
                reach = hidden + np.hypot(reach - hidden, noise)
            interval.append(mean)
            limits.append(np.clip(mean + away * reach, self.values[0], self.values[-1]))
        return (interval[0], interval[1]), (limits[0], limits[1])

    def _reach(self, silent: _Silent, asked: Numbers, end: int) -> Floats:
        """How far the limit for the mean of the silent is from the end of its interval."""
        point, extreme, n_silent = silent.interval[end], self.values[-end], self.n_silent
        # The variance of a draw without replacement lies between that of no draw at all and that
        # of a draw from an endless population, as far as people are left.
        left = 1 - asked / n_silent
        reach = np.sqrt(
            (1 - left) * (point - silent.asked_limits[end]) ** 2
            + left * (point - silent.behind_limits[end]) ** 2
        )
        # Those left are whole people: a few of them may sit at the very end of the scale,
        few = np.minimum(n_silent - asked, self.z**2 / 2 + 0.5)
        reach = reach + few / n_silent * np.abs(point - extreme)
        # and if all who have not answered do, that is as far as it goes.
        return np.asarray(np.minimum(reach, self._farthest(silent, n_silent, end)))

    def _farthest(self, silent: _Silent, people: Numbers, end: int) -> Floats:
        """How far the mean of so many people is if all who have not answered sit at the end."""
        missing = people - silent.answers.sum(axis=1)
        mean = (silent.answers @ self.values + missing * self.values[-end]) / people
        return np.asarray(np.abs(silent.interval[end] - mean))

    def _noise(self, shares: Floats, end: int) -> Floats:
        """How far the limit for the mean behind n people is from their own mean."""
        everybody = self.counts + self.n_silent[:, None] * shares
        limit = _plain_limits(everybody, self.values, self.z)[end]
        return np.abs(everybody @ self.values / self.n - limit)


def _plain_limits(rows: Floats, values: Floats, z: float) -> Pair:
    """Confidence limits of the plain average of each row."""
    return confidence.free_limits(list(rows.T), values.tolist(), (None, None), z, NUMPY)


def _all_answered(answers: Floats, seen: _Seen) -> _Silent:
    shares = answers / answers.sum(axis=1, keepdims=True)
    mean = shares @ seen.values
    behind = _plain_limits(answers, seen.values, seen.z)
    return _Silent(answers, (mean, mean), (mean, mean), behind, (shares, shares))


def _some_answered(question: Inquiry) -> _Silent:
    """Let the core say, under the assumption, what those asked are like."""
    lower, upper, *behind = question.intervals()
    _, _, *asked = replace(question, covers="people").intervals()
    low, high = (people / people.sum(axis=1, keepdims=True) for people in _people_at_ends(question))
    return _Silent(
        question.counts.cells,
        (lower, upper),
        (asked[0], asked[1]),
        (behind[0], behind[1]),
        (low, high),
    )


def _people_at_ends(question: Inquiry) -> Pair:
    """How many people have each rating at the lower and at the upper end of the interval."""
    counts, assumption = question.counts, question.assumption
    assert counts.n is not None  # planning starts from the number of people
    columns, m = list(counts.cells.T.astype(np.float64)), counts.scale.m
    ends = boxes(assumption.kind, assumption.q, fixed_box(assumption), m)
    low = _filled(columns, counts.n, ends[0], range(m))
    high = _filled(columns, counts.n, ends[1], range(m)[::-1])
    return low, high


def _filled(counts: list[Floats], n: Floats, box: Box | None, order: Sequence[int]) -> Floats:
    """Deal n people out to the ratings, those first in order first, as far as the box allows."""
    rated = total(counts)
    if box is None:
        people = [count * n / np.maximum(rated, 1.0) for count in counts]
    else:
        # An item without ratings divides nothing by nothing; its row is replaced at the end.
        with np.errstate(divide="ignore", invalid="ignore"):
            people = _greedy(counts, n, relaxed(counts, box, n, NUMPY), order)
    extreme = np.arange(len(counts)) == order[0]
    return np.where((rated > 0)[:, None], np.column_stack(people), n[:, None] * extreme)


def _greedy(counts: list[Floats], n: Floats, box: Box, order: Sequence[int]) -> list[Floats]:
    people = [f * count for f, count in zip(box.fewest, counts, strict=True)]
    left = n - total(people)
    for r in order:
        taken = np.minimum(box.most[r] * counts[r] - people[r], left)
        people[r] = people[r] + taken
        left = left - taken
    return people


def _guesses(question: Inquiry, seen: _Seen, now: Estimate) -> dict[str, Floats]:
    """What the silent may be like: shares per rating, at the ends of the interval and between."""
    low, high = (np.maximum(end - seen.counts, 0.0)[0] for end in _people_at_ends(question))
    found = {"lower": low, "estimate": (low + high) / 2, "upper": high}
    if not _to_be_trusted(now):
        found["lower"], found["upper"] = np.eye(len(low))[[0, -1]]
    # With nobody silent there are no shares, and nobody will ask for them.
    return {name: people / max(people.sum(), 1e-300) for name, people in found.items()}


def _for_width(
    seen: _Seen, guesses: dict[str, Floats], target: float, now: Estimate
) -> Iterator[Scenario]:
    """Plan for silent people split between the two ends, however is worst, and for a guess."""
    ends = np.zeros((len(_SPLITS), len(seen.values)))
    ends[:, 0], ends[:, -1] = 1 - _SPLITS, _SPLITS
    guess = "given" if "given" in guesses else "estimate"
    done = _to_be_trusted(now) and now.ci_upper - now.ci_lower <= target
    most = int(seen.n_silent[0])
    for name, rows in (("worst", ends), (guess, guesses[guess][None])):

        def widths(k: int, rows: Floats = rows) -> Floats:
            lower, upper = _expected_limits(seen, rows, k)
            return upper - lower

        ask = 0 if done else _smallest(lambda k: bool(widths(k).max() <= target), most)
        last_too_few = max((ask or most) - 1, 1)
        yield _scenario(seen, name, rows[np.argmax(widths(last_too_few))], None, ask)


def _for_claim(
    seen: _Seen, guesses: dict[str, Floats], target: float, power: float, now: Estimate
) -> Iterator[Scenario]:
    """Plan for each guess: settle on which side of the target the mean then lies."""
    settled = {"above": now.ci_lower > target, "below": now.ci_upper < target}
    for name, shares in guesses.items():
        side = _side(float(seen.mean(shares @ seen.values)[0]), target, seen.values)
        if side is None:
            ask = None
        elif settled[side] and _to_be_trusted(now):
            ask = 0
        else:
            enough = partial(_settles, seen, shares, side, target, power)
            ask = _smallest(enough, int(seen.n_silent[0]))
        yield _scenario(seen, name, shares, side, ask)


def _to_be_trusted(now: Estimate) -> bool:
    # An assumption that had to be relaxed leaves hardly any room, and settles nothing.
    return not {"low_response", "refuted"} & {*now.flags}


def _side(mean: float, target: float, values: Floats) -> str | None:
    # A scenario's mean is a sum of many numbers: a hair beside the target is on it.
    if abs(mean - target) <= 1e-12 * (values[-1] - values[0]):
        return None
    return "above" if mean > target else "below"


def _settles(seen: _Seen, shares: Floats, side: str, target: float, power: float, k: int) -> bool:
    """Whether k answers put the whole confidence interval on a side, with the power asked for.

    With that probability the mean of the answers is no worse than some number of standard
    errors off. The answers then expected, given that mean, must do.
    """
    away = seen.values - shares @ seen.values
    variance = float(shares @ away**2)
    unlucky = shares
    if variance > 0:
        n_silent = int(seen.n_silent[0])
        error = np.sqrt(variance / k * (n_silent - k) / max(n_silent - 1, 1))
        shift = float(ndtri(power)) * error * (1.0 if side == "below" else -1.0)
        unlucky = np.maximum(shares * (1 + shift * away / variance), 0.0)
        unlucky = unlucky / unlucky.sum()
    lower, upper = _expected_limits(seen, unlucky[None], k)
    return bool(lower[0] > target if side == "above" else upper[0] < target)


def _expected_limits(seen: _Seen, rows: Floats, k: int) -> Pair:
    """Confidence limits if k answers come in these shares, parts of people allowed."""
    return seen.together(_all_answered(k * rows, seen), k)[1]


def _smallest(enough: Callable[[int], bool], most: int) -> int | None:
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


def _scenario(
    seen: _Seen, name: str, shares: Floats, side: str | None, ask: int | None
) -> Scenario:
    mean_silent = shares @ seen.values
    mean = float(seen.mean(mean_silent)[0])
    return Scenario(name, tuple(shares.tolist()), float(mean_silent), mean, side, ask)


def _inquire(counts: ArrayLike, n: int | None, **rest: Any) -> Inquiry:
    """Check the first ratings: one histogram of a known number of people."""
    if n is None:
        raise PopulationError(
            "n",
            "not given",
            "Without the number of people nobody knows how many are silent; count everybody, those "
            "who answered included",
        )
    if rest["level"] is None:
        raise OptionError("level", "None found", "Give a number between 0 and 1, such as 0.95")
    try:
        question = inquire(counts, n=n, **rest)
    except PopulationError as error:
        # Elsewhere an unknown n may be left out.
        remedy = "Count everybody in n, those who answered included"
        raise PopulationError(error.place, error.found, remedy) from None
    if not question.counts.single:
        raise CountsError("counts", "several histograms found", "Plan for one at a time")
    if n < 1:
        raise PopulationError("n", "0 found", "Without people there is nothing to ask")
    return question


def _answers(answers: ArrayLike, scale: Scale) -> Floats:
    """Check the answers of a follow-up; return them as one row."""
    try:
        found = Counts.of(answers, scale=scale)
    except CountsError as error:
        place = error.place.replace("counts", "answers", 1)
        raise CountsError(place, error.found, error.remedy) from None
    if not found.single or not found.cells.any():
        what = "nobody has answered" if found.single else "several histograms found"
        raise CountsError(
            "answers", what, "Give how often each rating was given in the follow-up, lowest first"
        )
    return found.cells.astype(np.float64)


def _number_asked(asked: int | None, n_answers: int, n_silent: int) -> int:
    if asked is None and n_answers > n_silent:
        raise PopulationError(
            "answers",
            f"{n_answers:,} answers from {n_silent:,} silent people",
            "Count everybody in n; a follow-up asks only people who said nothing at first",
        )
    drawn = n_answers if asked is None else asked
    if not n_answers <= drawn <= n_silent or drawn != int(drawn):
        raise PopulationError(
            "asked",
            f"{drawn:,} asked, {n_answers:,} answers, {n_silent:,} silent people",
            "It is a whole number, at least that of the answers and at most that of the silent",
        )
    return int(drawn)


def _goal(
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
        raise OptionError("width", f"{target:g} found", "Give a number above 0, such as 0.3")
    if goal != "width" and not scale.lowest < target < scale.highest:
        raise OptionError(
            goal,
            f"{target:g} found on a scale from {scale.lowest:g} to {scale.highest:g}",
            "Claim something between its ends",
        )
    return goal, target


def _given(silent: ArrayLike, m: int) -> Floats:
    """Check a guess about the silent; return it as shares."""
    try:
        people = np.array(silent, dtype=np.float64)
    except (TypeError, ValueError):
        people = np.array([])
    if people.shape != (m,) or not (np.isfinite(people) & (people >= 0)).all() or not people.any():
        raise CountsError(
            "silent",
            f"{silent!r} found",
            f"Give how many of the silent have each of the {m} ratings, or which share of them",
        )
    return np.asarray(people / people.sum())
