"""Audits in tables: counts of respondents, and of everybody, item by item.

There are three layouts: a row per person, with a column that says whether they responded; counts of
both kinds side by side; or rows of two populations, ``observed`` and ``true``, distinguished by a
column, with counts or with a row per rating.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from unheard.errors import ColumnError, DataError, InputError
from unheard.formulas.operations import Floats
from unheard.model.scale import Scale
from unheard.tables.pipeline import are_numbers, check_names, prepare, read_request
from unheard.tables.progress import Watch
from unheard.tables.sources.open import Where

_YES = {"1", "1.0", "true", "t", "yes", "y"}
_NO = {"0", "0.0", "false", "f", "no", "n"}
_POPULATIONS = {"observed": "observed", "true": "truth", "truth": "truth"}


@dataclass(frozen=True)
class Layout:
    """Which columns hold what.

    Attributes
    ----------
    item, segment
        Columns that say what was rated, and to which segment the people belong.
    rating, counts
        The column with ratings, or the columns with counts, lowest rating first.
    answered
        The column that says whether a person responded.
    population
        The column that says of which population a row is.
    observed, truth
        Instead of ``counts``: the columns with counts of respondents, and of everybody.
    """

    item: tuple[str, ...] = ()
    segment: tuple[str, ...] = ()
    rating: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    answered: str | None = None
    population: str | None = None
    observed: tuple[str, ...] = ()
    truth: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that name a row of counts."""
        flag = self.answered or self.population
        return (*self.segment, *self.item, *((flag,) if flag else ()))

    def check(self) -> None:
        """Raise unless the layout is one of those that can be read."""
        wide = bool(self.observed or self.truth)
        ways = [self.answered is not None, self.population is not None, wide]
        if sum(ways) != 1:
            problem = "The columns do not say who responded"
            if any(ways):
                problem = "The columns say more than once who responded"
            raise ColumnError(
                "audit",
                problem=problem,
                hint="Name one: {answered}, a column of yes and no; {population}, a column of "
                "observed and true; or the columns of counts, {observed} and {truth}",
            )
        if wide and len(self.observed) != len(self.truth):
            raise ColumnError(
                "truth",
                problem="{argument} must name as many columns as {observed}, which names {many}",
                value=len(self.truth),
                hint="Name one of each per rating, lowest first",
                many=len(self.observed),
            )
        if wide and self.counts:
            raise ColumnError(
                "counts",
                problem="{argument} cannot be combined with {observed} and {truth}",
                hint="Leave one of them out",
            )
        if wide and not self.item:
            raise ColumnError(
                "item",
                problem="{argument} is required",
                hint="Name the column that says what was rated",
            )


@dataclass
class Audited:
    """Counts per item of one segment: respondents, and everybody.

    ``segment`` is its name, column by column.
    """

    segment: tuple[str, ...] = ()
    items: list[str] = field(default_factory=list)
    observed: list[Floats] = field(default_factory=list)
    truth: list[Floats] = field(default_factory=list)


def read_audit(
    source: Any,
    layout: Layout,
    scale: Scale | str | None = None,
    *,
    paired: bool = True,
    where: Where | None = None,
    watch: Watch | None = None,
    note: Callable[[str], None] = lambda _words: None,
    **rows: Any,
) -> tuple[dict[str, Audited], Scale]:
    """Read an audit.

    Parameters
    ----------
    source
        As in :func:`unheard.rate`.
    layout
        Which columns hold what.
    scale
        The values a rating may take.
    paired
        Whether the truth is about the same people, so that it includes the respondents.
    where, watch
        Where the table is, and what receives the progress.
    note
        Told what was done to rows that could not be used as they were.
    **rows
        What to do with rows that cannot be used, as in :func:`unheard.rate`.

    Returns
    -------
    tuple
        Counts per segment (one without a name if there are none), and the scale.
    """
    layout.check()
    for side in ("observed", "truth"):
        if not are_numbers(getattr(layout, side)):
            stated = None if scale is None else Scale.read(scale)
            check_names(getattr(layout, side), stated, argument=side)
    wide = (*layout.observed, *layout.truth)
    request = read_request(
        item=layout.keys,
        rating=layout.rating or None,
        counts=wide or layout.counts or None,
        scale=Scale.points(len(wide)) if wide else scale,
        q=1.0,
        level=None,
        ranks=False,
        **rows,
    )
    try:
        job = prepare(source, request, where or Where(), watch)
    except ColumnError as error:
        raise _rename_argument(error, layout) from None
    request = job.request
    try:
        table = job.opened.engine.arrow(job.people).read_all()
    finally:
        job.close()
    for words in job.messages:
        note(words)
    cells = np.column_stack([table[name].to_numpy() for name in request.count_columns])
    names = list(zip(*(table[name].to_pylist() for name in request.result_keys), strict=True))
    if request.window is not None:
        # Windows come after the other keys; they are segments.
        names = [(*(str(day)[:10] for day in key[-2:]), *key[:-2]) for key in names]
        layout = replace(layout, segment=request.result_keys[-2:])
    found = _split(layout, names, cells.astype(np.float64), paired)
    if not wide:
        return found, request.scale
    return found, Scale.points(len(layout.truth)) if scale is None else Scale.read(scale)


