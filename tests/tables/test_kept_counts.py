"""Kept counts: every batch is added once, and rating them is rating all rows at once."""

from __future__ import annotations

import os
import shutil
import sqlite3
import uuid
import zipfile
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import unheard as uh
from tests.cli.typed import typing
from tests.tables.engines import PostgresBench, bench
from tests.tables.oracle import same
from tests.tables.stays import STAYS, as_csv, in_duckdb, in_sqlite
from unheard.tables.kept.in_table import CountsTable

RATED: dict[str, Any] = {"item": "hotel", "rating": "stars"}
LEAN: dict[str, Any] = {"q": 0.3, "ranks": False, "sort": "item"}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": RATED,
    "rows dropped": RATED | {"nulls": "drop", "off_scale": "drop"},
    "non-respondents": RATED | {"nulls": "nonresponse", "off_scale": "drop", "scale": "1:4"},
    "windows": RATED | {"time": "day", "window": "month"},
    "attributes": {"item": ["hotel", "wing"], "rating": ["stars", "staff"], "nulls": "drop"},
}


def rows(seed: int, size: int, *, bad: bool) -> pa.Table:
    """Lopsided ratings, with columns for everything that counts may be kept by."""
    rng = np.random.default_rng(seed)
    odd = np.array([None, 7] if bad else [2, 5], object)
    stars = rng.choice(np.array([1, 2, 3, 5, *odd], object), size, p=[0.3, 0.1, 0.1, 0.3, 0.1, 0.1])
    staff = [None if bad and x == 4 else int(x) for x in rng.integers(1, 6, size)]
    days = [date(2024, 1, 20) + timedelta(days=int(x)) for x in rng.integers(0, 90, size)]
    return pa.table(
        {
            "hotel": pa.array([f"hotel {x}" for x in rng.geometric(0.4, size)], pa.string()),
            "wing": pa.array(rng.integers(1, 3, size), pa.int64()),
            "stars": pa.array(stars.tolist(), pa.int64()),
            "staff": pa.array(staff, pa.int64()),
            "day": pa.array(days, pa.date32()),
        }
    )


def table_for(name: str, seed: int, size: int) -> pa.Table:
    made = rows(seed, size, bad=name in ("rows dropped", "non-respondents", "attributes"))
    if name == "attributes":  # which cannot say that a rating off the scale is to be dropped
        keep = [x != 7 for x in made["stars"].to_pylist()]
        made = made.filter(pa.array(keep, pa.bool_()))
    return made


@pytest.mark.filterwarnings("ignore::unheard.tables.TableWarning")
@settings(max_examples=5, deadline=None)
@given(
    name=st.sampled_from(sorted(SETTINGS)),
    seed=st.integers(0, 10**6),
    parts=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    order=st.lists(st.integers(0, 3), min_size=4, max_size=9).filter(
        lambda x: {*x} == {0, 1, 2, 3}
    ),
)
@example(name="non-respondents", seed=0, parts=[0], order=[0, 1, 2, 3])
def test_any_batches_in_any_order_are_all_rows_at_once(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    seed: int,
    parts: list[int],
    order: list[int],
) -> None:
    into = tmp_path_factory.mktemp("kept") / "counts.parquet"
    table = table_for(name, seed, len(parts))
    assume(table.num_rows)  # nothing is rated otherwise
    place = np.resize(np.array(parts or [0]), table.num_rows)
    for number, part in enumerate(order):
        batch = table.filter(pa.array(place == part))
        again = part in order[:number]
        told = SETTINGS[name] if number == 0 or seed % 2 else {}
        added = uh.add_counts(batch, into, batch=str(part), max_dropped=1, **told)
        assert [one.added for one in added.batches] == [not again]
    assert added.n_rows == table.num_rows * len(np.atleast_1d(SETTINGS[name]["rating"]))
    told = SETTINGS[name] | {"max_dropped": 1}
    # Of a few rows, all may have a rating off the scale.
    found = uh.rate(into, max_dropped=1, **LEAN)
    assert found.equals(uh.rate(table, **told, **LEAN))
    counted = uh.count_ratings(into, max_dropped=1)
    assert counted.equals(uh.count_ratings(table, **told))
    assert os.listdir(into.parent) == ["counts.parquet"]


