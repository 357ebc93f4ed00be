"""The server does what its OpenAPI schema says, whatever is sent to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.web.server import Served, serving
from unheard.web.server.app import make_app

pytestmark = pytest.mark.xdist_group("web-schema")
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_headers_conformance, response_schema_conformance,
]  # fmt: skip
SCHEMA = schemathesis.openapi.from_dict(make_app().app.openapi())
# What is wrong may also be too large to be looked at.
SCHEMA.config.checks.negative_data_rejection.expected_statuses += ["413", "431"]
OPERATIONS = [
    (path, method.upper())
    for path, methods in SCHEMA.raw_schema["paths"].items()
    for method in methods
]
STAYS = (Path(__file__).parents[2] / "docs/stays.csv").read_bytes()


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--max-seconds", "3") as served:
        yield served


@pytest.fixture(scope="module")
def patient() -> Iterator[Served]:
    with serving() as served:
        yield served


RIGHT, WRONG = GenerationMode.POSITIVE, GenerationMode.NEGATIVE


@pytest.mark.parametrize(
    ("path", "method", "mode"),
    [(*one, RIGHT) for one in OPERATIONS]
    # A question without an input has no wrong one.
    + [(*one, WRONG) for one in OPERATIONS if one[1] == "POST"],
)
def test_the_schema_is_kept(server: Served, path: str, method: str, mode: GenerationMode) -> None:
    operation = SCHEMA[path][method]
    checks = [*CHECKS, negative_data_rejection] if mode is WRONG else CHECKS

    @settings(max_examples=8, suppress_health_check=list(HealthCheck), deadline=None)
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate(base_url=server.address, checks=checks, timeout=60)

    ask()
    assert server.is_well()


@pytest.mark.parametrize("path", ["rate", "counts", "rank", "rank/chart", "report", "plan"])
def test_what_the_schema_allows_is_answered(patient: Served, path: str) -> None:
    query: dict[str, Any] = {"item": "hotel", "rating": "stars"}
    if path != "counts":
        query["q"] = "0.3"
    if path == "plan":
        query |= {"n": "100", "width": "1"}
    case = SCHEMA[f"/api/v1/{path}"]["POST"].Case(query=query, body=STAYS, media_type="text/csv")
    reply = case.call(base_url=patient.address, timeout=60)
    assert reply.status_code == 200
    case.validate_response(reply, checks=CHECKS)
