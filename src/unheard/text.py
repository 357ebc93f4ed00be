"""Numbers and names as people read them; nothing here knows what they are about."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence


def rating_text(value: float | None, width: float) -> str:
    """Write a rating with two decimals, more on a scale so short that two say nothing."""
    if value is None:
        return "–"
    return f"{value:.{max(2, 2 - math.floor(math.log10(width)))}f}"


def range_text(low: float, high: float, width: float) -> str:
    """Write what a rating lies between."""
    return f"{rating_text(low, width)} to {rating_text(high, width)}"


def write_exactly(value: float) -> str:
    """Write a number as briefly as it can be read back without loss: 4, 0.5, 1000001."""
    whole = float(value).is_integer() and abs(value) < 1e16
    return str(int(value)) if whole else repr(float(value))


def count_text(value: float) -> str:
    """Write a count: whole numbers with separators, sums of weights with two decimals."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def plural(many: float, one: str, several: str | None = None) -> str:
    """Write a number of things.

    Examples
    --------
    >>> plural(1, "rating"), plural(1200, "rating"), plural(2, "person", "people")
    ('1 rating', '1,200 ratings', '2 people')
    """
    return f"{count_text(many)} {one if many == 1 else several or f'{one}s'}"


def percent_text(share: float) -> str:
    """Write a share or a level as it was given, in percent."""
    return f"{share * 100:.6g}%"


def round_percentages(shares: Sequence[float]) -> list[int]:
    """Round shares to whole percentages that add up to what the shares add up to.

    The largest remainders are rounded up, so that percentages of a whole add up to 100.

    Examples
    --------
    >>> round_percentages([1 / 3, 1 / 3, 1 / 3])
    [34, 33, 33]
    """
    exact = [100 * share for share in shares]
    rounded = [math.floor(value) for value in exact]
    missing = round(math.fsum(exact)) - sum(rounded)
    largest_first = sorted(range(len(exact)), key=lambda i: rounded[i] - exact[i])
    for i in largest_first[:missing]:
        rounded[i] += 1
    return rounded


_LONGEST_NAME = 60

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def printable(text: str) -> str:
    """Write out characters that would say something to a terminal."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def name_of(value: object, most: int = _LONGEST_NAME) -> str:
    """Write a name so that it stays on its line."""
    text = printable("(none)" if value is None else str(value))
    return text if len(text) <= most else f"{text[: most - 3]}..."
