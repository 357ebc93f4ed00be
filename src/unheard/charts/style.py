"""One look for all pictures, and colours that colour-blind readers tell apart [OI08]."""

from __future__ import annotations

from typing import Any

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE, GREY = "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#767676"

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK, GREY)
"""Colours of series in the order in which they are drawn."""

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 3], [1, 0], [10, 4])
"""Dashes that go with them, so that no reader depends on colour."""

METHOD_COLOURS = {
    "average": BLUE,
    "bea": VERMILION,
    "paa": GREEN,
    "midpoint": SKY,
    "minimax": PURPLE,
    "spectral": ORANGE,
    "reweight": YELLOW,
    "pooled": BLACK,
    "lower bound": GREY,
}
METHOD_DASHES = {
    "average": [6, 3],
    "bea": [1, 0],
    "paa": [8, 3, 2, 3],
    "midpoint": [4, 2],
    "minimax": [2, 2],
    "spectral": [1, 3],
    "reweight": [10, 4],
    "pooled": [1, 0],
    "lower bound": [1, 0],
}

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


def theme() -> dict[str, Any]:
    """Return what all charts have in common."""
    return {
        "background": "white",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelFontSize": 12,
            "titleFontSize": 13,
            "titleFontWeight": "normal",
            "gridColor": "#E6E6E6",
            "domainColor": "#767676",
            "tickColor": "#767676",
            "labelFlush": False,
        },
        "legend": {"labelFontSize": 12, "titleFontSize": 12, "symbolStrokeWidth": 2.5},
        "header": {"labelFontSize": 13, "titleFontSize": 13},
        "title": {"fontSize": 14, "anchor": "start", "subtitleFontSize": 12},
        "line": {"strokeWidth": 2},
    }
