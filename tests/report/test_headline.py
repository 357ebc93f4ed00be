"""The headline of a report, sentence by sentence."""

from __future__ import annotations

from typing import Any

import pytest

from unheard.analysis.breakdown import Claim
from unheard.report.headline import write_headline
from unheard.report.order_queries import OrderNumbers


def numbers(**given: Any) -> OrderNumbers:
    names = OrderNumbers.__annotations__
    plain = dict.fromkeys(names, 0) | {"width": None, "people": None, "items": 5, "pairs": 10}
    return OrderNumbers(**plain | {"rated": given.get("items", 5)} | given)


def said(found: OrderNumbers, **given: Any) -> list[str]:
    leader = {"lower": 2.0, "upper": 4.0, "average": 3.5, "n_ratings": 9}
    leader |= {"ci_lower": 1.25, "ci_upper": 4.5}
    usual: dict[str, Any] = {"names": ["Ada", "Ben", "Cy"], "leader": leader, "k": 2}
    usual |= {"claim": None, "within": None, "sampling_error": True, "width": 4.0, "refuted": 0}
    return write_headline(found, **usual | given)


@pytest.mark.parametrize(
    ("given", "sampling_error", "words"),
    [
        ({"first": 1, "ci_first": 1}, True, ["Ada is first, even allowing for sampling error."]),
        (
            {"first": 1, "ci_first": 3},
            True,
            [
                "First place is undecided: any of 3 items could be first.",
                "Ignoring sampling error, Ada is first.",
            ],
        ),
        ({"first": 1}, False, ["Ada is first. Sampling error is ignored."]),
        (
            {"first": 2, "ci_first": 2},
            True,
            ["First place is undecided: Ada or Ben could be first.", "None of the 5 ranks"],
        ),
        (
            {"first": 3, "ci_first": 5},
            True,
            [
                "First place is undecided: any of 5 items could be first.",
                "Ignoring sampling error, Ada, Ben or Cy could be first.",
            ],
        ),
        (
            {"first": 4, "ci_first": 5},
            True,
            [
                "First place is undecided: any of 5 items could be first.",
                "Ignoring sampling error, any of 4 items could be first.",
            ],
        ),
        (
            {"first": 4, "ci_first": 4},
            True,
            ["First place is undecided: any of 4 items could be first.", "None of the 5 ranks"],
        ),
    ],
)
def test_headline_says_who_is_first(
    given: dict[str, int], sampling_error: bool, words: list[str]
) -> None:
    found = said(numbers(**given), sampling_error=sampling_error)
    assert found[0] == words[0]
    assert found[1].startswith(words[-1]) or len(words) == 1


def test_headline_counts() -> None:
    found = numbers(
        first=1, ci_first=1, settled=1, pairs_settled=4, leading=2, possible=3, ci_possible=4
    )
    assert said(found)[1:] == [
        "1 of the 5 ranks is settled ignoring sampling error, and none allowing for it.",
        "40% of all pairs of items are in a settled order ignoring sampling error, and 0% "
        "allowing for it.",
        "Of the top 2 by plain average, none is certain to be in the top 2; 3 items could be in it "
        "ignoring sampling error, and 4 allowing for it.",
    ]
    everything = numbers(first=1, settled=5, leading=2, leading_sure=2, sure=2, possible=2)
    assert said(everything, sampling_error=False)[1:] == [
        "All 5 ranks are settled.",
        "0% of all pairs of items are in a settled order.",
        "Of the top 2 by plain average, all are certain to be in the top 2.",
    ]


def test_headline_does_not_say_a_number_twice() -> None:
    firm = {"settled": 2, "ci_settled": 2, "pairs": 1, "pairs_settled": 1, "ci_pairs_settled": 1}
    assert said(numbers(items=2, first=1, ci_first=1, **firm))[1:] == [
        "Both ranks are settled, with or without sampling error.",
        "100% of all pairs of items are in a settled order, with or without sampling error.",
    ]
    nothing = said(numbers(first=5, ci_first=5, possible=5, ci_possible=5, leading=2))
    assert nothing[2] == "0% of all pairs of items are in a settled order."
    assert nothing[3].endswith("5 items could be in it, with or without sampling error.")


def test_headline_gives_ranks_to_rated_items_only() -> None:
    assert said(numbers(items=6, rated=5, first=6, ci_first=6))[1].startswith("None of the 5 ranks")
    assert said(numbers(rated=1, first=5, ci_first=5))[1] == "The only rank is not settled."
    assert said(numbers(rated=0, first=5, ci_first=5))[1].startswith("No item has ratings")


def test_headline_of_one_item() -> None:
    one = numbers(items=1, pairs=0, first=1)
    assert said(one, names=["Ada"])[:2] == [
        "The mean of Ada is between 2.00 and 4.00 ignoring sampling error, and between 1.25 and "
        "4.50 allowing for it.",
        "The plain average of 9 ratings is 3.50.",
    ]
    bare = {"lower": 2.0, "upper": 4.0, "n_ratings": 0, "ci_lower": None, "ci_upper": None}
    assert said(one, names=["Ada"], leader=bare, sampling_error=False) == [
        "The mean of Ada is between 2.00 and 4.00. Sampling error is ignored."
    ]


def test_headline_counts_claims() -> None:
    found = numbers(first=2, ci_first=2, claimed=3, claim_holds=2, ci_claim_holds=1)
    assert said(found, claim=Claim(True, 3.5))[-1] == (
        "3 items are above 3.5 by plain average; 2 are certain to be above 3.5 ignoring sampling "
        "error, and 1 allowing for it."
    )


def test_headline_warns_of_a_refuted_assumption() -> None:
    assert "The response rate of 1 item contradicts" in said(numbers(first=2), refuted=1)[-1]
    assert "The response rates of 3 items contradict" in said(numbers(first=2), refuted=3)[-1]
