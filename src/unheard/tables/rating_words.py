"""Ratings that are words: read as stated, or as recognised and accepted, then counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any, TypeAlias

from sqlglot import exp

from unheard.analysis.breakdown import Claim
from unheard.errors import ColumnError, DataError, OptionError, write_list
from unheard.model.labels import (
    LabelMap,
    LabelReading,
    ask_about,
    fold,
    is_number,
    match_scale,
    recognise,
)
from unheard.model.scale_guess import RARE
from unheard.tables.request import Kind, Request, check
from unheard.tables.row_examples import MOST_WORDS_SHOWN, list_values
from unheard.tables.sources.open import Opened
from unheard.tables.sql.count_query import is_value
from unheard.tables.sql.dialects import column
from unheard.tables.sql.reserved_names import MANY, reserve
from unheard.text import write_exactly

MOST_WORDS = 1000
"""More different texts than this are not ratings."""

_LABELLED = reserve("labelled")

_Counts: TypeAlias = "Mapping[str, Counter[str]]"
"""How often each text occurs, by column."""


def read_words(request: Request, opened: Opened) -> tuple[Request, Opened, list[str]]:
    """Replace words by the ratings that they stand for; return what was recognised as well."""
    labels, messages = request.labels, list[str]()
    if labels is None:
        return request, opened, messages
    counts = {name: count_texts(opened, name) for name in request.rating}
    together = _add_up(counts.values())
    if labels.recognises and not all(_is_read(labels, text) for text in together):
        reading = _choose(request, opened, counts)
        labels = reading.labels
        messages.append(f"Words were read as ratings: {reading.describe()}.")
        request = _set_scale(request, labels)
    elif together and not labels.recognises:
        _check_stated(request, opened, labels, counts)
    words = {name: _write_case(name, opened.kinds[name], labels, counts[name]) for name in counts}
    relation = replace_words(request, opened.relation, words)
    kinds: dict[str, Kind] = {**opened.kinds, **dict.fromkeys(request.rating, "text")}
    return request, replace(opened, relation=relation, kinds=kinds), messages


def _is_read(labels: LabelMap, text: str) -> bool:
    """Whether nothing is left to be recognised: numbers alone need no words to be read."""
    return labels.tell(text)[0] if labels.values else is_number(text)


def _check_stated(request: Request, opened: Opened, labels: LabelMap, counts: _Counts) -> None:
    """Raise if no stated word occurs, and the values make no sense without."""
    together = _add_up(counts.values())
    if request.scale_kept or not labels.has_ratings or any(labels.read(x)[0] for x in together):
        return
    if all(labels.tell(text)[0] for text in together):
        return
    readings = find_readings(replace(request, labels=None, scale_stated=False), opened, counts)
    data: dict[str, Any] = {}
    if all(map(is_number, together)):
        hint = "Leave {argument} out"
    elif len(readings) == 1 and not readings[0].unread:
        data["reading"] = readings[0].describe()
        hint = "Use {labels:auto}, which reads them as {reading}"
    else:
        hint, data["asked"] = _SAY_EACH + ", as in {labels:{asked}}", ask_about(together)
    raise DataError(
        "labels",
        problem="{argument} names none of the values of {columns} in {table}: {words}",
        hint=hint,
        code="unused_labels",
        columns=_write_names(request.rating),
        table=opened.words,
        words=list_values(together, MOST_WORDS_SHOWN),
        **data,
    )


def _add_up(counts: Iterable[Counter[str]]) -> Counter[str]:
    return sum(counts, Counter[str]())


def count_texts(opened: Opened, name: str) -> Counter[str]:
    """Count the different texts of a column; raise if there are too many for words."""
    value, text = column(name), reserve("text")
    query = exp.select(exp.alias_(value, text), exp.alias_(exp.Count(this=exp.Star()), MANY))
    query = query.from_(opened.relation.copy()).where(value.copy().is_(exp.null()).not_())
    rows = opened.engine.rows(query.group_by(value.copy()).limit(MOST_WORDS + 1))
    if len(rows) > MOST_WORDS:
        raise ColumnError(
            "labels",
            problem="Column {column} of {table} has more than {most:,} different values, too many "
            "for words that stand for ratings",
            hint="Name the column with the ratings in {rating}",
            column=repr(name),
            table=opened.words,
            most=MOST_WORDS,
        )
    return Counter({_write_text(row[text]): int(row[MANY]) for row in rows})


def _write_text(value: object) -> str:
    return value if isinstance(value, str) else write_exactly(float(str(value)))


def find_readings(request: Request, opened: Opened, counts: _Counts) -> list[LabelReading]:
    """Return the ways to read the words of the rating columns, as far as they are not known.

    Columns of one scale are read together, others each by itself, if they share their scale.
    """
    worded = _leave_numbers_out(counts)
    orders = {name: opened.orders.get(name, ()) for name in counts}
    order = orders[next(iter(counts))] if len({*orders.values()}) == 1 else ()
    readings = recognise(_add_up(counts.values()), order)
    if len(counts) > 1 and worded and _is_partial(readings):
        apart = recognise(_add_up(worded.values()), order)
        if _is_partial(apart):
            each = {name: recognise(texts, orders[name]) for name, texts in worded.items()}
            apart = _join_readings(each, opened) or apart
        if not request.scale_stated:
            apart = _check_numbers(apart, counts, worded, opened)
        readings = apart or readings
    fitted = _fit_scale(request, opened, readings) if request.scale_stated else readings
    known = request.labels
    if known is None:
        return fitted
    joined = [
        replace(one, labels=known.add(one.labels))
        for one in fitted
        if known.find_conflict(one.labels) is None
    ]
    return joined or [LabelReading(known, _add_up(counts.values()))] * bool(known.values)


def _is_partial(readings: Sequence[LabelReading]) -> bool:
    """Whether words are left that are not read."""
    return all(one.unread for one in readings)


def _leave_numbers_out(counts: _Counts) -> _Counts:
    """Return the columns with words; those of numbers need not be read."""
    return {name: texts for name, texts in counts.items() if not all(map(is_number, texts))}


_MOST_JOINED = 100
"""Ways to combine the readings of several columns; there is one each, as a rule."""


def _join_readings(
    readings: Mapping[str, list[LabelReading]], opened: Opened
) -> list[LabelReading]:
    """Combine readings of one scale, one of each column; raise if all are of different scales."""
    choices = list(islice(product(*readings.values()), _MOST_JOINED))
    joined = []
    for choice in choices:
        labels, texts = choice[0].labels, Counter[str]()
        for one in choice:
            texts.update(one.counts)
            if one.labels.scale != labels.scale or labels.find_conflict(one.labels):
                break
            labels = labels.add(one.labels)
        else:
            joined.append(LabelReading(labels, texts))
    if choices and not joined:
        ways = [f"{name!r} may be read as {one[0].describe()}" for name, one in readings.items()]
        raise _refuse_scales(opened, readings, ways)
    return joined


def _check_numbers(
    readings: list[LabelReading], counts: _Counts, worded: _Counts, opened: Opened
) -> list[LabelReading]:
    """Return the readings on whose scale the columns of numbers are; raise if there is none."""
    numbers = _add_up(texts for name, texts in counts.items() if name not in worded)
    fitting = [
        one
        for one in readings
        if sum(n for text, n in numbers.items() if not one.labels.tell(text)[0])
        <= RARE * numbers.total()
    ]
    if readings and not fitting:
        ways = [f"{_write_names(worded)} may be read as {readings[0].describe()}"]
        ways += [
            f"{name!r} has {list_values(texts)}"
            for name, texts in counts.items()
            if name not in worded
        ]
        raise _refuse_scales(opened, counts, ways)
    return fitting


def _refuse_scales(opened: Opened, columns: Iterable[str], ways: Sequence[str]) -> DataError:
    """Return the error about columns of ratings that are not on one scale."""
    names = tuple(columns)
    return DataError(
        "rating",
        problem="The ratings in {columns} of {table} are not on one scale: {ways}",
        hint="Rate each by itself, as in {rating:{first}}, or say with {labels} what words stand "
        "for on one scale",
        code="several_scales",
        columns=_write_names(names),
        table=opened.words,
        ways="; ".join(ways),
        first=names[0],
    )


def _fit_scale(
    request: Request, opened: Opened, readings: list[LabelReading]
) -> list[LabelReading]:
    """Return what fits the scale that is stated; raise if nothing does."""
    matched = [(reading, match_scale(reading.labels, request.scale)) for reading in readings]
    fitted = [replace(reading, labels=labels) for reading, labels in matched if labels is not None]
    if readings and not fitted:
        raise DataError(
            "scale",
            problem="The ratings in {columns} of {table} are words, which may be read as "
            "{reading}, and the scale is {values}",
            hint=("Count all tables again with" if request.scale_kept else "Use")
            + " {scale:{other}}, or say what each stands for on your scale with {labels}",
            code="ratings_are_words",
            columns=_write_names(request.rating),
            table=opened.words,
            reading=readings[0].describe(),
            values=request.scale.describe(),
            other=readings[0].labels.scale.write(),
        )
    return fitted


def _write_names(columns: Iterable[str]) -> str:
    return write_list([repr(name) for name in columns], "and")


def refuse_words(request: Request, opened: Opened) -> None:
    """Raise if ratings are words that are recognised: somebody must accept the reading."""
    if not any(opened.kinds[name] == "text" for name in request.rating):
        return
    try:
        counts = {name: count_texts(opened, name) for name in request.rating}
    except ColumnError:
        return  # other messages say what is wrong
    readings = find_readings(request, opened, counts)
    if readings:
        raise _ask(request, opened, readings, _leave_numbers_out(counts))


def _choose(request: Request, opened: Opened, counts: _Counts) -> LabelReading:
    readings = find_readings(request, opened, counts)
    if len(readings) == 1 and not readings[0].unread:
        return readings[0]
    worded = _leave_numbers_out(counts)
    if readings:
        raise _ask(request, opened, readings, worded)
    together = _add_up(worded.values())
    raise DataError(
        "labels",
        problem="The values of {columns} in {table} are not recognised words: {words}",
        hint=_SAY_EACH + ", as in {labels:{asked}}",
        columns=_write_names(worded),
        table=opened.words,
        words=list_values(together, MOST_WORDS_SHOWN),
        asked=ask_about(together),
    )


_SAY_EACH = "Say what each stands for, nothing where it is no rating"


def _ask(
    request: Request, opened: Opened, readings: list[LabelReading], worded: Iterable[str]
) -> DataError:
    """Return the error that shows how words may be read, and asks for it to be accepted."""
    places = range(len(readings))
    options = " or ".join(
        _write_options(request, reading, at) for at, reading in enumerate(readings)
    )
    first = readings[0]
    are = "are words" if first.labels.has_ratings else "are numbers and words"
    if len(readings) > 1:
        fit, hint = " that fit more than one scale: ", f"Say which with {options}"
    elif first.unread:
        fit = ", some of which may be read as "
        hint = f"{_SAY_EACH}, as in {options}"
    else:
        fit = ", which may be read as "
        hint = f"Accept that with {{labels:auto}}, or say what they stand for, as in {options}"
    data: dict[str, Any] = {f"labels_{at}": readings[at].write() for at in places}
    data |= {f"scale_{at}": readings[at].labels.scale.write() for at in places}
    data |= {f"reading_{at}": readings[at].describe() for at in places}
    shown = "; or ".join(f"{{reading_{at}}}" for at in places)
    return DataError(
        "labels",
        problem="The ratings in {columns} of {table} {are}{fit}" + shown,
        hint=hint,
        code="ratings_are_words",
        columns=_write_names(worded),
        table=opened.words,
        are=are,
        fit=fit,
        **data,
    )


def _write_options(request: Request, reading: LabelReading, at: int) -> str:
    """Write the options that state a reading, with the scale unless the words tell it."""
    labels, stated = reading.labels, request.scale_stated
    settled = stated or labels.tells_scale or not labels.has_ratings
    return f"{{labels:{{labels_{at}}}}}" + ("" if settled else f" with {{scale:{{scale_{at}}}}}")


def _set_scale(request: Request, labels: LabelMap) -> Request:
    """Return the request with the scale of words, which was not known when it was made."""
    if not labels.has_ratings:
        return replace(request, labels=labels)
    request = replace(request, labels=labels, scale=labels.scale, scale_stated=True)
    request.assumption.check_fits(labels.scale.m, 1)
    order = request.order
    if order is not None and order.claim is not None:
        threshold, is_above = order.claim.threshold, order.claim.above
        above, below = (threshold, None) if is_above else (None, threshold)
        claim = Claim.read(above, below, labels.scale)
        request = replace(request, order=replace(order, claim=claim))
    check(request)
    return request


def _write_case(name: str, kind: Kind, labels: LabelMap, texts: Mapping[str, int]) -> exp.Expr:
    """Write the expression for the rating that a column's values stand for, as text."""
    value: exp.Expr = exp.cast(column(name), "text")
    case = exp.case()
    for text in texts:
        is_known, rating = labels.read(text)
        if is_known:
            same: exp.Expr = exp.EQ(this=value.copy(), expression=exp.Literal.string(text))
            if kind != "text":
                same = is_value(name, kind, float(text))
            case = case.when(same, _write_rating(rating))
    return case.else_(value) if case.args.get("ifs") else value


