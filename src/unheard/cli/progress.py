"""A bar on standard error for work that takes more than two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 2.0
_PULSE = 0.2


@contextmanager
def show_progress(words: str, fraction: Callable[[], float | None]) -> Iterator[None]:
    """Show how far some work is, if it takes long and somebody is watching.

    Parameters
    ----------
    words
        What is being done.
    fraction
        Tells how much is done, from 0 to 1; None if it is not known.
    """
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    watcher = threading.Thread(target=_show, args=(words, fraction, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _show(words: str, fraction: Callable[[], float | None], over: threading.Event) -> None:
    if over.wait(_PATIENCE):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(words, total=None)
        while not over.wait(_PULSE):
            done = fraction()
            if done is not None:
                bar.update(task, total=1.0, completed=done)
