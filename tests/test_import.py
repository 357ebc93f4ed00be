"""Importing the package is cheap and brings no heavy library along."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"pandas", "polars", "pyarrow", "duckdb", "ibis", "altair", "fastapi", "rich", "click"}
HEAVY |= {"scipy.optimize", "scipy.stats", "pyspark", "sqlglot"}


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, unheard; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "unheard.model.question" in loaded
    assert not loaded & HEAVY


def test_public_names_exist_and_are_documented() -> None:
    import unheard

    for name in unheard.__all__:
        assert getattr(unheard, name).__doc__, name
