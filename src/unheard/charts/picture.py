"""A drawing that knows the rows behind it, what it shows in words, and how to save itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from unheard.charts.style import Look, get_look
from unheard.errors import OptionError
from unheard.present.chart_records import Records

"""Rows, each a mapping from column to value."""

WIDTH = 560
"""How wide a picture is, in points, unless asked otherwise."""

NARROWEST = 280
"""Less leaves no room for a drawing beside its words."""

_MARGIN = 8
"""How much is left free on all sides."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A drawing in two looks and any width.

    Attributes
    ----------
    build
        Draws it in a look, so wide without its margin: an Altair chart.
    records
        The rows behind the drawing.
    words
        What it shows, with the numbers: the alternative text.
    """

    build: Callable[[Look, int], Any]
    records: Records
    words: str

    def chart(self, theme: str = "light", width: int | None = None) -> Any:
        """Return the Altair chart.

        Parameters
        ----------
        theme
            ``light`` or ``dark``.
        width
            How wide the whole picture is, in points; 560 if left out.
        """
        from unheard.charts.altair import alt

        return alt.Chart.from_dict(self.spec(theme, width))

    def spec(self, theme: str = "light", width: int | None = None) -> dict[str, Any]:
        """Return the Vega-Lite specification."""
        from unheard.charts.marks import specified

        look = get_look(theme)
        room = max(WIDTH if width is None else int(width), NARROWEST) - 2 * _MARGIN
        made = specified(lambda: self.build(look, room), look)
        return made | {"description": self.words, "padding": _MARGIN}

    def svg(self, theme: str = "light", width: int | None = None) -> str:
        """Return the picture as SVG."""
        from unheard.charts.export import svg_of

        return svg_of(self.spec(theme, width))

    def png(self, theme: str = "light", scale: float = 2.0, width: int | None = None) -> bytes:
        """Return the picture as PNG, so many pixels to a point."""
        from unheard.charts.export import png_of

        return png_of(self.spec(theme, width), scale)

    def html(self, theme: str = "light", width: int | None = None) -> str:
        """Return the picture as a page that needs nothing from outside."""
        from unheard.charts.export import html_of

        return html_of(self.spec(theme, width), self.words, get_look(theme))

    def save(
        self,
        path: str | Path,
        theme: str = "light",
        scale: float = 2.0,
        width: int | None = None,
    ) -> None:
        """Write the picture to a file whose ending tells the format.

        Parameters
        ----------
        path
            Ends in ``.html``, ``.svg``, ``.png``, or ``.json`` for the specification; a file that
            is there is replaced.
        theme, width
            As in :meth:`chart`.
        scale
            Pixels to a point, for PNG.
        """
        from unheard.tables.output.write import beside

        target = Path(path)
        makers: dict[str, Callable[[], str | bytes]] = {
            ".html": lambda: self.html(theme, width),
            ".svg": lambda: self.svg(theme, width),
            ".png": lambda: self.png(theme, scale, width),
            ".json": lambda: json.dumps(self.spec(theme, width), ensure_ascii=False),
        }
        make = makers.get(target.suffix.lower())
        if make is None:
            raise OptionError(
                "path", f"{target} has an unknown ending", f"Choose one of {', '.join(makers)}"
            )
        if not target.parent.is_dir():
            raise OptionError("path", f"there is no folder {target.parent}", "Make it first")
        if target.is_dir():
            raise OptionError("path", f"{target} is a folder", "Name a file")
        made = make()
        with beside(target) as fresh:
            fresh.write_bytes(made if isinstance(made, bytes) else made.encode())

    def _repr_html_(self) -> str:
        return f'<figure style="margin:0" aria-label="{escape(self.words)}">{self.svg()}</figure>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": self.words, "text/html": self._repr_html_()}
