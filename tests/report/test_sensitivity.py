"""What other q would settle, and at which q claims fail, against counting by hand."""

from __future__ import annotations

from typing import Any

import pytest

import unheard as uh
from tests.report.by_hand import count_by_hand, intervals, rank_ranges
from tests.report.examples import COUNTS, RATED, WINGS, random_counts, report_about, table_of
from tests.report.parse_page import parsed
from unheard.analysis.sweep import GRID
from unheard.report import sensitivity
from unheard.report.page import render_page


@pytest.mark.parametrize("settings", [{"q": 0.6}, {"q": 0.33, "quiet": "low"}])
def test_sweep(settings: dict[str, Any]) -> None:
    counts = random_counts(25)
    found = report_about(table_of(counts), **settings, k=4).sensitivity
    assert found is not None
    assert [step.q for step in found.steps] == sorted({*GRID, settings["q"]}, reverse=True)
    for step in found.steps:
        wanted = count_by_hand(counts, k=4, **settings | {"q": step.q})
        for name in ("settled", "pairs_settled", "sure"):
            for prefix in ("", "ci_"):
                assert getattr(step, f"{prefix}{name}") == wanted[f"{prefix}{name}"], (step, name)
        assert step.refuted == 0


def test_sweep_agrees_with_the_order_at_the_q_assumed() -> None:
    found = report_about(table_of(random_counts(30)), q=0.7)
    assert found.sensitivity is not None
    (now,) = [step for step in found.sensitivity.steps if step.q == 0.7]
    for name in ("settled", "pairs_settled", "sure"):
        for prefix in ("", "ci_"):
            assert getattr(now, f"{prefix}{name}") == getattr(found.numbers, f"{prefix}{name}")


def test_sweep_with_people_counts_refutations() -> None:
    n = [400, 500, 500, 60, 90]
    found = report_about(table_of(COUNTS, n=n), floor=0.3, n_column="n").sensitivity
    assert found is not None
    for step in found.steps:
        notes = uh.estimate(list(COUNTS.values()), floor=step.q, n=n).notes
        assert step.refuted == sum("refuted" in one for one in notes)
    assert found.steps[0].refuted == 5


def test_sweep_of_stated_participation_starts_where_it_is() -> None:
    stated = [(0.2, 0.5), (0.2, 0.5), (0.3, 0.6), (0.3, 0.8), (0.4, 0.9)]
    found = report_about(table_of(COUNTS), participation=stated)
    assert found.sensitivity is not None
    assert found.sensitivity.q == 1.0
    assert found.sensitivity.steps[0].pairs_settled == found.numbers.pairs_settled
    settled = [step.pairs_settled for step in found.sensitivity.steps]
    assert settled == sorted(settled, reverse=True)


def test_claims() -> None:
    found = report_about(table_of(COUNTS), q=0.6, k=2, above=3.5)
    assert found.sensitivity is not None
    question = uh.build_question(list(COUNTS.values()), 0.6)
    known = {one.claim: one for one in found.sensitivity.claims}
    first = known["Alder is first"]
    assert first.breakdown_q == pytest.approx(uh.find_top_k_breakdown(question, 0, 1))
    assert first.ci_breakdown_q == pytest.approx(
        uh.find_top_k_breakdown(question, 0, 1, sampling_error=True)
    )
    assert (first.verdict(0.6), first.verdict(0.01)) == ("holds", "not shown")
    mean = known["the mean of Alder is above 3.5"]
    assert mean.breakdown_q == pytest.approx(uh.find_breakdown(COUNTS["Alder"], above=3.5))
    wanted = uh.find_breakdown(COUNTS["Alder"], above=3.5, sampling_error=True)
    assert mean.ci_breakdown_q == pytest.approx(wanted)
    # Whoever cannot be there is not asked about.
    may = [row["hotel"] for row in found.rows if row["best_rank"] <= 2]
    assert [name for name in known if "top 2" in name] == [f"{x} is in the top 2" for x in may[:2]]


def test_claims_break_down_where_they_say() -> None:
    found = report_about(table_of(COUNTS), q=0.6)
    assert found.sensitivity is not None
    first = found.sensitivity.claims[0]
    assert first.breakdown_q is not None
    cells = list(COUNTS.values())
    held = rank_ranges(intervals(cells, first.breakdown_q * 1.001, None))[0]
    lost = rank_ranges(intervals(cells, first.breakdown_q * 0.999, None))[0]
    assert held == (1, 1)
    assert lost[1] > 1


