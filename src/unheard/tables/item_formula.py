"""The closed forms of the core over the columns of a table: arrays, or cells of a sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from unheard.analysis.breakdown import Claim, build_boxes_at_one, compute_breakdown
from unheard.formulas.bea import LIMIT_FROM, bea_lambda, implied_floor, limit_balance
from unheard.formulas.bounds import average
from unheard.formulas.confidence import critical_value
from unheard.formulas.evaluate import Items, Setting, answers, unlike_audited
from unheard.formulas.operations import total, weighted
from unheard.formulas.refutation import Limits, test_level, verdict
from unheard.formulas.strata import Answer, combined, number_of_terms, terms
from unheard.model.assumption import best_guess, fixed_box
from unheard.model.notes import FEW
from unheard.model.question import OUTSIDE_SLACK, TEST_LEVEL
from unheard.tables.engines.arrow_batches import Source
from unheard.tables.request import Request
from unheard.tables.sql.count_query import LARGEST_WEIGHT
from unheard.tables.sql.expressions import Operand
from unheard.tables.sql.reserved_names import BALANCE, N_NULL, N_ROWS, N, Q, reserve

FLAG = reserve("flag_")
"""How columns of notes begin."""


def setting_of(request: Request) -> Setting:
    """Return what all items have in common."""
    return Setting(
        request.scale.values,
        request.assumption.kind,
        fixed_box(request.assumption),
        best_guess(request.assumption),
        request.assumption.pool,
        None if request.level is None else critical_value(request.level),
        request.covers == "people",
    )


def rated(request: Request, unchecked: bool, source: Source) -> dict[str, Operand]:
    """Carry the closed forms of the core out, on arrays or on cells of a sheet."""
    counts = [source.column(name) for name in request.count_columns]
    q = _stated_q(request, source)
    n = None
    if request.n_known:
        n = float(request.n) if request.n is not None else source.column(N)
    items = Items(counts, q, n, _balance(request, source, counts, n, q))
    if request.weight is not None:
        items = replace(
            items,
            counts=[source.column(name) for name, _ in request.weight_columns],
            squares=[source.column(name) for _, name in request.weight_columns],
            largest=source.column(LARGEST_WEIGHT),
        )
    found = answers(items, setting_of(request), [request.method], source)
    lower, upper, *rest = found
    ci = (rest.pop(0), rest.pop(0)) if request.level is not None else (None, None)
    estimate, *own = rest
    ci = tuple(own) or ci
    outputs: dict[str, Operand] = {
        "n_ratings": total(counts),
        # Nobody's average is nothing, whatever an engine makes of zero divided by zero.
        "average": source.where(
            total(counts) > 0.0,
            average(items.counts, request.scale.values, source),
            source.missing(),
        ),
        "estimate": estimate,
        "lower": lower,
        "upper": upper,
    }
    low, high = ci
    if low is not None and high is not None:
        outputs |= {"ci_lower": low, "ci_upper": high}
    if n is not None:
        outputs["n"] = n
    if request.order is not None and request.order.claim is not None:
        outputs["breakdown_q"] = _breakdown(request, request.order.claim, items, source)
    notes = _notes(request, unchecked, source, items, outputs)
    if request.strata:
        part = Answer(estimate, lower, upper, None, None)
        added = terms(items, setting_of(request), part, source)
        sums = {sum_column(i): term for i, term in enumerate(added)}
        sums[sum_column("ratings")] = weighted(request.scale.values, counts)
        outputs = sums | {"n_ratings": outputs["n_ratings"]}
    raised: dict[str, Operand] = {flag_column(name): flag for name, flag in notes.items()}
    return outputs | raised


def flag_column(name: str) -> str:
    """Name the column of a flag."""
    return f"{FLAG}{name}"


def sum_column(of: int | str) -> str:
    """Name the column of a sum over strata."""
    return reserve(f"sum_{of}")


def _breakdown(request: Request, claim: Claim, items: Items, source: Source) -> Any:
    values = request.scale.values
    ends = build_boxes_at_one(request.assumption, len(values))
    ratio = request.assumption.is_ratio
    q = compute_breakdown(items.counts, values, ends, claim, items.n, ratio, source)
    rated = total(items.counts) > 0.0
    holds = source.where(q < 1.0, q, source.missing())
    return source.where(rated, holds, source.missing())


def _stated_q(request: Request, source: Source) -> Any:
    if request.q_column is not None:
        return source.column(Q)
    return None if request.assumption.q is None else float(request.assumption.q)


def _balance(request: Request, source: Source, counts: Sequence[Any], n: Any, q: Any) -> Any:
    if request.method != "bea":
        return None
    if not request.balance_keys:
        return float(bea_lambda(float(n), q))
    small = source.column(BALANCE)
    if request.n is not None and n < LIMIT_FROM:
        return small
    floor = implied_floor(q, total(counts), n, source) if request.assumption.is_ratio else q
    large = limit_balance(n, floor)
    return large if request.n is not None else source.where(n >= float(LIMIT_FROM), large, small)


def _notes(
    request: Request, unchecked: bool, source: Source, items: Items, found: Mapping[str, Any]
) -> dict[str, Any]:
    """What a reader must know of each item, as columns of 0 and 1."""
    seen = found["n_ratings"]
    few = source.where(seen < float(FEW), 1.0, 0.0)
    notes: dict[str, Any] = {
        "no_ratings": source.where(seen > 0.0, 0.0, 1.0),
        "few_ratings": source.where(seen > 0.0, few, 0.0),
    }
    if items.n is not None and not request.assumption.is_ratio:
        least = items.q if items.q is not None else float(request.assumption.least)
        limits = Limits(
            request.assumption.kind,
            fixed_box(request.assumption),
            least,
            request.assumption.largest,
            test_level(request.level or TEST_LEVEL),
        )
        heard = verdict(items.counts, items.n, limits, source)
        for name, flag in (("low_response", heard.too_low), ("high_response", heard.too_high)):
            if isinstance(flag, float):
                continue
            notes[name] = source.where(seen > 0.0, flag, 0.0)
        notes["refuted"] = heard.refuted
    if items.n is not None and unchecked:
        notes["n_below_ratings"] = source.where(seen > items.n, 1.0, 0.0)
    middle = "midpoint" if request.n_known else "paa"
    if request.method != middle:
        slack = OUTSIDE_SLACK * request.scale.width
        below = found["lower"] - found["estimate"] > slack
        above = found["estimate"] - found["upper"] > slack
        notes["outside_bounds"] = source.where(below, 1.0, source.where(above, 1.0, 0.0))
    if request.method == "pooled":
        unlike = source.where(unlike_audited(items, setting_of(request), source), 1.0, 0.0)
        notes["unlike_audited"] = source.where(seen > 0.0, unlike, 0.0)
    if request.rating:
        rows, empty = source.column(N_ROWS), source.column(N_NULL)
        dropped = rows - seen
        if request.nulls == "nonresponse":
            dropped = dropped - empty
            notes["nulls_counted"] = source.where(empty > 0.0, 1.0, 0.0)
        if unchecked or "drop" in (request.nulls, request.off_scale):
            notes["rows_dropped"] = source.where(dropped > 0.0, 1.0, 0.0)
    return notes


def combined_strata(request: Request, notes: Sequence[str], source: Source) -> dict[str, Operand]:
    """Put the strata of an item together by the core's formula."""
    setting = setting_of(request)
    q = None if request.q_column is not None else _stated_q(request, source)
    sums = [source.column(sum_column(i)) for i in range(number_of_terms(setting))]
    whole = combined(sums, setting, q, source)
    ratings, seen = source.column(sum_column("ratings")), source.column("n_ratings")
    outputs: dict[str, Operand] = {
        "n_ratings": seen,
        "n": sums[0],
        "average": source.where(seen > 0.0, source.divide(ratings, seen), source.missing()),
        "estimate": whole.estimate,
        "lower": whole.lower,
        "upper": whole.upper,
    }
    if request.level is not None:
        outputs |= {"ci_lower": whole.ci_lower, "ci_upper": whole.ci_upper}
    return outputs | {name: source.column(name) for name in map(flag_column, notes)}
