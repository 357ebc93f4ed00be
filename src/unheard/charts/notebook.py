"""Results in notebooks: a chart if a library can draw it, a table and words in any case."""

from __future__ import annotations

from functools import singledispatch
from html import escape

from unheard.analysis.compare import Comparison
from unheard.analysis.drift import Drift
from unheard.analysis.participation import Participation
from unheard.analysis.sweep import Sweep
from unheard.charts.picture import Picture
from unheard.errors import MissingLibraryError, OptionError
from unheard.game.regret_table import Regrets
from unheard.model.results import Estimate, Estimates, Result
from unheard.present.results import explain, list_cells, tabulate


def write_html(result: Result) -> str:
    """Show a result: its chart, its numbers in a table, and what they rest on."""
    try:
        picture = draw(result)
        label = f'role="img" aria-label="{escape(picture.words)}"'
        drawn = f'<figure style="margin:0" {label}>{picture.svg()}</figure>'
    except (MissingLibraryError, OptionError):
        drawn = ""  # nothing to draw with, or too much to draw
    words = escape(" ".join(explain(result)))
    return f'<div>{drawn}{_table(list_cells(result))}<p style="max-width:50em">{words}</p></div>'


@singledispatch
def draw(result: Result, **options: object) -> Picture:
    """Draw a result; those without a chart of their own are rows of ranges and points."""
    from unheard.charts.draw import draw_rows

    return draw_rows(result)


@draw.register
def _(result: Estimate) -> Picture:
    from unheard.charts.draw import draw_estimate

    return draw_estimate(result.question, [result])


@draw.register
def _(result: Estimates) -> Picture:
    if len(result) > 1:
        raise OptionError(
            "counts",
            problem="A chart shows one histogram",
            value=len(result),
            hint="Draw one of them, as in estimates[0].chart()",
        )
    return draw(result[0])


@draw.register
def _(result: Sweep, *, q: float | None = None) -> Picture:
    from unheard.charts.draw import draw_sweep

    return draw_sweep(result, q)


@draw.register
def _(result: Comparison) -> Picture:
    from unheard.charts.draw import draw_comparison

    return draw_comparison(result)


@draw.register
def _(result: Participation) -> Picture:
    from unheard.charts.draw import draw_calibration

    return draw_calibration(result)


@draw.register
def _(result: Drift) -> Picture:
    from unheard.charts.draw import draw_drift

    return draw_drift(result)


@draw.register
def _(result: Regrets) -> Picture:
    from unheard.charts.draw import draw_regret

    return draw_regret(tabulate(result))


def _table(table: list[list[str]]) -> str:
    """Write cells as a table whose headings screen readers recognise."""
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
