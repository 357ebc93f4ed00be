"""The options that functions pass on, as type checkers see them.

A test compares them with the declarations in ``unheard.options``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from numpy.typing import ArrayLike

from unheard.model.assumption import Assumption
from unheard.model.scale import ScaleLike
from unheard.options.declarations import (
    Covers,
    Duplicates,
    Engine,
    Method,
    Nulls,
    OffScale,
    Quiet,
)

if TYPE_CHECKING:
    from os import PathLike

    from narwhals.typing import IntoFrame

Pairs: TypeAlias = Sequence[tuple[float, float]]
"""A lower and an upper bound for each rating."""

Columns: TypeAlias = str | int | Iterable[str | int]
"""A column of a table, or several; frames may name columns by whole numbers."""

Table: TypeAlias = "IntoFrame | str | PathLike[str]"
"""A frame (pandas, Polars, PyArrow, DuckDB, ibis, Spark), a path, a glob or a database URL."""


class PatternOptions(TypedDict, total=False):
    """What is assumed about who responds, besides q and floor; see :func:`unheard.estimate`."""

    quiet: Quiet
    participation: Pairs | None
    g: Sequence[float] | None
    assumption: Assumption | None


class AssumptionOptions(PatternOptions, total=False):
    """What is assumed about who responds; see :func:`unheard.estimate`."""

    q: ArrayLike | None
    floor: ArrayLike | None


class SettingOptions(TypedDict, total=False):
    """The scale and the confidence interval; see :func:`unheard.estimate`."""

    scale: ScaleLike | None
    level: float | None
    covers: Covers


class QuestionOptions(AssumptionOptions, SettingOptions, total=False):
    """What is assumed, the scale and the confidence interval; see :func:`unheard.estimate`."""


class SensitivityOptions(PatternOptions, SettingOptions, total=False):
    """The options of functions that find q, vary it, or take it by position."""


class ReadingOptions(TypedDict, total=False):
    """Where a table is read from; see :func:`unheard.rate`."""

    table: str | None
    query: str | None
    engine: Engine | None
    spark_master: str | None
    memory: str | None


class RatedOptions(QuestionOptions, total=False):
    """What is rated, what is assumed, and how; see :func:`unheard.rate`."""

    counts: Columns | None
    q_column: str | None
    q_table: Table | None
    n: float | None
    n_column: str | None
    n_table: Table | None
    strata: Columns | None
    method: Method | None
    time: str | None
    window: str | None
    every: str | None
    nulls: Nulls


class TableOptions(RatedOptions, ReadingOptions, total=False):
    """The options of :func:`unheard.rate`, but for those about its result."""

    min_ratings: int
    rater: str | None
    duplicates: Duplicates
    off_scale: OffScale
