"""Everything that a report says, as plain facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

from sqlglot import exp

from unheard._version import __version__
from unheard.analysis.breakdown import Claim
from unheard.errors import DataError
from unheard.formulas.estimators import ESTIMATORS
from unheard.model.notes import FEW, NOTE_TEXTS
from unheard.model.scale import Scale
from unheard.present.estimate_json import tidy
from unheard.present.order_sentences import Findings, assumption_words
from unheard.present.table_json import documents
from unheard.report.changes import Story, item_name, stories
from unheard.report.crowd import MOST_DRAWN, Standings, crowd_words, standings_of
from unheard.report.headline import NAMED, headline
from unheard.report.order_queries import Numbers, best_of, kept, numbers, raised_notes, with_best
from unheard.report.overturn import Leading, Overturn, objection, overturn
from unheard.tables.pipeline import Job
from unheard.tables.request import Request
from unheard.tables.sql.dialects import column
from unheard.tables.sql.sort import sort_column, sorted_rows
from unheard.tables.validate import Tally, describe_scale
from unheard.text import plural

_MOST_NAMED = 12
"""If nobody is surely among the best, and more than this may be, no names are listed."""

MOST_ROWS = 10_000
"""How many rows a report lists, at the most."""


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything that a report says.

    Attributes
    ----------
    title
        What the report is called.
    source
        What the table is called.
    command
        What repeats the report; None if nothing does.
    made
        The day it was made.
    request
        What was asked, with the k that was chosen.
    engine
        What did the counting.
    tally
        How many rows were read, and what became of them.
    numbers
        What is settled about the order.
    headline
        The headline, then a few sentences.
    findings, meanings
        What is settled, and what the columns mean.
    assumption
        What is assumed, in a sentence.
    crowds
        Whether one crowd is taken to rate all items or one each, and what the other would do.
    standings
        The first items under one participation, and the settled pairs among them; None if each
        has its own.
    rows
        The first rows of the result, best first, as ``unheard rank --json`` prints them.
    stories
        The items whose story changes most.
    overturn
        What other assumptions would do; None if that was not looked at.
    no_overturn
        Why not, in a sentence.
    notes
        Flags, and how many items each is raised for.
    messages
        What was done to rows that could not be used as they were.
    """

    title: str
    source: str
    command: str | None
    made: date
    request: Request
    engine: str
    tally: Tally
    numbers: Numbers
    headline: list[str]
    findings: list[str]
    meanings: list[str]
    assumption: str
    crowds: list[str]
    standings: Standings | None
    rows: list[dict[str, Any]]
    stories: list[Story]
    overturn: Overturn | None
    no_overturn: str | None
    notes: dict[str, int]
    messages: list[str]

    @property
    def scale(self) -> Scale:
        """The values a rating may take."""
        return self.request.scale

    @property
    def k(self) -> int:
        """How many the best are."""
        return best_of(self.request)

    @property
    def claim(self) -> Claim | None:
        """What is claimed of every item, if anything."""
        return self.request.order.claim if self.request.order else None

    @property
    def left_out(self) -> int:
        """Rows of the result that are not listed."""
        return self.numbers.items - len(self.rows)


def facts_of(job: Job, *, source: str, command: str | None, title: str | None) -> Facts:
    """Work out everything that a report says.

    Parameters
    ----------
    job
        A job whose request is about the order of the items.
    source
        What the reader calls the table.
    command
        What repeats the report.
    title
        What the report is called; by default it is named after the table.
    """
    with kept(job) as given:
        at, result = with_best(*given)
        request, engine = at.request, at.opened.engine
        found, notes = numbers(at, result), raised_notes(engine, result)
        listed = sorted_rows(result, request, sort_column(request, None)).limit(MOST_ROWS)
        rows = list(documents(engine, listed))
        findings, first = Findings(at, result), _may_be_first(at, result)
        if not rows:
            least = request.min_ratings
            if least and job.found.rows:
                raise DataError(source, f"no item has {plural(least, 'rating')}", "Ask for fewer")
            raise DataError(source, "the table has no rows", "Give one with ratings")
        words = findings.sentences()
        changes, leading = stories(at, result), _leading(at, result)
    against, other = objection(request, found.items), None
    if against is None:
        other = overturn(replace(job, request=request), leading, found)
    return Facts(
        title=title or f"What the ratings in {source} settle",
        source=source,
        command=command,
        made=date.today(),
        request=request,
        engine=job.opened.engine.name,
        tally=job.found,
        numbers=found,
        headline=headline(
            found,
            names=first,
            leader=rows[0],
            k=best_of(request),
            claim=request.order.claim if request.order else None,
            within=_within(request),
            noise=request.noise,
            width=request.scale.width,
            refuted=notes.get("refuted", 0),
        ),
        findings=words,
        meanings=findings.meanings(tiers=has_tiers(rows)),
        assumption=assumption_words(job),
        crowds=crowd_words(request, found, other),
        standings=standings_of(job, {one.key: one.name for one in leading}),
        rows=rows,
        stories=changes,
        overturn=other,
        no_overturn=against,
        notes=notes,
        messages=job.messages,
    )


