"""A process that works for the server: reads questions, answers them, and ends with the server."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

import duckdb

from unheard.web.api.problems import MEDIA_TYPE, as_problem, encoded, fault, problem
from unheard.web.server.limits import MIB
from unheard.web.server.memory import bounded, resident
from unheard.web.server.pool import HEADER, READY, Answer

_ADDRESSES = 768 * MIB
"""What the engine behind pictures sets aside, and hardly uses."""

_MOST_KEPT = 256 * MIB
"""What caches and libraries may hold between two pieces of work; then another worker takes over."""


def main() -> None:
    """Answer questions from standard input on what was standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not end up between the answers.
    os.dup2(2, 1)
    # The server, which answers everybody, comes first.
    if hasattr(os, "nice"):
        os.nice(5)
    # Ctrl-C is for the server, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    from unheard.web.api.tasks import DRAWING, TASKS

    at_first = resident()
    answers.write(READY)
    answers.flush()
    while (read := _read(sys.stdin.buffer)) is not None:
        asked, body = read
        given = asked["given"] | ({"body": body} if body else {})
        task = asked["task"]
        with bounded(asked["memory"] + (_ADDRESSES if task in DRAWING else 0)):
            answer = _answered(TASKS[task], given)
        _write(answers, answer, retires=resident() - at_first > _MOST_KEPT)


def _read(questions: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    header = questions.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    document, content = (questions.read(size) for size in HEADER.unpack(header))
    return json.loads(document), content


def _write(answers: BinaryIO, answer: Answer, *, retires: bool) -> None:
    head = {name: getattr(answer, name) for name in ("status", "media_type", "file_name")}
    text = json.dumps(head | {"retires": retires}).encode()
    answers.write(HEADER.pack(len(text), len(answer.content)) + text)
    answers.write(answer.content)
    answers.flush()


def _answered(task: Callable[..., Answer], given: dict[str, Any]) -> Answer:
    try:
        return task(**given)
    except (MemoryError, duckdb.OutOfMemoryException):
        found = problem(422, "request: it needs more memory than this server gives. Ask for less.")
    except Exception as error:
        known = as_problem(error)
        if known is None:
            traceback.print_exc()
        found = known or fault().problem
    return Answer(found["status"], MEDIA_TYPE, encoded(found))


def _end_with(server: int) -> None:
    """End at once when the server is gone, even in the middle of work."""
    while os.getppid() == server:
        time.sleep(1)
    os._exit(0)


if __name__ == "__main__":
    # A server that is gone needs no answer.
    with suppress(BrokenPipeError):
        main()
