"""Results that show themselves in notebooks.

The layers that find results know nothing of drawing. Whoever puts the package together installs
something that does; it is fetched when a result is first shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from unheard.model.question import Question

Numbers: TypeAlias = Any
"""A float for one histogram, an array of floats for many."""


class Shower(Protocol):
    """What can show results."""

    def chart(self, result: Any, **options: Any) -> Any:
        """Draw a result."""

    def records(self, result: Any) -> list[dict[str, Any]]:
        """Return the rows behind the drawing."""

    def html(self, result: Any) -> str:
        """Show a result as a piece of a page."""


_installed: list[Callable[[], Shower]] = []


def install(fetch: Callable[[], Shower]) -> None:
    """Say where to fetch what shows results."""
    _installed[:] = [fetch]


class Result:
    """A result that can be drawn."""

    def chart(self, **options: Any) -> Any:
        """Draw the result; the picture has ``save``, ``svg``, ``png``, ``html`` and ``spec``.

        Parameters
        ----------
        options
            For a sweep ``above`` or ``below``, a threshold whose breakdown is marked, and ``q``,
            the voice ratio chosen; for a comparison ``names``, those of the two items.
        """
        return _installed[0]().chart(self, **options)

    def records(self) -> list[dict[str, Any]]:
        """Return the tidy rows behind the drawing."""
        return _installed[0]().records(self)

    def _repr_html_(self) -> str | None:
        return _installed[0]().html(self) if _installed else None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        shown = self._repr_html_()
        return {"text/plain": repr(self)} | ({} if shown is None else {"text/html": shown})


@dataclass(frozen=True, eq=False)
class Estimate(Result):
    """An estimate with everything that qualifies it.

    One histogram gives plain numbers and a tuple of notes; an (N, m) array of histograms gives
    arrays of length N, and for ``notes`` an array of N tuples. In a notebook it shows itself.

    Attributes
    ----------
    method
        Which estimate this is.
    estimate
        The rating.
    lower, upper
        Interval: everything the mean can be under the assumption, noise aside.
    ci_lower, ci_upper
        Confidence interval: the same with sampling noise; None if none was asked for.
    notes
        What must be known before using the numbers; :data:`NOTE_TEXTS` explains each.
    question
        What was asked: the counts, the assumption, the settings.
    """

    method: str
    estimate: Numbers
    lower: Numbers
    upper: Numbers
    ci_lower: Numbers
    ci_upper: Numbers
    notes: Any
    question: Question | None = field(default=None, repr=False)
