"""Altair, or an error that says how to install it."""

from __future__ import annotations

from unheard.errors import MissingLibraryError

try:
    import altair as alt
    from altair.utils.schemapi import debug_mode
except ImportError:
    raise MissingLibraryError("Drawing a chart", "Altair", "charts") from None

__all__ = ["alt", "debug_mode"]
