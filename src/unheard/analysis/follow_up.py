"""Ask some of the silent: what is known once they have answered.

The follow-up is double sampling [HH46]: k people drawn at random from those who said nothing stand
for all of them, so what they say needs no assumption about who speaks up, as long as all of them
answer. If only some do, the stated assumption is about those asked, and about nobody else.

The confidence interval adds two distances as the sides of a right angle [ZD08]: from the mean
of the silent to its limit, and, where the mean behind these people is wanted, from the mean of all
n people to its limit. Both limits are the core's, so that few or equal answers keep the level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from unheard.errors import CountsError, OptionError, PopulationError
from unheard.formulas import confidence
from unheard.formulas.bounds import count_people_at, find_bounds_without_n, find_misfits
from unheard.formulas.boxes import Box, build_boxes
from unheard.formulas.operations import NUMPY, Floats, total
from unheard.model.assumption import Assumption, fixed_box
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.question import Question, build_question
from unheard.model.results import Numbers
from unheard.model.scale import Scale

Pair: TypeAlias = tuple[Floats, Floats]
"""Something at the lower and at the upper end, one entry per row."""


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
    nonrespondent_mean
        Estimated mean of those who said nothing at first.
    n_nonrespondents, asked, n_responses
        How many said nothing at first, how many of them were asked, and how many answered then.
    words
        The assumption about those asked, in words; empty if none was needed.
    notes
        What must be known before using the numbers, about the follow-up; see
        :data:`unheard.NOTE_TEXTS`.
    """

    estimate: float
    lower: float
    upper: float
    ci_lower: float
    ci_upper: float
    nonrespondent_mean: float
    n_nonrespondents: int
    asked: int
    n_responses: int
    words: str
    notes: tuple[str, ...]


