"""The headline of a report: the finding first, then what else is settled about the order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unheard.analysis.breakdown import Claim
from unheard.report.order_queries import OrderNumbers
from unheard.report.sentences import write_share
from unheard.text import plural, range_text, rating_text

MAX_NAMED = 3
"""How many items a headline names."""


def write_headline(
    numbers: OrderNumbers,
    *,
    names: Sequence[str],
    leader: Mapping[str, Any],
    k: int,
    claim: Claim | None,
    within: str | None,
    sampling_error: bool,
    width: float,
    refuted: int,
) -> list[str]:
    """Return the headline, then a few sentences.

    Parameters
    ----------
    numbers
        What is settled.
    names
        The first items that could be first, best first.
    leader
        The first row.
    k, claim, sampling_error
        What was asked about the order.
    within
        What the items are ranked within, if not all together: ``attribute`` or ``window``.
    width
        Width of the scale.
    refuted
        Items whose response rate contradicts the assumption.
    """
    said: list[str] = []
    what = "item" if within is None else "row"
    if within is not None:
        said += [_count_ranks(numbers, sampling_error, f" within {within}s")]
        said += [f"Items are ranked within each {within}.", _count_pairs(numbers, sampling_error)]
    elif numbers.items == 1:
        said += _describe_only_item(names[0], leader, width)
    else:
        said += _name_first(numbers, names, sampling_error)
        said += [_count_ranks(numbers, sampling_error), _count_pairs(numbers, sampling_error)]
        if 1 < k < numbers.items:
            said.append(_count_top(numbers, k, sampling_error))
    if claim is not None:
        said.append(_count_claimed(numbers, claim, sampling_error, what))
    if numbers.width and numbers.items > 1:
        size = rating_text(numbers.width, width)
        said.append(f"The bounds on the mean of an {what} are {size} wide on average.")
    if refuted:
        rates, verb = ("rate", "contradicts") if refuted == 1 else ("rates", "contradict")
        said.append(
            f"The response {rates} of {plural(refuted, what)} {verb} the assumption: do not rely "
            "on the results there."
        )
    if not sampling_error and not (numbers.items == 1 and leader["ci_lower"] is not None):
        said[0] += " Sampling error is ignored."
    return said


def _describe_only_item(name: str, leader: Mapping[str, Any], width: float) -> list[str]:
    def between(low: str, high: str) -> str:
        return f"between {range_text(leader[low], leader[high], width).replace(' to ', ' and ')}"

    words = f"The mean of {name} is {between('lower', 'upper')}"
    if leader["ci_lower"] is not None:
        words += " ignoring sampling error, and "
        words += f"{between('ci_lower', 'ci_upper')} allowing for it"
    said = [f"{words}."]
    if leader["n_ratings"]:
        average = rating_text(leader["average"], width)
        said.append(f"The plain average of {plural(leader['n_ratings'], 'rating')} is {average}.")
    return said


def _name_first(numbers: OrderNumbers, names: Sequence[str], sampling_error: bool) -> Iterator[str]:
    many = numbers.ci_first if sampling_error else numbers.first
    if many == 1:
        yield f"{names[0]} is first{', even allowing for sampling error' * sampling_error}."
        return
    who = _name_candidates(numbers.first, names)
    could = who if many == numbers.first else f"any of {many:,} items"
    yield f"First place is undecided: {could} could be first."
    if many != numbers.first:
        verb = "is" if numbers.first == 1 else "could be"
        yield f"Ignoring sampling error, {who} {verb} first."


def _name_candidates(many: int, names: Sequence[str]) -> str:
    if many > MAX_NAMED:
        return f"any of {many:,} items"
    *before, last = names[:many]
    return f"{', '.join(before)} or {last}" if before else last


def _count_ranks(numbers: OrderNumbers, sampling_error: bool, where: str = "") -> str:
    """Count the settled ranks; an item without ratings has no rank by plain average."""
    if not numbers.rated:
        return "No item has ratings, so there is no ranking by plain average."
    many, settled = numbers.rated, min(numbers.settled, numbers.rated)
    if many == 1:
        which = f"The only rank{where} is {'' if settled else 'not '}settled"
    elif settled == many:
        which = f"{'Both' if many == 2 else f'All {many:,}'} ranks{where} are settled"
    else:
        few = _write_count(settled).capitalize()
        which = f"{few} of the {many:,} ranks{where} {_is(settled)} settled"
    return f"{which}{_add_error(numbers.ci_settled, settled, sampling_error)}."


def _count_pairs(numbers: OrderNumbers, sampling_error: bool) -> str:
    settled, firm = numbers.pairs_settled, numbers.ci_pairs_settled
    words = f"{write_share(settled, numbers.pairs).capitalize()} of all pairs of items are in a "
    words += "settled order"
    if sampling_error and settled:
        same = settled == firm
        share = write_share(firm, numbers.pairs)
        words += _EITHER_WAY if same else f" ignoring sampling error, and {share} allowing for it"
    return f"{words}."


def _count_top(numbers: OrderNumbers, k: int, sampling_error: bool) -> str:
    sure = numbers.leading_sure
    many = "all" if sure == numbers.leading > 1 else _write_count(sure)
    words = (
        f"Of the top {k:,} by plain average, {many} {_is(sure)} certain to be in the top {k:,}"
        f"{_add_error(numbers.ci_leading_sure, sure, sampling_error)}"
    )
    if numbers.sure == numbers.possible:
        return f"{words}."
    could = f"{plural(numbers.possible, 'item')} could be in it"
    return f"{words}; {could}{_add_error(numbers.ci_possible, numbers.possible, sampling_error)}."


def _count_claimed(numbers: OrderNumbers, claim: Claim, sampling_error: bool, what: str) -> str:
    holds = numbers.claim_holds
    return (
        f"{plural(numbers.claimed, what)} {_is(numbers.claimed)} {claim.side} by plain average; "
        f"{_write_count(holds)} {_is(holds)} certain to be {claim.side}"
        f"{_add_error(numbers.ci_claim_holds, holds, sampling_error)}."
    )


def _write_count(many: int) -> str:
    return f"{many:,}" if many else "none"


def _is(many: int) -> str:
    return "is" if many < 2 else "are"


_EITHER_WAY = ", with or without sampling error"


def _add_error(firm: int, plain: int, sampling_error: bool) -> str:
    """Add the count that allows for sampling error to the one that ignores it."""
    if not sampling_error or not plain:
        return ""
    if firm == plain:
        return _EITHER_WAY
    return f" ignoring sampling error, and {_write_count(firm)} allowing for it"
