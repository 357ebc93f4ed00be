"""A suggestion of participation from response rates: items with better ratings are answered more.

If people with rating r respond with probability g_r, an item with n people has, on average,
``n = sum of count_r / g_r``. So items with different ratings and response rates say something about
g. They do not say enough: an item may be answered more often for reasons of its own, and only the
assumption that these reasons are unrelated to how good the item is separates the one from the
other. What is found here is a suggestion. It never takes the place of an audit.

The *share moments* are unbiased for any factor per item that is unrelated to its ratings, and are
linear in w = 1/g. With log-odds of g that are linear in the rating, they are solved by the
generalized method of moments in two steps [Han82].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares
from scipy.special import chdtrc, chdtri, expit, logit, ndtr

from unheard.analysis.participation import (
    LEAST_PARTICIPATION,
    Participation,
    check_people,
    describe_participation,
    write_p_value,
)
from unheard.errors import CountsError, DataError, Given
from unheard.formulas.operations import Floats
from unheard.model.assumption import Assumption
from unheard.model.histograms import CountsLike, Histograms
from unheard.model.question import require_level
from unheard.model.scale import Scale
from unheard.options.unknown import suggests_names

FEWEST_ITEMS = 30
"""Fewer items with at least two ratings do not determine a slope."""

TEST_LEVEL = 0.05
"""Significance level of the tests that refuse a suggestion or warn about it."""

KAPPAS = (-0.5, -0.25, 0.0, 0.25, 0.5)
"""Values of the sensitivity slope that are tried."""

_HIGHEST_DISPERSION = 2.0
_WIDEST_KAPPA = 3.0


@dataclass(frozen=True)
class Alternative:
    """What would be suggested if better items were answered more often for other reasons.

    Attributes
    ----------
    kappa
        Log of the factor by which each point of an item's mean raises its responses.
    g
        Participation per rating; None if no participation fits.
    q
        Participation ratio; None if no participation fits.
    quiet
        Who would respond less often: people with ``low`` or ``high`` ratings.
    """

    kappa: float
    g: tuple[float, ...] | None
    q: float | None
    quiet: str


@dataclass(frozen=True, eq=False, repr=False)
class Suggestion(Participation):
    """What response rates across items suggest about participation.

    Attributes
    ----------
    counts
        Ratings per item (rows) and rating.
    n
        Number of people per item.
    slope, slope_se
        Change of the log-odds of responding per point of the rating, and its standard error.
    j, j_p
        Statistic and p-value of the test whether the moments agree with each other; None if there
        are only two ratings.
    dispersion
        Variance of the items' residuals, relative to that of people who respond independently.
    alternatives
        What would be suggested for other values of the sensitivity slope.
    kappa_without_slope
        The sensitivity slope that would explain all of it: participation would not depend on the
        rating. None if none within 3 does.
    covariance
        Covariance of the log-odds of responding. They lie on a line, so its rank is 2.
    """

    source = "response_rates"

    counts: Floats
    n: Floats
    slope: float
    slope_se: float
    j: float | None
    j_p: float | None
    dispersion: float
    alternatives: tuple[Alternative, ...]
    kappa_without_slope: float | None
    covariance: Floats

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.counts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The finding and what it rests on, for a lay reader."""
        return tuple(_describe_suggestion(self))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the suggestion, for a lay reader."""
        return tuple(_list_warnings(self))

    def find_covariance(self) -> Floats:
        """Return the covariance of the log-odds of responding."""
        return self.covariance

    @property
    def assumption(self) -> Assumption:
        """The smallest q that the box allows, and the direction.

        Participation per rating is not used, so that no confidence interval is narrowed by a
        suggestion.
        """
        return replace(Assumption.bounded(self.q_lower, self.quiet), learned=self.learned)


@suggests_names
def suggest_participation(
    counts: CountsLike,
    n: ArrayLike,
    *,
    scale: Scale | Sequence[float] | str | None = None,
    level: float = 0.95,
) -> Suggestion:
    """Suggest participation from the response rates of many items.

    The suggestion holds if what makes an item's people respond more or less often, other than their
    ratings, is unrelated to how good the item is. Nothing in the data can show that, so this is a
    starting point for bounds, and never a substitute for an audit.

    Parameters
    ----------
    counts
        Counts per rating, lowest first: one row per item.
    n
        Number of people per item, whether they responded or not.
    scale
        The m rating values, or text such as ``"0.5:5:0.5"``; 1, 2, ..., m if left out.
    level
        Simultaneous level of the box around the suggested participation, under the assumption
        above.

    Returns
    -------
    Suggestion
        Its :attr:`Suggestion.assumption` goes into :func:`unheard.estimate`.

    Raises
    ------
    DataError
        If there are too few items, if they differ too little, or if participation that does not
        depend on the rating explains the response rates as well.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> shares = rng.dirichlet([1, 2, 3, 3, 2], size=300)
    >>> people = np.array([rng.multinomial(80, share) for share in shares])
    >>> responses = rng.binomial(people, [0.15, 0.2, 0.3, 0.42, 0.55])
    >>> suggestion = suggest_participation(responses, people.sum(axis=1))
    >>> suggestion.quiet, round(suggestion.q, 1)
    ('low', 0.3)
    """
    seen = Histograms.of(counts, scale=None if scale is None else Scale.read(scale))
    level = require_level(level)
    cells = np.asarray(seen.cells, np.float64)
    people = _read_people(n, cells)
    used = cells.sum(axis=1) >= 2
    values = np.array(seen.scale.values)
    _check_items(cells[used], values)
    fit = _fit_moments(cells[used], people[used], values)
    z = fit.slope / fit.slope_se if fit.slope_se > 0 else 0.0
    p = float(2 * ndtr(-abs(z)))
    if p >= TEST_LEVEL:
        raise _refuse_slope(fit, p)
    away = np.sqrt(chdtri(2, 1 - level) * np.diag(fit.covariance))
    alternatives, explains = _vary_kappa(cells[used], people[used], values, fit)
    return Suggestion(
        seen.scale, level, fit.g, np.maximum(expit(fit.log_odds - away), LEAST_PARTICIPATION),
        expit(fit.log_odds + away), p, 1.0, "low" if z > 0 else "high", cells, people,
        fit.slope, fit.slope_se, fit.j, fit.j_p, _measure_dispersion(cells, people, fit.g),
        alternatives, explains, fit.covariance,
    )  # fmt: skip


def _read_people(n: ArrayLike, cells: Floats) -> Floats:
    try:
        people = np.asarray(n, dtype=np.float64)
    except (TypeError, ValueError):
        people = np.array(np.nan)
    if people.shape != (len(cells),):
        raise CountsError(
            "n",
            problem="{argument} must have one number per item",
            value=Given(f"an array of shape {people.shape}"),
            hint="Response rates require the number of people of every item",
        )
    check_people(people, cells.sum(axis=1), "ratings")
    return people


def _check_items(cells: Floats, values: Floats) -> None:
    """Raise unless there are items enough, which differ by more than chance."""
    if len(cells) < FEWEST_ITEMS:
        raise DataError(
            "counts",
            problem="{items} items with at least two ratings say too little about participation: "
            "{fewest} are required",
            hint="State q, or audit some items",
            code="too_few_items",
            items=len(cells),
            fewest=FEWEST_ITEMS,
        )
    sizes = cells.sum(axis=1)
    means = cells @ values / sizes
    middle = (sizes @ means) / sizes.sum()
    within = (cells @ values**2 - sizes * means**2).sum() / (sizes - 1).sum()
    between = float((sizes * (means - middle) ** 2).sum())
    if within <= 0 < between:
        return
    if within <= 0 or chdtrc(len(cells) - 1, between / within) >= TEST_LEVEL:
        raise DataError(
            "counts",
            problem="The ratings of these items differ no more than chance allows, so that their "
            "response rates say nothing about participation",
            hint="State q, or audit some items",
            code="no_spread",
        )


@dataclass(frozen=True)
class _MomentFit:
    g: Floats
    log_odds: Floats
    covariance: Floats
    slope: float
    slope_se: float
    j: float | None
    j_p: float | None


def _fit_moments(cells: Floats, people: Floats, values: Floats) -> _MomentFit:
    occurs = cells.sum(axis=0) > 0
    cells = cells[:, occurs]
    center = (cells.sum(axis=0) @ values[occurs]) / cells.sum()
    design = np.column_stack((np.ones(len(values)), values - center))
    seen = cells.sum(axis=1)
    share = cells / seen[:, None]
    scaled = share * (seen / (seen - 1) / people)[:, None]
    constant = share.sum(axis=0)
    slopes = scaled.T @ cells - np.diag(scaled.sum(axis=0))
    start = np.array([logit(np.clip(seen.sum() / people.sum(), 1e-6, 1 - 1e-6)), 0.0])

    def weigh(at: Floats) -> Floats:
        return np.asarray(1 / expit(design[occurs] @ at))

    def solve(root: Floats, start: Floats) -> Floats:
        def residuals(at: Floats) -> Floats:
            return np.asarray(root.T @ (constant - slopes @ weigh(at)))

        def jacobian(at: Floats) -> Floats:
            return np.asarray(root.T @ slopes @ ((weigh(at) - 1)[:, None] * design[occurs]))

        scale = values[-1] - values[0]
        bounds = ([-20.0, -20.0 / scale], [20.0, 20.0 / scale])
        begin = np.clip(start, *bounds)
        return np.asarray(least_squares(residuals, begin, jacobian, bounds=bounds, x_scale="jac").x)

    def find_root(at: Floats) -> Floats:
        """Return a root of the inverse of the moments' covariance."""
        w = weigh(at)
        each = share - scaled * ((cells @ w)[:, None] - w)
        each = each - each.mean(axis=0)
        inverse = np.linalg.pinv(each.T @ each, hermitian=True)
        sizes, vectors = np.linalg.eigh(inverse)
        return np.asarray(vectors * np.sqrt(np.maximum(sizes, 0.0)))

    first = solve(np.diag(1 / np.maximum(constant, 1e-12)), start)
    root = find_root(first)
    at = solve(root, first)
    turned = root.T @ slopes @ ((weigh(at) - 1)[:, None] * design[occurs])
    covariance = np.linalg.pinv(turned.T @ turned, hermitian=True)
    misses = root.T @ (constant - slopes @ weigh(at))
    degrees = int(occurs.sum()) - 2
    j = float(misses @ misses) if degrees > 0 else None
    log_odds = design @ at
    return _MomentFit(
        np.asarray(expit(log_odds)), log_odds, design @ covariance @ design.T,
        float(at[1]), float(np.sqrt(max(covariance[1, 1], 0.0))),
        j, None if j is None else float(chdtrc(degrees, j)),
    )  # fmt: skip


