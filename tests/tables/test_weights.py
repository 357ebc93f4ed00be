"""Survey weights of rows: sums that ride along with the counts, in every engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.strategies import Floats
from tests.tables.cases import FIVE, ratings
from tests.tables.engines import Bench


def weigh(table: pa.Table, seed: int) -> tuple[pa.Table, Floats]:
    """Add survey weights, of which low ratings have the heaviest."""
    rng = np.random.default_rng(seed)
    low = np.array([rating == table["rating"][0].as_py() for rating in table["rating"].to_pylist()])
    weights = np.where(low, rng.choice([1.0, 10.0], len(low)), rng.choice([0.5, 2.0], len(low)))
    return table.append_column("weight", pa.array(weights)), weights


@pytest.mark.parametrize("values", [FIVE, tuple(map(float, range(16)))])
def test_weights(database: Bench, values: tuple[float, ...]) -> None:
    table, weights = weigh(ratings(3, values=values), 5)
    source, where = database.load(table)
    asked: dict[str, Any] = {"q": 0.3, "scale": list(values), "weight": "weight"}
    result = database.rows(uh.rate(source, "item", "rating", **asked, **where))
    items = np.array(table["item"].to_pylist())
    given = np.array(table["rating"].to_pylist(), float)
    for row in result.to_pylist():
        mine = [weights[(items == row["item"]) & (given == value)] for value in values]
        wanted = uh.estimate(
            [one.sum() for one in mine],
            0.3,
            scale=list(values),
            squared_weights=[(one**2).sum() for one in mine],
            largest_weight=weights.max(),
        )
        assert row["n_ratings"] == sum(map(len, mine))
        for name in ("estimate", "lower", "upper", "ci_lower", "ci_upper"):
            assert row[name] == pytest.approx(getattr(wanted, name), rel=1e-9)
        assert row["notes"] == " ".join(wanted.notes)


def test_few_ratings_go_by_the_effective_sample_size(database: Bench) -> None:
    """Twenty ratings of which one outweighs all others are worth hardly more than one."""
    weights = {"even": [1.0] * 20, "uneven": [100.0] + [1.0] * 19}
    table = pa.table(
        {
            "item": [name for name, of in weights.items() for _ in of],
            "rating": pa.array([1, 2] * 20, pa.int64()),
            "weight": [weight for of in weights.values() for weight in of],
        }
    )
    source, where = database.load(table)
    asked: dict[str, Any] = {"q": 0.3, "scale": [1, 2], "weight": "weight"}
    rows = database.rows(uh.rate(source, "item", "rating", **asked, **where)).to_pylist()
    assert {row["item"]: row["notes"] for row in rows} == {"even": "", "uneven": "few_ratings"}
    squares = [100.0**2 + 9, 10.0]
    one = uh.estimate([109.0, 10], 0.3, squared_weights=squares, largest_weight=100)
    assert one.notes == ("few_ratings",)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n": 900}, "weight cannot be combined with a known number of people"),
        ({"shared": True}, "weight cannot be combined with shared ranks"),
        ({"weight": "item"}, "weight names the same column as item; got 'item'"),
        ({"weight": "word"}, "Column 'word' of .* cannot be used for weight: it contains text"),
        ({"weight": "wait"}, "no column 'wait'. Did you mean 'weight'"),
    ],
)
def test_weights_refused(asked: dict[str, Any], message: str) -> None:
    table, _ = weigh(ratings(3), 5)
    table = table.append_column("word", table["item"])
    with pytest.raises(uh.InputError, match=message):
        uh.rate(table, "item", "rating", **{"q": 0.3, "weight": "weight", **asked})


@pytest.mark.parametrize("bad", [0.0, -1.0, None, float("nan")])
def test_rows_without_a_weight_are_refused(database: Bench, bad: float | None) -> None:
    table, weights = weigh(ratings(3), 5)
    column = pa.array([bad, *weights[1:].tolist()], pa.float64())
    table = table.set_column(table.column_names.index("weight"), "weight", column)
    source, where = database.load(table)
    with pytest.raises(uh.DataError, match="row has no weight above 0"):
        uh.rate(source, "item", "rating", q=0.3, weight="weight", **where)
