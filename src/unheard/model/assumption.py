"""The assumption about who responds: how likely people with each rating are to give it.

Every assumption comes down to one or two *boxes*. A box says, for each rating, how few and how many
people one observed rating stands for: between 1/hi and 1/lo, if people with that rating respond
with a probability between lo and hi.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from unheard.errors import AssumptionError, Given, write_list
from unheard.formulas.boxes import QUIET, Box
from unheard.formulas.operations import Floats
from unheard.formulas.pooling import Pool
from unheard.model.studies import Study
from unheard.text import plural

_SMALLEST = 1e-100
"""Below this, 1/q overflows the squares that the confidence interval needs."""

_Q_HINT = (
    "With 0.3, the people who respond least often do so at least 0.3 times as often as those who "
    "respond most often"
)
_FLOOR_HINT = "With 0.3, everybody responds with a probability of at least 0.3"


@dataclass(frozen=True)
class Learned:
    """What an assumption was learned from.

    Attributes
    ----------
    source
        ``audit``, ``waves`` or ``response_rates``.
    sentences, warnings
        What was found there, for a lay reader.
    """

    source: str
    sentences: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


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
    learned
        What it was learned from; None if it was stated.
    study
        The study that q was taken from, if it was stated by name.
    """

    kind: str
    q: Floats | None
    lo: tuple[float, ...] = ()
    hi: tuple[float, ...] = ()
    g: tuple[float, ...] = ()
    relative: bool = False
    pool: Pool | None = None
    learned: Learned | None = None
    study: Study | None = None

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
            raise AssumptionError(
                "quiet",
                problem="{argument} must be {choices}",
                value=quiet,
                hint="Choose who may respond less often",
                choices=write_list([repr(kind) for kind in QUIET]),
            )
        return cls(quiet, _check_q(q))

    @classmethod
    def floor(cls, least: ArrayLike) -> Assumption:
        """Everybody responds with a probability of at least ``least`` [GKL25, section 1.1].

        It limits how many respond in all, so it requires n, and a response rate below it refutes
        it.
        """
        return cls("floor", _check_q(least, "floor", _FLOOR_HINT))

    @classmethod
    def box(cls, lo: Sequence[float], hi: Sequence[float], *, relative: bool = False) -> Assumption:
        """People with rating r respond with a probability between ``lo[r]`` and ``hi[r]``.

        With ``relative`` that is known up to a common factor only.
        """
        if relative:
            lo, hi = _shrink(lo, hi), _shrink(hi, hi)
        if len(lo) != len(hi):
            raise AssumptionError(
                "participation",
                problem="{argument} must have as many lower as upper ends",
                value=Given(f"{len(lo)} and {len(hi)}"),
                hint="Use one pair lo:hi per rating",
            )
        pairs = [_check_pair(a, b, r) for r, (a, b) in enumerate(zip(lo, hi, strict=True))]
        lower, upper = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
        return cls("box", None, lower, upper, relative=relative)

    @classmethod
    def known(cls, g: Sequence[float]) -> Assumption:
        """People with rating r respond with probability ``g[r]`` (or in proportion to it)."""
        values = tuple(_read_probability(value, "g", r) for r, value in enumerate(g))
        for r, value in enumerate(values):
            if not _SMALLEST <= value <= 1:
                raise _not_a_probability(value, "g", r)
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
        """Use participation that was estimated: a best guess within bounds, per rating.

        Parameters
        ----------
        g, lo, hi
            Best guess and bounds, lowest rating first.
        relative
            Whether participation is determined up to a common factor only.
        pool
            How items differ, if several were audited.
        """
        if relative:
            g, lo, hi = (_shrink(ends, hi) for ends in (g, lo, hi))
        best, box = cls.known(g), cls.box(lo, hi)
        for r, (low, guess, high) in enumerate(zip(box.lo, best.g, box.hi, strict=True)):
            if not low <= guess <= high:
                raise AssumptionError(
                    "g",
                    index=r,
                    problem="{argument} must be between its bounds {low} and {high}",
                    value=guess,
                    hint="Calibrate again",
                    low=f"{low:.15g}",
                    high=f"{high:.15g}",
                )
        kind = "audit" if pool is None else "pool"
        return cls(kind, None, box.lo, box.hi, best.g, relative, pool)

    def at(self, q: ArrayLike) -> Assumption:
        """Return the same kind of assumption with another q, one number or one per item.

        A kind that states q (a ratio, or a floor) gets this one. One stated per rating is relaxed:
        people who respond with a probability of at least lo may do so with only q times lo. So
        q = 1 is the assumption itself, and for known g and unknown n, q is the participation ratio
        among people with the same rating.
        """
        made = replace(self, q=_check_q(q), study=None)
        return made if self.per_rating else replace(made, learned=None)

    def check_fits(self, m: int, rows: int) -> None:
        """Raise unless the assumption speaks about m ratings and ``rows`` items."""
        if self.q is not None and self.q.ndim and self.q.size != rows:
            raise AssumptionError(
                "q",
                problem="{argument} must be one number, or one per item ({items})",
                value=Given(plural(self.q.size, "number")),
                hint="Use one value of q for all items, or as many as {counts} has rows",
                items=f"{rows:,}",
            )
        if self.per_rating and len(self.lo) != m:
            raise AssumptionError(
                "g" if self.kind == "known" else "participation",
                problem="{argument} must have one entry for each of the {m} ratings on the scale",
                value=Given(f"{len(self.lo)}"),
                hint="List the ratings from the lowest up",
                m=m,
            )

    def check_people(self, *, n_known: bool) -> None:
        """Raise if the assumption requires n, or cannot be combined with it."""
        if self.kind == "floor" and not n_known:
            raise AssumptionError(
                "floor",
                problem="{argument} requires {n}",
                hint="Pass {n}, or use {q} instead",
                code="requires_n",
            )
        if self.relative and n_known:
            raise AssumptionError(
                "n",
                problem="{argument} cannot be combined with an audit that determines participation "
                "up to a common factor only",
                hint="Leave {n} out, or audit the same people, so that the probability of "
                "responding is known",
            )

    @property
    def per_rating(self) -> bool:
        """Whether participation is stated for each rating."""
        return bool(self.lo)

    @property
    def is_ratio(self) -> bool:
        """Whether only a ratio is stated, which no response rate can contradict."""
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

    def words(self, share: str | None = None) -> str:
        """Say the assumption in one sentence for a lay reader.

        Parameters
        ----------
        share
            What to write in place of the value of q, such as ``q`` if it varies.
        """
        if self.per_rating:
            return self._words_per_rating(share)
        study, learned = (self.study, self.learned) if share is None else (None, None)
        if share is None:
            assert self.q is not None  # all other kinds state a q
            low, high = float(self.q.min()), float(self.q.max())
            if low == 1:
                everybody = "People respond equally often, whatever their rating."
                return "Everybody responds." if self.kind == "floor" else everybody
            share = f"{low:g}" if low == high else f"{low:g} to {high:g} (depending on the item)"
        if self.kind == "floor":
            return f"Whatever their rating, people respond with a probability of at least {share}."
        words = f"{_WHO[self.kind]}at least {share} times as often as those who respond most often."
        if study is not None:
            return f"{words} {self._cite(study)}"
        return words if learned is None else f"{words} {_SUGGESTED}"

    def _cite(self, study: Study) -> str:
        """Say which study q is from, and who responds less often there."""
        words = f"q = {study.q:.2g} as in {study.name} ({study.source}), where {study.who} respond "
        own = "" if self.kind == study.direction else "; the direction is not taken from it"
        return f"{words}less often{own}."

    def _words_per_rating(self, share: str | None) -> str:
        pairs = list(zip(self.lo, self.hi, strict=True))
        if self.kind == "known":
            shares = ", ".join(f"{g:g}" for g in self.g)
            words = (
                f"The probability of responding is known for each rating, lowest first: {shares}"
            )
        elif self.g:
            source = "audit" if self.learned is None else self.learned.source
            shares = ", ".join(
                f"{g:.3g} ({a:.3g} to {b:.3g})" for g, (a, b) in zip(self.g, pairs, strict=True)
            )
            what = "relative probability" if self.relative else "probability"
            words = f"{_SOURCES[source]} the {what} of responding, lowest rating first: {shares}"
        else:
            shares = ", ".join(f"{a:.3g} to {b:.3g}" for a, b in pairs)
            words = f"The probability of responding, lowest rating first, is {shares}"
        if share is None:
            if self.q is None or float(self.q.min()) == 1:
                return f"{words}."
            low, high = float(self.q.min()), float(self.q.max())
            share = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        return f"{words}; or as little as {share} times that."