def _rename_argument(error: ColumnError, layout: Layout) -> InputError:
    """Name the argument of the layout that named a missing column."""
    for one in fields(layout):
        named = getattr(layout, one.name) or ()
        columns = (named,) if isinstance(named, str) else named
        if error.code == "no_such_column" and error.data["name"] in [*map(repr, columns)]:
            return error.about(one.name)
    return error


def _split(
    layout: Layout, keys: Sequence[tuple[Any, ...]], cells: Floats, paired: bool
) -> dict[str, Audited]:
    """Put the rows of counts of each item together."""
    both: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[str, Floats]] = {}
    width, m = len(layout.segment), cells.shape[1] // (2 if layout.observed else 1)
    for key, row in zip(keys, cells, strict=True):
        segment = tuple(map(str, key[:width]))
        parts = tuple(map(str, key[width : width + len(layout.item)]))
        sides = both.setdefault(
            (segment, parts),
            {"observed": np.zeros(m), "truth": np.zeros(m), "unobserved": np.zeros(m)},
        )
        if layout.observed:
            sides["observed"] += row[:m]
            sides["truth"] += row[m:]
        else:
            sides[_read_side(layout, key[-1])] += row
    found: dict[str, Audited] = {}
    for (segment, parts), sides in sorted(both.items(), key=lambda pair: pair[0]):
        name, item = ",".join(segment), ",".join(parts)
        if layout.answered is not None:
            sides["truth"] = sides["observed"] + sides["unobserved"]
        _check_item(item, sides, paired)
        group = found.setdefault(name, Audited(segment))
        if group.segment != segment:
            raise DataError(
                "segment",
                problem="{argument} has two values that are both written {name}",
                hint="Rename one of them",
                name=repr(name),
            )
        group.items.append(item)
        group.observed.append(sides["observed"])
        group.truth.append(sides["truth"])
    return found


def _read_side(layout: Layout, value: Any) -> str:
    """Read from a row's flag what it counts."""
    word = str(value).strip().lower()
    if layout.population is not None:
        if word not in _POPULATIONS:
            raise DataError(
                "population",
                problem="Column {column} must contain observed or true",
                value=value,
                hint="Write observed for ratings that were given, and true for everybody's",
                column=repr(layout.population),
            )
        return _POPULATIONS[word]
    if word not in _YES | _NO:
        raise DataError(
            "answered",
            problem="Column {column} must contain yes or no",
            value=value,
            hint="Write 1 or yes for people who responded, and 0 or no for those who did not",
            column=repr(layout.answered),
        )
    return "observed" if word in _YES else "unobserved"


def _check_item(item: str, sides: Mapping[str, Floats], paired: bool) -> None:
    more = sides["observed"] > sides["truth"]
    if paired and more.any():
        r = int(np.argmax(more))
        raise DataError(
            "audit",
            problem="{item_name} has {given} respondents with rating number {place}, but only "
            "{held} people with it",
            hint="Include the respondents in the truth, or use {unpaired} if it is about other "
            "people",
            item_name=f"Item {item!r}" if item else "The audit",
            given=f"{sides['observed'][r]:.15g}",
            place=r + 1,
            held=f"{sides['truth'][r]:.15g}",
        )
