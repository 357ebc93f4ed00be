"""The options that functions pass on, as type checkers see them.

A test compares them with the declarations in ``unheard.options``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from numpy.typing import ArrayLike

from unheard.model.assumption import Assumption
from unheard.model.scale import ScaleLike
from unheard.options.choices import (
    BadN,
    Covers,
    Duplicates,
    Engine,
    Method,
    Nulls,
    OffScale,
    Quiet,
)

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

Pairs: TypeAlias = Sequence[tuple[float, float]]
"""A lower and an upper bound for each rating."""

Columns: TypeAlias = str | int | Iterable[str | int]
"""A column of a table, or several; frames may name columns by whole numbers."""

Labels: TypeAlias = Literal["auto"] | Sequence[str] | Mapping[str, float | None]
"""Words for ratings: lowest first, or with the value of each; None for what is not a rating."""

Path: TypeAlias = str | PathLike[str]
"""A file, a glob or a database URL."""

Table: TypeAlias = "IntoFrame | Path"
"""A frame (pandas, Polars, PyArrow, DuckDB, ibis, Spark), or a path."""


class PatternOptions(TypedDict, total=False):
    """What is assumed about who responds, besides q and floor; see :func:`unheard.estimate`."""

    quiet: Quiet | None
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

    sheet: str | int | None
    encoding: str | None
    header: str | int | None
    table: str | None
    query: str | None
    engine: Engine | None
    spark_master: str | None
    memory: str | None


class SqlOptions(QuestionOptions, total=False):
    """What is rated, what is assumed, and how; see :func:`unheard.rate`."""

    counts: Columns | None
    labels: Labels | None
    frequency: str | None
    q_column: str | None
    n: float | None
    n_column: str | None
    bad_n: BadN
    strata: Columns | None
    method: Method | None
    time: str | None
    window: str | None
    every: str | None
    nulls: Nulls


class TableOptions(SqlOptions, ReadingOptions, total=False):
    """The options of :func:`unheard.rate`, but for those about its result."""

    q_table: Table | None
    n_table: Table | None
    min_ratings: int
    rater: str | None
    duplicates: Duplicates
    by_experience: bool
    off_scale: OffScale
    max_dropped: float


class PlannedTableOptions(QuestionOptions, ReadingOptions, total=False):
    """The options of :func:`unheard.plan_table`, but for the goal and the budget."""

    counts: Columns | None
    labels: Labels | None
    frequency: str | None
    q_column: str | None
    q_table: Table | None
    n: float | None
    n_column: str | None
    n_table: Table | None
    bad_n: BadN
    time: str | None
    window: str | None
    every: str | None
    nulls: Nulls
    off_scale: OffScale
    rater: str | None
    duplicates: Duplicates
    max_dropped: float
    min_ratings: int


class RateOptions(TableOptions, total=False):
    """The options of :func:`unheard.rate`."""

    weight: str | None
    ranks: bool
    shared: bool
    sort: str | bool | None


class RankOptions(TableOptions, total=False):
    """The options of :func:`unheard.rank`."""

    k: int | None
    above: float | None
    below: float | None
    sampling_error: bool
    shared: bool
    sort: str | bool | None


class CountOptions(ReadingOptions, total=False):
    """The options of :func:`unheard.count_ratings`."""

    counts: Columns | None
    labels: Labels | None
    frequency: str | None
    scale: ScaleLike | None
    time: str | None
    window: str | None
    every: str | None
    nulls: Nulls
    off_scale: OffScale
    rater: str | None
    duplicates: Duplicates
    max_dropped: float
