"""The goal of a follow-up: an interval that is narrow enough, or a claim that is settled."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unheard.errors import OptionError
from unheard.formulas.operations import Floats
from unheard.model.results import Estimates
from unheard.model.scale import Scale
from unheard.text import write_exactly


@dataclass(frozen=True)
class Goal:
    """What a follow-up is for.

    Attributes
    ----------
    name, target
        ``width``, ``above`` or ``below``, and its value.
    power
        Probability with which the responses settle a claim; None for a width.
    """

    name: str
    target: float
    power: float | None

    @classmethod
    def read(
        cls,
        scale: Scale,
        width: float | None,
        above: float | None,
        below: float | None,
        power: float = 0.8,
    ) -> Goal:
        """Check the options that state the goal, of which exactly one must be given."""
        given = _pick_one({"width": width, "above": above, "below": below})
        ((name, target),) = given.items()
        if name == "width" and not 0 < target < math.inf:
            raise OptionError(
                "width",
                problem="{argument} must be above 0",
                value=target,
                hint="Use a width",
                examples=(0.3,),
            )
        if name != "width" and not scale.lowest < target < scale.highest:
            raise OptionError(
                name,
                problem="{argument} must be between the ends of the scale, {lowest} and {highest}",
                value=target,
                lowest=write_exactly(scale.lowest),
                highest=write_exactly(scale.highest),
            )
        if not 0.5 <= power < 1:
            raise OptionError(
                "power",
                problem="{argument} must be at least 0.5 and below 1",
                value=power,
                hint="Use a probability",
                examples=(0.8,),
            )
        return cls(name, target, None if name == "width" else power)

    def find_settled_sides(self, now: Estimates) -> Floats:
        """Return the side of the target that each confidence interval is on; 0 if on neither.

        1 is above and -1 below. An assumption that the response rate refutes settles nothing.
        """
        sides = (now.ci_lower > self.target).astype(np.float64) - (now.ci_upper < self.target)
        return np.asarray(sides * find_trustworthy(now))

    def find_reached(self, now: Estimates) -> NDArray[np.bool_]:
        """Tell which estimates reach the goal without any follow-up."""
        if self.power is not None:
            return np.asarray(self.find_settled_sides(now) != 0)
        return np.asarray((now.ci_upper - now.ci_lower <= self.target) & find_trustworthy(now))


def find_trustworthy(now: Estimates) -> NDArray[np.bool_]:
    """Tell for which items the response rate does not refute the assumption."""
    return np.array([not {"low_response", "refuted"} & {*notes} for notes in now.notes], bool)


def _pick_one(wanted: dict[str, float | None]) -> dict[str, float]:
    given = {name: float(x) for name, x in wanted.items() if x is not None}
    if not given:
        raise OptionError(
            "width",
            problem="A plan requires a goal: {width}, {above} or {below}",
            hint="State the width of a confidence interval, or a threshold that the mean is above "
            "or below",
        )
    if len(given) > 1:
        raise OptionError(
            next(iter(given)),
            problem="{width}, {above} and {below} cannot be combined",
            hint="State one goal",
        )
    return given
