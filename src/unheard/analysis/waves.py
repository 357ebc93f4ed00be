"""Waves: participation from who responded to which request.

People were asked, and reminded. Those who respond only to a reminder show what people are like who
respond reluctantly; :mod:`unheard.analysis.wave_fit` has the model, which extends this to those who
never respond. Items are pooled: participation depends on the rating and the request, not on the
item.

The box is the profile likelihood of each rating's participation, at a level divided among the
ratings. Its critical value is that of a t distribution, because with few responses the likelihood
is far from quadratic. Its degrees of freedom are half the number of responses to the first request,
or to all later ones, or the number of items, whichever is the least. If there are several items,
the likelihood is flattened by the design effect [KG98].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, expit, logit, stdtr, stdtrit

from unheard.analysis.participation import (
    LEAST_PARTICIPATION,
    Participation,
    check_people,
    choose_direction,
    describe_participation,
    write_p_value,
    write_ratings,
)
from unheard.analysis.wave_fit import (
    WaveFit,
    find_profile_limits,
    find_spread,
    fit_waves,
    shift_participation,
)
from unheard.errors import CountsError, DataError, Given
from unheard.formulas.confidence import critical_value
from unheard.formulas.operations import Floats
from unheard.model.labelled_counts import PlainOrLabelled, read_counts
from unheard.model.question import require_level
from unheard.model.scale import Scale
from unheard.options.unknown import suggests_names

MODEL_LEVEL = 0.05
"""Significance level of the test of the model."""


@dataclass(frozen=True, eq=False, repr=False)
class Waves(Participation):
    """What waves of requests say about participation.

    Attributes
    ----------
    counts
        Responses per item, request and rating.
    n
        Number of people asked, per item or in all; None if unknown.
    effectiveness
        Log-odds of responding to each request, less those of responding to the first.
    model_p
        p-value of the hypothesis that the rating has the same effect at every request; None if
        there are only two requests, which cannot contradict it.
    item_spread
        Standard deviation between items of the log-odds of responding to a request; 0 if they show
        none, or if n is not known for each of several items.
    covariance
        Covariance of the log-odds of ever responding; infinite variances where nobody responded.
    """

    source = "waves"

    counts: Floats
    n: Floats | None
    effectiveness: Floats
    model_p: float | None
    item_spread: float
    covariance: Floats

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.counts)

    @property
    def requests(self) -> int:
        """Number of requests: the first, and its reminders."""
        return int(self.counts.shape[1])

    @property
    def contradicted(self) -> bool:
        """Whether the responses contradict the model, so that the estimate cannot be relied on."""
        return self.model_p is not None and self.model_p < MODEL_LEVEL

    @property
    def sentences(self) -> tuple[str, ...]:
        """The finding and what it rests on, for a lay reader."""
        return tuple(_describe_waves(self))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the estimate, for a lay reader."""
        if not self.contradicted:
            return ()
        assert self.model_p is not None  # otherwise nothing is contradicted
        return (
            f"The responses contradict this assumption ({write_p_value(self.model_p)}): do not "
            "rely on this estimate, and state q instead.",
        )

    def find_covariance(self) -> Floats:
        """Return the covariance of the log-odds of ever responding."""
        return self.covariance

    def find_item_box(self) -> tuple[Floats, Floats]:
        """Return bounds for one item like these: the box, widened by how much items vary."""
        if not self.item_spread:
            return self.g_lower, self.g_upper
        away = critical_value(self.level) * self.item_spread

        def shift(end: float, away: float) -> float:
            if not LEAST_PARTICIPATION < end < 1:
                return end  # nothing is known on this side
            return shift_participation(self.effectiveness, self.item_spread, logit(end), away)

        lower = np.array([shift(float(end), -away) for end in self.g_lower])
        upper = np.array([shift(float(end), away) for end in self.g_upper])
        return np.maximum(lower, LEAST_PARTICIPATION), upper