_SUGGESTED = "This is suggested by response rates, and not measured."
_SOURCES = {"audit": "An audit estimates", "waves": "The responses to each request estimate"}

_WHO = {
    "any": "Whatever their rating, people respond ",
    "low": "The lower their rating, the less often people may respond, but they respond ",
    "high": "The higher their rating, the less often people may respond, but they respond ",
    "middle": "People with the lowest and the highest rating respond equally often; those in "
    "between may respond less often, but they respond ",
}


def fixed_box(assumption: Assumption) -> Box | None:
    """Return the box of an assumption that states it per rating, None if it states only q."""
    if not assumption.per_rating:
        return None
    return Box.elastic(tuple(1 / hi for hi in assumption.hi), tuple(1 / lo for lo in assumption.lo))


def best_guess(assumption: Assumption) -> tuple[float, ...] | None:
    """Return how many people each rating stands for, None if the assumption does not say."""
    return tuple(1 / g for g in assumption.g) or None


def _shrink(values: Sequence[float], hi: Sequence[float]) -> list[float]:
    """Bring numbers that are known up to a common factor below 1."""
    top = max([1.0, *hi])
    return [value / top for value in values]


def _read_probability(value: object, argument: str, r: int) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise _not_a_probability(value, argument, r) from None


def _not_a_probability(value: object, argument: str, r: int) -> AssumptionError:
    return AssumptionError(
        argument,
        index=r,
        problem="{argument} must be in (0, 1], and not below 1e-100",
        value=value,
        hint="Use the probability that people with this rating respond",
    )


