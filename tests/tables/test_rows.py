"""Columns and rows: what they may hold, how they are counted, and all that can be wrong."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.engines import bench
from tests.tables.oracle import answers, expected, rows_by, same
from tests.tables.stays import (
    DATABASES,
    FIVE,
    HOTELS,
    STAYS,
    WANTED,
    as_csv,
    as_parquet,
    check,
    in_sqlite,
    refused,
    stays,
)
from unheard.tables.sql import count_query, packed_counts
from unheard.tables.sql.packed_counts import MOST_IN_PAIRS, PackedAs, Packing

# Columns.


@pytest.mark.parametrize(
    ("item", "rating", "words"),
    [
        (
            "hotl",
            "stars",
            r"has no column 'hotl'\. Did you mean 'hotel'\? Its columns are hotel, stars",
        ),
        ("Hotel", "stars", r"has no column 'Hotel'\. Did you mean 'hotel'\?"),
        ("hotel", "rating", r"has no column 'rating'\. It has"),
        ("hotel, stars", "stars", r"^The .*Did you mean item=\['hotel', 'stars'\]\?"),
        ("n", "stars", "A column of the result has the name of this column; got 'n'"),
        ("estimate", "stars", "the name of this column; got 'estimate'"),
        ("Notes", "stars", "the name of this column; got 'Notes'"),
        (["hotel", "hotel"], "stars", "A column is named twice; got 'hotel'"),
        ("hotel", ["stars", "stars"], "rating names a column twice; got 'stars'. Name another"),
        ([], "stars", "item is missing"),
        ("hotel", None, "rating is missing, and so is counts"),
    ],
)
def test_columns(item: Any, rating: Any, words: str) -> None:
    with pytest.raises(uh.ColumnError, match=words):
        uh.rate(STAYS, item, rating, q=0.3)


def test_rating_and_counts() -> None:
    with pytest.raises(uh.ColumnError, match="rating and counts cannot be combined"):
        uh.rate(STAYS, "hotel", "stars", counts=["a", "b"], q=0.3)
    with pytest.raises(uh.ColumnError, match="counts has 4 columns for a scale of 5 values"):
        uh.rate(STAYS, "hotel", counts=list("abcd"), scale="1:5", q=0.3)
    with pytest.raises(uh.ColumnError, match="counts has 1 column for a scale of 2 values"):
        uh.rate(STAYS, "hotel", counts="stars", q=0.3)
    with pytest.raises(uh.ColumnError, match="counts names a column twice; got 'a'"):
        uh.rate(STAYS, "hotel", counts=list("aba"), scale="1:3", q=0.3)
    with pytest.raises(uh.ColumnError, match="n_column names the same column as counts; got 'b'"):
        uh.rate(STAYS, "hotel", counts=list("abc"), scale="1:3", n_column="b", q=0.3)


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_column_that_is_there_twice(kind: str) -> None:
    table = pa.table([["A"], [5], [4]], names=["hotel", "stars", "stars"])
    frame = pd.DataFrame([["A", 5, 4]], columns=table.column_names)
    refused(frame if kind == "pandas" else table, "stars", uh.InputError)


def test_mixed_column_of_pandas() -> None:
    frame = pd.DataFrame(
        {"hotel": ["A", "A", "B"], "stars": pd.Series([5, "good", 4.0], dtype=object)}
    )
    words = r"1 rating is not on the scale 1 to 5: 'good' \(once\)"
    refused(frame, words, uh.DataError)
    result = uh.rate(frame.drop(index=1), "hotel", "stars", q=0.3)
    assert result["estimate"].tolist() == [5.0, 4.0]


@pytest.mark.parametrize("many", [1, 2000])
def test_column_without_numbers(tmp_path: Path, many: int) -> None:
    guests = [f"guest {index % many}" for index in range(2000)]
    table = pa.table({"hotel": ["A"] * 2000, "guest": guests, "stars": [5] * 2000})
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(table))
    for source in (table, path):
        for rating in ("guest", ["stars", "guest"]):
            with pytest.raises(uh.ColumnError, match=r"'guest' of .* contains no num") as caught:
                uh.rate(source, "hotel", rating, q=0.3)
            assert "drop" not in str(caught.value)
            assert str(caught.value).count("'guest 0'") == 1


@pytest.mark.parametrize(
    ("ratings", "hint"),
    [
        ([5, 1200], r"pass the whole scale with scale; otherwise leave it out"),
        ([5, 3.333], r"pass the whole scale with scale; otherwise leave it out"),
        ([5, 3.3], r"pass the whole scale with scale='1:5:0.1'; otherwise leave it out"),
        ([120, 1200], r"pass the whole scale with scale; otherwise name the column .* in rating"),
        (["5", "07"], r"Write ratings as numbers with a decimal point, .* or leave it out"),
        (["5", "good", "good", "7"], r"'good' \(2 times\), '7' \(once\), for .*\. Write ratings"),
        ([5, 4, 380], r"380 \(once\), for example hotel='A', stars=380\..* leave it out"),
        ([*[5, 4, 8] * 50, 99], r"8 \(50 times\), 99 \(once\).*the whole scale with scale='1:10'"),
        (["4,5", "3,0"], r"Write ratings as numbers with a decimal point or say what"),
    ],
)
def test_advice_about_ratings_off_the_scale(ratings: list[Any], hint: str) -> None:
    refused(pa.table({"hotel": ["A"] * len(ratings), "stars": ratings}), hint, uh.DataError)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([date(2024, 1, 1)], "Column 'stars' of .* cannot be used for rating: it contains times"),
        ([[1]], "cannot be used for rating: it contains values of another type"),
    ],
)
def test_rating_of_another_kind(values: list[Any], words: str) -> None:
    refused(pa.table({"hotel": ["A"], "stars": values}), words, uh.ColumnError)


@pytest.mark.parametrize(
    ("column", "asked"), [("n", {"n_column": "guests"}), ("q", {"q_column": "guests"})]
)
def test_number_column_of_text(column: str, asked: dict[str, Any]) -> None:
    table = STAYS.append_column("guests", pa.array(["many"] * STAYS.num_rows))
    refused(
        table,
        f"Column 'guests' of .* cannot be used for {column}_column: it contains text, '",
        uh.ColumnError,
        **asked,
    )


# Rows.


@pytest.mark.parametrize("lean", [True, False])
def test_item_that_is_null(lean: bool, tmp_path: Path) -> None:
    names = [None if i % 50 == 3 else v for i, v in enumerate(STAYS["hotel"].to_pylist())]
    table = STAYS.set_column(0, "hotel", pa.array(names))
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(table))
    many = names.count(None)
    message = rf"In .*, {many} rows have no value in 'hotel' \(for example hotel=None, stars='?\d"
    refused(table if lean else path, message, uh.DataError)


COUNTS = [f"c{v}" for v in range(1, 6)]


def totals(third: Any) -> pa.Table:
    cells = {name: pa.array([4, 5, 6], pa.float64()) for name in COUNTS}
    return pa.table({"hotel": ["A", "B", "B"], **cells, "c3": pa.array(third, pa.float64())})


@pytest.mark.parametrize(
    ("third", "many", "example"),
    [
        ([1, None, 2], "1 row has", "c3=None"),
        ([1, -2, 2], "1 row has", "c3=-2"),
        ([1.5, 2.25, 2], "2 rows have", "c3=1.5"),
        ([1, float("nan"), 2], "1 row has", "c3=nan"),
        ([1, float("inf"), 2], "1 row has", "c3=inf"),
    ],
)
@pytest.mark.parametrize("call", [uh.rate, uh.count_ratings])
def test_counts_that_are_none(third: list[Any], many: str, example: str, call: Any) -> None:
    asked = {"q": 0.3} if call is uh.rate else {}
    with pytest.raises(
        uh.DataError, match=rf"{many} a count that is not .* from 0 to 2\*\*53 \(.*{example}"
    ):
        call(totals(third), "hotel", counts=COUNTS, **asked)


def test_counts_of_the_same_item_are_added_up() -> None:
    result = uh.rate(totals([1, 2, 3]), "hotel", counts=COUNTS, q=0.3)
    cells = np.array([[4, 4, 1, 4, 4], [11, 11, 5, 11, 11]])
    wanted = answers([("A",), ("B",)], cells, FIVE, q=0.3)
    for key, row in rows_by(result, ["hotel"]).items():
        same(row, wanted[key], key)


def test_counts_by_window() -> None:
    days = pa.array([date(2024, 1, 5), date(2024, 2, 5), date(2024, 2, 6)])
    table = totals([1, 2, 3]).append_column("day", days)
    result = uh.rate(table, "hotel", counts=COUNTS, q=0.3, time="day", window="month")
    cells = np.array([[4, 4, 1, 4, 4], [11, 11, 5, 11, 11]])
    for key, row in rows_by(result, ["hotel"]).items():
        at = "AB".index(key[0])
        assert row["window_start"] == date(2024, 1 + at, 1)
        wanted = answers([key], cells[at : at + 1], FIVE, q=0.3)
        same(row, wanted[key], key)


def test_most_ratings_are_not_repeats() -> None:
    table = STAYS.append_column("site", pa.array(["web"] * STAYS.num_rows))
    with pytest.raises(uh.DataError, match="Check that rater names the people who rated"):
        uh.rate(table, "hotel", "stars", q=0.3, rater="site")


def test_counts_have_no_raters() -> None:
    with pytest.raises(uh.OptionError, match=r"^rater and counts cannot be combined"):
        uh.rate(totals([1, 2, 3]), "hotel", counts=COUNTS, q=0.3, rater="guest")


def with_column(name: str, values: dict[str, Any] | list[Any]) -> pa.Table:
    if isinstance(values, dict):
        values = [values[hotel] for hotel in STAYS["hotel"].to_pylist()]
    return STAYS.append_column(name, pa.array(values, pa.float64()))


PLENTY = dict.fromkeys(HOTELS, 400.0)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, r"n is missing for 1 item \(for example hotel='Central'"),
        (
            10.0,
            r"n is less than the number of ratings for 1 item \(for .*hotel='Central', n=10\)",
        ),
        (400.5, r"n is not a whole number of people.* \(for example hotel='Central', n=400.5\)"),
        (-1.0, "n is not a whole number of people.*"),
        (float("nan"), "n is (missing|not a whole number of people)"),
        (float("inf"), "n is not a whole number of people.*"),
    ],
)
def test_n_column(value: float | None, words: str) -> None:
    table = with_column("guests", {**PLENTY, "Central": value})
    refused(table, words, uh.PopulationError, n_column="guests")
    second = pa.table({"hotel": HOTELS, "n": pa.array([*PLENTY.values()], pa.float64())})
    changed = pa.array([value if h == "Central" else 400.0 for h in HOTELS], pa.float64())
    second = second.set_column(1, "n", changed)
    words = "n is missing for an item that has ratings" if value is None else words
    refused(STAYS, f"In the table passed as n_table, {words}", uh.PopulationError, n_table=second)


def test_numbers_that_vary_within_an_item() -> None:
    values = [400.0 + (i == 9) for i in range(STAYS.num_rows)]
    name = STAYS["hotel"][9].as_py()
    words = rf"In .*, column 'guests' varies within 1 item \(for example hotel='{name}'"
    refused(with_column("guests", values), words, uh.PopulationError, n_column="guests")
    voices = [0.3 + (i == 9) / 8 for i in range(STAYS.num_rows)]
    words = "In .*, column 'voice' varies within 1 item"
    refused(with_column("voice", voices), words, uh.AssumptionError, q_column="voice")


def test_one_n_below_the_ratings() -> None:
    refused(STAYS, "more ratings than 10, the value of n, for 4 items", uh.PopulationError, n=10)
    for n in (-1, 2.5, float("nan"), float("inf")):
        refused(STAYS, "n must be a whole number of people", uh.PopulationError, n=n)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.01, 30.0, float("nan"), None])
def test_q_column(value: float | None) -> None:
    voices: dict[str, Any] = {**dict.fromkeys(HOTELS, 0.3), "Central": value}
    words = r"q is missing or not in \(0, 1\] \(for example hotel='Central'"
    refused(with_column("voice", voices), words, uh.AssumptionError, q_column="voice")


def test_n_table(tmp_path: Path) -> None:
    people = {"Astoria": 300, "Bellevue": 200, "Central": 900, "Drei Eichen": 70, "Empty": 12}
    second = pa.table({"hotel": [*people], "n": pa.array([*people.values()], pa.int64())})
    keys = [(name,) for name in people]
    cells = np.array(
        [
            [
                sum(r["hotel"] == name and r["stars"] == v for r in STAYS.to_pylist())
                for v in range(1, 6)
            ]
            for name in people
        ]
    )
    n = {(name,): many for name, many in people.items()}
    wanted = answers(keys, cells, FIVE, q=0.3, n=n)
    (tmp_path / "n.csv").write_bytes(as_csv(second))
    (tmp_path / "n.parquet").write_bytes(as_parquet(second))
    for given in (second, tmp_path / "n.csv", tmp_path / "n.parquet", second.to_pandas()):
        check(STAYS, wanted, n_table=given)
    path = in_sqlite(tmp_path / "both.db", stays=STAYS, guests=second)
    check(path, wanted, table="stays", n_table="guests")
    check(path, wanted, table="stays", n_table=tmp_path / "n.csv")
    twice = pa.concat_tables([second, second.slice(1, 1)])
    words = r"an item has more than one row \(for example hotel='Bellevue'\)"
    refused(STAYS, words, uh.PopulationError, n_table=twice)
    words = "n is missing for an item that has ratings .*hotel='Astoria'"
    refused(STAYS, words, uh.PopulationError, n_table=second.slice(1))
    renamed = second.rename_columns(["house", "n"])
    refused(
        STAYS,
        "None of the columns that name an item is in .*: hotel",
        uh.ColumnError,
        n_table=renamed,
    )
    renamed = second.rename_columns(["hotel", "guests"])
    refused(STAYS, r"n_table has no column 'n'", uh.ColumnError, n_table=renamed)
    check(STAYS, wanted, n_table=renamed, n_column="guests")


@DATABASES
@pytest.mark.parametrize("name", ["people", "counts", "rated", "ranks", "Order", "a b"])
def test_tables_named_like_steps_of_ours(tmp_path: Path, database: Any, name: str) -> None:
    second = pa.table({"hotel": HOTELS, "n": [400] * len(HOTELS)})
    wanted = expected(STAYS, ["hotel"], "stars", FIVE, q=0.3, n=400)
    check(database(tmp_path / "one.db", **{name: STAYS}), table=name)
    path = database(tmp_path / "two.db", stays=STAYS, **{name: second})
    check(path, wanted, table="stays", n_table=name)


def test_n_table_with_an_item_that_is_null() -> None:
    second = pa.table({"hotel": [*HOTELS, None], "n": [400] * 5})
    refused(STAYS, "hotel", uh.InputError, n_table=second)


def test_n_table_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"hotel,n\n")
    words = "does not exist. Did you mean .*people.csv"
    refused(STAYS, words, uh.SourceError, n_table=tmp_path / "peple.csv")


def test_numbers_as_names_in_one_table_only(tmp_path: Path) -> None:
    table = stays(("1", "2"))
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(table))
    second = pa.table({"hotel": pa.array([1, 2], pa.int64()), "n": [300, 200]})
    result = uh.rate(path, "hotel", "stars", q=0.3, n_table=second)
    wanted = expected(table, ["hotel"], "stars", FIVE, q=0.3, n={("1",): 300, ("2",): 200})
    found = {(str(row["hotel"]),): row for row in result.to_pylist()}
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row, key)


def test_q_by_segment() -> None:
    trip = ["work" if i % 3 else "leisure" for i in range(STAYS.num_rows)]
    table = STAYS.append_column("trip", pa.array(trip))
    voices = {"work": 0.2, "leisure": 0.6}
    second = pa.table({"trip": [*voices], "q": [*voices.values()]})
    q = {(h, t): voices[t] for h, t in zip(STAYS["hotel"].to_pylist(), trip, strict=True)}
    wanted = expected(table, ["hotel", "trip"], "stars", FIVE, q=q)
    result = uh.rate(table, ["hotel", "trip"], "stars", q_table=second)
    found = rows_by(result, ["hotel", "trip"])
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        same(found[key], row, key)
    with pytest.raises(uh.AssumptionError, match=r"q is missing for an item .*trip='leisure'"):
        uh.rate(table, ["hotel", "trip"], "stars", q_table=second.slice(0, 1))
    with pytest.raises(uh.OptionError, match="q and q_table cannot be combined"):
        uh.rate(table, ["hotel", "trip"], "stars", q=0.3, q_table=second)


# Counting.


@pytest.mark.parametrize("most", [3, 10**6])
def test_packed_counting_gives_way(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[PackedAs | None] = []
    original = count_query.write_count_query

    def watched(*given: Any, packed: PackedAs | None, **more: Any) -> Any:
        asked.append(packed)
        return original(*given, packed=packed, **more)

    monkeypatch.setattr("unheard.tables.pipeline.write_count_query", watched)
    monkeypatch.setattr(Packing, "most", property(lambda _: most))
    path = tmp_path / "stays.csv"
    path.write_bytes(as_csv(STAYS))
    for source in (STAYS, path):
        asked.clear()
        check(source)
        assert asked == (["lists", None] if most == 3 else ["lists"])
    asked.clear()
    dirty = pa.concat_tables([STAYS, pa.table({"hotel": ["Central"], "stars": [9]})])
    wanted = {key: dict(row) for key, row in WANTED.items()}
    wanted["Central",]["notes"] = "rows_dropped"
    with pytest.warns(uh.TableWarning, match="1 rating that is not on the scale 1 to 5 was left"):
        check(dirty, wanted, off_scale="drop")
    refused(dirty, "1 rating is not on the scale", uh.DataError)
    assert asked[-1] == (None if most == 3 else "lists")


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("most", [3, MOST_IN_PAIRS])
def test_counting_in_pairs_gives_way(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (packed_counts, count_query):
        monkeypatch.setattr(module, "MOST_IN_PAIRS", most)
    spark = bench("spark")
    found = spark.rows(uh.count_ratings(spark.load(STAYS)[0], "hotel", "stars"))
    wanted = uh.count_ratings(STAYS, "hotel", "stars")
    assert found.sort_by("hotel").to_pylist() == wanted.sort_by("hotel").to_pylist()


@pytest.mark.parametrize("kind", ["relation", "parquet"])
@pytest.mark.parametrize("scale", ["1:5", "1:10"])
@pytest.mark.parametrize("rating", [1, 2, 3, 5])
def test_more_than_a_field_holds(kind: str, scale: str, rating: int, tmp_path: Path) -> None:
    many = 2**20 + 5
    connection = duckdb.connect()
    relation = connection.sql(
        f"select case when range < {many} then 'x' else 'y' end as hotel, "
        f"case when range < {many} then {rating} else 4 end as stars from range({many} + 2)"
    )
    source: Any = relation
    if kind == "parquet":
        source = tmp_path / "stays.parquet"
        relation.write_parquet(str(source))
    counted = uh.count_ratings(source, "hotel", "stars", scale=scale)
    table = counted if kind == "parquet" else counted.to_arrow_table()
    top = int(scale.partition(":")[2])
    wanted = [
        {"hotel": name, **{f"count_{v}": size * (v == at) for v in range(1, top + 1)}}
        | {"n_rows": size, "n_null": 0}
        for name, at, size in (("x", rating, many), ("y", 4, 2))
    ]
    assert table.to_pylist() == wanted
    connection.close()


def test_a_million_items() -> None:
    size = 10**6
    rng = np.random.default_rng(1)
    stars = rng.integers(1, 6, size)
    table = pa.table({"hotel": rng.permutation(size), "stars": stars})
    result = uh.rate(table, "hotel", "stars", q=0.3, level=None, sort="item")
    assert result.num_rows == size
    ordered = np.empty(size)
    ordered[table["hotel"].to_numpy()] = stars
    assert (result["hotel"].to_numpy() == np.arange(size)).all()
    assert (result["n_ratings"].to_numpy() == 1).all()
    for name in ("average", "estimate", "lower", "upper"):
        np.testing.assert_allclose(result[name].to_numpy(), ordered, rtol=1e-12)
    better = np.array([(stars > v).sum() for v in range(6)])
    worse = np.array([(stars < v).sum() for v in range(6)])
    at = ordered.astype(int)
    assert (result["best_rank"].to_numpy() == 1 + better[at]).all()
    assert (result["worst_rank"].to_numpy() == size - worse[at]).all()


def test_without_ranks() -> None:
    ranks = ("best_rank", "worst_rank", "ci_best_rank", "ci_worst_rank")
    wanted = {k: row | dict.fromkeys(ranks) for k, row in WANTED.items()}
    check(STAYS, wanted, ranks=False)


def test_ranks_of_ties() -> None:
    table = pa.table({"hotel": list("abcdde"), "stars": [5, 5, 3, 1, 5, 1]})
    found = rows_by(uh.rate(table, "hotel", "stars", q=0.3), ["hotel"])
    ranks = {key[0]: (row["best_rank"], row["worst_rank"]) for key, row in found.items()}
    # d holds a 1 and a 5: anything from 1 + 4 * 0.3 / 1.3 to 1 + 4 / 1.3, around c's 3.
    assert ranks == {"a": (1, 2), "b": (1, 2), "c": (3, 4), "d": (3, 4), "e": (5, 5)}


def test_unsorted_has_the_same_rows() -> None:
    sorted_rows = uh.rate(STAYS, "hotel", "stars", q=0.3, sort="item")
    assert sorted_rows["hotel"].to_pylist() == HOTELS
    other = uh.rate(STAYS, "hotel", "stars", q=0.3, sort=False)
    assert rows_by(other, ["hotel"]) == rows_by(sorted_rows, ["hotel"])


def test_counts_tell_their_scale() -> None:
    films = pa.table({"film": ["A", "A", "B"], "stars": [0.5, 4.5, 5.0]})
    made = uh.count_ratings(films, "film", "stars", scale="0.5:5:0.5")
    names = [name for name in made.column_names if name.startswith("count_")]
    (first, _) = uh.rate(made, "film", counts=names, q=0.3, sort="item").to_pylist()
    assert first["average"] == 2.5
    with pytest.raises(
        uh.ColumnError, match=r"^counts names columns of the ratings 0\.5 to 5 by 0\.5"
    ):
        uh.rate(made, "film", counts=names, scale="1:10", q=0.3)


def test_a_number_and_a_table_of_people() -> None:
    table = pa.table({"hotel": ["A"], "stars": [4]})
    people = pa.table({"hotel": ["A"], "guests": [9], "words": ["30%"]})
    with pytest.raises(uh.OptionError, match="n and n_table cannot be combined"):
        uh.rate(table, "hotel", "stars", q=0.3, n=5, n_table=people)
    with pytest.raises(
        uh.ColumnError,
        match=r"has no column 'n'\. Name its column of numbers, as in n_column='guests'",
    ):
        uh.rate(table, "hotel", "stars", q=0.3, n_table=people)
    with pytest.raises(uh.ColumnError, match="is not numeric"):
        uh.rate(table, "hotel", "stars", q_column="words", q_table=people)


def test_totals_below_a_table() -> None:
    table = pa.table({"hotel": ["A", "B", "B", " total"], "stars": [5, 4, 2, 4]})
    with pytest.warns(uh.TableWarning, match="' total' was taken for an item: if it sums up"):
        uh.count_ratings(table, "hotel", "stars")
    for called in ("All", "Alder Total", "Total général", "Birch Ergebnis"):
        with pytest.warns(uh.TableWarning, match=f"'{called}' was taken for an item"):
            uh.count_ratings(pa.table({"hotel": ["A", called], "stars": [5, 4]}), "hotel", "stars")
    station = pa.table({"hotel": ["Total", "Total", "Esso"], "stars": [5, 4, 3]})
    uh.count_ratings(station, "hotel", "stars")


@pytest.mark.parametrize("name", ["parquet", "pandas", "sqlite", "postgres"])
def test_names_that_are_alike(name: str) -> None:
    names = ["Grand Hotel", "grand hotel ", "Grand Hotel", "Caf\u00e9", "Cafe\u0301", "Elm", "Elms"]
    table = pa.table({"hotel": names, "stars": [5, 4, 3, 2, 1, 2, 3]})
    engine = bench(name)
    source, where = engine.load(table)
    said = (
        "^4 names are alike but for case, .* such as 'Cafe\u0301' and 'Caf\u00e9': each was taken"
    )
    with pytest.warns(uh.TableWarning, match=said):
        found = engine.rows(uh.rate(source, "hotel", "stars", q=0.3, **where))
    assert set(found["hotel"].to_pylist()) == {*names}


def test_blank_names_are_mentioned() -> None:
    table = pa.table({"hotel": ["A", " "], "stars": [5, 4]})
    with pytest.warns(uh.TableWarning, match="' ' was taken for an item, and is blank"):
        uh.rate(table, "hotel", "stars", q=0.3)


def test_names_that_differ_are_not_mentioned() -> None:
    frame = pa.table({"hotel": ["A", "A", "B"], "wing": ["b", "c", "b"], "stars": [1, 2, 3]})
    uh.rate(frame, ["hotel", "wing"], "stars", q=0.3)
