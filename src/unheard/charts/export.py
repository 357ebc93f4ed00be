"""Charts as SVG text and PNG bytes."""

from __future__ import annotations

from typing import Any

from unheard.charts.basic import Chart
from unheard.errors import MissingEngineError


def svg(chart: Chart) -> str:
    """Return a chart as SVG."""
    return str(_converter().vegalite_to_svg(chart.to_json()))


def png(chart: Chart, scale: float = 2.0) -> bytes:
    """Return a chart as PNG, so many pixels to a point."""
    return bytes(_converter().vegalite_to_png(chart.to_json(), scale=scale))


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingEngineError("Drawing", "vl-convert", "charts") from None
    return vl_convert
