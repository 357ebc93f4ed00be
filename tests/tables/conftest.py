"""Engines as fixtures."""

from __future__ import annotations

import pytest

from tests.tables.cases import benches
from tests.tables.engines import BENCHES, SQL_BENCHES, Bench, bench


@pytest.fixture(params=benches(BENCHES))
def engine(request: pytest.FixtureRequest) -> Bench:
    """Return everything that holds rows, for questions about reading and returning them."""
    return bench(request.param)


@pytest.fixture(params=benches(SQL_BENCHES))
def database(request: pytest.FixtureRequest) -> Bench:
    """Return everything that runs queries, for questions about what is worked out.

    Frames are left out, as DuckDB works on them all, and so is PostgreSQL's reader: it runs the
    cases that every engine runs, and those of ``test_snapshots``.
    """
    return bench(request.param)