@pytest.fixture(params=["counts.parquet", "new.duckdb", "new.sqlite", "postgres"])
def into(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Somewhere that counts can be kept, where there are none yet."""
    if request.param != "postgres":
        return str(tmp_path / request.param)
    found = bench("postgres")
    assert isinstance(found, PostgresBench)
    return f"{found.url}#kept_{uuid.uuid4().hex[:8]}"


def kept(into: str, ask: Callable[..., Any], **options: Any) -> Any:
    database, _, table = into.partition("#")
    return ask(database, table=table or None, **options)


def agree(found: pa.Table, wanted: pa.Table) -> None:
    """Assert that two results are equal; PostgreSQL's numbers differ in the last digit."""
    assert found.schema.equals(wanted.schema)
    for one, other in zip(found.to_pylist(), wanted.to_pylist(), strict=True):
        same(one, other, other)


@pytest.mark.filterwarnings("ignore::unheard.tables.TableWarning")
@pytest.mark.parametrize("name", ["windows", "attributes"])
def test_every_place_keeps_the_same_counts(into: str, name: str) -> None:
    table = table_for(name, 5, 90)
    for number, start in enumerate((60, 0, 30, 60)):
        told = SETTINGS[name] if not number else {}
        added = uh.add_counts(table.slice(start, 30), into, batch=str(start), **told)
    assert (added.n_batches, added.batches[0].added) == (3, False)
    agree(kept(into, uh.rate, **LEAN), uh.rate(table, **SETTINGS[name], **LEAN))
    if name == "attributes":
        wanted = uh.rate(table, **SETTINGS[name] | {"item": "hotel"}, **LEAN)
        agree(kept(into, uh.rate, item="hotel", **LEAN), wanted)
    with pytest.raises(uh.OptionError, match="scale is 1 to 7 here, and 1 to 5 in the counts in"):
        uh.add_counts(table, into, batch="x", scale="1:7")


YES_OR_NO = pa.table({"hotel": ["A", "A", "B"], "stars": ["Yes", "no", "Yes"]})
UNSURE = pa.table({"hotel": ["A", "C", "C", "C"], "stars": ["no", "YES", "Maybe", "1"]})


def test_words_are_read_as_in_earlier_batches(into: str) -> None:
    with pytest.warns(uh.TableWarning, match="Words were read as ratings: no = 0"):
        uh.add_counts(YES_OR_NO, into, **RATED, batch="first", labels="auto")
    labels: dict[str, float | None] = {"Maybe": None}
    for given_labels, words in (
        (
            None,
            r"1 rating is not on the scale 0, 1: 'Maybe' .*say what words stand for with labels",
        ),
        (
            "auto",
            r"read as no = 0 .*Yes = 1 .*not recognised: Maybe .*labels='no=0,Yes=1,Maybe=\?'",
        ),
        ({"Yes": 0, **labels}, "labels says that 'Yes' is 0, which is 1 in the counts in"),
        (labels, "1 row has no rating .*leave the row out with nulls='drop'"),
    ):
        with pytest.raises(uh.InputError, match=words):
            uh.add_counts(UNSURE, into, batch="second", labels=given_labels)
    told: dict[str, Any] = {"labels": labels, "nulls": "drop"}
    for batch, options in (("second", told), ("third", {"labels": "auto"}), ("fourth", {})):
        with pytest.warns(uh.TableWarning, match="1 row without a rating was left out"):
            uh.add_counts(UNSURE, into, batch=batch, **options)
    with pytest.raises(uh.OptionError, match="nulls is nonresponse here, and drop in the counts"):
        uh.add_counts(UNSURE, into, batch="fifth", nulls="nonresponse")
    for text, words in (
        (["disagree", "agree", "neutral"], "the scale is 0, 1. Count all tables again with scale"),
        (["0", "1", "2"], "If this is a valid rating, count all tables again with scale='0:5'"),
    ):
        other = YES_OR_NO.set_column(1, "stars", pa.array(text))
        with pytest.raises(uh.DataError, match=words):
            uh.add_counts(other, into, batch="other", labels="auto" if "agree" in text else None)
    with pytest.warns(uh.TableWarning):
        wanted = uh.rate(
            pa.concat_tables([YES_OR_NO, UNSURE, UNSURE, UNSURE]),
            **RATED, **LEAN, labels={"Yes": 1, "No": 0, **labels}, nulls="drop",
        )  # fmt: skip
    with pytest.warns(uh.TableWarning):
        agree(kept(into, uh.rate, **LEAN), wanted)


def test_numbers_that_are_labels_stay_labels(tmp_path: Path) -> None:
    into, marks = tmp_path / "counts.parquet", pa.table({"hotel": ["A", "B"], "stars": [1, 6]})
    uh.add_counts(marks, into, **RATED, batch="first", labels="6,5,4,3,2,1")
    uh.add_counts(marks, into, batch="second")
    assert uh.rate(into, **LEAN)["average"].to_pylist() == [6, 1]
    with pytest.raises(uh.OptionError, match="labels says that '6' is 6, which is 1 in the counts"):
        uh.add_counts(marks, into, batch="third", labels="1,2,3,4,5,6")


def test_counts_that_are_kept_answer_every_question(tmp_path: Path) -> None:
    into = tmp_path / "counts.parquet"
    uh.add_counts(STAYS, into, "hotel", "stars", batch="all")
    assert uh.rank(into, q=0.3, k=2).equals(uh.rank(STAYS, "hotel", "stars", q=0.3, k=2))
    people = pa.table({"hotel": ["Astoria", "Bellevue", "Central", "Drei Eichen"], "n": [90] * 4})
    asked: dict[str, Any] = {"n_table": people, "q": 0.3}
    assert uh.rate(into, **asked).equals(uh.rate(STAYS, "hotel", "stars", **asked))
    wanted = uh.plan_table(STAYS, "hotel", "stars", n=90, q=0.3, width=0.5)
    assert (uh.plan_table(into, n=90, q=0.3, width=0.5).ask == wanted.ask).all()
    ask_anything: Callable[..., Any] = uh.rate
    for wrong, words in (
        ({"scale": "1:6"}, "scale differs from the scale of the kept counts, 1 to 5"),
        ({"window": "month", "time": "day"}, "which were made without windows"),
        ({"n_column": "n_rows"}, "n_column requires n_table for kept counts"),
        ({"item": "room"}, "has no column 'room'"),
        ({"labels": "auto"}, "labels cannot be chosen for kept counts"),
    ):
        with pytest.raises(uh.InputError, match=words):
            ask_anything(into, q=0.3, **wrong)


def test_overlapping_windows_are_rated_from_kept_steps(tmp_path: Path) -> None:
    table, into = rows(3, 90, bad=False), tmp_path / "counts.parquet"
    uh.add_counts(table, into, **RATED, time="day", window="week", batch="all")
    asked: dict[str, Any] = {"item": "hotel", "window": "4 weeks", "every": "week", "sort": "item"}
    wanted = uh.rate(table, rating="stars", time="day", q=0.3, **asked)
    names = [f"count_{value}" for value in range(1, 6)]
    assert uh.rate(into, counts=names, time="window_start", q=0.3, **asked).equals(wanted)


# Which rows are a batch.


def test_a_file_is_a_batch_known_by_its_contents(tmp_path: Path) -> None:
    text = as_csv(STAYS).splitlines(keepends=True)
    for day, part in enumerate((text[1:50], text[50:90], text[90:])):
        (tmp_path / f"day-{day}.csv").write_bytes(b"".join([text[0], *part]))
    into = tmp_path / "counts.parquet"
    first = uh.add_counts(tmp_path / "day-0.csv", into, "hotel", "stars")
    shutil.copy(tmp_path / "day-0.csv", tmp_path / "day-4.csv")
    second = uh.add_counts(tmp_path / "day-*.csv", into)
    assert [one.added for one in second.batches] == [False, True, True]
    assert (first.n_rows, second.n_rows) == (49, STAYS.num_rows)
    assert uh.rate(into, q=0.3).equals(uh.rate(STAYS, "hotel", "stars", q=0.3))
    # A file that has grown holds rows that were added before.
    with (tmp_path / "day-1.csv").open("ab") as file:
        file.write(text[60])
    with pytest.raises(uh.DataError, match=r"day-1\.csv begins with rows that were added to"):
        uh.add_counts(tmp_path / "day-*.csv", into)
    named = uh.add_counts(tmp_path / "day-1.csv", into, batch="day 1 again")
    assert named.n_rows == STAYS.num_rows + 41


def test_every_sheet_that_is_named_is_a_batch(tmp_path: Path) -> None:
    text, into = as_csv(STAYS).splitlines(keepends=True), tmp_path / "counts.parquet"
    with zipfile.ZipFile(tmp_path / "stays.zip", "w") as archive:
        archive.writestr("first.csv", b"".join(text[:60]))
        archive.writestr("second.csv", b"".join([text[0], *text[60:]]))
    for sheet in ("first.csv", "second.csv", "first.csv"):
        uh.add_counts(tmp_path / "stays.zip", into, "hotel", "stars", sheet=sheet)
    assert uh.rate(into, q=0.3).equals(uh.rate(STAYS, "hotel", "stars", q=0.3))


def test_what_is_no_file_must_be_named(tmp_path: Path) -> None:
    into = tmp_path / "counts.parquet"
    database = in_sqlite(tmp_path / "stays.db", stays=STAYS)
    for source in (STAYS, database, "-"):
        with pytest.raises(uh.OptionError, match="batch is missing: only files are known"):
            uh.add_counts(source, into, "hotel", "stars")
    assert not into.exists()
    uh.add_counts(database, into, "hotel", "stars", batch="all")
    assert uh.rate(into, q=0.3).equals(uh.rate(STAYS, "hotel", "stars", q=0.3))


def test_a_database_may_keep_the_counts_of_its_own_rows(tmp_path: Path) -> None:
    for path in (
        in_sqlite(tmp_path / "stays.db", stays=STAYS),
        in_duckdb(tmp_path / "stays.duckdb", stays=STAYS),
    ):
        uh.add_counts(path, f"{path}#kept", "hotel", "stars", table="stays", batch="all")
        wanted = uh.rate(STAYS, "hotel", "stars", q=0.3)
        assert uh.rate(path, q=0.3, table="kept").equals(wanted)


# What is refused.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rater": "wing"}, "rater cannot be combined with into: counts do not say who rated"),
        ({"time": "day", "window": "2 weeks", "every": "week"}, "a window that one batch begins"),
        ({"batch": " "}, "batch is empty"),
        ({"batch": None}, "batch is missing"),
        ({"into": "counts.csv"}, "into must be a Parquet file, or a database; got 'counts.csv'"),
        ({"into": "counts.duckdb#"}, "into must be a Parquet file, or a database"),
        ({"into": "no/counts.parquet"}, "The folder no does not exist"),
        ({"into": "new.db"}, "new.db does not exist"),
        ({"into": "mysql://me:hunter2@127.0.0.1:1/db#kept"}, "into is not supported for MySQL"),
        ({"into": "clickhouse://me@127.0.0.1:1/db#kept"}, "into is not supported for ClickHouse"),
        ({"into": "postgresql://me:hunter2@127.0.0.1:1/db"}, r"Cannot connect to .*me:\*\*\*@"),
    ],
)
def test_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"into": "counts.parquet", "batch": "all"} | options
    with pytest.raises(uh.InputError, match=words) as told:
        uh.add_counts(rows(1, 20, bad=False), item="hotel", rating="stars", **given)
    assert "hunter2" not in str(told.value)
    assert not os.listdir(tmp_path)


