"""Estimates per second of the server, compared with a bare FastAPI that echoes its input.

Each runs in its own process, one after the other, and wrk sends requests from a third.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS, CONNECTIONS = 60, 16
BODY = json.dumps({"counts": [120, 30, 45, 200, 605], "q": 0.3})

ECHO = """
from fastapi import FastAPI, Request, Response
import uvicorn

app = FastAPI()

@app.post("/echo")
async def echo(request: Request) -> Response:
    return Response(await request.body(), media_type="application/json")

uvicorn.run(app, port={port}, log_level="warning", access_log=False)
"""


@contextmanager
def running(command: list[str], address: str) -> Iterator[None]:
    process = subprocess.Popen(command)
    try:
        for _ in range(200):
            try:
                request = urllib.request.Request(
                    address, BODY.encode(), {"content-type": "application/json"}
                )
                urllib.request.urlopen(request, timeout=1).read()
                break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def asked(address: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "post.lua"
        script.write_text(
            f"wrk.method = 'POST'\nwrk.body = '{BODY}'\n"
            "wrk.headers['Content-Type'] = 'application/json'\n"
            "function done(s, l, r)\n"
            "  io.write(string.format('FOUND %d %d %d %f %f\\n', s.requests, s.duration,\n"
            "    s.errors.connect + s.errors.read + s.errors.write + s.errors.status\n"
            "    + s.errors.timeout, l:percentile(50), l:percentile(99)))\nend\n"
        )
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", str(script), address]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"FOUND (\d+) (\d+) (\d+) ([\d.]+) ([\d.]+)", done.stdout)
    assert found is not None, done.stdout
    requests, micros, failed, median, slow = map(float, found.groups())
    return {
        "rate": requests / micros * 1e6,
        "failed": failed,
        "median": median / 1e3,
        "p99": slow / 1e3,
    }


def run() -> None:
    if shutil.which("wrk") is None:
        print("wrk is missing: apt-get install wrk")
        return
    ports = (8471, 8472)
    serve = [sys.executable, "-m", "unheard", "serve", "--no-browser", "--port", str(ports[0])]
    echo = [sys.executable, "-c", ECHO.format(port=ports[1])]
    found = {}
    for name, command, path, port in (
        ("bare FastAPI echo", echo, "/echo", ports[1]),
        ("unheard estimate", serve, "/api/v1/estimate", ports[0]),
    ):
        address = f"http://127.0.0.1:{port}{path}"
        with running(command, address):
            found[name] = asked(address)
    peer = found["bare FastAPI echo"]["rate"]
    print(f"{SECONDS} s, {CONNECTIONS} connections, wrk on the same machine")
    for name, one in found.items():
        print(
            f"{name:18} {one['rate']:7,.0f} a second ({one['rate'] / peer:.2f} of the echo), "
            f"median {one['median']:.1f} ms, p99 {one['p99']:.1f} ms, {one['failed']:.0f} failed "
            "(goal: at least 500 a second, p99 below 50 ms, none failed)"
        )
