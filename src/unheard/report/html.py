"""From facts to one page that needs nothing from outside."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from importlib.resources import files
from typing import Any

from unheard._version import __version__
from unheard.charts.style import DARK, LIGHT, Look
from unheard.errors import MissingLibraryError
from unheard.present.phrases import places_text, q_cell, sentence_case
from unheard.report.changes import straight
from unheard.report.content import (
    Facts,
    computed,
    data_words,
    flag_words,
    left_out_words,
    named_words,
    order_words,
    row_word,
)
from unheard.report.headline import share_text
from unheard.report.table import STRIP, axis, columns, line, ticks
from unheard.tables.validate import describe_scale
from unheard.text import plural, rating_text

try:
    import jinja2
    from markupsafe import Markup
except ImportError:
    raise MissingLibraryError("A report", "Jinja2", "charts") from None

MOST_BYTES = 4_900_000
"""A page is no larger than this; rows that do not fit are left out."""


def page_of(facts: Facts) -> str:
    """Return the page, with as many rows as fit."""
    # Drawing has needs of its own, and says so itself.
    from unheard.report.pictures import (
        leader_figure,
        other_way,
        pairs_figure,
        ranking_figures,
        standings_figure,
    )

    environment = _environment(facts)
    css, js, ends = _css(), _text("page.js"), axis(facts)
    shown = columns(facts, ends)
    given: dict[str, Any] = {
        "facts": facts,
        "columns": shown,
        "css": Markup(css),
        "js": Markup(js),
        "policy": _policy(css, js),
        "rankings": list(ranking_figures(facts)),
        "pairs": pairs_figure(facts),
        "standings": standings_figure(facts),
        "other_way": other_way(facts),
        "leader": leader_figure(facts),
        "ticks": ticks(facts.scale, ends),
        "about": about(facts),
        "data": data_words(facts),
        "notes": flag_words(facts),
        "computed": computed(facts),
        "level": f"{(facts.request.level or 0) * 100:.6g}%",
        "named": named_words(facts),
        "sorted_by": order_words(facts.request),
    }
    page = environment.get_template("page.html.j2")

    def rendered(rows: list[str], left_out: int) -> str:
        text = page.render(**given, rows=Markup("".join(rows)), left_out=left_out)
        return text.encode("utf-8", "backslashreplace").decode()

    room = MOST_BYTES - len(rendered([], facts.numbers.items).encode())
    row = environment.get_template("row.html.j2").module.row  # type: ignore[attr-defined]
    rows: list[str] = []
    for one in facts.rows:
        text = row(line(one, facts.request.item, shown, ends), shown)
        room -= len(text.encode("utf-8", "backslashreplace"))
        if room < 0:
            break
        rows.append(text)
    return rendered(rows, facts.numbers.items - len(rows))


def about(facts: Facts) -> str:
    """Say what the report is about."""
    within = "attribute" if facts.request.attributes else "window"
    rows = plural(facts.numbers.items, "row")
    each = f" ({rows}, one for each item and {within})" if facts.request.compared_within else ""
    items = plural(facts.numbers.different, "item")
    return (
        f"{plural(facts.tally.counted, 'rating')} of {items}{each} in {facts.source}, on the scale "
        f"{describe_scale(facts.scale.values)}."
    )


def _css() -> str:
    dark = f"@media screen and (prefers-color-scheme: dark) {{ {_colours(DARK)} }}"
    return f"{_colours(LIGHT)}\n{dark}\n{_text('page.css')}"


def _colours(look: Look) -> str:
    values = " ".join(
        f"--{name}: {value};" for name, value in asdict(look).items() if name != "name"
    )
    return f":root {{ color-scheme: {look.name}; {values} }}"


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _policy(css: str, js: str) -> str:
    """Let the page run its own script and use its own style, and nothing else."""
    style, script = (
        f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (css, js)
    )
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _environment(facts: Facts) -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_text),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_straight,
    )
    made.filters |= {
        "rating": lambda value: rating_text(value, facts.scale.width),
        "whole": lambda value: "–" if value is None else f"{value:,}",
        "places": lambda story: places_text(asdict(story)),
        "share": partial(_share, of=facts.numbers.pairs),
        "many": lambda value: plural(value, row_word(facts.request)),
        "q": q_cell,
        "sentence": sentence_case,
    }
    made.globals |= {"version": __version__, "strip_width": STRIP, "left_out_words": left_out_words}
    return made


def _share(some: int | None, of: int) -> str:
    if some is None:
        return "–"
    return share_text(some, of).replace("less than ", "<").replace("more than ", ">")


def _straight(value: object) -> object:
    """Take out what would turn the rest of a line round; names may hold it."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return straight(value)
    return value
