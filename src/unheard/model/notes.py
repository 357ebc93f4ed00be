"""Notes: what a reader must know before using a number."""

from __future__ import annotations

from enum import IntFlag

import numpy as np


class Note(IntFlag):
    """What a reader of the result must know."""

    NO_RATINGS = 1
    FEW_RATINGS = 2
    LOW_RESPONSE = 4
    HIGH_RESPONSE = 8
    REFUTED = 16
    OUTSIDE_BOUNDS = 32
    UNLIKE_AUDITED = 64
    WEIGHTS_ASSUMED = 128


FEW = 10
"""With fewer ratings than this, bounds say little: sampling error may exceed their width."""


NOTE_TEXTS = {
    "no_ratings": "nobody rated this: the middle of the scale and the whole scale are given",
    "few_ratings": f"fewer than {FEW} ratings: the bounds ignore sampling error, which may be "
    "larger than they are wide; go by the confidence interval",
    "low_response": "fewer people responded than the assumption allows: n was left out, and only "
    "the ratios that the assumption implies were used",
    "high_response": "more people responded than the assumption allows: n was left out, and only "
    "the ratios that the assumption implies were used",
    "refuted": "the response rate refutes the assumption; chance alone does not explain it",
    "outside_bounds": "an estimate lies outside everything that the assumption allows",
    "unlike_audited": "this item is unlike those audited: the confidence interval holds for items "
    "like them, and at no stated level for this one",
    "weights_assumed": "the effective sample size takes survey weights to be unrelated to the "
    "rating; where they are not, the level holds with squared weights per rating only",
    "nulls_counted": "rows without a rating were taken as people who said nothing",
    "rows_dropped": "rows were left out: without a rating, or with one off the scale",
    "n_below_ratings": "there are more ratings than people: n cannot be right",
}


def note_names(code: int) -> tuple[str, ...]:
    """Spell out a combination of notes."""
    return tuple(str(flag.name).lower() for flag in Note if code & flag)


NOTE_NAMES = np.empty(2 ** len(Note), dtype=object)
NOTE_NAMES[:] = [note_names(code) for code in range(len(NOTE_NAMES))]
