"""What the documentation shows and names is what the code prints and has."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import unheard as uh
from tools.doc_examples import ROOT, ROOT_PAGES, ExampleError, pages, run_page
from tools.doc_reference import commands_page, notes_page, rest_page
from unheard.cli.main import cli

DOCS = ROOT / "docs"
TEXTS = {
    page.relative_to(ROOT): page.read_text(encoding="utf-8")
    for page in (*pages(), ROOT / "ARCHITECTURE.md", ROOT / "SECURITY.md")
}
_CODE = r"```(?:sh|console)\n(.*?)```|`([^`\n]+)`"
BY_NAME = pytest.mark.parametrize("page", TEXTS, ids=str)


@pytest.mark.parametrize("page", ROOT_PAGES, ids=lambda page: page.name)
def test_examples_of_the_front_door(page: Path) -> None:
    assert not run_page(page).difference(), "run make docs-update"


def test_site_builds(tmp_path: Path) -> None:
    """Every page runs and shows its outputs of now; no link or reference is broken."""
    command = [sys.executable, "-m", "tools.build_docs", "--into", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for page in ("index", "tutorials/ranking", "reference/commands", "reference/rest"):
        text = (tmp_path / "docs" / f"{page}.html").read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|link)[^>]+(?:src|href)="https?:', text), page


def test_site_with_a_broken_link_fails(tmp_path: Path) -> None:
    for part in ("_ext", "_static", "_templates"):
        shutil.copytree(DOCS / part, tmp_path / part)
    shutil.copy(DOCS / "conf.py", tmp_path)
    (tmp_path / "index.md").write_text("# Page\n\n[gone](gone.md), [there](#nowhere)\n")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", ".", "site"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    for complaint in ("'gone.md'", "'nowhere'", "unheard.rate is not in the API reference"):
        assert complaint in done.stderr


def test_stale_output_is_found_and_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n1 + 1\n```\n\n```output\n3\n```\n\n```python\nx = 'kept'\n```\n\nend\n"
    )
    run = run_page(page)
    assert "-3\n+2" in run.difference()
    assert run.update()
    assert "```output\n2\n```" in page.read_text()
    assert page.read_text().endswith("x = 'kept'\n```\n\nend\n")
    assert not run_page(page).difference()


def test_refusal_is_shown_only_where_the_page_expects_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ unheard estimate 1 2 --q 7\n```\n")
    with pytest.raises(ExampleError, match="ends with code 2"):
        run_page(page)
    page.write_text("```console\n$ unheard estimate 1 2 --q 7\nError\n```\n")
    assert "Error: --q" in run_page(page).text


@BY_NAME
def test_names_of_the_library_exist(page: Path) -> None:
    for name in re.findall(r"\buh\.(\w+)", TEXTS[page]):
        assert name in uh.__all__, name
    for name in re.findall(r"\bunheard(?:\.[a-z]\w*)+", TEXTS[page]):
        assert importlib.util.find_spec(name) or hasattr(uh, name.split(".")[1]), name


@BY_NAME
def test_options_and_commands_exist(page: Path) -> None:
    options = {name for command in cli.commands.values() for name in names_of(command)}
    options |= {"--help", "--version", "--fix", "--data-binary", "--update", "--into", "--check"}
    code = "".join(a + b + "\n" for a, b in re.findall(_CODE, TEXTS[page], re.DOTALL))
    for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", code):
        assert option in options, option
    for command in re.findall(r"(?:^|`|\$ )unheard ([a-z]+)", TEXTS[page], re.MULTILINE):
        assert command in cli.commands, command


def names_of(command: click.Command) -> list[str]:
    return [name for one in command.params for name in (*one.opts, *one.secondary_opts)]


@BY_NAME
def test_files_exist(page: Path) -> None:
    files = re.findall(r"`((?:src|docs|tests|tools|benchmarks)/[\w./-]+)`", TEXTS[page])
    for file in files:
        assert (ROOT / file).exists(), file
    for link in re.findall(r"\]\(([\w./-]+\.(?:md|cff|svg|csv))[)#]", TEXTS[page]):
        if page.parent != Path("docs/project"):
            assert (ROOT / page.parent / link).exists() or "reference/" in link, link


# Words that the vocabulary of the product replaces; generated pages are held to it as well.
_REPLACED = re.compile(
    r"the silent\b|silent people|said nothing|noise aside|with noise|sampling noise|chance on top|"
    r"voice ratio|quieter|quietest|outspoken|possible places|place by it|"
    r"nobody can tell|\bflagged\b|"
    r"average seen|those who answered|asked for, and n",
    re.IGNORECASE,
)


@pytest.mark.parametrize("page", [*TEXTS, "commands", "rest", "notes"], ids=str)
def test_words_are_those_of_the_field(page: Path | str) -> None:
    generated = {"commands": commands_page, "rest": rest_page, "notes": notes_page}
    text = TEXTS[page] if isinstance(page, Path) else generated[page]()
    assert not _REPLACED.findall(text)


def test_code_names_pages_that_exist() -> None:
    for folder in ("src", "tests", "benchmarks"):
        for module in (ROOT / folder).rglob("*.py"):
            for page in re.findall(r"\bdocs/[\w/-]+\.(?:md|csv)", module.read_text("utf-8")):
                assert (ROOT / page).exists(), f"{module.name}: {page}"
