"""Engines as fixtures."""

from __future__ import annotations

import pytest

from tests.tables.cases import benches
from tests.tables.engines import BENCHES, ONE_QUERY_BENCHES, SQL_BENCHES, Bench, bench


@pytest.fixture(params=benches(BENCHES))
def every_engine(request: pytest.FixtureRequest) -> Bench:
    """Return everything that holds rows, for the questions about reading that differ most."""
    return bench(request.param)


@pytest.fixture(params=benches([name for name in BENCHES if name not in ONE_QUERY_BENCHES]))
def engine(request: pytest.FixtureRequest) -> Bench:
    """Return what holds rows, for questions about reading and returning them.

    What runs everything as one query reads as its own engine does, and is slow to plan.
    """
    return bench(request.param)


@pytest.fixture(params=benches(SQL_BENCHES))
def database(request: pytest.FixtureRequest) -> Bench:
    """Return everything that runs queries, for questions about what is worked out.

    Frames are left out, as DuckDB works on them all, and so is PostgreSQL's reader: it runs the
    cases that every engine runs, and those of ``test_snapshots``.
    """
    return bench(request.param)
