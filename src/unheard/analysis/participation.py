"""Estimated participation: what audits, waves of requests and response rates have in common.

Each gives a best guess of the probability of responding per rating, a simultaneous confidence box,
and the direction that the data suggest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import logit, ndtri

from unheard.errors import CountsError
from unheard.formulas.operations import Floats
from unheard.formulas.pooling import Pool
from unheard.model.assumption import Assumption, Learned
from unheard.model.results import Result
from unheard.model.scale import Scale
from unheard.text import write_exactly

LEAST_PARTICIPATION = 1e-9
"""Lower bound of participation where the data do not give one."""

_NEAR_0 = 1e-3
"""Participation ratios below this are not written out."""

DIRECTION_LEVEL = 0.05
"""Significance level of the tests that suggest a direction."""


@dataclass(frozen=True, eq=False, repr=False)
class Participation(Result):
    """What data say about participation.

    Attributes
    ----------
    scale
        The values a rating may take.
    level
        Simultaneous level of the box.
    g
        Estimated participation per rating; NaN for a rating that does not occur. If ``relative``,
        known up to a common factor only.
    g_lower, g_upper
        Simultaneous confidence box.
    trend_p, middle_p
        p-values of the hypotheses that participation does not increase or decrease with the rating,
        and that people between the two ends respond as often as those at the ends.
    quiet
        The direction that the tests suggest: ``any``, ``low``, ``high`` or ``middle``.
    """

    source: ClassVar[str]
    """Where the estimate comes from: ``audit``, ``waves`` or ``response_rates``."""

    scale: Scale
    level: float
    g: Floats
    g_lower: Floats
    g_upper: Floats
    trend_p: float
    middle_p: float
    quiet: str

    @property
    def items(self) -> int:
        """Number of items."""
        raise NotImplementedError

    @property
    def sentences(self) -> tuple[str, ...]:
        """The finding and what it rests on, for a lay reader."""
        raise NotImplementedError

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the estimate, for a lay reader."""
        return ()

    @property
    def words(self) -> str:
        """The sentences and warnings in one paragraph."""
        marked = (f"Warning: {text[0].lower()}{text[1:]}" for text in self.warnings)
        return " ".join((*self.sentences, *marked))

    @property
    def relative(self) -> bool:
        """Whether participation is known up to a common factor only."""
        return False

    @property
    def q(self) -> float:
        """Estimated participation ratio: smallest participation over largest."""
        return float(np.nanmin(self.g) / np.nanmax(self.g))

    @property
    def q_lower(self) -> float:
        """Smallest participation ratio that the box allows."""
        return float(self.g_lower.min() / self.g_upper.max())

    @property
    def unknown_ratings(self) -> tuple[float, ...]:
        """Ratings that do not occur, so that nothing is known about them."""
        pairs = zip(self.scale.values, np.isnan(self.g), strict=True)
        return tuple(value for value, missing in pairs if missing)

    def find_covariance(self) -> Floats:
        """Return the covariance of the log-odds of ``g`` (of its log, if relative).

        Unless something better is known, variances are what makes the longer side of the box.
        """
        return np.diag(self.find_box_errors() ** 2)

    def find_box_errors(self) -> Floats:
        """Return the standard errors that would make the longer side of the box, per rating.

        They are infinite where the box is open.
        """
        transform = np.log if self.relative else logit
        with np.errstate(divide="ignore", invalid="ignore"):
            guess, lower, upper = (transform(x) for x in (self.g, self.g_lower, self.g_upper))
            sides = np.maximum(upper - guess, guess - lower)
        closed = np.isfinite(sides) & (self.g_lower > 2 * LEAST_PARTICIPATION)
        return np.where(closed, sides / -ndtri((1 - self.level) / (2 * self.scale.m)), np.inf)

    @property
    def pool(self) -> Pool | None:
        """Variation between items, if the data show it; see :mod:`unheard.formulas.pooling`."""
        return None

    def find_item_box(self) -> tuple[Floats, Floats]:
        """Return bounds for one item like these: the box, widened by how much items vary.

        If the data do not show how much items vary, this is the box itself.
        """
        return self.g_lower, self.g_upper

    @property
    def assumption(self) -> Assumption:
        """The estimate as an assumption for :func:`unheard.estimate` and other functions."""
        lower, upper = (end.tolist() for end in self.find_item_box())
        if self.unknown_ratings:
            made = Assumption.box(lower, upper, relative=self.relative)
        else:
            made = Assumption.audit(
                self.g.tolist(), lower, upper,
                relative=self.relative, pool=self.pool,
            )  # fmt: skip
        return replace(made, learned=self.learned)

    @property
    def learned(self) -> Learned:
        """Where the assumption comes from."""
        return Learned(self.source, self.sentences, self.warnings)