@suggests_names
def calibrate_from_waves(
    counts: PlainOrLabelled,
    *,
    n: ArrayLike | None = None,
    scale: Scale | Sequence[float] | str | None = None,
    level: float = 0.95,
) -> Waves:
    """Estimate participation from who responded to which request.

    At each request, people who have not responded yet respond with odds that depend on their rating
    and on the request. The effect of the rating is assumed to be the same at every request. This
    extends to those who never responded what the reminders show about those who did.

    Parameters
    ----------
    counts
        Number of responses by request (rows, the first request first) and rating (columns, lowest
        first), which name the ratings in a frame; or an array of such tables, one per item.
    n
        Number of people who were asked: in all, or one number per item. If left out, every request
        is also assumed to be as effective as the first.
    scale
        The m rating values, or text such as ``"0.5:5:0.5"``; 1, 2, ..., m if left out.
    level
        Simultaneous level of the box: it covers participation at all ratings with this probability
        if the model holds.

    Returns
    -------
    Waves
        Its :attr:`Waves.assumption` goes into :func:`unheard.estimate`.

    Examples
    --------
    >>> waves = calibrate_from_waves(
    ...     [[30, 60, 150, 260, 300], [26, 48, 105, 150, 120], [22, 37, 74, 87, 50]], n=2400
    ... )
    >>> [round(float(g), 2) for g in waves.g]
    [0.24, 0.41, 0.58, 0.77, 0.92]
    >>> waves.quiet
    'low'
    """
    cells, read_scale = _read_cells(counts, scale)
    people = _read_people(n, cells)
    level = require_level(level)
    total = cells.sum(axis=0)
    occurs = total.sum(axis=0) > 0
    unheard = None if people is None else float(people.sum() - total.sum())
    fit = fit_waves(total[:, occurs], unheard)
    if people is not None and len(people) == len(cells) > 1:
        spread = find_spread(fit, cells[:, :, occurs].sum(axis=1), people)
        fit = fit_waves(fit.counts, unheard, None, fit, spread)
    n_items = _share_people(cells[:, :, occurs], people, fit)
    effects, degrees = _measure_clustering(cells[:, :, occurs], n_items, fit)
    lower, upper = _bound(fit, effects, degrees, (1 - level) / (2 * cells.shape[2]))
    g, g_lower, g_upper = (
        _spread_out(part, occurs, rest)
        for part, rest in ((fit.g, np.nan), (lower, LEAST_PARTICIPATION), (upper, 1.0))
    )
    values = np.array(read_scale.values)[occurs]
    trend = _test_scores(fit, effects, degrees, values)
    ends = np.isin(values, (read_scale.lowest, read_scale.highest)).astype(float)
    middle = _test_scores(fit, effects, degrees, ends)
    return Waves(
        read_scale, level, g, g_lower, g_upper, trend[1], middle[1],
        choose_direction(g_lower, g_upper, trend, middle), cells, people, fit.a,
        check_model(fit, effects, values), fit.spread, _find_covariance(fit, effects, occurs),
    )  # fmt: skip


def _read_cells(
    counts: PlainOrLabelled, scale: Scale | Sequence[float] | str | None
) -> tuple[Floats, Scale]:
    read_scale = None if scale is None else Scale.read(scale)
    if not isinstance(counts, list | tuple | np.ndarray):  # a frame, whose columns are ratings
        named = read_counts(counts, read_scale)
        counts, read_scale = named.array, named.scale
    try:
        cells = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        raise _refuse_shape(Given("a table with text, or with parts of unequal length")) from None
    if cells.ndim == 2:
        cells = cells[None]
    if cells.ndim != 3 or not cells.size:
        raise _refuse_shape(Given(f"an array of shape {np.shape(counts)}"))
    if not (np.isfinite(cells).all() and (cells >= 0).all() and (cells == np.rint(cells)).all()):
        raise CountsError(
            "counts",
            problem="{argument} must be whole numbers, at least 0",
            hint="Count the responses to each request, by rating",
        )
    if cells.shape[1] < 2:
        raise DataError(
            "wave",
            problem="All responses followed one request: nothing can be learned from one wave",
            hint="Number the responses by the request they followed: 1 for the first, 2 for the "
            "first reminder",
            code="one_wave",
        )
    empty = cells.sum(axis=(0, 2)) == 0
    if empty[:2].any():
        raise DataError(
            "wave",
            problem="Nobody responded to request {which}",
            hint="At least the first two requests must have responses",
            which=int(np.argmax(empty)) + 1,
        )
    read_scale = read_scale or Scale.points(cells.shape[2])
    if read_scale.m != cells.shape[2]:
        raise CountsError(
            "counts",
            problem="{argument} must have one column for each of the {m} ratings on the scale",
            value=Given(f"{cells.shape[2]}"),
            m=read_scale.m,
        )
    return cells, read_scale


def _refuse_shape(given: Given) -> CountsError:
    return CountsError(
        "counts",
        problem="{argument} must have a row per request and a column per rating, or one such table "
        "per item",
        value=given,
        hint="Write [[first request], [reminder]]",
    )


def _read_people(n: ArrayLike | None, cells: Floats) -> Floats | None:
    """Return the number of people per item, or in all; None if unknown."""
    if n is None:
        return None
    try:
        people = np.atleast_1d(np.asarray(n, dtype=np.float64))
    except (TypeError, ValueError):
        people = np.array([np.nan])
    if people.ndim > 1 or len(people) not in (1, len(cells)):
        raise CountsError(
            "n",
            problem="{argument} must be one number for all, or one per item",
            value=Given(f"an array of shape {people.shape}"),
        )
    responses = cells.sum(axis=(1, 2)) if len(people) == len(cells) else np.array([cells.sum()])
    check_people(people, responses, "responses")
    return people


def _share_people(cells: Floats, people: Floats | None, fit: WaveFit) -> Floats | None:
    """Return the number of people per item, shared out as estimated if only known in all."""
    if people is None or len(people) == len(cells):
        return people
    guessed = (cells.sum(axis=1) / fit.g).sum(axis=1)
    return np.asarray(np.maximum(cells.sum(axis=(1, 2)), guessed * people[0] / guessed.sum()))


