"""Write all or some exhibits into a folder, except those that are up to date."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import unheard
from unheard.charts.export import render_png, render_svg
from unheard.errors import OptionError
from unheard.files import beside
from unheard.options.unknown import check_choice
from unheard.paper.exhibit import Exhibit, Rows, Step
from unheard.paper.index import Entry, render_page

EXHIBITS = (
    "hotels",
    "example",
    "regret_over_q",
    "asymptotic",
    "heat_maps",
    "methods_over_q",
    "regret_over_n",
    "hotel_table",
    "tracks",
    "theorems",
)
"""Names of the exhibits, in the order of the index; each is a module of this package."""

_LAYERS = ("formulas", "model", "game", "analysis", "charts")

_DATA = {"tracks": "cm100k/item_histograms.csv", "hotel_table": "hotel.csv"}
"""The file in the data folder that an exhibit reads."""


@dataclass(frozen=True)
class Made:
    """An exhibit in its folder, and whether it was made now."""

    name: str
    entry: Entry
    fresh: bool


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the chosen exhibits in order, all by default; raise unless they exist."""
    for name in names:
        check_choice("only", name, EXHIBITS, OptionError)
    return tuple(name for name in EXHIBITS if name in names) or EXHIBITS


def make_all(
    folder: Path,
    names: Sequence[str] = (),
    *,
    fast: bool = False,
    data: Path | None = None,
    step: Callable[[str, float], None] = lambda _name, _done: None,
) -> Iterator[Made]:
    """Make exhibits one after the other, then the index of all exhibits in the folder.

    Parameters
    ----------
    folder
        Where everything is written; created if it does not exist.
    names
        Which exhibits; all by default.
    fast
        Whether to compute coarser numbers.
    data
        Folder with data that this package does not contain.
    step
        Receives the name of the exhibit being made, and the share of it that is done.
    """
    chosen = check_names(names)
    if data is not None and not data.is_dir():
        raise OptionError(
            "data",
            problem="{argument} must be a folder that exists",
            value=str(data),
            hint="Give the folder with the data",
        )
    if folder.exists() and not folder.is_dir():
        raise OptionError(
            "output",
            problem="{argument} must be a folder",
            value=str(folder),
            hint="Give the name of a folder, which need not exist",
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        key = _key(name, fast, data)
        entry = _read_if_current(folder, name, key)
        fresh = entry is None
        if entry is None:
            done: Step = lambda share, name=name: step(name, share)  # type: ignore[misc]  # noqa: E731
            done(0.0)
            entry = _write(folder, name, key, _make_exhibit(name, fast, data, done))
        yield Made(name, entry, fresh)
    entries = [found for name in EXHIBITS if (found := _read_entry(folder, name)) is not None]
    _write_file(folder / "index.html", render_page(entries, folder).encode())


def _make_exhibit(name: str, fast: bool, data: Path | None, step: Step) -> Exhibit:
    module = import_module(f"unheard.paper.{name}")
    made: Exhibit = module.make(fast, step, data) if name in _DATA else module.make(fast, step)
    return made


def _key(name: str, fast: bool, data: Path | None) -> str:
    """Return a fingerprint of everything that an exhibit depends on."""
    root = Path(unheard.__file__).parent
    files = [root / "paper" / f"{name}.py", root / "paper" / "exhibit.py"]
    for layer in _LAYERS:
        files += sorted((root / layer).glob("*.py"))
    digest = hashlib.sha256(f"{unheard.__version__} {fast}".encode())
    for file in files:
        digest.update(file.read_bytes())
    if data is not None and name in _DATA and (data / _DATA[name]).exists():
        digest.update((data / _DATA[name]).read_bytes())
    return digest.hexdigest()


def _read_entry(folder: Path, name: str) -> Entry | None:
    file = folder / f"{name}.json"
    if not file.exists():
        return None
    try:
        return Entry(**json.loads(file.read_text(encoding="utf-8")))
    except (TypeError, ValueError):
        return None  # written by another version or program


def _read_if_current(folder: Path, name: str, key: str) -> Entry | None:
    entry = _read_entry(folder, name)
    if entry is None or entry.key != key:
        return None
    return entry if all((folder / file).exists() for file in entry.files) else None


def _write(folder: Path, name: str, key: str, exhibit: Exhibit) -> Entry:
    """Write the numbers and charts of an exhibit, then the record that they are complete."""
    files = []
    for table, rows in exhibit.tables.items():
        files.append(f"{name}-{table}.csv")
        _write_file(folder / files[-1], _csv(rows))
    captions = {}
    for picture, one in exhibit.pictures.items():
        stem = f"{name}-{picture}"
        files += [f"{stem}.svg", f"{stem}.png"]
        _write_file(folder / f"{stem}.svg", render_svg(one.chart.to_json()).encode())
        _write_file(folder / f"{stem}.png", render_png(one.chart.to_json()))
        captions[stem] = one.caption
    entry = Entry(
        name=name,
        key=key,
        title=exhibit.title,
        where=exhibit.where,
        claim=exhibit.claim,
        found=exhibit.found,
        verdict=exhibit.verdict,
        captions=captions,
        files=files,
    )
    _write_file(
        folder / f"{name}.json", json.dumps(vars(entry), indent=1, ensure_ascii=False).encode()
    )
    return entry


def _csv(rows: Rows) -> bytes:
    columns: dict[str, Any] = {}
    for row in rows:
        columns |= dict.fromkeys(row)
    text = io.StringIO()
    table = csv.DictWriter(text, list(columns), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue().encode()


def _write_file(path: Path, content: bytes) -> None:
    with beside(path) as fresh:
        fresh.write_bytes(content)
