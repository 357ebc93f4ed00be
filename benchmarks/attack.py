"""A minute of hostile clients attacking the server on loopback, alongside honest clients.

Attacks are endless headers, pipelines and trailers, malformed bodies, clients that send or read one
byte per second, and uploads that are large, wide, endless or abandoned. The report has the peak
memory of the server and its workers, the slowest response of ``/healthz``, and how many honest
requests succeeded; for comparison, the slowest response of a bare server that is not attacked, and
how long the attacked server waited for a processor during its own slowest response. Requires Linux,
for /proc.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import multiprocessing
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

SECONDS = 60.0
MIB = 1 << 20
GOAL_BYTES, GOAL_SECONDS = 1024 * MIB, 1.0

Attack = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


# Requests.


def _post(path: str, kind: str, length: int | None) -> bytes:
    size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return (
        f"POST /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n{size}\r\n\r\n"
    ).encode()


def _question(path: str, body: bytes) -> bytes:
    return _post(path, "application/json", len(body)) + body


def _table(rounds: int) -> bytes:
    """Return the largest table the server accepts: 100,000 items, each rated once per round."""
    draw = random.Random(1)
    lines = "".join(f"h{item},{draw.randrange(1, 6)}\n" for item in range(100_000))
    return b"hotel,stars\n" + lines.encode() * rounds


_RATE = "/rate?item=hotel&rating=stars&q=0.3"
_START = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
_MISTAKES = [
    _question("/calibrate", b'{"observed": [' + b'["x"],' * 140_000 + b'[1]], "truth": [1, 2]}'),
    _question("/calibrate", b'{"observed": [' + b'"",' * 300_000 + b'1], "truth": [1, 2]}'),
    _question(
        "/estimate", b'{"counts": [1, 2], "participation": [' + b'["",""],' * 100_000 + b"]}"
    ),
    _question(
        "/estimate",
        b'{"counts": [1, 2], "participation": [' + b'["",""],' * 100_000 + b'["",""]]}',
    ),
    _question("/sweep", b"{" + b",".join(b'"k%d": 0' % i for i in range(80_000)) + b"}"),
    _question("/estimate", b"[" * MIB),
    _question("/estimate", b'{"counts": [' + b"1," * 500_000 + b"1]}"),
    _question("/calibrate", b'{"observed": [' + b'["x"],' * 3_000_000 + b'[1]], "truth": [1, 2]}'),
]


async def endless_header(_: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    out.write(_START + b"X-Long: ")
    while True:
        out.write(b"a" * 65536)
        await out.drain()


async def endless_headers(_: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    out.write(_START)
    while True:
        out.write(b"a: b\r\n" * 10_000)
        await out.drain()


async def endless_trailers(_: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    out.write(_post(_RATE, "text/csv", None) + b"2\r\na\n\r\n0\r\n")
    while True:
        out.write(b"a: b\r\n" * 10_000)
        await out.drain()


async def endless_pipeline(_: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    while True:
        out.write((_START + b"\r\n") * 5_000)
        await out.drain()


async def mistakes(answers: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    out.write(random.choice(_MISTAKES))
    await out.drain()
    await answers.read(1)


async def slow_head(_: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    out.write(_START + b"X-Slow: ")
    while True:
        await asyncio.sleep(1)
        out.write(b"a")
        await out.drain()


async def slow_body(_: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    out.write(_post(random.choice(["/estimate", "/sweep"]), "application/json", 100_000))
    while True:
        await asyncio.sleep(1)
        out.write(b" ")
        await out.drain()


async def slow_upload(_: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    out.write(_post(_RATE, "text/csv", 60 * MIB) + b"hotel,stars\n" + b"a,5\n" * 65_536)
    while True:
        await asyncio.sleep(1)
        out.write(b"a,5\n")
        await out.drain()


async def slow_reader(answers: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    out.write(b"GET /static/vega.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 16)
    while await answers.read(1):
        await asyncio.sleep(1)


def _uploading(content: bytes, kind: str = "text/csv", path: str = _RATE) -> Attack:
    async def attack(answers: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        out.write(_post(path, kind, len(content)) + content)
        await out.drain()
        # The response is large, and is read slowly.
        while await answers.read(65536):
            await asyncio.sleep(0.05)

    return attack


async def endless_upload(_: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    out.write(_post(_RATE, "text/csv", None) + b"c\r\nhotel,stars\n\r\n")
    while True:
        out.write(b"10000\r\n" + b"a,5\n" * 16_384 + b"\r\n")
        await out.drain()


async def given_up(_: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    out.write(_post(_RATE, "text/csv", 8 * MIB) + b"hotel,stars\n" + b"a,5\n" * MIB)
    await out.drain()


def _attacks() -> list[tuple[Attack, int]]:
    """Return the attacks, and the number of clients for each."""
    large = _table(45)
    wide = json.dumps([{f"c{i}": 1 for i in range(50_000)}]).encode()
    return [
        (endless_header, 4), (endless_headers, 4), (endless_trailers, 4), (endless_pipeline, 4),
        (mistakes, 12), (slow_head, 150), (slow_body, 100), (slow_upload, 30), (slow_reader, 60),
        (_uploading(large), 6), (_uploading(large, path="/rank?item=hotel&rating=stars&q=0.3"), 4),
        (_uploading(wide, "application/json", "/inspect"), 2), (endless_upload, 6), (given_up, 6),
    ]  # fmt: skip


async def _again_and_again(attack: Attack, port: int, until: float) -> None:
    while time.monotonic() < until:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(max(until - time.monotonic(), 0.1)):
                answers, out = await asyncio.open_connection("127.0.0.1", port)
                try:
                    await attack(answers, out)
                finally:
                    out.transport.abort()
        await asyncio.sleep(0.05)


def assail(port: int, seconds: float) -> None:
    """Attack a server in every way at once."""

    attacks = [attack for attack, many in _attacks() for _ in range(many)]

    async def everything() -> None:
        until = time.monotonic() + seconds
        await asyncio.gather(*(_again_and_again(attack, port, until) for attack in attacks))

    asyncio.run(everything())


# Observations.


@dataclass
class Honest:
    """The experience of honest clients."""

    answered: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)

    waited: float = 0.0

    def ask(self, pid: int, port: int, name: str) -> None:
        """Send a request, and again a second later if the server is busy."""
        start, waited, request = time.monotonic(), _waited(pid), HONEST[name]
        for _ in range(20):
            status = _status(port, *request)
            if status not in (429, 503):
                break
            time.sleep(1)
        took = time.monotonic() - start
        (self.answered if status == 200 else self.failed)[name] += 1
        if name == "healthz" and took > self.slowest.get(name, 0):
            self.waited = _waited(pid) - waited
        self.slowest[name] = max(self.slowest.get(name, 0), took)


def _status(port: int, method: str, path: str, body: bytes | None, kind: str) -> int:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        line.request(method, path, body, {"content-type": kind} if kind else {})
        answer = line.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        line.close()


_JSON = "application/json"
_PEER = "bare server, not attacked"
HONEST = {
    _PEER: ("GET", "/", None, ""),
    "healthz": ("GET", "/healthz", None, ""),
    "estimate": ("POST", "/api/v1/estimate", b'{"counts": [1, 2, 3], "q": 0.3}', _JSON),
    "sweep": ("POST", "/api/v1/sweep", b'{"counts": [1, 2, 3]}', _JSON),
    "rate": ("POST", f"/api/v1{_RATE}", b"hotel,stars\nA,5\nA,1\nB,3\n", "text/csv"),
}


def _memory(pid: int) -> int:
    """Return the memory of a process and its descendants in bytes, counting shared memory once."""
    total = 0
    with suppress(OSError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total = int(re.findall(r"^Pss:\s+(\d+)", text, re.M)[0]) * 1024
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(_memory(int(child)) for child in (task / "children").read_text().split())
    return total


def _waited(pid: int) -> float:
    """Return the seconds for which a process was ready to run but other processes ran."""
    try:
        return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


@contextmanager
def _serving() -> Iterator[tuple[int, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "unheard", "serve", "--port", "0", "--no-browser", "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield urlsplit(json.loads(process.stdout.readline())["address"]).port or 0, process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def idle(taken: socket.socket) -> None:
    """Answer every request with an empty response."""

    async def answer(asked: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await asked.readuntil(b"\r\n\r\n")
            out.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await out.drain()
        out.close()

    async def forever() -> None:
        await (await asyncio.start_server(answer, sock=taken)).serve_forever()

    asyncio.run(forever())


@contextmanager
def _idling() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = multiprocessing.Process(target=idle, args=(taken,))
        process.start()
        try:
            yield int(taken.getsockname()[1])
        finally:
            process.terminate()
            process.join()
            process.close()


def measure(seconds: float) -> tuple[Honest, int]:
    """Attack a server; return the experience of honest clients, and the peak memory."""
    found, most = Honest(), 0
    with _idling() as peer, _serving() as (port, process):
        _status(port, "GET", "/static/vega.js", None, "")  # until all libraries are loaded
        attackers = multiprocessing.Process(target=assail, args=(port, seconds))
        attackers.start()
        over = threading.Event()

        def keep_asking(name: str) -> None:
            where = peer if name == _PEER else port
            while not over.wait(0.25):
                found.ask(process.pid, where, name)

        clients = [threading.Thread(target=keep_asking, args=(name,)) for name in HONEST]
        for client in clients:
            client.start()
        while attackers.is_alive():
            most = max(most, _memory(process.pid))
            attackers.join(0.2)
        over.set()
        for client in clients:
            client.join()
        if process.poll() is not None:
            found.failed["the server itself"] += 1
    return found, most


def run() -> None:
    if sys.platform != "linux":
        print("The attack requires Linux.")
        return
    found, most = measure(SECONDS)
    print(f"{SECONDS:.0f} s of attack, {sum(many for _, many in _attacks())} hostile clients")
    print(f"peak memory {most / MIB:,.0f} MiB (goal: below {GOAL_BYTES / MIB:,.0f})")
    print(
        f"slowest healthz {found.slowest['healthz']:.2f} s (goal: below {GOAL_SECONDS:g}), "
        f"of which {found.waited:.2f} s without a processor"
    )
    for name in sorted(found.answered | found.failed):
        print(
            f"{name}: {found.answered[name]} answered, {found.failed[name]} failed, "
            f"slowest {found.slowest.get(name, 0):.2f} s"
        )
