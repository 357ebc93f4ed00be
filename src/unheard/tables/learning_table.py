"""Tables to learn participation from: responses by request, or with the number of people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

import numpy as np

from unheard.errors import ColumnError, DataError, OptionError, PopulationError, Reference
from unheard.formulas.operations import Floats
from unheard.model.scale import Scale
from unheard.tables.pipeline import prepare, read_request
from unheard.tables.progress import Watch
from unheard.tables.sources.open import Where
from unheard.tables.sql.reserved_names import N

MOST_REQUESTS = 50
"""More requests than this are dates or times by mistake."""


@dataclass(frozen=True)
class Asked:
    """Which columns hold what, and how the rows are read.

    Attributes
    ----------
    item, segment
        Columns that say what was rated, and to which segment the people belong.
    wave
        The column with the number of the request that a response followed.
    reminders
        Instead of ``wave``: the dates of the reminders, beside ``time``.
    time, window
        The column that says when a response was given, and grouping by it.
    n, n_column, n_table
        The number of people: in all, or per item.
    rows
        The other options of :func:`unheard.rate` that say how rows are read.
    """

    item: tuple[str, ...] = ()
    segment: tuple[str, ...] = ()
    wave: str | None = None
    reminders: tuple[date, ...] = ()
    time: str | None = None
    window: str | None = None
    n: float | None = None
    n_column: str | None = None
    n_table: Any = None
    rows: dict[str, Any] = field(default_factory=dict)

    @property
    def by_request(self) -> bool:
        """Whether responses are told apart by the request that they followed."""
        return self.wave is not None or bool(self.reminders)

    @property
    def reads_times(self) -> bool:
        """Whether counting the rows requires their times."""
        latest = self.rows.get("duplicates") == "latest"
        return self.window is not None or latest or bool(self.rows.get("by_experience"))

    @property
    def people_known(self) -> bool:
        """Whether the table, or a second one, has the number of people of each item."""
        return (
            self.n_column is not None
            or self.n_table is not None
            or self.rows.get("nulls") == "nonresponse"
        )


@dataclass(frozen=True)
class Tool:
    """Where a table is, and what receives the progress and the notes on unusable rows."""

    where: Where = field(default_factory=Where)
    watch: Watch | None = None
    note: Callable[[str], None] = lambda _words: None


@dataclass
class Responses:
    """The responses of one segment or window.

    Attributes
    ----------
    name
        The segment, column by column, or the first and the last day of the window.
    counts
        Responses per item, by request and rating, or by rating alone.
    n
        The number of people of each item; None if unknown.
    """

    name: tuple[str, ...]
    counts: Floats
    n: Floats | None


def read_waves(
    source: Any, asked: Asked, scale: Scale | str | None, tool: Tool
) -> tuple[list[Responses], Scale]:
    """Read the responses to each request, by segment or window.

    Returns
    -------
    tuple
        The responses (one without a name if there are neither segments nor windows), and the scale.
    """
    _check_reminders(asked)
    _check_choices(asked)
    _check_n(asked)
    if asked.rows.get("rater"):
        # Each request is counted by itself, so somebody who followed two would not stand out.
        _count(source, asked, (), asked.window, scale, Tool(tool.where, tool.watch), people=False)
    found = _count(source, asked, *_choose_keys(asked), scale, tool, people=False)
    cells: dict[tuple[str, ...], dict[tuple[str, ...], dict[int, Floats]]] = {}
    if asked.reminders:
        _check_days(asked.reminders, found.list_days())
    for row in found.rows:
        request = _read_request_number(asked, row)
        name, item = _name(asked, row)
        requests = cells.setdefault(name, {}).setdefault(item, {})
        requests[request] = requests.get(request, 0.0) + row.counts
    _check_requests(asked, cells)
    people = _read_people(source, asked, scale, tool, found) if asked.people_known else None
    many = max(k for items in cells.values() for waves in items.values() for k in waves)
    none = np.zeros(found.scale.m)
    made = []
    for name, items in sorted(cells.items()):
        n = None if people is None else people[name]
        names = list(items) if n is None else list(n)
        table = [[items.get(i, {}).get(k, none) for k in range(1, many + 1)] for i in names]
        if n is None:
            numbers = None if asked.n is None else np.array([asked.n])
        else:
            numbers = np.array(list(n.values()))
        made.append(Responses(name, np.array(table), numbers))
    return made, found.scale


def _choose_keys(asked: Asked) -> tuple[tuple[str, ...], str | None]:
    """Return the column that tells requests apart, if any, and by what time is grouped."""
    if asked.wave is not None:
        return (asked.wave,), asked.window
    if asked.item or asked.segment:
        return (), "day"
    assert asked.time is not None  # goes with reminders
    return (asked.time,), None


def read_response_rates(
    source: Any, asked: Asked, scale: Scale | str | None, tool: Tool
) -> tuple[list[Responses], Scale]:
    """Read the ratings of each item with its number of people, by segment or window."""
    if not asked.people_known:
        raise PopulationError(
            "n_column",
            problem="{across_items} requires the number of people of each item",
            hint="Name its column with {n_column}, or a table with {n_table}",
            code="requires_n",
        )
    found = _count(source, asked, (), asked.window, scale, tool, people=True)
    made: dict[tuple[str, ...], list[_Row]] = {}
    for row in found.rows:
        made.setdefault(_name(asked, row)[0], []).append(row)
    groups = [
        Responses(
            name, np.array([row.counts for row in rows]), np.array([row.n for row in rows], float)
        )
        for name, rows in sorted(made.items())
    ]
    return groups, found.scale


@dataclass(frozen=True)
class _Row:
    segment: tuple[str, ...]
    item: tuple[str, ...]
    wave: Any
    window: tuple[date, date] | None
    counts: Floats
    n: float | None

    @property
    def day(self) -> date:
        return _as_day(self.wave) if self.window is None else self.window[0]


@dataclass(frozen=True)
class _Counted:
    rows: list[_Row]
    scale: Scale
    unrated: int
    messages: list[str]

    def list_days(self) -> list[date]:
        """Return the days with responses, in order."""
        return sorted({row.day for row in self.rows if row.counts.any()})


def _count(
    source: Any,
    asked: Asked,
    extra: tuple[str, ...],
    window: str | None,
    scale: Scale | str | None,
    tool: Tool,
    *,
    people: bool,
) -> _Counted:
    """Count responses by segment, item, request and window; with n where ``people`` says so."""
    options = dict(asked.rows)
    # Somebody who did not respond followed no request: such a row only counts as a person.
    only_rated = not people and options.get("nulls") == "nonresponse"
    if only_rated:
        del options["nulls"]
    if people:
        options |= {"n_column": asked.n_column, "n_table": asked.n_table}
    else:
        options.pop("bad_n", None)
    keys = (*asked.segment, *asked.item, *extra)
    time = asked.time if window is not None or asked.reads_times else None
    asked_for = read_request(
        item=keys, scale=scale, q=1.0, level=None, ranks=False,
        time=time, window=window, **options,
    )  # fmt: skip
    asked_for = replace(asked_for, requires_n=asked.by_request)
    job = prepare(source, asked_for, tool.where, tool.watch, only_rated=only_rated)
    request = job.request
    try:
        table = job.opened.engine.arrow(job.people).read_all()
    finally:
        job.close()
    for words in job.messages:
        tool.note(words)
    if people and request.n_may_be_unknown:
        # Without n there is nothing to be learned from an item.
        table = table.filter(table[N].is_valid())
    cells = np.column_stack([table[name].to_numpy() for name in request.count_columns])
    columns = [table[name].to_pylist() for name in request.result_keys]
    numbers = table[N].to_pylist() if people else [None] * table.num_rows
    wide, named = len(asked.segment), len(asked.segment) + len(asked.item)
    rows = [
        _Row(
            tuple(map(str, key[:wide])),
            tuple(map(str, key[wide:named])),
            key[named] if extra else None,
            (_as_day(key[-2]), _as_day(key[-1])) if window is not None else None,
            counts,
            n,
        )
        for key, counts, n in zip(
            zip(*columns, strict=True), cells.astype(np.float64), numbers, strict=True
        )
    ]
    return _Counted(rows, request.scale, job.unrated, job.messages)


def _as_day(value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        raise DataError(
            "time",
            problem="{argument} must contain dates",
            value=value,
            hint="Write the year first",
            examples=("2024-05-13",),
        ) from None


def _name(asked: Asked, row: _Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the name of a row's group, and that of its item."""
    if asked.window is None or row.window is None:
        return row.segment, row.item
    start, end = row.window
    return (start.isoformat(), end.isoformat()), row.item


