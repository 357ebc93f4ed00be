"""The JSON document of a report."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from unheard._version import __version__
from unheard.present.estimates import tidy
from unheard.report.report_data import ReportData
from unheard.report.sentences import describe_choice, list_warnings
from unheard.tables.check_rows import Tally


def build_document(data: ReportData) -> dict[str, Any]:
    """Return the JSON document of a report."""
    request, other = data.request, data.sensitivity
    return {
        "title": data.title,
        "source": data.source,
        "command": data.command,
        "made": data.made.isoformat(),
        "version": __version__,
        "item": list(request.item),
        "scale": [tidy(value) for value in request.scale.values],
        "k": data.k,
        "level": request.level,
        "method": request.method,
        "assumption": {
            "words": data.assumption,
            "chosen": describe_choice(request),
            "warnings": list(list_warnings(request)),
        },
        "shared": request.shared,
        "participation": data.participation,
        "headline": data.headline,
        "words": data.findings,
        "numbers": asdict(data.numbers),
        "changed_items": [asdict(one) for one in data.changed_items],
        "sweep": None if other is None else [asdict(step) for step in other.steps],
        "claims": None if other is None else [asdict(one) for one in other.claims],
        "no_sweep": data.no_sensitivity,
        "quality": _write_tally(data.tally) | {"notes": data.notes, "messages": data.messages},
        "rows": data.rows,
        "rows_left_out": data.left_out,
    }


def _write_tally(tally: Tally) -> dict[str, int]:
    """Return how many rows were read and what became of them; ratings are counted elsewhere."""
    return {name: many for name, many in asdict(tally).items() if name != "given"}
