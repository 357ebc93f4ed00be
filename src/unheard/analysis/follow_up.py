"""The mean of everybody from the respondents and a follow-up of the non-respondents.

A follow-up is double sampling [HH46]: k people drawn at random from the non-respondents represent
all of them, so no assumption about participation is needed, as long as all of them respond. If only
some do, the stated assumption is about the people asked, and about nobody else.

The confidence interval adds two distances in quadrature [ZD08]: that from the mean of the
non-respondents to its limit and, if the interval is for the population mean, that from the mean of
all n people to its limit. Both limits keep their level with few or equal responses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.errors import CountsError, Given, PopulationError
from unheard.formulas import confidence
from unheard.formulas.bounds import count_people_at, find_bounds_without_n, find_misfits
from unheard.formulas.boxes import Box, build_boxes
from unheard.formulas.operations import NUMPY, Column, Floats, total
from unheard.model.arguments import QuestionOptions
from unheard.model.assumption import fixed_box
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.question import Question, build_question, require_level
from unheard.model.results import Numbers, Result
from unheard.model.scale import Scale
from unheard.options.unknown import check_options

Pair: TypeAlias = tuple[Floats, Floats]
"""A quantity at the lower and at the upper bound, one entry per row."""


@dataclass(frozen=True, eq=False, repr=False)
class FollowUp(Result):
    """The estimate for everybody, from the respondents and a follow-up.

    Attributes
    ----------
    estimate
        The mean rating of everybody.
    lower, upper
        Bounds: all values that the assumption allows the mean to have, ignoring sampling error;
        both equal the estimate if everybody asked has responded.
    ci_lower, ci_upper
        Confidence interval: the bounds with sampling error.
    nonrespondent_mean
        Estimated mean of the non-respondents.
    n_nonrespondents, asked, n_responses
        Number of non-respondents, of those asked in the follow-up, and of responses to it.
    words
        The assumption about the people asked, in words; empty if none was needed.
    notes
        What to know about the follow-up before using the numbers; see :data:`unheard.NOTE_TEXTS`.
    question
        The first respondents and the settings.
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
    question: Question


def combine_follow_up(
    counts: CountsLike,
    follow_up: CountsLike,
    n: int,
    *,
    asked: int | None = None,
    **options: Unpack[QuestionOptions],
) -> FollowUp:
    """Estimate the mean rating of everybody from the respondents and a follow-up.

    Parameters
    ----------
    counts
        Counts per rating of the respondents, lowest first.
    follow_up
        The same for the follow-up of people drawn at random from the non-respondents.
    n
        Number of people, non-respondents included.
    asked
        Number of people drawn for the follow-up, if not all of them responded.
    **options
        ``scale``, ``level`` and ``covers`` as in :func:`unheard.estimate`. If not all of the people
        asked responded, also the assumption about them: ``q``, ``floor``, ``quiet``,
        ``participation``, ``g`` or ``assumption``, as in :func:`unheard.estimate` with n known.

    Examples
    --------
    >>> found = combine_follow_up([120, 30, 45, 200, 605], [30, 11, 14, 20, 25], n=2400)
    >>> f"{found.estimate:.2f}, with sampling error {found.ci_lower:.2f} to {found.ci_upper:.2f}"
    '3.47, with sampling error 3.27 to 3.67'
    """
    check_options(combine_follow_up, options, QuestionOptions)
    first = require_one_histogram(
        build_question_with_n(
            counts,
            n,
            q=1.0,
            scale=options.get("scale"),
            level=options.get("level", 0.95),
            covers=options.get("covers", "mean"),
        )
    )
    respondents = Respondents.of(first)
    rows = _read_follow_up(follow_up, first.counts.scale)
    n_responses = int(rows.sum())
    n_nonrespondents = int(respondents.n_nonrespondents[0])
    drawn = _check_number_asked(asked, n_responses, n_nonrespondents)
    notes: tuple[str, ...] = ()
    words = ""
    if drawn == n_responses:
        sample = summarize_full_response(rows, respondents)
        nonrespondent_mean = float(sample.bounds[0][0])
    else:
        about_asked: QuestionOptions = {**options, "scale": first.counts.scale, "covers": "mean"}
        question = build_question(rows[0], n=drawn, **about_asked)
        found = question.answer([question.middle_method()])[0]
        sample, notes, words = _summarize_partial_response(question), found.notes, question.words
        nonrespondent_mean = found.estimate
    bounds, limits = respondents.combine(sample, drawn)
    lower, upper, ci_lower, ci_upper = (float(end[0]) for end in (*bounds, *limits))
    return FollowUp(
        estimate=float(respondents.compute_mean(nonrespondent_mean)[0]),
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
        question=first,
    )


