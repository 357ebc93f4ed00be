"""Results: numbers that summarize, tabulate and draw themselves.

The layers that compute results know nothing of text, frames and drawing. What does is fetched when
a result is first shown (see :mod:`unheard.later`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, cast, get_args, overload

import numpy as np
from numpy.typing import NDArray

from unheard.errors import OptionError
from unheard.later import fetch
from unheard.options.choices import Method
from unheard.options.unknown import check_choice

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from unheard.model.question import Question

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
"""A library of data frames."""


def choose_backend(backend: Backend | None) -> Backend:
    """Return the library of the frames to make: by default pandas if installed, else PyArrow."""
    if backend is None:
        return "pandas" if find_spec("pandas") else "pyarrow"
    check_choice("backend", backend, get_args(Backend), OptionError)
    if find_spec(backend) is None:
        raise OptionError(
            "backend",
            problem="{argument} names a library that is not installed",
            value=backend,
            hint="Install it, or use pyarrow",
        )
    return backend


Numbers: TypeAlias = float | NDArray[np.float64]
"""A number for one histogram, an array for many."""

Row: TypeAlias = np.ndarray[tuple[int], np.dtype[np.generic]]
Rows: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.generic]]
"""One histogram, and many."""

Theme: TypeAlias = Literal["light", "dark"]
"""Colours of a chart."""


class Chart(Protocol):
    """A chart that knows the rows behind it and saves itself."""

    @property
    def records(self) -> Sequence[Mapping[str, object]]:
        """The rows behind the chart."""

    @property
    def words(self) -> str:
        """What the chart shows, with the numbers: its alternative text."""

    def spec(self, theme: Theme = "light", width: int | None = None) -> dict[str, object]:
        """Return the Vega-Lite specification."""

    def svg(self, theme: Theme = "light", width: int | None = None) -> str:
        """Return the chart as SVG."""

    def png(self, theme: Theme = "light", scale: float = 2.0, width: int | None = None) -> bytes:
        """Return the chart as PNG, ``scale`` pixels to a point."""

    def html(self, theme: Theme = "light", width: int | None = None) -> str:
        """Return the chart as a self-contained page."""

    def save(
        self,
        path: str | Path,
        theme: Theme = "light",
        scale: float = 2.0,
        width: int | None = None,
    ) -> None:
        """Write the chart to a file: .html, .svg, .png, or .json for the specification."""


class Presenter(Protocol):
    """What writes results as text, documents and rows."""

    def summarize(self, result: Result, **options: object) -> str:
        """Return what the terminal shows."""

    def describe(self, result: Result) -> str:
        """Return a few lines for a repr."""

    def write_document(self, result: Result) -> dict[str, object]:
        """Return the JSON document."""

    def tabulate(self, result: Result) -> list[dict[str, object]]:
        """Return tidy rows."""

    def build_frame(self, rows: list[dict[str, object]], backend: Backend | None) -> pa.Table:
        """Turn rows into a data frame."""


class Drawer(Protocol):
    """What draws results."""

    def draw(self, result: Result, **options: object) -> Chart:
        """Draw a result."""

    def write_html(self, result: Result) -> str:
        """Show a result in a notebook."""


def _presenter() -> Presenter:
    return cast(Presenter, fetch("presenter"))


def _drawer() -> Drawer:
    return cast(Drawer, fetch("drawer"))


class Result:
    """A result that summarizes, tabulates and draws itself; notebooks display it."""

    def summary(self) -> str:
        """Return what the terminal shows: plain text, at most 80 columns wide."""
        return _presenter().summarize(self)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON document that the commands print and the REST interface sends."""
        return _presenter().write_document(self)

    @overload
    def to_frame(self, backend: None = None) -> pd.DataFrame | pa.Table: ...
    @overload
    def to_frame(self, backend: Literal["pandas"]) -> pd.DataFrame: ...
    @overload
    def to_frame(self, backend: Literal["polars"]) -> pl.DataFrame: ...
    @overload
    def to_frame(self, backend: Literal["pyarrow"]) -> pa.Table: ...
    def to_frame(self, backend: Backend | None = None) -> pd.DataFrame | pl.DataFrame | pa.Table:
        """Return the numbers as a tidy data frame.

        Parameters
        ----------
        backend
            ``pandas``, ``polars`` or ``pyarrow``; by default pandas if it is installed, otherwise
            PyArrow.
        """
        presenter = _presenter()
        return presenter.build_frame(presenter.tabulate(self), backend)

    def chart(self) -> Chart:
        """Draw the result; the chart has ``save``, ``svg``, ``png``, ``html`` and ``spec``."""
        return _drawer().draw(self)

    def _summarize(self, **options: object) -> str:
        return _presenter().summarize(self, **options)

    def _draw(self, **options: object) -> Chart:
        return _drawer().draw(self, **options)

    def __repr__(self) -> str:
        """Describe the result in a few lines."""
        return _presenter().describe(self)

    def _repr_html_(self) -> str:
        return _drawer().write_html(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Result):
    """The estimate for one histogram.

    Attributes
    ----------
    method
        The estimator.
    estimate
        The rating.
    lower, upper
        Bounds: all values that the assumption allows the mean to have, ignoring sampling error.
    ci_lower, ci_upper
        Confidence interval: the bounds with sampling error; NaN if the level is None.
    notes
        What to know before using the numbers; :data:`NOTE_TEXTS` explains each.
    question
        The counts, the assumption and the settings.
    """

    method: Method
    estimate: float
    lower: float
    upper: float
    ci_lower: float
    ci_upper: float
    notes: tuple[str, ...]
    question: Question


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Result):
    """The estimates for many histograms: arrays with one entry per histogram.

    ``estimates[2]`` is the :class:`Estimate` for one of them.

    Attributes
    ----------
    method
        The estimator.
    estimate, lower, upper, ci_lower, ci_upper
        As in :class:`Estimate`.
    notes
        One tuple of notes per histogram.
    question
        The counts, the assumption and the settings.
    """

    method: Method
    estimate: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    ci_lower: NDArray[np.float64]
    ci_upper: NDArray[np.float64]
    notes: NDArray[np.object_]
    question: Question

    def __len__(self) -> int:
        """Return the number of histograms."""
        return len(self.estimate)

    def __iter__(self) -> Iterator[Estimate]:
        """Yield the estimate for each histogram."""
        return (self[row] for row in range(len(self)))

    def __getitem__(self, row: int) -> Estimate:
        """Return the estimate for one histogram."""
        row = range(len(self))[row]
        return self.pick(row, self.question.take_row(row))

    def pick(self, row: int, question: Question) -> Estimate:
        """Return the estimate for one histogram, as the answer to a question about it alone."""
        columns = (self.estimate, self.lower, self.upper, self.ci_lower, self.ci_upper)
        estimate, lower, upper, low, high = (float(column[row]) for column in columns)
        return Estimate(self.method, estimate, lower, upper, low, high, self.notes[row], question)
