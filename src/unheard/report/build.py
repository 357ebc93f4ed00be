"""The functions that make a report: from a table, or from a job that is prepared already."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unheard.report.content import Facts, facts_of
from unheard.report.crowd import lead_with
from unheard.tables.engines.postgres import without_password
from unheard.tables.output.write import beside, check_target
from unheard.tables.pipeline import Job, prepare, read_request
from unheard.tables.request import ordered
from unheard.tables.sources.files import files_of
from unheard.tables.sources.open import Where

PAGES = (".html", ".htm")
"""How the file of a page may end."""


def make_report(
    source: Any,
    item: str | Iterable[str],
    rating: str | Iterable[str] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    k: int | None = None,
    above: float | None = None,
    below: float | None = None,
    noise: bool = True,
    shared: bool | None = None,
    title: str | None = None,
    command: str | None = None,
    engine: str | None = None,
    table: str | None = None,
    query: str | None = None,
    memory: str | None = None,
    spark_master: str | None = None,
    **settings: Any,
) -> str:
    """Make a report about the order of the items of a table: one page that opens offline.

    Parameters
    ----------
    source, item, rating
        As in :func:`unheard.rate`.
    output
        The file to write, ending in ``.html``; one that is there is replaced.
    k, above, below, noise
        As in :func:`unheard.rank`; k is at most 10 and at most half of the items if left out.
    shared
        Whether one crowd rated all items, so that one participation distorts them all; by default
        it did, where the items can be compared so: one rating column, no strata and no windows.
    title
        What the report is called; by default it is named after the table.
    command
        What the page says repeats it; by default this call.
    engine, table, query, memory, spark_master
        As in :func:`unheard.rate`.
    **settings
        Further arguments of :func:`unheard.rate`: the assumption, the scale, and so on.

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
    given: dict[str, Any] = {
        "item": item,
        "rating": rating,
        "k": k,
        "above": above,
        "below": below,
        "shared": shared,
        "title": title,
    }
    given |= {"engine": engine, "table": table, "query": query, "output": output, **settings}
    target = None if output is None else Path(output)
    if target is not None:
        inputs = files_of(source, settings.get("n_table"), settings.get("q_table"))
        check_target(target, inputs, PAGES)
    asked = read_request(item=item, rating=rating, **settings)
    request = lead_with(ordered(asked, k, above, below, noise, settings.get("method")), shared)
    job = prepare(source, request, Where(engine, table, query, memory, spark_master))
    try:
        text = report_of(
            job,
            source=source_name(source, job),
            command=command or _call(source, given),
            title=title,
        )
    finally:
        job.close()
    if target is not None:
        write_page(text, target)
    return text


def report_of(
    job: Job, *, source: str, command: str | None = None, title: str | None = None
) -> str:
    """Make a report from a job that is prepared already, and return the page.

    Parameters
    ----------
    job
        A job whose request is about the order of the items, see
        :func:`unheard.tables.request.ordered`.
    source
        What the reader calls the table.
    command
        What the page says repeats it.
    title
        What the report is called; by default it is named after the table.
    """
    return page_of_facts(facts_of(job, source=source, command=command, title=title))


def page_of_facts(facts: Facts) -> str:
    """Return the page that says the facts."""
    # Drawing needs libraries that not everybody has.
    from unheard.report.html import page_of

    return page_of(facts)


def write_page(text: str, path: Path) -> None:
    """Write a page beside its target, then put it in its place."""
    with beside(path) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="\n")


def source_name(source: Any, job: Job) -> str:
    """Return what a reader calls the table: the name of a file without its folder."""
    if isinstance(source, str | os.PathLike) and job.opened.words == os.fspath(source):
        return Path(source).name
    return job.opened.words


def _call(source: Any, given: Mapping[str, Any]) -> str:
    """Write the call of :func:`make_report`; frames and audits are left to the reader."""
    stated = {name: value for name, value in given.items() if value is not None}
    words = [f"{name}={_written(value)}" for name, value in stated.items()]
    return f"unheard.make_report({', '.join([_written(source), *words])})"


def _written(value: Any) -> str:
    if isinstance(value, str | os.PathLike):
        return repr(without_password(os.fspath(value)))
    plain = isinstance(value, bool | int | float | list | tuple)
    return repr(value) if plain else "..."
