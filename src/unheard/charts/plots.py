"""Plots of plain records: lines, bars, heat maps and intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import compress, cycle
from typing import Any, TypeAlias

from unheard.charts.altair import alt
from unheard.charts.style import COLOURS, DASHES, GREY, METHOD_COLOURS, METHOD_DASHES, build_theme

Records: TypeAlias = Sequence[Mapping[str, Any]]
"""Rows, each a mapping from column to value."""

Chart: TypeAlias = alt.TopLevelMixin


def _choose_styles(series: Sequence[str]) -> tuple[list[str], list[list[int]]]:
    """Return colour and dashes of each series; a method has the same in every plot."""
    taken = {METHOD_COLOURS[name] for name in series if name in METHOD_COLOURS}
    free = cycle([colour for colour in COLOURS if colour not in taken])
    colours = [METHOD_COLOURS.get(name) or next(free) for name in series]
    dashes = [METHOD_DASHES.get(name, DASHES[i % len(DASHES)]) for i, name in enumerate(series)]
    return colours, dashes


def _list_names(records: Records, column: str) -> list[str]:
    return list(dict.fromkeys(str(record[column]) for record in records))


def _encode_y(records: Records, y: str, title: str, log: bool) -> alt.Y:
    if not log:
        return alt.Y(f"{y}:Q", title=title, scale=alt.Scale(zero=False))
    logs = [math.log10(record[y]) for record in records]
    powers = [10.0**i for i in range(math.floor(min(logs)), math.ceil(max(logs)) + 1)]
    # Grid lines at powers of ten only, unless there are fewer than two of them.
    few = alt.Axis(values=powers, format="~g") if max(logs) - min(logs) > 2 else alt.Axis()
    return alt.Y(
        f"{y}:Q", title=title, axis=few, scale=alt.Scale(type="log", nice=False, padding=6)
    )


def _chart_rows(records: Records) -> alt.Chart:
    return alt.Chart(alt.Data(values=[dict(record) for record in records]))  # type: ignore[no-untyped-call]


def _finish(chart: Any) -> Chart:
    """Give a chart the common style."""
    done: Chart = chart.configure(**build_theme())
    return done


def plot_lines(
    records: Records,
    x: str,
    y: str,
    series: str,
    *,
    x_title: str,
    y_title: str,
    log: bool = False,
    log_x: bool = False,
    panels: str | None = None,
    columns: int = 2,
    shared: bool = False,
    size: tuple[int, int] = (420, 300),
    marks: bool = False,
    dots: Records = (),
    wide: Sequence[str] = (),
) -> Chart:
    """Plot lines, one for each series, in panels if asked.

    Parameters
    ----------
    records
        One row per point.
    x, y, series
        Columns: horizontal and vertical position, and the line that a point belongs to.
    x_title, y_title
        Titles of the axes.
    log, log_x
        Whether the vertical, or the horizontal, axis is logarithmic.
    panels, columns
        A column whose values get a panel each, and how many panels are side by side.
    shared
        Whether the vertical axis is the same in all panels.
    size
        Width and height of a panel.
    marks
        Whether to mark the points.
    dots
        Further rows, drawn as separate dots in the colour of their series.
    wide
        Series drawn wide and grey, so that a line on top does not hide them; put them first.
    """
    names = _list_names(records, series)
    colours, dashes = _choose_styles(names)
    colours = [GREY if name in wide else c for name, c in zip(names, colours, strict=True)]
    legend = alt.Legend(symbolType="stroke", symbolSize=900)

    def by_series(channel: Any, values: Sequence[Any]) -> Any:
        look = alt.Scale(domain=names, range=list(values))
        return channel(f"{series}:N", title=None, sort=names, scale=look, legend=legend)

    across = alt.X(f"{x}:Q", title=x_title)
    if log_x:
        powers = range(-3, 10)
        round_numbers = [step * 10.0**power for power in powers for step in (1, 2, 5)]
        places = [record[x] for record in records]
        ticks = [value for value in round_numbers if min(places) <= value <= max(places)]
        across = across.scale(type="log", nice=False).axis(values=ticks)
    # Panels require one data set.
    base = _chart_rows([*records, *({**dot, "dot": True} for dot in dots)]).encode(
        across,
        _encode_y([*records, *dots], y, y_title, log),
        by_series(alt.Color, colours),
    )
    joined = base.transform_filter("!datum.dot")
    # A separate layer: a width by series would shrink the symbols of the legend.
    layers: list[Any] = [
        joined.transform_filter(alt.FieldOneOfPredicate(series, list(wide))).mark_line(
            strokeWidth=5
        ),
        joined.mark_line(point=alt.OverlayMarkDef(size=40) if marks else False).encode(
            by_series(alt.StrokeDash, dashes)
        ),
        base.transform_filter("datum.dot").mark_point(size=45, filled=False, strokeWidth=1.5),
    ]
    used = (bool(wide), True, bool(dots))
    chart: Any = alt.layer(*compress(layers, used)).properties(width=size[0], height=size[1])
    if panels is None:
        return _finish(chart)
    order = _list_names(records, panels)
    facets = chart.facet(facet=alt.Facet(f"{panels}:N", title=None, sort=order), columns=columns)
    return _finish(facets if shared else facets.resolve_scale(y="independent"))


def plot_bars(
    records: Records,
    x: str,
    y: str,
    panels: str,
    *,
    x_title: str,
    y_title: str,
    series: str | None = None,
    columns: int = 2,
    size: tuple[int, int] = (220, 180),
) -> Chart:
    """Plot bars in panels, coloured by series if there are several."""
    encoding: dict[str, Any] = {
        "x": alt.X(f"{x}:O", title=x_title, axis=alt.Axis(labelAngle=0)),
        "y": alt.Y(f"{y}:Q", title=y_title),
    }
    names = _list_names(records, series) if series else []
    if series is not None:
        encoding["color"] = alt.Color(
            f"{series}:N", title=None, sort=names,
            scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])),
        )  # fmt: skip
        encoding["xOffset"] = alt.XOffset(f"{series}:N", sort=names)
    base = _chart_rows(records)
    chart = base.mark_bar(color=COLOURS[0]).encode(**encoding)
    chart = chart.properties(width=size[0], height=size[1])
    order = _list_names(records, panels)
    return _finish(
        chart.facet(facet=alt.Facet(f"{panels}:N", title=None, sort=order), columns=columns)
    )


def plot_heat_map(
    records: Records,
    x: str,
    y: str,
    colour: str,
    panels: str,
    *,
    x_title: str,
    y_title: str,
    colour_title: str,
    columns: int = 2,
    size: int = 260,
) -> Chart:
    """Plot coloured cells over two axes of whole numbers, in panels."""
    across = _list_names(records, x)
    few = [value for i, value in enumerate(across) if i % max(len(across) // 5, 1) == 0]
    ticks = alt.Axis(values=[float(value) for value in few], labelAngle=0)
    order = _list_names(records, panels)
    chart = (
        _chart_rows(records)
        .mark_rect()
        .encode(
            alt.X(f"{x}:O", title=x_title, axis=ticks),
            alt.Y(f"{y}:O", title=y_title, axis=ticks, sort="descending"),
            # Cividis looks the same to colour-blind readers.
            alt.Color(f"{colour}:Q", title=colour_title, scale=alt.Scale(scheme="cividis")),
        )
        .properties(width=size, height=size)
    )
    return _finish(
        chart.facet(facet=alt.Facet(f"{panels}:N", title=None, sort=order), columns=columns)
    )


def plot_intervals(
    records: Records,
    name: str,
    low: str,
    middle: str,
    high: str,
    *,
    x_title: str,
    lines_at: Mapping[str, float] | None = None,
    size: tuple[int, int] = (480, 22),
) -> Chart:
    """Plot a bar from low to high with a mark in between, one row for each record.

    Parameters
    ----------
    records
        One row per interval.
    name, low, middle, high
        Columns; ``middle`` may be missing in a row.
    x_title
        Title of the axis.
    lines_at
        Labels and positions of vertical lines.
    size
        Width of the plot, and height of a row.
    """
    order = _list_names(records, name)
    base = _chart_rows(records).encode(
        alt.Y(f"{name}:N", sort=order, title=None, axis=alt.Axis(labelLimit=320))
    )
    place = alt.X(f"{low}:Q", title=x_title, scale=alt.Scale(zero=False))
    layers: list[Any] = [
        base.mark_bar(color=COLOURS[5], height=9).encode(place, alt.X2(f"{high}:Q")),
        base.mark_point(color=COLOURS[1], filled=True, size=90, opacity=1).encode(
            alt.X(f"{middle}:Q")
        ),
    ]
    for i, (words, value) in enumerate((lines_at or {}).items()):
        at = _chart_rows([{"value": value, "words": words}])
        layers.append(
            at.mark_rule(color=COLOURS[6], strokeDash=DASHES[i + 1]).encode(alt.X("value:Q"))
        )
        layers.append(
            at.mark_text(align="left", dx=4, dy=-6, y=0, fontSize=12).encode(
                alt.X("value:Q"), alt.Text("words:N")
            )
        )
    chart = alt.layer(*layers).properties(width=size[0], height=size[1] * len(order))
    return _finish(chart)
