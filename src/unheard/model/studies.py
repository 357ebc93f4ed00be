"""Values of q by name: presets, and the published studies of participation behind them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from unheard.errors import AssumptionError, write_list
from unheard.options.choices import Quiet

PRESETS = {"survey": 0.5, "reviews": 0.3, "media": 0.1}
"""Values of q where nothing better is known: surveys people were asked to take, open review sites,
media that people choose themselves.

docs/howto/choose-q.md has the evidence."""

PRESET_TEXTS = {
    "survey": "people were asked to respond, and some did not",
    "reviews": "anybody may write a review, and few do",
    "media": "people choose what they watch or hear, and then whether to rate it",
}


@dataclass(frozen=True)
class Study:
    """A study that found how participation depends on the rating.

    Attributes
    ----------
    slug, name, what
        The word to type for its q, if that is known; its name, and what was rated.
    g
        Participation per rating, lowest first; relative to the largest, unless ``what`` says
        otherwise. Empty if the source reports only the direction.
    quiet
        The direction: people with ``low`` or with ``high`` ratings respond less often.
    preset
        The preset that it supports.
    source
        Where the numbers come from.
    group
        Who responds less often, if "people with low ratings" does not say it.
    rated
        Whether people rated something, from bad to good. Otherwise the order of the answers is
        arbitrary, and so is the direction.
    chosen
        Whether participation includes the choice of what to experience, which makes q smaller.
    """

    slug: str
    name: str
    what: str
    g: tuple[float, ...]
    quiet: Quiet
    preset: str
    source: str
    group: str = ""
    rated: bool = True
    chosen: bool = False

    @property
    def q(self) -> float | None:
        """Participation ratio: smallest participation over largest."""
        return round(min(self.g) / max(self.g), 4) if self.g else None

    @property
    def direction(self) -> Quiet:
        """Who may respond less often if the study is named and no direction is stated."""
        return self.quiet if self.rated else "any"

    @property
    def who(self) -> str:
        """Who responds less often."""
        return self.group or f"people with {self.quiet} ratings"


EVIDENCE = (
    Study(
        "cm100k",
        "CM100k",
        "music tracks that the listener knew already, compared with a random list (self-selection)",
        (0.0782, 0.2330, 0.5296, 1.0),
        "low",
        "media",
        "Cañamares and Castells, SIGIR 2018",
        chosen=True,
    ),
    Study(
        "coat",
        "Coat",
        "coats chosen by shoppers, compared with random ones (includes self-selection)",
        (0.3517, 0.5556, 0.5957, 0.6914, 1.0),
        "low",
        "reviews",
        "Schnabel and others, ICML 2016",
        chosen=True,
    ),
    Study(
        "",
        "Online radio",
        "songs rated by choice, compared with random songs rated by the same users",
        (),
        "low",
        "media",
        "Marlin, Zemel, Roweis and Slaney, UAI 2007",
        chosen=True,
    ),
    Study(
        "brightlocal",
        "BrightLocal 2022",
        "share who would review a business after a negative and after a positive experience",
        (0.40, 0.67),
        "low",
        "reviews",
        "BrightLocal, Local Consumer Review Survey 2022",
        "people with a negative experience",
    ),
    Study(
        "rental-video",
        "Rental video",
        "probability of reviewing a rented film on Blockbuster.com, estimated for customers who "
        "were unsatisfied, indifferent and satisfied",
        (0.06, 0.23, 0.32),
        "low",
        "reviews",
        "Chen, Zheng and Ceran, Production and Operations Management 2016",
        "unsatisfied customers",
    ),
    Study(
        "vaccination",
        "Vaccination, May 2021",
        "online survey of US adults, not vaccinated and vaccinated",
        (0.4833, 1.0),
        "low",
        "survey",
        "Bradley and others, Nature 2021",
        "the unvaccinated",
        rated=False,
    ),
    Study(
        "literary-digest",
        "Literary Digest 1936",
        "straw poll, for Landon and for Roosevelt (includes the choice of the mailing list)",
        (1.0, 0.4609),
        "high",
        "survey",
        "Literary Digest, 31 October 1936, compared with the election",
        "voters for Roosevelt",
        rated=False,
    ),
    Study(
        "usf-online",
        "USF online",
        "course evaluations online (41% response), compared with those on paper (58%) of the same "
        "instructor and course, not with everybody",
        (1.0, 0.7769, 0.5752, 0.4952, 0.4141),
        "high",
        "survey",
        "University of South Florida, 5,199 pairs of 2011 to 2014",
    ),
    Study(
        "",
        "Course evaluations",
        "3,000 courses, where the scores of respondents are too high",
        (),
        "low",
        "survey",
        "Goos and Salomons, Research in Higher Education 2017",
    ),
)

STUDIES = {one.slug: one for one in EVIDENCE if one.q is not None}
"""The studies that found a q, by the word to type."""

NAMED_Q = PRESETS | {slug: one.q for slug, one in STUDIES.items() if one.q is not None}
"""Everything that may be stated in place of a number for q."""


def _choose_beside_results() -> tuple[Study, ...]:
    """Return, for each direction, the study with the smallest q among those that compare.

    People rated something there, and participation is that of people who had the experience.
    """
    fit = sorted(
        (one for one in STUDIES.values() if one.rated and not one.chosen),
        key=lambda one: NAMED_Q[one.slug],
    )
    nearest = {one.quiet: one for one in reversed(fit)}
    return tuple(nearest[quiet] for quiet in ("low", "high", "middle") if quiet in nearest)


BESIDE_RESULTS = _choose_beside_results()
"""The studies whose q is shown beside results."""


def read_named_q(name: str) -> float:
    """Return the q of a preset or of a study.

    Examples
    --------
    >>> read_named_q("reviews"), read_named_q("rental-video")
    (0.3, 0.1875)
    """
    if name not in NAMED_Q:
        raise refuse_name(name)
    return NAMED_Q[name]


def refuse_name(name: str, *, in_table: bool = False) -> AssumptionError:
    """Return the error about a word in place of q, with the nearest name or with all of them.

    Parameters
    ----------
    name
        What was given.
    in_table
        Whether it may have been meant as a column of a table.
    """
    near = find_near_name(name)
    if near is not None:
        hint = "Did you mean {near}?"
    elif in_table:
        hint = "Use a number, {names}; name a column of the table with {q_column}"
    else:
        hint = "Use a number, {names}"
    return AssumptionError(
        "q",
        problem="{argument} must be a number or the name of a preset or study",
        value=name,
        hint=hint,
        near=near or "",
        names=write_list([f"{word} ({q:.2g})" for word, q in NAMED_Q.items()]),
    )


def find_near_name(text: str) -> str | None:
    """Return the name that was probably meant: one spelled alike, or one that contains the text.

    Examples
    --------
    >>> find_near_name("reveiws"), find_near_name("usf"), find_near_name("100")
    ('reviews', 'usf-online', None)
    """
    word = text.lower()
    if not word[:1].isalpha():
        return None
    alike = difflib.get_close_matches(word, NAMED_Q, n=1)
    containing = [name for name in NAMED_Q if len(word) > 2 and word in name]
    return next(iter(alike + containing), None)


def list_evidence() -> list[dict[str, object]]:
    """Return the studies as rows, in the order of the presets."""
    return [
        {
            "name": one.name,
            "slug": one.slug or None,
            "what": one.what,
            "g": list(one.g) or None,
            "q": one.q,
            "quiet": one.quiet,
            "direction": one.direction,
            "who": one.who,
            "preset": one.preset,
            "preset_q": PRESETS[one.preset],
            "source": one.source,
        }
        for preset in PRESETS
        for one in EVIDENCE
        if one.preset == preset
    ]
