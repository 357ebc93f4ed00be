"""The rows of a report's ranking: what each cell says, and the interval drawn small."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from unheard.core.aggregators import AGGREGATORS
from unheard.core.documents import tidy
from unheard.core.scale import Scale
from unheard.decide.words import (
    places_text,
    printable,
    q_cell,
    range_text,
    rating_text,
    verdict_text,
)
from unheard.report.facts import Facts
from unheard.report.stories import item_name, straight, within_name

LONGEST_NAME = 300
"""How much of a long name is there to be searched and pointed at."""

STRIP = 140
"""How wide a small drawing is."""

_MARGIN, _MOST_TICKS = 5, 11

Ends: TypeAlias = tuple[float, float]
"""The values at the two ends of a small drawing."""

Show: TypeAlias = Callable[[Mapping[str, Any]], str]
"""From a row to the text of one of its cells."""


@dataclass(frozen=True)
class Column:
    """A column of the ranking, after the one that names the item.

    Attributes
    ----------
    heading
        What stands above it.
    says
        What it means.
    show
        From a row to the text of its cell; None for the small drawing.
    printed
        Whether there is room for it on paper.
    """

    heading: str
    says: str
    show: Show | None
    printed: bool = True


@dataclass(frozen=True)
class Strip:
    """Where the marks of a small drawing are."""

    low: float | None
    high: float | None
    ci_low: float | None
    ci_high: float | None
    average: float | None
    estimate: float | None


@dataclass(frozen=True)
class Line:
    """A row of the ranking."""

    name: str
    whole_name: str | None
    cells: list[str | Strip]


def columns(facts: Facts, ends: Ends) -> list[Column]:
    """Return the columns of a report's ranking."""
    request, width = facts.request, facts.scale.width

    def rating(name: str) -> Show:
        return lambda row: rating_text(row[name], width)

    def span(low: str, high: str) -> Show:
        return lambda row: range_text(row[low], row[high], width)

    def whole(name: str) -> Show:
        return lambda row: "–" if row[name] is None else f"{row[name]:,}"

    within = Column(
        "within", "What it is ranked within", lambda row: within_name(row, request) or ""
    )
    claim = facts.claim
    tiers = any(row["tier"] != 1 for row in facts.rows)
    side = "" if claim is None else claim.side
    method = AGGREGATORS[request.method].words
    made = {
        within: bool(request.compared_within),
        Column("places", "All that the item may have, depending on the silent", places_text): True,
        Column("ratings", "How many were given", whole("n_ratings")): True,
        Column("people", "How many could have rated it", whole("n")): request.n_known,
        Column("average", "Mean of the ratings given", rating("average")): True,
        Column("place by average", "Place by plain average", whole("average_rank")): True,
        Column("estimate", f"{method[0].upper()}{method[1:]}", rating("estimate")): True,
        Column(f"from {ends[0]:g} to {ends[1]:g}", "", None): True,
        Column("interval", "Everything the assumption allows", span("lower", "upper")): True,
        Column(
            f"{(request.level or 0) * 100:.6g}% confidence",
            "The same with sampling noise",
            span("ci_lower", "ci_upper"),
            printed=False,  # the drawing beside it shows it
        ): request.level is not None,
        Column(
            "with noise", "Possible places with chance on top", lambda row: places_text(row, "ci_")
        ): request.noise,
        Column("tier", "Items of different tiers cannot change places", whole("tier")): tiers,
        Column(f"top {facts.k:,}", "Whether it is among the best", verdict_text): True,
        Column(
            f"{side} if q\xa0>",
            f"The mean is {side} as long as q is larger than this, noise aside",
            lambda row: q_cell(row["breakdown_q"]),
        ): claim is not None,
        Column("flags", "Explained under The data", lambda row: " ".join(row["flags"])): bool(
            facts.flags
        ),
    }
    return [one for one, wanted in made.items() if wanted]


def line(row: Mapping[str, Any], item: Sequence[str], shown: Sequence[Column], ends: Ends) -> Line:
    """Return a row of the ranking."""
    name = item_name(row, item)
    whole = ", ".join(straight(printable(str(row[key]))) for key in item)
    return Line(
        name,
        whole[:LONGEST_NAME] if len(whole) > len(name) else None,
        [strip(row, ends) if one.show is None else one.show(row) for one in shown],
    )


def axis(facts: Facts) -> Ends:
    """Return the values of the scale between which the intervals lie, but for one in a hundred."""
    values = facts.scale.values
    lowest, highest = (sorted(row[name] for row in facts.rows) for name in ("lower", "upper"))
    if not facts.rows:
        return values[0], values[-1]
    few = len(facts.rows) // 100
    low = max(bisect_right(values, lowest[few]) - 1, 0)
    high = min(bisect_left(values, highest[-1 - few]), len(values) - 1)
    return (values[low], values[high]) if low < high else (values[0], values[-1])


def ticks(scale: Scale, ends: Ends) -> list[float]:
    """Say where the values of the scale are in a small drawing; of many only the ends."""
    between = [value for value in scale.values if ends[0] <= value <= ends[1]]
    return [place(value, ends) for value in (between if len(between) <= _MOST_TICKS else ends)]


def strip(row: Mapping[str, Any], ends: Ends) -> Strip:
    """Place the marks of a small drawing; lines are cut where it ends."""
    lines = ("lower", "upper", "ci_lower", "ci_upper")
    points = (row[name] for name in ("average", "estimate"))
    return Strip(
        *(None if row[name] is None else place(row[name], ends) for name in lines),
        *(place(x, ends) if x is not None and ends[0] <= x <= ends[1] else None for x in points),
    )


def place(value: float, ends: Ends) -> float:
    """Say where a value is in a small drawing; what lies off it is put at its end."""
    share = min(max((value - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)
    return tidy(round(_MARGIN + share * (STRIP - 2 * _MARGIN), 1))
