"""Processes that are killed, full disks and others that write at once: what was there stays whole.

A file that may not grow stands for a full disk: writing to it fails, or kills the process in the
middle of the write, always at the same byte. A small disk that is really full is tried as well.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unheard as uh
from tests.forking import Child, Ended, Forking, forking
from tests.tables.engines import PostgresBench, bench
from tests.tables.stays import in_duckdb, in_sqlite

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="/proc/locks and mount are Linux's"),
    pytest.mark.xdist_group("forking"),
]

RATED = ("--item", "hotel", "--rating", "stars")
Q = ("--q", "0.3")
MOST = 600
"""Bytes; everything written here is longer."""


def batch(seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    hotel = [f"hotel {x:03}" for x in rng.integers(0, 300, 900)]
    return pa.table({"hotel": hotel, "stars": rng.choice(5, 900, p=[0.3, 0.1, 0.1, 0.1, 0.4]) + 1})


BATCHES = [batch(seed) for seed in range(4)]
ALL = uh.count_ratings(pa.concat_tables(BATCHES), "hotel", "stars")


@pytest.fixture(scope="module")
def processes() -> Iterator[Forking]:
    with forking() as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with four batches, and another for results."""
    for at, table in enumerate(BATCHES):
        pq.write_table(table, tmp_path / f"{at}.parquet")
    few = pa.table({"hotel": [name[-1] for name in BATCHES[0]["hotel"].to_pylist()]})
    pq.write_table(few.append_column("stars", BATCHES[0]["stars"]), tmp_path / "few.parquet")
    (tmp_path / "out").mkdir()
    return tmp_path


