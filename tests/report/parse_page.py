"""A page taken apart, as far as the standard library can."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "source", "input", "br", "path", "circle"}
OPTIONAL = {"tr", "td", "th"}
"""Elements whose end tags may be left out."""


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    text: str = ""


@dataclass
class Parsed(HTMLParser):
    """Every element of a page, with its attributes and its own text."""

    elements: list[Element] = field(default_factory=list)
    open_: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), (tag, attrs)
        while self.open_ and tag in OPTIONAL and self.open_[-1].tag in OPTIONAL:
            if tag in ("td", "th") and self.open_[-1].tag == "tr":
                break
            self.open_.pop()
        element = Element(tag, dict(attrs))
        self.elements.append(element)
        if tag not in VOID:
            self.open_.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self.open_[-1].tag != tag:
            assert self.open_[-1].tag in OPTIONAL, (tag, self.open_[-1])
            self.open_.pop()
        self.open_.pop()

    def handle_data(self, data: str) -> None:
        if self.open_:
            self.open_[-1].text += data

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element.tag in tags]

    def values(self) -> Iterator[tuple[str, str, str]]:
        """Every attribute: element, name, value."""
        for element in self.elements:
            for name, value in element.attributes.items():
                yield element.tag, name, value or ""

    @property
    def text(self) -> str:
        """All text but for style and script."""
        shown = (one.text for one in self.elements if one.tag not in ("style", "script"))
        return " ".join(" ".join(shown).split())


def parsed(page: str) -> Parsed:
    made = Parsed()
    made.feed(page)
    made.close()
    assert made.open_ == []
    return made
