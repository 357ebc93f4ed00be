"""The application: the page, and the REST interface under ``/api/v1``."""

from __future__ import annotations

import asyncio
import gzip
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import escape
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from unheard._version import __version__
from unheard.errors import UnheardError
from unheard.options.questions import labels
from unheard.web.api import routes
from unheard.web.api.problems import MEDIA_TYPE, as_problem, encode, fault, problem
from unheard.web.api.read_requests import describe_mistake
from unheard.web.server.guard import Guard
from unheard.web.server.limits import Limits
from unheard.web.server.pool import WorkerPool
from unheard.web.server.spool import Spool

_STATIC = Path(__file__).parents[1] / "static"
_PREFIX = "/api/v1"
_CHART_LIBRARIES = ("altair", "jinja2", "vl_convert")
_NO_CHARTS = (
    '<p class="hint" id="no-charts">Charts and reports require libraries that are not installed. '
    "Install them with: <code>pip install 'unheard[web,charts]'</code></p>"
)


def make_app(
    limits: Limits | None = None, token: str | None = None, workers: int | None = None
) -> Guard:
    """Make the application.

    Parameters
    ----------
    limits
        What one request may use.
    token
        The secret that a client must send; None to serve loopback without one.
    workers
        Worker processes; by default one per processor, up to four.
    """
    limits = limits or Limits()
    # One more than the tables read at a time, so that questions need not wait for tables.
    pool = WorkerPool(limits, workers or max(limits.tables + 1, min(os.cpu_count() or 1, 4)))
    spool = Spool(limits.temporary)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        spool.open()
        await pool.start()
        app.state.vega = asyncio.create_task(_bundle_vega(pool))
        try:
            yield
        finally:
            app.state.vega.cancel()
            await pool.end()
            spool.close()

    app = FastAPI(
        title="unheard",
        version=__version__,
        summary="Ratings with an allowance for the people who did not respond",
        openapi_url=f"{_PREFIX}/openapi.json",
        # Their pages load scripts from other sites.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.pool, app.state.spool, app.state.limits = pool, spool, limits
    app.include_router(routes.router, prefix=_PREFIX)
    _add_page(app)
    _add_problems(app)
    tables = [f"{_PREFIX}{path}" for path in routes.TABLES]
    return Guard(app, limits, token, tables)


async def _bundle_vega(pool: WorkerPool) -> tuple[bytes, bytes]:
    """Make the script that draws charts, once, plain and compressed."""
    answer = await pool.answer("vega", {})
    if answer.status != 200:
        return b"", b""
    return answer.content, await asyncio.to_thread(gzip.compress, answer.content, 6)


def write_page() -> str:
    """Write the page with the labels of the options, which are declared once for all surfaces."""
    texts = {"no_charts": "" if all(map(find_spec, _CHART_LIBRARIES)) else _NO_CHARTS}
    for name, option in labels().items():
        texts[name] = escape(option.label)
        texts |= {f"{name}_{value}": escape(text) for value, text in option.choices.items()}
    return Template((_STATIC / "index.html").read_text(encoding="utf-8")).substitute(texts)


def _add_page(app: FastAPI) -> None:
    page = write_page().encode()

    @app.get("/healthz", tags=["server"])
    async def healthz() -> routes.Health:
        """Say that the server is running."""
        return routes.Health(status="ok", version=__version__)

    async def index(_: Request) -> Response:
        return Response(page, media_type="text/html; charset=utf-8")

    async def vega(request: Request) -> Response:
        plain, packed = await asyncio.shield(request.app.state.vega)
        if not plain:
            raise HTTPException(404, "Charts require vl-convert: pip install 'unheard[web,charts]'")
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(plain, media_type="text/javascript")
        return Response(packed, media_type="text/javascript", headers={"content-encoding": "gzip"})

    app.add_route("/", index)
    app.add_route("/static/vega.js", vega)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")


def _add_problems(app: FastAPI) -> None:
    def send(document: dict[str, Any]) -> Response:
        status = document["status"]
        headers = {"retry-after": "1"} if status in (429, 503) else {}
        return Response(encode(document), status, headers, MEDIA_TYPE)

    @app.exception_handler(UnheardError)
    async def refuse(_: Request, error: UnheardError) -> Response:
        return send(as_problem(error) or fault().problem)

    @app.exception_handler(RequestValidationError)
    async def refuse_malformed(_: Request, error: RequestValidationError) -> Response:
        first = dict(error.errors()[0])
        # The name of an argument tells whether it is in the query or in the body.
        return await refuse(_, describe_mistake(first | {"loc": first["loc"][1:]}))

    @app.exception_handler(HTTPException)
    async def refuse_by_framework(_: Request, error: HTTPException) -> Response:
        answer = send(problem(error.status_code, f"{error.detail}."))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    async def admit_fault(_: Request, __: Exception) -> Response:
        return send(fault().problem)
