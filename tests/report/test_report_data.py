"""The data of a report: small tables, odd names, and the JSON document."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from tests.report.examples import COUNTS, report_about, table_of
from unheard.analysis.sweep import GRID
from unheard.errors import DataError
from unheard.report.report_data import ReportData
from unheard.report.report_json import build_document
from unheard.report.sentences import name_best


def test_no_rows_are_refused() -> None:
    nothing = pa.table({"hotel": pa.array([], pa.string()), "stars": pa.array([], pa.int64())})
    with pytest.raises(DataError, match=r"^The pyarrow frame has no rows\. Use a table with"):
        report_about(nothing, rating="stars", q=0.3)


def test_items_without_ratings() -> None:
    found = report_about(table_of({"A": [0] * 5, "B": [0] * 5}), q=0.3)
    assert found.sensitivity is not None
    assert found.sensitivity.leader is None
    assert found.changed_items == []
    assert name_best(found) == []


def test_one_item() -> None:
    found = report_about(table_of({"A": [1, 2, 3, 4, 5]}), q=0.3)
    assert found.sensitivity is not None
    assert found.sensitivity.claims == []
    assert found.headline[0].startswith("The mean of A is between")
    assert found.headline[0].endswith("allowing for it.")


def test_names_are_shown_straight() -> None:
    found = report_about(table_of({"\u202eevil": [1, 2, 3, 4, 5], "": [9, 0, 0, 0, 0]}), q=0.9)
    assert found.sensitivity is not None
    assert found.sensitivity.claims[0].claim == "evil is first"
    assert {row["hotel"] for row in found.rows} == {"\u202eevil", ""}


def test_too_few_ratings_are_refused() -> None:
    with pytest.raises(DataError, match=r"excludes every item of stays\.csv; got 999") as caught:
        report_about(table_of(COUNTS), q=0.3, min_ratings=999)
    assert caught.value.argument == "min_ratings"


def test_document() -> None:
    found: ReportData = report_about(table_of(COUNTS), q=0.6, above=3.5)
    document = json.loads(json.dumps(build_document(found), allow_nan=False))
    assert document["rows"] == found.rows
    assert document["rows_left_out"] == 0
    assert document["headline"] == found.headline
    assert document["numbers"]["settled"] == found.numbers.settled
    assert [step["q"] for step in document["sweep"]] == sorted({*GRID, 0.6}, reverse=True)
    assert document["claims"][0]["claim"] == "Alder is first"
    assert document["quality"]["counted"] == sum(map(sum, COUNTS.values()))
    assert document["scale"] == [1, 2, 3, 4, 5]
