"""Commands in processes of their own that start at once, and that fail where a test wants them to.

One process loads the package; its children run the commands. Run as a script, this file is that
process: it reads lists of children as lines of JSON, and answers with how each of them ended.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOADED = (
    "unheard.cli.main", "unheard.cli.progress", "unheard.tables", "unheard.tables.kept.add",
    "unheard.tables.engines.postgres", "unheard.tables.output.write", "unheard.report.page",
    "unheard.charts.draw", "unheard.charts.export", "unheard.paper.run", "unheard.paper.hotels",
    "unheard.paper.example", "unheard.present.results", "unheard.present.table_json",
    "unheard.present.plan_tables", "unheard.present.added_counts", "unheard.report.build",
    "unheard.tables.calibration", "pyarrow.parquet", "psycopg", "altair", "vl_convert", "pandas",
    "rich.table", "unheard.present.order_sentences",
)  # fmt: skip


@dataclass(frozen=True)
class Child:
    """A command and what happens to it.

    Attributes
    ----------
    words
        The command, without ``unheard``.
    code
        Instead of a command: a program in Python.
    kill_at, pause_at
        A function before which the process is killed, or waits until all others end or wait for it.
    most
        The largest file, in bytes, that it can write; writing beyond fails as on a full disk.
    killed_beyond
        Whether writing beyond kills it instead, in the middle of the write.
    """

    words: tuple[Any, ...] = ()
    code: str = ""
    kill_at: str = ""
    pause_at: str = ""
    most: int = 0
    killed_beyond: bool = False


@dataclass(frozen=True)
class Ended:
    """How a child ended; a negative code is the signal that killed it."""

    code: int
    out: str
    err: str


class Forking:
    """A process that runs commands in children."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, *children: Child, folder: Path) -> list[Ended]:
        """Run children at once in a folder, and wait for all of them."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        listed = [vars(one) | {"words": [str(word) for word in one.words]} for one in children]
        with tempfile.TemporaryDirectory() as scratch:
            asked = {"folder": str(folder), "scratch": scratch, "children": listed}
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            codes = json.loads(self._process.stdout.readline())
            texts = [Path(scratch, f"{at}.{end}") for at in range(len(codes)) for end in ("o", "e")]
            read = [text.read_text() for text in texts]
        return [Ended(code, *read[2 * at : 2 * at + 2]) for at, code in enumerate(codes)]


@contextmanager
def forking() -> Iterator[Forking]:
    """Start the process, and end it."""
    words = [sys.executable, __file__]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Forking(process)
        assert process.stdin is not None
        process.stdin.close()


# The process, and its children.


def serve() -> None:
    for name in LOADED:
        importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        pids = []
        for at, child in enumerate(asked["children"]):
            pid = os.fork()
            if not pid:
                _become(child, asked["folder"], f"{asked['scratch']}/{at}")
            pids.append(pid)
            if child["pause_at"]:
                assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
        codes = _wait(pids, bool(asked["children"][0]["pause_at"]))
        sys.stdout.write(json.dumps(codes) + "\n")
        sys.stdout.flush()


def _wait(pids: list[int], paused: bool) -> list[int]:
    """Wait for all children; if the first is paused, let it go on once all others stand still."""
    codes: dict[int, int] = {}
    while paused and len(codes) < len(pids) - 1 and not _wait_for_locks(pids, codes):
        for pid in pids[1:]:
            found, status = os.waitpid(pid, os.WNOHANG) if pid not in codes else (0, 0)
            if found:
                codes[pid] = os.waitstatus_to_exitcode(status)
    if paused:
        os.kill(pids[0], signal.SIGCONT)
    for pid in pids:
        if pid not in codes:
            codes[pid] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return [codes[pid] for pid in pids]


def _wait_for_locks(pids: list[int], codes: dict[int, int]) -> bool:
    """Whether all children but the first, and those that have ended, wait for a lock."""
    lines = Path("/proc/locks").read_text().splitlines()
    waiting = {int(line.split()[5]) for line in lines if line.split()[1] == "->"}
    return {*pids[1:]} - codes.keys() <= waiting


def _become(child: dict[str, Any], folder: str, prefix: str) -> None:
    code = 99
    try:
        for descriptor, end in ((1, "o"), (2, "e")):
            os.dup2(os.open(f"{prefix}.{end}", os.O_CREAT | os.O_WRONLY), descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(folder)
        for name, sent in (("kill_at", signal.SIGKILL), ("pause_at", signal.SIGSTOP)):
            if child[name]:
                _send_before(child[name], sent)
        if child["most"]:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (child["most"], child["most"]))
            signal.signal(
                signal.SIGXFSZ, signal.SIG_DFL if child["killed_beyond"] else signal.SIG_IGN
            )
        code = _run(child)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(child: dict[str, Any]) -> int:
    from unheard.cli.main import _run as run_command
    from unheard.errors import InputError

    if child["code"]:
        try:
            exec(child["code"], {})
        except InputError as error:
            sys.stderr.write(f"Error: {error}\n")
            return 2
        return 0
    sys.argv = ["unheard", *child["words"]]
    return run_command()


def _send_before(name: str, sent: signal.Signals) -> None:
    """Send this process a signal whenever a function is about to be called."""
    module, _, last = name.rpartition(".")
    try:
        owner: Any = importlib.import_module(module)
    except ModuleNotFoundError:
        outer, _, kind = module.rpartition(".")
        owner = getattr(importlib.import_module(outer), kind)
    real: Callable[..., Any] = getattr(owner, last)

    def call(*args: Any, **kwargs: Any) -> Any:
        os.kill(os.getpid(), sent)
        return real(*args, **kwargs)

    setattr(owner, last, call)


if __name__ == "__main__":
    serve()
    os._exit(0)  # what the libraries would say of their leaks helps nobody
