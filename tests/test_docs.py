"""What the README and the docs show is what the command prints."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from unheard.cli.main import _run

ROOT = Path(__file__).parents[1]
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")))
    if "```console" in page.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = re.findall(
        r"```console\n\$ \.venv/bin/(.+?)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
    )
    assert sessions
    monkeypatch.chdir(ROOT)
    for command, shown in sessions:
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        assert _run() == 0
        assert capsys.readouterr().out == shown
