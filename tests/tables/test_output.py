"""Results written to files: what becomes of the target, and what spreadsheets make of them."""

from __future__ import annotations

import csv
import os
import stat
from pathlib import Path

import pyarrow as pa
import pytest
from sqlglot import exp

import unheard as uh
from tests.tables.stays import STAYS
from unheard.files import beside
from unheard.tables.engines.duckdb import DuckDB
from unheard.tables.output.safe_cells import safe_cell
from unheard.tables.output.write import write


def write_table(table: pa.Table, target: Path) -> None:
    engine = DuckDB()
    try:
        engine.execute("set preserve_insertion_order = true")
        write(engine, exp.select("*").from_(engine.register(table)), target, notes=False)
    finally:
        engine.close()


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_a_target_keeps_its_permissions(ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"rated.{ending}"
    target.touch()
    target.chmod(0o640)
    write_table(STAYS, target)
    assert target.stat().st_size
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [one.name for one in tmp_path.iterdir()] == [target.name]


def test_what_is_written_is_as_private_as_its_target(tmp_path: Path) -> None:
    target = tmp_path / "rated.csv"
    target.touch()
    target.chmod(0o600)
    with beside(target) as partial:
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600
        partial.write_text("new")
    assert target.read_text() == "new"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(there: bool, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if there:
        (folder / "real.csv").write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to(Path("folder") / "real.csv")
    write_table(STAYS, link)
    assert link.is_symlink()
    assert (folder / "real.csv").read_text().startswith("hotel,stars")
    assert [one.name for one in folder.iterdir()] == ["real.csv"]


def test_what_must_not_be_replaced_is_not(tmp_path: Path) -> None:
    target = tmp_path / "rated.csv"
    target.write_text("old")
    target.chmod(0o444)
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    for one in (target, link):
        with pytest.raises(uh.OptionError, match=r"is read-only\. Make it writable"):
            write_table(STAYS, one)
    assert target.read_text() == "old"
    assert stat.S_IMODE(target.stat().st_mode) == 0o444
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.csv")
        with pytest.raises(uh.OptionError, match="is not a regular file"):
            write_table(STAYS, tmp_path / "pipe.csv")


# Spreadsheets.

FORMULAS = (
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\ttext", "\rtext",
    "\ntext", " =1", "  +1+1", "\u00a0=1", "\u3000=1", "\ufeff=1", "\u200b=1", "＝1", "＋1", "－1",
    "＠a", " ＝1", "-", "=", "-1-1", "+49 30", "-1.5\n", "-1.", "-1e", "=\"it's\"",
)  # fmt: skip
PLAIN = (
    "Alder", "a=b", "1", "-1.5", "+7", "-0", "-1e5", "+1.5E-3", "'=1", "", " ", "'", "x -1", "007",
    "five stars = best", "\u2003x", " 1",
)  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_spreadsheets_find_no_formulas(ending: str, tmp_path: Path) -> None:
    names = [*FORMULAS, *PLAIN]
    table = pa.table({"=name": names, "change": [-0.5] * len(names), "whole": [-2] * len(names)})
    target = tmp_path / f"rated.{ending}"
    write_table(table, target)
    with target.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file, delimiter="\t" if ending == "tsv" else ",")
    assert head == ["'=name", "change", "whole"]
    assert [row[0] for row in rows] == [f"'{name}" for name in FORMULAS] + [*PLAIN]
    assert {(row[1], row[2]) for row in rows} == {("-0.5", "-2")}
    assert [safe_cell(name) for name in names] == [row[0] for row in rows]
    assert safe_cell(-0.5) == -0.5
