"""Notes: what a reader must know before using a number.

:mod:`unheard.formulas.note_rules` decides which notes apply.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag

import numpy as np

from unheard.formulas.note_rules import FEW
from unheard.formulas.operations import Column

__all__ = ["FEW", "NOTE_NAMES", "NOTE_TEXTS", "Note", "encode_notes", "note_names"]


class Note(IntFlag):
    """What a reader of a result must know, as bits of a number."""

    NO_RATINGS = 1
    FEW_RATINGS = 2
    LOW_RESPONSE = 4
    HIGH_RESPONSE = 8
    REFUTED = 16
    OUTSIDE_BOUNDS = 32
    UNLIKE_AUDITED = 64
    WEIGHTS_ASSUMED = 128


NOTE_TEXTS = {
    "no_ratings": "no ratings: the estimate is the middle of the scale, and the bounds "
    "are the whole scale",
    "few_ratings": f"fewer than {FEW} ratings: the bounds ignore sampling error, which "
    "may be larger than they are wide; go by the confidence interval",
    "low_response": "fewer people responded than the assumption allows: n was not used, only the "
    "participation ratios that the assumption implies",
    "high_response": "more people responded than the assumption allows: n was not used, only the "
    "participation ratios that the assumption implies",
    "refuted": "the response rate refutes the assumption; sampling error alone does not explain it",
    "outside_bounds": "the estimate lies outside the bounds that the assumption allows; the method "
    "paa, or midpoint if n is known, is the middle of the bounds",
    "unlike_audited": "this item is unlike the audited items: the level of the confidence interval "
    "does not hold for it",
    "weights_assumed": "the effective sample size assumes that survey weights are unrelated to the "
    "rating; if they are related, the level requires squared weights per rating",
    "nulls_counted": "rows without a rating were counted as people who did not respond",
    "rows_dropped": "rows were dropped because they have no rating or one that is not on the scale",
    "n_dropped": "n is missing, varies or is less than the number of ratings: it was not used, so "
    "that the estimate, the bounds and the confidence interval are those without n",
    "n_raised": "n varies or is less than the number of ratings: its largest value was used, and "
    "at least the number of ratings",
    "unreachable": "asking everybody who did not respond is not enough to reach the goal",
}
"""The explanation of each note, in the order in which notes are listed."""


def encode_notes(notes: Mapping[str, Column]) -> Column:
    """Return one number per row whose bits are the notes that apply."""
    return sum(int(Note[name.upper()]) * column for name, column in notes.items())


def note_names(code: int) -> tuple[str, ...]:
    """List the names of the notes in a number."""
    return tuple(name for bit, name in _BITS if code & bit)


# Plain numbers: members of an enumeration are slow to compare, and every import compares them all.
_BITS = tuple((int(note), str(note.name).lower()) for note in Note)


NOTE_NAMES = np.empty(2 ** len(Note), dtype=object)
"""The names of the notes for every number."""
NOTE_NAMES[:] = [note_names(code) for code in range(len(NOTE_NAMES))]
