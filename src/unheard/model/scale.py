"""The ordered values a rating may take."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from unheard.errors import ScaleError

_REMEDY = "Give at least two different numbers in rising order, such as 1:5, 0.5:5:0.5 or 1,2,4"
_MOST_VALUES = 10_001
_LARGEST, _NEAREST = 1e100, 1e-100
"""Beyond these, the squares that the confidence interval needs are not numbers any more."""


@dataclass(frozen=True)
class Scale:
    """An ordered finite set of rating values.

    Parameters
    ----------
    values
        At least two finite numbers in strictly rising order.

    Examples
    --------
    >>> Scale((1, 2, 3, 4, 5)).middle
    3.0
    >>> Scale.parse("0.5:2:0.5").values
    (0.5, 1.0, 1.5, 2.0)
    """

    values: tuple[float, ...]

    def __init__(self, values: Iterable[float]) -> None:
        numbers = tuple(_number(value, index) for index, value in enumerate(values))
        if len(numbers) < 2:
            raise ScaleError("scale", f"{len(numbers)} value(s) found", _REMEDY)
        for index in range(1, len(numbers)):
            before, here = numbers[index - 1], numbers[index]
            if here <= before:
                what = "repeats" if here == before else "is smaller than"
                raise ScaleError(
                    f"scale[{index}]", f"{here:g} {what} the value before it ({before:g})", _REMEDY
                )
            if here - before < _NEAREST:
                raise ScaleError(
                    f"scale[{index}]", f"{here:g} next to {before:g}", "Give values further apart"
                )
        object.__setattr__(self, "values", numbers)

    @classmethod
    def points(cls, m: int) -> Scale:
        """Build the scale 1, 2, ..., m."""
        return cls(range(1, m + 1))

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read ``first:last``, ``first:last:step`` or a list with commas."""
        if ":" not in text:
            return cls(_number(part, index) for index, part in enumerate(text.split(",")))
        parts = [_number(part, index) for index, part in enumerate(text.split(":"))]
        if len(parts) == 2:
            parts.append(1.0)
        if len(parts) != 3:
            raise ScaleError("scale", f"{text!r} has {len(parts)} parts between colons", _REMEDY)
        first, last, step = parts
        if step <= 0 or last <= first:
            raise ScaleError("scale", f"{text!r} holds no rising values", _REMEDY)
        steps = (last - first) / step
        if steps > _MOST_VALUES:
            raise ScaleError(
                "scale", f"{text!r} has {steps + 1:,.6g} values", "Choose a coarser step"
            )
        count = round(steps)
        if abs(steps - count) > 1e-9 * max(1.0, steps):
            raise ScaleError(
                "scale", f"{text!r} does not end on a step: {last:g} is missed", _REMEDY
            )
        if count >= _MOST_VALUES:
            raise ScaleError("scale", f"{text!r} has {count + 1:,} values", "Choose a coarser step")
        # Decimal steps such as 0.1 add up with rounding noise; 12 digits are what was meant.
        return cls(float(f"{first + index * step:.12g}") for index in range(count + 1))

    @property
    def m(self) -> int:
        """Number of values."""
        return len(self.values)

    @property
    def lowest(self) -> float:
        """Smallest value."""
        return self.values[0]

    @property
    def highest(self) -> float:
        """Largest value."""
        return self.values[-1]

    @property
    def width(self) -> float:
        """Distance between the ends."""
        return self.highest - self.lowest

    @property
    def middle(self) -> float:
        """Point halfway between the ends."""
        return (self.lowest + self.highest) / 2


def _number(value: object, index: int) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ScaleError(f"scale[{index}]", f"{value!r} is not a number", _REMEDY) from None
    if not math.isfinite(number):
        raise ScaleError(f"scale[{index}]", f"{value!r} is not finite", _REMEDY)
    if abs(number) > _LARGEST:
        raise ScaleError(f"scale[{index}]", f"{value!r} found", "Give values up to 1e100")
    return number
