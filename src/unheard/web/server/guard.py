"""Checks on every request: who sends it, how much it sends, and how slowly.

A plain ASGI layer: nothing is read before it is checked, and the checks cost next to nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import secrets
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias
from urllib.parse import SplitResult, urlsplit

from unheard.web.api.problems import MEDIA_TYPE, RefusedError, encode, fault, too_large
from unheard.web.server.limits import Limits, write_size

Scope: TypeAlias = Any
Receive: TypeAlias = Callable[[], Any]
Send: TypeAlias = Callable[[Any], Any]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
SAFE_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
"""Headers of every response that keep a browser safe."""

_DELAY = 1.0
"""Seconds before a wrong token gets its response."""

_MOST_PARAMETERS = 100
"""Parameters in the query of a request; no question has half as many."""

_log = logging.getLogger("unheard.web")


def is_loopback(host: str) -> bool:
    """Whether a name or address refers to this machine itself."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Guard:
    """Checks requests, limits their bodies, and sets the headers that keep a browser safe.

    Parameters
    ----------
    app
        The application behind it.
    limits
        What a request may use.
    token
        The secret that a client must send; None for no token.
    tables
        Paths whose bodies are tables, which may be larger than questions.
    """

    def __init__(
        self, app: Any, limits: Limits, token: str | None, tables: Iterable[str] = ()
    ) -> None:
        self.app, self.limits, self.tables = app, limits, frozenset(tables)
        self.token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        most = self.limits.bytes if path in self.tables else self.limits.question_bytes
        transfer = _Transfer(path, receive, send, self.limits, most)
        try:
            headers = dict(scope["headers"])
            await self._check(scope, headers)
            _check_size(headers, most)
            await self.app(scope, transfer.receive, transfer.send)
        except RefusedError as error:
            transfer.refusal = transfer.refusal or error
        except Exception:
            # It does not matter how the application fails on a truncated body.
            if transfer.refusal is None and not transfer.has_left:
                await transfer.refuse(fault())
                raise
        if transfer.has_left:
            _log_request(f"left after {write_size(transfer.seen)} of a body", scope)
        elif transfer.refusal is not None:
            await transfer.refuse(transfer.refusal)

    async def _check(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        # Without a token this server answers only requests for loopback: another site may have
        # pointed its own name at this machine (DNS rebinding).
        if self.token is None and not is_loopback(_parse_host(f"//{host}")):
            raise RefusedError(421, f"The host {host!r} is not this server. Use localhost.")
        if not scope["path"].startswith("/api"):
            return
        origin = headers.get(b"origin")
        foreign = origin is not None and _parse_address(origin.decode("latin-1")) != host
        if foreign or headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site"):
            raise RefusedError(
                403, "The request comes from another site. Use the page of this server."
            )
        if self.token is not None:
            await self._check_token(scope, headers.get(b"authorization", b""))
        if scope["query_string"].count(b"&") >= _MOST_PARAMETERS:
            raise RefusedError(
                422, f"The query has more than {_MOST_PARAMETERS} parameters. Send fewer."
            )

    async def _check_token(self, scope: Scope, sent: bytes) -> None:
        scheme, _, token = sent.partition(b" ")
        is_bearer = scheme.lower() == b"bearer"
        if is_bearer and secrets.compare_digest(token.strip(), self.token or b""):
            return
        if sent:
            _log_request("sent a wrong token", scope)
            await asyncio.sleep(_DELAY)
        raise RefusedError(
            401,
            "The token is missing or wrong. Send it in the header Authorization: Bearer TOKEN.",
        )


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:  # such as http://[
        return urlsplit("")


def _parse_host(address: str) -> str:
    return _split(address).hostname or ""


def _parse_address(address: str) -> str:
    return _split(address).netloc


def _log_request(event: str, scope: Scope) -> None:
    """Log one short line about a request, whatever it contains."""
    client = str((scope.get("client") or ("a client",))[0])
    _log.warning(
        "%.60s %s: %s %.100s", ascii(client)[1:-1], event, scope["method"], ascii(scope["path"])
    )


class _Transfer:
    """One request in transfer: counts what comes in, and sets headers on what goes out."""

    def __init__(self, path: str, receive: Receive, send: Send, limits: Limits, most: int) -> None:
        self.path, self._receive, self._send = path, receive, send
        self.limits, self.most = limits, most
        self.seen, self.complete, self.started, self.has_left = 0, False, False, False
        self.refusal: RefusedError | None = None
        self._refusing = False
        self._began: float | None = None

    async def receive(self) -> Any:
        """Return the next piece of the body, or refuse a client that is too slow."""
        if self.complete:
            # All that can come now is a disconnect, at any time.
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline()):
                message = await self._receive()
        except TimeoutError:
            self.refusal = RefusedError(
                408, "The body arrives too slowly, or not at all. Send it again."
            )
            raise self.refusal from None
        if message["type"] == "http.disconnect":
            self.has_left = True
            return message
        self.seen += len(message.get("body", b""))
        self.complete = not message.get("more_body", False)
        if self.seen > self.most:
            self.refusal = too_large(self.most)
            raise self.refusal
        return message

    def _deadline(self) -> float:
        """Return until when to wait for a piece: each pause is limited, and so is the whole."""
        now = asyncio.get_running_loop().time()
        if self._began is None:
            self._began = now
        return min(now + self.limits.patience, self._began + self.limits.time_for(self.seen))

    async def send(self, message: Any) -> None:
        """Pass a response on, unless the request has been refused in the meantime."""
        if self.refusal is not None and not (self._refusing or self.started):
            return
        if message["type"] == "http.response.start":
            self.started = True
            headers = [*message.get("headers", []), *SAFE_HEADERS]
            if self.path.startswith("/api"):
                headers.append((b"cache-control", b"no-store"))
            message = message | {"headers": headers}
        await self._send(message)

    async def refuse(self, error: RefusedError) -> None:
        """Respond with a problem, unless another response has begun."""
        if self.started:
            return
        self._refusing = True
        body = encode(error.problem)
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
        ]
        if error.status == 401:
            headers.append((b"www-authenticate", b'Bearer realm="unheard"'))
        await self.send({"type": "http.response.start", "status": error.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def _check_size(headers: dict[bytes, bytes], most: int) -> None:
    stated = headers.get(b"content-length", b"0")
    if not stated.isdigit() or len(stated) > 18 or int(stated) > most:
        raise too_large(most)
