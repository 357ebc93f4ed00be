"""Worker processes: limited in time and memory, and ended when the client leaves.

Whatever a table does to the libraries that read it, it does to a worker. The server gets an answer,
or sees that the worker has died and starts another.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

from unheard.web.api.problems import MEDIA_TYPE, RefusedError, encode, problem
from unheard.web.server.limits import MIB, Limits

HEADER = struct.Struct("!II")
"""Before each message: the lengths of its document and of its content."""

READY = b"."
"""What a worker sends once it has loaded its libraries."""


@dataclass(frozen=True)
class WorkerAnswer:
    """A response: status, media type and content, and a file name if it is a download."""

    status: int
    media_type: str
    content: bytes
    file_name: str | None = None


_LEAN = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
"""Arrow's own allocator reserves a gigabyte at once, which counts towards the limit on memory, and
threads of several workers would wait for each other."""


class Worker:
    """One process that works on one task after another."""

    def __init__(self) -> None:
        self.process: asyncio.subprocess.Process | None = None
        self.retires = False
        self._is_ready = False

    async def start(self) -> None:
        """Start the process; it loads its libraries while it waits for a task."""
        self._is_ready = self.retires = False
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "unheard.web.server.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | _LEAN,
        )

    def _is_dead(self) -> bool:
        if self.process is None or self.process.returncode is not None:
            return True
        return self.process.stdout is None or self.process.stdout.at_eof()

    def _get_pipes(self) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
        assert self.process is not None  # it was started
        sending, receiving = self.process.stdin, self.process.stdout
        assert sending is not None  # both are pipes
        assert receiving is not None
        return sending, receiving

    async def wait_until_ready(self) -> None:
        """Wait until the libraries are loaded, in a new process if the last one has died."""
        if self._is_dead():
            await self.start()
        if not self._is_ready:
            await self._get_pipes()[1].readexactly(len(READY))
            self._is_ready = True

    async def work(
        self, task: str, given: dict[str, Any], body: bytes, memory: int
    ) -> WorkerAnswer:
        """Carry out one task."""
        sending, receiving = self._get_pipes()
        asked = json.dumps({"task": task, "memory": memory, "given": given}).encode()
        sending.writelines([HEADER.pack(len(asked), len(body)), asked, body])
        await sending.drain()
        sizes = HEADER.unpack(await receiving.readexactly(HEADER.size))
        document, content = [await receiving.readexactly(size) for size in sizes]
        head = json.loads(document)
        self.retires = head.pop("retires")
        return WorkerAnswer(content=content, **head)

    async def end(self) -> None:
        """Kill the process, whatever it is doing."""
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()

    async def renew(self) -> None:
        """Replace the process by a new one."""
        await self.end()
        await self.start()


class WaitingLine:
    """A queue of requests that wait for their turn.

    Parameters
    ----------
    at_once
        How many have their turn at a time.
    waiting
        How many may wait.
    """

    def __init__(self, at_once: int, waiting: int) -> None:
        self._free, self._most = at_once, waiting
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = count()

    @asynccontextmanager
    async def take_turn(self, handicap: float = 0.0) -> AsyncIterator[None]:
        """Wait for a turn, as if the request had arrived so many seconds later."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(asyncio.get_running_loop().time() + handicap)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, place: float) -> None:
        many = len(self._waiting)
        if many >= self._most:
            raise RefusedError(429, f"{many} requests are already waiting. Try again later.")
        called = asyncio.get_running_loop().create_future()
        entry = (place, next(self._number), called)
        heappush(self._waiting, entry)
        try:
            await called
        except asyncio.CancelledError:
            if entry in self._waiting:
                self._waiting.remove(entry)
                heapify(self._waiting)
            else:  # called and cancelled at once
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        if self._waiting:
            heappop(self._waiting)[2].set_result(None)
        else:
            self._free += 1


class WorkerPool:
    """Several workers, each with one task at a time.

    Parameters
    ----------
    limits
        What one task may use.
    workers
        How many; more than the tables read at a time, so that questions need not wait for tables.
    """

    def __init__(self, limits: Limits, workers: int) -> None:
        self.limits = limits
        self._workers = [Worker() for _ in range(workers)]
        # The worker used last comes first: its memory is allocated already.
        self._free: asyncio.PriorityQueue[tuple[float, int]] = asyncio.PriorityQueue()
        self._questions = WaitingLine(workers, limits.waiting)
        self._tables = WaitingLine(limits.tables, limits.waiting)

    async def start(self) -> None:
        """Start all workers."""
        for place, worker in enumerate(self._workers):
            await worker.start()
            self._free.put_nowait((0.0, place))

    async def end(self) -> None:
        """End all workers."""
        for worker in self._workers:
            await worker.end()

    async def answer(self, task: str, given: dict[str, Any], body: bytes = b"") -> WorkerAnswer:
        """Have a question answered; cancelling it kills the worker."""
        async with self._questions.take_turn():
            return await self._run(task, given, body, self.limits.question_memory)

    async def read(self, task: str, given: dict[str, Any], size: int = 0) -> WorkerAnswer:
        """Have a table of so many bytes read; cancelling it kills the worker.

        A small table need not wait for all the large ones that arrived before it.
        """
        async with self._tables.take_turn(handicap=size / MIB):
            return await self._run(task, given, b"", self.limits.memory)

    async def _run(
        self, task: str, given: dict[str, Any], body: bytes, memory: int
    ) -> WorkerAnswer:
        async with self._borrow() as worker:
            try:
                await worker.wait_until_ready()  # loading is not part of the task
                work = worker.work(task, given, body, memory)
                return await asyncio.wait_for(work, self.limits.seconds)
            except TimeoutError:
                raise RefusedError(
                    422,
                    f"The request takes longer than {self.limits.seconds:g} seconds, the most this "
                    "server allows. Ask for less, or use the command line.",
                ) from None
            except (asyncio.IncompleteReadError, ConnectionError):
                return _report_death()

    @asynccontextmanager
    async def _borrow(self) -> AsyncIterator[Worker]:
        """Lend a free worker; one that does not return an answer is replaced."""
        _, place = await self._free.get()
        worker, order = self._workers[place], 0.0
        try:
            yield worker
            if worker.retires:
                await asyncio.shield(worker.renew())
            else:
                order = -asyncio.get_running_loop().time()
        except BaseException:
            # It may still be working for a client that has left. Replacing it now saves the next
            # request the wait.
            await asyncio.shield(worker.renew())
            raise
        finally:
            self._free.put_nowait((order, place))


def _report_death() -> WorkerAnswer:
    detail = (
        "The worker died before it finished; the request may need more memory than this server "
        "allows. Ask for less, or use the command line."
    )
    return WorkerAnswer(422, MEDIA_TYPE, encode(problem(422, detail)))
