"""Participation from a table: by an audit, by reminders, or suggested by response rates.

With segments or windows, participation is estimated for each; windows are pooled with their
neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from unheard.analysis.assumption_file import build_drift_document, build_participation_document
from unheard.analysis.calibrate import calibrate
from unheard.analysis.drift import Drift, pool_windows
from unheard.analysis.participation import Participation
from unheard.analysis.suggest import suggest_participation
from unheard.analysis.waves import calibrate_from_waves
from unheard.errors import ColumnError, InputError, OptionError, Reference
from unheard.model.scale import Scale
from unheard.tables.audit_table import Layout, read_audit
from unheard.tables.learning_table import (
    Asked,
    Responses,
    Tool,
    parse_reminders,
    read_response_rates,
    read_waves,
)
from unheard.tables.request import EXPERIENCE

WINDOW = ("window_start", "window_end")
_AUDIT = ("answered", "population", "observed", "truth", "unpaired")
_ROWS = (
    "labels", "frequency", "nulls", "off_scale", "rater", "duplicates", "max_dropped",
    "by_experience", "bad_n",
)  # fmt: skip


@dataclass(frozen=True)
class Calibrated:
    """Participation found in a table.

    Attributes
    ----------
    columns
        The columns that name segments or windows; none if there are neither.
    names
        The name of each segment or window, column by column.
    found
        Participation of each.
    drift
        Participation over time, if there are windows.
    """

    columns: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    found: tuple[Participation, ...]
    drift: Drift | None = None

    def build_document(self) -> dict[str, Any]:
        """Return the JSON document."""
        if self.drift is not None:
            return build_drift_document(self.drift)
        documents = [build_participation_document(one) for one in self.found]
        if not self.columns:
            return documents[0]
        names = map(",".join, self.names)
        return {"segments": dict(zip(names, documents, strict=True))}

    def list_rows(self) -> list[dict[str, Any]]:
        """Return a row per segment or window: a table for ``q_table``.

        Its q is the smallest that is not ruled out, as bounds that rest on an estimate require.
        """
        return [
            {
                **dict(zip(self.columns, name, strict=True)),
                "q": one.q_lower, "q_estimate": one.q, "quiet": one.quiet,
            }
            for name, one in zip(self.names, self.found, strict=True)
        ]  # fmt: skip

    @property
    def quiet(self) -> str:
        """The direction that all segments or windows suggest; ``any`` if they differ."""
        directions = {one.quiet for one in self.found}
        return directions.pop() if len(directions) == 1 else "any"


def calibrate_table(source: Any, values: Mapping[str, Any], tool: Tool) -> Calibrated:
    """Estimate participation from a table.

    Parameters
    ----------
    source
        As in :func:`unheard.rate`.
    values
        The options of ``unheard calibrate``, by name.
    tool
        Where the table is, and what receives the progress.
    """
    learns = bool(values.get("wave") or values.get("reminder") or values.get("across_items"))
    if len(values.get("rating") or ()) > 1:
        raise ColumnError(
            "rating",
            problem="{argument} names several columns, and participation belongs to one rating",
            value=",".join(values["rating"]),
            hint="Name one column, and run the command again for the next",
        )
    segment = _read_segment(values)
    names, found = (_learn if learns else _audit)(source, values, segment, tool)
    if not values.get("window"):
        return Calibrated(segment, names, found)
    windows = tuple((start, end) for start, end in names)
    drift = pool_windows(windows, found)
    return Calibrated(WINDOW, windows, drift.pooled, drift)


def _read_segment(values: Mapping[str, Any]) -> tuple[str, ...]:
    segment = tuple(values.get("segment") or ())
    if values.get("by_experience") and EXPERIENCE not in segment:
        segment = (*segment, EXPERIENCE)
    if segment and values.get("window"):
        raise OptionError(
            "window",
            problem="{argument} and {segment} cannot be combined",
            hint="Leave one of them out",
        )
    if values.get("window") and not values.get("time"):
        raise OptionError(
            "window",
            problem="{argument} requires {time}",
            hint="Name the column with dates or times",
        )
    return segment


_Found = tuple[tuple[tuple[str, ...], ...], tuple[Participation, ...]]


def _learn(source: Any, values: Mapping[str, Any], segment: tuple[str, ...], tool: Tool) -> _Found:
    across = bool(values.get("across_items"))
    chosen = "across_items" if across else "wave" if values.get("wave") else "reminder"
    others = [*_AUDIT, *(("wave", "reminder", "n") if across else ("across_items",)), "every"]
    for name in others:
        if values.get(name):
            raise OptionError(
                name,
                problem="{argument} and {chosen} cannot be combined",
                hint="Leave one of them out",
                chosen=Reference(chosen),
            )
    rows = {name: values[name] for name in ("rating", "counts", *_ROWS) if values.get(name)}
    asked = Asked(
        item=tuple(values.get("item") or ()),
        segment=segment,
        wave=values.get("wave"),
        reminders=parse_reminders(values.get("reminder") or ()),
        rows=rows,
        **{name: values.get(name) for name in ("time", "window", "n", "n_column", "n_table")},
    )
    read = read_response_rates if across else read_waves
    groups, scale = read(source, asked, values.get("scale"), tool)
    names = tuple(one.name for one in groups)
    return names, _estimate_each(
        values, names, groups, lambda one: _learn_from(one, scale, values["level"], across)
    )


_Part = TypeVar("_Part")


def _estimate_each(
    values: Mapping[str, Any],
    names: Sequence[tuple[str, ...]],
    parts: Iterable[_Part],
    estimate: Callable[[_Part], Participation],
) -> tuple[Participation, ...]:
    """Estimate participation for each part of a table; an error says which part it is about."""
    found = []
    for name, part in zip(names, parts, strict=True):
        try:
            found.append(estimate(part))
        except InputError as error:
            if not name:
                raise
            what = "Window " if values.get("window") else "Segment "
            joined = (" to " if values.get("window") else ", ").join(name)
            raise error.within(what + joined) from None
    return tuple(found)


def _learn_from(one: Responses, scale: Scale, level: float, across: bool) -> Participation:
    if across:
        assert one.n is not None  # was asked for
        return suggest_participation(one.counts, one.n, scale=scale, level=level)
    return calibrate_from_waves(one.counts, n=one.n, scale=scale, level=level)


def _audit(source: Any, values: Mapping[str, Any], segment: tuple[str, ...], tool: Tool) -> _Found:
    for name in ("n", "n_column", "n_table", "every"):
        if values.get(name) is not None:
            raise OptionError(
                name,
                problem="{argument} does not apply to an audit",
                hint="Use it with {wave}, {across_items} or {response_rate}",
            )
    columns = ("item", "rating", "counts", "observed", "truth")
    layout = Layout(
        **{name: tuple(values.get(name) or ()) for name in columns},
        segment=segment,
        answered=values.get("answered"),
        population=values.get("population"),
    )
    paired = not values.get("unpaired")
    found, scale = read_audit(
        source,
        layout,
        values.get("scale"),
        paired=paired,
        where=tool.where,
        watch=tool.watch,
        note=tool.note,
        **{name: values[name] for name in (*_ROWS, "time", "window") if values.get(name)},
    )
    names = tuple(one.segment for one in found.values())
    return names, _estimate_each(
        values, names, found.values(),
        lambda one: calibrate(
            one.observed, one.truth, paired=paired, scale=scale, level=values["level"]
        ),
    )  # fmt: skip
