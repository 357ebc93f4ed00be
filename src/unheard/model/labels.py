"""Ratings that are words: what each word stands for, as stated or as recognised."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from unheard.errors import OptionError
from unheard.model.label_scales import NO_ANSWERS, WordScale, list_word_scales
from unheard.model.scale import Scale
from unheard.model.scale_guess import guess_scale
from unheard.text import plural, write_exactly

AUTO = "auto"
"""Accepts the reading that is recognised."""

_MOST_UNREAD = 30
"""Number of unrecognised words to show."""

_DEFAULT = Scale.points(5)

_EXAMPLES = ("'Poor,Fair,Good'", "'No=0,Yes=1'")
_LEAST_READ = 0.5
"""A reading must make sense of more than this share of the ratings."""

_LONGEST_FRACTION = 100

Values: TypeAlias = dict[str, float | None]


@dataclass(frozen=True)
class LabelMap:
    """What words stand for.

    Attributes
    ----------
    values
        The rating that each word stands for; None for a word that is not a rating.
    scale
        The values a rating may take.
    is_list
        Whether the words alone, lowest first, say what they stand for.
    recognises
        Whether further words are read as they are recognised.
    """

    values: Mapping[str, float | None]
    scale: Scale
    is_list: bool = False
    recognises: bool = False

    def __post_init__(self) -> None:
        folded = {fold(label): value for label, value in self.values.items()}
        object.__setattr__(self, "_folded", folded)

    def read(self, text: str) -> tuple[bool, float | None]:
        """Tell whether a word is known, and the rating that it stands for."""
        folded: Mapping[str, float | None] = self._folded  # type: ignore[attr-defined]
        key = fold(text)
        return key in folded, folded.get(key)

    def tell(self, text: str) -> tuple[bool, float | None]:
        """Tell whether text can be rated, as a word that is known or a number on the scale."""
        known, rating = self.read(text)
        if known or not is_number(text):
            return known, rating
        number = float(text.replace(",", "."))
        return number in self.scale.values, number

    def find_conflict(self, other: LabelMap) -> str | None:
        """Return a word that stands for one thing here and for another there; None for none."""
        for word in (*self.values, *other.values):
            ours, theirs = self.tell(word), other.tell(word)
            if ours[0] and theirs[0] and ours != theirs:
                return word
        return None

    def add(self, other: LabelMap) -> LabelMap:
        """Return these words, and of the others those that are new."""
        if not self.values:
            return replace(other, recognises=self.recognises)
        new = {word: value for word, value in other.values.items() if not self.read(word)[0]}
        return replace(self, values={**self.values, **new}, is_list=False) if new else self

    @property
    def has_ratings(self) -> bool:
        """Whether a word is a rating; otherwise only numbers are."""
        return any(value is not None for value in self.values.values())

    @property
    def tells_scale(self) -> bool:
        """Whether the words alone say which values a rating may take."""
        return self.is_list or {*self.values.values()} - {None} == {*self.scale.values}

    def write(self, unknown: Sequence[str] = ()) -> str:
        """Write the labels as the option takes them, with ? for words that are not known.

        Examples
        --------
        >>> read_labels(["Bad", "Good, really"], None).write()
        'Bad,"Good, really"'
        >>> read_labels({"Bad": 1, "Good": 2}, None).write(["So so"])
        'Bad=1,Good=2,So so=?'
        """
        if self.is_list and not unknown:
            return _write_row(self.values)
        return _write_row([*_write_pairs(self.values), *_write_questions(unknown)])


def _write_pairs(values: Mapping[str, float | None]) -> list[str]:
    return [
        f"{label}={'' if value is None else write_exactly(value)}"
        for label, value in values.items()
    ]


def _write_questions(words: Sequence[str]) -> list[str]:
    return [f"{word}=?" for word in words[:_MOST_UNREAD]]


def ask_about(counts: Mapping[str, int], known: LabelMap | None = None) -> str:
    """Write words that are not recognised as the option takes them, with ? for their ratings.

    Words that are known come before them; without others, nothing is asked.

    Examples
    --------
    >>> ask_about({"so": 3, "la": 2, "4": 1, "SO ": 1})
    'so=?,la=?'
    """
    words = [word for word in _merge(counts) if not is_number(word)]
    if not words or known is None:
        return _write_row(_write_questions(words))
    return known.write(words)


def _write_row(words: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(words)
    return text.getvalue()


_LOOKS = re.compile("[\ufe0f\u20e3\U0001f3fb-\U0001f3ff]")
"""What says how an emoji is drawn: in colour, on a key, and with which skin."""


def fold(text: str) -> str:
    """Write a word as it is compared: without regard to case, spaces and kinds of apostrophes."""
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u00b4", "'")
    text = " ".join(_LOOKS.sub("", text).casefold().split())
    return text.rstrip(".!") or text


# What is stated.


def parse_labels(text: str) -> str | list[str] | dict[str, str]:
    """Read words separated by commas, each alone or with its value.

    Examples
    --------
    >>> parse_labels('Bad,"So, so",Good'), parse_labels("No=0,Yes=1,Unsure=")
    (['Bad', 'So, so', 'Good'], {'No': '0', 'Yes': '1', 'Unsure': ''})
    """
    if text.strip() == AUTO:
        return AUTO
    parts = [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]
    if not any("=" in part for part in parts):
        return parts
    pairs = [part.rpartition("=") for part in parts]
    alone = [value for label, mark, value in pairs if not mark]
    if alone:
        raise _refuse("{argument} states a value for some words, and none for {alone}", alone[0])
    _check_repeats([label.strip() for label, _, _ in pairs])
    return {label.strip(): value.strip() for label, _, value in pairs}


def read_labels(given: object, scale: Scale | None) -> LabelMap | None:
    """Read the argument ``labels``: words, lowest rating first, words with values, or ``auto``."""
    if given is None or isinstance(given, LabelMap):
        return given
    if isinstance(given, str):
        given = parse_labels(given)
        if given == AUTO:
            return LabelMap({}, scale or _DEFAULT, recognises=True)
    if isinstance(given, Mapping):
        return _read_pairs(given, scale)
    if not isinstance(given, Iterable):
        raise _refuse("{argument} must be words, or words with values", type(given).__name__)
    return _read_list([str(word) for word in given], scale)


def _read_list(words: Sequence[str], scale: Scale | None) -> LabelMap:
    _check_repeats(words)
    if len(words) < 2:
        raise _refuse("{argument} must name at least two words", ",".join(words))
    scale = scale or Scale.points(len(words))
    if scale.m != len(words):
        raise OptionError(
            "labels",
            problem="{argument} has {words} for a scale of {m} values",
            hint="Name one word for each value of {scale}, lowest first, or each word with its "
            "value, as in {labels:No=0,Yes=1}",
            words=plural(len(words), "word"),
            m=scale.m,
        )
    return LabelMap(dict(zip(words, scale.values, strict=True)), scale, is_list=True)


def _read_pairs(pairs: Mapping[Any, Any], scale: Scale | None) -> LabelMap:
    _check_repeats([str(word) for word in pairs])
    values = {str(word): _read_value(word, value) for word, value in pairs.items()}
    ratings = sorted({value for value in values.values() if value is not None})
    # A word beside numbers does not tell their scale.
    scale = scale or (Scale(ratings) if len(ratings) > 1 else _DEFAULT)
    off = [value for value in ratings if value not in scale.values]
    if off:
        raise OptionError(
            "labels",
            problem="{argument} gives a word the value {value_off}, which is not on the scale "
            "{values}",
            hint="Use values of {scale}, or leave {scale} out",
            value_off=write_exactly(off[0]),
            values=scale.describe(),
        )
    return LabelMap(values, scale)


def _read_value(word: object, value: object) -> float | None:
    if value is None or value == "":
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise OptionError(
            "labels",
            problem="{argument} must give {word} a number",
            value=value,
            hint="Give each word its value, and none to a word that is not a rating,",
            examples=_EXAMPLES[1:],
            word=repr(word),
        ) from None


def _check_repeats(words: Sequence[str]) -> None:
    seen = set[str]()
    for word in words:
        if fold(word) in seen or not fold(word):
            raise _refuse(
                "{argument} must name each word once, and {word} appears twice"
                if fold(word)
                else "{argument} has a word without letters",
                word,
            )
        seen.add(fold(word))


def _refuse(problem: str, word: object) -> OptionError:
    return OptionError(
        "labels",
        problem=problem,
        hint="Write words separated by commas, lowest rating first, or each with its value,",
        examples=_EXAMPLES,
        value=word,
        word=repr(word),
        alone=repr(word),
    )


def match_scale(labels: LabelMap, scale: Scale) -> LabelMap | None:
    """Return words with the values of a scale that is stated; None if they do not fit it."""
    ratings = {value for value in labels.values.values() if value is not None}
    if ratings < {*labels.scale.values}:  # numbers in words, such as 4 stars
        return LabelMap(labels.values, scale) if ratings <= {*scale.values} else None
    if labels.scale.m != scale.m:
        return None
    places = dict(zip(labels.scale.values, scale.values, strict=True))
    values = {
        word: None if value is None else places[value] for word, value in labels.values.items()
    }
    return LabelMap(values, scale, labels.is_list)


# What is recognised.


@dataclass(frozen=True)
class LabelReading:
    """A way to read the words of a column, which somebody looks at before it is used.

    Attributes
    ----------
    labels
        What the words stand for, those of the scale that nobody used included.
    counts
        How often each word occurs, ways to write it counted together.
    """

    labels: LabelMap
    counts: Mapping[str, int]

    @cached_property
    def unread(self) -> tuple[str, ...]:
        """The words that are not recognised, for somebody to say what they stand for."""
        return tuple(
            word
            for word in self.counts
            if fold(word) and not is_number(word) and not self.labels.read(word)[0]
        )

    def write(self) -> str:
        """Write the labels as the option takes them, with ? for what is not recognised.

        Examples
        --------
        >>> recognise({"Yes": 3, "No": 2, "Maybe": 1})[0].write()
        'No=0,Yes=1,Maybe=?'
        """
        return self.labels.write(self.unread)

    def describe(self) -> str:
        """Write the words with their values and counts, lowest rating first."""
        values = self.labels.values
        ratings = {word: value for word, value in values.items() if value is not None}
        parts = [
            f"{word} = {write_exactly(ratings[word])} ({self.counts.get(word, 0):,}×)"
            for word in sorted(ratings, key=ratings.__getitem__)
        ]
        parts += [
            f"{word} = no rating ({self.counts[word]:,}×)" for word in values if word not in ratings
        ]
        if self.unread:
            shown = [f"{word} ({self.counts[word]:,}×)" for word in self.unread[:_MOST_UNREAD]]
            rest = [self.counts[word] for word in self.unread[_MOST_UNREAD:]]
            shown += [f"and {plural(len(rest), 'other')} ({sum(rest):,}×)"] * bool(rest)
            parts.append(f"not recognised: {', '.join(shown)}")
        if ratings and not self.labels.tells_scale:
            parts.append(f"on the scale {self.labels.scale.describe()}")
        return ", ".join(parts)


def recognise(counts: Mapping[str, int], order: Sequence[str] = ()) -> list[LabelReading]:
    """Return the ways to read words as ratings: none, one, or several equally plausible ones.

    Parameters
    ----------
    counts
        The different texts of a column, and how often each occurs.
    order
        The order that the column itself has, lowest first, if it has one.

    Examples
    --------
    >>> found = recognise({"Agree": 30, "Strongly disagree": 2, "neutral": 5, "N/A": 1})
    >>> [reading.describe() for reading in found]  # doctest: +NORMALIZE_WHITESPACE
    ['Strongly disagree = 1 (2×), disagree = 2 (0×), neutral = 3 (5×), Agree = 4 (30×),
      strongly agree = 5 (0×), N/A = no rating (1×)']
    >>> [reading.labels.write() for reading in recognise({"4/5": 9, "2/5": 3})]
    ['2/5=2,4/5=4']
    """
    counts = _merge(counts)
    missing: Values = {text: None for text in counts if fold(text) in _MISSING}
    ratings = {text: times for text, times in counts.items() if text not in missing}
    words = {text: n for text, n in ratings.items() if fold(text) and not is_number(text)}
    found = [_read_in_order(order, words)] if order and words else []
    if words and not any(found):
        found = _read_by_patterns(ratings, words)
    if words and not any(found):
        found = list(_read_by_words(words, sum(ratings.values())))
    if missing and not any(found):
        found = [_read_numbers(ratings)]
    readings = [
        LabelReading(
            LabelMap({**one.values, **missing}, one.scale, is_list=one.is_list and not missing),
            counts,
        )
        for one in found
        if one is not None
    ]
    # Where some words are unknown, those that nobody used are the wrong ones.
    return [one for one in readings if not one.unread or {*one.labels.values} <= {*counts}]


_MISSING = frozenset(map(fold, NO_ANSWERS))


def _merge(counts: Mapping[str, int]) -> dict[str, int]:
    """Count the ways to write a word together, under the most frequent of them."""
    times, called = Counter[str](), dict[str, str]()
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        key = fold(text) or text
        times[key] += counts[text]
        called.setdefault(key, " ".join(text.split()))
    return {called[key]: many for key, many in times.items()}


def is_number(text: str) -> bool:
    """Whether text is a number as it stands, if only with a decimal comma."""
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return text.isascii()  # digits of other scripts are shown before they are read


def _read_in_order(order: Sequence[str], words: Mapping[str, int]) -> LabelMap | None:
    if len(order) < 2 or not {*words} <= {*order} or all(map(is_number, order)):
        return None
    return _read_list(order, None)


_STAR = "\u2605\u2b50\u272d\U0001f31f"
_EMPTY_STAR = "\u2606"
_NUMBER = r"(\d+(?:[.,]\d+)?)"
_HALF = re.compile(r"(\d*) ?\u00bd")
_UNIT = (
    r"(?:stars?|sterne?n?|\u00e9toiles?|etoiles?|estrellas?|estrelas?|stelle|stella|sterren|ster"
    r"|points?|pts?|punkte?|bubbles?)"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"


def read_stars(text: str) -> tuple[float, float | None] | None:
    """Return how many stars text shows, and of how many if empty ones are among them.

    Examples
    --------
    >>> read_stars("★★½"), read_stars("★☆☆"), read_stars("good")
    ((2.5, None), (1.0, 3.0), None)
    """
    marks = [mark for mark in text if not mark.isspace() and mark != "\ufe0f"]
    if not marks or {*marks} - {*_STAR, *_EMPTY_STAR, "\u00bd"} or text.count("\u00bd") > 1:
        return None
    full, empty = sum(mark in _STAR for mark in marks), marks.count(_EMPTY_STAR)
    half = 0.5 * marks.count("\u00bd")
    return full + half, full + empty + 2 * half if empty else None


def _match(pattern: str) -> Callable[[str], tuple[float, float | None] | None]:
    compiled = re.compile(pattern)

    def read(text: str) -> tuple[float, float | None] | None:
        found = compiled.fullmatch(fold(_HALF.sub(lambda half: f"{half[1] or 0}.5", text)))
        if found is None:
            return None
        value, *rest = (float(part.replace(",", ".")) for part in found.groups() if part)
        return value, rest[0] if rest else None

    return read


_PERCENT = _match(rf"{_NUMBER} ?%")
_PATTERNS = (
    read_stars,
    _match(rf"{_NUMBER}[ -]?{_UNIT}"),
    _match(
        rf"(?:rated )?{_NUMBER}(?: {_UNIT})? ?(?:/|out of|of|von|sur|de|su|van) ?{_NUMBER}"
        rf"(?: {_UNIT})?"
    ),
    _PERCENT,
    _match(rf"[^\d()]+ ?\({_NUMBER}\)"),
    # Where a spreadsheet has taken 4/5 for a date, it depends on the country which part is which.
    _match(rf"{_NUMBER}(?: ?[-\u2013\u2014:.)(=] ?(?!{_MONTH}\b)[^\d\s].*)?"),
)
"""Ways to write a number as words; each returns the number, and the highest one if it is stated."""


def _read_by_patterns(counts: Mapping[str, int], words: Mapping[str, int]) -> list[LabelMap | None]:
    """Read numbers written in the way, or ways, that make sense of the most words."""
    found = [_read_by_pattern(pattern, counts) for pattern in _PATTERNS]
    read = [0 if one is None else sum(words.get(text, 0) for text in one.values) for one in found]
    return [one for one, many in zip(found, read, strict=True) if many and many == max(read)]


def _read_by_pattern(
    pattern: Callable[[str], tuple[float, float | None] | None], counts: Mapping[str, int]
) -> LabelMap | None:
    """Read numbers written in one way; plain numbers may stand among them."""
    found = {text: pattern(text) for text in counts}
    read = {text: one for text, one in found.items() if one is not None}
    tops = {top for _, top in read.values() if top is not None}
    if len(tops) > 1 or not any(not is_number(text) for text in read):
        return None
    values: Values = {text: one[0] for text, one in read.items()}
    ratings: dict[float, int] = {}
    for text, (value, _) in read.items():
        ratings[value] = ratings.get(value, 0) + counts[text]
    scale = _scale_up_to(tops.pop(), ratings) if tops else _scale_of(pattern, ratings)
    if scale is None or any(value not in scale.values for value in ratings):
        return None
    plain = (n for text, n in counts.items() if text not in read and _is_on(scale, text))
    if sum(ratings.values()) + sum(plain) <= _LEAST_READ * sum(counts.values()):
        return None
    ordered = sorted(values, key=lambda text: (values[text], text))
    return LabelMap({text: values[text] for text in ordered}, scale)


def _is_on(scale: Scale, text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and float(text) in scale.values


def _scale_of(pattern: object, ratings: Mapping[float, int]) -> Scale | None:
    if pattern is _PERCENT:
        return _scale_up_to(100.0, {**ratings, 0.0: 1})
    # Ends that nobody used are shown, and not guessed away.
    text = guess_scale(dict.fromkeys(ratings, 1), rare=0.0)
    return Scale.parse(text) if text else None


def _scale_up_to(top: float, ratings: Mapping[float, int]) -> Scale | None:
    low = 0 if 0 in ratings else 1
    half = any(value % 1 for value in ratings)
    low_text = "0.5" if low and 0.5 in ratings else str(low)
    if top > _LONGEST_FRACTION or top <= float(low_text) or not top.is_integer():
        return None
    return Scale.parse(f"{low_text}:{write_exactly(top)}{':0.5' if half else ''}")


def _read_numbers(ratings: Mapping[str, int]) -> LabelMap | None:
    """Read numbers as they are, beside words that are not ratings."""
    numbers = {float(text): times for text, times in ratings.items() if _PLAIN.fullmatch(text)}
    if sum(numbers.values()) <= _LEAST_READ * sum(ratings.values()):
        return None
    guessed = guess_scale(numbers)
    return LabelMap({}, Scale.parse(guessed) if guessed else _DEFAULT)


_PLAIN = re.compile(r"-?\d+(\.\d+)?")


def _read_by_words(words: Mapping[str, int], ratings: int) -> Iterable[LabelMap]:
    """Read words of a known scale: the shortest that fits, and others that fit nearly as well."""
    fitting = [(one, _match_words(one, words)) for one in list_word_scales()]
    # Words that a scale takes for the same rating are more likely to be two of another.
    read = [(sum(words[text] for text in places), len({*places.values()})) for _, places in fitting]
    most = max(read)
    if most[0] <= _LEAST_READ * ratings:
        return
    best = [pair for pair, many in zip(fitting, read, strict=True) if many == most]
    shortest = min(len(scale.values) for scale, _ in best)
    made: dict[tuple[tuple[str, float | None], ...], LabelMap] = {}
    for scale, places in best:
        if len(scale.values) <= shortest + 1:
            labels = _label(scale, places)
            used = tuple(sorted((text, labels.values[text]) for text in places))
            ends = ("", labels.scale.highest - labels.scale.lowest)
            made.setdefault((*used, ends), labels)
    yield from made.values()


def _match_words(scale: WordScale, words: Mapping[str, int]) -> dict[str, int]:
    """Return which step of a scale each word is."""
    steps = {fold(way): step for step, ways in enumerate(scale.steps) for way in ways}
    return {text: steps[fold(text)] for text in words if fold(text) in steps}


def _label(scale: WordScale, places: Mapping[str, int]) -> LabelMap:
    values: Values = {}
    for step, (ways, value) in enumerate(zip(scale.steps, scale.values, strict=True)):
        used = [text for text, place in places.items() if place == step]
        values |= dict.fromkeys(used or [ways[0]], value)
    whole = scale.values == tuple(range(1, len(scale.values) + 1))
    return LabelMap(values, Scale(scale.values), is_list=whole and len(values) == len(scale.values))
