"""Items of a table ranked as one crowd: the pairs that are named and drawn."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

from unheard.analysis import shared_criteria
from unheard.analysis.shared_breakdown import find_shared_breakdown, find_shared_top_k_breakdown
from unheard.analysis.shared_ranking import SharedRanking, rank_shared
from unheard.model.question import build_question
from unheard.present.order_sentences import OrderFindings, pair_sentences
from unheard.present.phrases import q_text
from unheard.tables.pipeline import prepare, read_request
from unheard.tables.request import Request, add_order
from unheard.tables.shared_ranks import CrowdRanks
from unheard.tables.sources.open import Where
from unheard.tables.top_k import find_item_breakdown

COUNTS = {
    "Alder": [3, 10, 40, 200, 900],
    "Birch": [200, 20, 40, 100, 640],
    "Cedar": [12, 15, 145, 395, 170],
    "Dune": [0, 0, 0, 0, 1],
    "Elm": [300, 100, 80, 30, 10],
}
NAMES = list(COUNTS)
TABLE = pa.table(
    {"hotel": NAMES} | {f"n{r + 1}": [row[r] for row in COUNTS.values()] for r in range(5)}
)


def crowd(**stated: Any) -> CrowdRanks:
    question = build_question(list(COUNTS.values()), **(stated or {"q": 0.4}))
    plain, with_error = (
        rank_shared(question, sampling_error=noise, pairs=True) for noise in (False, True)
    )
    return CrowdRanks(NAMES, question, plain, with_error)


def settled(ranking: SharedRanking | None, above: int, below: int) -> bool:
    assert ranking is not None
    assert ranking.pairs is not None
    return [above, below] in ranking.pairs.tolist()


def test_standings_say_what_every_pair_says() -> None:
    found, listed = crowd(), ["Elm", "Cedar", "Alder", "Dune", "Birch"]
    said = {(row, column): (side, firm) for row, column, side, firm in found.standings(listed)}
    for column, row in combinations(range(5), 2):
        one, other = (NAMES.index(listed[place]) for place in (row, column))
        above, below = (
            [settled(found.plain, *pair), settled(found.with_error, *pair)]
            for pair in ((one, other), (other, one))
        )
        if above[0]:
            assert said[row, column] == ("above", above[1])
        elif below[0]:
            assert said[row, column] == ("below", below[1])
        else:
            assert (row, column) not in said
    assert {side for side, _ in said.values()} == {"above", "below"}
    assert {firm for _, firm in said.values()} == {True, False}


def test_pairs_are_named_with_the_q_that_ends_them() -> None:
    closest, apart = pair_sentences(crowd())
    question = build_question(list(COUNTS.values()), 0.4)
    q, with_error = (
        float(find_shared_breakdown(question, [0], [1], sampling_error=noise)[0])
        for noise in (False, True)
    )
    # Dune is as close to Alder, but its only rating settles nothing.
    claim = f"Alder (4.72) is above Birch (3.96) {q_text(q, '')}"
    claim += f"; with sampling error, {q_text(with_error, '')}"
    assert closest == f"Closest pair settled with sampling error: {claim}."
    both = "Birch (3.96) and Cedar (3.94)"
    assert apart == f"Widest open pair: {both}; either may be above the other."


def test_a_settled_order_may_contradict_averages() -> None:
    """People who give low ratings are known to respond less often: who has many of them falls."""
    said = pair_sentences(crowd(g=[0.1, 0.2, 0.5, 0.9, 1.0]))
    assert any(one.startswith("Against their averages: ") for one in said), said
    # As a ratio, q lets everybody respond equally often, where means are averages.
    assert not any("Against" in one for q in (0.1, 0.5, 1.0) for one in pair_sentences(crowd(q=q)))


def request(**more: Any) -> Request:
    asked = read_request(
        item="hotel", counts=["n1", "n2", "n3", "n4", "n5"], q=0.4, shared=True, **more
    )
    return add_order(asked, 1, None, None)


def test_an_item_that_is_left_out_is_compared_with_nobody() -> None:
    job = prepare(TABLE, request(min_ratings=10), Where())
    try:
        assert job.crowd is not None
        assert job.crowd.names == [name for name in NAMES if name != "Dune"]
        assert find_item_breakdown(job, "Alder").breakdown_q is not None
    finally:
        job.close()


def test_who_is_asked_of_the_crowd() -> None:
    job = prepare(TABLE, request(), Where())
    try:
        # One rating may be anybody's, so that sampling error leaves the first place open.
        assert find_item_breakdown(job, "Alder").breakdown_q is None
        assert find_item_breakdown(job, "Dune").ci_breakdown_q is None
    finally:
        job.close()


def test_too_many_items_are_said_to_be_ranked_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_criteria, "MOST_COMPARISONS", 10)
    job = prepare(TABLE, request(), Where())
    try:
        assert not job.request.shared
        assert job.crowd is None
        assert any("Ranks use separate participation" in note for note in job.messages)
        result = job.opened.engine.keep("result", job.query)
        assert any(
            "under separate participation" in one for one in OrderFindings(job, result).sentences()
        )
    finally:
        job.close()


def test_somebody_who_waits_gets_ranks_without_sampling_error_sooner() -> None:
    """Limits of many items take long: with less effort they are left out, and that is said."""
    rng = np.random.default_rng(3)
    cells = rng.multinomial(40, [0.1, 0.1, 0.2, 0.3, 0.3], size=1200)
    many = pa.table(
        {"hotel": [f"{i:04}" for i in range(len(cells))]}
        | {f"n{r + 1}": cells[:, r] for r in range(5)}
    )
    job = prepare(many, request(), Where(), effort=0.02)
    try:
        assert job.crowd is not None
        assert job.crowd.with_error is None
        assert any("Ranks ignore sampling error" in note for note in job.messages)
    finally:
        job.close()


def test_nobody_rated_anything() -> None:
    """Two items without ratings: nothing is settled, and nothing breaks."""
    nothing = pa.table({"hotel": ["A", "B"]} | {f"n{r + 1}": [0, 0] for r in range(5)})
    job = prepare(nothing, request(), Where())
    try:
        result = job.opened.engine.keep("result", job.query)
        assert OrderFindings(job, result).pairs() == {"settled": 0.0, "settled_with_error": 0.0}
    finally:
        job.close()


def test_what_was_not_worked_out_is_not_said() -> None:
    job = prepare(TABLE, request(), Where(), effort=0.00002)
    try:
        result = job.opened.engine.keep("result", job.query)
        assert not job.request.ranks_allow_for_error
        rows = job.opened.engine.rows(exp.select("*").from_(result.copy()))
        assert {row["ci_top"] for row in rows} == {row["ci_best_rank"] for row in rows} == {None}
        assert "allowing for it" not in " ".join(OrderFindings(job, result).sentences())
    finally:
        job.close()


def test_n_settles_no_less_for_one_crowd() -> None:
    """Nearly everybody answered: what each item settles by itself one crowd settles, too."""
    cells = [[100, 0, 100, 300, 500], [0, 0, 500, 500, 0], [500, 0, 0, 0, 500]]
    known = build_question(cells, 0.3, n=[1010] * 3)
    assert rank_shared(build_question(cells, 0.3)).settled == 1
    for noise in (False, True):
        found = rank_shared(known, sampling_error=noise, pairs=True)
        assert found.pairs is not None
        assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
        ends = find_shared_breakdown(known, [0, 0, 1], [1, 2, 2], sampling_error=noise)
        assert (ends < 0.3).all()
        for pair, q in zip(found.pairs.tolist(), ends, strict=True):
            for at, holds in ((q * 1.02 + 1e-6, True), (q * 0.9, False)):
                if at > 1e-4:
                    there = rank_shared(known.at(at), sampling_error=noise, pairs=True).pairs
                    assert there is not None
                    assert (pair in there.tolist()) == holds
    assert find_shared_top_k_breakdown(known, 0, 1) < 1e-3
