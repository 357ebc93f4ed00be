"""Information structures: the shares of ratings, and the probability of responding with each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unheard.errors import Given, InputError
from unheard.formulas.operations import Floats
from unheard.model.scale import Scale


class StructureError(InputError):
    """Not an information structure."""


@dataclass(frozen=True)
class Structure:
    """A pair (p, g) [GKL25, section 1.1].

    Attributes
    ----------
    p
        Share of the people with each rating; adds up to 1.
    g
        Probability that somebody with each rating responds.
    """

    p: tuple[float, ...]
    g: tuple[float, ...]

    def __init__(self, p: Sequence[float], g: Sequence[float]) -> None:
        shares, rates = np.asarray(p, np.float64), np.asarray(g, np.float64)
        if shares.ndim != 1 or shares.shape != rates.shape or len(shares) < 2:
            raise StructureError(
                "p",
                problem="{argument} and {g} must have one entry for each of at least two ratings",
                value=Given(f"shapes {shares.shape} and {rates.shape}"),
                hint="Give one number per rating in both",
            )
        if not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
            raise StructureError(
                "p",
                problem="{argument} must be shares that add up to 1",
                value=p,
                hint="Divide each by their sum",
            )
        if not ((rates >= 0) & (rates <= 1)).all():
            raise StructureError(
                "g",
                problem="{argument} must be probabilities between 0 and 1",
                value=g,
                hint="Give the probability of responding, rating by rating",
            )
        object.__setattr__(self, "p", tuple(map(float, shares / shares.sum())))
        object.__setattr__(self, "g", tuple(map(float, rates)))

    @property
    def m(self) -> int:
        """Number of ratings."""
        return len(self.p)

    def mean(self, scale: Scale) -> float:
        """Mean rating of the people."""
        return float(np.dot(scale.values, self.p))

    def cells(self) -> Floats:
        """Probability of each outcome for one person: seen with rating r, then unseen with it."""
        p, g = np.array(self.p), np.array(self.g)
        return np.concatenate([p * g, p * (1 - g)])

    def draw_histograms(
        self, n: int, draws: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw n people: counts of the ratings seen and unseen, shape (draws, m) each."""
        counts = rng.multinomial(n, self.cells(), size=draws)
        return counts[:, : self.m], counts[:, self.m :]

    def draw_ratings(
        self, n: int, scale: Scale, rng: np.random.Generator
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Draw n people one by one: their ratings, and whether each is seen."""
        held = rng.choice(self.m, size=n, p=self.p)
        return np.array(scale.values)[held], rng.random(n) < np.array(self.g)[held]


def build_lemma_pair(a: float, q: float, m: int) -> tuple[Structure, Structure]:
    """Build the pair of [GKL25, lemma 3.2]: a share a at the end that responds less often."""
    inner, always = (0.0,) * (m - 2), (1.0,) * (m - 1)
    return (
        Structure((a, *inner, 1 - a), (q, *always)),
        Structure((1 - a, *inner, a), (*always, q)),
    )


def build_asymptotic_pair(q: float, m: int) -> tuple[Structure, Structure]:
    """Build the worst pair for PAA as n grows [GKL25, proposition 4.3]."""
    return build_lemma_pair(1 / (1 + q), q, m)
