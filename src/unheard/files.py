"""Files: replaced in one step, so that the old one stays whole, and locked while they change."""

from __future__ import annotations

import errno
import glob
import os
import stat
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unheard.errors import OptionError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_NO_ROOM = {os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)}
"""What the system says where there is no room left."""


@contextmanager
def beside(path: Path, argument: str = "output") -> Iterator[Path]:
    """Yield a file next to the target; it takes the target's place only if all went well.

    It is on the disk before it takes that place. A file that was there keeps its permissions, and a
    link to it stays a link. What processes that were killed have left beside the target is removed.

    Parameters
    ----------
    path
        The target.
    argument
        The option that named it, for the error that says why it cannot be written.
    """
    check_replaceable(path, argument)
    target = follow_link(path)
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        _remove_leftovers(target)
        with _create_file(partial) as descriptor:
            if target.exists():
                # Before there is anything to read in it.
                partial.chmod(stat.S_IMODE(target.stat().st_mode))
            yield partial
            os.fsync(descriptor)
            if sys.platform != "win32":
                os.replace(partial, target)  # held, so that nobody takes it for a leftover
        if sys.platform == "win32":
            os.replace(partial, target)  # no file that is open can be moved there
        _sync_folder(target.parent)
    except OSError as error:
        raise refuse_to_write(path, error.strerror or str(error), argument) from error
    finally:
        partial.unlink(missing_ok=True)


def refuse_to_write(path: Path, reason: str, argument: str = "output") -> OptionError:
    """Return the error about a file that cannot be written."""
    return OptionError(
        argument,
        problem="{path} cannot be written: {reason}",
        hint="Make room there, or write to another place"
        if reason in _NO_ROOM
        else "Check its folder, or write to another place",
        code="unwritable_file",
        path=str(path),
        reason=reason,
    )


@contextmanager
def lock_file(path: Path, argument: str = "output") -> Iterator[None]:
    """Wait until no other process has a file locked, and lock it; the lock ends with the process.

    It is held on a file of its own, since the one that is locked may be replaced.
    """
    target = follow_link(path)
    lock = target.with_name(f".{target.name}.lock")
    try:
        descriptor = _hold(lock)
    except OSError as error:
        raise refuse_to_write(path, error.strerror or str(error), argument) from error
    try:
        yield
    finally:
        if sys.platform != "win32":
            lock.unlink(missing_ok=True)
        os.close(descriptor)


def follow_link(path: Path) -> Path:
    """Return the file that a link leads to: it is replaced, and the link stays."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def check_replaceable(path: Path, argument: str = "output") -> None:
    """Raise if there is something that must not be replaced, though its folder would allow it."""
    if not path.exists():
        return
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise OptionError(
            argument,
            problem="{path} is not a regular file",
            hint="Write to another file",
            path=str(path),
        )
    # An administrator may write anything, but has not marked it read-only for nothing.
    if not mode & 0o222 or not os.access(path, os.W_OK):
        raise OptionError(
            argument,
            problem="{path} is read-only",
            hint="Make it writable, or write to another file",
            path=str(path),
        )


@contextmanager
def _create_file(path: Path) -> Iterator[int]:
    """Create a file and, where others may still write to it then, hold it."""
    if sys.platform == "win32":
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
    else:
        descriptor = _hold(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _hold(path: Path) -> int:
    """Create a file if need be, and wait until it can be held; return its descriptor."""
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            if sys.platform == "win32":
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                return descriptor
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Whoever held it before has removed it: then it is no longer the one that others find.
            if _is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether a file that is open is still found under its name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _remove_leftovers(target: Path) -> None:
    """Remove what nobody holds any more: the processes that wrote it were killed."""
    if sys.platform == "win32":
        return  # what is open there cannot be told from what is not
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        try:
            descriptor = os.open(left, os.O_RDWR)
        except OSError:
            continue  # it is gone, or somebody else's
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink(missing_ok=True)
        except OSError:
            pass  # it is being written
        finally:
            os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Let the new name of a file survive a loss of power; not every file system can."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
