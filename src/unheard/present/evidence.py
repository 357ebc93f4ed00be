"""Studies of participation, as the terminal shows them."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from unheard.model.studies import PRESET_TEXTS, PRESETS, list_evidence
from unheard.present.layout import Page


def write_evidence(page: Page) -> Iterator[Text]:
    """Write what studies found, preset by preset."""
    yield Text("Participation ratios that studies found", "bold")
    yield Text()
    for name, q in PRESETS.items():
        yield Text(f"--q {name} ({q:g})", "bold")
        yield from page.paragraph(f"Where {PRESET_TEXTS[name]}.", indent=2)
        for row in list_evidence():
            if row["preset"] == name:
                value = "    " if row["q"] is None else f"{row['q']:.2f}"
                slug = f" (--q {row['slug']})" if row["slug"] else ""
                words = f"{row['name']}: {row['what']}; {row['who']} respond less often. "
                yield from page.paragraph(
                    f"{words}{row['source']}{slug}.", f"{value}  ", "", indent=2
                )
        yield Text()
    yield from page.paragraph(
        "q is the lowest participation divided by the highest, by rating. Where people also choose "
        "what they experience (media, coats), that choice is part of it, so q is lower than among "
        "people who all had the experience. A study by name sets who may respond less often as "
        "well, unless its answers have no order. An audit of your own is better than any study: "
        "see unheard calibrate --help."
    )
