"""Audits in tables: counts of those who answered, and of everybody, item by item.

Three layouts are read. A row per person, with a column that says whether they answered. Counts of
both kinds side by side. Or rows of two populations, ``observed`` and ``true``, told apart by a
column: of counts, or a row per rating.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unheard.errors import ColumnError, DataError
from unheard.formulas.operations import Floats
from unheard.model.scale import Scale
from unheard.tables.pipeline import prepare, read_request
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
        The column that says whether a person answered.
    population
        The column that says of which population a row is.
    observed, truth
        Instead of ``counts``: the columns with counts of those who answered, and of everybody.
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
            raise ColumnError(
                "audit",
                "it is not said who answered" if not any(ways) else "it is said twice who answered",
                "Name one: answered, a column of yes and no; population, a column of observed and "
                "true; or the columns of counts, observed and truth",
            )
        if wide and len(self.observed) != len(self.truth):
            raise ColumnError(
                "truth",
                f"{len(self.truth)} columns, and {len(self.observed)} of observed counts",
                "Name one of both for each rating, lowest first",
            )
        if wide and self.counts:
            raise ColumnError(
                "counts", "named together with observed and truth", "Leave one of them out"
            )
        if wide and not self.item:
            raise ColumnError("item", "no column named", "Name the column that says what was rated")


@dataclass
class Audited:
    """Counts per item of one segment: those who answered, and everybody.

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
        Whether the truth is of the same people, so that it counts those who answered as well.
    where, watch
        Where the table is, and what is told of long work.
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
        raise _renamed(error, layout) from None
    try:
        table = job.opened.engine.arrow(job.people).read_all()
    finally:
        job.close()
    for words in job.messages:
        note(words)
    cells = np.column_stack([table[name].to_numpy() for name in request.count_columns])
    names = [table[name].to_pylist() for name in layout.keys]
    found = _split(layout, list(zip(*names, strict=True)), cells.astype(np.float64), paired)
    if not found:
        raise DataError("audit", "no rows found", "Name a table with people or items")
    if not wide:
        return found, request.scale
    if isinstance(scale, str):
        scale = Scale.parse(scale)
    return found, scale or Scale.points(len(layout.truth))


def _renamed(error: ColumnError, layout: Layout) -> ColumnError:
    """Say of a column that is not there by which argument of the layout it was named."""
    missing = re.search(r"has no column '(.*?)'", error.found)
    if missing is None:
        return error
    for place in ("item", "segment", "rating", "counts", "answered", "population", "observed",
                  "truth"):  # fmt: skip
        named = getattr(layout, place) or ()
        if missing[1] in ((named,) if isinstance(named, str) else named):
            return ColumnError(place, error.found, error.remedy)
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
            (segment, parts), {"observed": np.zeros(m), "truth": np.zeros(m), "silent": np.zeros(m)}
        )
        if layout.observed:
            sides["observed"] += row[:m]
            sides["truth"] += row[m:]
        else:
            sides[_side(layout, key[-1])] += row
    found: dict[str, Audited] = {}
    for (segment, parts), sides in sorted(both.items(), key=lambda pair: pair[0]):
        name, item = ",".join(segment), ",".join(parts)
        if layout.answered is not None:
            sides["truth"] = sides["observed"] + sides["silent"]
        _check_item(item, sides, paired)
        group = found.setdefault(name, Audited(segment))
        if group.segment != segment:
            raise DataError(
                "segment", f"two segments are both called {name!r}", "Rename one of them"
            )
        group.items.append(item)
        group.observed.append(sides["observed"])
        group.truth.append(sides["truth"])
    return found


def _side(layout: Layout, value: Any) -> str:
    """Tell from a row's flag what it counts."""
    word = str(value).strip().lower()
    if layout.population is not None:
        if word not in _POPULATIONS:
            raise DataError(
                "population",
                f"{value!r} found in column {layout.population!r}",
                "Write observed for ratings that were given, and true for everybody's",
            )
        return _POPULATIONS[word]
    if word not in _YES | _NO:
        raise DataError(
            "answered",
            f"{value!r} found in column {layout.answered!r}",
            "Write 1 or yes for people who answered, and 0 or no for those who did not",
        )
    return "observed" if word in _YES else "silent"


def _check_item(item: str, sides: Mapping[str, Floats], paired: bool) -> None:
    more = sides["observed"] > sides["truth"]
    if paired and more.any():
        r = int(np.argmax(more))
        raise DataError(
            "audit",
            f"{'item ' + repr(item) if item else 'it'} has {sides['observed'][r]:g} answers with "
            f"its rating number {r + 1}, and {sides['truth'][r]:g} people who hold it",
            "The truth must count those who answered as well; if it is of other people, say that "
            "the audit is not paired",
        )
