"""Numbers as people read them."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from unheard.text import round_percentages


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=20).filter(any))
def test_percentages_of_a_whole_add_up(counts: list[int]) -> None:
    exact = [100 * count / sum(counts) for count in counts]
    rounded = round_percentages([count / sum(counts) for count in counts])
    assert sum(rounded) == 100
    for value, whole in zip(exact, rounded, strict=True):
        assert math.floor(value + 1e-9) <= whole + 1e-9 <= math.ceil(value + 1e-9) + 1e-9


def test_the_largest_remainders_are_rounded_up() -> None:
    assert round_percentages([0.126, 0.437, 0.437]) == [12, 44, 44]
    assert round_percentages([0.0, 0.0]) == [0, 0]
    assert round_percentages([]) == []
