"""What an undescribed table contains, and what its columns may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlglot import exp

from unheard.errors import PYTHON, ColumnError, ScaleError, Surface, write_list
from unheard.model.labels import read_stars, recognise
from unheard.model.scale import Scale
from unheard.model.scale_guess import doubt_scale, guess_scale
from unheard.options.option import write_text
from unheard.tables.check_rows import count_values
from unheard.tables.engines.base import Engine
from unheard.tables.rating_words import count_texts
from unheard.tables.request import Kind
from unheard.tables.sources.column_names import (
    COUNT,
    FREQUENCY,
    ITEM,
    PEOPLE,
    PERSON,
    RATING,
    read_ratings,
    write_plainly,
)
from unheard.tables.sources.open import Opened
from unheard.tables.sql.dialects import column
from unheard.tables.sql.expressions import number
from unheard.tables.sql.reserved_names import MANY, plain, reserve
from unheard.text import name_of, write_exactly

_DEFAULT = Scale.points(5)
_EXAMPLES = 3
_HEAD = 5
_MOST_RATINGS = 21
"""A column with more different values than this is not taken for ratings."""

_COUNTED = 200_000
"""Number of rows up to which different values are counted exactly."""

_RARE = 0.02
"""Values at the ends as rare as this may be slips, and do not make a scale longer."""

_FEWEST_COUNTS = 2

_NUMBERS: tuple[Kind, ...] = ("whole", "real", "single")


@dataclass(frozen=True)
class Word:
    """A word of a column, what it stands for (None: no rating), and how often it occurs."""

    word: str
    value: float | None
    count: int
    recognised: bool = True


@dataclass(frozen=True)
class WordReading:
    """A way to read a column's words as ratings.

    Attributes
    ----------
    labels, scale
        The options that accept it.
    words
        The words, lowest rating first; also those of the scale that nobody used, and those that
        are not recognised, behind which the labels have a question mark.
    """

    labels: str
    scale: str
    words: tuple[Word, ...]


@dataclass(frozen=True)
class ColumnSummary:
    """A column, as far as a look at it tells.

    Attributes
    ----------
    name, kind
        Its name and what it holds.
    distinct
        How many different values it has; of many rows, about how many.
    missing
        Rows without a value.
    least, greatest
        Of numbers, the smallest and the largest.
    low, high
        Of numbers, between which nearly all lie.
    examples
        A few of its values, as text.
    readings
        Of words, the ways to read them as ratings.
    """

    name: str
    kind: Kind
    distinct: int
    missing: int
    least: float | None
    greatest: float | None
    low: float | None
    high: float | None
    examples: tuple[str, ...]
    readings: tuple[WordReading, ...] = ()


@dataclass(frozen=True)
class Guess:
    """What the columns may be; a person looks at it before it is used.

    Attributes
    ----------
    item
        Columns that say what was rated.
    rating, counts
        The column with ratings, or those with counts, lowest rating first.
    scale
        The values a rating may take, as text.
    n_column
        The column that says how many people there are.
    frequency
        The column that says how many ratings a row stands for.
    doubt
        What is not sure: which column holds the ratings, or whether the scale is 1 to 5 although
        the ratings, which lie on it, contradict it.
    """

    item: tuple[str, ...]
    rating: str | None
    counts: tuple[str, ...]
    scale: str | None
    n_column: str | None
    frequency: str | None = None
    doubt: str | None = None


def inspect(opened: Opened, surface: Surface = PYTHON) -> dict[str, Any]:
    """Look at a table: its rows, its columns, and what they may be."""
    total = exp.select(exp.alias_(exp.Count(this=exp.Star()), MANY))
    rows = int(opened.engine.rows(total.from_(opened.relation.copy()))[0][MANY])
    columns = [
        _inspect_column(opened.engine, opened.relation, name, kind, rows)
        for name, kind in opened.kinds.items()
    ]
    columns = [replace(one, readings=_find_readings(opened, one)) for one in columns]
    found = opened.findings
    guessed = _add_scale(opened, guess(columns, rows, has_names=found.has_header), surface)
    return {
        "rows": rows,
        "columns": [asdict(one) for one in columns],
        "head": _read_head(opened),
        "guess": asdict(guessed),
        "sheet": found.sheet,
        "sheets": list(found.sheets),
        "encoding": found.encoding,
        "has_header": found.has_header,
        "notes": list(found.notes),
    }


def _find_readings(opened: Opened, one: ColumnSummary) -> tuple[WordReading, ...]:
    if one.kind != "text" or not 1 <= one.distinct <= _MOST_RATINGS:
        return ()
    try:
        counts = count_texts(opened, one.name)
    except ColumnError:  # the number of different values was an estimate
        return ()
    made = []
    for reading in recognise(counts):
        labels = reading.labels
        times = reading.counts
        words = [Word(word, value, times.get(word, 0)) for word, value in labels.values.items()]
        words += [Word(word, None, times[word], recognised=False) for word in reading.unread]
        made.append(WordReading(reading.write(), labels.scale.write(), tuple(words)))
    return tuple(made)


def _add_scale(opened: Opened, guessed: Guess, surface: Surface) -> Guess:
    """Guess the scale of a column of numbers from all its ratings, as every surface does."""
    name = guessed.rating
    if name is None or opened.kinds[name] not in _NUMBERS:
        return guessed
    there = column(name).is_(exp.null()).not_()
    counts = {float(str(v)): n for v, n in count_values(opened, name, there).items()}
    counts = {value: many for value, many in counts.items() if math.isfinite(value)}
    if not counts:
        return guessed
    doubt = None
    if {*counts} <= {*_DEFAULT.values}:
        doubt = doubt_scale(counts, _DEFAULT)
    words = [] if guessed.doubt is None else [guessed.doubt]
    words += [] if doubt is None else [write_text(doubt.explain(_DEFAULT), surface)]
    together = " ".join(words) or None
    return replace(guessed, scale=guess_scale(counts) or None, doubt=together)


def _read_head(opened: Opened) -> list[list[str | None]]:
    """Return a few rows as text."""
    texts = [
        exp.alias_(exp.cast(column(name), "text"), reserve(f"text_{at}"))
        for at, name in enumerate(opened.kinds)
    ]
    rows = opened.engine.rows(exp.select(*texts).from_(opened.relation.copy()).limit(_HEAD))
    return [[None if cell is None else name_of(cell) for cell in row.values()] for row in rows]


def _inspect_column(
    engine: Engine, relation: exp.Expr, name: str, kind: Kind, rows: int
) -> ColumnSummary:
    value = column(name)
    every = exp.Count(this=exp.Distinct(expressions=[value.copy()]))
    asked: dict[str, exp.Expr] = {
        "there": exp.Count(this=value),
        "many": every if rows <= _COUNTED else exp.ApproxDistinct(this=value.copy()),
    }
    if kind in _NUMBERS:
        asked |= {"least": exp.Min(this=value.copy()), "greatest": exp.Max(this=value.copy())}
        asked |= {"low": _quantile(value, _RARE), "high": _quantile(value, 1 - _RARE)}
    selected = [exp.alias_(what, reserve(name)) for name, what in asked.items()]
    (row,) = engine.rows(exp.select(*selected).from_(relation.copy()))
    found = {plain(name): value for name, value in row.items()}
    text = reserve("text")
    some = (
        exp.select(exp.alias_(exp.cast(value.copy(), "text"), text))
        .distinct()
        .from_(relation.copy())
        .where(value.copy().is_(exp.null()).not_())
        .order_by(exp.Ordered(this=column(text)))
        .limit(_EXAMPLES)
    )
    ends = [found.get(end) for end in ("least", "greatest", "low", "high")]
    least, greatest, low, high = (None if end is None else float(end) for end in ends)
    examples = tuple(name_of(row[text]) for row in engine.rows(some))
    missing = rows - int(found["there"])
    many = min(int(found["many"]), rows - missing)
    return ColumnSummary(name, kind, many, missing, least, greatest, low, high, examples)


def _quantile(value: exp.Expr, share: float) -> exp.Expr:
    return exp.Anonymous(this="quantile_disc", expressions=[value.copy(), number(share)])


def guess(columns: Sequence[ColumnSummary], rows: int, *, has_names: bool = True) -> Guess:
    """Say what the columns may be, from their names, if they have any, and values.

    Examples
    --------
    >>> hotel = ColumnSummary("hotel", "text", 5, 0, None, None, None, None, ())
    >>> stars = ColumnSummary("stars", "whole", 5, 0, 1.0, 5.0, 1.0, 5.0, ())
    >>> guess([hotel, stars], 120)  # doctest: +NORMALIZE_WHITESPACE
    Guess(item=('hotel',), rating='stars', counts=(), scale='1:5', n_column=None, frequency=None,
          doubt=None)
    """
    # Columns that are numbered for want of names are not those of the ratings 1, 2, 3, ...
    counts = _find_counts(columns) if has_names else ()
    rating = None if counts else _choose(columns, lambda one: _score_rating(one, rows))
    left = [one for one in columns if one.name not in (*counts, rating)]
    people = _choose(left, _score_people)
    # A table must say what was rated; it need not say how many people there are.
    others = [one for one in left if one.name != people] or left
    item = _choose(others, lambda one: _score_item(one, rows, bool(counts)))
    scale = _write_scale_of_counts(counts) if counts else None
    if rating is not None:
        scale = _guess_scale(next(one for one in columns if one.name == rating))
    frequency = _find_frequency(columns, item, rating, rows)
    people = None if people in (item, frequency) else people
    doubt = None if counts else _doubt_rating(columns, rating, rows)
    items = () if item is None else (item,)
    return Guess(items, rating, counts, scale, people, frequency, doubt)


def _find_frequency(
    columns: Sequence[ColumnSummary], item: str | None, rating: str | None, rows: int
) -> str | None:
    """Find the column that says how many ratings a row stands for, where the name says so.

    There is a row for each item and rating at most, and the numbers are not those of the items,
    as numbers of people are.
    """
    many = {one.name: one.distinct for one in columns}
    if item is None or rating is None or rows > many[item] * many[rating]:
        return None
    named = [one.name for one in columns if FREQUENCY.fullmatch(one.name) and _may_be_counts(one)]
    found = [name for name in named if name not in (item, rating) and many[name] > many[item]]
    return found[0] if len(found) == 1 else None


def _doubt_rating(columns: Sequence[ColumnSummary], rating: str | None, rows: int) -> str | None:
    """Say why another column may hold the ratings; None if this one clearly does."""
    if not rows:
        return "The table has no rows."
    if rating is None:
        return "No column looks like ratings: choose the one that holds them."
    scores = {one.name: _score_rating(one, rows) for one in columns}
    alike = [repr(name) for name, score in scores.items() if score == scores[rating]]
    if len(alike) > 1:
        return f"The ratings may be in {write_list(alike)}: choose one."
    if scores[rating] < _LIKELY:
        return f"The ratings are probably in {rating!r}: check this."
    chosen = next(one for one in columns if one.name == rating)
    if chosen.kind == "text" and not chosen.readings:
        return f"The words in {rating!r} are not recognised: say what each stands for."
    return None


def _choose(
    columns: Sequence[ColumnSummary], score: Callable[[ColumnSummary], float]
) -> str | None:
    """Return the column with the highest score, the first of several; None if none is above 0."""
    best = max(columns, key=score, default=None)
    return best.name if best is not None and score(best) > 0 else None


_NAMED = 10.0
"""What a telling name adds to a score: more than everything that values add."""


_LIKELY = 1.0
"""What values add that are ratings unless other columns are as likely."""


def _score_rating(one: ColumnSummary, rows: int) -> float:
    named = bool(RATING.match(one.name))
    few = 2 <= one.distinct <= _MOST_RATINGS
    if one.readings:  # letters name items more often than they are grades
        letters = all(len(example) == 1 and example.isalpha() for example in one.examples)
        return _NAMED * named + (0.25 if letters else _LIKELY)
    if one.kind not in _NUMBERS or one.least is None:
        return _NAMED * (named and one.kind == "text" and few)
    # As many numbers as rows are more likely to number them.
    return _NAMED * named + few * (_LIKELY if named or one.distinct < rows else 0.5)


def _score_item(one: ColumnSummary, rows: int, has_counts: bool) -> float:
    # Where a row is a rating, numbers of rows and names of people are as many as the rows, items
    # fewer. Where it has counts, it is an item.
    is_key = one.distinct == rows
    usual = is_key if has_counts else 1 < one.distinct < 0.7 * rows
    named = bool(ITEM.search(one.name)) and (has_counts or one.kind == "text" or not is_key)
    named = named and (one.distinct > 1 or rows == 1)
    values = 2.0 * (one.kind in ("text", "whole")) + (one.kind == "text") + usual
    return _NAMED * (1.1 + named - bool(PERSON.search(one.name))) + values


def _score_people(one: ColumnSummary) -> float:
    fits = one.kind == "whole" and one.least is not None and one.least >= 0
    return 1.0 if fits and PEOPLE.fullmatch(one.name) else 0.0


def _find_counts(columns: Sequence[ColumnSummary]) -> tuple[str, ...]:
    """Find columns named alike but for a rising number, such as n1, n2, ..., or after ratings."""
    groups: dict[str, list[ColumnSummary]] = {}
    for one in columns:
        found = COUNT.fullmatch(one.name)
        if found is not None:
            groups.setdefault(found[1], []).append(one)
    complete = [group for group in groups.values() if all(map(_may_be_counts, group))]
    best = max(complete, key=len, default=[])
    if len(best) < _FEWEST_COUNTS:
        best = [one for one in columns if _may_be_counts(one) and _names_rating(one)]
    ratings = read_ratings([one.name for one in best])
    pairs = sorted(zip(ratings, (one.name for one in best), strict=False))
    return tuple(name for _, name in pairs) if len(pairs) >= _FEWEST_COUNTS else ()


def _names_rating(one: ColumnSummary) -> bool:
    """Whether a column is called as a rating is: Good, Very poor, ★★★."""
    if read_stars(one.name) is not None:
        return True
    readings = recognise({write_plainly(one.name): 1}) if len(one.name) > 1 else []
    return any(reading.labels.has_ratings for reading in readings)


def _may_be_counts(one: ColumnSummary) -> bool:
    if one.kind not in _NUMBERS or one.least is None or one.greatest is None:
        return False
    return one.least >= 0 and one.least.is_integer() and one.greatest.is_integer()


def _write_scale_of_counts(names: Sequence[str]) -> str | None:
    return _write_scale(read_ratings(names))


def _guess_scale(rating: ColumnSummary) -> str | None:
    """Guess the scale of a rating from a look at its column."""
    if rating.readings:
        return rating.readings[0].scale
    ends = [end for end in (rating.low, rating.high) if end is not None]
    return guess_scale(dict.fromkeys(ends, 1), rare=0.0) or None if ends else None


def _write_scale(values: Sequence[float]) -> str | None:
    try:
        scale = Scale(values)
    except ScaleError:
        return None
    return ",".join(write_exactly(value) for value in scale.values)
