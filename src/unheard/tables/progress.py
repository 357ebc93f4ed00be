"""Progress of long work, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from unheard.analysis.dominance import Progress
from unheard.tables.engines.base import Engine


class Watched(Protocol):
    """Something that knows how far its work is."""

    def fraction(self) -> float | None:
        """Return how much is done, from 0 to 1; None if it is not known."""


Watch: TypeAlias = Callable[[str, Watched], AbstractContextManager[Any]]
"""Called around long work with what is done and by whom: a place for a progress bar."""


@dataclass(frozen=True)
class Work:
    """Work in memory.

    Attributes
    ----------
    progress
        Called with the share that is done.
    effort
        How much is done at the most, as a share of some minutes' work.
    """

    progress: Progress | None = None
    effort: float = 1.0


class WorkProgress:
    """How far work in memory is."""

    def __init__(self) -> None:
        self._done: float | None = None

    def tell(self, done: float) -> None:
        """Note how much is done."""
        self._done = done

    def fraction(self) -> float | None:
        """Return how much is done, from 0 to 1; None if it is not known."""
        return self._done


class RankingProgress(WorkProgress):
    """How far ranking is: as the engine says, until work in memory tells."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine

    def fraction(self) -> float | None:
        """Return how much is done, from 0 to 1; None if it is not known."""
        return self._engine.fraction() if self._done is None else self._done
