"""Charts of results, drawn by Altair from plain records; no mathematics.

Importing this package loads no drawing library; using one of its names does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unheard.charts.draw import (
        draw_calibration,
        draw_comparison,
        draw_estimate,
        draw_pairs,
        draw_ranking,
        draw_regret,
        draw_sweep,
    )
    from unheard.charts.picture import Picture

__all__ = [
    "Picture",
    "draw_calibration",
    "draw_comparison",
    "draw_estimate",
    "draw_pairs",
    "draw_ranking",
    "draw_regret",
    "draw_sweep",
]


def __getattr__(name: str) -> object:
    """Import a name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'unheard.charts' has no attribute {name!r}")
    module = "picture" if name == "Picture" else "draw"
    found: object = getattr(import_module(f"unheard.charts.{module}"), name)
    return found
