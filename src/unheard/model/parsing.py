"""Assumptions written as text, as they are typed and as they stand in an address."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Sequence

from unheard.errors import AssumptionError, CountsError, InputError
from unheard.model.assumption import PRESETS


def numbers(text: str, place: str, error: type[InputError]) -> list[float]:
    """Read numbers with commas between them."""
    return [number(part, f"{place}[{index}]", error) for index, part in enumerate(text.split(","))]


def number(text: str, place: str, error: type[InputError]) -> float:
    """Read one number."""
    try:
        return float(text)
    except ValueError:
        remedy = "Give a number"
        if text.strip().endswith("%"):
            counted = error is CountsError
            remedy = "Give how many ratings, not percentages" if counted else "Write 30% as 0.3"
        elif "," in text:
            remedy = "Write a point for decimals, and nothing between thousands"
        raise error(place, f"{text.strip()!r} is not a number", remedy) from None


def read_q(text: str, place: str) -> float:
    """Read a voice ratio: a number, or the name of a preset."""
    if text in PRESETS:
        return PRESETS[text]
    near = difflib.get_close_matches(text, PRESETS, n=1)
    if near:
        raise AssumptionError(
            place, f"{text!r} found", f"Did you mean {near[0]}? If not, give a number"
        )
    return number(text, place, AssumptionError)


def pairs(text: str, place: str) -> list[tuple[float, float]]:
    """Read bounds such as ``0.1:0.4,0.2:0.6``."""
    found = []
    for index, part in enumerate(text.split(",")):
        here = f"{place}[{index}]"
        ends = part.split(":")
        if len(ends) != 2:
            raise AssumptionError(
                here, f"{part!r} found", "Give lo:hi for each rating, such as 0.1:0.4,0.2:0.6"
            )
        lo, hi = (number(end, here, AssumptionError) for end in ends)
        found.append((lo, hi))
    return found


def listed(given: str | Sequence[str] | None) -> list[str]:
    """Read names with commas between, given once or several times.

    A name that holds a comma itself is put in double quotes, as in a CSV file.

    Examples
    --------
    >>> listed(["hotel,wing", '"stars, 1 to 5"'])
    ['hotel', 'wing', 'stars, 1 to 5']
    """
    texts = [given] if isinstance(given, str) else given or ()
    return [name for text in texts for name in _parts(text)]


def _parts(text: str) -> list[str]:
    if not text.startswith('"') and ',"' not in text:
        return text.split(",")
    # Line breaks are part of a name here, and the reader keeps them in quotes only.
    return next(csv.reader(text.splitlines(keepends=True)), [])
