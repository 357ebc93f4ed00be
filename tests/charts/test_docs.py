"""What the page on pictures shows works as printed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "charts.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 6
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "stays.csv", tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    saved = re.findall(r'save\("([^"]+)"', page)
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {*saved}