def check_people(people: Floats, responses: Floats, what: str) -> None:
    """Raise unless n is a whole number and at least the number of responses, item by item.

    ``what`` is what the responses are called.
    """
    few = ~(people >= responses)
    bad = few | ~np.isfinite(people) | (people != np.rint(people))
    if bad.any():
        at = int(np.argmax(bad))
        raise CountsError(
            "n",
            index=at if len(people) > 1 else (),
            problem="{argument} must be at least the number of {what}, {responses}"
            if few[at]
            else "{argument} must be a whole number of people",
            value=float(people[at]),
            hint="Count everybody who was asked, whether they responded or not",
            what=what,
            responses=f"{responses[at]:.15g}",
        )


def choose_direction(
    lower: Floats, upper: Floats, trend: tuple[float, float], middle: tuple[float, float]
) -> str:
    """Choose the direction that the tests suggest and that is compatible with the box.

    ``trend`` and ``middle`` are each a z statistic and a p-value.
    """
    rises = bool((np.maximum.accumulate(lower) <= upper).all())
    falls = bool((np.maximum.accumulate(lower[::-1]) <= upper[::-1]).all())
    z, p = trend
    if p < DIRECTION_LEVEL and ((z > 0 and rises) or (z < 0 and falls)):
        return "low" if z > 0 else "high"
    at_ends, p = middle
    ends = max(lower[0], lower[-1]), min(upper[0], upper[-1])
    fits = ends[0] <= ends[1] and bool((lower[1:-1] <= ends[1]).all())
    return "middle" if p < DIRECTION_LEVEL and at_ends > 0 and fits else "any"


_QUIET_WORDS = {
    "low": "People with lower ratings respond less often",
    "high": "People with higher ratings respond less often",
    "middle": "People with ratings between the two ends respond less often than those at the ends",
    "any": "The data show no direction: no group clearly responds less often",
}


def describe_participation(found: Participation) -> list[str]:
    """Say which direction and which participation ratio were found."""
    p = {"middle": found.middle_p}.get(found.quiet, found.trend_p)
    least = "near 0" if found.q_lower < _NEAR_0 else f"as small as {found.q_lower:.2g}"
    ratio = "The estimated participation ratio is near 0: those who respond least often hardly do."
    if found.q >= _NEAR_0:
        q = f"{found.q:.2g}"
        ratio = f"The estimated participation ratio is q = {q}: " + (
            "by this estimate, people respond equally often."
            if q == "1"
            else f"those who respond least often do so {q} times as often as those who respond "
            "most often."
        )
    return [
        f"{_QUIET_WORDS[found.quiet]} ({write_p_value(p)}).",
        f"{ratio} A q {least} cannot be ruled out.",
    ]


def write_p_value(p: float) -> str:
    """Write a p-value as text."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def write_ratings(scale: Scale, chosen: Floats) -> str:
    """List the ratings that are chosen, as text."""
    pairs = zip(scale.values, chosen, strict=True)
    return ", ".join(write_exactly(value) for value, included in pairs if included)
