"""What a report says about its data."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.report.examples import COUNTS, report_about, table_of
from unheard.report.sentences import describe_data, write_share


@pytest.mark.parametrize(
    ("some", "of", "words"),
    [
        (0, 0, "0%"),
        (0, 9, "0%"),
        (9, 9, "100%"),
        (1, 1000, "less than 1%"),
        (999, 1000, "more than 99%"),
        (1, 3, "33%"),
    ],
)
def test_shares(some: int, of: int, words: str) -> None:
    assert write_share(some, of) == words


def test_what_was_left_out_is_said() -> None:
    rated = pa.table({"hotel": ["A"] * 4 + ["B"] * 3, "stars": [5, None, 9, 4, 1, None, 2]})
    found = report_about(rated, rating="stars", q=0.3, nulls="drop", off_scale="drop")
    assert (found.tally.rows, found.tally.counted) == (7, 4)
    assert (found.tally.nulls, found.tally.off_scale) == (2, 1)
    assert found.notes == {"few_ratings": 2, "rows_dropped": 2}
    assert len(found.messages) == 2
    assert "7 rows read; 4 ratings counted." in describe_data(found)
    assert not any("was left out" in words for words in describe_data(found))


def test_clean_data_is_said_to_be_so() -> None:
    words = describe_data(report_about(table_of(COUNTS), q=0.5))
    assert "No rating was left out: none was empty or off the scale." in words
    assert "No item has notes." in words


def test_items_with_the_same_number_of_ratings() -> None:
    found = report_about(table_of({"A": [1, 0, 0, 0, 0], "B": [0, 0, 0, 0, 1]}), q=0.5)
    assert "The items have 1 rating each." in describe_data(found)
    assert found.notes == {"few_ratings": 2}
    assert found.headline[1] == "Ignoring sampling error, B (1 rating) is first."
    assert found.changed_items == []
