"""The ordered values a rating may take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from unheard.errors import Given, ScaleError
from unheard.text import write_exactly

_HINT = "Use ascending values"
_EXAMPLES = ("1:5", "0.5:5:0.5", "1,2,4")
_MOST_VALUES = 10_001
_LARGEST, _NEAREST = 1e100, 1e-100
"""Beyond these, the squares that the confidence interval needs overflow or vanish."""


@dataclass(frozen=True)
class Scale:
    """An ordered finite set of rating values.

    Parameters
    ----------
    values
        At least two finite numbers in strictly ascending order.

    Examples
    --------
    >>> Scale((1, 2, 3, 4, 5)).middle
    3.0
    >>> Scale.parse("0.5:2:0.5").values
    (0.5, 1.0, 1.5, 2.0)
    """

    values: tuple[float, ...]

    def __init__(self, values: Iterable[float]) -> None:
        given: object = values
        if isinstance(given, str):
            raise ScaleError(
                "scale",
                problem="{argument} must be numbers here",
                value=given,
                hint="Use Scale.parse for text",
            )
        numbers = tuple(_read_number(value, index) for index, value in enumerate(values))
        if len(numbers) < 2:
            raise ScaleError(
                "scale",
                problem="{argument} must have at least two values",
                value=Given(", ".join(map(write_exactly, numbers)) or "none"),
                hint=_HINT,
                examples=_EXAMPLES,
            )
        for index, (before, here) in enumerate(pairwise(numbers), start=1):
            _check_ascending(before, here, index)
        object.__setattr__(self, "values", numbers)

    @classmethod
    def points(cls, m: int) -> Scale:
        """Build the scale 1, 2, ..., m."""
        return cls(range(1, m + 1))

    @classmethod
    def read(cls, scale: ScaleLike) -> Scale:
        """Read a scale from its values or from text such as ``"1:5"``."""
        if isinstance(scale, Scale):
            return scale
        return cls.parse(scale) if isinstance(scale, str) else cls(scale)

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read ``first:last``, ``first:last:step`` or a comma-separated list."""
        if ":" not in text and "," not in text:
            raise _refuse("{argument} must be first:last or values separated by commas", text)
        if ":" not in text:
            return cls(_read_number(part, index) for index, part in enumerate(text.split(",")))
        parts = [_read_number(part, index) for index, part in enumerate(text.split(":"))]
        if len(parts) == 2:
            parts.append(1.0)
        if len(parts) != 3:
            raise _refuse("{argument} must be first:last or first:last:step", text)
        first, last, step = parts
        if step <= 0 or last <= first:
            raise _refuse("{argument} must ascend", text)
        steps = (last - first) / step
        if steps > _MOST_VALUES:
            raise _too_many(text, f"{steps + 1:,.6g}")
        count = round(steps)
        if abs(steps - count) > 1e-9 * max(1.0, steps):
            raise _refuse("{argument} must reach its last value in whole steps", text)
        if count >= _MOST_VALUES:
            raise _too_many(text, f"{count + 1:,}")
        # Decimal steps such as 0.1 accumulate rounding errors; 12 digits are what was meant.
        return cls(float(f"{first + index * step:.12g}") for index in range(count + 1))

    def describe(self) -> str:
        """Write the ends of a scale of equal steps, and any other scale as a list.

        Examples
        --------
        >>> Scale.parse("0.5:5:0.5").describe(), Scale((1, 2, 4)).describe()
        ('0.5 to 5 by 0.5', '1, 2, 4')
        """
        steps = {b - a for a, b in pairwise(self.values)}
        if self.m <= 3 or len(steps) > 1:
            shown = [write_exactly(value) for value in self.values]
            return ", ".join(shown if len(shown) <= 8 else [*shown[:3], "...", shown[-1]])
        (step,) = steps
        by = "" if step == 1 else f" by {write_exactly(step)}"
        return f"{write_exactly(self.lowest)} to {write_exactly(self.highest)}{by}"

    def write(self) -> str:
        """Write the scale as :meth:`parse` reads it.

        Examples
        --------
        >>> Scale.points(5).write(), Scale.parse("0.5:2:0.5").write(), Scale((0, 1)).write()
        ('1:5', '0.5:2:0.5', '0,1')
        """
        steps = {b - a for a, b in pairwise(self.values)}
        if self.m <= 2 or len(steps) > 1:
            return ",".join(map(write_exactly, self.values))
        (step,) = steps
        by = "" if step == 1 else f":{write_exactly(step)}"
        return f"{write_exactly(self.lowest)}:{write_exactly(self.highest)}{by}"

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


ScaleLike: TypeAlias = Scale | Sequence[float] | str
"""A scale, its values, or text that :meth:`Scale.parse` reads."""


def _check_ascending(before: float, here: float, index: int) -> None:
    if here <= before:
        raise ScaleError(
            "scale",
            index=index,
            problem="{argument} must be above the value before it, which is {before}",
            value=here,
            hint=_HINT,
            examples=_EXAMPLES,
            before=write_exactly(before),
        )
    if here - before < _NEAREST:
        raise ScaleError(
            "scale",
            index=index,
            problem="{argument} must be at least 1e-100 above the value before it",
            value=here - before,
            hint="Measure ratings in a smaller unit",
        )


def _refuse(problem: str, text: str) -> ScaleError:
    return ScaleError("scale", problem=problem, value=text, hint=_HINT, examples=_EXAMPLES)


def _too_many(text: str, many: str) -> ScaleError:
    return ScaleError(
        "scale",
        problem="{argument} must have at most {most} values, and this one has {many}",
        value=text,
        hint="Use a larger step",
        most=f"{_MOST_VALUES:,}",
        many=many,
    )


def _read_number(value: object, index: int) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ScaleError(
            "scale",
            index=index,
            problem="{argument} must be a finite number",
            value=value,
            hint=_HINT,
            examples=_EXAMPLES,
        )
    if abs(number) > _LARGEST:
        raise ScaleError(
            "scale",
            index=index,
            problem="{argument} must be between -1e100 and 1e100",
            value=value,
            hint="Measure ratings in a larger unit",
        )
    return number
