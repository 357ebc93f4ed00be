"""Pictures: charts with the rows behind them and a description, which can be saved."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from unheard.charts.style import Look, Spec, Theme, get_look
from unheard.errors import OptionError, write_list
from unheard.present.chart_records import Records

if TYPE_CHECKING:
    from altair import TopLevelMixin

WIDTH = 560
"""Default width of a picture, in points."""

NARROWEST = 280
"""Narrower pictures have no room for a drawing beside its labels."""

_MARGIN = 8
"""Blank space on all sides."""


@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A chart in two themes and any width.

    Attributes
    ----------
    build
        Lays it out in a look and a width.
    records
        The rows behind it.
    words
        What it shows, with the numbers: the alternative text.
    """

    build: Callable[[Look, int], object]
    records: Records
    words: str

    def chart(self, theme: Theme = "light", width: int | None = None) -> TopLevelMixin:
        """Return the Altair chart.

        Parameters
        ----------
        theme
            ``light`` or ``dark``.
        width
            Width of the whole picture, in points; 560 by default.
        """
        from unheard.charts.altair import alt

        chart: TopLevelMixin = alt.Chart.from_dict(self.spec(theme, width))
        return chart

    def spec(self, theme: Theme = "light", width: int | None = None) -> Spec:
        """Return the Vega-Lite specification."""
        from unheard.charts.marks import build_spec

        look = get_look(theme)
        room = max(WIDTH if width is None else int(width), NARROWEST) - 2 * _MARGIN
        spec = build_spec(lambda: self.build(look, room), look)
        return spec | {"description": self.words, "padding": _MARGIN}

    def svg(self, theme: Theme = "light", width: int | None = None) -> str:
        """Return the picture as SVG."""
        from unheard.charts.export import render_svg

        return render_svg(self.spec(theme, width))

    def png(self, theme: Theme = "light", scale: float = 2.0, width: int | None = None) -> bytes:
        """Return the picture as PNG, with ``scale`` pixels per point."""
        from unheard.charts.export import render_png

        return render_png(self.spec(theme, width), scale)

    def html(self, theme: Theme = "light", width: int | None = None) -> str:
        """Return the picture as a page that needs nothing from outside."""
        from unheard.charts.export import render_html

        return render_html(self.spec(theme, width), self.words, get_look(theme))

    def save(
        self,
        path: str | Path,
        theme: Theme = "light",
        scale: float = 2.0,
        width: int | None = None,
    ) -> None:
        """Save the picture in the format of the file's ending.

        Parameters
        ----------
        path
            Ends in ``.html``, ``.svg``, ``.png``, or ``.json`` for the specification; an existing
            file is replaced.
        theme, width
            As in :meth:`chart`.
        scale
            Pixels per point, for PNG.
        """
        from unheard.files import beside

        target = Path(path)
        makers: dict[str, Callable[[], str | bytes]] = {
            ".html": lambda: self.html(theme, width),
            ".svg": lambda: self.svg(theme, width),
            ".png": lambda: self.png(theme, scale, width),
            ".json": lambda: json.dumps(self.spec(theme, width), ensure_ascii=False),
        }
        make = makers.get(target.suffix.lower())
        if make is None:
            problem, endings = "{argument} must end in {endings}", write_list(list(makers))
            raise OptionError("path", problem=problem, value=target.name, endings=endings)
        if not target.parent.is_dir():
            problem = "{argument} is in a folder that does not exist: {folder}"
            raise OptionError("path", problem=problem, folder=target.parent)
        if target.is_dir():
            raise OptionError("path", problem="{argument} must not be a folder", value=target.name)
        made = make()
        with beside(target, "path") as fresh:
            fresh.write_bytes(made if isinstance(made, bytes) else made.encode())

    def __repr__(self) -> str:
        """Say what the picture shows."""
        return f"Picture: {self.words}"

    def _repr_html_(self) -> str:
        return f'<figure style="margin:0" aria-label="{escape(self.words)}">{self.svg()}</figure>'

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": self.words, "text/html": self._repr_html_()}
