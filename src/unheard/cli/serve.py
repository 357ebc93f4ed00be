"""``unheard serve``: the page to play with, and the REST interface."""

from __future__ import annotations

import json
import os
import secrets
from importlib.util import find_spec
from typing import Any

import click

from unheard.cli.options import json_option
from unheard.cli.regret import whole
from unheard.errors import MissingLibraryError, OptionError
from unheard.model.parsing import number


@click.command()
@click.option("--host", metavar="HOST", default="127.0.0.1", show_default=True,
              help="Address to listen at.")  # fmt: skip
@click.option("--port", metavar="PORT", default="8080", show_default=True,
              help="Port to listen at; 0 for any that is free.")  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Do not open the page in a browser.")
@click.option("--public", is_flag=True, help="Allow a HOST that other machines reach. Whoever asks "
              "must then show a token.")  # fmt: skip
@click.option("--token", metavar="TOKEN", help="The token, 16 characters or more; made if --public "
              "is given without one. Better kept in the environment: UNHEARD_TOKEN.")  # fmt: skip
@click.option("--max-upload", metavar="MIB", default="64", show_default=True,
              help="Largest table taken, in MiB.")  # fmt: skip
@click.option("--max-seconds", metavar="SECONDS", default="30", show_default=True,
              help="Most time spent on one request.")  # fmt: skip
@click.option("--patience", metavar="SECONDS", default="15", show_default=True,
              help="Most time to wait for the rest of a request.")  # fmt: skip
@json_option
def serve(host: str, port: str, no_browser: bool, as_json: bool, **given: Any) -> None:
    """Serve a page to play with, and the REST interface under /api/v1.

    Nothing that is uploaded is kept, and nothing leaves this machine. Stop it with Ctrl-C.

    \b
    Examples:
      unheard serve
      unheard serve --port 0 --no-browser
      UNHEARD_TOKEN=a-long-secret-text unheard serve --host 0.0.0.0 --public
    """
    for package in ("fastapi", "uvicorn", "httptools"):
        if find_spec(package) is None:
            raise MissingLibraryError("The page", package, "web")
    from unheard.web.server.guard import is_loopback
    from unheard.web.server.limits import MIB, Limits
    from unheard.web.server.run import listen
    from unheard.web.server.run import serve as answer

    supplied = given["token"] or os.environ.get("UNHEARD_TOKEN") or None
    token = _token(supplied, public=given["public"], loopback=is_loopback(host))
    # Whoever gave the token knows it: a log should not.
    made = None if supplied else token
    limits = Limits(
        bytes=whole(given["max_upload"], "--max-upload", 1) * MIB,
        seconds=_seconds(given["max_seconds"], "--max-seconds"),
        patience=_seconds(given["patience"], "--patience"),
    )
    taken = listen(host, _port(port))

    def ready(address: str) -> None:
        if made is not None:
            address += f"#token={made}"  # what comes after # stays in the browser
        if as_json:
            click.echo(json.dumps({"address": address, "token": made}))
        else:
            click.echo(f"unheard is at {address}\nStop it with Ctrl-C.", err=True)

    answer(taken, limits, token, browser=not no_browser, ready=ready)


def _token(token: str | None, *, public: bool, loopback: bool) -> str | None:
    if not loopback and not public:
        raise OptionError(
            "host",
            "other machines may reach this address",
            "Add --public if that is meant; they then need a token",
        )
    if token is not None and (len(token) < 16 or not token.isascii() or not token.isprintable()):
        raise OptionError(
            "token", "shorter than 16 plain characters", "Give a longer one, or leave it out"
        )
    return secrets.token_urlsafe(24) if token is None and public else token


def _port(text: str) -> int:
    port = whole(text, "--port", 0)
    if port > 65_535:
        raise OptionError("port", f"{text} found", "Give a number up to 65535, or 0 for any")
    return port


def _seconds(text: str, place: str) -> float:
    seconds = number(text, place, OptionError)
    if not 0 < seconds < 1e6:
        raise OptionError(place, f"{text} found", "Give a number of seconds")
    return seconds
