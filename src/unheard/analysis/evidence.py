"""What is known of participation without an audit of one's own: studies, and the presets."""

from __future__ import annotations

from dataclasses import dataclass

from unheard.model.assumption import PRESETS


@dataclass(frozen=True)
class Evidence:
    """One study in which both the ratings given and the truth are known.

    Attributes
    ----------
    name, what
        Its name, and whose ratings they are.
    g
        Participation per rating, lowest first; the largest is 1 unless it says otherwise in
        ``what``. Empty where the source tells the direction alone.
    quiet
        Who is quieter.
    preset
        The preset that it speaks for.
    source
        Where the numbers are from.
    """

    name: str
    what: str
    g: tuple[float, ...]
    quiet: str
    preset: str
    source: str

    @property
    def q(self) -> float | None:
        """Voice ratio: least participation over largest."""
        return min(self.g) / max(self.g) if self.g else None


EVIDENCE = (
    Evidence(
        "CM100k",
        "music tracks, known to the listener against a random list (choosing included)",
        (0.0782, 0.2330, 0.5296, 1.0),
        "low",
        "media",
        "Cañamares and Castells, SIGIR 2018",
    ),
    Evidence(
        "Coat",
        "coats, chosen by the shopper against random ones (choosing included)",
        (0.3517, 0.5556, 0.5957, 0.6914, 1.0),
        "low",
        "reviews",
        "Schnabel and others, ICML 2016",
    ),
    Evidence(
        "Online radio",
        "songs, rated by choice against a random sample of the same users",
        (),
        "low",
        "media",
        "Marlin, Zemel, Roweis and Slaney, UAI 2007",
    ),
    Evidence(
        "BrightLocal 2022",
        "would review a business after a negative, a positive experience (shares of all)",
        (0.40, 0.67),
        "low",
        "reviews",
        "BrightLocal, Local Consumer Review Survey 2022",
    ),
    Evidence(
        "Vaccination, May 2021",
        "survey of US adults online: not vaccinated, vaccinated",
        (0.4833, 1.0),
        "low",
        "survey",
        "Bradley and others, Nature 2021",
    ),
    Evidence(
        "Literary Digest 1936",
        "straw poll: for Landon, for Roosevelt (choice of the list included)",
        (1.0, 0.4609),
        "high",
        "survey",
        "Literary Digest, 31 October 1936, against the election",
    ),
    Evidence(
        "Course evaluations",
        "3,000 courses: scores of those who answer are too high",
        (),
        "low",
        "survey",
        "Goos and Salomons, Research in Higher Education 2017",
    ),
)

PRESET_TEXTS = {
    "survey": "people were asked, and some did not answer",
    "reviews": "everybody may write a review, and few do",
    "media": "people choose what they watch or hear, and then whether they rate it",
}


def list_evidence() -> list[dict[str, object]]:
    """Return the studies as plain rows, presets first to last."""
    return [
        {
            "name": one.name,
            "what": one.what,
            "g": list(one.g) or None,
            "q": one.q,
            "quiet": one.quiet,
            "preset": one.preset,
            "preset_q": PRESETS[one.preset],
            "source": one.source,
        }
        for preset in PRESETS
        for one in EVIDENCE
        if one.preset == preset
    ]
