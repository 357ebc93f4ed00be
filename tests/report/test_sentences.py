"""What a report says about its data."""

from __future__ import annotations

from html import unescape
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.learning import simulate_rates, simulate_waves
from tests.report.examples import COUNTS, report_about, table_of
from unheard.analysis.participation import Participation
from unheard.report.page import render_page
from unheard.report.report_json import build_document
from unheard.report.sentences import (
    describe_choice,
    describe_data,
    list_participation,
    write_share,
)


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


CHOICES: dict[str, dict[str, Any]] = {
    "q was stated, not measured.": {"q": 0.3},
    "Participation was stated, not measured.": {"g": [0.2, 0.3, 0.3, 0.5, 0.9]},
    "q is what a study found: USF online, course evaluations online": {"q": "usf-online"},
    "Each item's q comes from column doubt of the table.": {"q_column": "doubt"},
}


@pytest.mark.parametrize("begins", CHOICES)
@pytest.mark.usefixtures("undrawn")
def test_how_participation_was_chosen_is_said(begins: str) -> None:
    table = table_of(COUNTS, doubt=[0.5, 0.6, 0.7, 0.8, 0.9])
    data = report_about(table, **CHOICES[begins])
    assert describe_choice(data.request)[0].startswith(begins)
    assert list_participation(data.request) == []
    assert begins in unescape(render_page(data))


def learned_from(source: str) -> Participation:
    rng = np.random.default_rng(7)
    if source == "audit":
        return uh.calibrate([12, 30, 49, 25, 20], [400, 330, 230, 60, 40])
    if source == "waves":
        counts, people = simulate_waves(rng, 1, 4000, change=np.linspace(-1, 1, 5))
        return uh.calibrate_from_waves(counts, n=people)
    seen, n, _ = simulate_rates(rng, spread=0.5)
    return uh.suggest_participation(seen, n)


@pytest.mark.parametrize("source", ["audit", "waves", "response_rates"])
@pytest.mark.usefixtures("undrawn")
def test_what_participation_was_learned_from_is_said_with_its_warnings(source: str) -> None:
    found = learned_from(source)
    assert len(found.warnings) == (source != "audit")
    data = report_about(table_of(COUNTS), assumption=found.assumption)
    page = unescape(render_page(data))
    document = build_document(data)["assumption"]
    assert document["chosen"][1:] == list(found.sentences)
    assert document["warnings"] == list(found.warnings)
    for words in (*document["chosen"], *found.warnings):
        assert words in page
    # A suggestion is never used as participation per rating.
    rows = [] if source == "response_rates" else [f"{g:.3f}" for g in found.g]
    assert [g for _, g, _ in list_participation(data.request)] == rows
    assert ("suggested by response rates, and not measured" in data.assumption) == (not rows)
