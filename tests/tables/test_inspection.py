"""What the columns of a table are taken for, before a person has said so."""

from __future__ import annotations

from pathlib import Path

import pytest

from unheard.tables.sources.inspection import ColumnSummary, Guess, WordReading, guess, inspect
from unheard.tables.sources.open import Where, open_source

ROWS = 200


def text(name: str, distinct: int) -> ColumnSummary:
    return ColumnSummary(name, "text", distinct, 0, None, None, None, None, ())


def whole(name: str, distinct: int, least: float = 1, greatest: float = 5) -> ColumnSummary:
    ends = float(least), float(greatest)
    return ColumnSummary(name, "whole", distinct, 0, *ends, *ends, ())


STARS = whole("stars", 5)


@pytest.mark.parametrize(
    ("columns", "item", "rating", "people"),
    [
        ([text("hotel", 5), STARS], "hotel", "stars", None),
        # Names go before values: a small whole number need not be a rating.
        ([text("hotel", 5), whole("nights", 4), STARS], "hotel", "stars", None),
        ([whole("value", 5), whole("course", 30, 1, 30)], "course", "value", None),
        ([text("country", 3), whole("hotel", 40, 1, 900), STARS], "hotel", "stars", None),
        ([whole("id", ROWS, 1, ROWS), text("town", 9), STARS], "town", "stars", None),
        # A rating that everybody gave is one all the same.
        ([whole("shop", 5, 1, 5), whole("stars", 1, 5, 5)], "shop", "stars", None),
        ([whole("marketing", 5), whole("grade_given", 5)], "marketing", "grade_given", None),
        # What was rated must be said, how many people there are need not.
        ([whole("guests", 9, 10, 90), STARS], "guests", "stars", None),
        ([text("hotel", 5), whole("guests", 5, 9, 90), STARS], "hotel", "stars", "guests"),
        ([text("user", ROWS), STARS], "user", "stars", None),
        ([STARS], None, "stars", None),
        ([text("hotel", 5)], "hotel", None, None),
    ],
    ids=lambda given: "+".join(one.name for one in given) if isinstance(given, list) else None,
)  # fmt: skip
def test_no_column_is_guessed_twice_and_names_go_first(
    columns: list[ColumnSummary], item: str | None, rating: str | None, people: str | None
) -> None:
    found = guess(columns, ROWS)
    assert (found.item, found.rating, found.n_column) == ((item,) if item else (), rating, people)


def words(name: str, *examples: str, read: bool) -> ColumnSummary:
    readings = (WordReading("auto", "1:5", ()),) if read else ()
    return ColumnSummary(name, "text", 5, 0, None, None, None, None, examples, readings)


@pytest.mark.parametrize(
    ("columns", "rating", "doubt"),
    [
        ([text("hotel", 5), STARS], "stars", None),
        ([text("hotel", 5)], None, "No column looks like ratings"),
        ([words("1", "A", "B", read=True), whole("2", ROWS)], "1", "The ratings are probably in"),
        ([words("1", "A", "B", read=True), whole("2", 4)], "2", None),
        ([words("course", "A", "B", read=True), words("answer", "meh", read=False)],
         "answer", "words in 'answer' are not recognised"),
        ([words("Staff", "Good", read=True), words("Price", "Good", read=True)],
         "Staff", "in 'Staff' or 'Price': choose one"),
    ],
)  # fmt: skip
def test_what_is_not_sure_is_said(
    columns: list[ColumnSummary], rating: str | None, doubt: str | None
) -> None:
    found = guess(columns, ROWS)
    assert found.rating == rating
    assert (found.doubt is None) if doubt is None else doubt in (found.doubt or "")


def test_a_row_with_counts_is_an_item() -> None:
    counts = [whole(f"n{stars}", 9, 0, 40) for stars in range(1, 6)]
    columns = [text("town", 9), whole("hotel_id", ROWS, 1, ROWS), *counts]
    names = tuple(one.name for one in counts)
    assert guess(columns, ROWS) == Guess(("hotel_id",), None, names, "1,2,3,4,5", None)


def test_a_table_is_looked_into(tmp_path: Path) -> None:
    file = tmp_path / "few.csv"
    file.write_text("id,stars\n1,3\n1,3\n2,\n2,3\n")
    opened = open_source(file, None, Where())
    try:
        found = inspect(opened)
    finally:
        opened.engine.close()
    assert found["rows"] == 4
    assert [(one["name"], one["distinct"], one["missing"]) for one in found["columns"]] == [
        ("id", 2, 0), ("stars", 1, 1),
    ]  # fmt: skip
    assert (found["guess"]["item"], found["guess"]["rating"]) == (("id",), "stars")
