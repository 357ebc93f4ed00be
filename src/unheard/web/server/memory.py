"""A limit on memory that the operating system enforces, where it can."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def limit_memory(more: int) -> Iterator[None]:
    """Limit this process to so many more bytes of memory.

    Only Linux enforces such a limit on what programs really use; elsewhere nothing happens.
    """
    used = _read_status("VmData")
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


def read_resident() -> int:
    """Return how many bytes of memory this process uses; 0 where that is unknown."""
    return _read_status("VmRSS") or 0


def _read_status(name: str) -> int | None:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    return None if found is None else int(found[1]) * 1024
