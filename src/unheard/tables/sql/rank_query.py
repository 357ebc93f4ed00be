"""The order of the items, as SQL: possible ranks, tiers, and who is in the top k.

All ends of intervals, sorted once, tell everything. Going down from the highest, upper ends before
lower ones at the same place, an item's best rank is one more than the lower ends passed before its
upper end, and its worst rank the upper ends passed up to its lower end. Where as many lower as
upper ends have been passed no interval is open, and the next upper end opens a tier.

An engine on many machines would bring all ends together for that. So there they are first counted
in ranges of values: what is passed up to an end is what is in the ranges above its own, and what is
passed inside its range, which one machine can sort (:class:`Ranges`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from unheard.tables.request import Request
from unheard.tables.sql.dialects import column
from unheard.tables.sql.expressions import number
from unheard.tables.sql.reserved_names import plain, reserve
from unheard.tables.sql.steps import Steps

_ONE = exp.Literal.number(1)
_PLACE, _IS_LOWER = reserve("place"), reserve("is_lower")
_PASSED, _LOWERS, _OPENED = reserve("passed"), reserve("lowers"), reserve("opened")


AVERAGE_RANK = "average_rank"
"""The rank by the plain average, where it is not a window over the result."""

RANGE = reserve("range")
"""The number of a range of values; larger values are in ranges with larger numbers."""

_OFFSETS = reserve("offsets")


@dataclass(frozen=True)
class Ranges:
    """Ranges of values, and how what is in them is counted.

    Equal values are in the same range, and a larger value is never in a lower range, so how values
    are spread over ranges makes a difference to the work and none to the ranks.

    Attributes
    ----------
    lowest, width
        The scale.
    many
        Ranges from end to end of it.
    keep
        Stores the result of a query under a name, and returns a table that reads it.
    add_up
        Runs a query for counts per range, and returns a table with the sums of the counts of all
        higher ranges, which are compared with each other.
    """

    lowest: float
    width: float
    many: int
    keep: Callable[[str, exp.Query], exp.Expr]
    add_up: Callable[[exp.Query], exp.Expr]

    def of(self, value: exp.Expr) -> exp.Expr:
        """Return the range of a value."""
        steps = exp.paren(value - number(self.lowest)) * number(self.many / self.width)
        return exp.cast(exp.Floor(this=steps), "bigint")


def add_ranks(request: Request, steps: Steps, latest: str, ranges: Ranges | None = None) -> str:
    """Append steps to the possible ranks of each item, and return the name of the last.

    If the order is asked about, tiers come with them, and the ranks that the confidence
    limits leave possible. With ranges, no step sorts all rows, and the rank by the plain average
    comes with them, too.
    """
    ranks = _add_ranks(request, steps, latest, ("lower", "upper"), "", ranges)
    if request.ranks_allow_for_error:
        with_error = _add_ranks(request, steps, latest, ("ci_lower", "ci_upper"), "ci_", ranges)
        ranks = add_columns(request, steps, ranks, with_error, ["ci_best_rank", "ci_worst_rank"])
    if ranges is not None and request.order is not None:
        averages = _add_ranks(request, steps, latest, ("average", "average"), "average_", ranges)
        ranks = add_columns(request, steps, ranks, averages, [AVERAGE_RANK])
    return ranks


def _add_ranks(
    request: Request,
    steps: Steps,
    latest: str,
    names: tuple[str, str],
    prefix: str,
    ranges: Ranges | None,
) -> str:
    keys = [column(key) for key in request.result_keys]
    placed_in = [] if ranges is None else [RANGE]
    ends = exp.union(
        *(
            exp.select(
                *keys,
                *(exp.alias_(ranges.of(column(end)), RANGE) for ranges in [ranges] if ranges),
                exp.alias_(column(end), _PLACE),
                exp.alias_(exp.Literal.number(is_lower), _IS_LOWER),
            )
            .from_(latest)
            # An item without ratings has no average.
            .where(column(end).is_(exp.null()).not_() if end == "average" else None)
            for end, is_lower in zip(names, (1, 0), strict=True)
        ),
        distinct=False,
    )
    words = "All ends of intervals, sorted once, give the possible ranks."
    latest = steps.add(f"{prefix}ends", ends, words)
    downwards = (exp.Ordered(this=column(_PLACE), desc=True), exp.Ordered(this=column(_IS_LOWER)))
    lower = exp.case().when(column(_IS_LOWER).eq(1), _ONE)
    counted = {_PASSED: exp.Star(), _LOWERS: lower}
    kept = [*request.result_keys, *placed_in, _IS_LOWER]
    latest = _add_running(
        request, steps, latest, f"{prefix}placed", kept, counted, downwards, ranges
    )
    with_tiers = request.order is not None and not prefix
    if with_tiers:
        latest = _add_tiers(request, steps, latest, [*kept, _PASSED, _LOWERS], ranges)
    at_upper, at_lower = (column(_IS_LOWER).eq(is_lower) for is_lower in (0, 1))
    made = {f"{prefix}best_rank": exp.case().when(at_upper, column(_LOWERS) + 1)}
    if prefix == "average_":
        made = {AVERAGE_RANK: made.popitem()[1]}
    else:
        passed = column(_PASSED) - column(_LOWERS)
        made[f"{prefix}worst_rank"] = exp.case().when(at_lower, passed)
    if with_tiers:
        made["tier"] = exp.case().when(at_upper, column(_OPENED))
    found = exp.select(*keys).from_(latest).group_by(*keys)
    for name, rank in made.items():
        found = found.select(exp.alias_(exp.Max(this=rank), name))
    return steps.add(f"{prefix}ranks", found, "The ranks that every item may have.")


def _add_tiers(
    request: Request, steps: Steps, latest: str, kept: list[str], ranges: Ranges | None
) -> str:
    """Count the tiers opened so far, each by an upper end with no interval open before it."""
    if ranges is not None:
        # It is read twice: for the sums over ranges, and beside them.
        placed = ranges.keep("placed", steps.closing(exp.select("*").from_(latest)).copy())
        latest = steps.add("kept_placed", exp.select("*").from_(placed))
    closed = column(_PASSED).eq(column(_LOWERS) * 2 + 1)
    opens = exp.case().when(exp.and_(column(_IS_LOWER).eq(0), closed), _ONE)
    order = (exp.Ordered(this=column(_PASSED)),)
    return _add_running(request, steps, latest, "tiers", kept, {_OPENED: opens}, order, ranges)


def _add_running(
    request: Request,
    steps: Steps,
    latest: str,
    name: str,
    kept: list[str],
    counted: Mapping[str, exp.Expr],
    order: tuple[exp.Ordered, ...],
    ranges: Ranges | None,
) -> str:
    """Append a step with running counts beside some columns, along the rows that are compared."""
    within = list(request.compared_within)
    if ranges is None:
        running = [
            exp.alias_(_count_over(within, what, *order), made) for made, what in counted.items()
        ]
        words = "Counts from the highest end down to each."
        return steps.add(name, exp.select(*map(column, kept), *running).from_(latest), words)
    within.append(RANGE)
    per_range = [exp.alias_(exp.Count(this=what.copy()), made) for made, what in counted.items()]
    counts = exp.select(*map(column, within), *per_range).from_(latest)
    counts = counts.group_by(*map(column, within))
    above = exp.alias_(ranges.add_up(steps.closing(counts).copy()), _OFFSETS, table=True)
    here = exp.select("*").from_(latest)
    inside = [
        exp.alias_(_count_over(within, what, *order), reserve(f"{plain(made)}_inside"))
        for made, what in counted.items()
    ]
    inside_named = steps.add(f"{name}_in_ranges", here.select(*inside))
    sums = [
        exp.alias_(column(made, _OFFSETS) + column(one.alias, inside_named), made)
        for made, one in zip(counted, inside, strict=True)
    ]
    same = (exp.EQ(this=column(n, inside_named), expression=column(n, _OFFSETS)) for n in within)
    query = exp.select(*(column(one, inside_named) for one in kept), *sums)
    return steps.add(name, query.from_(inside_named).join(above, on=exp.and_(*same)))


def _count_over(within: list[str], what: exp.Expr, *order: exp.Ordered) -> exp.Window:
    """Count along the rows that agree in some columns, up to each."""
    so_far = exp.WindowSpec(
        kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
    )
    return _along(within, exp.Count(this=what.copy()), *order, spec=so_far)


def _along(
    within: Iterable[str], what: exp.Expr, *order: exp.Expr, **frame: exp.Expr
) -> exp.Window:
    """Compute something along the rows that agree in some columns."""
    listed = exp.Order(expressions=[one.copy() for one in order])
    return exp.Window(this=what, partition_by=[*map(column, within)], order=listed, **frame)


def add_columns(request: Request, steps: Steps, latest: str, other: str, names: list[str]) -> str:
    """Set columns of another step with the same rows beside those of the latest."""
    pairs = ((column(key, latest), column(key, other)) for key in request.result_keys)
    query = (
        exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier(latest)))
        .select(*(column(name, other) for name in names))
        .from_(latest)
        .join(
            other, on=exp.and_(*(exp.EQ(this=a, expression=b) for a, b in pairs)), join_type="left"
        )
    )
    return steps.add(f"{plain(latest)}_with_{plain(other)}", query)


def rank_sources(request: Request) -> list[str]:
    """Names of the columns that :func:`add_ranks` reads."""
    prefixes = ("", "ci_") if request.ranks_allow_for_error else ("",)
    ends = [f"{prefix}{end}" for prefix in prefixes for end in ("lower", "upper")]
    averages = [] if request.order is None else ["average"]
    return [*request.result_keys, *ends, *averages]


def rank_limits() -> tuple[str, str]:
    """Names of confidence limits that are there for ranks alone, beside those of the result."""
    return reserve("rank_ci_lower"), reserve("rank_ci_upper")


def rank_columns(request: Request) -> list[str]:
    """Names of the columns that :func:`add_ranks` makes."""
    names = ["best_rank", "worst_rank"]
    if request.order is not None:
        names.append("tier")
    return [*names, "ci_best_rank", "ci_worst_rank"] if request.ranks_allow_for_error else names


def order_columns(request: Request, *, ranked: bool = False) -> list[exp.Expr]:
    """Columns of the result about the order; null where they were not asked for.

    The rank by the plain average is there already if the items are ``ranked`` by it.
    """
    order = request.order
    if order is None:
        return []
    null = exp.null()
    allows_for_error = request.ranks_allow_for_error
    made = {
        "average_rank": exp.cast(
            column(AVERAGE_RANK) if ranked else _average_rank(request), "bigint"
        ),
        "tier": exp.cast(column("tier"), "bigint"),
        "top": _top(order.k, ""),
        "ci_top": _top(order.k if allows_for_error else None, "ci_"),
        "breakdown_q": exp.cast(null if order.claim is None else column("breakdown_q"), "double"),
    }
    return [exp.alias_(expression, name) for name, expression in made.items()]


def _average_rank(request: Request) -> exp.Expr:
    """Rank by the plain average, which items without ratings do not have; ties share the best."""
    rated = column("n_ratings") > 0
    last = exp.case().when(rated.copy(), exp.Literal.number(0)).else_(_ONE)
    order = (exp.Ordered(this=last), exp.Ordered(this=column("average"), desc=True))
    within = request.compared_within
    return exp.case().when(rated, _along(within, exp.Anonymous(this="RANK"), *order))


def _top(k: int | None, prefix: str) -> exp.Expr:
    """Whether an item is in the top k: surely, possibly, or not."""
    if k is None:
        return exp.cast(exp.null(), "text")
    within = exp.Literal.number(k)
    return (
        exp.case()
        .when(column(f"{prefix}worst_rank") <= within, exp.Literal.string("surely"))
        .when(column(f"{prefix}best_rank") <= within, exp.Literal.string("possibly"))
        .else_(exp.Literal.string("no"))
    )
