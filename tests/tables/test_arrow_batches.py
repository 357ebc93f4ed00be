"""Formulas carried out on Arrow batches by NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from unheard.tables.engines import arrow_batches
from unheard.tables.engines.arrow_batches import Source, carry_out, names_of


def halves_and_logs(source: Source) -> Mapping[str, Any]:
    x = source.column("x")
    return {
        "half": x / 2.0,
        "log": source.where(x > 0.0, source.log(x), source.missing()),
    }


def reader(rows: int, batch: int = 1000) -> pa.RecordBatchReader:
    x = np.arange(rows, dtype=np.float64)
    table = pa.table({"item": [f"i{k}" for k in range(rows)], "x": x})
    return table.to_reader(max_chunksize=batch)


@pytest.mark.parametrize("most", [2**27, 10_000])
def test_every_row_is_answered_in_memory_or_in_a_file(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_batches, "_MOST_IN_MEMORY", most)
    found = carry_out(halves_and_logs, reader(20_000), ["item"], tmp_path)
    assert found.column_names == ["item", "half", "log"]
    assert found.num_rows == 20_000
    x = np.array([float(item[1:]) for item in found["item"].to_pylist()])
    assert set(x) == set(range(20_000))
    np.testing.assert_array_equal(found["half"].to_numpy(), x / 2)
    assert found.filter(pa.compute.is_null(found["log"]))["item"].to_pylist() == ["i0"]
    # What did not fit went to a file.
    assert len(list(tmp_path.iterdir())) == (most < 2**20)


def test_no_rows_have_the_same_columns(tmp_path: Path) -> None:
    empty = carry_out(halves_and_logs, reader(0), ["item"], tmp_path)
    assert empty.num_rows == 0
    assert empty.column_names == ["item", *names_of(halves_and_logs, ["x"])]


def test_a_result_in_a_file_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    items = rng.integers(0, 700, 5000)
    stars = np.minimum(5, 1 + rng.poisson(2 + items % 3))
    table = pa.table({"item": items, "stars": stars})
    held = uh.rate(table, "item", "stars", q=0.3)
    monkeypatch.setattr(arrow_batches, "_MOST_IN_MEMORY", 1000)
    assert uh.rate(table, "item", "stars", q=0.3).equals(held)
