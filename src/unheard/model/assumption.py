"""The stated assumption: how likely somebody with each rating is to give it.

Every assumption comes down to one or two *boxes*. A box says, for each rating, between how few and
how many people one seen rating stands for: between 1/hi and 1/lo, if people with that rating
answer with a probability between lo and hi.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from unheard.errors import AssumptionError
from unheard.formulas.boxes import QUIET, Box
from unheard.formulas.operations import Floats
from unheard.formulas.pooling import Pool

PRESETS = {"survey": 0.5, "reviews": 0.3, "media": 0.1}
"""Named q where nothing better is known: asked-for surveys, open review sites, self-chosen media.

docs/calibrate.md has the evidence."""

_SMALLEST = 1e-100
"""Below this, 1/q overflows the squares that the confidence interval needs."""

_Q_REMEDY = (
    "Give a number above 0 and at most 1: 0.3 means that those who respond least often do so at "
    "least 0.3 times as often as those who respond most often"
)
_FLOOR_REMEDY = (
    "Give a number above 0 and at most 1: 0.3 means that everybody responds with a probability of "
    "at least 0.3"
)


@dataclass(frozen=True, eq=False)
class Assumption:
    """A set of participation probabilities g, one per rating.

    Build one with :meth:`bounded`, :meth:`floor`, :meth:`box` or :meth:`known`.

    Attributes
    ----------
    kind
        ``any``, ``low``, ``high`` or ``middle`` (who may respond less often, with a ratio of at
        least q); ``floor`` (everybody responds with a probability of at least q); ``box`` (an
        interval per rating); ``audit`` (an interval per rating around a best guess); ``pool`` (an
        audit of several items, which tells how items differ as well); ``known`` (g itself).
    q
        Participation ratio, least over greatest, or for ``floor`` the least participation itself:
        shape () or one per item. For kinds stated per rating usually None; otherwise what they are
        loosened by, see :meth:`at`.
    lo, hi
        Ends per rating for the kinds stated per rating.
    g
        Best guess per rating for ``audit``, ``pool`` and ``known``.
    relative
        Whether ``lo``, ``hi`` and ``g`` are known up to a common factor only.
    pool
        How items differ, for ``pool``.
    """

    kind: str
    q: Floats | None
    lo: tuple[float, ...] = ()
    hi: tuple[float, ...] = ()
    g: tuple[float, ...] = ()
    relative: bool = False
    pool: Pool | None = None

    @classmethod
    def bounded(cls, q: ArrayLike, quiet: str = "any") -> Assumption:
        """Participation varies by no more than a ratio q.

        Parameters
        ----------
        q
            Participation ratio: least over greatest participation, whatever the greatest is; one
            number or one per item. It means the same with n known and unknown.
        quiet
            Who may respond less often: people with ``any`` rating; ``low``, the lower the rating
            the less often; ``high``, the higher the less often; ``middle``, only people with
            ratings between the two ends.
        """
        if quiet not in QUIET:
            raise AssumptionError("quiet", f"{quiet!r} found", f"Choose one of {', '.join(QUIET)}")
        return cls(quiet, _valid_q(q))

    @classmethod
    def floor(cls, least: ArrayLike) -> Assumption:
        """Everybody responds with a probability of at least ``least`` [GKL25, section 1.1].

        It says something about how many respond in all, so it needs n, and a response rate below
        it refutes it.
        """
        return cls("floor", _valid_q(least, "floor", _FLOOR_REMEDY))

    @classmethod
    def box(cls, lo: Sequence[float], hi: Sequence[float], *, relative: bool = False) -> Assumption:
        """People with rating r answer with a probability between ``lo[r]`` and ``hi[r]``.

        With ``relative`` that is known up to a common factor only.
        """
        if relative:
            lo, hi = _shrunk(lo, hi), _shrunk(hi, hi)
        if len(lo) != len(hi):
            raise AssumptionError(
                "participation", f"{len(lo)} lower and {len(hi)} upper ends", "Give lo:hi for each"
            )
        pairs = [_valid_pair(a, b, r) for r, (a, b) in enumerate(zip(lo, hi, strict=True))]
        lower, upper = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
        return cls("box", None, lower, upper, relative=relative)

    @classmethod
    def known(cls, g: Sequence[float]) -> Assumption:
        """People with rating r answer with probability ``g[r]`` (or in proportion to it)."""
        for r, value in enumerate(g):
            if not _SMALLEST <= _float(value, f"g[{r}]") <= 1:
                raise AssumptionError(
                    f"g[{r}]", f"{value!r} found", "Give a probability above 0 and at most 1"
                )
        values = tuple(float(value) for value in g)
        return cls("known", None, values, values, values)

    @classmethod
    def audit(
        cls,
        g: Sequence[float],
        lo: Sequence[float],
        hi: Sequence[float],
        *,
        relative: bool,
        pool: Pool | None = None,
    ) -> Assumption:
        """State participation found in an audit: a best guess within bounds, per rating.

        Parameters
        ----------
        g, lo, hi
            Best guess and bounds, lowest rating first.
        relative
            Whether the audit tells only how much quieter some are than others.
        pool
            How items differ, if several were audited.
        """
        if relative:
            g, lo, hi = (_shrunk(ends, hi) for ends in (g, lo, hi))
        best, box = cls.known(g), cls.box(lo, hi)
        for r, (low, guess, high) in enumerate(zip(box.lo, best.g, box.hi, strict=True)):
            if not low <= guess <= high:
                raise AssumptionError(
                    f"g[{r}]", f"{guess:g} lies outside {low:g}:{high:g}", "Calibrate again"
                )
        kind = "audit" if pool is None else "pool"
        return cls(kind, None, box.lo, box.hi, best.g, relative, pool)

    def at(self, q: ArrayLike) -> Assumption:
        """Return the same kind of assumption with another q, one number or one per item.

        A kind that states q (a ratio, or a floor) gets this one. Stated per rating, it is loosened:
        whoever was said to respond with a probability of at least lo may do so with only q times
        lo. So q = 1 is the assumption itself, and for known g and an unknown number of people q is
        the participation ratio among those who were thought to be alike.
        """
        return replace(self, q=_valid_q(q))

    def check_fits(self, m: int, rows: int) -> None:
        """Raise unless the assumption speaks about m ratings and ``rows`` items."""
        if self.q is not None and self.q.ndim and self.q.size != rows:
            raise AssumptionError(
                "q", f"{self.q.size} values for {rows} items", "Give one q, or one per item"
            )
        if self.per_rating and len(self.lo) != m:
            place = "g" if self.kind == "known" else "participation"
            raise AssumptionError(
                place, f"{len(self.lo)} entries for {m} ratings", "Give one entry for each rating"
            )

    def check_people(self, *, n_known: bool) -> None:
        """Raise if the assumption cannot be set against what is known about n."""
        if self.kind == "floor" and not n_known:
            raise AssumptionError(
                "floor",
                "requires n, and n is unknown",
                "Give n, or state how participation varies with q",
            )
        if self.relative and n_known:
            raise AssumptionError(
                "n",
                "given with an audit that tells only how much quieter some are than others",
                "Leave n out, or audit the same people, so that the probability to answer is known",
            )

    @property
    def per_rating(self) -> bool:
        """Whether participation is stated rating by rating."""
        return bool(self.lo)

    @property
    def is_ratio(self) -> bool:
        """Whether only ratios are stated: no response rate can contradict it."""
        return self.kind in QUIET

    @property
    def least(self) -> Floats:
        """Smallest participation any rating may have, where that is what is stated."""
        q = np.asarray(1.0) if self.q is None else self.q
        return min(self.lo) * q if self.per_rating else q

    @property
    def largest(self) -> float:
        """Largest participation any rating may have."""
        return max(self.hi) if self.per_rating else 1.0

    def words(self) -> str:
        """Say the assumption in one sentence for a lay reader."""
        if self.per_rating:
            return self._words_per_rating()
        assert self.q is not None  # all other kinds state a q
        low, high = float(self.q.min()), float(self.q.max())
        share = f"{low:g}" if low == high else f"{low:g} to {high:g} (item by item)"
        if self.kind == "floor":
            if low == 1:
                return "Everybody responds."
            return f"Whatever their rating, people respond with a probability of at least {share}."
        if low == 1:
            return "People respond equally often, whatever their rating."
        return _WHO[self.kind] + (
            f"at least {share} times as often as those who respond most often."
        )

    def _words_per_rating(self) -> str:
        pairs = zip(self.lo, self.hi, strict=True)
        if self.kind == "known":
            shares = ", ".join(f"{g:g}" for g in self.g)
            words = f"People answer with known probabilities, from the lowest rating up: {shares}"
        elif self.g:
            shares = ", ".join(
                f"{g:.3g} ({a:.3g} to {b:.3g})" for g, (a, b) in zip(self.g, pairs, strict=True)
            )
            likely = "The relative likelihood" if self.relative else "The probability"
            words = f"{likely} to answer found in an audit, from the lowest rating up: {shares}"
        else:
            shares = ", ".join(f"{a:.3g} to {b:.3g}" for a, b in pairs)
            words = f"The probability to answer, from the lowest rating up: {shares}"
        if self.q is None or float(self.q.min()) == 1:
            return f"{words}."
        low, high = float(self.q.min()), float(self.q.max())
        share = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        return f"{words}; or as little as {share} times that."


_WHO = {
    "any": "Whatever their rating, people respond ",
    "low": "The lower their rating, the less often people may respond, but they do so ",
    "high": "The higher their rating, the less often people may respond, but they do so ",
    "middle": "People with the lowest and the highest rating respond equally often; those in "
    "between may respond less often, but they do so ",
}


def fixed_box(assumption: Assumption) -> Box | None:
    """Return the box of an assumption that states it per rating, None if it states only q."""
    if not assumption.per_rating:
        return None
    return Box.elastic(tuple(1 / hi for hi in assumption.hi), tuple(1 / lo for lo in assumption.lo))


def best_guess(assumption: Assumption) -> tuple[float, ...] | None:
    """Return how many people each rating stands for, None if the assumption does not say."""
    return tuple(1 / g for g in assumption.g) or None


def _shrunk(values: Sequence[float], hi: Sequence[float]) -> list[float]:
    """Bring numbers that are known up to a common factor below 1."""
    top = max([1.0, *hi])
    return [value / top for value in values]


def preset(name: str) -> float:
    """Return the q of a preset."""
    if name not in PRESETS:
        near = difflib.get_close_matches(name, PRESETS, n=1)
        if near:
            raise AssumptionError("q", f"{name!r} found", f"Did you mean {near[0]!r}")
        known = ", ".join(f"{word} ({q:g})" for word, q in PRESETS.items())
        raise AssumptionError("q", f"{name!r} is not a number", f"{_Q_REMEDY}; or name {known}")
    return PRESETS[name]


def _float(value: object, place: str) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise AssumptionError(place, f"{value!r} is not a number", _Q_REMEDY) from None


def _valid_q(q: ArrayLike, place: str = "q", remedy: str = _Q_REMEDY) -> Floats:
    try:
        values = np.asarray(q, dtype=np.float64)
    except (TypeError, ValueError):
        raise AssumptionError(place, f"{q!r} is not a number", remedy) from None
    if values.ndim > 1 or values.size == 0:
        raise AssumptionError(place, f"an array of shape {values.shape} found", remedy)
    bad = ~((values > 0) & (values <= 1))
    if bad.any():
        where = place if values.ndim == 0 else f"{place}[{int(np.argmax(bad))}]"
        raise AssumptionError(where, f"{values[bad][0]:g} found", remedy)
    if (values < _SMALLEST).any():
        raise AssumptionError(place, "a value below 1e-100 found", f"Give a larger {place}")
    return values


def _valid_pair(lo: float, hi: float, r: int) -> tuple[float, float]:
    place = f"participation[{r}]"
    a, b = _float(lo, place), _float(hi, place)
    if not (math.isfinite(a) and math.isfinite(b) and _SMALLEST <= a <= b <= 1):
        raise AssumptionError(
            place, f"{a:g}:{b:g} found", "Give lo:hi with 0 < lo <= hi <= 1, such as 0.2:0.6"
        )
    return a, b
