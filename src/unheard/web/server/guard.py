"""What every request passes before it is answered: who asks, how much, how slowly.

A plain ASGI layer, so that nothing is read before it is checked, and so that it costs next to
nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import secrets
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias
from urllib.parse import SplitResult, urlsplit

from unheard.web.api.problems import MEDIA_TYPE, RefusedError, encoded, fault, too_large
from unheard.web.server.limits import Limits, size_text

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
"""What keeps a browser safe, on every answer."""

_DELAY = 1.0
"""Seconds that a wrong token waits for its answer."""

_MOST_SETTINGS = 100
"""Settings in the query of a request; no question has half as many."""

_log = logging.getLogger("unheard.web")


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
        self.token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        most = self.limits.bytes if path in self.tables else self.limits.question_bytes
        passing = _Passing(path, receive, send, self.limits, most)
        try:
            headers = dict(scope["headers"])
            await self._check(scope, headers)
            _check_size(headers, most)
            await self.app(scope, passing.receive, passing.send)
        except RefusedError as error:
            passing.refusal = passing.refusal or error
        except Exception:
            # What the application made of a body that was cut short does not matter.
            if passing.refusal is None and not passing.has_left:
                await passing.refuse(fault())
                raise
        if passing.has_left:
            _log_request(f"left after {size_text(passing.seen)} of a body", scope)
        elif passing.refusal is not None:
            await passing.refuse(passing.refusal)

    async def _check(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        # Without a token this server answers to loopback alone: a name that some other site has
        # pointed at this machine is not one of its own.
        if self.token is None and not is_loopback(_name_in(f"//{host}")):
            raise RefusedError(421, f"host: {host!r} is not this server. Ask for localhost.")
        if not scope["path"].startswith("/api"):
            return
        origin = headers.get(b"origin")
        foreign = origin is not None and _address_in(origin.decode("latin-1")) != host
        if foreign or headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site"):
            raise RefusedError(403, "origin: another site asks. Use the page of this server.")
        if self.token is not None:
            await self._check_token(scope, headers.get(b"authorization", b""))
        if scope["query_string"].count(b"&") >= _MOST_SETTINGS:
            raise RefusedError(422, f"query: more than {_MOST_SETTINGS} settings. Send fewer.")

    async def _check_token(self, scope: Scope, shown: bytes) -> None:
        scheme, _, token = shown.partition(b" ")
        is_bearer = scheme.lower() == b"bearer"
        if is_bearer and secrets.compare_digest(token.strip(), self.token or b""):
            return
        if shown:
            _log_request("showed a wrong token", scope)
            await asyncio.sleep(_DELAY)
        raise RefusedError(
            401, "token: missing or wrong. Send the header Authorization: Bearer TOKEN."
        )


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:  # such as http://[
        return urlsplit("")


def _name_in(address: str) -> str:
    return _split(address).hostname or ""


def _address_in(address: str) -> str:
    return _split(address).netloc


def _log_request(words: str, scope: Scope) -> None:
    """Write one short line about a request, whatever it holds."""
    client = str((scope.get("client") or ("somebody",))[0])
    _log.warning(
        "%.60s %s: %s %.100s", ascii(client)[1:-1], words, scope["method"], ascii(scope["path"])
    )


class _Passing:
    """One request on its way: counts what comes in, and sets headers on what goes out."""

    def __init__(self, path: str, receive: Receive, send: Send, limits: Limits, most: int) -> None:
        self.path, self._receive, self._send = path, receive, send
        self.limits, self.most = limits, most
        self.seen, self.complete, self.started, self.has_left = 0, False, False, False
        self.refusal: RefusedError | None = None
        self._refusing = False
        self._began: float | None = None

    async def receive(self) -> Any:
        """Return the next piece of the body, waited for no longer than is reasonable."""
        if self.complete:
            # All that can come now is that the client leaves, whenever it likes.
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline()):
                message = await self._receive()
        except TimeoutError:
            self.refusal = RefusedError(
                408, "body: it comes too slowly, or not at all. Send it again."
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
        """Return until when to wait for a piece: every pause is bounded, and the whole as well."""
        now = asyncio.get_running_loop().time()
        if self._began is None:
            self._began = now
        return min(now + self.limits.patience, self._began + self.limits.time_for(self.seen))

    async def send(self, message: Any) -> None:
        """Pass an answer on, unless the request has been refused meanwhile."""
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
        """Answer with a problem, unless another answer has begun."""
        if self.started:
            return
        self._refusing = True
        body = encoded(error.problem)
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
