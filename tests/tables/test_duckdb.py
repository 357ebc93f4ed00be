"""DuckDB on its own: what it may not do, and that nothing of it is left behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.stays import STAYS, as_csv, as_parquet, in_duckdb, with_q
from unheard.tables.engines.duckdb import DuckDB


def test_duckdb_fetches_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        engine = DuckDB()
        try:
            engine.execute(f"set custom_extension_repository = '{address}'")
            engine.execute(f"set extension_directory = '{tmp_path}'")
            with pytest.raises(uh.QueryError):
                engine.execute(f"select * from read_csv('{address}/stays.csv')")
            for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
                found = engine.execute(f"select current_setting('{setting}')").fetchall()
                assert found == [(False,)]
        finally:
            engine.close()
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.fixture
def confined(tmp_path: Path) -> Iterator[DuckDB]:
    folder = tmp_path / "upload"
    folder.mkdir()
    for path in (folder / "table.csv", tmp_path / "secret.csv"):
        path.write_bytes(as_csv(STAYS))
    engine = DuckDB("64MiB", folder)
    yield engine
    engine.close()


def test_a_confined_duckdb_reads_its_folder_only(confined: DuckDB, tmp_path: Path) -> None:
    assert confined.execute(f"from read_csv('{tmp_path}/upload/table.csv')").fetchall()
    for statement in (
        f"from read_csv('{tmp_path}/secret.csv')",
        f"from read_text('{tmp_path}/upload/../secret.csv')",
        f"from glob('{tmp_path}/*')",
        f"copy (select 1) to '{tmp_path}/made.csv'",
        f"attach '{tmp_path}/made.db'",
        "load httpfs",
        "install httpfs",
    ):
        with pytest.raises(uh.QueryError, match=r"(?i)permission|disabled|not allowed|cannot"):
            confined.execute(statement)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["secret.csv", "upload"]


@pytest.mark.parametrize(
    "setting",
    ["memory_limit = '1TB'", "allowed_directories = ['/']", "temp_directory = '/'", "threads = 9"],
)
def test_a_confined_duckdb_stays_so(setting: str, confined: DuckDB) -> None:
    with pytest.raises(uh.QueryError, match="locked"):
        confined.execute(f"set {setting}")


def test_duckdb_keeps_to_its_memory(confined: DuckDB) -> None:
    greedy = "select len(list(range)) from range(20000000)"
    with pytest.raises(uh.QueryError, match="Out of Memory"):
        confined.execute(greedy)
    assert confined.execute("select 1").fetchall() == [(1,)]


# Nothing is left behind.


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_errors_leave_no_folders(scratch: Path, tmp_path: Path) -> None:
    good = tmp_path / "stays.csv"
    good.write_bytes(as_csv(STAYS))
    (tmp_path / "text.db").write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 5_000)
    (tmp_path / "stays.parquet").write_bytes(as_parquet(STAYS)[:-20])
    held: list[
        Any
    ] = []  # as in a notebook, whose last error keeps everything alive that it came through
    for source, asked in (
        (good, {"memory": "lots"}),
        (good, {"scale": "1:3"}),
        (good, {"n_table": tmp_path / "stays.parquet"}),
        (tmp_path / "stays.parquet", {}),
        (tmp_path / "text.db", {}),
        (tmp_path / "no.csv", {}),
        (STAYS, {"memory": "lots"}),
        (STAYS, {"n_column": "guests"}),
    ):
        with pytest.raises(uh.UnheardError) as told:
            uh.rate(source, "hotel", "stars", **with_q(asked))
        held.append(told)
        assert list(scratch.iterdir()) == []
    in_duckdb(tmp_path / "two.duckdb", a=STAYS, b=STAYS)
    for table, query in ((None, None), ("c", None), (None, "selec")):
        with pytest.raises(uh.OptionError) as wrong:
            uh.rate(tmp_path / "two.duckdb", "hotel", "stars", q=0.3, table=table, query=query)
        held.append(wrong)
        assert list(scratch.iterdir()) == []


def test_an_engine_that_nobody_closes_leaves_no_folder(scratch: Path) -> None:
    engine = DuckDB()
    assert len(list(scratch.iterdir())) == 1
    with pytest.warns(ResourceWarning):
        del engine
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hotel,stars\nA,5\n", ["--memory", "lots"]),
        (b"hotel,stars\nA,5\n", ["--scale", "6:9"]),
        (b"\0" * 100_000, []),
        (b"hotel,stars\nA,5\nM\xfcller,4\n", ["--encoding", "utf-8"]),
        (b"", []),
    ],
    ids=["option", "rows", "binary", "encoding", "nothing"],
)
def test_standard_input_is_not_left_behind(
    content: bytes, words: list[str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "unheard", "rate", "-", "--item", "hotel"]
    done = subprocess.run(
        [*command, "--rating", "stars", "--q", "0.3", *words],
        input=content,
        capture_output=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_ratings_of_every_whole_type() -> None:
    wanted = uh.count_ratings(STAYS, "hotel", "stars")
    for kind in (pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.decimal128(20)):
        table = STAYS.set_column(1, "stars", STAYS["stars"].cast(kind))
        assert uh.count_ratings(table, "hotel", "stars").equals(wanted), kind
