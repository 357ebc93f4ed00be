"""A proved upper bound on the regret over every structure with two ratings.

On the scale {0, 1} a structure is a mixture of four types of people: low or high, each responding
always or with probability q. Fix the probabilities of being seen low and high. What remains is how
the unseen are divided, and in that the regret (``gap`` and ``excess`` alike) is a parabola that
opens upwards. So its maximum over all structures lies on a face where one of the four types is
absent: a triangle. Turning the scale over maps two of the four faces to the other two.

On a triangle the regret is a polynomial of degree n (``excess``: n + 1) in the shares of the three
types, and each of its Bernstein coefficients is the expected loss given the number of people of
each type. A polynomial never exceeds its largest Bernstein coefficient. Halving the triangle
(de Casteljau) brings the coefficients closer to the polynomial, quadratically in the diameter. The
search keeps halving the triangles whose largest coefficient still exceeds the best value found by
more than the tolerance. When none is left, the bound is proved, up to floating-point rounding, for
which :data:`ROUNDING` is added. Every step averages numbers of size one with weights that add up
to one, so errors grow no faster than n times the machine precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unheard.formulas.operations import Floats
from unheard.game.outcomes import GameError, tabulate_binomial
from unheard.game.structures import Structure
from unheard.options.choices import RegretKind

ROUNDING = 1e-12
"""Added to every certified bound, relative to the width of the scale squared."""

_NOTHING = 1e-150
_MOST_TRIANGLES = 2_000_000
_BATCH_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proved about the worst case of an aggregator on {0, 1}.

    Attributes
    ----------
    lower
        Regret at the witness.
    upper
        No structure has a larger regret.
    witness
        The worst structure found.
    peaks
        Structures of all triangles that were close to the bound.
    triangles
        How many triangles it took.
    """

    lower: float
    upper: float
    witness: Structure
    peaks: tuple[Structure, ...]
    triangles: int


def certify_worst_case(
    table: Floats, q: float, kind: RegretKind = "gap", tolerance: float = 1e-4
) -> Certificate:
    """Bound the regret of an aggregator on {0, 1} over every structure.

    Parameters
    ----------
    table
        Shape (n+1, n+1): the answer for n_low and n_high ratings seen; only the entries with
        n_low + n_high <= n count.
    q
        Least participation.
    kind
        ``gap`` or ``excess``.
    tolerance
        Relative distance between the two ends of the bracket at which to stop.
    """
    faces = [
        _Face(compute_coefficients(side, q, kind, high_quiet), high_quiet, turned)
        for turned, side in ((False, table), (True, 1 - table.T))
        for high_quiet in (False, True)
    ]
    # A rule that treats both ends alike needs one side only.
    if np.allclose(_inside(table), _inside(1 - table.T), rtol=0, atol=1e-15):
        faces = faces[:2]
    return _halve(faces, q, tolerance)


@dataclass(frozen=True, eq=False)
class _Face:
    coefficients: Floats
    high_quiet: bool
    turned: bool

    def structure(self, shares: Floats, q: float) -> Structure:
        """Turn shares of (low and eager, low and reluctant, high) into a structure."""
        eager, reluctant, high = np.clip(shares, 0, 1) / np.clip(shares, 0, 1).sum()
        low = eager + reluctant
        g_low = (eager + q * reluctant) / low if low > 0 else 1.0
        p, g = (low, high), (min(g_low, 1.0), q if self.high_quiet else 1.0)
        return Structure(p[::-1], g[::-1]) if self.turned else Structure(p, g)


def compute_coefficients(table: Floats, q: float, kind: RegretKind, high_quiet: bool) -> Floats:
    """Return the Bernstein coefficients on one face, as an array over (high, low and reluctant).

    The third index, low and eager, is the degree minus the other two; entries where it would be
    negative are zero.
    """
    n = len(table) - 1
    people = np.arange(n + 1)
    chance = tabulate_binomial(n, q)
    high = chance if high_quiet else np.eye(n + 1)
    share = people / n
    if kind == "gap":
        # (f - xbar)**2 given the number of high people, for every number of low ratings seen.
        loss = [high[k] @ (table[:, : n + 1].T - share[k]) ** 2 for k in people]
        return _over_low(loss, chance)
    square = _over_low([high[k] @ table.T**2 - share[k] ** 2 for k in people], chance)
    plain = _over_low([high[k] @ table.T - share[k] for k in people], chance)
    # One person more, whose rating stands for mu: average over which type that person is.
    k, j = np.meshgrid(np.arange(n + 2), np.arange(n + 2), indexing="ij")
    i = n + 1 - k - j
    if_low, if_high = np.zeros((2, n + 3, n + 3))
    if_low[1:-1, 1:-1], if_high[1:-1, 1:-1] = square, square - 2 * plain
    mixed = i * if_low[1:, 1:] + j * if_low[1:, :-1] + k * if_high[:-1, 1:]
    return np.where(i >= 0, mixed / (n + 1), 0.0)


