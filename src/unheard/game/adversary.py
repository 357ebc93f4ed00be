"""The worst case: the structure with the largest regret of an aggregator.

With g_r free in [lo_r, hi_r] the structures form a simplex: every person is of one of 2m types, a
rating together with the lower or the upper end of its participation. The regret is a polynomial on
that simplex. Given the probabilities of being seen, it is convex in how the unseen are divided, so
at most one rating has a participation strictly inside its bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from unheard.formulas.bea import bea_a_star, regret_lower_bound
from unheard.formulas.operations import Floats
from unheard.game.outcomes import list_outcomes
from unheard.game.regret import ExactRegret, check_kind
from unheard.game.rules import Rule, evaluate_rule, rule_name
from unheard.game.structures import Structure, build_asymptotic_pair, build_lemma_pair
from unheard.model.assumption import Assumption
from unheard.model.scale import Scale

_BATCH_CELLS = 200_000
"""Histograms times structures evaluated at once: few enough to stay in the cache."""


_SCREENED_CELLS = 4_000_000
"""Most histograms times structures that a screening evaluates."""

_HOPELESS = 0.5
"""Starts below this share of the best start are not followed."""


@dataclass(frozen=True)
class WorstCase:
    """The largest regret found, and the structure that causes it.

    Attributes
    ----------
    method
        The aggregator.
    kind
        ``gap`` or ``excess``.
    n, q
        Number of people and least participation.
    regret
        The largest regret found, each value by the exact sum over histograms.
    structure
        The witness.
    lower_bound
        No aggregator has a smaller worst case of kind ``gap`` [GKL25, corollary 3.3].
    starts
        How many starting points were followed to a maximum.
    """

    method: str
    kind: str
    n: int
    q: float
    regret: float
    structure: Structure
    lower_bound: float
    starts: int = field(compare=False)


class _Types:
    """Structures with each g_r free in its bounds, as shares of 2m types of people."""

    def __init__(self, lo: Floats, hi: Floats) -> None:
        self.m = len(lo)
        self.lo, self.hi = lo, hi
        self.bounds = [(0.0, 1.0)] * (2 * self.m)
        # One row: the shares add up to 1.
        self.equality = np.ones((1, 2 * self.m))
        self.inequality = np.zeros((0, 2 * self.m))

    def cells(self, points: Floats) -> Floats:
        eager, reluctant = points[:, : self.m], points[:, self.m :]
        seen = eager * self.hi + reluctant * self.lo
        return np.column_stack([seen, eager + reluctant - seen])

    def pull(self, points: Floats, slope: Floats) -> Floats:
        """Turn derivatives by cells into derivatives by shares."""
        seen, unseen = slope[:, : self.m], slope[:, self.m :]
        return np.column_stack([seen * g + unseen * (1 - g) for g in (self.hi, self.lo)])

    def point(self, structure: Structure) -> Floats:
        p, g = np.array(structure.p), np.clip(structure.g, self.lo, self.hi)
        width = self.hi - self.lo
        reluctant = p * np.divide(self.hi - g, width, out=np.zeros(self.m), where=width > 0)
        return np.concatenate([p - reluctant, reluctant])

    def draw(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.dirichlet(np.full(2 * self.m, 0.3), size=size)


class _Ordered:
    """Structures with g within [lo, hi] and rising (falling) in the rating, as the pair (p, g)."""

    def __init__(self, lo: Floats, hi: Floats, rising: bool) -> None:
        self.m = m = len(lo)
        self.lo, self.hi, self.rising = lo, hi, rising
        self.bounds = [*[(0.0, 1.0)] * m, *zip(lo.tolist(), hi.tolist(), strict=True)]
        self.equality = np.concatenate([np.ones(m), np.zeros(m)])[None, :]
        steps = np.diff(np.eye(m), axis=0) * (1 if rising else -1)
        self.inequality = np.column_stack([np.zeros((m - 1, m)), steps])

    def cells(self, points: Floats) -> Floats:
        p, g = points[:, : self.m], points[:, self.m :]
        return np.column_stack([p * g, p * (1 - g)])

    def pull(self, points: Floats, slope: Floats) -> Floats:
        """Turn derivatives by cells into derivatives by p and g."""
        p, g = points[:, : self.m], points[:, self.m :]
        seen, unseen = slope[:, : self.m], slope[:, self.m :]
        return np.column_stack([g * seen + (1 - g) * unseen, p * (seen - unseen)])

    def point(self, structure: Structure) -> Floats:
        g = np.sort(np.clip(structure.g, self.lo, self.hi))
        return np.concatenate([structure.p, g if self.rising else g[::-1]])

    def draw(self, size: int, rng: np.random.Generator) -> Floats:
        p = rng.dirichlet(np.full(self.m, 0.3), size=size)
        # Participation at either end of its range is where the regret is large.
        g = np.sort(self.lo + (self.hi - self.lo) * rng.beta(0.3, 0.3, size=(size, self.m)))
        return np.column_stack([p, g if self.rising else g[:, ::-1]])


def find_worst_case(
    rule: Rule,
    n: int,
    q: float,
    scale: Scale,
    kind: str = "gap",
    *,
    quiet: str = "any",
    participation: Sequence[tuple[float, float]] | None = None,
    warm: Iterable[Structure] = (),
    screened: int | None = None,
    followed: int = 4,
    rng: np.random.Generator | None = None,
) -> WorstCase:
    """Find the structure with the largest regret.

    Parameters
    ----------
    rule
        Name of a method, or a callable from (K, m) counts to K ratings.
    n
        Number of people.
    q
        Least participation, which the aggregator is told and the adversary must respect.
    scale
        The rating values.
    kind
        ``gap`` or ``excess``.
    quiet
        Who may respond less often under the adversary: ``any``, ``low``, ``high`` or ``middle``.
    participation
        Instead of [q, 1], one pair (lo, hi) per rating that the adversary must respect.
    warm
        Further structures to start from, such as the worst case of a neighbouring q.
    screened
        How many random structures are evaluated, in batches; by default 256, and fewer where there
        are so many histograms that this step would take the longest.
    followed
        From how many of the best of those to climb, besides the structures known to be bad.
    rng
        Generator of the random structures.

    Returns
    -------
    WorstCase
        The largest regret reached from many starts. Every value is exact. That no structure is
        worse is certified for two ratings by :func:`unheard.game.minimax.solve_minimax`; on longer
        scales it is a search.
    """
    regret_kind = check_kind(kind)
    answers = evaluate_rule(rule, list_outcomes(n, scale.m).seen, n, q, scale)
    regret = ExactRegret(answers, n, scale, regret_kind)
    space = _space(scale.m, q, quiet, participation)
    if screened is None:
        screened = min(256, max(48, _SCREENED_CELLS // len(answers)))
    starts = _starts(
        regret,
        space,
        (*build_bad_structures(n, q, scale.m), *warm),
        screened,
        followed,
        rng or np.random.default_rng(0),
    )
    best, value = _climb(regret, space, starts)
    return WorstCase(
        rule_name(rule),
        regret_kind,
        n,
        q,
        value,
        _structure(space, best),
        scale.width**2 * float(regret_lower_bound(n, q)),
        len(starts),
    )


def find_worst_cases(
    rule: Rule, n: int, qs: Iterable[float], scale: Scale, kind: str = "gap", quiet: str = "any"
) -> Iterator[WorstCase]:
    """Find the worst case at each q, starting from that of the q before."""
    before: tuple[Structure, ...] = ()
    for q in qs:
        found = find_worst_case(
            rule,
            n,
            q,
            scale,
            kind,
            quiet=quiet,
            warm=before,
            screened=0 if before else None,
        )
        before = (found.structure,)
        yield found


def build_bad_structures(n: int, q: float, m: int) -> tuple[Structure, ...]:
    """Build structures that are worst for some aggregator of the paper."""
    a = float(bea_a_star(n, q))
    inner = (0.0,) * (m - 2)
    halves = (0.5, *inner, 0.5)
    root = float(np.sqrt(q))
    return (
        *build_lemma_pair(a, q, m),
        *build_asymptotic_pair(q, m),
        *build_lemma_pair(1 / (1 + root), q, m),
        Structure(halves, (q,) * m),
        Structure(halves, (1.0,) * m),
    )


def _space(
    m: int, q: float, quiet: str, participation: Sequence[tuple[float, float]] | None
) -> _Types | _Ordered:
    if participation is not None:
        assumption = Assumption.box(*zip(*participation, strict=True))
        assumption.check_fits(m, 1)
        return _Types(np.array(assumption.lo), np.array(assumption.hi))
    Assumption.bounded(q, quiet)  # checks both
    lo, hi = np.full(m, q), np.ones(m)
    if quiet == "middle":
        lo[[0, -1]] = 1.0
    if quiet in ("low", "high"):
        return _Ordered(lo, hi, rising=quiet == "low")
    return _Types(lo, hi)


def _starts(
    regret: ExactRegret,
    space: _Types | _Ordered,
    known: Iterable[Structure],
    screened: int,
    followed: int,
    rng: np.random.Generator,
) -> Floats:
    points = np.array([space.point(structure) for structure in known])
    random = space.draw(screened, rng)
    if not screened:
        return points
    batch = max(1, _BATCH_CELLS // len(regret.log_ways))
    values = np.concatenate(
        [regret.value(space.cells(random[i : i + batch])) for i in range(0, screened, batch)]
    )
    return np.concatenate([points, random[np.argsort(values)[-followed:]]])


def _climb(regret: ExactRegret, space: _Types | _Ordered, starts: Floats) -> tuple[Floats, float]:
    """Climb from every start and return the best point reached, with its value."""
    best, best_value = starts[0], -np.inf
    constraints: list[Any] = [
        {"type": "eq", "fun": lambda x: space.equality @ x - 1, "jac": lambda _: space.equality},
        {"type": "ineq", "fun": lambda x: space.inequality @ x, "jac": lambda _: space.inequality},
    ]
    lows, highs = np.array(space.bounds).T
    values = regret.value(space.cells(starts))
    unit = max(float(values.max()), 1e-12)

    def downhill(x: Floats) -> tuple[float, Floats]:
        point = np.clip(x, lows, highs)[None, :]
        value, slope = regret.value_and_slope(space.cells(point))
        return -float(value[0]) / unit, -space.pull(point, slope)[0] / unit

    # The best starts come first; one far below the best has never won.
    order = np.argsort(-values)
    for start in starts[order[values[order] >= _HOPELESS * values.max()]]:
        found = minimize(
            downhill,
            start,
            jac=True,
            method="SLSQP",
            bounds=space.bounds,
            constraints=constraints[: 1 + bool(len(space.inequality))],
            options={"ftol": 1e-12, "maxiter": 200},
        )
        point = _feasible(space, found.x, lows, highs)
        value = float(regret.value(space.cells(point[None, :]))[0])
        if value > best_value:
            best, best_value = point, value
    return best, best_value


def _feasible(space: _Types | _Ordered, x: Floats, lows: Floats, highs: Floats) -> Floats:
    """Remove rounding from a solver's answer, so that it is a valid structure."""
    point = np.clip(x, lows, highs)
    shares = space.equality[0] > 0
    point[shares & (point < 1e-12)] = 0.0
    point[shares] /= point[shares].sum()
    if isinstance(space, _Ordered):
        g = np.sort(point[space.m :])
        point[space.m :] = g if space.rising else g[::-1]
    return point


def _structure(space: _Types | _Ordered, point: Floats) -> Structure:
    cells = space.cells(point[None, :])[0]
    seen, p = cells[: space.m], cells[: space.m] + cells[space.m :]
    # The participation of a rating with p = 0 does not matter.
    g = np.divide(seen, p, out=space.hi.copy(), where=p > 0)
    return Structure(p, np.clip(g, space.lo, space.hi))
