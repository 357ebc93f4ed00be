"""A process that works for the server: reads questions, answers them, and ends with the server."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from typing import Any, BinaryIO

from unheard.web.pool import HEADER, READY
from unheard.web.problems import MEDIA_TYPE, as_problem, encoded, problem


def main() -> None:
    """Answer questions from standard input on what was standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not end up between the answers.
    os.dup2(2, 1)
    # Ctrl-C is for the server, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    from unheard.web.tasks import TASKS

    answers.write(READY)
    answers.flush()
    while (asked := _read(sys.stdin.buffer)) is not None:
        document, content = _answered(TASKS[asked.pop("task")], asked)
        text = json.dumps(document).encode()
        answers.write(HEADER.pack(len(text), len(content)) + text + content)
        answers.flush()


def _read(questions: BinaryIO) -> dict[str, Any] | None:
    header = questions.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    found: dict[str, Any] = json.loads(questions.read(HEADER.unpack(header)[0]))
    return found


def _answered(task: Any, asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    try:
        answer = task(**asked)
        head = {"status": answer.status, "media_type": answer.media_type}
        return head | {"file_name": answer.file_name}, answer.content
    except MemoryError:
        found = problem(422, "request: it needs more memory than this server gives. Ask for less.")
    except Exception as error:
        known = as_problem(error)
        if known is None:
            traceback.print_exc()
        found = known or problem(
            500, "server: this is a fault of unheard, not of your input; please report it."
        )
    return {"status": found["status"], "media_type": MEDIA_TYPE}, encoded(found)


def _end_with(server: int) -> None:
    """End at once when the server is gone, even in the middle of work."""
    while os.getppid() == server:
        time.sleep(1)
    os._exit(0)


if __name__ == "__main__":
    main()
