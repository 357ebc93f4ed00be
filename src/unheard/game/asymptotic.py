"""Regret as the number of people grows: sampling error vanishes, and only bias remains.

In the limit the shares of ratings seen are known exactly, so the regret of either kind is
(f - mu)**2. For the box [q, 1] and width W of the scale

    paa, bea, midpoint, minimax, and the lower bound on every aggregator:
              (W (1-q) / (2 (1+q)))**2               [GKL25, proposition 4.3]
    average:  (W (1-sqrt(q)) / (1+sqrt(q)))**2

and the worst case of any other aggregator is found by a search. (The midpoint of the bounds is the
best answer to n and the shares, so no aggregator has a smaller worst case, and BEA attains it.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from unheard.formulas.operations import Floats
from unheard.game.rules import Rule, check_answers, rule_name, state_assumption
from unheard.game.structures import Structure, build_asymptotic_pair, build_lemma_pair
from unheard.model.assumption import Assumption
from unheard.model.question import build_question
from unheard.model.scale import Scale

_MANY = 1e9


@dataclass(frozen=True)
class Limit:
    """The worst case as n grows.

    Attributes
    ----------
    method
        The aggregator.
    q
        Least participation.
    regret
        Its largest regret.
    structure
        A structure that attains it.
    lower_bound
        No aggregator does better.
    closed_form
        Whether it is a formula, or the best that a search found.
    """

    method: str
    q: float
    regret: float
    structure: Structure
    lower_bound: float
    closed_form: bool


def find_asymptotic_worst_case(
    rule: Rule, q: float, scale: Scale, rng: np.random.Generator | None = None
) -> Limit:
    """Return the largest regret of an aggregator as n grows.

    Parameters
    ----------
    rule
        Name of a method, or a callable from (K, m) counts to K ratings, which gets the counts of
        10**9 people.
    q
        Least participation.
    scale
        The rating values.
    rng
        Source of the search's random starts.
    """
    Assumption.bounded(q)  # checks q
    bound = (scale.width * (1 - q) / (2 * (1 + q))) ** 2
    if rule in ("paa", "bea", "midpoint", "minimax"):
        return Limit(str(rule), q, bound, build_asymptotic_pair(q, scale.m)[0], bound, True)
    if rule == "average":
        root = float(np.sqrt(q))
        regret = (scale.width * (1 - root) / (1 + root)) ** 2
        # A share of 1/(1 + sqrt q) at the end that responds less biases the average most.
        return Limit(
            "average", q, regret, build_lemma_pair(1 / (1 + root), q, scale.m)[0], bound, True
        )
    regret, structure = _search(rule, q, scale, rng or np.random.default_rng(0))
    return Limit(rule_name(rule), q, regret, structure, bound, False)


def _search(
    rule: Rule, q: float, scale: Scale, rng: np.random.Generator
) -> tuple[float, Structure]:
    """Climb from the best of many structures, given as shares of 2m types as in the adversary."""
    m, values = scale.m, np.array(scale.values)
    answer = _limit_answers(rule, q, scale)

    def regrets(points: Floats) -> Floats:
        eager, reluctant = points[:, :m], points[:, m:]
        return np.asarray((answer(eager + q * reluctant) - (eager + reluctant) @ values) ** 2)

    known = [*build_asymptotic_pair(q, m), *build_lemma_pair(float(1 / (1 + np.sqrt(q))), q, m)]
    starts = [_shares(structure, q) for structure in known]
    random = rng.dirichlet(np.full(2 * m, 0.3), size=20_000)
    points = np.vstack([*starts, random[np.argsort(regrets(random))[-4:]]])
    best = points[int(np.argmax(regrets(points)))]

    def projected(x: Any) -> Floats:
        inside = np.clip(x, 0, 1)
        return np.asarray(inside / inside.sum())[None, :]

    def downhill(x: Floats) -> float:
        return -float(regrets(projected(x))[0])

    for start in points:
        found = minimize(
            downhill,
            start.tolist(),
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 2000},
        )
        point = projected(found.x)[0]
        best = max((best, point), key=lambda x: float(regrets(x[None, :])[0]))
    p = best[:m] + best[m:]
    g = np.divide(best[:m] + q * best[m:], p, out=np.ones(m), where=p > 0)
    return float(regrets(best[None, :])[0]), Structure(p, np.clip(g, q, 1))


def _shares(structure: Structure, q: float) -> Floats:
    p, g = np.array(structure.p), np.array(structure.g)
    reluctant = p * (1 - g) / (1 - q) if q < 1 else np.zeros(len(p))
    return np.concatenate([p - reluctant, reluctant])


def _limit_answers(rule: Rule, q: float, scale: Scale) -> Callable[[Floats], Floats]:
    """Return the aggregator as a function of the shares of people seen with each rating."""
    if callable(rule):
        return lambda seen: check_answers(rule(seen * _MANY), seen, scale, rule_name(rule))
    assumption = state_assumption(rule, _MANY, q)

    def named(seen: Floats) -> Floats:
        question = build_question(
            seen * _MANY, **assumption, scale=scale, level=None, effective=_MANY
        )
        return np.asarray(question.answer_rows([rule])[0].estimate)

    return named
