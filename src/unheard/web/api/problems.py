"""Errors as ``application/problem+json`` [RFC 9457]."""

from __future__ import annotations

import json
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from unheard.errors import (
    FAULT,
    InputError,
    MissingLibraryError,
    QueryError,
    Reference,
    UnheardError,
    write_value,
)
from unheard.options.surfaces import REST
from unheard.web.server.limits import write_size

MEDIA_TYPE = "application/problem+json"

Problem = dict[str, Any]


class RefusedError(UnheardError):
    """A request that is answered by a problem.

    Parameters
    ----------
    status
        The HTTP status.
    detail
        What is wrong and what to do about it, in a sentence or two.
    **more
        Further members of the document.
    """

    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.problem = status, problem(status, detail, **more)


def too_large(most: int) -> RefusedError:
    """Return the refusal of a body of more bytes than this."""
    return RefusedError(
        413,
        f"The body is larger than {write_size(most)}, the most this server accepts. Send less, or "
        "count first (unheard counts ... -o counts.csv) and send the counts.",
    )


def fault() -> RefusedError:
    """Return the answer to a request that unheard fails at."""
    return RefusedError(500, FAULT)


def problem(status: int, detail: str, **more: Any) -> Problem:
    """Return the document that describes a problem."""
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": status, "detail": detail} | more


def as_problem(error: Exception) -> Problem | None:
    """Return the document about an error that was raised on purpose; None for any other."""
    if isinstance(error, RefusedError):
        return error.problem
    if isinstance(error, InputError):
        return problem(422, error.render(REST), **_describe(error))
    if isinstance(error, QueryError):
        detail = f"The table cannot be read: {error.message}. Check the file."
        return problem(422, detail, code=error.code)
    if isinstance(error, MissingLibraryError):
        return problem(501, str(error), code=error.code)
    return None


def _describe(error: InputError) -> Problem:
    """Return what is wrong as data, so that a client can say it in its own words."""
    return {
        "code": error.code,
        "argument": error.argument,
        "index": list(error.index),
        "value": None if error.value is None else write_value(error.value),
        "examples": [
            str(example.value if isinstance(example, Reference) else example)
            for example in error.examples
        ],
        "parts": [part if isinstance(part, str) else asdict(part) for part in error.parts()],
    }


def encode(document: Problem) -> bytes:
    """Write a problem down."""
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "backslashreplace")
