"""Uploads on disk, while they are processed: one private folder per server.

A server that is killed cannot clean up. Its folder is locked for as long as it lives, so that the
next server knows which folders are stale.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from unheard.web.api.problems import RefusedError
from unheard.web.server.limits import MIB, write_size

T = TypeVar("T")

_PREFIX = "unheard-server-"
_THREADS = 4
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Spool:
    """Uploads on disk, limited in total.

    Parameters
    ----------
    most
        How many bytes, not counting the first MiB of each.
    """

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0
        self._folder: Path | None = None
        self._lock: int | None = None
        self._threads = ThreadPoolExecutor(_THREADS)

    def open(self) -> None:
        """Remove what dead servers have left, and make a folder."""
        remove_stale()
        made = tempfile.mkdtemp(prefix=".unheard-")
        self._lock = _lock(made)
        # Only a locked folder may have the name that other servers look for.
        self._folder = Path(made).with_name(_PREFIX + Path(made).name.removeprefix(".unheard-"))
        Path(made).rename(self._folder)

    def close(self) -> None:
        """Remove the folder with everything in it."""
        self._threads.shutdown()
        if self._folder is not None:
            _remove(self._folder)
        if self._lock is not None:
            os.close(self._lock)

    @asynccontextmanager
    async def keep(self, pieces: AsyncIterable[bytes], name: str) -> AsyncIterator[Path]:
        """Keep an upload as a file of this name, in a folder of its own that is then removed."""
        held = _Held(self)
        folder = await self._run(_make_folder, self._folder)
        try:
            file = await self._run(os.open, folder / name, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                async for piece in pieces:
                    held.add(len(piece))
                    await self._run(_write, file, piece)
            finally:
                os.close(file)
            yield folder
        finally:
            held.release()
            await asyncio.shield(self._run(_remove, folder))

    async def _run(self, work: Callable[..., T], *given: Any) -> T:
        """Run work in a thread: a slow disk must not block the server."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)
        except OSError as error:
            if error.errno in _FULL:
                detail = "The temporary disk of the server is full. Send less, or try again later."
                raise RefusedError(507, detail) from error
            raise


class _Held:
    """The share of one upload in the total; there is always room for a small one."""

    def __init__(self, spool: Spool) -> None:
        self._spool, self._size = spool, -MIB

    def add(self, size: int) -> None:
        before = max(self._size, 0)
        self._size += size
        self._spool.held += max(self._size, 0) - before
        if self._size > 0 and self._spool.held > self._spool.most:
            raise RefusedError(
                503,
                f"The server already holds {write_size(self._spool.most)} of other uploads. "
                "Try again later.",
            )

    def release(self) -> None:
        self._spool.held -= max(self._size, 0)


def _make_folder(parent: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=parent))


def _write(file: int, piece: bytes) -> None:
    while piece:
        piece = piece[os.write(file, piece) :]


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def remove_stale() -> None:
    """Remove the folders of servers that no longer run, if they belong to this user."""
    if sys.platform == "win32":  # where folders cannot be locked
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.lstat().st_uid != os.geteuid():
                continue
            lock = _lock(str(folder))
            if lock is not None:
                _remove(folder)
                os.close(lock)


def _lock(folder: str) -> int | None:
    """Lock a folder for as long as this process lives; None if another process has done so."""
    if sys.platform == "win32":
        return None
    import fcntl

    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened
