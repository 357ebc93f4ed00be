"""The tree of the package in ARCHITECTURE.md, from the first lines of the docstrings.

    python -m tools.architecture            # the tree is up to date
    python -m tools.architecture --update   # rewrite it

The layers come highest first, in the order of the contract in pyproject.toml.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
PACKAGE = ROOT / "src" / "unheard"
_TREE = re.compile(r"(?<=<!-- tree -->\n```text\n).*?(?=```\n<!-- end tree -->)", re.DOTALL)


def tree() -> str:
    """Draw the tree: a line for each package and module, with what it says of itself."""
    return "".join(f"{line}\n" for line in ["src/unheard/", *lines(PACKAGE, 1)])


def lines(folder: Path, depth: int) -> Iterator[str]:
    """Write the lines of one folder, its modules first at the top and its packages first below."""
    modules = [file for file in folder.glob("*.py") if file.name != "__init__.py" or depth == 1]
    packages = [file.parent for file in folder.glob("*/__init__.py")]
    for module in sorted(modules):
        yield line(module.name, summary(module), depth)
    for package in sorted(packages, key=rank if depth == 1 else None):
        yield line(f"{package.name}/", summary(package / "__init__.py"), depth)
        yield from lines(package, depth + 1)


def line(name: str, text: str, depth: int) -> str:
    """Write a name, indented by its depth, and the text in a column of its own."""
    return f"{'  ' * depth}{name}".ljust(32) + text


def summary(module: Path) -> str:
    """Return the first line of a module's docstring, without markup."""
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    first = text.partition("\n")[0].replace("``", "`").rstrip(".")
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", first)


def rank(package: Path) -> tuple[int, str]:
    """Return the place of a package in the contract of the layers."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(one["layers"] for one in settings["contracts"] if one["type"] == "layers")
    places = [i for i, layer in enumerate(layers) if package.name in re.findall(r"\w+", layer)]
    return places[0], package.name


def main() -> None:
    """Compare the tree in the page with the package, or rewrite it."""
    text = PAGE.read_text(encoding="utf-8")
    now = _TREE.sub(lambda _: tree(), text, count=1)
    if "--update" in sys.argv[1:]:
        PAGE.write_text(now, encoding="utf-8")
    elif now != text:
        sys.exit("The tree in ARCHITECTURE.md is stale; `make docs-update` rewrites it.")


if __name__ == "__main__":
    main()
