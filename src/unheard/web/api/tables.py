"""Uploaded tables, answered: the body of a request, kept in a private folder while it is read.

Nothing in a request names a file or an address. The table is always the one file of that folder,
and the database that reads it may read nothing else.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unheard.analysis.assumption_file import (
    check_scale,
    parse_document,
    read_participation_document,
)
from unheard.errors import OptionError, SourceError
from unheard.model.parsing import parse_options
from unheard.options.questions import FILES, options_of
from unheard.options.surfaces import REST
from unheard.tables.sources.encodings import find_encoding
from unheard.web.api.histograms import Given, as_json, send_picture
from unheard.web.server.pool import WorkerAnswer

if TYPE_CHECKING:
    from sqlglot import exp

    from unheard.present.order_sentences import OrderFindings
    from unheard.tables.calibration import Calibrated
    from unheard.tables.pipeline import Job
    from unheard.tables.request import Request
    from unheard.tables.sources.open import Where

FORMS = {
    "text/csv": "table.csv",
    "text/tab-separated-values": "table.tsv",
    "application/vnd.apache.parquet": "table.parquet",
    "application/x-ndjson": "table.jsonl",
    "application/json": "table.json",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "table.xlsx",
    "application/vnd.ms-excel": "table.xls",
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": "table.xlsb",
    "application/vnd.oasis.opendocument.spreadsheet": "table.ods",
    "application/zip": "table.zip",
    "application/gzip": "table.gz",
}
"""What a table may be, and what its file is called."""

_EFFORT = 0.1
"""Share of the most work done to compare pairs of items: somebody is waiting."""

_UNPACKED = 16
"""How many times larger than the largest upload a packed one may be when unpacked."""


class Upload:
    """A table in its folder, how much may be made of it, and what was said about reading it."""

    def __init__(self, folder: str, file: str, limits: Given, given: Given | None = None) -> None:
        self.folder, self.file, self.limits = Path(folder), file, limits
        self.reading = {one.name: (given or {}).get(one.name) for one in FILES}
        # Messages then speak of table.csv, and not of where it is.
        os.chdir(folder)
        # What the database puts on disk goes with the table, whatever becomes of this process.
        tempfile.tempdir = folder

    @property
    def where(self) -> Where:
        """How to reach the table."""
        from unheard.tables.sources.open import Where

        return Where(
            memory=f"{self.limits['memory'] // 2**21}MiB",
            confined=self.folder,
            surface=REST,
            most=self.limits["bytes"] * _UNPACKED,
            **self.reading,
        )

    def check(self) -> None:
        """Raise if the table is larger than it may be, as far as can be told before reading it."""
        if self.file.endswith((".csv", ".tsv")):
            with Path(self.file).open("rb") as file:
                first = file.readline()
            self._refuse("columns", max(first.count(mark) for mark in b",;\t|") + 1)
        elif self.file.endswith(".parquet"):
            self._check_parquet()
        elif self.file.endswith((".json", ".jsonl")):
            self._check_json()

    def _check_json(self) -> None:
        lines = self.file.endswith(".jsonl")
        start = r"\s*\{" if lines else r"\s*\[\s*[{\]]"
        with Path(self.file).open("rb") as file:
            head = file.read(4096)
            text = head.decode(find_encoding(head) or "utf-8", "replace").removeprefix("\ufeff")
            if re.match(start, text) is None:
                what = "objects, one to a line" if lines else "a list of objects"
                raise SourceError(
                    "source",
                    problem="{file} does not contain rows",
                    hint="Send {what}",
                    file=self.file,
                    what=what,
                )

    def _check_parquet(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            found = pq.read_metadata(self.file)
            unpacked = sum(
                found.row_group(group).total_byte_size for group in range(found.num_row_groups)
            )
        except (pa.ArrowInvalid, OSError) as error:
            raise SourceError(
                "source",
                problem="{file} cannot be read as Parquet: {reason}",
                hint="Check the file",
                file=self.file,
                reason=str(error),
            ) from None
        self._refuse("columns", found.num_columns)
        self._refuse("rows", found.num_rows)
        most = self.limits["bytes"] * _UNPACKED
        if unpacked > most:
            raise SourceError(
                "source",
                problem="{file} has {unpacked:,} bytes when unpacked, and this server accepts "
                "{most:,}",
                hint="Send fewer columns or rows, or use the command line",
                file=self.file,
                unpacked=unpacked,
                most=most,
            )

    def _refuse(self, what: str, many: int) -> None:
        most = self.limits[what]
        if many > most:
            raise SourceError(
                "source",
                problem="{file} has {many:,} {what}, and this server accepts {most:,}",
                hint="Send fewer, or use the command line",
                file=self.file,
                many=many,
                what=what,
                most=most,
            )

    def check_opened(self, rows: int, columns: int) -> None:
        """Raise if the table turned out to be larger than it may be."""
        self._refuse("columns", columns)
        self._refuse("rows", rows)

    def check_items(self, many: int) -> None:
        """Raise if the answer would be too long."""
        if many > self.limits["items"]:
            raise SourceError(
                "source",
                problem="{file} has {many:,} items, and this server answers for {most:,}",
                hint="Use the command line",
                file=self.file,
                many=many,
                most=self.limits["items"],
            )

    @contextmanager
    def job(self, request: Request) -> Iterator[tuple[Job, exp.Expr]]:
        """Count the table and keep the result, until the work with it is done."""
        from unheard.tables.pipeline import number_of_rows, prepare

        self.check()
        job = prepare(self.file, request, self.where, effort=_EFFORT)
        try:
            opened = job.opened
            self.check_opened(number_of_rows(opened.engine, opened.relation), len(opened.kinds))
            self.check_items(job.found.items)
            yield job, job.opened.engine.keep("result", job.query)
        finally:
            job.close()


def inspect(upload: Given, given: Given | None = None) -> WorkerAnswer:
    """Answer what is in a table."""
    from unheard.tables.sources import inspection
    from unheard.tables.sources.open import open_source

    table = Upload(**upload, given=given)
    table.check()
    opened = open_source(table.file, None, table.where)
    try:
        table.check_opened(0, len(opened.kinds))
        return as_json(inspection.inspect(opened, REST))
    finally:
        opened.engine.close()


def rate(upload: Given, given: Given, as_csv: bool) -> WorkerAnswer:
    """Rate every item of a table."""
    from unheard.present.table_json import documents
    from unheard.tables.pipeline import read_request
    from unheard.tables.sql.sort import sort_column, sort_rows

    values = read_options("rate", given)
    request = read_request(**_pick(values))
    with Upload(**upload, given=given).job(request) as (job, result):
        query = sort_rows(result, job.request, sort_column(job.request, values["sort"]))
        rows = list(documents(job.opened.engine, query))
    return _as_csv(rows, "rated.csv") if as_csv else as_json(rows)


def counts(upload: Given, given: Given, as_csv: bool) -> WorkerAnswer:
    """Count the ratings of every item of a table."""
    from unheard.present.table_json import documents
    from unheard.tables.pipeline import counts_query, in_order, read_request

    values = parse_options("counts", "rest", given)
    # Counting needs no assumption.
    request = read_request(**_pick(values), q=1.0, level=None, ranks=False, only_counts=True)
    with Upload(**upload, given=given).job(request) as (job, _):
        rows = list(documents(job.opened.engine, in_order(counts_query(job), job.request)))
    return _as_csv(rows, "counts.csv") if as_csv else as_json(rows)


def read_options(question: str, given: Given) -> Given:
    """Read the options of a question about a table; estimated participation brings its scale."""
    values = parse_options(question, "rest", given)
    if values["assumption"] is not None:
        document = parse_document(values["assumption"])
        assumption, scale = read_participation_document(document)
        check_scale(values["scale"], scale)
        values |= {"assumption": assumption, "scale": scale}
    return values


def _pick(values: Given) -> Given:
    """Return the options that make a request."""
    from unheard.tables.pipeline import REQUEST_OPTIONS

    return {name: values[name] for name in REQUEST_OPTIONS if name in values}


@contextmanager
def _order(
    upload: Given, given: Given, values: Given, choose: Callable[[Request], Request] | None = None
) -> Iterator[tuple[Job, exp.Expr, OrderFindings]]:
    """Ask about the order of the items of a table."""
    from unheard.present.order_sentences import OrderFindings
    from unheard.tables.pipeline import read_request
    from unheard.tables.request import add_order
    from unheard.tables.top_k import check_who, find_item_breakdown

    request = read_request(**_pick(values))
    claim = (values["k"], values["above"], values["below"])
    request = add_order(request, *claim, method=values["method"])
    request = request if choose is None else choose(request)
    who = values.get("who")
    if who is not None:
        check_who(request)
    with Upload(**upload, given=given).job(request) as (job, result):
        stands = None if who is None else find_item_breakdown(job, who)
        yield job, result, OrderFindings(job, result, stands)


def rank(upload: Given, given: Given, as_csv: bool) -> WorkerAnswer:
    """Say what is settled about the order of the items of a table."""
    from unheard.present.table_json import documents, order_document
    from unheard.tables.sql.sort import sort_column, sort_rows

    values = read_options("rank", given)
    with _order(upload, given, values) as (job, result, findings):
        query = sort_rows(result, job.request, sort_column(job.request, values["sort"]))
        rows = list(documents(job.opened.engine, query))
        if as_csv:
            return _as_csv(rows, "ranked.csv")
        return as_json(order_document(job, findings) | {"rows": rows})


def rank_chart(upload: Given, given: Given, drawing: Given, how: Given) -> WorkerAnswer:
    """Draw the order of the items of a table."""
    from unheard.charts.draw import draw_ranking
    from unheard.present.table_json import documents
    from unheard.tables.sql.sort import sort_column, sort_rows

    values = read_options("rank", given)
    top = parse_options("rank_chart", "rest", drawing)["top"]
    with _order(upload, given, values) as (job, result, _):
        query = sort_rows(result, job.request, sort_column(job.request, values["sort"]))
        rows = list(documents(job.opened.engine, query))
        request = job.request
        picture = draw_ranking(rows, request.result_keys, request.scale, top=top)
    return send_picture(picture, how)


def report(upload: Given, given: Given) -> WorkerAnswer:
    """Write a page about a table."""
    from unheard.report.build import render_report
    from unheard.report.shared_participation import choose_participation

    values = read_options("report", given)
    name, title, command = (values.pop(key) for key in ("name", "title", "command"))
    lead = partial(choose_participation, shared=values.pop("shared"))
    command = command or _write_command(name, given)
    with _order(upload, given, values, lead) as (job, _result, _findings):
        page = render_report(job, source=name, command=command, title=title)
    return WorkerAnswer(200, "text/html; charset=utf-8", page.encode(), "report.html")


def _write_command(file: str, given: Given) -> str:
    """Write the command that makes the same page from the file that was sent."""
    words = ["unheard", "report", file or "table.csv"]
    known = options_of("report", "rest")
    for name, text in given.items():
        option = known[name]
        if "command" not in option.surfaces or text == str(option.default):
            continue
        if option.kind == "flag":
            words.append(option.flag if text.lower() in ("true", "1") else f"--{option.off}")
        elif option.kind == "assumption":
            words += [option.flag, "audit.json"]
        else:
            words += [option.flag, text]
    return shlex.join([*words, "-o", "report.html"])


def calibrate_table(upload: Given, given: Given) -> WorkerAnswer:
    """Answer who takes part, from a table."""
    messages: list[str] = []
    document = _calibrate(upload, given, messages).build_document()
    return as_json(document | {"messages": messages})


def calibrate_table_chart(upload: Given, given: Given, how: Given) -> WorkerAnswer:
    """Draw who takes part, from a table."""
    from unheard.charts.draw import draw_calibration, draw_drift

    found = _calibrate(upload, given, [])
    if found.drift is not None:
        return send_picture(draw_drift(found.drift), how)
    if found.columns:
        raise OptionError(
            "segment",
            problem="A chart shows one segment, and {argument} asks for several",
            hint="Leave {argument} out",
        )
    return send_picture(draw_calibration(found.found[0]), how)


def plan_table(upload: Given, given: Given, as_csv: bool) -> WorkerAnswer:
    """Answer which items of a table to call first, and how many people of each to ask."""
    from unheard.present.plan_tables import tabulate
    from unheard.tables.plan_items import PlanTask

    values = read_options("plan_table", given)
    task = PlanTask.read(
        _pick(values),
        {name: values[name] for name in ("width", "above", "below", "power")},
        values["nonrespondents"],
        values["budget"],
    )
    with Upload(**upload, given=given).job(task.request) as (job, _):
        plans = task.plan(job)
    if as_csv:
        return _as_csv(tabulate(plans), "plan.csv")
    return as_json(plans.to_dict() | {"messages": job.messages})


def _calibrate(upload: Given, given: Given, messages: list[str]) -> Calibrated:
    from unheard.tables.calibration import calibrate_table
    from unheard.tables.learning_table import Tool

    values = parse_options("calibrate", "rest", given)
    table = Upload(**upload, given=given)
    table.check()
    return calibrate_table(table.file, values, Tool(table.where, note=messages.append))


def _as_csv(rows: list[dict[str, Any]], name: str) -> WorkerAnswer:
    from unheard.tables.output.safe_cells import safe_cell

    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([safe_cell(key) for key in rows[0]] if rows else [])
    for row in rows:
        cells = (" ".join(cell) if isinstance(cell, list) else cell for cell in row.values())
        table.writerow([safe_cell(cell) for cell in cells])
    content = text.getvalue().encode("utf-8", "backslashreplace")
    return WorkerAnswer(200, "text/csv; charset=utf-8", content, name)


UPLOADS: dict[str, Callable[..., WorkerAnswer]] = {
    task.__name__: task
    for task in (
        inspect, counts, rate, rank, rank_chart, report, calibrate_table, calibrate_table_chart,
        plan_table,
    )
}  # fmt: skip
"""The tasks of this module by name."""