def combine_follow_up(
    counts: CountsLike,
    answers: CountsLike,
    n: int,
    *,
    asked: int | None = None,
    scale: Scale | Sequence[float] | str | None = None,
    q: float | str | None = None,
    floor: float | None = None,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    g: Sequence[float] | None = None,
    assumption: Assumption | None = None,
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
    q, floor, quiet, participation, g, assumption
        The assumption about who of those asked has answered, as in :func:`unheard.estimate` with n
        known. Not used, and not needed, if all of them did.
    level, covers
        Level of the confidence interval, and what it is for: ``mean``, the mean of the population
        behind these people, or ``people``, the mean of exactly these n people.

    Examples
    --------
    >>> found = combine_follow_up([120, 30, 45, 200, 605], [30, 11, 14, 20, 25], n=2400)
    >>> f"{found.estimate:.2f}, with noise {found.ci_lower:.2f} to {found.ci_upper:.2f}"
    '3.47, with noise 3.27 to 3.67'
    """
    first = build_question_with_n(counts, n, q=1.0, scale=scale, level=level, covers=covers)
    seen = Respondents.of(first)
    rows = _answers(answers, first.counts.scale)
    n_responses = int(rows.sum())
    n_nonrespondents = int(seen.n_nonrespondents[0])
    drawn = _number_asked(asked, n_responses, n_nonrespondents)
    if drawn == n_responses:
        silent, notes, words = summarize_full_response(rows, seen), (), ""
        nonrespondent_mean = float(silent.interval[0][0])
    else:
        question = build_question(
            rows[0],
            q,
            floor=floor,
            n=drawn,
            scale=first.counts.scale,
            quiet=quiet,
            participation=participation,
            g=g,
            assumption=assumption,
            level=level,
        )
        found = question.answer([question.middle_method()])[0]
        silent, notes, words = _summarize_partial_response(question), found.notes, question.words
        nonrespondent_mean = found.estimate
    interval, limits = seen.combine(silent, drawn)
    lower, upper, ci_lower, ci_upper = (float(end[0]) for end in (*interval, *limits))
    return FollowUp(
        estimate=float(seen.mean(nonrespondent_mean)[0]),
        lower=lower,
        upper=upper,
        ci_lower=ci_lower,
        ci_upper=ci_upper,
        nonrespondent_mean=nonrespondent_mean,
        n_nonrespondents=n_nonrespondents,
        asked=drawn,
        n_responses=n_responses,
        words=words,
        notes=notes,
    )


class FollowUpSample(NamedTuple):
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
class Respondents:
    """The ratings in hand, one row per follow-up or one for all, and what is asked about them."""

    counts: Floats
    values: Floats
    n: int
    z: float
    people: bool

    @classmethod
    def of(cls, question: Question) -> Respondents:
        """Return what a question knows of those who rated."""
        counts = question.counts
        assert counts.n is not None  # build_question_with_n insists on both
        assert question.level is not None
        return cls(
            counts.cells.astype(np.float64),
            np.array(counts.scale.values),
            int(counts.n[0]),
            confidence.critical_value(question.level),
            question.covers == "people",
        )

    @property
    def n_nonrespondents(self) -> Floats:
        """How many people said nothing."""
        return np.asarray(self.n - self.counts.sum(axis=1))

    def mean(self, nonrespondent_mean: Numbers) -> Floats:
        """Mean of everybody, from that of the silent."""
        return np.asarray(
            (self.counts @ self.values + self.n_nonrespondents * nonrespondent_mean) / self.n
        )

    def combine(self, silent: FollowUpSample, asked: Numbers) -> tuple[Pair, Pair]:
        """Return the interval and the confidence interval for everybody."""
        interval, limits = [], []
        for end, away in ((0, -1.0), (1, 1.0)):
            mean, share = self.mean(silent.interval[end]), self.n_nonrespondents / self.n
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

    def _reach(self, silent: FollowUpSample, asked: Numbers, end: int) -> Floats:
        """How far the limit for the mean of the silent is from the end of its interval."""
        point, extreme, n_nonrespondents = (
            silent.interval[end],
            self.values[-end],
            self.n_nonrespondents,
        )
        # The variance of a draw without replacement lies between that of no draw at all and that
        # of a draw from an endless population, as far as people are left.
        left = 1 - asked / n_nonrespondents
        reach = np.sqrt(
            (1 - left) * (point - silent.asked_limits[end]) ** 2
            + left * (point - silent.behind_limits[end]) ** 2
        )
        # Those left are whole people: a few of them may sit at the very end of the scale,
        few = np.minimum(n_nonrespondents - asked, self.z**2 / 2 + 0.5)
        reach = reach + few / n_nonrespondents * np.abs(point - extreme)
        # and if all who have not answered do, that is as far as it goes.
        return np.asarray(np.minimum(reach, self._farthest(silent, n_nonrespondents, end)))

    def _farthest(self, silent: FollowUpSample, people: Numbers, end: int) -> Floats:
        """How far the mean of so many people is if all who have not answered sit at the end."""
        missing = people - silent.answers.sum(axis=1)
        mean = (silent.answers @ self.values + missing * self.values[-end]) / people
        return np.asarray(np.abs(silent.interval[end] - mean))

    def _noise(self, shares: Floats, end: int) -> Floats:
        """How far the limit for the mean behind n people is from their own mean."""
        everybody = self.counts + self.n_nonrespondents[:, None] * shares
        limit = find_average_limits(everybody, self.values, self.z)[end]
        return np.abs(everybody @ self.values / self.n - limit)


def find_average_limits(rows: Floats, values: Floats, z: float) -> Pair:
    """Confidence limits of the plain average of each row."""
    return confidence.find_limits_without_n(list(rows.T), values.tolist(), (None, None), z, NUMPY)


def summarize_full_response(answers: Floats, seen: Respondents) -> FollowUpSample:
    """Return what is known of the silent if everybody asked has answered."""
    shares = answers / answers.sum(axis=1, keepdims=True)
    mean = shares @ seen.values
    behind = find_average_limits(answers, seen.values, seen.z)
    return FollowUpSample(answers, (mean, mean), (mean, mean), behind, (shares, shares))


def _summarize_partial_response(question: Question) -> FollowUpSample:
    """Let the core say, under the assumption, what those asked are like."""
    bounds = question.find_bounds()
    asked = replace(question, covers="people").find_bounds()
    low, high = (
        people / people.sum(axis=1, keepdims=True) for people in count_people_at_bounds(question)
    )
    return FollowUpSample(
        question.counts.cells.astype(np.float64),
        (bounds.lower, bounds.upper),
        (asked.ci_lower, asked.ci_upper),
        (bounds.ci_lower, bounds.ci_upper),
        (low, high),
    )


def build_question_with_n(counts: CountsLike, n: int | None, **rest: Any) -> Question:
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
    question = build_question(counts, n=n, **rest)
    if not question.counts.single:
        raise CountsError("counts", "several histograms found", "Plan for one at a time")
    if n < 1:
        raise PopulationError("n", "0 found", "Without people there is nothing to ask")
    return question


def _answers(answers: CountsLike, scale: Scale) -> Floats:
    """Check the answers of a follow-up; return them as one row."""
    try:
        found = Histograms.of(answers, scale=scale)
    except CountsError as error:
        raise error.about("answers") from None
    if not found.single or not found.cells.any():
        what = "nobody has answered" if found.single else "several histograms found"
        raise CountsError(
            "answers", what, "Give how often each rating was given in the follow-up, lowest first"
        )
    return found.cells.astype(np.float64)


def _number_asked(asked: int | None, n_responses: int, n_nonrespondents: int) -> int:
    if asked is None and n_responses > n_nonrespondents:
        raise PopulationError(
            "answers",
            f"{n_responses:,} answers from {n_nonrespondents:,} silent people",
            "Count everybody in n; a follow-up asks only people who said nothing at first",
        )
    drawn = n_responses if asked is None else asked
    if not n_responses <= drawn <= n_nonrespondents or drawn != int(drawn):
        raise PopulationError(
            "asked",
            f"{drawn:,} asked, {n_responses:,} answers, {n_nonrespondents:,} silent people",
            "It is a whole number, at least that of the answers and at most that of the silent",
        )
    return int(drawn)


def count_people_at_bounds(question: Question) -> Pair:
    """How many people have each rating at the lower and at the upper end of the interval."""
    counts, assumption = question.counts, question.assumption
    assert counts.n is not None  # planning starts from the number of people
    values, m = counts.scale.values, counts.scale.m
    columns = list(counts.cells.T.astype(np.float64))
    ends = build_boxes(assumption.kind, assumption.q, fixed_box(assumption), m)
    # An item without ratings divides nothing by nothing; its row is replaced at the end.
    with np.errstate(divide="ignore", invalid="ignore"):
        lower, upper = find_bounds_without_n(columns, values, ends, NUMPY)
        beyond = [lower > v for v in values], [upper < v for v in values]
        low, high = (
            _allocate_people(columns, counts.n, box, order, out, assumption.is_ratio)
            for box, order, out in zip(ends, (range(m), range(m)[::-1]), beyond, strict=True)
        )
    return low, high


def _allocate_people(
    counts: list[Floats],
    n: Floats,
    box: Box | None,
    order: Sequence[int],
    beyond: Sequence[Any],
    ratio: bool,
) -> Floats:
    """Deal n people out to the ratings as they are at one end of the interval."""
    rated = total(counts)
    if box is None:
        people = [count * n / np.maximum(rated, 1.0) for count in counts]
    else:
        # As many as the boxes hold, or as the end needs; the others respond no more often.
        needed = count_people_at(counts, beyond, box, NUMPY)
        if ratio:
            needed = np.minimum(needed, n)
        else:
            too_low, too_high = find_misfits(counts, box, n)
            needed = np.where(too_low | too_high, needed, n)
        people = [one * (n / needed) for one in _fill_greedily(counts, needed, box, order)]
    extreme = np.arange(len(counts)) == order[0]
    return np.where((rated > 0)[:, None], np.column_stack(people), n[:, None] * extreme)


def _fill_greedily(counts: list[Floats], n: Floats, box: Box, order: Sequence[int]) -> list[Floats]:
    people = [f * count for f, count in zip(box.fewest, counts, strict=True)]
    left = n - total(people)
    for r in order:
        taken = np.minimum(box.most[r] * counts[r] - people[r], left)
        people[r] = people[r] + taken
        left = left - taken
    return people