def write_stated_words(request: Request, relation: exp.Expr) -> exp.Expr:
    """Replace words that are stated, in a table that nobody has looked at."""
    assert request.labels is not None  # whoever calls this has looked
    if request.labels.recognises:
        raise OptionError(
            "labels",
            problem="{labels:auto} requires the data, and a query is written without them",
            hint="Name the words, lowest rating first, as in {labels:Poor,Fair,Good}",
        )
    words = {name: _write_stated_case(name, request.labels) for name in request.rating}
    return replace_words(request, relation, words)


def _write_stated_case(name: str, labels: LabelMap) -> exp.Expr:
    """Write the expression for texts that nobody has looked at: case and spaces do not matter."""
    value: exp.Expr = exp.Trim(this=exp.cast(column(name), "text"))
    case = exp.case()
    for label, rating in labels.values.items():
        words = [exp.Literal.string(word) for word in dict.fromkeys((label.lower(), fold(label)))]
        case = case.when(
            exp.In(this=exp.Lower(this=value.copy()), expressions=words), _write_rating(rating)
        )
    return case.else_(value)


def _write_rating(rating: float | None) -> exp.Expr:
    return exp.null() if rating is None else exp.Literal.string(write_exactly(rating))


def replace_words(request: Request, relation: exp.Expr, words: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return the columns of a table that are asked for, some of them as expressions."""
    names = dict.fromkeys(name for name, _ in request.columns_of_source())
    selected = [exp.alias_(words[name], name) if name in words else column(name) for name in names]
    return exp.select(*selected).from_(relation.copy()).subquery(_LABELLED)