def _measure_clustering(
    cells: Floats, people: Floats | None, fit: WaveFit
) -> tuple[Floats, Floats]:
    """Return, per rating, the design effect and the degrees of freedom.

    What each item contributes to an estimate is known to first order. Its scatter between items is
    compared with that of people who respond independently of each other.
    """
    # Few responses to the first request, or to all later ones, make the likelihood skewed.
    later = fit.counts[1:].sum(axis=0)
    fewest = np.maximum(np.minimum(fit.counts[0], later) / 2, 1.0)
    items = len(cells)
    if items == 1:
        return np.ones(len(fewest)), fewest
    each = cells.reshape(items, -1)
    if people is not None:
        each = np.column_stack((each, people - each.sum(axis=1)))
    pulls = each @ fit.influence
    scatter = (pulls**2).sum(axis=0) * items / (items - 1)
    effects = np.maximum(scatter / np.maximum(np.diag(fit.covariance), 1e-300), 1.0)
    share = each.sum(axis=1) / each.sum()
    return effects, np.minimum(fewest, max(1 / float((share**2).sum()) - 1, 0.1))


def _bound(fit: WaveFit, effects: Floats, degrees: Floats, tail: float) -> tuple[Floats, Floats]:
    drops = stdtrit(degrees, 1 - tail) ** 2 * effects
    limits = [find_profile_limits(fit, r, float(drop)) for r, drop in enumerate(drops)]
    lower, upper = (expit(np.array(ends)) for ends in zip(*limits, strict=True))
    return np.maximum(np.minimum(lower, fit.g), LEAST_PARTICIPATION), np.maximum(upper, fit.g)


def _spread_out(part: Floats, occurs: Floats, rest: float) -> Floats:
    """Put what is known of the ratings that occur into its place among all."""
    whole = np.full(len(occurs), rest)
    whole[occurs] = part
    return whole


def _find_covariance(fit: WaveFit, effects: Floats, occurs: Floats) -> Floats:
    spread = np.sqrt(effects)
    whole = np.diag(np.where(occurs, 0.0, np.inf))
    place = np.flatnonzero(occurs)
    whole[np.ix_(place, place)] = fit.covariance * np.outer(spread, spread)
    return whole


def _test_scores(
    fit: WaveFit, effects: Floats, degrees: Floats, scores: Floats
) -> tuple[float, float]:
    """Test whether the log-odds of ever responding depend on a score: return z and the p-value."""
    spread = np.sqrt(effects)
    covariance = fit.covariance * np.outer(spread, spread)
    weights = 1 / np.maximum(np.diag(covariance), 1e-12)
    contrast = weights * (scores - (weights @ scores) / weights.sum())
    variance = float(contrast @ covariance @ contrast)
    if variance <= 0 or not np.isfinite(variance):
        return 0.0, 1.0
    z = float(contrast @ fit.log_odds / np.sqrt(variance))
    return z, float(2 * stdtr(float(degrees.max()), -abs(z)))


def check_model(fit: WaveFit, effects: Floats, values: Floats) -> float | None:
    """Test whether the effect of the rating is the same at every request.

    Two tests share the level: one of any misfit, and one of an effect that changes with the rating
    at the last request, which finds the likely violation more often.

    Parameters
    ----------
    fit
        The model at its maximum.
    effects
        Design effect per rating.
    values
        The ratings that occur.

    Returns
    -------
    float or None
        The p-value; None if there are only two requests, which cannot contradict the model.
    """
    if fit.degrees == 0:
        return None
    statistics = fit.misfit, fit.score_last_request(values - values.mean())
    pairs = zip((fit.degrees, 1), statistics, strict=True)
    return min(1.0, 2 * min(float(chdtrc(df, one / effects.mean())) for df, one in pairs))


def _describe_waves(found: Waves) -> list[str]:
    sentences = describe_participation(found)
    sentences.append(
        "This assumes that the rating makes the same difference at every request, so that those "
        "who never respond differ from late respondents as late respondents do from early ones."
    )
    if found.n is None:
        sentences.append(
            "As n is unknown, it also assumes that every request is as effective as the first."
        )
    if found.model_p is None:
        sentences.append("Two requests cannot test this; three can.")
    elif not found.contradicted:
        sentences.append(
            f"The responses do not contradict it ({write_p_value(found.model_p)}), but a gradual "
            "change could go unnoticed."
        )
    if found.n is None or not 1 < len(found.n) == found.items:
        sentences.append(
            "How much items vary is not known, which requires n for each of several items: the "
            "bounds are for all these people together, and not at a known level for other items."
        )
    if found.unknown_ratings:
        ratings = write_ratings(found.scale, np.isnan(found.g))
        sentences.append(f"Nobody gave the rating {ratings}: nothing is known about it.")
    return sentences
