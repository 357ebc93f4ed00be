"""The facts of a report against counting by hand."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unheard as uh
from tests.report.made import COUNTS, NAMES, facts_about, random_counts, table_of
from unheard.analysis.shared_breakdown import find_shared_top_k_breakdown
from unheard.analysis.shared_ranking import rank_shared
from unheard.analysis.sweep import GRID
from unheard.errors import DataError
from unheard.report import overturn as overturn_module
from unheard.report.build import page_of_facts
from unheard.report.changes import MOST_STORIES
from unheard.report.content import Facts, data_words, facts_document, named_words
from unheard.report.headline import headline, share_text
from unheard.report.html import about
from unheard.report.order_queries import Numbers

Intervals = list[tuple[float, float]]


def intervals(cells: Any, q: float, level: float | None, **more: Any) -> Intervals:
    found = uh.estimate(cells, q, level=level, **more)
    low, high = (found.lower, found.upper) if level is None else (found.ci_lower, found.ci_upper)
    return list(zip(low, high, strict=True))


def possible(intervals: Intervals) -> list[tuple[int, int]]:
    """Best and worst rank of each, by looking at every other."""
    return [
        (
            1 + sum(other_low > high for other_low, _ in intervals),
            len(intervals) - sum(other_high < low for _, other_high in intervals),
        )
        for low, high in intervals
    ]


def pairs_settled(intervals: Intervals) -> int:
    return sum(a[0] > b[1] or b[0] > a[1] for a, b in combinations(intervals, 2))


def by_hand(counts: dict[str, list[int]], q: float, k: int, **more: Any) -> dict[str, int]:
    """What is settled, noise aside and with noise at the level that holds for all together."""
    cells = np.array(list(counts.values()))
    averages = cells @ np.arange(1, 6) / cells.sum(axis=1)
    leading = [sum(other > own for other in averages) < k for own in averages]
    found: dict[str, int] = {}
    for prefix, level in (("", None), ("ci_", 1 - 0.05 / len(cells))):
        known = intervals(cells, q, level, **more)
        ranks = possible(known)
        sure = [worst <= k for _, worst in ranks]
        found |= {
            f"{prefix}settled": sum(best == worst for best, worst in ranks),
            f"{prefix}pairs_settled": pairs_settled(known),
            f"{prefix}first": sum(best == 1 for best, _ in ranks),
            f"{prefix}sure": sum(sure),
            f"{prefix}possible": sum(best <= k for best, _ in ranks),
            f"{prefix}leading_sure": sum(a and b for a, b in zip(sure, leading, strict=True)),
        }
    return found | {"leading": sum(leading), "pairs": len(cells) * (len(cells) - 1) // 2}


@pytest.mark.parametrize(
    ("counts", "settings", "k"),
    [
        (COUNTS, {"q": 0.6}, 2),
        (COUNTS, {"q": 0.95}, 2),
        (COUNTS, {"q": 0.3, "quiet": "low"}, 2),
        (random_counts(40), {"q": 0.5}, 10),
        (random_counts(40, seed=2), {"q": 0.9, "quiet": "high"}, 10),
    ],
)
def test_numbers(counts: dict[str, list[int]], settings: dict[str, Any], k: int) -> None:
    found = facts_about(table_of(counts), **settings)
    assert found.k == k
    wanted = by_hand(counts, k=k, **settings)
    got = {name: getattr(found.numbers, name) for name in wanted}
    assert got == wanted
    cells = np.array(list(counts.values()))
    own = uh.estimate(cells, level=None, **settings)
    assert found.numbers.width == pytest.approx(float(np.mean(own.upper - own.lower)))
    assert found.numbers.fewest == cells.sum(axis=1).min()
    assert found.numbers.few == (cells.sum(axis=1) < 10).sum()


def test_people_and_claims() -> None:
    n = [400, 500, 500, 60, 90]
    found = facts_about(table_of(COUNTS, n=n), q=0.4, n="n", above=3.5, k=3)
    cells = np.array(list(COUNTS.values()))
    own = uh.estimate(cells, 0.4, n=n)
    assert found.numbers.people == sum(n)
    assert found.numbers.claimed == sum(cells @ np.arange(1, 6) / cells.sum(axis=1) > 3.5)
    assert found.numbers.claim_holds == sum(own.lower > 3.5)
    assert found.numbers.ci_claim_holds == sum(own.ci_lower > 3.5)
    wanted = by_hand(COUNTS, 0.4, 3, n=n)
    assert {name: getattr(found.numbers, name) for name in wanted} == wanted


def test_below_counts_the_other_side() -> None:
    found = facts_about(table_of(COUNTS), q=0.6, below=4)
    own = uh.estimate(list(COUNTS.values()), 0.6)
    assert found.numbers.claim_holds == sum(own.upper < 4)
    assert found.numbers.ci_claim_holds == sum(own.ci_upper < 4)


@pytest.mark.parametrize(("items", "k"), [(1, 1), (2, 1), (5, 2), (19, 9), (20, 10), (41, 10)])
def test_as_many_are_best_as_suit_the_table(items: int, k: int) -> None:
    found = facts_about(table_of(random_counts(items)), q=0.5)
    assert found.k == k
    assert {row["top"] for row in found.rows} <= {"surely", "possibly", "no"}
    for row in found.rows:
        assert row["top"] == (
            "surely" if row["worst_rank"] <= k else "possibly" if row["best_rank"] <= k else "no"
        )


def test_rows_are_those_of_rank() -> None:
    found = facts_about(table_of(COUNTS), q=0.6, k=2)
    ranked = uh.rank(table_of(COUNTS), "hotel", counts=NAMES, q=0.6, k=2).to_pylist()
    ranked.sort(key=lambda row: -row["ci_lower"])
    assert [row["hotel"] for row in found.rows] == [row["hotel"] for row in ranked]
    for row, wanted in zip(found.rows, ranked, strict=True):
        assert row == wanted | {"notes": wanted["notes"].split()}


# Stories.


def ranks_of(values: list[float]) -> list[int]:
    return [1 + sum(other > own for other in values) for own in values]


@pytest.mark.parametrize("quiet", ["any", "low"])
def test_stories(quiet: str) -> None:
    found = facts_about(table_of(random_counts(60)), q=0.3, quiet=quiet)
    k, rows = found.k, {row["hotel"]: row for row in found.rows}
    places = dict(zip(rows, ranks_of([row["estimate"] for row in rows.values()]), strict=True))
    told = {story.name: story for story in found.stories}
    assert len(told) == len(found.stories) == MOST_STORIES
    for name, story in told.items():
        row = rows[name]
        columns = ("average", "estimate", "average_rank", "best_rank", "worst_rank")
        assert {c: getattr(story, c) for c in columns} == {c: row[c] for c in columns}
        assert story.estimate_rank == places[name]
        if "may be as low" in story.words:
            assert story.average_rank <= k < story.worst_rank
            assert f"place {story.worst_rank}." in story.words
        elif story.words.startswith("Place"):
            assert story.best_rank <= k < story.average_rank
        elif "Falls" in story.words or "Rises" in story.words:
            assert ("Falls" in story.words) == (story.estimate_rank > story.average_rank)
            assert f"place {story.average_rank} by average" in story.words
            assert f"place {story.estimate_rank} by estimate" in story.words
        else:
            side = "below" if story.estimate < story.average else "above"
            assert story.words == (
                f"Its estimate is {abs(story.estimate - story.average):.2f} {side} its average."
            )
    # The largest change of each kind is there.
    moved = max(rows, key=lambda name: abs(places[name] - rows[name]["average_rank"]))
    shifted = max(rows.values(), key=lambda row: abs(row["estimate"] - row["average"]))
    assert {moved, shifted["hotel"]} <= set(told)


def test_nothing_changes_where_participation_is_the_same() -> None:
    assert facts_about(table_of(COUNTS), q=1.0).stories == []


# Other assumptions.


@pytest.mark.parametrize("settings", [{"q": 0.6}, {"q": 0.33, "quiet": "low"}])
def test_sweep(settings: dict[str, Any]) -> None:
    counts = random_counts(25)
    found = facts_about(table_of(counts), **settings, k=4).overturn
    assert found is not None
    assert [step.q for step in found.steps] == sorted({*GRID, settings["q"]}, reverse=True)
    for step in found.steps:
        wanted = by_hand(counts, k=4, **settings | {"q": step.q})
        for name in ("settled", "pairs_settled", "sure"):
            for prefix in ("", "ci_"):
                assert getattr(step, f"{prefix}{name}") == wanted[f"{prefix}{name}"], (step, name)
        assert step.refuted == 0


def test_sweep_agrees_with_the_order_at_the_q_assumed() -> None:
    found = facts_about(table_of(random_counts(30)), q=0.7)
    assert found.overturn is not None
    (now,) = [step for step in found.overturn.steps if step.q == 0.7]
    for name in ("settled", "pairs_settled", "sure"):
        for prefix in ("", "ci_"):
            assert getattr(now, f"{prefix}{name}") == getattr(found.numbers, f"{prefix}{name}")


def test_sweep_with_people_counts_refutations() -> None:
    n = [400, 500, 500, 60, 90]
    found = facts_about(table_of(COUNTS, n=n), floor=0.3, n="n").overturn
    assert found is not None
    for step in found.steps:
        notes = uh.estimate(list(COUNTS.values()), floor=step.q, n=n).notes
        assert step.refuted == sum("refuted" in one for one in notes)
    assert found.steps[0].refuted == 5


def test_sweep_of_stated_participation_starts_where_it_is() -> None:
    stated = [(0.2, 0.5), (0.2, 0.5), (0.3, 0.6), (0.3, 0.8), (0.4, 0.9)]
    found = facts_about(table_of(COUNTS), participation=stated)
    assert found.overturn is not None
    assert found.overturn.q == 1.0
    assert found.overturn.steps[0].pairs_settled == found.numbers.pairs_settled
    settled = [step.pairs_settled for step in found.overturn.steps]
    assert settled == sorted(settled, reverse=True)


def test_claims() -> None:
    found = facts_about(table_of(COUNTS), q=0.6, k=2, above=3.5)
    assert found.overturn is not None
    question = uh.build_question(list(COUNTS.values()), 0.6)
    known = {one.claim: one for one in found.overturn.tested}
    first = known["Alder is first"]
    assert first.breakdown_q == pytest.approx(uh.find_top_k_breakdown(question, 0, 1))
    assert first.ci_breakdown_q == pytest.approx(
        uh.find_top_k_breakdown(question, 0, 1, sampling_error=True)
    )
    assert (first.verdict(0.6), first.verdict(0.01)) == ("holds", "open")
    mean = known["the mean of Alder is above 3.5"]
    assert mean.breakdown_q == pytest.approx(uh.find_breakdown(COUNTS["Alder"], above=3.5))
    wanted = uh.find_breakdown(COUNTS["Alder"], above=3.5, sampling_error=True)
    assert mean.ci_breakdown_q == pytest.approx(wanted)
    # Whoever cannot be there is not asked about.
    may = [row["hotel"] for row in found.rows if row["best_rank"] <= 2]
    assert [name for name in known if "top 2" in name] == [f"{x} is in the top 2" for x in may[:2]]


def test_claims_break_down_where_they_say() -> None:
    found = facts_about(table_of(COUNTS), q=0.6)
    assert found.overturn is not None
    first = found.overturn.tested[0]
    assert first.breakdown_q is not None
    cells = list(COUNTS.values())
    held = possible(intervals(cells, first.breakdown_q * 1.001, None))[0]
    lost = possible(intervals(cells, first.breakdown_q * 0.999, None))[0]
    assert held == (1, 1)
    assert lost[1] > 1


def test_claims_hold_at_no_q_that_a_response_rate_refutes() -> None:
    counts = {"A": [0, 1, 2, 4, 7], "B": [2, 2, 3, 5, 4]}
    n = [140, 40]
    # Of A one in ten responded, so a floor is 0.1 at the most; there B is still open.
    bounds = uh.estimate(list(counts.values()), floor=0.1, n=n, level=None)
    at_most = list(zip(bounds.lower, bounds.upper, strict=True))
    assert at_most[0][0] < at_most[1][1]
    found = facts_about(table_of(counts, n=n), floor=0.05, n="n").overturn
    assert found is not None
    assert found.tested[0].claim == "A is first"
    assert found.tested[0].breakdown_q is None
    assert "at no floor that the response rate allows" in found.tested[0].words
    # Where everybody answered, every q is possible.
    more = {name: [9 * count for count in row] for name, row in counts.items()}
    sure = facts_about(table_of(more, n=[126, 144]), floor=0.2, n="n").overturn
    assert sure is not None
    assert sure.tested[0].breakdown_q is not None


def test_leader() -> None:
    found = facts_about(table_of(COUNTS), q=0.6, above=3.5)
    assert found.overturn is not None
    leader = found.overturn.leader
    assert leader is not None
    assert leader.name == "Alder"
    assert leader.question.counts.cells.tolist() == [COUNTS["Alder"]]
    assert leader.sweep.lower == pytest.approx(uh.sweep(COUNTS["Alder"], [*GRID]).lower)
    assert leader.broken is not None
    assert leader.broken[0] == pytest.approx(uh.find_breakdown(COUNTS["Alder"], above=3.5))


def test_noise_may_be_left_out() -> None:
    found = facts_about(table_of(COUNTS), q=0.6, level=None)
    assert found.overturn is not None
    assert found.overturn.leader is None
    assert {step.ci_settled for step in found.overturn.steps} == {None}
    assert {one.ci_breakdown_q for one in found.overturn.tested} == {None}
    assert not any("noise" in words for one in found.overturn.tested for words in [one.words])
    assert [("Chance is left out here." in words) for words in found.headline][:2] == [True, False]


RATED = pa.table(
    {
        "hotel": ["A", "A", "B", "B", "A", "B"] * 9,
        "day": ["2024-01-05", "2024-02-05"] * 27,
        "wing": ["old", "new", "new"] * 18,
        "stars": [5, 4, 1, 2, 5, 3] * 9,
        "clean": [4, 4, 2, 2, 5, 5] * 9,
        "doubt": [0.5] * 54,
    }
)
WINGS = pa.table({"hotel": ["A", "A", "B", "B"], "wing": ["old", "new"] * 2, "n": [99] * 4})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"q": 0.3, "time": "day", "window": "month"}, "together with window"),
        ({"q": 0.3, "rating": ["stars", "clean"]}, "with several ratings"),
        ({"q": 0.3, "strata": "wing", "n_table": WINGS}, "together with strata"),
        ({"q": "doubt"}, "with a q for each item"),
    ],
)
def test_what_cannot_be_swept_is_said(settings: dict[str, Any], words: str) -> None:
    found = facts_about(RATED, **{"rating": "stars"} | settings)
    assert found.overturn is None
    assert found.no_overturn is not None
    assert words in found.no_overturn


def test_very_many_items_are_not_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overturn_module, "MOST_SWEPT", 4)
    found = facts_about(table_of(COUNTS), q=0.6)
    assert found.overturn is None
    assert found.no_overturn is not None
    assert "up to 4 items" in found.no_overturn


# Several tables in one.


def test_attributes_are_counted_each_on_its_own() -> None:
    found = facts_about(RATED, rating=["stars", "clean"], q=0.5)
    assert (found.numbers.items, found.numbers.pairs, found.k) == (4, 2, 1)
    alone = [facts_about(RATED, rating=name, q=0.5).numbers for name in ("stars", "clean")]
    for name in ("settled", "pairs_settled", "sure"):
        assert getattr(found.numbers, name) == sum(getattr(one, name) for one in alone)
    assert found.numbers.different == 2
    assert "The items of each attribute are ranked among themselves." in found.headline
    assert {story.within for story in found.stories} <= {"stars", "clean"}
    assert named_words(found) == []


def test_several_columns_name_an_item() -> None:
    found = facts_about(RATED, item=["hotel", "wing"], rating="stars", q=0.5)
    assert found.overturn is not None
    may = next(row for row in found.rows if row["best_rank"] == 1)
    claim = found.overturn.tested[0].claim
    assert claim == f"{may['hotel']}, {may['wing']} is first"
    assert found.overturn.leader is not None
    first = found.rows[0]
    assert found.overturn.leader.question.counts.n_ratings[0] == first["n_ratings"]


# The headline.


def numbers(**given: Any) -> Numbers:
    names = Numbers.__annotations__
    plain = dict.fromkeys(names, 0) | {"width": None, "people": None, "items": 5, "pairs": 10}
    return Numbers(**plain | {"rated": given.get("items", 5)} | given)


def said(found: Numbers, **given: Any) -> list[str]:
    leader = {"lower": 2.0, "upper": 4.0, "average": 3.5, "n_ratings": 9}
    leader |= {"ci_lower": 1.25, "ci_upper": 4.5}
    usual: dict[str, Any] = {"names": ["Ada", "Ben", "Cy"], "leader": leader, "k": 2}
    usual |= {"claim": None, "within": None, "noise": True, "width": 4.0, "refuted": 0}
    return headline(found, **usual | given)


@pytest.mark.parametrize(
    ("given", "noise", "words"),
    [
        ({"first": 1, "ci_first": 1}, True, "Ada is first, with an allowance for the silent and"),
        ({"first": 1, "ci_first": 3}, True, "any of 3 items. Chance aside it is Ada."),
        ({"first": 1}, False, "allowed for. Chance is left out here."),
        ({"first": 2, "ci_first": 2}, True, "it may be Ada or Ben."),
        ({"first": 3, "ci_first": 5}, True, "it may be Ada, Ben or Cy, and with chance on top any"),
        ({"first": 4, "ci_first": 5}, True, "it may be any of 4 items, and with chance on top"),
    ],
)
def test_headline_says_who_is_first(given: dict[str, int], noise: bool, words: str) -> None:
    assert words in said(numbers(**given), noise=noise)[0]


def test_headline_counts() -> None:
    found = numbers(first=1, settled=1, pairs_settled=4, leading=2, possible=3, ci_possible=4)
    assert said(found)[1:] == [
        "1 of the 5 places that the plain average gives is settled, and none with chance on top.",
        "Of all pairs of items, 40% are in a settled order, and 0% with chance on top.",
        "Of the top 2 by plain average, none surely belongs there; 3 items may, and 4 with chance "
        "on top.",
    ]
    everything = numbers(first=1, settled=5, leading=2, leading_sure=2, sure=2, possible=2)
    assert said(everything, noise=False)[1:] == [
        "All 5 places that the plain average gives are settled.",
        "Of all pairs of items, 0% are in a settled order.",
        "Of the top 2 by plain average, all surely belong there.",
    ]


def test_headline_does_not_say_a_number_twice() -> None:
    firm = {"settled": 2, "ci_settled": 2, "pairs": 1, "pairs_settled": 1, "ci_pairs_settled": 1}
    assert said(numbers(items=2, first=1, **firm))[1:] == [
        "Both places that the plain average gives are settled, with chance on top as well.",
        "Of all pairs of items, 100% are in a settled order, with chance on top as well.",
    ]
    nothing = said(numbers(first=5, ci_first=5, possible=5, ci_possible=5, leading=2))
    assert nothing[2] == "Of all pairs of items, 0% are in a settled order."
    assert nothing[3].endswith("5 items may, with chance on top as well.")


def test_headline_gives_places_to_rated_items_only() -> None:
    assert said(numbers(items=6, rated=5, first=6, ci_first=6))[1].startswith(
        "None of the 5 places"
    )
    assert said(numbers(rated=1, first=5))[1].startswith("Not even the only place that the plain")
    assert said(numbers(rated=0, first=5))[1].startswith("Nobody rated any of the items")


def test_headline_of_one_item() -> None:
    one = numbers(items=1, pairs=0, first=1)
    assert said(one, names=["Ada"])[:2] == [
        "If the assumption holds, the mean of Ada lies between 2.00 and 4.00, noise aside, and "
        "between 1.25 and 4.50 with sampling noise.",
        "The plain average of the 9 ratings given is 3.50.",
    ]
    bare = {"lower": 2.0, "upper": 4.0, "n_ratings": 0, "ci_lower": None, "ci_upper": None}
    assert said(one, names=["Ada"], leader=bare, noise=False) == [
        "If the assumption holds, the mean of Ada lies between 2.00 and 4.00, noise aside. "
        "Chance is left out here."
    ]


def test_headline_warns_of_a_refuted_assumption() -> None:
    assert "rate of one item refutes" in said(numbers(first=2), refuted=1)[-1]
    assert "rates of 3 items refute" in said(numbers(first=2), refuted=3)[-1]


@pytest.mark.parametrize(
    ("some", "of", "words"),
    [
        (0, 0, "0%"),
        (0, 9, "0%"),
        (9, 9, "100%"),
        (1, 1000, "less than 1%"),
        (999, 1000, "more than 99%"),
        (1, 3, "33%"),
    ],
)
def test_shares(some: int, of: int, words: str) -> None:
    assert share_text(some, of) == words


# One crowd.


@pytest.mark.parametrize("quiet", ["any", "low"])
def test_one_crowd(quiet: str) -> None:
    found = facts_about(table_of(COUNTS), q=0.6, quiet=quiet, shared=True)
    question = uh.build_question(list(COUNTS.values()), 0.6, quiet=quiet)
    plain, noisy = (
        rank_shared(question, k=2, sampling_error=noise, pairs=True) for noise in (False, True)
    )
    assert found.numbers.pairs_settled == plain.settled
    assert found.numbers.ci_pairs_settled == noisy.settled
    own = pairs_settled(intervals(list(COUNTS.values()), 0.6, None, quiet=quiet))
    assert own < plain.settled
    assert f"{share_text(own, 10)} of the pairs would be" in found.crowds[1]
    assert found.standings is not None
    assert plain.pairs is not None
    names = found.standings.names
    above = [
        (names[row], names[column]) if side == "above" else (names[column], names[row])
        for row, column, side, _ in found.standings.settled
    ]
    assert {*above} == {(list(COUNTS)[i], list(COUNTS)[j]) for i, j in plain.pairs.tolist()}
    assert sum(firm for *_, firm in found.standings.settled) == noisy.settled


def test_one_crowd_at_every_q() -> None:
    found = facts_about(table_of(COUNTS), q=0.6, shared=True)
    assert found.overturn is not None
    question = uh.build_question(list(COUNTS.values()), 0.6)
    for step in found.overturn.steps:
        at = question.at(step.q)
        assert step.pairs_settled == rank_shared(at).settled
        assert step.ci_pairs_settled is not None
        assert step.ci_pairs_settled <= rank_shared(at, sampling_error=True).settled
        own = intervals(list(COUNTS.values()), step.q, None)
        assert step.other_pairs_settled == pairs_settled(own)
    first = found.overturn.tested[0]
    assert first.claim == "Alder is first"
    assert first.breakdown_q == pytest.approx(find_shared_top_k_breakdown(question, 0, 1), abs=1e-9)
    assert first.ci_breakdown_q == pytest.approx(
        find_shared_top_k_breakdown(question, 0, 1, sampling_error=True), abs=1e-9
    )


def test_sampling_error_of_many_items_is_left_to_the_assumed_q() -> None:
    found = facts_about(table_of(random_counts(40)), q=0.5, shared=True)
    assert found.overturn is not None
    settled = {step.q: step.ci_pairs_settled for step in found.overturn.steps}
    assert settled.pop(0.5) == found.numbers.ci_pairs_settled > 0
    assert {*settled.values()} == {None}
    assert not any(one.with_noise for one in found.overturn.tested)
    sure = {row["hotel"] for row in found.rows if row["ci_worst_rank"] <= 10}
    for one in found.overturn.tested:
        name = one.claim.removesuffix(" is in the top 10")
        if name != one.claim:
            assert (one.verdict(0.5) == "holds") == (name in sure)
    assert "–" in page_of_facts(found)


# Data quality.


def test_what_was_left_out_is_said() -> None:
    rated = pa.table({"hotel": ["A"] * 4 + ["B"] * 3, "stars": [5, None, 9, 4, 1, None, 2]})
    found = facts_about(rated, rating="stars", q=0.3, nulls="drop", off_scale="drop")
    assert (found.tally.rows, found.tally.counted) == (7, 4)
    assert (found.tally.nulls, found.tally.off_scale) == (2, 1)
    assert found.notes == {"few_ratings": 2, "rows_dropped": 2}
    assert len(found.messages) == 2
    assert "7 rows read; 4 ratings counted." in data_words(found)
    assert not any("None was left out" in words for words in data_words(found))


def test_flags_are_counted() -> None:
    counts = {**COUNTS, "Fir": [0] * 5}
    found = facts_about(table_of(counts, n=[400, 500, 500, 60, 90, 12]), q=0.5, n="n")
    own = uh.estimate(list(counts.values()), 0.5, n=[400, 500, 500, 60, 90, 12]).notes
    every = [flag for notes in own for flag in notes]
    assert found.notes == {flag: every.count(flag) for flag in set(every)}
    assert found.notes["no_ratings"] == 1
    assert found.numbers.fewest == 0


def test_clean_data_is_said_to_be_so() -> None:
    words = data_words(facts_about(table_of(COUNTS), q=0.5))
    assert "None was left out: no rating was empty, and none was off the scale." in words
    assert "No item is flagged." in words


def test_windows_are_counted_in_rows() -> None:
    found = facts_about(RATED, rating="stars", q=0.5, time="day", window="month")
    assert (found.numbers.items, found.numbers.different) == (4, 2)
    assert " 4 places that the plain average gives within windows " in found.headline[0]
    words = data_words(found)
    assert any(one.startswith("The rows have") for one in words)
    assert not any("tiers" in one for one in found.meanings) or any(
        row["tier"] > 1 for row in found.rows
    )
    assert about(found).startswith("54 ratings of 2 items (4 rows, one for each item and window)")


def test_items_with_the_same_number_of_ratings() -> None:
    found = facts_about(table_of({"A": [1, 0, 0, 0, 0], "B": [0, 0, 0, 0, 1]}), q=0.5)
    assert "The items have 1 rating each." in data_words(found)
    assert found.notes == {"few_ratings": 2}
    assert found.headline[0].endswith("Chance aside it is B (1 rating).")
    assert not found.stories


# Empty and small tables.


def test_no_rows_are_refused() -> None:
    nothing = pa.table({"hotel": pa.array([], pa.string()), "stars": pa.array([], pa.int64())})
    with pytest.raises(DataError, match=r"stays\.csv: the table has no rows"):
        facts_about(nothing, rating="stars", q=0.3)


def test_unrated_items_move_nobody() -> None:
    """An item that nobody rated is estimated mid-scale, and passes nobody for that."""
    counts = {**COUNTS, "Fir": [0] * 5}
    found = facts_about(table_of(counts), q=0.6)
    assert (found.numbers.items, found.numbers.rated) == (6, 5)
    assert next(row["estimate"] for row in found.rows if row["hotel"] == "Fir") == 3
    without = facts_about(table_of(COUNTS), q=0.6)
    places = {story.name: story.estimate_rank for story in found.stories}
    assert places == {story.name: story.estimate_rank for story in without.stories} | places
    assert not any(story.words.startswith(("Falls", "Rises")) for story in found.stories)
    assert found.headline[1].startswith("None of the 5 places")


def test_items_without_ratings() -> None:
    found = facts_about(table_of({"A": [0] * 5, "B": [0] * 5}), q=0.3)
    assert found.overturn is not None
    assert found.overturn.leader is None
    assert found.stories == []
    assert named_words(found) == []


def test_one_item() -> None:
    found = facts_about(table_of({"A": [1, 2, 3, 4, 5]}), q=0.3)
    assert found.overturn is not None
    assert found.overturn.tested == []
    assert found.headline[0].startswith("If the assumption holds, the mean of A lies between")
    assert found.headline[0].endswith("with sampling noise.")


def test_names_are_shown_straight() -> None:
    found = facts_about(table_of({"\u202eevil": [1, 2, 3, 4, 5], "": [9, 0, 0, 0, 0]}), q=0.9)
    assert found.overturn is not None
    assert found.overturn.tested[0].claim == "evil is first"
    assert {story.name for story in found.stories} <= {"evil", "(empty)"}


# The document.


def test_document() -> None:
    found: Facts = facts_about(table_of(COUNTS), q=0.6, above=3.5)
    document = json.loads(json.dumps(facts_document(found), allow_nan=False))
    assert document["rows"] == found.rows
    assert document["rows_left_out"] == 0
    assert document["headline"] == found.headline
    assert document["numbers"]["settled"] == found.numbers.settled
    assert [step["q"] for step in document["sweep"]] == sorted({*GRID, 0.6}, reverse=True)
    assert document["claims"][0]["claim"] == "Alder is first"
    assert document["quality"]["counted"] == sum(map(sum, COUNTS.values()))
    assert document["scale"] == [1, 2, 3, 4, 5]
