"""A comparison of two items as text, documents and rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from rich.text import Text

from unheard.analysis.compare import Comparison, Difference
from unheard.present.estimates import (
    NUMBERS,
    assumption_document,
    averages,
    headings,
    note_sentences,
    number_cells,
    numbers_document,
)
from unheard.present.layout import Page, apart
from unheard.present.phrases import LOOSENED, claim_text, never_text
from unheard.text import count_text, printable, rating_text

WAY_WORDS = {"separate": "each its own participation", "shared": "one shared participation"}
"""The two ways to take a difference."""

_SHARED = (
    "Shared participation: people with the same rating respond equally often, whichever of the two "
    "they rate. Assume it where both have the same kind of respondents."
)


def write_document(comparison: Comparison) -> dict[str, Any]:
    """Return the JSON document of a comparison."""
    question = comparison.question
    counts = question.counts
    items = {
        key: {
            "name": comparison.names[row],
            "counts": counts.cells[row].tolist(),
            "n": None if counts.n is None else int(counts.n[row]),
            **numbers_document(one),
        }
        for row, (key, one) in enumerate((("a", comparison.a), ("b", comparison.b)))
    }
    return {
        "scale": list(counts.scale.values),
        **items,
        "assumption": assumption_document(question),
        "level": question.level,
        "covers": question.covers,
        "leader": comparison.leader,
        "separate": asdict(comparison.separate),
        "shared": asdict(comparison.shared),
        "words": list(list_sentences(comparison)),
    }


def tabulate(comparison: Comparison) -> list[dict[str, Any]]:
    """Return a row for each item, then one for each way to take the difference."""
    question = comparison.question
    rows: list[dict[str, Any]] = [
        {"name": name, "n_ratings": int(ratings), "average": mean, **_numbers(one)}
        for name, ratings, mean, one in zip(
            comparison.names,
            question.counts.n_ratings,
            averages(question),
            (comparison.a, comparison.b),
            strict=True,
        )
    ]
    nothing = {"n_ratings": None, "average": None}
    for way, difference in _ways(comparison, None).items():
        rows.append({"name": f"difference, {way}", **nothing, **_numbers(difference)})
    return rows


def _numbers(one: object) -> dict[str, Any]:
    return {name: getattr(one, name) for name in NUMBERS}


def _ways(comparison: Comparison, shared: bool | None) -> dict[str, Difference]:
    """Return the difference for each way to take it; both ways if neither is chosen."""
    ways = {"separate": comparison.separate, "shared": comparison.shared}
    return {way: one for way, one in ways.items() if shared in (None, way == "shared")}


def list_sentences(comparison: Comparison, shared: bool | None = None) -> Iterator[str]:
    """Yield which item is ahead and when, what the notes mean, and the assumption.

    Both ways to take the difference are reported if neither is chosen.
    """
    question = comparison.question
    never = never_text(question.assumption)
    if comparison.leader is None:
        yield "Neither item is ahead: at q = 1 they are equal."
    else:
        ahead, behind = comparison.names if comparison.leader == "a" else comparison.names[::-1]
        for way, one in _ways(comparison, shared).items():
            claim, condition = f"{ahead} is ahead of {behind}", f"with {way} participation"
            yield claim_text(claim, one.breakdown_q, one.ci_breakdown_q, never, condition)
        if question.assumption.per_rating:
            yield LOOSENED
    if shared is not False:
        yield _SHARED
    yield from note_sentences((*comparison.a.notes, *comparison.b.notes))
    yield f"Assumption: {question.words}"


def list_cells(comparison: Comparison) -> list[list[str]]:
    """Return the numbers as a table."""
    width = comparison.question.counts.scale.width
    first, second = comparison.names
    names = [*comparison.names]
    names += [f"{first} minus {second}, {WAY_WORDS[way]}" for way in WAY_WORDS]
    ways = (comparison.a, comparison.b, *_ways(comparison, None).values())
    return [["", *headings(comparison.question.level)]] + [
        [name, *number_cells([*_numbers(one).values()], width)]
        for name, one in zip(names, ways, strict=True)
    ]


def explain(comparison: Comparison) -> Iterator[str]:
    """Yield what the numbers say."""
    return list_sentences(comparison)


def write_lines(comparison: Comparison, page: Page, shared: bool | None = None) -> Iterator[Text]:
    """Write a comparison as the terminal shows it; one way alone if it is chosen."""
    question = comparison.question
    width = question.counts.scale.width
    first, second = (printable(name) for name in comparison.names)
    comparison = replace(comparison, names=(first, second))
    columns = headings(question.level)
    items = [["", "ratings", "average", *columns]]
    for row, mean in enumerate(averages(question)):
        one = (comparison.a, comparison.b)[row]
        seen = [count_text(question.counts.n_ratings[row]), rating_text(mean, width)]
        items.append(
            [comparison.names[row], *seen, *number_cells([*_numbers(one).values()], width)]
        )
    differences = [[f"{first} minus {second}", *columns]]
    for way, difference in _ways(comparison, shared).items():
        differences.append([WAY_WORDS[way], *number_cells([*_numbers(difference).values()], width)])
    words = [line for text in list_sentences(comparison, shared) for line in page.paragraph(text)]
    return apart(page.table(items, "<>>><<"), page.table(differences, "<><<"), words)
