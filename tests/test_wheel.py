"""The wheel holds everything, and in a clean environment it does what the README shows."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools.doc_examples import ROOT

PACKAGE = ROOT / "src" / "unheard"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as `pip install` would, without a network."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (built,) = folder.glob("unheard-*.whl")
    return built


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, whose dependencies are those that the tests run with."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", wheel)
    (packages,) = folder.glob("lib/python*/site-packages")
    # Paths only: files that add further paths, as that of this checkout, are not read in there.
    paths = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "dependencies.pth").write_text("\n".join(paths))
    return folder


def run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("unheard/")}
    files = [file for file in PACKAGE.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    assert held == {file.relative_to(PACKAGE.parent).as_posix() for file in files}
    assert {"unheard/web/static/index.html", "unheard/data/course_sections.csv"} <= held


def test_commands_of_the_readme(clean: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    sessions = re.findall(r"```console\n\$ unheard (.+?)\n(.*?)```", readme, re.DOTALL)
    assert sessions
    for arguments, shown in sessions:
        assert run(clean / "bin" / "unheard", *arguments.split(), cwd=tmp_path) == shown


def test_python_of_the_readme(clean: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code, shown = re.findall(r"```python\n(.*?)```\n\n```output\n(.*?)```", readme, re.DOTALL)[0]
    where = "import unheard; assert 'clean' in unheard.__file__, unheard.__file__\n"
    assert run(clean / "bin" / "python", "-c", where + code, cwd=tmp_path) == shown


def test_demo(clean: Path, tmp_path: Path) -> None:
    assert "Hotel A" in run(clean / "bin" / "unheard", "demo", cwd=tmp_path)