def _over_low(loss: list[Floats], chance: Floats) -> Floats:
    """Average losses over how many of the low and reluctant people are seen."""
    n = len(loss) - 1
    found = np.zeros((n + 1, n + 1))
    for k in range(n + 1):
        reluctant = np.arange(n - k + 1)
        # Low ratings seen: all n - k - reluctant eager ones, and s of the reluctant ones.
        seen = (n - k - reluctant)[:, None] + reluctant[None, :]
        found[k, : n - k + 1] = (
            chance[: n - k + 1, : n - k + 1] * loss[k][np.minimum(seen, n - k)]
        ).sum(axis=1)
    return found


def _halve(faces: list[_Face], q: float, tolerance: float) -> Certificate:
    degree = len(faces[0].coefficients) - 1
    half = tabulate_binomial(degree, 0.5).T
    k, j = np.indices((degree + 1, degree + 1))
    inside = k + j <= degree
    flip = np.where(inside, degree - k - j, 0)

    open_triangles = np.stack([face.coefficients for face in faces])
    corners = np.stack([np.eye(3)] * len(faces))
    owner = np.arange(len(faces))
    best, best_at = -np.inf, (0, np.eye(3)[0])
    peaks: list[tuple[float, int, Floats]] = []
    total = len(faces)
    batch = max(1, _BATCH_NUMBERS // (degree + 1) ** 2)
    while True:
        # At the corners the polynomial is its coefficient.
        values = np.stack(
            [open_triangles[:, 0, 0], open_triangles[:, 0, -1], open_triangles[:, -1, 0]], axis=1
        )
        top = np.unravel_index(np.argmax(values), values.shape)
        if values[top] > best:
            best, best_at = float(values[top]), (int(owner[top[0]]), corners[top[0], top[1]])
        bounds = open_triangles.max(axis=(1, 2))
        limit = best * (1 + tolerance)
        keep = bounds > limit
        if not keep.any():
            break
        open_triangles, corners, owner = open_triangles[keep], corners[keep], owner[keep]
        total += 2 * len(owner)
        if total > _MOST_TRIANGLES:
            raise GameError(
                "tolerance",
                problem="{triangles} triangles are not enough for this {argument}",
                value=tolerance,
                hint="Use a larger {argument} or a smaller {n}",
                triangles=f"{total:,}",
            )
        peaks = [
            (float(v.max()), int(o), c[int(v.argmax())])
            for v, o, c in zip(values[keep], owner, corners, strict=True)
        ]
        halves = [
            _children(open_triangles[a : a + batch], half, inside, k, flip)
            for a in range(0, len(owner), batch)
        ]
        middle = (corners[:, 0] + corners[:, 1]) / 2
        open_triangles = np.concatenate([h[0] for h in halves] + [h[1] for h in halves])
        corners = np.concatenate(
            [np.stack([corners[:, side], corners[:, 2], middle], axis=1) for side in (0, 1)]
        )
        owner = np.concatenate([owner, owner])
    face, shares = best_at
    return Certificate(
        best,
        best * (1 + tolerance) + ROUNDING,
        faces[face].structure(shares, q),
        tuple(faces[o].structure(c, q) for _, o, c in sorted(peaks, key=lambda x: -x[0])[:8]),
        total,
    )


def _children(
    triangles: Floats,
    half: Floats,
    inside: NDArray[np.bool_],
    k: NDArray[np.int64],
    flip: NDArray[np.int64],
) -> tuple[Floats, Floats]:
    """Halve the edge between the first two corners; the new corner comes last in each child."""
    # What is practically zero becomes zero: arithmetic with denormal numbers is very slow.
    triangles = np.where(np.abs(triangles) > _NOTHING, triangles, 0.0)
    size = len(half)
    # One large product instead of one per triangle, which would each start all cores anew.
    both = np.stack([triangles, triangles[:, k, flip]]).reshape(-1, size) @ half
    first, second = np.where(inside, both.reshape(2, -1, size, size), 0.0).swapaxes(2, 3)
    return first, second


def _inside(table: Floats) -> Floats:
    n = len(table) - 1
    a, b = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    return np.where(a + b <= n, table, 0.5)
