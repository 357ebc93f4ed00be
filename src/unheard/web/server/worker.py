"""A worker process of the server: it reads tasks, returns answers, and ends with the server."""

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

from unheard.web.api.problems import MEDIA_TYPE, as_problem, encode, fault, problem
from unheard.web.server.limits import MIB
from unheard.web.server.memory import limit_memory, read_resident
from unheard.web.server.pool import HEADER, READY, WorkerAnswer

_RESERVED = 768 * MIB
"""Address space that the engine behind charts reserves, and hardly uses."""

_MOST_KEPT = 256 * MIB
"""What caches and libraries may hold between tasks before another worker takes over."""


def main() -> None:
    """Read tasks from standard input, and write answers to what was standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    # What a library prints must not end up between the answers.
    os.dup2(2, 1)
    # The server, which serves everyone, has priority.
    if hasattr(os, "nice"):
        os.nice(5)
    # Ctrl-C is for the server, which then ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_server, args=(os.getppid(),), daemon=True).start()
    from unheard.web.api.tasks import DRAWING, TASKS

    at_first = read_resident()
    answers.write(READY)
    answers.flush()
    while (read := _read(sys.stdin.buffer)) is not None:
        asked, body = read
        given = asked["given"] | ({"body": body} if body else {})
        task = asked["task"]
        with limit_memory(asked["memory"] + (_RESERVED if task in DRAWING else 0)):
            answer = _run_task(TASKS[task], given)
        _write(answers, answer, retires=read_resident() - at_first > _MOST_KEPT)


def _read(questions: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    header = questions.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    document, content = (questions.read(size) for size in HEADER.unpack(header))
    return json.loads(document), content


def _write(answers: BinaryIO, answer: WorkerAnswer, *, retires: bool) -> None:
    head = {name: getattr(answer, name) for name in ("status", "media_type", "file_name")}
    text = json.dumps(head | {"retires": retires}).encode()
    answers.write(HEADER.pack(len(text), len(answer.content)) + text)
    answers.write(answer.content)
    answers.flush()


def _run_task(task: Callable[..., WorkerAnswer], given: dict[str, Any]) -> WorkerAnswer:
    try:
        return task(**given)
    except (MemoryError, duckdb.OutOfMemoryException):
        found = problem(422, "The request needs more memory than this server allows. Ask for less.")
    except Exception as error:
        known = as_problem(error)
        if known is None:
            traceback.print_exc()
        found = known or fault().problem
    return WorkerAnswer(found["status"], MEDIA_TYPE, encode(found))


def _end_with_server(server: int) -> None:
    """End at once when the server is gone, even in the middle of work."""
    while os.getppid() == server:
        time.sleep(1)
    os._exit(0)


if __name__ == "__main__":
    # The server has ended and needs no answer.
    with suppress(BrokenPipeError):
        main()
