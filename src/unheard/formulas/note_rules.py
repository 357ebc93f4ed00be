"""The rules for notes: what a reader must know before using an item's numbers.

Each function returns columns by the name of the note, 1 where the note applies and 0 where it does
not. NumPy and SQL run the same rules; :mod:`unheard.model.notes` explains each note.
"""

from __future__ import annotations

from unheard.formulas.estimators import middle_method
from unheard.formulas.evaluate import Answer, Items, Setting
from unheard.formulas.operations import Column, Operations
from unheard.formulas.pooling import measure_unlikeness_with_n, measure_unlikeness_without_n
from unheard.formulas.refutation import assess_response_rate

FEW = 10
"""With fewer ratings than this, bounds say little: sampling error may exceed their width."""

_OUTSIDE_SLACK = 1e-9
"""How far outside the bounds, in widths of the scale, rounding alone may put an estimate."""


def note_items(items: Items, setting: Setting, ops: Operations) -> dict[str, Column]:
    """Note what the ratings and the response rate say, whatever the method."""
    seen = items.seen
    share = items.effective_share(ops)
    size = seen if share is None else share * seen
    notes = {
        "no_ratings": ops.where(seen > 0.0, 0.0, 1.0),
        "few_ratings": _if_rated(items, ops.where(size < float(FEW), 1.0, 0.0), ops),
    }
    if items.n is not None and not setting.is_ratio:
        rate = assess_response_rate(items, setting, ops)
        if setting.kind != "known":
            notes["low_response"] = _if_rated(items, rate.too_low, ops)
            notes["high_response"] = _if_rated(items, rate.too_high, ops)
        notes["refuted"] = rate.refuted
        if items.n_known is not None:
            is_known = items.n_known > 0.0
            notes |= {
                name: ops.where(is_known, notes[name], 0.0)
                for name in ("low_response", "high_response", "refuted")
                if name in notes
            }
    if items.share is not None and setting.level is not None:
        notes["weights_assumed"] = _if_rated(items, 1.0, ops)
    return notes


def note_estimate(
    items: Items, setting: Setting, method: str, answer: Answer, ops: Operations
) -> dict[str, Column]:
    """Note what concerns the estimate of one method."""
    notes = {}
    if method != middle_method(n_known=items.n is not None):
        slack = _OUTSIDE_SLACK * (setting.values[-1] - setting.values[0])
        above = ops.where(answer.estimate - answer.upper > slack, 1.0, 0.0)
        below = answer.lower - answer.estimate > slack
        notes["outside_bounds"] = ops.where(below, 1.0, above)
    if method == "pooled":
        unlike = ops.where(_is_unlike_audited(items, setting, ops), 1.0, 0.0)
        notes["unlike_audited"] = _if_rated(items, unlike, ops)
    return notes


def _if_rated(items: Items, note: Column, ops: Operations) -> Column:
    return ops.where(items.seen > 0.0, note, 0.0)


def _is_unlike_audited(items: Items, setting: Setting, ops: Operations) -> Column:
    """Whether an item is further from the audited ones than nearly all of these are."""
    pool = setting.pool
    assert pool is not None  # the method requires an audit of several items
    if items.n is None:
        unlike = measure_unlikeness_without_n(items.counts, setting.values, pool.without_n, ops)
        return unlike > pool.without_n.farthest
    assert pool.with_n is not None  # a relative audit is refused where n is known
    unlike = measure_unlikeness_with_n(items.counts, setting.values, items.n, pool.with_n, ops)
    farthest: Column = pool.with_n.farthest
    if items.n_known is not None:
        is_known = items.n_known > 0.0
        without = measure_unlikeness_without_n(items.counts, setting.values, pool.without_n, ops)
        unlike = ops.where(is_known, unlike, without)
        farthest = ops.where(is_known, farthest, pool.without_n.farthest)
    return unlike > farthest
