"""Sentences that only a report has: on its data, its method, its items and its participation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from unheard.formulas.estimators import ESTIMATORS
from unheard.model.notes import NOTE_TEXTS
from unheard.present.phrases import ONE_CROWD, OWN_CROWDS
from unheard.report.names import name_grouping, name_row
from unheard.report.order_queries import OrderNumbers
from unheard.tables.request import Request
from unheard.text import plural, rating_text, write_exactly

if TYPE_CHECKING:
    from unheard.report.report_data import ReportData
    from unheard.report.sensitivity import Sensitivity

_MAX_NAMED = 12
"""If no item is certain to be in the top k, and more than this could be, none is named."""


def write_share(some: int, of: int) -> str:
    """Write a share as a percentage; 0% and 100% are exact."""
    share = 100 * some / of if of else 0.0
    if some in (0, of):
        return f"{share:.0f}%"
    return "less than 1%" if share < 1 else "more than 99%" if share > 99 else f"{share:.0f}%"


def describe_table(data: ReportData) -> str:
    """Say what the report is about."""
    grouping, rows = name_grouping(data.request), plural(data.numbers.items, "row")
    each = "" if grouping is None else f" ({rows}, one for each item and {grouping})"
    items = plural(data.numbers.different, "item")
    return (
        f"{plural(data.tally.counted, 'rating')} of {items}{each} in {data.source}, on the scale "
        f"{data.scale.describe()}."
    )


def describe_participation(
    request: Request, numbers: OrderNumbers, sensitivity: Sensitivity | None
) -> list[str]:
    """Say whether participation is shared by all items, and what would hold otherwise."""
    if numbers.items < 2:
        return []
    said = [ONE_CROWD if request.shared else OWN_CROWDS]
    if sensitivity is None:
        return said
    settled = sensitivity.assumed.other_pairs_settled
    if settled is not None:
        other = "separate" if request.shared else "shared"
        share = write_share(settled, numbers.pairs)
        said.append(
            f"With {other} participation, {share} of the pairs would be in a settled order, "
            "ignoring sampling error."
        )
    return said


def describe_change(kind: str, item: Mapping[str, float], k: int, width: float) -> str:
    """Say what changes about an item: it leaves or joins the top k, moves, or shifts."""
    average, estimate = item["average"], item["estimate"]
    ranks = {name: f"{item[f'{name}_rank']:,.0f}" for name in ("average", "best", "worst")}
    top = "first" if k == 1 else f"in the top {k:,}"
    if kind == "leaves":
        return f"{top.capitalize()} by average, but could rank as low as {ranks['worst']}."
    if kind == "joins":
        high = "be first" if item["best_rank"] == 1 else f"rank as high as {ranks['best']}"
        return f"Rank {ranks['average']} by average, not {top}, but could {high}."
    if kind == "moves":
        rank = item["estimate_rank"]
        verb = "Falls" if rank > item["average_rank"] else "Rises"
        return f"{verb} from rank {ranks['average']} by average to rank {rank:,} by estimate."
    size = rating_text(abs(estimate - average), width)
    return f"Its estimate is {size} {'above' if estimate > average else 'below'} its average."


def name_best(data: ReportData) -> list[str]:
    """Name the items that are, or could be, in the top k."""
    numbers = data.numbers
    if numbers.items == 1 or not numbers.leading or data.request.compared_within:
        return []
    if not numbers.sure and numbers.possible > _MAX_NAMED:
        return []
    # The first two sentences count the settled ranks and pairs, which the headline does as well.
    return data.findings[2:]


def describe_data(data: ReportData) -> list[str]:
    """Say what was read, what was left out, and how many ratings the items have."""
    tally, numbers, request = data.tally, data.numbers, data.request
    ratings = plural(tally.counted, "rating")
    each = ", each once for every rating column" if request.attributes else ""
    rows = plural(tally.rows, "row")
    said = [f"{rows} read{each}; {ratings} counted." if request.rating else f"{ratings} counted."]
    if not (tally.nulls or tally.off_scale):
        said.append("No rating was left out: none was empty or off the scale.")
    if numbers.items > 1:
        most = plural(numbers.most, "rating")
        span = most if numbers.fewest == numbers.most else f"from {numbers.fewest:,} to {most}"
        said.append(f"The {name_row(request)}s have {span} each.")
    if numbers.people is not None and not request.compared_within:
        said.append(f"{plural(tally.counted, 'response')} from {numbers.people:,} people.")
    if not data.notes:
        said.append("No item has notes.")
    return said


def explain_notes(data: ReportData) -> list[tuple[str, int, str]]:
    """Return each note, how many items have it, and what it means."""
    return [(note, many, NOTE_TEXTS[note]) for note, many in data.notes.items()]


def describe_method(data: ReportData) -> list[str]:
    """Say how the numbers were computed."""
    request, method = data.request, ESTIMATORS[data.request.method]
    did = "counted the ratings" if request.rating else "added up the counts"
    said = [
        f"{data.engine} {did} of each item on the scale {request.scale.describe()}; "
        "everything else follows from these counts.",
        f"Estimate: {method.name}, {method.words}.",
        "Bounds: all values that the mean over respondents and non-respondents can take if the "
        "assumption holds.",
    ]
    if request.level is not None:
        whom = "exactly these people" if request.covers == "people" else "the population"
        said.append(
            f"Confidence interval: the bounds widened by sampling error, for the mean of {whom}, "
            f"item by item at {request.level * 100:.6g}%."
        )
    return said


_HOW = {
    "audit": "Participation was estimated by an audit, in which everybody's rating is known.",
    "waves": "Participation was estimated from who responded to which request.",
    "response_rates": "q and the direction were suggested by the response rates of many items.",
}
_LEARN = (
    "unheard calibrate learns participation from an audit or from reminders, or takes a "
    "suggestion from response rates."
)


def describe_choice(request: Request) -> list[str]:
    """Say where the assumption about participation comes from."""
    assumption = request.assumption
    if request.q_column is not None:
        where = "a second table" if request.q_table is not None else "the table"
        return [f"Each item's q comes from column {request.q_column} of {where}."]
    if assumption.learned is not None:
        return [_HOW[assumption.learned.source], *assumption.learned.sentences]
    if assumption.study is not None:
        study = assumption.study
        return [
            f"q is what a study found: {study.name}, {study.what}. "
            f"{study.who[0].upper()}{study.who[1:]} respond less often there.",
            f"Nobody has measured it for the people rated here. {_LEARN}",
        ]
    stated = "Participation" if assumption.per_rating or assumption.kind == "floor" else "q"
    return [f"{stated} was stated, not measured. {_LEARN}"]


def list_warnings(request: Request) -> tuple[str, ...]:
    """List the reasons to doubt what participation was learned from."""
    learned = request.assumption.learned
    return () if learned is None else learned.warnings


def list_participation(request: Request) -> list[tuple[str, str, str]]:
    """Return each rating with its participation and its bounds, where they were estimated."""
    assumption = request.assumption
    if not assumption.g or assumption.kind == "known":
        return []
    ends = zip(assumption.g, assumption.lo, assumption.hi, strict=True)
    return [
        (write_exactly(value), f"{g:.3f}", f"{lo:.3f} to {hi:.3f}")
        for value, (g, lo, hi) in zip(request.scale.values, ends, strict=True)
    ]


def describe_sorting(request: Request) -> str:
    """Say by what the rows are sorted."""
    return "lower bound" if request.level is None else "lower confidence limit"


def describe_rows_left_out(many: int) -> str:
    """Say that rows did not fit, and where to find them."""
    more = "1 more row does" if many == 1 else f"{many:,} more rows do"
    return (
        f"{more} not fit here. To get them all, run unheard rank instead of unheard report, with "
        "-o all.csv."
    )
