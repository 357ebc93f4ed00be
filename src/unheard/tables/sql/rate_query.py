"""The query from counts to results: the closed forms, strata, ranks and notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from unheard.formulas.gaffke import TRIED
from unheard.formulas.operations import total
from unheard.model.histograms import LARGEST_COUNT
from unheard.tables.engines.arrow_batches import Formula
from unheard.tables.item_formula import (
    NOTE,
    combine_item_strata,
    note_column,
    rate_and_limit_items,
    rate_items,
    sum_columns,
)
from unheard.tables.request import Request
from unheard.tables.sql.count_query import LARGEST_WEIGHT
from unheard.tables.sql.dialects import column, identifier
from unheard.tables.sql.expressions import LONG_SCALE, Sheet, number
from unheard.tables.sql.layout import Chain, Layer, lay_out
from unheard.tables.sql.rank_query import (
    AVERAGE_RANK,
    Ranges,
    add_columns,
    add_ranks,
    order_columns,
    rank_columns,
    rank_sources,
)
from unheard.tables.sql.reserved_names import (
    BALANCE,
    END,
    N_NULL,
    N_ROWS,
    N_WRONG,
    PLACE,
    PREFIX,
    SEEN,
    VALUE,
    N,
    Q,
    plain,
    reserve,
)
from unheard.tables.sql.steps import Steps

Compute = Callable[[exp.Query, Sequence[str], Formula], tuple[exp.Expr, Sequence[str]]]
"""Applies a formula to the rows of a query, and keeps some of its columns. Returns a table with
the results, and the names of the columns that the formula returns."""

_NUMBERS = ("average", "estimate", "lower", "upper", "ci_lower", "ci_upper")


@dataclass(frozen=True)
class SecondTable:
    """A table joined to the counts.

    Attributes
    ----------
    relation
        The table.
    keys
        Its columns that are matched with the columns of the same name of the counts.
    value
        The column taken from it.
    everything
        Whether it lists every item, including those without ratings.
    as_text
        Keys that are compared as text, because their types differ between the two tables.
    words
        What messages call it.
    """

    relation: exp.Expr
    keys: tuple[str, ...]
    value: str
    everything: bool
    as_text: tuple[str, ...] = ()
    words: str = ""

    def select_as(self, alias: str) -> exp.Subquery:
        """Select its keys, and its value as ``VALUE``, of rows that have keys, and nothing else."""
        taken = exp.select(*map(column, self.keys), exp.alias_(column(self.value), VALUE))
        named = (column(key).is_(exp.Not(this=exp.null())) for key in self.keys)
        return taken.from_(self.relation.copy()).where(*named).subquery(alias)

    def match(self, alias: str, anchor: str) -> exp.Expr:
        """Return the condition that a row of this table belongs to one of another."""
        conditions = []
        for key in self.keys:
            pair: list[exp.Expr] = [column(key, anchor), column(key, alias)]
            if key in self.as_text:
                pair = [exp.cast(one, "text") for one in pair]
            conditions.append(exp.EQ(this=pair[0], expression=pair[1]))
        return exp.and_(*conditions)


@dataclass(frozen=True)
class Rated:
    """Results and ranks that the engine keeps.

    Attributes
    ----------
    table
        Columns of numbers, before they get the types and the order of the result.
    notes
        Names of the notes among them.
    """

    table: exp.Expr
    notes: Sequence[str]


@dataclass(frozen=True)
class Prepared:
    """The counts and the tables joined to them.

    Attributes
    ----------
    counts
        The counts, from :mod:`unheard.tables.sql.count_query`.
    n_table, q_table
        Second tables with n and q.
    balances
        A table of BEA's lambda by the columns it depends on: ``Request.balance_keys``.
    ranks
        The ranks, from :func:`write_rank_query`, if the engine keeps them; otherwise the same query
        computes them.
    rated
        The results with their ranks, if the engine keeps them.
    ranked_by_average
        Whether the ranks by the plain average are with them.
    compute
        Applies formulas outside the engine; otherwise they are written into the query.
    long_scale
        Number of ratings from which on each has a row of its own, where formulas become SQL.
    """

    counts: exp.Expr
    n_table: SecondTable | None = None
    q_table: SecondTable | None = None
    balances: exp.Expr | None = None
    ranks: exp.Expr | None = None
    rated: Rated | None = None
    ranked_by_average: bool = False
    compute: Compute | None = None
    long_scale: int = LONG_SCALE


def write_rate_query(request: Request, given: Prepared) -> exp.Select:
    """Write the query from counts to results."""
    if given.rated is not None:
        steps = Steps()
        latest = steps.add("rated", exp.select("*").from_(given.rated.table.copy()))
        return steps.closing(_select_result(request, latest, given.rated.notes, ranked=True))
    steps, latest, notes, _ = _write_results(request, given)
    if request.ranks:
        if given.ranks is None:
            ranked = add_ranks(request, steps, latest)
        else:
            ranked = steps.add("ranks", exp.select("*").from_(given.ranks.copy()))
        made = rank_columns(request)
        if given.ranked_by_average:
            made.append(AVERAGE_RANK)
        latest = add_columns(request, steps, latest, ranked, made)
    return steps.closing(_select_result(request, latest, notes, ranked=given.ranked_by_average))


def write_rank_query(
    request: Request, given: Prepared, level: float | None = None, ranges: Ranges | None = None
) -> exp.Select:
    """Write the query for the ranks alone, which some engines keep for the rate query.

    Parameters
    ----------
    request, given
        As for :func:`write_rate_query`.
    level
        Level of the confidence limits behind ranks that allow for sampling error.
    ranges
        Required by engines that would otherwise bring all rows together to sort them.
    """
    # Leave out what the ranks do not use.
    steps, latest, _, _ = _write_results(replace(request, level=level, order=None), given)
    if ranges is not None:
        # What the ranks are computed from is read several times.
        ends = exp.select(*map(column, rank_sources(request))).from_(latest)
        kept = ranges.keep("ends", steps.closing(ends))
        steps = Steps()
        latest = steps.add("kept_ends", exp.select("*").from_(kept))
    ranked = add_ranks(request, steps, latest, ranges)
    return steps.closing(exp.select("*").from_(ranked))


def write_rated_query(
    request: Request, given: Prepared, level: float | None
) -> tuple[exp.Select, list[str], list[str]]:
    """Write the query for results that the engine keeps, to look up their ranks.

    Parameters
    ----------
    request, given
        As for :func:`write_rate_query`; without strata.
    level
        Level of the confidence limits behind ranks that allow for sampling error; the columns
        :func:`rank_limits`.

    Returns
    -------
    tuple
        The query, the names of its columns besides the keys, and those of the notes.
    """
    steps, latest, notes, names = _write_results(request, given, level)
    return steps.closing(exp.select("*").from_(latest)), names, notes


def _write_results(
    request: Request, given: Prepared, rank_level: float | None = None
) -> tuple[Steps, str, list[str], list[str]]:
    """Return the steps, the name of the last, the notes, and all names that formulas made."""
    steps = Steps()
    counts, are_double = _read_counts(request, given)
    latest = steps.add(
        "counts",
        counts,
        f"How often each rating was given, {request.count_columns[0]} the lowest.",
    )
    if not are_double:
        latest = _join_numbers(request, given, steps, latest)
    # The formula may be sent to other machines, so it does not carry the tables of n and q.
    alone = replace(request, n_table=None, q_table=None)
    formula = partial(rate_items, alone)
    if rank_level is not None:
        formula = partial(rate_and_limit_items, alone, rank_level)
    steps, latest, names = _apply_formula(formula, request.groups, given, steps, latest, "rated")
    notes = [name.removeprefix(NOTE) for name in names if name.startswith(NOTE)]
    if request.strata:
        latest = _add_strata(request, steps, latest, notes)
        formula = partial(combine_item_strata, alone, notes)
        keys = request.result_keys
        steps, latest, names = _apply_formula(formula, keys, given, steps, latest, "combined")
    if request.min_ratings:
        enough = exp.select("*").from_(latest).where(column("n_ratings") >= request.min_ratings)
        latest = steps.add("enough", enough, "Items with enough ratings.")
    return steps, latest, notes, list(names)


_LEAST_Q = 1e-9
"""A participation ratio that assumes next to nothing."""


def _read_q(request: Request, low: exp.Expr, high: exp.Expr, complete: exp.Expr | None) -> exp.Expr:
    """Return an item's q, the lowest that its rows state, as far as it can be used."""
    if request.bad_q == "refuse":
        return low
    # A missing q would take the allowance away in some engines, and zero would stop others.
    fits = exp.and_(low > number(0), high <= number(1), *([] if complete is None else [complete]))
    return exp.case().when(fits, low.copy()).else_(number(_LEAST_Q))


