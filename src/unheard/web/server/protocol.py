"""HTTP with limits on heads, connections and waiting, so that no client can overload the server.

The guard, which knows what a body is for, limits bodies.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from unheard.web.api.problems import MEDIA_TYPE, encode, problem
from unheard.web.server.guard import SAFE_HEADERS
from unheard.web.server.limits import Limits, write_size

_PIECE = 16 * 1024
"""Bytes that are parsed before they are counted."""

_PAUSE = 0.01
"""Seconds between reads of a body that is not needed, so that it takes no time from others."""

_MOST_HEADERS = 100
_MOST_PIPELINED = 16
"""Requests that a client may send before it has read the first response."""


class _HeadError(Exception):
    """Stops the parser at a head that is refused."""


class BoundedProtocol(HttpToolsProtocol):
    """HTTP/1.1 with limits on what a client may send, and on how long it may take.

    The server either works on a connection or waits for its client: to send a request, to read a
    response, or to leave. It closes connections that keep it waiting for too long, and if there are
    too many connections, the one that has done so for longest.
    """

    limits: ClassVar[Limits] = Limits()

    _timer: asyncio.TimerHandle | None = None
    _waits_since: float | None = None
    _is_complete = True
    _is_answered = False
    _is_slow_reader = False
    _unparsed = 0
    _refusal: tuple[int, str] | None = None

    # The connection.

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request, if there is room for another client."""
        super().connection_made(transport)
        self._wait(self.limits.patience)
        if len(self.connections) > self.limits.connections:
            self._close_slowest()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for a client that has left."""
        self._stop_waiting()
        self.pipeline.clear()
        super().connection_lost(exc)

    # What comes in.

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived, within the limit.

        Heads, trailers and the framing of chunks count until a piece of a body arrives.
        """
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            self._unparsed += len(piece)
            super().data_received(piece)
            if self.transport.is_closing():
                return
            if self._unparsed > self.limits.head_bytes:
                most = write_size(self.limits.head_bytes)
                self._refuse(431, f"The head of the request is larger than {most}. Send less.")
                return
        if self._is_answered and not self._is_complete:
            self.flow.pause_reading()
            self.loop.call_later(_PAUSE, self._resume_reading)

    def _resume_reading(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def on_message_begin(self) -> None:
        """Wait for the rest of the head."""
        super().on_message_begin()
        self._unparsed, self._is_complete, self._is_answered = 0, False, False
        self._wait(self.limits.patience)

    def on_headers_complete(self) -> None:
        """Leave the wait for the body to the guard."""
        if len(self.pipeline) >= _MOST_PIPELINED:
            self._refusal = 400, "Too many requests in a row. Wait for the responses."
            raise _HeadError
        self._stop_timer()
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of a head, or of the trailers of a chunked body."""
        if len(self.headers) >= _MOST_HEADERS:
            self._refusal = 431, f"The head has more than {_MOST_HEADERS} headers. Send fewer."
            raise _HeadError
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop waiting: the request is complete."""
        self._unparsed, self._is_complete = 0, True
        self._stop_waiting()
        super().on_message_complete()
        self._wait_for_next()

    # What goes out.

    def pause_writing(self) -> None:
        """Wait for a client that reads more slowly than the server writes."""
        super().pause_writing()
        self._is_slow_reader = True
        self._wait(self.limits.time_for(self._count_unread()))
        if (
            sum(one._count_unread() for one in self._list_others()) + self._count_unread()
            > self.limits.unread
        ):
            self._close_slowest(readers=True)

    def resume_writing(self) -> None:
        """Stop waiting: the client has read nearly everything."""
        self._is_slow_reader = False
        self._stop_waiting()
        super().resume_writing()
        self._wait_for_next()

    def on_response_complete(self) -> None:
        """Go on with the next request."""
        super().on_response_complete()
        self._is_answered = True
        self._wait_for_next()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not a valid request like all other errors."""
        self._refuse(*(self._refusal or (400, f"{msg.rstrip('.')}. Check the request.")))

    def _refuse(self, status: int, detail: str) -> None:
        body = encode(problem(status, detail))
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            *SAFE_HEADERS,
        ]
        head = b"".join(b"%s: %s\r\n" % header for header in headers)
        self.transport.write(STATUS_LINE[status] + head + b"\r\n" + body)
        self.transport.close()

    # Waiting.

    def _wait(self, seconds: float) -> None:
        self._stop_timer()
        self._waits_since = self.loop.time()
        self._timer = self.loop.call_later(seconds, self._close_connection)

    def _wait_for_next(self) -> None:
        """Wait for the next request, or for the rest of one that was answered early.

        A client that is still sending would not read the response if the connection were closed at
        once.
        """
        if self.cycle.response_complete and not self._is_slow_reader:
            self._wait(self.timeout_keep_alive if self._is_complete else self.limits.patience)

    def _close_connection(self) -> None:
        self._stop_waiting()
        self.transport.abort()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_waiting(self) -> None:
        self._stop_timer()
        self._waits_since = None

    def _list_others(self) -> list[BoundedProtocol]:
        return [
            one for one in self.connections if isinstance(one, BoundedProtocol) and one is not self
        ]

    def _count_unread(self) -> int:
        return self.transport.get_write_buffer_size()

    def _close_slowest(self, readers: bool = False) -> None:
        """Make room: close the connection that has kept the server waiting longest, or this one."""
        slow = {
            one: one._waits_since
            for one in self._list_others()
            if one._waits_since is not None and (one._is_slow_reader or not readers)
        }
        min(slow, key=slow.__getitem__, default=self)._close_connection()
