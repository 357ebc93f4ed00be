"""Settings for all tests."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

# Before NumPy is loaded, here and in processes that tests start. There are as many of these as
# processors already: threads that wait for each other make small products take ten times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile(
    "unheard",
    # Before a release, or after a change of formulas, ask for many more.
    max_examples=int(os.environ.get("UNHEARD_EXAMPLES", "40")),
    # Speed is measured in benchmarks/, against a peer; here it would only make tests flaky.
    deadline=None,
    # The same examples at every run of CI; new ones on a developer's machine.
    derandomize=bool(os.environ.get("CI")),
    print_blob=True,
)
settings.load_profile("unheard")


def pytest_collection_finish() -> None:
    """Leave thousands of collected tests out of every later search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let them go, or libraries complain at the end about what is left of theirs."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _results_as_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have files and databases rated into Arrow tables, whose values compare exactly.

    pandas, the default where it is installed, has no missing whole numbers; what it gives is
    tested on its own.
    """
    if opened := sys.modules.get("unheard.tables.sources.open"):
        monkeypatch.setattr(opened, "choose_backend", lambda backend: backend or "pyarrow")


@pytest.fixture(scope="session")
def chromium_browser() -> Iterator[Browser]:
    """A real browser: one for all tests, as Playwright starts only once in a process."""
    from tests.web.browser import chromium

    with chromium() as started:
        yield started