def listed(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def full(ended: Ended, target: str) -> None:
    """Check that one clear line says that the disk is full."""
    words = f"Error: {target} cannot be written: File too large. Make room there, or write to"
    assert (ended.code, ended.out, ended.err) == (2, "", f"{words} another place.\n")


# Files.

SAVE = "import unheard as uh; uh.estimate([4, 3, 8, 1, 9], q=0.3).chart().save({!r})"
AUDIT = "import unheard as uh; uh.write_assumption(uh.calibrate([9, 8, 7], [20, 20, 20]), {!r})"
PLAN = ("plan", "few.parquet", *RATED, "--n", "999", *Q, "--width", "1", "-o")
RATE = ("rate", "0.parquet", *RATED, *Q, "--no-ranks", "-o")
COUNT = ("counts", "0.parquet", *RATED)
CALIBRATE = ("calibrate", "audit.csv", *RATED, "--answered", "reviewed", "-o")
OUTPUTS: dict[str, tuple[str, ...] | str] = {
    **{f"rated.{ending}": RATE for ending in ("csv", "tsv", "parquet", "json", "jsonl")},
    "counts.csv": (*COUNT, "-o"),
    "kept.parquet": (*COUNT, "--into"),
    "plan.csv": PLAN,
    "audit.json": CALIBRATE,
    "assumption.json": AUDIT,
    "chart.json": SAVE,
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_file_is_old_or_new(processes: Forking, folder: Path, name: str) -> None:
    shutil.copy(Path("docs/audit.csv"), folder)
    target, made = folder / "out" / name, OUTPUTS[name]

    def write(**fault: Any) -> Ended:
        if isinstance(made, str):
            child = Child(code=made.format(f"out/{name}"), **fault)
        else:
            child = Child((*made, f"out/{name}"), **fault)
        (ended,) = processes.run(child, folder=folder)
        return ended

    if name == "kept.parquet":
        uh.add_counts(BATCHES[1], target, "hotel", "stars", batch="1")
    else:
        target.write_text("old")
    old = target.read_bytes()
    full(write(most=MOST), f"out/{name}")
    assert (target.read_bytes(), listed(target.parent)) == (old, [name])
    deaths: list[tuple[dict[str, Any], signal.Signals]] = [
        ({"most": MOST, "killed_beyond": True}, signal.SIGXFSZ),
        ({"kill_at": "os.replace"}, signal.SIGKILL),
    ]
    for fault, sent in deaths[: 1 if name.startswith("rated.") and name != "rated.csv" else 2]:
        ended = write(**fault)
        assert ended.code == -sent
        assert target.read_bytes() == old
        # What it was writing is still there: the next one removes it.
        left = [one for one in listed(target.parent) if one.endswith(".part")]
        assert len(left) == 1
    if name in ("rated.csv", "kept.parquet", "chart.json"):
        assert write().code == 0
        assert target.read_bytes() != old
        assert listed(target.parent) == [name]


PAGE = (
    "from pathlib import Path; from unheard.report.build import write_page; "
    "write_page('page' * 999, Path({!r}))"
)
SLOW: dict[str, tuple[tuple[str, ...] | str, tuple[str, ...] | str]] = {
    "page.html": (("report", "kept.parquet", *Q, "-o", "out/page.html"), PAGE),
    "chart.png": (SAVE, AUDIT),
    "chart.svg": (SAVE, SAVE),
    "index.html": (("paper", "--fast", "--only", "example", "-o", "out"),) * 2,
}
"""What is slow to make, on a full disk and when it is killed; a page is then made of one word."""


@pytest.mark.parametrize("name", SLOW)
def test_a_page_or_picture_is_old_or_new(processes: Forking, folder: Path, name: str) -> None:
    uh.add_counts(BATCHES[1].slice(0, 9), folder / "kept.parquet", "hotel", "stars", batch="1")
    target = folder / "out" / name
    target.write_text("old")
    faults: list[dict[str, Any]] = [{"most": MOST}, {"kill_at": "os.replace"}]
    for made, fault, code in zip(SLOW[name], faults, (2, -signal.SIGKILL), strict=True):
        written = {"code": made.format(f"out/{name}")} if isinstance(made, str) else {"words": made}
        (ended,) = processes.run(Child(**fault, **written), folder=folder)
        assert (ended.code, target.read_text()) == (code, "old")
        if code == 2:
            assert "cannot be written: File too large. Make room" in ended.err
            assert "Traceback" not in ended.err
            assert not [one for one in listed(target.parent) if one.startswith(".")]


# Databases.


@pytest.fixture(params=["stays.duckdb", "stays.sqlite", "postgres"])
def database(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """A database with the stays of one batch, and counts of another."""
    if request.param == "postgres":
        found = bench("postgres")
        assert isinstance(found, PostgresBench)
        name = f"faults_{uuid.uuid4().hex[:8]}"
        with psycopg.connect(found.url, autocommit=True) as connection:
            connection.execute(f"create schema {name}".encode())
            connection.execute(f"alter role postgres set search_path = {name}".encode())
            found._fill(
                connection.execute(f"set search_path = {name}".encode()).connection,
                "stays",
                BATCHES[0],
            )
        yield found.url
        with psycopg.connect(found.url, autocommit=True) as connection:
            connection.execute(b"alter role postgres reset search_path")
    else:
        make = in_duckdb if request.param == "stays.duckdb" else in_sqlite
        yield str(make(folder / request.param, stays=BATCHES[0]))


def rows_of(database: str, query: str) -> list[Any]:
    if database.startswith("postgresql:"):
        with psycopg.connect(database) as connection:
            return connection.execute(query.encode()).fetchall()
    if database.endswith(".duckdb"):
        with duckdb.connect(database) as opened:
            return opened.execute(query).fetchall()
    connected = sqlite3.connect(database)
    try:
        assert connected.execute("pragma integrity_check").fetchall() == [("ok",)]
        return connected.execute(query).fetchall()
    finally:
        connected.close()


def is_there(database: str, table: str) -> bool:
    try:
        rows_of(database, f"select count(*) from {table}")
    except (psycopg.Error, duckdb.Error, sqlite3.Error):
        return False
    return True


def test_a_table_is_there_or_not(processes: Forking, folder: Path, database: str) -> None:
    words = ("rate", database, "--table", "stays", *RATED, *Q, "--no-ranks", "--to-table", "rated")
    faults: list[dict[str, Any]] = [{"kill_at": "unheard.tables.engines.base.Database.commit"}]
    if not database.startswith("postgresql:"):
        faults = [{"most": 4096}, {"most": 4096, "killed_beyond": True}]
    for fault in faults:
        (ended,) = processes.run(Child(words, **fault), folder=folder)
        if ended.code == 2:
            refusal = r"Error: Table 'rated' cannot be made; (DuckDB|SQLite) reports: .*--output"
            assert re.match(refusal, ended.err)
            assert (ended.out, ended.err.count("\n")) == ("", 1)
        else:
            assert ended.code == -(signal.SIGKILL if "kill_at" in fault else signal.SIGXFSZ)
        assert not is_there(database, "rated")
        assert rows_of(database, "select count(*) from stays") == [(900,)]
    (ended,) = processes.run(Child(words), folder=folder)
    assert ended.code == 0
    assert rows_of(database, "select sum(n_ratings) from rated") == [(900,)]


def test_kept_counts_are_old_or_new(processes: Forking, folder: Path, database: str) -> None:
    into = f"{database}#kept"
    uh.add_counts(BATCHES[1], into, "hotel", "stars", batch="1")
    kept = "select * from kept order by hotel"
    old = rows_of(database, kept)
    words = ("counts", "0.parquet", "--into", into)
    faults: list[dict[str, Any]] = [{"kill_at": "unheard.tables.engines.base.Database.commit"}]
    if not database.startswith("postgresql:"):
        faults += [{"most": 4096}, {"most": 4096, "killed_beyond": True}]
    for fault in faults:
        (ended,) = processes.run(Child(words, **fault), folder=folder)
        if ended.code == 2:
            assert (ended.out, ended.err.count("\n")) == ("", 1)
        else:
            assert ended.code == -(signal.SIGKILL if "kill_at" in fault else signal.SIGXFSZ)
        assert rows_of(database, kept) == old
    (ended,) = processes.run(Child(words), folder=folder)
    assert ended.code == 0, ended.err
    assert rows_of(database, "select sum(n_rows) from kept") == [(1800,)]
    assert not [one for one in listed(folder) if one.startswith(".")]


@pytest.mark.parametrize("name", ["new.duckdb", "new.sqlite"])
def test_a_new_database_is_whole_or_not_there(processes: Forking, folder: Path, name: str) -> None:
    words = (*COUNT, "--into", name)
    before = listed(folder)
    commit = "unheard.tables.engines.base.Database.commit"
    (ended,) = processes.run(Child(words, most=4096), folder=folder)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert listed(folder) == before
    for step in ("os.replace", commit):
        processes.run(Child(words, kill_at=step), folder=folder)
    (ended,) = processes.run(Child(words), folder=folder)
    assert ended.code == 0, ended.err
    assert rows_of(str(folder / name), "select sum(n_rows) from counts") == [(900,)]
    assert listed(folder) == sorted([*before, name])


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of its own, of 3 MB."""
    disk = Path(tempfile.mkdtemp(prefix="unheard-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], check=False
    )
    if mounted.returncode:
        pytest.skip("only an administrator can mount a disk; a limit on files stands in for it")
    disk.chmod(0o755)  # for the server of PostgreSQL
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)
    disk.rmdir()


def fill(disk: Path) -> None:
    """Leave no more than some bytes on a disk."""
    with (disk / "filler").open("wb", buffering=0) as file:
        while shutil.disk_usage(disk).free > 4096:
            file.write(b"\0" * 4096)


def test_a_disk_that_is_full(processes: Forking, folder: Path, small_disk: Path) -> None:
    names = ["rated.csv", "kept.parquet", "kept.duckdb", "kept.sqlite"]
    for name in names[1:]:
        uh.add_counts(BATCHES[1], small_disk / name, "hotel", "stars", batch="1")
    (small_disk / "rated.csv").write_text("old")
    fill(small_disk)
    before = {name: uh.count_ratings(small_disk / name) for name in names[1:]}
    ended = processes.run(
        Child((*RATE, small_disk / "rated.csv")),
        *(Child((*COUNT, "--into", small_disk / name)) for name in names[1:]),
        folder=folder,
    )
    for one in ended:
        assert (one.code, one.out, one.err.count("\n")) == (2, "", 1), one
    assert "No space left on device. Make room there" in ended[0].err
    assert "No space left on device. Make room there" in ended[1].err
    assert (small_disk / "rated.csv").read_text() == "old"
    for name in names[1:]:
        assert uh.count_ratings(small_disk / name).equals(before[name])
    # DuckDB's log of what it could not write is its own to remove, by whoever writes next.
    assert {*listed(small_disk)} - {"kept.duckdb.wal"} == {*names, "filler"}


def test_a_full_disk_of_postgres(processes: Forking, folder: Path, small_disk: Path) -> None:
    found = bench("postgres")
    assert isinstance(found, PostgresBench)
    _, stays = found.load(BATCHES[0])
    space, place = f"small_{uuid.uuid4().hex[:8]}", small_disk / "postgres"
    place.mkdir()
    if found.server.system_user is not None:
        shutil.chown(place, found.server.system_user)
    with psycopg.connect(found.url, autocommit=True) as connection:
        connection.execute(f"create tablespace {space} location '{place}'".encode())
        settings = f"-c default_tablespace={space} -c temp_tablespaces=pg_default"
        url = f"{found.url}&options={quote(settings)}"
        uh.add_counts(BATCHES[1], f"{url}#{space}", "hotel", "stars", batch="1")
        before = uh.count_ratings(url, table=space)
        fill(small_disk)
        rated = (
            "--table",
            stays["table"],
            *RATED,
            *Q,
            "--no-ranks",
            "--to-table",
            f"{space}_rated",
        )
        ended = processes.run(
            Child((*COUNT, "--into", f"{url}#{space}")),
            Child(("rate", url, *rated)),
            folder=folder,
        )
        for one in ended:
            assert (one.code, one.out, one.err.count("\n")) == (2, "", 1), ended
            # What PostgreSQL says depends on whether a part of its block still fits.
            assert re.search("No space left on device|wrote only", one.err)
        assert uh.count_ratings(url, table=space).equals(before)
        assert not is_there(found.url, f"{space}_rated")
        connection.execute(f"drop table {space}, {space}_batches".encode())
        connection.execute(f"drop tablespace {space}".encode())


# Several at once.


@pytest.mark.parametrize("name", ["kept.parquet", "kept.duckdb", "kept.sqlite"])
def test_who_adds_waits_for_who_is_adding(processes: Forking, folder: Path, name: str) -> None:
    """The first stands still within its last step, until the second waits or has ended."""
    uh.add_counts(BATCHES[2], folder / name, "hotel", "stars", batch="2")
    last = "os.replace" if name == "kept.parquet" else "unheard.tables.engines.base.Database.commit"
    first, second = processes.run(
        Child(("counts", "0.parquet", "--into", name), pause_at=last),
        Child(("counts", "1.parquet", "--into", name)),
        folder=folder,
    )
    assert (first.code, second.code) == (0, 0), (first, second)
    found = uh.count_ratings(folder / name)
    wanted = uh.count_ratings(pa.concat_tables(BATCHES[:3]), "hotel", "stars")
    assert found.equals(wanted)
    assert not [one for one in listed(folder) if one.startswith(".")]


def test_a_reader_sees_the_old_counts(processes: Forking, folder: Path) -> None:
    uh.add_counts(BATCHES[2], folder / "kept.parquet", "hotel", "stars", batch="2")
    first, reader = processes.run(
        Child(("counts", "0.parquet", "--into", "kept.parquet"), pause_at="os.replace"),
        Child(("counts", "kept.parquet", "--json")),
        folder=folder,
    )
    assert first.code == 0
    wanted = uh.count_ratings(BATCHES[2], "hotel", "stars").to_pylist()
    assert json.loads(reader.out) == wanted


def test_a_crowd_adds_every_batch_once(processes: Forking, folder: Path, database: str) -> None:
    into = f"{database}#crowd"
    ended = processes.run(
        *(Child(("counts", f"{at}.parquet", *RATED, "--into", into)) for at in (0, 1, 2, 3, 0)),
        folder=folder,
    )
    assert [one.code for one in ended] == [0] * 5, ended
    assert sum("was added before" in one.out for one in ended) == 1
    assert uh.count_ratings(database, table="crowd").equals(ALL)


# What is only read.


@pytest.mark.parametrize("kind", ["duckdb", "wal"])
def test_a_source_is_not_written_to(processes: Forking, folder: Path, kind: str) -> None:
    source = folder / f"source.{'duckdb' if kind == 'duckdb' else 'sqlite'}"
    (in_duckdb if kind == "duckdb" else in_sqlite)(source, stays=BATCHES[0].slice(0, 40))
    if kind == "wal":
        connection = sqlite3.connect(source)
        connection.execute("pragma journal_mode = wal")
        connection.close()
    before, others = sha256(source.read_bytes()).digest(), listed(folder)
    at = (source, *RATED)
    for words in (
        ("rate", *at, *Q, "-o", "out/rated.csv"),
        ("rank", *at, *Q, "--k", "2"),
        ("counts", *at, "--into", "out/kept.parquet", "--batch", "1"),
        ("plan", *at, "--n", "99", *Q, "--width", "1"),
        ("calibrate", *at, "--n", "99", "--response-rate"),
        ("rate", source, "--query", "select * from stays; drop table stays", *RATED, *Q),
    ):
        (ended,) = processes.run(Child(words), folder=folder)
        assert ended.code == (2 if "--query" in words else 0), ended
    assert sha256(source.read_bytes()).digest() == before
    # With a log of writes, SQLite needs two files beside a database to read it, one of them empty.
    beside = {"source.sqlite-shm", "source.sqlite-wal"} if kind == "wal" else set()
    assert {*listed(folder)} - beside == {*others}
    assert not any((folder / name).stat().st_size for name in beside if name.endswith("-wal"))


# Passwords.

URL = "postgresql://me:hunter2@127.0.0.1:1/db"
LEAKY = [
    ("rate", URL, *RATED, *Q),
    *(("rate", url, *RATED, *Q) for url in (
        "postgresql://me:hun/hunter2@127.0.0.1:1/db", "postgresql://me:p@hunter2@127.0.0.1:1/db",
        "postgresql://me:hun#hunter2@127.0.0.1:1/db", "postgresql://me:hun hunter2@127.0.0.1:1/db",
        "postgres:/me:hunter2@h/db", "postgresql//me:hunter2@h/db", "mysql://me:hunter2@h/db",
        "postgresql://127.0.0.1:1/db?user=me&password=hunter2", "postgres:me:hunter2@h/db",
    )),
    ("rate", "0.parquet", *RATED, *Q, "--n-table", URL),
    ("rate", "0.parquet", *RATED, *Q, "--q-table", URL),
    ("rate", "0.parquet", *RATED, *Q, "-o", URL),
    ("rate", "0.parquet", *RATED, "--q", URL),
    ("rate", "0.parquet", "--item", URL, "--rating", "stars", *Q),
    ("rate", "0.parquet", *RATED, *Q, "--table", URL),
    ("rate", "0.parquet", *RATED, *Q, "--engine", URL),
    ("rate", "0.parquet", *RATED, "--assumption", URL),
    ("rate", "0.parquet", *RATED, *Q, URL),
    ("rate", "0.parquet", f"--nope={URL}"),
    ("counts", "0.parquet", *RATED, "--into", URL),
    ("counts", "0.parquet", *RATED, "--into", f"{URL}#kept"),
    ("counts", URL, *RATED, "--into", "out/kept.parquet", "--batch", "1"),
    ("counts", "0.parquet", *RATED, "--into", "postgres:/me:hunter2@h/db"),
    ("report", URL, *RATED, *Q, "-o", "out/page.html"),
    ("calibrate", URL, *RATED, "--answered", "x"),
    ("sql", URL),
    ("compare", "A", "B", "--source", URL, *RATED, *Q),
    ("plan", URL, *RATED, *Q, "--n", "9", "--width", "1"),
    ("estimate", URL),
    (URL,),
]  # fmt: skip


def test_passwords_are_never_shown(processes: Forking, folder: Path) -> None:
    ended = processes.run(*map(Child, LEAKY), folder=folder)
    for words, one in zip(LEAKY, ended, strict=True):
        assert one.code == 2, (words, one)
        assert "hunter2" not in one.out + one.err, (words, one)
        assert "Traceback" not in one.err, (words, one)


def test_passwords_are_in_no_output(processes: Forking, folder: Path) -> None:
    found = bench("postgres")
    assert isinstance(found, PostgresBench)
    source, where = found.load(BATCHES[0].slice(0, 60))
    url = source.replace("postgres:@", "postgres:hunter2@")
    assert "hunter2" in url
    at = (url, "--table", where["table"], *RATED)
    everything = "".join(
        one.out + one.err
        for one in processes.run(
            Child(("rate", *at, *Q, "--json")),
            Child(("rate", *at, *Q, "-o", "out/rated.json")),
            Child(("counts", *at, "--into", "out/kept.parquet", "--batch", "1")),
            Child(("counts", "1.parquet", *RATED, "--into", f"{url}#k{uuid.uuid4().hex[:8]}")),
            Child(("report", *at, *Q, "--json")),
            Child(("rate", *at, *Q, "--query", "select nonsense")),
            Child(("rate", url, "--table", "no_such", *RATED, *Q)),
            Child(("rate", *at, *Q, "--n-table", "no_such")),
            folder=folder,
        )
    )
    for file in (folder / "out").iterdir():
        everything += file.read_bytes().decode("latin-1")
    assert listed(folder / "out") == ["kept.parquet", "rated.json"]
    assert "hunter2" not in everything
    assert "***@" in everything
