"""The optimal aggregator for two ratings, with a certificate, and its extension to any scale.

The game: an aggregator f (one number per histogram) plays against a structure. The regret is convex
in f and linear in mixtures of structures, so the game has a value. For a finite set of structures
with weights the best f is the posterior mean, and its average regret is a lower bound on the worst
case of every aggregator. :mod:`unheard.game.bernstein` bounds the worst case of that f from above,
over every structure. The structures it finds join the set and the weights are solved again, until
the two bounds meet.

Proved: the value of the game lies between ``lower`` and ``upper``, and the table attains ``upper``,
up to floating point. Not proved: that the table is the only optimum.

Any other scale: replace each rating x by a random end of the scale with mean x. That is a game
with two ratings and participation still within [q, 1]; averaging the answers of the binary optimum
over the replacement only lowers the ``gap`` (Jensen). So the value on any scale is the binary one
times the squared width. ``excess`` has no such reduction: replacing ratings raises the variance
that it subtracts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import minimize

from unheard.formulas.bea import regret_lower_bound
from unheard.formulas.operations import Floats, blocks
from unheard.game.adversary import build_bad_structures
from unheard.game.bernstein import Certificate, certify_worst_case
from unheard.game.outcomes import GameError, list_outcomes, tabulate_binomial
from unheard.game.regret import check_kind
from unheard.game.rules import Rule, evaluate_rule
from unheard.game.structures import Structure
from unheard.model.assumption import Assumption
from unheard.model.results import Result
from unheard.model.scale import Scale
from unheard.options.choices import RegretKind

REACH = 200
"""Largest n for which the game of kind ``gap`` is solved."""

EXCESS_REACH = 50
"""Largest n for ``excess``, whose adversary mixes many more structures."""

_ROUNDS = 60


@dataclass(frozen=True, eq=False, repr=False)
class Minimax(Result):
    """The solved game.

    Attributes
    ----------
    n, q, kind
        Number of people, least participation, kind of regret.
    scale
        The rating values.
    lower, upper
        The certified bracket of the smallest worst-case regret of any aggregator.
    table
        Shape (n+1, n+1): the optimal answer on {0, 1} for n_low and n_high ratings seen.
    bea, average
        Certified upper bounds on the worst case of these two, on the ends of the scale.
    lower_bound
        The lower bound of [GKL25, corollary 3.3], which is one for ``gap``.
    support
        The structures that the adversary mixes with a weight above 0.001, each standing for itself
        and its mirror image. They are about the two :attr:`ratings`.
    """

    n: int
    q: float
    kind: str
    scale: Scale
    lower: float
    upper: float
    table: Floats
    bea: float
    average: float
    lower_bound: float
    support: tuple[tuple[float, Structure], ...]

    @property
    def ratings(self) -> tuple[float, float]:
        """The ratings that p and g of the support refer to: the two ends of the scale."""
        return self.scale.lowest, self.scale.highest

    @property
    def gap(self) -> float:
        """Relative width of the bracket."""
        return (self.upper - self.lower) / self.lower if self.lower > 0 else 0.0

    @property
    def bea_is_optimal(self) -> bool:
        """Whether it is proved that no aggregator beats BEA by more than 0.1%."""
        return self.bea <= self.lower * 1.001

    def answer(self, seen: Floats) -> Floats:
        """Return the optimal aggregator's answer to (K, m) counts on the scale."""
        return extend_to_scale(self.table, seen, self.scale)


def solve_minimax(
    n: int, q: float, scale: Scale | None = None, kind: str = "gap", tolerance: float = 5e-4
) -> Minimax:
    """Solve the game for n people.

    Parameters
    ----------
    n
        Number of people, 1 to :data:`REACH` (``excess``: :data:`EXCESS_REACH`).
    q
        Least participation.
    scale
        The rating values; 1, 2 if left out.
    kind
        ``gap``, or ``excess`` for two ratings.
    tolerance
        Relative width of the bracket at which to stop.
    """
    scale = scale or Scale.points(2)
    regret_kind = check_kind(kind)
    Assumption.bounded(q)  # checks q
    reach = REACH if regret_kind == "gap" else EXCESS_REACH
    if not 1 <= n <= reach:
        raise GameError(
            "n",
            problem="{argument} must be from 1 to {reach} for {kind:{regret}}",
            value=n,
            hint="Use a smaller {argument}",
            reach=reach,
            regret=regret_kind,
        )
    if regret_kind == "excess" and scale.m > 2:
        raise GameError(
            "kind",
            problem="{kind:excess} requires a scale of two ratings",
            value=scale.m,
            hint="Use {kind:gap}, or a scale of two ratings",
        )
    binary = _solve(n, float(q), regret_kind, tolerance)
    unit = scale.width**2
    return Minimax(
        n,
        float(q),
        regret_kind,
        scale,
        unit * binary.lower,
        unit * binary.upper,
        binary.table,
        unit * certify_rule("bea", n, q, regret_kind, tolerance / 4).upper,
        unit * certify_rule("average", n, q, regret_kind, tolerance / 4).upper,
        unit * float(regret_lower_bound(n, q)),
        binary.support,
    )


