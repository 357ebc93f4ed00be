"""Information structures: what people think, and how likely they are to say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unheard.errors import InputError
from unheard.formulas.operations import Floats
from unheard.model.scale import Scale


class StructureError(InputError):
    """An information structure that is none."""


@dataclass(frozen=True)
class Structure:
    """A pair (p, g) [GKL25, section 1.1].

    Attributes
    ----------
    p
        Share of the people with each rating; adds up to 1.
    g
        Probability that somebody with this rating reports it.
    """

    p: tuple[float, ...]
    g: tuple[float, ...]

    def __init__(self, p: Sequence[float], g: Sequence[float]) -> None:
        shares, voices = np.asarray(p, np.float64), np.asarray(g, np.float64)
        if shares.ndim != 1 or shares.shape != voices.shape or len(shares) < 2:
            raise StructureError(
                "structure",
                f"p of shape {shares.shape} and g of shape {voices.shape}",
                "Give one p and one g for each of at least two ratings",
            )
        if not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
            raise StructureError("p", f"{p!r} found", "Give shares that add up to 1")
        if not ((voices >= 0) & (voices <= 1)).all():
            raise StructureError("g", f"{g!r} found", "Give probabilities between 0 and 1")
        object.__setattr__(self, "p", tuple(map(float, shares / shares.sum())))
        object.__setattr__(self, "g", tuple(map(float, voices)))

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
        """Draw what n people hold: counts of ratings seen and unseen, shape (draws, m) each."""
        counts = rng.multinomial(n, self.cells(), size=draws)
        return counts[:, : self.m], counts[:, self.m :]

    def draw_ratings(
        self, n: int, scale: Scale, rng: np.random.Generator
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Draw n people one by one: their ratings, and whether each is seen."""
        held = rng.choice(self.m, size=n, p=self.p)
        return np.array(scale.values)[held], rng.random(n) < np.array(self.g)[held]


def build_lemma_pair(a: float, q: float, m: int) -> tuple[Structure, Structure]:
    """Return the two structures of [GKL25, lemma 3.2]: a at the quiet end, 1 - a at the other."""
    inner, loud = (0.0,) * (m - 2), (1.0,) * (m - 1)
    return (
        Structure((a, *inner, 1 - a), (q, *loud)),
        Structure((1 - a, *inner, a), (*loud, q)),
    )


def build_asymptotic_pair(q: float, m: int) -> tuple[Structure, Structure]:
    """Return the worst pair for PAA as n grows [GKL25, proposition 4.3]."""
    return build_lemma_pair(1 / (1 + q), q, m)