def test_other_settings_are_refused(tmp_path: Path) -> None:
    into, table = tmp_path / "counts.parquet", rows(1, 20, bad=False)
    uh.add_counts(table, into, **RATED, batch="first")
    before = into.read_bytes()
    text = table.set_column(0, "hotel", pa.array(range(20)))
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (table, {"item": "wing"}, "item is 'wing' here, and 'hotel' in the counts in"),
        (table, {"rating": "staff"}, "rating is 'staff' here, and 'stars' in the counts in"),
        (table, {"counts": [*"abcde"]}, "rating is missing here, and 'stars' in the counts in"),
        (table, {"scale": "1:7"}, "scale is 1 to 7 here, and 1 to 5 in the counts in"),
        (table, {"time": "day", "window": "week"}, "window is 7 days here, and missing in the"),
        (text, {}, "Column 'hotel' of batch second contains whole numbers, and text in the counts"),
        (into, {}, "is also read as a table"),
    ]
    for source, options, words in cases:
        with pytest.raises(uh.InputError, match=words):
            uh.add_counts(source, into, batch="second", **options)
    bad = pa.table({"hotel": ["A"], "stars": [9]})
    with pytest.raises(uh.DataError, match="not on the scale 1 to 5"):
        uh.add_counts(bad, into, batch="second")
    other = tmp_path / "other.parquet"
    with pytest.raises(uh.OptionError, match="its batches might be added twice"):
        uh.add_counts(into, other, batch="second")
    pq.write_table(table, other)
    with pytest.raises(uh.SourceError, match=r"other\.parquet exists but holds no kept counts"):
        uh.add_counts(table, other, **RATED, batch="first")
    database = in_sqlite(tmp_path / "stays.db", counts=STAYS)
    with pytest.raises(uh.SourceError, match=r"stays\.db#counts exists but holds no kept counts"):
        uh.add_counts(table, database, **RATED, batch="first")
    assert into.read_bytes() == before


