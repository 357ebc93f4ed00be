"""What a reader with one minute should take away, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unheard.analysis.breakdown import Claim
from unheard.report.order_queries import Numbers
from unheard.text import plural, range_text, rating_text

NAMED = 3
"""How many items a headline names."""

_AS_WELL = ", with chance on top as well"


def headline(
    found: Numbers,
    *,
    names: Sequence[str],
    leader: Mapping[str, Any],
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
        The first row.
    k, claim, noise
        What was asked about the order.
    within
        What the items are ranked within, if not all together: ``attribute`` or ``window``.
    width
        Width of the scale.
    refuted
        Items whose response rate refutes the assumption.
    """
    said: list[str] = []
    what = "item" if within is None else "row"
    if within is not None:
        ranked = f"The items of each {within} are ranked among themselves."
        said += [_settled(found, noise, f" within {within}s"), ranked, _pairs(found, noise)]
    elif found.items == 1:
        said += _only(names[0], leader, width)
    else:
        said += [_first(found, names, noise), _settled(found, noise), _pairs(found, noise)]
        if 1 < k < found.items:
            said.append(_top(found, k, noise))
    if claim is not None:
        said.append(_claimed(found, claim, noise, what))
    if found.width and found.items > 1:
        size = rating_text(found.width, width)
        said.append(f"The silent leave a mean open by {size}, on average.")
    if refuted:
        whose = (
            f"rates of {refuted:,} {what}s refute" if refuted > 1 else f"rate of one {what} refutes"
        )
        said.append(f"The response {whose} the assumption: do not rely on it there.")
    if not noise and not (found.items == 1 and leader["ci_lower"] is not None):
        said[0] += " Chance is left out here."
    return said


def _only(name: str, leader: Mapping[str, Any], width: float) -> list[str]:
    def between(low: str, high: str) -> str:
        return f"between {range_text(leader[low], leader[high], width).replace(' to ', ' and ')}"

    words = f"If the assumption holds, the mean of {name} lies {between('lower', 'upper')}, "
    words += "noise aside"
    if leader["ci_lower"] is not None:
        words += f", and {between('ci_lower', 'ci_upper')} with sampling noise"
    said = [f"{words}."]
    if leader["n_ratings"]:
        average = rating_text(leader["average"], width)
        given = "one rating" if leader["n_ratings"] == 1 else f"{leader['n_ratings']:,} ratings"
        said.append(f"The plain average of the {given} given is {average}.")
    return said


def _first(found: Numbers, names: Sequence[str], noise: bool) -> str:
    """Say who is first; where chance is allowed for, who is first in spite of it comes first."""
    if noise and found.ci_first == 1:
        return f"{names[0]} is first, with an allowance for the silent and for chance."
    if not noise and found.first == 1:
        return f"{names[0]} is first once the silent are allowed for."
    if found.first == 1:
        who, aside = f"any of {found.ci_first:,} items", f" Chance aside it is {names[0]}."
        return f"Nobody is surely first: it may be {who}.{aside}"
    if found.first <= NAMED:
        who = f"{', '.join(names[: found.first - 1])} or {names[found.first - 1]}"
    else:
        who = f"any of {found.first:,} items"
    also = ""
    if noise and found.ci_first > found.first:
        also = f", and with chance on top any of {found.ci_first:,}"
    return f"Nobody is surely first: once the silent are allowed for it may be {who}{also}."


def _settled(found: Numbers, noise: bool, where: str = "") -> str:
    """Count the settled places; an item that nobody rated has no place by plain average."""
    if not found.rated:
        return "Nobody rated any of the items, so that the plain average gives no places."
    many, settled = found.rated, min(found.settled, found.rated)
    if many == 1:
        which = "The only place" if settled else "Not even the only place"
    elif settled == many:
        which = "Both places" if many == 2 else f"All {many:,} places"
    else:
        which = f"{_few(settled).capitalize()} of the {many:,} places"
    words = f"{which} that the plain average gives{where} {_is(settled)} settled"
    return f"{words}{_with_chance(found.ci_settled, settled, noise)}."


def _pairs(found: Numbers, noise: bool) -> str:
    words = f"Of all pairs of items, {share_text(found.pairs_settled, found.pairs)} are in a "
    words += "settled order"
    if noise and found.ci_pairs_settled == found.pairs_settled:
        words += _AS_WELL if found.pairs_settled else ""
    elif noise:
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
    may = f"{plural(found.possible, 'item')} may"
    return f"{words}; {may}{_with_chance(found.ci_possible, found.possible, noise)}."


def _claimed(found: Numbers, claim: Claim, noise: bool, what: str) -> str:
    return (
        f"{plural(found.claimed, what)} {_is(found.claimed)} {claim.side} by plain average; "
        f"{_few(found.claim_holds)} surely {_is(found.claim_holds)}"
        f"{_with_chance(found.ci_claim_holds, found.claim_holds, noise)}."
    )


def _few(many: int) -> str:
    return f"{many:,}" if many else "none"


def _is(many: int) -> str:
    return "is" if many < 2 else "are"


def _with_chance(many: int, without: int, noise: bool) -> str:
    if not noise or not without:
        return ""
    return _AS_WELL if many == without else f", and {_few(many)} with chance on top"


def share_text(some: int, of: int) -> str:
    """Write a share as a percentage, of which none and all are exact."""
    share = 100 * some / of if of else 0.0
    if some in (0, of):
        return f"{share:.0f}%"
    return "less than 1%" if share < 1 else "more than 99%" if share > 99 else f"{share:.0f}%"
