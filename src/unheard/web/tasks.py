"""Everything a worker can do, with the libraries for it loaded before the first question."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

from unheard.errors import MissingEngineError
from unheard.web.pool import Answer
from unheard.web.questions import QUESTIONS
from unheard.web.uploads import UPLOADS

_SCRIPT = "window.vegaEmbed = vegaEmbed;"
"""All that the page needs of the libraries that draw."""


def vega() -> Answer:
    """Make the script that draws charts in a browser."""
    try:
        import vl_convert
    except ImportError:
        raise MissingEngineError("Drawing", "vl-convert", "charts") from None
    script = vl_convert.javascript_bundle(_SCRIPT)
    return Answer(200, "text/javascript", script.encode())


TASKS: dict[str, Callable[..., Answer]] = {**QUESTIONS, **UPLOADS, "vega": vega}
"""Tasks by name."""

for _module in (
    "unheard.decide.documents",
    "unheard.game.cases",
    "unheard.tables.audits",
    "unheard.tables.documents",
    "unheard.tables.inspecting",
    "pyarrow.parquet",
    "unheard.charts.results",
    "vl_convert",
):
    # A server without the libraries for pictures answers all the rest.
    with suppress(ImportError, MissingEngineError):
        import_module(_module)
