"""The index page of all exhibits, with every chart inside the one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

_STYLE = """
body { font: 16px/1.5 "Liberation Sans", Arial, Helvetica, sans-serif; color: #1a1a1a;
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 3rem; }
.where { color: #555; margin-top: -0.6rem; }
.verdict { font-weight: bold; padding: 0.1rem 0.5rem; border-radius: 0.3rem; color: white; }
.agrees { background: #00694c; } .corrected { background: #a04000; }
.not-reproducible { background: #5a5a5a; } .ours { background: #005a8c; }
figure { margin: 1.5rem 0; overflow-x: auto; } figcaption { color: #444; font-size: 0.95rem; }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; } td, th { padding: 0.3rem 0.6rem; text-align: left;
  border-bottom: 1px solid #ddd; vertical-align: top; }
"""


@dataclass(frozen=True)
class Entry:
    """An exhibit as stored in its folder.

    Attributes
    ----------
    name, title, where, claim, found, verdict
        As in :class:`unheard.paper.exhibit.Exhibit`.
    key
        Fingerprint of everything it depends on.
    captions
        Captions by the stem of the chart's file.
    files
        All files written.
    """

    name: str
    key: str
    title: str
    where: str
    claim: str
    found: str
    verdict: str
    captions: dict[str, str]
    files: list[str]


def render_page(entries: Sequence[Entry], folder: Path) -> str:
    """Return the page; charts are read from the folder."""
    rows = "".join(
        f'<tr><td><a href="#{entry.name}">{escape(entry.title)}</a></td>'
        f"<td>{escape(entry.where)}</td><td>{_badge(entry)}</td></tr>"
        for entry in entries
    )
    sections = "".join(_section(entry, folder) for entry in entries)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The paper, reproduced and corrected</title><style>{_STYLE}</style></head><body>"
        "<h1>Mitigating the Participation Bias by Balancing Extreme Ratings: reproduced and "
        "corrected</h1><p>What the paper (Guo, Kong and Liu, WWW ’25) claims, what this package "
        "finds, and whether the two agree.</p>"
        f"<table><tr><th>Exhibit</th><th>In the paper</th><th>Verdict</th></tr>{rows}</table>"
        f"{sections}</body></html>\n"
    )


def _badge(entry: Entry) -> str:
    style = entry.verdict.replace(" ", "-")
    return f'<span class="verdict {style}">{escape(entry.verdict)}</span>'


def _section(entry: Entry, folder: Path) -> str:
    pictures = "".join(
        f"<figure>{_inline(folder / f'{stem}.svg')}"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
        for stem, caption in entry.captions.items()
    )
    tables = ", ".join(
        f'<a href="{file}">{escape(file)}</a>' for file in entry.files if file.endswith(".csv")
    )
    return (
        f'<h2 id="{entry.name}">{escape(entry.title)}</h2>'
        f'<p class="where">{escape(entry.where)} {_badge(entry)}</p>'
        f"<p><b>The paper:</b> {escape(entry.claim)}</p>"
        f"<p><b>Here:</b> {escape(entry.found)}</p>{pictures}<p>Numbers: {tables}</p>"
    )


def _inline(file: Path) -> str:
    """Return the SVG of a file without its XML header."""
    text = file.read_text(encoding="utf-8")
    return text[text.index("<svg") :]
