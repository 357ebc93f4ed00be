"""Words that surveys use as ratings, in the languages that are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain

NO_ANSWERS = frozenset(
    (
        "-", "--", "–", "—", ".", "?",
        "#n/a", "#div/0", "#value", "#ref", "#name?", "#null", "#num",
        "n/a", "n.a.", "na", "none", "null", "nan", "not applicable",
        "no answer", "no response", "no opinion", "no rating", "not rated", "unrated",
        "skipped", "missing",
        "don't know", "dont know", "do not know", "don't know/not applicable", "i don't know",
        "not sure", "can't say", "cannot say", "prefer not to say", "prefer not to answer",
        "refused", "weiß nicht", "weiss nicht", "keine angabe", "k. a.", "k.a.", "keine antwort",
        "ne sait pas", "nsp", "je ne sais pas", "sans opinion", "sans réponse", "no sabe", "no sé",
        "no contesta", "no sabe/no contesta", "ns/nc", "não sei", "não se aplica", "non so",
        "weet niet", "geen mening", "vet ej", "vet inte", "ved ikke", "vet ikke", "en osaa sanoa",
        "nevím", "nie wiem", "bilmiyorum", "fikrim yok", "не знаю", "모름", "잘 모르겠다",
        "不知道", "わからない", "不适用",
    )
)  # fmt: skip
"""Words that say that there is no rating."""


@dataclass(frozen=True)
class WordScale:
    """A scale of words.

    Attributes
    ----------
    steps
        The ways to write each rating, lowest rating first.
    values
        The ratings.
    """

    steps: tuple[tuple[str, ...], ...]
    values: tuple[float, ...]


@cache
def list_word_scales() -> tuple[WordScale, ...]:
    """Return the scales that are known."""
    text = (files("unheard") / "data" / "label_scales.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    scales = []
    for line in chain.from_iterable(map(_fill, lines)):
        words, _, numbers = line.partition(" = ")
        steps = tuple(tuple(way.strip() for way in step.split(";")) for step in words.split("|"))
        values = numbers.split() or range(1, len(steps) + 1)
        scales.append(WordScale(steps, tuple(map(float, values))))
    return tuple(scales)


def _fill(line: str) -> list[str]:
    """Put each of the words after a colon in the place of the star."""
    pattern, _, words = line.partition(" : ")
    return [pattern.replace("*", word.strip()) for word in words.split(",")] if words else [line]
