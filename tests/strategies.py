"""Random questions, lopsided on purpose: symmetric data hide a swapped sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Histogram:
    counts: NDArray[np.int64]
    values: tuple[float, ...]

    @property
    def m(self) -> int:
        return len(self.values)


@st.composite
def scales(draw: st.DrawFn, m: int) -> tuple[float, ...]:
    start = draw(st.integers(-5, 5))
    steps = draw(
        st.lists(st.sampled_from([0.5, 1.0, 1.0, 2.0, 3.5]), min_size=m - 1, max_size=m - 1)
    )
    return tuple(float(x) for x in np.concatenate([[start], start + np.cumsum(steps)]))


@st.composite
def histograms(draw: st.DrawFn, most: int = 400, m: int | None = None) -> Histogram:
    m = m or draw(st.integers(2, 7))
    counts = draw(
        st.lists(
            st.one_of(st.just(0), st.integers(0, 5), st.integers(0, most)), min_size=m, max_size=m
        ).filter(any)
    )
    return Histogram(np.array(counts), draw(scales(m)))


voice_ratios = st.floats(0.01, 1.0)


@st.composite
def boxes(draw: st.DrawFn, m: int) -> list[tuple[float, float]]:
    ends = [sorted(draw(st.tuples(st.floats(0.05, 1.0), st.floats(0.05, 1.0)))) for _ in range(m)]
    return [(lo, hi) for lo, hi in ends]


DIRECTIONS = ("any", "low", "high", "middle")


@st.composite
def assumptions(draw: st.DrawFn, m: int, *, n_known: bool = False) -> dict[str, Any]:
    """Any kind of assumption; those that require n only where it is known."""
    kinds = [*DIRECTIONS, "box", "known", *(["floor"] if n_known else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "floor":
        return {"floor": draw(voice_ratios)}
    if kind == "box":
        return {"participation": draw(boxes(m))}
    if kind == "known":
        return {"g": draw(st.lists(st.floats(0.05, 1.0), min_size=m, max_size=m))}
    return {"q": draw(voice_ratios), "quiet": kind}


def box_of(assumption: dict[str, Any], m: int) -> tuple[Floats, Floats]:
    """The ends lo, hi of participation per rating that an assumption implies."""
    if "participation" in assumption:
        lo, hi = np.array(assumption["participation"]).T
        return lo, hi
    if "g" in assumption:
        g = np.array(assumption["g"])
        return g, g
    if "floor" in assumption:
        return np.full(m, assumption["floor"]), np.ones(m)
    lo, hi = np.full(m, assumption["q"]), np.ones(m)
    if assumption.get("quiet") == "middle":
        lo[[0, -1]] = 1.0
    return lo, hi


def mirrored(assumption: dict[str, Any]) -> dict[str, Any]:
    """The same assumption on the scale turned upside down."""
    turned = dict(assumption)
    for key in ("participation", "g"):
        if key in turned:
            turned[key] = turned[key][::-1]
    if "quiet" in turned:
        turned["quiet"] = {"low": "high", "high": "low"}.get(turned["quiet"], turned["quiet"])
    return turned
