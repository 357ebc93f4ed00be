"""A real server in a process of its own, and a client that sends just what it is told to."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

JSON = "application/json"


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


def answer_on(line: socket.socket) -> Reply:
    """Read the answer to a request that was written by hand."""
    got = http.client.HTTPResponse(line)
    got.begin()
    return _reply(got)


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
            line.request(method, path, body, dict(headers or {}))
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


@contextmanager
def serving(*options: str) -> Iterator[Served]:
    """Run ``unheard serve`` until the tests are done with it."""
    command = [sys.executable, "-m", "unheard", "serve", "--port", "0", "--no-browser", "--json"]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, "the server did not start"
        yield Served(json.loads(line)["address"], process)
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()