def test_claims_hold_at_no_q_that_a_response_rate_refutes() -> None:
    counts = {"A": [0, 1, 2, 4, 7], "B": [2, 2, 3, 5, 4]}
    n = [140, 40]
    # Of A one in ten responded, so a floor is 0.1 at the most; there B is still open.
    bounds = uh.estimate(list(counts.values()), floor=0.1, n=n, level=None)
    at_most = list(zip(bounds.lower, bounds.upper, strict=True))
    assert at_most[0][0] < at_most[1][1]
    found = report_about(table_of(counts, n=n), floor=0.05, n_column="n").sensitivity
    assert found is not None
    assert found.claims[0].claim == "A is first"
    assert found.claims[0].breakdown_q is None
    assert "at no floor that the response rate allows" in found.claims[0].words
    # Where everybody answered, every q is possible.
    more = {name: [9 * count for count in row] for name, row in counts.items()}
    sure = report_about(table_of(more, n=[126, 144]), floor=0.2, n_column="n").sensitivity
    assert sure is not None
    assert sure.claims[0].breakdown_q is not None


def test_leader() -> None:
    found = report_about(table_of(COUNTS), q=0.6, above=3.5)
    assert found.sensitivity is not None
    leader = found.sensitivity.leader
    assert leader is not None
    assert leader.name == "Alder"
    assert leader.sweep.question.counts.cells.tolist() == [COUNTS["Alder"]]
    assert leader.sweep.lower == pytest.approx(uh.sweep(COUNTS["Alder"], [*GRID]).lower)
    assert leader.sweep.breakdown_q == pytest.approx(uh.find_breakdown(COUNTS["Alder"], above=3.5))


def test_sampling_error_may_be_ignored() -> None:
    found = report_about(table_of(COUNTS), q=0.6, level=None)
    assert found.sensitivity is not None
    assert found.sensitivity.leader is None
    assert {step.ci_settled for step in found.sensitivity.steps} == {None}
    assert {one.ci_breakdown_q for one in found.sensitivity.claims} == {None}
    said = [*found.headline, *(one.words for one in found.sensitivity.claims)]
    assert [words for words in said if "ampling error" in words] == found.headline[:1]
    assert found.headline[0].endswith(" Sampling error is ignored.")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"q": 0.3, "time": "day", "window": "month"}, "not available with windows"),
        ({"q": 0.3, "rating": ["stars", "clean"]}, "not available with several rating columns"),
        ({"q": 0.3, "strata": "wing", "n_table": WINGS}, "not available with strata"),
        ({"q_column": "doubt"}, "not available with a q for each item"),
    ],
)
def test_what_cannot_be_swept_is_said(settings: dict[str, Any], words: str) -> None:
    found = report_about(RATED, **{"rating": "stars"} | settings)
    assert found.sensitivity is None
    assert found.no_sensitivity is not None
    assert words in found.no_sensitivity


def test_very_many_items_are_not_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensitivity, "MAX_SWEPT", 4)
    found = report_about(table_of(COUNTS), q=0.6)
    assert found.sensitivity is None
    assert found.no_sensitivity is not None
    assert "up to 4 items" in found.no_sensitivity


def test_several_columns_name_an_item() -> None:
    found = report_about(RATED, item=["hotel", "wing"], rating="stars", q=0.5)
    assert found.sensitivity is not None
    may = next(row for row in found.rows if row["best_rank"] == 1)
    claim = found.sensitivity.claims[0].claim
    assert claim == f"{may['hotel']}, {may['wing']} is first"
    assert found.sensitivity.leader is not None
    first = found.rows[0]
    assert found.sensitivity.leader.sweep.question.counts.n_ratings[0] == first["n_ratings"]


@pytest.mark.usefixtures("undrawn")
def test_sampling_error_of_many_items_is_left_to_the_assumed_q() -> None:
    found = report_about(table_of(random_counts(40)), q=0.5, shared=True)
    assert found.sensitivity is not None
    settled = {step.q: step.ci_pairs_settled for step in found.sensitivity.steps}
    assert settled.pop(0.5) == found.numbers.ci_pairs_settled > 0
    assert {*settled.values()} == {None}
    assert not any(one.with_sampling_error for one in found.sensitivity.claims)
    sure = {row["hotel"] for row in found.rows if row["ci_worst_rank"] <= 10}
    top = [one for one in found.sensitivity.claims if one.claim.endswith(" is in the top 10")]
    assert len(top) == 5
    for one in top:
        assert (one.verdict(0.5) == "holds") == (
            one.claim.removesuffix(" is in the top 10") in sure
        )
    cells = [cell.text for cell in parsed(render_page(found)).all("td")]
    assert cells.count("–") >= len(found.sensitivity.claims) + 3 * (len(GRID) - 1)
