"""Engines as fixtures."""

from __future__ import annotations

import pytest

from tests.tables.cases import benches
from tests.tables.engines import BENCHES, SQL_BENCHES, Bench, bench


@pytest.fixture(params=benches(BENCHES))
def engine(request: pytest.FixtureRequest) -> Bench:
    """Return everything that holds rows, for questions about reading and returning them."""
    return bench(request.param)


@pytest.fixture(params=benches((*SQL_BENCHES, "postgres-reader")))
def database(request: pytest.FixtureRequest) -> Bench:
    """Return everything that runs queries, for questions about what is worked out.

    Frames are left out: DuckDB works on them all.
    """
    return bench(request.param)


@pytest.fixture(params=benches(SQL_BENCHES))
def sql_engine(request: pytest.FixtureRequest) -> Bench:
    """Return engines with a dialect and a client of their own."""
    return bench(request.param)
