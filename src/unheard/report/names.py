"""What a report calls the items and the groups that they are ranked in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from unheard.tables.request import Request
from unheard.text import name_of

_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def strip_direction_marks(text: str) -> str:
    """Remove the characters that would reverse the text after them."""
    return _DIRECTION_MARKS.sub("", text)


def name_item(row: Mapping[str, Any], item: Sequence[str]) -> str:
    """Write the name of an item; the values of several columns are joined by commas."""
    return ", ".join(strip_direction_marks(name_of(row[key])).strip() or "(empty)" for key in item)


def name_group(row: Mapping[str, Any], request: Request) -> str | None:
    """Write the rating column and the window that an item is ranked in, if any."""
    keys = [key for key in request.compared_within if key != "window_end"]
    return ", ".join(name_of(row[key]) for key in keys) or None


def name_row(request: Request) -> str:
    """Return the noun for a row of the result."""
    return "row" if request.compared_within else "item"


def name_grouping(request: Request) -> str | None:
    """Return the noun for what the items are ranked within; None if all are ranked together."""
    if not request.compared_within:
        return None
    return "attribute" if request.attributes else "window"