def certify_rule(
    rule: Rule, n: int, q: float, kind: RegretKind = "gap", tolerance: float = 1e-4
) -> Certificate:
    """Bound an aggregator's worst case on {0, 1} from both sides, over every structure."""
    seen = list_outcomes(n, 2).seen
    return certify_worst_case(
        _as_table(evaluate_rule(rule, seen, n, q, Scale((0, 1))), n), q, kind, tolerance
    )


@dataclass(frozen=True, eq=False)
class _Solved:
    lower: float
    upper: float
    table: Floats
    support: tuple[tuple[float, Structure], ...]


@lru_cache(maxsize=512)
def _solve(n: int, q: float, kind: RegretKind, tolerance: float) -> _Solved:
    if q == 1:
        # Everybody is seen; the answers to other histograms never matter.
        bea = evaluate_rule("bea", list_outcomes(n, 2).seen, n, q, Scale((0, 1)))
        return _Solved(0.0, 0.0, _as_table(bea, n), ())
    mixture = _Mixture(n, kind, tolerance / 20)
    for structure in _first_structures(n, q):
        mixture.add(structure)
    weights = np.full(len(mixture.structures), 1 / len(mixture.structures))
    # The paper's bound holds whatever mixture the rounds below arrive at.
    lower = float(regret_lower_bound(n, q)) if kind == "gap" else -np.inf
    upper, table = np.inf, np.zeros((n + 1, n + 1))
    for _ in range(_ROUNDS):
        weights = mixture.best_weights(weights)
        answers = mixture.posterior_mean(weights)
        lower = max(lower, float(weights @ mixture.regrets(answers)))
        # A fine proof is expensive, so it waits until a rough one adds nothing.
        distance = (upper - lower) / abs(lower)
        fine = min(max(distance / 8, tolerance / 4), 2e-3)
        proof = certify_worst_case(_as_table(answers, n), q, kind, fine)
        if proof.upper < upper:
            upper, table = proof.upper, _as_table(answers, n)
        if upper - lower <= tolerance * abs(lower):
            break
        added = sum(mixture.add(structure) for structure in (proof.witness, *proof.peaks))
        if not added and fine <= tolerance / 4:
            break
        if added:
            weights = np.concatenate([weights * (1 - 1e-3), np.full(added, 1e-3 / added)])
    used = np.argsort(-weights)[: np.count_nonzero(weights > 1e-3)]
    support = tuple((float(weights[i]), mixture.structures[i]) for i in used)
    return _Solved(lower, upper, table, support)


def _first_structures(n: int, q: float) -> tuple[Structure, ...]:
    """Build the structures that the adversary usually mixes, and a scattering of others."""
    shares = np.linspace(0.05, 0.95, 7)
    voices = ((q, 1.0), (1.0, q), (q, q), (1.0, 1.0), ((1 + q) / 2, 1.0), ((1 + q) / 2, q))
    return (
        *build_bad_structures(n, q, 2),
        *(Structure((a, 1 - a), g) for a in shares.tolist() for g in voices),
    )