class FollowUpSample(NamedTuple):
    """What a follow-up says about the people asked, one row per follow-up.

    Attributes
    ----------
    counts
        Counts per rating of those who responded to it.
    bounds
        Bounds of the mean of the people asked.
    asked_limits
        Confidence limits of the mean of the people asked.
    population_limits
        Confidence limits of the mean of an infinite population that they are drawn from.
    shares
        Share of the people asked with each rating, at either bound.
    """

    counts: Floats
    bounds: Pair
    asked_limits: Pair
    population_limits: Pair
    shares: Pair


@dataclass(frozen=True)
class Respondents:
    """The first respondents, one row per follow-up or one for all, and the settings."""

    counts: Floats
    values: Floats
    n: Numbers
    z: float
    people: bool

    @classmethod
    def of(cls, question: Question) -> Respondents:
        """Extract the respondents from a question."""
        counts = question.counts
        assert counts.n is not None  # build_question_with_n requires both
        assert question.level is not None
        return cls(
            counts.cells.astype(np.float64),
            np.array(counts.scale.values),
            counts.n,
            confidence.critical_value(question.level),
            question.covers == "people",
        )

    def take(self, rows: NDArray[np.intp]) -> Respondents:
        """Return some of the rows, in any order and as often as wanted."""
        n = np.broadcast_to(self.n, len(self.counts))
        return replace(self, counts=self.counts[rows], n=n[rows])

    @property
    def n_nonrespondents(self) -> Floats:
        """Number of non-respondents."""
        return np.asarray(self.n - self.counts.sum(axis=1))

    def compute_mean(self, nonrespondent_mean: Numbers) -> Floats:
        """Return the mean of everybody, given that of the non-respondents."""
        return np.asarray(
            (self.counts @ self.values + self.n_nonrespondents * nonrespondent_mean) / self.n
        )

    def combine(self, sample: FollowUpSample, asked: Numbers) -> tuple[Pair, Pair]:
        """Return the bounds and the confidence limits of the mean of everybody."""
        bounds, limits = [], []
        for end, away in ((0, -1.0), (1, 1.0)):
            mean, share = self.compute_mean(sample.bounds[end]), self.n_nonrespondents / self.n
            reach = share * self._find_distance(sample, asked, end)
            if not self.people:
                # A bound can be off by what the missing people hide, which is not sampling error:
                # that part is added linearly, and vanishes if nobody is missing.
                hidden = np.minimum(reach, share * self._find_extreme_distance(sample, asked, end))
                error = self._find_sampling_error(sample.shares[end], end)
                reach = hidden + np.hypot(reach - hidden, error)
            bounds.append(mean)
            limits.append(np.clip(mean + away * reach, self.values[0], self.values[-1]))
        return (bounds[0], bounds[1]), (limits[0], limits[1])

    def _find_distance(self, sample: FollowUpSample, asked: Numbers, end: int) -> Floats:
        """Return the distance from a bound of the non-respondents' mean to its limit."""
        point, extreme, size = sample.bounds[end], self.values[-end], self.n_nonrespondents
        # The variance of a draw without replacement is between zero and that of a draw from an
        # infinite population, in proportion to the people left.
        left = 1 - asked / size
        reach = np.sqrt(
            (1 - left) * (point - sample.asked_limits[end]) ** 2
            + left * (point - sample.population_limits[end]) ** 2
        )
        # The people left are whole: a few of them may be at the very end of the scale,
        few = np.minimum(size - asked, self.z**2 / 2 + 0.5)
        reach = reach + few / size * np.abs(point - extreme)
        # but the distance is at most that with everybody who has not responded at the end.
        return np.asarray(np.minimum(reach, self._find_extreme_distance(sample, size, end)))

    def _find_extreme_distance(self, sample: FollowUpSample, people: Numbers, end: int) -> Floats:
        """Return the distance of the mean of some people if all who did not respond are extreme."""
        missing = people - sample.counts.sum(axis=1)
        mean = (sample.counts @ self.values + missing * self.values[-end]) / people
        return np.asarray(np.abs(sample.bounds[end] - mean))

    def _find_sampling_error(self, shares: Floats, end: int) -> Floats:
        """Return the distance from the mean of n people to the limit of the population mean."""
        everybody = self.counts + self.n_nonrespondents[:, None] * shares
        limit = find_average_limits(everybody, self.values, self.z)[end]
        return np.abs(everybody @ self.values / self.n - limit)


