"""What a figure or table of the paper comes down to: numbers, pictures, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from unheard.charts.plots import Chart

Rows: TypeAlias = Sequence[Mapping[str, Any]]
"""A table: one mapping from column to value per row."""

Verdict: TypeAlias = Literal["agrees", "corrected", "not reproducible", "ours"]

Step: TypeAlias = Callable[[float], None]
"""Told how much of an exhibit is done, from 0 to 1."""


@dataclass(frozen=True)
class Picture:
    """A chart and what it shows."""

    chart: Chart
    caption: str


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of the paper, made anew.

    Attributes
    ----------
    title
        What it is about.
    where
        Where it stands in the paper.
    claim
        What the paper says.
    found
        What comes out here.
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
    pictures: Mapping[str, Picture] = field(default_factory=dict)
