"""Phrases that several kinds of results share: breakdown points, rank ranges, verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

from unheard.model.assumption import Assumption
from unheard.text import percent_text


def never_text(assumption: Assumption) -> str:
    """Say that a claim holds at no q, in words that fit what q means."""
    if assumption.per_rating:
        return "at no q, not even if participation is exactly as stated (q = 1)"
    if assumption.kind == "floor":
        return "at no floor that the response rate allows"
    return "at no q, not even if everybody responds equally often (q = 1)"


def rounded_up(q: float) -> float:
    """Round a breakdown q up to three digits: below its own value the claim would fail."""
    return float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(float(q))))


def q_text(q: float | None, never: str) -> str:
    """Say at which q a claim holds; None or NaN: at none, 0: at all."""
    if q is None or math.isnan(q):
        return never
    if q < 1e-6:
        return "at every q" if q == 0 else "at practically every q"
    if q > 0.999:
        return "at practically no q"
    return f"as long as q is above {rounded_up(q):.3g}"


def claim_text(
    claim: str, plain: float | None, with_error: float | None, never: str, condition: str = ""
) -> str:
    """Say at which q a claim holds, ignoring sampling error and allowing for it."""
    if plain is None or math.isnan(plain):
        words = f"that {claim} holds {never}"
    else:
        words = f"{claim} {q_text(plain, never)}, ignoring sampling error; allowing for it, "
        words += q_text(with_error, never)
    start = f"{condition}, {words}" if condition else words
    return f"{sentence_case(start)}."


def sentence_case(claim: str) -> str:
    """Begin a sentence with a claim; a name keeps its letters."""
    return (
        f"{claim[0].upper()}{claim[1:]}"
        if claim.startswith(("the ", "that ", "it ", "with "))
        else claim
    )


def ranks_text(row: Mapping[str, Any], prefix: str = "") -> str:
    """Write the rank range of a row; allowing for sampling error, behind ``ci_``."""
    first, last = row[f"{prefix}best_rank"], row[f"{prefix}worst_rank"]
    if first is None or last is None:
        return "–"
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def error_ranks_text(heading: str, level: float) -> str:
    """Say what the rank range under a heading is, if it allows for sampling error."""
    return (
        f"{heading}: every rank that the assumption and sampling error allow, with "
        f"{percent_text(level)} confidence for all items together"
    )


def verdict_text(row: Mapping[str, Any]) -> str:
    """Say whether a row is among the k best, and whether sampling error leaves that open."""
    differs = row["ci_top"] is not None and row["ci_top"] != row["top"]
    return f"{row['top']}, ignoring sampling error" if differs else str(row["top"])


def q_cell(q: float | None) -> str:
    """Write a breakdown q in a table, rounded up: above what is written the claim holds."""
    if q is None:
        return "never"
    if q > 0.99:
        return ">0.99"
    hundredths = Decimal(repr(float(q))).quantize(Decimal("0.01"), ROUND_CEILING)
    return "any" if q == 0 else f"{hundredths}"


LOOSENED = (
    "q loosens the stated assumption: people may respond with as little as q times the stated "
    "probability."
)
ONE_CROWD = (
    "One crowd: people with the same opinion respond equally often about every item, so "
    "nonresponse distorts all items alike."
)
OWN_CROWDS = (
    "Separate crowds: each item may have its own participation, so nonresponse may distort two "
    "items in opposite directions."
)