def has_tiers(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Say whether there is more than one tier, so that it is worth a column."""
    return any(row["tier"] != 1 for row in rows)


def _within(request: Request) -> str | None:
    if not request.compared_within:
        return None
    return "attribute" if request.attributes else "window"


def _may_be_first(job: Job, result: exp.Expr) -> list[str]:
    query = sorted_rows(result, job.request, sort_column(job.request, None)).where(
        column("best_rank").eq(1)
    )
    rows = documents(job.opened.engine, query.limit(NAMED))
    return [
        item_name(row, job.request.item)
        + (f" ({plural(row['n_ratings'], 'rating')})" if row["n_ratings"] < FEW else "")
        for row in rows
    ]


def _leading(job: Job, result: exp.Expr) -> list[Leading]:
    """Return the first items: as the engine names them, by which counts are found, and readers."""
    item = job.request.item
    query = sorted_rows(result, job.request, sort_column(job.request, None)).limit(MOST_DRAWN)
    found = job.opened.engine.arrow(query).read_all().to_pylist()
    return [
        Leading(
            key=",".join(str(row[key]) for key in item),
            name=item_name(shown, item),
            best_rank=row["best_rank"],
            ci_worst_rank=row["ci_worst_rank"],
        )
        for row, shown in zip(found, documents(job.opened.engine, query), strict=True)
    ]


def facts_document(facts: Facts) -> dict[str, Any]:
    """Return the JSON document of a report."""
    request, other = facts.request, facts.overturn
    return {
        "title": facts.title,
        "source": facts.source,
        "command": facts.command,
        "made": facts.made.isoformat(),
        "version": __version__,
        "item": list(request.item),
        "scale": [tidy(value) for value in request.scale.values],
        "k": facts.k,
        "level": request.level,
        "method": request.method,
        "assumption": {"words": facts.assumption},
        "shared": request.shared,
        "crowds": facts.crowds,
        "headline": facts.headline,
        "words": facts.findings,
        "numbers": asdict(facts.numbers),
        "stories": [asdict(story) for story in facts.stories],
        "sweep": None if other is None else [asdict(step) for step in other.steps],
        "claims": None if other is None else [asdict(one) for one in other.tested],
        "no_sweep": facts.no_overturn,
        "quality": asdict(facts.tally) | {"notes": facts.notes, "messages": facts.messages},
        "rows": facts.rows,
        "rows_left_out": facts.left_out,
    }


def computed(facts: Facts) -> list[str]:
    """Say how the numbers came about."""
    request = facts.request
    did = "counted the ratings" if request.rating else "added up the counts"
    method = ESTIMATORS[request.method]
    said = [
        f"{facts.engine} {did} of each item on the scale {describe_scale(request.scale.values)}; "
        "everything else follows from these counts.",
        f"Estimate: {method.name}, {method.words}.",
        "Interval: everything that the mean of everybody, the silent included, can be if the "
        "assumption holds.",
    ]
    if request.level is not None:
        whom = "exactly these people" if request.covers == "people" else "the people behind them"
        said.append(
            f"Confidence interval: the same with sampling noise, for the mean of {whom}, item by "
            f"item at {request.level * 100:.6g}%."
        )
    return said


def flag_words(facts: Facts) -> list[tuple[str, int, str]]:
    """Return each flag raised, for how many items, and what it means."""
    return [(flag, many, NOTE_TEXTS[flag]) for flag, many in facts.notes.items()]


def row_word(request: Request) -> str:
    """Say what a row of the result is."""
    return "row" if request.compared_within else "item"


def named_words(facts: Facts) -> list[str]:
    """Say who is among the best: what is found beyond the headline."""
    found = facts.numbers
    if found.items == 1 or not found.leading or facts.request.compared_within:
        return []
    if not found.sure and found.possible > _MOST_NAMED:
        return []
    # The first sentence counts the settled places, which the headline does as well.
    return facts.findings[1:]


def data_words(facts: Facts) -> list[str]:
    """Say what was read, what became of it, and how much there is of each item."""
    tally, found, request = facts.tally, facts.numbers, facts.request
    ratings = plural(tally.counted, "rating")
    each = ", each once for every rating column" if request.attributes else ""
    rows = plural(tally.rows, "row")
    said = [f"{rows} read{each}; {ratings} counted." if request.rating else f"{ratings} counted."]
    if not (tally.nulls or tally.off_scale):
        said.append("None was left out: no rating was empty, and none was off the scale.")
    what = row_word(request)
    if found.items > 1:
        most = plural(found.most, "rating")
        span = most if found.fewest == found.most else f"from {found.fewest:,} to {most}"
        said.append(f"The {what}s have {span} each.")
    if found.people is not None and not request.compared_within:
        said.append(f"{plural(tally.counted, 'answer')} from {found.people:,} people.")
    if not facts.notes:
        said.append("No item is flagged.")
    return said


def order_words(request: Request) -> str:
    """Say by what the rows are sorted."""
    return "lower bound" if request.level is None else "lower confidence limit"


def left_out_words(facts: Facts, many: int) -> str:
    """Say that rows did not fit, and where they are."""
    return (
        f"{plural(many, 'row')} more {'does' if many == 1 else 'do'} not fit here. To have them "
        "all, type unheard rank instead of unheard report, and -o all.csv."
    )
