"""The rows behind the pictures, against numbers worked out otherwise."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import expectile

import unheard as uh
from tests.charts.examples import COUNTS, HOSTILE, pictures, ranked, regrets
from unheard.analysis.breakdown import Claim
from unheard.analysis.sweep import sweep_question
from unheard.charts.draw import (
    draw_comparison,
    draw_estimate,
    draw_pairs,
    draw_ranking,
)
from unheard.charts.picture import Picture
from unheard.errors import OptionError
from unheard.model.histograms import Histograms
from unheard.model.scale import Scale
from unheard.present import chart_records, participation
from unheard.present.estimates import averages


@pytest.fixture(scope="module")
def drawn() -> dict[str, Picture]:
    return pictures()


def test_rows_are_plain(drawn: dict[str, Picture]) -> None:
    for name, picture in drawn.items():
        rows = json.loads(json.dumps(picture.records, allow_nan=False))
        assert rows == picture.records, name
        assert picture.words
        assert picture.words.endswith("."), name


def test_shares_and_the_average() -> None:
    question = uh.build_question(COUNTS, 0.3)
    rows = chart_records.estimate_records(question, question.answer(["paa"]))
    bars, (row,) = rows[:-1], rows[-1:]
    assert [bar["from"] for bar in bars] == [bar["to"] for bar in bars] == [1, 2, 3, 4, 5]
    assert [bar["count"] for bar in bars] == list(COUNTS)
    assert [Fraction(bar["share"]).limit_denominator(1000) for bar in bars] == [
        Fraction(count, 1000) for count in COUNTS
    ]
    assert row["average"] == pytest.approx(4.14, abs=1e-12)
    # The reference values of the mathematics.
    assert row["lower"] == pytest.approx(3.35051546, abs=1e-8)
    assert row["upper"] == pytest.approx(4.64340014, abs=1e-8)
    assert row["estimate"] == pytest.approx(3.9969578, abs=1e-7)


def test_an_average_of_zero_is_an_average() -> None:
    question = uh.build_question([3, 0, 3], 0.5, scale="-1:1")
    assert averages(question) == [0.0]
    assert "average 0.00" in chart_records.estimate_words(question, question.answer(["paa"]))


def test_nobody_has_no_average() -> None:
    question = uh.build_question([[0, 0], [1, 3]], 0.5)
    assert averages(question) == [None, 1.75]
    nobody = uh.build_question([0, 0], 0.5)
    assert chart_records.estimate_words(nobody, nobody.answer(["paa"])).startswith("No ratings.")


@given(st.integers(2, 3000))
def test_bars_of_long_scales_lose_nobody(m: int) -> None:
    cells = np.random.default_rng(m).integers(0, 9, m)
    cells[0] += 1
    rows = chart_records.share_records(Histograms.of(cells, scale=Scale.points(m)))
    assert len(rows) == m if m <= chart_records.MOST_BARS else len(rows) <= 80
    assert sum(row["count"] for row in rows) == cells.sum()
    assert math.fsum(row["share"] for row in rows) == pytest.approx(1)
    assert (rows[0]["from"], rows[-1]["to"]) == (1, m)
    for before, after in pairwise(rows):
        assert after["from"] == before["to"] + 1
    sizes = [row["to"] - row["from"] + 1 for row in rows]
    assert max(sizes) < 2 * min(sizes)
    for row in rows:
        assert row["count"] == cells[row["from"] - 1 : row["to"]].sum()


def test_a_sweep_is_what_expectiles_say() -> None:
    question, seen = uh.build_question(COUNTS, 0.3), np.repeat(np.arange(1, 6), COUNTS)
    rows = chart_records.sweep_records(sweep_question(question, [1.0, 0.37, 0.05]), q=0.3)
    swept, (chosen,) = rows[:-1], rows[-1:]
    assert chosen == {"part": "chosen", "q": 0.3}
    qs = [row["q"] for row in swept]
    assert {1.0, 0.37, 0.3, 0.05} <= {*qs}
    assert (qs, qs[0], qs[-1]) == (sorted(qs, reverse=True), 1.0, chart_records.LEAST_Q)
    for row in swept[::12]:
        ends = (expectile(seen, row["q"] / (1 + row["q"])), expectile(seen, 1 / (1 + row["q"])))
        assert (row["lower"], row["upper"]) == pytest.approx(ends, abs=1e-9)
        assert row["ci_lower"] < row["lower"]
        assert row["ci_upper"] > row["upper"]


def test_lines_meet_the_threshold_where_the_claim_breaks_down() -> None:
    question, claim = uh.build_question(COUNTS, 0.3), Claim(True, 3.5)
    broken = [uh.find_breakdown(COUNTS, above=3.5, sampling_error=noise) for noise in (False, True)]
    rows = chart_records.sweep_records(sweep_question(question, [0.5], claim))
    by_q = {row["q"]: row for row in rows[:-1]}
    # Shortfall below the threshold over excess above it.
    assert broken[0] == pytest.approx((2.5 * 120 + 1.5 * 30 + 0.5 * 45) / (0.5 * 200 + 1.5 * 605))
    assert by_q[broken[0]]["lower"] == pytest.approx(3.5, abs=1e-9)
    assert by_q[broken[1]]["ci_lower"] == pytest.approx(3.5, abs=1e-9)
    assert rows[-1] == {
        "part": "claim",
        "above": True,
        "threshold": 3.5,
        "breakdown_q": broken[0],
        "ci_breakdown_q": broken[1],
    }


def test_a_claim_that_never_holds_has_no_breakdown() -> None:
    question, claim = uh.build_question(COUNTS, 0.3), Claim(True, 4.9)
    rows = chart_records.sweep_records(sweep_question(question, [0.5], claim))
    assert (rows[-1]["breakdown_q"], rows[-1]["ci_breakdown_q"]) == (None, None)


def test_differences_are_of_the_items() -> None:
    found = uh.compare([5, 10, 35, 120, 30], [30, 25, 45, 80, 20], q=0.5)
    a, b, separate, shared = chart_records.comparison_records(found)
    assert (a["name"], b["name"]) == ("A", "B")
    assert a["average"] == pytest.approx((5 + 20 + 105 + 480 + 150) / 200)
    assert separate["lower"] == pytest.approx(a["lower"] - b["upper"])
    assert separate["upper"] == pytest.approx(a["upper"] - b["lower"])
    assert separate["lower"] <= shared["lower"] <= shared["upper"] <= separate["upper"]


def test_a_ranking_is_sorted_cut_and_named() -> None:
    rows = ranked(["A", "B", "C", "D", "E"])
    found, total = chart_records.ranking_records(rows[::-1], ["hotel", "tier"], 3)
    assert (total, [row["name"] for row in found]) == (5, ["A, 1", "B, 1", "C, 2"])
    assert [row["estimate"] for row in found] == [row["estimate"] for row in rows[:3]]
    words = draw_ranking(rows, "hotel", "1:5", top=3).words
    assert words.startswith("5 items")
    assert "and 2 more; the first 3 are in 2 tiers, between which nothing can change" in words


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_ranking_of_a_frame(frame: type) -> None:
    rows = [row | {"notes": " ".join(row["notes"])} for row in ranked(["A", "B", "C"])]
    found = draw_ranking(frame(rows), "hotel", "1:5")
    assert found.records == draw_ranking(ranked(["A", "B", "C"]), "hotel", "1:5").records
    assert found.records[1]["average"] is None


def test_names_stay_names() -> None:
    for name in HOSTILE:
        safe = chart_records.safe_name(name)
        safe.encode()
        assert not any(ord(c) < 32 or c in "\x7f\u2028\ufffe\uffff" for c in safe)
    assert chart_records.safe_name("Hôtel <b>") == "Hôtel <b>"


def test_an_audit_by_rating() -> None:
    audit = uh.calibrate([12, 30, 0, 49, 25], [400, 330, 0, 230, 60])
    rows = participation.tabulate(audit)
    assert [row["rating"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[0]["g"] == pytest.approx(12.5 / 401)
    assert rows[2]["g"] is None
    assert all(row["g_lower"] <= row["g"] <= row["g_upper"] for row in rows if row["g"])


def test_regrets_keep_their_numbers() -> None:
    given = regrets((6,), (0.2, 0.5))
    rows = chart_records.regret_records(given)
    assert [row["regret"] for row in rows] == [row["regret"] for row in given]
    assert {row["standard_error"] for row in rows} == {None}
    assert chart_records.regret_words(rows).startswith(
        f"Regret with 6 people: average {given[0]['regret']:.4g}"
    )


def test_few_ratings_do_not_come_first() -> None:
    rows = ranked(["Ash", "Birch", "Cedar"])
    rows[2] |= {"n_ratings": 1, "estimate": 5.0, "lower": 5.0, "upper": 5.0, "ci_lower": 1.2}
    rows[2] |= {"ci_upper": 5.0, "notes": ["few_ratings"]}
    for table in (rows, pd.DataFrame(rows), pl.DataFrame(rows)):
        found, total = chart_records.ranking_records(table, ["hotel"], 3)
        assert [row["name"] for row in found] == ["Ash", "Birch", "Cedar (1 rating)"]
        assert total == 3


def test_every_pair_is_drawn_once() -> None:
    settled = [(1, 0, "below", True), (2, 0, "below", False), (3, 1, "above", False)]
    picture = draw_pairs(["Ash", "Birch", "Cedar", "Dune"], settled, more=2)
    kinds = {(row["row"], row["column"]): row["kind"] for row in picture.records}
    assert kinds == {
        (1, 0): "below",
        (2, 0): "below without error",
        (2, 1): "open",
        (3, 0): "open",
        (3, 1): "above without error",
        (3, 2): "open",
    }
    said = [row["words"] for row in picture.records]
    assert said[0] == "Birch is below Ash"
    assert said[4] == "Dune is above Birch, ignoring sampling error"
    assert picture.words == (
        "Of 6 pairs of the items listed first, 3 are in a settled order ignoring sampling error, "
        "and 1 allowing for it."
    )
    drawn = picture.svg()
    for name in ("Ash", "Birch", "Cedar", "Dune", "open"):
        assert name in drawn
    with pytest.raises(OptionError, match="two items or more"):
        draw_pairs(["Ash"], [])


def test_few_ratings_are_marked_beside_bounds() -> None:
    """Equal ratings have bounds without width: the picture says on how many they rest."""
    question = uh.build_question([0, 0, 0, 0, 4], 0.3)
    picture = draw_estimate(question, question.answer(["paa"]))
    assert "bounds 5.00 to 5.00" in picture.words
    assert "Note: fewer than 10 ratings: the bounds ignore sampling error" in picture.words
    assert "few ratings: go by the confidence interval" in picture.svg()
    enough = uh.build_question([0, 0, 0, 0, 10], 0.3)
    assert "few ratings" not in draw_estimate(enough, enough.answer(["paa"])).svg()
    both = draw_comparison(uh.compare([0, 0, 0, 0, 4], COUNTS, 0.3, names=("Ash", "Birch")))
    assert [row["name"] for row in both.records][:2] == ["Ash (4 ratings)", "Birch"]
