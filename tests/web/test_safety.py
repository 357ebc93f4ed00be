"""What a hostile client can do to the server: nothing that others would notice."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.typed import refused, typing
from tests.web.server import Reply, Served, answer_on, detail, is_hung_up_on, run_async, serving
from unheard.web.server.guard import is_loopback
from unheard.web.server.limits import Limits
from unheard.web.server.pool import WorkerAnswer, WorkerPool

MIB = 1 << 20
HOTELS = {"item": "hotel", "rating": "stars", "q": "0.3"}
PARQUET = "application/vnd.apache.parquet"
ENDLESS = {"n": 20, "m": 6, "q": [i / 200 for i in range(1, 200)], "method": ["bea", "paa"]}
"""A question that no server of these tests has the time for."""

pytestmark = pytest.mark.xdist_group("web-safety")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    """A server that takes little, and keeps its temporary files where tests can look."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        with serving("--max-upload", "2", "--max-seconds", "20", "--patience", "1") as served:
            yield served
    finally:
        os.environ.pop("TMPDIR") if before is None else os.environ.update(TMPDIR=before)


def left_in(folder: Path) -> list[Path]:
    """What servers keep for requests, beside their own empty folders."""
    own = [path for path in folder.iterdir() if path.name.startswith("unheard-server-")]
    inside = [path for one in own for path in one.iterdir()]
    return inside + [path for path in folder.glob("unheard-*") if path not in own]


@pytest.fixture(autouse=True)
def keeps_serving(server: Served, folder: Path) -> Iterator[None]:
    """After every test the server answers, and has left nothing behind."""
    yield
    assert server.is_well()
    reply = server.question("/sweep", {"counts": [1, 2, 3]})
    assert reply.status == 200
    assert left_in(folder) == []


# Who asks.


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/v1/about", "/static/app.css", "/nothing"])
def test_every_answer_is_guarded(server: Served, path: str) -> None:
    headers = server.get(path).headers
    policy = dict(
        part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in headers
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("path", ["/", "/healthz", "/static/app.css", "/api/v1/about"])
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "[::2]", "[", "]", "a@[::1"]
)
def test_another_name_for_this_machine_is_refused(server: Served, path: str, host: str) -> None:
    assert "is not this server" in detail(server.get(path, host=host), 421)


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
     {"sec-fetch-site": "same-site"}, {"origin": "http://127.0.0.1:1"}, {"origin": "http://["}],
)  # fmt: skip
def test_another_site_is_refused(server: Served, headers: dict[str, str]) -> None:
    reply = server.question("/estimate", {"counts": [1, 2], "q": 0.3}, **headers)
    assert "comes from another site" in detail(reply, 403)


def test_the_own_page_is_welcome(server: Served) -> None:
    origin = server.address.rstrip("/")
    asked = {"counts": [1, 2], "q": 0.3}
    assert server.question("/estimate", asked, origin=origin).status == 200


@pytest.mark.parametrize(
    ("host", "own"),
    [("localhost", True), ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True),
     ("0.0.0.0", False), ("::", False), ("192.168.0.1", False), ("localhost.evil.example", False)],
)  # fmt: skip
def test_loopback(host: str, own: bool) -> None:
    assert is_loopback(host) is own


def test_a_public_server_asks_for_its_token(tmp_path: Path) -> None:
    token, log = "a-long-secret-text", tmp_path / "log"
    with serving("--public", "--token", token, log=log) as served:
        # Whoever gave it knows it; nobody else need see it.
        assert served.address.endswith("/")
        asked = {"counts": [1, 2], "q": 0.3}
        assert served.get("/").status == served.get("/healthz").status == 200
        assert "token" in detail(served.question("/estimate", asked), 401)
        wrong = ["Bearer wrong", token, f"Basic {token}", f"Bearer {token}x", f"Bearer {token[:5]}",
                 f"Bearer x{token}", "Bearer", "Bearer \xe9"]  # fmt: skip

        def show(text: str) -> Reply:
            return served.question("/estimate", asked, authorization=text)

        start = time.monotonic()
        with ThreadPoolExecutor(len(wrong)) as threads:
            for reply in threads.map(show, wrong):
                assert "token" in detail(reply, 401)
                assert reply.headers["www-authenticate"].startswith("Bearer")
        assert time.monotonic() - start >= 1
        for scheme in ("Bearer", "bearer", "BEARER"):
            assert show(f"{scheme} {token}").status == 200
        # Whoever has the token may come by any name, even one that is none.
        for host in ("stats.example", "["):
            shown = {"authorization": f"Bearer {token}", "host": host}
            assert served.question("/estimate", asked, **shown).status == 200
    lines = log.read_text().splitlines()
    logged = [line for line in lines if "wrong token" in line]
    assert logged == ["127.0.0.1 sent a wrong token: POST '/api/v1/estimate'"] * len(wrong)
    assert token[:5] not in log.read_text()


