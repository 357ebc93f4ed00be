"""What the README shows is what the command prints."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from unheard.cli.main import _run

README = Path(__file__).parents[1] / "README.md"


def test_readme_session(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = re.findall(
        r"```console\n\$ \.venv/bin/(.+?)\n(.*?)```", README.read_text(), re.DOTALL
    )
    assert sessions
    monkeypatch.chdir(README.parent)
    for command, shown in sessions:
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        assert _run() == 0
        assert capsys.readouterr().out == shown
