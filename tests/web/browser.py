"""A real browser, and a page that must not complain, break its policy, or ask anybody else."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

CHROMIUM = "chromium"
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Work on a table goes through a process that may just be starting.
expect.set_options(timeout=20_000)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium; without one skip, and in CI fail.

    All pages share one context, so that scripts are read and compiled once.
    """
    path = shutil.which(CHROMIUM)
    if path is None:
        reason = f"there is no {CHROMIUM} on this machine"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        try:
            yield started
        finally:
            started.close()


@contextmanager
def profile(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    """Start with an empty profile: no storage, these options."""
    options = {"viewport": {"width": 1280, "height": 900}} | options
    made = browser.new_context(**options)
    try:
        yield made
    finally:
        made.close()


@dataclass
class Visit:
    """A page that is watched.

    Attributes
    ----------
    page
        The page.
    address
        Of the server that showed it.
    expected
        What the console may say: patterns.
    complaints
        What went wrong.
    waiting
        Requests that are not answered yet.
    """

    page: Page
    address: str
    expected: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    waiting: set[Any] = field(default_factory=set)

    def expect_status(self, status: int) -> None:
        """Allow the console to report that the server refused something."""
        self.expected.append(f"responded with a status of {status}")

    def open(self, fragment: str = "") -> Page:
        """Open the page anew."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}{fragment}")
        return self.page

    def watch(self) -> None:
        """Take down whatever the page should not do."""
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", self._on_request)
        for done in ("requestfinished", "requestfailed"):
            self.page.on(done, self._on_answer)

    def rest(self) -> None:
        """Wait until nothing is asked any more: to leave before costs the server a worker."""
        still, patience = 0, 750
        while still < 3 and patience:
            self.page.wait_for_timeout(40)
            still, patience = 0 if self.waiting else still + 1, patience - 1
        assert patience, f"never answered: {[one.url for one in self.waiting]}"

    def _on_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def _on_request(self, request: Any) -> None:
        self.waiting.add(request)
        asked = urlsplit(request.url)
        own = asked.scheme in ("blob", "data", "about")
        if not own and asked.netloc != urlsplit(self.address).netloc:
            self.complaints.append(f"outside request: {request.url}")

    def _on_answer(self, request: Any) -> None:
        self.waiting.discard(request)

    def unexpected(self) -> list[str]:
        """Return what went wrong and was not announced."""
        return [
            words
            for words in self.complaints
            if not any(re.search(pattern, words) for pattern in self.expected)
        ]


@contextmanager
def visiting(context: BrowserContext, address: str) -> Iterator[Visit]:
    """Open a new page, and fail if it misbehaved."""
    visit = Visit(context.new_page(), address)
    visit.watch()
    try:
        yield visit
        visit.rest()
    finally:
        visit.page.close()
    assert visit.unexpected() == []


def paste(page: Page, text: str) -> None:
    """Paste text where the cursor is."""
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+V")


def download(page: Page, button: str, folder: Path) -> Path:
    """Press a button and return the file that arrives."""
    with page.expect_download() as coming:
        page.locator(button).click()
    target = folder / coming.value.suggested_filename
    coming.value.save_as(target)
    return target


def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than its window."""
    wide: int = page.evaluate("document.scrollingElement.scrollWidth - window.innerWidth")
    return wide
