"""An exhibit: the numbers, charts and verdict on one figure or table of the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from unheard.charts.plots import Chart

Rows: TypeAlias = Sequence[Mapping[str, Any]]
"""A table: one mapping from column to value per row."""

Verdict: TypeAlias = Literal["agrees", "corrected", "not reproducible", "ours"]

Step: TypeAlias = Callable[[float], None]
"""Receives the share of an exhibit that is done, from 0 to 1."""


@dataclass(frozen=True)
class ExhibitChart:
    """A chart and its caption."""

    chart: Chart
    caption: str


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of the paper, reproduced.

    Attributes
    ----------
    title
        What it is about.
    where
        Where it is in the paper.
    claim
        What the paper says.
    found
        What this package finds.
    verdict
        Whether the two agree.
    tables
        The numbers, by name.
    pictures
        The charts, by name.
    """

    title: str
    where: str
    claim: str
    found: str
    verdict: Verdict
    tables: Mapping[str, Rows]
    pictures: Mapping[str, ExhibitChart] = field(default_factory=dict)
