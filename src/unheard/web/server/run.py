"""Runs the application until somebody stops it."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable

import uvicorn

from unheard.errors import OptionError
from unheard.web.server.app import make_app
from unheard.web.server.limits import Limits
from unheard.web.server.protocol import BoundedProtocol

_RECEIVED = 64 * 1024
"""Bytes of a connection that the system keeps until the server reads them."""


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
        # Connections inherit it: one that sends fast gets no larger share of the server's time.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVED)
        taken.bind(address)
    except (OSError, OverflowError) as error:
        raise OptionError(
            "port",
            f"{host}:{port} cannot be used ({error})",
            "Choose another with --port, or 0 for any",
        ) from None
    return taken


def address_of(taken: socket.socket) -> str:
    """Write the address of the page."""
    host, port = taken.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{host}:{port}/"


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
        As in :func:`unheard.web.server.app.make_app`.
    browser
        Whether to open the page in a browser.
    ready
        Told the address of the page once it can be asked for.
    """
    address = address_of(taken)

    def started() -> None:
        ready(address)
        if browser:
            # What comes after # stays in the browser.
            webbrowser.open(address if token is None else f"{address}#token={token}")

    BoundedProtocol.limits = limits
    config = uvicorn.Config(
        make_app(limits, token),
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
    )
    Server(config, started).run([taken])
