"""Ctrl-C while the command is being loaded, at moments that do not depend on the clock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")

# Python runs this file first of all: it interrupts itself where a certain module is looked for.
INTERRUPT = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
"""
SCRIPT = "import sys\nfrom unheard.cli import main\nsys.exit(main())\n"
RATE = ("rate", "stays.csv", "--item", "hotel", "--rating", "stars", "--q", "0.3")


def interrupted(
    folder: Path, at: str, *words: str, ignored: bool = False
) -> subprocess.CompletedProcess[str]:
    (folder / "sitecustomize.py").write_text(INTERRUPT)
    (folder / "stays.csv").write_text("hotel,stars\nA,5\nB,3\n")
    (folder / "unheard").write_text(SCRIPT)
    temporary = folder / "temporary"
    temporary.mkdir()
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    settings = {
        "INTERRUPT_AT": at,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(temporary),
    }
    before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    try:
        done = subprocess.run(
            [sys.executable, *words],
            env=os.environ | settings,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert not list(temporary.iterdir())
    return done


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("numpy", ("-m", "unheard", "--version")),
        ("numpy", ("unheard", "--version")),
        ("click", ("-m", "unheard", "--version")),
        ("duckdb", ("-m", "unheard", *RATE, "-o", "rated.csv")),
        # By then there is a temporary folder, which has to go.
        ("rich", ("-m", "unheard", *RATE)),
    ],
)
def test_command_ends_at_once(tmp_path: Path, at: str, words: tuple[str, ...]) -> None:
    done = interrupted(tmp_path, at, *words)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nInterrupted.\n")
    assert not (tmp_path / "rated.csv").exists()


def test_ignored_interrupts_stay_so(tmp_path: Path) -> None:
    done = interrupted(tmp_path, "numpy", "-m", "unheard", "--version", ignored=True)
    assert done.returncode == 0
    assert done.stdout.startswith("unheard, version")


def test_programs_are_left_alone(tmp_path: Path) -> None:
    program = "try:\n    import unheard\nexcept KeyboardInterrupt:\n    print('raised')"
    assert interrupted(tmp_path, "unheard.errors", "-c", program).stdout == "raised\n"