def test_a_table_that_cannot_be_written_says_why_and_keeps_what_it_has(tmp_path: Path) -> None:
    kept = tmp_path / "kept.sqlite"
    uh.add_counts(STAYS, kept, **RATED, batch="first")
    with sqlite3.connect(kept) as connection:
        connection.execute(
            "create trigger full before insert on counts_batches "
            "begin select raise(abort, 'database or disk is full'); end"
        )
    before = kept.read_bytes()
    words = (
        r"kept.sqlite#counts cannot be written; SQLite reports: database or disk is full\. "
        "Solve that and try again; no batch is added twice"
    )
    with pytest.raises(uh.SourceError, match=words):
        uh.add_counts(STAYS, kept, batch="second")
    assert kept.read_bytes() == before


def test_a_database_that_was_not_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite would apply a journal that lies beside the next database of the name."""
    kept = tmp_path / "kept.sqlite"

    def fail(*_: object) -> None:
        (tmp_path / "kept.sqlite-journal").write_bytes(b"left by SQLite on a full disk")
        raise uh.QueryError("SQLite", "database or disk is full", "insert")

    monkeypatch.setattr(CountsTable, "_add_one", fail)
    with pytest.raises(uh.SourceError, match="cannot be written"):
        uh.add_counts(STAYS, kept, **RATED, batch="first")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["counts.parquet", "new.sqlite", "new.duckdb"])
def test_sums_stay_exact(tmp_path: Path, name: str) -> None:
    table = pa.table({"hotel": ["A"], "bad": [2**52], "good": [3]})
    into = tmp_path / name
    for batch in ("first", "second"):
        uh.add_counts(table, into, "hotel", counts=["bad", "good"], batch=batch)
    with pytest.raises(uh.DataError, match=r"of 'A' in .* would add up to more than"):
        uh.add_counts(table, into, batch="third")
    assert uh.count_ratings(into).to_pylist() == [
        {"hotel": "A", "count_1": 2**53, "count_2": 6, "n_rows": 2}
    ]


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = typing(monkeypatch, capsys)
    Path("stays.csv").write_bytes(as_csv(STAYS) + b"Astoria,9\n")
    words = ("counts", "stays.csv", "--into", "counts.parquet")
    done = typed(*words, "--item", "hotel", "--rating", "stars", "--off-scale", "drop")
    assert (done.code, done.out) == (
        0,
        "stays.csv: 161 rows added.\n"
        "counts.parquet now has 160 ratings in 4 rows of counts, from 1 batch.\n",
    )
    assert done.err.startswith("Note: 1 rating that is not on the scale 1 to 5 was left out")
    again = typed(*words)
    assert (again.code, again.err) == (0, "")
    assert again.out.startswith("stays.csv: was added before.\n")
    refused = typed(*words, "--scale", "1:6", "--batch", "x")
    assert (refused.code, refused.out) == (2, "")
    assert "--scale is 1 to 6 here, and 1 to 5 in the counts in counts.parquet" in refused.err
    assert typed(*words, "-o", "x.csv").code == 2
    rated = typed("rate", "counts.parquet", "--q", "0.3")
    direct = typed(
        *("rate", "stays.csv", "--item", "hotel", "--rating", "stars"),
        *("--off-scale", "drop", "--q", "0.3"),
    )
    assert rated == direct
    assert "Note: 1 rating that is not on the scale" in rated.text
    assert '"added": false' in typed(*words, "--json").out
