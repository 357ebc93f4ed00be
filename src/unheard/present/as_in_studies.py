"""What an estimate would be if participation were as in published studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unheard.model.assumption import Assumption
from unheard.model.question import Question
from unheard.model.studies import BESIDE_RESULTS, NAMED_Q
from unheard.options.choices import Quiet
from unheard.text import range_text, rating_text


@dataclass(frozen=True)
class AsInStudy:
    """The answer to a question with the q and the direction of a study.

    Attributes
    ----------
    slug, name
        The word to type for the study, and its name.
    q, quiet
        Its participation ratio, and who responds less often there.
    estimate, lower, upper
        The estimate with them, and its bounds.
    """

    slug: str
    name: str
    q: float
    quiet: Quiet
    estimate: float
    lower: float
    upper: float


def estimate_as_in_studies(question: Question) -> list[AsInStudy]:
    """Answer a question about one histogram as in each study that is shown beside results.

    There is nothing to compare if nobody responded, and no need to if participation is stated for
    each rating: an audit says more about these people than a study of others. The study that the
    question names itself is left out.
    """
    assumption = question.assumption
    if assumption.per_rating or not question.counts.n_ratings[0]:
        return []
    found = []
    for study in BESIDE_RESULTS:
        if study != assumption.study:
            q = NAMED_Q[study.slug]
            as_there = Assumption.bounded(q, study.direction)
            other = replace(question, assumption=as_there, level=None, covers="mean")
            (one,) = other.answer([other.default_method()])
            numbers = (one.estimate, one.lower, one.upper)
            found.append(AsInStudy(study.slug, study.name, q, study.direction, *numbers))
    return found


def list_study_cells(found: Sequence[AsInStudy], width: float) -> list[list[str]]:
    """Return the answers as in studies as a table of text, the headings first."""
    heading = ["With q as in", "q", "respond less often", "estimate", "bounds"]
    return [heading] + [
        [
            one.slug,
            f"{one.q:.2g}",
            f"people with {one.quiet} ratings",
            rating_text(one.estimate, width),
            range_text(one.lower, one.upper, width),
        ]
        for one in found
    ]
