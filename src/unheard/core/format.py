"""Ratings as people read them: two decimals, more where two say nothing."""

from __future__ import annotations

import math


def rating_text(value: float | None, width: float) -> str:
    """Write a rating with two decimals, more on a scale so short that two say nothing."""
    if value is None:
        return "–"
    return f"{value:.{max(2, 2 - math.floor(math.log10(width)))}f}"


def range_text(low: float, high: float, width: float) -> str:
    """Write an interval of ratings."""
    return f"{rating_text(low, width)} to {rating_text(high, width)}"
