"""Pictures: plain records in, Altair charts out; no mathematics.

Importing this loads no drawing library; using one of its names does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unheard.charts.picture import Picture
    from unheard.charts.results import (
        calibration_picture,
        comparison_picture,
        estimate_picture,
        pairs_picture,
        ranking_picture,
        regret_picture,
        sweep_picture,
    )

__all__ = [
    "Picture",
    "calibration_picture",
    "comparison_picture",
    "estimate_picture",
    "pairs_picture",
    "ranking_picture",
    "regret_picture",
    "sweep_picture",
]


def __getattr__(name: str) -> Any:
    """Fetch a name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'unheard.charts' has no attribute {name!r}")
    module = "picture" if name == "Picture" else "results"
    return getattr(import_module(f"unheard.charts.{module}"), name)
