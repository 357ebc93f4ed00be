"""A breakdown q in words: never said to hold where it does not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unheard.present.phrases import q_cell, q_text


@pytest.mark.parametrize(
    ("q", "cell", "text"),
    [
        (None, "never", "not at all"),
        (0.0, "any", "at every q"),
        (1e-9, "0.01", "at practically every q"),
        (0.07, "0.07", "as long as q is above 0.07"),
        (0.29, "0.29", "as long as q is above 0.29"),
        (0.36476, "0.37", "as long as q is above 0.365"),
        (0.36412, "0.37", "as long as q is above 0.365"),
        (0.99, "0.99", "as long as q is above 0.99"),
        (0.9983, ">0.99", "as long as q is above 0.999"),
        (0.9991, ">0.99", "at practically no q"),
        (0.9999999999999993, ">0.99", "at practically no q"),
        (1.0, ">0.99", "at practically no q"),
    ],
)
def test_q(q: float | None, cell: str, text: str) -> None:
    assert (q_cell(q), q_text(q, "not at all")) == (cell, text)


@given(st.floats(1e-6, 0.99))
def test_q_is_rounded_up(q: float) -> None:
    assert q <= float(q_cell(q)) < q + 0.01
    found = re.fullmatch("as long as q is above (.*)", q_text(q, ""))
    assert found is not None
    assert q <= float(found[1]) < q * 1.0101
