"""Where uploads are kept while they are answered: one private folder for each server.

A server that is killed cannot clear up. Its folder is locked for as long as it lives, so that the
next server knows which folders nobody needs any more.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from unheard.web.limits import size_text
from unheard.web.problems import RefusedError

_PREFIX = "unheard-server-"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Spool:
    """Uploads on disk, bounded all together.

    Parameters
    ----------
    most
        How many bytes.
    """

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0
        self._folder: Path | None = None
        self._lock: int | None = None

    def open(self) -> None:
        """Remove what dead servers have left, and make a folder."""
        remove_stale()
        made = tempfile.mkdtemp(prefix=".unheard-")
        self._lock = _lock(made)
        # Only a folder that is locked may bear the name that others look for.
        self._folder = Path(made).with_name(_PREFIX + Path(made).name.removeprefix(".unheard-"))
        Path(made).rename(self._folder)

    def close(self) -> None:
        """Remove the folder with everything in it."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)

    @asynccontextmanager
    async def keep(self, pieces: AsyncIterable[bytes], name: str) -> AsyncIterator[Path]:
        """Keep an upload as a file of this name, in a folder of its own that goes at the end."""
        size = 0
        try:
            folder = Path(tempfile.mkdtemp(dir=self._folder))
        except OSError as error:
            raise _refusal(error) from error
        try:
            with (folder / name).open("wb", buffering=0) as file:
                async for piece in pieces:
                    size += len(piece)
                    self._take(len(piece))
                    _write(file.fileno(), piece)
            yield folder
        finally:
            self.held -= size
            shutil.rmtree(folder, ignore_errors=True)

    def _take(self, size: int) -> None:
        self.held += size
        if self.held > self.most:
            raise RefusedError(
                503,
                f"server: it holds {size_text(self.most)} of other uploads already. "
                "Try again later.",
            )


def _write(file: int, piece: bytes) -> None:
    try:
        while piece:
            piece = piece[os.write(file, piece) :]
    except OSError as error:
        raise _refusal(error) from error


def _refusal(error: OSError) -> Exception:
    if error.errno not in _FULL:
        return error
    words = "server: its temporary disk is full. Send less, or try again later."
    return RefusedError(507, words)


def remove_stale() -> None:
    """Remove the folders of servers that are gone, if they were this user's."""
    if sys.platform == "win32":  # where folders cannot be locked
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.lstat().st_uid != os.geteuid():
                continue
            lock = _lock(str(folder))
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
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
