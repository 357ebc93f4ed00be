"""The folder that ``unheard paper`` leaves behind."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from unheard.cli.main import _run
from unheard.errors import OptionError
from unheard.paper import run
from unheard.paper.exhibit import Exhibit

NAMES = ["hotels", "example"]


def make(folder: Path, names: list[str], **options: Any) -> dict[str, bool]:
    """Make exhibits and return which had to be made."""
    return {made.name: made.fresh for made in run.make_all(folder, names, fast=True, **options)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    assert make(folder, NAMES) == {"hotels": True, "example": True}
    return folder


def test_everything_promised_is_there(folder: Path) -> None:
    for name in NAMES:
        entry = json.loads((folder / f"{name}.json").read_text())
        assert entry["verdict"] in ("agrees", "corrected", "not reproducible", "ours")
        assert entry["files"]
        for file in entry["files"]:
            assert (folder / file).stat().st_size > 0
        for stem in entry["captions"]:
            assert (folder / f"{stem}.svg").read_text().startswith("<svg")
            assert (folder / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "index.html").exists()


def test_nothing_else_is_there(folder: Path) -> None:
    promised = {"index.html"}
    for name in NAMES:
        promised |= {f"{name}.json", *json.loads((folder / f"{name}.json").read_text())["files"]}
    assert {file.name for file in folder.iterdir()} == promised


class Page(HTMLParser):
    """Collects what a page loads, links to, and names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attributes:
            if name == "id":
                self.names.add(str(value))
            elif name in ("src", "srcset", "data", "poster", "xlink:href"):
                self.loads.append(str(value))
            elif name == "href":
                self.links.append(str(value))


def test_index_is_one_file(folder: Path) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert not page.tags & {"script", "link", "img", "iframe", "object", "embed", "base"}
    assert not page.loads
    # The only addresses are the names of the SVG and HTML vocabularies, which load nothing.
    assert set(re.findall(r"https?://[^\s\"'<>)]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.search(r"@import|url\((?![\"']?#)", text)


def test_links_of_the_index_lead_somewhere(folder: Path) -> None:
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    assert page.links
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.names
        else:
            assert (folder / link).exists()


def test_index_says_it_all(folder: Path) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert text.index('id="hotels"') < text.index('id="example"')
    assert text.count("<figure>") == 3
    assert text.count("<b>The paper:</b>") == text.count("<b>Here:</b>") == len(NAMES)


def test_what_is_up_to_date_is_left_alone(folder: Path) -> None:
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert make(folder, ["hotels"]) == {"hotels": False}
    after = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    before.pop("index.html")
    assert before.items() <= after.items()
    # What was made before stays in the index.
    assert 'id="example"' in (folder / "index.html").read_text(encoding="utf-8")


def test_a_missing_file_is_made_again(tmp_path: Path) -> None:
    make(tmp_path, ["example"])
    (tmp_path / "example-ratings.png").unlink()
    assert make(tmp_path, ["example"]) == {"example": True}
    assert (tmp_path / "example-ratings.png").exists()


def test_the_fingerprint_covers_every_layer_that_exhibits_use() -> None:
    root = Path(run.__file__).parents[1]
    for layer in run._LAYERS:
        assert (root / layer / "__init__.py").exists(), layer
    source = "".join((root / "paper" / f"{name}.py").read_text() for name in run.EXHIBITS)
    used = set(re.findall(r"from unheard\.(\w+)[. ]", source))
    assert used - {"errors", "paper", "text"} <= {*run._LAYERS}


def tiny(fast: bool, *_: object) -> Exhibit:
    return Exhibit("t", "w", "c", f"fast is {fast} <b>", "ours", {"numbers": [{"x": 1}]})


@pytest.fixture
def made_tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_make_exhibit", lambda _name, fast, _data, _step: tiny(fast))


@pytest.mark.usefixtures("made_tiny")
def test_another_fineness_is_made_again(tmp_path: Path) -> None:
    def fresh(fast: bool) -> list[bool]:
        return [made.fresh for made in run.make_all(tmp_path, ["hotels"], fast=fast)]

    assert fresh(True) == [True]
    assert fresh(True) == [False]
    assert fresh(False) == [True]
    assert "fast is False &lt;b&gt;" in (tmp_path / "index.html").read_text()


@pytest.mark.usefixtures("made_tiny")
def test_other_data_are_made_again(tmp_path: Path) -> None:
    out, data = tmp_path / "out", tmp_path / "data"
    data.mkdir()
    assert make(out, ["hotel_table"], data=data) == {"hotel_table": True}
    (data / "hotel.csv").write_text("1")
    assert make(out, ["hotel_table"], data=data) == {"hotel_table": True}
    (data / "hotel.csv").write_text("2")
    assert make(out, ["hotel_table"], data=data) == {"hotel_table": True}
    assert make(out, ["hotel_table"], data=data) == {"hotel_table": False}
    # What others read does not matter.
    (data / "other.csv").write_text("3")
    assert make(out, ["hotel_table"], data=data) == {"hotel_table": False}


def test_half_written_files_never_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> bytes:
        raise RuntimeError("out of ink")

    with monkeypatch.context() as patch:
        patch.setattr(run, "render_png", broken)
        with pytest.raises(RuntimeError, match="out of ink"):
            make(tmp_path, ["example"])
    assert not list(tmp_path.glob(".*")) + list(tmp_path.glob("*.part"))
    assert not (tmp_path / "example.json").exists()
    # So that it does not count as made.
    assert make(tmp_path, ["example"]) == {"example": True}


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "example.csv"
    target.write_text("old")

    def half(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OptionError, match=r"example\.csv cannot be written: No space left"):
        run._write_file(target, b"new and longer")
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["example.csv"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("mine")
    with pytest.raises(OptionError, match="must be a folder"):
        make(target, ["example"])
    assert target.read_text() == "mine"


def test_names_are_checked() -> None:
    assert run.check_names([]) == run.EXHIBITS
    assert run.check_names(["example", "hotels"]) == ("hotels", "example")
    with pytest.raises(OptionError, match="nonsense"):
        run.check_names(["nonsense"])


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    make(tmp_path, ["example"], step=lambda name, share: told.append((name, share)))
    assert {name for name, _ in told} == {"example"}
    shares = [share for _, share in told]
    assert shares[0] == 0
    assert shares == sorted(shares)


def typed(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["unheard", "paper", *words])
    return _run()


def test_command_reports(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(monkeypatch, "-o", str(folder), "--fast", "--only", "example") == 0
    said = capsys.readouterr()
    assert said.out.strip() == str(folder / "index.html")
    assert "up to date" in said.err


def test_command_in_json(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        typed(monkeypatch, "-o", str(folder), "--fast", "--only", "hotels,example", "--json") == 0
    )
    said = capsys.readouterr()
    rows = json.loads(said.out)
    assert [row["name"] for row in rows] == NAMES
    assert "key" not in rows[0]
    assert not said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--only", "nonsense"], "nonsense"), (["--only", "example", "--data", "nowhere"], "nowhere")],
)
def test_command_refuses(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert typed(monkeypatch, "-o", "out", *words) == 2
    assert said in capsys.readouterr().err
    assert not Path("out").exists()


def test_command_says_where_it_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert typed(monkeypatch, "-o", str(tmp_path / "file"), "--only", "example") != 0
    assert "Traceback" not in capsys.readouterr().err