class _Mixture:
    """Structures that the adversary may mix, each together with its mirror image."""

    def __init__(self, n: int, kind: RegretKind, background: float) -> None:
        self.n, self.kind, self.background = n, kind, background
        table = list_outcomes(n, 2)
        low, high = table.seen.astype(np.int64).T
        place = np.zeros((n + 1, n + 1), np.int64)
        place[low, high] = np.arange(len(low))
        self.mirror = place[high, low]
        self.high, self.unseen, self.log_ways = table.seen[:, 1], table.unseen, table.log_ways
        self.outcomes = np.column_stack([table.seen, table.unseen])
        self.structures: list[Structure] = []
        self.log_chance = np.zeros((0, len(low)))
        self.chance = np.zeros((0, len(low)))
        self.target = np.zeros((0, len(low)))
        self.constant = np.zeros(0)
        self.mass = self.moment = self.target

    def add(self, structure: Structure) -> bool:
        """Add a structure unless it is there already; return whether it was added."""
        if structure.p[0] < structure.p[1]:
            structure = Structure(structure.p[::-1], structure.g[::-1])
        cells = structure.cells()
        if any(np.allclose(cells, old.cells(), rtol=0, atol=1e-7) for old in self.structures):
            return False
        unseen = cells[2] + cells[3]
        # The mean of the target given a histogram, and the variance that no answer removes.
        if self.kind == "gap":
            unseen_mean = cells[3] / unseen if unseen > 0 else 0.5
            target = (self.high + self.unseen * unseen_mean) / self.n
            constant = unseen * unseen_mean * (1 - unseen_mean) / self.n
        else:
            mu = structure.p[1]
            target = np.full(len(self.high), mu)
            constant = -mu * (1 - mu) / self.n
        outcome = np.maximum([cells[0], cells[1], unseen], 1e-100)
        log_chance = self.log_ways + self.outcomes @ np.log(outcome)
        self.structures.append(structure)
        self.log_chance = np.vstack([self.log_chance, log_chance])
        self.chance = np.vstack([self.chance, np.exp(log_chance)])
        self.target = np.vstack([self.target, target])
        self.constant = np.append(self.constant, constant)
        return True

    def posterior_mean(self, weights: Floats) -> Floats:
        """Return the best answers to a mixture of structures and their mirror images."""
        mass = weights @ self.mass
        return np.asarray((weights @ self.moment) / mass)

    def prepare(self) -> None:
        """Compute what every structure with its mirror image adds to the posterior.

        Probabilities are relative to the largest of them, histogram by histogram, so that they do
        not vanish where all are tiny.
        """
        mirrored = self.log_chance[:, self.mirror]
        largest = np.maximum(self.log_chance.max(axis=0), mirrored.max(axis=0))
        near, far = np.exp(self.log_chance - largest), np.exp(mirrored - largest)
        self.mass = near + far
        self.moment = near * self.target + far * (1 - self.target[:, self.mirror])

    def regrets(self, answers: Floats) -> Floats:
        """Return the regret of these answers against each structure."""
        return np.asarray((self.chance * (answers - self.target) ** 2).sum(axis=1) + self.constant)

    def best_weights(self, start: Floats) -> Floats:
        """Return the mixture with the largest regret of the best answers: a concave problem.

        Every structure keeps a small weight: without it, the answers where only that structure is
        likely would be arbitrary, and the adversary would go there next.
        """
        self.prepare()
        least = self.background / len(start)
        unit = float(np.abs(self.regrets(self.posterior_mean(start))).max())

        def downhill(weights: Floats) -> tuple[float, Floats]:
            weights = np.maximum(weights, least)
            # By the envelope theorem the slope is the regret against each structure.
            regrets = self.regrets(self.posterior_mean(weights))
            return -float(weights @ regrets) / unit, -regrets / unit

        constraint: Any = {
            "type": "eq",
            "fun": lambda w: w.sum() - 1,
            "jac": lambda w: np.ones((1, len(w))),
        }
        found = minimize(
            downhill,
            start,
            jac=True,
            method="SLSQP",
            bounds=[(least, 1)] * len(start),
            constraints=[constraint],
            options={"ftol": 1e-11, "maxiter": 300},
        )
        weights = np.maximum(found.x, least)
        return np.asarray(weights / weights.sum())


def extend_to_scale(table: Floats, seen: Floats, scale: Scale) -> Floats:
    """Answer (K, m) counts on any scale by the binary table.

    Each rating seen is replaced by a random end of the scale with the same mean; the answer is the
    exact average over the replacement, whose number of high ends is a sum of binomials.

    Parameters
    ----------
    table
        Shape (n+1, n+1): answers on {0, 1}.
    seen
        Shape (K, m): counts of ratings seen, at most n in each row.
    scale
        The rating values.
    """
    answers = np.empty(len(seen))
    for block in blocks(len(seen)):
        answers[block] = _extended_block(table, seen[block].astype(np.int64), scale)
    return scale.lowest + scale.width * answers


def _extended_block(table: Floats, seen: Any, scale: Scale) -> Floats:
    n = len(table) - 1
    share = (np.array(scale.values) - scale.lowest) / scale.width
    high = np.zeros((len(seen), n + 1))
    high[np.arange(len(seen)), seen[:, -1]] = 1.0
    people = np.arange(n + 1)
    for r in range(1, scale.m - 1):
        chance = tabulate_binomial(n, float(share[r]))[seen[:, r]]
        more = high * chance[:, :1]
        for extra in range(1, int(seen[:, r].max(initial=0)) + 1):
            more[:, extra:] += high[:, :-extra] * chance[:, extra : extra + 1]
        high = more
    low = np.clip(seen.sum(axis=1)[:, None] - people[None, :], 0, n)
    return np.asarray((high * table[low, people[None, :]]).sum(axis=1))


def _as_table(answers: Floats, n: int) -> Floats:
    """Lay answers to all binary histograms out by n_low and n_high."""
    low, high = list_outcomes(n, 2).seen.astype(np.int64).T
    table = np.full((n + 1, n + 1), 0.5)
    table[low, high] = answers
    return table
