"""Altair, or a word on how to get it."""

from __future__ import annotations

from unheard.errors import MissingEngineError

try:
    import altair as alt
    from altair.utils.schemapi import debug_mode
except ImportError:
    raise MissingEngineError("Drawing", "Altair", "charts") from None

__all__ = ["alt", "debug_mode"]
