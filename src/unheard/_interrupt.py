"""Ctrl-C while the command is being loaded.

An interrupt in the middle of an import comes out as a traceback, or as anything that the library
makes of it: DuckDB's aborts the process. There is nothing yet to be tidied up, so the command ends
at once. To import the package into a program of one's own changes nothing.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130
"""What shells report for a command that Ctrl-C has ended."""


def _is_command() -> bool:
    """Whether this process is ``unheard`` or ``python -m unheard``."""
    program = "".join(sys.orig_argv[-len(sys.argv) :][:1]).removeprefix("-m")
    return os.path.splitext(os.path.basename(program))[0] == "unheard"


def is_importing(frame: FrameType | None) -> bool:
    """Whether something is being imported where a signal has come."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _interrupted(number: int, frame: FrameType | None) -> None:
    if is_importing(frame):
        os.write(2, b"\nInterrupted.\n")  # behind the ^C that the terminal shows
        os._exit(INTERRUPTED)
    signal.default_int_handler(number, frame)


def loaded() -> None:
    """Say that from now on there is something to be tidied up."""
    if signal.getsignal(signal.SIGINT) is _interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Where Ctrl-C is ignored, as behind nohup, it stays so.
if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _interrupted)
