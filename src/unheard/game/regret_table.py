"""Regrets of several methods at several q."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unheard.errors import AssumptionError, Given, MethodError, OptionError
from unheard.formulas.bea import regret_lower_bound
from unheard.formulas.estimators import ESTIMATORS
from unheard.game.adversary import build_bad_structures, find_worst_cases
from unheard.game.asymptotic import find_asymptotic_worst_case
from unheard.game.outcomes import count_outcomes
from unheard.game.regret import check_kind, compute_regret, simulate_regret
from unheard.game.structures import Structure
from unheard.model.results import Result
from unheard.model.scale import Scale
from unheard.options.unknown import check_choice


@dataclass(frozen=True)
class Regret:
    """The regret of a method at one q.

    Attributes
    ----------
    method, kind, q
        The method, the kind of regret, and the least participation.
    n, m
        Number of people, None for infinitely many, and number of ratings.
    regret
        The regret in the structure, which is the worst one unless it was given.
    p, g
        The structure: the share of people with each rating, and their participation.
    lower_bound
        No aggregator's worst ``gap`` is smaller than this.
    how
        How the regret was computed.
    standard_error
        Standard error of a simulation; None if it is exact.
    """

    method: str
    kind: str
    n: int | None
    m: int
    q: float
    regret: float
    p: tuple[float, ...]
    g: tuple[float, ...]
    lower_bound: float
    how: str
    standard_error: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Regrets(Result):
    """Regrets of one or several methods, each at one or several q.

    Attributes
    ----------
    cases
        One for each method and q.
    scale
        The rating values.
    """

    cases: tuple[Regret, ...]
    scale: Scale


class RegretTable:
    """Finds the regrets of several methods at several q, one at a time.

    Parameters
    ----------
    n
        Number of people, or infinity.
    scale, kind, quiet
        As in :func:`unheard.game.adversary.find_worst_case`.
    """

    def __init__(self, n: float, scale: Scale, kind: str, quiet: str) -> None:
        self.n, self.scale, self.kind, self.quiet = n, scale, check_kind(kind), quiet

    def find_worst(self, methods: Sequence[str], qs: Sequence[float]) -> Iterator[Regret]:
        """Find the worst case of each method at each q."""
        if math.isinf(self.n):
            if self.quiet != "any":
                raise OptionError(
                    "quiet",
                    problem="{argument} does not apply to an infinite {n}",
                    value=self.quiet,
                    hint="Use a finite {n}, or leave {argument} out",
                )
            for method in methods:
                for q in qs:
                    limit = find_asymptotic_worst_case(method, q, self.scale)
                    how = "closed form" if limit.closed_form else "search"
                    yield self._row(
                        method, q, limit.regret, limit.structure, limit.lower_bound, how
                    )
            return
        size = count_outcomes(int(self.n), self.scale.m)
        for method in methods:
            for found in find_worst_cases(
                method, int(self.n), qs, self.scale, self.kind, quiet=self.quiet
            ):
                how = f"search, each value an exact sum over {size:,} histograms"
                yield self._row(
                    method, found.q, found.regret, found.structure, found.lower_bound, how
                )

    def simulate(
        self, methods: Sequence[str], qs: Sequence[float], draws: int, seed: int
    ) -> Iterator[Regret]:
        """Simulate the structures known to be bad, and return the worst of them."""
        n = self._finite()
        for method in methods:
            for q in qs:
                rows = [
                    self._simulate(method, q, structure, draws, seed)
                    for structure in build_bad_structures(n, q, self.scale.m)
                ]
                yield max(rows, key=lambda row: row.regret)

    def evaluate_structure(
        self,
        methods: Sequence[str],
        qs: Sequence[float],
        structure: Structure,
        draws: int | None,
        seed: int,
    ) -> Iterator[Regret]:
        """Compute the regret in one structure: exactly, or by simulation if draws are given."""
        if structure.m != self.scale.m:
            raise OptionError(
                "p",
                problem="{argument} must have one entry for each of the {m} ratings on the scale",
                value=structure.m,
                hint="Give one share per rating",
                m=self.scale.m,
            )
        n = self._finite()
        for method in methods:
            for q in qs:
                if draws is not None:
                    yield self._simulate(method, q, structure, draws, seed)
                else:
                    value = compute_regret(method, structure, n, q, self.scale, self.kind)
                    how = f"exact sum over {count_outcomes(n, self.scale.m):,} histograms"
                    yield self._row(method, q, value, structure, self._lower_bound(q), how)

    def _simulate(
        self, method: str, q: float, structure: Structure, draws: int, seed: int
    ) -> Regret:
        found = simulate_regret(
            method,
            structure,
            self._finite(),
            q,
            self.scale,
            self.kind,
            rng=np.random.default_rng(seed),
            draws=draws,
        )
        row = self._row(
            method, q, found.regret, structure, self._lower_bound(q), f"simulation, {draws:,} draws"
        )
        return replace(row, standard_error=found.standard_error)

    def _finite(self) -> int:
        if math.isinf(self.n):
            raise OptionError(
                "n",
                problem="{argument} must be finite to simulate, and for given {p} and {g}",
                value=Given("inf"),
                hint="Use a whole number",
                examples=(1000,),
            )
        return int(self.n)

    def _lower_bound(self, q: float) -> float:

        return self.scale.width**2 * float(regret_lower_bound(self._finite(), q))

    def _row(
        self, method: str, q: float, value: float, structure: Structure, bound: float, how: str
    ) -> Regret:
        n = None if math.isinf(self.n) else int(self.n)
        p, g = structure.p, structure.g
        return Regret(method, self.kind, n, self.scale.m, q, value, p, g, bound, how)


def choose_scale(m: int | None, scale: Scale | None, default: int) -> Scale:
    """Return the scale that was given, or 1 to ``m``, by default to ``default``."""
    if scale is None:
        return Scale.points(m or default)
    if m is not None:
        raise OptionError(
            "m", problem="{argument} and {scale} cannot be combined", hint="Give one of them"
        )
    return scale


def check_people(n: float, infinite: str) -> float:
    """Return the number of people, or raise; ``infinite`` is how infinitely many are written."""
    if not (n >= 1 and (n == math.inf or float(n).is_integer())):
        raise OptionError(
            "n",
            problem="{argument} must be a whole number, 1 or more, or {infinite}",
            value=n,
            infinite=infinite,
        )
    return n if n == math.inf else int(n)


def check_methods(methods: Sequence[str]) -> list[str]:
    """Return the names of methods, or raise unless all of them exist."""
    for name in methods:
        check_choice("method", name, ESTIMATORS, MethodError)
    return list(methods)


def check_ratios(qs: Sequence[float]) -> list[float]:
    """Return values of q, or raise unless all of them are in (0, 1]."""
    for q in qs:
        if not 0 < q <= 1:
            raise AssumptionError(
                "q",
                problem="{argument} must be in (0, 1]",
                value=q,
                hint="Use a number",
                examples=(0.3,),
            )
    return list(qs)
