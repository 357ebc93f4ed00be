"""What knowing the number of people contributes to an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unheard.model.question import Question
from unheard.model.results import Estimate
from unheard.text import range_text

_SAME = 1e-9
"""Bounds this close, in widths of the scale, are the same."""


@dataclass(frozen=True)
class Contribution:
    """What n contributes to the answer about one histogram.

    Attributes
    ----------
    rate
        Share of the people who responded.
    lower, upper
        The bounds without n.
    words
        What n does to them, in one sentence.
    """

    rate: float
    lower: float
    upper: float
    words: str


def contribution_of_n(question: Question, found: Estimate) -> Contribution | None:
    """Say what n contributes to an answer about one histogram; None if n is unknown."""
    counts = question.counts
    if counts.n is None or not counts.n[0]:
        return None
    rate = float(counts.n_ratings[0] / counts.n[0])
    without = replace(question, counts=replace(counts, n=None), level=None, covers="mean")
    bounds = without.find_bounds()
    lower, upper = float(bounds.lower[0]), float(bounds.upper[0])
    words = _words(found, lower, upper, rate, counts.scale.width)
    return Contribution(rate, lower, upper, words)


def _words(found: Estimate, lower: float, upper: float, rate: float, width: float) -> str:
    share = f"{rate * 100:.3g}%"
    if "no_ratings" in found.notes:
        return "Nobody responded, so n says nothing about the ratings."
    if {"low_response", "high_response"} & {*found.notes}:
        return f"n is not used: a response rate of {share} contradicts the assumption."
    if max(abs(found.lower - lower), abs(found.upper - upper)) > _SAME * width:
        before = range_text(lower, upper, width)
        after = range_text(found.lower, found.upper, width)
        how = f"to {after}; without n they are {before}" if after != before else "only slightly"
        return f"A response rate of {share} narrows the bounds {how}."
    if upper - lower <= _SAME * width:
        return "The bounds are a single value, with n or without."
    return f"The response rate, {share}, is too low to narrow the bounds."