def _read_people(
    source: Any, asked: Asked, scale: Scale | str | None, tool: Tool, responses: _Counted
) -> dict[tuple[str, ...], dict[tuple[str, ...], float]]:
    """Return the number of people of every item, by group: also of items without a response."""
    one_survey = not (asked.item or asked.segment or asked.window)
    if one_survey and asked.rows.get("nulls") == "nonresponse":
        responded = sum(float(row.counts.sum()) for row in responses.rows)
        return {(): {(): responded + responses.unrated}}
    quiet = Tool(tool.where, tool.watch)
    found = _count(source, asked, (), asked.window, scale, quiet, people=True)
    for words in found.messages:
        if words not in responses.messages:  # the same rows were read for these
            tool.note(words)
    made: dict[tuple[str, ...], dict[tuple[str, ...], float]] = {}
    for row in found.rows:
        name, item = _name(asked, row)
        assert row.n is not None  # was asked for
        made.setdefault(name, {})[item] = row.n
    return made


def _check_days(reminders: tuple[date, ...], days: Sequence[date]) -> None:
    """Raise unless there are responses before the first reminder, after the last, and between."""
    late = [reminder for reminder in reminders if reminder > days[-1]]
    if late:
        raise DataError(
            "reminder",
            problem="{argument} {day} is after the last response, {last}",
            hint="Leave it out, or check the column with the times",
            day=late[0].isoformat(),
            last=days[-1].isoformat(),
        )
    for before, reminder in zip((None, *reminders), reminders, strict=False):
        if not any((before or date.min) <= day < reminder for day in days):
            raise DataError(
                "reminder",
                problem="{argument} {day} is not after the first response, {first}"
                if before is None
                else "No response came between {argument} {before} and {day}",
                hint="Leave {day} out, or check the column with the times",
                day=reminder.isoformat(),
                before=str(before),
                first=days[0].isoformat(),
            )


