"""How firmly an item stands among the k best of one crowd, against looking at many q."""

from __future__ import annotations

import numpy as np
import pytest

from tests.strategies import Floats
from unheard.analysis.shared_breakdown import find_shared_top_k_breakdown
from unheard.analysis.shared_ranking import rank_shared
from unheard.errors import OptionError
from unheard.model.question import Question, build_question

HOTELS = [
    [10, 20, 60, 80, 400],
    [30, 30, 20, 70, 150],
    [9, 30, 50, 50, 60],
    [200, 40, 8, 3, 1],
    [0, 0, 0, 0, 0],
    [90, 3, 4, 80, 300],
]


def scanned(question: Question, item: int, k: int, grid: Floats) -> float:
    """The smallest of many q above which the item is in the top k at every one; NaN if none."""
    end = np.nan
    for q in grid[::-1]:
        found = rank_shared(question.at(q), k=k)
        assert found.surely is not None
        if not found.surely[item]:
            break
        end = q
    return float(end)


@pytest.mark.parametrize("quiet", ["any", "low", "high", "middle"])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_top_k_against_a_scan(quiet: str, k: int) -> None:
    question = build_question(HOTELS, 0.5, quiet=quiet)
    grid = np.geomspace(0.01, 1.0, 80)
    ratio = grid[1] / grid[0]
    for item in range(len(HOTELS)):
        found = find_shared_top_k_breakdown(question, item, k)
        seen = scanned(question, item, k, grid)
        if np.isnan(found) or np.isnan(seen):
            assert np.isnan(found) == np.isnan(seen), item
        elif found <= grid[0]:
            assert seen == grid[0]
        else:
            assert seen / ratio <= found * (1 + 1e-9) <= seen * (1 + 1e-9)


def test_an_item_without_ratings_may_be_anywhere() -> None:
    """It can be the best: so nobody is surely first, and it is surely in the top of all alone."""
    question = build_question(HOTELS, 0.5)
    assert all(np.isnan(find_shared_top_k_breakdown(question, item, 1)) for item in range(6))
    assert find_shared_top_k_breakdown(question, 4, 6) == 0
    assert np.isnan(find_shared_top_k_breakdown(question, 4, 5))


def test_sampling_error_is_allowed_for() -> None:
    question = build_question([row for row in HOTELS if any(row)], 0.5)
    plain = find_shared_top_k_breakdown(question, 0, 1)
    noisy = find_shared_top_k_breakdown(question, 0, 1, sampling_error=True)
    assert 0 < plain < noisy < 1
    # One item is first if it is above each of the others, tested for all pairs.
    above = rank_shared(question.at(noisy * 1.001), k=1, sampling_error=True).surely
    assert above is not None
    assert above[0]
    assert np.isnan(find_shared_top_k_breakdown(question, 4, 1, sampling_error=True))


def test_what_cannot_be_asked() -> None:
    question = build_question(HOTELS, 0.5)
    with pytest.raises(OptionError, match="k must be at most the number of items, 6; got 7"):
        find_shared_top_k_breakdown(question, 0, 7)
    with pytest.raises(OptionError, match="from 0 to 5"):
        find_shared_top_k_breakdown(question, 6, 1)
