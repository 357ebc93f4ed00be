"""Everyday files through the command line, Python and REST: understood, or refused with a remedy.

A remedy is taken from the message as it stands there, typed, and works.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import unheard as uh
from tests.cli.typed import typing
from tests.tables.everyday import EVERYDAY, Everyday
from tests.web.server import Served, detail, serving
from unheard.errors import PYTHON, Reference, Surface
from unheard.options.surfaces import REST, CommandLine
from unheard.web.api.tables import FORMS

pytestmark = pytest.mark.xdist_group("everyday")

CASES = pytest.mark.parametrize("case", EVERYDAY, ids=lambda case: case.name)
KINDS = {name.rpartition(".")[2]: kind for kind, name in FORMS.items()} | {"txt": "text/csv"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("everyday")


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving() as served:
        yield served


class RefusedError(Exception):
    """A surface has refused a file, with this message."""


def written(case: Everyday, folder: Path) -> Path:
    """Write the file of a case, once for all surfaces."""
    path = folder / case.name
    if not path.exists():
        case.make(path)
    return path


def follow(
    case: Everyday, path: Path, ask: Callable[[Path, Mapping[str, Any]], Any], surface: Surface
) -> Any:
    """Ask about a file; if it must be refused, do as the message says and ask again."""
    if not case.refusal:
        return ask(path, case.asked)
    with pytest.raises(RefusedError) as refused:
        ask(path, case.asked)
    message = str(refused.value)
    assert re.search(case.refusal, message), message
    if case.mended is not None:
        path = path.with_name(f"mended {case.name}")
        case.mended(path)
    told = {name: read_remedy(message, surface, name, value) for name, value in case.remedy.items()}
    return ask(path, {**case.asked, **told, **case.instead})


def read_remedy(message: str, surface: Surface, name: str, value: str | tuple[str, ...]) -> Any:
    """Take an option from a message as a person would copy it."""
    as_told = surface.write_reference(Reference(name, value=value))
    assert as_told in message, message
    if surface is PYTHON:
        return ast.literal_eval(as_told.partition("=")[2])
    return shlex.split(as_told)[1] if surface is not REST else as_told.partition("=")[2]


def check(case: Everyday, rows: list[dict[str, Any]]) -> None:
    item = {**case.asked, **case.remedy, **case.instead}["item"]
    found = {row[item]: (row["n_ratings"], row["average"]) for row in rows if row["n_ratings"]}
    assert found.keys() == case.expected.keys()
    for name, (ratings, average) in case.expected.items():
        assert found[name] == (ratings, pytest.approx(average, abs=1e-5))


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

    check(case, follow(case, written(case, folder), ask, CommandLine("rate")))
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

    check(case, follow(case, written(case, folder), ask, PYTHON))
    notes = [str(one.message) for one in said]
    assert bool(notes) == bool(case.note)
    assert not case.note or any(re.search(case.note, one) for one in notes)


@CASES
def test_rest(case: Everyday, folder: Path, server: Served) -> None:
    """What the page guesses the columns to be is what a person would name."""

    def ask(path: Path, asked: Mapping[str, Any]) -> Any:
        ending = path.name.rpartition(".")[2]
        query = {
            name: value if isinstance(value, str) else ",".join(value)
            for name, value in asked.items()
        }
        kind, content = KINDS.get(ending, "text/csv"), path.read_bytes()
        reply = server.table("/rate", content, kind, q=0.3, level="none", **query)
        if reply.status == 422:
            raise RefusedError(detail(reply, 422))
        assert reply.status == 200, reply.text
        reading = {name: query[name] for name in ("sheet", "encoding", "header") if name in query}
        seen = server.table("/inspect", content, kind, **reading)
        assert seen.status == 200, seen.text
        guesses.append(seen.document["guess"])
        return reply.document

    guesses: list[Any] = []
    check(case, follow(case, written(case, folder), ask, REST))
    wanted = {**case.asked, **case.remedy, **case.instead}
    if case.expected and case.instead != {"item": "hotel", "rating": "stars (1)"}:
        counts = wanted.get("counts", ())
        assert guesses[-1]["item"] == [wanted["item"]]
        assert guesses[-1]["rating"] == (None if counts else wanted["rating"])
        assert guesses[-1]["counts"] == list(counts)