def find_average_limits(rows: Floats, values: Floats, z: float) -> Pair:
    """Return the confidence limits of the plain average of each row."""
    return confidence.find_limits_without_n(list(rows.T), values.tolist(), (None, None), z, NUMPY)


def summarize_full_response(counts: Floats, respondents: Respondents) -> FollowUpSample:
    """Summarize a follow-up to which everybody asked has responded."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    mean = shares @ respondents.values
    limits = find_average_limits(counts, respondents.values, respondents.z)
    return FollowUpSample(counts, (mean, mean), (mean, mean), limits, (shares, shares))


def _summarize_partial_response(question: Question) -> FollowUpSample:
    """Summarize a follow-up to which some of the people asked responded, under an assumption."""
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


def build_question_with_n(
    counts: CountsLike, n: ArrayLike | None, **options: Unpack[QuestionOptions]
) -> Question:
    """Build the question about the first respondents, with n and a level."""
    if n is None:
        raise PopulationError(
            "n",
            problem="A follow-up requires {argument}, the number of people",
            hint="Count everybody, respondents and non-respondents",
            code="requires_n",
        )
    question = build_question(counts, n=n, **options)
    require_level(question.level)
    return question


def require_one_histogram(question: Question) -> Question:
    """Raise unless the question is about one histogram, of one person or more."""
    counts = question.counts
    if not counts.single:
        raise counts.refuse_several("counts", "Plan one follow-up at a time, or use plan_table")
    assert counts.n is not None  # build_question_with_n requires it
    if counts.n[0] < 1:
        raise PopulationError(
            "n", problem="{argument} must be at least 1", value=float(counts.n[0])
        )
    return question


def _read_follow_up(counts: CountsLike, scale: Scale) -> Floats:
    """Check the responses to a follow-up, and return them as one row."""
    try:
        responses = Histograms.of(counts, scale=scale)
    except CountsError as error:
        raise error.about("follow_up") from None
    if not responses.single:
        raise responses.refuse_several("follow_up", "Combine one follow-up at a time")
    if not responses.cells.any():
        raise CountsError(
            "follow_up",
            problem="{argument} has no responses",
            hint="Count the responses to the follow-up, lowest rating first",
        )
    return responses.cells.astype(np.float64)


def _check_number_asked(asked: int | None, n_responses: int, n_nonrespondents: int) -> int:
    if n_responses > n_nonrespondents:
        raise PopulationError(
            "follow_up",
            problem="{argument} cannot have more responses than the {most:,} non-respondents",
            value=Given(f"{n_responses:,} responses"),
            hint="Count everybody in {n}, and only people who did not respond at first in "
            "{follow_up}",
            most=n_nonrespondents,
        )
    drawn = n_responses if asked is None else asked
    if not n_responses <= drawn <= n_nonrespondents or drawn != int(drawn):
        raise PopulationError(
            "asked",
            problem="{argument} must be a whole number from {fewest:,} (the responses to the "
            "follow-up) to {most:,} (the non-respondents)",
            value=drawn,
            fewest=n_responses,
            most=n_nonrespondents,
        )
    return int(drawn)


def count_people_at_bounds(question: Question) -> Pair:
    """Return the number of people with each rating at the lower and at the upper bound."""
    counts, assumption = question.counts, question.assumption
    assert counts.n is not None  # build_question_with_n requires it
    values, m = counts.scale.values, counts.scale.m
    columns = list(counts.cells.T.astype(np.float64))
    ends = build_boxes(assumption.kind, assumption.q, fixed_box(assumption), m)
    # An item without ratings divides 0 by 0; its row is replaced at the end.
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
    beyond: Sequence[Column],
    ratio: bool,
) -> Floats:
    """Allocate n people to the ratings as at one of the bounds."""
    rated = total(counts)
    if box is None:
        people = [count * n / np.maximum(rated, 1.0) for count in counts]
    else:
        # As many as the box allows, or as the bound needs; the others respond no more often.
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
