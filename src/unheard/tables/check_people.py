"""Checks of the numbers of people, of q and of sums of counts, item by item."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from unheard.errors import AssumptionError, DataError, InputError, PopulationError, write_list
from unheard.formulas.operations import total
from unheard.model.histograms import LARGEST_COUNT
from unheard.tables.request import Request
from unheard.tables.row_examples import EXAMPLES, list_examples
from unheard.tables.sources.open import Opened
from unheard.tables.sql.dialects import column
from unheard.tables.sql.expressions import number
from unheard.tables.sql.rate_query import Prepared, SecondTable
from unheard.tables.sql.reserved_names import MANY, N_ROWS, VALUE, N, Q, reserve
from unheard.text import plural


@dataclass(frozen=True)
class _Check:
    """Something that must not be true of any row.

    Attributes
    ----------
    condition
        What must not be true.
    problem, hint
        What to say if it is.
    shown
        Columns shown beside those that name the item.
    """

    condition: exp.Expr
    problem: str
    hint: str
    shown: tuple[str, ...] = ()


_EVERYBODY = "Count everybody, respondents and non-respondents"
_WHOLE_N = "In {table}, n is not a whole number of people up to 2**53 for {many}{shown}"
_UNKNOWN = "treat n as unknown there with {bad_n:drop}"
_RAISE_TOO_FEW = "raise n to the number of ratings with {bad_n:raise}"
_RAISE_VARYING = "use its largest value with {bad_n:raise}"


def _advise(request: Request, advice: str, raising: str = "") -> str:
    """Add to advice on n what may be done without correcting it."""
    ways = [] if request.strata or request.requires_n else [_UNKNOWN]
    return write_list([advice, *ways, *([raising] if raising else [])])


def check_numbers(request: Request, opened: Opened, given: Prepared, people: exp.Query) -> None:
    """Raise if counts, n or q cannot be what they should."""
    counts, seconds = given.counts, {"n_table": given.n_table, "q_table": given.q_table}

    def run(
        source: exp.Expr, checks: Iterable[_Check], argument: str, error: type[InputError]
    ) -> None:
        named = {"n_column": request.n_column, "q_column": request.q_column}.get(argument)
        second = seconds.get(argument)
        for check in checks:
            names = map(column, (*request.groups, *check.shown))
            query = exp.select(*names).from_(source.copy()).where(check.condition)
            rows = opened.engine.rows(query.limit(EXAMPLES))
            if rows:
                raise error(
                    argument,
                    problem=check.problem,
                    hint=check.hint,
                    many=_count_items(opened, source, check.condition),
                    table=opened.words if second is None else second.words,
                    column=repr(named),
                    people=request.n,
                    shown=list_examples(rows),
                )

    if request.n_column is not None and request.n_table is None and request.bad_n != "drop":
        # Compared as it is: beside the counts it is in double precision, and 2**53 + 1 would be
        # rounded on the way.
        high = reserve("n_high")
        hint = _advise(request, _EVERYBODY)
        large = _Check(_too_many(column(high)), _WHOLE_N, hint, (high,))
        same = _check_constant("n", request) if request.bad_n == "refuse" else ()
        run(counts, (*same, large), "n_column", PopulationError)
    if request.q_column is not None and request.q_table is None:
        run(counts, _check_constant("q", request), "q_column", AssumptionError)
    if request.counts:
        large = _Check(
            exp.or_(*(_too_many(column(name)) for name in request.count_columns)),
            "In {table}, the counts of an item add up to more than 2**53 for one rating{shown}",
            "Keep each count, summed over the rows of an item, at or below 2**53",
        )
        run(counts, [large], "counts", DataError)
    beside = people.subquery(reserve("given"))
    if request.n_known:
        argument = "n_table" if request.n_table is not None else "n_column"
        if request.n is not None or request.n_from_rows:
            argument = "n"
        run(beside, _checks_of_n(request), argument, PopulationError)
    if request.q_column is not None:
        q = column(Q)
        wrong = _Check(
            exp.or_(q.is_(exp.null()), q.copy() <= 0, q.copy() > 1),
            "In {table}, q is missing or not in (0, 1]{shown}",
            "Use a participation ratio above 0 and at most 1 for every item",
            (Q,),
        )
        argument = "q_column" if request.q_table is None else "q_table"
        run(beside, [wrong], argument, AssumptionError)


def _count_items(opened: Opened, source: exp.Expr, condition: exp.Expr) -> str:
    counted = exp.select(exp.alias_(exp.Count(this=exp.Star()), MANY)).from_(source.copy())
    (row,) = opened.engine.rows(counted.where(condition.copy()))
    return plural(row[MANY], "item")


def _check_constant(name: str, request: Request) -> tuple[_Check, _Check]:
    """Check that a column has one value per item, in all of its rows."""
    low, high, known = (reserve(f"{name}_{what}") for what in ("low", "high", "known"))
    missing = exp.NEQ(this=column(known), expression=column(N_ROWS))
    fill = "Fill it in"
    distinguish = "Give each item one value, or add the column that distinguishes them to {item}"
    if name == "n":
        fill = _advise(request, fill, _RAISE_VARYING)
        distinguish = _advise(
            request,
            "Give each item one value, add the column that distinguishes them to {item}",
            _RAISE_VARYING,
        )
    return (
        _Check(
            exp.and_(column(known) > 0, missing),
            "In {table}, column {column} is empty in some rows of {many}{shown}",
            fill,
        ),
        _Check(
            exp.NEQ(this=column(low), expression=column(high)),
            "In {table}, column {column} varies within {many}{shown}",
            distinguish,
            (low, high),
        ),
    )


def _checks_of_n(request: Request) -> list[_Check]:
    """Check n as it is beside the counts: corrected, if it is not to be refused."""
    seen, n = _ratings(request), column(N)
    if request.bad_n == "drop":
        return []
    too_few = _advise(request, _EVERYBODY, _RAISE_TOO_FEW)
    if not request.n_varies:
        return [
            _Check(
                exp.paren(seen) > number(request.n or 0.0),
                "In {table}, there are more ratings than {people:.15g}, the value of {n}, for "
                "{many}{shown}",
                too_few,
            )
        ]
    checks = [
        _Check(
            n.is_(exp.null()),
            "In {table}, n is missing for {many}{shown}",
            _advise(request, "Give every item its n" + ", leave n out" * (not request.requires_n)),
            (N,),
        ),
        _Check(
            exp.or_(
                n.copy() < 0,
                _too_many(n.copy()),
                exp.NEQ(this=n.copy(), expression=exp.Floor(this=n.copy())),
            ),
            _WHOLE_N,
            _advise(request, _EVERYBODY),
            (N,),
        ),
    ]
    if request.bad_n == "refuse":
        checks.append(
            _Check(
                n.copy() < exp.paren(seen),
                "In {table}, n is less than the number of ratings for {many}{shown}",
                too_few,
                (N,),
            )
        )
    return checks


def _ratings(request: Request) -> exp.Expr:
    """Number of ratings of a row of counts."""
    ratings: exp.Expr = total([column(name) for name in request.count_columns])
    return ratings


def _too_many(count: exp.Expr) -> exp.Condition:
    """Condition that a count is larger than double precision holds exactly."""
    return exp.GT(this=count, expression=number(LARGEST_COUNT))


def check_second(
    request: Request, opened: Opened, counts: exp.Expr, second: SecondTable, name: str
) -> None:
    """Raise unless a second table has exactly one row for each row of counts."""
    keys = second.keys
    kind = PopulationError if name == "n" else AssumptionError

    def refuse(query: exp.Select, problem: str, hint: str) -> None:
        rows = opened.engine.rows(query.limit(EXAMPLES))
        if rows:
            raise kind(
                f"{name}_table",
                problem=problem,
                hint=hint,
                table=second.words,
                columns=" or ".join(keys),
                name=name,
                shown=list_examples(rows),
            )

    named = exp.select(*map(column, keys)).from_(second.relation.copy())
    nameless = exp.or_(*(column(key).is_(exp.null()) for key in keys))
    refuse(
        named.copy().where(nameless),
        "In {table}, a row has no value in {columns}{shown}",
        "Fill it in",
    )
    hint = "Keep one row per item"
    if request.window is not None and "window_start" not in keys:
        hint = "For a number per window, name the column with its first day window_start"
    refuse(
        named.copy().group_by(*map(column, keys)).having(exp.Count(this=exp.Star()) > 1),
        "In {table}, an item has more than one row{shown}",
        hint,
    )
    if name == "n" and request.bad_n != "drop":
        value = column(second.value)
        refuse(
            named.copy().select(value).where(_too_many(value.copy())),
            "In {table}, n is not a whole number of people up to 2**53{shown}",
            _EVERYBODY,
        )
    if name == "n" and request.bad_n == "drop":
        return
    refuse(
        find_unlisted(request, counts, second),
        "In {table}, {name} is missing for an item that has ratings{shown}",
        _advise(request, "Add a row for every item") if name == "n" else "Add a row for every item",
    )


def find_unlisted(request: Request, counts: exp.Expr, second: SecondTable) -> exp.Select:
    """Write the query for the items that have ratings and no value in a second table."""
    counted, there = reserve("counted"), reserve("second")
    return (
        exp.select(*(column(key, counted) for key in request.groups))
        .from_(exp.alias_(counts.copy(), counted, table=True))
        .join(second.select_as(there), on=second.match(there, counted), join_type="left")
        .where(column(VALUE, there).is_(exp.null()))
    )
