"""The table of a report's ranking: its columns, its rows, and a small drawing in each row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from unheard.formulas.estimators import ESTIMATORS
from unheard.model.scale import Scale
from unheard.present.estimates import tidy
from unheard.present.phrases import q_cell, ranks_text, verdict_text
from unheard.report.names import name_group, name_item, strip_direction_marks
from unheard.report.report_data import ReportData, has_tiers
from unheard.text import printable, range_text, rating_text, write_exactly

LONGEST_NAME = 300
"""How much of a long name can be searched, and is shown on pointing at it."""

STRIP_WIDTH = 140
"""Width of a small drawing."""

_MARGIN, _MAX_TICKS = 5, 11

_DRAWN = ("lower", "upper", "ci_lower", "ci_upper", "average", "estimate")
"""The columns that a small drawing shows."""

Ends: TypeAlias = tuple[float, float]
"""The values at the two ends of a small drawing."""

WriteCell: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Writes one of the cells of a row."""


@dataclass(frozen=True)
class TableColumn:
    """A column of the ranking, after the one that names the item.

    ``write`` writes a cell, and is None for the small drawing; ``printed`` says whether there is
    room for the column on paper.
    """

    heading: str
    meaning: str
    write: WriteCell | None
    printed: bool = True


@dataclass(frozen=True)
class Strip:
    """Positions of the marks of a small drawing."""

    low: float | None
    high: float | None
    ci_low: float | None
    ci_high: float | None
    average: float | None
    estimate: float | None


@dataclass(frozen=True)
class TableRow:
    """A row of the ranking."""

    name: str
    whole_name: str | None
    cells: list[str | Strip]


def list_columns(data: ReportData, ends: Ends) -> list[TableColumn]:
    """Return the columns of the ranking."""
    request, width = data.request, data.scale.width

    def rating(name: str) -> WriteCell:
        return lambda row: rating_text(row[name], width)

    def span(low: str, high: str) -> WriteCell:
        return lambda row: range_text(row[low], row[high], width)

    def whole(name: str) -> WriteCell:
        return lambda row: "–" if row[name] is None else f"{row[name]:,}"

    within = TableColumn(
        "within", "What the item is ranked within", lambda row: name_group(row, request) or ""
    )
    claim, top = data.claim, "first" if data.k == 1 else f"top {data.k:,}"
    side = "" if claim is None else claim.side
    method = ESTIMATORS[request.method].words
    # A phone shows only the first columns without scrolling.
    wanted = {
        within: bool(request.compared_within),
        TableColumn("estimate", f"{method[0].upper()}{method[1:]}", rating("estimate")): True,
        TableColumn("bounds", "What the assumption allows", span("lower", "upper")): True,
        TableColumn(
            f"{(request.level or 0) * 100:.6g}% confidence interval",
            "The bounds widened by sampling error",
            span("ci_lower", "ci_upper"),
        ): request.level is not None,
        TableColumn(f"from {write_exactly(ends[0])} to {write_exactly(ends[1])}", "", None): True,
        TableColumn("average", "Plain average of the ratings", rating("average")): True,
        TableColumn("ratings", "Number of ratings", whole("n_ratings")): True,
        TableColumn(
            "people", "Number of people who could have rated it", whole("n")
        ): request.n_known,
        TableColumn(
            "rank range", "Ranks that the assumption allows, ignoring sampling error", ranks_text
        ): True,
        TableColumn(
            "rank range with sampling error",
            "The rank range widened by sampling error",
            lambda row: ranks_text(row, "ci_"),
        ): request.ranks_allow_for_error,
        TableColumn(
            "rank by average", "Rank by plain average", whole("average_rank"), printed=False
        ): True,
        TableColumn("tier", "Items of different tiers cannot swap ranks", whole("tier")): has_tiers(
            data.rows
        ),
        TableColumn(
            top, f"Whether the item is {'' if data.k == 1 else 'in the '}{top}", verdict_text
        ): (data.numbers.items > 1),
        TableColumn(
            f"{side} if q\xa0>",
            f"The mean is {side} as long as q is above this, ignoring sampling error",
            lambda row: q_cell(row["breakdown_q"]),
        ): claim is not None,
        TableColumn("notes", "Explained under Data", lambda row: " ".join(row["notes"])): bool(
            data.notes
        ),
    }
    return [one for one, is_wanted in wanted.items() if is_wanted]


def build_line(
    row: Mapping[str, Any], item: Sequence[str], columns: Sequence[TableColumn], ends: Ends
) -> TableRow:
    """Return a row of the ranking."""
    name = name_item(row, item)
    whole = ", ".join(strip_direction_marks(printable(str(row[key]))) for key in item)
    return TableRow(
        name,
        whole[:LONGEST_NAME] if len(whole) > len(name) else None,
        [place_marks(row, ends) if one.write is None else one.write(row) for one in columns],
    )


def find_ends(data: ReportData) -> Ends:
    """Return the values of the scale that enclose everything that is drawn."""
    values = data.scale.values
    drawn = [row[name] for row in data.rows for name in _DRAWN if row[name] is not None]
    low = max(bisect_right(values, min(drawn)) - 1, 0)
    high = min(bisect_left(values, max(drawn)), len(values) - 1)
    return (values[low], values[high]) if low < high else (values[0], values[-1])


def place_ticks(scale: Scale, ends: Ends) -> list[float]:
    """Return the positions of the values of the scale; of many only those of the ends."""
    between = [value for value in scale.values if ends[0] <= value <= ends[1]]
    return [place_value(value, ends) for value in (between if len(between) <= _MAX_TICKS else ends)]


def place_marks(row: Mapping[str, Any], ends: Ends) -> Strip:
    """Return the positions of the marks of a small drawing."""
    return Strip(*(None if row[name] is None else place_value(row[name], ends) for name in _DRAWN))


def place_value(value: float, ends: Ends) -> float:
    """Return the position of a value in a small drawing."""
    share = (value - ends[0]) / (ends[1] - ends[0])
    return tidy(round(_MARGIN + share * (STRIP_WIDTH - 2 * _MARGIN), 1))