def _read_counts(request: Request, given: Prepared) -> tuple[exp.Query, bool]:
    """Return the query for the counts, and whether they are in double precision already."""
    counts = given.counts
    if not (isinstance(counts, exp.Subquery) and isinstance(counts.this, exp.Select)):
        return exp.select("*").from_(counts), False
    query: exp.Select = counts.this.copy()
    joined = given.n_table or given.q_table or given.balances is not None
    if joined or request.n_known or request.q_column or request.weight:
        return query, False
    for made in query.selects:
        if made.alias_or_name == N_NULL:
            made.pop()  # nothing reads it
        elif made.alias_or_name not in request.groups:
            made.replace(_double(made.unalias().copy(), made.alias_or_name))
    return query, True


def write_people_query(request: Request, given: Prepared) -> exp.Select:
    """Write the query that joins n and q to the counts, for validation."""
    steps = Steps()
    latest = steps.add("counts", exp.select("*").from_(given.counts))
    latest = _join_numbers(request, given, steps, latest)
    return steps.closing(exp.select("*").from_(latest))


def _double(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(exp.cast(expression, "double"), name)


def _join_numbers(request: Request, given: Prepared, steps: Steps, latest: str) -> str:
    """Join n, q and lambda to the counts, all in double precision."""
    n_table, q_table = given.n_table, given.q_table
    n_named, q_named = reserve("n_table"), reserve("q_table")
    keys = request.groups
    outer = n_table is not None and n_table.everything
    # Names are qualified only where there is more than one table.
    alone = n_table is None and q_table is None
    here = None if alone else latest
    base = n_named if outer else here
    zero = exp.Literal.number(0)

    def count(name: str) -> exp.Expr:
        value = column(name, here)
        return exp.Coalesce(this=value, expressions=[zero]) if outer else value

    selected: list[exp.Expr] = [
        column(key) if alone else exp.alias_(column(key, base), key) for key in keys
    ]
    selected += [_double(count(name), name) for name in request.count_columns]
    selected += [_double(count(name), name) for name in request.row_columns]
    if request.weight is not None:
        weights = [name for names in request.weight_columns for name in names]
        selected += [_double(column(name, here), name) for name in weights]
        # A rating that an item did not get could weigh as much as any in the table.
        largest = exp.Window(this=exp.Max(this=column(LARGEST_WEIGHT, here)))
        selected.append(_double(largest, LARGEST_WEIGHT))
    query = exp.select(*selected)
    if n_table is not None and outer:
        match = n_table.match(n_named, latest)
        query = query.from_(n_table.select_as(n_named)).join(latest, on=match, join_type="left")
    else:
        query = query.from_(latest)
        if n_table is not None:
            match = n_table.match(n_named, latest)
            query = query.join(n_table.select_as(n_named), on=match, join_type="left")
    if q_table is not None:
        match = q_table.match(q_named, base or latest)
        query = query.join(q_table.select_as(q_named), on=match, join_type="left")
        value = column(VALUE, q_named)
        query = query.select(_double(_read_q(request, value, value.copy(), None), Q))
    elif request.q_column is not None:
        low, high, known = (column(reserve(f"q_{what}"), here) for what in ("low", "high", "known"))
        complete = exp.EQ(this=known, expression=column(N_ROWS, here))
        query = query.select(_double(_read_q(request, low, high, complete), Q))
    stated = _read_n(request, here, None if n_table is None else n_named)
    if stated is not None and request.bad_n == "refuse":
        query = query.select(_double(stated.largest, N))
    elif stated is not None:
        seen = total([count(name) for name in request.count_columns])
        n, wrong = stated.correct(request.bad_n, seen)
        query = query.select(_double(n, N), _double(wrong, N_WRONG))
    added = ["the number of people"] if stated is not None else []
    added += ["the participation ratio"] if request.q_column is not None else []
    words = f"The counts with {' and '.join(added)}." if added else "The counts as numbers."
    latest = steps.add("people", query, words)
    if given.balances is None:
        return latest
    # BEA's lambda depends on few numbers, so a small table lists those that occur.
    balances = reserve("balances")
    matched = {name: column(name, latest) for name in (N, Q)}
    matched[SEEN] = total([column(name, latest) for name in request.count_columns])
    same = (
        exp.EQ(this=matched[name], expression=column(name, balances))
        for name in request.balance_keys
    )
    small = exp.alias_(given.balances.copy(), balances, table=True)
    # Named one by one: of `*`, ClickHouse loses the columns that are joined later.
    names = [made.alias_or_name for made in query.selects]
    joined = (
        exp.select(*(exp.alias_(column(name, latest), name) for name in names))
        .select(column(BALANCE, balances))
        .from_(latest)
        .join(small, on=exp.and_(*same), join_type="left")
    )
    return steps.add("balanced", joined, "BEA's lambda, item by item.")


@dataclass(frozen=True)
class _StatedN:
    """The number of people of an item, as its rows state it.

    Attributes
    ----------
    smallest, largest
        Its values.
    everywhere
        Whether every row states it; None if that goes without saying.
    """

    smallest: exp.Expr
    largest: exp.Expr
    everywhere: exp.Expr | None = None

    def correct(self, bad_n: str, seen: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
        """Return n without impossible values, and 1 where there was one."""
        low, high = self.smallest, self.largest
        right = [
            exp.EQ(this=low.copy(), expression=high.copy()),
            exp.GTE(this=low.copy(), expression=exp.paren(seen.copy())),
            exp.LTE(this=low.copy(), expression=number(LARGEST_COUNT)),
            exp.EQ(this=low.copy(), expression=exp.Floor(this=low.copy())),
        ]
        is_right = exp.and_(*right, *([] if self.everywhere is None else [self.everywhere]))
        one, zero = exp.Literal.number(1), exp.Literal.number(0)
        wrong = exp.case().when(is_right, zero).else_(one)
        if bad_n == "drop":
            return exp.case().when(is_right.copy(), low.copy()), wrong
        less = exp.LT(this=high.copy(), expression=exp.paren(seen.copy()))
        return exp.case().when(less, seen.copy()).else_(high.copy()), wrong


def _read_n(request: Request, counts: str | None, second: str | None) -> _StatedN | None:
    if second is not None:
        value = column(VALUE, second)
        return _StatedN(value, value.copy())
    if request.n_column is not None:
        low, high, known = (
            column(reserve(f"n_{what}"), counts) for what in ("low", "high", "known")
        )
        return _StatedN(low, high, exp.EQ(this=known, expression=column(N_ROWS, counts)))
    if request.n is not None and request.n_varies:
        return _StatedN(number(request.n), number(request.n))
    if request.n_from_rows:
        return _StatedN(column(N_ROWS, counts), column(N_ROWS, counts))
    return None


def _apply_formula(
    formula: Formula,
    keys: Sequence[str],
    given: Prepared,
    steps: Steps,
    latest: str,
    name: str,
) -> tuple[Steps, str, Sequence[str]]:
    """Apply the closed forms outside the engine, or as columns of a chain of steps.

    Returns the steps, the name of the last, and the names of the columns that the formula returns.
    """
    if given.compute is None:
        outputs = formula(Sheet(given.long_scale))
        chain = lay_out(outputs, keys)
        named: Layer = [(key, column(key)) for key in keys]
        chain = replace(chain, results=[*named, *chain.results])
        last = _write_chain(chain, steps, latest, name)
        return steps, last, list(outputs)
    query = steps.closing(exp.select("*").from_(latest))
    kept, made = given.compute(query, keys, formula)
    steps = Steps()
    return steps, steps.add(name, exp.select("*").from_(kept)), made


def _write_chain(chain: Chain, steps: Steps, latest: str, name: str) -> str:
    tables = []
    if chain.constants:
        words = "The numbers that state the assumption."
        if any(name == _CRITICAL for name, _ in chain.constants):
            words = f"{words[:-1]}, the critical value {_CRITICAL}, and what corrects it."
        tables.append(steps.add(f"{name}_numbers", _select(chain.constants), words))
    if chain.listed is not None:
        rows, words = _describe_rows(chain.listed)
        tables.append(steps.add(f"{name}_{rows}", chain.listed, words))
    if tables:
        spread = _select(chain.spread).from_(latest, copy=False)
        for table in tables:
            everything = exp.Column(this=exp.Star(), table=identifier(table))
            spread = spread.select(everything, copy=False)
            spread = spread.join(table, join_type="cross", copy=False)
        more = "with the numbers" if chain.listed is None else "once for each of these rows"
        latest = steps.add(f"{name}_0", spread, f"Every item, {more}.")
    made = [_plain_names(layer) for layer in chain.steps]
    tries = sum(f"{TRIED}{place}" in found for place in range(1, 10) for found in made)
    for index, (layer, found) in enumerate(zip(chain.steps, made, strict=True), start=1):
        following = _select(layer)
        following.args["expressions"].insert(0, exp.Star())
        latest = steps.add(
            f"{name}_{index}", following.from_(latest, copy=False), _describe(found, tries)
        )
    results = _select(chain.results).from_(latest, copy=False)
    if chain.condition is not None:
        results = results.where(chain.condition, copy=False)
    return steps.add(name, results, "Estimate, bounds, confidence limits and notes.")


def _describe_rows(listed: exp.Query) -> tuple[str, str]:
    """Return a name for the rows that every item is combined with, and say what they are."""
    names = listed.named_selects
    if PLACE not in names:
        return "ends", "Both ends of the scale, a row for each."
    if END not in names:
        return "scale", "The scale, a row for each rating."
    return "scale", "The scale as seen from both ends, a row for each rating."


_CRITICAL = reserve("z")

_WORK = {
    "limit": "the confidence limit",
    "limit_at": "the confidence limit with n",
    "low": "the limit lies between two ratings, {0}low and {0}next",
    "low_part": "between which ratings the limit lies",
    "place": "the rating to test next",
    "middle": "the rating to test next",
    "bound": "the bound",
    "bound_with_n": "the bound with n",
    "excess": "what is tested is rejected where {0}excess > 0",
    "lean": "spread {0}sd and skewness {0}lean of both sides",
    "above_sq": "sums above and below what is tested",
    "below_sq": "sums above and below what is tested",
    "below_part": "sums below what is tested",
    "extra": "the part that the test adds to those below",
    "above_count": "sums for all places between these ratings",
    "below_count": "sums for all places between these ratings",
    "tilt": "what the limit with n is made of",
    "lower_bound": "bounds from both ends",
    "lower_limit": "limits from both ends",
    "lower": "the bounds on the scale",
    "sum": "sums over the ratings",
    "weight": "how many people each rating stands for at the bound",
    "scale": "what scales the stratum to its size",
    "pull": "how far each rating pulls the mean of the stratum",
    "variance": "variance and third cumulant of that mean",
    "lower_variance": "what is added up over the strata",
}
"""What a step works out, by the columns that it makes."""

_LONGEST_COMMENT = 70
"""What has room behind the name of a step."""


def _plain_names(layer: Layer) -> set[str]:
    """Return the names of a layer's columns, without the number of their repetition."""
    return {re.sub(r"_\d+\Z", "", plain(name)) for name, _ in layer}


def _describe(made: set[str], tries: int) -> str:
    """Say what a step works out, as far as there is room."""
    found = [f"search for the confidence limit: step {name.removeprefix(TRIED)} of {tries}"
             for name in made if re.fullmatch(rf"{TRIED}\d+", name)]  # fmt: skip
    found += dict.fromkeys(words.format(PREFIX) for name, words in _WORK.items() if name in made)
    # No semicolons: there are tools that end a statement at any.
    said = [f"{words[0].upper()}{words[1:]}." for words in found]
    while len(" ".join(said)) > _LONGEST_COMMENT:
        said.pop()
    return " ".join(said)


def _select(columns: Layer) -> exp.Select:
    # Built by hand, because the builders of sqlglot copy, which is slow for many columns.
    return exp.Select(
        expressions=[
            made
            if isinstance(made, exp.Column) and made.name == name
            else exp.Alias(this=made, alias=identifier(name))
            for name, made in columns
        ]
    )


def _add_strata(request: Request, steps: Steps, latest: str, notes: Sequence[str]) -> str:
    """Add up the terms over the strata of an item; a note applies if it applies to any stratum."""
    keys = request.result_keys
    names = [*sum_columns(request), "n_ratings"]
    summed = (
        exp.select(*map(column, keys))
        .select(*(exp.alias_(exp.Sum(this=column(name)), name) for name in names))
        .select(*(exp.alias_(exp.Max(this=column(name)), name) for name in map(note_column, notes)))
        .from_(latest)
        .group_by(*map(column, keys))
    )
    return steps.add("strata", summed, "Sums over the strata of each item.")


def _select_result(
    request: Request, latest: str, notes: Sequence[str], *, ranked: bool
) -> exp.Select:
    """Select the columns of the result in their order and types."""
    null = exp.null()
    n: exp.Expr = null
    if request.strata or request.n_known:
        n = column("n")
    selected: list[exp.Expr] = [column(key) for key in request.result_keys]
    selected += [
        exp.alias_(exp.cast(column("n_ratings"), "bigint"), "n_ratings"),
        exp.alias_(exp.cast(n, "bigint"), "n"),
    ]
    for name in _NUMBERS:
        missing = name.startswith("ci_") and request.level is None
        selected.append(_double(null if missing else column(name), name))
    made = rank_columns(request) if request.ranks else []
    for name in ("best_rank", "worst_rank", "ci_best_rank", "ci_worst_rank"):
        rank = column(name) if name in made else null
        selected.append(exp.alias_(exp.cast(rank, "bigint"), name))
    selected += order_columns(request, ranked=ranked)
    selected.append(exp.alias_(_join_notes(notes), "notes"))
    return exp.select(*selected).from_(latest)


def _join_notes(notes: Sequence[str]) -> exp.Expr:
    """Join the names of the notes that apply, separated by spaces."""
    text: exp.Expr | None = None
    for name in notes:
        spelled = (
            exp.case()
            .when(column(note_column(name)).eq(number(1)), exp.Literal.string(f" {name}"))
            .else_(exp.Literal.string(""))
        )
        text = spelled if text is None else exp.DPipe(this=text, expression=spelled, safe=True)
    assert text is not None  # there is always a note for items without ratings
    return exp.Substring(this=text, start=exp.Literal.number(2))