def _read_request_number(asked: Asked, row: _Row) -> int:
    if asked.reminders:
        return 1 + sum(row.day >= reminder for reminder in asked.reminders)
    try:
        number = float(row.wave)
    except (TypeError, ValueError):
        number = -1.0
    if not (number.is_integer() and 1 <= number <= MOST_REQUESTS):
        raise DataError(
            "wave",
            problem="Column {column} must contain the number of the request that a response "
            "followed, from 1 on",
            value=row.wave,
            hint="Write 1 for the first request and 2 for the first reminder; for dates, use "
            "{time} and {reminder}",
            column=repr(asked.wave),
        )
    return int(number)


def _check_reminders(asked: Asked) -> None:
    taken = [*(asked.rows.get("rating") or ()), *(asked.rows.get("counts") or ()), asked.n_column]
    for argument, name, what in (
        ("wave", asked.wave, "the number of the request that a response followed"),
        ("time", asked.time, "the dates of the responses"),
    ):
        if name is not None and name in taken:
            raise ColumnError(
                argument,
                problem="{argument} names a column that is used for something else",
                value=name,
                hint="Name the column with {what}",
                what=what,
            )
    if asked.reminders and asked.wave is not None:
        raise OptionError(
            "reminder",
            problem="{argument} and {wave} cannot be combined",
            hint="Leave one of them out",
        )
    if asked.reminders and asked.time is None:
        raise OptionError(
            "reminder",
            problem="{argument} requires {time}",
            hint="Name the column that says when people responded",
        )
    if asked.reminders and asked.window is not None:
        raise OptionError(
            "window",
            problem="{argument} and {reminder} cannot be combined",
            hint="Number the requests in a column, and name it with {wave}",
        )
    if list(asked.reminders) != sorted(set(asked.reminders)):
        raise OptionError(
            "reminder",
            problem="{argument} must list dates in order, each once",
            hint="Begin with the first reminder",
        )


def _check_choices(asked: Asked) -> None:
    """Refuse what is done to rows elsewhere, and cannot be to responses by request."""
    if asked.rows.get("bad_n") == "drop":
        raise OptionError(
            "bad_n",
            problem="{bad_n:drop} does not apply to responses by request",
            hint="Use {bad_n:raise}, or correct n",
        )
    if asked.rows.get("duplicates", "refuse") != "refuse":
        raise OptionError(
            "duplicates",
            problem="{argument} does not apply to responses by request, since the latest response "
            "does not show which request made somebody respond",
            hint="Keep the first response of each person in the table",
        )


def _check_n(asked: Asked) -> None:
    if asked.n is not None and asked.people_known:
        other = (
            "n_column" if asked.n_column else "n_table" if asked.n_table is not None else "nulls"
        )
        raise OptionError(
            "n",
            problem="{argument} and {other} cannot be combined",
            hint="Give one of them",
            other=Reference(other, value="nonresponse" if other == "nulls" else None),
        )
    for name in ("window", "segment"):
        if asked.n is not None and getattr(asked, name):
            raise OptionError(
                "n",
                problem="{argument} is the number of people in all, and {several} requires that of "
                "each",
                hint="Name a column with {n_column}, or a table with {n_table}",
                several=Reference(name),
            )


def _check_requests(asked: Asked, cells: dict[Any, dict[Any, dict[int, Floats]]]) -> None:
    """Raise unless the requests are 1, 2 and so on, in every segment or window."""
    for name, items in cells.items():
        numbers = sorted({k for waves in items.values() for k, row in waves.items() if row.any()})
        place = f" of {', '.join(name)}" if name else ""
        if len(numbers) < 2:
            raise DataError(
                "wave",
                problem="All responses{place} followed one request: nothing can be learned from "
                "one wave",
                hint="Include the responses to a reminder",
                code="one_wave",
                place=place,
            )
        missing = [k for k in range(1, numbers[-1] + 1) if k not in numbers]
        if missing:
            raise DataError(
                "wave",
                problem="No response{place} followed request {missing}, but some followed request "
                "{later}",
                hint="Check the dates of the requests"
                if asked.reminders
                else "Number the requests 1, 2, 3, ... without a gap",
                place=place,
                missing=missing[0],
                later=next(k for k in numbers if k > missing[0]),
            )


def parse_reminders(words: Sequence[str]) -> tuple[date, ...]:
    """Read the dates of reminders, as in 2024-05-13."""
    try:
        return tuple(date.fromisoformat(word.strip()) for word in words)
    except ValueError:
        raise OptionError(
            "reminder",
            problem="{argument} must be dates",
            value=",".join(words),
            hint="Write the year first",
            examples=("2024-05-13",),
        ) from None
