"""A command as users type it, and what comes back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from unheard.cli.main import _run


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """What was printed, as one line."""
        return " ".join(self.out.split())


Typed: TypeAlias = Callable[..., Run]


def typing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *first: str
) -> Typed:
    """Return a function that types a command, with some words always first."""

    def call(*words: str | Path) -> Run:
        monkeypatch.setattr(sys, "argv", ["unheard", *first, *map(str, words)])
        code = _run()
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return call


def refused(done: Run, message: str) -> None:
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
