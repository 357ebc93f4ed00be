"""Everything a worker can do, with the libraries for it loaded before the first question."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np

from unheard.errors import MissingLibraryError
from unheard.web.api.histograms import QUESTIONS, Given
from unheard.web.api.problems import too_large
from unheard.web.api.read_requests import QuestionError
from unheard.web.api.tables import UPLOADS
from unheard.web.server.pool import WorkerAnswer

_SCRIPT = "window.vegaEmbed = vegaEmbed;"
"""All that the page needs of the libraries that draw."""


def vega() -> WorkerAnswer:
    """Make the script that draws charts in a browser."""
    try:
        import vl_convert
    except ImportError:
        raise MissingLibraryError("Drawing", "vl-convert", "charts") from None
    script = vl_convert.javascript_bundle(_SCRIPT)
    return WorkerAnswer(200, "text/javascript", script.encode())


def calibrate(upload: Given, given: Given) -> WorkerAnswer:
    """Answer who takes part, from the counts of an audit or from a table."""
    body = _read_object(upload)
    if body is None:
        return UPLOADS["calibrate_table"](upload, given)
    return QUESTIONS["calibrate"](body)


def calibrate_chart(upload: Given, given: Given, how: Given) -> WorkerAnswer:
    """Draw who takes part, from the counts of an audit or from a table."""
    body = _read_object(upload)
    if body is None:
        return UPLOADS["calibrate_table_chart"](upload, given, how)
    return QUESTIONS["calibrate_chart"](body, how=how)


def plan(upload: Given, given: Given, as_csv: bool) -> WorkerAnswer:
    """Answer how many non-respondents to ask, of one histogram or of each item of a table."""
    body = _read_object(upload)
    if body is None:
        return UPLOADS["plan_table"](upload, given, as_csv)
    if given:
        raise QuestionError(
            next(iter(given)),
            problem="In the address, {argument} applies to tables",
            hint="Put the options of counts into the body",
        )
    return QUESTIONS["plan"](body)


def _read_object(upload: Given) -> bytes | None:
    """Return what was sent if it is a JSON object, which holds counts; a table is a list."""
    file = Path(upload["folder"], upload["file"])
    if file.suffix != ".json":
        return None
    with file.open("rb") as opened:
        if not opened.read(1024).lstrip().startswith(b"{"):
            return None
    most = upload["limits"]["question_bytes"]
    if file.stat().st_size > most:
        raise too_large(most)
    return file.read_bytes()


TASKS: dict[str, Callable[..., WorkerAnswer]] = {
    **QUESTIONS,
    **UPLOADS,
    "calibrate": calibrate,
    "calibrate_chart": calibrate_chart,
    "plan": plan,
    "vega": vega,
}
"""Tasks by name."""

DRAWING = frozenset(name for name in TASKS if name.endswith("_chart")) | {"report", "vega"}
"""Tasks that make pictures."""

for _module in (
    "unheard.present.comparisons",
    "unheard.present.sweeps",
    "unheard.game.regret_table",
    "unheard.tables.audit_table",
    "unheard.present.plan_tables",
    "unheard.present.table_json",
    "unheard.tables.sources.inspection",
    "pyarrow.parquet",
    "python_calamine",
    "unheard.charts.draw",
    "vl_convert",
):
    # A server without the libraries for pictures answers all the rest.
    with suppress(ImportError, MissingLibraryError):
        import_module(_module)

# The library behind it sets memory aside for each processor now, before any is counted.
np.ones((512, 512)) @ np.ones((512, 512))