def test_a_token_is_made_for_a_public_server() -> None:
    tokens = set()
    for _ in range(2):
        with serving("--public") as served:
            tokens.add(served.address.partition("#token=")[2])
    assert len(tokens) == 2
    assert all(len(token) >= 32 for token in tokens)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--host 0.0.0.0", "Other machines can reach --host."),
        ("--host ::", "Other machines can reach --host."),
        (
            "--host 0.0.0.0 --public --token short",
            "--token must have 16 or more printable ASCII characters.",
        ),
        ("--port 70000", "--port must be a whole number, from 0 to 65,535; got 70000."),
        ("--port x", "--port is not a number; got 'x'."),
        ("--max-upload 0", "--max-upload must be a whole number, 1 or more; got 0."),
        ("--max-seconds -1", "--max-seconds must be a number of seconds above 0; got -1."),
    ],
)
def test_what_the_command_refuses(
    words: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = typing(monkeypatch, capsys, "serve", "--no-browser")
    refused(run(*words.split()), message)


def test_a_port_that_is_taken(
    server: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = typing(monkeypatch, capsys, "serve", "--no-browser")
    refused(run("--port", str(server.port)), "cannot be used")


# How much.


def test_a_gigabyte_is_refused_before_it_is_sent(server: Served) -> None:
    with socket.create_connection((server.host, server.port), timeout=10) as line:
        line.sendall(
            b"POST /api/v1/rate?item=a&rating=b&q=0.3 HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: text/csv\r\nContent-Length: 1073741824\r\n\r\n"
        )
        assert "larger than 2 MiB" in detail(answer_on(line), 413)


def test_a_gigabyte_that_is_sent_all_the_same_is_refused(server: Served) -> None:
    """Its size is not stated, so that it is refused once too much has come."""
    piece = b"100000\r\n" + b"A,5\n" * (MIB // 4) + b"\r\n"
    with socket.create_connection((server.host, server.port), timeout=10) as line:
        line.sendall(
            b"POST /api/v1/rate?item=a&rating=b&q=0.3 HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for _ in range(3):
            line.sendall(piece)
        assert "larger than 2 MiB" in detail(answer_on(line), 413)
        # The rest is read for a while, and not for ever.
        assert is_hung_up_on(line, piece)


def test_a_table_whose_size_is_not_stated_is_read(server: Served) -> None:
    headers = {"content-type": "text/csv", "transfer-encoding": "chunked"}
    pieces = (row for row in (b"hotel,stars\n", *[b"A,5\n", b"A,1\n"] * 1_000))
    reply = server.ask("POST", "/api/v1/rate?item=hotel&rating=stars&q=0.3", pieces, headers)
    assert [row["n_ratings"] for row in reply.document] == [2_000]


def test_what_is_no_request_is_refused(server: Served) -> None:
    with socket.create_connection((server.host, server.port), timeout=10) as line:
        line.sendall(b"\x00\x01 no request HTTP/1.1\r\nHost: localhost\r\n\r\n")
        reply = answer_on(line)
        detail(reply, 400)
        assert reply.headers["x-content-type-options"] == "nosniff"


def test_questions_are_small(server: Served) -> None:
    reply = server.ask(
        "POST", "/api/v1/estimate", b" " * (MIB + 1), {"content-type": "application/json"}
    )
    assert "larger than 1 MiB" in detail(reply, 413)


def as_parquet(table: pa.Table, **settings: Any) -> bytes:
    target = io.BytesIO()
    pq.write_table(table, target, **settings)
    return target.getvalue()


def test_a_parquet_file_of_endless_rows_is_refused(server: Served) -> None:
    many = 6_000_000
    stars = pa.array(np.full(many, 5, np.int8))
    hotel = pa.DictionaryArray.from_arrays(pa.array(np.zeros(many, np.int8)), ["A"])
    bomb = as_parquet(pa.table({"hotel": hotel, "stars": stars}), row_group_size=many)
    assert len(bomb) < 100_000
    assert "6,000,000 rows" in detail(server.table("/rate", bomb, PARQUET, **HOTELS), 422)


def test_a_parquet_file_that_swells_is_refused(server: Served) -> None:
    rows = pa.table({"hotel": ["A" * 100_000] * 500, "stars": [5] * 500})
    bomb = as_parquet(rows, compression="zstd", use_dictionary=False)
    assert len(bomb) < MIB
    found = detail(server.table("/rate", bomb, PARQUET, **HOTELS), 422)
    assert "table.parquet has 50,006,106 bytes when unpacked, and this" in found
    assert "33,554,432" in found


@pytest.mark.parametrize("path", ["/inspect", "/rate"])
def test_broken_parquet_files_are_refused(server: Served, path: str) -> None:
    good = as_parquet(pa.table({"hotel": ["A", "B"] * 500, "stars": [5, 1] * 500}))
    query = HOTELS if path == "/rate" else {}
    generator = np.random.default_rng(3)
    for _ in range(25):
        broken = bytearray(good)
        for place in generator.integers(4, len(good), 8):
            broken[place] = generator.integers(0, 256)
        reply = server.table(path, bytes(broken), PARQUET, **query)
        assert reply.status in (200, 422)
    assert "table.parquet cannot be read as Parquet: Parquet file size" in detail(
        server.table(path, b"PAR1PAR1", PARQUET, **query), 422
    )


@pytest.mark.parametrize("path", ["/inspect", "/rate"])
def test_a_million_columns_are_refused(server: Served, path: str) -> None:
    query = HOTELS if path == "/rate" else {}
    header = ",".join(["c"] * 1_000_000).encode()
    found = detail(server.table(path, header + b"\n1\n", **query), 422)
    assert "table.csv has 1,000,000 columns, and this server accepts" in found
    wide = as_parquet(pa.table({f"c{i}": [1] for i in range(1_500)}))
    assert "1,500 columns" in detail(server.table(path, wide, PARQUET, **query), 422)
    keys = json.dumps([{f"c{i}": 1 for i in range(100_000)}]).encode()
    # DuckDB takes so many keys for one column, in which nothing is found.
    assert server.table(path, keys, "application/json", **query).status in (200, 422)


def test_a_line_without_end_is_survived(server: Served) -> None:
    assert server.table("/inspect", b"a" * (2 * MIB - 10)).status in (200, 422)


def test_nothing_names_a_file_of_the_server(server: Served, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("hotel,stars\nTOPSECRET,5\n")
    content = f"hotel,stars\n{secret},5\n{secret},1\n".encode()
    for query in (
        {"n_table": str(secret)},
        {"q_table": str(secret)},
        {"assumption": str(secret)},
        {"table": "x"},
        {"query": "select 1"},
        {"item": f"read_csv('{secret}')"},
        {"item": f"hotel\" from read_csv('{secret}') --"},
        {"rating": f"(select stars from '{secret}')"},
        {"strata": str(secret), "n": "5"},
        {"scale": str(secret)},
    ):
        reply = server.table("/rate", content, **(HOTELS | query))
        assert reply.status == 422
        assert "TOPSECRET" not in reply.text
    assert server.table("/rate", content, **HOTELS).document[0]["hotel"] == str(secret)
    rows = json.dumps([{"hotel": "A", "stars": f"file://{secret}"}]).encode()
    assert server.table("/rate", rows, "application/json", **HOTELS).status == 422


NAMES = (
    "<script>alert(1)</script>", "../../etc/passwd", "'; drop table x; --", "\u202ereversed",
    "=cmd|' /C calc'!A0", "{{7*7}}", "datum.x", "a\x00b", "\U0001f3e8", "x" * 5_000,
)  # fmt: skip


def test_hostile_names_are_names(server: Served) -> None:
    rows = [{"hotel": name, "stars": stars} for name in NAMES for stars in (1, 5, 5)]
    content = json.dumps(rows).encode()
    found = server.table("/rate", content, "application/json", **HOTELS)
    assert {row["hotel"] for row in found.document} == {*NAMES}
    assert server.table("/rank/chart", content, "application/json", **HOTELS).status == 200
    page = server.table("/report", content, "application/json", name=NAMES[0], **HOTELS)
    assert page.status == 200
    assert "&lt;script&gt;alert" in page.text
    assert "<script>alert" not in page.text


# How slowly, and how long.


def test_slow_clients_are_hung_up_on(server: Served) -> None:
    lines = []
    for text in (b"", b"POST /api/v1/est", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ") * 40:
        line = socket.create_connection((server.host, server.port), timeout=10)
        line.sendall(text)
        lines.append(line)
    assert server.question("/estimate", {"counts": [1, 2], "q": 0.3}).status == 200
    for line in lines:
        with line:
            assert line.recv(100) == b""


def test_a_body_that_does_not_come_is_not_waited_for(server: Served) -> None:
    for path in (b"/api/v1/estimate", b"/api/v1/rate?item=hotel&rating=stars&q=0.3"):
        with socket.create_connection((server.host, server.port), timeout=20) as line:
            line.sendall(
                b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                + (b"application/json" if path.endswith(b"estimate") else b"text/csv")
                + b"\r\nContent-Length: 1000\r\n\r\n{"
            )  # fmt: skip
            detail(answer_on(line), 408)


def test_long_work_is_cut_short() -> None:
    with serving("--max-seconds", "2") as served:
        found = detail(served.question("/regret", ENDLESS), 422)
        assert "longer than 2 seconds" in found


def test_loading_is_not_part_of_the_work() -> None:
    async def asked() -> WorkerAnswer:
        pool = WorkerPool(Limits(seconds=4), 1)
        await pool.start()
        try:
            # A machine so slow that loading alone takes longer than the work may.
            (worker,) = pool._workers
            assert worker.process is not None
            worker.process.send_signal(signal.SIGSTOP)
            work = asyncio.create_task(pool.answer("sweep", {}, b'{"counts": [1, 2]}'))
            await asyncio.sleep(5)
            worker.process.send_signal(signal.SIGCONT)
            return await work
        finally:
            await pool.end()

    assert run_async(asked()).status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="children are listed in /proc")
def test_a_worker_that_dies_is_replaced(server: Served) -> None:
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(server.question, "/regret", ENDLESS)
        time.sleep(2)
        for task in Path(f"/proc/{server.process.pid}/task").glob("*/children"):
            for child in task.read_text().split():
                os.kill(int(child), signal.SIGKILL)
        time.sleep(1)  # until the server has noticed
        assert "worker died" in detail(asked.result(), 422)


def test_more_than_can_wait_are_sent_away_and_work_ends_when_nobody_waits() -> None:
    with serving("--max-seconds", "300") as served:
        body = json.dumps(ENDLESS).encode()
        request = (
            b"POST /api/v1/regret HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
            b"\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        # At first a worker is busy with the scripts of the page.
        assert served.get("/static/vega.js").status == 200
        lines = [socket.create_connection((served.host, served.port)) for _ in range(60)]
        for line in lines:
            line.sendall(request)
        time.sleep(2)
        assert "already waiting" in detail(served.question("/regret", ENDLESS), 429)
        # Quick questions do not wait.
        assert served.question("/estimate", {"counts": [1, 2], "q": 0.3}).status == 200
        for line in lines:
            line.close()
        # The server takes a moment to notice that they left.
        until = time.monotonic() + 60
        while served.question("/sweep", {"counts": [1, 2, 3]}).status != 200:
            assert time.monotonic() < until
            time.sleep(0.2)
