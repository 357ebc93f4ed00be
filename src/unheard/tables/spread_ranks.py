"""Ranks of items that are spread over machines, without bringing the items together.

A rank is a count: the best rank of an item is one more than the lower ends above its upper end. So
rows need not be sorted: the ends alone are, 8 bytes each, and every machine looks its own rows up
among them. Where there are too many ends for that, or executors lack the package, queries count
them in ranges of values (:class:`unheard.tables.sql.rank_query.Ranges`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sqlglot import exp

from unheard.formulas.operations import Floats
from unheard.tables.engines.arrow_batches import Source
from unheard.tables.engines.base import Engine
from unheard.tables.request import Request
from unheard.tables.sql.dialects import column
from unheard.tables.sql.rank_query import AVERAGE_RANK, RANGE, Ranges, rank_limits
from unheard.tables.sql.rate_query import (
    Compute,
    Prepared,
    Rated,
    write_rank_query,
    write_rated_query,
)

MOST_LOOKED_UP = 2**22
"""Items whose ends fit into the memory of each worker: 32 MiB for each end, and for averages."""

MOST_RANGES = 2**12
"""Ranges of values, in all groups of items that are compared with each other."""


def rank_spread_items(
    engine: Engine,
    request: Request,
    given: Prepared,
    level: float | None,
    items: int,
    groups: int,
) -> Prepared:
    """Add the ranks to what is prepared, those by the plain average with them.

    Parameters
    ----------
    engine
        It keeps what it has computed, as its queries are computed again wherever they are read.
    request, given
        What is asked, and the counts.
    level
        Level of the confidence limits behind ranks that allow for sampling error.
    items, groups
        How many items are compared with each other at the most, and in how many groups.
    """
    one_group = not (request.compared_within or request.strata)
    if given.compute is not None and one_group and items <= MOST_LOOKED_UP:
        return replace(given, rated=_look_up_ranks(engine, request, given, given.compute, level))
    scale = request.scale
    many = max(1, MOST_RANGES // max(groups, 1))
    add_up = partial(_add_up, engine, request.compared_within)
    ranges = Ranges(scale.lowest, scale.width, many, engine.keep, add_up)
    kept = engine.keep("ranks", write_rank_query(request, given, level, ranges))
    return replace(given, ranks=kept, ranked_by_average=request.order is not None)


def _add_up(engine: Engine, within: Sequence[str], counts: exp.Query) -> exp.Expr:
    """Replace counts per range by the sums over all higher ranges of the same group."""
    import pyarrow as pa

    table = engine.arrow(counts).read_all()
    sums: dict[tuple[Any, ...], dict[str, int]] = {}
    rows = sorted(table.to_pylist(), key=lambda row: -row[RANGE])
    for row in rows:
        above = sums.setdefault(tuple(row[name] for name in within), {})
        for name in row.keys() - {*within, RANGE}:
            here, row[name] = row[name], above.get(name, 0)
            above[name] = row[name] + here
    return engine.upload("offsets", pa.Table.from_pylist(rows, table.schema))


@dataclass(frozen=True, eq=False)
class Ends:
    """The lower and the upper ends of all intervals, each sorted."""

    lower: Floats
    upper: Floats

    @classmethod
    def sort(cls, lower: Floats, upper: Floats) -> Ends:
        """Sort ends; the n-th lower and the n-th upper end are no longer of the same item."""
        return cls(np.sort(lower), np.sort(upper))

    def best_rank(self, upper: Floats) -> Floats:
        """One more than the lower ends above an upper end."""
        return _missing_kept(upper, 1 + _number_above(self.lower, upper))

    def worst_rank(self, lower: Floats) -> Floats:
        """All items but those whose upper ends are below a lower end."""
        return _missing_kept(lower, len(self.upper) - _number_below(self.upper, lower))

    def tier(self, upper: Floats) -> Floats:
        """Count the tiers opened down to an upper end."""
        return len(self._tier_openers) - _number_below(self._tier_openers, upper)

    @cached_property
    def _tier_openers(self) -> Floats:
        """Upper ends at which no interval is open: as many upper as lower ends are above them."""
        places = np.unique(self.upper)
        closed = _number_above(self.upper, places) == _number_above(self.lower, places)
        opening: Floats = places[closed]
        return opening


def _number_above(ordered: Floats, places: Floats) -> Floats:
    return len(ordered) - _search(ordered, places, "right")


def _number_below(ordered: Floats, places: Floats) -> Floats:
    return _search(ordered, places, "left")


def _search(ordered: Floats, places: Floats, side: Any) -> Floats:
    """Search in the order of the places, so that lookups stay in the cache."""
    order = np.argsort(places)
    found = np.empty(len(places))
    found[order] = np.searchsorted(ordered, places[order], side=side)
    return found


def _missing_kept(places: Floats, ranks: Floats) -> Floats:
    return np.where(np.isnan(places), np.nan, ranks)


def _look_up_ranks(
    engine: Engine, request: Request, given: Prepared, compute: Compute, level: float | None
) -> Rated:
    """Rate all items once, and return the results with the ranks, looked up when they are read."""
    query, names, notes = write_rated_query(request, given, level)
    kept = engine.keep("rated", query)
    used = {"": ("lower", "upper")}
    if level is not None:
        used["ci_"] = rank_limits()
    wanted = [name for pair in used.values() for name in pair]
    averages = request.order is not None
    columns = [*wanted, "average"] if averages else wanted
    read = engine.arrow(exp.select(*map(column, columns)).from_(kept.copy())).read_all()
    arrays = {name: read[name].to_numpy() for name in columns}
    ends = {prefix: Ends.sort(arrays[low], arrays[high]) for prefix, (low, high) in used.items()}
    rated = np.sort(arrays["average"][~np.isnan(arrays["average"])]) if averages else None
    formula = partial(_add_ranks, used, ends, rated)
    passed_on = [name for name in (*request.result_keys, *names) if name not in columns]
    everything = exp.select(*map(column, (*passed_on, *columns))).from_(kept)
    ranked, _ = compute(everything, passed_on, formula)
    return Rated(ranked, notes)


def _add_ranks(
    used: Mapping[str, tuple[str, str]],
    ends: Mapping[str, Ends],
    averages: Floats | None,
    source: Source,
) -> dict[str, Any]:
    """Hand the columns on that the ranks are looked up by, and add the ranks."""
    found = {name: source.column(name) for name in used[""]}
    for prefix, (low, high) in used.items():
        found[f"{prefix}best_rank"] = ends[prefix].best_rank(source.column(high))
        found[f"{prefix}worst_rank"] = ends[prefix].worst_rank(source.column(low))
    if averages is not None:
        average = found["average"] = source.column("average")
        found["tier"] = ends[""].tier(source.column("upper"))
        found[AVERAGE_RANK] = _missing_kept(average, 1 + _number_above(averages, average))
    return found
