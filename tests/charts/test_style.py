"""Colours that everybody can tell from their background, and the paper's look as it was."""

from __future__ import annotations

from typing import Any

import pytest

from unheard.charts.marks import band_styles, line_styles, method_line, point_styles
from unheard.charts.style import DARK, LIGHT, METHOD_DASHES, THEMES, Look, build_theme, get_look
from unheard.errors import OptionError

TEXT, MARKS = 4.5, 3.0
LOOKS = [LIGHT, DARK]


def channels(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(parts: list[float]) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[float], other: list[float]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def upon(colour: str, opacity: float, below: list[float]) -> list[float]:
    pairs = zip(channels(colour), below, strict=True)
    return [opacity * over + (1 - opacity) * under for over, under in pairs]


def test_the_formula() -> None:
    assert contrast([1, 1, 1], [0, 0, 0]) == pytest.approx(21)
    assert contrast(channels("#767676"), [1, 1, 1]) == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("look", LOOKS, ids=THEMES)
def test_text_and_marks_stand_out(look: Look) -> None:
    background = channels(look.background)
    for colour in (look.ink, look.muted):
        assert contrast(channels(colour), background) >= TEXT
    marks = (look.bar, look.estimate, look.average, look.bounds, look.confidence, look.claim)
    for colour in (*marks, *look.methods.values()):
        assert contrast(channels(colour), background) >= MARKS


@pytest.mark.parametrize("look", LOOKS, ids=THEMES)
def test_they_stand_out_on_shades(look: Look) -> None:
    areas = band_styles(look)
    tier = upon(look.band, areas["tier"]["fillOpacity"], channels(look.background))
    assert contrast(channels(look.ink), tier) >= TEXT
    assert contrast(channels(look.muted), tier) >= TEXT
    assert contrast(channels(look.bounds), tier) >= MARKS
    ci_band = upon(look.bounds, areas["ci band"]["fillOpacity"], channels(look.background))
    band = upon(look.bounds, areas["band"]["fillOpacity"], ci_band)
    assert contrast(channels(look.estimate), band) >= 2.5
    assert contrast(channels(look.ink), band) >= TEXT


@pytest.mark.parametrize("look", LOOKS, ids=THEMES)
def test_no_two_marks_differ_by_colour_alone(look: Look) -> None:
    def form(style: dict[str, Any]) -> tuple[object, ...]:
        hollow = style.get("fill") == look.background
        dashes = tuple(style.get("strokeDash", ()))
        return style.get("shape"), hollow, style.get("strokeWidth"), dashes

    shapes = [form(style) for kind, style in point_styles(look).items()]
    assert len(set(shapes)) == len(shapes)
    lines = [form(style) for style in line_styles(look).values()]
    assert len(set(lines)) == len(lines)
    methods = [form(method_line(name, look)) for name in METHOD_DASHES if name != "pooled"]
    assert len(set(methods)) == len(methods)


def test_the_papers_look_is_as_it_was() -> None:
    look = build_theme()
    assert look["background"] == "white"
    assert (look["axis"]["gridColor"], look["axis"]["domainColor"]) == ("#E6E6E6", "#767676")
    assert "labelColor" not in look["axis"]


def test_there_are_two_looks() -> None:
    assert [get_look(name) for name in THEMES] == [LIGHT, DARK]
    with pytest.raises(OptionError, match="theme must be light or dark; got 'blue'"):
        get_look("blue")
