"""``unheard serve``: the page to play with, and the REST interface."""

from __future__ import annotations

import json
import os
import secrets
from importlib.util import find_spec

import click

from unheard.cli.options import Values, takes_options
from unheard.errors import MissingLibraryError, OptionError


@click.command()
@takes_options("serve")
def serve(values: Values) -> None:
    """Serve the web page and the REST API.

    The API is under /api/v1. Uploads are not kept, and nothing leaves this machine. Stop the server
    with Ctrl-C.

    \b
    Examples:
      unheard serve
      unheard serve --port 0 --no-browser
      UNHEARD_TOKEN=a-long-secret-text unheard serve --host 0.0.0.0 --public
    """
    for package in ("fastapi", "uvicorn", "httptools"):
        if find_spec(package) is None:
            raise MissingLibraryError("The server", package, "web")
    from unheard.web.server.guard import is_loopback
    from unheard.web.server.limits import MIB, Limits
    from unheard.web.server.run import listen
    from unheard.web.server.run import serve as answer

    supplied = values["token"] or os.environ.get("UNHEARD_TOKEN") or None
    token = _token(supplied, public=values["public"], loopback=is_loopback(values["host"]))
    # Whoever gave the token knows it: a log should not.
    made = None if supplied else token
    limits = Limits(
        bytes=values["max_upload"] * MIB,
        seconds=_check_seconds("max_seconds", values["max_seconds"]),
        patience=_check_seconds("patience", values["patience"]),
    )
    taken = listen(values["host"], values["port"])

    def ready(address: str) -> None:
        if made is not None:
            address += f"#token={made}"  # what comes after # stays in the browser
        if values["json"]:
            click.echo(json.dumps({"address": address, "token": made}))
        else:
            click.echo(f"unheard is at {address}\nStop it with Ctrl-C.", err=True)

    answer(taken, limits, token, browser=values["browser"], ready=ready)


def _token(token: str | None, *, public: bool, loopback: bool) -> str | None:
    if not loopback and not public:
        raise OptionError(
            "host",
            problem="Other machines can reach {argument}",
            hint="Add {public} to allow that; requests must then carry a token",
        )
    if token is not None and (len(token) < 16 or not token.isascii() or not token.isprintable()):
        raise OptionError(
            "token",
            problem="{argument} must have 16 or more printable ASCII characters",
            hint="Give a longer one, or leave it out",
        )
    return secrets.token_urlsafe(24) if token is None and public else token


def _check_seconds(argument: str, seconds: float) -> float:
    if not 0 < seconds < 1e6:
        raise OptionError(
            argument, problem="{argument} must be a number of seconds above 0", value=seconds
        )
    return seconds
