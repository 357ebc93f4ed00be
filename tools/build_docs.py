"""Build the documentation site into build/docs, without a network.

The pages are copied to build/docs-source, where their examples run and reference pages are written;
Sphinx reads that copy. A stale output, a broken link and a warning of any kind fail the build.
"""

from __future__ import annotations

import argparse
import html
import itertools
import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from sphinx.cmd.build import main as sphinx_build

from tools.doc_examples import ROOT, TABLES, ExampleError, Run, run_page
from tools.doc_reference import write_reference

# Pages that live in the root of the checkout, where people look for them.
PROJECT_PAGES = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def main() -> None:
    """Build into the folder named on the command line, and say how long it took."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--into", type=Path, default=Path("build"))
    folder = parser.parse_args().into.resolve()
    began = time.perf_counter()
    try:
        build(folder / "docs-source", folder / "docs")
    except ExampleError as error:
        sys.exit(str(error))
    print(
        f"Built {os.path.relpath(folder)}/docs/index.html in {time.perf_counter() - began:.0f} s."
    )


def build(source: Path, site: Path) -> None:
    """Build the site from a copy of the pages; every warning is an error."""
    stage(source)
    shutil.rmtree(site, ignore_errors=True)
    options = ["-q", "-W", "--keep-going", "-E", "-b", "html", "-d", str(source / ".doctrees")]
    if sphinx_build([*options, str(source), str(site)]):
        raise ExampleError("The site could not be built; the warnings above say why.")


def stage(source: Path) -> None:
    """Copy the pages, run their examples, and write the pages that come from the code."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source)
    for example in TABLES:
        shutil.copy(example, source)
    runs = [stage_page(page, source) for page in sorted((ROOT / "docs").rglob("*.md"))]
    if differences := "\n".join(filter(None, (run.difference() for run in runs))):
        raise ExampleError(f"{differences}\nOutputs are stale; `make docs-update` rewrites them.")
    (source / "project").mkdir(exist_ok=True)
    for name in PROJECT_PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        (source / "project" / name).write_text(relink(text, Path("project")), encoding="utf-8")
    write_reference(source / "reference")


def stage_page(page: Path, source: Path) -> Run:
    """Run a page and write it, with its pictures, into the copy."""
    name = page.relative_to(ROOT / "docs")
    target = source / name
    numbers = itertools.count(1)

    def picture_text(picture: Any) -> str:
        number = next(numbers)
        words = re.sub(r"([\[\]])", r"\\\1", html.escape(picture.words).replace("\n", " "))
        text = ""
        for theme in ("light", "dark"):
            file = target.with_name(f"{name.stem}-{number}-{theme}.svg")
            picture.save(file, theme=theme)
            text += f"\n![{words}]({file.name}){{.only-{theme}}}\n"
        return text

    run = run_page(page, picture_text)
    target.write_text(relink(run.shown, name.parent), encoding="utf-8")
    return run


def relink(text: str, folder: Path) -> str:
    """Let links lead to where a page of the checkout stands in the site."""
    up = os.path.relpath(".", folder)
    text = re.sub(r"\]\((?:\.\./)+([A-Z]+\.md)", rf"]({up}/project/\1", text)
    return re.sub(r"\]\(docs/", f"]({up}/", text)


if __name__ == "__main__":
    main()
