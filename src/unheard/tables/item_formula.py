"""The formulas and the rules for notes over the columns of a table: arrays or SQL expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from unheard.analysis.breakdown import Claim, build_boxes_at_one, compute_breakdown
from unheard.formulas.bea import LARGE_N, approximate_lambda, bea_lambda, implied_floor
from unheard.formulas.bounds import average
from unheard.formulas.evaluate import Answer, Items, Setting, evaluate
from unheard.formulas.note_rules import note_estimate, note_items
from unheard.formulas.operations import Column, name, total, weighted_sum
from unheard.formulas.strata import combine_strata, stratum_term_names, stratum_terms
from unheard.model.notes import NOTE_TEXTS
from unheard.model.question import build_setting
from unheard.tables.engines.arrow_batches import Source
from unheard.tables.request import Request
from unheard.tables.sql.count_query import LARGEST_WEIGHT
from unheard.tables.sql.expressions import Operand
from unheard.tables.sql.rank_query import rank_limits
from unheard.tables.sql.reserved_names import BALANCE, N_NULL, N_ROWS, N_WRONG, N, Q, reserve

NOTE = reserve("note_")
"""Prefix of columns that are 1 where a note applies."""


def read_setting(request: Request) -> Setting:
    """Return what all items have in common."""
    return build_setting(request.scale, request.assumption, request.level, request.covers)


def rate_items(request: Request, source: Source) -> dict[str, Operand]:
    """Work out the results and notes of all items, on arrays or as SQL expressions.

    With strata, the items are strata, and the results are the terms to be added up.
    """
    setting, items = read_setting(request), _read_items(request, source)
    setting = replace(setting, values=name("value", source.ratings(setting.values)))
    answer = evaluate(items, setting, [request.method], source).of(request.method)
    seen = total(_read_counts(request.count_columns, source))
    notes = note_items(items, setting, source)
    notes |= note_estimate(items, setting, request.method, answer, source)
    notes |= _note_rows(request, seen, source)
    if request.strata:
        outputs = _sum_terms(request, items, setting, answer, source)
    else:
        outputs = _result_columns(request, items, answer, source)
    outputs["n_ratings"] = seen
    return outputs | {note_column(name): notes[name] for name in NOTE_TEXTS if name in notes}


def rate_and_limit_items(request: Request, level: float, source: Source) -> dict[str, Operand]:
    """Work out what :func:`rate_items` does, and confidence limits at a second level."""
    alone = replace(request, level=level, order=None)
    limits = rate_items(alone, source)
    again = dict(zip(rank_limits(), (limits["ci_lower"], limits["ci_upper"]), strict=True))
    return rate_items(request, source) | again


def _read_items(request: Request, source: Source) -> Items:
    counts = _read_counts(request.count_columns, source)
    q = _read_q(request, source)
    n, n_known = None, None
    if request.n_varies:
        n = source.column(N)
    elif request.n is not None:
        n = float(request.n)
    if request.n_may_be_unknown:
        n_known = 1.0 - source.column(N_WRONG)
        n = source.where(n_known > 0.0, n, total(counts))
    balance = _read_balance(request, source, counts, n, q)
    items = Items(counts, q, n, n_known, balance)
    if request.weight is None:
        return items
    return replace(
        items,
        counts=_read_counts([name for name, _ in request.weight_columns], source),
        squares=_read_counts([name for _, name in request.weight_columns], source),
        largest=source.column(LARGEST_WEIGHT),
    )


def _read_counts(names: Sequence[str], source: Source) -> Sequence[Operand]:
    counts: Sequence[Operand] = source.ratings([source.column(one) for one in names])
    return name("count", counts)  # type: ignore[no-any-return]


def _result_columns(
    request: Request, items: Items, answer: Answer, source: Source
) -> dict[str, Operand]:
    columns = {name: column for name, column in answer._asdict().items() if column is not None}
    # The average of no ratings is missing, whatever an engine makes of zero divided by zero.
    mean = average(items.counts, request.scale.values, source)
    columns["average"] = source.where(items.seen > 0.0, mean, source.missing())
    if items.n is not None:
        columns["n"] = items.n
    if items.n_known is not None:
        columns["n"] = source.where(items.n_known > 0.0, items.n, source.missing())
    if request.order is not None and request.order.claim is not None:
        columns["breakdown_q"] = _breakdown(request, request.order.claim, items, source)
    return columns


def _sum_terms(
    request: Request, items: Items, setting: Setting, answer: Answer, source: Source
) -> dict[str, Operand]:
    terms = stratum_terms(items, setting, answer, source)
    terms["ratings"] = weighted_sum(request.scale.values, items.counts)
    outputs: dict[str, Operand] = {sum_column(name): column for name, column in terms.items()}
    if setting.level is None:
        return outputs
    return outputs | dict(zip(request.count_columns, items.counts, strict=True))


def note_column(name: str) -> str:
    """Name the column of a note."""
    return f"{NOTE}{name}"


def sum_column(name: str) -> str:
    """Name the column of a sum over strata."""
    return reserve(f"sum_{name}")


def sum_columns(request: Request) -> list[str]:
    """Name all columns of sums over strata."""
    terms = (*stratum_term_names(read_setting(request)), "ratings")
    # Confidence limits need the counts as well.
    return [*map(sum_column, terms), *(request.count_columns if request.level is not None else ())]


def _breakdown(request: Request, claim: Claim, items: Items, source: Source) -> Any:
    values = request.scale.values
    ends = build_boxes_at_one(request.assumption, len(values))
    ratio = request.assumption.is_ratio
    q = compute_breakdown(items.counts, values, ends, claim, items.n, ratio, source)
    if items.n_known is not None:
        without = compute_breakdown(items.counts, values, ends, claim, None, ratio, source)
        q = source.where(items.n_known > 0.0, q, without)
    rated = total(items.counts) > 0.0
    holds = source.where(q < 1.0, q, source.missing())
    return source.where(rated, holds, source.missing())


def _read_q(request: Request, source: Source) -> Any:
    if request.q_column is not None:
        return source.column(Q)
    q = _assumed_q(request)
    return None if q is None else source.constant("q", q)


def _assumed_q(request: Request) -> float | None:
    return None if request.assumption.q is None else float(request.assumption.q)


def _read_balance(request: Request, source: Source, counts: Sequence[Any], n: Any, q: Any) -> Any:
    if request.method != "bea":
        return None
    if not request.has_several_n:
        # Where it is not used, BEA does not apply.
        assert request.n is not None  # the method requires one
        n = float(request.n)
    if not request.balance_keys:
        q = _assumed_q(request)
        assert q is not None  # the method requires one
        return float(bea_lambda(float(n), q))
    small = source.column(BALANCE)
    if not request.has_several_n and n < LARGE_N:
        return small
    floor = implied_floor(q, total(counts), n, source) if request.assumption.is_ratio else q
    large = approximate_lambda(n, floor)
    return large if not request.has_several_n else source.where(n >= float(LARGE_N), large, small)


def _note_rows(request: Request, seen: Column, source: Source) -> dict[str, Column]:
    """Note what concerns the rows that an item was counted from."""
    notes = {}
    if request.n_known and request.bad_n != "refuse":
        wrong = "n_dropped" if request.n_may_be_unknown else "n_raised"
        notes[wrong] = source.where(source.column(N_WRONG) > 0.0, 1.0, 0.0)
    if request.rating:
        rows, empty = source.column(N_ROWS), source.column(N_NULL)
        dropped = rows - seen
        if request.nulls == "nonresponse":
            dropped = dropped - empty
            notes["nulls_counted"] = source.where(empty > 0.0, 1.0, 0.0)
        if "drop" in (request.nulls, request.off_scale):
            notes["rows_dropped"] = source.where(dropped > 0.0, 1.0, 0.0)
    return notes


def combine_item_strata(
    request: Request, notes: Sequence[str], source: Source
) -> dict[str, Operand]:
    """Combine the strata of each item, from the sums over them."""
    setting = read_setting(request)
    q = None if request.q_column is not None else _assumed_q(request)
    sums = {term: source.column(sum_column(term)) for term in stratum_term_names(setting)}
    counts = () if setting.level is None else _read_counts(request.count_columns, source)
    setting = replace(setting, values=name("value", source.ratings(setting.values)))
    answer = combine_strata(sums, counts, setting, q, source)
    ratings, seen = source.column(sum_column("ratings")), source.column("n_ratings")
    outputs: dict[str, Operand] = {
        "n_ratings": seen,
        "n": sums["size"],
        "average": source.where(seen > 0.0, source.divide(ratings, seen), source.missing()),
    }
    outputs |= {name: column for name, column in answer._asdict().items() if column is not None}
    return outputs | {note: source.column(note) for note in map(note_column, notes)}
