"""Formulas as MathML, which browsers draw themselves: no script, no font and no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging


def render_inline(writer: Any, node: nodes.Element) -> None:
    """Write a formula that stands within a sentence."""
    writer.body.append(convert(node, as_block=False))
    raise nodes.SkipNode


def render_block(writer: Any, node: nodes.Element) -> None:
    """Write a formula that stands on a line of its own."""
    writer.body.append(f'<div class="formula">{convert(node, as_block=True)}</div>')
    raise nodes.SkipNode


def convert(node: nodes.Element, as_block: bool) -> str:
    """Turn LaTeX into MathML; a warning, and so a failure, where that cannot be done."""
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logging.getLogger(__name__).warning("%s: %s", node.astext(), error, location=node)
        return ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer; conf.py names it."""
    app.add_html_math_renderer("mathml", (render_inline, None), (render_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
