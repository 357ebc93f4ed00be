"""A real server in a process of its own, and a client that sends just what it is told to."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

JSON = "application/json"
T = TypeVar("T")


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.content)

    @property
    def text(self) -> str:
        return self.content.decode()


def _reply(got: http.client.HTTPResponse) -> Reply:
    found = {name.lower(): value for name, value in got.getheaders()}
    return Reply(got.status, found, got.read())


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run in a thread of its own: in this one Playwright may be running a loop already."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


def detail(reply: Reply, status: int) -> str:
    """Return what a problem says, which must be one, and as safe as every answer."""
    assert (reply.status, reply.headers["content-type"]) == (status, "application/problem+json")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    return str(reply.document["detail"])


def answer_on(line: socket.socket) -> Reply:
    """Read the answer to a request that was written by hand."""
    got = http.client.HTTPResponse(line)
    got.begin()
    return _reply(got)


def read_all(line: socket.socket) -> bytes:
    """Read until the server hangs up."""
    got = bytearray()
    with suppress(ConnectionResetError):
        while piece := line.recv(65536):
            got += piece
    return bytes(got)


def is_hung_up_on(line: socket.socket, piece: bytes = b"", pause: float = 0) -> bool:
    """Wait, or go on sending, until the server hangs up."""
    if not piece:
        read_all(line)
        return True
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            line.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            return True
        time.sleep(pause)
    return False


@dataclass(frozen=True)
class Served:
    address: str
    process: subprocess.Popen[str]

    @property
    def host(self) -> str:
        return urlsplit(self.address).hostname or ""

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | Iterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = 60,
    ) -> Reply:
        line = http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        try:
            chunked = "transfer-encoding" in (headers or {})
            line.request(method, path, body, dict(headers or {}), encode_chunked=chunked)
            return _reply(line.getresponse())
        finally:
            line.close()

    def get(self, path: str, **headers: str) -> Reply:
        return self.ask("GET", path, headers=headers)

    def question(self, path: str, document: Any, **headers: str) -> Reply:
        body = json.dumps(document).encode()
        return self.ask("POST", f"/api/v1{path}", body, {"content-type": JSON} | headers)

    def table(
        self, path: str, content: bytes, kind: str = "text/csv", accept: str = "*/*", **query: Any
    ) -> Reply:
        address = f"/api/v1{path}?{urlencode(query)}" if query else f"/api/v1{path}"
        return self.ask("POST", address, content, {"content-type": kind, "accept": accept})

    def is_well(self) -> bool:
        return self.process.poll() is None and self.get("/healthz").status == 200


def serving(
    *options: str, log: Path | None = None, **environment: str
) -> AbstractContextManager[Served]:
    """Run ``unheard serve`` until the tests are done with it."""
    command = ["-m", "unheard", "serve", "--port", "0", "--no-browser", "--json", *options]
    return _running(command, log, environment)


_PROGRAM = """
import json, resource, sys
from unheard.web.server.limits import Limits
from unheard.web.server.run import listen, serve

limits = json.loads(sys.argv[1])
most = limits.pop("file_size", resource.RLIM_INFINITY)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
ready = lambda address: print(json.dumps({"address": address}), flush=True)
serve(listen("127.0.0.1", 0), Limits(**limits), None, browser=False, ready=ready)
"""


def serving_within(**limits: float) -> AbstractContextManager[Served]:
    """Run a server with other limits; ``file_size`` is what the disk has room for."""
    return _running(["-c", _PROGRAM, json.dumps(limits)], None)


@contextmanager
def _running(
    command: list[str], log: Path | None, environment: Mapping[str, str] | None = None
) -> Iterator[Served]:
    with ExitStack() as stack:
        errors = None if log is None else stack.enter_context(log.open("w"))
        process = subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | (environment or {}),
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line, "the server did not start"
            yield Served(json.loads(line)["address"], process)
        finally:
            process.terminate()
            process.wait(timeout=20)
            process.stdout.close()
