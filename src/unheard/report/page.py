"""Render the data of a report as one HTML page that needs nothing from outside."""

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
from unheard.present.phrases import q_cell, ranks_text, sentence_case
from unheard.report import ranking_table, sentences
from unheard.report.names import name_row, strip_direction_marks
from unheard.report.report_data import ReportData
from unheard.text import plural, rating_text

try:
    import jinja2
    from markupsafe import Markup
except ImportError:
    raise MissingLibraryError("Making a report", "Jinja2", "charts") from None

MAX_BYTES = 4_900_000
"""A page is no larger than this; rows that do not fit are left out."""


def render_page(data: ReportData) -> str:
    """Return the page, with as many rows as fit."""
    environment = _build_environment(data)
    page = environment.get_template("page.html.j2")
    ends = ranking_table.find_ends(data)
    columns = ranking_table.list_columns(data, ends)
    ticks = ranking_table.place_ticks(data.scale, ends)
    given = _build_context(data) | {"columns": columns, "ticks": ticks}

    def render(rows: list[str]) -> str:
        left_out = data.numbers.items - len(rows)
        text = page.render(**given, rows=Markup("".join(rows)), left_out=left_out)
        return text.encode("utf-8", "backslashreplace").decode()

    room = MAX_BYTES - len(render([]).encode())
    write_row = environment.get_template("row.html.j2").module.row  # type: ignore[attr-defined]
    rows: list[str] = []
    for one in data.rows:
        text = write_row(ranking_table.build_line(one, data.request.item, columns, ends), columns)
        room -= len(text.encode("utf-8", "backslashreplace"))
        if room < 0:
            break
        rows.append(text)
    return render(rows)


def _build_context(data: ReportData) -> dict[str, Any]:
    """Return what the template is filled with, but for the rows of the ranking."""
    # Drawing requires further libraries, and names them itself.
    from unheard.report import figures

    css, js = _read_css(), _read_text("page.js")
    return {
        "data": data,
        "css": Markup(css),
        "js": Markup(js),
        "policy": _write_policy(css, js),
        "rankings": list(figures.draw_rankings(data)),
        "settled_pairs": figures.draw_settled_pairs(data),
        "leading_pairs": figures.draw_leading_pairs(data),
        "other_participation": figures.name_other_participation(data),
        "leader": figures.draw_leader(data),
        "about": sentences.describe_table(data),
        "data_sentences": sentences.describe_data(data),
        "notes": sentences.explain_notes(data),
        "method_sentences": sentences.describe_method(data),
        "choice_sentences": sentences.describe_choice(data.request),
        "choice_warnings": sentences.list_warnings(data.request),
        "participation_rows": sentences.list_participation(data.request),
        "level": f"{(data.request.level or 0) * 100:.6g}%",
        "best_sentences": sentences.name_best(data),
        "sorted_by": sentences.describe_sorting(data.request),
    }


def _read_css() -> str:
    dark = f"@media screen and (prefers-color-scheme: dark) {{ {_write_colours(DARK)} }}"
    return f"{_write_colours(LIGHT)}\n{dark}\n{_read_text('page.css')}"


def _write_colours(look: Look) -> str:
    values = " ".join(
        f"--{name}: {value};" for name, value in asdict(look).items() if name != "name"
    )
    return f":root {{ color-scheme: {look.name}; {values} }}"


def _read_text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _write_policy(css: str, js: str) -> str:
    """Allow the page its own script and its own style, and nothing else."""
    style, script = (
        f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (css, js)
    )
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _build_environment(data: ReportData) -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read_text),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
    )
    made.filters |= {
        "rating": lambda value: rating_text(value, data.scale.width),
        "whole": lambda value: "–" if value is None else f"{value:,}",
        "ranks": lambda item: ranks_text(asdict(item)),
        "share": partial(_write_cell_share, of=data.numbers.pairs),
        "many": lambda value: plural(value, name_row(data.request)),
        "q": q_cell,
        "sentence": sentence_case,
    }
    made.globals |= {
        "version": __version__,
        "strip_width": ranking_table.STRIP_WIDTH,
        "describe_rows_left_out": sentences.describe_rows_left_out,
    }
    return made


def _write_cell_share(some: int | None, of: int) -> str:
    if some is None:
        return "–"
    return sentences.write_share(some, of).replace("less than ", "<").replace("more than ", ">")


def _finalize(value: object) -> object:
    """Remove from names the characters that would reverse the rest of a line."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return strip_direction_marks(value)
    return value
