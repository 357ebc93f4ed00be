"""The addresses of the REST interface, and what each of them does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeAlias

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import BaseModel

from unheard._version import __version__
from unheard.formulas.boxes import QUIET
from unheard.formulas.estimators import ESTIMATORS
from unheard.model.example import HOTELS
from unheard.model.notes import NOTE_TEXTS
from unheard.model.studies import NAMED_Q, PRESET_TEXTS, PRESETS, STUDIES
from unheard.options.questions import labels
from unheard.web.api import histograms
from unheard.web.api.forms import (
    CalibrateQuestion,
    CompareQuestion,
    EstimateQuestion,
    MinimaxQuestion,
    PlanQuestion,
    RegretQuestion,
    SweepQuestion,
    describe_query,
)
from unheard.web.api.problems import MEDIA_TYPE, RefusedError
from unheard.web.api.read_requests import read_query
from unheard.web.api.schemas import (
    About,
    AuditDocument,
    ComparisonDocument,
    EstimateDocument,
    Health,
    InspectionDocument,
    MinimaxDocument,
    OptionLabels,
    OrderDocument,
    PlanDocument,
    PlansDocument,
    Problem,
    RegretDocument,
    StudyDocument,
    SweepDocument,
)
from unheard.web.api.tables import FORMS
from unheard.web.server.pool import WorkerAnswer

Schema: TypeAlias = dict[str, Any]

__all__ = ["TABLES", "Health", "router"]

TABLES = (
    "/inspect", "/counts", "/rate", "/rank", "/rank/chart", "/report", "/calibrate",
    "/calibrate/chart", "/plan",
)  # fmt: skip
"""Paths whose bodies are tables."""

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": words, "content": {MEDIA_TYPE: {"schema": Problem.model_json_schema()}}}
    for status, words in {
        400: "The request is not valid HTTP",
        401: "The token is missing or wrong",
        403: "The request comes from another site",
        408: "The client was too slow",
        413: "The body is too large",
        415: "The content type is not supported",
        421: "The request is for another server",
        422: "The input cannot be used; the message says why and what to do",
        429: "Too many requests are waiting",
        431: "The head of the request is too large",
        501: "A required library is not installed",
        503: "The server already holds too many uploads",
        507: "The temporary disk is full",
    }.items()
}
_CSV = {"text/csv": {"schema": {"type": "string"}}}
_PICTURES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A Vega-Lite specification, or a picture",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "image/svg+xml": {"schema": {"type": "string"}},
            "image/png": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
_ROWS: Schema = {"type": "array", "items": {"type": "object"}}


def _describe_table(*questions: str, schema: Schema = _ROWS) -> Schema:
    """Describe a request whose body is a table, or something else in JSON."""
    file: Schema = {"type": "string", "format": "binary"}
    content = {kind: {"schema": file} for kind in FORMS}
    content["application/json"] = {"schema": schema}
    body = {"description": "The table.", "required": True, "content": content}
    return {"requestBody": body, "parameters": describe_query(*questions)}


def _describe_question(form: type[BaseModel], *questions: str) -> Schema:
    """Describe a request whose body a worker reads."""
    content = {"application/json": {"schema": form.model_json_schema()}}
    body = {"required": True, "content": content}
    return {"requestBody": body, "parameters": describe_query(*questions)}


_LISTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A row per item",
        "content": {"application/json": {"schema": _ROWS}} | _CSV,
    }
}

_GRACE = 2.0
"""Seconds that work may still take after the client has gone."""

router = APIRouter(responses=_PROBLEMS)


@router.get("/about", tags=["server"])
async def about(request: Request) -> About:
    """Say what a client should know before it asks."""
    return About(
        version=__version__,
        presets=PRESETS,
        preset_words=PRESET_TEXTS,
        studies={
            slug: StudyDocument(
                name=one.name,
                q=NAMED_Q[slug],
                quiet=one.direction,
                words=f"{one.what}; {one.who} respond less often",
            )
            for slug, one in STUDIES.items()
        },
        quiet=list(QUIET),
        methods={one.name: one.words for one in ESTIMATORS.values()},
        notes=NOTE_TEXTS,
        examples={name: list(counts) for name, counts in HOTELS.items()},
        limits=request.app.state.limits.describe(),
        options={
            name: OptionLabels(label=one.label, choices=dict(one.choices))
            for name, one in labels().items()
        },
    )


# Questions about counts.


async def _is_json(request: Request) -> None:
    if _kind(request) != "application/json":
        found = _kind(request) or "none"
        raise RefusedError(415, f"The content type must be application/json; got {found}.")


_JSON = [Depends(_is_json)]


@router.post(
    "/estimate",
    tags=["counts"],
    dependencies=_JSON,
    openapi_extra=_describe_question(EstimateQuestion),
    responses={200: {"model": EstimateDocument}},
)
async def estimate(request: Request) -> Response:
    """Estimate the mean rating of everybody from the ratings of respondents."""
    body = await request.body()
    if len(body) <= request.app.state.limits.quick_bytes:
        found = histograms.quick_estimate(body)
        if found is not None:
            return _send(found)
    return await _ask_worker(request, "estimate", body)


@router.post(
    "/sweep",
    tags=["counts"],
    dependencies=_JSON,
    openapi_extra=_describe_question(SweepQuestion),
    responses={200: {"model": SweepDocument}},
)
async def sweep(request: Request) -> Response:
    """Answer for every q, and say which q overturns a claim."""
    return await _ask_worker(request, "sweep", await request.body())


@router.post(
    "/compare",
    tags=["counts"],
    dependencies=_JSON,
    openapi_extra=_describe_question(CompareQuestion),
    responses={200: {"model": ComparisonDocument}},
)
async def compare(request: Request) -> Response:
    """Compare two items."""
    return await _ask_worker(request, "compare", await request.body())


@router.post(
    "/regret",
    tags=["counts"],
    dependencies=_JSON,
    openapi_extra=_describe_question(RegretQuestion),
    responses={200: {"model": RegretDocument | list[RegretDocument]}},
)
async def regret(request: Request) -> Response:
    """Find how wrong methods can be."""
    return await _ask_worker(request, "regret", await request.body())


@router.post(
    "/minimax",
    tags=["counts"],
    dependencies=_JSON,
    openapi_extra=_describe_question(MinimaxQuestion),
    responses={200: {"model": MinimaxDocument}},
)
async def minimax(request: Request) -> Response:
    """Bracket the best worst case that any method can have."""
    return await _ask_worker(request, "minimax", await request.body())


@router.post(
    "/estimate/chart",
    tags=["charts"],
    dependencies=_JSON,
    openapi_extra=_describe_question(EstimateQuestion, "chart"),
    responses=_PICTURES,
)
async def estimate_chart(request: Request) -> Response:
    """Draw one histogram with its estimate and intervals."""
    return await _ask_worker(
        request, "estimate_chart", await request.body(), how=_read(request, "chart")
    )


@router.post(
    "/sweep/chart",
    tags=["charts"],
    dependencies=_JSON,
    openapi_extra=_describe_question(SweepQuestion, "chart"),
    responses=_PICTURES,
)
async def sweep_chart(request: Request) -> Response:
    """Draw the answers for every q."""
    return await _ask_worker(
        request, "sweep_chart", await request.body(), how=_read(request, "chart")
    )


@router.post(
    "/compare/chart",
    tags=["charts"],
    dependencies=_JSON,
    openapi_extra=_describe_question(CompareQuestion, "chart"),
    responses=_PICTURES,
)
async def compare_chart(request: Request) -> Response:
    """Draw two items against each other."""
    return await _ask_worker(
        request, "compare_chart", await request.body(), how=_read(request, "chart")
    )


@router.post(
    "/regret/chart",
    tags=["charts"],
    dependencies=_JSON,
    openapi_extra=_describe_question(RegretQuestion, "chart"),
    responses=_PICTURES,
)
async def regret_chart(request: Request) -> Response:
    """Draw how wrong methods can be."""
    return await _ask_worker(
        request, "regret_chart", await request.body(), how=_read(request, "chart")
    )


# Tables.


@router.post(
    "/inspect",
    tags=["tables"],
    responses={200: {"model": InspectionDocument}},
    openapi_extra=_describe_table("inspect"),
)
async def inspect(request: Request) -> Response:
    """Say what is in a table, and what its columns may be."""
    return await _table(request, "inspect", given=_read(request, "inspect"))


@router.post("/counts", tags=["tables"], responses=_LISTED, openapi_extra=_describe_table("counts"))
async def counts(request: Request) -> Response:
    """Count the ratings of every item."""
    given = _read(request, "counts")
    return await _table(request, "counts", given=given, as_csv=_wants_csv(request))


@router.post("/rate", tags=["tables"], responses=_LISTED, openapi_extra=_describe_table("rate"))
async def rate(request: Request) -> Response:
    """Rate every item."""
    given = _read(request, "rate")
    return await _table(request, "rate", given=given, as_csv=_wants_csv(request))


@router.post(
    "/rank",
    tags=["tables"],
    responses={200: {"model": OrderDocument, "content": _CSV}},
    openapi_extra=_describe_table("rank"),
)
async def rank(request: Request) -> Response:
    """Say what is settled about the order of the items."""
    given = _read(request, "rank")
    return await _table(request, "rank", given=given, as_csv=_wants_csv(request))


@router.post(
    "/rank/chart",
    tags=["charts"],
    responses=_PICTURES,
    openapi_extra=_describe_table("rank", "rank_chart", "chart"),
)
async def rank_chart(request: Request) -> Response:
    """Draw the order of the items."""
    parameters = request.query_params.multi_items()
    given, drawing, how = read_query(parameters, "rank", "rank_chart", "chart")
    return await _table(request, "rank_chart", given=given, drawing=drawing, how=how)


@router.post(
    "/report",
    tags=["tables"],
    responses={
        200: {
            "description": "One self-contained page",
            "content": {"text/html": {"schema": {"type": "string"}}},
        }
    },
    openapi_extra=_describe_table("report"),
)
async def report(request: Request) -> Response:
    """Write a report about a table."""
    return await _table(request, "report", given=_read(request, "report"))


_AUDIT = {"anyOf": [CalibrateQuestion.model_json_schema(), _ROWS]}


@router.post(
    "/calibrate",
    tags=["audits"],
    responses={200: {"model": AuditDocument}},
    openapi_extra=_describe_table("calibrate", schema=_AUDIT),
)
async def calibrate(request: Request) -> Response:
    """Estimate participation: from an audit, or from a table with reminders or response rates."""
    return await _table(request, "calibrate", given=_read(request, "calibrate"))


@router.post(
    "/calibrate/chart",
    tags=["charts"],
    responses=_PICTURES,
    openapi_extra=_describe_table("calibrate", "chart", schema=_AUDIT),
)
async def calibrate_chart(request: Request) -> Response:
    """Draw participation by rating."""
    given, how = read_query(request.query_params.multi_items(), "calibrate", "chart")
    return await _table(request, "calibrate_chart", given=given, how=how)


@router.post(
    "/plan",
    tags=["plans"],
    responses={200: {"model": PlanDocument | PlansDocument, "content": _CSV}},
    openapi_extra=_describe_table(
        "plan_table", schema={"anyOf": [PlanQuestion.model_json_schema(), _ROWS]}
    ),
)
async def plan(request: Request) -> Response:
    """Find how many non-respondents to ask: of counts, or of each item of a table."""
    given = _read(request, "plan_table")
    return await _table(request, "plan", given=given, as_csv=_wants_csv(request))


# What they have in common.


def _send(answer: WorkerAnswer) -> Response:
    headers = {}
    if answer.file_name is not None:
        headers["content-disposition"] = f'attachment; filename="{answer.file_name}"'
    return Response(answer.content, answer.status, headers, answer.media_type)


async def _ask_worker(request: Request, task: str, body: bytes, **given: Any) -> Response:
    """Have a worker answer a question."""
    return await _await_answer(request, request.app.state.pool.answer(task, given, body))


async def _table(request: Request, task: str, **given: Any) -> Response:
    """Have a worker answer about the table in the body."""
    kind = _kind(request)
    if kind not in FORMS or request.headers.get("content-encoding", "identity") != "identity":
        raise RefusedError(
            415,
            f"The content type must be one of {', '.join(FORMS)}; got {kind or 'none'}.",
        )
    pool, spool, limits = (getattr(request.app.state, name) for name in ("pool", "spool", "limits"))
    async with spool.keep(request.stream(), FORMS[kind]) as folder:
        most = {name: getattr(limits, name) for name in ("question_bytes", "memory")}
        upload = {"folder": str(folder), "file": FORMS[kind], "limits": limits.describe() | most}
        size = (folder / FORMS[kind]).stat().st_size
        return await _await_answer(request, pool.read(task, {"upload": upload, **given}, size))


async def _await_answer(request: Request, answer: Coroutine[Any, Any, WorkerAnswer]) -> Response:
    """Wait for a worker for as long as the client waits for it."""
    work = asyncio.ensure_future(answer)
    leaving = asyncio.ensure_future(_wait_for_departure(request))
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
        # Another worker takes longer to start than most work takes to end.
        await asyncio.wait({work}, timeout=_GRACE)
        if work.done():
            return _send(work.result())
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        # Nobody reads this.
        return Response(status_code=408)
    finally:
        leaving.cancel()
        work.cancel()


async def _wait_for_departure(request: Request) -> None:
    """Wait until the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _wants_csv(request: Request) -> bool:
    return "text/csv" in request.headers.get("accept", "")


def _read(request: Request, question: str) -> dict[str, str]:
    """Read the query parameters of one question, still as text."""
    return read_query(request.query_params.multi_items(), question)[0]
