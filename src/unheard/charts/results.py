"""One picture for each kind of result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unheard.charts.picture import Picture, Records
from unheard.core.estimate import Estimate, Inquiry
from unheard.core.scale import Scale
from unheard.decide.audit import Audit
from unheard.decide.breakdown import Claim
from unheard.decide.compare import Comparison
from unheard.decide.sweep import Sweep


def _stub(records, words):
    import altair as alt

    def build(look, width):
        return alt.Chart(alt.Data(values=list(records))).mark_text(text="to be drawn")

    return Picture(build, records, words)


def estimate_picture(question: Inquiry, found: Sequence[Estimate]) -> Picture:
    """Draw the ratings seen, and below them estimate, average and intervals on the same axis."""
    return _stub([], "An estimate.")


def sweep_picture(
    question: Inquiry,
    sweep: Sweep,
    claim: Claim | None = None,
    broken: Sequence[float] | None = None,
    q: float | None = None,
) -> Picture:
    """Draw estimate and intervals over q."""
    return _stub([], "A sweep.")


def comparison_picture(comparison: Comparison, names: tuple[str, str]) -> Picture:
    """Draw two items and the two differences between them."""
    return _stub([], "A comparison.")


def ranking_picture(rows: Records, item: Sequence[str], scale: Scale, *, top: int = 30) -> Picture:
    """Draw the intervals of items, best first, in their tiers."""
    return _stub([], "A ranking.")


def calibration_picture(audit: Audit) -> Picture:
    """Draw how likely people are to answer, rating by rating."""
    return _stub([], "An audit.")


def regret_picture(rows: Sequence[dict[str, Any]]) -> Picture:
    """Draw regrets over q, a line for each method."""
    return _stub([], "Regrets.")
