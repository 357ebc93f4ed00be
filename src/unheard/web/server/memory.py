"""A bound on memory that the system itself keeps, where it can."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def bounded(more: int) -> Iterator[None]:
    """Let the system refuse this process memory beyond so many more bytes.

    Linux alone keeps such a bound on what programs really use; elsewhere nothing happens.
    """
    used = _status("VmData")
    if used is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (used + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def resident() -> int:
    """Return how many bytes of memory this process holds; 0 where that is not known."""
    return _status("VmRSS") or 0


def _status(name: str) -> int | None:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    return None if found is None else int(found[1]) * 1024
