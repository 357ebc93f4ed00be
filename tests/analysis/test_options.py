"""Options that analyses pass on: names that they do not have are refused with the nearest one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import unheard as uh

COUNTS = [120, 30, 45, 200, 605]
CALLS: dict[str, Callable[..., object]] = {
    "sweep": lambda **more: uh.sweep(COUNTS, **more),
    "compare": lambda **more: uh.compare(COUNTS, COUNTS[::-1], 0.3, **more),
    "find_breakdown": lambda **more: uh.find_breakdown(COUNTS, above=3.5, **more),
    "plan_follow_up": lambda **more: uh.plan_follow_up(COUNTS, 2400, q=0.3, width=0.4, **more),
    "combine_follow_up": lambda **more: uh.combine_follow_up(COUNTS, COUNTS, 2400, **more),
}


@pytest.mark.parametrize("function", CALLS)
@pytest.mark.parametrize(
    ("name", "near"),
    [("levle", "level"), ("covres", "covers"), ("participations", "participation")],
)
def test_unknown_options_are_refused_with_the_nearest(function: str, name: str, near: str) -> None:
    with pytest.raises(uh.OptionError, match=f"has no option {name}") as refused:
        CALLS[function](**{name: 0.9})
    error = refused.value
    assert (error.code, error.argument) == ("unknown_option", name)
    assert str(error) == f"{function}() has no option {name}. Did you mean {near}?"


def test_a_parameter_of_its_own_may_be_the_nearest() -> None:
    with pytest.raises(uh.OptionError, match="Did you mean sampling_error"):
        CALLS["find_breakdown"](sampling_eror=True)


def test_an_option_that_makes_no_sense_is_unknown() -> None:
    with pytest.raises(uh.OptionError, match=r"find_breakdown\(\) has no option q\."):
        CALLS["find_breakdown"](q=0.3)
