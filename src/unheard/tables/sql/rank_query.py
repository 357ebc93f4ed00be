"""The order of the items, as SQL: possible ranks, tiers, and who is in the top k.

All ends of intervals, sorted once, tell everything. Going down from the highest, upper ends before
lower ones at the same place, an item's best rank is one more than the lower ends passed before its
upper end, and its worst rank the upper ends passed up to its lower end. Where as many lower as
upper ends have been passed no interval is open, and the next upper end opens a tier.
"""

from __future__ import annotations

from sqlglot import exp

from unheard.tables.request import Request
from unheard.tables.sql.dialects import column
from unheard.tables.sql.reserved_names import plain, reserve
from unheard.tables.sql.steps import Steps

_ONE = exp.Literal.number(1)
_PLACE, _IS_LOWER = reserve("place"), reserve("is_lower")
_PASSED, _LOWERS, _OPENED = reserve("passed"), reserve("lowers"), reserve("opened")


def add_ranks(request: Request, steps: Steps, latest: str) -> str:
    """Append steps to the possible ranks of each item, and return the name of the last.

    If the order is asked about, tiers come with them, and the ranks that the confidence
    limits leave possible.
    """
    ranks = _add_ranks(request, steps, latest, "")
    if not request.ranks_allow_for_error:
        return ranks
    with_noise = _add_ranks(request, steps, latest, "ci_")
    return add_columns(request, steps, ranks, with_noise, ["ci_best_rank", "ci_worst_rank"])


def _add_ranks(request: Request, steps: Steps, latest: str, prefix: str) -> str:
    keys = [column(key) for key in request.result_keys]
    ends = exp.union(
        *(
            exp.select(
                *keys,
                exp.alias_(column(f"{prefix}{end}"), _PLACE),
                exp.alias_(exp.Literal.number(is_lower), _IS_LOWER),
            ).from_(latest)
            for end, is_lower in (("lower", 1), ("upper", 0))
        ),
        distinct=False,
    )
    words = "All ends of intervals, sorted once, tell the possible ranks."
    latest = steps.add(f"{prefix}ends", ends, words)
    downwards = (exp.Ordered(this=column(_PLACE), desc=True), exp.Ordered(this=column(_IS_LOWER)))
    lower = exp.case().when(column(_IS_LOWER).eq(1), _ONE)
    placed = exp.select(
        *keys,
        column(_IS_LOWER),
        exp.alias_(_along(request, exp.RowNumber(), *downwards), _PASSED),
        exp.alias_(_counted(request, lower, *downwards), _LOWERS),
    ).from_(latest)
    latest = steps.add(f"{prefix}placed", placed)
    with_tiers = request.order is not None and not prefix
    if with_tiers:
        latest = _add_tiers(request, steps, latest)
    at_upper, at_lower = (column(_IS_LOWER).eq(is_lower) for is_lower in (0, 1))
    made = {
        "best_rank": exp.case().when(at_upper, column(_LOWERS) + 1),
        "worst_rank": exp.case().when(at_lower, column(_PASSED) - column(_LOWERS)),
    }
    if with_tiers:
        made["tier"] = exp.case().when(at_upper, column(_OPENED))
    found = exp.select(*keys).from_(latest).group_by(*keys)
    for name, rank in made.items():
        found = found.select(exp.alias_(exp.Max(this=rank), f"{prefix}{name}"))
    return steps.add(f"{prefix}ranks", found)


def _add_tiers(request: Request, steps: Steps, latest: str) -> str:
    """Count the tiers opened so far, each by an upper end with no interval open before it."""
    closed = column(_PASSED).eq(column(_LOWERS) * 2 + 1)
    opens = exp.case().when(exp.and_(column(_IS_LOWER).eq(0), closed), _ONE)
    opened = _counted(request, opens, exp.Ordered(this=column(_PASSED)))
    return steps.add("tiers", exp.select("*", exp.alias_(opened, _OPENED)).from_(latest))


def _along(request: Request, what: exp.Expr, *order: exp.Expr, **frame: exp.Expr) -> exp.Window:
    """Work something out along the rows that are compared with each other."""
    within = [column(name) for name in request.compared_within]
    listed = exp.Order(expressions=[one.copy() for one in order])
    return exp.Window(this=what, partition_by=within, order=listed, **frame)


def _counted(request: Request, what: exp.Expr, *order: exp.Expr) -> exp.Window:
    so_far = exp.WindowSpec(
        kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
    )
    return _along(request, exp.Count(this=what), *order, spec=so_far)


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
    return [*request.result_keys, *ends]


def rank_columns(request: Request) -> list[str]:
    """Names of the columns that :func:`add_ranks` makes."""
    names = ["best_rank", "worst_rank"]
    if request.order is not None:
        names.append("tier")
    return [*names, "ci_best_rank", "ci_worst_rank"] if request.ranks_allow_for_error else names


def order_columns(request: Request) -> list[exp.Expr]:
    """Columns of the result about the order; null where they were not asked for."""
    order = request.order
    if order is None:
        return []
    null = exp.null()
    noise = request.ranks_allow_for_error
    made = {
        "average_rank": exp.cast(_average_rank(request), "bigint"),
        "tier": exp.cast(column("tier"), "bigint"),
        "top": _top(order.k, ""),
        "ci_top": _top(order.k if noise else None, "ci_"),
        "breakdown_q": exp.cast(null if order.claim is None else column("breakdown_q"), "double"),
    }
    return [exp.alias_(expression, name) for name, expression in made.items()]


def _average_rank(request: Request) -> exp.Expr:
    """Rank by the plain average, which items without ratings do not have; ties share the best."""
    rated = column("n_ratings") > 0
    last = exp.case().when(rated.copy(), exp.Literal.number(0)).else_(_ONE)
    order = (exp.Ordered(this=last), exp.Ordered(this=column("average"), desc=True))
    return exp.case().when(rated, _along(request, exp.Anonymous(this="RANK"), *order))


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
