"""Run the application until it is interrupted."""

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
"""Bytes of a connection that the system buffers until the server reads them."""


class Server(uvicorn.Server):
    """A server that announces when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then announce it."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def listen(host: str, port: int) -> socket.socket:
    """Bind to an address, so that the port is known before anything starts, even for port 0."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit it: a fast sender gets no larger share of the server's time.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVED)
        bound.bind(address)
    except (OSError, OverflowError) as error:
        raise OptionError(
            "port",
            problem="{address} cannot be used ({reason})",
            hint="Choose another {argument}, or 0 for any free one",
            address=f"{host}:{port}",
            reason=error,
        ) from None
    return bound


def write_address(bound: socket.socket) -> str:
    """Write the address of the page."""
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{host}:{port}/"


def serve(
    bound: socket.socket,
    limits: Limits,
    token: str | None,
    *,
    browser: bool,
    ready: Callable[[str], None],
) -> None:
    """Answer requests until interrupted.

    Parameters
    ----------
    bound
        The address, see :func:`listen`.
    limits, token
        As in :func:`unheard.web.server.app.make_app`.
    browser
        Whether to open the page in a browser.
    ready
        Called with the address of the page once the server is ready.
    """
    address = write_address(bound)

    def announce() -> None:
        ready(address)
        if browser:
            # What follows # stays in the browser.
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
    Server(config, announce).run([bound])
