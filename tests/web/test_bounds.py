"""What clients may cost the server: every bound holds, and honest requests are answered."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from select import select
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from tests.web.server import (
    JSON,
    Served,
    answer_on,
    detail,
    is_hung_up_on,
    read_all,
    run_async,
    serving,
    serving_within,
)
from unheard.web.api.forms import (
    CalibrateQuestion,
    CompareQuestion,
    EstimateQuestion,
    RegretQuestion,
    SweepQuestion,
)
from unheard.web.api.read_requests import QuestionError, read_question
from unheard.web.server.limits import MIB, Limits
from unheard.web.server.pool import WaitingLine, WorkerAnswer, WorkerPool
from unheard.web.server.spool import Spool

pytestmark = pytest.mark.xdist_group("web-bounds")

START = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
UPLOAD = b"POST /api/v1/inspect HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
HOTELS = "/api/v1/rate?item=hotel&rating=stars&q=0.3"
HUGE = 10**400
REGRET = {"q": 0.5, "method": "bea"}
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone bounds and tells memory")


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving_within(patience=1, rate=1e5) as served:
        yield served


def connect(server: Served) -> socket.socket:
    return socket.create_connection((server.host, server.port), timeout=20)


# Questions.


@pytest.mark.parametrize(
    ("form", "document"),
    [
        (CalibrateQuestion, {"observed": [["x"]] * 100_000, "truth": [1, 2]}),
        (CalibrateQuestion, {"observed": [""] * 10_000, "truth": [["", ""]] * 10_000}),
        (EstimateQuestion, {"counts": [1, 2], "participation": [["", ""]] * 10_000}),
        (EstimateQuestion, {"counts": [None] * 10_000, "g": [""] * 10_000, "scale": [{}] * 10_000}),
        (EstimateQuestion, {"counts": [0] * 300_000}),
        (SweepQuestion, {"counts": [1, 2], "q": [[]] * 1_000}),
        (CompareQuestion, {"a": ["x"] * 9_999, "b": ["x"] * 9_999, "names": [1, 2]}),
        (RegretQuestion, {"q": ["x"] * 200, "method": [1] * 10, "p": ["x"] * 9_999}),
    ],
    ids=str,
)  # fmt: skip
def test_a_million_mistakes_cost_no_more_than_a_few(
    form: type[BaseModel], document: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError) as raised:
        form.model_validate(document)
    assert raised.value.error_count() <= 12


def test_the_first_unknown_name_is_told() -> None:
    body = json.dumps({"counts": [1, 2]} | {f"k{i}": 0 for i in range(50_000)}).encode()
    with pytest.raises(QuestionError, match=r"There is no field k0\."):
        read_question(EstimateQuestion, body)


@linux
def test_questions_are_read_by_workers() -> None:
    """The server answers others whatever a question holds: it does not look into it."""
    with serving_within() as served:
        assert served.get("/static/vega.js").status == 200
        workers = [
            int(child)
            for task in Path(f"/proc/{served.process.pid}/task").glob("*/children")
            for child in task.read_text().split()
        ]
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        with ThreadPoolExecutor(3) as threads:
            asked = [
                threads.submit(served.ask, "POST", f"/api/v1/{path}", body, {"content-type": JSON})
                for path, body in (
                    ("sweep", b"{"),
                    ("calibrate", b"{"),
                    ("estimate", b" " * 5_000 + b"{"),
                )
            ]
            time.sleep(1)
            assert not any(one.done() for one in asked)
            assert served.question("/estimate", {"counts": [1, 2], "q": 0.3}).status == 200
            for worker in workers:
                os.kill(worker, signal.SIGCONT)
            assert all("not JSON" in detail(one.result(), 422) for one in asked)


def test_counts_of_an_audit_are_small(server: Served) -> None:
    body = b'{"observed": [' + b" " * MIB + b"1, 2]}"
    reply = server.ask("POST", "/api/v1/calibrate", body, {"content-type": JSON})
    assert "larger than 1 MiB" in detail(reply, 413)


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("estimate", {"counts": [HUGE, 2], "q": 0.3}),
        ("estimate", {"counts": [1, 2], "q": HUGE}),
        ("estimate", {"counts": [1, 2], "q": 0.3, "n": -HUGE}),
        ("estimate", {"counts": [1, 2], "q": 0.3, "scale": [1, HUGE]}),
        ("estimate", {"counts": [1, 2], "participation": [[0.1, HUGE]] * 2}),
        ("estimate", {"counts": [1, 2], "assumption": {"g": [HUGE]}}),
        ("estimate", {"counts": [1, 2], "q": 0.3, "scale": "0:1:1e-320"}),
        ("estimate", {"counts": [1, 2], "q": 0.3, "scale": "0:1e100:1e-300"}),
        ("sweep", {"counts": [1, 2], "above": HUGE}),
        ("compare", {"a": [1, HUGE], "b": [1, 2], "q": 0.3}),
        ("regret", REGRET | {"n": HUGE, "m": 2}),
        ("regret", REGRET | {"n": 1e300, "m": 101}),
        ("regret", REGRET | {"n": 10**9, "m": 5}),
        ("regret", REGRET | {"n": 1, "scale": list(range(10_001))}),
        ("regret", REGRET | {"n": 1e30, "m": 2, "draws": 10}),
        ("calibrate", {"observed": [1, 2], "truth": [4, 5], "level": HUGE}),
    ],
    ids=lambda given: str(given)[:60],
)
def test_numbers_out_of_reach_are_refused(server: Served, path: str, asked: Any) -> None:
    assert detail(server.question(f"/{path}", asked), 422)


@pytest.mark.parametrize(
    "query", [{"scale": "0:1:1e-320"}, {"q": "9" * 400}, {"n": "9" * 400}, {"k": "9" * 400}]
)
def test_settings_out_of_reach_are_refused(server: Served, query: dict[str, str]) -> None:
    settings = {"item": "hotel", "rating": "stars", "q": "0.3"} | query
    detail(server.table("/rank", b"hotel,stars\nA,1\nB,5\n", **settings), 422)


@pytest.mark.parametrize("kind", ["text/csv", JSON])
def test_a_table_of_numbers_out_of_reach_is_answered(server: Served, kind: str) -> None:
    rows = [{"hotel": "A", "stars": HUGE}, {"hotel": "B", "stars": 1}]
    text = f"hotel,stars\nA,{HUGE}\nB,1\n" if kind == "text/csv" else json.dumps(rows)
    reply = server.table(
        "/rate", text.encode(), kind, item="hotel", rating="stars", q="0.3", scale="1:5"
    )
    detail(reply, 422)


def test_a_query_of_many_settings_is_refused(server: Served) -> None:
    path = f"{HOTELS}&{'a&' * 20_000}"
    reply = server.ask("POST", path, b"x", {"content-type": "text/csv"})
    assert "parameters" in detail(reply, 422)


# Memory.


@linux
def test_every_task_has_a_bound_on_its_memory(tmp_path: Path) -> None:
    async def answers() -> list[WorkerAnswer]:
        pool = WorkerPool(Limits(question_memory=96 * MIB, memory=32 * MIB), 2)
        await pool.start()
        rows = "".join(f"h{i},{i % 5 + 1}\n" for i in range(200_000))
        (tmp_path / "table.csv").write_text(f"hotel,stars\n{rows}")
        limits = Limits().describe() | {"memory": 2048 * MIB, "items": 10**9, "question_bytes": MIB}
        upload = {"folder": str(tmp_path), "file": "table.csv", "limits": limits}
        try:
            small = b'{"n": 5, "m": 2, "q": 0.5, "method": "bea"}'
            return [
                await pool.answer("regret", {}, b'{"n": 30, "m": 6, "q": 0.5, "method": "bea"}'),
                await pool.read("inspect", {"upload": upload}),
                await pool.answer("regret", {}, small),
            ]
        finally:
            await pool.end()

    regret, inspected, small = run_async(answers())
    assert (regret.status, b"more memory" in regret.content) == (422, True)
    assert inspected.status == 422
    assert small.status == 200


@linux
def test_a_worker_that_keeps_much_is_replaced() -> None:
    async def ask() -> tuple[int | None, int | None]:
        pool = WorkerPool(Limits(question_memory=2048 * MIB), 1)
        await pool.start()
        (worker,) = pool._workers
        try:
            assert worker.process is not None
            first = worker.process.pid
            # The histograms are kept for the next question of their kind.
            for n in (31, 32):
                structure = {"p": [1, 0, 0, 0, 0, 0], "g": [1] * 6}
                asked = {"n": n, "m": 6, "q": 0.5, "method": "bea"} | structure
                answer = await pool.answer("regret", {}, json.dumps(asked).encode())
                assert answer.status == 200
            return first, worker.process.pid
        finally:
            await pool.end()

    first, second = run_async(ask())
    assert first != second


# Heads.


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (START + b"X-Long: ", b"a" * 65536),
        (b"GET /", b"a" * 65536),
        (UPLOAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\na\n\r\n0\r\nA: ", b"a" * 65536),
        (UPLOAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a" * 65536),
    ],
    ids=["header", "address", "trailer", "extension"],
)
def test_a_head_without_end_is_refused(server: Served, start: bytes, more: bytes) -> None:
    with connect(server) as line:
        line.sendall(start + more + more)
        assert "The head of the request is larger than 65,536 bytes" in detail(answer_on(line), 431)
        assert is_hung_up_on(line)


@pytest.mark.parametrize(
    "start",
    [START, UPLOAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\na\n\r\n0\r\n"],
    ids=["head", "trailers"],
)
def test_headers_without_end_are_refused(server: Served, start: bytes) -> None:
    with connect(server) as line:
        line.sendall(start + b"a: b\r\n" * 200)
        assert "more than 100 headers" in detail(answer_on(line), 431)
        assert is_hung_up_on(line)


def test_a_long_head_is_read(server: Served) -> None:
    assert server.get("/healthz", **{"x-long": "a" * 40_000}).status == 200


def test_requests_in_a_row_are_answered_and_too_many_are_not(server: Served) -> None:
    with connect(server) as line:
        line.sendall((START + b"\r\n") * 9 + START + b"Connection: close\r\n\r\n")
        assert read_all(line).count(b"HTTP/1.1 200") == 10
    with connect(server) as line:
        line.sendall((START + b"\r\n") * 1_000)
        assert read_all(line).count(b"HTTP/1.1 200") < 100


# Slow clients.


@pytest.mark.parametrize(
    "end", [b"Content-Length: 100000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"]
)
def test_a_body_that_drips_is_not_waited_for(server: Served, end: bytes) -> None:
    with connect(server) as line:
        line.sendall(UPLOAD + end)
        line.settimeout(0.2)
        for _ in range(60):  # each well within the server's patience
            line.sendall(b"1\r\na\r\n")
            try:
                line.recv(1, socket.MSG_PEEK)
            except TimeoutError:
                continue
            break
        else:
            pytest.fail("it was waited for")
        line.settimeout(20)
        assert "too slowly" in detail(answer_on(line), 408)


def test_who_does_not_read_is_hung_up_on(server: Served) -> None:
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.settimeout(60)
    with line:
        line.connect((server.host, server.port))
        line.sendall(b"GET /static/vega.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 8)
        # 900 kB at 100 kB a second, and a second.
        time.sleep(12)
        assert len(read_all(line)) < 8 * 800_000


def test_after_an_early_answer_the_rest_is_not_read_for_ever(server: Served) -> None:
    with connect(server) as line:
        line.sendall(b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n")
        detail(answer_on(line), 404)
        assert is_hung_up_on(line, b"a", pause=0.02)


def test_there_is_room_for_newcomers() -> None:
    with serving_within(connections=8, patience=600) as served:
        lines = [connect(served) for _ in range(30)]
        try:
            assert served.question("/estimate", {"counts": [1, 2], "q": 0.3}).status == 200
            closed: set[socket.socket] = set()
            # The question came last of all, and took the place of one more.
            while len(closed) < len(lines) - 7:
                readable = select(set(lines) - closed, [], [], 20)[0]
                assert readable
                closed |= {*readable}
            assert all(is_hung_up_on(line) for line in closed)
        finally:
            for line in lines:
                line.close()


def test_answers_that_nobody_reads_are_bounded() -> None:
    with serving_within(unread=4 * MIB) as served:
        assert served.get("/static/vega.js").status == 200
        lines = []
        try:
            for _ in range(20):
                line = socket.socket()
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                line.settimeout(20)
                line.connect((served.host, served.port))
                line.sendall(b"GET /static/vega.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4)
                lines.append(line)
            assert served.get("/static/vega.js").status == 200
            assert is_hung_up_on(lines[0])
        finally:
            for line in lines:
                line.close()


# Uploads.


def test_uploads_are_bounded_all_together() -> None:
    with serving_within(temporary=MIB) as served:
        large = b"hotel,stars\n" + b"A,5\n" * 450_000
        with connect(served) as line:
            line.sendall(UPLOAD + b"Content-Length: 1900000\r\n\r\n" + large)
            time.sleep(1)
            reply = served.table("/inspect", large)
            assert "Try again later" in detail(reply, 503)
            assert reply.headers["retry-after"]
            # There is always room for a small one.
            assert served.table("/inspect", large[:1_000]).status == 200
        for _ in range(50):  # until the server has noticed that the first one has left
            if (status := served.table("/inspect", large).status) == 200:
                break
            time.sleep(0.1)
        assert status == 200


def test_a_small_table_need_not_wait_for_all_the_large_ones(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("hotel,stars\nA,5\n")
    limits = Limits().describe() | {"memory": 512 * MIB, "question_bytes": MIB}
    upload = {"folder": str(tmp_path), "file": "table.csv", "limits": limits}

    async def ask() -> list[str]:
        pool, order = WorkerPool(Limits(), 2), []
        await pool.start()

        async def read(name: str, size: int) -> None:
            assert (await pool.read("inspect", {"upload": upload}, size)).status == 200
            order.append(name)

        sizes = {"first": 60 * MIB, "large": 60 * MIB, "larger": 64 * MIB, "small": 100}
        try:
            await asyncio.gather(*(read(name, size) for name, size in sizes.items()))
        finally:
            await pool.end()
        return order

    assert run_async(ask()) == ["first", "small", "large", "larger"]


def test_who_gives_up_waiting_leaves_the_line_in_order() -> None:
    async def turns() -> list[str]:
        line, order = WaitingLine(1, 10), []

        async def ask(name: str) -> None:
            async with line.take_turn():
                order.append(name)

        async with line.take_turn():
            asked = [asyncio.create_task(ask(name)) for name in "abc"]
            await asyncio.sleep(0)
            asked[1].cancel()
            await asyncio.sleep(0)
        asked[0].cancel()  # just as it is called
        await asyncio.gather(*asked, return_exceptions=True)
        async with asyncio.timeout(5), line.take_turn():  # which is free again
            return order

    assert run_async(turns()) == ["c"]


def test_a_full_disk_is_no_fault() -> None:
    with serving_within(file_size=MIB) as served:
        reply = served.table("/inspect", b"hotel,stars\n" + b"A,5\n" * MIB)
        assert "disk of the server is full" in detail(reply, 507)
        assert served.table("/inspect", b"hotel,stars\nA,5\n").status == 200


def test_an_upload_that_is_given_up_is_one_line_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with serving(log=log) as served:
        with connect(served) as line:
            line.sendall(UPLOAD + b"Content-Length: 1000\r\n\r\nhotel,stars\n")
            time.sleep(0.5)
        assert served.is_well()
        time.sleep(0.5)
        said = "127.0.0.1 left after 12 bytes of a body: POST '/api/v1/inspect'\n"
        assert log.read_text() == said


@linux
def test_the_next_server_removes_what_a_killed_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / "unheard-server-link").symlink_to(kept)
    (kept / "file").touch()
    with serving() as killed:
        with connect(killed) as line:
            line.sendall(UPLOAD + b"Content-Length: 1000\r\n\r\nhotel,stars\n")
            time.sleep(0.5)
            killed.process.kill()
            killed.process.wait()
        (stale,) = [path for path in tmp_path.glob("unheard-server-*") if not path.is_symlink()]
        assert list(stale.rglob("*.csv"))
        with serving():
            own = {path for path in tmp_path.glob("unheard-server-*") if not path.is_symlink()}
            assert stale not in own
            with serving():  # a server that lives keeps its own
                assert all(path.is_dir() for path in own)
    assert [path.name for path in tmp_path.iterdir()] != []
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "unheard-server-link"}
    assert (kept / "file").exists()


def test_a_folder_of_somebody_else_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can make a folder that belongs to somebody else")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    theirs, ours = tmp_path / "unheard-server-theirs", tmp_path / "unheard-server-ours"
    theirs.mkdir()
    ours.mkdir()
    os.chown(theirs, 65_534, 65_534)
    spool = Spool(MIB)
    spool.open()
    spool.close()
    assert list(tmp_path.iterdir()) == [theirs]


# All at once.


@linux
def test_an_attack_is_survived() -> None:
    from benchmarks.attack import GOAL_BYTES, measure

    found, most = measure(3)
    assert most < GOAL_BYTES
    assert not found.failed
    assert found.answered["healthz"] > 0
