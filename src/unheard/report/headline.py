"""What a reader with one minute should take away, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unheard.decide.breakdown import Claim
from unheard.decide.words import plural, range_text, rating_text
from unheard.report.order import Numbers

NAMED = 3
"""How many items a headline names."""


def headline(
    found: Numbers,
    *,
    names: Sequence[str],
    leader: Mapping[str, Any] | None,
    k: int,
    claim: Claim | None,
    within: str | None,
    noise: bool,
    width: float,
    refuted: int,
) -> list[str]:
    """Return the headline, then a few sentences.

    Parameters
    ----------
    found
        The numbers.
    names
        The first items that may be first, best first.
    leader
        The first row; None if there are no items.
    k, claim, noise
        What was asked about the order.
    within
        What the items are ranked within, if not all together: ``attribute`` or ``window``.
    width
        Width of the scale.
    refuted
        Items whose response rate refutes the assumption.
    """
    if leader is None:
        return ["The table has no items."]
    said: list[str] = []
    if within is not None:
        ranked = f"The items of each {within} are ranked among themselves."
        said += [_settled(found, noise), ranked, _pairs(found, noise)]
    elif found.items == 1:
        said += _only(names[0], leader, width)
    else:
        said += [_first(found, names, noise), _settled(found, noise), _pairs(found, noise)]
        if 1 < k < found.items:
            said.append(_top(found, k, noise))
    if claim is not None:
        said.append(_claimed(found, claim, noise))
    if found.width and found.items > 1:
        size = rating_text(found.width, width)
        said.append(f"The silent leave the mean of an item open by {size}, on average.")
    if refuted:
        whose = "rate of one item refutes" if refuted == 1 else f"rates of {refuted:,} items refute"
        said.append(f"The response {whose} the assumption: do not rely on it there.")
    return said


def _only(name: str, leader: Mapping[str, Any], width: float) -> list[str]:
    interval = range_text(leader["lower"], leader["upper"], width)
    said = [f"The mean of {name} lies between {interval.replace(' to ', ' and ')}."]
    if leader["n_ratings"]:
        average = rating_text(leader["average"], width)
        said.append(f"The plain average of those who answered is {average}.")
    return said


def _first(found: Numbers, names: Sequence[str], noise: bool) -> str:
    if found.first == 1:
        if noise and found.ci_first == 1:
            return f"{names[0]} is first, with an allowance for the silent and for chance."
        chance = ", but that may be chance" if noise else ""
        return f"{names[0]} is first once the silent are allowed for{chance}."
    if found.first <= NAMED:
        who = f"{', '.join(names[: found.first - 1])} or {names[found.first - 1]}"
    else:
        who = f"any of {found.first:,} items"
    also = ""
    if noise and found.ci_first > found.first:
        also = f", and with chance on top any of {found.ci_first:,}"
    return f"Nobody is surely first: once the silent are allowed for it may be {who}{also}."


def _settled(found: Numbers, noise: bool) -> str:
    places = f"places that the plain average gives {_is(found.settled)} settled"
    many = _few(found.settled)
    if found.settled == found.items > 1:
        words = f"All {found.items:,} {places}"
    else:
        words = f"{many[0].upper()}{many[1:]} of the {found.items:,} {places}"
    return f"{words}{_with_chance(found.ci_settled, found.settled, noise)}."


def _pairs(found: Numbers, noise: bool) -> str:
    words = f"Of all pairs of items, {share_text(found.pairs_settled, found.pairs)} are in a "
    words += "settled order"
    if noise:
        words += f", and {share_text(found.ci_pairs_settled, found.pairs)} with chance on top"
    return f"{words}."


def _top(found: Numbers, k: int, noise: bool) -> str:
    belong = "belongs" if found.leading_sure < 2 else "belong"
    many = "all" if found.leading_sure == found.leading > 1 else _few(found.leading_sure)
    words = (
        f"Of the top {k:,} by plain average, {many} surely {belong} there"
        f"{_with_chance(found.ci_leading_sure, found.leading_sure, noise)}"
    )
    if found.sure == found.possible:
        return f"{words}."
    chance = f", and {found.ci_possible:,} with chance on top" if noise else ""
    return f"{words}; {plural(found.possible, 'item')} may{chance}."


def _claimed(found: Numbers, claim: Claim, noise: bool) -> str:
    return (
        f"{plural(found.claimed, 'item')} {_is(found.claimed)} {claim.side} by plain average; "
        f"{_few(found.claim_holds)} surely {_is(found.claim_holds)}"
        f"{_with_chance(found.ci_claim_holds, found.claim_holds, noise)}."
    )


def _few(many: int) -> str:
    return f"{many:,}" if many else "none"


def _is(many: int) -> str:
    return "is" if many < 2 else "are"


def _with_chance(many: int, without: int, noise: bool) -> str:
    return f", and {_few(many)} with chance on top" if noise and without else ""


def share_text(some: int, of: int) -> str:
    """Write a share as a percentage, of which none and all are exact."""
    share = 100 * some / of if of else 0.0
    if some in (0, of):
        return f"{share:.0f}%"
    return "less than 1%" if share < 1 else "more than 99%" if share > 99 else f"{share:.0f}%"
