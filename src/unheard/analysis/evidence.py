"""Published evidence about participation, and the presets that rest on it."""

from __future__ import annotations

from dataclasses import dataclass

from unheard.model.assumption import PRESETS


@dataclass(frozen=True)
class Evidence:
    """A study in which both the ratings of respondents and those of everybody are known.

    Attributes
    ----------
    name, what
        Its name, and what was rated.
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
        Who responds less often, if the ratings are not ratings of an experience.
    """

    name: str
    what: str
    g: tuple[float, ...]
    quiet: str
    preset: str
    source: str
    group: str = ""

    @property
    def q(self) -> float | None:
        """Participation ratio: smallest participation over largest."""
        return min(self.g) / max(self.g) if self.g else None

    @property
    def who(self) -> str:
        """Who responds less often."""
        return self.group or f"people with {self.quiet} ratings"


EVIDENCE = (
    Evidence(
        "CM100k",
        "music tracks that the listener knew already, compared with a random list (self-selection)",
        (0.0782, 0.2330, 0.5296, 1.0),
        "low",
        "media",
        "Cañamares and Castells, SIGIR 2018",
    ),
    Evidence(
        "Coat",
        "coats chosen by shoppers, compared with random ones (includes self-selection)",
        (0.3517, 0.5556, 0.5957, 0.6914, 1.0),
        "low",
        "reviews",
        "Schnabel and others, ICML 2016",
    ),
    Evidence(
        "Online radio",
        "songs rated by choice, compared with random songs rated by the same users",
        (),
        "low",
        "media",
        "Marlin, Zemel, Roweis and Slaney, UAI 2007",
    ),
    Evidence(
        "BrightLocal 2022",
        "share who would review a business after a negative and after a positive experience",
        (0.40, 0.67),
        "low",
        "reviews",
        "BrightLocal, Local Consumer Review Survey 2022",
        "people with a negative experience",
    ),
    Evidence(
        "Vaccination, May 2021",
        "online survey of US adults, not vaccinated and vaccinated",
        (0.4833, 1.0),
        "low",
        "survey",
        "Bradley and others, Nature 2021",
        "the unvaccinated",
    ),
    Evidence(
        "Literary Digest 1936",
        "straw poll, for Landon and for Roosevelt (includes the choice of the mailing list)",
        (1.0, 0.4609),
        "high",
        "survey",
        "Literary Digest, 31 October 1936, compared with the election",
        "voters for Roosevelt",
    ),
    Evidence(
        "Course evaluations",
        "3,000 courses, where the scores of respondents are too high",
        (),
        "low",
        "survey",
        "Goos and Salomons, Research in Higher Education 2017",
    ),
)

PRESET_TEXTS = {
    "survey": "people were asked to respond, and some did not",
    "reviews": "anybody may write a review, and few do",
    "media": "people choose what they watch or hear, and then whether to rate it",
}


def list_evidence() -> list[dict[str, object]]:
    """Return the studies as rows, in the order of the presets."""
    return [
        {
            "name": one.name,
            "what": one.what,
            "g": list(one.g) or None,
            "q": one.q,
            "quiet": one.quiet,
            "who": one.who,
            "preset": one.preset,
            "preset_q": PRESETS[one.preset],
            "source": one.source,
        }
        for preset in PRESETS
        for one in EVIDENCE
        if one.preset == preset
    ]
