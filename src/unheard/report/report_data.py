"""The data of a report, gathered from a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from sqlglot import exp

from unheard.analysis.breakdown import Claim
from unheard.errors import DataError
from unheard.model.notes import FEW
from unheard.model.scale import Scale
from unheard.present.order_sentences import OrderFindings, assumption_words
from unheard.present.table_json import documents
from unheard.report import order_queries
from unheard.report import sensitivity as analysis
from unheard.report.changed_items import ChangedItem, find_changed_items
from unheard.report.headline import MAX_NAMED, write_headline
from unheard.report.names import name_grouping, name_item
from unheard.report.order_queries import OrderNumbers, get_k
from unheard.report.sensitivity import LeadingItem, Sensitivity
from unheard.report.sentences import describe_participation
from unheard.report.shared_participation import MAX_PAIRED, LeadingPairs, compare_leading
from unheard.tables.check_rows import Tally
from unheard.tables.pipeline import Job
from unheard.tables.request import Request
from unheard.tables.sql.dialects import column
from unheard.tables.sql.sort import sort_column, sort_rows
from unheard.text import plural

MAX_ROWS = 10_000
"""How many rows a report lists at most."""


@dataclass(frozen=True, eq=False)
class ReportData:
    """The data of a report.

    Attributes
    ----------
    title, source, command, made
        Title, name of the table, the command that reproduces the report, and the day.
    request, engine
        What was asked, with the k that was chosen, and the engine that counted.
    tally, messages
        How many rows were read, counted and left out, and what was done to them.
    numbers, notes
        What is settled about the order, and how many items have each note.
    headline, findings, meanings
        The headline with a few sentences, what is settled, and what the columns mean.
    assumption, participation
        The assumption; whether participation is shared, and what would hold otherwise.
    leading_pairs
        The first items and the pairs of them in a settled order; None unless participation is
        shared.
    rows
        The first rows of the result, best first, as ``unheard rank --json`` prints them.
    changed_items
        The items whose rank or rating changes most.
    sensitivity, no_sensitivity
        What other assumptions would settle; None if that was not examined, and why not.
    """

    title: str
    source: str
    command: str | None
    made: date
    request: Request
    engine: str
    tally: Tally
    numbers: OrderNumbers
    headline: list[str]
    findings: list[str]
    meanings: list[str]
    assumption: str
    participation: list[str]
    leading_pairs: LeadingPairs | None
    rows: list[dict[str, Any]]
    changed_items: list[ChangedItem]
    sensitivity: Sensitivity | None
    no_sensitivity: str | None
    notes: dict[str, int]
    messages: list[str]

    @property
    def scale(self) -> Scale:
        """The values a rating may take."""
        return self.request.scale

    @property
    def k(self) -> int:
        """How many items are in the top k."""
        return get_k(self.request)

    @property
    def claim(self) -> Claim | None:
        """The claim about every item, if any."""
        return self.request.order.claim if self.request.order else None

    @property
    def left_out(self) -> int:
        """Number of rows of the result that are not listed."""
        return self.numbers.items - len(self.rows)


def gather_report_data(
    job: Job, *, source: str, command: str | None, title: str | None
) -> ReportData:
    """Gather the data of a report; see :func:`unheard.report.render_report`."""
    with order_queries.keep_result(job) as kept:
        at, result = order_queries.choose_k(*kept)
        request, engine = at.request, at.opened.engine
        numbers, notes = (
            order_queries.count_settled(at, result),
            order_queries.count_notes(engine, result),
        )
        listed = sort_rows(result, request, sort_column(request, None)).limit(MAX_ROWS)
        rows = list(documents(engine, listed))
        findings, first = OrderFindings(at, result), _name_candidates(at, result)
        _check_rows(rows, request, source)
        findings_sentences = findings.sentences()
        changed, leading = find_changed_items(at, result), _list_leading(at, result)
    no_sensitivity, sensitivity = analysis.explain_no_sensitivity(request, numbers.items), None
    if no_sensitivity is None:
        sensitivity = analysis.analyse_sensitivity(replace(job, request=request), leading, numbers)
    return ReportData(
        title=title or f"What the ratings in {source} show",
        source=source,
        command=command,
        made=date.today(),
        request=request,
        engine=job.opened.engine.name,
        tally=job.found,
        numbers=numbers,
        headline=write_headline(
            numbers,
            names=first,
            leader=rows[0],
            k=get_k(request),
            claim=request.order.claim if request.order else None,
            within=name_grouping(request),
            sampling_error=request.ranks_allow_for_error,
            width=request.scale.width,
            refuted=notes.get("refuted", 0),
        ),
        findings=findings_sentences,
        meanings=findings.meanings(tiers=has_tiers(rows)),
        assumption=assumption_words(job),
        participation=describe_participation(request, numbers, sensitivity),
        leading_pairs=compare_leading(job, {one.key: one.name for one in leading}),
        rows=rows,
        changed_items=changed,
        sensitivity=sensitivity,
        no_sensitivity=no_sensitivity,
        notes=notes,
        messages=job.messages,
    )


def _check_rows(rows: list[dict[str, Any]], request: Request, source: str) -> None:
    if not rows:
        raise DataError(
            "min_ratings",
            problem="{argument} excludes every item of {table}",
            value=request.min_ratings,
            hint="Use a smaller number",
            table=source,
        )


def has_tiers(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Say whether there is more than one tier, so that it is worth a column."""
    return any(row["tier"] != 1 for row in rows)


def _name_candidates(job: Job, result: exp.Expr) -> list[str]:
    """Name the first few items that could be first."""
    query = sort_rows(result, job.request, sort_column(job.request, None)).where(
        column("best_rank").eq(1)
    )
    rows = documents(job.opened.engine, query.limit(MAX_NAMED))
    return [
        name_item(row, job.request.item)
        + (f" ({plural(row['n_ratings'], 'rating')})" if row["n_ratings"] < FEW else "")
        for row in rows
    ]


def _list_leading(job: Job, result: exp.Expr) -> list[LeadingItem]:
    """Return the first items, with their keys as the engine writes them."""
    item = job.request.item
    query = sort_rows(result, job.request, sort_column(job.request, None)).limit(MAX_PAIRED)
    found = job.opened.engine.arrow(query).read_all().to_pylist()
    return [
        LeadingItem(
            key=",".join(str(row[key]) for key in item),
            name=name_item(shown, item),
            best_rank=row["best_rank"],
            ci_worst_rank=row["ci_worst_rank"],
        )
        for row, shown in zip(found, documents(job.opened.engine, query), strict=True)
    ]
