"""Draw a picture of each kind of result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from unheard.analysis.compare import Comparison
from unheard.analysis.drift import Drift
from unheard.analysis.participation import Participation
from unheard.analysis.sweep import Sweep
from unheard.charts.calibrations import lay_out_calibration
from unheard.charts.intervals import (
    lay_out_comparison,
    lay_out_estimate,
    lay_out_ranking,
    lay_out_rows,
)
from unheard.charts.pairs import lay_out_pairs
from unheard.charts.picture import Picture
from unheard.charts.regrets import lay_out_regret
from unheard.charts.sweeps import lay_out_sweep
from unheard.errors import OptionError
from unheard.model.question import Question
from unheard.model.results import Estimate, Result
from unheard.model.scale import Scale
from unheard.present import chart_records, participation
from unheard.present.chart_records import Records, Rows
from unheard.present.results import explain

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame


def draw_estimate(question: Question, found: Sequence[Estimate]) -> Picture:
    """Draw the ratings, and below them estimate, average and bounds on the same axis."""
    records = chart_records.estimate_records(question, found)
    draw = partial(
        lay_out_estimate,
        _select(records, "ratings"),
        _select(records, "estimates"),
        question.counts.scale,
        question.level,
    )
    return Picture(draw, records, chart_records.estimate_words(question, found))


def _select(records: Rows, part: str) -> Rows:
    return [record for record in records if record["part"] == part]


def draw_sweep(sweep: Sweep, q: float | None = None) -> Picture:
    """Draw estimate, bounds and confidence interval over q, and where the claim breaks down.

    Parameters
    ----------
    sweep
        The results for many q.
    q
        A q to mark.
    """
    question = sweep.question
    records = chart_records.sweep_records(sweep, q)
    marked = {
        part: _select(records, part)[0] for part in ("claim", "chosen") if _select(records, part)
    }
    draw = partial(
        lay_out_sweep,
        _select(records, "sweep"),
        marked,
        question.counts.scale,
        question.level,
        chart_records.q_words(question),
    )
    return Picture(draw, records, chart_records.sweep_words(sweep, records))


def draw_comparison(comparison: Comparison) -> Picture:
    """Draw two items and the two differences between them."""
    records = chart_records.comparison_records(comparison)
    question = comparison.question
    draw = partial(
        lay_out_comparison,
        _select(records, "items"),
        _select(records, "differences"),
        question.counts.scale,
        question.level,
    )
    return Picture(draw, records, chart_records.comparison_words(comparison))


def draw_ranking(
    rows: Records | IntoFrame,
    item: Sequence[str] | str,
    scale: Scale | str,
    *,
    top: int = 30,
) -> Picture:
    """Draw the bounds of items, best first, in their tiers.

    Parameters
    ----------
    rows
        Rows as ``unheard rank --json`` or ``unheard rate --json`` prints them, or a frame that
        :func:`unheard.rank` or :func:`unheard.rate` returned.
    item
        The column that names an item, or several.
    scale
        The values a rating may take.
    top
        How many items are drawn at most.
    """
    if top < 1:
        raise OptionError("top", problem="{argument} must be at least 1", value=top)
    columns = [item] if isinstance(item, str) else list(item)
    values = Scale.parse(scale) if isinstance(scale, str) else scale
    records, total = chart_records.ranking_records(rows, columns, top)
    draw = partial(lay_out_ranking, records, total - len(records), values)
    return Picture(draw, records, chart_records.ranking_words(records, total, values))


def draw_pairs(
    names: Sequence[str], settled: Iterable[tuple[int, int, str, bool]], more: int = 0
) -> Picture:
    """Draw which pairs of items are in a settled order.

    Parameters
    ----------
    names
        The items, in the order of the list.
    settled
        The settled pairs, as :meth:`unheard.tables.shared_ranks.CrowdRanks.standings` yields them.
    more
        How many items are not listed.
    """
    if len(names) < 2:
        raise OptionError(
            "names", problem="{argument} must have two items or more", value=list(names)
        )
    records = chart_records.pair_records(names, settled)
    return Picture(
        partial(lay_out_pairs, names, records), records, chart_records.pair_words(records, more)
    )


def draw_rows(result: Result) -> Picture:
    """Draw a result of named rows: rank ranges, people to ask, response rates, worst cases."""
    title, rows = chart_records.range_records(result)
    if not rows:
        raise OptionError("result", problem="There is nothing to draw")
    return Picture(partial(lay_out_rows, rows, title), rows, " ".join(explain(result)))


def draw_calibration(found: Participation) -> Picture:
    """Draw participation by rating, with its confidence box."""
    records = participation.tabulate(found)
    draw = partial(lay_out_calibration, records, found.scale, not found.relative, found.level)
    return Picture(draw, records, chart_records.calibration_words(found))


def draw_drift(drift: Drift) -> Picture:
    """Draw the participation ratio of each window, and how small it may be."""
    rows = chart_records.drift_records(drift)
    title = "participation ratio q, and the smallest that the data allow"
    return Picture(partial(lay_out_rows, rows, title), rows, drift.words)


def draw_regret(rows: Records) -> Picture:
    """Draw regrets: lines over q, a map over q and n if both vary, points if q does not."""
    if not rows:
        raise OptionError("rows", problem="{argument} must not be empty")
    records = chart_records.regret_records(rows)
    return Picture(partial(lay_out_regret, records), records, chart_records.regret_words(records))
