"""The style of all charts, in colours that colour-blind readers can tell apart [OI08]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from unheard.errors import OptionError

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE, GREY = "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#767676"

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK, GREY)
"""Colours of series in the order in which they are drawn."""

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 3], [1, 0], [10, 4])
"""Dashes that go with them, so that nothing depends on colour alone."""

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


def build_theme() -> dict[str, Any]:
    """Return the configuration that all charts have in common."""
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


@dataclass(frozen=True)
class Look:
    """Colours by what they stand for, on one background.

    Text has a contrast of at least 4.5 to the background and marks of at least 3; marks also differ
    from each other in shape, dashes or label.

    Attributes
    ----------
    name
        ``light`` or ``dark``.
    background, ink, muted, grid, band
        The page, its text, secondary text, thin lines, and the shade of every other tier.
    bar, estimate, average, bounds, confidence, claim
        What is drawn: shares of ratings, the estimate, the plain average, the bounds, the
        confidence interval, and a threshold.
    """

    name: str
    background: str
    ink: str
    muted: str
    grid: str
    band: str
    bar: str
    estimate: str
    average: str
    bounds: str
    confidence: str
    claim: str

    @property
    def methods(self) -> Mapping[str, str]:
        """A colour for each method; its dashes are those of :data:`METHOD_DASHES`."""
        return METHOD_COLOURS | _CHANGED[self.name]

    def config(self) -> dict[str, Any]:
        """Return the theme in these colours."""
        base = build_theme()
        text = {"labelColor": self.ink, "titleColor": self.ink}
        lines = {"gridColor": self.grid, "domainColor": self.muted, "tickColor": self.muted}
        return base | {
            "background": self.background,
            "axis": base["axis"] | text | lines | {"titlePadding": 8},
            "legend": base["legend"] | text,
            "header": base["header"] | text,
            "title": base["title"] | {"color": self.ink, "subtitleColor": self.muted},
            "text": {"color": self.ink, "fontSize": 12},
            "point": {"opacity": 1},
        }


# Colours that have too little contrast to the background are replaced.
_CHANGED = {
    "light": {
        "midpoint": "#2E88BD",
        "minimax": "#A8477F",
        "spectral": "#A87400",
        "reweight": "#857B00",
        "lower bound": "#949494",
    },
    "dark": {
        "average": "#4FA3DC",
        "bea": "#F08A3C",
        "midpoint": "#9AD3F5",
        "pooled": "#E8EAED",
        "lower bound": "#7C858E",
    },
}

LIGHT = Look(
    name="light",
    background="#FFFFFF",
    ink="#1C2126",
    muted="#5F666D",
    grid="#E6E6E6",
    band="#E3E8EC",
    bar="#868E96",
    estimate=VERMILION,
    average="#1C2126",
    bounds=BLUE,
    confidence=BLUE,
    claim="#A8477F",
)

DARK = Look(
    name="dark",
    background="#16191D",
    ink="#E8EAED",
    muted="#A3ABB3",
    grid="#2E343A",
    band="#2A3138",
    bar="#7C858E",
    estimate=ORANGE,
    average="#E8EAED",
    bounds=SKY,
    confidence=SKY,
    claim="#E59BC3",
)

Spec: TypeAlias = dict[str, object]
"""A Vega-Lite specification."""

Theme: TypeAlias = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = get_args(Theme)


def get_look(theme: str) -> Look:
    """Return the look of a theme."""
    if theme not in THEMES:
        raise OptionError("theme", problem="{argument} must be light or dark", value=theme)
    return LIGHT if theme == "light" else DARK
