"""Charts as SVG text, PNG bytes and pages that need nothing from outside."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from unheard.charts.plots import Chart
from unheard.charts.style import FONT, Look
from unheard.errors import MissingLibraryError


def svg(chart: Chart) -> str:
    """Return a chart as SVG."""
    return str(_converter().vegalite_to_svg(chart.to_json()))


def png(chart: Chart, scale: float = 2.0) -> bytes:
    """Return a chart as PNG, so many pixels to a point."""
    return bytes(_converter().vegalite_to_png(chart.to_json(), scale=scale))


def svg_of(spec: dict[str, Any]) -> str:
    """Return a specification as SVG."""
    return str(_converter().vegalite_to_svg(spec))


def png_of(spec: dict[str, Any], scale: float) -> bytes:
    """Return a specification as PNG."""
    return bytes(_converter().vegalite_to_png(spec, scale=scale))


def html_of(spec: dict[str, Any], words: str, look: Look) -> str:
    """Return a specification as a page; what it shows is said in words below it."""
    return _PAGE.format(
        words=escape(words),
        theme=look.name,
        background=look.background,
        ink=look.muted,
        font=escape(FONT),
        libraries=_converter().javascript_bundle(),
        # Names come from data, and one may hold the end of a script.
        spec=json.dumps(spec).replace("<", "\\u003c"),
    )


# The policy lets nothing be fetched; expressions are interpreted, so that nothing is evaluated.
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{words}</title>
<style>
:root {{ color-scheme: {theme}; }}
body {{ margin: 1rem; background: {background}; color: {ink}; font: 14px {font}; }}
.vega-embed summary {{ background: {background} !important; color: {ink} !important; }}
figure {{ margin: 0; }}
figcaption {{ max-width: 40rem; }}
</style>
</head>
<body>
<figure>
<div id="picture"></div>
<figcaption>{words}</figcaption>
</figure>
<script>{libraries}</script>
<script>
vegaEmbed("#picture", {spec}, {{
  ast: true, renderer: "svg", tooltip: {{ theme: "{theme}" }},
  actions: {{ export: true, source: false, compiled: false, editor: false }}
}}).catch(console.error);
</script>
</body>
</html>
"""


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingLibraryError("Exporting a chart", "vl-convert", "charts") from None
    return vl_convert
