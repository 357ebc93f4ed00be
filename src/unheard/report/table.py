"""The rows of a report's ranking: what each cell says, and the interval drawn small."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from unheard.formulas.estimators import ESTIMATORS
from unheard.model.scale import Scale
from unheard.present.estimate_json import tidy
from unheard.present.phrases import places_text, q_cell, verdict_text
from unheard.report.changes import item_name, straight, within_name
from unheard.report.content import Facts, has_tiers
from unheard.text import printable, range_text, rating_text

LONGEST_NAME = 300
"""How much of a long name is there to be searched and pointed at."""

STRIP = 140
"""How wide a small drawing is."""

_MARGIN, _MOST_TICKS = 5, 11

_DRAWN = ("lower", "upper", "ci_lower", "ci_upper", "average", "estimate")
"""The columns that a small drawing shows."""

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
    side = "" if claim is None else claim.side
    method = ESTIMATORS[request.method].words
    # On a phone the first columns are all that is seen at once.
    made = {
        within: bool(request.compared_within),
        Column("estimate", f"{method[0].upper()}{method[1:]}", rating("estimate")): True,
        Column("interval", "Everything the assumption allows", span("lower", "upper")): True,
        Column(
            f"{(request.level or 0) * 100:.6g}% confidence",
            "The same with sampling noise",
            span("ci_lower", "ci_upper"),
        ): request.level is not None,
        Column(f"from {ends[0]:g} to {ends[1]:g}", "", None): True,
        Column("average", "Mean of the ratings given", rating("average")): True,
        Column("ratings", "How many were given", whole("n_ratings")): True,
        Column("people", "How many could have rated it", whole("n")): request.n_known,
        Column("places", "All that the item may have, depending on the silent", places_text): True,
        Column(
            "with noise", "Possible places with chance on top", lambda row: places_text(row, "ci_")
        ): request.noise,
        Column(
            "place by average", "Place by plain average", whole("average_rank"), printed=False
        ): True,
        Column("tier", "Items of different tiers cannot change places", whole("tier")): has_tiers(
            facts.rows
        ),
        Column(
            "first" if facts.k == 1 else f"top {facts.k:,}",
            "Whether it is among the best",
            verdict_text,
        ): facts.numbers.items > 1,
        Column(
            f"{side} if q\xa0>",
            f"The mean is {side} as long as q is larger than this, noise aside",
            lambda row: q_cell(row["breakdown_q"]),
        ): claim is not None,
        Column("notes", "Explained under The data", lambda row: " ".join(row["notes"])): bool(
            facts.notes
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
    """Return the values of the scale between which everything lies that is drawn."""
    values = facts.scale.values
    drawn = [row[name] for row in facts.rows for name in _DRAWN if row[name] is not None]
    low = max(bisect_right(values, min(drawn)) - 1, 0)
    high = min(bisect_left(values, max(drawn)), len(values) - 1)
    return (values[low], values[high]) if low < high else (values[0], values[-1])


def ticks(scale: Scale, ends: Ends) -> list[float]:
    """Say where the values of the scale are in a small drawing; of many only the ends."""
    between = [value for value in scale.values if ends[0] <= value <= ends[1]]
    return [place(value, ends) for value in (between if len(between) <= _MOST_TICKS else ends)]


def strip(row: Mapping[str, Any], ends: Ends) -> Strip:
    """Place the marks of a small drawing."""
    return Strip(*(None if row[name] is None else place(row[name], ends) for name in _DRAWN))


def place(value: float, ends: Ends) -> float:
    """Say where a value is in a small drawing."""
    share = (value - ends[0]) / (ends[1] - ends[0])
    return tidy(round(_MARGIN + share * (STRIP - 2 * _MARGIN), 1))
