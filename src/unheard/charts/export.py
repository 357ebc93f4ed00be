"""Render charts as SVG, PNG and pages that need nothing from outside."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from unheard.charts.style import FONT, Look, Spec
from unheard.errors import MissingLibraryError


def render_svg(spec: Spec | str) -> str:
    """Render a Vega-Lite specification, or its JSON, as SVG."""
    return str(_load_converter().vegalite_to_svg(spec))


def render_png(spec: Spec | str, scale: float = 2.0) -> bytes:
    """Render a Vega-Lite specification, or its JSON, as PNG, with ``scale`` pixels per point."""
    return bytes(_load_converter().vegalite_to_png(spec, scale=scale))


def render_html(spec: Spec, words: str, look: Look) -> str:
    """Render a specification as a page, with a description below the chart."""
    return _PAGE.format(
        words=escape(words),
        theme=look.name,
        background=look.background,
        ink=look.muted,
        font=escape(FONT),
        libraries=_load_converter().javascript_bundle(),
        # A name in the data may contain the end of a script.
        spec=json.dumps(spec).replace("<", "\\u003c"),
    )


# The policy forbids fetching; expressions are interpreted, so that no code is evaluated.
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


def _load_converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingLibraryError("Exporting a chart", "vl-convert", "charts") from None
    return vl_convert
