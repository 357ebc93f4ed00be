"""Regret of an aggregator against one information structure: exact or by simulation.

There are two definitions. ``gap``: E[(f - xbar)**2], where xbar is the mean of all n ratings, seen
or not; the proofs and figures of [GKL25] use it. ``excess``: E[(f - mu)**2] - E[(xbar - mu)**2],
as in its introduction.

Exact: let pi_r = p_r g_r and o_r = p_r (1 - g_r) be the probabilities to be seen and unseen with
rating r, D the sum of the o_r, and e the error f(h) - (sum of the ratings seen)/n. Given a
histogram h the n_u unseen are multinomial, and summing over them leaves

    gap    = E[e**2] - 2 M1 E[e n_u/n]/D + M1**2 (1 - 1/n) + M2/n,   M_k = sum of v_r**k o_r,
    excess = E[f**2] - 2 mu E[f] + mu**2 (1 + 1/n) - (sum of v_r**2 p_r)/n,

with expectations over the multinomial h. Both are polynomials in the cells (pi, o); the search for
the worst case and its certificate build on that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from unheard.formulas.operations import Floats
from unheard.game.outcomes import GameError, list_outcomes
from unheard.game.rules import Rule, evaluate_rule
from unheard.game.structures import Structure
from unheard.model.scale import Scale
from unheard.options.choices import RegretKind

KINDS: tuple[RegretKind, ...] = get_args(RegretKind)

_MOST_PEOPLE = 2**53
"""Counts beyond this are no longer exact."""

_BLOCK_CELLS = 2**20
"""Counts drawn at a time."""

_FLOOR = 1e-100
"""Stands for an empty cell: its powers vanish, and a slope at it is still exact."""

_SMALLEST_LOG = -600.0
"""Smaller log-probabilities are raised to this: arithmetic with denormal numbers is slow."""


def check_kind(kind: str) -> RegretKind:
    """Return the kind of regret, or raise unless it is one."""
    for known in KINDS:
        if kind == known:
            return known
    raise GameError(
        "kind",
        problem="{argument} must be 'gap' or 'excess'",
        value=kind,
        hint="Use {kind:gap}, as the paper does",
    )


class ExactRegret:
    """The regret of one aggregator for n people, as a function of the structure.

    Parameters
    ----------
    answers
        The aggregator's answer to each histogram of ``list_outcomes(n, m)``.
    n
        Number of people.
    scale
        The rating values.
    kind
        ``gap`` or ``excess``.
    """

    def __init__(self, answers: Floats, n: int, scale: Scale, kind: RegretKind) -> None:
        table = list_outcomes(n, scale.m)
        self.n, self.kind, self.unit = n, kind, scale.width**2
        # On the scale from 0 to 1 nothing cancels; squared widths come back at the end.
        self.values = (np.array(scale.values) - scale.lowest) / scale.width
        self.log_ways = table.log_ways
        self.cells = np.column_stack([table.seen, table.unseen])
        guess = (answers - scale.lowest) / scale.width
        if kind == "gap":
            error = guess - table.seen @ self.values / n
            self.parts = np.stack([error**2, error * table.unseen / n])
        else:
            self.parts = np.stack([guess**2, guess])

    def value(self, cells: Floats) -> Floats:
        """Regret for a batch of structures, given by their cells, shape (B, 2m)."""
        return self._terms(cells, slope=False)[0]

    def value_and_slope(self, cells: Floats) -> tuple[Floats, Floats]:
        """Regret and its derivative by each cell, shapes (B,) and (B, 2m)."""
        return self._terms(cells, slope=True)

    def _terms(self, cells: Floats, slope: bool) -> tuple[Floats, Floats]:
        m = len(self.values)
        seen, unseen = cells[:, :m], cells[:, m:]
        outcome = np.maximum(np.column_stack([seen, unseen.sum(axis=1)]), _FLOOR)
        log_chance = self.log_ways[:, None] + self.cells @ np.log(outcome).T
        chance = np.exp(np.maximum(log_chance, _SMALLEST_LOG))
        first, second = self.parts @ chance
        # Derivatives of both expectations by each of the m + 1 outcomes, shape (m + 1, B).
        first_by, second_by = (
            (self.cells.T @ (part[:, None] * chance)) / outcome.T if slope else np.zeros((m + 1, 1))
            for part in self.parts
        )
        put_together = self._gap if self.kind == "gap" else self._excess
        value, by_seen, by_unseen = put_together(
            cells, outcome[:, -1], first, second, first_by, second_by
        )
        return self.unit * value, self.unit * np.column_stack([by_seen, by_unseen])

    def _gap(
        self,
        cells: Floats,
        unseen_total: Floats,
        first: Floats,
        second: Floats,
        first_by: Floats,
        second_by: Floats,
    ) -> tuple[Floats, Floats, Floats]:
        v, n = self.values, self.n
        unseen = cells[:, len(v) :]
        m_1, m_2 = unseen @ v, unseen @ v**2
        ratio = second / unseen_total
        value = first - 2 * m_1 * ratio + m_1**2 * (1 - 1 / n) + m_2 / n
        by_seen = first_by[:-1] - 2 * m_1 * second_by[:-1] / unseen_total
        by_unseen_total = first_by[-1] - 2 * m_1 * (second_by[-1] - ratio) / unseen_total
        by_unseen = (
            by_unseen_total[:, None] + np.outer(2 * m_1 * (1 - 1 / n) - 2 * ratio, v) + v**2 / n
        )
        return value, by_seen.T, by_unseen

    def _excess(
        self,
        cells: Floats,
        unseen_total: Floats,
        first: Floats,
        second: Floats,
        first_by: Floats,
        second_by: Floats,
    ) -> tuple[Floats, Floats, Floats]:
        v, n = self.values, self.n
        p = cells[:, : len(v)] + cells[:, len(v) :]
        mu = p @ v
        value = first - 2 * mu * second + mu**2 * (1 + 1 / n) - p @ v**2 / n
        by_p = np.outer(2 * mu * (1 + 1 / n) - 2 * second, v) - v**2 / n
        by_outcome = (first_by - 2 * mu * second_by).T
        return value, by_outcome[:, :-1] + by_p, by_outcome[:, -1:] + by_p


def compute_regret(
    rule: Rule, structure: Structure, n: int, q: float, scale: Scale, kind: str = "gap"
) -> float:
    """Return the regret of an aggregator against one structure, by the sum over all histograms.

    Parameters
    ----------
    rule
        Name of a method, or a callable from (K, m) counts to K ratings.
    structure
        The shares of ratings, and the probability of responding with each.
    n
        Number of people.
    q
        Least participation that the aggregator is told.
    scale
        The rating values.
    kind
        ``gap`` or ``excess``.
    """
    answers = evaluate_rule(rule, list_outcomes(n, scale.m).seen, n, q, scale)
    regret = ExactRegret(answers, n, scale, check_kind(kind))
    return float(regret.value(structure.cells()[None, :])[0])


@dataclass(frozen=True)
class Simulated:
    """A regret by Monte Carlo.

    Attributes
    ----------
    regret, standard_error
        Mean over the draws and its standard error.
    draws
        How many.
    """

    regret: float
    standard_error: float
    draws: int


def simulate_regret(
    rule: Rule,
    structure: Structure,
    n: int,
    q: float,
    scale: Scale,
    kind: str = "gap",
    *,
    rng: np.random.Generator,
    draws: int = 100_000,
) -> Simulated:
    """Estimate the regret against one structure by simulation, for any n up to 2**53 and any m."""
    if n > _MOST_PEOPLE:
        raise GameError(
            "n",
            problem="{argument} must be at most {most} to simulate",
            value=n,
            hint="Use a smaller {argument}",
            most=f"{_MOST_PEOPLE:,}",
        )
    check_kind(kind)
    values, mu = np.array(scale.values), structure.mean(scale)
    losses = np.empty(draws)
    block = max(1, _BLOCK_CELLS // scale.m)
    for start in range(0, draws, block):
        part = losses[start : start + block]
        seen, unseen = structure.draw_histograms(n, len(part), rng)
        mean_of_all = (seen + unseen) @ values / n
        answers = evaluate_rule(rule, seen.astype(np.float64), n, q, scale)
        if kind == "gap":
            part[:] = (answers - mean_of_all) ** 2
        else:
            part[:] = (answers - mu) ** 2 - (mean_of_all - mu) ** 2
    spread = float(losses.std(ddof=1) / np.sqrt(draws))
    return Simulated(float(losses.mean()), spread, draws)
