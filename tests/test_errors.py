"""Errors are data: every place that raises one is checked without raising it."""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from unheard import errors
from unheard.errors import InputError, OptionError, Reference
from unheard.options.questions import QUESTIONS
from unheard.options.surfaces import REST, CommandLine

SOURCE = Path(errors.__file__).parent
FILES = {file: ast.parse(file.read_text(encoding="utf-8")) for file in SOURCE.rglob("*.py")}
KINDS = {
    name
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, InputError)
}
KINDS |= {  # those that other modules derive from them
    node.name
    for tree in FILES.values()
    for node in ast.walk(tree)
    if isinstance(node, ast.ClassDef) and {getattr(base, "id", "") for base in node.bases} & KINDS
}
OPTIONS = {one.name for options in QUESTIONS.values() for one in options}
ARGUMENTS = OPTIONS | {"argument", "a", "b", "answers", "lower", "upper"}
OWN = {"problem", "hint", "value", "index", "examples", "code"}


def raised() -> Iterator[tuple[str, ast.Call]]:
    """Every call in the package that makes an input error, with its place."""
    for file, tree in FILES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in KINDS or (name == "error" and {"problem"} & keywords(node)):
                    yield f"{file.relative_to(SOURCE)}:{node.lineno}", node


def keywords(call: ast.Call) -> set[str]:
    return {one.arg for one in call.keywords if one.arg is not None}


def sentences(call: ast.Call) -> Iterator[tuple[str, str]]:
    """The sentences of an error as they are written; a choice between two gives both."""
    for keyword in call.keywords:
        if keyword.arg in ("problem", "hint"):
            for node in ast.walk(keyword.value):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield keyword.arg, node.value


CALLS = dict(raised())


def test_there_are_errors() -> None:
    assert len(CALLS) > 150


@pytest.mark.parametrize("place", CALLS)
def test_errors_are_well_made(place: str) -> None:
    call = CALLS[place]
    assert len(call.args) == 1, "the argument at fault is all that has no name"
    assert "problem" in keywords(call)
    splat = any(one.arg is None for one in call.keywords)
    data = keywords(call) - OWN
    for part, text in sentences(call):
        assert not text.endswith("."), "the period is added"
        for _, name, _, _ in Formatter().parse(text):
            if name is not None and not splat:
                assert name in data | ARGUMENTS, f"{part}: {name} is neither data nor an option"
    for keyword in call.keywords:
        if keyword.arg in ("problem", "hint"):
            inside = (type(node) for node in ast.walk(keyword.value))
            assert ast.JoinedStr not in inside, "user data in braces would be taken for a name"


def test_messages_are_written_for_each_surface() -> None:
    error = OptionError(
        "off_scale",
        problem="{argument} must be {choice}",
        value="clip",
        hint="Use {off_scale:drop}, or {nulls}",
        choice="refuse or drop",
    )
    assert str(error) == (
        "off_scale must be refuse or drop; got 'clip'. Use off_scale='drop', or nulls."
    )
    assert error.render(CommandLine("rate")) == (
        "--off-scale must be refuse or drop; got 'clip'. Use --off-scale drop, or --nulls."
    )
    assert error.render(REST).endswith("Use off_scale=drop, or nulls.")
    assert Reference("off_scale", value="drop") in error.parts()


def test_braces_in_data_are_left_alone() -> None:
    error = OptionError("q", problem="{name} is odd", value="{q}", name="{nulls:drop}")
    assert str(error) == "{nulls:drop} is odd; got '{q}'."


def test_errors_survive_the_trip_between_processes() -> None:
    error = OptionError("g", problem="{argument} is {what}", index=2, what="odd", examples=(1,))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.parts(), again.code) == (str(error), error.parts(), error.code)
    moved = error.about("p")
    assert (moved.argument, str(moved)) == ("p", "p[2] is odd.")
