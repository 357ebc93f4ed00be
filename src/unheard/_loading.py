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


def _interrupted(number: int, frame: FrameType | None) -> None:
    running = frame
    while running is not None:
        if running.f_code.co_filename.startswith("<frozen importlib"):
            os.write(2, b"\nInterrupted.\n")  # behind the ^C that the terminal shows
            os._exit(INTERRUPTED)
        running = running.f_back
    signal.default_int_handler(number, frame)


def loaded() -> None:
    """Say that from now on there is something to be tidied up."""
    if signal.getsignal(signal.SIGINT) is _interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Where Ctrl-C is ignored, as behind nohup, it stays so.
if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _interrupted)
