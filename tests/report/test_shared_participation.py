"""Reports that assume one participation shared by all items."""

from __future__ import annotations

import pytest

import unheard as uh
from tests.report.by_hand import count_settled_pairs, intervals
from tests.report.examples import COUNTS, report_about, table_of
from unheard.analysis.shared_breakdown import find_shared_top_k_breakdown
from unheard.analysis.shared_ranking import rank_shared
from unheard.report.sentences import write_share


@pytest.mark.parametrize("quiet", ["any", "low"])
def test_settled_pairs(quiet: str) -> None:
    found = report_about(table_of(COUNTS), q=0.6, quiet=quiet, shared=True)
    question = uh.build_question(list(COUNTS.values()), 0.6, quiet=quiet)
    plain, noisy = (
        rank_shared(question, k=2, sampling_error=noise, pairs=True) for noise in (False, True)
    )
    assert found.numbers.pairs_settled == plain.settled
    assert found.numbers.ci_pairs_settled == noisy.settled
    own = count_settled_pairs(intervals(list(COUNTS.values()), 0.6, None, quiet=quiet))
    assert own < plain.settled
    assert f"{write_share(own, 10)} of the pairs would be" in found.participation[1]
    assert found.leading_pairs is not None
    assert plain.pairs is not None
    names = found.leading_pairs.names
    above = [
        (names[row], names[column]) if side == "above" else (names[column], names[row])
        for row, column, side, _ in found.leading_pairs.settled
    ]
    assert {*above} == {(list(COUNTS)[i], list(COUNTS)[j]) for i, j in plain.pairs.tolist()}
    assert sum(firm for *_, firm in found.leading_pairs.settled) == noisy.settled


def test_every_q() -> None:
    found = report_about(table_of(COUNTS), q=0.6, shared=True)
    assert found.sensitivity is not None
    question = uh.build_question(list(COUNTS.values()), 0.6)
    for step in found.sensitivity.steps:
        at = question.at(step.q)
        assert step.pairs_settled == rank_shared(at).settled
        assert step.ci_pairs_settled is not None
        assert step.ci_pairs_settled <= rank_shared(at, sampling_error=True).settled
        own = intervals(list(COUNTS.values()), step.q, None)
        assert step.other_pairs_settled == count_settled_pairs(own)
    first = found.sensitivity.claims[0]
    assert first.claim == "Alder is first"
    assert first.breakdown_q == pytest.approx(find_shared_top_k_breakdown(question, 0, 1), abs=1e-9)
    assert first.ci_breakdown_q == pytest.approx(
        find_shared_top_k_breakdown(question, 0, 1, sampling_error=True), abs=1e-9
    )
