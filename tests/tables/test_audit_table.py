"""Audits in tables: three layouts, four kinds of table, the same counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from unheard.errors import ColumnError, DataError, InputError
from unheard.model.scale import Scale
from unheard.tables.audit_table import Audited, Layout, read_audit
from unheard.tables.sources.open import Where

# Lopsided on purpose; nobody rated Birch in public, and Elm, old has a comma in its name.
OBSERVED = {
    ("north", "Alder"): [1, 0, 4],
    ("north", "Birch"): [0, 0, 0],
    ("south", "Alder"): [0, 2, 5],
    ("south", "Elm, old"): [1, 1, 0],
}
TRUTH = {
    ("north", "Alder"): [5, 1, 4],
    ("north", "Birch"): [2, 3, 0],
    ("south", "Alder"): [3, 3, 7],
    ("south", "Elm, old"): [6, 1, 1],
}


def frame(names: list[str], rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=names)


def people(yes: Any = 1, no: Any = 0) -> pd.DataFrame:
    """A row per person, in no order."""
    rows = []
    for key, everybody in TRUTH.items():
        for r, (answered, all_) in enumerate(zip(OBSERVED[key], everybody, strict=True)):
            rows += [(*key, r + 1, yes if i < answered else no) for i in range(all_)]
    return frame(["region", "hotel", "stars", "public"], rows).sample(frac=1, random_state=3)


def side_by_side() -> pd.DataFrame:
    names = ["region", "hotel", "o1", "o2", "o3", "t1", "t2", "t3"]
    return frame(names, [(*key, *OBSERVED[key], *TRUTH[key]) for key in TRUTH])


def populations(observed: str = "observed", true: str = "true") -> pd.DataFrame:
    rows: list[tuple[Any, ...]] = []
    for key, everybody in TRUTH.items():
        if sum(OBSERVED[key]):  # an item nobody rated is missing on one side
            rows.append((*key, observed, *OBSERVED[key]))
        rows.append((*key, true, *everybody))
    return frame(["region", "hotel", "which", "n1", "n2", "n3"], rows)


LAYOUTS: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, Any]]] = {
    "people": (people, {"rating": ("stars",), "answered": "public"}),
    "wide": (side_by_side, {"observed": ("o1", "o2", "o3"), "truth": ("t1", "t2", "t3")}),
    "populations": (populations, {"counts": ("n1", "n2", "n3"), "population": "which"}),
}


def as_csv(table: pd.DataFrame, folder: Path) -> Any:
    table.to_csv(folder / "audit.csv", index=False)
    return folder / "audit.csv"


def as_parquet(table: pd.DataFrame, folder: Path) -> Any:
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), folder / "audit.parquet")
    return folder / "audit.parquet"


def as_frame(table: pd.DataFrame, folder: Path) -> Any:
    return table


def as_sqlite(table: pd.DataFrame, folder: Path) -> Any:
    with sqlite3.connect(folder / "audit.sqlite") as base:
        table.to_sql("audits", base, index=False)
    base.close()
    return folder / "audit.sqlite"


KINDS = {"csv": as_csv, "parquet": as_parquet, "frame": as_frame, "sqlite": as_sqlite}


def read(table: Any, layout: Layout, **settings: Any) -> dict[str, Audited]:
    found, scale = read_audit(table, layout, "1:3", **settings)
    assert scale == Scale.points(3)
    return found


def by_item(one: Audited) -> dict[str, tuple[list[float], list[float]]]:
    sides = zip(one.items, one.observed, one.truth, strict=True)
    return {item: (seen.tolist(), true.tolist()) for item, seen, true in sides}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_of_every_kind_of_table(name: str, kind: str, tmp_path: Path) -> None:
    make, columns = LAYOUTS[name]
    source = KINDS[kind](make(), tmp_path)
    where = Where(table="audits") if kind == "sqlite" else None
    found = read(source, Layout(item=("region", "hotel"), **columns), where=where)
    assert list(found) == [""]
    wanted = {",".join(key): (OBSERVED[key], TRUTH[key]) for key in TRUTH}
    assert by_item(found[""]) == wanted
    found = read(source, Layout(item=("hotel",), segment=("region",), **columns), where=where)
    assert {region: by_item(one) for region, one in found.items()} == {
        region: {hotel: (OBSERVED[region, hotel], TRUTH[region, hotel]) for _, hotel in keys}
        for region, keys in (
            ("north", [("north", "Alder"), ("north", "Birch")]),
            ("south", [("south", "Alder"), ("south", "Elm, old")]),
        )
    }
    assert [one.segment for one in found.values()] == [("north",), ("south",)]
    if name != "wide":  # there a row is an item, and must be named
        (whole,) = read(source, Layout(**columns), where=where).values()
        assert whole.items == [""]
        np.testing.assert_array_equal(whole.observed[0], np.sum(list(OBSERVED.values()), axis=0))
        np.testing.assert_array_equal(whole.truth[0], np.sum(list(TRUTH.values()), axis=0))


@pytest.mark.parametrize(
    ("yes", "no"),
    [("yes", "no"), ("Y", "n"), (True, False), (1.0, 0.0), ("TRUE", " false "), ("t", "f")],
)
def test_ways_to_say_who_answered(yes: Any, no: Any, tmp_path: Path) -> None:
    layout = Layout(item=("region", "hotel"), rating=("stars",), answered="public")
    wanted = {",".join(key): (OBSERVED[key], TRUTH[key]) for key in TRUTH}
    for write in (as_csv, as_frame):
        assert by_item(read(write(people(yes, no), tmp_path), layout)[""]) == wanted


def test_ways_to_name_populations_and_a_row_per_rating(tmp_path: Path) -> None:
    layout = Layout(item=("region", "hotel"), counts=("n1", "n2", "n3"), population="which")
    wanted = {",".join(key): (OBSERVED[key], TRUTH[key]) for key in TRUTH}
    assert by_item(read(populations("Observed ", "TRUTH"), layout)[""]) == wanted
    rows = [
        (*key, which, r + 1)
        for which, counts in (("observed", OBSERVED), ("true", TRUTH))
        for key, cells in counts.items()
        for r, many in enumerate(cells)
        for _ in range(many)
    ]
    table = frame(["region", "hotel", "which", "stars"], rows)
    layout = Layout(item=("region", "hotel"), rating=("stars",), population="which")
    assert by_item(read(as_csv(table, tmp_path), layout)[""]) == wanted


def test_names_with_commas_are_kept_apart() -> None:
    columns = ["region", "hotel", "o1", "o2", "t1", "t2"]
    table = frame(columns, [("a,b", "c", 1, 0, 2, 5), ("a", "b,c", 3, 1, 4, 9)])
    layout = Layout(item=("region", "hotel"), observed=("o1", "o2"), truth=("t1", "t2"))
    found, _ = read_audit(table, layout)
    assert found[""].items == ["a,b,c", "a,b,c"]
    assert sorted(x.tolist() for x in found[""].truth) == [[2, 5], [4, 9]]
    table["item"] = "x"
    layout = Layout(
        item=("item",), segment=("region", "hotel"), observed=("o1", "o2"), truth=("t1", "t2")
    )
    with pytest.raises(DataError, match="segment has two values that are both written 'a,b,c'"):
        read_audit(table, layout)


def test_scales() -> None:
    layout = Layout(item=("hotel",), observed=("o1", "o2", "o3"), truth=("t1", "t2", "t3"))
    assert read_audit(side_by_side(), layout, "1,2,4")[1] == Scale([1, 2, 4])
    assert read_audit(side_by_side(), layout, Scale([0, 5, 9]))[1] == Scale([0, 5, 9])
    assert read_audit(side_by_side(), layout)[1] == Scale.points(3)
    layout = Layout(item=("hotel",), rating=("stars",), answered="public")
    found, scale = read_audit(people(), layout, "0:3")
    assert scale == Scale([0, 1, 2, 3])
    assert found[""].truth[0].tolist() == [0, 8, 4, 11]


def test_other_people_need_not_hold_what_was_seen() -> None:
    table = side_by_side()
    table.loc[1, ["o1", "t1"]] = [9, 2]
    layout = Layout(item=("region", "hotel"), **LAYOUTS["wide"][1])
    found = read(table, layout, paired=False)
    assert found[""].observed[1].tolist() == [9, 0, 0]
    message = "Item 'north,Birch' has 9 respondents with rating number 1, but only 2 people with it"
    with pytest.raises(DataError, match=message):
        read(table, layout)


def test_an_item_that_nobody_audited_holds_the_audit_up() -> None:
    table = populations()
    table = table[(table["hotel"] != "Elm, old") | (table["which"] == "observed")]
    layout = Layout(item=("hotel",), counts=("n1", "n2", "n3"), population="which")
    with pytest.raises(DataError, match="Item 'Elm, old' has 1 respondents"):
        read(table, layout)
    found = read(table, layout, paired=False)
    assert by_item(found[""])["Elm, old"] == ([1, 1, 0], [0, 0, 0])


# What is refused.

PEOPLE = Layout(item=("hotel",), rating=("stars",), answered="public")
COUNTED = Layout(item=("hotel",), counts=("n1", "n2", "n3"), population="which")
WIDE = Layout(item=("hotel",), observed=("o1", "o2", "o3"), truth=("t1", "t2", "t3"))


def changed(table: pd.DataFrame, column: str, value: Any) -> pd.DataFrame:
    table = table.astype({column: object}).reset_index(drop=True)
    table.loc[2, column] = value
    return table


@pytest.mark.parametrize("write", [as_csv, as_sqlite])
@pytest.mark.parametrize(
    ("table", "layout", "message"),
    [
        (changed(people(), "stars", 7), PEOPLE, "In .*, 1 rating is not on the scale"),
        (changed(people(), "stars", 2.5), PEOPLE, "not on the scale .*stars='?2.5"),
        (changed(people(), "stars", None), PEOPLE, "In .*, 1 row has no rating"),
        (
            changed(people(), "public", "maybe"),
            PEOPLE,
            "Column 'public' must contain yes or no; got 'maybe'",
        ),
        (changed(people(), "public", None), PEOPLE, "1 row has no value in 'hotel' or 'public'"),
        (changed(people(), "hotel", None), PEOPLE, "1 row has no value in 'hotel'"),
        (
            changed(populations(), "which", "seen"),
            COUNTED,
            "must contain observed or true; got 'seen'",
        ),
        (changed(populations(), "which", None), COUNTED, "1 row has no value"),
        (
            changed(populations(), "n2", None),
            COUNTED,
            "1 row has a count that is not a whole number",
        ),
        (changed(side_by_side(), "t2", -1), WIDE, "1 row has a count that is not .*t2=-1"),
        (
            changed(side_by_side(), "o3", 2.5),
            WIDE,
            "count that is not .*o3=2.5|Column 'o3' .* cannot be used for counts",
        ),
        (changed(side_by_side(), "o1", 99), WIDE, "Item 'Alder' has 100 respondents"),
        (people().head(0), PEOPLE, "has no rows"),
    ],
)
def test_rows_that_cannot_be(
    table: pd.DataFrame, layout: Layout, message: str, write: Any, tmp_path: Path
) -> None:
    where = Where(table="audits") if write is as_sqlite else None
    with pytest.raises(InputError, match=message):
        read(write(table, tmp_path), layout, where=where)


def test_rows_may_be_left_out() -> None:
    layout = Layout(rating=("stars",), answered="public")
    table = changed(changed(people(), "stars", 7), "public", 1)
    (kept,) = read(table, layout, off_scale="drop").values()
    assert sum(kept.truth[0]) == len(table) - 1
    table = changed(people(), "stars", None)
    (kept,) = read(table, layout, nulls="drop").values()
    assert sum(kept.truth[0]) == len(table) - 1


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (Layout(item=("hotel",), rating=("stars",)), "do not say who responded"),
        (
            Layout(item=("hotel",), rating=("stars",), answered="a", population="b"),
            "say more than once who responded",
        ),
        (
            Layout(item=("hotel",), answered="a", observed=("o1",), truth=("t1",)),
            "say more than once who responded",
        ),
        (
            Layout(item=("hotel",), observed=("o1", "o2"), truth=("t1",)),
            "truth must name as many columns as observed, which names 2; got 1",
        ),
        (Layout(item=("hotel",), observed=("o1", "o2")), "observed, which names 2; got 0"),
        (Layout(item=("hotel",), truth=("t1", "t2")), "observed, which names 0; got 2"),
        (Layout(observed=("o1", "o2"), truth=("t1", "t2")), "item is required"),
        (Layout(item=("hotel",), answered="public"), "rating is missing, and so is counts"),
        (
            Layout(item=("hotel",), answered="public", rating=("stars",), counts=("n1",)),
            "rating and counts cannot be combined",
        ),
        (
            Layout(item=("hotel",), observed=("o1", "o2"), truth=("t1", "t2"), counts=("n1",)),
            "counts cannot be combined with observed and truth",
        ),
        (Layout(item=("hotl",), rating=("stars",), answered="public"), "Did you mean 'hotel'"),
        (Layout(item=("hotel",), rating=("stars",), answered="publc"), "Did you mean 'public'"),
        (Layout(item=("hotel",), segment=("hotel",), rating=("stars",), answered="x"), "twice"),
    ],
)
def test_layouts_that_cannot_be(layout: Layout, message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        read(people(), layout)