def _refuse_slope(fit: _MomentFit, p: float) -> DataError:
    return DataError(
        "counts",
        problem="Participation that does not depend on the rating explains the response rates as "
        "well (change of the log-odds per point {slope}, standard error {error}, {p_value})",
        hint="State q, or audit some items",
        code="no_slope",
        slope=f"{fit.slope:.2g}",
        error=f"{fit.slope_se:.2g}",
        p_value=write_p_value(p),
    )


def _measure_dispersion(cells: Floats, people: Floats, g: Floats) -> float:
    differs = (cells / g).sum(axis=1) - people
    chance = (cells * (1 - g) / g**2).sum(axis=1)
    return float((differs**2).sum() / max(chance.sum(), 1e-300))


def _vary_kappa(
    cells: Floats, people: Floats, values: Floats, fit: _MomentFit
) -> tuple[tuple[Alternative, ...], float | None]:
    """Refit as if each point of an item's mean raised its responses by a factor of exp(kappa)."""
    quality = _shrink_means(cells, values, fit.g)

    def refit(kappa: float) -> _MomentFit:
        return _fit_moments(cells, people * np.exp(kappa * quality), values)

    def describe(kappa: float) -> Alternative:
        g = fit.g if kappa == 0 else refit(kappa).g
        fits = bool((g > 1e-6).all())
        return Alternative(
            kappa,
            tuple(map(float, g)) if fits else None,
            float(g.min() / g.max()) if fits else None,
            "low" if g[0] <= g[-1] else "high",
        )

    return tuple(describe(kappa) for kappa in KAPPAS), _find_kappa_without_slope(refit, fit.slope)


