"""Every result summarizes, tabulates and draws itself, as its command does."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import unheard as uh
from tests.cli.typed import typing
from unheard.game.minimax import solve_minimax
from unheard.game.regret_table import RegretTable
from unheard.model.results import Result

COUNTS = [120, 30, 45, 200, 605]
A, B = [5, 10, 35, 120, 30], [30, 25, 45, 80, 20]
TYPED = "120 30 45 200 605"


def regrets(*qs: float) -> uh.Regrets:
    scale = uh.Scale.points(3)
    return uh.Regrets(tuple(RegretTable(6, scale, "gap", "any").find_worst(["bea"], qs)), scale)


def plans(**goal: Any) -> uh.Plans:
    columns = {"item": [f"item {at}" for at in range(25)], "n": [900] * 25}
    cells = {f"r{at + 1}": [A[at], B[at], *[10 + at] * 23] for at in range(5)}
    return uh.plan_table(
        pa.table(columns | cells), "item", counts=list(cells), n_column="n", q=0.3, **goal
    )


COMMANDS: dict[str, Any] = {
    f"estimate {TYPED} --q 0.3": lambda: uh.estimate(COUNTS, q=0.3),
    f"estimate {TYPED} --q 0.3 --n 2400": lambda: uh.estimate(COUNTS, q=0.3, n=2400),
    "estimate 0 0 0 --q 0.3": lambda: uh.estimate([0, 0, 0], q=0.3),
    f"sweep {TYPED} --above 3.5": lambda: uh.sweep(COUNTS, above=3.5),
    f"sweep {TYPED} --floor 0.9,0.3 --n 2400": lambda: uh.sweep(COUNTS, floor=[0.9, 0.3], n=2400),
    "compare 5,10,35,120,30 30,25,45,80,20 --q survey --n 900,700": lambda: uh.compare(
        A, B, "survey", n=(900, 700)
    ),
    f"plan {TYPED} --n 2400 --q 0.3 --above 4 --power 0.9": lambda: uh.plan_follow_up(
        COUNTS, 2400, q=0.3, above=4, power=0.9
    ),
    f"plan {TYPED} --n 2400 --q 0.3 --width 0.3": lambda: uh.plan_follow_up(
        COUNTS, 2400, q=0.3, width=0.3
    ),
    f"plan {TYPED} --n 2400 --follow-up 3,1,4,6,2": lambda: uh.combine_follow_up(
        COUNTS, [3, 1, 4, 6, 2], 2400
    ),
    f"plan {TYPED} --n 2400 --follow-up 3,1,4,6,2 --asked 30 --q 0.3": lambda: uh.combine_follow_up(
        COUNTS, [3, 1, 4, 6, 2], 2400, asked=30, q=0.3
    ),
    f"calibrate {TYPED} --n 2400 --response-rate": lambda: uh.check_response_rates(1000, 2400),
    "regret --n 6 --m 3 --q 0.5 --method bea": lambda: regrets(0.5),
    "regret --n 6 --m 3 --q 0.5,0.8 --method bea": lambda: regrets(0.5, 0.8),
    "minimax --n 4 --q 0.9": lambda: solve_minimax(4, 0.9),
}
OTHERS: dict[str, Any] = {
    "estimates": lambda: uh.estimate([COUNTS] * 25, q=0.3),
    "no level": lambda: uh.estimate(COUNTS, q=0.3, level=None),
    "ranking": lambda: uh.rank_intervals([3.9, 3.1, 1.5], [4.6, 4.2, 2.0], k=1),
    "shared ranking": lambda: uh.rank_shared(uh.build_question([A, B], 0.3), pairs=True),
    "audit": lambda: uh.calibrate([12, 30, 0, 49], [400, 330, 0, 230]),
    "response rates": lambda: uh.check_response_rates(
        [300, 80], [1000, 1000], labels={"hotel": ["Alder", "Birch"]}
    ),
    "added counts": lambda: uh.AddedCounts(
        "counts.parquet",
        (uh.AddedBatch("x", "a.csv", 9, True), uh.AddedBatch("y", "b.csv", 0, False)),
        *(2, 1009, 1000, 4),
    ),
    "plan out of reach": lambda: uh.plan_follow_up(COUNTS, 2400, q=0.3, width=0.05),
    "plans": lambda: plans(width=0.3),
    "plans within a budget": lambda: plans(above=3.5, budget=25),
    "plans out of reach": lambda: plans(width=0.01, covers="mean"),
}
RESULTS = COMMANDS | OTHERS


@pytest.mark.parametrize("words", COMMANDS)
def test_summary_and_document_are_those_of_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run, result = typing(monkeypatch, capsys), COMMANDS[words]()
    assert run(*shlex.split(words)).out == result.summary() + "\n"
    document = json.loads(run(*shlex.split(words), "--json").out)
    if isinstance(document, list):
        document = {"rows": document}
    assert document == json.loads(json.dumps(result.to_dict(), allow_nan=False))


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_shows_itself(name: str) -> None:
    result: Result = RESULTS[name]()
    for text in (repr(result), result.summary()):
        assert text.strip()
        assert max(map(len, text.splitlines())) <= 80
        assert not any(character in text for character in "\x1b[")
        assert "array(" not in text
    assert repr(result).startswith(type(result).__name__)
    assert len(repr(result).splitlines()) < 40
    json.dumps(result.to_dict(), allow_nan=False)
    shown = ElementTree.fromstring(result._repr_html_())
    assert shown.find(".//table") is not None
    if not isinstance(result, uh.Estimates):
        drawn = ElementTree.fromstring(result.chart().svg())
        assert drawn.tag.endswith("svg")
        assert result.chart().records
        assert shown.find("figure") is not None


@pytest.mark.parametrize("name", RESULTS)
def test_frames_hold_tidy_rows(name: str) -> None:
    result: Result = RESULTS[name]()
    table = result.to_frame("pyarrow")
    assert isinstance(table, pa.Table)
    assert table.num_rows >= 1
    assert isinstance(result.to_frame(), pd.DataFrame)
    for frame, columns in (
        (result.to_frame("pandas"), lambda frame: list(frame.columns)),
        (result.to_frame("polars"), lambda frame: frame.columns),
    ):
        assert len(frame) == table.num_rows
        assert columns(frame) == table.column_names
    assert isinstance(result.to_frame("polars"), pl.DataFrame)


def test_an_estimate_names_its_scale() -> None:
    assert "1,000 ratings on the scale 1 to 5, average 4.14." in repr(uh.estimate(COUNTS, q=0.3))
    found = uh.estimate([1, 2, 3, 0, 0], q=0.3, scale="0:4")
    assert "6 ratings on the scale 0 to 4, average 1.33." in repr(found)


def test_the_middle_of_the_bounds_mentions_n_only_if_n_is_given() -> None:
    words = "middle of the bounds"
    assert uh.estimate(COUNTS, q=0.3).summary().count(f"{words}\n") == 1
    with_n = uh.estimate(COUNTS, q=0.3, n=2400, method="paa").summary()
    assert with_n.count(f"{words} without n\n") == 1


def test_a_chart_of_plans_counts_people_and_shows_no_ratings() -> None:
    records = plans(width=0.3).chart().records
    assert {record["ci_lower"] for record in records} == {None}
    assert [record["estimate"] for record in records] == sorted(plans(width=0.3).ask)


def test_plans_out_of_reach_say_so() -> None:
    found = plans(width=0.01, covers="mean")
    assert "out of reach for 25, even if everybody is asked" in " ".join(found.summary().split())
    assert "use --covers people" in " ".join(found.summary().split())
    assert "5 more rows; to_frame() has all." in repr(found)


def test_a_sweep_states_its_assumption() -> None:
    found = uh.sweep(COUNTS, 0.3, quiet="low")
    for text in (repr(found), found.summary()):
        said = " ".join(text.split())
        assert "Assumption: The lower their rating, the less often people may respond" in said


def test_a_plan_shows_nothing_where_asking_everybody_is_not_enough() -> None:
    lines = uh.plan_follow_up(COUNTS, 2400, q=0.3, above=4).summary().splitlines()
    (cells,) = (line.split() for line in lines if "rate as estimated" in line)
    assert cells[-2:] == ["–", "–"]
    assert "for these 2,400 people only, add --covers people." in " ".join(" ".join(lines).split())


@pytest.mark.parametrize(
    ("responses", "said"),
    [
        ([40, 45], "The response rates do not differ significantly (p = 0.4"),
        ([30, 45], "The response rates differ (p = 0.0"),
        ([10, 90], "The response rates differ (p < 0.001)."),
    ],
)
def test_response_rates_are_compared(responses: list[int], said: str) -> None:
    assert said in " ".join(uh.check_response_rates(responses, [100, 100]).summary().split())


def test_frames_of_a_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    result = uh.estimate(COUNTS, q=0.3)
    with pytest.raises(
        uh.OptionError, match="backend must be one of pandas, polars, pyarrow; got 'spark'"
    ):
        result.to_frame("spark")  # type: ignore[call-overload]
    monkeypatch.setattr("unheard.model.results.find_spec", lambda name: name == "pyarrow" or None)
    assert isinstance(result.to_frame(), pa.Table)
    with pytest.raises(uh.OptionError, match="not installed; got 'polars'"):
        result.to_frame("polars")


def test_one_of_many_estimates_is_the_estimate() -> None:
    many = uh.estimate([COUNTS, A], [0.3, 0.5], n=[2400, 900])
    assert len(many) == 2
    for one, alone in zip(
        many, (uh.estimate(COUNTS, 0.3, n=2400), uh.estimate(A, 0.5, n=900)), strict=True
    ):
        assert one.summary() == alone.summary()
        assert one.ci_lower == pytest.approx(alone.ci_lower)
    assert many[-1].estimate == many.estimate[1]
    with pytest.raises(IndexError):
        many[2]
    assert np.isnan(uh.estimate(COUNTS, 0.3, level=None).ci_lower)


def test_percentages_of_bars_add_up() -> None:
    out = uh.estimate([1, 1, 1], q=0.3).summary()
    assert [word for word in out.split() if word.endswith("%")][:3] == ["33.3%", "33.3%", "33.4%"]


def test_stays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Screens of tables fit into 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    run = typing(monkeypatch, capsys)
    stays = Path(__file__).parents[2] / "docs" / "stays.csv"
    for command in ("rate", "rank", "rank --k 2 --above 3.5", "rank --shared"):
        name, *more = command.split()
        out = run(name, stays, "--item", "hotel", "--rating", "stars", "--q", "0.3", *more).out
        assert max(map(len, out.splitlines())) <= 80, out
