"""The command line: parse, call, show; no mathematics."""

from unheard.cli.main import main

__all__ = ["main"]