def _shrink_means(cells: Floats, values: Floats, g: Floats) -> Floats:
    """Return the items' means, reweighted, shrunk to their center by chance, and centered."""
    weighted = cells / g
    sizes = weighted.sum(axis=1)
    means = weighted @ values / sizes
    center = float(sizes @ means / sizes.sum())
    spread = (weighted @ values**2) / sizes - means**2
    pooled = float((sizes @ spread) / sizes.sum())
    chance = pooled * (cells / g**2).sum(axis=1) / sizes**2
    between = max(float(((means - center) ** 2 - chance).mean()), 0.0)
    return np.asarray((means - center) * between / np.maximum(between + chance, 1e-300))


def _find_kappa_without_slope(refit: Callable[[float], _MomentFit], slope: float) -> float | None:
    """Find the kappa nearest to 0 at which the slope is 0, by steps and then by halving."""
    sign = 1.0 if slope > 0 else -1.0
    near = 0.0
    for far in np.arange(0.25, _WIDEST_KAPPA + 0.01, 0.25):
        if refit(sign * far).slope * slope <= 0:
            break
        near = float(far)
    else:
        return None
    far = float(far)
    for _ in range(12):
        middle = (near + far) / 2
        near, far = (near, middle) if refit(sign * middle).slope * slope <= 0 else (middle, far)
    return sign * (near + far) / 2


def _describe_suggestion(found: Suggestion) -> list[str]:
    sentences = ["A suggestion, not a measurement.", *describe_participation(found)]
    sentences.append(
        "It assumes that what else makes people respond to an item (how well known it is, when it "
        "was asked about) is unrelated to how good the item is. If better items are also answered "
        "more often for other reasons, the suggestion is wrong, and the data cannot show it."
    )
    if found.kappa_without_slope is not None:
        factor = float(np.exp(found.kappa_without_slope))
        sentences.append(
            f"If items one point better are answered {factor:.2g} times as often for such reasons, "
            "participation does not depend on the rating at all."
        )
    return sentences


def _list_warnings(found: Suggestion) -> Iterator[str]:
    if found.j_p is not None and found.j_p < TEST_LEVEL:
        yield (
            f"The response rates disagree with each other ({write_p_value(found.j_p)}), so the "
            "assumption, or the straight line of the log-odds, is doubtful."
        )
    if found.dispersion > _HIGHEST_DISPERSION:
        yield (
            f"Response rates vary {found.dispersion:.2g} times as much between items as chance and "
            "ratings explain; other reasons matter."
        )
