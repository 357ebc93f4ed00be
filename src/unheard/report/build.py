"""Make a report: from a table, or from a job that is prepared already."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from unheard.errors import hide_passwords
from unheard.files import beside
from unheard.model.arguments import Columns, Table, TableOptions
from unheard.options.unknown import check_options
from unheard.report.report_data import gather_report_data
from unheard.report.shared_participation import choose_participation
from unheard.tables.output.write import check_target
from unheard.tables.pipeline import Job, prepare
from unheard.tables.public_functions import split_options
from unheard.tables.request import add_order
from unheard.tables.sources.files import files_of

PAGE_ENDINGS = (".html", ".htm")
"""Endings of the file of a page."""


def make_report(
    source: Table,
    item: Columns | None = None,
    rating: Columns | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    k: int | None = None,
    above: float | None = None,
    below: float | None = None,
    shared: bool | None = None,
    title: str | None = None,
    command: str | None = None,
    **options: Unpack[TableOptions],
) -> str:
    """Make a report on the order of the items of a table: one HTML page that opens offline.

    Parameters
    ----------
    source, item, rating
        As in :func:`unheard.rate`.
    output
        The file to write, ending in ``.html``; an existing file is replaced.
    k, above, below
        As in :func:`unheard.rank`; by default k is 10, and at most half of the items.
    shared
        Whether one participation is shared by all items; by default it is, where possible: with
        one rating column, one q, no strata and no windows.
    title
        Title of the report; by default it names the table.
    command
        The command that reproduces the report, as shown on the page; by default this call.
    **options
        Further options of :func:`unheard.rate`: the assumption, the scale, and so on.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> import pyarrow as pa
    >>> totals = pa.table({"hotel": ["A", "B", "C"], "sad": [2, 9, 60], "happy": [60, 9, 2]})
    >>> page = make_report(totals, "hotel", counts=["sad", "happy"], q=0.5)
    >>> "A is first" in page
    True
    """
    check_options(make_report, options, TableOptions)
    asked: dict[str, Any] = {"item": item, "rating": rating, **options}
    order = {"k": k, "above": above, "below": below}
    given = asked | order | {"shared": shared, "title": title, "output": output}
    target = None if output is None else Path(output)
    if target is not None:
        inputs = files_of(source, options.get("n_table"), options.get("q_table"))
        check_target(target, inputs, PAGE_ENDINGS)
    request, where = split_options(source, **asked)
    request = add_order(request, k, above, below, method=options.get("method"))
    job = prepare(source, choose_participation(request, shared), where)
    try:
        text = render_report(
            job,
            source=name_source(source, job),
            command=command or _write_call(source, given),
            title=title,
        )
    finally:
        job.close()
    if target is not None:
        write_page(text, target)
    return text


def render_report(
    job: Job, *, source: str, command: str | None = None, title: str | None = None
) -> str:
    """Render a report from a job that is prepared already, and return the page.

    Parameters
    ----------
    job
        A job whose request is about the order of the items, see
        :func:`unheard.tables.request.add_order`.
    source
        Name of the table.
    command
        The command that reproduces the report, as shown on the page.
    title
        Title of the report; by default it names the table.
    """
    # Rendering requires libraries of the extra `charts`.
    from unheard.report.page import render_page

    return render_page(gather_report_data(job, source=source, command=command, title=title))


def write_page(text: str, path: Path) -> None:
    """Write a page next to its target, then move it there."""
    with beside(path) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="\n")


def name_source(source: Any, job: Job) -> str:
    """Name the table: by its file without the folder, or as the engine describes it."""
    if isinstance(source, str | os.PathLike) and job.opened.words == os.fspath(source):
        return Path(source).name
    return job.opened.words


def _write_call(source: Any, given: Mapping[str, Any]) -> str:
    """Write the call of :func:`make_report`; frames and other objects become ``...``."""
    arguments = [
        f"{name}={_write_argument(value)}" for name, value in given.items() if value is not None
    ]
    return f"unheard.make_report({', '.join([_write_argument(source), *arguments])})"


def _write_argument(value: Any) -> str:
    if isinstance(value, str | os.PathLike):
        return repr(hide_passwords(os.fspath(value)))
    plain = isinstance(value, bool | int | float | list | tuple)
    return repr(value) if plain else "..."
