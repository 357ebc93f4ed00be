"""Results in notebooks: a picture if a drawing library is there, a table and words in any case."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from html import escape
from typing import Any, TypeAlias

import numpy as np

from unheard.analysis.breakdown import Claim
from unheard.analysis.calibrate import Audit
from unheard.analysis.compare import Comparison
from unheard.analysis.sweep import Sweep
from unheard.charts.picture import Picture
from unheard.errors import MissingLibraryError, OptionError
from unheard.model.notes import NOTE_TEXTS
from unheard.model.question import Question
from unheard.model.results import Estimate
from unheard.present import chart_records
from unheard.text import plural, range_text, rating_text, write_exactly

Cells: TypeAlias = list[list[str]]
"""A table as text, the headings first."""

_SHOWN = 10
"""How many rows of a long result are shown."""

_NAMES = ("A", "B")


def html(result: Any) -> str:
    """Show a result: its picture, its numbers in a table, and what they mean."""
    said = escape(words(result))
    try:
        drawn = f'<figure style="margin:0" role="img" aria-label="{said}">{_svg(result)}</figure>'
    except (MissingLibraryError, OptionError):
        drawn = ""  # nothing to draw with, or too much to draw
    return f'<div>{drawn}{_table(cells(result))}<p style="max-width:50em">{said}</p></div>'


def _svg(result: Any) -> str:
    return chart(result).svg()


def records(result: Any) -> list[dict[str, Any]]:
    """Return the tidy rows behind the drawing of a result."""
    return [dict(row) for row in chart(result).records]


@singledispatch
def chart(result: Any, **options: Any) -> Picture:
    """Draw a result."""
    raise TypeError(f"{type(result).__name__} cannot be drawn")


@singledispatch
def words(result: Any) -> str:
    """Say what a result says."""
    raise TypeError(f"{type(result).__name__} cannot be shown")


@singledispatch
def cells(result: Any) -> Cells:
    """Return the numbers of a result as text."""
    raise TypeError(f"{type(result).__name__} cannot be shown")


@chart.register
def _(result: Estimate) -> Picture:
    from unheard.charts.draw import draw_estimate

    question = _asked(result)
    if question.counts.rows > 1:
        raise OptionError(
            "chart",
            f"{question.counts.rows:,} histograms found",
            "Draw one at a time, or their order by unheard.charts.draw_ranking",
        )
    return draw_estimate(question, [result])


@words.register
def _(result: Estimate) -> str:
    question, many = result.question, np.size(result.estimate)
    notes = dict.fromkeys(flag for row in _rows(result) for flag in row[-1])
    messages = [f"{flag}: {NOTE_TEXTS[flag]}." for flag in notes]
    if question is None:
        return " ".join(messages)
    if many == 1:
        return " ".join([chart_records.estimate_words(question, [result]), *messages])
    more = [f"{plural(many - _SHOWN, 'more row')}."] if many > _SHOWN else []
    return " ".join([*more, *messages, f"Assumption: {question.words}"])


@cells.register
def _(result: Estimate) -> Cells:
    question = result.question
    level = None if question is None else question.level
    width = 1.0 if question is None else question.counts.scale.width
    table = [["", *_headings(level, result.ci_lower is not None), "notes"]]
    for place, (*numbers, notes) in enumerate(_rows(result)):
        name = result.method if np.ndim(result.estimate) == 0 else str(place)
        table.append([name, *_numbers(numbers, width), " ".join(notes)])
    return table


def _rows(result: Estimate) -> list[tuple[Any, ...]]:
    """Return the first rows of an estimate: its numbers and notes."""
    columns = [result.estimate, result.lower, result.upper, result.ci_lower, result.ci_upper]
    if np.ndim(result.estimate) == 0:
        return [(*columns, result.notes)]
    shown = range(min(len(result.estimate), _SHOWN))
    return [
        (*(None if column is None else column[i] for column in columns), result.notes[i])
        for i in shown
    ]


def _asked(result: Any) -> Question:
    question: Question | None = result.question
    if question is None:
        raise OptionError(
            "question", "a result without it", "Ask estimate or sweep, which keep their question"
        )
    return question


def _headings(level: float | None, noise: bool) -> list[str]:
    return ["estimate", "interval", *([chart_records.confidence_words(level)] if noise else [])]


def _numbers(row: Sequence[Any], width: float) -> list[str]:
    estimate, lower, upper, ci_lower, ci_upper = row
    noise = [] if ci_lower is None else [range_text(ci_lower, ci_upper, width)]
    return [rating_text(estimate, width), range_text(lower, upper, width), *noise]


@chart.register
def _(
    result: Sweep,
    *,
    above: float | None = None,
    below: float | None = None,
    q: float | None = None,
) -> Picture:
    from unheard.charts.draw import draw_sweep

    question = _asked(result)
    stated = above is not None or below is not None
    claim = Claim.read(above, below, question.counts.scale) if stated else None
    return draw_sweep(question, result, claim, q=q)


@words.register
def _(result: Sweep) -> str:
    if result.question is None:
        return ""
    return chart_records.sweep_words(
        result.question, chart_records.sweep_rows(result.question, result)
    )


@cells.register
def _(result: Sweep) -> Cells:
    level = None if result.question is None else result.question.level
    width = 1.0 if result.question is None else result.question.counts.scale.width
    columns = (result.estimate, result.lower, result.upper, result.ci_lower, result.ci_upper)
    table = [["q", *_headings(level, True), "notes"]]
    for q, *numbers, notes in zip(result.q, *columns, result.notes, strict=True):
        table.append([f"{q:.3g}", *_numbers(numbers, width), " ".join(notes)])
    return table


@chart.register
def _(result: Comparison, *, names: tuple[str, str] = _NAMES) -> Picture:
    from unheard.charts.draw import draw_comparison

    return draw_comparison(result, names)


@words.register
def _(result: Comparison) -> str:
    return chart_records.comparison_words(result, _NAMES)


@cells.register
def _(result: Comparison) -> Cells:
    width = result.question.counts.scale.width
    table = [["", *_headings(result.question.level, True)]]
    for row in chart_records.comparison_records(result, _NAMES):
        name = row["name"] if row["part"] == "items" else f"A less B, {row['name']}"
        table.append([name, *_numbers([row[column] for column in chart_records.NUMBERS], width)])
    return table


@chart.register
def _(result: Audit) -> Picture:
    from unheard.charts.draw import draw_calibration

    return draw_calibration(result)


@words.register
def _(result: Audit) -> str:
    return chart_records.calibration_words(result)


@cells.register
def _(result: Audit) -> Cells:
    what = "participation" if result.paired else "relative participation"
    box = f"{result.level * 100:.6g}% box, all together"
    table = [["rating", "audited", "answers", what, box]]
    for row in chart_records.calibration_records(result)[: 2 * _SHOWN]:
        guess = "unknown" if row["g"] is None else f"{row['g']:.3f}"
        people = f"{row['audited']:,.0f}", f"{row['answers']:,.0f}"
        limits = f"{row['g_lower']:.3f} to {row['g_upper']:.3f}"
        table.append([write_exactly(row["rating"]), *people, guess, limits])
    return table


def _table(table: Cells) -> str:
    """Write cells as a table whose headings are told as such to those who hear it."""
    if not any(row[-1] for row in table[1:]):
        table = [row[:-1] for row in table]  # no notes
    head, *body = table
    cell = 'style="text-align:right;padding:2px 10px"'
    heads = "".join(f'<th scope="col" {cell}>{escape(text)}</th>' for text in head)
    lines = [
        f'<tr><th scope="row" {cell}>{escape(first)}</th>'
        + "".join(f"<td {cell}>{escape(text)}</td>" for text in rest)
        + "</tr>"
        for first, *rest in body
    ]
    return (
        '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )
