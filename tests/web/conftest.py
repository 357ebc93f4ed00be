"""One browser and one server for all tests of the page, and a fresh visit for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.web.browser import Visit, profile, visiting
from tests.web.server import Served, serving


@pytest.fixture(scope="session")
def browser(chromium_browser: Browser) -> Iterator[BrowserContext]:
    """One profile for all visits: a new one for each would take longer than the tests."""
    with profile(chromium_browser) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield context


@pytest.fixture(scope="session")
def site(browser: BrowserContext) -> Iterator[Served]:
    """The server, which is not started where there is no browser."""
    with serving("--max-upload", "1") as served:
        yield served


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    """The server for all tests of the group "web-api"."""
    with serving() as served:
        yield served


@pytest.fixture
def visit(browser: BrowserContext, site: Served) -> Iterator[Visit]:
    with visiting(browser, site.address) as started:
        yield started
        started.page.evaluate("localStorage.clear()")
