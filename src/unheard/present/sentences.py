"""Decisions in sentences for a lay reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unheard.analysis.breakdown import Claim
from unheard.analysis.compare import Comparison
from unheard.model.notes import NOTE_TEXTS
from unheard.model.question import Question
from unheard.present.phrases import claim_text, never_text


def sweep_sentences(
    question: Question, claim: Claim | None, broken: Sequence[float] | None
) -> Iterator[str]:
    """Yield what q means, and what would overturn the claim."""
    if question.assumption.per_rating:
        yield f"Stated, and loosened by q: {question.words}"
    elif question.assumption.kind == "floor":
        yield "q, the floor: everybody responds with a probability of at least q."
    else:
        yield (
            "q, the participation ratio: those who respond least often do so at least q times as "
            "often as those who respond most often."
        )
    if claim is not None and broken is not None:
        never = never_text(question.assumption)
        yield claim_text(claim.words, broken[0], broken[1], never)


def comparison_sentences(
    found: Comparison, names: tuple[str, str], shared: bool | None = None
) -> Iterator[str]:
    """Yield who is ahead and what would overturn it, what the notes mean, and the assumption.

    Participation is shared, or each item has its own; both ways are said if neither is chosen.
    """
    question = found.question
    never = never_text(question.assumption)
    if found.leader is None:
        yield "Neither is ahead, not even at q = 1: there the two are equal."
    else:
        ahead, behind = names if found.leader == "a" else names[::-1]
        for words, one, is_shared in (
            ("each item has its own participation", found.separate, False),
            ("one participation is shared by both", found.shared, True),
        ):
            if shared is not None and shared != is_shared:
                continue
            claim = f"{ahead} is ahead of {behind}, if {words},"
            yield claim_text(claim, one.breakdown_q, one.ci_breakdown_q, never)
        if question.assumption.per_rating:
            yield "q: people may be quieter than stated, down to q times the probability to answer."
    if shared is not False:
        yield (
            "Shared participation: people with the same rating are equally likely to give it, "
            "whichever of the two they rate. Assume it where both have the same sort of crowd."
        )
    notes = dict.fromkeys((*found.a.notes, *found.b.notes))
    for flag in notes:
        yield f"{flag}: {NOTE_TEXTS[flag]}."
    yield f"Assumption: {found.question.words}"
