"""Everyday files on the command line and in Python: understood, or refused with a remedy.

A remedy is taken from the message as it stands there, typed, and works.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import unheard as uh
from tests.cli.typed import typing
from tests.tables.everyday import (
    EVERYDAY,
    Everyday,
    RefusedError,
    check_result,
    follow,
    written,
)
from unheard.errors import PYTHON
from unheard.options.surfaces import CommandLine

CASES = pytest.mark.parametrize("case", EVERYDAY, ids=lambda case: case.name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("everyday")


@CASES
def test_command_line(
    case: Everyday,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed = typing(monkeypatch, capsys, "rate")
    said: list[str] = []

    def ask(path: Path, asked: Mapping[str, Any]) -> Any:
        words = [
            word
            for name, value in asked.items()
            for word in (f"--{name}", value if isinstance(value, str) else ",".join(value))
        ]
        done = typed(path, *words, "--q", "0.3", "--level", "none", "--no-ranks", "--json")
        said.append(done.err)
        if done.code == 2:
            assert "Traceback" not in done.err
            raise RefusedError(done.err)
        assert done.code == 0, done.err
        return json.loads(done.out)

    check_result(case, follow(case, written(case, folder), ask, CommandLine("rate")))
    assert re.search(case.note, said[-1])
    assert bool(said[-1]) == bool(case.note or case.remedy.get("nulls"))


@CASES
def test_python(case: Everyday, folder: Path) -> None:
    said: list[Any] = []

    def ask(path: Path, asked: Mapping[str, Any]) -> Any:
        options: dict[str, Any] = {**asked}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = uh.rate(path, q=0.3, level=None, ranks=False, **options)
            except uh.InputError as error:
                raise RefusedError(str(error)) from None
        said[:] = [one for one in caught if one.category is uh.ReadingWarning]
        return found.to_pylist()

    check_result(case, follow(case, written(case, folder), ask, PYTHON))
    notes = [str(one.message) for one in said]
    is_about_file = case.note and "labels" not in case.remedy
    assert bool(notes) == bool(is_about_file)
    assert not is_about_file or any(re.search(case.note, one) for one in notes)
