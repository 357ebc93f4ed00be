"""Run the examples of the documentation: check what they show, or rewrite it.

    python -m tools.doc_examples            # every example of README.md and docs/ is up to date
    python -m tools.doc_examples --update   # rewrite the outputs in place
    python -m tools.doc_examples README.md  # these pages only

Two kinds of blocks run. A ``console`` block holds commands (``$ unheard ...``), each followed by
what it prints. A ``python`` block runs as a cell of a notebook: what it prints and the value of its
last line stand in the ``output`` block behind it. A last line that is a picture has no output:
the site shows the picture there, and a page that names an image file behind the block keeps it in
that file. The blocks of a page share their names and a temporary folder with the example tables.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ROOT_PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
TABLES = [
    *sorted((ROOT / "docs").glob("*.csv")),
    *sorted((ROOT / "src/unheard/data").glob("*.csv")),
]

# A fenced block, and what may belong to it: the output block or the image behind it.
_FENCE = re.compile(r"^```(console|python)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_OUTPUT = re.compile(r"\n```output\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_IMAGE = re.compile(r"\n!\[[^\]]*\]\(([^)]+\.svg)\)")


def pages() -> list[Path]:
    """Every page that may hold examples."""
    return [*ROOT_PAGES, *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    """Return the path of a page as it is written in messages: from the root of the checkout."""
    return os.path.relpath(page, ROOT)


class ExampleError(Exception):
    """An example that fails, which no update can mend."""


@dataclass
class Run:
    """What running a page gave.

    Attributes
    ----------
    text
        The page as it should read, with the outputs of now.
    shown
        The same with its pictures, for the site.
    pictures
        Drawings that the page keeps in image files, by the name of the file.
    """

    page: Path
    text: str = ""
    shown: str = ""
    pictures: dict[str, Any] = field(default_factory=dict)

    def write(self, text: str) -> None:
        """Add text that the page and the site have in common."""
        self.text += text
        self.shown += text

    def difference(self) -> str:
        """Return how the page differs from what its examples give now; empty if it does not."""
        name = name_of(self.page)
        before, now = self.page.read_text(encoding="utf-8").splitlines(), self.text.splitlines()
        lines = [*difflib.unified_diff(before, now, name, "now", lineterm="", n=1)]
        stale = [self.page.parent / file for file in self.stale_pictures()]
        lines += [f"{name_of(file)} is not what {name} draws." for file in stale]
        return "\n".join(lines)

    def stale_pictures(self) -> list[str]:
        """Return the image files that do not say what the drawings of now say."""
        found = []
        for file, picture in self.pictures.items():
            target = self.page.parent / file
            if not target.exists() or words_of(target.read_text("utf-8")) != words_of(
                picture.svg()
            ):
                found.append(file)
        return found

    def update(self) -> bool:
        """Rewrite the page and its image files, and tell whether anything has changed."""
        stale = self.stale_pictures()
        for file in stale:
            self.pictures[file].save(self.page.parent / file)
        if self.text == self.page.read_text(encoding="utf-8"):
            return bool(stale)
        self.page.write_text(self.text, encoding="utf-8")
        return True


def run_page(page: Path, picture_text: Callable[[Any], str] = lambda _: "") -> Run:
    """Run the blocks of a page in a folder of its own.

    ``picture_text`` returns what the site shows behind a block that draws a picture.
    """
    text = page.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    done = Run(page)
    position = 0
    with example_folder():
        while block := _FENCE.search(text, position):
            done.write(text[position : block.start()])
            position = block.end()
            kind, body = block.groups()
            where = f"{name_of(page)}:{text.count(chr(10), 0, block.start()) + 1}"
            if kind == "console":
                done.write(f"```console\n{run_session(body, where)}```\n")
                continue
            printed, picture = run_cell(body, names, where)
            done.write(block[0])
            if output := _OUTPUT.match(text, position):
                position = output.end()
            if printed:
                done.write(f"\n```output\n{printed}```\n")
            if picture is not None and (image := _IMAGE.match(text, position)):
                done.pictures[image[1]] = picture
            elif picture is not None:
                done.shown += picture_text(picture)
    done.write(text[position:])
    return done


@contextlib.contextmanager
def example_folder() -> Iterator[None]:
    """Work in a temporary folder that holds the example tables, as a plain terminal would."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for table in TABLES:
            shutil.copy(table, folder)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def run_session(body: str, where: str) -> str:
    """Run the commands of a console block and return the block with what they print."""
    shown = ""
    for session in re.split(r"^(?=\$ )", body, flags=re.MULTILINE)[1:]:
        found = re.match(r"\$ ((?:.*\\\n)*.*)\n", session)
        assert found is not None
        words = shlex.split(found[1].replace("\\\n", " "))
        if words[0] != "unheard":
            raise ExampleError(f"{where}: only unheard can be run, and this is {words[0]!r}")
        code, printed = run_command(words)
        # A refusal is shown on purpose if the page says so already.
        if code and not session[found.end() :].startswith("Error"):
            raise ExampleError(f"{where}: {found[1]} ends with code {code}:\n{printed}")
        shown += found[0] + printed
    return shown


def run_command(words: list[str]) -> tuple[int, str]:
    """Run the command in this process, and return its exit code and what a terminal shows."""
    from unheard.cli.main import _run

    screen = io.StringIO()
    before = sys.argv
    sys.argv = words
    try:
        with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
            code = _run()
    finally:
        sys.argv = before
    return code, screen.getvalue()


def run_cell(body: str, names: dict[str, Any], where: str) -> tuple[str, Any]:
    """Run a block as a cell of a notebook, and return what it prints and the picture it ends in."""
    tree = ast.parse(body)
    ends_in_value = bool(tree.body) and isinstance(tree.body[-1], ast.Expr)
    last = ast.Expression(tree.body.pop().value) if ends_in_value else None  # type: ignore[attr-defined]
    screen = io.StringIO()
    try:
        with contextlib.redirect_stdout(screen):
            exec(compile(tree, where, "exec"), names)
            value = last and eval(compile(last, where, "eval"), names)
    except Exception as error:
        raise ExampleError(f"{where}: {type(error).__name__}: {error}") from error
    printed = screen.getvalue()
    from unheard.charts.picture import Picture

    if isinstance(value, Picture):
        return printed, value
    if value is not None:
        printed += f"{value!r}\n"
    # Trailing spaces, as frames print them, would not survive an editor.
    return re.sub(r" +$", "", printed, flags=re.MULTILINE), None


def words_of(svg: str) -> list[str]:
    """What a picture says: its labels and the descriptions of its marks."""
    return [
        "".join(found) for found in re.findall(r'<text[^>]*>([^<]*)<|aria-label="([^"]*)"', svg)
    ]


def main() -> None:
    """Check the pages named on the command line, or all, or rewrite them."""
    parser = argparse.ArgumentParser(description="Check the examples of the documentation.")
    parser.add_argument("pages", nargs="*", type=Path, help="by default all")
    parser.add_argument("--update", action="store_true", help="rewrite the outputs in place")
    options = parser.parse_args()
    failed = False
    for page in [page.resolve() for page in options.pages] or pages():
        try:
            done = run_page(page)
            if options.update:
                if done.update():
                    print(f"updated {name_of(page)}")
            elif difference := done.difference():
                failed = True
                print(difference)
        except ExampleError as error:
            failed = True
            print(error)
    if failed:
        sys.exit("The examples are not up to date; `make docs-update` rewrites their outputs.")


if __name__ == "__main__":
    main()
