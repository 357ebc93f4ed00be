"""Numbers and findings in words that a lay reader understands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

from unheard.model.assumption import Assumption


def never_text(assumption: Assumption) -> str:
    """Say that a claim holds at no q, in words that fit what q means."""
    if assumption.per_rating:
        return "not even if participation is exactly as stated (q = 1)"
    if assumption.kind == "floor":
        return "at no floor that the response rate allows"
    return "not even if everybody responds equally often (q = 1)"


def rounded_up(q: float) -> float:
    """Round a breakdown q up to three digits: below its own value the claim would fail."""
    return float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(float(q))))


def q_text(q: float | None, never: str) -> str:
    """Say while which q a claim holds; None or NaN: at none, 0: at all."""
    if q is None or math.isnan(q):
        return never
    if q < 1e-6:
        return "at every q" if q == 0 else "at practically every q"
    if q > 0.999:
        return "at practically no q"
    return f"as long as q is above {rounded_up(q):.3g}"


def claim_text(claim: str, plain: float | None, noisy: float | None, never: str) -> str:
    """Say while which q a claim holds, noise aside and with sampling noise."""
    if plain is None or math.isnan(plain):
        return f"It cannot be said that {claim}, {never}."
    said = f"{sentence_case(claim)} {q_text(plain, never)}"
    return f"{said}, noise aside; with sampling noise, {q_text(noisy, never)}."


def sentence_case(claim: str) -> str:
    """Begin a sentence with a claim; a name keeps its letters."""
    return f"T{claim[1:]}" if claim.startswith("the ") else claim


def places_text(row: Mapping[str, Any], prefix: str = "") -> str:
    """Write the places that a row of a ranking may have; with noise, behind ``ci_``."""
    first, last = row[f"{prefix}best_rank"], row[f"{prefix}worst_rank"]
    if first is None or last is None:
        return "–"
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def verdict_text(row: Mapping[str, Any]) -> str:
    """Say whether a row is among the k best; where noise makes a difference, say that."""
    differs = row["ci_top"] is not None and row["ci_top"] != row["top"]
    return f"{row['top']}, noise aside" if differs else str(row["top"])


def q_cell(q: float | None) -> str:
    """Write a breakdown q in a table, rounded up: above what is written the claim holds."""
    if q is None:
        return "never"
    if q > 0.99:
        return ">0.99"
    hundredths = Decimal(repr(float(q))).quantize(Decimal("0.01"), ROUND_CEILING)
    return "any" if q == 0 else f"{hundredths}"


ONE_CROWD = (
    "One crowd: people with the same opinion respond equally often, whichever item it is about, so "
    "that silence distorts all items alike."
)
OWN_CROWDS = (
    "Separate crowds: each item may have its own pattern of silence, so that two items may be "
    "distorted in opposite directions."
)
