"""Runs the application until somebody stops it."""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from unheard.errors import OptionError
from unheard.web.app import make_app
from unheard.web.limits import Limits
from unheard.web.problems import MEDIA_TYPE, encoded, problem


class Impatient(HttpToolsProtocol):
    """HTTP that hangs up on whoever does not come to the end of a request's head."""

    patience = 15.0
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def on_message_begin(self) -> None:
        """Wait for the rest of a head that has begun."""
        super().on_message_begin()
        self._wait()

    def on_headers_complete(self) -> None:
        """Stop waiting: the rest is the application's business."""
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for somebody who has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, such as one with an endless address, as all errors are."""
        words = f"request: {msg.rstrip('.')}. Send less, or in another way."
        body = encoded(problem(400, words))
        head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close"
        self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{head}\r\n\r\n".encode() + body)
        self.transport.close()

    def _wait(self) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(self.patience, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()


class Server(uvicorn.Server):
    """A server that says when it can be asked."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def listen(host: str, port: int) -> socket.socket:
    """Take an address, so that a port of 0 is known before anything is started."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        taken = socket.socket(family, kind, protocol)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
    except (OSError, OverflowError) as error:
        raise OptionError(
            "port",
            f"{host}:{port} cannot be used ({error})",
            "Choose another with --port, or 0 for any",
        ) from None
    return taken


def address_of(taken: socket.socket, token: str | None) -> str:
    """Write the address of the page."""
    host, port = taken.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    # What comes after # stays in the browser.
    secret = "" if token is None else f"#token={token}"
    return f"http://{host}:{port}/{secret}"


def serve(
    taken: socket.socket,
    limits: Limits,
    token: str | None,
    *,
    browser: bool,
    ready: Callable[[str], None],
) -> None:
    """Answer requests until interrupted.

    Parameters
    ----------
    taken
        The address, see :func:`listen`.
    limits, token
        As in :func:`unheard.web.app.make_app`.
    browser
        Whether to open the page in a browser.
    ready
        Told the address of the page once it can be asked for.
    """
    address = address_of(taken, token)

    def started() -> None:
        ready(address)
        if browser:
            webbrowser.open(address)

    Impatient.patience = limits.patience
    config = uvicorn.Config(
        make_app(limits, token),
        http=Impatient,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
    )
    Server(config, started).run([taken])
