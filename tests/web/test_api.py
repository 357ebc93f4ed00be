"""The REST interface gives the documents of the command line, and its errors."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unheard as uh
from tests.cli.typed import Typed, typing
from tests.web.server import Reply, Served, serving
from unheard.errors import InputError
from unheard.options.surfaces import REST

ROOT = Path(__file__).parents[2]
STAYS = (ROOT / "docs/stays.csv").read_bytes()
AUDIT = (ROOT / "docs/audit.csv").read_bytes()
COUNTS = [120, 30, 45, 200, 605]
HOTELS = {"item": "hotel", "rating": "stars", "q": "0.3"}

pytestmark = pytest.mark.xdist_group("web-api")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    monkeypatch.chdir(ROOT / "docs")
    return typing(monkeypatch, capsys)


def words(text: str) -> list[str]:
    return text.split()


def problem(reply: Reply, status: int) -> dict[str, Any]:
    assert reply.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = reply.document
    assert (reply.status, document["status"]) == (status, status)
    assert document["title"]
    return document


def test_health_and_about(server: Served) -> None:
    assert server.get("/healthz").document == {"status": "ok", "version": uh.__version__}
    about = server.get("/api/v1/about").document
    assert about["presets"] == uh.PRESETS
    assert about["notes"] == uh.NOTE_TEXTS
    assert about["examples"]["Hotel A"] == [40, 5, 15, 35, 105]


@pytest.mark.parametrize(
    ("asked", "typed"),
    [
        ({"q": 0.3}, ["--q", "0.3"]),
        ({"q": "media", "quiet": "low"}, ["--q", "media", "--quiet", "low"]),
        ({"q": 0.3, "n": 2400, "method": "all"}, ["--q", "0.3", "--n", "2400", "--method", "all"]),
        ({"q": 0.9, "n": 2400}, ["--q", "0.9", "--n", "2400"]),
        ({"g": [0.1, 0.2, 0.2, 0.4, 0.9]}, ["--g", "0.1,0.2,0.2,0.4,0.9"]),
        (
            {"participation": [[0.1, 0.4]] * 5, "level": 0.8},
            ["--participation", ",".join(["0.1:0.4"] * 5), "--level", "0.8"],
        ),
        ({"q": 0.3, "scale": "0:8:2"}, ["--q", "0.3", "--scale", "0:8:2"]),
        ({"q": 0.3, "scale": [0, 2, 4, 6, 8]}, ["--q", "0.3", "--scale", "0:8:2"]),
        ({"q": 0.3, "effective": 812.5}, ["--q", "0.3", "--effective", "812.5"]),
        (
            {"q": 0.3, "squared_weights": [200, 40, 60, 250, 800], "largest_weight": 2},
            ["--q", "0.3", "--squared-weights", "200,40,60,250,800", "--largest-weight", "2"],
        ),
    ],
)
def test_estimate_is_the_document_of_the_command(
    server: Served, command: Typed, asked: dict[str, Any], typed: list[str]
) -> None:
    reply = server.question("/estimate", {"counts": COUNTS} | asked)
    shown = command("estimate", *map(str, COUNTS), *typed, "--json")
    assert (reply.status, reply.document) == (200, json.loads(shown.out))


def test_the_optimum_is_solved_by_a_worker(server: Served, command: Typed) -> None:
    asked = {"counts": [2, 1, 0, 3, 6], "n": 20, "q": 0.3, "method": "minimax"}
    reply = server.question("/estimate", asked)
    typed = ("--n", "20", "--q", "0.3", "--method", "minimax", "--json")
    assert reply.document == json.loads(command("estimate", "2", "1", "0", "3", "6", *typed).out)


def test_sweep_and_compare_are_the_documents_of_the_commands(
    server: Served, command: Typed
) -> None:
    swept = server.question("/sweep", {"counts": COUNTS, "above": 3.5, "q": ["reviews", 0.5]})
    shown = command("sweep", *map(str, COUNTS), "--above", "3.5", "--q", "reviews,0.5", "--json")
    assert swept.document == json.loads(shown.out)
    a, b = [5, 10, 35, 120, 30], [30, 25, 45, 80, 20]
    compared = server.question("/compare", {"a": a, "b": b, "q": 0.5, "n": [900, 700]})
    typed = ("--q", "0.5", "--n", "900,700", "--json")
    shown = command("compare", ",".join(map(str, a)), ",".join(map(str, b)), *typed)
    assert compared.document == json.loads(shown.out)


def test_regret_is_the_document_of_the_command(server: Served, command: Typed) -> None:
    one = server.question("/regret", {"n": 10, "m": 2, "q": 0.9, "method": "bea"})
    shown = command("regret", *words("--n 10 --m 2 --q 0.9 --method bea --json"))
    assert one.document == json.loads(shown.out)
    asked = {"n": 10, "m": 2, "q": [0.5, 0.9], "method": ["average", "paa"]}
    shown = command("regret", *words("--n 10 --m 2 --q 0.5,0.9 --method average,paa --json"))
    assert server.question("/regret", asked).document == json.loads(shown.out)
    endless = server.question("/regret", {"n": None, "q": 0.5, "method": "average"}).document
    assert endless["regret"] == pytest.approx((4 * (1 - 0.5**0.5) / (1 + 0.5**0.5)) ** 2)


def test_minimax_is_the_document_of_the_command(server: Served, command: Typed) -> None:
    asked: dict[str, Any] = {"n": 4, "q": 0.9, "m": 3, "table": True}
    shown = command("minimax", *words("--n 4 --q 0.9 --m 3 --table --json"))
    assert server.question("/minimax", asked).document == json.loads(shown.out)
    bad = problem(server.question("/minimax", asked | {"n": 4.5}), 422)
    assert bad["detail"] == "n must be a whole number; got 4.5."


def test_calibrate_from_counts_and_from_a_table(server: Served, command: Typed) -> None:
    counted = server.question(
        "/calibrate", {"observed": [12, 30, 49, 25], "truth": [400, 330, 230, 60]}
    ).document
    audit = uh.calibrate([12, 30, 49, 25], [400, 330, 230, 60])
    assert counted["g"] == audit.g.tolist()
    assert (counted["q"], counted["quiet"]) == (audit.q, audit.quiet)
    layout = {"item": "hotel", "rating": "stars", "answered": "reviewed"}
    reply = server.table("/calibrate", AUDIT, **layout)
    typed = [word for name, value in layout.items() for word in (f"--{name}", value)]
    shown = json.loads(command("calibrate", "audit.csv", *typed, "--json").out)
    assert reply.document == shown | {"messages": []}
    off = AUDIT + b"Alder,9,yes\n"
    reply = server.table("/calibrate", off, **layout, off_scale="drop", scale="1:5")
    assert reply.document["messages"] == [
        "1 rating that is not on the scale 1 to 5 was left out (note rows_dropped)."
    ]


def test_plan_from_counts_and_from_a_table(server: Served, command: Typed) -> None:
    asked = {"n": 2400, "q": 0.3, "above": 4, "power": 0.9}
    typed = words("120 30 45 200 605 --n 2400 --q 0.3 --above 4 --power 0.9 --json")
    counted = server.question("/plan", {"counts": COUNTS, **asked})
    assert counted.document == json.loads(command("plan", *typed).out)
    query = HOTELS | {"n": "100", "width": "1", "budget": "90"}
    typed = [word for name, value in query.items() for word in (f"--{name}", value)]
    expected = json.loads(command("plan", "stays.csv", *typed, "--json").out)
    reply = server.table("/plan", STAYS, **query)
    assert reply.document == expected | {"messages": []}
    rows = [
        *csv.DictReader(io.StringIO(server.table("/plan", STAYS, accept="text/csv", **query).text))
    ]
    assert [row["hotel"] for row in rows] == [row["hotel"] for row in expected["rows"]]
    assert [row["calls"] for row in rows] == [str(row["calls"]) for row in expected["rows"]]
    mean = server.table("/plan", STAYS, covers="mean", **query).document
    assert (expected["covers"], mean["covers"]) == ("people", "mean")


@pytest.mark.parametrize(
    ("query", "argument", "text"),
    [
        ({"width": "1"}, "n", "requires the number of people. Give n or n_column"),
        ({"n": "100"}, "width", "requires a goal: width, above or below"),
        ({"n": "9", "width": "1"}, "n", "there are more ratings than 9, the value of n"),
        ({"n_column": "guests", "width": "1"}, "n_column", "no column 'guests'"),
        ({"n": "100", "width": "1", "budget": "x"}, "budget", "budget is not a number"),
    ],
)
def test_plans_that_cannot_be_made(
    server: Served, query: dict[str, str], argument: str, text: str
) -> None:
    bad = problem(server.table("/plan", STAYS, **HOTELS | query), 422)
    assert (bad["argument"], text in bad["detail"]) == (argument, True), bad["detail"]


def test_a_plan_for_counts_requires_n(server: Served) -> None:
    bad = problem(server.question("/plan", {"counts": COUNTS, "q": 0.3, "width": 1}), 422)
    assert (bad["argument"], bad["code"]) == ("n", "requires_n")


def test_counts_take_no_options_from_the_address(server: Served) -> None:
    asked = {"counts": COUNTS, "n": 2400, "q": 0.3, "width": 1}
    bad = problem(server.question("/plan?budget=9", asked), 422)
    assert (bad["argument"], "applies to tables" in bad["detail"]) == ("budget", True)


def test_an_audit_is_an_assumption(server: Served) -> None:
    audit = uh.calibrate([12, 30, 49, 25], [400, 330, 230, 60])
    document = server.question(
        "/calibrate", {"observed": [12, 30, 49, 25], "truth": [400, 330, 230, 60]}
    ).document
    found = server.question("/estimate", {"counts": [3, 9, 20, 14], "assumption": document})
    expected = uh.estimate([3, 9, 20, 14], assumption=audit.assumption)
    assert found.document["estimates"][0]["estimate"] == pytest.approx(expected.estimate)
    bad = problem(server.question("/estimate", {"counts": [3, 9], "assumption": {"g": 1}}), 422)
    assert bad["argument"] == "assumption"


def test_an_audit_is_an_assumption_for_tables(server: Served) -> None:
    audit = uh.calibrate([9, 20, 30, 40, 50], [60, 70, 75, 70, 60])
    text = json.dumps(audit.to_dict())
    layout = {"item": "hotel", "rating": "stars"}
    found = server.table("/rate", STAYS, assumption=text, **layout).document
    stays = pa.Table.from_pylist([*csv.DictReader(io.StringIO(STAYS.decode()))])
    expected = uh.rate(stays, "hotel", "stars", assumption=audit.assumption).to_pylist()
    assert [row["lower"] for row in found] == [row["lower"] for row in expected]
    page = server.table("/report", STAYS, assumption=text, **layout).text
    assert "--assumption audit.json" in page


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"scale": "1:4"}, "scale differs from the scale of assumption, 1 to 5."),
        ({"assumption": "{"}, "The document is not the result of a calibration (it is not JSON"),
        ({"assumption": '{"segments": {"a": {}, "b": {}}}'}, "has several segments: a, b."),
    ],
)
def test_assumptions_for_tables_that_cannot_be_read(
    server: Served, asked: dict[str, str], words: str
) -> None:
    text = json.dumps(uh.calibrate([9, 20, 30, 40, 50], [60, 70, 75, 70, 60]).to_dict())
    given = {"item": "hotel", "rating": "stars", "assumption": text} | asked
    assert words in problem(server.table("/rate", STAYS, **given), 422)["detail"]


def as_parquet(table: pa.Table) -> bytes:
    target = io.BytesIO()
    pq.write_table(table, target)
    return target.getvalue()


def bodies() -> Iterator[tuple[str, bytes]]:
    read = csv.DictReader(io.StringIO(STAYS.decode()))
    rows = [{**row, "stars": int(row["stars"])} for row in read]
    yield "text/csv", STAYS
    yield "text/csv; charset=utf-8", STAYS
    yield "text/tab-separated-values", STAYS.replace(b",", b"\t")
    yield "application/json", json.dumps(rows).encode()
    yield "application/x-ndjson", "\n".join(map(json.dumps, rows)).encode()
    yield "application/vnd.apache.parquet", as_parquet(pa.Table.from_pylist(rows))


@pytest.mark.parametrize(("kind", "content"), list(bodies()))
def test_every_kind_of_table_gives_the_rows_of_the_command(
    server: Served, command: Typed, kind: str, content: bytes
) -> None:
    expected = json.loads(
        command("rate", "stays.csv", *words("--item hotel --rating stars --q 0.3 --json")).out
    )
    reply = server.table("/rate", content, kind, **HOTELS)
    assert (reply.status, reply.document) == (200, expected)


def test_rank_is_the_document_of_the_command(server: Served, command: Typed) -> None:
    reply = server.table("/rank", STAYS, k=2, above=3.5, who="Dune", **HOTELS)
    typed = "--item hotel --rating stars --q 0.3 --k 2 --above 3.5 --who Dune --json"
    shown = command("rank", "stays.csv", *typed.split())
    assert (reply.status, reply.document) == (200, json.loads(shown.out))


def test_counts_and_inspect(server: Served) -> None:
    found = server.table("/counts", STAYS, item="hotel", rating="stars").document
    expected = uh.count_ratings(str(ROOT / "docs/stays.csv"), "hotel", "stars").to_pylist()
    assert found == expected
    seen = server.table("/inspect", STAYS).document
    assert seen["rows"] == 120
    assert [column["name"] for column in seen["columns"]] == ["day", "guest", "hotel", "stars"]
    assert (seen["guess"]["item"], seen["guess"]["rating"]) == (["hotel"], "stars")
    assert seen["guess"]["scale"] == "1:5"


def test_names_of_columns_may_hold_commas(server: Served) -> None:
    content = b'"hotel, or inn","stars, 1 to 5"\nA,1\nA,2\nB,5\n'
    reply = server.table("/rate", content, item='"hotel, or inn"', rating='"stars, 1 to 5"', q=0.3)
    assert [row["hotel, or inn"] for row in reply.document] == ["B", "A"]


def test_csv_is_guarded_against_formulas(server: Served) -> None:
    names = ["=1+1", "+1+1", "-a", "@x", "\tx", "\nx", " =1", "＝1", "-1", "plain", "'quoted"]
    rows = [{"hotel": name, "stars": stars} for name in names for stars in (1, 5)]
    content = json.dumps(rows).encode()
    reply = server.table("/rate", content, "application/json", "text/csv", **HOTELS)
    assert reply.headers["content-type"].startswith("text/csv")
    assert reply.headers["content-disposition"] == 'attachment; filename="rated.csv"'
    read = {row["hotel"]: row for row in csv.DictReader(io.StringIO(reply.text))}
    assert {*read} == {*(f"'{name}" for name in names[:8]), "-1", "plain", "'quoted"}
    assert float(read["plain"]["estimate"]) == uh.estimate([1, 0, 0, 0, 1], 0.3).estimate


def test_a_report_leads_with_one_crowd_unless_told(server: Served) -> None:
    led, separate = (
        server.table("/report", STAYS, name="stays.csv", **more, **HOTELS).text
        for more in (dict[str, str](), {"shared": "false"})
    )
    assert "One crowd: people with the same opinion" in led
    assert "--separate" not in led
    assert "Separate crowds: each item" in separate
    assert "--separate" in separate


def test_the_report_arrives(server: Served) -> None:
    reply = server.table("/report", STAYS, name="my stays.csv", k=2, **HOTELS)
    assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "Dune" in reply.text
    for words in (
        "unheard report &#39;my stays.csv&#39;",
        "--item hotel",
        "--k 2",
        "-o report.html",
    ):
        assert words in reply.text


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/estimate", {"counts": COUNTS, "q": 0.3}),
        ("/sweep", {"counts": COUNTS, "above": 3.5, "at": 0.3}),
        ("/compare", {"a": [5, 10, 35, 120, 30], "b": [30, 25, 45, 80, 20], "q": 0.5}),
        ("/regret", {"n": 5, "m": 2, "q": [0.3, 0.5], "method": ["bea", "average"]}),
        ("/calibrate", {"observed": [12, 30, 49, 25], "truth": [400, 330, 230, 60]}),
    ],
)
def test_every_answer_can_be_drawn(
    server: Served, path: str, asked: dict[str, Any], theme: str
) -> None:
    address = f"{path}/chart?theme={theme}"
    spec = server.question(address, asked)
    assert spec.status == 200
    assert "vega-lite" in spec.document["$schema"]
    assert spec.document["description"]
    picture = server.question(f"{address}&format=png", asked)
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")
    drawing = server.question(f"{address}&format=svg", asked)
    assert drawing.headers["content-type"] == "image/svg+xml"
    assert drawing.text.startswith("<svg")


def test_a_ranking_can_be_drawn(server: Served) -> None:
    spec = server.table("/rank/chart", STAYS, **HOTELS)
    assert "Dune" in spec.text
    picture = server.table("/rank/chart", STAYS, format="png", theme="dark", **HOTELS)
    assert picture.content.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "asked",
    [
        {"counts": [1, -2], "q": 0.3},
        {"counts": [1, 2.5], "q": 0.3},
        {"counts": [1, 2], "q": 1.5},
        {"counts": [1, 2]},
        {"counts": [1, 2], "q": "revews"},
        {"counts": [1, 2], "q": 0.3, "n": 2},
        {"counts": [1, 2], "q": 0.3, "scale": "2:1"},
        {"counts": [1, 2], "q": 0.3, "quiet": "sad"},
        {"counts": [1, 2], "q": 0.3, "method": "mean"},
        {"counts": [1, 2], "q": 0.3, "level": 1},
        {"counts": [1, 2], "g": [0.5]},
        {"counts": [1, 2], "q": 0.3, "scale": [0, 1e200]},
    ],
)
def test_errors_are_those_of_the_library(server: Served, asked: dict[str, Any]) -> None:
    with pytest.raises(InputError) as raised:
        uh.estimate(**asked)
    found = problem(server.question("/estimate", asked), 422)
    assert found["detail"] == raised.value.render(REST)
    assert found["code"] == raised.value.code
    assert found["argument"] == raised.value.argument


@pytest.mark.parametrize(
    ("content", "query", "words"),
    [
        (STAYS, {"item": "hotl"}, "Did you mean 'hotel'?"),
        (STAYS, {"scale": "1:4"}, "not on the scale 1 to 4"),
        (STAYS, {"q": "two"}, "q is not a number; got 'two'."),
        (STAYS, {"n": "-1"}, "n must be a whole number of people, at most 2**53; got -1."),
        (STAYS, {"q": "0.3", "q_column": "stars"}, "q and q_column cannot be combined."),
        (b"", {}, "table.csv is empty"),
        (b"hotel,stars\nA,\n", {}, "1 row has no rating"),
        (b"\x00\x01\x02", {}, "table.csv is a binary file"),
    ],
)
def test_bad_tables_are_refused(
    server: Served, content: bytes, query: dict[str, Any], words: str
) -> None:
    found = problem(server.table("/rate", content, **(HOTELS | query)), 422)
    assert words in found["detail"]
    # Where the table lies on the server is nobody's business.
    assert "unheard-" not in found["detail"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v1/estimate", 405),
        ("DELETE", "/healthz", 405),
        ("GET", "/static/../app.py", 404),
        ("GET", "/static/%2e%2e/app.py", 404),
        ("POST", "/api/v1/rate?item=a&rating=b&q=0.3", 415),
    ],
)
def test_what_is_not_there(server: Served, method: str, path: str, status: int) -> None:
    problem(server.ask(method, path), status)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"5", b"null", b'{"counts": "no"}', b'{"counts": [1]}', b"\xff\xfe",
        b'{"counts": [1, 2], "q": 0.3, "unknown": 1}', b'{"counts": [true, false], "q": 0.3}',
        b'{"counts": [1, 2], "q": NaN}', b'{"counts": [1e400, 2], "q": 0.3}', b"[" * 100_000,
        b'{"counts": [1, 2], "q": 0.3, "n": 1e999}', b'{"counts": ["1", "2"], "q": 0.3}',
    ],
)  # fmt: skip
def test_malformed_questions_are_refused(server: Served, body: bytes) -> None:
    reply = server.ask("POST", "/api/v1/estimate", body, {"content-type": "application/json"})
    assert reply.status in (400, 422)
    problem(reply, reply.status)


@pytest.mark.parametrize(
    ("asked", "detail"),
    [
        ({"counts": [1, "two"], "q": 0.3}, "counts[1] must be a number; got 'two'."),
        ({"counts": [1, 2], "q": []}, "q must be a number; got []."),
        ({"q": 0.3}, "counts is missing. See /api/v1/openapi.json."),
        ({"counts": [1, 2], "k": 1}, "There is no field k. See /api/v1/openapi.json."),
        ([], "body must be a JSON object; got []."),
    ],
)
def test_mistakes_are_named(server: Served, asked: Any, detail: str) -> None:
    assert problem(server.question("/estimate", asked), 422)["detail"] == detail


@pytest.mark.parametrize("kind", ["", "text/plain", "text/csv"])
def test_questions_are_json(server: Served, kind: str) -> None:
    headers = {"content-type": kind} if kind else {}
    reply = server.ask("POST", "/api/v1/estimate", b'{"counts": [1, 2], "q": 0.3}', headers)
    assert "The content type must be application/json" in problem(reply, 415)["detail"]


def test_large_counts_are_not_rows(server: Served) -> None:
    content = b"hotel,n1,n2\nA,90000000,10\nB,10,90000000\n"
    reply = server.table("/rank", content, item="hotel", counts="n1,n2", q=0.5)
    assert [row["n_ratings"] for row in reply.document["rows"]] == [90_000_010, 90_000_010]


def test_a_scale_is_not_guessed_from_slips_or_luck(server: Served) -> None:
    def guessed(*stars: float) -> Any:
        rows = "".join(f"A,{value}\n" for value in stars)
        return server.table("/inspect", f"hotel,stars\n{rows}".encode()).document["guess"]["scale"]

    assert guessed(*[3, 4] * 20) == "1:5"
    assert guessed(*[1, 2, 3, 4, 5] * 30, 9, 0) == "1:5"
    assert guessed(*[0.5, 4.5, 3, 2.5] * 10) == "0.5:5:0.5"
    assert guessed(*[0, 5, 10, 7] * 9) == "0:10"


def test_an_answer_has_no_nan(server: Served) -> None:
    reply = server.question("/estimate", {"counts": [0, 0], "q": 0.3, "n": 0})
    assert reply.status == 200
    assert "NaN" not in reply.text
    assert reply.document["estimates"][0]["notes"] == ["no_ratings"]


def test_the_schema_is_openapi(server: Served) -> None:
    schema = server.get("/api/v1/openapi.json").document
    assert schema["openapi"].startswith("3.")
    paths = {path.removeprefix("/api/v1") for path in schema["paths"]}
    assert {"/estimate", "/rate", "/sweep", "/compare", "/rank", "/calibrate", "/regret"} <= paths
    assert "/healthz" in paths


def test_many_ask_at_once(server: Served) -> None:
    from concurrent.futures import ThreadPoolExecutor

    generator = np.random.default_rng(7)
    histograms = generator.integers(1, 500, (40, 5)).tolist()

    def ask(counts: list[int]) -> float:
        found = server.question("/sweep", {"counts": counts, "q": [0.3]}).document
        return float(found["rows"][0]["estimate"])

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(ask, histograms))
    assert found == pytest.approx(uh.estimate(histograms, 0.3).estimate.tolist())


def test_the_server_ends_with_its_workers() -> None:
    with serving() as served:
        pid = served.process.pid
        children = _children(pid)
        assert children
    time.sleep(0.5)
    assert not any(Path(f"/proc/{child}").exists() for child in children)


def _children(pid: int) -> list[int]:
    if sys.platform != "linux":
        pytest.skip("children are listed in /proc, which only Linux has")
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]
