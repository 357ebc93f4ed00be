"""Pages without their slow drawings."""

from __future__ import annotations

from itertools import product

import pytest

from unheard.charts.picture import Picture
from unheard.report import figures


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a dot in the place of each drawing, where the drawing is not what is tested."""
    dot = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="

    def build_figure(picture: Picture, caption: str) -> figures.Figure:
        looks = product(("light", "dark"), ("wide", "narrow"))
        return figures.Figure(caption, picture.words, dict.fromkeys(looks, dot))

    monkeypatch.setattr(figures, "build_figure", build_figure)
