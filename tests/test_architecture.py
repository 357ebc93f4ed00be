"""What ARCHITECTURE.md and CONTRIBUTING.md say of the tree is so."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tools.architecture import PACKAGE, PAGE, ROOT, tree

CONTRIBUTING = ROOT / "CONTRIBUTING.md"


def test_tree_names_every_module_and_no_other() -> None:
    shown = re.findall(r"^( +)(\S+?)(/?) ", PAGE.read_text("utf-8"), re.MULTILINE)
    path, named = {0: PACKAGE}, set()
    for indent, name, slash in shown:
        depth = len(indent) // 2
        path[depth] = path[depth - 1] / name
        named.add(path[depth] / "__init__.py" if slash else path[depth])
    assert named == {*PACKAGE.rglob("*.py")}, "run make docs-update"


def test_tree_says_what_the_modules_say() -> None:
    assert tree() in PAGE.read_text("utf-8"), "run make docs-update"


@pytest.mark.parametrize("page", [PAGE, CONTRIBUTING], ids=lambda page: page.name)
def test_layers_are_those_of_the_contract(page: Path) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    contract = next(one["layers"] for one in settings["contracts"] if one["type"] == "layers")
    layers = [re.findall(r"\b[a-z]\w*", layer) for layer in contract]
    shown = re.search(r"^(`cli`.*?)\n\n", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert shown is not None
    said = [re.findall(r"\w+", layer) for layer in shown[1].split("→")]
    assert said == [layer for layer in layers if layer]


def test_ten_questions_name_files_that_exist() -> None:
    questions = re.findall(r"^\| (.+\?) \| (.+) \|$", CONTRIBUTING.read_text("utf-8"), re.MULTILINE)
    assert len(questions) == 10
    for question, answer in questions:
        files = re.findall(r"`(src/[^`]+)`", answer)
        assert files, question
        for file in files:
            assert (ROOT / file).is_file(), f"{question} {file}"


def test_classes_have_names_of_their_own() -> None:
    places: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert len(places) > 100
    assert not {name: where for name, where in places.items() if len(where) > 1}
