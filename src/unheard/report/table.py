"""The rows of a report's ranking: what each cell says, and the interval drawn small."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from unheard.core.aggregators import AGGREGATORS
from unheard.core.scale import Scale
from unheard.decide.words import printable, range_text, rating_text
from unheard.report.facts import Facts
from unheard.report.stories import item_name, within_name

LONGEST_NAME = 300
"""How much of a long name is there to be searched and pointed at."""

STRIP = 120
"""How wide a small drawing is."""

DRAWN = "on the scale"
"""What stands above the small drawings."""

_MARGIN = 5

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
    """

    heading: str
    says: str
    show: Show | None


@dataclass(frozen=True)
class Strip:
    """Where the marks of a small drawing are."""

    low: str | None
    high: str | None
    ci_low: str | None
    ci_high: str | None
    average: str | None
    estimate: str | None


@dataclass(frozen=True)
class Line:
    """A row of the ranking."""

    name: str
    whole_name: str | None
    cells: list[str | Strip]


def columns(facts: Facts) -> list[Column]:
    """Return the columns of a report's ranking."""
    request, width = facts.request, facts.scale.width

    def rating(name: str) -> Show:
        return lambda row: rating_text(row[name], width)

    def ends(low: str, high: str) -> Show:
        return lambda row: range_text(row[low], row[high], width)

    def whole(name: str) -> Show:
        return lambda row: "–" if row[name] is None else f"{row[name]:,}"

    within = Column(
        "within", "What it is ranked within", lambda row: within_name(row, request) or ""
    )
    claim = facts.claim
    side = "" if claim is None else claim.side
    method = AGGREGATORS[request.method].words
    made = {
        within: bool(request.compared_within),
        Column("places", "All that the item may have, depending on the silent", places_text): True,
        Column("ratings", "How many were given", whole("n_ratings")): True,
        Column("people", "How many could have rated it", whole("n")): request.n_known,
        Column("average", "Mean of the ratings given", rating("average")): True,
        Column("its place", "Place by plain average", whole("average_rank")): True,
        Column("estimate", f"{method[0].upper()}{method[1:]}", rating("estimate")): True,
        Column(DRAWN, "", None): True,
        Column("interval", "Everything the assumption allows", ends("lower", "upper")): True,
        Column(
            f"{(request.level or 0) * 100:.6g}% confidence",
            "The same with sampling noise",
            ends("ci_lower", "ci_upper"),
        ): request.level is not None,
        Column(
            "with noise", "Possible places with chance on top", lambda row: places_text(row, "ci_")
        ): request.noise,
        Column("tier", "Items of different tiers cannot change places", whole("tier")): True,
        Column(f"top {facts.k:,}", "Whether it is among the best", verdict_text): True,
        Column(
            f"{side} if q >",
            f"The mean is {side} as long as q is larger than this, noise aside",
            lambda row: q_cell(row["breakdown_q"]),
        ): claim is not None,
        Column("flags", "Explained under The data", lambda row: " ".join(row["flags"])): bool(
            facts.flags
        ),
    }
    return [one for one, wanted in made.items() if wanted]


def places_text(row: Mapping[str, Any], prefix: str = "") -> str:
    """Write the places that are possible."""
    first, last = row[f"{prefix}best_rank"], row[f"{prefix}worst_rank"]
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def verdict_text(row: Mapping[str, Any]) -> str:
    """Say whether a row is among the best; where noise makes a difference, say that."""
    differs = row["ci_top"] is not None and row["ci_top"] != row["top"]
    return f"{row['top']}, noise aside" if differs else str(row["top"])


def q_cell(q: float | None) -> str:
    """Write a breakdown q."""
    if q is None:
        return "never"
    return "any" if q == 0 else f"{q:.2f}"


def line(row: Mapping[str, Any], facts: Facts, shown: Sequence[Column]) -> Line:
    """Return a row of the ranking."""
    item = facts.request.item
    name = item_name(row, item)
    whole = ", ".join(printable("(none)" if row[key] is None else str(row[key])) for key in item)
    return Line(
        name,
        whole[:LONGEST_NAME] if whole != name else None,
        [strip(row, facts.scale) if one.show is None else one.show(row) for one in shown],
    )


def strip(row: Mapping[str, Any], scale: Scale) -> Strip:
    """Place the marks of a small drawing."""
    names = ("lower", "upper", "ci_lower", "ci_upper", "average", "estimate")
    return Strip(*(None if row[name] is None else place(row[name], scale) for name in names))


def place(value: float, scale: Scale) -> str:
    """Say where a value of the scale is in a small drawing; what lies off it is put at its end."""
    share = min(max((value - scale.lowest) / scale.width, 0.0), 1.0)
    return f"{_MARGIN + share * (STRIP - 2 * _MARGIN):.1f}".removesuffix(".0")