def _check_q(q: ArrayLike, argument: str = "q", hint: str = _Q_HINT) -> Floats:
    try:
        values = np.asarray(q, dtype=np.float64)
    except (TypeError, ValueError):
        raise AssumptionError(
            argument, problem="{argument} must be a number in (0, 1]", value=q, hint=hint
        ) from None
    if values.ndim > 1 or values.size == 0:
        raise AssumptionError(
            argument,
            problem="{argument} must be one number, or one per item",
            value=Given(f"an array of shape {values.shape}"),
            hint=hint,
        )
    bad = ~((values > 0) & (values <= 1))
    if bad.any():
        raise AssumptionError(
            argument,
            index=int(np.argmax(bad)) if values.ndim else (),
            problem="{argument} must be in (0, 1]",
            value=float(values[bad][0]),
            hint=hint,
        )
    if (values < _SMALLEST).any():
        raise AssumptionError(
            argument,
            problem="{argument} must be at least 1e-100",
            value=float(values.min()),
            hint="Use a larger number",
        )
    return values


def _check_pair(lo: float, hi: float, r: int) -> tuple[float, float]:
    a, b = (_read_probability(end, "participation", r) for end in (lo, hi))
    if not (math.isfinite(a) and math.isfinite(b) and _SMALLEST <= a <= b <= 1):
        raise AssumptionError(
            "participation",
            index=r,
            problem="{argument} must be lo:hi with 0 < lo <= hi <= 1",
            value=Given(f"{a:.15g}:{b:.15g}"),
            hint="Use bounds on the probability of responding",
            examples=("0.2:0.6",),
        )
    return a, b
