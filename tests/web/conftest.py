"""One browser and one server for all tests of the page, and a fresh visit for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.web.browser import Visit, chromium, visiting
from tests.web.server import Served, serving


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def site(browser: Browser) -> Iterator[Served]:
    """The server, which is not started where there is no browser."""
    with serving("--max-upload", "1") as served:
        yield served


@pytest.fixture
def visit(browser: Browser, site: Served) -> Iterator[Visit]:
    with visiting(browser, site.address) as started:
        yield started
