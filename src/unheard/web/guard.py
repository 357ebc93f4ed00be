"""What every request passes before it is answered: who asks, how much, how slowly.

A plain ASGI layer, so that nothing is read before it is checked, and so that it costs next to
nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from unheard.web.limits import Limits, size_text
from unheard.web.problems import MEDIA_TYPE, RefusedError, encoded

Scope: TypeAlias = Any
Receive: TypeAlias = Callable[[], Any]
Send: TypeAlias = Callable[[Any], Any]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
_LINGER = 10.0
"""Seconds for which the rest of a refused upload is read, so that the client hears the answer."""


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Guard:
    """Checks requests, bounds their bodies, and sets the headers that keep a browser safe.

    Parameters
    ----------
    app
        What answers.
    limits
        How much a request may ask.
    token
        The secret that a client must show; None if none is asked for.
    tables
        Paths whose bodies are tables, which may be larger than questions.
    """

    def __init__(
        self, app: Any, limits: Limits, token: str | None, tables: Iterable[str] = ()
    ) -> None:
        self.app, self.limits, self.tables = app, limits, frozenset(tables)
        self.token = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        passing = _Passing(scope["path"], receive, send)
        try:
            headers = dict(scope["headers"])
            self._check(scope["path"], headers)
            passing.most = self._most(scope["path"])
            _check_size(headers, passing.most)
            passing.patience = self.limits.patience
            await self.app(scope, passing.receive, passing.send)
        except RefusedError as error:
            passing.refusal = passing.refusal or error
        # What the application made of a body that was cut short does not matter.
        if passing.refusal is not None and not passing.started:
            passing.refusing = True
            await _refuse(passing.refusal, receive, passing.send)

    def _check(self, path: str, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        # Without a token this server answers to loopback alone: a name that some other site has
        # pointed at this machine is not one of its own.
        if self.token is None and not is_loopback(urlsplit(f"//{host}").hostname or ""):
            raise RefusedError(421, f"host: {host!r} is not this server. Ask for localhost.")
        if not path.startswith("/api"):
            return
        origin = headers.get(b"origin")
        foreign = origin is not None and urlsplit(origin.decode("latin-1")).netloc != host
        if foreign or headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site"):
            raise RefusedError(403, "origin: another site asks. Use the page of this server.")
        if self.token is not None:
            shown = headers.get(b"authorization", b"")
            if not secrets.compare_digest(shown, self.token):
                raise RefusedError(
                    401, "token: missing or wrong. Send the header Authorization: Bearer TOKEN."
                )

    def _most(self, path: str) -> int:
        return self.limits.bytes if path in self.tables else self.limits.question_bytes


class _Passing:
    """One request on its way: counts what comes in, and sets headers on what goes out."""

    def __init__(self, path: str, receive: Receive, send: Send) -> None:
        self.path, self._receive, self._send = path, receive, send
        self.most, self.patience = 0, 0.0
        self.seen, self.complete, self.started = 0, False, False
        self.refusal: RefusedError | None = None
        self.refusing = False

    async def receive(self) -> Any:
        """Return the next piece of the body, waited for no longer than is reasonable."""
        if self.complete:
            # All that can come now is that the client leaves, whenever it likes.
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), self.patience)
        except TimeoutError:
            self.refusal = RefusedError(
                408, f"body: nothing came for {self.patience:g} seconds. Send it again."
            )
            raise self.refusal from None
        if message["type"] == "http.request":
            self.seen += len(message.get("body", b""))
            self.complete = not message.get("more_body", False)
            if self.seen > self.most:
                self.refusal = _too_large(self.most)
                raise self.refusal
        return message

    async def send(self, message: Any) -> None:
        """Pass an answer on, unless the request has been refused meanwhile."""
        if self.refusal is not None and not (self.refusing or self.started):
            return
        if message["type"] == "http.response.start":
            self.started = True
            headers = [*message.get("headers", []), *_HEADERS]
            if self.path.startswith("/api"):
                headers.append((b"cache-control", b"no-store"))
            message = message | {"headers": headers}
        await self._send(message)


def _check_size(headers: dict[bytes, bytes], most: int) -> None:
    stated = headers.get(b"content-length", b"0")
    if not stated.isdigit() or int(stated) > most:
        raise _too_large(most)


def _too_large(most: int) -> RefusedError:
    return RefusedError(
        413,
        f"body: it is larger than {size_text(most)}, the most this server takes. Send less, or "
        "count first (unheard rate ... --counts-only) and send the counts.",
    )


async def _refuse(error: RefusedError, receive: Receive, send: Send) -> None:
    body = encoded(error.problem)
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
    ]
    if error.status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="unheard"'))
    linger = error.status in (408, 413)
    if linger:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": linger})
    if linger:
        # A client that is still sending would not read the answer if the line were cut now.
        with suppress(TimeoutError):
            await asyncio.wait_for(_drain(receive), _LINGER)
        await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive) -> None:
    while (message := await receive())["type"] == "http.request":
        if not message.get("more_body", False):
            return
